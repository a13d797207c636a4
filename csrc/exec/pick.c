#include "exec/pick.h"

#include <inttypes.h>
#include <string.h>

#include "exec/access.h"
#include "exec/ids.h"
#include "exec/node.h"
#include "exec/screen.h"
#include "exec/sort.h"
#include "store/probe.h"
#include "value/collation.h"

enum {
    WALK_SHARE = 8,      /* a walk that tested one in eight rows without filling the page is given up */
    WALK_PAGE_MIN = 1000, /* a page up to here is walked, one larger only where it is a small part */
    ROWS_CARRIED_MAX = 16 << 20, /* bytes of rows kept with their keys; the others are read again */
    SORT_PAGE_MAX = 1000, /* a page up to here keeps few of the rows it meets */
    SCAN_SHARE = 32       /* a scan without ids in which one row in so many is wanted goes on with ids */
};

struct pick_plan {
    const collection *of;
    const bound *filter; /* NULL: every row passes */
    bool filter_wants_id, keys_want_id; /* reads the id, or what may stand beside the record */
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
    rc = collation_need(by.collate, err);
    if (rc)
        return rc;
    p->keys_want_id |= expr_wants_id(n);
    p->keys[p->key_count] = n;
    p->by[p->key_count++] = by;
    return FENEC_OK;
}

static const catalog_index *walked_index(const pick_plan *p)
{
    const bound *key = p->keys[0];

    if (p->key_count != 1 || key->kind != NODE_FIELD)
        return NULL;
    collation held = key->path->part_count == 1 ? key->field->collate : COLLATION_NONE;
    const catalog_index *index = access_index(p->of, key);
    return index && access_orders(index) && p->by[0].collate == held ? index : NULL;
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

int pick_bind(const catalog *cat, const collection *of, const expr *where, const sort_key order[],
              uint32_t order_count, count_value limit, count_value offset, arena *a, pick_plan **out, error *err)
{
    pick_plan *p = arena_zeroed(a, sizeof *p);
    bound *filter;

    if (!p)
        return fail_memory(err);
    p->of = of;
    p->limit = limit;
    p->offset = offset;
    int rc = filter_bind(where, cat, of, &p->once, a, &filter, err);
    if (rc)
        return rc;
    p->filter = filter;
    p->filter_wants_id = filter && expr_wants_id(filter);
    rc = access_bind(of, filter, a, &p->access, err);
    if (!rc && order_count)
        rc = bind_order(p, order, order_count, a, err);
    if (!rc)
        *out = p;
    return rc;
}

/* ---- running ---- */

static inline void give_back(const picking *k)
{
    arena *a = k->cx->memory;

    if (a->head != k->mark.head || a->at != k->mark.at)
        arena_rewind(a, k->mark);
}

/* Whether the row at k->at passes. */
static inline int passes(picking *k, bool exact, bool *out, error *err)
{
    int rc = FENEC_OK;

    k->tested++;
    *out = true;
    if (k->before)
        rc = k->before(k->with, &k->at, out, err);
    if (!rc && *out && !exact && k->p->filter)
        rc = k->p->filter->test(k->p->filter, &k->s, out, err);
    if (!rc && *out && k->also)
        rc = k->also(k->with, &k->at, out, err);
    if (!rc)
        k->matched += *out;
    return rc;
}

int pick_begin(picking *k, const pick_plan *p, const context *cx, explain *x, error *err)
{
    *k = (picking){.p = p, .cx = cx, .x = x};
    sorter_init(&k->sort, p->by, p->key_count, 0);
    k->sort.carried = 1; /* the row's record, or null */
    int rc = constants_resolve(&p->once, cx, x, &k->resolved, err);
    if (!rc)
        rc = context_count(cx, &p->limit, "limit", INT64_MAX, &k->limit, err);
    if (!rc)
        rc = context_count(cx, &p->offset, "offset", 0, &k->offset, err);
    k->page = k->limit > INT64_MAX - k->offset ? INT64_MAX : k->limit + k->offset;
    k->s = (scope){.cx = cx, .row = &k->at, .memory = cx->memory, .resolved = k->resolved};
    return rc;
}

void pick_end(picking *k)
{
    sorter_clear(&k->sort);
}

static void start(picking *k, pick_visit *visit, void *to)
{
    k->visit = visit;
    k->to = to;
    k->tested = k->matched = 0;
    k->stopped = false;
    k->mark = arena_here(k->cx->memory);
}

static void explain_access(const picking *k, const access *a)
{
    if (!k->x)
        return;
    if (a->kind != ACCESS_SCAN) {
        explain_step(k->x, "filter: %s named %" PRIu64 " rows, %s, %" PRIu64 " matched%s", a->how, k->tested,
                     a->exact ? "which are the answer" : "candidates to test", k->matched,
                     k->stopped ? ", stopped at the page" : "");
        return;
    }
    if (!k->p->filter)
        explain_step(k->x, "filter: none%s", k->stopped ? ", stopped at the page" : "");
    else
        explain_step(k->x, "filter: full scan, %" PRIu64 " rows tested, %" PRIu64 " matched%s", k->tested,
                     k->matched, k->stopped ? ", stopped at the page" : "");
}

/* ---- all rows ---- */

/* A scan, worked off in visits of the store. Where no test reads an id, rows come without theirs, which is
 * cheaper still: a row that is wanted then ends the scan, is found by its id, and the scan goes on after
 * it. */
typedef struct sweep {
    picking *k;
    bool exact, with_ids;
    int64_t offset, page;
    value *keys;                                /* for `wants` and `takes` */
    bool (*wants)(struct sweep *w, error *err); /* k->at, which passes and has no id; false on failure too */
    int (*takes)(struct sweep *w, error *err);  /* k->at, which passes */
    int code;
    bool found;     /* what `wants` answered */
    uint64_t taken; /* of a scan without ids */
    error *err;
    screen screen; /* of the filter */
    screen bar;    /* of the rows a full sorter keeps: what comes after them is no part of the page */
} sweep;

static bool sweep_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    sweep *w = to;
    picking *k = w->k;
    bool pass, exact = w->exact;

    if (w->bar.count && screen_record(&w->bar, bytes, len) == SCREEN_OUT) {
        k->tested++;
        return true;
    }
    if (w->screen.count) {
        screened told = screen_record(&w->screen, bytes, len);
        if (told == SCREEN_OUT) {
            k->tested++;
            return true;
        }
        exact |= told == SCREEN_IN;
    }
    k->at.id = id;
    w->code = record_open(&k->at.rec, bytes, len, w->err);
    if (w->code)
        row_open(&k->at, k->cx->c, k->p->of->number, id, bytes, len, w->err); /* says which row is damaged */
    else
        w->code = passes(k, exact, &pass, w->err);
    if (!w->code && pass) {
        if (w->with_ids)
            w->code = w->takes(w, w->err);
        else
            w->found = w->wants(w, w->err);
    }
    give_back(k);
    return !w->code && !w->found && k->matched < (uint64_t)w->page;
}

/* The row that ended a scan without ids: it is wanted, or failed for want of its id. */
static int take_found(sweep *w, int64_t id, error *err)
{
    picking *k = w->k;
    bool pass = true;
    int rc = access_row(k->p->of, k->cx->c, id, &k->at, err);

    if (!rc && w->code) {
        k->tested--;
        rc = passes(k, w->exact, &pass, err);
    }
    if (!rc && pass)
        rc = w->takes(w, err);
    give_back(k);
    w->taken++;
    return rc;
}

static int sweep_rows(sweep *w, const access *a, error *err)
{
    picking *k = w->k;
    int64_t low = a->low, last;
    int rc = FENEC_OK;

    w->err = err;
    k->at = (row){.c = k->cx->c, .collection = k->p->of->number};
    screen_make(&w->screen, w->exact || k->before ? NULL : k->p->filter, k->resolved, k->cx->now_ms);
    while (k->matched < (uint64_t)w->page) {
        w->found = false;
        rc = rows_scan(k->cx->c, table_records(k->p->of->number), low, a->high, w->with_ids, sweep_row, w, &last,
                       err);
        if (rc)
            return rc == FN_END ? FENEC_OK : rc;
        if (w->with_ids && w->code)
            return w->code;
        if (w->code || w->found) {
            rc = take_found(w, last, err);
            if (rc)
                return rc;
        }
        if (last == INT64_MAX)
            return FENEC_OK;
        low = last + 1;
        w->with_ids |= w->taken * SCAN_SHARE > k->tested;
    }
    k->stopped = true;
    return FENEC_OK;
}

/* The same over a list that is made. */
static int sweep_list(sweep *w, const access *a, error *err)
{
    picking *k = w->k;
    const uint64_t before = k->tested;
    int64_t last;
    int rc = FENEC_OK;

    w->err = err;
    k->at = (row){.c = k->cx->c, .collection = k->p->of->number};
    screen_make(&w->screen, w->exact || k->before ? NULL : k->p->filter, k->resolved, k->cx->now_ms);
    if (k->matched < (uint64_t)w->page)
        rc = rows_listed(k->cx->c, table_records(k->p->of->number), a->rows.at, a->rows.count, sweep_row, w,
                         &last, err);
    if (w->code)
        return w->code;
    k->stopped = k->matched >= (uint64_t)w->page;
    if (rc != FN_END)
        return rc;
    /* Ids of a list written in a text need not be there; those of an index are. */
    rc = FENEC_OK;
    for (size_t i = 0; !rc && a->index && k->tested - before < a->rows.count && i < a->rows.count; i++)
        rc = access_row(k->p->of, k->cx->c, a->rows.at[i], &k->at, err);
    return rc;
}

/* The same over the rows of one key. */
static int sweep_probe(sweep *w, const access *a, error *err)
{
    picking *k = w->k;

    w->err = err;
    k->at = (row){.c = k->cx->c, .collection = k->p->of->number};
    screen_make(&w->screen, w->exact || k->before ? NULL : k->p->filter, k->resolved, k->cx->now_ms);
    int rc = probe_rows(a->probe, a->bounds.low, a->bounds.low_len, sweep_row, w, err);
    return w->code ? w->code : rc;
}

static bool can_do_without_ids(const picking *k, const access *a)
{
    return !k->before && !k->also && !k->p->filter_wants_id && k->p->filter && !a->exact;
}

static bool is_on_page(sweep *w, error *err)
{
    (void)err;
    return w->k->visit && w->k->matched > (uint64_t)w->offset;
}

static int visit_on_page(sweep *w, error *err)
{
    return is_on_page(w, err) ? w->k->visit(w->k->to, &w->k->at, err) : FENEC_OK;
}

/* The rows from `offset` on of the first `page` that pass, in the order they come in. */
static int page_rows(picking *k, access *a, bool descending, int64_t offset, int64_t page, error *err)
{
    access_rows rows;

    if (a->kind == ACCESS_SCAN && !descending) {
        sweep w = {.k = k,
                   .exact = a->exact,
                   .with_ids = !can_do_without_ids(k, a),
                   .offset = offset,
                   .page = page,
                   .wants = is_on_page,
                   .takes = visit_on_page};
        return sweep_rows(&w, a, err);
    }
    if (a->kind == ACCESS_PROBE) {
        sweep w = {.k = k, .exact = a->exact, .with_ids = true, .offset = offset, .page = page,
                   .takes = visit_on_page};
        return sweep_probe(&w, a, err);
    }
    int rc = access_open(&rows, a, k->p->of, k->cx, k->resolved, descending, err);
    if (!rc && a->kind == ACCESS_LIST) {
        sweep w = {.k = k, .exact = a->exact, .with_ids = true, .offset = offset, .page = page,
                   .takes = visit_on_page};
        return sweep_list(&w, a, err);
    }
    while (!rc) {
        bool pass;
        if (k->matched >= (uint64_t)page) {
            k->stopped = true;
            break;
        }
        rc = access_next(&rows, &k->at, err);
        if (rc)
            break;
        rc = passes(k, a->exact, &pass, err);
        if (!rc && pass && k->visit && k->matched > (uint64_t)offset)
            rc = k->visit(k->to, &k->at, err);
        give_back(k);
    }
    access_close(&rows);
    return rc == FN_END ? FENEC_OK : rc;
}

static int visit_id(picking *k, int64_t id, error *err)
{
    int rc = access_row(k->p->of, k->cx->c, id, &k->at, err);

    if (!rc)
        rc = k->visit(k->to, &k->at, err);
    give_back(k);
    return rc;
}

/* The cheapest way, or the rows named from outside where they are fewer. */
static int choose(picking *k, int64_t page, access *a, error *err)
{
    int rc = access_choose(&k->p->access, k->cx, k->resolved, page, a, err);

    if (rc || !k->among || (uint64_t)a->named <= k->among->count)
        return rc;
    access_clear(a);
    *a = (access){.kind = ACCESS_LIST,
                  .is_made = true,
                  .is_lent = true,
                  .rows = *k->among,
                  .named = (int64_t)k->among->count,
                  .exact = !k->p->filter,
                  .how = "keys of the rows looked up"};
    return FENEC_OK;
}

/* ---- in order of keys ---- */

static int read_keys(sweep *w, error *err)
{
    const picking *k = w->k;
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < k->p->key_count; i++)
        rc = k->p->keys[i]->eval(k->p->keys[i], &k->s, &w->keys[i], err);
    return rc;
}

static int sort_row(sweep *w, error *err)
{
    const picking *k = w->k;
    value *carried = &w->keys[k->p->key_count];
    int rc = read_keys(w, err);

    *carried = value_null();
    if (k->visit && k->sort.used < ROWS_CARRIED_MAX)
        *carried = (value){.kind = VALUE_BYTES, .bytes = k->at.rec.bytes, .len = k->at.rec.len};
    if (!rc)
        rc = sorter_add(&w->k->sort, k->at.id, w->keys, err);
    const value *last = rc ? NULL : sorter_last(&k->sort);
    if (last && k->p->by[0].collate == COLLATION_NONE)
        screen_before(&w->bar, k->p->keys[0], last, k->p->by[0].descending, k->p->key_count > 1);
    return rc;
}

/* Rows come by ascending id: a tie goes to those that are there. */
static bool is_kept(sweep *w, error *err)
{
    w->code = read_keys(w, err);
    return !w->code && sorter_takes(&w->k->sort, w->keys);
}

static int sort_rows(picking *k, access *a, value *keys, error *err)
{
    sweep w = {.k = k, .exact = a->exact, .page = INT64_MAX, .keys = keys, .wants = is_kept, .takes = sort_row};
    access_rows rows;

    if (a->kind == ACCESS_SCAN) {
        w.with_ids = k->p->keys_want_id || !(a->exact || can_do_without_ids(k, a)) || k->before || k->also ||
                     k->page >= SORT_PAGE_MAX;
        return sweep_rows(&w, a, err);
    }
    if (a->kind == ACCESS_PROBE) {
        w.with_ids = true;
        return sweep_probe(&w, a, err);
    }
    int rc = access_open(&rows, a, k->p->of, k->cx, k->resolved, false, err);
    if (!rc && a->kind == ACCESS_LIST) {
        w.with_ids = true;
        return sweep_list(&w, a, err);
    }
    while (!rc && (rc = access_next(&rows, &k->at, err)) == FENEC_OK) {
        bool pass;
        rc = passes(k, a->exact, &pass, err);
        if (!rc && pass)
            rc = sort_row(&w, err);
        give_back(k);
    }
    access_close(&rows);
    return rc == FN_END ? FENEC_OK : rc;
}

static int visit_sorted(picking *k, size_t place, error *err)
{
    int64_t id = sorter_id(&k->sort, place);
    const value *carried = sorter_carried(&k->sort, place);

    if (carried->kind == VALUE_NULL)
        return visit_id(k, id, err);
    int rc = row_open(&k->at, k->cx->c, k->p->of->number, id, carried->bytes, carried->len, err);
    if (!rc)
        rc = k->visit(k->to, &k->at, err);
    give_back(k);
    return rc;
}

static int page_sorted(picking *k, access *a, error *err)
{
    value *keys = arena_alloc(k->cx->memory, sizeof *keys * (k->p->key_count + 1));

    if (!keys)
        return fail_memory(err);
    k->mark = arena_here(k->cx->memory);
    sorter_reset(&k->sort, (uint64_t)k->page);
    int rc = sort_rows(k, a, keys, err);
    if (!rc)
        rc = sorter_finish(&k->sort, err);
    for (size_t i = (size_t)k->offset; !rc && i < k->sort.count; i++)
        rc = visit_sorted(k, i, err);
    return rc;
}

/* ---- along a @sorted index ---- */

/* Whether walking is likely cheaper than testing the rows an access names and keeping the first. A walk is
 * taken to meet rows that pass evenly. */
static int walk_pays(const picking *k, const access *a, bool *out, error *err)
{
    int64_t last;
    int rc = rows_last_id(k->cx->c, table_records(k->p->of->number), &last, err);

    if (rc)
        return rc;
    *out = k->page <= WALK_PAGE_MIN || k->page <= last / WALK_SHARE;
    if (a->kind != ACCESS_SCAN && a->index != k->p->walk)
        *out &= (double)a->named * (double)a->named > (double)k->page * (double)last;
    return FENEC_OK;
}

/* The ids of the page; *gave_up where the entries are in no order, or too many were
 * tested. */
static int walk_ids(picking *k, const access_bounds *b, bool exact, int64_t most, ids *page,
                    bool *gave_up, error *err)
{
    const pick_plan *p = k->p;
    const key_range range = access_range(b);
    cursor cur = {0};
    const uint8_t *key;
    size_t len;
    int64_t id;
    int rc = cursor_entries(&cur, k->cx->c, table_index(p->walk->number), &range, p->by[0].descending, err);

    *gave_up = false;
    while (!rc && k->matched < (uint64_t)k->page && (rc = cursor_next_entry(&cur, &id, &key, &len, err)) == 0) {
        bool pass = true;
        *gave_up = len > KEY_EXACT_MAX || (!exact && k->tested >= (uint64_t)most);
        if (*gave_up)
            break;
        if (exact) {
            k->tested++;
            k->matched++;
        } else {
            rc = access_row(p->of, k->cx->c, id, &k->at, err);
            if (!rc)
                rc = passes(k, false, &pass, err);
            give_back(k);
        }
        if (!rc && pass && k->matched > (uint64_t)k->offset)
            rc = ids_add(page, id, err);
    }
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

typedef struct listing {
    picking *k;
    size_t visited;
    int code;
    error *err;
} listing;

static bool visit_record(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    listing *l = to;
    picking *k = l->k;

    l->visited++;
    l->code = row_open(&k->at, k->cx->c, k->p->of->number, id, bytes, len, l->err);
    if (!l->code)
        l->code = k->visit(k->to, &k->at, l->err);
    give_back(k);
    return !l->code;
}

/* The rows of ids that an index gave, in their order. */
static int visit_listed(picking *k, const ids *page, error *err)
{
    listing l = {.k = k, .err = err};
    int64_t last;
    int rc = rows_listed(k->cx->c, table_records(k->p->of->number), page->at, page->count, visit_record, &l, &last,
                         err);

    if (l.code || (rc && rc != FN_END))
        return l.code ? l.code : rc;
    rc = FENEC_OK;
    for (size_t i = 0; !rc && l.visited < page->count && i < page->count; i++)
        rc = access_row(k->p->of, k->cx->c, page->at[i], &k->at, err); /* says which is not there */
    return rc;
}

/* *walked false: the page is still to be made another way. */
static int page_walked(picking *k, bool *walked, error *err)
{
    access_bounds b;
    bool exact, usable, gave_up;
    ids page = {0};
    int64_t last;

    *walked = false;
    int rc = access_walk(&k->p->access, k->cx, k->resolved, k->p->walk, &b, &exact, &usable, err);
    if (!rc && !usable)
        explain_step(k->x, "order: the ordered index holds a value it cannot place");
    if (rc || !usable)
        return rc;
    rc = rows_last_id(k->cx->c, table_records(k->p->of->number), &last, err);
    if (rc)
        return rc;
    exact &= !k->before && !k->also;
    rc = walk_ids(k, &b, exact, last / WALK_SHARE + 1, &page, &gave_up, err);
    if (!rc && gave_up) {
        explain_step(k->x, "order: the ordered index given up after %" PRIu64 " rows", k->tested);
        k->tested = k->matched = 0;
    } else if (!rc) {
        if (!k->p->filter)
            explain_step(k->x, "filter: none");
        else
            explain_step(k->x, "filter: %s", exact ? "an ordered index, which is the answer" : "tested on the walk");
        explain_step(k->x, "order: the ordered index walked %s, %" PRIu64 " rows tested",
                     k->p->by[0].descending ? "descending" : "ascending", k->tested);
        *walked = true;
        if (!rc)
            rc = visit_listed(k, &page, err);
    }
    ids_clear(&page);
    return rc;
}

/* ---- whole runs ---- */

static int run_page(picking *k, error *err)
{
    const pick_plan *p = k->p;
    bool id_order = p->key_count == 1 && p->keys[0]->kind == NODE_ID; /* descending: ascending is none */
    bool walk = false;
    access a;
    int rc = choose(k, p->key_count ? INT64_MAX : k->page, &a, err);

    if (rc)
        return rc;
    if (p->key_count == 0 || (id_order && a.kind == ACCESS_SCAN)) {
        rc = page_rows(k, &a, id_order, k->offset, k->page, err);
        explain_access(k, &a);
        if (id_order)
            explain_step(k->x, "order: the id index walked descending");
        access_clear(&a);
        return rc;
    }
    if (p->walk && k->page < INT64_MAX && a.kind != ACCESS_ID)
        rc = walk_pays(k, &a, &walk, err);
    if (!rc && walk)
        rc = page_walked(k, &walk, err);
    if (!rc && !walk) {
        rc = page_sorted(k, &a, err);
        explain_access(k, &a);
        explain_step(k->x, "order: keys read, %zu rows put in order", k->sort.count);
    }
    access_clear(&a);
    return rc;
}

int pick_page(picking *k, pick_visit *visit, void *to, error *err)
{
    start(k, visit, to);
    if (k->limit == 0) {
        explain_step(k->x, "filter: not tested, the page is empty");
        return FENEC_OK;
    }
    return run_page(k, err);
}

/* Every row that passes, by ascending id. */
static int run_all(picking *k, access *a, error *err)
{
    int rc = choose(k, INT64_MAX, a, err);

    if (!rc) {
        rc = page_rows(k, a, false, 0, INT64_MAX, err);
        access_clear(a);
    }
    return rc;
}

int pick_each(picking *k, pick_visit *visit, void *to, error *err)
{
    access a;

    start(k, visit, to);
    return run_all(k, &a, err);
}

int pick_all(picking *k, int64_t *count, error *err)
{
    const pick_plan *p = k->p;
    bool counts = false;
    access a;
    int rc = FENEC_OK;

    start(k, NULL, NULL);
    bool more = k->before || k->also;
    if (!p->filter && !more) {
        explain_step(k->x, "filter: none");
        return rows_count(k->cx->c, table_records(p->of->number), count, err);
    }
    if (!more)
        rc = access_count(&p->access, k->cx, k->resolved, &counts, count, err);
    if (!rc && counts)
        explain_step(k->x, "filter: an index counted, no row read");
    if (rc || counts)
        return rc;
    rc = run_all(k, &a, err);
    explain_access(k, &a);
    *count = (int64_t)k->matched;
    return rc;
}

int pick_along(picking *k, access *from, pick_visit *visit, void *to, error *err)
{
    start(k, visit, to);
    if (k->limit == 0)
        return FENEC_OK;
    from->exact = false;
    return k->p->key_count ? page_sorted(k, from, err)
                           : page_rows(k, from, false, k->offset, k->page, err);
}

int pick_any(picking *k, access *from, bool *out, error *err)
{
    start(k, NULL, NULL);
    from->exact = false;
    int rc = page_rows(k, from, false, 0, 1, err);
    *out = k->matched > 0;
    return rc;
}

int pick_cost(picking *k, int64_t *rows, error *err)
{
    access a;
    int rc = choose(k, INT64_MAX, &a, err);

    if (rc)
        return rc;
    *rows = a.named;
    access_clear(&a);
    return *rows < INT64_MAX ? FENEC_OK : rows_count(k->cx->c, table_records(k->p->of->number), rows, err);
}

bool pick_is_all(const pick_plan *p)
{
    return !p->filter;
}

bool pick_stops(const picking *k)
{
    return k->page < INT64_MAX && (k->p->key_count == 0 || k->p->walk);
}

int pick_run(const pick_plan *p, const context *cx, pick_visit *visit, void *to, explain *x, error *err)
{
    picking k;
    int rc = pick_begin(&k, p, cx, x, err);

    if (!rc)
        rc = pick_page(&k, visit, to, err);
    pick_end(&k);
    return rc;
}

int pick_count(const pick_plan *p, const context *cx, int64_t *out, explain *x, error *err)
{
    picking k;
    int rc = pick_begin(&k, p, cx, x, err);

    if (!rc)
        rc = pick_all(&k, out, err);
    pick_end(&k);
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
