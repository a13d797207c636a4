/* candidates.h - the filter of a read that ranks what an inverted index finds: whether a row found passes. */
#ifndef EXEC_CANDIDATES_H
#define EXEC_CANDIDATES_H

#include "exec/access.h"
#include "exec/explain.h"
#include "exec/ids.h"
#include "search/best.h"

/* Immutable. */
typedef struct candidates_plan {
    const bound *filter; /* NULL: every row passes */
    constants once;
    access_plan access;
} candidates_plan;

/* Of one run. */
typedef struct candidates {
    const candidates_plan *p;
    const collection *of;
    const context *cx;
    explain *x;
    constant *resolved;
    scope s;
    row at;
    ids named; /* the rows that pass, where an index named them */
    bool is_named;
    uint64_t tested, passed;
} candidates;

int candidates_bind(candidates_plan *p, const catalog *cat, const collection *of, const expr *where, arena *a,
                    error *err);

/* Ended by candidates_end whatever this answers. Few rows that an index names are tested here. */
int candidates_begin(candidates *f, const candidates_plan *p, const collection *of, const context *cx, explain *x,
                     error *err);
void candidates_end(candidates *f);

/* A best_test, with f; candidates_test_of: NULL where every row passes. */
int candidates_test(void *f, int64_t id, bool *pass, error *err);
static inline best_test *candidates_test_of(const candidates *f)
{
    return f->p->filter ? candidates_test : NULL;
}

/* No row passes. */
static inline bool candidates_are_none(const candidates *f)
{
    return f->is_named && !f->named.count;
}

/* How many were tested. */
void candidates_explain(const candidates *f);

#endif
