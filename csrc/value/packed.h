/* packed.h - values as bytes: what containers, records and parameters hold.
 *
 *   tag  content, little-endian, unaligned
 *   0    null                     9   text: varint length, UTF-8
 *   1 2  false, true              10  bytes: varint length, octets
 *   3..6 int of 1, 2, 4, 8 bytes  11  vector: varint count, 32-bit floats
 *   7    float, 8 bytes           12  vector at half precision: varint count, 16-bit floats
 *   8    timestamp, 8 bytes       13  point: 2 floats of 8 bytes
 *   14   list: u32 length of what follows the two numbers, u32 count, packed elements
 *   15   object: the same; members by key ascending: packed text, packed value
 *   16   sparse: u32 count, u32 dimension, count x (u32 index from 0, 32-bit float)
 *
 * An int takes the fewest bytes that hold it. Bytes may come from a file: nothing in them is trusted. A
 * container nests at most PACKED_DEPTH_MAX deep; json_depth is checked where a value enters. */
#ifndef VALUE_PACKED_H
#define VALUE_PACKED_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "value/value.h"

#define PACKED_DEPTH_MAX 600 /* containers; typed lists nest as deep as the parser lets a type */

/* Appends v. A vector is written in full precision; packed_put_half writes tag 12. */
void packed_put(buffer *out, const value *v);
void packed_put_half(buffer *out, const value *vector);

/* Appends a container of elements written between begin and end; `begin` answers the mark for `end`. */
size_t packed_begin(buffer *out, value_kind list_or_object);
void packed_end(buffer *out, size_t mark, uint32_t count);

/* Reads the value at *at and moves *at past it. The value borrows the bytes, but for a half vector, which
 * is widened into the arena (a NULL arena refuses one). FENEC_OK; FENEC_CORRUPT or FENEC_PANIC. Does not
 * look inside containers: their elements are checked as they are read. */
int packed_read(const uint8_t **at, const uint8_t *end, arena *a, value *out, error *err);

/* Elements of a list, members of an object, in order. FN_END after the last. */
typedef struct packed_iter {
    const uint8_t *at, *end;
    uint32_t left;
} packed_iter;

void packed_iterate(packed_iter *it, const value *container);
/* An element is never a half vector: packed_put does not write one. `err` may be NULL where only the code
 * is wanted: an error is large on the stack of a recursion. */
int packed_next(packed_iter *it, value *element, error *err);
int packed_next_member(packed_iter *it, value *key, value *member, error *err);

/* The member of that key; false (and *out null) where the object has none or v is no object. */
bool packed_member(const value *object, const uint8_t *key, size_t key_len, value *out);

/* Containers nested in v, v included: 0 for a scalar, 1 for [] or {}. A point or vector counts 1. */
uint32_t packed_depth(const value *v);

/* The whole of v checked to be well-formed, text UTF-8, keys ascending: for bytes of a file. */
int packed_check(const uint8_t *bytes, size_t len, error *err);

/* object with the member at keys[0..n) set to `v`, objects made on the way; `base` may be null (an
 * object is then made). FENEC_TYPE where the way meets something that is neither null nor an object:
 * *met is the number of keys walked and *holds what was found there. Result in the arena. */
int packed_set_path(arena *a, const value *base, const value keys[], uint32_t n, const value *v, value *out,
                    uint32_t *met, value *holds, error *err);

#endif
