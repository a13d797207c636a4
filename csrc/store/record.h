/* record.h - one document as bytes: values by field number, each found without reading the others.
 *
 *   u8   form: 1; 2 where ends take 32 bits
 *   u16  fields: how many field numbers the record knows, trailing nulls left out
 *   u16 or u32 x fields: where each value ends, from the first value's start
 *   packed values (value/packed.h); a null takes no bytes; RECORD_SIDE and u32 length: in the side table
 *   u32  CRC-32C of the id (8 bytes, little-endian) and of everything before
 *
 * Little-endian, readable unaligned. A field number past `fields` reads null: it was added later. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "value/value.h"

#define RECORD_SIDE 0x80       /* tag of a value kept in the side table */
#define RECORD_SIDE_LEN 5      /* bytes of a slot with that tag: the tag, u32 length */
#define RECORD_INLINE_MAX 1024 /* bytes of a packed value that stays in the record; a vector never does */

typedef struct record {
    const uint8_t *bytes; /* borrowed */
    size_t len;
    uint32_t fields;
    bool wide;
} record;

/* FENEC_CORRUPT where the bytes are no record. Looks at the head alone. */
int record_open(record *r, const uint8_t *bytes, size_t len, error *err);

/* The packed bytes of a field; *len 0 for null. */
int record_slot(const record *r, uint32_t field, const uint8_t **bytes, size_t *len, error *err);

/* Whether head, values and checksum agree. */
int record_check(const uint8_t *bytes, size_t len, int64_t id, error *err);

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
