/* error.h - why a call failed: one code, one sentence.
 *
 * A function that can fail returns FENEC_OK or the code it put here. The place that finds the fault
 * fills the error; callers hand the code on as it is. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "fenec.h"

#define FN_END (-1)            /* nothing more to hand out; not an error, fills nothing */
#define ERROR_MESSAGE_MAX 1024 /* bytes of a message, NUL included; longer ones are cut */
#define ERROR_EXACT_MAX 64     /* places listed by an `exact` answer; a caller repeats for further ones */

#if defined(__GNUC__) || defined(__clang__)
#define FN_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define FN_PRINTF(text, first)
#endif

typedef struct error {
    int code;                        /* FENEC_OK while nothing failed */
    int at;                          /* statement of a text of several, from 0; -1 where none is meant */
    uint32_t exact_count;            /* > 0: `exact` stands in the answer */
    uint32_t exact[ERROR_EXACT_MAX]; /* places of parameters, from 0 */
    char message[ERROR_MESSAGE_MAX]; /* UTF-8, NUL-terminated, without the prefix of its class */
} error;

/* Makes *err hold no error. */
void error_init(error *err);

/* Fills *err and returns `code`. The message names the collection, field and value concerned and holds
 * no prefix. Text that may hold a NUL or be long goes in through value_quote. Cut at a character; bytes
 * that are no UTF-8 are left out. */
int fail(error *err, int code, const char *format, ...) FN_PRINTF(3, 4);

/* Memory ran out: FENEC_PANIC. */
int fail_memory(error *err);

/* The prefix of a code's messages ("type error: "), "" for FENEC_MISUSE. */
const char *error_prefix(int code);

#endif
