/* sparse_search.h - the documents that share a dimension with a sparse vector, ranked by its product with theirs
 * (chapter 4 section 10).
 *
 * Products are summed in double by ascending dimension and the sum is rounded to f32, however a document was
 * found: its score depends on nothing but the two vectors. */
#ifndef SEARCH_SPARSE_SEARCH_H
#define SEARCH_SPARSE_SEARCH_H

#include "search/best.h"
#include "search/text_index.h"

/* What a search did, of the segments. */
typedef struct sparse_work {
    uint64_t postings; /* of the query's dimensions */
    uint64_t read;     /* of them: those in blocks that were opened */
    uint64_t measured; /* documents whose products were summed */
} sparse_work;

/* `entries` are `count` of a value (value/sparse.h). ROW_DAMAGED; IO, PANIC; what out->test answers. */
int sparse_rank(const text_version *v, conn *c, const uint8_t *entries, uint32_t count, best *out, sparse_work *did,
                arena *a, error *err);

#endif
