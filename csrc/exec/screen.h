/* screen.h - the simple conditions a filter begins with, read from a record's bytes without opening it.
 *
 * Most rows of a scan do not pass, and most of these for a number that is too large or too small: they are
 * told apart here, at a fraction of what the filter itself takes. */
#ifndef EXEC_SCREEN_H
#define EXEC_SCREEN_H

#include "exec/expr.h"

#define SCREEN_MAX 4 /* conditions looked at */

typedef struct screen_check {
    uint32_t field; /* its number in records */
    uint8_t how;    /* constant_how: INTEGER, DOUBLE or TEXT */
    uint8_t mask;   /* 1 passes below the constant, 2 where equal, 4 above */
    bool null_passes;
    int64_t integer;
    double number;
    const uint8_t *text;
    size_t text_len;
} screen_check;

/* Of one run: what it borrows is the run's. */
typedef struct screen {
    uint32_t count;
    bool whole; /* the checks are the whole filter */
    screen_check checks[SCREEN_MAX];
} screen;

typedef enum screened {
    SCREEN_OUT,    /* the filter does not pass the row */
    SCREEN_IN,     /* it does; where the checks are whole */
    SCREEN_UNKNOWN /* it is to be asked */
} screened;

/* filter may be NULL: no check. */
void screen_make(screen *s, const bound *filter, const constant *resolved, int64_t now_ms);

/* One check instead: rows that come before `last` in the order of a field, or with it where `ties`. */
void screen_before(screen *s, const bound *key, const value *last, bool descending, bool ties);

screened screen_record(const screen *s, const uint8_t *bytes, size_t len);

#endif
