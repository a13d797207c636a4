/* record.h - one document as bytes: values by field number, each found without reading the others.
 *
 *   u8   form: 1; 2 where ends take 32 bits
 *   u16  fields: how many field numbers the record knows, trailing nulls left out
 *   u16 or u32 x fields: where each value ends, from the first value's start
 *   packed values (value/packed.h); a null takes no bytes; RECORD_SIDE, u32 length and u32 CRC-32C (of the id
 *        and the bytes): in the side table
 *   u32  CRC-32C of the id (8 bytes, little-endian) and of everything before
 *
 * Little-endian, readable unaligned. A field number past `fields` reads null: it was added later. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "value/value.h"

#define RECORD_SIDE 0x80       /* tag of a value kept in the side table */
#define RECORD_SIDE_LEN 9      /* bytes of a slot with that tag: the tag, u32 length, u32 checksum */
#define RECORD_INLINE_MAX 1024 /* bytes of a packed value that stays in the record; a vector never does */

typedef struct record {
    const uint8_t *bytes; /* borrowed */
    size_t len;
    uint32_t fields;
    bool wide;
    const uint8_t *values;
    size_t values_len;
} record;

#define RECORD_NARROW 1 /* the forms */
#define RECORD_WIDE 2
#define RECORD_HEAD 3     /* bytes before the ends of values */
#define RECORD_CHECKSUM 4 /* after the values */

static inline size_t record_value_end(const record *r, uint32_t field)
{
    const uint8_t *ends = r->bytes + RECORD_HEAD;

    return r->wide ? bytes_u32(ends + (size_t)field * 4) : bytes_u16(ends + (size_t)field * 2);
}

/* Head or length are no record's; the place of a value lies outside it: CORRUPT. */
void record_fail_open(error *err);
void record_fail_place(error *err);

/* FENEC_CORRUPT where the bytes are no record. Looks at the head alone. Done for every row of a scan, as
 * record_slot is: so they stand here. */
static inline int record_open(record *r, const uint8_t *bytes, size_t len, error *err)
{
    if (len < RECORD_HEAD + RECORD_CHECKSUM || (bytes[0] != RECORD_NARROW && bytes[0] != RECORD_WIDE))
        return record_fail_open(err), FENEC_CORRUPT;
    r->bytes = bytes;
    r->len = len;
    r->fields = bytes_u16(bytes + 1);
    r->wide = bytes[0] == RECORD_WIDE;
    size_t around = RECORD_HEAD + (size_t)r->fields * (r->wide ? 4 : 2) + RECORD_CHECKSUM;
    if (len < around || len - around != (r->fields ? record_value_end(r, r->fields - 1) : 0))
        return record_fail_open(err), FENEC_CORRUPT;
    r->values = bytes + around - RECORD_CHECKSUM;
    r->values_len = len - around;
    return FENEC_OK;
}

/* The packed bytes of a field; *len 0 for null. */
static inline int record_slot(const record *r, uint32_t field, const uint8_t **bytes, size_t *len, error *err)
{
    *bytes = r->bytes;
    *len = 0;
    if (field >= r->fields)
        return FENEC_OK;
    size_t start = field ? record_value_end(r, field - 1) : 0, end = record_value_end(r, field);
    if (start > end || end > r->values_len)
        return record_fail_place(err), FENEC_CORRUPT;
    *bytes = r->values + start;
    *len = end - start;
    return FENEC_OK;
}

/* Whether head, values and checksum agree. */
int record_check(const uint8_t *bytes, size_t len, int64_t id, error *err);

/* The slot of a value that stands in the side table, and whether those bytes are the ones. */
void record_put_side(uint8_t slot[RECORD_SIDE_LEN], const uint8_t *bytes, size_t len, int64_t id);
int record_check_side(const uint8_t slot[RECORD_SIDE_LEN], const uint8_t *bytes, size_t len, int64_t id, error *err);

/* Bytes of a record beside its values, at most. */
#define RECORD_AROUND_MAX(fields) (7 + (size_t)(fields) * 4)

/* The slots of a record to write, by field number: packed bytes, or a slot as it stood in another record;
 * len 0 for null. */
typedef struct record_slot_bytes {
    const uint8_t *bytes;
    size_t len;
} record_slot_bytes;

/* Appends the record. More than 65 535 fields or 4 GiB of values fail the buffer. */
void record_write(buffer *out, int64_t id, const record_slot_bytes slots[], uint32_t fields);

#endif
