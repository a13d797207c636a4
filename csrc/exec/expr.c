#include "exec/expr.h"

#include <string.h>

#include "catalog/catalog.h"
#include "exec/node.h"
#include "exec/subquery.h"
#include "value/value.h"

/* ---- working out ---- */

int expr_eval(const bound *e, const scope *s, value *out, error *err)
{
    return e->eval(e, s, out, err);
}

int expr_test(const bound *e, const scope *s, bool *truth, error *err)
{
    return e->test(e, s, truth, err);
}

/* test of a node that is no condition by itself */
static int test_value(const bound *e, const scope *s, bool *truth, error *err)
{
    value v;
    int rc = e->eval(e, s, &v, err);

    if (!rc)
        *truth = value_truth(&v);
    return rc;
}

/* eval of a node that is one */
static int eval_test(const bound *e, const scope *s, value *out, error *err)
{
    bool truth;
    int rc = e->test(e, s, &truth, err);

    if (!rc)
        *out = value_bool(truth);
    return rc;
}

static int eval_literal(const bound *e, const scope *s, value *out, error *err)
{
    (void)s, (void)err;
    *out = e->literal;
    return FENEC_OK;
}

static int eval_param(const bound *e, const scope *s, value *out, error *err)
{
    return context_param(s->cx, e->place, out, err);
}

static int eval_failure(const bound *e, const scope *s, value *out, error *err)
{
    (void)s, (void)out;
    return fail(err, e->code, "%.*s", (int)e->literal.len, (const char *)e->literal.bytes);
}

static int no_row(const bound *e, error *err)
{
    return fail(err, FENEC_QUERY, "`%s` cannot be read here: there is no row", e->path ? e->path->text : "id");
}

static int eval_id(const bound *e, const scope *s, value *out, error *err)
{
    if (!s->row)
        return no_row(e, err);
    *out = value_int(s->row->id);
    return FENEC_OK;
}

static int eval_field(const bound *e, const scope *s, value *out, error *err)
{
    if (!s->row)
        return no_row(e, err);
    return row_field(s->row, e->field->number, s->memory, out, err);
}

static int eval_path(const bound *e, const scope *s, value *out, error *err)
{
    value whole;

    if (!s->row)
        return no_row(e, err);
    int rc = row_field(s->row, e->field->number, s->memory, &whole, err);
    if (!rc)
        *out = path_follow(e->path, whole);
    return rc;
}

static int eval_fresh(const bound *e, const scope *s, value *out, error *err)
{
    (void)err;
    *out = s->fresh ? path_follow(e->path, s->fresh[e->place]) : value_null();
    return FENEC_OK;
}

static int eval_fresh_id(const bound *e, const scope *s, value *out, error *err)
{
    (void)e, (void)err;
    *out = s->fresh_id;
    return FENEC_OK;
}

static int test_and(const bound *e, const scope *s, bool *truth, error *err)
{
    for (uint32_t i = 0; i < e->item_count; i++) {
        int rc = e->items[i]->test(e->items[i], s, truth, err);
        if (rc || !*truth)
            return rc;
    }
    return FENEC_OK;
}

static int test_or(const bound *e, const scope *s, bool *truth, error *err)
{
    for (uint32_t i = 0; i < e->item_count; i++) {
        int rc = e->items[i]->test(e->items[i], s, truth, err);
        if (rc || *truth)
            return rc;
    }
    return FENEC_OK;
}

static int test_not(const bound *e, const scope *s, bool *truth, error *err)
{
    int rc = e->left->test(e->left, s, truth, err);

    if (!rc)
        *truth = !*truth;
    return rc;
}

static int test_is_null(const bound *e, const scope *s, bool *truth, error *err)
{
    value v;
    int rc = e->left->eval(e->left, s, &v, err);

    if (!rc)
        *truth = v.kind == VALUE_NULL;
    return rc;
}

static int test_field_is_null(const bound *e, const scope *s, bool *truth, error *err)
{
    const uint8_t *slot;
    size_t len;

    if (!s->row)
        return no_row(e->left, err);
    int rc = record_slot(&s->row->rec, e->left->field->number, &slot, &len, err);
    if (!rc)
        *truth = len == 0;
    return rc;
}

static int eval_case(const bound *e, const scope *s, value *out, error *err)
{
    uint32_t i;

    for (i = 0; i + 1 < e->item_count; i += 2) {
        bool truth;
        int rc = e->items[i]->test(e->items[i], s, &truth, err);
        if (rc)
            return rc;
        if (truth)
            return e->items[i + 1]->eval(e->items[i + 1], s, out, err);
    }
    if (i < e->item_count)
        return e->items[i]->eval(e->items[i], s, out, err);
    *out = value_null();
    return FENEC_OK;
}

static int test_expired(const bound *e, const scope *s, bool *truth, error *err)
{
    if (!s->row)
        return fail(err, FENEC_QUERY, "expired() is a condition on a row");
    return row_expired(e->of, s->row, s->cx->now_ms, s->memory, truth, err);
}

static int test_live(const bound *e, const scope *s, bool *truth, error *err)
{
    int rc = test_expired(e, s, truth, err);

    if (!rc)
        *truth = !*truth;
    return rc;
}

int row_expired(const collection *of, const row *r, int64_t now_ms, arena *a, bool *out, error *err)
{
    value at;

    *out = false;
    if (of->ttl_field < 0)
        return FENEC_OK;
    int rc = row_field(r, of->fields[of->ttl_field].number, a, &at, err);
    if (rc)
        return rc;
    /* now - ttl, kept from wrapping: a clock before 1970 and a duration of 63 bits are both taken. */
    int64_t limit = now_ms >= 0 || of->ttl_ms < INT64_MAX + now_ms ? now_ms - of->ttl_ms : INT64_MIN;
    *out = at.kind == VALUE_TIMESTAMP && at.integer <= limit;
    return FENEC_OK;
}

/* ---- arithmetic ---- */

static int wrong_types(uint8_t op, const value *a, const value *b, error *err)
{
    static const char signs[] = "+-*/";

    return fail(err, FENEC_TYPE, "`%c` does not take %s and %s", signs[op], value_kind_name(a),
                value_kind_name(b));
}

static int too_large(uint8_t op, const value *a, const value *b, error *err)
{
    static const char signs[] = "+-*/";
    char left[VALUE_QUOTE_MAX], right[VALUE_QUOTE_MAX];

    return fail(err, FENEC_QUERY, "the result of %s %c %s is too large", value_quote(left, a), signs[op],
                value_quote(right, b));
}

static int by_zero(const value *a, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    return fail(err, FENEC_QUERY, "%s is divided by zero", value_quote(quoted, a));
}

static int integers(uint8_t op, const value *a, const value *b, int64_t *out, error *err)
{
    bool over;

    switch (op) {
    case OP_ADD: over = __builtin_add_overflow(a->integer, b->integer, out); break;
    case OP_SUB: over = __builtin_sub_overflow(a->integer, b->integer, out); break;
    case OP_MUL: over = __builtin_mul_overflow(a->integer, b->integer, out); break;
    default:
        if (b->integer == 0)
            return by_zero(a, err);
        over = a->integer == INT64_MIN && b->integer == -1;
        if (!over)
            *out = a->integer / b->integer;
        break;
    }
    return over ? too_large(op, a, b, err) : FENEC_OK;
}

static int floats(uint8_t op, const value *a, const value *b, double *out, error *err)
{
    double x = a->kind == VALUE_FLOAT ? a->number : (double)a->integer;
    double y = b->kind == VALUE_FLOAT ? b->number : (double)b->integer;

    switch (op) {
    case OP_ADD: *out = x + y; break;
    case OP_SUB: *out = x - y; break;
    case OP_MUL: *out = x * y; break;
    default:
        if (y == 0)
            return by_zero(a, err);
        *out = x / y;
        break;
    }
    /* A number that is not finite may have come from a vector; arithmetic makes none. */
    return *out - *out != 0 ? too_large(op, a, b, err) : FENEC_OK;
}

static int join(const value *a, const value *b, const scope *s, value *out, error *err)
{
    uint8_t *bytes = a->len <= SIZE_MAX / 2 - b->len ? arena_alloc(s->memory, a->len + b->len) : NULL;

    if (!bytes)
        return fail_memory(err);
    if (a->len)
        memcpy(bytes, a->bytes, a->len);
    if (b->len)
        memcpy(bytes + a->len, b->bytes, b->len);
    *out = value_text(bytes, a->len + b->len);
    return FENEC_OK;
}

/* *a becomes a op b. */
static int combine(uint8_t op, value *a, const value *b, const scope *s, error *err)
{
    value_kind l = a->kind, r = b->kind;
    int64_t i;
    double f = 0;
    int rc;

    if (l == VALUE_NULL || r == VALUE_NULL) {
        *a = value_null();
        return FENEC_OK;
    }
    if (l == VALUE_INT && r == VALUE_INT) {
        rc = integers(op, a, b, &i, err);
        if (!rc)
            *a = value_int(i);
        return rc;
    }
    if ((l == VALUE_INT || l == VALUE_FLOAT) && (r == VALUE_INT || r == VALUE_FLOAT)) {
        rc = floats(op, a, b, &f, err);
        if (!rc)
            *a = value_float(f);
        return rc;
    }
    if ((l == VALUE_TIMESTAMP && r == VALUE_INT && (op == OP_ADD || op == OP_SUB)) ||
        (l == VALUE_INT && r == VALUE_TIMESTAMP && op == OP_ADD)) {
        rc = integers(op, a, b, &i, err);
        if (!rc)
            *a = value_timestamp(i);
        return rc;
    }
    if (l == VALUE_TIMESTAMP && r == VALUE_TIMESTAMP && op == OP_SUB) {
        rc = integers(op, a, b, &i, err);
        if (!rc)
            *a = value_int(i);
        return rc;
    }
    if (l == VALUE_TEXT && r == VALUE_TEXT && op == OP_ADD)
        return join(a, b, s, a, err);
    return wrong_types(op, a, b, err);
}

static int eval_arith(const bound *e, const scope *s, value *out, error *err)
{
    value right;
    int rc = e->items[0]->eval(e->items[0], s, out, err);

    for (uint32_t i = 1; !rc && i < e->item_count; i++) {
        rc = e->items[i]->eval(e->items[i], s, &right, err);
        if (!rc)
            rc = combine(e->ops[i], out, &right, s, err);
    }
    return rc;
}

/* ---- binding ---- */

typedef struct binder {
    const binding *b;
    arena *a;
    error *err;
} binder;

static int bind_node(const binder *w, const expr *e, const bound **out);

static bound *node_new(const binder *w, node_kind kind)
{
    bound *n = arena_zeroed(w->a, sizeof *n);

    if (n) {
        n->kind = kind;
        n->slot = NODE_NO_SLOT;
        n->test = test_value;
    }
    return n;
}

/* A node that raises w->err when it is worked out. */
static int bind_failure(const binder *w, bound *n)
{
    size_t len = strlen(w->err->message);
    const char *text = arena_copy(w->a, w->err->message, len);

    if (!text)
        return fail_memory(w->err);
    n->kind = NODE_FAILS;
    n->eval = eval_failure;
    n->code = w->err->code;
    n->literal = value_text(text, len);
    error_init(w->err);
    return FENEC_OK;
}

static int bind_name(const binder *w, const path *p, const collection *of, bool fresh, bound *n)
{
    int32_t place;
    int rc = collection_resolve(of, p, &place, w->err);

    n->path = p;
    n->reads_row = !fresh;
    if (rc == FENEC_NOT_FOUND || rc == FENEC_TYPE) {
        n->reads_row = true;
        return w->b->place == BIND_LIST ? rc : bind_failure(w, n);
    }
    if (rc)
        return rc;
    if (place < 0) {
        n->kind = NODE_ID;
        n->eval = fresh ? eval_fresh_id : eval_id;
        return FENEC_OK;
    }
    n->kind = fresh ? NODE_FRESH : NODE_FIELD;
    n->place = (uint32_t)place;
    n->field = &of->fields[place];
    n->eval = fresh ? eval_fresh : p->part_count > 1 ? eval_path : eval_field;
    return FENEC_OK;
}

static int bind_field(const binder *w, const expr *e, bound *n)
{
    const path *p = &e->field;

    if (w->b->fresh && p->part_count > 1 && p->parts[0].len == 3 && !memcmp(p->parts[0].bytes, "new", 3)) {
        path *rest = arena_alloc(w->a, sizeof *rest);
        if (!rest)
            return fail_memory(w->err);
        *rest = (path){.text = p->text + 4,
                       .text_len = p->text_len - 4,
                       .part_count = p->part_count - 1,
                       .parts = p->parts + 1};
        n->reads_row = true; /* of the document, which differs from row to row */
        int rc = bind_name(w, rest, w->b->fresh, true, n);
        n->reads_row = true;
        return rc;
    }
    if (!w->b->of) {
        fail(w->err, FENEC_QUERY, "`%s` cannot be read here: there is no row", p->text);
        n->reads_row = true;
        return bind_failure(w, n);
    }
    return bind_name(w, p, w->b->of, false, n);
}

static int bind_items(const binder *w, expr *const *from, uint32_t count, bound *n)
{
    n->items = arena_alloc(w->a, sizeof *n->items * (count ? count : 1));
    if (!n->items)
        return fail_memory(w->err);
    n->item_count = count;
    for (uint32_t i = 0; i < count; i++) {
        int rc = bind_node(w, from[i], &n->items[i]);
        if (rc)
            return rc;
        n->reads_row |= n->items[i]->reads_row;
    }
    return FENEC_OK;
}

/* Chains lean to the left and may be as long as the text: they become one node of many items, their left
 * side walked in a loop. */
static int bind_chain(const binder *w, const expr *e, bound *n)
{
    expr_kind kind = e->kind;
    uint32_t count = 1;

    for (const expr *at = e; at->kind == kind; at = at->left)
        count++;
    n->items = arena_alloc(w->a, sizeof *n->items * count);
    n->ops = kind == EXPR_ARITH ? arena_zeroed(w->a, count) : NULL;
    if (!n->items || (kind == EXPR_ARITH && !n->ops))
        return fail_memory(w->err);
    n->item_count = count;
    const expr *at = e;
    for (uint32_t i = count - 1; i > 0; i--, at = at->left) {
        if (n->ops)
            n->ops[i] = (uint8_t)at->arith;
        int rc = bind_node(w, at->right, &n->items[i]);
        if (rc)
            return rc;
        n->reads_row |= n->items[i]->reads_row;
    }
    int rc = bind_node(w, at, &n->items[0]);
    if (!rc)
        n->reads_row |= n->items[0]->reads_row;
    return rc;
}

static int bind_expired(const binder *w, const expr *e, bound *n)
{
    n->reads_row = true;
    if (w->b->place != BIND_FILTER) {
        fail(w->err, FENEC_QUERY, "expired() stands in filters only");
        return bind_failure(w, n);
    }
    if (w->b->of->ttl_field < 0)
        return fail(w->err, FENEC_QUERY, "expired() needs a field with @ttl, and `%s` has none",
                    w->b->of->name);
    if (e->item_count) {
        fail(w->err, FENEC_QUERY, "expired() takes no argument");
        return bind_failure(w, n);
    }
    n->kind = NODE_EXPIRED;
    n->of = w->b->of;
    n->eval = eval_test;
    n->test = test_expired;
    return FENEC_OK;
}

/* Whether a function exists and its arguments are the right number is judged when it is worked out. */
static int bind_call(const binder *w, const expr *e, bound *n)
{
    if (!strcmp(e->name, "expired"))
        return bind_expired(w, e, n);
    int rc = bind_items(w, e->items, e->item_count, n);
    if (rc)
        return rc;
    if (!strcmp(e->name, "case")) {
        n->kind = NODE_CASE;
        n->eval = eval_case;
        return FENEC_OK;
    }
    n->function = function_find(e->name);
    if (!n->function)
        fail(w->err, FENEC_QUERY, "there is no function `%s` here", e->name);
    else if (!function_takes(n->function, e->item_count))
        fail(w->err, FENEC_QUERY, "`%s` does not take %u arguments", e->name, (unsigned)e->item_count);
    else {
        n->eval = function_call;
        return FENEC_OK;
    }
    return bind_failure(w, n);
}

/* The static checks leave inner reads to filters. */
static int bind_inner(const binder *w, const expr *e, bound *n)
{
    subquery *inner;

    if (!w->b->cat || !w->b->once)
        return fail(w->err, FENEC_QUERY, "in (get ...) stands in filters only");
    int rc = subquery_bind(e->select, w->b->cat, w->a, &inner, w->err);
    n->subquery = inner;
    return rc;
}

/* Fills in what compare.c works with, and lists the node where it wants something worked out once. */
static int bind_condition(const binder *w, const expr *e, bound *n)
{
    bool once = false;
    int rc = bind_node(w, e->left, &n->left);

    if (!rc && e->right)
        rc = bind_node(w, e->right, &n->right);
    if (!rc && e->kind == EXPR_IN)
        rc = bind_items(w, e->items, e->item_count, n);
    if (!rc && e->kind == EXPR_IN_SELECT)
        rc = bind_inner(w, e, n);
    if (rc)
        return rc;
    n->reads_row |= n->left->reads_row || (n->right && n->right->reads_row);
    n->op = (uint8_t)e->compare;
    n->eval = eval_test;
    rc = compare_shape(n, w->b, &once, w->err);
    if (rc || !once || !w->b->once)
        return rc;
    constants *list = w->b->once;
    if (list->count == list->cap) {
        uint32_t cap = list->cap ? list->cap * 2 : 8;
        const bound **grown = arena_alloc(w->a, sizeof *grown * cap);
        if (!grown)
            return fail_memory(w->err);
        if (list->count)
            memcpy(grown, list->nodes, sizeof *grown * list->count);
        list->nodes = grown;
        list->cap = cap;
    }
    n->slot = list->count;
    list->nodes[list->count++] = n;
    return FENEC_OK;
}

static int bind_one_sided(const binder *w, const expr *e, bound *n)
{
    int rc = bind_node(w, e->left, &n->left);

    if (rc)
        return rc;
    n->reads_row = n->left->reads_row;
    n->eval = eval_test;
    if (e->kind == EXPR_NOT)
        n->test = test_not;
    else
        n->test = n->left->eval == eval_field ? test_field_is_null : test_is_null;
    return FENEC_OK;
}

static int bind_node(const binder *w, const expr *e, const bound **out)
{
    static const node_kind kinds[] = {
        [EXPR_FIELD] = NODE_FIELD, [EXPR_LITERAL] = NODE_LITERAL, [EXPR_PARAM] = NODE_PARAM,
        [EXPR_AND] = NODE_AND,     [EXPR_OR] = NODE_OR,           [EXPR_NOT] = NODE_NOT,
        [EXPR_COMPARE] = NODE_COMPARE, [EXPR_LIKE] = NODE_LIKE,   [EXPR_HAS] = NODE_HAS,
        [EXPR_IN] = NODE_IN,       [EXPR_IN_SELECT] = NODE_IN,    [EXPR_IS_NULL] = NODE_IS_NULL,
        [EXPR_CALL] = NODE_CALL,   [EXPR_ARITH] = NODE_ARITH};
    if (w->b->part && (e->kind == EXPR_FIELD || e->kind == EXPR_CALL)) {
        int rc = w->b->part(w->b->parts, e, out, w->err);
        if (rc || *out)
            return rc;
    }
    bound *n = node_new(w, kinds[e->kind]);
    if (!n)
        return fail_memory(w->err);
    *out = n;
    switch (e->kind) {
    case EXPR_FIELD: return bind_field(w, e, n);
    case EXPR_LITERAL:
        n->literal = e->literal;
        n->eval = eval_literal;
        return FENEC_OK;
    case EXPR_PARAM:
        n->place = e->param;
        n->eval = eval_param;
        return FENEC_OK;
    case EXPR_AND:
    case EXPR_OR:
        n->eval = eval_test;
        n->test = e->kind == EXPR_AND ? test_and : test_or;
        return bind_chain(w, e, n);
    case EXPR_ARITH: n->eval = eval_arith; return bind_chain(w, e, n);
    case EXPR_NOT:
    case EXPR_IS_NULL: return bind_one_sided(w, e, n);
    case EXPR_COMPARE:
    case EXPR_LIKE:
    case EXPR_HAS:
    case EXPR_IN:
    case EXPR_IN_SELECT: return bind_condition(w, e, n);
    case EXPR_CALL: return bind_call(w, e, n);
    }
    return fail(w->err, FENEC_PANIC, "an expression of no known kind");
}

int expr_bind(const expr *e, const binding *b, arena *a, bound **out, error *err)
{
    const binder w = {.b = b, .a = a, .err = err};
    const bound *n;
    int rc = bind_node(&w, e, &n);

    if (!rc)
        *out = (bound *)n;
    return rc;
}

static bool stands_in_record(type_kind t)
{
    return t == TYPE_BOOL || t == TYPE_INT || t == TYPE_FLOAT || t == TYPE_TIMESTAMP || t == TYPE_GEO;
}

bool expr_wants_id(const bound *e)
{
    if (e->kind == NODE_ID || (e->kind == NODE_FIELD && !stands_in_record(e->field->type.kind)))
        return true;
    for (uint32_t i = 0; i < e->item_count; i++)
        if (expr_wants_id(e->items[i]))
            return true;
    return (e->left && expr_wants_id(e->left)) || (e->right && expr_wants_id(e->right));
}

/* ---- filters ---- */

static bool calls_expired(const expr *e)
{
    for (;; e = e->left) {
        if (e->kind == EXPR_CALL && !strcmp(e->name, "expired"))
            return true;
        for (uint32_t i = 0; i < e->item_count; i++)
            if (calls_expired(e->items[i]))
                return true;
        if (e->right && calls_expired(e->right))
            return true;
        if (!e->left)
            return false;
    }
}

int filter_bind(const expr *where, const catalog *cat, const collection *of, constants *once, arena *a, bound **out,
                error *err)
{
    const binding b = {.place = BIND_FILTER, .cat = cat, .of = of, .once = once};
    const binder w = {.b = &b, .a = a, .err = err};
    const bound *filter = NULL;

    if (where) {
        int rc = bind_node(&w, where, &filter);
        if (rc)
            return rc;
    }
    *out = (bound *)filter;
    if (of->ttl_field < 0 || (where && calls_expired(where)))
        return FENEC_OK;

    /* In front of the filter: a row past its time is no row, so nothing else is worked out on it. */
    uint32_t operands = !filter ? 0 : filter->kind == NODE_AND ? filter->item_count : 1;
    bound *live = node_new(&w, NODE_LIVE), *both = node_new(&w, NODE_AND);
    const bound **items = arena_alloc(a, sizeof *items * (operands + 1));
    if (!live || !both || !items)
        return fail_memory(err);
    live->reads_row = both->reads_row = true;
    live->of = of;
    live->eval = both->eval = eval_test;
    live->test = test_live;
    items[0] = live;
    for (uint32_t i = 0; i < operands; i++)
        items[i + 1] = filter->kind == NODE_AND ? filter->items[i] : filter;
    both->test = test_and;
    both->items = items;
    both->item_count = operands + 1;
    *out = both;
    return FENEC_OK;
}

int constants_resolve(const constants *list, const context *cx, explain *x, constant **out, error *err)
{
    const scope s = {.cx = cx, .memory = cx->memory};

    *out = NULL;
    if (!list->count)
        return FENEC_OK;
    constant *k = arena_zeroed(cx->memory, sizeof *k * list->count);
    if (!k)
        return fail_memory(err);
    for (uint32_t i = 0; i < list->count; i++) {
        int rc = constant_resolve(list->nodes[i], &s, x, &k[i], err);
        if (rc)
            return rc;
    }
    *out = k;
    return FENEC_OK;
}
