/* pick.h - which rows: filter, order and page, by whatever index is cheapest, never another answer. */
#ifndef EXEC_PICK_H
#define EXEC_PICK_H

#include "exec/context.h"
#include "exec/expr.h"

typedef struct pick_plan pick_plan;

/* Binds filter, order and page of a get, set or del over `of`; immutable, in `a`. NOT_FOUND: an order key
 * that is no field (also over no rows). */
int pick_bind(const collection *of, const expr *where, const sort_key order[], uint32_t order_count,
              count_value limit, count_value offset, arena *a, pick_plan **out, error *err);

/* The ids of the page in its order, in cx->memory. */
int pick_ids(const pick_plan *p, const context *cx, int64_t **ids, size_t *count, error *err);

#endif
