/* rollup.h - a read whose list aggregates: which rows are folded, and into what. */
#ifndef EXEC_ROLLUP_H
#define EXEC_ROLLUP_H

#include "exec/aggregate.h"

typedef struct rollup_plan rollup_plan;

/* Binds a select that aggregates; immutable, in `a`. NOT_FOUND, TYPE, FENEC_QUERY. */
int rollup_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, rollup_plan **out,
                error *err);

const answer_columns *rollup_columns(const rollup_plan *p);

/* Of aggregation_keep. */
typedef struct rollup_kept {
    aggregation_test *test;
    void *with;
} rollup_kept;

/* The rows of the answer, in order: one, or one per group of the page. `kept` may be NULL. Steps are told
 * to x. */
int rollup_each(const rollup_plan *p, const context *cx, const rollup_kept *kept, aggregation_visit *visit,
                void *to, explain *x, error *err);

/* `count` after `group`: the groups that pass `having` and are kept. */
int rollup_count(const rollup_plan *p, const context *cx, const rollup_kept *kept, int64_t *out, explain *x,
                 error *err);

#endif
