/* near_point.h - near over a geo field: rows by their distance from a point, ties by ascending id (chapter 3
 * section 14.5).
 *
 * With a @geo index the points are met outwards, in circles that double, until the page is full of rows
 * nearer than the circle's edge; without one, with `exact`, or where the filter names few rows by another
 * index, every row that passes is measured. The answer is the same. */
#ifndef EXEC_NEAR_POINT_H
#define EXEC_NEAR_POINT_H

#include "exec/context.h"
#include "exec/explain.h"
#include "exec/expr.h"
#include "ql/ast.h"

enum { NEAR_ROWS_MAX = 10000 };

typedef struct near_point_plan near_point_plan;

/* Whether a near speaks of a geo field. */
bool near_point_is(const near_clause *near, const collection *of);

/* Binds near, filter and page of a read over `of`; immutable, in `a`. FENEC_QUERY: ef. */
int near_point_bind(const near_clause *near, const catalog *cat, const collection *of, const expr *where,
                    count_value limit, count_value offset, arena *a, near_point_plan **out, error *err);

/* What each row of the page is handed to, in order, with its distance. The row is valid during the call
 * alone, and what the call takes from cx->memory is given back after it. */
typedef int near_visit(void *to, const row *r, double metres, error *err);

/* The page. FENEC_QUERY: more than NEAR_ROWS_MAX rows asked for; TYPE: null or what is no point. */
int near_point_run(const near_point_plan *p, const context *cx, near_visit *visit, void *to, explain *x,
                   error *err);

/* The first `want` (at most NEAR_ROWS_MAX) rows, limit and offset aside. */
int near_point_first(const near_point_plan *p, const context *cx, int64_t want, near_visit *visit, void *to,
                     explain *x, error *err);

#endif
