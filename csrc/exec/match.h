/* match.h - match: the rows whose text holds a query's words, by BM25 (chapter 4 sections 4 and 5). */
#ifndef EXEC_MATCH_H
#define EXEC_MATCH_H

#include "exec/context.h"
#include "exec/explain.h"
#include "exec/ids.h"
#include "ql/ast.h"
#include "search/query.h"
#include "search/best.h"

typedef struct match_plan match_plan;

/* Binds match and filter of a read over `of`; immutable, in `a`. FENEC_QUERY: a field that is not there or has
 * no @text. */
int match_bind(const match_clause *match, const catalog *cat, const collection *of, const expr *where, arena *a,
               match_plan **out, error *err);

/* The first `want` rows, best first, in cx->memory. TYPE: a query that is no text. FN_AGAIN. */
int match_first(const match_plan *p, const context *cx, size_t want, best_row **out, size_t *count, explain *x,
                error *err);

/* The ids of every row that holds one of the query's words, ascending, filter aside; the caller clears them. */
int match_all(const match_plan *p, const context *cx, ids *out, error *err);

/* The query of a run and how its index cuts texts: in cx->memory. */
int match_query(const match_plan *p, const context *cx, query *out, analysis *how, error *err);

#endif
