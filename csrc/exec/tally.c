#include "exec/tally.h"

#include <string.h>

#include "base/hash.h"
#include "exec/encoding.h"
#include "exec/node.h"
#include "exec/slot.h"
#include "store/record.h"
#include "value/collation.h"

/* ---- states ---- */

typedef struct total {
    double number;
    int64_t integer;
    enum { TOTAL_NONE, TOTAL_INTEGER, TOTAL_NUMBER } kind;
} total;

typedef struct average {
    double sum;
    int64_t count;
} average;

/* A value kept, null before the first; its bytes in memory that is used again for the next. */
typedef struct kept {
    value v;
    uint8_t *bytes;
    size_t cap;
} kept;

typedef struct end_of { /* first, last */
    kept value;
    kept key; /* with `by` alone: without, the state ends before it */
} end_of;

/* How many kept values a state starts with. */
static uint32_t kept_count(const tally *t)
{
    switch (t->kind) {
    case TALLY_MIN:
    case TALLY_MAX: return 1;
    case TALLY_FIRST:
    case TALLY_LAST: return t->by ? 2 : 1;
    default: return 0;
    }
}

static size_t state_len(const tally *t)
{
    switch (t->kind) {
    case TALLY_COUNT:
    case TALLY_DISTINCT: return sizeof(int64_t);
    case TALLY_SUM: return sizeof(total);
    case TALLY_AVG: return sizeof(average);
    case TALLY_APPROX:
    case TALLY_ACCUMULATE:
    case TALLY_COMBINE: return sizeof(sketch);
    default: return kept_count(t) * sizeof(kept);
    }
}

/* ---- binding ---- */

static bool kind_of(const char *name, tally_kind *out)
{
    static const char *const names[] = {
        [TALLY_COUNT] = "count", [TALLY_SUM] = "sum",     [TALLY_AVG] = "avg",
        [TALLY_MIN] = "min",     [TALLY_MAX] = "max",     [TALLY_FIRST] = "first",
        [TALLY_LAST] = "last",   [TALLY_APPROX] = "approx_count_distinct",
        [TALLY_ACCUMULATE] = "hll_accumulate", [TALLY_COMBINE] = "hll_combine",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] && !strcmp(names[i], name)) {
            *out = (tally_kind)i;
            return true;
        }
    }
    return false;
}

static int check_type(const tally *t, const catalog_field *field, error *err)
{
    static const char *const names[] = {[TALLY_SUM] = "sum", [TALLY_AVG] = "avg", [TALLY_MIN] = "min",
                                        [TALLY_MAX] = "max"};
    type_kind k = field->type.kind;
    bool takes = k == TYPE_INT || k == TYPE_FLOAT || k == TYPE_JSON;
    buffer spelled;

    if (t->kind < TALLY_SUM || t->kind > TALLY_MAX)
        return FENEC_OK;
    if (t->kind == TALLY_MIN || t->kind == TALLY_MAX)
        takes |= k == TYPE_TIMESTAMP || k == TYPE_TEXT || k == TYPE_BOOL;
    if (takes)
        return FENEC_OK;
    buffer_init(&spelled);
    type_write(&spelled, &field->type);
    buffer_byte(&spelled, 0);
    int rc = spelled.failed ? buffer_error(&spelled, err)
                            : fail(err, FENEC_TYPE, "`%s` does not take `%s`, which is of type %s",
                                   names[t->kind], field->name, (const char *)spelled.bytes);
    buffer_clear(&spelled);
    return rc;
}

/* A plain field as argument: its type is judged now, and small values are read from the record's bytes. */
static int bind_plain(tally *t, const catalog_field *field, error *err)
{
    type_kind k = field->type.kind;
    bool folds = t->kind >= TALLY_SUM && t->kind <= TALLY_MAX;
    int rc = check_type(t, field, err);

    if (rc)
        return rc;
    t->number = field->number;
    t->is_timestamp = k == TYPE_TIMESTAMP;
    if (folds && (k == TYPE_INT || k == TYPE_TIMESTAMP))
        t->source = TALLY_INTEGER;
    else if (folds && k == TYPE_FLOAT)
        t->source = TALLY_NUMBER;
    else if (t->kind == TALLY_DISTINCT && encoding_is_packed(&field->type))
        t->source = TALLY_BYTES;
    if (t->kind == TALLY_MIN || t->kind == TALLY_MAX) {
        t->collate = field->collate;
        return collation_need(t->collate, err);
    }
    return FENEC_OK;
}

static int bind_call(tally *t, const expr *call, const collection *of, constants *once, arena *a, error *err)
{
    const binding b = {.place = BIND_LIST, .of = of, .once = once};
    const expr *argument = call->item_count ? call->items[0] : NULL;
    bound *n;
    int rc;

    if (!kind_of(call->name, &t->kind))
        return fail(err, FENEC_QUERY, "there is no aggregate `%s`", call->name);
    t->call = call;
    if (t->kind == TALLY_COUNT && argument) {
        t->kind = TALLY_DISTINCT;
        argument = argument->item_count ? argument->items[0] : NULL;
    }
    if (!argument) {
        t->source = TALLY_NOTHING;
        return t->kind == TALLY_COUNT ? FENEC_OK
                                      : fail(err, FENEC_QUERY, "`%s` takes an argument", call->name);
    }
    if ((rc = expr_bind(argument, &b, a, &n, err)) != FENEC_OK)
        return rc;
    t->e = n;
    t->source = TALLY_VALUE;
    if (n->kind == NODE_FIELD && n->path->part_count == 1 && (rc = bind_plain(t, n->field, err)) != FENEC_OK)
        return rc;
    if (call->item_count < 2)
        return FENEC_OK;
    rc = expr_bind(call->items[1], &b, a, &n, err);
    if (!rc)
        t->by = n;
    return rc;
}

static bool same_field(const expr *a, const expr *b)
{
    return a->kind == EXPR_FIELD && b->kind == EXPR_FIELD && a->field.text_len == b->field.text_len &&
           !memcmp(a->field.text, b->field.text, a->field.text_len);
}

/* Whether two calls are of one function and over the same fields. */
static bool same_call(const expr *a, const expr *b)
{
    if (strcmp(a->name, b->name) != 0 || a->item_count != b->item_count)
        return false;
    for (uint32_t i = 0; i < a->item_count; i++) {
        const expr *x = a->items[i], *y = b->items[i];
        if (x->kind == EXPR_CALL && y->kind == EXPR_CALL && !strcmp(x->name, "distinct") &&
            !strcmp(y->name, "distinct") && x->item_count == 1 && y->item_count == 1) {
            x = x->items[0];
            y = y->items[0];
        }
        if (!same_field(x, y))
            return false;
    }
    return true;
}

/* A number that tells most calls apart before they are compared: a list may hold thousands. */
static uint64_t alike_of(const expr *call)
{
    uint64_t h = hash64(call->name, strlen(call->name)) | 1;

    for (uint32_t i = 0; i < call->item_count; i++) {
        const expr *e = call->items[i];
        if (e->kind == EXPR_CALL && !strcmp(e->name, "distinct") && e->item_count == 1)
            e = e->items[0];
        if (e->kind != EXPR_FIELD)
            return 0;
        h = (h ^ hash64(e->field.text, e->field.text_len)) * 0x9E3779B97F4A7C15u | 1;
    }
    return h;
}

int tallies_bind(tallies *t, const expr *call, const collection *of, constants *once, arena *a,
                 uint32_t *place, error *err)
{
    tally made = {.alike = alike_of(call)};

    for (uint32_t i = 0; made.alike && i < t->count; i++) {
        if (t->items[i].alike == made.alike && same_call(t->items[i].call, call)) {
            *place = i;
            return FENEC_OK;
        }
    }
    int rc = bind_call(&made, call, of, once, a, err);
    if (rc)
        return rc;
    if (t->count == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 4;
        tally *grown = arena_alloc(a, sizeof *grown * cap);
        if (!grown)
            return fail_memory(err);
        if (t->count)
            memcpy(grown, t->items, sizeof *grown * t->count);
        t->items = grown;
        t->cap = cap;
    }
    made.at = t->state_len;
    t->state_len += state_len(&made);
    *place = t->count;
    t->items[t->count++] = made;
    return FENEC_OK;
}

/* ---- a run ---- */

void tally_run_init(tally_run *r, const scope *s, tally_limits *limits)
{
    *r = (tally_run){.s = *s, .limits = limits};
    arena_init(&r->sketches);
    buffer_init(&r->bytes);
}

void tally_run_clear(tally_run *r)
{
    distinct_clear(&r->seen);
    arena_clear(&r->sketches);
    buffer_clear(&r->bytes);
}

void tally_run_reset(tally_run *r)
{
    r->limits->distinct -= r->seen.count;
    r->limits->sketches -= r->sketch_bytes;
    r->sketch_bytes = 0;
    distinct_clear(&r->seen);
    arena_reset(&r->sketches);
}

static bool borrows(const value *v)
{
    return v->kind >= VALUE_TEXT && v->kind != VALUE_POINT;
}

static bool keep(kept *k, const value *v, tally_room *room)
{
    if (borrows(v)) {
        if (v->len > k->cap || !k->bytes) {
            /* Twice what it needs: of values that grow the room left behind stays bounded. */
            size_t cap = v->len < 32 ? 32 : v->len > SIZE_MAX / 2 ? v->len : k->cap ? v->len * 2 : v->len;
            uint8_t *bytes = arena_alloc(&room->memory, cap);
            if (!bytes)
                return false;
            room->used += cap;
            k->bytes = bytes;
            k->cap = cap;
        }
        if (v->len)
            memcpy(k->bytes, v->bytes, v->len);
    }
    k->v = *v;
    if (borrows(v))
        k->v.bytes = k->bytes;
    return true;
}

static int fail_sum(int64_t sum, int64_t with, error *err)
{
    return fail(err, FENEC_QUERY, "the sum of %lld and %lld leaves 64 bits", (long long)sum, (long long)with);
}

static int sum_integer(total *s, int64_t i, error *err)
{
    int64_t before = s->integer;

    if (__builtin_add_overflow(before, i, &s->integer))
        return fail_sum(before, i, err);
    s->kind = TOTAL_INTEGER;
    return FENEC_OK;
}

static void sum_number(total *s, double f)
{
    if (s->kind != TOTAL_NUMBER)
        s->number = s->kind == TOTAL_INTEGER ? (double)s->integer : 0;
    s->kind = TOTAL_NUMBER;
    s->number += f;
}

static int wrong_kind(const tally *t, const value *v, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    return fail(err, FENEC_TYPE, "`%s` takes numbers, not %s (%s)", t->call->name, value_kind_name(v),
                value_quote(quoted, v));
}

static int add_to_sum(const tally *t, total *s, const value *v, error *err)
{
    if (v->kind == VALUE_FLOAT)
        sum_number(s, v->number);
    else if (v->kind != VALUE_INT)
        return wrong_kind(t, v, err);
    else if (s->kind == TOTAL_NUMBER)
        sum_number(s, (double)v->integer);
    else
        return sum_integer(s, v->integer, err);
    return FENEC_OK;
}

static int add_to_average(const tally *t, average *s, const value *v, error *err)
{
    if (v->kind != VALUE_INT && v->kind != VALUE_FLOAT)
        return wrong_kind(t, v, err);
    s->sum += v->kind == VALUE_INT ? (double)v->integer : v->number;
    s->count++;
    return FENEC_OK;
}

static int add_extreme(const tally *t, kept *k, const value *v, tally_room *room, error *err)
{
    if (k->v.kind != VALUE_NULL) {
        int order = value_compare_in(t->collate, v, &k->v);
        if (t->kind == TALLY_MIN ? order >= 0 : order <= 0)
            return FENEC_OK;
    }
    return keep(k, v, room) ? FENEC_OK : fail_memory(err);
}

static int add_end(const tally *t, end_of *s, const value *v, tally_run *r, tally_room *room, error *err)
{
    value key;

    if (!t->by) {
        if (t->kind == TALLY_FIRST && s->value.v.kind != VALUE_NULL)
            return FENEC_OK;
        return keep(&s->value, v, room) ? FENEC_OK : fail_memory(err);
    }
    int rc = expr_eval(t->by, &r->s, &key, err);
    if (rc || key.kind == VALUE_NULL)
        return rc;
    if (s->value.v.kind != VALUE_NULL) {
        int order = value_compare(&key, &s->key.v);
        if (t->kind == TALLY_FIRST ? order >= 0 : order < 0)
            return FENEC_OK;
    }
    return keep(&s->value, v, room) && keep(&s->key, &key, room) ? FENEC_OK : fail_memory(err);
}

static int add_distinct(const tally *t, int64_t *count, uint64_t owner, const uint8_t *bytes, size_t len,
                        tally_run *r, error *err)
{
    bool fresh;

    (void)t;
    int rc = distinct_add(&r->seen, owner, bytes, len, &r->limits->distinct, &fresh, err);
    *count += !rc && fresh;
    return rc;
}

static int add_to_sketch(const tally *t, sketch *s, const value *v, tally_run *r, error *err)
{
    const sketch_room room = {.memory = &r->sketches, .held = &r->limits->sketches};
    uint64_t before = r->limits->sketches;
    int rc = FENEC_OK;

    if (t->kind != TALLY_COMBINE) {
        r->bytes.len = 0;
        rc = encoding_put(&r->bytes, v, err);
        if (!rc && r->bytes.failed)
            rc = fail_memory(err);
        if (!rc)
            rc = sketch_add(s, encoding_hash(r->bytes.bytes, r->bytes.len), &room, err);
    } else if (v->kind == VALUE_BYTES) {
        rc = sketch_merge(s, v->bytes, v->len, &room, err);
    } else {
        rc = fail(err, FENEC_TYPE, "`hll_combine` takes sketches, which are bytes, not %s",
                  value_kind_name(v));
    }
    r->sketch_bytes += r->limits->sketches - before;
    return rc;
}

static int add_value(const tally *t, void *state, uint64_t owner, tally_run *r, tally_room *room, error *err)
{
    value v;
    int rc = t->e->eval(t->e, &r->s, &v, err);

    if (rc || v.kind == VALUE_NULL)
        return rc;
    switch (t->kind) {
    case TALLY_SUM: return add_to_sum(t, state, &v, err);
    case TALLY_AVG: return add_to_average(t, state, &v, err);
    case TALLY_MIN:
    case TALLY_MAX: return add_extreme(t, state, &v, room, err);
    case TALLY_FIRST:
    case TALLY_LAST: return add_end(t, state, &v, r, room, err);
    case TALLY_DISTINCT:
        r->bytes.len = 0;
        rc = encoding_put_packed(&r->bytes, &v, err);
        if (!rc && r->bytes.failed)
            rc = fail_memory(err);
        return rc ? rc : add_distinct(t, state, owner, r->bytes.bytes, r->bytes.len, r, err);
    case TALLY_APPROX:
    case TALLY_ACCUMULATE:
    case TALLY_COMBINE: return add_to_sketch(t, state, &v, r, err);
    case TALLY_COUNT: break;
    }
    return FENEC_OK;
}

/* ---- from the bytes of a record ---- */

static int add_integer(const tally *t, void *state, int64_t i, error *err)
{
    kept *k = state;
    average *s = state;

    switch (t->kind) {
    case TALLY_SUM: return sum_integer(state, i, err);
    case TALLY_AVG:
        s->sum += (double)i;
        s->count++;
        return FENEC_OK;
    default:
        if (k->v.kind == VALUE_NULL || (t->kind == TALLY_MIN ? i < k->v.integer : i > k->v.integer))
            k->v = t->is_timestamp ? value_timestamp(i) : value_int(i);
        return FENEC_OK;
    }
}

static void add_number(const tally *t, void *state, double f)
{
    kept *k = state;
    average *s = state;

    switch (t->kind) {
    case TALLY_SUM: sum_number(state, f); break;
    case TALLY_AVG:
        s->sum += f;
        s->count++;
        break;
    default:
        if (k->v.kind == VALUE_NULL || (t->kind == TALLY_MIN ? f < k->v.number : f > k->v.number))
            k->v = value_float(f);
    }
}

/* *done false: the field's bytes are of no form that is read here, and nothing was added. */
static int add_slot(const tally *t, void *state, uint64_t owner, tally_run *r, bool *done, error *err)
{
    const uint8_t *slot;
    size_t len;
    int64_t i;
    double f;
    int rc = record_slot(&r->s.row->rec, t->number, &slot, &len, err);

    *done = true;
    if (rc || len == 0)
        return rc;
    switch (t->source) {
    case TALLY_INTEGER:
        if (slot_integer(slot, len, &i))
            return add_integer(t, state, i, err);
        break;
    case TALLY_NUMBER:
        if (slot_double(slot, len, &f)) {
            add_number(t, state, f);
            return FENEC_OK;
        }
        break;
    default:
        if (slot[0] != RECORD_SIDE)
            return add_distinct(t, state, owner, slot, len, r, err);
        break;
    }
    *done = false;
    return FENEC_OK;
}

int tallies_add(const tallies *t, void *states, uint64_t group, tally_run *r, tally_room *room, error *err)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const tally *of = &t->items[i];
        uint8_t *state = (uint8_t *)states + of->at;
        uint64_t owner = group * t->count + i;
        bool done = false;
        int rc = FENEC_OK;

        if (of->source == TALLY_NOTHING) {
            ++*(int64_t *)(void *)state;
            continue;
        }
        if (of->source != TALLY_VALUE)
            rc = add_slot(of, state, owner, r, &done, err);
        if (!rc && !done)
            rc = add_value(of, state, owner, r, room, err);
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

int tally_take(const tally *t, void *states, const value *v, tally_room *room, error *err)
{
    kept *k = (void *)((uint8_t *)states + t->at);

    return keep(k, v, room) ? FENEC_OK : fail_memory(err);
}

/* ---- answers ---- */

static value finite(double f)
{
    return f - f == 0 ? value_float(f) : value_null();
}

void tally_answer(const tally *t, const void *states, value *out)
{
    const void *state = (const uint8_t *)states + t->at;
    const total *sum = state;
    const average *avg = state;
    const sketch *s = state;

    switch (t->kind) {
    case TALLY_COUNT:
    case TALLY_DISTINCT: *out = value_int(*(const int64_t *)state); return;
    case TALLY_SUM:
        *out = sum->kind == TOTAL_NONE      ? value_null()
               : sum->kind == TOTAL_INTEGER ? value_int(sum->integer)
                                            : finite(sum->number);
        return;
    case TALLY_AVG: *out = avg->count ? finite(avg->sum / (double)avg->count) : value_null(); return;
    case TALLY_MIN:
    case TALLY_MAX:
    case TALLY_FIRST:
    case TALLY_LAST: *out = ((const kept *)state)->v; return;
    case TALLY_APPROX: *out = value_int(s->bytes ? sketch_estimate(s->bytes, s->len) : 0); return;
    case TALLY_ACCUMULATE:
    case TALLY_COMBINE:
        *out = s->bytes ? (value){.kind = VALUE_BYTES, .bytes = s->bytes, .len = s->len} : value_null();
        return;
    }
}

/* ---- put aside ---- */

void tallies_pack(const tallies *t, const void *states, buffer *out)
{
    buffer_put(out, states, t->state_len);
    for (uint32_t i = 0; i < t->count; i++) {
        const kept *k = (const void *)((const uint8_t *)states + t->items[i].at);
        for (uint32_t n = kept_count(&t->items[i]); n-- > 0; k++)
            if (borrows(&k->v))
                buffer_put(out, k->v.bytes, k->v.len);
    }
}

int tallies_unpack(const tallies *t, void *states, const uint8_t *bytes, size_t len, tally_room *room,
                   error *err)
{
    const uint8_t *at = bytes + t->state_len, *end = bytes + len;

    if (len < t->state_len)
        return fail(err, FENEC_CORRUPT, "a group that was put aside is damaged");
    memcpy(states, bytes, t->state_len);
    for (uint32_t i = 0; i < t->count; i++) {
        kept *k = (void *)((uint8_t *)states + t->items[i].at);
        for (uint32_t n = kept_count(&t->items[i]); n-- > 0; k++) {
            value v = k->v;
            /* Its memory went when it was put aside. */
            k->bytes = NULL;
            k->cap = 0;
            if (!borrows(&v))
                continue;
            if (v.len > (size_t)(end - at))
                return fail(err, FENEC_CORRUPT, "a group that was put aside is damaged");
            v.bytes = at;
            at += v.len;
            if (!keep(k, &v, room))
                return fail_memory(err);
        }
    }
    return FENEC_OK;
}
