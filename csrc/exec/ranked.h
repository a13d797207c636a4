/* ranked.h - reads that rank: which rows, in what order, with what score (chapter 4 section 1). */
#ifndef EXEC_RANKED_H
#define EXEC_RANKED_H

#include "exec/context.h"
#include "exec/explain.h"
#include "ql/ast.h"
#include "store/row.h"

struct match_plan;
typedef struct ranked_plan ranked_plan;

/* Whether a select is one that this module answers. */
bool ranked_is(const select_stmt *s);

/* Immutable, in `a`. What the clauses' own bind answers. */
int ranked_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, ranked_plan **out,
                error *err);

/* Of a select with a match; NULL: it has none. */
const struct match_plan *ranked_match(const ranked_plan *p);

/* What each row of the page is handed to, in order, with its score. The row is valid during the call alone, and
 * what the call takes from cx->memory is given back after it. */
typedef int ranked_visit(void *to, const row *r, float score, error *err);

/* FENEC_QUERY: a page beyond the ceiling. FN_AGAIN. `ids_only`: rows need not be read, but for their ids they may
 * be empty. */
int ranked_run(const ranked_plan *p, const context *cx, bool ids_only, ranked_visit *visit, void *to, explain *x,
               error *err);

#endif
