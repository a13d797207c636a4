/* spill.h - bytes by number that memory has no room for: in a file of their own, which nobody else sees
 * and which goes when it is closed. It is no part of the database and of no snapshot. */
#ifndef STORE_SPILL_H
#define STORE_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct spill spill;

int spill_open(spill **out, error *err); /* IO, PANIC */
void spill_close(spill *s);              /* NULL does nothing */

/* FENEC_OK; FN_END where nothing stands under that number. The bytes stay until the next call. */
int spill_get(spill *s, int64_t id, const uint8_t **bytes, size_t *len, error *err);
int spill_put(spill *s, int64_t id, const uint8_t *bytes, size_t len, error *err); /* over what stood there */

/* Everything, by number: spill_next from the first on after spill_rewind. FN_END. Nothing may be put
 * between two steps. */
void spill_rewind(spill *s);
int spill_next(spill *s, int64_t *id, const uint8_t **bytes, size_t *len, error *err);

#endif
