/* row_cache.h - rows of search indexes kept in memory, up to a budget of bytes.
 *
 * A row that was written is never written otherwise, and the number of what holds it never used again: what
 * is kept is right for every snapshot that can name it. A row that is looked at stays until it is let go of,
 * budget or not; the others go when room is needed, those not asked for lately first. */
#ifndef SEARCH_ROW_CACHE_H
#define SEARCH_ROW_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/conn.h"

typedef struct row_cache row_cache;

/* A row, held by whoever asked for it. */
typedef struct cached_row {
    const uint8_t *bytes; /* as written, its checksum left off; aligned for any number */
    size_t len;
} cached_row;

#define ROW_CACHE_PAD 8 /* bytes after a row that may be read */
#define ROW_CACHE_BYTES (24u * 1024 * 1024)
#define ROW_DAMAGED (-3) /* the row is missing, or its checksum is another; err is not filled */

row_cache *row_cache_new(size_t budget_bytes); /* NULL: no memory */
void row_cache_free(row_cache *c);

/* The row of table_search(index), from memory or through `from`. ROW_DAMAGED; IO, PANIC. */
int row_cache_take(row_cache *c, conn *from, uint32_t index, int64_t id, const cached_row **out, error *err);
void row_cache_leave(row_cache *c, const cached_row *row); /* NULL does nothing */

/* A number for what has rows, above every one handed out and at least `least`. */
uint32_t row_cache_number(row_cache *c, uint32_t least);

/* Whether bytes[0..*len) of a cursor are that row as it was written; *len is then without the checksum. */
bool row_cache_check(uint32_t index, int64_t id, const uint8_t *bytes, size_t *len);

/* The same of a row that may be written again: past the cache, the connection's until the next rows_get of the
 * table. FN_END: there is none; ROW_DAMAGED. */
int row_cache_read(conn *from, uint32_t index, int64_t id, const uint8_t **bytes, size_t *len, error *err);

size_t row_cache_bytes(row_cache *c); /* held now */

/* Writes a row with its checksum. */
int row_cache_write(conn *to, uint32_t index, int64_t id, const uint8_t *bytes, size_t len, error *err);

#endif
