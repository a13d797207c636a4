/* index.h - the index entries of a row: what it had, what it gets, and who else holds its @unique values. */
#ifndef EXEC_INDEX_H
#define EXEC_INDEX_H

#include "base/arena.h"
#include "base/buffer.h"
#include "exec/block.h"
#include "exec/entry_run.h"
#include "store/row.h"
#include "value/key.h"

/* Keys of one index before and after. */
typedef struct key_pair {
    bool had, gets; /* an entry */
    bool tied;      /* the key it gets is shared by other values */
    bool same;      /* both keys are one */
    uint32_t had_at, had_len, gets_at, gets_len; /* in bytes */
    value before, after; /* of a search index, in the place of keys */
} key_pair;

/* Reused from row to row. */
typedef struct row_keys {
    const collection *of;
    const value *fresh;
    buffer bytes;
    key_pair *pairs; /* by place of the collection's indexes */
    uint32_t cap;
} row_keys;

void row_keys_init(row_keys *k);
void row_keys_clear(row_keys *k);

/* The keys of a row. old NULL: a new one; fresh (by place of fields; stays the caller's) NULL: it goes.
 * touched (by place) NULL: every field is written. */
int row_keys_make(row_keys *k, const collection *of, const row *old, const value fresh[], const bool touched[],
                  arena *a, error *err);

/* Whoever but `own` holds a @unique value that the row gets: the first of them at or after index *at (0 to
 * start; *at is then that index, to be added to for the next). FN_END: nobody. */
int row_keys_holder(const row_keys *k, const block *b, int64_t own, uint32_t *at, int64_t *holder, arena *a,
                    error *err);

/* DUPLICATE, naming the value of that index and who holds it. */
int row_keys_clash(const row_keys *k, uint32_t at, int64_t holder, error *err);

/* Tells the search indexes, before a row is written: what may fail in memory fails here. FN_AGAIN. */
int row_keys_search(const row_keys *k, block *b, int64_t id, error *err);

/* Takes away what the row had, puts what it gets. */
int row_keys_apply(const row_keys *k, block *b, int64_t id, error *err);

/* The key of a value that an index's field or path holds: value/key.h's key_stored and key_probe for its kind
 * and collation. @geo keeps points as geo_cell.h has them; null has none. */
key_state index_stored(buffer *out, const collection *of, const catalog_index *x, const value *v);
key_state index_probe(buffer *out, const collection *of, const catalog_index *x, const value *v);

/* The value at a path of a field's value; null where it leads nowhere. */
void value_at(const value *of, const path *on, value *out);

/* Entries of the documents after *to, at most `most` of them, for an index that has none there yet; *to
 * moves to the last of them, *done tells that it was the collection's. DUPLICATE names value and both ids. */
int index_fill(block *b, const collection *of, const catalog_index *x, int64_t *to, int64_t most, bool *done,
               error *err);

/* What index_fill would write, gathered in a snapshot until `out` has `most` bytes. Not for a search index. */
int index_gather(conn *c, const collection *of, const catalog_index *x, int64_t *to, size_t most, bool *done,
                 entry_run *out, error *err);

/* Writes a gathered entry. `touched`: the row was written since; its entry is then that of the row as it is.
 * DUPLICATE. */
int index_put(block *b, const collection *of, const catalog_index *x, const uint8_t *key, size_t len, int64_t id,
              bool touched, error *err);

/* DUPLICATE where another document of the index holds the value of this one. FENEC_OK also where it is gone. */
int index_check_document(conn *c, const collection *of, const catalog_index *x, int64_t id, error *err);

/* DUPLICATE where two ids stand under one value of it: goes through all of them. */
int index_check_unique(conn *c, const collection *of, const catalog_index *x, error *err);

#endif
