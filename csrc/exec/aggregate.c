#include "exec/aggregate.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "exec/encoding.h"
#include "exec/explain.h"
#include "exec/extreme.h"
#include "exec/node.h"
#include "exec/sort.h"
#include "store/record.h"
#include "value/collation.h"

/* A group key. */
typedef struct key {
    const bound *e;
    const expr *means;  /* as written, or the item whose name was */
    const char *name;   /* by `as`, or NULL */
    uint32_t item;      /* the item it names, or UINT32_MAX */
    bool is_plain;      /* a field whose bytes in the record tell its values apart, but for -0.0 */
} key;

struct aggregate_plan {
    const collection *of;
    bool is_grouped;
    key *keys;
    uint32_t key_count;
    tallies calls;
    const bound **columns;
    uint32_t column_count;
    answer_columns names;
    const bound *having; /* NULL: every group passes */
    const bound **order; /* what groups are ordered by, before their keys */
    uint32_t order_count;
    sort_by *by; /* order, then keys, then the number */
    count_value limit, offset;
    constants once;
};

/* A group under one's eyes: what the nodes of a list and of `having` read. */
typedef struct view {
    const aggregate_plan *p;
    const value *keys;
    const void *states;
} view;

/* ---- binding ---- */

static int eval_key(const bound *e, const scope *s, value *out, error *err)
{
    const view *v = s->parts;

    (void)err;
    *out = v->keys[e->place];
    return FENEC_OK;
}

static int eval_call(const bound *e, const scope *s, value *out, error *err)
{
    const view *v = s->parts;

    (void)err;
    tally_answer(&v->p->calls.items[e->place], v->states, out);
    return FENEC_OK;
}

static int test_part(const bound *e, const scope *s, bool *truth, error *err)
{
    value v;
    int rc = e->eval(e, s, &v, err);

    if (!rc)
        *truth = value_truth(&v);
    return rc;
}

static int make_part(arena *a, int (*eval)(const bound *, const scope *, value *, error *), uint32_t place,
                     const bound **out, error *err)
{
    bound *n = arena_zeroed(a, sizeof *n);

    if (!n)
        return fail_memory(err);
    n->kind = NODE_PART;
    n->eval = eval;
    n->test = test_part;
    n->reads_row = true; /* it differs from group to group */
    n->slot = NODE_NO_SLOT;
    n->place = place;
    *out = n;
    return FENEC_OK;
}

typedef struct binder {
    aggregate_plan *p;
    const fold *list;
    arena *a;
    bool columns_too; /* in having */
} binder;

static bool is_name(const path *p, const char *name)
{
    return name && strlen(name) == p->text_len && !memcmp(name, p->text, p->text_len);
}

/* The key a name stands for, or NULL. Names given to keys go before what keys are. */
static const key *key_named(const aggregate_plan *p, const path *name)
{
    for (uint32_t i = 0; i < p->key_count; i++)
        if (is_name(name, p->keys[i].name))
            return &p->keys[i];
    for (uint32_t i = 0; i < p->key_count; i++)
        if (p->keys[i].means->kind == EXPR_FIELD && is_name(name, p->keys[i].means->field.text))
            return &p->keys[i];
    return NULL;
}

static int bind_part(void *parts, const expr *e, const bound **out, error *err)
{
    const binder *w = parts;
    uint32_t place;

    *out = NULL;
    if (e->kind == EXPR_CALL) {
        if (!aggregate_named(e->name))
            return FENEC_OK;
        int rc = tallies_bind(&w->p->calls, e, w->p->of, &w->p->once, w->a, &place, err);
        return rc ? rc : make_part(w->a, eval_call, place, out, err);
    }
    const key *k = key_named(w->p, &e->field);
    if (k)
        return make_part(w->a, eval_key, (uint32_t)(k - w->p->keys), out, err);
    for (uint32_t i = 0; w->columns_too && i < w->list->column_count; i++) {
        if (is_name(&e->field, w->list->columns[i].name)) {
            *out = w->p->columns[i];
            return FENEC_OK;
        }
    }
    return fail(err, FENEC_QUERY, "`%s` is neither aggregated nor grouped by", e->field.text);
}

/* What a key written as a plain name stands for: an item that has been given the name, else a field. */
static void find_item(const fold *list, key *k)
{
    const path *name = &k->means->field;

    k->item = UINT32_MAX;
    if (k->means->kind != EXPR_FIELD || name->part_count != 1)
        return;
    for (uint32_t i = 0; i < list->column_count; i++) {
        if (list->columns[i].named && is_name(name, list->columns[i].name)) {
            k->item = i;
            k->means = list->columns[i].e;
            return;
        }
    }
}

static int bind_keys(const binder *w, error *err)
{
    aggregate_plan *p = w->p;
    const binding b = {.place = BIND_LIST, .of = p->of, .once = &p->once};
    bound *n;

    p->keys = arena_zeroed(w->a, sizeof *p->keys * w->list->group_count);
    if (!p->keys)
        return fail_memory(err);
    for (uint32_t i = 0; i < w->list->group_count; i++) {
        key *k = &p->keys[i];
        k->means = w->list->groups[i].e;
        k->name = w->list->groups[i].name;
        find_item(w->list, k);
        int rc = expr_bind(k->means, &b, w->a, &n, err);
        if (rc)
            return rc;
        k->e = n;
        k->is_plain = n->kind == NODE_FIELD && n->path->part_count == 1 &&
                      (encoding_is_packed(&n->field->type) || n->field->type.kind == TYPE_FLOAT);
    }
    p->key_count = w->list->group_count;
    return FENEC_OK;
}

static int bind_columns(binder *w, error *err)
{
    aggregate_plan *p = w->p;
    const fold *list = w->list;
    const binding b = {.place = BIND_LIST, .of = p->of, .once = &p->once, .part = bind_part, .parts = w};
    const char **names = arena_alloc(w->a, sizeof *names * (list->column_count + 1u));
    uint32_t *lens = arena_alloc(w->a, sizeof *lens * (list->column_count + 1u));
    bound *n;
    int rc = FENEC_OK;

    p->columns = arena_zeroed(w->a, sizeof *p->columns * (list->column_count + 1u));
    if (!names || !lens || !p->columns)
        return fail_memory(err);
    for (uint32_t i = 0; i < list->column_count; i++) {
        names[i] = list->columns[i].name;
        lens[i] = (uint32_t)strlen(names[i]);
        for (uint32_t k = 0; !rc && k < p->key_count && !p->columns[i]; k++)
            if (p->keys[k].item == i)
                rc = make_part(w->a, eval_key, k, &p->columns[i], err);
        if (!rc && !p->columns[i]) {
            rc = expr_bind(list->columns[i].e, &b, w->a, &n, err);
            if (!rc)
                p->columns[i] = n;
        }
        if (rc)
            return rc;
    }
    p->column_count = list->column_count;
    if (list->having) {
        w->columns_too = true;
        rc = expr_bind(list->having, &b, w->a, &n, err);
        if (rc)
            return rc;
        p->having = n;
    }
    return answer_columns_make(&p->names, w->a, names, lens, list->column_count) ? FENEC_OK
                                                                                 : fail_memory(err);
}

/* ---- order over groups ---- */

static bool holds_text(const type *t)
{
    while (t->kind == TYPE_LIST)
        t = t->element;
    return t->kind == TYPE_TEXT;
}

/* The order of a column that carries the values of what `e` is; *takes: one of a language may be named. */
static collation carried(const aggregate_plan *p, const expr *e, bool *takes)
{
    static const char *const carriers[] = {"min", "max", "first", "last"};
    const expr *name = e;
    int32_t place;
    error unread;

    *takes = false;
    if (e->kind == EXPR_CALL) {
        bool carries = false;
        for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
            carries |= !strcmp(e->name, carriers[i]);
        if (!carries || !e->item_count)
            return COLLATION_NONE;
        name = e->items[0];
    }
    if (name->kind != EXPR_FIELD)
        return COLLATION_NONE;
    error_init(&unread);
    if (collection_resolve(p->of, &name->field, &place, &unread) || place < 0)
        return COLLATION_NONE;
    const catalog_field *field = &p->of->fields[place];
    *takes = field->type.kind == TYPE_JSON || holds_text(&field->type);
    return field->type.kind == TYPE_JSON ? COLLATION_NONE : field->collate;
}

/* What an item is: the key it stands for, or itself. */
static const expr *meaning(const aggregate_plan *p, const fold *list, uint32_t item)
{
    const expr *e = list->columns[item].e;

    for (uint32_t k = 0; k < p->key_count; k++)
        if (p->keys[k].item == item)
            return p->keys[k].means;
    const key *k = e->kind == EXPR_FIELD ? key_named(p, &e->field) : NULL;
    return k ? k->means : e;
}

static int bind_sort(const binder *w, const sort_key *by, const bound **out, sort_by *how, error *err)
{
    const aggregate_plan *p = w->p;
    const expr *means = NULL;
    bool takes;

    for (uint32_t i = 0; i < w->list->column_count && !means; i++) {
        if (is_name(&by->by, w->list->columns[i].name)) {
            *out = p->columns[i];
            means = meaning(p, w->list, i);
        }
    }
    for (uint32_t k = 0; k < p->key_count && !means; k++) {
        if (!by->is_label && is_name(&by->by, p->keys[k].name)) {
            int rc = make_part(w->a, eval_key, k, out, err);
            if (rc)
                return rc;
            means = p->keys[k].means;
        }
    }
    if (!means)
        return fail(err, FENEC_QUERY, "`%s` is not a column of the groups", by->by.text);
    *how = (sort_by){.descending = by->descending, .collate = carried(p, means, &takes)};
    if (by->collate != COLLATION_NONE) {
        if (!takes)
            return fail(err, FENEC_QUERY, "`%s` carries no text to collate", by->by.text);
        how->collate = by->collate;
    }
    return collation_need(how->collate, err);
}

static int bind_order(const binder *w, const sort_key order[], uint32_t count, error *err)
{
    aggregate_plan *p = w->p;

    p->order = arena_alloc(w->a, sizeof *p->order * (count + 1u));
    p->by = arena_zeroed(w->a, sizeof *p->by * ((size_t)count + p->key_count + 1));
    if (!p->order || !p->by)
        return fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        int rc = bind_sort(w, &order[i], &p->order[i], &p->by[i], err);
        if (rc)
            return rc;
    }
    p->order_count = count;
    return FENEC_OK;
}

int aggregate_bind(const collection *of, const fold *list, const sort_key order[], uint32_t order_count,
                   count_value limit, count_value offset, arena *a, aggregate_plan **out, error *err)
{
    aggregate_plan *p = arena_zeroed(a, sizeof *p);
    binder w = {.p = p, .list = list, .a = a};
    int rc = FENEC_OK;

    if (!p)
        return fail_memory(err);
    p->of = of;
    p->is_grouped = list->group_count > 0;
    p->limit = limit;
    p->offset = offset;
    if (p->is_grouped)
        rc = bind_keys(&w, err);
    if (!rc)
        rc = bind_columns(&w, err);
    if (!rc && p->is_grouped)
        rc = bind_order(&w, order, order_count, err);
    if (!rc)
        *out = p;
    return rc;
}

const answer_columns *aggregate_columns(const aggregate_plan *p)
{
    return &p->names;
}

bool aggregate_is_count(const aggregate_plan *p)
{
    for (uint32_t i = 0; i < p->calls.count; i++)
        if (p->calls.items[i].kind != TALLY_COUNT)
            return false;
    return !p->is_grouped;
}

bool aggregate_counts(const aggregate_plan *p)
{
    for (uint32_t i = 0; i < p->calls.count; i++)
        if (p->calls.items[i].kind == TALLY_COUNT)
            return true;
    return false;
}

bool aggregate_is_ends(const aggregate_plan *p)
{
    for (uint32_t i = 0; i < p->calls.count; i++) {
        const tally *t = &p->calls.items[i];
        if (t->kind != TALLY_COUNT && t->kind != TALLY_MIN && t->kind != TALLY_MAX)
            return false;
        if (t->kind != TALLY_COUNT && !extreme_index(p->of, t->e))
            return false;
    }
    return !p->is_grouped;
}

/* ---- rows ---- */

struct aggregation {
    const aggregate_plan *p;
    const context *cx;
    tally_run run;
    groups groups;
    void *states; /* without groups */
    tally_room room;
    value *keys; /* of the group looked at */
    buffer key;
    uint64_t rows;
    bool has_ends; /* of indexes */
    aggregation_test *keep; /* NULL: none */
    void *with;
};

int aggregation_open(const aggregate_plan *p, const context *cx, tally_limits *limits, size_t bytes_max,
                     aggregation **out, error *err)
{
    aggregation *g = memory_zeroed(sizeof *g);
    constant *resolved;
    int rc;

    if (!g)
        return fail_memory(err);
    g->p = p;
    g->cx = cx;
    arena_init(&g->room.memory);
    buffer_init(&g->key);
    groups_init(&g->groups, &p->calls, bytes_max);
    rc = constants_resolve(&p->once, cx, NULL, &resolved, err);
    const scope s = {.cx = cx, .memory = cx->memory, .resolved = rc ? NULL : resolved};
    tally_run_init(&g->run, &s, limits);
    g->keys = arena_alloc(cx->memory, sizeof *g->keys * (p->key_count + 1u));
    g->states = arena_zeroed(cx->memory, p->calls.state_len);
    if (!rc && (!g->keys || !g->states))
        rc = fail_memory(err);
    if (rc)
        aggregation_close(g);
    else
        *out = g;
    return rc;
}

void aggregation_close(aggregation *g)
{
    if (!g)
        return;
    groups_clear(&g->groups);
    tally_run_clear(&g->run);
    arena_clear(&g->room.memory);
    buffer_clear(&g->key);
    memory_free(g);
}

/* Appends the key's bytes in the row under way. */
static int put_key(aggregation *g, const key *k, error *err)
{
    value v;
    int rc = k->e->eval(k->e, &g->run.s, &v, err);

    if (!rc)
        rc = encoding_put_packed(&g->key, &v, err);
    return rc;
}

/* The bytes of a plain key, borrowed from the record; *len 0 where they are not as they stand there. */
static int plain_key(const key *k, const row *r, const uint8_t **bytes, size_t *len, error *err)
{
    static const uint8_t null[1] = {0};
    int rc = record_slot(&r->rec, k->e->field->number, bytes, len, err);

    if (rc)
        return rc;
    if (*len == 0) {
        *bytes = null;
        *len = 1;
    } else if ((*bytes)[0] == RECORD_SIDE ||
               (k->e->field->type.kind == TYPE_FLOAT && (*bytes)[*len - 1] == 0x80)) {
        *len = 0; /* elsewhere; a float that may be -0.0 */
    }
    return FENEC_OK;
}

static int row_key(aggregation *g, const row *r, const uint8_t **bytes, size_t *len, error *err)
{
    const aggregate_plan *p = g->p;
    int rc = FENEC_OK;

    if (p->key_count == 1 && p->keys[0].is_plain) {
        rc = plain_key(&p->keys[0], r, bytes, len, err);
        if (rc || *len)
            return rc;
    }
    g->key.len = 0;
    for (uint32_t i = 0; !rc && i < p->key_count; i++) {
        size_t slot_len = 0;
        const uint8_t *slot;
        if (p->keys[i].is_plain)
            rc = plain_key(&p->keys[i], r, &slot, &slot_len, err);
        if (slot_len)
            buffer_put(&g->key, slot, slot_len);
        else if (!rc)
            rc = put_key(g, &p->keys[i], err);
    }
    if (!rc && g->key.failed)
        rc = fail_memory(err);
    *bytes = g->key.bytes;
    *len = g->key.len;
    return rc;
}

int aggregation_row(void *to, const row *r, error *err)
{
    aggregation *g = to;
    const uint8_t *bytes;
    size_t len;
    group *found;

    g->rows++;
    g->run.s.row = r;
    if (!g->p->is_grouped)
        return tallies_add(&g->p->calls, g->states, 0, &g->run, &g->room, err);
    int rc = row_key(g, r, &bytes, &len, err);
    if (!rc)
        rc = groups_find(&g->groups, bytes, len, &found, err);
    return rc ? rc : tallies_add(&g->p->calls, found->states, found->number, &g->run, &g->groups.room, err);
}

void aggregation_count_rows(aggregation *g, int64_t count)
{
    const tallies *t = &g->p->calls;

    g->rows += (uint64_t)count;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->items[i].kind == TALLY_COUNT)
            *(int64_t *)(void *)((uint8_t *)g->states + t->items[i].at) += count;
}

int aggregation_ends(aggregation *g, bool *found, error *err)
{
    const aggregate_plan *p = g->p;
    value *ends = arena_alloc(g->cx->memory, sizeof *ends * (p->calls.count + 1u));

    *found = false;
    if (!ends)
        return fail_memory(err);
    for (uint32_t i = 0; i < p->calls.count; i++) {
        const tally *t = &p->calls.items[i];
        if (t->kind == TALLY_COUNT)
            continue;
        int rc = extreme_value(p->of, extreme_index(p->of, t->e), t->e, t->kind == TALLY_MAX, g->cx, &ends[i],
                               found, err);
        if (rc || !*found)
            return rc;
    }
    for (uint32_t i = 0; i < p->calls.count; i++) {
        const tally *t = &p->calls.items[i];
        int rc = t->kind == TALLY_COUNT ? FENEC_OK : tally_take(t, g->states, &ends[i], &g->room, err);
        if (rc)
            return rc;
    }
    g->has_ends = *found = true;
    return FENEC_OK;
}

void aggregation_reset(aggregation *g)
{
    tally_run_reset(&g->run);
    arena_reset(&g->room.memory);
    memset(g->states, 0, g->p->calls.state_len);
    groups_reset(&g->groups);
    g->rows = 0;
}

/* ---- answers ---- */

/* Reads a group's keys from its bytes. */
static int read_keys(aggregation *g, const group *of, error *err)
{
    const uint8_t *at = group_bytes(&g->groups, of), *end = at + of->key_len;

    for (uint32_t i = 0; i < g->p->key_count; i++) {
        int rc = packed_read(&at, end, g->cx->memory, &g->keys[i], err);
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

typedef struct answering {
    aggregation *g;
    scope s;
    view v;
    sorter *sort; /* NULL: groups are counted */
    value *by;
    int64_t passed;
} answering;

static answering answering_of(aggregation *g)
{
    answering w = {.g = g, .s = g->run.s, .v = {.p = g->p, .keys = g->keys, .states = g->states}};

    w.s.row = NULL;
    return w;
}

static int look_at(answering *w, const group *of, error *err)
{
    w->v.states = of->states;
    w->s.parts = &w->v;
    return read_keys(w->g, of, err);
}

static int work_out(answering *w, value *columns, error *err)
{
    const aggregate_plan *p = w->g->p;
    int rc = FENEC_OK;

    w->s.parts = &w->v;
    for (uint32_t i = 0; !rc && i < p->column_count; i++)
        rc = p->columns[i]->eval(p->columns[i], &w->s, &columns[i], err);
    return rc;
}

static int is_kept(answering *w, bool *out, error *err)
{
    aggregation *g = w->g;
    value *columns = arena_alloc(g->cx->memory, sizeof *columns * g->p->column_count);
    int rc = columns ? work_out(w, columns, err) : fail_memory(err);

    return rc ? rc : g->keep(g->with, columns, out, err);
}

static int judge_group(answering *w, const group *of, int64_t place, error *err)
{
    const aggregate_plan *p = w->g->p;
    bool passes = true;
    int rc = look_at(w, of, err);

    if (!rc && p->having)
        rc = p->having->test(p->having, &w->s, &passes, err);
    if (!rc && passes && w->g->keep)
        rc = is_kept(w, &passes, err);
    if (rc || !passes)
        return rc;
    w->passed++;
    if (!w->sort)
        return FENEC_OK;
    for (uint32_t i = 0; i < p->order_count; i++) {
        rc = p->order[i]->eval(p->order[i], &w->s, &w->by[i], err);
        if (rc)
            return rc;
    }
    for (uint32_t i = 0; i < p->key_count; i++)
        w->by[p->order_count + i] = w->g->keys[i];
    /* Keys that compare equal and are stored unlike go by their first rows. */
    w->by[p->order_count + p->key_count] = value_int((int64_t)of->number);
    return sorter_add(w->sort, place, w->by, err);
}

static int visit_group(void *to, const group *of, int64_t place, error *err)
{
    answering *w = to;
    arena_mark before = arena_here(w->g->cx->memory);
    int rc = judge_group(w, of, place, err);

    arena_rewind(w->g->cx->memory, before);
    return rc;
}

static int answer_row_of(answering *w, value *columns, aggregation_visit *visit, void *to, error *err)
{
    int rc = work_out(w, columns, err);

    return rc ? rc : visit(to, columns, err);
}

static int answer_page(answering *w, size_t from, value *columns, aggregation_visit *visit, void *to,
                       error *err)
{
    arena *memory = w->g->cx->memory;
    const group *of;
    int rc = FENEC_OK;

    for (size_t i = from; !rc && i < w->sort->count; i++) {
        arena_mark before = arena_here(memory);
        rc = groups_at(&w->g->groups, sorter_id(w->sort, i), &of, err);
        if (!rc)
            rc = look_at(w, of, err);
        if (!rc)
            rc = answer_row_of(w, columns, visit, to, err);
        arena_rewind(memory, before);
    }
    return rc;
}

static int answer_groups(answering *w, value *columns, aggregation_visit *visit, void *to, error *err)
{
    const aggregate_plan *p = w->g->p;
    const context *cx = w->g->cx;
    uint32_t by_count = p->order_count + p->key_count + 1;
    int64_t limit, offset;
    sorter sort;
    int rc = context_count(cx, &p->limit, "limit", INT64_MAX, &limit, err);

    if (!rc)
        rc = context_count(cx, &p->offset, "offset", 0, &offset, err);
    if (rc)
        return rc;
    w->by = arena_alloc(cx->memory, sizeof *w->by * by_count);
    if (!w->by)
        return fail_memory(err);
    sorter_init(&sort, p->by, by_count, limit > INT64_MAX - offset ? INT64_MAX : (uint64_t)(limit + offset));
    w->sort = &sort;
    rc = groups_each(&w->g->groups, visit_group, w, err);
    if (!rc)
        rc = sorter_finish(&sort, err);
    if (!rc)
        rc = answer_page(w, (size_t)offset, columns, visit, to, err);
    sorter_clear(&sort);
    return rc;
}

int aggregation_each(aggregation *g, aggregation_visit *visit, void *to, error *err)
{
    answering w = answering_of(g);
    value *columns = arena_alloc(g->cx->memory, sizeof *columns * (g->p->column_count + 1u));

    if (!columns)
        return fail_memory(err);
    return g->p->is_grouped ? answer_groups(&w, columns, visit, to, err)
                            : answer_row_of(&w, columns, visit, to, err);
}

void aggregation_keep(aggregation *g, aggregation_test *keep, void *with)
{
    g->keep = keep;
    g->with = with;
}

int aggregation_groups(aggregation *g, int64_t *out, error *err)
{
    answering w = answering_of(g);
    int rc = FENEC_OK;

    if (!g->p->having && !g->keep)
        w.passed = (int64_t)groups_count(&g->groups);
    else
        rc = groups_each(&g->groups, visit_group, &w, err);
    *out = w.passed;
    return rc;
}

void aggregation_explain(const aggregation *g, explain *x)
{
    if (g->p->is_grouped)
        explain_step(x, "aggregate: %" PRIu64 " rows into %" PRIu64 " groups%s", g->rows,
                     groups_count(&g->groups), g->groups.aside ? ", put aside on the way" : "");
    else if (g->has_ends)
        explain_step(x, "aggregate: the ends of ordered indexes, no further row read");
    else
        explain_step(x, "aggregate: %" PRIu64 " rows into one", g->rows);
}
