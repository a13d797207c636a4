#include "exec/lookup.h"

#include <inttypes.h>
#include <string.h>

#include "exec/aggregate.h"
#include "exec/pairing.h"
#include "exec/project.h"
#include "store/probe.h"
#include "value/json.h"

enum { PROBE_COST = 2 /* what a probe costs beside reading a row */, KEPT_SHARE = 8 /* of rows, at a guess */ };

typedef struct level {
    const lookup *l;
    const collection *of;
    pairing on;
    pick_plan *pick;        /* filter; order and page too, unless the rows are grouped */
    projection list;        /* of a level that does not aggregate */
    aggregate_plan *fold;   /* NULL: it does not */
    bool folds_page;        /* the rows folded are picked in an order */
    const char *member;     /* ,"name":[ */
    uint32_t member_len;
    struct level *next;
} level;

struct lookup_plan {
    level *first;
    bool off_groups;
};

/* ---- binding ---- */

static int name_member(level *n, arena *a, error *err)
{
    const char *name = n->l->collection;
    buffer b;

    buffer_init(&b);
    buffer_byte(&b, ',');
    json_write_text(&b, (const uint8_t *)name, strlen(name));
    buffer_text(&b, ":[");
    n->member = b.failed ? NULL : arena_copy(a, b.bytes, b.len);
    n->member_len = (uint32_t)b.len;
    buffer_clear(&b);
    return n->member ? FENEC_OK : fail_memory(err);
}

static int bind_list(level *n, const catalog *cat, arena *a, error *err)
{
    const lookup *l = n->l;
    const count_value none = {0};
    const fold list = {.columns = l->columns,
                       .column_count = l->column_count,
                       .aggregates = l->aggregates,
                       .groups = l->group,
                       .group_count = l->group_count};
    int rc;

    if (!l->aggregates)
        rc = projection_bind(n->of, l->select_all ? NULL : l->columns, l->column_count, a, &n->list, err);
    else
        rc = aggregate_bind(n->of, &list, l->order, l->order_count, l->limit, l->offset, a, &n->fold, err);
    if (rc)
        return rc;
    if (l->group_count)
        return pick_bind(cat, n->of, l->where, NULL, 0, none, none, a, &n->pick, err);
    n->folds_page = l->aggregates && l->order_count;
    return pick_bind(cat, n->of, l->where, l->order, l->order_count, l->limit, l->offset, a, &n->pick, err);
}

int lookup_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, lookup_plan **out,
                error *err)
{
    const pairing_groups off = {.of = of, .s = s};
    lookup_plan *p = arena_zeroed(a, sizeof *p);
    const collection *above = s->aggregates ? NULL : of;
    int rc = FENEC_OK;

    if (!p)
        return fail_memory(err);
    p->off_groups = s->aggregates;
    level **at = &p->first;
    for (const lookup *l = s->lookup; !rc && l; l = l->next) {
        level *n = arena_zeroed(a, sizeof *n);
        if (!n)
            return fail_memory(err);
        n->l = l;
        n->of = catalog_find(cat, l->collection, (uint32_t)strlen(l->collection));
        if (!n->of)
            return fail(err, FENEC_NOT_FOUND, "there is no collection `%s`", l->collection);
        rc = pairing_bind(l, n->of, above, above ? NULL : &off, a, &n->on, err);
        if (!rc)
            rc = bind_list(n, cat, a, err);
        if (!rc)
            rc = name_member(n, a, err);
        *at = n;
        at = &n->next;
        above = n->of;
    }
    if (!rc)
        *out = p;
    return rc;
}

/* ---- a level under way ---- */

typedef struct level_run {
    const level *l;
    const context *cx;
    picking pick;
    scope s; /* of the list */
    answer w;
    aggregation *fold;
    tally_limits *limits;
    ids folded; /* of the page that is folded */
    wanted want;
    buffer key;
    probe probe; /* of the index, open from parent to parent */
    uint64_t probes, children; /* of parents written */
    uint64_t judged, kept;     /* parents, by `required` */
    struct level_run *next;
} level_run;

struct lookup_run {
    const lookup_plan *p;
    const context *cx;
    level_run *first;
    tally_limits limits;
    ids parents; /* named by the children */
    bool reversed;
};

static int open_level(level_run *n, const level *l, tally_limits *limits, const context *cx, explain *x, error *err)
{
    constant *resolved;

    *n = (level_run){.l = l, .cx = cx, .limits = limits};
    buffer_init(&n->key);
    n->want.key = &n->key;
    if (l->on.index)
        probe_init(&n->probe, cx->c, l->on.index->number, l->of->number);
    n->want.values = arena_alloc(cx->memory, sizeof *n->want.values * l->on.count);
    if (!n->want.values)
        return fail_memory(err);
    int rc = pick_begin(&n->pick, l->pick, cx, x, err);
    if (!rc)
        rc = constants_resolve(&l->list.once, cx, x, &resolved, err);
    if (rc)
        return rc;
    n->s = (scope){.cx = cx, .memory = cx->memory, .resolved = resolved};
    n->pick.with = n;
    return l->fold ? aggregation_open(l->fold, cx, limits, GROUPS_BYTES_MAX, &n->fold, err) : FENEC_OK;
}

static void close_level(level_run *n)
{
    probe_close(&n->probe);
    pick_end(&n->pick);
    aggregation_close(n->fold);
    ids_clear(&n->folded);
    buffer_clear(&n->key);
}

int lookup_open(const lookup_plan *p, const context *cx, explain *x, lookup_run **out, error *err)
{
    lookup_run *r = arena_zeroed(cx->memory, sizeof *r);
    int rc = FENEC_OK;

    if (!r)
        return fail_memory(err);
    r->p = p;
    r->cx = cx;
    level_run **at = &r->first;
    for (const level *l = p->first; !rc && l; l = l->next) {
        level_run *n = arena_zeroed(cx->memory, sizeof *n);
        if (!n) {
            rc = fail_memory(err);
            break;
        }
        *at = n;
        at = &n->next;
        rc = open_level(n, l, &r->limits, cx, x, err);
    }
    if (rc)
        lookup_close(r);
    else
        *out = r;
    return rc;
}

void lookup_close(lookup_run *r)
{
    for (level_run *n = r ? r->first : NULL; n; n = n->next)
        close_level(n);
    if (r)
        ids_clear(&r->parents);
}

/* ---- required ---- */

/* The rows that a parent's values name. *none: no row can be a child. */
static int find_rows(level_run *n, const row *parent, const value columns[], access *a, bool *none, error *err);

static int has_child(level_run *n, const row *parent, const value columns[], bool *out, error *err)
{
    arena_mark here = arena_here(n->cx->memory);
    access a;
    bool none;
    int rc = find_rows(n, parent, columns, &a, &none, err);

    *out = false;
    if (!rc && !none) {
        rc = pick_any(&n->pick, &a, out, err);
        access_clear(&a);
    }
    n->judged++;
    n->kept += !rc && *out;
    arena_rewind(n->cx->memory, here);
    return rc;
}

static int is_child(void *to, const row *r, bool *out, error *err)
{
    const level_run *n = to;

    return pairing_holds(&n->l->on, &n->want, r, n->cx->memory, out, err);
}

static int survives(void *to, const row *r, bool *out, error *err)
{
    return has_child(((level_run *)to)->next, r, NULL, out, err);
}

static int find_rows(level_run *n, const row *parent, const value columns[], access *a, bool *none, error *err)
{
    int rc = pairing_want(&n->l->on, parent, columns, n->cx->memory, &n->want, err);

    *none = n->want.none;
    if (rc || *none)
        return rc;
    rc = pairing_access(&n->l->on, &n->want, &n->probe, a, err);
    if (rc)
        return rc;
    n->pick.before = a->exact ? NULL : is_child;
    n->pick.also = n->next && n->next->l->l->required ? survives : NULL;
    return rc;
}

/* ---- from the children's side ---- */

typedef struct naming {
    level_run *n;
    lookup_run *r;
    const catalog_index *index;
    bool exact;
} naming;

static int name_parents(void *to, const row *child, error *err)
{
    naming *w = to;
    bool exact;
    int rc = pairing_parents(&w->n->l->on, w->index, child, w->n->cx->c, &w->n->key, w->n->cx->memory,
                             &w->r->parents, &exact, err);

    w->exact &= exact;
    return rc;
}

static int keeps(void *run, const row *parent, bool *out, error *err)
{
    return has_child(((lookup_run *)run)->first, parent, NULL, out, err);
}

static int is_named(void *run, const row *parent, bool *out, error *err)
{
    const ids *l = &((const lookup_run *)run)->parents;
    size_t low = 0, high = l->count;

    (void)err;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->at[middle] < parent->id)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low < l->count && l->at[low] == parent->id;
    return FENEC_OK;
}

/* Whether reading every child that counts costs less than probing each parent that is tested. */
static int reversing_pays(lookup_run *r, picking *k, bool *out, error *err)
{
    int64_t children, parents;
    int rc = pick_cost(&r->first->pick, &children, err);

    if (!rc)
        rc = pick_cost(k, &parents, err);
    if (rc)
        return rc;
    /* A page in the order rows come in stops at its end. */
    if (k->page < INT64_MAX / KEPT_SHARE && k->page * KEPT_SHARE < parents && pick_stops(k))
        parents = k->page * KEPT_SHARE;
    *out = children < parents * PROBE_COST;
    return FENEC_OK;
}

int lookup_require(lookup_run *r, picking *k, error *err)
{
    level_run *n = r->first;
    naming w = {.n = n, .r = r, .exact = true};
    bool pays = false;
    int rc = FENEC_OK;

    if (!n->l->l->required)
        return FENEC_OK;
    k->with = r;
    k->also = keeps;
    if (pairing_reverses(&n->l->on, &w.index))
        rc = reversing_pays(r, k, &pays, err);
    if (rc || !pays)
        return rc;
    n->pick.before = NULL;
    n->pick.also = n->next && n->next->l->l->required ? survives : NULL;
    rc = pick_each(&n->pick, name_parents, &w, err);
    if (!rc)
        rc = ids_order(&r->parents, err);
    r->reversed = true;
    k->among = &r->parents;
    if (w.exact)
        k->also = is_named;
    return rc;
}

int lookup_keeps(lookup_run *r, const value columns[], bool *out, error *err)
{
    *out = true;
    return r->first->l->l->required ? has_child(r->first, NULL, columns, out, err) : FENEC_OK;
}

/* ---- writing ---- */

static int write_level(level_run *n, const row *parent, const value columns[], buffer *out, error *err);

static int write_child(void *to, const row *r, error *err)
{
    level_run *n = to;

    n->s.row = r;
    n->children++;
    answer_row(&n->w);
    int rc = projection_columns(&n->l->list, &n->s, &n->w, err);
    if (!rc && n->next)
        rc = write_level(n->next, r, NULL, n->w.out, err);
    answer_row_end(&n->w);
    return rc;
}

static int fold_child(void *to, const row *r, error *err)
{
    level_run *n = to;

    n->children++;
    return n->l->folds_page ? ids_add(&n->folded, r->id, err) : aggregation_row(n->fold, r, err);
}

/* Rows picked in an order are folded by ascending id. */
static int fold_page(level_run *n, error *err)
{
    arena_mark here = arena_here(n->cx->memory);
    row r;
    int rc = ids_order(&n->folded, err);

    for (size_t i = 0; !rc && i < n->folded.count; i++) {
        rc = access_row(n->l->of, n->cx->c, n->folded.at[i], &r, err);
        if (!rc)
            rc = aggregation_row(n->fold, &r, err);
        arena_rewind(n->cx->memory, here);
    }
    n->folded.count = 0;
    return rc;
}

static int write_folded(void *to, const value columns[], error *err)
{
    level_run *n = to;

    (void)err;
    answer_row(&n->w);
    for (uint32_t i = 0; i < n->w.columns->count; i++)
        answer_value(&n->w, &columns[i]);
    answer_row_end(&n->w);
    return FENEC_OK;
}

static int write_level(level_run *n, const row *parent, const value columns[], buffer *out, error *err)
{
    arena_mark here = arena_here(n->cx->memory);
    const level *l = n->l;
    access a;
    bool none;
    int rc = find_rows(n, parent, columns, &a, &none, err);

    buffer_put(out, l->member, l->member_len);
    n->w = (answer){.out = out, .columns = l->fold ? aggregate_columns(l->fold) : &l->list.columns};
    n->probes++;
    if (!rc && l->fold)
        aggregation_reset(n->fold);
    if (!rc && !none) {
        rc = pick_along(&n->pick, &a, l->fold ? fold_child : write_child, n, err);
        access_clear(&a);
    }
    if (!rc && l->folds_page)
        rc = fold_page(n, err);
    if (!rc && l->fold)
        rc = aggregation_each(n->fold, write_folded, n, err);
    buffer_byte(out, ']');
    arena_rewind(n->cx->memory, here);
    return rc;
}

int lookup_write(lookup_run *r, const row *parent, const value columns[], buffer *out, error *err)
{
    return write_level(r->first, parent, columns, out, err);
}

/* ---- explain ---- */

static void explain_required(const lookup_run *r, const level_run *n, explain *x)
{
    if (n == r->first && r->reversed)
        explain_step(x, "required: answered from `%s`, whose rows name %zu parents", n->l->of->name,
                     r->parents.count);
    else
        explain_step(x, "required: `%s` probed for %" PRIu64 " rows, %" PRIu64 " kept", n->l->of->name, n->judged,
                     n->kept);
}

void lookup_explain(const lookup_run *r, explain *x)
{
    for (const level_run *n = r->first; n; n = n->next)
        if (n->l->l->required)
            explain_required(r, n, x);
    for (const level_run *n = r->first; n; n = n->next)
        explain_step(x, "lookup: `%s` on %s, %s probed for %" PRIu64 " parents, %" PRIu64 " children", n->l->of->name,
                     n->l->l->child_fields[n->l->on.probed],
                     !n->l->on.index                                 ? "the id index"
                     : n->l->on.index->spec.kind == INDEX_UNIQUE ? "a unique index"
                                                                     : "a hash index",
                     n->probes, n->children);
}
