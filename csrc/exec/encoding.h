/* encoding.h - bytes that tell values apart: distinct values, group keys, facets, and what a sketch
 * hashes (chapter 3 appendix A). */
#ifndef EXEC_ENCODING_H
#define EXEC_ENCODING_H

#include "base/buffer.h"
#include "base/error.h"
#include "value/type.h"
#include "value/value.h"

/* Appends the encoding of v, as the appendix has it. CORRUPT where a container is damaged. Whether the
 * buffer failed is the caller's to look at. */
int encoding_put(buffer *out, const value *v, error *err);

/* The hash of an encoding. */
uint64_t encoding_hash(const uint8_t *bytes, size_t len);

/* Appends v packed (value/packed.h), so that values have the same bytes exactly where they have the same
 * encoding: such bytes are read back as the value. -0.0 is 0.0, and a point the list of its numbers. */
int encoding_put_packed(buffer *out, const value *v, error *err);

/* Whether the packed bytes in a record tell the values of a field of that type apart as they are. */
bool encoding_is_packed(const type *t);

#endif
