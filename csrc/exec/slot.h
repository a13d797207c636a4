/* slot.h - the small values of a record without making values of them (value/packed.h): false where the
 * bytes are of another kind, or damaged. */
#ifndef EXEC_SLOT_H
#define EXEC_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"

enum { SLOT_INT8 = 3, SLOT_INT16, SLOT_INT32, SLOT_INT64, SLOT_FLOAT, SLOT_TIMESTAMP, SLOT_TEXT };

/* An int or a timestamp. */
static inline bool slot_integer(const uint8_t *p, size_t len, int64_t *out)
{
    switch (p[0]) {
    case SLOT_INT8: *out = (int8_t)p[len > 1]; return len == 2;
    case SLOT_INT16:
        if (len != 3)
            return false;
        *out = (int16_t)bytes_u16(p + 1);
        return true;
    case SLOT_INT32:
        if (len != 5)
            return false;
        *out = (int32_t)bytes_u32(p + 1);
        return true;
    case SLOT_INT64:
    case SLOT_TIMESTAMP:
        if (len != 9)
            return false;
        *out = (int64_t)bytes_u64(p + 1);
        return true;
    default: return false;
    }
}

static inline bool slot_float(const uint8_t *p, size_t len, double *out)
{
    if (p[0] != SLOT_FLOAT || len != 9)
        return false;
    *out = bytes_f64(p + 1);
    return true;
}

/* Any number, as a double. */
static inline bool slot_double(const uint8_t *p, size_t len, double *out)
{
    int64_t i;

    if (slot_float(p, len, out))
        return true;
    if (!slot_integer(p, len, &i))
        return false;
    *out = (double)i;
    return true;
}

static inline bool slot_text(const uint8_t *p, size_t len, const uint8_t **text, size_t *text_len)
{
    const uint8_t *at = p + 1, *end = p + len;
    uint64_t n;

    if (p[0] != SLOT_TEXT || !varint_get(&at, end, &n) || n != (uint64_t)(end - at))
        return false;
    *text = at;
    *text_len = (size_t)n;
    return true;
}

/* Texts by their bytes. */
static inline int slot_order_texts(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a, b, len) : 0;

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

#endif
