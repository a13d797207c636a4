#include "exec/near.h"

#include "exec/near_point.h"
#include "exec/near_sparse.h"
#include "exec/near_vector.h"

struct near_plan {
    const collection *of;
    const catalog_field *field;
    const catalog_index *index;
    const bound *query;
    vector_ask ask;         /* over a vector */
    sparse_ask sparse;      /* over a sparse one */
    pick_plan *pick;
    near_point_plan *point; /* over a geo field: does the whole of it */
};

/* ---- binding ---- */

static int no_index(const near_clause *near, const collection *of, error *err)
{
    return fail(err, FENEC_QUERY, "`%s` of `%s` has no index that near could read: @hnsw or @inverted",
                near->field.text, of->name);
}

static int find_field(near_plan *p, const near_clause *near, error *err)
{
    const path *on = &near->field;
    int32_t place = on->part_count == 1 ? collection_field(p->of, on->text, on->text_len) : -1;

    if (place < 0)
        return no_index(near, p->of, err);
    p->field = &p->of->fields[place];
    if (p->field->type.kind == TYPE_GEO)
        return FENEC_OK;
    p->index = p->field->index;
    if (!p->index || p->index->state == INDEX_BUILDING ||
        (p->index->spec.kind != INDEX_HNSW && p->index->spec.kind != INDEX_INVERTED))
        return no_index(near, p->of, err);
    if (near->ef_given && p->index->spec.kind == INDEX_INVERTED)
        return fail(err, FENEC_QUERY, "`ef` is for dense vectors: near over `%s` is exact", near->field.text);
    return FENEC_OK;
}

static int bind_ask(near_plan *p, const near_clause *near, const catalog *cat, const expr *where, arena *a, error *err)
{
    vector_ask *ask = &p->ask;
    bound *filter = NULL;

    *ask = (vector_ask){.of = p->of, .field = p->field, .index = p->index, .pick = p->pick, .exact = near->exact};
    ask->ef = near->ef_given ? near->ef : 0;
    int rc = filter_bind(where, cat, p->of, &ask->once, a, &filter, err);
    ask->filter = filter;
    return rc ? rc : access_bind(p->of, filter, a, &ask->access, err);
}

static int bind_sparse(near_plan *p, const near_clause *near, const catalog *cat, const expr *where, arena *a,
                       error *err)
{
    p->sparse = (sparse_ask){.of = p->of, .field = p->field, .index = p->index, .pick = p->pick, .exact = near->exact};
    return candidates_bind(&p->sparse.filter, cat, p->of, where, a, err);
}

int near_bind(const near_clause *near, const catalog *cat, const collection *of, const expr *where, arena *a,
              near_plan **out, error *err)
{
    near_plan *p = arena_zeroed(a, sizeof *p);
    const binding values = {.place = BIND_VALUE};
    const count_value all = {0};
    bound *query = NULL;

    if (!p)
        return fail_memory(err);
    p->of = of;
    int rc = find_field(p, near, err);
    if (rc)
        return rc;
    if (p->field->type.kind == TYPE_GEO) {
        rc = near_point_bind(near, cat, of, where, all, all, a, &p->point, err);
    } else {
        rc = expr_bind(near->vector, &values, a, &query, err);
        p->query = query;
        if (!rc)
            rc = pick_bind(cat, of, where, NULL, 0, all, all, a, &p->pick, err);
        if (!rc && p->index->spec.kind == INDEX_HNSW)
            rc = bind_ask(p, near, cat, where, a, err);
        else if (!rc)
            rc = bind_sparse(p, near, cat, where, a, err);
    }
    if (!rc)
        *out = p;
    return rc;
}

/* ---- a run ---- */

static int near_dense(const near_plan *p, const context *cx, const value *v, size_t want, ranking *out, explain *x,
                      error *err)
{
    float *query;
    int rc = vector_query(v, &p->field->type, p->field->name, cx->memory, &query, err);

    return rc ? rc : near_vector(&p->ask, cx, query, want, out, x, err);
}

static int near_entries(const near_plan *p, const context *cx, const value *v, ranking *out, explain *x, error *err)
{
    value query;
    int rc = sparse_query(v, &p->field->type, p->field->name, cx->memory, &query, err);

    return rc ? rc : near_sparse(&p->sparse, cx, &query, out, x, err);
}

static int take_point(void *to, const row *r, double metres, error *err)
{
    (void)err;
    ranking_add(to, r->id, (float)metres);
    return FENEC_OK;
}

int near_first(const near_plan *p, const context *cx, size_t want, ranking *out, explain *x, error *err)
{
    const scope s = {.cx = cx, .memory = cx->memory};
    const bool dense = !p->point && p->index->spec.kind == INDEX_HNSW;
    value v;
    int rc = ranking_init(out, want, p->point || (dense && metric_ascends(p->index->spec.metric)), cx->memory, err);

    if (!rc && p->point) {
        rc = near_point_first(p->point, cx, (int64_t)want, take_point, out, x, err);
    } else if (!rc) {
        rc = expr_eval(p->query, &s, &v, err);
        if (!rc)
            rc = dense ? near_dense(p, cx, &v, want, out, x, err) : near_entries(p, cx, &v, out, x, err);
    }
    ranking_finish(out);
    return rc;
}
