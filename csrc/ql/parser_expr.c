/* Expressions (chapter 1 section 7).
 *
 * Operators are read by climbing: binary() takes an operand and then every operator of its level or
 * tighter. One function for all levels keeps the stack of a deep text small. */
#include <string.h>

#include "ql/fold.h"
#include "ql/parsing.h"

typedef enum level {
    LEVEL_OR, /* binds least */
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_NONE
} level;

typedef struct operator_found {
    level level;
    expr_kind kind;
    compare_op compare;
    arith_op arith;
} operator_found;

static operator_found arithmetic(level l, arith_op op)
{
    return (operator_found){.level = l, .kind = EXPR_ARITH, .arith = op};
}

static operator_found comparison(compare_op op)
{
    return (operator_found){.level = LEVEL_COMPARE, .kind = EXPR_COMPARE, .compare = op};
}

static operator_found operator_here(const parser *p)
{
    switch (here(p)->kind) {
    case TOKEN_STAR: return arithmetic(LEVEL_PRODUCT, OP_MUL);
    case TOKEN_SLASH: return arithmetic(LEVEL_PRODUCT, OP_DIV);
    case TOKEN_PLUS: return arithmetic(LEVEL_SUM, OP_ADD);
    case TOKEN_MINUS: return arithmetic(LEVEL_SUM, OP_SUB);
    case TOKEN_EQUAL: return comparison(OP_EQ);
    case TOKEN_NOT_EQUAL: return comparison(OP_NE);
    case TOKEN_LESS: return comparison(OP_LT);
    case TOKEN_LESS_EQUAL: return comparison(OP_LE);
    case TOKEN_GREATER: return comparison(OP_GT);
    case TOKEN_GREATER_EQUAL: return comparison(OP_GE);
    case TOKEN_TILDE: return (operator_found){.level = LEVEL_COMPARE, .kind = EXPR_LIKE};
    case TOKEN_NAME:
        if (at_word(p, "or"))
            return (operator_found){.level = LEVEL_OR, .kind = EXPR_OR};
        if (at_word(p, "and"))
            return (operator_found){.level = LEVEL_AND, .kind = EXPR_AND};
        if (at_word(p, "has"))
            return (operator_found){.level = LEVEL_COMPARE, .kind = EXPR_HAS};
        if (at_word(p, "in"))
            return (operator_found){.level = LEVEL_COMPARE, .kind = EXPR_IN};
        if (at_word(p, "is"))
            return (operator_found){.level = LEVEL_COMPARE, .kind = EXPR_IS_NULL};
        break;
    default: break;
    }
    return (operator_found){.level = LEVEL_NONE};
}

static expr *node(parser *p, expr_kind kind, expr *left, expr *right)
{
    expr *e = arena_zeroed(p->a, sizeof *e);

    if (!e)
        return NULL;
    e->kind = kind;
    e->left = left;
    e->right = right;
    e->reads_row = kind == EXPR_FIELD || (left && left->reads_row) || (right && right->reads_row);
    e->has_aggregate = (left && left->has_aggregate) || (right && right->has_aggregate);
    return e;
}

static int made(parser *p, expr *e, expr **out)
{
    if (!e)
        return no_memory(p);
    *out = e;
    return FENEC_OK;
}

static int make_literal(parser *p, value v, expr **out)
{
    expr *e = node(p, EXPR_LITERAL, NULL, NULL);

    if (e)
        e->literal = v;
    return made(p, e, out);
}

static void own_items(expr *e, expr **items, uint32_t count)
{
    e->items = items;
    e->item_count = count;
    for (uint32_t i = 0; i < count; i++) {
        e->reads_row = e->reads_row || items[i]->reads_row;
        e->has_aggregate = e->has_aggregate || items[i]->has_aggregate;
    }
}

static int parse_binary(parser *p, level lowest, expr **out);

int parse_expr(parser *p, expr **out)
{
    int code = deeper(p, 1);

    if (code != FENEC_OK)
        return code;
    code = parse_binary(p, LEVEL_OR, out);
    p->depth--;
    return code;
}

int parse_filter(parser *p, expr **out)
{
    bool before = p->filter;

    p->filter = true;
    int code = parse_expr(p, out);
    p->filter = before;
    return code;
}

/* Expressions up to `close`, the opening token taken before; a trailing comma is fine. */
static int parse_items(parser *p, token_kind close, const char *what, expr ***items, uint32_t *count)
{
    expr *e;
    int code;

    while (!at(p, close)) {
        if ((code = parse_expr(p, &e)) != FENEC_OK)
            return code;
        if ((code = ADD_ITEM(p, *items, *count, e)) != FENEC_OK)
            return code;
        if (!take(p, TOKEN_COMMA))
            break;
    }
    return expect(p, close, what);
}

static int parse_in(parser *p, expr *left, expr **out)
{
    bool filter = p->filter;
    int code;

    if (take(p, TOKEN_BRACKET_OPEN)) {
        expr **items = NULL;
        uint32_t count = 0;

        p->filter = false;
        code = parse_items(p, TOKEN_BRACKET_CLOSE, "`,` or `]`", &items, &count);
        p->filter = filter;
        if (code != FENEC_OK)
            return code;
        expr *e = node(p, EXPR_IN, left, NULL);
        if (e)
            own_items(e, items, count);
        return made(p, e, out);
    }
    if (!at(p, TOKEN_PAREN_OPEN))
        return expected(p, "`[` or `(` after `in`");
    p->at++;
    if (!at_word(p, "get") && !at_word(p, "select"))
        return expected(p, "`get` or `select`");
    if (!filter)
        return expected(p, "a list after `in` (a query stands in a `where` alone)");
    if (p->inner == INNER_DEPTH_MAX)
        return refuse_at(p, p->at, FENEC_QUERY, "expected at most %u levels of `in (get ...)`, found more",
                         INNER_DEPTH_MAX);
    select_stmt *select;
    p->inner++;
    p->filter = false;
    code = parse_get_inner(p, &select);
    p->filter = filter;
    p->inner--;
    if (code != FENEC_OK)
        return code;
    expr *e = node(p, EXPR_IN_SELECT, left, NULL);
    if (e)
        e->select = select;
    return made(p, e, out);
}

static int parse_is(parser *p, expr *left, expr **out)
{
    bool not = take_word(p, "not");
    int code = expect_word(p, "null");

    if (code != FENEC_OK)
        return code;
    expr *e = node(p, EXPR_IS_NULL, left, NULL);
    if (e && not)
        e = node(p, EXPR_NOT, e, NULL);
    return made(p, e, out);
}

/* What follows the left side of a comparison, its operator taken. */
static int parse_comparison(parser *p, operator_found op, expr *left, expr **out)
{
    expr *right;

    if (op.kind == EXPR_IN)
        return parse_in(p, left, out);
    if (op.kind == EXPR_IS_NULL)
        return parse_is(p, left, out);
    int code = parse_binary(p, LEVEL_SUM, &right);
    if (code != FENEC_OK)
        return code;
    expr *e = node(p, op.kind, left, right);
    if (e && op.kind == EXPR_COMPARE)
        e->compare = op.compare;
    return made(p, e, out);
}

static int parse_operand(parser *p, expr **out);

static int parse_not(parser *p, expr **out)
{
    expr *operand;
    int code = deeper(p, 1);

    if (code != FENEC_OK)
        return code;
    p->at++;
    code = parse_binary(p, LEVEL_NOT, &operand);
    p->depth--;
    return code == FENEC_OK ? made(p, node(p, EXPR_NOT, operand, NULL), out) : code;
}

static int parse_binary(parser *p, level lowest, expr **out)
{
    level loosest_taken = LEVEL_PRODUCT; /* tighter operators can no longer follow */
    level chain = LEVEL_NONE;
    uint32_t links = 0; /* operators of the chain: each counts for the operands after it */
    expr *left, *right;
    int code;

    if (lowest <= LEVEL_NOT && at_word(p, "not")) {
        code = parse_not(p, &left);
        loosest_taken = LEVEL_AND;
    } else {
        code = parse_operand(p, &left);
    }
    while (code == FENEC_OK) {
        operator_found op = operator_here(p);

        if (op.level == LEVEL_NONE || op.level < lowest || op.level > loosest_taken) {
            *out = left;
            return FENEC_OK;
        }
        if (op.level == LEVEL_COMPARE) {
            p->at++;
            code = parse_comparison(p, op, left, &left);
            loosest_taken = LEVEL_AND; /* at most one comparison a level */
            continue;
        }
        links = op.level == chain ? links + 1 : 1;
        chain = loosest_taken = op.level;
        if ((code = deeper(p, links)) != FENEC_OK)
            return code;
        p->at++;
        code = op.level == LEVEL_PRODUCT ? parse_operand(p, &right)
                                         : parse_binary(p, (level)(op.level + 1), &right);
        p->depth -= links;
        if (code != FENEC_OK)
            return code;
        expr *e = node(p, op.kind, left, right);
        if (e && op.kind == EXPR_ARITH)
            e->arith = op.arith;
        code = made(p, e, &left);
    }
    return code;
}

static bool is_number(const expr *e)
{
    return e->kind == EXPR_LITERAL && (e->literal.kind == VALUE_INT || e->literal.kind == VALUE_FLOAT);
}

/* A minus before a number is the number's sign; before anything else it multiplies by -1. */
static int negate(parser *p, size_t place, expr *e, expr **out)
{
    expr *minus = NULL;

    if (is_number(e)) {
        value v = e->literal;
        if (v.kind == VALUE_INT && v.integer == INT64_MIN)
            return refuse_at(p, place, FENEC_QUERY, "expected an int of 64 bits, found a larger one");
        return make_literal(p, v.kind == VALUE_INT ? value_int(-v.integer) : value_float(-v.number), out);
    }
    int code = make_literal(p, value_int(-1), &minus);
    if (code != FENEC_OK)
        return code;
    expr *product = node(p, EXPR_ARITH, minus, e);
    if (product)
        product->arith = OP_MUL;
    return made(p, product, out);
}

static int parse_primary(parser *p, expr **out);

static int parse_operand(parser *p, expr **out)
{
    size_t first = p->at;
    uint32_t signs = 0;
    int code;

    for (; at(p, TOKEN_MINUS); p->at++, signs++)
        if ((code = deeper(p, 1)) != FENEC_OK)
            return code;
    code = parse_primary(p, out);
    p->depth -= signs;
    for (uint32_t i = 0; code == FENEC_OK && i < signs; i++)
        code = negate(p, first, *out, out);
    return code;
}

static int make_call(parser *p, const char *name, expr **items, uint32_t count, expr **out)
{
    expr *e = node(p, EXPR_CALL, NULL, NULL);

    if (e) {
        e->name = name;
        own_items(e, items, count);
        e->has_aggregate = e->has_aggregate || aggregate_named(name);
    }
    return made(p, e, out);
}

/* After `count(`: `*`, or `distinct` and an expression. False: neither stands here. */
static bool at_count_form(const parser *p)
{
    return at(p, TOKEN_STAR) ||
           (at_word(p, "distinct") && !next_is(p, TOKEN_PAREN_CLOSE) && !next_is(p, TOKEN_COMMA));
}

static int parse_count_form(parser *p, expr ***items, uint32_t *count)
{
    expr *e, **inside = NULL;
    uint32_t inside_count = 0;
    int code;

    if (take(p, TOKEN_STAR))
        return expect(p, TOKEN_PAREN_CLOSE, "`)`");
    p->at++;
    if ((code = parse_expr(p, &e)) != FENEC_OK)
        return code;
    if ((code = ADD_ITEM(p, inside, inside_count, e)) != FENEC_OK)
        return code;
    if ((code = make_call(p, "distinct", inside, inside_count, &e)) != FENEC_OK)
        return code;
    if ((code = ADD_ITEM(p, *items, *count, e)) != FENEC_OK)
        return code;
    return expect(p, TOKEN_PAREN_CLOSE, "`)`");
}

/* `15m` as the interval of bucket: an int and a word are the text of a duration. */
static int parse_interval(parser *p, expr **out)
{
    char number[24];
    const token *unit = here(p) + 1;
    size_t digits = 0, unit_len = unit->end - unit->start;
    int64_t n = here(p)->integer;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do
        number[digits++] = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        number[digits++] = '-';
    char *text = arena_alloc(p->a, digits + unit_len + 1);
    if (!text)
        return no_memory(p);
    for (size_t i = 0; i < digits; i++)
        text[i] = number[digits - 1 - i];
    memcpy(text + digits, p->text + unit->start, unit_len);
    text[digits + unit_len] = 0;
    p->at += 2;
    return make_literal(p, value_text(text, digits + unit_len), out);
}

static int parse_call_args(parser *p, const char *name, expr ***items, uint32_t *count)
{
    bool ends = strcmp(name, "first") == 0 || strcmp(name, "last") == 0;
    bool bucket = strcmp(name, "bucket") == 0;
    expr *e;
    int code;

    if (strcmp(name, "count") == 0 && at_count_form(p))
        return parse_count_form(p, items, count);
    while (!at(p, TOKEN_PAREN_CLOSE)) {
        if (bucket && *count == 1 && at(p, TOKEN_INT) && next_is(p, TOKEN_NAME) && (here(p) + 1)->parts == 1)
            code = parse_interval(p, &e);
        else
            code = parse_expr(p, &e);
        if (code == FENEC_OK)
            code = ADD_ITEM(p, *items, *count, e);
        if (code != FENEC_OK)
            return code;
        if (ends && *count == 1 && take_word(p, "by")) {
            if ((code = parse_expr(p, &e)) != FENEC_OK)
                return code;
            if ((code = ADD_ITEM(p, *items, *count, e)) != FENEC_OK)
                return code;
            break;
        }
        if (!take(p, TOKEN_COMMA))
            break;
    }
    return expect(p, TOKEN_PAREN_CLOSE, "`,` or `)`");
}

static int parse_call(parser *p, expr **out)
{
    size_t place = p->at;
    expr **items = NULL;
    uint32_t count = 0;
    const char *name = lower_word(p, here(p));

    if (!name)
        return no_memory(p);
    /* Names of nodes that only their own syntax makes. */
    if (strcmp(name, "distinct") == 0)
        return refuse_at(p, place, FENEC_QUERY, "expected `distinct` inside `count(...)` alone");
    if (strcmp(name, "case") == 0)
        return refuse_at(p, place + 1, FENEC_QUERY,
                         "expected `when` after `case`: there is no function of that name");
    p->at += 2;
    int code = parse_call_args(p, name, &items, &count);
    return code == FENEC_OK ? make_call(p, name, items, count, out) : code;
}

static int parse_case(parser *p, expr **out)
{
    expr **items = NULL, *e;
    uint32_t count = 0;
    int code;

    p->at++;
    do {
        if ((code = expect_word(p, "when")) != FENEC_OK || (code = parse_expr(p, &e)) != FENEC_OK)
            return code;
        if ((code = ADD_ITEM(p, items, count, e)) != FENEC_OK)
            return code;
        if ((code = expect_word(p, "then")) != FENEC_OK || (code = parse_expr(p, &e)) != FENEC_OK)
            return code;
        if ((code = ADD_ITEM(p, items, count, e)) != FENEC_OK)
            return code;
    } while (at_word(p, "when"));
    if (take_word(p, "else")) {
        if ((code = parse_expr(p, &e)) != FENEC_OK)
            return code;
        if ((code = ADD_ITEM(p, items, count, e)) != FENEC_OK)
            return code;
    }
    if ((code = expect_word(p, "end")) != FENEC_OK)
        return code;
    return make_call(p, "case", items, count, out);
}

static int parse_word(parser *p, expr **out)
{
    value v;

    if (plain_value(p, &v)) {
        p->at++;
        return make_literal(p, v, out);
    }
    if (at_word(p, "case") && is_word(p, p->at + 1, "when"))
        return parse_case(p, out);
    if (next_is(p, TOKEN_PAREN_OPEN))
        return parse_call(p, out);
    path field;
    int code = parse_path(p, "a field", &field);
    if (code != FENEC_OK)
        return code;
    expr *e = node(p, EXPR_FIELD, NULL, NULL);
    if (e)
        e->field = field;
    return made(p, e, out);
}

static int parse_string(parser *p, expr **out)
{
    const uint8_t *bytes;
    size_t len;
    int code = string_of(p, here(p), &bytes, &len);

    if (code != FENEC_OK)
        return code;
    p->at++;
    return make_literal(p, value_text(bytes, len), out);
}

static int parse_param(parser *p, expr **out)
{
    expr *e = node(p, EXPR_PARAM, NULL, NULL);

    if (e)
        e->param = here(p)->param;
    p->at++;
    return made(p, e, out);
}

static int parse_primary(parser *p, expr **out)
{
    const token *t = here(p);
    value v;
    int code;

    switch (t->kind) {
    case TOKEN_PAREN_OPEN:
        p->at++;
        code = parse_expr(p, out);
        return code == FENEC_OK ? expect(p, TOKEN_PAREN_CLOSE, "`)`") : code;
    case TOKEN_BRACKET_OPEN:
    case TOKEN_BRACE_OPEN:
        code = parse_container(p, &v);
        return code == FENEC_OK ? make_literal(p, v, out) : code;
    case TOKEN_STRING: return parse_string(p, out);
    case TOKEN_INT: p->at++; return make_literal(p, value_int(t->integer), out);
    case TOKEN_FLOAT: p->at++; return make_literal(p, value_float(t->number), out);
    case TOKEN_PARAM: return parse_param(p, out);
    case TOKEN_NAME: return parse_word(p, out);
    default: return expected(p, "a value");
    }
}

int parse_number(parser *p, value *out)
{
    size_t place = p->at;
    expr *e;
    int code = parse_expr(p, &e);

    if (code != FENEC_OK)
        return code;
    if (!is_number(e))
        return refuse_at(p, place, FENEC_QUERY, "expected a number, found something else");
    *out = e->literal;
    return FENEC_OK;
}
