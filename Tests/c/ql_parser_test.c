/* Tests of ql/parser.h: trees and refusals, expected from chapter 1. What a select may not combine is
 * ql_check_test.c's. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "ql/parser.h"
#include "test.h"
#include "value/json.h"

/* ---- a tree as text ---- */

static void write_expr(buffer *out, const expr *e);

static void write_items(buffer *out, const char *name, expr *const *items, uint32_t count)
{
    buffer_printf(out, "%s(", name);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buffer_text(out, " ");
        write_expr(out, items[i]);
    }
    buffer_text(out, ")");
}

static void write_pair(buffer *out, const char *name, const expr *e)
{
    write_items(out, name, (expr *const[]){e->left, e->right}, e->right ? 2 : 1);
}

static void write_expr(buffer *out, const expr *e)
{
    static const char *const compares[] = {"=", "!=", "<", "<=", ">", ">="};
    static const char *const ariths[] = {"+", "-", "*", "/"};

    switch (e->kind) {
    case EXPR_FIELD: buffer_put(out, e->field.text, e->field.text_len); break;
    case EXPR_LITERAL: json_write(out, &e->literal); break;
    case EXPR_PARAM: buffer_printf(out, "$%u", e->param); break;
    case EXPR_AND: write_pair(out, "and", e); break;
    case EXPR_OR: write_pair(out, "or", e); break;
    case EXPR_NOT: write_pair(out, "not", e); break;
    case EXPR_COMPARE: write_pair(out, compares[e->compare], e); break;
    case EXPR_LIKE: write_pair(out, "~", e); break;
    case EXPR_HAS: write_pair(out, "has", e); break;
    case EXPR_IS_NULL: write_pair(out, "null?", e); break;
    case EXPR_ARITH: write_pair(out, ariths[e->arith], e); break;
    case EXPR_CALL: write_items(out, e->name, e->items, e->item_count); break;
    case EXPR_IN:
        write_pair(out, "in", e);
        write_items(out, "", e->items, e->item_count);
        break;
    case EXPR_IN_SELECT:
        write_pair(out, "in", e);
        buffer_printf(out, "(get %s)", e->select->collection);
        break;
    }
}

static char shown[4000];

static const char *show(const expr *e)
{
    buffer out;

    buffer_init(&out);
    write_expr(&out, e);
    snprintf(shown, sizeof shown, "%.*s", (int)out.len, (const char *)out.bytes);
    buffer_clear(&out);
    return shown;
}

/* ---- helpers ---- */

static error last;

static int parse(const char *text, parsed *p)
{
    error_init(&last);
    return parse_text((const uint8_t *)text, strlen(text), p, &last);
}

/* The filter of `get t where text`, or what was answered. */
static const char *tree(const char *text)
{
    char whole[2000];
    parsed p;

    snprintf(whole, sizeof whole, "get t where %s", text);
    if (parse(whole, &p) != FENEC_OK) {
        snprintf(shown, sizeof shown, "%s", last.message);
        return shown;
    }
    const char *out = p.stmt_count == 1 ? show(p.stmts[0].select->where) : "not one statement";
    parsed_clear(&p);
    return out;
}

static void check_code(int line, const char *text, int want)
{
    parsed p;
    int code = parse(text, &p);

    if (code == FENEC_OK)
        parsed_clear(&p);
    if (code != want)
        test_failed(__FILE__, line, "%s answers %d %s, not %d", text, code, code ? last.message : "", want);
    else if (code && strncmp(last.message, "position ", 9) != 0)
        test_failed(__FILE__, line, "%s tells no position: %s", text, last.message);
}

#define TAKEN(text) check_code(__LINE__, (text), FENEC_OK)
#define REFUSED(text) check_code(__LINE__, (text), FENEC_QUERY)

/* ---- expressions ---- */

TEST(parser_binds_operators_by_their_level)
{
    CHECK_TEXT(tree("a + b * c - d / e"), "-(+(a *(b c)) /(d e))");
    CHECK_TEXT(tree("a - b - c"), "-(-(a b) c)");
    CHECK_TEXT(tree("a or b and not c = 1 + 2"), "or(a and(b not(=(c +(1 2)))))");
    CHECK_TEXT(tree("a and b or c and d or e"), "or(or(and(a b) and(c d)) e)");
    CHECK_TEXT(tree("not a = 1"), "not(=(a 1))");
    CHECK_TEXT(tree("not not a and b"), "and(not(not(a)) b)");
    CHECK_TEXT(tree("not a and b"), "and(not(a) b)");
    CHECK_TEXT(tree("(a or b) and c"), "and(or(a b) c)");
    CHECK_TEXT(tree("a = 1 and b != 2 and c < 3 and d <= 4 and e > 5 and f >= 6"),
               "and(and(and(and(and(=(a 1) !=(b 2)) <(c 3)) <=(d 4)) >(e 5)) >=(f 6))");
    CHECK_TEXT(tree("a ~ 'x' or b has 2 or c is null or d is not null"),
               "or(or(or(~(a \"x\") has(b 2)) null?(c)) not(null?(d)))");
    CHECK_TEXT(tree("a + 1 = b * 2"), "=(+(a 1) *(b 2))");
    CHECK_TEXT(tree("(a = b) = c"), "=(=(a b) c)");
    CHECK_TEXT(tree("a = (b = c)"), "=(a =(b c))");
}

TEST(parser_takes_one_comparison_a_level)
{
    REFUSED("get t where 1 < n < 5");
    REFUSED("get t where n = 1 = true");
    REFUSED("get t where a or n = 1 = 2");
    REFUSED("get t where n is null is null");
    REFUSED("get t where n in [1] = true");
    REFUSED("get t where not a = 1 = 2");
    REFUSED("get t where n not in [1]");
    REFUSED("get t where n not has 1");
    REFUSED("get t where n between 1 and 2");
    REFUSED("get t where n like 'a'");
    REFUSED("get t where n is 1");
    REFUSED("get t where a = 1 and");
    REFUSED("get t where and a");
    REFUSED("get t where = 1");
    REFUSED("get t where (a");
    REFUSED("get t where a)");
    REFUSED("get t where ()");
    REFUSED("get t where");
}

TEST(parser_folds_a_minus_into_a_number_alone)
{
    CHECK_TEXT(tree("- 1 < x"), "<(-1 x)");
    CHECK_TEXT(tree("a and -1 < x"), "and(a <(-1 x))");
    CHECK_TEXT(tree("- - 1 = x"), "=(1 x)");
    CHECK_TEXT(tree("-x = 1"), "=(*(-1 x) 1)");
    CHECK_TEXT(tree("- - x = 1"), "=(*(-1 *(-1 x)) 1)");
    CHECK_TEXT(tree("n-1"), "-(n 1)");
    CHECK_TEXT(tree("n - -1"), "-(n -1)");
    CHECK_TEXT(tree("-$1"), "*(-1 $0)");
    CHECK_TEXT(tree("-a * b"), "*(*(-1 a) b)");
    CHECK_TEXT(tree("a * -b"), "*(a *(-1 b))");
    CHECK_TEXT(tree("n = -9223372036854775808"), "=(n -9223372036854775808)");
    REFUSED("get t where n = - 9223372036854775808");
    REFUSED("get t where n = - -9223372036854775808");
    REFUSED("get t where -");
}

TEST(parser_takes_words_as_names_where_no_keyword_can_stand)
{
    CHECK_TEXT(tree("has = 1"), "=(has 1)");
    CHECK_TEXT(tree("has has has"), "has(has has)");
    CHECK_TEXT(tree("and = or or in = is"), "or(=(and or) =(in is))");
    CHECK_TEXT(tree("as = by and case = end"), "and(=(as by) =(case end))");
    CHECK_TEXT(tree("a = not and b + not"), "and(=(a not) +(b not))");
    CHECK_TEXT(tree("TRUE = False or NULL is null"), "or(=(true false) null?(null))");
    CHECK_TEXT(tree("select = where and group = order"), "and(=(select where) =(group order))");
    CHECK_TEXT(tree("now = distinct and count = highlight"), "and(=(now distinct) =(count highlight))");
    REFUSED("get t where true.x = 1 true");
    TAKEN("create collection v (group int, count int, select text, true bool, not int)");
    TAKEN("get v select group where group = 1");
    TAKEN("get select");
    TAKEN("get get");
    TAKEN("put put {set: 1}");
    TAKEN("set set {set: 1}");
    TAKEN("update set set {a: 1}");
    TAKEN("del where where where where where");
}

TEST(parser_lowers_calls_and_reads_their_own_forms)
{
    CHECK_TEXT(tree("LOWER(a) = Len(b, )"), "=(lower(a) len(b))");
    CHECK_TEXT(tree("now()"), "now()");
    CHECK_TEXT(tree("count(*) = 1"), "=(count() 1)");
    CHECK_TEXT(tree("count(distinct a + 1)"), "count(distinct(+(a 1)))");
    CHECK_TEXT(tree("count(distinct)"), "count(distinct)");
    CHECK_TEXT(tree("count(distinct, a)"), "count(distinct a)");
    CHECK_TEXT(tree("count(a)"), "count(a)");
    CHECK_TEXT(tree("first(a by b) = last(a, b)"), "=(first(a b) last(a b))");
    CHECK_TEXT(tree("first(by by by)"), "first(by by)");
    CHECK_TEXT(tree("bucket(at, 15m)"), "bucket(at \"15m\")");
    CHECK_TEXT(tree("bucket(at, 1 MO, '+03:00')"), "bucket(at \"1MO\" \"+03:00\")");
    CHECK_TEXT(tree("bucket(at, 1_000ms)"), "bucket(at \"1000ms\")");
    CHECK_TEXT(tree("bucket(at, 0m)"), "bucket(at \"0m\")");
    CHECK_TEXT(tree("bucket(at, -5m)"), "bucket(at \"-5m\")");
    CHECK_TEXT(tree("bucket(at, 5)"), "bucket(at 5)");
    CHECK_TEXT(tree("bucket(at, $1)"), "bucket(at $0)");
    CHECK_TEXT(tree("nosuch(1, a.b, 'x')"), "nosuch(1 a.b \"x\")");
    CHECK_TEXT(tree("1 = not(a)"), "=(1 not(a))");
    REFUSED("get t where lower(,)");
    REFUSED("get t where lower(a b)");
    REFUSED("get t where lower(a");
    REFUSED("get t where lower(*)");
    REFUSED("get t where count(*, a)");
    REFUSED("get t where count(distinct a, b)");
    REFUSED("get t where first(a by b, c)");
    REFUSED("get t where first(a by)");
    REFUSED("get t where lower(a by b)");
    REFUSED("get t where bucket(15m)");
    REFUSED("get t where bucket(at, 1.5m)");
    REFUSED("get t where distinct(a)");
}

TEST(parser_reads_case)
{
    CHECK_TEXT(tree("case when a = 1 then 'x' when b then c else d end = 'x'"),
               "=(case(=(a 1) \"x\" b c d) \"x\")");
    CHECK_TEXT(tree("CASE WHEN a THEN b END"), "case(a b)");
    CHECK_TEXT(tree("case = 1 or when = then"), "or(=(case 1) =(when then))");
    CHECK_TEXT(tree("case when case when a then b end then c end"), "case(case(a b) c)");
    REFUSED("get t where case when a then b");
    REFUSED("get t where case when a end");
    REFUSED("get t where case n when 1 then 2 end");
    REFUSED("get t where case when then 1 end");
    REFUSED("get t where case when a then b else end");
    REFUSED("get t where case when a then b else c when d then e end");
}

TEST(parser_reads_in_with_a_list_or_a_query)
{
    CHECK_TEXT(tree("n in [1, $1, 2 + 3, lower(a),]"), "in(n)(1 $0 +(2 3) lower(a))");
    CHECK_TEXT(tree("n in []"), "in(n)()");
    CHECK_TEXT(tree("not n + 1 in [-1]"), "not(in(+(n 1))(-1))");
    CHECK_TEXT(tree("n in (get u select id where a in (select b from v))"), "in(n)(get u)");
    REFUSED("get t where n in $1");
    REFUSED("get t where n in (1, 2)");
    REFUSED("get t where n in ()");
    REFUSED("get t where n in [,]");
    REFUSED("get t where n in [1 2]");
    REFUSED("get t where n in (collections)");
    REFUSED("get t where n in (get u select id");
    REFUSED("get t where n in (get u select id x)");
    REFUSED("get t where n in (get u select id get v)");
}

TEST(parser_keeps_inner_queries_to_filters)
{
    TAKEN("get t where lower(a) = 'x' and coalesce(a in (get u select id), false)");
    TAKEN("set t {a: 1} where a in (get u select id)");
    TAKEN("del t where a in (get u select id)");
    TAKEN("get t lookup u on a where b in (get v select id)");
    TAKEN("get t where a in (get u select id where b in (get v select id where c in (get w select id "
          "where d in (get x select id))))");
    REFUSED("get t where a in (get u select id where b in (get v select id where c in (get w select id "
            "where d in (get x select id where e in (get y select id)))))");
    REFUSED("get t select a in (get u select id) as x");
    REFUSED("select a in (get u select id) as x from t");
    REFUSED("get t select count(*) group a in (get u select id)");
    REFUSED("get t select count(*) group a having a in (get u select id)");
    REFUSED("get t near v a in (get u select id)");
    REFUSED("put t {a: 1 in (get u select id)}");
    REFUSED("set t {a: 1 in (get u select id)}");
    REFUSED("get t where a in [b in (get u select id)]");
    REFUSED("get t where a in (get u select b in (get v select id) as c)");
}

TEST(parser_packs_lists_and_objects)
{
    CHECK_TEXT(tree("a = [1, -2, 2.5, 'x', true, null, [], {}, [[1]],]"),
               "=(a [1,-2,2.5,\"x\",true,null,[],{},[[1]]])");
    CHECK_TEXT(tree("a = [9007199254740993, - 1, (3), - - 2]"), "=(a [9007199254740993,-1,3,2])");
    CHECK_TEXT(tree("a = {b: 1, a: {z: [1], 'y x': null}, 'B': 2, c.d: 3, \"\": 0,}"),
               "=(a {\"\":0,\"B\":2,\"a\":{\"y x\":null,\"z\":[1]},\"b\":1,\"c.d\":3})");
    CHECK_TEXT(tree("a = {true: 1, select: 2, 'a\\'b': 3}"), "=(a {\"a'b\":3,\"select\":2,\"true\":1})");
    CHECK_TEXT(tree("a = {b: {b: 1, a: 2}, a: {d: 1, c: 2}}"),
               "=(a {\"a\":{\"c\":2,\"d\":1},\"b\":{\"a\":2,\"b\":1}})");
    CHECK_TEXT(tree("a = ['a\\n\\t\\\\\\u', \"ş\"]"), "=(a [\"a\\n\\t\\\\u\",\"ş\"])");
    REFUSED("get t where a = [$1]");
    REFUSED("get t where a = [b]");
    REFUSED("get t where a = [1 + 1]");
    REFUSED("get t where a = [-b]");
    REFUSED("get t where a = [now()]");
    REFUSED("get t where a = [[1, [b]]]");
    REFUSED("get t where a = [1 = 1]");
    REFUSED("get t where a = [not true]");
    REFUSED("get t where a = {b: $1}");
    REFUSED("get t where a = {b: 1, b: 2}");
    REFUSED("get t where a = {b: 1, c: 2, 'b': 2}");
    REFUSED("get t where a = {'x\\y': 1, xy: 2}");
    REFUSED("get t where a = {b: {c: 1, c: 1}}");
    REFUSED("get t where a = {1: 2}");
    REFUSED("get t where a = {b 1}");
    REFUSED("get t where a = {b: }");
    REFUSED("get t where a = {,}");
    REFUSED("get t where a = [,]");
    REFUSED("get t where a = [1,,2]");
    REFUSED("get t where a = [1 2]");
    REFUSED("get t where a = [1");
    REFUSED("get t where a = {b: 1");
}

TEST(parser_decodes_strings)
{
    parsed p;

    CHECK_INT(parse("get t where s = 'a\\n\\t\\r\\0\\\\\\'\\\"\\u\\ş' or s = \"\"", &p), FENEC_OK);
    const value *v = &p.stmts[0].select->where->left->right->literal;
    CHECK_INT(v->kind, VALUE_TEXT);
    CHECK_INT(v->len, 11);
    CHECK(v->len == 11 && memcmp(v->bytes, "a\n\t\r\0\\'\"u\xC5\x9F", 11) == 0);
    CHECK_INT(p.stmts[0].select->where->right->right->literal.len, 0);
    parsed_clear(&p);
}

TEST(parser_marks_what_reads_a_row_and_what_aggregates)
{
    parsed p;

    CHECK_INT(parse("get t where 1 + $1 = lower('x') or a in (get u select b) or 2 in (get u select b)", &p),
              FENEC_OK);
    const expr *e = p.stmts[0].select->where;
    CHECK(e->reads_row && !e->has_aggregate);
    CHECK(!e->right->reads_row);
    CHECK(e->left->right->reads_row);
    CHECK(!e->left->left->reads_row);
    parsed_clear(&p);
    CHECK_INT(parse("get t select lower(min(a)) as x, 1 as y, sum(1) as z", &p), FENEC_OK);
    const column *c = p.stmts[0].select->columns;
    CHECK(c[0].e->has_aggregate && c[0].e->reads_row);
    CHECK(!c[1].e->has_aggregate && !c[1].e->reads_row);
    CHECK(c[2].e->has_aggregate && !c[2].e->reads_row);
    parsed_clear(&p);
}

/* `before` once, `between` n times, `after` once. */
static char *repeated(const char *before, const char *between, size_t n, const char *after)
{
    size_t len = strlen(between);
    char *text = malloc(strlen(before) + n * len + strlen(after) + 1), *to = text;

    to += sprintf(to, "%s", before);
    for (size_t i = 0; i < n; i++, to += len)
        memcpy(to, between, len);
    strcpy(to, after);
    return text;
}

/* before, n times between, after, n times closing, end: taken with n, refused with one more. */
static void check_bound(int line, const char *before, const char *between, size_t n, const char *after,
                        const char *closing, const char *end)
{
    for (size_t more = 0; more < 2; more++) {
        char *tail = repeated(after, closing, n + more, end);
        char *text = repeated(before, between, n + more, tail);
        parsed p;
        int code = parse(text, &p), want = more ? FENEC_QUERY : FENEC_OK;

        if (code != want)
            test_failed(__FILE__, line, "%zu of %s answer %d %s", n + more, between, code,
                        code ? last.message : "");
        if (code == FENEC_OK)
            parsed_clear(&p);
        free(text);
        free(tail);
    }
}

TEST(parser_bounds_depth_at_512)
{
    check_bound(__LINE__, "get t where ", "(", 511, "1", ")", "");
    check_bound(__LINE__, "get t where 1", " or 1", 511, "", "", "");
    check_bound(__LINE__, "get t where 1", " and 1", 511, "", "", "");
    check_bound(__LINE__, "get t where ", "not ", 511, "1", "", "");
    check_bound(__LINE__, "get t where ", "- ", 511, "x", "", "");
    check_bound(__LINE__, "get t where 1", " + 1", 511, "", "", "");
    check_bound(__LINE__, "get t where 1", " * 1", 511, "", "", "");
    check_bound(__LINE__, "get t where ", "lower(", 511, "1", ")", "");
    check_bound(__LINE__, "get t where ", "1 + (", 255, "1", ")", "");
    check_bound(__LINE__, "put t {a: ", "[", 512, "", "]", "}");
    check_bound(__LINE__, "put t {a: ", "{b: ", 511, "1", "}", "}");
    check_bound(__LINE__, "get t where a in ", "[a in ", 511, "[]", "]", "");
    check_bound(__LINE__, "get t where ", "case when ", 511, "1", " then 1 end", "");
    check_bound(__LINE__, "create collection t (a ", "[", 512, "int", "]", ")");
    check_bound(__LINE__, "get t where ", "1 = (", 511, "1", ")", "");
}

TEST(parser_adds_up_no_depth_of_siblings)
{
    char *close = repeated("", ")", 500, ""), *deep = repeated("", "(", 500, "1");
    buffer b;
    parsed p;

    /* Branches of depth 501 beside each other, as operands of a chain and as arguments. */
    buffer_init(&b);
    buffer_text(&b, "get t where 1");
    for (int i = 0; i < 10; i++)
        buffer_printf(&b, " or %s%s", deep, close);
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    parsed_clear(&p);
    b.len = 0;
    buffer_text(&b, "get t where f(1");
    for (int i = 0; i < 20; i++)
        buffer_printf(&b, ", %s%s", deep, close);
    buffer_text(&b, ")");
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    parsed_clear(&p);
    /* An operator of a chain does not count for its first operand. */
    b.len = 0;
    buffer_printf(&b, "get t where %s%s", deep, close);
    for (int i = 0; i < 50; i++)
        buffer_text(&b, " + 1");
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    parsed_clear(&p);
    buffer_clear(&b);
    free(deep);
    free(close);
}

TEST(parser_walks_a_left_chain_of_any_length)
{
    /* 500 nested first operands, each with as long a chain as its depth lets it have: about 130 000 nodes
     * on the left side. */
    buffer b;
    parsed p;

    buffer_init(&b);
    buffer_text(&b, "get t where ");
    for (int i = 0; i < 500; i++)
        buffer_text(&b, "(");
    buffer_text(&b, "a");
    for (int i = 0; i < 500; i++) {
        for (int j = 0; j < 11 + i; j++)
            buffer_text(&b, i % 2 ? " and a" : " or a");
        buffer_text(&b, ")");
    }
    buffer_text(&b, " facet a disjunctive, b disjunctive");
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    parsed_clear(&p);
    buffer_clear(&b);
}

/* ---- statements ---- */

TEST(parser_ends_a_statement_where_it_can_take_no_more)
{
    parsed p;

    CHECK_INT(parse(" put a {n: 1} get a;  compact b -- end\n", &p), FENEC_OK);
    CHECK_INT(p.stmt_count, 3);
    CHECK_INT(p.stmts[0].start, 1);
    CHECK_INT(p.stmts[0].end, 14);
    CHECK_INT(p.stmts[1].start, 14);
    CHECK_INT(p.stmts[1].end, 22);
    CHECK_INT(p.stmts[2].start, 22);
    CHECK_INT(p.stmts[2].end, 39);
    CHECK(!p.only_reads && p.has_compact);
    parsed_clear(&p);
    CHECK_INT(parse("get a; collections; describe b explain get c", &p), FENEC_OK);
    CHECK_INT(p.stmt_count, 4);
    CHECK(p.only_reads && !p.has_compact);
    CHECK_TEXT(p.stmts[3].collection, "c");
    parsed_clear(&p);
    CHECK_INT(parse("get t; limit 1", &p), FENEC_OK);
    CHECK_INT(p.stmt_count, 1);
    CHECK_INT(p.stmts[0].select->limit.literal, 1);
    parsed_clear(&p);
    CHECK_INT(parse(" ; -- nothing", &p), FENEC_OK);
    CHECK_INT(p.stmt_count, 0);
    parsed_clear(&p);
    REFUSED("compact; get t");
    REFUSED("get a; select x from b");
    REFUSED("get b select x; select y from c");
    TAKEN("get b select x; get y from c");
    TAKEN("get a compact");
}

TEST(parser_counts_the_highest_parameter)
{
    parsed p;

    CHECK_INT(parse("get t where a = $2 and b in (get u select c where d = $7) lookup v on e limit $3", &p),
              FENEC_OK);
    CHECK_INT(p.param_count, 7);
    parsed_clear(&p);
    CHECK_INT(parse("get t", &p), FENEC_OK);
    CHECK_INT(p.param_count, 0);
    parsed_clear(&p);
}

TEST(parser_refuses_what_begins_no_statement)
{
    static const char *const texts[] = {
        "begin", "commit", "rollback", "with a", "merge t", "1", "'get t'", "$1", "{", "}", ")", ",", "-",
        "drop index on t (a)", "create table t (a int)", "create", "drop", "alter", "alter table t add a int",
        "explain", "explain put t {a: 1}", "explain explain get t", "explain del t", "describe",
        "describe a.b",
        "compact a.b", "collections t", "get t get", "get", "select", "get a.b", "get 1", "get from",
        "from t", "insert", "put", "set", "del", "put into", "del from",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        REFUSED(texts[i]);
}

TEST(parser_tells_where_and_what)
{
    parsed p;

    CHECK_INT(parse("get şehir where ad = 'İ' bogus", &p), FENEC_QUERY);
    CHECK(strncmp(last.message, "position 25: ", 13) == 0);
    CHECK(strstr(last.message, "found \"bogus\"") != NULL);
    CHECK_INT(parse("get t where", &p), FENEC_QUERY);
    CHECK(strncmp(last.message, "position 11: ", 13) == 0);
    CHECK(strstr(last.message, "the end of the text") != NULL);
    CHECK_INT(parse("get t get u near v $1 order a", &p), FENEC_QUERY);
    CHECK(strncmp(last.message, "position 6: ", 12) == 0);
    CHECK_INT(parse("get t bogus 'open", &p), FENEC_QUERY);
    CHECK(strncmp(last.message, "position 12: ", 13) == 0);
}

TEST(parser_takes_the_first_fault_of_a_text)
{
    check_code(__LINE__, "create collection t (a int, a int) get", FENEC_EXISTS);
    check_code(__LINE__, "get create collection t (a int, a int)", FENEC_QUERY);
    check_code(__LINE__, "create collection t (a int, a int) ?", FENEC_QUERY);
    check_code(__LINE__, "create collection t (a int, a int", FENEC_QUERY);
    check_code(__LINE__, "create collection t (a [json]) create collection t (a int, a int)", FENEC_TYPE);
    check_code(__LINE__, "get t fuse create collection t (a int, a int)", FENEC_QUERY);
}

/* ---- schema ---- */

static const char *schema_of(const char *text)
{
    parsed p;
    buffer out;

    if (parse(text, &p) != FENEC_OK) {
        snprintf(shown, sizeof shown, "%d", last.code);
        return shown;
    }
    const stmt *s = &p.stmts[0];
    buffer_init(&out);
    buffer_printf(&out, "%s%s:", s->if_exists ? "?" : "", s->collection);
    for (uint32_t i = 0; i < s->field_count; i++) {
        const field_def *f = &s->fields[i];
        buffer_printf(&out, " %s ", f->name);
        type_write(&out, &f->type);
        if (f->required)
            buffer_text(&out, " required");
        if (f->collate)
            buffer_text(&out, f->collate == COLLATION_TR ? " tr" : " und");
        if (f->index.kind)
            buffer_printf(&out, " @%d", f->index.kind);
    }
    snprintf(shown, sizeof shown, "%.*s", (int)out.len, (const char *)out.bytes);
    buffer_clear(&out);
    parsed_clear(&p);
    return shown;
}

TEST(parser_reads_types_under_every_spelling)
{
    CHECK_TEXT(schema_of("create collection c (a bool, b INT, c float, d text, e string, f bytes, g blob)"),
               "c: a bool b int c float d text e text f bytes g bytes");
    CHECK_TEXT(schema_of("create collection c (a timestamp, b timestamptz, c json, d jsonb, e geo)"),
               "c: a timestamp b timestamp c json d json e geo");
    CHECK_TEXT(schema_of("create collection c (a vector<1>, b vec<65536, f32>, c VEC<3, F16>)"),
               "c: a vector<1> b vector<65536> c vector<3, f16>");
    CHECK_TEXT(schema_of("create collection c (a sparse<1>, b sparsevec<1_000_000_000>, c [[text]], "
                         "d [vector<2>])"),
               "c: a sparse<1> b sparse<1000000000> c [[text]] d [vector<2>]");
}

TEST(parser_reads_modifiers_in_any_order_the_last_wins)
{
    CHECK_TEXT(schema_of("create collection if not exists c (a text collate tr required @hash collate und "
                         "@ unique,)"),
               "?c: a text required und @2");
    CHECK_TEXT(schema_of("create collection c (a [text] collate TR, b int required required)"),
               "c: a [text] tr b int required");
    CHECK_TEXT(schema_of("alter collection c add field field int"), "c: field int");
    CHECK_TEXT(schema_of("alter collection c add note text required"), "c: note text required");
}

TEST(parser_checks_declarations_field_by_field)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"create collection c ()", FENEC_QUERY},
        {"create collection c (,)", FENEC_QUERY},
        {"create collection c", FENEC_QUERY},
        {"create collection (a int)", FENEC_QUERY},
        {"create collection if (a int)", FENEC_QUERY},
        {"create collection c.d (a int)", FENEC_QUERY},
        {"create collection c (a.b int)", FENEC_QUERY},
        {"create collection c (a)", FENEC_QUERY},
        {"create collection c (a int b int)", FENEC_QUERY},
        {"create collection c (a int,,)", FENEC_QUERY},
        {"create collection c (a nosuch)", FENEC_QUERY},
        {"create collection c (a [int)", FENEC_QUERY},
        {"create collection c ('a' int)", FENEC_QUERY},
        {"create collection c (id int)", FENEC_QUERY},
        {"create collection c (ID int)", FENEC_OK},
        {"create collection if not exists c (id text)", FENEC_QUERY},
        {"create collection c (a int, A int)", FENEC_OK},
        {"create collection c (a int, b text, a text)", FENEC_EXISTS},
        {"create collection if not exists c (a int, a int)", FENEC_EXISTS},
        {"create collection c (a int, a int, b [json])", FENEC_EXISTS},
        {"create collection c (b [json], a int, a int)", FENEC_TYPE},
        {"create collection c (a [[json]])", FENEC_TYPE},
        {"create collection c (a int, id int)", FENEC_QUERY},
        {"create collection c (id int, a int, a int)", FENEC_QUERY},
        {"create collection c (a int, a [json])", FENEC_EXISTS},
        {"create collection c (a [json] collate und)", FENEC_TYPE},
        {"create collection c (a int @text collate und)", FENEC_QUERY},
        {"create collection c (a text collate de)", FENEC_QUERY},
        {"create collection c (a text collate)", FENEC_QUERY},
        {"create collection c (a int collate und)", FENEC_QUERY},
        {"create collection c (a [[text]] collate und)", FENEC_QUERY},
        {"create collection c (a int, a text ?)", FENEC_QUERY},
        {"create collection c (a int, a nosuch)", FENEC_QUERY},
        {"create collection c (a geo @hash)", FENEC_TYPE},
        {"create collection c (a geo @unique)", FENEC_TYPE},
        {"create collection c (a bool @sorted)", FENEC_TYPE},
        {"create collection c (a [int] @sorted)", FENEC_TYPE},
        {"create collection c (a json @sorted, b text @sorted, c float @sorted)", FENEC_OK},
        {"create collection c (a int @ttl(1h))", FENEC_TYPE},
        {"create collection c (a text @hnsw)", FENEC_TYPE},
        {"create collection c (a int @text)", FENEC_TYPE},
        {"create collection c (a vector<2> @inverted)", FENEC_TYPE},
        {"create collection c (a text @geo)", FENEC_TYPE},
        {"create collection c (a sparse<2> @inverted, b geo @geo, d text @text)", FENEC_OK},
        {"create collection c (a timestamp @ttl(1h), b timestamp @ttl(1h))", FENEC_QUERY},
        {"create collection c (a timestamp @ttl(1h), b timestamp @sorted)", FENEC_OK},
        {"create collection c (a timestamp @ttl(1h) @hash, b timestamp @ttl(1h))", FENEC_OK},
        {"create collection c (a int @nosuch)", FENEC_QUERY},
        {"create collection c (a int @)", FENEC_QUERY},
        {"create collection c (a int hash)", FENEC_QUERY},
        {"create collection c (a vector)", FENEC_QUERY},
        {"create collection c (a vector<0>)", FENEC_QUERY},
        {"create collection c (a vector<-1>)", FENEC_QUERY},
        {"create collection c (a vector<65537>)", FENEC_QUERY},
        {"create collection c (a vector<x>)", FENEC_QUERY},
        {"create collection c (a vector<2.0>)", FENEC_QUERY},
        {"create collection c (a vector<2, f64>)", FENEC_QUERY},
        {"create collection c (a vector<2,>)", FENEC_QUERY},
        {"create collection c (a sparse<0>)", FENEC_QUERY},
        {"create collection c (a sparse<1000000001>)", FENEC_QUERY},
        {"create collection c (a sparse<2, f16>)", FENEC_QUERY},
        {"alter collection c add id int", FENEC_QUERY},
        {"alter collection c add a [json]", FENEC_TYPE},
        {"alter collection c add a int @text", FENEC_TYPE},
        {"alter collection c add a int collate und", FENEC_QUERY},
        {"alter collection c add field int", FENEC_QUERY},
        {"alter collection c add a", FENEC_QUERY},
        {"alter collection c add a int, b int", FENEC_QUERY},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_code(__LINE__, cases[i].text, cases[i].code);
}

static index_spec spec_of(const char *index)
{
    char text[300];
    index_spec none = {0};
    parsed p;

    snprintf(text, sizeof text, "create index on c (f) @%s", index);
    if (parse(text, &p) != FENEC_OK)
        return none;
    none = p.stmts[0].spec;
    parsed_clear(&p);
    return none;
}

TEST(parser_fills_in_index_options)
{
    index_spec s = spec_of("hnsw");

    CHECK(s.kind == INDEX_HNSW && s.metric == METRIC_COSINE && s.quant == QUANT_NONE);
    CHECK(s.m == 16 && s.ef_construction == 200 && s.ef_search == 100);
    s = spec_of("VECTOR ( IP, M = 1, ef_c=-5, ef=0, quant=i8, )");
    CHECK(s.kind == INDEX_HNSW && s.metric == METRIC_DOT && s.quant == QUANT_INT8);
    CHECK(s.m == 2 && s.ef_construction == 8 && s.ef_search == 1);
    s = spec_of("hnsw(euclidean, l2, m=8, m=32767, ef_construction=64, ef_search=32)");
    CHECK(s.metric == METRIC_L2 && s.m == 32767 && s.ef_construction == 64 && s.ef_search == 32);
    s = spec_of("hnsw(quant=binary, cos)");
    CHECK(s.quant == QUANT_BIT && s.ef_search == 200);
    s = spec_of("hnsw(ef=100, quant=bit)");
    CHECK(s.quant == QUANT_BIT && s.ef_search == 100);
    s = spec_of("text()");
    CHECK(s.kind == INDEX_TEXT && s.k1_hundredths == 90 && s.b_hundredths == 40);
    CHECK(s.prefix_max == 0 && s.prefix_min == 3 && !s.chars);
    s = spec_of("BM25(K1=1.236, b=0.125, prefix=6, prefix_min=64, CHARS,)");
    CHECK(s.k1_hundredths == 124 && s.b_hundredths == 13);
    CHECK(s.prefix_max == 6 && s.prefix_min == 64 && s.chars);
    s = spec_of("text(k1=100, b=0, prefix_max=6.0, prefix_min=0)");
    CHECK(s.k1_hundredths == 10000 && s.b_hundredths == 0 && s.prefix_max == 6 && s.prefix_min == 0);
    s = spec_of("ttl(30M)");
    CHECK(s.kind == INDEX_SORTED && s.ttl_ms == 1800000);
    CHECK_INT(spec_of("ttl(1ms)").ttl_ms, 1);
    CHECK_INT(spec_of("ttl( 2 D )").ttl_ms, 172800000);
    CHECK_INT(spec_of("sorted").kind, INDEX_SORTED);
    CHECK_INT(spec_of("sorted").ttl_ms, 0);
    CHECK_INT(spec_of(" Unique").kind, INDEX_UNIQUE);
    CHECK_INT(spec_of("hash").kind, INDEX_HASH);
    CHECK_INT(spec_of("inverted").kind, INDEX_INVERTED);
    CHECK_INT(spec_of("geo").kind, INDEX_GEO);
}

TEST(parser_refuses_bad_index_options)
{
    static const char *const bad[] = {
        "hnsw(hamming)", "hnsw(m=x)", "hnsw(m=32768)", "hnsw(m=1.5)", "hnsw(m)", "hnsw(depth=4)",
        "hnsw(quant=int4)",
        "hnsw(quant)", "hnsw(l2, quant=bit)", "hnsw(quant=bit, dot)", "hnsw(cosine l2)", "hnsw(,)", "hnsw(",
        "text(k1=101)", "text(k1=-0.5)", "text(b=100.001)", "text(k1='1')", "text(prefix=65)",
        "text(prefix=1.5)",
        "text(prefix=-1)", "text(prefix_min=65)", "text(chars=1)", "text(k2=1)", "text(k1 1)", "text(k1)",
        "ttl", "ttl()", "ttl(30)", "ttl(30w)", "ttl(0s)", "ttl(0ms)", "ttl(-5m)", "ttl(1.5h)", "ttl('30m')",
        "ttl(30m,)", "ttl(9223372036854775807d)", "ttl(m)", "hash()", "sorted(1)", "btree", "'hash'",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text, "create index on c (f) @%s", bad[i]);
        REFUSED(text);
    }
}

TEST(parser_reads_the_other_schema_statements)
{
    parsed p;

    CHECK_INT(parse("create index if not exists on docs (meta.a.b) @hash drop collection if exists t "
                    "alter collection t rename field a to b alter collection t drop field field "
                    "alter collection t alter field at @ttl(1h) alter collection t alter at @sorted",
                    &p),
              FENEC_OK);
    const stmt *s = p.stmts;
    CHECK_INT(p.stmt_count, 6);
    CHECK(s[0].kind == STMT_CREATE_INDEX && s[0].if_exists);
    CHECK_TEXT(s[0].index_on.text, "meta.a.b");
    CHECK_INT(s[0].index_on.part_count, 3);
    CHECK(s[0].index_on.parts[1].len == 1 && s[0].index_on.parts[1].bytes[0] == 'a');
    CHECK(s[1].kind == STMT_DROP_COLLECTION && s[1].if_exists);
    CHECK(s[2].kind == STMT_ALTER_COLLECTION && s[2].alter == ALTER_RENAME);
    CHECK_TEXT(s[2].field, "a");
    CHECK_TEXT(s[2].to, "b");
    CHECK_INT(s[3].alter, ALTER_DROP);
    CHECK_TEXT(s[3].field, "field");
    CHECK(s[4].alter == ALTER_INDEX && s[4].spec.ttl_ms == 3600000);
    CHECK(s[5].alter == ALTER_INDEX && s[5].spec.kind == INDEX_SORTED && s[5].spec.ttl_ms == 0);
    CHECK_TEXT(s[5].field, "at");
    parsed_clear(&p);
    REFUSED("alter collection t drop field");
    REFUSED("alter collection t drop");
    REFUSED("alter collection t rename a b");
    REFUSED("alter collection t rename a to b.c");
    REFUSED("alter collection t rename a.b to c");
    REFUSED("alter collection t alter field qty text");
    REFUSED("alter collection t alter field qty @hash");
    REFUSED("alter collection t alter field qty @ttl");
    REFUSED("alter collection t modify qty text");
    REFUSED("alter collection t set qty text");
    REFUSED("alter collection t change qty text");
    REFUSED("alter collection t retype qty text");
    REFUSED("alter collection t remove qty");
    REFUSED("alter collection t");
    REFUSED("create index on t (a)");
    REFUSED("create index on t a @hash");
    REFUSED("create index t (a) @hash");
    REFUSED("create index on t (a, b) @hash");
    REFUSED("create index on t ('a') @hash");
    REFUSED("create index on t.u (a) @hash");
    REFUSED("drop collection");
    REFUSED("drop collection if not exists t");
    REFUSED("drop collection a.b");
}

/* ---- writes ---- */

TEST(parser_reads_documents)
{
    parsed p;

    CHECK_INT(parse("insert into t [{a: 1, b.c: $1, 'd e.f': lower('X'), \"\": 2}, {},] returning b.c, id "
                    "require 2",
                    &p),
              FENEC_OK);
    const stmt *s = &p.stmts[0];
    CHECK(s->kind == STMT_PUT && s->insert && !s->if_absent && !s->docs_are_param);
    CHECK_TEXT(s->collection, "t");
    CHECK_INT(s->doc_count, 2);
    CHECK_INT(s->docs[0].count, 4);
    CHECK_INT(s->docs[1].count, 0);
    CHECK_INT(s->docs[0].items[1].key.part_count, 2);
    CHECK_TEXT(s->docs[0].items[2].key.text, "d e.f");
    CHECK_INT(s->docs[0].items[2].key.part_count, 2);
    CHECK_INT(s->docs[0].items[3].key.text_len, 0);
    CHECK_TEXT(show(s->docs[0].items[2].e), "lower(\"X\")");
    CHECK(s->returning.given && !s->returning.all && s->returning.path_count == 2);
    CHECK_TEXT(s->returning.paths[0].text, "b.c");
    CHECK(s->require_given && s->require == 2);
    parsed_clear(&p);
    CHECK_INT(parse("put into into $3 if absent else set {n: n + new.n, m: new.meta.a} require 1 "
                    "returning *",
                    &p),
              FENEC_OK);
    s = &p.stmts[0];
    CHECK(s->docs_are_param && s->docs_param == 2 && s->insert && s->if_absent && s->else_set);
    CHECK_TEXT(s->collection, "into");
    CHECK_INT(s->set.count, 2);
    CHECK_TEXT(show(s->set.items[0].e), "+(n new.n)");
    CHECK(s->returning.all && s->require_given);
    parsed_clear(&p);
    TAKEN("put t {a: 1, a: 2}"); /* judged when the document is assembled */
    TAKEN("put t {a: b}");
    TAKEN("put t {}{}{}");
    TAKEN("put t {a: 1,} if absent");
    REFUSED("put t");
    REFUSED("put t []");
    REFUSED("put t [,]");
    REFUSED("put t [{a: 1} {a: 2}]");
    REFUSED("put t {a: 1}, {a: 2}");
    REFUSED("put t [$1]");
    REFUSED("put t n: 1");
    REFUSED("put t {n 1}");
    REFUSED("put t {n: }");
    REFUSED("put t {n: 1");
    REFUSED("put t {1: 2}");
    REFUSED("put t {$1: 2}");
    REFUSED("put t {,}");
    REFUSED("put t.u {a: 1}");
    REFUSED("put t {a: 1} else set {a: 1}");
    REFUSED("put t {a: 1} if absent else {a: 1}");
    REFUSED("put t {a: 1} if present");
    REFUSED("put t {a: 1} if absent else set");
    REFUSED("put t {a: 1} returning *, a");
    REFUSED("put t {a: 1} returning");
    REFUSED("put t {a: 1} require");
    REFUSED("put t {a: 1} require $1");
    REFUSED("put t {a: 1} require -1");
    REFUSED("put t {a: 1} require 1.0");
    REFUSED("put t {a: 1} where b");
    REFUSED("put t {a: 1} returning a if absent");
}

TEST(parser_reads_set_and_del)
{
    parsed p;

    CHECK_INT(parse("update t set {a: b, c.d: null} limit 1 where x order k returning a order by j desc "
                    "limit $1 where y returning * require 3 require 0 delete from u",
                    &p),
              FENEC_OK);
    const stmt *s = &p.stmts[0];
    CHECK_INT(p.stmt_count, 2);
    CHECK_INT(s->kind, STMT_UPDATE);
    CHECK_INT(s->set.count, 2);
    CHECK_TEXT(s->set.items[1].key.text, "c.d");
    CHECK_TEXT(show(s->where), "y");
    CHECK_INT(s->order_count, 2);
    CHECK_TEXT(s->order[0].by.text, "k");
    CHECK(!s->order[0].descending && s->order[1].descending);
    CHECK(s->limit.given && s->limit.is_param && s->limit.param == 0);
    CHECK(s->returning.all && s->returning.path_count == 0);
    CHECK(s->require_given && s->require == 0);
    CHECK_INT(p.stmts[1].kind, STMT_DELETE);
    CHECK_TEXT(p.stmts[1].collection, "u");
    CHECK(!p.stmts[1].where && !p.stmts[1].limit.given);
    parsed_clear(&p);
    REFUSED("set t");
    REFUSED("set t a: 1");
    REFUSED("set t {a: 1} {b: 2}");
    REFUSED("set t $1");
    REFUSED("set t {a: 1} offset 1");
    REFUSED("set t {a: 1} returning a + 1");
    REFUSED("set t {a: 1} returning a as b");
    REFUSED("set t {a: 1} returning *, a");
    REFUSED("set t {a: 1} limit -1");
    REFUSED("set t {a: 1} limit 1.5");
    REFUSED("set t {a: 1} group a");
    REFUSED("del t offset 1");
    REFUSED("del t {a: 1}");
    REFUSED("del t group a");
}

TEST(parser_bounds_paths_at_64_keys)
{
    static const struct {
        const char *before, *after;
    } forms[] = {
        {"get t where m", " = 1"},
        {"get t select m", ""},
        {"get t order m", ""},
        {"get t order count(distinct m", ")"},
        {"get t facet m", ""},
        {"get t select count(*) group m", ""},
        {"put t {m", ": 1}"},
        {"put t {'m", "': 1}"},
        {"set t {a: m", "}"},
        {"del t returning m", ""},
        {"create index on t (m", ") @hash"},
        {"put t {a: 1} if absent else set {a: m", "}"},
        {"put t {a: 1} if absent else set {a: new.m", "}"},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *most = repeated(forms[i].before, ".k", 64, forms[i].after);
        char *more = repeated(forms[i].before, ".k", 65, forms[i].after);
        TAKEN(most);
        REFUSED(more);
        free(most);
        free(more);
    }
}

/* ---- reads ---- */

TEST(parser_tells_the_forms_of_get_apart)
{
    static const struct {
        const char *text, *collection;
        uint32_t columns;
        bool all;
    } forms[] = {
        {"get docs", "docs", 0, true},
        {"get from docs", "docs", 0, true},
        {"select docs where x = 1", "docs", 0, true},
        {"get title, year from docs", "docs", 2, false},
        {"select * from docs", "docs", 0, true},
        {"select count(*) from docs", "docs", 1, false},
        {"get docs select title", "docs", 1, false},
        {"get a, b from docs select c", "docs", 1, false},
        {"get -n as x from docs", "docs", 1, false},
        {"get count from t", "t", 1, false},
        {"get from from", "from", 0, true},
        {"select select from t", "t", 1, false},
        {"get a as b, c.d from t", "t", 2, false},
        {"get match match a 'x'", "match", 0, true},
        {"get docs select *", "docs", 0, true},
        {"select case when a then 1 end as x, $1 as y, 'z' as z from t", "t", 3, false},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        parsed p;
        if (parse(forms[i].text, &p) != FENEC_OK) {
            test_failed(__FILE__, __LINE__, "%s: %s", forms[i].text, last.message);
            continue;
        }
        CHECK_TEXT(p.stmts[0].select->collection, forms[i].collection);
        CHECK_INT(p.stmts[0].select->column_count, forms[i].columns);
        CHECK_INT(p.stmts[0].select->select_all, forms[i].all);
        parsed_clear(&p);
    }
    REFUSED("select title, from docs");
    REFUSED("select n * 2 from docs");
    REFUSED("select * docs");
    REFUSED("get a, b");
    REFUSED("get t select");
    REFUSED("get t select n,");
    REFUSED("get t select n as");
    REFUSED("get t select n as a.b");
    REFUSED("get t select n as 'a'");
    REFUSED("get t select n m");
    REFUSED("get t select *, n");
    REFUSED("get t select *, count(*)");
    REFUSED("get t select n, *");
}

TEST(parser_names_columns)
{
    parsed p;

    CHECK_INT(parse("get t select a, b.c, lower(a) as l, id, d as e", &p), FENEC_OK);
    const select_stmt *s = p.stmts[0].select;
    static const char *const plain[] = {"a", "b.c", "l", "id", "e"};
    for (uint32_t i = 0; i < 5; i++)
        CHECK_TEXT(s->columns[i].name, plain[i]);
    CHECK(!s->columns[0].named && s->columns[4].named && !s->aggregates && s->has_select && !s->select_all);
    parsed_clear(&p);
    CHECK_INT(parse("get t select COUNT(*), SUM(x), avg(a.b), count(distinct x), first(x by y), last(z), "
                    "min(x), max(x) - 1 as m, Approx_Count_Distinct(x), hll_accumulate(x), hll_combine(x), "
                    "last(x, y + 1)",
                    &p),
              FENEC_OK);
    s = p.stmts[0].select;
    static const char *const folded[] = {
        "count",  "sum(x)", "avg(a.b)", "count(distinct x)",        "first(x)",          "last(z)",
        "min(x)", "m",      "approx_count_distinct(x)", "hll_accumulate(x)", "hll_combine(x)", "last(x)"};
    for (uint32_t i = 0; i < 12; i++)
        CHECK_TEXT(s->columns[i].name, folded[i]);
    CHECK(s->aggregates);
    parsed_clear(&p);
}

TEST(parser_reads_every_clause_of_get_in_any_order)
{
    parsed p;

    CHECK_INT(parse("get t limit 5 where a = 1 offset $2 where b = 2 order by a collate und desc, count(*) "
                    "order m.k asc collate tr, count(distinct a.b), SUM(x) limit 7 "
                    "require 3 select a, b",
                    &p),
              FENEC_OK);
    const select_stmt *s = p.stmts[0].select;
    CHECK_TEXT(show(s->where), "=(b 2)");
    CHECK(s->limit.given && !s->limit.is_param && s->limit.literal == 7);
    CHECK(s->offset.given && s->offset.is_param && s->offset.param == 1);
    CHECK(s->require_given && s->require == 3);
    CHECK_INT(s->order_count, 5);
    CHECK(s->order[0].descending && s->order[0].collate == COLLATION_UND && !s->order[0].is_label);
    CHECK_TEXT(s->order[1].by.text, "count");
    CHECK(s->order[1].is_label && s->order[1].by.part_count == 1);
    CHECK(!s->order[2].descending && s->order[2].collate == COLLATION_TR && s->order[2].by.part_count == 2);
    CHECK_TEXT(s->order[3].by.text, "count(distinct a.b)");
    CHECK_INT(s->order[3].by.part_count, 1);
    CHECK_TEXT(s->order[4].by.text, "sum(x)");
    parsed_clear(&p);
    CHECK_INT(parse("get t order by by, order, desc desc group by by, k as g having c > 1 "
                    "select count(*) as c",
                    &p),
              FENEC_OK);
    s = p.stmts[0].select;
    CHECK_INT(s->order_count, 3);
    CHECK_TEXT(s->order[2].by.text, "desc");
    CHECK(s->order[2].descending);
    CHECK_INT(s->group_count, 2);
    CHECK(!s->group[0].name);
    CHECK_TEXT(s->group[1].name, "g");
    CHECK_TEXT(show(s->having), ">(c 1)");
    parsed_clear(&p);
    REFUSED("get t limit");
    REFUSED("get t limit -1");
    REFUSED("get t limit 2.5");
    REFUSED("get t limit '2'");
    REFUSED("get t limit a");
    REFUSED("get t offset -1");
    REFUSED("get t require $1");
    REFUSED("get t require -1");
    REFUSED("get t order");
    REFUSED("get t order 1");
    REFUSED("get t order -n");
    REFUSED("get t order n + 1");
    REFUSED("get t order n,");
    REFUSED("get t order lower(n) + 1");
    REFUSED("get t order count()");
    REFUSED("get t order sum(a, b)");
    REFUSED("get t order sum(1)");
    REFUSED("get t order f.g(a)");
    REFUSED("get t order count(distinct a + 1)");
    REFUSED("get t order n collate fr");
    REFUSED("get t order n collate");
    REFUSED("get t order n asc desc");
    REFUSED("get t group");
}

TEST(parser_reads_ranked_clauses)
{
    parsed p;

    CHECK_INT(parse("get t near v normalize($1) exact ef 0 match b 'x' prefix fuzzy fuse candidates 50 k 7",
                    &p),
              FENEC_OK);
    const select_stmt *s = p.stmts[0].select;
    CHECK_TEXT(s->near->field.text, "v");
    CHECK(s->near->exact && s->near->ef_given && s->near->ef == 1);
    CHECK_TEXT(show(s->near->vector), "normalize($0)");
    CHECK(s->match->prefix && s->match->fuzzy == 2);
    CHECK(s->fuse->k == 7 && s->fuse->candidates == 50);
    parsed_clear(&p);
    CHECK_INT(parse("get t match b 'x' fuzzy 1 rerank v [1, 2] candidates 0", &p), FENEC_OK);
    s = p.stmts[0].select;
    CHECK(s->match->fuzzy == 1 && !s->match->prefix && s->rerank->candidates == 1);
    parsed_clear(&p);
    CHECK_INT(parse("get t match b 'x' near v '[1,2]' rerank w $1 fuse", &p), FENEC_QUERY);
    CHECK_INT(parse("get t match b 'x' near v '[1,2]' fuse k 5000000000", &p), FENEC_OK);
    s = p.stmts[0].select;
    CHECK(s->fuse->k == UINT32_MAX && s->fuse->candidates == 20 && !s->near->ef_given);
    parsed_clear(&p);
    CHECK_INT(parse("get t match b 'x' rerank w $1", &p), FENEC_OK);
    CHECK_INT(p.stmts[0].select->rerank->candidates, 200);
    parsed_clear(&p);
    REFUSED("get t near");
    REFUSED("get t near v");
    REFUSED("get t near v.x $1");
    REFUSED("get t near v $1 ef");
    REFUSED("get t near v $1 ef $2");
    REFUSED("get t near v $1 ef -1");
    REFUSED("get t match b");
    REFUSED("get t match b.k 'x'");
    REFUSED("get t match b 'x' fuzzy 3");
    REFUSED("get t match b 'x' fuzzy -1");
    REFUSED("get t match b 'x' fuzzy 1.5");
    REFUSED("get t match b 'x' rerank v $1 candidates");
    REFUSED("get t match b 'x' rerank v $1 candidates -1");
    REFUSED("get t match b 'x' rerank v.w $1");
    REFUSED("get t match b 'x' near v $1 fuse k -0");
    REFUSED("get t match b 'x' near v $1 fuse candidates $2");
}

TEST(parser_reads_marks_in_their_places)
{
    parsed p;

    CHECK_INT(parse("get t select a, highlight(b), Snippet(b, 3, '…'), c, snippet(d, 5, '', '<', '>') "
                    "match b 'x'",
                    &p),
              FENEC_OK);
    const select_stmt *s = p.stmts[0].select;
    CHECK_INT(s->column_count, 2);
    CHECK_INT(s->mark_count, 3);
    CHECK(!s->marks[0].snippet && s->marks[0].place == 1 && s->marks[0].arg_count == 0);
    CHECK(s->marks[1].snippet && s->marks[1].place == 2);
    CHECK(s->marks[1].arg_count == 1 && s->marks[1].words == 3);
    CHECK(s->marks[2].place == 4 && s->marks[2].arg_count == 3);
    parsed_clear(&p);
    CHECK_INT(parse("select *, highlight(b, $1, $2), snippet(b, 3) from t match b 'x'", &p), FENEC_OK);
    s = p.stmts[0].select;
    CHECK(s->select_all && s->has_select && s->mark_count == 2 && s->marks[1].place == UINT32_MAX);
    parsed_clear(&p);
    TAKEN("get t select highlight, snippet");
    REFUSED("get t select highlight() match b 'x'");
    REFUSED("get t select highlight(b, 'x') match b 'x'");
    REFUSED("get t select highlight(b, 'x', 'y', 'z') match b 'x'");
    REFUSED("get t select highlight(b.c) match b 'x'");
    REFUSED("get t select highlight(b) as h match b 'x'");
    REFUSED("get t select highlight(b) + 1 as h match b 'x'");
    REFUSED("get t select snippet(b) match b 'x'");
    REFUSED("get t select snippet(b, 0) match b 'x'");
    REFUSED("get t select snippet(b, -1) match b 'x'");
    REFUSED("get t select snippet(b, $1) match b 'x'");
    REFUSED("get t select snippet(b, 1.5) match b 'x'");
    REFUSED("get t select snippet(b, 3, 'a', 'b') match b 'x'");
    REFUSED("get t select snippet(b, 3, 'a', 'b', 'c', 'd') match b 'x'");
}

TEST(parser_reads_facets)
{
    parsed p;

    CHECK_INT(parse("get t facet a, m.k top 5 disjunctive, b ranges [-1, - 0.5, 0, 2.5,], c top $1", &p),
              FENEC_OK);
    const select_stmt *s = p.stmts[0].select;
    CHECK_INT(s->facet_count, 4);
    CHECK(!s->facets[0].top.given && !s->facets[0].disjunctive && !s->facets[0].has_ranges);
    CHECK(s->facets[1].top.literal == 5 && s->facets[1].disjunctive && s->facets[1].field.part_count == 2);
    CHECK(s->facets[2].has_ranges && s->facets[2].range_count == 3);
    CHECK(s->facets[2].ranges[0] == -1 && s->facets[2].ranges[1] == -0.5 && s->facets[2].ranges[3] == 2.5);
    CHECK(s->facets[2].range_bounds[0].kind == VALUE_INT && s->facets[2].range_bounds[3].kind == VALUE_FLOAT);
    CHECK(s->facets[3].top.is_param);
    parsed_clear(&p);
    CHECK_INT(parse("get t facet a facet b", &p), FENEC_OK);
    CHECK_INT(p.stmts[0].select->facet_count, 1);
    CHECK_TEXT(p.stmts[0].select->facets[0].field.text, "b");
    parsed_clear(&p);
    REFUSED("get t facet");
    REFUSED("get t facet a,");
    REFUSED("get t facet 'a'");
    REFUSED("get t facet a top");
    REFUSED("get t facet a top -1");
    REFUSED("get t facet a ranges 5");
    REFUSED("get t facet a ranges $1");
    REFUSED("get t facet a ranges [1, $1]");
    REFUSED("get t facet a ranges [1, 'x']");
    REFUSED("get t facet a ranges [0, 1 + 1]");
    REFUSED("get t facet a disjunctive top 3");
    REFUSED("get t facet a ranges [0, 1] top 3");
    REFUSED("get t facet lower(a)");
}

TEST(parser_reads_lookups)
{
    parsed p;

    CHECK_INT(parse("get a lookup b on (x, y) = (u, id) where p select m.k, n required order n desc limit 3 "
                    "order m offset $1 lookup c on z select count(*) as n, k group k "
                    "limit 2",
                    &p),
              FENEC_OK);
    const lookup *l = p.stmts[0].select->lookup;
    CHECK_TEXT(l->collection, "b");
    CHECK_INT(l->field_count, 2);
    CHECK_TEXT(l->child_fields[1], "y");
    CHECK_TEXT(l->parent_fields[0], "u");
    CHECK(l->parent_given && l->required && !l->select_all && !l->aggregates);
    CHECK_INT(l->column_count, 2);
    CHECK_INT(l->order_count, 2);
    CHECK(l->limit.literal == 3 && l->offset.is_param);
    CHECK_TEXT(show(l->where), "p");
    l = l->next;
    CHECK_TEXT(l->collection, "c");
    CHECK(!l->parent_given && !l->required && l->aggregates && l->group_count == 1 && !l->next);
    CHECK_TEXT(l->parent_fields[0], "id");
    parsed_clear(&p);
    CHECK_INT(parse("get a lookup b on x = y select *", &p), FENEC_OK);
    CHECK(p.stmts[0].select->lookup->select_all);
    parsed_clear(&p);
    TAKEN("get a lookup b on (x)");
    TAKEN("get a lookup b on (x) = y");
    REFUSED("get a lookup b");
    REFUSED("get a lookup on x");
    REFUSED("get a lookup b on");
    REFUSED("get a lookup b on x.y");
    REFUSED("get a lookup b on (x, y)");
    REFUSED("get a lookup b on (x, y) = z");
    REFUSED("get a lookup b on x = (y, z)");
    REFUSED("get a lookup b on ()");
    REFUSED("get a lookup b on x =");
    REFUSED("get a lookup b on x require 1");
    REFUSED("get a lookup b on x count");
    REFUSED("get a lookup b on x near v $1");
    REFUSED("get a lookup b on x match v $1");
    REFUSED("get a lookup b on x having n");
    REFUSED("get a lookup b on x facet y");
    REFUSED("get a lookup b on x select n * 2 as m");
    REFUSED("get a lookup b on x select n as m");
    REFUSED("get a lookup b on x select highlight(n)");
    REFUSED("get a lookup b on x select *, n");
    REFUSED("get a lookup b on x limit -1");
}

TEST(parser_reads_parts_on_their_own)
{
    arena a;
    select_stmt list;
    group_key *keys;
    facet *facets;
    uint32_t count;
    const char *text = "a, count(*) as n, m.k";

    arena_init(&a);
    CHECK_INT(parse_select_list((const uint8_t *)text, strlen(text), &a, &list, &last), FENEC_OK);
    CHECK(list.column_count == 3 && list.aggregates && list.has_select && !list.select_all);
    CHECK_INT(parse_select_list((const uint8_t *)"*", 1, &a, &list, &last), FENEC_OK);
    CHECK(list.select_all && list.column_count == 0);
    CHECK_INT(parse_select_list((const uint8_t *)"a from t", 8, &a, &list, &last), FENEC_QUERY);
    CHECK_INT(parse_select_list((const uint8_t *)"", 0, &a, &list, &last), FENEC_QUERY);
    CHECK_INT(parse_group_list((const uint8_t *)"a, bucket(t, 1h) as h", 21, &a, &keys, &count, &last), 0);
    CHECK_INT(count, 2);
    CHECK_TEXT(keys[1].name, "h");
    CHECK_INT(parse_group_list((const uint8_t *)"a,", 2, &a, &keys, &count, &last), FENEC_QUERY);
    CHECK_INT(parse_group_list((const uint8_t *)"a limit 1", 9, &a, &keys, &count, &last), FENEC_QUERY);
    CHECK_INT(parse_facet_list((const uint8_t *)"a top 3, b disjunctive", 22, &a, &facets, &count, &last), 0);
    CHECK(count == 2 && facets[1].disjunctive);
    CHECK_INT(parse_facet_list((const uint8_t *)"a b", 3, &a, &facets, &count, &last), FENEC_QUERY);
    arena_clear(&a);
}

/* ---- sizes, memory, nonsense ---- */

TEST(parser_reads_long_texts)
{
    static const struct {
        const char *before, *between, *after;
        int code;
    } texts[] = {
        {"put t ", "{a: 1, b: \"x\"} ", "", FENEC_OK},
        {"put t [", "{a: 1, b: \"x\"}, ", "]", FENEC_OK},
        {"put t {a: [", "1, ", "]}", FENEC_OK},
        {"put t {a: [", "\"ab\\n\", ", "]}", FENEC_OK},
        {"get t where a in [", "$1, ", "]", FENEC_OK},
        {"", "get t where a = 1 ", "", FENEC_OK},
        {"get t select a", ", a", "", FENEC_OK},
        {"get t order a", ", a", "", FENEC_OK},
        {"get t where a = '", "x", "'", FENEC_OK},
        {"", ";", "", FENEC_OK},
        {"", "# x\n", "", FENEC_OK},
        {"get t where 1", " or 1", "", FENEC_QUERY},
        {"get t where ", "(", "", FENEC_QUERY},
        {"get t where ", "not ", "", FENEC_QUERY},
        {"get t where ", "- ", "", FENEC_QUERY},
        {"get t where ", "f(", "", FENEC_QUERY},
        {"put t {a: ", "[", "", FENEC_QUERY},
        {"put t {a: ", "{a:", "", FENEC_QUERY},
        {"create collection t (a ", "[", "", FENEC_QUERY},
        {"get t", " lookup u on a", "", FENEC_QUERY},
        {"get t where a in ", "(get t where a in ", "", FENEC_QUERY},
        {"get ", "a, ", "", FENEC_QUERY},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t times = (1u << 20) / strlen(texts[i].between);
        char *text = repeated(texts[i].before, texts[i].between, times, texts[i].after);
        parsed p;
        int code = parse(text, &p);
        if (code != texts[i].code)
            test_failed(__FILE__, __LINE__, "1 MB of %s answers %d %s", texts[i].between, code, last.message);
        if (code == FENEC_OK)
            parsed_clear(&p);
        free(text);
    }
}

TEST(parser_reads_a_long_object_of_keys_in_no_order)
{
    buffer b;
    parsed p;

    buffer_init(&b);
    buffer_text(&b, "put t {a: {");
    for (unsigned i = 0; i < 20000; i++)
        buffer_printf(&b, "k%u: %u, ", i * 7919 % 20011, i);
    buffer_text(&b, "}}");
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    CHECK_INT(p.stmts[0].docs[0].items[0].e->literal.count, 20000);
    parsed_clear(&p);
    buffer_clear(&b);
}

/* One of every statement, clause and literal, for the tests below. */
static const char *const all_kinds[] = {
    "create collection if not exists c (a text required collate tr @unique, b [vector<3, f16>], d "
    "timestamp @ttl(1h), e vector<2> @hnsw(l2, m=8), f text @text(k1=1.5, chars), g sparse<9> @inverted)",
    "create index if not exists on c (m.a) @sorted; drop collection if exists c",
    "alter collection c add field x int; alter collection c rename x to y; alter collection c alter d "
    "@sorted",
    "put c [{a: 'x\\ny', m.k: $1, j: {b: [1, 2.5, {z: null, a: \"q\\\"\"}], a: true}}, {}] if absent "
    "else set {n: new.n} returning a, m.k require 1",
    "set c {a: lower(a), n: case when n > 1 then -n else 0 end} where a in [1, $2] order a collate und "
    "desc limit 2",
    "del c where not a is null and b ~ 'x' or c has [1, 2] returning *",
    "select a, count(*) as n, sum(b) + 1 as s, first(x by y), count(distinct z) from c group a, "
    "bucket(at, 15m) as q having n > 1 and max(b) < 3 order n, count(distinct z) desc limit 3 offset 4 "
    "require 2",
    "get c select a, highlight(b, '<', '>'), snippet(b, 3, '…') match b $1 fuzzy 1 prefix near v [1, 2] "
    "ef 9 fuse k 3",
    "get c where k = 1 and (m = 2 or m = 3) and m < 9 facet m top 3 disjunctive, k ranges [0, 1, 2], z",
    "get c where a in (get d select x where y in (select z from e)) lookup d on (a, b) = (c, id) "
    "required select m.k, n lookup e on q select count(*) as n, g group g",
    "get c match b 'x' rerank v $1 candidates 9; explain get c; collections; describe c; compact c",
};

TEST(parser_survives_memory_that_runs_out)
{
    for (size_t i = 0; i < sizeof all_kinds / sizeof *all_kinds; i++) {
        bool done = false;
        for (long n = 0; n < 1000 && !done; n++) {
            parsed p;
            memory_fail_after(n);
            int code = parse(all_kinds[i], &p);
            memory_fail_after(-1);
            if (code == FENEC_OK) {
                done = true;
                parsed_clear(&p);
            } else if (code != FENEC_PANIC) {
                test_failed(__FILE__, __LINE__, "%s answers %d %s at %ld", all_kinds[i], code, last.message,
                            n);
                done = true;
            }
        }
        CHECK(done);
    }
}

TEST(parser_survives_memory_that_runs_out_in_longer_texts)
{
    for (size_t i = 0; i < sizeof all_kinds / sizeof *all_kinds; i++) {
        char *text = repeated("", "put t {a: 'some filler of a text'} ", 40 + i, all_kinds[i]);
        for (long n = 0; n < 200; n++) {
            parsed p;
            memory_fail_after(n);
            int code = parse(text, &p);
            memory_fail_after(-1);
            if (code == FENEC_OK) {
                parsed_clear(&p);
                break;
            }
            CHECK_INT(code, FENEC_PANIC);
        }
        free(text);
    }
}

TEST(parser_takes_every_kind_and_refuses_every_cut_of_it_cleanly)
{
    for (size_t i = 0; i < sizeof all_kinds / sizeof *all_kinds; i++) {
        TAKEN(all_kinds[i]);
        for (size_t len = 0; len < strlen(all_kinds[i]); len++) {
            parsed p;
            size_t cut = len;
            while (cut && ((uint8_t)all_kinds[i][cut] & 0xC0) == 0x80)
                cut--;
            /* An exact copy, so that a read past the end is seen. */
            uint8_t *copy = malloc(cut ? cut : 1);
            memcpy(copy, all_kinds[i], cut);
            error_init(&last);
            int code = parse_text(copy, cut, &p, &last);
            if (code == FENEC_OK)
                parsed_clear(&p);
            else if (code != FENEC_QUERY && code != FENEC_TYPE)
                test_failed(__FILE__, __LINE__, "%.*s answers %d", (int)cut, all_kinds[i], code);
            free(copy);
        }
    }
}

TEST(parser_answers_any_soup_of_tokens)
{
    static const char *const words[] = {
        "get", "select", "from", "put", "insert", "into", "set", "update", "del", "delete", "create",
        "collection",
        "index", "on", "if", "not", "exists", "absent", "else", "drop", "alter", "add", "field", "rename",
        "to",
        "explain", "collections", "describe", "compact", "where", "group", "by", "having", "as", "order",
        "asc",
        "desc", "collate", "und", "tr", "limit", "offset", "count", "facet", "top", "ranges", "disjunctive",
        "require", "returning", "near", "ef", "exact", "match", "fuzzy", "prefix", "rerank", "candidates",
        "fuse",
        "k", "lookup", "required", "and", "or", "in", "is", "null", "true", "has", "case", "when", "then",
        "end",
        "distinct", "sum", "first", "bucket", "highlight", "snippet", "int", "text", "vector", "sparse",
        "json",
        "hash", "hnsw", "ttl", "m", "quant", "bit", "a", "b", "c", "m.k", "a.b.c", "id", "new.a", "ş",
        "{", "}",
        "(", ")", "[", "]", ",", ":", "@", "*", "+", "-", "/", "~", "<", "<=", ">", ">=", "=", "!=", "1",
        "-1",
        "2.5", "15", "0", "'x'", "\"y\\n\"", "$1", "$2", "count(*)", "sum(a)", "a = 1", "{a: 1}", "[1, 2]",
        "get t", "in (get t select a)", "match b 'x'", "lookup u on a", "group a", "where a = 1", "(",
        ")", ",",
    };
    const size_t word_count = sizeof words / sizeof *words;
    uint64_t state = test_seed();
    long taken = 0, rounds = test_scale(20000, 2000000);

    for (long i = 0; i < rounds; i++) {
        char text[2000];
        size_t at = 0, tokens_of = 1 + test_random(&state) % 30;
        parsed p;

        /* Half of them begin as a statement that is taken, so that more than its first word is tried. */
        if (test_random(&state) % 2) {
            const char *whole = all_kinds[test_random(&state) % (sizeof all_kinds / sizeof *all_kinds)];
            size_t len = test_random(&state) % strlen(whole);
            while (len && whole[len] != ' ')
                len--;
            at = (size_t)snprintf(text, sizeof text, "%.*s ", (int)len, whole);
        }
        for (size_t j = 0; j < tokens_of && at < sizeof text - 50; j++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s ",
                                   words[test_random(&state) % word_count]);
        int code = parse(text, &p);
        if (code == FENEC_OK) {
            taken++;
            parsed_clear(&p);
        } else if ((code != FENEC_QUERY && code != FENEC_TYPE && code != FENEC_EXISTS) ||
                   strncmp(last.message, "position ", 9) != 0) {
            test_failed(__FILE__, __LINE__, "%s answers %d %s", text, code, last.message);
        }
    }
    CHECK(taken > 0);
}

TEST(parser_answers_any_change_of_characters)
{
    static const char *const pieces[] = {"{", "}",  "(", ")",  "[", "]", "\"", "'", "\\",
                                         ",", ":",  ".", "-",  "--", "#", "\n", "$", "$0",
                                         "!", "@",  "e", "1",  "_", " ", "ş",  "*", "\xCC\x81"};
    uint64_t state = test_seed();
    long rounds = test_scale(20000, 1000000);

    for (long i = 0; i < rounds; i++) {
        const char *whole = all_kinds[test_random(&state) % (sizeof all_kinds / sizeof *all_kinds)];
        size_t len = strlen(whole), changes = 1 + test_random(&state) % 4;
        buffer b;
        parsed p;

        buffer_init(&b);
        buffer_put(&b, whole, len);
        for (size_t j = 0; j < changes; j++) {
            const char *piece = pieces[test_random(&state) % (sizeof pieces / sizeof *pieces)];
            size_t from = test_random(&state) % b.len, gone = test_random(&state) % 3, rest;
            while (from && (b.bytes[from] & 0xC0) == 0x80)
                from--;
            for (rest = from + gone; rest < b.len && (b.bytes[rest] & 0xC0) == 0x80;)
                rest++;
            if (rest > b.len)
                rest = b.len;
            buffer changed;
            buffer_init(&changed);
            buffer_put(&changed, b.bytes, from);
            buffer_text(&changed, piece);
            buffer_put(&changed, b.bytes + rest, b.len - rest);
            buffer_clear(&b);
            b = changed;
        }
        error_init(&last);
        int code = parse_text(b.bytes, b.len, &p, &last);
        if (code == FENEC_OK)
            parsed_clear(&p);
        else if (code != FENEC_QUERY && code != FENEC_TYPE && code != FENEC_EXISTS)
            test_failed(__FILE__, __LINE__, "%.*s answers %d", (int)b.len, (const char *)b.bytes, code);
        buffer_clear(&b);
    }
}
