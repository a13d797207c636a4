/* near_vector.h - near over a dense vector through its index: by the graph, or by the set that a filter leaves,
 * whichever is cheaper for a full page (chapter 4 sections 7.4, 7.5 and 8). */
#ifndef EXEC_NEAR_VECTOR_H
#define EXEC_NEAR_VECTOR_H

#include "exec/access.h"
#include "exec/pick.h"
#include "exec/ranking.h"
#include "exec/vector_value.h"

/* What is asked, bound. */
typedef struct vector_ask {
    const collection *of;
    const catalog_field *field;
    const catalog_index *index;
    const bound *filter; /* NULL: every row passes */
    constants once;
    access_plan access;
    pick_plan *pick; /* the same rows, for scans */
    uint32_t ef;     /* 0: the index's */
    bool exact;
} vector_ask;

/* The first `want` rows into *out, which was made for as many. `query` may be changed. FN_AGAIN. */
int near_vector(const vector_ask *ask, const context *cx, float *query, size_t want, ranking *out, explain *x,
                error *err);

#endif
