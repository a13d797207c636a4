/* row_cache.h - rows of search indexes kept in memory, up to a budget of bytes.
 *
 * A row that was written is never written otherwise, and the number of what holds it never used again: what
 * is kept is right for every snapshot that can name it. A row that is looked at stays until it is let go of,
 * budget or not; the others go when room is needed, those not asked for lately first. */
#ifndef SEARCH_ROW_CACHE_H
#define SEARCH_ROW_CACHE_H

#include <stdint.h>

#include "base/error.h"
#include "store/conn.h"

typedef struct row_cache row_cache;

/* A row, held by whoever asked for it. */
typedef struct cached_row {
    const uint8_t *bytes; /* as written, its checksum left off; aligned for any number */
    size_t len;
} cached_row;

#define ROW_CACHE_BYTES (24u * 1024 * 1024)
#define ROW_DAMAGED (-3) /* the row is missing, or its checksum is another; err is not filled */

row_cache *row_cache_new(size_t budget_bytes); /* NULL: no memory */
void row_cache_free(row_cache *c);

/* The row of table_search(index), from memory or through `from`. ROW_DAMAGED; IO, PANIC. */
int row_cache_take(row_cache *c, conn *from, uint32_t index, int64_t id, const cached_row **out, error *err);
void row_cache_leave(row_cache *c, const cached_row *row); /* NULL does nothing */

size_t row_cache_bytes(row_cache *c); /* held now */

/* Writes a row with its checksum. */
int row_cache_write(conn *to, uint32_t index, int64_t id, const uint8_t *bytes, size_t len, error *err);

#endif
