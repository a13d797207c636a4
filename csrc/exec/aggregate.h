/* aggregate.h - a list that aggregates: rows in, one row or one per group out (chapter 3 section 9).
 *
 * Where its rows come from and where its answer goes is the caller's: a read, a level of a lookup, an
 * inner read. */
#ifndef EXEC_AGGREGATE_H
#define EXEC_AGGREGATE_H

#include "exec/answer.h"
#include "exec/group.h"
#include "ql/fold.h"

typedef struct aggregate_plan aggregate_plan;

/* Binds a list over `of` with its groups and having. Over groups, order and page are of these; without,
 * they choose the rows that are handed in and are no business of the plan. Immutable, in `a`. NOT_FOUND,
 * TYPE, FENEC_QUERY. */
int aggregate_bind(const collection *of, const fold *list, const sort_key order[], uint32_t order_count,
                   count_value limit, count_value offset, arena *a, aggregate_plan **out, error *err);

const answer_columns *aggregate_columns(const aggregate_plan *p);

/* Whether it asks for nothing but how many rows there are: they need not be read. */
bool aggregate_is_count(const aggregate_plan *p);

/* Whether it asks for nothing but how many rows there are and least and greatest values of fields with a
 * @sorted index: over all rows of the collection its ends may tell. */
bool aggregate_is_ends(const aggregate_plan *p);

/* Whether count(*) is among the calls. */
bool aggregate_counts(const aggregate_plan *p);

typedef struct aggregation aggregation;

/* bytes_max: of groups in memory. aggregation_close may be called on NULL. */
int aggregation_open(const aggregate_plan *p, const context *cx, tally_limits *limits, size_t bytes_max,
                     aggregation **out, error *err);
void aggregation_close(aggregation *g);

/* A pick_visit of `aggregation *`. Rows come in ascending id. */
int aggregation_row(void *g, const row *r, error *err);

/* Rows of an aggregate_is_count or aggregate_is_ends that nobody read. */
void aggregation_count_rows(aggregation *g, int64_t count);

/* The values of an aggregate_is_ends over all rows. *found false: the indexes cannot tell, nothing is
 * changed. */
int aggregation_ends(aggregation *g, bool *found, error *err);

/* The rows of the answer, in order: those of the page. Values are valid during the call alone. */
typedef int aggregation_visit(void *to, const value columns[], error *err);
int aggregation_each(aggregation *g, aggregation_visit *visit, void *to, error *err);

/* A further test of a group that passes `having`, before order and page, of the columns it would answer. */
typedef int aggregation_test(void *with, const value columns[], bool *out, error *err);
void aggregation_keep(aggregation *g, aggregation_test *keep, void *with);

/* How many groups pass `having`, page aside. */
int aggregation_groups(aggregation *g, int64_t *out, error *err);

/* Forgets its rows: those of the next parent follow. */
void aggregation_reset(aggregation *g);

void aggregation_explain(const aggregation *g, explain *x);

#endif
