/* facet.h - how many of the rows a read selects hold each value of a field, or fall into each range of
 * numbers (chapter 3 section 13). */
#ifndef EXEC_FACET_H
#define EXEC_FACET_H

#include "base/buffer.h"
#include "exec/pick.h"

#define FACET_VALUES_MAX 10000u

typedef struct facets_plan facets_plan;

/* Binds the facets of a select over `of`: immutable, in `a`. NOT_FOUND, TYPE, FENEC_QUERY. */
int facets_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, facets_plan **out,
                error *err);

/* Counts, and appends the object of all facets. `rows` picks the statement's: what it tests beside its
 * filter is asked of the rows of a disjunctive facet too. FENEC_QUERY past the bound. */
int facets_write(const facets_plan *p, picking *rows, buffer *out, error *err);

#endif
