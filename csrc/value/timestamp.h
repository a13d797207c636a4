/* timestamp.h - instants as text (chapter 2 sections 4.1 and 5), and the calendar. */
#ifndef VALUE_TIMESTAMP_H
#define VALUE_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMESTAMP_TEXT_MAX 48

bool timestamp_read(const uint8_t *text, size_t len, int64_t *ms);
size_t timestamp_write(char out[TIMESTAMP_TEXT_MAX], int64_t ms);

/* Days since 1970-01-01 of a proleptic Gregorian date and back; month 1..12, day 1..31. */
int64_t days_from_civil(int64_t year, unsigned month, unsigned day);
void civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day);

#endif
