#include "exec/rerank.h"

#include <inttypes.h>

#include "exec/access.h"
#include "exec/vector_value.h"

struct rerank_plan {
    const collection *of;
    const catalog_field *field;
    vector_metric metric;
    const bound *query;
    uint32_t candidates;
};

int rerank_bind(const rerank_clause *rerank, const collection *of, arena *a, rerank_plan **out, error *err)
{
    rerank_plan *p = arena_zeroed(a, sizeof *p);
    const binding values = {.place = BIND_VALUE};
    bound *query = NULL;
    int32_t place;

    if (!p)
        return fail_memory(err);
    if (rerank->candidates > RANKED_MAX)
        return fail(err, FENEC_QUERY, "rerank looks at %d candidates at most", RANKED_MAX);
    int rc = collection_resolve(of, &rerank->field, &place, err);
    if (rc)
        return rc;
    if (place < 0 || rerank->field.part_count != 1 || of->fields[place].type.kind != TYPE_VECTOR)
        return fail(err, FENEC_TYPE, "rerank takes a vector field, and `%s` of `%s` is none", rerank->field.text,
                    of->name);
    *p = (rerank_plan){.of = of, .field = &of->fields[place], .candidates = rerank->candidates};
    const catalog_index *x = p->field->index;
    p->metric = x && x->spec.kind == INDEX_HNSW && x->state != INDEX_BUILDING ? x->spec.metric : METRIC_COSINE;
    rc = expr_bind(rerank->vector, &values, a, &query, err);
    p->query = query;
    if (!rc)
        *out = p;
    return rc;
}

size_t rerank_depth(const rerank_plan *p, size_t want)
{
    size_t candidates = p->candidates < 1 ? 1 : p->candidates;

    return candidates < want ? want : candidates;
}

int rerank_rows(const rerank_plan *p, const context *cx, const ranking *from, size_t want, ranking *out, explain *x,
                error *err)
{
    const scope s = {.cx = cx, .memory = cx->memory};
    const type *t = &p->field->type;
    uint64_t measured = 0;
    float *floats;
    measure m;
    value v;
    int rc = expr_eval(p->query, &s, &v, err);

    if (!rc)
        rc = vector_query(&v, t, p->field->name, cx->memory, &floats, err);
    if (!rc)
        rc = measure_init(&m, p->metric, floats, t->dimension, cx->memory, err);
    if (!rc)
        rc = ranking_init(out, want, metric_ascends(p->metric), cx->memory, err);
    const arena_mark start = arena_here(cx->memory);
    for (size_t i = 0; !rc && i < from->count; i++) {
        row r;
        rc = access_row(p->of, cx->c, from->rows[i].id, &r, err);
        if (!rc)
            rc = row_field(&r, p->field->number, cx->memory, &v, err);
        if (!rc && v.kind == VALUE_VECTOR && v.count == t->dimension) {
            ranking_add(out, from->rows[i].id, measure_score(&m, v.bytes));
            measured++;
        }
        arena_rewind(cx->memory, start);
    }
    if (rc)
        return rc;
    ranking_finish(out);
    explain_step(x, "rerank: %zu candidates, %" PRIu64 " vectors measured", from->count, measured);
    return FENEC_OK;
}
