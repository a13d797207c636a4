#include "exec/candidates.h"

#include <inttypes.h>

#include "exec/node.h"

enum { NAMED_MAX = 2000 }; /* rows that an index names up to here are tested before anything is ranked */

int candidates_bind(candidates_plan *p, const catalog *cat, const collection *of, const expr *where, arena *a,
                    error *err)
{
    bound *filter = NULL;
    int rc = filter_bind(where, cat, of, &p->once, a, &filter, err);

    p->filter = filter;
    return rc ? rc : access_bind(of, filter, a, &p->access, err);
}

static int test_row(candidates *f, bool *pass, error *err)
{
    f->tested++;
    int rc = f->p->filter->test(f->p->filter, &f->s, pass, err);
    f->passed += !rc && *pass;
    return rc;
}

int candidates_test(void *with, int64_t id, bool *pass, error *err)
{
    candidates *f = with;

    if (f->is_named) {
        *pass = f->named.count && integers_hold(f->named.at, (uint32_t)f->named.count, id);
        return FENEC_OK;
    }
    arena_mark here = arena_here(f->cx->memory);
    int rc = access_row(f->of, f->cx->c, id, &f->at, err);
    if (!rc)
        rc = test_row(f, pass, err);
    arena_rewind(f->cx->memory, here);
    return rc;
}

/* The rows that pass of the few that an index names. */
static int test_named(candidates *f, access *a, error *err)
{
    access_rows rows;
    arena_mark here = arena_here(f->cx->memory);
    int rc = access_open(&rows, a, f->of, f->cx, f->resolved, false, err);

    while (!rc && (rc = access_next(&rows, &f->at, err)) == FENEC_OK) {
        bool pass = true;
        if (!a->exact)
            rc = test_row(f, &pass, err);
        if (!rc && pass)
            rc = ids_add(&f->named, f->at.id, err);
        arena_rewind(f->cx->memory, here);
    }
    access_close(&rows);
    rc = rc == FN_END ? ids_order(&f->named, err) : rc;
    f->is_named = true;
    explain_step(f->x, "filter: %s named %" PRId64 " rows, %zu pass", a->how, a->named, f->named.count);
    return rc;
}

int candidates_begin(candidates *f, const candidates_plan *p, const collection *of, const context *cx, explain *x,
                     error *err)
{
    access a;

    *f = (candidates){.p = p, .of = of, .cx = cx, .x = x};
    int rc = constants_resolve(&p->once, cx, x, &f->resolved, err);
    f->s = (scope){.cx = cx, .row = &f->at, .memory = cx->memory, .resolved = f->resolved};
    if (rc || !p->filter)
        return rc;
    rc = access_choose(&p->access, cx, f->resolved, INT64_MAX, &a, err);
    if (rc)
        return rc;
    if (a.kind != ACCESS_SCAN && a.named <= NAMED_MAX)
        rc = test_named(f, &a, err);
    access_clear(&a);
    return rc;
}

void candidates_end(candidates *f)
{
    ids_clear(&f->named);
}

void candidates_explain(const candidates *f)
{
    if (f->p->filter && !f->is_named)
        explain_step(f->x, "filter: tested on %" PRIu64 " candidates, %" PRIu64 " passed", f->tested, f->passed);
}
