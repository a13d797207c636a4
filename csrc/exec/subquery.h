/* subquery.h - the read inside `in (get ...)`: bound with the filter it stands in, answered once a
 * statement, before the rows around it (chapter 3 section 11). */
#ifndef EXEC_SUBQUERY_H
#define EXEC_SUBQUERY_H

#include "exec/context.h"
#include "exec/explain.h"

#define SUBQUERY_VALUES_MAX 100000u

typedef struct subquery subquery;

/* Immutable, in `a`. What binding a read answers. */
int subquery_bind(const select_stmt *s, const catalog *cat, arena *a, subquery **out, error *err);

/* The values of its column, each once, nulls left out, in cx->memory; the array is the caller's to change.
 * Runs it the first time a statement asks. FENEC_QUERY past the bound; what the read answers. */
int subquery_values(const subquery *q, const context *cx, explain *x, value **values, uint32_t *count,
                    error *err);

#endif
