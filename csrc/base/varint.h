/* varint.h - unsigned numbers, 7 bits a byte, lowest first, the top bit set while more follow. */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define VARINT_MAX 10

static inline void varint_put(buffer *out, uint64_t n)
{
    while (n >= 0x80) {
        buffer_byte(out, (uint8_t)(n | 0x80));
        n >>= 7;
    }
    buffer_byte(out, (uint8_t)n);
}

/* False, and *at not moved, where there is none before `end` or it is over 64 bits. */
static inline bool varint_get(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    const uint8_t *p = *at;
    uint64_t n = 0;

    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return false;
        n |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *at = p;
            *out = n;
            return true;
        }
    }
    return false;
}

#endif
