#include "exec/read.h"

#include <inttypes.h>
#include <string.h>

#include "exec/answer.h"
#include "exec/explain.h"
#include "exec/facet.h"
#include "exec/lookup.h"
#include "exec/marking.h"
#include "exec/pick.h"
#include "exec/project.h"
#include "exec/ranked.h"
#include "exec/rollup.h"
#include "exec/value_set.h"
#include "value/json.h"

struct read_plan {
    const select_stmt *s;
    const collection *of;
    bool explained;
    rollup_plan *rollup;   /* where the list aggregates, which then does the rest */
    pick_plan *pick;
    ranked_plan *ranked;   /* in the place of pick */
    projection list;       /* but for `count` */
    bool ids_only;         /* it asks for nothing else */
    answer_columns counts; /* `count` */
    lookup_plan *lookup;   /* NULL: none */
    marks_plan *marks;     /* NULL: none */
    facets_plan *facets;   /* NULL: none */
};

/* ---- binding ---- */

static int bind_count(read_plan *p, arena *a, error *err)
{
    static const char *const names[] = {"count"};
    static const uint32_t lens[] = {5};

    return answer_columns_make(&p->counts, a, names, lens, 1) ? FENEC_OK : fail_memory(err);
}

int read_bind(const select_stmt *s, const catalog *cat, bool explained, arena *a, read_plan **out, error *err)
{
    read_plan *p = arena_zeroed(a, sizeof *p);
    int rc = FENEC_OK;

    if (!p)
        return fail_memory(err);
    p->s = s;
    p->explained = explained;
    p->of = catalog_find(cat, s->collection, (uint32_t)strlen(s->collection));
    if (!p->of)
        return fail(err, FENEC_NOT_FOUND, "there is no collection `%s`", s->collection);
    if (s->count)
        rc = bind_count(p, a, err);
    else if (!s->aggregates)
        rc = projection_bind_marked(p->of, s->select_all, s->columns, s->column_count, s->marks, s->mark_count, a,
                                    &p->list, err);
    if (!rc && s->aggregates)
        rc = rollup_bind(s, cat, p->of, a, &p->rollup, err);
    else if (!rc && ranked_is(s))
        rc = ranked_bind(s, cat, p->of, a, &p->ranked, err);
    p->ids_only = !rc && !s->aggregates && !s->count && !projection_wants_row(&p->list);
    if (!rc && s->mark_count)
        rc = marks_bind(s, ranked_match(p->ranked), p->of, a, &p->marks, err);
    if (!rc && !s->aggregates && (!ranked_is(s) || s->facet_count))
        rc = pick_bind(cat, p->of, s->where, s->order, s->order_count, s->limit, s->offset, a, &p->pick, err);
    if (!rc && s->lookup)
        rc = lookup_bind(s, cat, p->of, a, &p->lookup, err);
    if (!rc && s->facet_count)
        rc = facets_bind(s, cat, p->of, a, &p->facets, err);
    if (!rc)
        *out = p;
    return rc;
}

/* ---- running ---- */

/* A read under way. */
typedef struct run {
    const read_plan *p;
    const context *cx;
    explain *x; /* NULL: nobody explains */
    picking rows;
    ids matched; /* beside facets */
    lookup_run *looked; /* NULL: no lookup */
    answer w;
    scope s;
    size_t start; /* of the rows in the answer */
} run;

static int write_row(void *to, const row *r, error *err)
{
    run *t = to;

    t->s.row = r;
    answer_row(&t->w);
    int rc = projection_columns(&t->p->list, &t->s, &t->w, err);
    if (!rc && t->looked)
        rc = lookup_write(t->looked, r, NULL, t->w.out, err);
    answer_row_end(&t->w);
    if (t->x) /* it was worked out for its errors */
        t->w.out->len = t->start;
    return rc;
}

static int write_ranked(void *to, const row *r, float score, error *err)
{
    run *t = to;

    t->s.row = r;
    answer_row(&t->w);
    int rc = projection_columns(&t->p->list, &t->s, &t->w, err);
    buffer_text(t->w.out, ",\"_score\":");
    json_write_float32(t->w.out, score);
    answer_row_end(&t->w);
    if (t->x)
        t->w.out->len = t->start;
    return rc;
}

static int write_columns(void *to, const value columns[], error *err)
{
    run *t = to;
    int rc = FENEC_OK;

    answer_row(&t->w);
    for (uint32_t i = 0; i < t->w.columns->count; i++)
        answer_value(&t->w, &columns[i]);
    if (t->looked)
        rc = lookup_write(t->looked, NULL, columns, t->w.out, err);
    answer_row_end(&t->w);
    if (t->x)
        t->w.out->len = t->start;
    return rc;
}

static int keep_group(void *looked, const value columns[], bool *out, error *err)
{
    return lookup_keeps(looked, columns, out, err);
}

static int check_required(const read_plan *p, uint64_t rows, error *err)
{
    if (!p->s->require_given || rows == (uint64_t)p->s->require)
        return FENEC_OK;
    return fail(err, FENEC_UNMET, "get `%s` answers %" PRIu64 " rows, %" PRId64 " are required", p->of->name, rows,
                p->s->require);
}

/* The rows of the page, of a list that does not aggregate. */
static int answer_rows(run *t, buffer *out, error *err)
{
    constant *resolved;
    int rc = constants_resolve(&t->p->list.once, t->cx, t->x, &resolved, err);

    if (rc)
        return rc;
    t->s = (scope){.cx = t->cx, .memory = t->cx->memory, .resolved = resolved};
    answer_begin(&t->w, out, &t->p->list.columns);
    if (t->p->marks) {
        marking *m;
        t->w.mark = marking_write;
        rc = marking_open(t->p->marks, t->cx, &m, err);
        if (rc)
            return rc;
        t->w.marks = m;
    }
    t->start = out->len;
    return t->p->ranked ? ranked_run(t->p->ranked, t->cx, t->p->ids_only, write_ranked, t, t->x, err)
                        : pick_page(&t->rows, write_row, t, err);
}

static int answer_groups(run *t, buffer *out, error *err)
{
    const rollup_kept kept = {.test = keep_group, .with = t->looked};

    answer_begin(&t->w, out, rollup_columns(t->p->rollup));
    t->start = out->len;
    return rollup_each(t->p->rollup, t->cx, t->looked ? &kept : NULL, write_columns, t, t->x, err);
}

static int count_rows(run *t, int64_t *out, error *err)
{
    const rollup_kept kept = {.test = keep_group, .with = t->looked};

    if (t->p->rollup)
        return rollup_count(t->p->rollup, t->cx, t->looked ? &kept : NULL, out, t->x, err);
    if (t->rows.offset)
        return fail(err, FENEC_QUERY, "count goes with no offset but 0");
    return pick_all(&t->rows, out, err);
}

static int answer_count(run *t, buffer *out, int64_t *count, error *err)
{
    int rc = count_rows(t, count, err);

    if (rc)
        return rc;
    answer_begin(&t->w, out, &t->p->counts);
    answer_row(&t->w);
    value v = value_int(*count);
    answer_value(&t->w, &v);
    answer_row_end(&t->w);
    return FENEC_OK;
}

static int run_begin(run *t, error *err)
{
    const read_plan *p = t->p;
    int rc = p->pick ? pick_begin(&t->rows, p->pick, t->cx, t->x, err) : FENEC_OK;

    if (!rc && p->lookup)
        rc = lookup_open(p->lookup, t->cx, t->x, &t->looked, err);
    if (!rc && t->looked && p->pick)
        rc = lookup_require(t->looked, &t->rows, err);
    return rc;
}

static int is_matched(void *matched, const row *r, bool *out, error *err)
{
    const ids *m = matched;

    (void)err;
    *out = m->count && integers_hold(m->at, (uint32_t)m->count, r->id);
    return FENEC_OK;
}

/* Beside match, facets count the rows that hold one of its words. */
static int narrow_facets(run *t, error *err)
{
    int rc = match_all(ranked_match(t->p->ranked), t->cx, &t->matched, err);

    t->rows.before = is_matched;
    t->rows.among = &t->matched;
    t->rows.with = &t->matched;
    return rc;
}

/* What follows the rows: facets, and the end. */
static int run_end(run *t, buffer *out, error *err)
{
    int rc = FENEC_OK;

    if (t->looked)
        lookup_explain(t->looked, t->x);
    if (!t->p->facets) {
        answer_end(&t->w);
        return FENEC_OK;
    }
    if (t->p->ranked)
        rc = narrow_facets(t, err);
    if (rc)
        return rc;
    buffer_text(out, "],\"facets\":");
    rc = facets_write(t->p->facets, &t->rows, out, err);
    buffer_text(out, "}}");
    return rc;
}

static int run_plan(run *t, buffer *out, error *err)
{
    const read_plan *p = t->p;
    int64_t count = 0;
    int rc = run_begin(t, err);

    if (!rc)
        rc = p->s->count ? answer_count(t, out, &count, err)
             : p->rollup ? answer_groups(t, out, err)
                         : answer_rows(t, out, err);
    if (!rc)
        rc = check_required(p, t->w.rows, err);
    if (!rc)
        rc = run_end(t, out, err);
    if (rc)
        return rc;
    if (p->s->count)
        explain_step(t->x, "count: %" PRId64, count);
    else
        explain_step(t->x, "rows: %" PRIu64, t->w.rows);
    return out->failed ? buffer_error(out, err) : FENEC_OK;
}

static int run_read(const read_plan *p, const context *cx, buffer *out, explain *x, error *err)
{
    run t = {.p = p, .cx = cx, .x = x};
    int rc = run_plan(&t, out, err);

    pick_end(&t.rows);
    ids_clear(&t.matched);
    lookup_close(t.looked);
    return rc;
}

/* ---- for `in (get ...)` ---- */

typedef struct reading {
    const read_plan *p;
    scope s;
    read_visit *visit;
    void *to;
} reading;

static int read_row(void *to, const row *r, error *err)
{
    reading *t = to;
    value v;

    t->s.row = r;
    int rc = projection_value(&t->p->list.items[0], &t->s, &v, err);
    return rc ? rc : t->visit(t->to, &v, err);
}

static int read_ranked(void *to, const row *r, float score, error *err)
{
    (void)score;
    return read_row(to, r, err);
}

static int read_columns(void *to, const value columns[], error *err)
{
    const reading *t = to;

    return t->visit(t->to, &columns[0], err);
}

int read_values(const read_plan *p, const context *cx, read_visit *visit, void *to, explain *x, error *err)
{
    reading t = {.p = p, .s = {.cx = cx, .memory = cx->memory}, .visit = visit, .to = to};
    constant *resolved;

    if (p->rollup)
        return rollup_each(p->rollup, cx, NULL, read_columns, &t, x, err);
    int rc = constants_resolve(&p->list.once, cx, x, &resolved, err);
    t.s.resolved = resolved;
    if (!rc && p->ranked)
        return ranked_run(p->ranked, cx, p->ids_only, read_ranked, &t, x, err);
    return rc ? rc : pick_run(p->pick, cx, read_row, &t, x, err);
}

int read_run(const read_plan *p, const context *cx, buffer *out, error *err)
{
    buffer unread;
    explain x;

    if (!p->explained)
        return run_read(p, cx, out, NULL, err);
    buffer_init(&unread);
    explain_init(&x);
    int rc = run_read(p, cx, &unread, &x, err);
    if (!rc)
        rc = explain_answer(&x, cx->memory, out, err);
    if (!rc && out->failed)
        rc = buffer_error(out, err);
    explain_clear(&x);
    buffer_clear(&unread);
    return rc;
}
