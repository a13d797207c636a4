/* key.h - keys of index tables: bytes whose memcmp is the order of the values (then the shorter first).
 *
 * A typed field's key is exact: a tag byte, then the value so that bytes order as values do. @hash keys
 * of json, lists, vectors, sparse vectors and objects are a 128-bit hash of the value with every number
 * as a double. A key longer than KEY_MAX is its first KEY_MAX - 16 bytes and a 128-bit hash of the whole:
 * equal keys are then candidates, and their order among themselves is not the values'.
 *
 * Unplaceable values of a @sorted path (a bool, list, object, an int beyond 2^53) and a NaN carry the tag
 * KEY_UNPLACED, which is above every other: while one is there the index orders nothing. */
#ifndef VALUE_KEY_H
#define VALUE_KEY_H

#include "base/buffer.h"
#include "value/type.h"
#include "value/value.h"

#define KEY_MAX 255
#define KEY_NULL 0x00     /* the one key of null, in @sorted only: @hash and @unique leave null out */
#define KEY_UNPLACED 0xFF

typedef enum key_form {
    KEY_HASHED, /* @hash, @unique: equality */
    KEY_ORDERED /* @sorted, @ttl */
} key_form;

typedef enum key_state {
    KEY_EXACT,  /* equal keys are equal values, and order is theirs */
    KEY_TIED,   /* equal keys are candidates: look at the record */
    KEY_ABSENT, /* stored: no entry; probed: nothing can equal or be told (see key_probe) */
    KEY_SCAN    /* probed only: test row by row */
} key_state;

/* Appends the key under which a stored value of a field of type t (path: of a path into json) stands.
 * KEY_EXACT, KEY_TIED or KEY_ABSENT. */
key_state key_stored(buffer *out, key_form form, const type *t, bool path, const value *v);

/* Appends the key of a value that a condition compares with: only where it converts to t without
 * changing which stored values it equals (and, ordered, is less or greater than). KEY_SCAN otherwise,
 * null included (chapter 3 section 7). */
key_state key_probe(buffer *out, key_form form, const type *t, bool path, const value *v);

#endif
