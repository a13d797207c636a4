/* slot.h - the small values of a record without making values of them (value/packed.h): false where the
 * bytes are of another kind, or damaged. */
#ifndef EXEC_SLOT_H
#define EXEC_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum { SLOT_INT8 = 3, SLOT_INT16, SLOT_INT32, SLOT_INT64, SLOT_FLOAT, SLOT_TIMESTAMP };

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

#endif
