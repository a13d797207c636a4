/* collation.h - text in the order of a language (chapter 3 section 15), by ICU.
 *
 * A build with FENEC_ICU=0 has no ICU: it compares by bytes, and whoever takes a collation from a text
 * or a schema asks collation_available first. */
#ifndef VALUE_COLLATION_H
#define VALUE_COLLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value/value.h"

/* Whether `und` and `tr` can be ordered by. Any thread, at any time. */
bool collation_available(void);

/* < 0, 0, > 0; 0 for equal bytes alone, which break the collation's ties. COLLATION_NONE: bytes. */
int collation_compare(collation collate, const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

#endif
