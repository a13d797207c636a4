/* near_sparse.h - near over a sparse vector: rows by the product of theirs with the query's. */
#ifndef EXEC_NEAR_SPARSE_H
#define EXEC_NEAR_SPARSE_H

#include "exec/candidates.h"
#include "exec/pick.h"
#include "exec/ranking.h"

/* What near asks of an index, bound: part of the plan. */
typedef struct sparse_ask {
    const collection *of;
    const catalog_field *field;
    const catalog_index *index;
    const pick_plan *pick;
    candidates_plan filter;
    bool exact; /* every row is measured */
} sparse_ask;

/* The best rows into *out, with scores. `query` is a VALUE_SPARSE of the field's dimension. FN_AGAIN. */
int near_sparse(const sparse_ask *ask, const context *cx, const value *query, ranking *out, explain *x, error *err);

#endif
