#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_init(error *err)
{
    err->code = FENEC_OK;
    err->at = -1;
    err->exact_count = 0;
    err->message[0] = 0;
}

/* Cuts a message that vsnprintf broke inside a character. */
static void drop_partial_character(char *text)
{
    size_t len = strlen(text), start = len;

    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (len - (start - 1) < need)
        text[start - 1] = 0;
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
    else if ((size_t)len >= sizeof err->message)
        drop_partial_character(err->message);
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
