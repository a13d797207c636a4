#include "exec/pick.h"

#include <inttypes.h>
#include <string.h>

#include "exec/access.h"
#include "exec/ids.h"
#include "exec/node.h"
#include "exec/sort.h"
#include "value/collation.h"

enum {
    WALK_SHARE = 8,      /* a walk that tested one in eight rows without filling the page is given up */
    WALK_PAGE_MIN = 1000 /* a page up to here is walked, one larger only where it is a small part */
};

struct pick_plan {
    const collection *of;
    const bound *filter; /* NULL: every row passes */
    constants once;
    access_plan access;
    count_value limit, offset;
    /* keys after one that is the id are left out: no two rows reach them */
    const bound **keys;
    sort_by *by;
    uint32_t key_count;
    const catalog_index *walk; /* the index in whose entries' order the only key's order stands */
};

/* ---- binding ---- */

static bool holds_text(const type *t)
{
    while (t->kind == TYPE_LIST)
        t = t->element;
    return t->kind == TYPE_TEXT || t->kind == TYPE_JSON;
}

static int bind_key(pick_plan *p, const sort_key *key, arena *a, bool *is_id, error *err)
{
    const expr name = {.kind = EXPR_FIELD, .field = key->by, .reads_row = true};
    const binding b = {.place = BIND_LIST, .of = p->of};
    expr *kept = arena_copy(a, &name, sizeof name);
    bound *n;

    if (!kept)
        return fail_memory(err);
    if (key->is_label)
        return fail(err, FENEC_NOT_FOUND, "`%s` is no field of `%s`", key->by.text, p->of->name);
    int rc = expr_bind(kept, &b, a, &n, err);
    if (rc)
        return rc;
    *is_id = n->kind == NODE_ID;
    if (key->collate != COLLATION_NONE && (*is_id || !holds_text(&n->field->type)))
        return fail(err, FENEC_QUERY, "`%s` of `%s` holds no text to collate", key->by.text, p->of->name);
    sort_by by = {.descending = key->descending, .collate = key->collate};
    if (by.collate == COLLATION_NONE && !*is_id && n->path->part_count == 1)
        by.collate = n->field->collate;
    if (by.collate != COLLATION_NONE && !collation_available())
        return fail(err, FENEC_QUERY, "an order other than by bytes is not available in this build");
    p->keys[p->key_count] = n;
    p->by[p->key_count++] = by;
    return FENEC_OK;
}

static const catalog_index *walked_index(const pick_plan *p)
{
    const bound *key = p->keys[0];

    if (p->key_count != 1 || key->kind != NODE_FIELD || p->by[0].collate != COLLATION_NONE)
        return NULL;
    const catalog_index *index = access_index(p->of, key);
    return index && access_orders(index, p->of) ? index : NULL;
}

static int bind_order(pick_plan *p, const sort_key order[], uint32_t order_count, arena *a, error *err)
{
    bool done = false;

    p->keys = arena_alloc(a, sizeof *p->keys * order_count);
    p->by = arena_alloc(a, sizeof *p->by * order_count);
    if (!p->keys || !p->by)
        return fail_memory(err);
    for (uint32_t i = 0; i < order_count; i++) {
        uint32_t before = p->key_count;
        bool is_id = false;
        int rc = bind_key(p, &order[i], a, &is_id, err);
        if (rc)
            return rc;
        if (done)
            p->key_count = before;
        done |= is_id;
    }
    /* Ties go by ascending id anyway. */
    if (p->keys[p->key_count - 1]->kind == NODE_ID && !p->by[p->key_count - 1].descending)
        p->key_count--;
    if (p->key_count)
        p->walk = walked_index(p);
    return FENEC_OK;
}

int pick_bind(const collection *of, const expr *where, const sort_key order[], uint32_t order_count,
              count_value limit, count_value offset, arena *a, pick_plan **out, error *err)
{
    pick_plan *p = arena_zeroed(a, sizeof *p);
    bound *filter;

    if (!p)
        return fail_memory(err);
    p->of = of;
    p->limit = limit;
    p->offset = offset;
    int rc = filter_bind(where, of, &p->once, a, &filter, err);
    if (rc)
        return rc;
    p->filter = filter;
    rc = access_bind(of, filter, a, &p->access, err);
    if (!rc && order_count)
        rc = bind_order(p, order, order_count, a, err);
    if (!rc)
        *out = p;
    return rc;
}

/* ---- running ---- */

typedef struct run {
    const pick_plan *p;
    const context *cx;
    constant *resolved;
    explain *x;
    arena_mark mark; /* of cx->memory: what a row took is given back before the next */
    scope s;
    row at;
    int64_t offset, limit;
    int64_t page; /* offset and limit together */
    uint64_t tested, matched;
    bool stopped; /* at the end of the page */
    pick_visit *visit;
    void *to;
} run;

static inline void give_back(const run *r)
{
    arena *a = r->cx->memory;

    if (a->head != r->mark.head || a->at != r->mark.at)
        arena_rewind(a, r->mark);
}

/* Whether the row at r->at passes. */
static inline int passes(run *r, bool exact, bool *out, error *err)
{
    r->tested++;
    *out = true;
    if (!exact && r->p->filter) {
        int rc = r->p->filter->test(r->p->filter, &r->s, out, err);
        if (rc)
            return rc;
    }
    r->matched += *out;
    return FENEC_OK;
}

static int run_begin(run *r, const pick_plan *p, const context *cx, explain *x, error *err)
{
    *r = (run){.p = p, .cx = cx, .x = x};
    int rc = constants_resolve(&p->once, cx, &r->resolved, err);

    r->s = (scope){.cx = cx, .row = &r->at, .memory = cx->memory, .resolved = r->resolved};
    r->mark = arena_here(cx->memory);
    return rc;
}

static void explain_access(const run *r, const access *a)
{
    if (!r->x)
        return;
    if (a->kind != ACCESS_SCAN) {
        explain_step(r->x, "filter: %s named %" PRIu64 " rows, %s, %" PRIu64 " matched%s", a->how, r->tested,
                     a->exact ? "which are the answer" : "candidates to test", r->matched,
                     r->stopped ? ", stopped at the page" : "");
        return;
    }
    if (!r->p->filter)
        explain_step(r->x, "filter: none%s", r->stopped ? ", stopped at the page" : "");
    else
        explain_step(r->x, "filter: full scan, %" PRIu64 " rows tested, %" PRIu64 " matched%s", r->tested,
                     r->matched, r->stopped ? ", stopped at the page" : "");
}

/* The page of rows that come in the order asked for. */
static int page_rows(run *r, access *a, bool descending, error *err)
{
    access_rows rows;
    int rc = access_open(&rows, a, r->p->of, r->cx, r->resolved, descending, err);

    while (!rc) {
        bool pass;
        if (r->matched >= (uint64_t)r->page) {
            r->stopped = true;
            break;
        }
        rc = access_next(&rows, &r->at, err);
        if (rc)
            break;
        rc = passes(r, a->exact, &pass, err);
        if (!rc && pass && r->visit && r->matched > (uint64_t)r->offset)
            rc = r->visit(r->to, &r->at, err);
        give_back(r);
    }
    access_close(&rows);
    return rc == FN_END ? FENEC_OK : rc;
}

static int visit_id(run *r, int64_t id, error *err)
{
    int rc = access_row(r->p->of, r->cx->c, id, &r->at, err);

    if (!rc)
        rc = r->visit(r->to, &r->at, err);
    give_back(r);
    return rc;
}

/* ---- in order of keys ---- */

static int sort_rows(run *r, access *a, sorter *sort, value *keys, error *err)
{
    const pick_plan *p = r->p;
    access_rows rows;
    int rc = access_open(&rows, a, p->of, r->cx, r->resolved, false, err);

    while (!rc && (rc = access_next(&rows, &r->at, err)) == FENEC_OK) {
        bool pass;
        rc = passes(r, a->exact, &pass, err);
        for (uint32_t i = 0; !rc && pass && i < p->key_count; i++)
            rc = p->keys[i]->eval(p->keys[i], &r->s, &keys[i], err);
        if (!rc && pass)
            rc = sorter_add(sort, r->at.id, keys, err);
        give_back(r);
    }
    access_close(&rows);
    return rc == FN_END ? FENEC_OK : rc;
}

static int page_sorted(run *r, access *a, error *err)
{
    const pick_plan *p = r->p;
    sorter sort;
    value *keys = arena_alloc(r->cx->memory, sizeof *keys * p->key_count);

    if (!keys)
        return fail_memory(err);
    r->mark = arena_here(r->cx->memory);
    sorter_init(&sort, p->by, p->key_count, (uint64_t)r->page);
    int rc = sort_rows(r, a, &sort, keys, err);
    if (!rc)
        rc = sorter_finish(&sort, err);
    explain_access(r, a);
    explain_step(r->x, "order: keys read, %zu rows put in order", sort.count);
    for (size_t i = (size_t)r->offset; !rc && i < sort.count; i++)
        rc = visit_id(r, sorter_id(&sort, i), err);
    sorter_clear(&sort);
    return rc;
}

/* ---- along a @sorted index ---- */

/* Whether walking is likely cheaper than testing the rows an access names and keeping the first. A walk is
 * taken to meet rows that pass evenly. */
static int walk_pays(const run *r, const access *a, bool *out, error *err)
{
    int64_t last;
    int rc = rows_last_id(r->cx->c, table_records(r->p->of->number), &last, err);

    if (rc)
        return rc;
    *out = r->page <= WALK_PAGE_MIN || r->page <= last / WALK_SHARE;
    if (a->kind != ACCESS_SCAN && a->index != r->p->walk)
        *out &= (double)a->named * (double)a->named > (double)r->page * (double)last;
    return FENEC_OK;
}

/* The ids of the page; *gave_up where the entries are in no order, or too many were
 * tested. */
static int walk_ids(run *r, const access_bounds *b, bool exact, int64_t most, ids *page,
                    bool *gave_up, error *err)
{
    const pick_plan *p = r->p;
    const key_range range = access_range(b);
    cursor cur = {0};
    const uint8_t *key;
    size_t len;
    int64_t id;
    int rc = cursor_entries(&cur, r->cx->c, table_index(p->walk->number), &range, p->by[0].descending, err);

    *gave_up = false;
    while (!rc && r->matched < (uint64_t)r->page && (rc = cursor_next_entry(&cur, &id, &key, &len, err)) == 0) {
        bool pass = true;
        *gave_up = len > KEY_EXACT_MAX || (!exact && r->tested >= (uint64_t)most);
        if (*gave_up)
            break;
        if (exact) {
            r->tested++;
            r->matched++;
        } else {
            rc = access_row(p->of, r->cx->c, id, &r->at, err);
            if (!rc)
                rc = passes(r, false, &pass, err);
            give_back(r);
        }
        if (!rc && pass && r->matched > (uint64_t)r->offset)
            rc = ids_add(page, id, err);
    }
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

/* *walked false: the page is still to be made another way. */
static int page_walked(run *r, bool *walked, error *err)
{
    access_bounds b;
    bool exact, usable, gave_up;
    ids page = {0};
    int64_t last;

    *walked = false;
    int rc = access_walk(&r->p->access, r->cx, r->resolved, r->p->walk, &b, &exact, &usable, err);
    if (!rc && !usable)
        explain_step(r->x, "order: the ordered index holds a value it cannot place");
    if (rc || !usable)
        return rc;
    rc = rows_last_id(r->cx->c, table_records(r->p->of->number), &last, err);
    if (rc)
        return rc;
    r->mark = arena_here(r->cx->memory);
    rc = walk_ids(r, &b, exact, last / WALK_SHARE + 1, &page, &gave_up, err);
    if (!rc && gave_up) {
        explain_step(r->x, "order: the ordered index given up after %" PRIu64 " rows", r->tested);
        r->tested = r->matched = 0;
    } else if (!rc) {
        if (!r->p->filter)
            explain_step(r->x, "filter: none");
        else
            explain_step(r->x, "filter: %s", exact ? "an ordered index, which is the answer" : "tested on the walk");
        explain_step(r->x, "order: the ordered index walked %s, %" PRIu64 " rows tested",
                     r->p->by[0].descending ? "descending" : "ascending", r->tested);
        *walked = true;
        for (size_t i = 0; !rc && i < page.count; i++)
            rc = visit_id(r, page.at[i], err);
    }
    ids_clear(&page);
    return rc;
}

static int pick_page(run *r, error *err)
{
    const pick_plan *p = r->p;
    bool id_order = p->key_count == 1 && p->keys[0]->kind == NODE_ID; /* descending: ascending is none */
    bool walk = false;
    access a;
    int rc = access_choose(&p->access, r->cx, r->resolved, p->key_count ? INT64_MAX : r->page, &a, err);

    if (rc)
        return rc;
    if (p->key_count == 0 || (id_order && a.kind == ACCESS_SCAN)) {
        rc = page_rows(r, &a, id_order, err);
        explain_access(r, &a);
        if (id_order)
            explain_step(r->x, "order: the id index walked descending");
        access_clear(&a);
        return rc;
    }
    if (p->walk && r->page < INT64_MAX && a.kind != ACCESS_ID)
        rc = walk_pays(r, &a, &walk, err);
    if (!rc && walk)
        rc = page_walked(r, &walk, err);
    if (!rc && !walk)
        rc = page_sorted(r, &a, err);
    access_clear(&a);
    return rc;
}

int pick_run(const pick_plan *p, const context *cx, pick_visit *visit, void *to, explain *x, error *err)
{
    run r;
    int rc = run_begin(&r, p, cx, x, err);

    r.visit = visit;
    r.to = to;
    if (!rc)
        rc = context_count(cx, &p->limit, "limit", INT64_MAX, &r.limit, err);
    if (!rc)
        rc = context_count(cx, &p->offset, "offset", 0, &r.offset, err);
    if (rc)
        return rc;
    r.page = r.limit > INT64_MAX - r.offset ? INT64_MAX : r.limit + r.offset;
    if (r.limit == 0) {
        explain_step(x, "filter: not tested, the page is empty");
        return FENEC_OK;
    }
    return pick_page(&r, err);
}

int pick_count(const pick_plan *p, const context *cx, int64_t *out, explain *x, error *err)
{
    bool counts;
    access a;
    run r;
    int rc = run_begin(&r, p, cx, x, err);

    if (rc)
        return rc;
    if (!p->filter) {
        explain_step(x, "filter: none");
        return rows_count(cx->c, table_records(p->of->number), out, err);
    }
    rc = access_count(&p->access, cx, r.resolved, &counts, out, err);
    if (rc || counts) {
        explain_step(x, "filter: an index counted, no row read");
        return rc;
    }
    r.page = INT64_MAX;
    r.mark = arena_here(cx->memory);
    rc = access_choose(&p->access, cx, r.resolved, INT64_MAX, &a, err);
    if (rc)
        return rc;
    rc = page_rows(&r, &a, false, err);
    explain_access(&r, &a);
    access_clear(&a);
    *out = (int64_t)r.matched;
    return rc;
}

/* ---- ids ---- */

static int note_id(void *to, const row *r, error *err)
{
    return ids_add(to, r->id, err);
}

int pick_ids(const pick_plan *p, const context *cx, int64_t **out, size_t *count, error *err)
{
    ids l = {0}; /* on the heap: what a visit takes from cx->memory is given back */
    int rc = pick_run(p, cx, note_id, &l, NULL, err);
    int64_t *kept = rc ? NULL : arena_alloc(cx->memory, (l.count ? l.count : 1) * sizeof *kept);

    if (!rc && !kept)
        rc = fail_memory(err);
    if (!rc) {
        if (l.count)
            memcpy(kept, l.at, l.count * sizeof *kept);
        *out = kept;
        *count = l.count;
    }
    ids_clear(&l);
    return rc;
}
