/* vector_part.h - @hnsw indexes as a kind of search index: read, written, published with blocks, and linked
 * behind them. */
#ifndef EXEC_VECTOR_PART_H
#define EXEC_VECTOR_PART_H

#include "exec/search_kind.h"

extern const search_kind vector_part;

#endif
