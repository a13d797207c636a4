/* json.h - JSON of values, in and out. Numbers keep 64 bits; nothing passes through a double that need
 * not. */
#ifndef VALUE_JSON_H
#define VALUE_JSON_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "value/value.h"

/* The parameters: text[0..len) is empty, blank or a JSON array. Its elements into values of the arena
 * (text without escapes borrows `text`, which must be valid UTF-8). FENEC_QUERY with what and where. */
int json_read_params(const uint8_t *text, size_t len, arena *a, value **out, uint32_t *count, error *err);

/* One JSON value standing alone (same rules, nesting at most JSON_DEPTH_MAX). */
int json_read(const uint8_t *text, size_t len, arena *a, value *out, error *err);

/* Chapter 2 section 5, no white space. */
void json_write(buffer *out, const value *v);
void json_write_text(buffer *out, const uint8_t *bytes, size_t len); /* a JSON string, quotes included */
void json_write_int(buffer *out, int64_t i);
void json_write_float(buffer *out, double f);
void json_write_float32(buffer *out, float f); /* a vector's component, a score */

#endif
