#include "exec/read.h"

#include <inttypes.h>
#include <string.h>

#include "exec/answer.h"
#include "exec/explain.h"
#include "exec/pick.h"
#include "exec/project.h"
#include "exec/rollup.h"

struct read_plan {
    const select_stmt *s;
    const collection *of;
    bool explained;
    rollup_plan *rollup;   /* where the list aggregates, which then does the rest */
    pick_plan *pick;
    projection list;       /* but for `count` */
    answer_columns counts; /* `count` */
};

/* ---- binding ---- */

static int not_available(const char *clause, error *err)
{
    return fail(err, FENEC_QUERY, "%s is not available in this build", clause);
}

static int check_clauses(const select_stmt *s, error *err)
{
    if (s->near)
        return not_available("near", err);
    if (s->match)
        return not_available("match", err);
    if (s->rerank)
        return not_available("rerank", err);
    if (s->fuse)
        return not_available("fuse", err);
    if (s->mark_count)
        return not_available(s->marks[0].snippet ? "snippet" : "highlight", err);
    if (s->facet_count)
        return not_available("facet", err);
    if (s->lookup)
        return not_available("lookup", err);
    return FENEC_OK;
}

static int bind_count(read_plan *p, arena *a, error *err)
{
    static const char *const names[] = {"count"};
    static const uint32_t lens[] = {5};

    return answer_columns_make(&p->counts, a, names, lens, 1) ? FENEC_OK : fail_memory(err);
}

int read_bind(const select_stmt *s, const catalog *cat, bool explained, arena *a, read_plan **out, error *err)
{
    read_plan *p = arena_zeroed(a, sizeof *p);
    int rc;

    if (!p)
        return fail_memory(err);
    p->s = s;
    p->explained = explained;
    p->of = catalog_find(cat, s->collection, (uint32_t)strlen(s->collection));
    if (!p->of)
        return fail(err, FENEC_NOT_FOUND, "there is no collection `%s`", s->collection);
    rc = check_clauses(s, err);
    if (!rc && s->count)
        rc = bind_count(p, a, err);
    else if (!rc && !s->aggregates)
        rc = projection_bind(p->of, s->select_all ? NULL : s->columns, s->column_count, a, &p->list, err);
    if (!rc && s->aggregates)
        rc = rollup_bind(s, cat, p->of, a, &p->rollup, err);
    else if (!rc)
        rc = pick_bind(cat, p->of, s->where, s->order, s->order_count, s->limit, s->offset, a, &p->pick, err);
    if (!rc)
        *out = p;
    return rc;
}

/* ---- running ---- */

typedef struct writing {
    const read_plan *p;
    answer *w;
    scope s;
    bool discard; /* explain: a row is worked out for its errors */
    size_t start;
} writing;

static int write_row(void *to, const row *r, error *err)
{
    writing *t = to;

    t->s.row = r;
    int rc = projection_row(&t->p->list, &t->s, t->w, err);
    if (t->discard)
        t->w->out->len = t->start;
    return rc;
}

static int check_required(const read_plan *p, uint64_t rows, error *err)
{
    if (!p->s->require_given || rows == (uint64_t)p->s->require)
        return FENEC_OK;
    return fail(err, FENEC_UNMET, "get `%s` answers %" PRIu64 " rows, %" PRId64 " are required", p->of->name, rows,
                p->s->require);
}

static int run_rows(const read_plan *p, const context *cx, buffer *out, explain *x, error *err)
{
    constant *resolved;
    answer w;
    int rc = constants_resolve(&p->list.once, cx, x, &resolved, err);

    if (rc)
        return rc;
    answer_begin(&w, out, &p->list.columns);
    writing t = {.p = p,
                 .w = &w,
                 .s = {.cx = cx, .memory = cx->memory, .resolved = resolved},
                 .discard = x != NULL,
                 .start = out->len};
    rc = pick_run(p->pick, cx, write_row, &t, x, err);
    if (!rc)
        rc = check_required(p, w.rows, err);
    if (rc)
        return rc;
    answer_end(&w);
    explain_step(x, "rows: %" PRIu64, w.rows);
    return out->failed ? fail_memory(err) : FENEC_OK;
}

static int write_columns(void *to, const value columns[], error *err)
{
    writing *t = to;

    (void)err;
    answer_row(t->w);
    for (uint32_t i = 0; i < t->w->columns->count; i++)
        answer_value(t->w, &columns[i]);
    answer_row_end(t->w);
    if (t->discard)
        t->w->out->len = t->start;
    return FENEC_OK;
}

static int run_rollup(const read_plan *p, const context *cx, buffer *out, explain *x, error *err)
{
    answer w;

    answer_begin(&w, out, rollup_columns(p->rollup));
    writing t = {.p = p, .w = &w, .discard = x != NULL, .start = out->len};
    int rc = rollup_each(p->rollup, cx, write_columns, &t, x, err);
    if (!rc)
        rc = check_required(p, w.rows, err);
    if (rc)
        return rc;
    answer_end(&w);
    explain_step(x, "rows: %" PRIu64, w.rows);
    return out->failed ? fail_memory(err) : FENEC_OK;
}

static int count_rows(const read_plan *p, const context *cx, int64_t *out, explain *x, error *err)
{
    int64_t offset;

    if (p->rollup)
        return rollup_count(p->rollup, cx, out, x, err);
    int rc = context_count(cx, &p->s->offset, "offset", 0, &offset, err);
    if (!rc && offset)
        rc = fail(err, FENEC_QUERY, "count goes with no offset but 0");
    return rc ? rc : pick_count(p->pick, cx, out, x, err);
}

static int run_count(const read_plan *p, const context *cx, buffer *out, explain *x, error *err)
{
    int64_t count;
    answer w;
    int rc = count_rows(p, cx, &count, x, err);

    if (rc)
        return rc;
    answer_begin(&w, out, &p->counts);
    answer_row(&w);
    value v = value_int(count);
    answer_value(&w, &v);
    answer_row_end(&w);
    answer_end(&w);
    explain_step(x, "count: %" PRId64, count);
    return out->failed ? fail_memory(err) : FENEC_OK;
}

static int run(const read_plan *p, const context *cx, buffer *out, explain *x, error *err)
{
    if (p->s->count)
        return run_count(p, cx, out, x, err);
    return p->rollup ? run_rollup(p, cx, out, x, err) : run_rows(p, cx, out, x, err);
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
        return rollup_each(p->rollup, cx, read_columns, &t, x, err);
    int rc = constants_resolve(&p->list.once, cx, x, &resolved, err);
    t.s.resolved = resolved;
    return rc ? rc : pick_run(p->pick, cx, read_row, &t, x, err);
}

int read_run(const read_plan *p, const context *cx, buffer *out, error *err)
{
    buffer unread;
    explain x;

    if (!p->explained)
        return run(p, cx, out, NULL, err);
    buffer_init(&unread);
    explain_init(&x);
    int rc = run(p, cx, &unread, &x, err);
    if (!rc)
        rc = explain_answer(&x, cx->memory, out, err);
    if (!rc && out->failed)
        rc = fail_memory(err);
    explain_clear(&x);
    buffer_clear(&unread);
    return rc;
}
