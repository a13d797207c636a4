/* utf8.h - UTF-8: is it valid, what stands next. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xFFFDu

/* Whether bytes[0..len) are valid UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
bool utf8_valid(const uint8_t *bytes, size_t len);

/* The character at *at of valid text, and *at moved past it. *at must be before `end`. Bytes that are
 * not valid read as U+FFFD, one byte each, and never past `end`. */
uint32_t utf8_next(const uint8_t **at, const uint8_t *end);

/* Characters of valid text. */
size_t utf8_count(const uint8_t *bytes, size_t len);

/* Writes a character's 1 to 4 bytes; answers how many. */
size_t utf8_write(uint8_t out[4], uint32_t character);

/* The most bytes, at most `len`, of valid text that end between characters. */
size_t utf8_cut(const uint8_t *bytes, size_t len);

#endif
