#include "exec/rollup.h"

#include "exec/access.h"
#include "exec/ids.h"
#include "exec/pick.h"

struct rollup_plan {
    const select_stmt *s;
    const collection *of;
    aggregate_plan *list;
    pick_plan *pick;
    bool is_paged;   /* rows, without groups, of a page */
    bool is_ordered; /* and that not in ascending id */
};

int rollup_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, rollup_plan **out,
                error *err)
{
    const fold list = {.columns = s->columns,
                       .column_count = s->column_count,
                       .aggregates = s->aggregates,
                       .groups = s->group,
                       .group_count = s->group_count,
                       .having = s->having};
    const count_value none = {0};
    rollup_plan *p = arena_zeroed(a, sizeof *p);

    if (!p)
        return fail_memory(err);
    p->s = s;
    p->of = of;
    p->is_paged = !s->group_count && (s->limit.given || s->offset.given);
    p->is_ordered = p->is_paged && s->order_count;
    int rc = aggregate_bind(of, &list, s->order, s->order_count, s->limit, s->offset, a, &p->list, err);
    /* Over groups order and page are theirs. An order that no page is cut from is looked at and forgotten. */
    if (!rc && !s->group_count)
        rc = pick_bind(cat, of, s->where, s->order, s->order_count, s->limit, s->offset, a, &p->pick, err);
    if (!rc && (s->group_count || (s->order_count && !p->is_ordered)))
        rc = pick_bind(cat, of, s->where, NULL, 0, none, none, a, &p->pick, err);
    if (!rc)
        *out = p;
    return rc;
}

const answer_columns *rollup_columns(const rollup_plan *p)
{
    return aggregate_columns(p->list);
}

static int note_id(void *to, const row *r, error *err)
{
    return ids_add(to, r->id, err);
}

/* The rows of an ordered page, in ascending id: sums are exact in that order alone. */
static int fold_page(const rollup_plan *p, const context *cx, aggregation *g, explain *x, error *err)
{
    ids page = {0};
    row r;
    int rc = pick_run(p->pick, cx, note_id, &page, x, err);

    if (!rc)
        rc = ids_order(&page, err);
    for (size_t i = 0; !rc && i < page.count; i++) {
        arena_mark before = arena_here(cx->memory);
        rc = access_row(p->of, cx->c, page.at[i], &r, err);
        if (!rc)
            rc = aggregation_row(g, &r, err);
        arena_rewind(cx->memory, before);
    }
    ids_clear(&page);
    return rc;
}

static int fold_rows(const rollup_plan *p, const context *cx, aggregation *g, explain *x, error *err)
{
    bool is_read = p->is_paged || !aggregate_is_count(p->list), has_ends = false;
    int64_t count;
    int rc = FENEC_OK;

    if (p->is_ordered)
        return fold_page(p, cx, g, x, err);
    /* Rows past their time are still in an index. */
    if (is_read && !p->is_paged && !p->s->where && p->of->ttl_field < 0 && aggregate_is_ends(p->list))
        rc = aggregation_ends(g, &has_ends, err);
    if (!rc && is_read && !has_ends)
        return pick_run(p->pick, cx, aggregation_row, g, x, err);
    if (rc || !aggregate_counts(p->list))
        return rc;
    rc = pick_count(p->pick, cx, &count, x, err);
    if (!rc)
        aggregation_count_rows(g, count);
    return rc;
}

int rollup_each(const rollup_plan *p, const context *cx, const rollup_kept *kept, aggregation_visit *visit,
                void *to, explain *x, error *err)
{
    tally_limits limits = {0};
    aggregation *g;
    int rc = aggregation_open(p->list, cx, &limits, GROUPS_BYTES_MAX, &g, err);

    if (rc)
        return rc;
    rc = fold_rows(p, cx, g, x, err);
    if (!rc) {
        aggregation_explain(g, x);
        if (kept)
            aggregation_keep(g, kept->test, kept->with);
        rc = aggregation_each(g, visit, to, err);
    }
    aggregation_close(g);
    return rc;
}

int rollup_count(const rollup_plan *p, const context *cx, const rollup_kept *kept, int64_t *out, explain *x,
                 error *err)
{
    tally_limits limits = {0};
    aggregation *g;
    int64_t offset;
    int rc = context_count(cx, &p->s->offset, "offset", 0, &offset, err);

    if (!rc && offset)
        rc = fail(err, FENEC_QUERY, "count goes with no offset but 0");
    if (!rc)
        rc = aggregation_open(p->list, cx, &limits, GROUPS_BYTES_MAX, &g, err);
    if (rc)
        return rc;
    rc = fold_rows(p, cx, g, x, err);
    if (!rc) {
        aggregation_explain(g, x);
        if (kept)
            aggregation_keep(g, kept->test, kept->with);
        rc = aggregation_groups(g, out, err);
    }
    aggregation_close(g);
    return rc;
}
