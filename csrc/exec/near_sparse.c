#include "exec/near_sparse.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "exec/search.h"
#include "search/row_cache.h"
#include "search/sparse_search.h"
#include "store/row.h"
#include "value/sparse.h"

enum { MEASURED_MAX = 200 }; /* rows that an index names up to here are measured one by one */

/* ---- rows measured ---- */

typedef struct measuring {
    const sparse_ask *ask;
    const context *cx;
    ranking *out;
    const value *query;
    uint64_t measured;
} measuring;

/* The sum over the dimensions of both. False: there is none. */
static bool score_of(const value *a, const value *b, float *out)
{
    const uint8_t *x = sparse_entries(a), *x_end = x + (size_t)a->count * SPARSE_ENTRY;
    const uint8_t *y = sparse_entries(b), *y_end = y + (size_t)b->count * SPARSE_ENTRY;
    bool any = false;
    double sum = 0;

    while (x < x_end && y < y_end) {
        uint32_t i = bytes_u32(x), k = bytes_u32(y);
        if (i == k) {
            sum += (double)bytes_f32(x + 4) * (double)bytes_f32(y + 4);
            any = true;
        }
        x += i <= k ? SPARSE_ENTRY : 0;
        y += k <= i ? SPARSE_ENTRY : 0;
    }
    *out = (float)sum;
    return any;
}

static int measure_row(void *to, const row *r, error *err)
{
    measuring *n = to;
    float score;
    value v;
    int rc = row_field(r, n->ask->field->number, n->cx->memory, &v, err);

    if (rc || v.kind != VALUE_SPARSE)
        return rc;
    n->measured++;
    if (score_of(n->query, &v, &score))
        ranking_add(n->out, r->id, score);
    return FENEC_OK;
}

static int measure_all(const sparse_ask *ask, const context *cx, const value *query, ranking *out, explain *x,
                       error *err)
{
    measuring n = {.ask = ask, .cx = cx, .out = out, .query = query};
    picking k;
    int rc = pick_begin(&k, ask->pick, cx, x, err);

    if (!rc)
        rc = pick_each(&k, measure_row, &n, err);
    pick_end(&k);
    explain_step(x, "near: exact, every sparse vector measured, %" PRIu64, n.measured);
    return rc;
}

/* The few rows that the filter leaves. */
static int measure_named(const sparse_ask *ask, const context *cx, const value *query, const ids *named, ranking *out,
                         explain *x, error *err)
{
    measuring n = {.ask = ask, .cx = cx, .out = out, .query = query};
    int rc = FENEC_OK;
    row at;

    for (size_t i = 0; !rc && i < named->count; i++) {
        arena_mark here = arena_here(cx->memory);
        rc = access_row(ask->of, cx->c, named->at[i], &at, err);
        if (!rc)
            rc = measure_row(&n, &at, err);
        arena_rewind(cx->memory, here);
    }
    explain_step(x, "near: the rows that pass measured, %" PRIu64, n.measured);
    return rc;
}

/* ---- the index ---- */

static int rank(const sparse_ask *ask, const context *cx, const value *query, best *top, explain *x, error *err)
{
    sparse_work did = {0};
    version *v;
    int rc = search_part(cx, ask->of, ask->index, &v, err);

    if (rc)
        return rc;
    const text_version *t = (const text_version *)v;
    rc = sparse_rank(t, cx->c, sparse_entries(query), query->count, top, &did, top->memory, err);
    if (rc == ROW_DAMAGED)
        return search_damaged(cx->need, ask->of, ask->index);
    explain_step(x, "near: inverted index of `%s`, %" PRId64 " vectors, %" PRIu32 " dimensions asked, %" PRIu64
                 " of %" PRIu64 " postings read, %" PRIu64 " vectors measured, %zu rows ranked",
                 ask->index->on.text ? ask->index->on.text : "", t->docs, query->count, did.read, did.postings,
                 did.measured, top->count);
    return rc;
}

static int rank_index(const sparse_ask *ask, const context *cx, const value *query, ranking *out, explain *x,
                      error *err)
{
    candidates f;
    arena work; /* not cx->memory: what a test takes of that is given back */
    best top;
    int rc = candidates_begin(&f, &ask->filter, ask->of, cx, x, err);

    arena_init(&work);
    best_init(&top, out->want, &work, candidates_test_of(&f), &f);
    if (!rc && f.is_named && f.named.count <= MEASURED_MAX)
        rc = measure_named(ask, cx, query, &f.named, out, x, err);
    else if (!rc)
        rc = rank(ask, cx, query, &top, x, err);
    if (!rc)
        candidates_explain(&f);
    for (size_t i = 0; !rc && i < top.count; i++)
        ranking_add(out, top.rows[i].id, top.rows[i].score);
    arena_clear(&work);
    candidates_end(&f);
    return rc;
}

int near_sparse(const sparse_ask *ask, const context *cx, const value *query, ranking *out, explain *x, error *err)
{
    if (!out->want)
        return FENEC_OK;
    if (ask->exact)
        return measure_all(ask, cx, query, out, x, err);
    if (ask->index->state != INDEX_READY) /* its build failed before: it is tried again, and says why */
        return search_damaged(cx->need, ask->of, ask->index);
    return rank_index(ask, cx, query, out, x, err);
}
