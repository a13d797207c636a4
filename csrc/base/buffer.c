#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"

void buffer_init(buffer *b)
{
    *b = (buffer){0};
}

void buffer_fail_damaged(buffer *b)
{
    b->damaged |= !b->failed;
    b->failed = true;
}

int buffer_error(const buffer *b, error *err)
{
    return b->damaged ? fail(err, FENEC_CORRUPT, "a value of the file is damaged") : fail_memory(err);
}

void buffer_clear(buffer *b)
{
    memory_free(b->bytes);
    *b = (buffer){0};
}

uint8_t *buffer_reserve(buffer *b, size_t len)
{
    if (b->failed)
        return NULL;
    if (b->cap - b->len < len || !b->bytes) {
        size_t cap = b->cap ? b->cap * 2 : 256;
        uint8_t *bytes = NULL;

        if (len <= SIZE_MAX / 4 && cap <= SIZE_MAX / 4) {
            while (cap - b->len < len)
                cap *= 2;
            bytes = memory_resize(b->bytes, cap);
        }
        if (!bytes) {
            b->failed = true;
            return NULL;
        }
        b->bytes = bytes;
        b->cap = cap;
    }
    return b->bytes + b->len;
}

void buffer_text(buffer *b, const char *text)
{
    buffer_put(b, text, strlen(text));
}

void buffer_vprintf(buffer *b, const char *format, va_list args)
{
    char small[256];
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    if (len >= 0 && (size_t)len < sizeof small) {
        buffer_put(b, small, (size_t)len);
    } else if (len >= 0) {
        char *to = (char *)buffer_reserve(b, (size_t)len + 1);
        if (to) {
            vsnprintf(to, (size_t)len + 1, format, again);
            b->len += (size_t)len;
        }
    }
    va_end(again);
}

void buffer_printf(buffer *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buffer_vprintf(b, format, args);
    va_end(args);
}

char *buffer_take(buffer *b, size_t *len)
{
    uint8_t *end = buffer_reserve(b, 1);
    char *out = (char *)b->bytes;

    if (!end) {
        buffer_clear(b);
        return NULL;
    }
    *end = 0;
    *len = b->len;
    *b = (buffer){0};
    return out;
}
