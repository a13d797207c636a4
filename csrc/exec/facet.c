#include "exec/facet.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "exec/encoding.h"
#include "exec/group.h"
#include "exec/node.h"
#include "value/collation.h"
#include "value/elements.h"
#include "value/json.h"
#include "value/key.h"

enum {
    ALIKE = 16,     /* entries of one key stepped through before the rest of them are counted */
    READ_SHARE = 4  /* an index whose entries' rows must be read for one in four is not used */
};

typedef struct facet_item {
    const facet *f;
    const bound *e;
    bool is_packed;             /* the bytes in the record tell its values apart */
    collation collate;
    pick_plan *own;             /* NULL: the statement's rows */
    const catalog_index *index; /* NULL, or what tells the values of all rows */
    const char *member;         /* "name":[ with a comma before all but the first */
    uint32_t member_len;
} facet_item;

struct facets_plan {
    const collection *of;
    facet_item *items;
    uint32_t count;
};

/* ---- binding ---- */

static bool holds_numbers(const type *t)
{
    if (t->kind == TYPE_LIST)
        t = t->element;
    return t->kind == TYPE_INT || t->kind == TYPE_FLOAT || t->kind == TYPE_TIMESTAMP || t->kind == TYPE_JSON;
}

/* Whether keys of such a field tell its values. */
static bool is_told_by_keys(const type *t)
{
    switch (t->kind) {
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_TEXT:
    case TYPE_BYTES:
    case TYPE_TIMESTAMP:
    case TYPE_JSON: return true;
    default: return false;
    }
}

static const catalog_index *telling_index(const collection *of, const bound *name)
{
    const catalog_index *index = access_index(of, name);

    if (!index || !is_told_by_keys(&name->field->type))
        return NULL;
    switch (index->spec.kind) {
    case INDEX_HASH:
    case INDEX_UNIQUE: return index;
    /* Keys in the order of a language hold no text to read back. */
    case INDEX_SORTED: return name->field->collate == COLLATION_NONE ? index : NULL;
    default: return NULL;
    }
}

static int name_member(facet_item *item, bool first, arena *a, error *err)
{
    buffer b;

    buffer_init(&b);
    if (!first)
        buffer_byte(&b, ',');
    json_write_text(&b, (const uint8_t *)item->f->field.text, item->f->field.text_len);
    buffer_text(&b, ":[");
    item->member = b.failed ? NULL : arena_copy(a, b.bytes, b.len);
    item->member_len = (uint32_t)b.len;
    buffer_clear(&b);
    return item->member ? FENEC_OK : fail_memory(err);
}

static int bind_item(facet_item *item, const facets_plan *p, const catalog *cat, arena *a, error *err)
{
    const facet *f = item->f;
    const expr name = {.kind = EXPR_FIELD, .field = f->field, .reads_row = true};
    const binding b = {.place = BIND_LIST, .of = p->of};
    const count_value none = {0};
    expr *kept = arena_copy(a, &name, sizeof name);
    bound *e;

    if (!kept)
        return fail_memory(err);
    int rc = expr_bind(kept, &b, a, &e, err);
    if (rc)
        return rc;
    item->e = e;
    if (e->kind == NODE_FIELD) {
        bool plain = e->path->part_count == 1;
        item->is_packed = plain && encoding_is_packed(&e->field->type);
        item->collate = plain ? e->field->collate : COLLATION_NONE;
        item->index = telling_index(p->of, e);
        if (f->has_ranges && plain && !holds_numbers(&e->field->type))
            return fail(err, FENEC_QUERY, "`%s` of `%s` holds no numbers to count by ranges", f->field.text,
                        p->of->name);
    }
    rc = collation_need(item->collate, err);
    if (!rc && f->own_filter_given)
        rc = pick_bind(cat, p->of, f->own_filter, NULL, 0, none, none, a, &item->own, err);
    return rc;
}

int facets_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, facets_plan **out,
                error *err)
{
    facets_plan *p = arena_zeroed(a, sizeof *p);
    int rc = FENEC_OK;

    if (!p)
        return fail_memory(err);
    p->of = of;
    p->count = s->facet_count;
    p->items = arena_zeroed(a, sizeof *p->items * s->facet_count);
    if (!p->items)
        return fail_memory(err);
    for (uint32_t i = 0; !rc && i < p->count; i++) {
        p->items[i].f = &s->facets[i];
        rc = bind_item(&p->items[i], p, cat, a, err);
        if (!rc)
            rc = name_member(&p->items[i], i == 0, a, err);
    }
    if (!rc)
        *out = p;
    return rc;
}

/* ---- counting ---- */

/* What is kept of a value. */
enum { COUNT, LAST_ROW, FIRST_ROW, STATE };

static const tallies state = {.state_len = STATE * sizeof(uint64_t)};

typedef struct counting {
    const facet_item *item;
    groups values;
    uint64_t *counts;  /* ranges */
    int64_t *reached;  /* ranges: the last row that reached each */
    int64_t top;       /* INT64_MAX without */
    uint64_t rows;     /* read */
    bool told;         /* by the index */
    scope s;
    buffer bytes;
} counting;

static int too_many(const counting *n, error *err)
{
    return fail(err, FENEC_QUERY, "facet `%s` has more than %u values: say how many with top", n->item->f->field.text,
                FACET_VALUES_MAX);
}

/* `count` rows, the first of them `id`, hold the value of those bytes. A row that brings it twice counts
 * once. */
static int add_bytes(counting *n, const uint8_t *bytes, size_t len, int64_t id, uint64_t count, error *err)
{
    group *g;
    int rc = groups_find(&n->values, bytes, len, &g, err);

    if (rc)
        return rc;
    if (g->states[COUNT] == 0) {
        if (n->top == INT64_MAX && n->values.count > FACET_VALUES_MAX)
            return too_many(n, err);
        g->states[FIRST_ROW] = (uint64_t)id;
    } else if ((int64_t)g->states[LAST_ROW] == id) {
        return FENEC_OK;
    } else if (id < (int64_t)g->states[FIRST_ROW]) {
        g->states[FIRST_ROW] = (uint64_t)id;
    }
    g->states[LAST_ROW] = (uint64_t)id;
    g->states[COUNT] += count;
    return FENEC_OK;
}

/* The range that holds a number, or -1. */
static int64_t range_of(const facet *f, const value *v)
{
    uint32_t low = 0, high = f->range_count;
    value number = *v;

    if (v->kind != VALUE_INT && v->kind != VALUE_FLOAT && v->kind != VALUE_TIMESTAMP)
        return -1;
    if (v->kind == VALUE_FLOAT && isnan(v->number))
        return -1;
    if (v->kind == VALUE_TIMESTAMP)
        number = value_int(v->integer);
    if (value_compare(&number, &f->range_bounds[0]) < 0 ||
        value_compare(&number, &f->range_bounds[f->range_count]) >= 0)
        return -1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (value_compare(&number, &f->range_bounds[middle]) < 0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static int add_one(counting *n, const value *v, int64_t id, uint64_t count, error *err)
{
    if (n->counts) {
        int64_t range = range_of(n->item->f, v);
        if (range >= 0 && n->reached[range] != id) {
            n->reached[range] = id;
            n->counts[range] += count;
        }
        return FENEC_OK;
    }
    n->bytes.len = 0;
    int rc = encoding_put_packed(&n->bytes, v, err);
    if (!rc && n->bytes.failed)
        rc = fail_memory(err);
    return rc ? rc : add_bytes(n, n->bytes.bytes, n->bytes.len, id, count, err);
}

/* A list counts by its elements, each once a row. */
static int add_value(counting *n, const value *v, int64_t id, uint64_t count, error *err)
{
    elements list;
    value element;
    int rc;

    if (v->kind != VALUE_LIST)
        return add_one(n, v, id, count, err);
    elements_open(&list, v);
    while ((rc = elements_next(&list, &element, err)) == FENEC_OK)
        if ((rc = add_one(n, &element, id, count, err)) != FENEC_OK)
            return rc;
    return rc == FN_END ? FENEC_OK : rc;
}

static int add_row(counting *n, const row *r, error *err)
{
    static const uint8_t null[1] = {0};
    const bound *e = n->item->e;
    const uint8_t *slot;
    size_t len;
    value v;

    n->rows++;
    if (n->item->is_packed && !n->counts) {
        int rc = record_slot(&r->rec, e->field->number, &slot, &len, err);
        if (rc)
            return rc;
        if (len == 0)
            return add_bytes(n, null, sizeof null, r->id, 1, err);
        if (slot[0] != RECORD_SIDE)
            return add_bytes(n, slot, len, r->id, 1, err);
    }
    n->s.row = r;
    int rc = e->eval(e, &n->s, &v, err);
    return rc ? rc : add_value(n, &v, r->id, 1, err);
}

/* ---- from the keys of an index ---- */

/* Whether most entries tell their values by their keys. */
static int tells_most(const counting *n, conn *c, bool *out, error *err)
{
    static const uint8_t number = 0x02, octets = 0x03, hash = 0x04;
    const facet_item *item = n->item;
    const table t = table_index(item->index->number);
    const key_range numbers = {.low = &number, .low_len = 1, .has_low = true,
                               .high = &octets, .high_len = 1, .has_high = true, .below_high = true};
    const key_range hashes = {.low = &hash, .low_len = 1, .has_low = true}, all = {0};
    int64_t read = 0, hashed = 0, entries = 0;
    int rc = FENEC_OK;

    *out = true;
    if (item->e->field->type.kind != TYPE_JSON)
        return FENEC_OK;
    rc = entries_count(c, t, &numbers, INT64_MAX, &read, err);
    if (!rc)
        rc = entries_count(c, t, &hashes, INT64_MAX, &hashed, err);
    if (!rc)
        rc = entries_count(c, t, &all, (read + hashed) * READ_SHARE + 1, &entries, err);
    *out = entries > (read + hashed) * READ_SHARE;
    return rc;
}

/* Where the walk of an index is. */
typedef struct walk {
    counting *n;
    const collection *of;
    conn *c;
    arena *memory;
    cursor cur;
    uint8_t key[KEY_MAX];
    size_t len;
    int64_t first;    /* row under that key */
    uint64_t alike;   /* entries of it so far; 0 before the first */
    uint64_t entries; /* of all keys before it */
} walk;

/* Counts the entries of the key just passed. */
static int pass_key(walk *w, error *err)
{
    const bound *e = w->n->item->e;
    value v;

    w->entries += w->alike;
    if (w->alike == 0 || !key_value(w->key, w->len, &e->field->type, e->path->part_count > 1, &v))
        return FENEC_OK; /* its rows were read */
    return add_value(w->n, &v, w->first, w->alike, err);
}

static int read_entry(walk *w, int64_t id, error *err)
{
    arena_mark here = arena_here(w->memory);
    row r;
    int rc = access_row(w->of, w->c, id, &r, err);

    if (!rc)
        rc = add_row(w->n, &r, err);
    arena_rewind(w->memory, here);
    return rc;
}

static int open_above(walk *w, error *err)
{
    const key_range rest = {
        .low = w->key, .low_len = w->len, .has_low = w->alike > 0, .above_low = w->alike > 0};

    cursor_close(&w->cur);
    return cursor_entries(&w->cur, w->c, table_index(w->n->item->index->number), &rest, false, err);
}

/* So many alike that counting the rest of them and starting anew above is cheaper than stepping. */
static int leap(walk *w, error *err)
{
    const key_range one = {.low = w->key, .high = w->key, .low_len = w->len, .high_len = w->len,
                           .has_low = true, .has_high = true};
    int64_t n;
    int rc = entries_count(w->c, table_index(w->n->item->index->number), &one, INT64_MAX, &n, err);

    if (rc)
        return rc;
    if (n < ALIKE) /* so many were met: starting anew would meet them again */
        return fail(err, FENEC_CORRUPT, "an index of `%s` is out of order", w->of->name);
    w->alike = (uint64_t)n;
    rc = pass_key(w, err);
    if (!rc)
        rc = open_above(w, err);
    w->alike = 0;
    return rc;
}

static int walk_entry(walk *w, int64_t id, const uint8_t *key, size_t len, error *err)
{
    const bound *e = w->n->item->e;
    bool same = w->alike && w->len == len && !memcmp(w->key, key, len);
    value v;
    int rc = FENEC_OK;

    if (!same) {
        if (len > sizeof w->key)
            return fail(err, FENEC_CORRUPT, "an index of `%s` holds a key that is too long", w->of->name);
        rc = pass_key(w, err);
        memcpy(w->key, key, len);
        w->len = len;
        w->first = id;
        w->alike = 0;
    }
    w->alike++;
    if (rc)
        return rc;
    if (!key_value(w->key, w->len, &e->field->type, e->path->part_count > 1, &v))
        return read_entry(w, id, err);
    return w->alike == ALIKE ? leap(w, err) : FENEC_OK;
}

/* Rows that have no entry hold null: @sorted alone keeps one for it. */
static int add_absent(walk *w, error *err)
{
    const value null = value_null();
    int64_t rows;

    if (w->n->item->index->spec.kind == INDEX_SORTED)
        return FENEC_OK;
    int rc = rows_count(w->c, table_records(w->of->number), &rows, err);
    if (rc || (uint64_t)rows <= w->entries)
        return rc;
    return add_value(w->n, &null, INT64_MAX, (uint64_t)rows - w->entries, err);
}

static int count_index(counting *n, const collection *of, const context *cx, error *err)
{
    walk w = {.n = n, .of = of, .c = cx->c, .memory = cx->memory};
    const uint8_t *key;
    size_t len;
    int64_t id;
    int rc = open_above(&w, err);

    while (!rc && (rc = cursor_next_entry(&w.cur, &id, &key, &len, err)) == FENEC_OK)
        rc = walk_entry(&w, id, key, len, err);
    cursor_close(&w.cur);
    if (rc == FN_END)
        rc = pass_key(&w, err);
    return rc ? rc : add_absent(&w, err);
}

/* ---- all facets of a statement ---- */

static int open_counting(counting *n, const facet_item *item, const picking *rows, error *err)
{
    const facet *f = item->f;

    *n = (counting){.item = item, .s = rows->s};
    groups_init(&n->values, &state, SIZE_MAX);
    buffer_init(&n->bytes);
    int rc = context_count(rows->cx, &f->top, "top", INT64_MAX, &n->top, err);
    if (rc)
        return rc;
    if (f->top.given && (n->top < 1 || n->top > FACET_VALUES_MAX))
        return fail(err, FENEC_QUERY, "top of facet `%s` is from 1 to %u", f->field.text, FACET_VALUES_MAX);
    if (!f->has_ranges)
        return FENEC_OK;
    n->counts = arena_zeroed(rows->cx->memory, sizeof *n->counts * f->range_count);
    n->reached = arena_zeroed(rows->cx->memory, sizeof *n->reached * f->range_count);
    if (!n->counts || !n->reached)
        return fail_memory(err);
    for (uint32_t i = 0; i < f->range_count; i++)
        n->reached[i] = INT64_MIN;
    return FENEC_OK;
}

static void close_counting(counting *n)
{
    groups_clear(&n->values);
    buffer_clear(&n->bytes);
}

/* Facets that count over the same rows are counted in one pass. */
typedef struct pass {
    counting *all;
    uint32_t count;
    const pick_plan *own; /* the facets whose rows these are */
} pass;

static bool is_of_pass(const counting *n, const pick_plan *own)
{
    return n->item->own == own && !n->told;
}

static int visit_row(void *to, const row *r, error *err)
{
    const pass *w = to;
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < w->count; i++)
        if (is_of_pass(&w->all[i], w->own))
            rc = add_row(&w->all[i], r, err);
    return rc;
}

static int count_own(counting *n, const picking *rows, error *err)
{
    pass w = {.all = n, .count = 1, .own = n->item->own};
    picking own;
    int rc = pick_begin(&own, n->item->own, rows->cx, rows->x, err);

    own.before = rows->before;
    own.also = rows->also;
    own.with = rows->with;
    own.among = rows->among;
    if (!rc)
        rc = pick_each(&own, visit_row, &w, err);
    pick_end(&own);
    return rc;
}

static int count_all(const facets_plan *p, counting *all, picking *rows, error *err)
{
    pass w = {.all = all, .count = p->count};
    bool reads = false;
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < p->count; i++) {
        counting *n = &all[i];
        const facet_item *item = n->item;
        bool everything = !rows->before && !rows->also && pick_is_all(item->own ? item->own : rows->p);
        if (item->index && everything)
            rc = tells_most(n, rows->cx->c, &n->told, err);
        if (!rc && n->told)
            rc = count_index(n, p->of, rows->cx, err);
        else if (!rc && item->own)
            rc = count_own(n, rows, err);
        else
            reads = true;
    }
    return rc || !reads ? rc : pick_each(rows, visit_row, &w, err);
}

/* ---- the answer ---- */

static void write_count(buffer *out, uint64_t count)
{
    buffer_put(out, ",\"count\":", 9);
    json_write_int(out, (int64_t)count);
    buffer_byte(out, '}');
}

static void write_ranges(const counting *n, buffer *out)
{
    const facet *f = n->item->f;

    for (uint32_t i = 0; i < f->range_count; i++) {
        buffer_text(out, i ? ",{\"value\":[" : "{\"value\":[");
        json_write(out, &f->range_bounds[i]);
        buffer_byte(out, ',');
        json_write(out, &f->range_bounds[i + 1]);
        buffer_byte(out, ']');
        write_count(out, n->counts[i]);
    }
}

static int read_value(const counting *n, size_t place, arena *a, value *out, error *err)
{
    const group *g = n->values.all[place];
    const uint8_t *at = group_bytes(&n->values, g);

    return packed_read(&at, at + g->key_len, a, out, err);
}

static int sort_values(const counting *n, sorter *sort, arena *a, error *err)
{
    int rc = FENEC_OK;

    for (size_t i = 0; !rc && i < n->values.count; i++) {
        const group *g = n->values.all[i];
        value by[3] = {value_int((int64_t)g->states[COUNT]), value_null(), value_int((int64_t)g->states[FIRST_ROW])};
        rc = read_value(n, i, a, &by[1], err);
        if (!rc)
            rc = sorter_add(sort, (int64_t)i, by, err);
    }
    return rc ? rc : sorter_finish(sort, err);
}

static int write_values(const counting *n, arena *a, buffer *out, error *err)
{
    const sort_by by[3] = {{.descending = true}, {.collate = n->item->collate}, {0}};
    sorter sort;
    value v;

    sorter_init(&sort, by, 3, (uint64_t)n->top);
    int rc = sort_values(n, &sort, a, err);
    for (size_t i = 0; !rc && i < sort.count; i++) {
        size_t place = (size_t)sorter_id(&sort, i);
        rc = read_value(n, place, a, &v, err);
        if (rc)
            break;
        buffer_text(out, i ? ",{\"value\":" : "{\"value\":");
        json_write(out, &v);
        write_count(out, n->values.all[place]->states[COUNT]);
    }
    sorter_clear(&sort);
    return rc;
}

static void explain_facet(const counting *n, explain *x)
{
    const facet *f = n->item->f;
    const char *what = f->has_ranges ? "ranges" : "values";
    uint64_t count = f->has_ranges ? f->range_count : n->values.count;

    if (n->told)
        explain_step(x, "facet %s: %s index counted, %" PRIu64 " rows read, %" PRIu64 " %s", f->field.text,
                     n->item->index->spec.kind == INDEX_SORTED ? "an ordered" : "a hash", n->rows, count, what);
    else
        explain_step(x, "facet %s: read, %" PRIu64 " rows, %" PRIu64 " %s", f->field.text, n->rows, count, what);
}

int facets_write(const facets_plan *p, picking *rows, buffer *out, error *err)
{
    counting *all = arena_zeroed(rows->cx->memory, sizeof *all * p->count);
    uint32_t opened = 0;
    int rc = FENEC_OK;

    if (!all)
        return fail_memory(err);
    for (; !rc && opened < p->count; opened++)
        rc = open_counting(&all[opened], &p->items[opened], rows, err);
    if (!rc)
        rc = count_all(p, all, rows, err);
    buffer_byte(out, '{');
    for (uint32_t i = 0; !rc && i < p->count; i++) {
        buffer_put(out, p->items[i].member, p->items[i].member_len);
        if (p->items[i].f->has_ranges)
            write_ranges(&all[i], out);
        else
            rc = write_values(&all[i], rows->cx->memory, out, err);
        buffer_byte(out, ']');
        explain_facet(&all[i], rows->x);
    }
    buffer_byte(out, '}');
    for (uint32_t i = 0; i < opened; i++)
        close_counting(&all[i]);
    return rc;
}
