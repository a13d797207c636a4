#include "exec/match.h"

#include <inttypes.h>

#include "exec/candidates.h"
#include "exec/node.h"
#include "exec/search.h"
#include "search/row_cache.h"
#include "search/text_search.h"

struct match_plan {
    const collection *of;
    const catalog_index *index;
    const bound *query;
    uint32_t fuzzy;
    bool prefix;
    candidates_plan filter;
};

/* ---- binding ---- */

int match_bind(const match_clause *match, const catalog *cat, const collection *of, const expr *where, arena *a,
               match_plan **out, error *err)
{
    match_plan *p = arena_zeroed(a, sizeof *p);
    const binding values = {.place = BIND_VALUE};
    const path *on = &match->field;
    int32_t place = on->part_count == 1 ? collection_field(of, on->text, on->text_len) : -1;
    const catalog_index *x = place < 0 ? NULL : of->fields[place].index;
    bound *asked = NULL;

    if (!p)
        return fail_memory(err);
    if (!x || x->spec.kind != INDEX_TEXT || x->state == INDEX_BUILDING)
        return fail(err, FENEC_QUERY, "`%.*s` of `%s` has no @text index to match", (int)on->text_len, on->text,
                    of->name);
    *p = (match_plan){.of = of, .index = x, .fuzzy = match->fuzzy, .prefix = match->prefix};
    int rc = expr_bind(match->query, &values, a, &asked, err);
    p->query = asked;
    if (!rc)
        rc = candidates_bind(&p->filter, cat, of, where, a, err);
    if (!rc)
        *out = p;
    return rc;
}

/* ---- the query ---- */

static analysis analysis_of(const catalog_index *x)
{
    return (analysis){.prefix_min = x->spec.prefix_min, .prefix_max = x->spec.prefix_max, .chars = x->spec.chars};
}

int match_query(const match_plan *p, const context *cx, query *out, analysis *how, error *err)
{
    const scope s = {.cx = cx, .memory = cx->memory};
    char quoted[VALUE_QUOTE_MAX];
    value v;
    int rc = p->query->eval(p->query, &s, &v, err);

    if (rc)
        return rc;
    if (v.kind != VALUE_TEXT)
        return fail(err, FENEC_TYPE, "match of `%s` of `%s` takes a text, not %s", p->of->fields[p->index->field].name,
                    p->of->name, value_quote(quoted, &v));
    *how = analysis_of(p->index);
    return query_make(out, how, v.bytes, v.len, p->fuzzy, p->prefix, cx->memory, err);
}

static int find_index(const match_plan *p, const context *cx, const text_version **out, error *err)
{
    version *v;

    if (p->index->state != INDEX_READY) /* its build failed before: it is tried again, and says why */
        return search_damaged(cx->need, p->of, p->index);
    int rc = search_part(cx, p->of, p->index, &v, err);
    *out = (const text_version *)v;
    return rc;
}

static int judge_damage(const match_plan *p, const context *cx, int rc)
{
    return rc == ROW_DAMAGED ? search_damaged(cx->need, p->of, p->index) : rc;
}

/* ---- running ---- */

static int rank(const match_plan *p, const context *cx, const candidates *f, best *top, arena *a, error *err)
{
    const text_version *v = NULL;
    analysis how;
    query q;
    int rc = match_query(p, cx, &q, &how, err);

    if (!rc)
        rc = find_index(p, cx, &v, err);
    if (!rc && top->want && !candidates_are_none(f))
        rc = judge_damage(p, cx, text_rank(v, cx->c, &q, top, a, err));
    if (!rc)
        explain_step(f->x, "match: text index of `%s`, %" PRId64 " documents, %u terms asked, %zu rows ranked",
                     p->index->on.text ? p->index->on.text : "", v->docs, q.count, top->count);
    return rc;
}

int match_first(const match_plan *p, const context *cx, size_t want, best_row **out, size_t *count, explain *x,
                error *err)
{
    candidates f;
    arena work; /* not cx->memory: what a test takes of that is given back */
    best top;
    int rc = candidates_begin(&f, &p->filter, p->of, cx, x, err);

    arena_init(&work);
    best_init(&top, want, &work, candidates_test_of(&f), &f);
    if (!rc)
        rc = rank(p, cx, &f, &top, &work, err);
    if (!rc) {
        candidates_explain(&f);
        best_finish(&top);
        *count = top.count;
        *out = arena_copy(cx->memory, top.rows, top.count * sizeof *top.rows);
        rc = *out ? FENEC_OK : fail_memory(err);
    }
    arena_clear(&work);
    candidates_end(&f);
    return rc;
}

static int note_id(void *to, int64_t id, error *err)
{
    return ids_add(to, id, err);
}

int match_all(const match_plan *p, const context *cx, ids *out, error *err)
{
    const text_version *v = NULL;
    analysis how;
    query q;
    arena work;
    int rc = match_query(p, cx, &q, &how, err);

    arena_init(&work);
    if (!rc)
        rc = find_index(p, cx, &v, err);
    if (!rc)
        rc = judge_damage(p, cx, text_each(v, cx->c, &q, note_id, out, &work, err));
    arena_clear(&work);
    return rc ? rc : ids_order(out, err);
}
