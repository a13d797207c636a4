/* value.h - a value of any kind, and the one total order over all of them.
 *
 * A value is plain and owns nothing: the bytes it points to belong to a record, a parameter text, a
 * parsed text or an arena, and outlive it. Lists, objects and the other kinds of more than one number
 * are packed bytes (packed.h), in memory as in a record, so a json field is never taken apart into a
 * tree. */
#ifndef VALUE_VALUE_H
#define VALUE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum value_kind {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_TIMESTAMP, /* milliseconds since 1970-01-01T00:00:00Z */
    VALUE_TEXT,
    VALUE_BYTES,
    VALUE_VECTOR, /* count little-endian 32-bit floats, unaligned */
    VALUE_LIST,   /* count packed values, one after another */
    VALUE_POINT,  /* longitude, latitude */
    VALUE_SPARSE, /* u32 dimension, then count entries of u32 index from 0 and 32-bit float weight, by index */
    VALUE_OBJECT  /* count members by key: packed text, packed value */
} value_kind;

typedef struct value {
    value_kind kind;
    uint32_t count; /* VECTOR, LIST, SPARSE, OBJECT */
    union {
        bool boolean;
        int64_t integer; /* INT, TIMESTAMP */
        double number;   /* FLOAT */
        double point[2];
        struct { /* TEXT, BYTES, VECTOR, LIST, SPARSE, OBJECT */
            const uint8_t *bytes;
            size_t len;
        };
    };
} value;

static inline value value_null(void) { return (value){.kind = VALUE_NULL}; }
static inline value value_bool(bool b) { return (value){.kind = VALUE_BOOL, .boolean = b}; }
static inline value value_int(int64_t i) { return (value){.kind = VALUE_INT, .integer = i}; }
static inline value value_float(double f) { return (value){.kind = VALUE_FLOAT, .number = f}; }
static inline value value_timestamp(int64_t ms) { return (value){.kind = VALUE_TIMESTAMP, .integer = ms}; }
static inline value value_text(const void *bytes, size_t len)
{
    return (value){.kind = VALUE_TEXT, .bytes = bytes, .len = len};
}

/* Orders of text other than by bytes. Equality is always of bytes. */
typedef enum collation { COLLATION_NONE, COLLATION_UND, COLLATION_TR } collation;

/* The total order of chapter 2 section 8.1: < 0, 0, > 0. Never fails; recursion is bounded by the depth
 * of what packed.h lets in. A non-empty list of numbers compares with a vector as a vector. */
int value_compare(const value *a, const value *b);

/* The same with text in a collation (bytes break ties), list elements included. COLLATION_NONE is
 * value_compare. Where this build has no ICU it is value_compare too: the planner refuses before. */
int value_compare_in(collation collate, const value *a, const value *b);

bool value_equal(const value *a, const value *b); /* value_compare(a, b) == 0, found sooner */
bool value_truth(const value *v);                 /* as a condition: chapter 1 section 7.4 */

/* Whether v is a non-empty list holding only numbers: it serves as a vector. */
bool value_is_number_list(const value *v);

/* The float components of a vector, number list, or `[]` (0 of them) as floats in `out[0..count)`;
 * false where v is none of these or memory ran out. *count is v->count. A point is no number list: it
 * compares with a vector as one, and serves as none. */
struct arena;
bool value_components(const value *v, struct arena *a, const float **out, uint32_t *count);

/* Component i of a vector. */
float value_component(const value *vector, uint32_t i);

/* "int", "text", "a list", ...: the kind for an error message. */
const char *value_kind_name(const value *v);

/* The value as JSON for an error message, cut to the buffer with "..." and NUL-terminated. Answers out. */
#define VALUE_QUOTE_MAX 120
const char *value_quote(char out[VALUE_QUOTE_MAX], const value *v);

/* A deep copy into the arena; false where memory ran out. */
bool value_copy(struct arena *a, const value *v, value *out);

#endif
