#include "store/record.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "value/packed.h"

enum { HEAD = RECORD_HEAD, CHECKSUM = RECORD_CHECKSUM, FIELDS_MAX = UINT16_MAX };

/* The id stands before the bytes so that a record moved under another id is found out. */
static uint32_t checksum(int64_t id, const uint8_t *bytes, size_t len)
{
    uint8_t key[8];

    bytes_put_u64(key, (uint64_t)id);
    return crc32c(crc32c(0, key, sizeof key), bytes, len);
}

void record_put_side(uint8_t slot[RECORD_SIDE_LEN], const uint8_t *bytes, size_t len, int64_t id)
{
    slot[0] = RECORD_SIDE;
    bytes_put_u32(slot + 1, (uint32_t)len);
    bytes_put_u32(slot + 5, checksum(id, bytes, len));
}

static int damaged(error *err, const char *where)
{
    return fail(err, FENEC_CORRUPT, "a record is damaged: %s", where);
}

void record_fail_open(error *err)
{
    damaged(err, "its head or length");
}

void record_fail_place(error *err)
{
    damaged(err, "the place of a value");
}

int record_check_side(const uint8_t slot[RECORD_SIDE_LEN], const uint8_t *bytes, size_t len, int64_t id, error *err)
{
    if (len != bytes_u32(slot + 1))
        return fail(err, FENEC_CORRUPT, "it has %zu bytes, not %u", len, (unsigned)bytes_u32(slot + 1));
    if (checksum(id, bytes, len) != bytes_u32(slot + 5))
        return fail(err, FENEC_CORRUPT, "its checksum");
    return packed_check(bytes, len, err);
}

int record_check(const uint8_t *bytes, size_t len, int64_t id, error *err)
{
    record r;
    int rc = record_open(&r, bytes, len, err);

    if (rc)
        return rc;
    if (bytes_u32(bytes + len - CHECKSUM) != checksum(id, bytes, len - CHECKSUM))
        return damaged(err, "its checksum");
    for (uint32_t field = 0; field < r.fields; field++) {
        const uint8_t *slot;
        size_t slot_len;

        rc = record_slot(&r, field, &slot, &slot_len, err);
        if (!rc && slot_len > 0 && slot[0] == RECORD_SIDE && slot_len != RECORD_SIDE_LEN)
            rc = damaged(err, "the reference to a value outside it");
        else if (!rc && slot_len > 0 && slot[0] != RECORD_SIDE)
            rc = packed_check(slot, slot_len, err);
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

void record_write(buffer *out, int64_t id, const record_slot_bytes slots[], uint32_t fields)
{
    uint64_t values = 0;
    uint32_t end = 0;

    while (fields > 0 && slots[fields - 1].len == 0)
        fields--;
    for (uint32_t i = 0; i < fields; i++)
        values += slots[i].len;
    if (fields > FIELDS_MAX || values > UINT32_MAX) {
        out->failed = true;
        return;
    }

    bool wide = values > UINT16_MAX;
    size_t len = HEAD + (size_t)fields * (wide ? 4 : 2) + (size_t)values + CHECKSUM;
    uint8_t *start = buffer_reserve(out, len);
    if (!start)
        return;
    start[0] = wide ? RECORD_WIDE : RECORD_NARROW;
    bytes_put_u16(start + 1, (uint16_t)fields);
    uint8_t *ends = start + HEAD, *to = ends + (size_t)fields * (wide ? 4 : 2);
    for (uint32_t i = 0; i < fields; i++) {
        if (slots[i].len > 0)
            memcpy(to + end, slots[i].bytes, slots[i].len);
        end += (uint32_t)slots[i].len;
        if (wide)
            bytes_put_u32(ends + (size_t)i * 4, end);
        else
            bytes_put_u16(ends + (size_t)i * 2, (uint16_t)end);
    }
    bytes_put_u32(start + len - CHECKSUM, checksum(id, start, len - CHECKSUM));
    out->len += len;
}
