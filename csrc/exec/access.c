#include "exec/access.h"

#include <string.h>

#include "exec/area.h"
#include "exec/index.h"
#include "exec/node.h"
#include "exec/points.h"

#define WHOLE_MAX ((int64_t)1 << 53) /* whole numbers below it are doubles, each its own */

enum {
    KEY_ROOM = 512,
    RANGE_SMALL = 4096,
    AROUND = 3 /* of the points in the box of an area a third at least is in the area, mostly */
};

/* ---- binding: which operands narrow, and through what ---- */

const catalog_index *access_index(const collection *of, const bound *left)
{
    for (uint32_t i = 0; i < of->index_count; i++) {
        const catalog_index *at = &of->indexes[i];
        if (at->state != INDEX_READY || at->field != left->place ||
            at->on.part_count != left->path->part_count)
            continue;
        bool same = true;
        for (uint32_t k = 1; same && k < at->on.part_count; k++) {
            const value *a = &at->on.parts[k], *b = &left->path->parts[k];
            same = a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
        }
        if (same)
            return at;
    }
    return NULL;
}

static bool is_sorted(const catalog_index *index)
{
    return index->spec.kind == INDEX_SORTED;
}

static bool is_hash(const catalog_index *index)
{
    return index->spec.kind == INDEX_HASH || index->spec.kind == INDEX_UNIQUE;
}

bool access_orders(const catalog_index *index)
{
    return is_sorted(index) && index->state == INDEX_READY;
}

static bool condition_of(const collection *of, const bound *n, condition *out)
{
    *out = (condition){.node = n};
    if (n->kind == NODE_EXPIRED) {
        out->kind = CONDITION_EXPIRED;
        out->index = of->fields[of->ttl_field].index;
        return out->index && access_orders(out->index);
    }
    const bound *in_area = area_field(n);
    if (in_area) {
        out->kind = CONDITION_AREA;
        out->index = access_index(of, in_area);
        return out->index != NULL;
    }
    if ((n->kind != NODE_COMPARE && n->kind != NODE_IN) || n->slot == NODE_NO_SLOT)
        return false;
    bool in = n->kind == NODE_IN, equal = n->op == OP_EQ;
    if (!in && n->op == OP_NE)
        return false;
    if (n->left->kind == NODE_ID) {
        out->kind = in ? CONDITION_ID_IN : equal ? CONDITION_ID : CONDITION_ID_RANGE;
        return true;
    }
    if (n->left->kind != NODE_FIELD)
        return false;
    out->index = access_index(of, n->left);
    if (!out->index)
        return false;
    out->kind = in ? CONDITION_IN : equal ? CONDITION_EQUAL : CONDITION_RANGE;
    return out->kind == CONDITION_RANGE ? access_orders(out->index)
                                        : is_sorted(out->index) || is_hash(out->index);
}

int access_bind(const collection *of, const bound *filter, arena *a, access_plan *out, error *err)
{
    bool chain = filter && filter->kind == NODE_AND;
    uint32_t operands = !filter ? 0 : chain ? filter->item_count : 1;

    *out = (access_plan){.of = of, .filter = filter, .operands = operands};
    out->conditions = arena_alloc(a, sizeof *out->conditions * (operands ? operands : 1));
    if (!out->conditions)
        return fail_memory(err);
    for (uint32_t i = 0; i < operands; i++)
        if (condition_of(of, chain ? filter->items[i] : filter, &out->conditions[out->count]))
            out->count++;
    return FENEC_OK;
}

/* ---- bounds ---- */

key_range access_range(const access_bounds *b)
{
    return (key_range){.low = b->low,
                       .high = b->high,
                       .low_len = b->low_len,
                       .high_len = b->high_len,
                       .has_low = b->has_low,
                       .has_high = b->has_high,
                       .above_low = b->above_low,
                       .below_high = b->below_high};
}

static int order_keys(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static void raise_low(access_bounds *b, const uint8_t *key, size_t len, bool above)
{
    if (b->has_low) {
        int order = order_keys(key, len, b->low, b->low_len);
        if (order < 0 || (order == 0 && !above))
            return;
    }
    memcpy(b->low, key, len);
    b->low_len = len;
    b->has_low = true;
    b->above_low = above;
}

static void lower_high(access_bounds *b, const uint8_t *key, size_t len, bool below)
{
    if (b->has_high) {
        int order = order_keys(key, len, b->high, b->high_len);
        if (order > 0 || (order == 0 && !below))
            return;
    }
    memcpy(b->high, key, len);
    b->high_len = len;
    b->has_high = true;
    b->below_high = below;
}

/* The keys that begin as a long one does stand in no order among themselves: a bound takes them all. */
static void raise_low_tied(access_bounds *b, const uint8_t *key)
{
    raise_low(b, key, KEY_EXACT_MAX, false);
}

static void lower_high_tied(access_bounds *b, const uint8_t *key)
{
    uint8_t above[KEY_MAX + 1];

    memcpy(above, key, KEY_EXACT_MAX);
    memset(above + KEY_EXACT_MAX, 0xFF, sizeof above - KEY_EXACT_MAX);
    lower_high(b, above, sizeof above, false);
}

/* No entry of a range is null's: null is neither less nor greater. */
static void leave_null_out(access_bounds *b)
{
    const uint8_t null = KEY_NULL;

    raise_low(b, &null, 1, true);
}

static void take_range(access_bounds *b, compare_op op, const uint8_t *key, size_t len, bool tied)
{
    if (op == OP_GT || op == OP_GE || op == OP_EQ) {
        if (tied && op != OP_EQ)
            raise_low_tied(b, key);
        else
            raise_low(b, key, len, op == OP_GT);
    }
    if (op == OP_LT || op == OP_LE || op == OP_EQ) {
        if (tied && op != OP_EQ)
            lower_high_tied(b, key);
        else
            lower_high(b, key, len, op == OP_LT);
    }
    leave_null_out(b);
}

static key_state key_for(const collection *of, const catalog_index *index, const value *v, buffer *key)
{
    key->len = 0;
    return index_probe(key, of, index, v);
}

/* What a condition compares with. False where it could not be worked out. */
static bool operand(const condition *k, const context *cx, const constant *resolved, value *v, compare_op *op)
{
    if (k->kind == CONDITION_EXPIRED) {
        const collection *of = k->node->of;
        if (cx->now_ms < 0)
            return false;
        *v = value_timestamp(cx->now_ms - of->ttl_ms);
        *op = OP_LE;
        return true;
    }
    const constant *c = resolved ? &resolved[k->node->slot] : NULL;
    if (!c || c->how == HOW_FAILED)
        return false;
    *v = c->v;
    *op = (compare_op)k->node->op;
    return true;
}

/* What a condition leaves of its index; *taken false where it leaves everything. */
static int take(const collection *of, const condition *k, const context *cx, const constant *resolved,
                buffer *key, access_bounds *b, bool *taken, bool *exact, error *err)
{
    value v;
    compare_op op;

    *taken = false;
    if (!operand(k, cx, resolved, &v, &op))
        return FENEC_OK;
    key_state state = key_for(of, k->index, &v, key);
    if (key->failed)
        return buffer_error(key, err);
    if ((state != KEY_EXACT && state != KEY_TIED) || key->len > KEY_MAX)
        return FENEC_OK;
    take_range(b, op, key->bytes, key->len, state == KEY_TIED);
    *taken = true;
    *exact &= state == KEY_EXACT;
    return FENEC_OK;
}

/* Whether a @sorted index holds an entry it cannot place, and so orders nothing. */
static int orders_nothing(const collection *of, const catalog_index *index, conn *c, bool *out, error *err)
{
    static const uint8_t unplaced = KEY_UNPLACED;
    const key_range above = {.low = &unplaced, .low_len = 1, .has_low = true};
    type_kind t = of->fields[index->field].type.kind;
    int64_t n = 0;

    *out = false;
    if (t != TYPE_FLOAT && t != TYPE_JSON)
        return FENEC_OK;
    int rc = entries_count(c, table_index(index->number), &above, 1, &n, err);
    *out = n > 0;
    return rc;
}

/* The bounds all conditions on a @sorted index leave. *taken: how many of them count. */
static int bounds_of(const access_plan *p, const context *cx, const constant *resolved,
                     const catalog_index *index, buffer *key, access_bounds *b, uint32_t *taken, bool *exact,
                     error *err)
{
    *b = (access_bounds){0};
    *taken = 0;
    *exact = true;
    for (uint32_t i = 0; i < p->count; i++) {
        const condition *k = &p->conditions[i];
        bool counts;
        if (k->index != index || k->kind == CONDITION_IN)
            continue;
        int rc = take(p->of, k, cx, resolved, key, b, &counts, exact, err);
        if (rc)
            return rc;
        *taken += counts;
    }
    return FENEC_OK;
}

static bool is_one_key(const access_bounds *b)
{
    return b->has_low && b->has_high && !b->above_low && !b->below_high && b->low_len == b->high_len &&
           !memcmp(b->low, b->high, b->low_len);
}

/* ---- choosing ---- */

typedef enum id_match {
    ID_NONE, /* no id is equal to the value */
    ID_ONE,
    ID_SCAN /* several may be: beyond 2^53 a double stands for many whole numbers */
} id_match;

static id_match id_equal_to(const value *v, int64_t *id)
{
    switch (v->kind) {
    case VALUE_INT: *id = v->integer; return ID_ONE;
    case VALUE_TIMESTAMP: *id = v->integer; return *id > -WHOLE_MAX && *id < WHOLE_MAX ? ID_ONE : ID_SCAN;
    case VALUE_FLOAT:
        if (!(v->number > -(double)WHOLE_MAX && v->number < (double)WHOLE_MAX))
            return ID_SCAN;
        *id = (int64_t)v->number;
        return (double)*id == v->number ? ID_ONE : ID_NONE;
    default: return ID_NONE;
    }
}

static bool list_is_of_ids(const constant *c)
{
    int64_t id;

    for (uint32_t i = 0; i < c->count; i++)
        if (id_equal_to(&c->values[i], &id) == ID_SCAN)
            return false;
    return true;
}

static void narrow_scan(access *a, compare_op op, int64_t v)
{
    int64_t low = op == OP_GT ? (v == INT64_MAX ? INT64_MAX : v + 1) : op == OP_GE ? v : INT64_MIN;
    int64_t high = op == OP_LT ? (v == INT64_MIN ? INT64_MIN : v - 1) : op == OP_LE ? v : INT64_MAX;

    if ((op == OP_GT && v == INT64_MAX) || (op == OP_LT && v == INT64_MIN))
        high = INT64_MIN; /* nothing */
    if (low > a->low)
        a->low = low;
    if (high < a->high)
        a->high = high;
}

/* The id's own conditions: one id, or where the scan starts and ends. */
static void choose_ids(const access_plan *p, const context *cx, const constant *resolved, access *out)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        const condition *k = &p->conditions[i];
        value v;
        compare_op op;
        int64_t id;
        if ((k->kind != CONDITION_ID && k->kind != CONDITION_ID_RANGE) || !operand(k, cx, resolved, &v, &op))
            continue;
        if (k->kind == CONDITION_ID && id_equal_to(&v, &id) == ID_ONE) {
            out->kind = ACCESS_ID;
            out->low = id;
            out->named = 1;
            out->exact = p->operands == 1;
            out->how = "the id index";
            return;
        }
        if (k->kind == CONDITION_ID_RANGE && v.kind == VALUE_INT) {
            narrow_scan(out, op, v.integer);
            taken++;
        }
    }
    out->exact = taken == p->operands;
    for (uint32_t i = 0; i < p->count; i++) {
        const condition *k = &p->conditions[i];
        const constant *c = k->kind == CONDITION_ID_IN && resolved ? &resolved[k->node->slot] : NULL;
        if (!c || c->how == HOW_FAILED || c->count >= out->named || !list_is_of_ids(c))
            continue;
        out->kind = ACCESS_LIST;
        out->list = k;
        out->named = c->count;
        out->exact = p->operands == 1;
        out->how = "the id index";
    }
}

/* ---- entries as ids ---- */

typedef struct id_gathering {
    ids *to;
    int64_t most;
    int code;
    error *err;
} id_gathering;

static bool gather_id(void *to, int64_t id, const uint8_t *key, size_t len)
{
    id_gathering *g = to;

    (void)key, (void)len;
    g->code = ids_add(g->to, id, g->err);
    return !g->code && (int64_t)g->to->count < g->most;
}

/* The ids of a part of an index, up to so many. Inside SQLite's step, which takes the first key that is in and the
 * first that is not. */
static int gather_entries(const catalog_index *index, const access_bounds *b, int64_t most, conn *c, ids *out,
                          error *err)
{
    uint8_t low[KEY_MAX + 2] = {0}, high[KEY_MAX + 2];
    size_t low_len = 0, high_len = sizeof high;
    id_gathering g = {.to = out, .most = most, .err = err};

    if (b->has_low) {
        memcpy(low, b->low, b->low_len);
        low_len = b->low_len + b->above_low; /* the next key is that and a byte of 0 */
    }
    memset(high, 0xFF, sizeof high);
    if (b->has_high) {
        memcpy(high, b->high, b->high_len);
        high[b->high_len] = 0;
        high_len = b->high_len + !b->below_high;
    }
    int rc = entries_scan(c, table_index(index->number), low, low_len, high, high_len, false, gather_id, &g,
                          err);
    return g.code ? g.code : rc == FN_END ? FENEC_OK : rc;
}

/* ---- choosing an index ---- */

typedef struct chooser {
    const access_plan *p;
    const context *cx;
    const constant *resolved;
    int64_t half; /* of the collection, at most: ids may have gaps; where `few`, what is of use */
    bool few;
    buffer *key;
} chooser;

/* Entries of the bounds, counted no further than it takes to see that something else is cheaper. */
static int count_bounds(const chooser *w, const catalog_index *index, const access_bounds *b, int64_t best,
                        int64_t *n, error *err)
{
    const key_range range = access_range(b);
    int64_t stop = best < w->half ? best : w->half;

    return entries_count(w->cx->c, table_index(index->number), &range, stop, n, err);
}

/* Where ids have large gaps the highest id says nothing about the number of rows; the index, which holds
 * every row, does. */
static int covers_half(const chooser *w, const catalog_index *index, int64_t named, bool *out, error *err)
{
    const key_range all = {0};
    int64_t n;

    *out = false;
    if (named < RANGE_SMALL || !is_sorted(index))
        return FENEC_OK;
    int rc = entries_count(w->cx->c, table_index(index->number), &all, 2 * named, &n, err);
    *out = n < 2 * named;
    return rc;
}

/* Where few rows are of use, they are listed as they are counted. */
static int choose_listed(const chooser *w, const catalog_index *index, const access_bounds *b, bool exact, access *out,
                         error *err)
{
    const int64_t best = out->named < w->half ? out->named : w->half;
    ids l = {0};
    int rc = best > 0 ? gather_entries(index, b, best, w->cx->c, &l, err) : FENEC_OK;

    if (!rc && (int64_t)l.count < best)
        rc = ids_order(&l, err);
    if (rc || (int64_t)l.count >= best) {
        ids_clear(&l);
        return rc;
    }
    access_clear(out);
    out->kind = ACCESS_LIST;
    out->list = NULL;
    out->index = index;
    out->is_made = true;
    out->rows = l;
    out->named = (int64_t)l.count;
    out->exact = exact;
    out->how = is_sorted(index) ? "an ordered index" : "a hash index";
    return FENEC_OK;
}

static int choose_bounds(const chooser *w, const catalog_index *index, const access_bounds *b, uint32_t taken,
                         bool exact, access *out, error *err)
{
    if (w->few)
        return choose_listed(w, index, b, exact && taken == w->p->operands, out, err);
    bool one = is_one_key(b), half = false;
    int64_t n = 1;
    int rc;

    if (!(one && exact && index->spec.kind == INDEX_UNIQUE)) {
        rc = count_bounds(w, index, b, out->named, &n, err);
        if (rc || n >= out->named || n >= w->half)
            return rc;
        rc = covers_half(w, index, n, &half, err);
        if (rc || half)
            return rc;
    } else if (n >= out->named) {
        return FENEC_OK;
    }
    out->kind = one ? ACCESS_KEY : ACCESS_RANGE;
    out->index = index;
    out->bounds = *b;
    out->named = n;
    out->exact = exact && taken == w->p->operands;
    out->how = is_sorted(index) ? "an ordered index" : "a hash index";
    return FENEC_OK;
}

static int choose_equal(const chooser *w, const condition *k, access *out, error *err)
{
    access_bounds b = {0};
    bool taken, exact = true;
    int rc = take(w->p->of, k, w->cx, w->resolved, w->key, &b, &taken, &exact, err);

    if (rc || !taken)
        return rc;
    return choose_bounds(w, k->index, &b, 1, exact, out, err);
}

static int choose_sorted(const chooser *w, const catalog_index *index, access *out, error *err)
{
    access_bounds b;
    uint32_t taken;
    bool exact, nothing;
    int rc = bounds_of(w->p, w->cx, w->resolved, index, w->key, &b, &taken, &exact, err);

    if (rc || !taken)
        return rc;
    rc = orders_nothing(w->p->of, index, w->cx->c, &nothing, err);
    if (rc || nothing)
        return rc;
    return choose_bounds(w, index, &b, taken, exact, out, err);
}

/* How many entries the keys of a list have; *all false where a value has no key. */
static int count_list(const chooser *w, const condition *k, int64_t best, bool *all, int64_t *n, error *err)
{
    const constant *c = w->resolved ? &w->resolved[k->node->slot] : NULL;

    *n = 0;
    *all = c && c->how != HOW_FAILED && !c->has_null;
    for (uint32_t i = 0; *all && i < c->count && *n < best; i++) {
        key_state state = key_for(w->p->of, k->index, &c->values[i], w->key);
        const key_range one = {.low = w->key->bytes, .high = w->key->bytes, .low_len = w->key->len,
                               .high_len = w->key->len, .has_low = true, .has_high = true};
        int64_t entries;
        if (w->key->failed)
            return buffer_error(w->key, err);
        if (state != KEY_EXACT && state != KEY_TIED) {
            *all = false;
            break;
        }
        int rc = entries_count(w->cx->c, table_index(k->index->number), &one, best - *n, &entries, err);
        if (rc)
            return rc;
        *n += entries;
    }
    return FENEC_OK;
}

static int choose_list(const chooser *w, const condition *k, access *out, error *err)
{
    int64_t best = out->named < w->half ? out->named : w->half, n;
    bool all, nothing = false;
    int rc = is_sorted(k->index) ? orders_nothing(w->p->of, k->index, w->cx->c, &nothing, err) : FENEC_OK;

    if (rc || nothing)
        return rc;
    rc = count_list(w, k, best, &all, &n, err);
    if (rc || !all || n >= best)
        return rc;
    out->kind = ACCESS_LIST;
    out->list = k;
    out->index = k->index;
    out->named = n;
    out->exact = false;
    out->how = is_sorted(k->index) ? "an ordered index through in" : "a hash index through in";
    return FENEC_OK;
}

/* The points of an area: listed, or counted where there is no list. */
typedef struct gathering {
    const area *within;
    ids *list;
    int64_t found, looked, most, patience;
    int code;
    error *err;
} gathering;

static bool gather(void *to, int64_t id, const double p[2])
{
    gathering *g = to;

    if (g->looked++ >= g->patience)
        return false;
    if (!area_holds(g->within, p))
        return true;
    if (g->list)
        g->code = ids_add(g->list, id, g->err);
    return !g->code && ++g->found < g->most;
}

static int gather_area(gathering *g, const catalog_index *index, conn *c, error *err)
{
    g->err = err;
    int rc = points_within(c, index, g->within->box, gather, g, err);
    return g->code ? g->code : rc;
}

/* What counting would cost, finding does too: the list is made at once. */
static int choose_area(const chooser *w, const condition *k, access *out, error *err)
{
    int64_t best = out->named < w->half ? out->named : w->half;
    ids l = {0};
    area within;
    gathering g = {.within = &within,
                   .list = &l,
                   .most = best,
                   .patience = best < INT64_MAX / AROUND ? best * AROUND : INT64_MAX};

    if (!area_resolve(k->node, w->cx, w->resolved, &within))
        return FENEC_OK;
    int rc = gather_area(&g, k->index, w->cx->c, err);
    bool all = !rc && g.found < g.most && g.looked <= g.patience;
    if (all)
        rc = ids_order(&l, err);
    if (rc || !all) {
        ids_clear(&l);
        return rc;
    }
    access_clear(out);
    out->kind = ACCESS_LIST;
    out->list = k;
    out->index = k->index;
    out->is_made = true;
    out->rows = l;
    out->named = (int64_t)l.count;
    out->exact = w->p->operands == 1;
    out->how = "a point index";
    return FENEC_OK;
}

static bool seen_before(const access_plan *p, uint32_t place)
{
    for (uint32_t i = 0; i < place; i++)
        if (p->conditions[i].index == p->conditions[place].index && p->conditions[i].kind != CONDITION_IN)
            return true;
    return false;
}

static int choose_indexes(const chooser *w, access *out, error *err)
{
    const access_plan *p = w->p;
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && out->named > 1 && i < p->count; i++) {
        const condition *k = &p->conditions[i];
        if (k->kind == CONDITION_EQUAL && is_hash(k->index))
            rc = choose_equal(w, k, out, err);
        else if (k->index && is_sorted(k->index) && k->kind != CONDITION_IN && !seen_before(p, i))
            rc = choose_sorted(w, k->index, out, err);
        else if (k->kind == CONDITION_IN)
            rc = choose_list(w, k, out, err);
    }
    for (uint32_t i = 0; !rc && out->named > 1 && i < p->count; i++)
        if (p->conditions[i].kind == CONDITION_AREA)
            rc = choose_area(w, &p->conditions[i], out, err);
    return rc;
}

static int choose(const access_plan *p, const context *cx, const constant *resolved, int64_t page, int64_t most,
                  access *out, error *err)
{
    int64_t last = 0;
    buffer key;

    *out = (access){.kind = ACCESS_SCAN, .low = INT64_MIN, .high = INT64_MAX, .named = INT64_MAX};
    out->exact = p->operands == 0;
    if (p->count == 0)
        return FENEC_OK;
    choose_ids(p, cx, resolved, out);
    bool has_index = false;
    for (uint32_t i = 0; i < p->count; i++)
        has_index |= p->conditions[i].index != NULL;
    if (out->kind == ACCESS_ID || !has_index)
        return FENEC_OK;

    int rc = rows_last_id(cx->c, table_records(p->of->number), &last, err);
    if (rc)
        return rc;
    const access scan = *out;
    const bool few = most < last / 2 + 1;
    const chooser w = {.p = p, .cx = cx, .resolved = resolved, .half = few ? most : last / 2 + 1, .few = few, .key = &key};
    buffer_init(&key);
    rc = buffer_reserve(&key, KEY_ROOM) ? choose_indexes(&w, out, err) : fail_memory(err);
    buffer_clear(&key);
    /* A page that a scan fills soon is cheaper than collecting what an index names: rows that pass are
     * taken to lie evenly, so the scan tests `page * last / named` of them. */
    if (!rc && page < INT64_MAX && scan.kind == ACCESS_SCAN &&
        (out->kind == ACCESS_RANGE || out->kind == ACCESS_LIST) &&
        (double)page * (double)last < (double)out->named * (double)out->named) {
        access_clear(out);
        *out = scan;
    }
    if (rc)
        access_clear(out);
    return rc;
}

int access_choose(const access_plan *p, const context *cx, const constant *resolved, int64_t page, access *out,
                  error *err)
{
    return choose(p, cx, resolved, page, INT64_MAX, out, err);
}

int access_choose_few(const access_plan *p, const context *cx, const constant *resolved, int64_t most, access *out,
                      error *err)
{
    return choose(p, cx, resolved, INT64_MAX, most, out, err);
}

/* The rows of an area counted by their keys. */
static int count_area(const access_plan *p, const context *cx, const constant *resolved, bool *counts, int64_t *out,
                      error *err)
{
    area within;
    gathering g = {.within = &within, .most = INT64_MAX, .patience = INT64_MAX};

    *counts = area_resolve(p->conditions[0].node, cx, resolved, &within);
    if (!*counts)
        return FENEC_OK;
    int rc = gather_area(&g, p->conditions[0].index, cx->c, err);
    *out = g.found;
    return rc;
}

int access_count(const access_plan *p, const context *cx, const constant *resolved, bool *counts, int64_t *out,
                 error *err)
{
    const catalog_index *index = p->count ? p->conditions[0].index : NULL;
    access_bounds b = {0};
    uint32_t taken;
    bool exact, nothing = false;
    buffer key;

    *counts = false;
    if (p->count == 0 || p->count != p->operands || !index || (is_hash(index) && p->count > 1))
        return FENEC_OK;
    if (p->conditions[0].kind == CONDITION_AREA)
        return p->count == 1 ? count_area(p, cx, resolved, counts, out, err) : FENEC_OK;
    buffer_init(&key);
    int rc = buffer_reserve(&key, KEY_ROOM)
                 ? bounds_of(p, cx, resolved, index, &key, &b, &taken, &exact, err)
                 : fail_memory(err);
    buffer_clear(&key);
    if (rc || taken != p->operands || !exact)
        return rc;
    if (is_sorted(index))
        rc = orders_nothing(p->of, index, cx->c, &nothing, err);
    if (rc || nothing)
        return rc;
    const key_range range = access_range(&b);
    *counts = true;
    return entries_count(cx->c, table_index(index->number), &range, INT64_MAX, out, err);
}

int access_walk(const access_plan *p, const context *cx, const constant *resolved, const catalog_index *index,
                access_bounds *out, bool *exact, bool *usable, error *err)
{
    uint32_t taken;
    bool nothing;
    buffer key;
    int rc = orders_nothing(p->of, index, cx->c, &nothing, err);

    *usable = !nothing;
    if (rc || nothing)
        return rc;
    buffer_init(&key);
    rc = buffer_reserve(&key, KEY_ROOM) ? bounds_of(p, cx, resolved, index, &key, out, &taken, exact, err)
                                        : fail_memory(err);
    buffer_clear(&key);
    if (!rc)
        *exact = *exact && taken == p->operands;
    return rc;
}

void access_clear(access *a)
{
    if (!a->is_lent)
        ids_clear(&a->rows);
    a->is_made = false;
}

/* ---- rows ---- */

static int list_entries(ids *l, conn *c, const catalog_index *index, const key_range *range, error *err)
{
    cursor cur = {0};
    const uint8_t *key;
    size_t len;
    int64_t id;
    int rc = cursor_entries(&cur, c, table_index(index->number), range, false, err);

    while (!rc && (rc = cursor_next_entry(&cur, &id, &key, &len, err)) == FENEC_OK)
        rc = ids_add(l, id, err);
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

static int list_in(ids *l, const collection *of, const condition *k, conn *c, const constant *values,
                   error *err)
{
    buffer key;
    int rc = FENEC_OK;

    buffer_init(&key);
    for (uint32_t i = 0; !rc && i < values->count; i++) {
        key_for(of, k->index, &values->values[i], &key);
        const key_range one = {.low = key.bytes, .high = key.bytes, .low_len = key.len, .high_len = key.len,
                               .has_low = true, .has_high = true};
        rc = key.failed ? buffer_error(&key, err) : list_entries(l, c, k->index, &one, err);
    }
    buffer_clear(&key);
    return rc;
}

/* Turns what names rows out of order into ascending ids. */
static int make_list(access *a, const collection *of, const context *cx, const constant *resolved, error *err)
{
    ids l = {0};
    int rc = FENEC_OK;

    if (a->kind == ACCESS_RANGE) {
        const key_range range = access_range(&a->bounds);
        rc = list_entries(&l, cx->c, a->index, &range, err);
    } else if (a->list->kind == CONDITION_ID_IN) {
        const constant *c = &resolved[a->list->node->slot];
        for (uint32_t i = 0; !rc && i < c->count; i++) {
            int64_t id;
            if (id_equal_to(&c->values[i], &id) == ID_ONE)
                rc = ids_add(&l, id, err);
        }
    } else {
        rc = list_in(&l, of, a->list, cx->c, &resolved[a->list->node->slot], err);
    }
    if (!rc)
        rc = ids_order(&l, err);
    if (rc) {
        ids_clear(&l);
        return rc;
    }
    a->kind = ACCESS_LIST;
    a->is_made = true;
    a->rows = l;
    return FENEC_OK;
}

int access_open(access_rows *rows, access *from, const collection *of, const context *cx,
                const constant *resolved, bool descending, error *err)
{
    int rc = FENEC_OK;

    *rows = (access_rows){.from = from, .of = of, .c = cx->c};
    if (from->kind == ACCESS_SCAN)
        return cursor_rows(&rows->cur, cx->c, table_records(of->number), from->low, from->high, descending, err);
    if (from->kind == ACCESS_KEY) {
        const key_range range = access_range(&from->bounds);
        return cursor_entries(&rows->cur, cx->c, table_index(from->index->number), &range, false, err);
    }
    if (from->kind != ACCESS_ID && !from->is_made)
        rc = make_list(from, of, cx, resolved, err);
    return rc;
}

int access_row(const collection *of, conn *c, int64_t id, row *r, error *err)
{
    int rc = row_find(r, c, of->number, id, err);

    if (rc == FN_END)
        return fail(err, FENEC_CORRUPT, "an index of `%s` names row %lld, which is not there", of->name,
                    (long long)id);
    return rc;
}

int access_next(access_rows *rows, row *r, error *err)
{
    const uint8_t *bytes;
    size_t len;
    int64_t id;
    int rc;

    switch (rows->from->kind) {
    case ACCESS_SCAN:
        rc = cursor_next_row(&rows->cur, &id, &bytes, &len, err);
        return rc ? rc : row_open(r, rows->c, rows->of->number, id, bytes, len, err);
    case ACCESS_ID:
        if (rows->done)
            return FN_END;
        rows->done = true;
        return row_find(r, rows->c, rows->of->number, rows->from->low, err);
    case ACCESS_KEY:
        rc = cursor_next_entry(&rows->cur, &id, &bytes, &len, err);
        return rc ? rc : access_row(rows->of, rows->c, id, r, err);
    default:
        /* Ids of a list written in a text need not be there. */
        while (rows->at < rows->from->rows.count) {
            id = rows->from->rows.at[rows->at++];
            rc = rows->from->index ? access_row(rows->of, rows->c, id, r, err)
                                   : row_find(r, rows->c, rows->of->number, id, err);
            if (rc != FN_END)
                return rc;
        }
        return FN_END;
    }
}

void access_close(access_rows *rows)
{
    cursor_close(&rows->cur);
}

/* ---- ids alone ---- */

int access_ids(access *from, const collection *of, const context *cx, const constant *resolved, ids *out, error *err)
{
    int rc = FENEC_OK;

    if (from->kind == ACCESS_ID)
        return ids_add(out, from->low, err);
    if (from->kind == ACCESS_KEY || from->kind == ACCESS_RANGE)
        return gather_entries(from->index, &from->bounds, INT64_MAX, cx->c, out, err);
    if (!from->is_made)
        rc = make_list(from, of, cx, resolved, err);
    return rc ? rc : ids_append(out, &from->rows, err);
}
