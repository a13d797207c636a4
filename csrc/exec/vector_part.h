/* vector_part.h - @hnsw indexes as a kind of search index: read, written, published with blocks, and linked
 * behind them. */
#ifndef EXEC_VECTOR_PART_H
#define EXEC_VECTOR_PART_H

#include "exec/search_kind.h"
#include "search/vector_index.h"

extern const search_kind vector_part;

/* The index as a connection sees it, in a snapshot or a block; *out has one reference. ROW_DAMAGED. */
int vector_part_read(conn *c, const collection *of, const catalog_index *x, vector_version **out, error *err);

/* What was written since by who had it not in memory, as a connection sees it: *count documents. ROW_DAMAGED. */
int vector_part_follow(conn *c, const collection *of, const catalog_index *x, vector_version **v, size_t *count,
                       error *err);

/* Told of a document that the index holds and should not, or does not hold with its vector. */
typedef void vector_fault(void *to, int64_t id, const char *what);

/* Compares what the file has of an index that is READY with the documents, in a snapshot or a block: every document
 * with a vector is to be there once, with the vector it has, and nothing else. It is read into memory of its own
 * for that. ROW_DAMAGED (search/row_cache.h): its rows are not as they were written; IO, CORRUPT, PANIC. */
int vector_part_check(conn *c, const collection *of, const catalog_index *x, vector_fault *found, void *to,
                      error *err);

#endif
