/* rerank.h - the best rows of a match, put in order by their vectors' distance to another (chapter 4 section 11). */
#ifndef EXEC_RERANK_H
#define EXEC_RERANK_H

#include "exec/context.h"
#include "exec/explain.h"
#include "exec/ranking.h"
#include "ql/ast.h"

typedef struct rerank_plan rerank_plan;

/* Immutable, in `a`. NOT_FOUND; TYPE: a field that is no vector; FENEC_QUERY: too many candidates. */
int rerank_bind(const rerank_clause *rerank, const collection *of, arena *a, rerank_plan **out, error *err);

/* How many rows of the match are looked at for the first `want`. */
size_t rerank_depth(const rerank_plan *p, size_t want);

/* The first `want` of the rows of a match; those without a vector drop out. TYPE: a query of another kind or
 * dimension, also over no rows. */
int rerank_rows(const rerank_plan *p, const context *cx, const ranking *from, size_t want, ranking *out, explain *x,
                error *err);

#endif
