/* near.h - near over a vector, a sparse vector or a point: rows by how near their value is to the query's. */
#ifndef EXEC_NEAR_H
#define EXEC_NEAR_H

#include "exec/context.h"
#include "exec/explain.h"
#include "exec/ranking.h"
#include "ql/ast.h"

typedef struct near_plan near_plan;

/* Binds near and filter of a read over `of`; immutable, in `a`. FENEC_QUERY: a field that is not there, has no
 * index that ranks it, or takes no ef. */
int near_bind(const near_clause *near, const catalog *cat, const collection *of, const expr *where, arena *a,
              near_plan **out, error *err);

/* The first `want` (at most RANKED_MAX) rows, best first, in cx->memory. TYPE: a query of another kind or dimension. FN_AGAIN. */
int near_first(const near_plan *p, const context *cx, size_t want, ranking *out, explain *x, error *err);

#endif
