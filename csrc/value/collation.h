/* collation.h - text in the order of a language (chapter 3 section 15), by ICU.
 *
 * A build with FENEC_ICU=0 has no ICU: it compares by bytes, and whoever takes a collation from a text
 * or a schema asks collation_available first. */
#ifndef VALUE_COLLATION_H
#define VALUE_COLLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "value/value.h"

/* Whether `und` and `tr` can be ordered by. Any thread, at any time. */
bool collation_available(void);

/* FENEC_OK where a build orders by it, as every one does by COLLATION_NONE; else FENEC_QUERY, naming it. */
int collation_need(collation collate, error *err);

/* What the order of a collation depends on, beside the texts: the versions of its rules and of the library.
 * Keys made under another one are in another order. 0 for COLLATION_NONE and without ICU. */
uint64_t collation_version(collation collate);

/* Appends bytes whose memcmp, then the shorter first, is collation_compare: the collation's own key, which
 * holds no 0, a 0, and the octets. COLLATION_NONE: the octets alone. False where it has no key for them. */
bool collation_key(buffer *out, collation collate, const uint8_t *text, size_t len);

/* < 0, 0, > 0; 0 for equal bytes alone, which break the collation's ties. COLLATION_NONE: bytes. */
int collation_compare(collation collate, const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

#endif
