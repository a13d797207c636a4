#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void error_init(error *err)
{
    err->code = FENEC_OK;
    err->at = -1;
    err->exact_count = 0;
    err->message[0] = 0;
}

/* Takes out what a cut - of the message, or of a path inside it - left of a character. A name that the
 * system gave, of a link's target, may hold more that is no UTF-8. */
static void drop_broken_characters(char *text)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    uint8_t *to = (uint8_t *)text;

    if (utf8_valid(at, (size_t)(end - at)))
        return;
    while (at < end) {
        const uint8_t *from = at;
        bool broken = utf8_next(&at, end) == UTF8_REPLACEMENT && at - from == 1;
        while (from < at && !broken)
            *to++ = *from++;
    }
    *to = 0;
}

int fail(error *err, int code, const char *format, ...)
{
    va_list args;

    err->code = code;
    va_start(args, format);
    int len = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (len < 0)
        err->message[0] = 0;
    drop_broken_characters(err->message);
    return code;
}

int fail_memory(error *err)
{
    return fail(err, FENEC_PANIC, "out of memory");
}

const char *error_prefix(int code)
{
    switch (code) {
    case FENEC_TYPE: return "type error: ";
    case FENEC_NOT_FOUND: return "not found: ";
    case FENEC_EXISTS: return "already exists: ";
    case FENEC_DUPLICATE: return "duplicate: ";
    case FENEC_CORRUPT: return "corrupt: ";
    case FENEC_QUERY: return "query error: ";
    case FENEC_IO: return "io error: ";
    case FENEC_PLUGIN: return "plugin error: ";
    case FENEC_READ_ONLY: return "read only: ";
    case FENEC_DENIED: return "denied: ";
    case FENEC_PANIC: return "internal error: ";
    case FENEC_LOCKED: return "io error: ";
    case FENEC_UNMET: return "unmet: ";
    default: return "";
    }
}
