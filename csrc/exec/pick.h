/* pick.h - which rows: filter, order and page, by whatever index is cheapest, never another answer.
 *
 * The rows are those a scan in ascending id finds, put in order (ties by ascending id), from `offset` on
 * and at most `limit` of them. */
#ifndef EXEC_PICK_H
#define EXEC_PICK_H

#include "exec/access.h"
#include "exec/context.h"
#include "exec/explain.h"
#include "exec/expr.h"
#include "exec/ids.h"
#include "exec/sort.h"

typedef struct pick_plan pick_plan;

/* Binds filter, order and page of a get, set or del over `of`; immutable, in `a`. NOT_FOUND: an order key
 * that is no field (also over no rows). */
int pick_bind(const catalog *cat, const collection *of, const expr *where, const sort_key order[],
              uint32_t order_count, count_value limit, count_value offset, arena *a, pick_plan **out, error *err);

/* What each row of the page is handed to, in order. The row is valid during the call alone, and what the
 * call takes from cx->memory is given back after it. */
typedef int pick_visit(void *to, const row *r, error *err);

/* `x` may be NULL. A row whose filter fails ends the run, and so does a visit that does. */
int pick_run(const pick_plan *p, const context *cx, pick_visit *visit, void *to, explain *x, error *err);

/* How many rows pass the filter, order and page aside. */
int pick_count(const pick_plan *p, const context *cx, int64_t *out, explain *x, error *err);

/* ---- a plan run more than once, or with more asked of its rows ---- */

/* A further test of a row, before order and page. */
typedef int pick_test(void *with, const row *r, bool *truth, error *err);

/* Plain, in the caller's frame, which sets what stands first between pick_begin and a run. */
typedef struct picking {
    pick_test *before, *also; /* the filter, and after it; NULL: none */
    void *with;               /* of both */
    const ids *among; /* NULL, or ascending ids that hold every row that passes; not all need be there */

    const pick_plan *p;
    const context *cx;
    explain *x; /* may be NULL */
    constant *resolved;
    int64_t offset, limit, page; /* page: offset and limit together */
    arena_mark mark; /* of cx->memory: what a row took is given back before the next */
    scope s;
    row at;
    sorter sort; /* kept from run to run */
    uint64_t tested, matched;
    bool stopped; /* at the end of the page */
    pick_visit *visit;
    void *to;
} picking;

/* Answers inner reads, works out what is the same for every row, and limit and offset. pick_end, which may
 * be called on {0}, lets its memory go. */
int pick_begin(picking *k, const pick_plan *p, const context *cx, explain *x, error *err);
void pick_end(picking *k);

int pick_page(picking *k, pick_visit *visit, void *to, error *err);
int pick_each(picking *k, pick_visit *visit, void *to, error *err); /* every row that passes, ascending id */
int pick_all(picking *k, int64_t *count, error *err);               /* how many pass */

/* The page of the rows that `from` names, which are tested whatever it says of being exact. */
int pick_along(picking *k, access *from, pick_visit *visit, void *to, error *err);

/* Whether one of them passes, order and page aside. */
int pick_any(picking *k, access *from, bool *out, error *err);

/* How many rows the cheapest way to them names, at most: what a run costs. */
int pick_cost(picking *k, int64_t *rows, error *err);

/* Whether every row passes, by the filter. */
bool pick_is_all(const pick_plan *p);

/* Whether a page is over before every row was tested: rows come in its order. */
bool pick_stops(const picking *k);

/* The ids of the page in its order, in cx->memory. */
int pick_ids(const pick_plan *p, const context *cx, int64_t **out, size_t *count, error *err);

#endif
