/* conn.h - tables through a connection that is inside a snapshot or a block.
 *
 * A rows table holds bytes by id; an index table holds (key, id) pairs in order of key, then id. Tables
 * are known by kind and numbers, made by the first write and read as empty until then.
 *
 *   meta               small state by number
 *   catalog            one collection's declaration by number
 *   c<collection>      records
 *   s<collection>_<n>  values of field n too large for a record, by id
 *   i<index>           an index
 *   x<index>           rows of a search index
 *
 * Bytes handed out are the connection's. Those of rows_get stay until the next rows_get of the same
 * table through the same connection, those of a cursor until its next step. */
#ifndef STORE_CONN_H
#define STORE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/store.h"

typedef enum table_kind { TABLE_META, TABLE_CATALOG, TABLE_RECORDS, TABLE_SIDE, TABLE_INDEX, TABLE_SEARCH } table_kind;

typedef struct table {
    table_kind kind;
    uint32_t number; /* RECORDS, SIDE: the collection; INDEX, SEARCH: the index */
    uint32_t field;  /* SIDE */
} table;

static inline table table_meta(void) { return (table){TABLE_META, 0, 0}; }
static inline table table_catalog(void) { return (table){TABLE_CATALOG, 0, 0}; }
static inline table table_records(uint32_t collection) { return (table){TABLE_RECORDS, collection, 0}; }
static inline table table_side(uint32_t collection, uint32_t field)
{
    return (table){TABLE_SIDE, collection, field};
}
static inline table table_index(uint32_t index) { return (table){TABLE_INDEX, index, 0}; }
static inline table table_search(uint32_t index) { return (table){TABLE_SEARCH, index, 0}; }

bool conn_is_writer(const conn *c);

/* After much was read that is not read again soon: its pages leave the connection's cache. */
void conn_forget_pages(conn *c);

/* ---- rows ---- */

/* FENEC_OK, FN_END where there is no such row. */
int rows_get(conn *c, table t, int64_t id, const uint8_t **bytes, size_t *len, error *err);
int rows_exists(conn *c, table t, int64_t id, error *err); /* FENEC_OK, FN_END */
int rows_count(conn *c, table t, int64_t *out, error *err);
int rows_last_id(conn *c, table t, int64_t *out, error *err); /* 0 where there is none */

/* Over an old row too. */
int rows_put(conn *c, table t, int64_t id, const uint8_t *bytes, size_t len, error *err);
int rows_delete(conn *c, table t, int64_t id, error *err); /* no such row: FENEC_OK */
int rows_delete_range(conn *c, table t, int64_t low, int64_t high, error *err); /* both in */

/* Row 0 of table_meta, 8 bytes, little-endian: a number that changes with nearly every block. A block sets
 * it like any row, but it goes into the file with the commit: once for all the blocks of a NO_SYNC database
 * that are committed together. A block that sets it writes other rows too. */
int counter_get(conn *c, uint64_t *out, error *err); /* 0 where it was never set; CORRUPT */
void counter_set(conn *c, uint64_t n);

/* ---- index entries ---- */

/* The least id under a key at or above `after`+1 (ids are from 1): FENEC_OK, FN_END. */
int entries_first(conn *c, table t, const uint8_t *key, size_t len, int64_t after, int64_t *id, error *err);
int entries_put(conn *c, table t, const uint8_t *key, size_t len, int64_t id, error *err);
int entries_delete(conn *c, table t, const uint8_t *key, size_t len, int64_t id, error *err);

/* A part of an index: keys between two bounds, either of which may be left out. */
typedef struct key_range {
    const uint8_t *low, *high;
    size_t low_len, high_len;
    bool has_low, has_high;
    bool above_low, below_high; /* bound itself left out */
} key_range;

/* Entries in the range, but at most `stop` of them counted (INT64_MAX: all). */
int entries_count(conn *c, table t, const key_range *range, int64_t stop, int64_t *out, error *err);

/* ---- cursors ---- */

/* Plain; lives in the caller's frame, closed by cursor_close, which may be called on {0}; closed before
 * its snapshot or block ends. A block may write while one is open, but whether the cursor meets what was
 * written is not said. Steps count towards the 10 000 after which a read is long and no checkpoint waits
 * for it. */
typedef struct cursor {
    conn *c;
    struct statement *statement; /* NULL at the end */
    struct backward *backward;   /* entries, descending */
    int64_t low, high;           /* of rows: the ids that may come next */
    bool descending;
} cursor;

/* Rows from id `low` to `high`, both in, ascending or descending; CORRUPT where the table is in no such order, so
 * that who goes on from the last id gets on. */
int cursor_rows(cursor *cur, conn *c, table t, int64_t low, int64_t high, bool descending, error *err);

/* Entries of the range by key, ascending or descending; ids under one key always ascending. */
int cursor_entries(cursor *cur, conn *c, table t, const key_range *range, bool descending, error *err);

int cursor_next_row(cursor *cur, int64_t *id, const uint8_t **bytes, size_t *len, error *err);
int cursor_next_entry(cursor *cur, int64_t *id, const uint8_t **key, size_t *len, error *err);
void cursor_close(cursor *cur);

/* What a scan hands each row to; false ends it. The bytes last for the call alone, which may read through
 * the connection but not write. */
typedef bool row_visit(void *to, int64_t id, const uint8_t *bytes, size_t len);

/* Rows from id `low` to `high`, both in, ascending. In a snapshot they are read off the pages of the table
 * (page_scan.h), a fifth of what a cursor's step costs; in a block, and where that may not be, visited from inside
 * SQLite's step, which costs half of it, less still where `wants_id` is false. The visit's id is 0 then.
 * FENEC_OK where a visit ended it, and *last is that row's id; FN_END after the last row. */
int rows_scan(conn *c, table t, int64_t low, int64_t high, bool wants_id, row_visit *visit, void *to,
              int64_t *last, error *err);

/* The rows of a list of ids, in its order; ids without a row are passed over. */
int rows_listed(conn *c, table t, const int64_t ids[], size_t count, row_visit *visit, void *to, int64_t *last,
                error *err);

/* The entries from key `low` on and below `high`, by key, each visited with its id, and its key where that is wanted. */
int entries_scan(conn *c, table t, const uint8_t *low, size_t low_len, const uint8_t *high, size_t high_len,
                 bool wants_key, row_visit *visit, void *to, error *err);

/* ---- tables ---- */

int table_drop(conn *c, table t, error *err); /* never made: FENEC_OK */

#endif
