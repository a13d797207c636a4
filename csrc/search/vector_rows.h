/* vector_rows.h - the rows of an @hnsw index in table_search: for vector_save.c and vector_open.c.
 *
 *   manifest   how much of the index stands there, and where
 *   items      vectors or codes by node, as many to a row as fit in 64 KiB; a node's is never another's
 *   links      lists of layer 0 by node, as many to a row
 *   upper      lists of the layers above, in the order their nodes were linked
 *   tall       which nodes those are, and how high
 *   entries    documents by id, and their nodes
 *   centres    what codes of signs lie around
 *   log        a row for each block since the last save: which of the documents the save knows of it wrote; all
 *              that it wrote, where the index was not in memory. Documents with ids above are found by these
 *
 * Every row has a checksum (row_cache.h). A row that the manifest names is not written to before another manifest
 * stands: each has two places (sides), and a save writes what changed to the one that is free. Items alone are
 * added to in place, behind those that are named. So a process that ends anywhere leaves one manifest, and what
 * it names is whole. */
#ifndef SEARCH_VECTOR_ROWS_H
#define SEARCH_VECTOR_ROWS_H

#include "search/row_cache.h"
#include "search/vector_inside.h"

#define VECTOR_FORMAT 1
#define VECTOR_MANIFEST 1 /* id of its row */
#define VECTOR_ROW_BYTES GRAPH_ROW_BYTES

typedef enum vector_rows {
    VECTOR_ITEMS = 1,
    VECTOR_LINKS,
    VECTOR_UPPER,
    VECTOR_TALL,
    VECTOR_ENTRIES,
    VECTOR_CENTRES
} vector_rows;

static inline int64_t vector_row_id(vector_rows kind, uint8_t side, uint32_t row)
{
    return (int64_t)kind << 40 | (int64_t)side << 32 | row;
}

static inline uint32_t vector_row_count(uint32_t items, uint32_t a_row)
{
    return items / a_row + (items % a_row != 0);
}

#define VECTOR_MANIFEST_NUMBERS 16

/* As it stands in its row: these as varints in this order, then a byte a row of links and of upper: its side. */
typedef struct vector_manifest {
    uint64_t format, kind, dimension, m;
    uint64_t nodes, linked, entry, top; /* entry: 0 where none, else the node plus 1 */
    uint64_t upper, docs, last, log;    /* last: zigzag of the largest id; log: rows before it are older */
    uint64_t items_side, lists_side, tall_rows, entry_rows;
} vector_manifest;

#endif
