/* buffer.h - bytes that grow. An append that finds no memory sets `failed`, and later ones do nothing:
 * a writer appends without looking and checks once, at its end. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

typedef struct buffer {
    uint8_t *bytes;
    size_t len, cap;
    bool failed;
    bool damaged; /* and for this reason: what was to be appended is none of the values there are */
} buffer;

void buffer_init(buffer *b);
void buffer_fail_damaged(buffer *b);
int buffer_error(const buffer *b, error *err); /* of one that failed: PANIC for want of memory, or CORRUPT */
void buffer_clear(buffer *b); /* frees; may be used again */

/* Room for `len` more bytes: where they will stand, or NULL (and failed). Does not move b->len. */
uint8_t *buffer_reserve(buffer *b, size_t len);

void buffer_text(buffer *b, const char *text);
void buffer_printf(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(buffer *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static inline void buffer_put(buffer *b, const void *bytes, size_t len)
{
    uint8_t *to = b->cap - b->len >= len && !b->failed ? b->bytes + b->len : buffer_reserve(b, len);
    if (to && len) {
        memcpy(to, bytes, len);
        b->len += len;
    }
}

static inline void buffer_byte(buffer *b, uint8_t byte)
{
    buffer_put(b, &byte, 1);
}

/* The bytes with a NUL after them as memory of memory_free's, *len without the NUL; the buffer is empty
 * afterwards. NULL where an append failed or the NUL finds no room; the buffer is then cleared. */
char *buffer_take(buffer *b, size_t *len);

#endif
