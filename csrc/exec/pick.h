/* pick.h - which rows: filter, order and page, by whatever index is cheapest, never another answer.
 *
 * The rows are those a scan in ascending id finds, put in order (ties by ascending id), from `offset` on
 * and at most `limit` of them. */
#ifndef EXEC_PICK_H
#define EXEC_PICK_H

#include "exec/context.h"
#include "exec/explain.h"
#include "exec/expr.h"

typedef struct pick_plan pick_plan;

/* Binds filter, order and page of a get, set or del over `of`; immutable, in `a`. NOT_FOUND: an order key
 * that is no field (also over no rows). */
int pick_bind(const collection *of, const expr *where, const sort_key order[], uint32_t order_count,
              count_value limit, count_value offset, arena *a, pick_plan **out, error *err);

/* What each row of the page is handed to, in order. The row is valid during the call alone, and what the
 * call takes from cx->memory is given back after it. */
typedef int pick_visit(void *to, const row *r, error *err);

/* `x` may be NULL. A row whose filter fails ends the run, and so does a visit that does. */
int pick_run(const pick_plan *p, const context *cx, pick_visit *visit, void *to, explain *x, error *err);

/* How many rows pass the filter, order and page aside. */
int pick_count(const pick_plan *p, const context *cx, int64_t *out, explain *x, error *err);

/* The ids of the page in its order, in cx->memory. */
int pick_ids(const pick_plan *p, const context *cx, int64_t **out, size_t *count, error *err);

#endif
