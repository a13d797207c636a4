/* key.h - keys of index tables: bytes whose memcmp is the order of the values (then the shorter first).
 *
 *   null          00                  @sorted only
 *   bool          01 00|01
 *   int, instant  02 8 bytes          of an int or timestamp field: big-endian, sign bit turned
 *   number        02 8 bytes          of a float field, of json: a double so turned that bytes order it
 *   text, bytes   03 octets; of a text field with a collation, @sorted only: 03 its collation_key
 *   any other     04 16 bytes         @hash, @unique only: hash128 with every number as a double
 *   unplaced      ff                  what the index cannot hold
 *
 * A key that would be longer than KEY_EXACT_MAX is its first KEY_EXACT_MAX bytes and a 128-bit hash of
 * the whole, KEY_MAX bytes in all, so its length tells it. Such keys are tied: equal ones are candidates
 * to look at on the record, and the order of those that share KEY_EXACT_MAX bytes is not the values'.
 *
 * Unplaced are, in a @sorted index over json, a bool, list, object and an int beyond 2^53, and everywhere
 * what holds a NaN, which equals every number. Their key is above every other: while one is there the
 * index answers nothing. */
#ifndef VALUE_KEY_H
#define VALUE_KEY_H

#include "base/buffer.h"
#include "value/type.h"
#include "value/value.h"

#define KEY_MAX 255
#define KEY_EXACT_MAX (KEY_MAX - 16)
#define KEY_NULL 0x00     /* the one key of null, in @sorted only: @hash and @unique leave null out */
#define KEY_UNPLACED 0xFF

typedef enum key_form {
    KEY_HASHED, /* @hash, @unique: equality */
    KEY_ORDERED /* @sorted, @ttl */
} key_form;

typedef enum key_state {
    KEY_EXACT,  /* equal keys are equal values, and order is theirs */
    KEY_TIED,   /* equal keys are candidates: look at the record */
    KEY_ABSENT, /* stored only: no entry */
    KEY_SCAN    /* probed only: test row by row */
} key_state;

/* Appends the key under which a stored value of a field of type t (path: of a path into json) stands.
 * KEY_EXACT, KEY_TIED or KEY_ABSENT. */
key_state key_stored(buffer *out, key_form form, const type *t, bool path, const value *v);

/* Appends the key of a value that a condition compares with: only where it converts to t without
 * changing which stored values it equals (and, ordered, is less or greater than), and KEY_EXACT or
 * KEY_TIED. KEY_SCAN, and nothing appended, otherwise, null included (chapter 3 section 7). */
key_state key_probe(buffer *out, key_form form, const type *t, bool path, const value *v);

/* The same, KEY_ORDERED, of a text field with a collation: keys order by it. */
key_state key_stored_in(buffer *out, collation collate, const value *v);
key_state key_probe_in(buffer *out, collation collate, const value *v);

/* The value that stands under a key, alone: nothing else is stored under it, and it is stored as this one.
 * False where only the record tells: a hash, a tie, a number of json, a NaN. Borrows the key. */
bool key_value(const uint8_t *key, size_t len, const type *t, bool path, value *out);

#endif
