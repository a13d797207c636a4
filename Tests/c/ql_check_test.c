/* Tests of ql/check.h: the refusals of chapter 1 section 9, each beside the nearest text that is taken. */
#include <stdlib.h>

#include "base/buffer.h"
#include "ql/parser.h"
#include "test.h"

static error last;

static int parse(const char *text, parsed *p)
{
    error_init(&last);
    return parse_text((const uint8_t *)text, strlen(text), p, &last);
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

TEST(fuse_needs_both_rankings_and_goes_alone)
{
    TAKEN("get t match b 'x' near v $1 fuse");
    REFUSED("get t fuse");
    REFUSED("get t match b 'x' fuse");
    REFUSED("get t near v $1 fuse");
    REFUSED("get t match b 'x' near v $1 fuse rerank v $1");
    REFUSED("get t match b 'x' near v $1 fuse order a");
    REFUSED("get t match b 'x' near v $1 fuse candidates 0");
    TAKEN("get t match b 'x' near v $1 fuse candidates 1");
    TAKEN("get t match b 'x' near v $1 fuse k 0 limit 3 offset $2 where a require 3");
    REFUSED("get t match b 'x' near v $1");
    REFUSED("get t match b 'x' near v $1 fuse count");
    REFUSED("get t match b 'x' near v $1 fuse lookup u on a");
    REFUSED("get t match b 'x' near v $1 fuse facet a");
    REFUSED("get t select count(*) match b 'x' near v $1 fuse");
}

TEST(a_ranking_is_the_only_order)
{
    REFUSED("get t match b 'x' order a");
    REFUSED("get t near v $1 order a");
    REFUSED("get t match b 'x' rerank v $1 order a");
    TAKEN("get t match b 'x' rerank v $1");
    REFUSED("get t rerank v $1");
    REFUSED("get t near v $1 rerank v $1");
    REFUSED("get t match b 'x' near v $1 rerank v $1");
    REFUSED("get t match b 'x' lookup u on a");
    REFUSED("get t near v $1 lookup u on a");
    REFUSED("get t match b 'x' rerank v $1 lookup u on a");
    REFUSED("get t select count(*) near v $1");
    REFUSED("get t select count(*) match b 'x'");
    REFUSED("get t select a, count(*) match b 'x' group a");
    REFUSED("get t match b 'x' count");
    REFUSED("get t near v $1 count");
    TAKEN("get t match b 'x' facet a, c top 3");
}

TEST(a_ranked_value_reads_no_row)
{
    TAKEN("get t near v normalize($1)");
    TAKEN("get t match b lower('X') + $1");
    TAKEN("get t near v '[1, 2]'");
    REFUSED("get t near v v");
    REFUSED("get t near v normalize(e)");
    REFUSED("get t match b m.k");
    REFUSED("get t match b 'x' rerank v id");
    REFUSED("get t select highlight(b, c, '>') match b 'x'");
    REFUSED("get t select highlight(b, '<', lower(c)) match b 'x'");
    REFUSED("get t select snippet(b, 3, c) match b 'x'");
    TAKEN("get t select highlight(b, $1, lower('X')) match b 'x'");
}

TEST(marks_go_with_match_once_each)
{
    TAKEN("get t select highlight(b), highlight(c), snippet(b, 3) match b 'x'");
    TAKEN("get t select highlight(b) match b 'x' near v $1 fuse");
    TAKEN("get t select highlight(b) match b 'x' rerank v $1");
    REFUSED("get t select highlight(b)");
    REFUSED("get t select *, snippet(b, 3)");
    REFUSED("get t select snippet(b, 3) near v $1");
    REFUSED("get t select highlight(b), highlight(b) match b 'x'");
    REFUSED("get t select highlight(b), highlight(b, '<', '>') match b 'x'");
    REFUSED("get t select snippet(b, 3), snippet(b, 4) match b 'x'");
    REFUSED("get t select highlight(b), count(*) match b 'x'");
    REFUSED("get t select *, highlight(b) match b 'x' count");
}

TEST(count_goes_with_few_clauses)
{
    TAKEN("get t count");
    TAKEN("get t where a count facet b");
    TAKEN("get t select * count");
    TAKEN("get t count offset 0");
    TAKEN("get t count offset $1");
    TAKEN("get t select a, count(*) group a having count(*) > 1 count");
    TAKEN("get t select a, count(*) group a count offset 0");
    REFUSED("get t select a count");
    REFUSED("get t count select count(*)");
    REFUSED("get t select count(*) as a count");
    REFUSED("get t count order a");
    REFUSED("get t count limit 1");
    REFUSED("get t count limit $1");
    REFUSED("get t count limit 0");
    REFUSED("get t count offset 1");
    REFUSED("get t count require 1");
    REFUSED("get t select a, count(*) group a count order a");
    REFUSED("get t select a, count(*) group a count limit 2");
    REFUSED("get t select a, count(*) group a count offset 2");
    REFUSED("get t select a, count(*) group a count require 2");
    REFUSED("get t count lookup u on a");
    TAKEN("get t count lookup u on a required");
    REFUSED("get t count lookup u on a lookup w on b required");
    TAKEN("get t count lookup u on a required lookup w on b");
}

TEST(require_is_refused_where_one_row_is_certain)
{
    TAKEN("get t require 0");
    TAKEN("get t select a, count(*) group a require 3");
    REFUSED("get t select count(*) require 1");
    TAKEN("get t require 3 lookup u on a");
    REFUSED("get t lookup u on a require 3");
}

TEST(groups_need_aggregates_and_having_needs_groups)
{
    REFUSED("get t group a");
    REFUSED("get t select * group a");
    REFUSED("get t select a group a");
    REFUSED("get t select a group a having count(*) > 1");
    REFUSED("get t having a");
    REFUSED("get t select count(*) having count(*) > 1");
    TAKEN("get t select count(*) group a having count(*) > 1");
    REFUSED("get t select count(*) group count(*)");
    REFUSED("get t select count(*) group 1 + sum(a)");
    REFUSED("get t select count(*) as n group n");
    REFUSED("get t select lower(max(a)) as m group b, m");
    TAKEN("get t select count(*) group count"); /* a field */
}

TEST(what_stands_outside_an_aggregate_is_a_key)
{
    TAKEN("get t select a, count(*) group a");
    REFUSED("get t select a, count(*)");
    REFUSED("get t select a, count(*) group b");
    REFUSED("get t select sum(a) + b as x");
    TAKEN("get t select sum(a) + b as x group b");
    TAKEN("get t select m.k, count(*) group m.k");
    REFUSED("get t select m.k, count(*) group m");
    REFUSED("get t select m, count(*) group m.k");
    TAKEN("get t select 1 as x, $1 as y, count(*)");
    TAKEN("get t select lower(a) as x, count(*) group a");
    TAKEN("get t select lower(a) as x, count(*) group x");
    REFUSED("get t select lower(a) as x, count(*) group lower(a)");
    REFUSED("get t select lower(a) as x, lower(a) as y, count(*) group x");
    TAKEN("get t select lower(a) as x, lower(a) as y, count(*) group x, y");
    TAKEN("get t select count(*) group lower(a), b + 1");
    TAKEN("get t select lower(kind) as kind, count(*) group kind");
    TAKEN("get t select case when a then sum(b) else 0 end as x group a");
    REFUSED("get t select case when c then sum(b) else 0 end as x group a");
    REFUSED("get t select sum(b) in [1, c] as x group a");
    REFUSED("get t select bucket(at, 1h) as h, count(*) group bucket(at, 1h)");
    TAKEN("get t select bucket(at, 1h) as h, count(*) group h");
}

TEST(having_reads_keys_columns_and_aggregates)
{
    TAKEN("get t select a, count(*) as n group a having n > 1 and a != 'x' and max(b) > 2");
    TAKEN("get t select a, count(*) group a having count > 1");
    TAKEN("get t select count(*) group a having a");
    TAKEN("get t select count(*) group lower(a) as k having k");
    TAKEN("get t select lower(a) as k, count(*) group k having k ~ 'x'");
    REFUSED("get t select a, count(*) group a having b");
    REFUSED("get t select count(*) group lower(a) as k having a");
    REFUSED("get t select count(*) group a having a = 1 or lower(b) = 'x'");
    REFUSED("get t select count(*) group a having sum(max(b)) > 1");
    REFUSED("get t select count(*) group a having count(b) > 1");
    REFUSED("get t select count(*) group a having min(b, c) > 1");
}

TEST(keys_are_named_with_as)
{
    TAKEN("get t select q, count(*) group bucket(at, 15m) as q order q");
    TAKEN("get t select a, count(*) group len(a) as a");
    TAKEN("get t select count(*) group a as x, b as y");
    TAKEN("get t select q + 1 as r, count(*) group a as q");
    TAKEN("get t select sum(q), q group a as q"); /* inside an aggregate q is the field */
    REFUSED("get t select count(*) group a as x, b as x");
    REFUSED("get t select n as a, count(*) group n as a");
    REFUSED("get t select count(*) as a group n as a");
    REFUSED("get t select count(*) group n as count");
    REFUSED("get t select b, count(*) group n as a");
    REFUSED("get t select a as a, count(*) group a as a");
    TAKEN("get t select a, count(*) group a as b"); /* the same field as the key */
}

TEST(aggregates_have_their_shapes)
{
    TAKEN("get t select count(*), count(distinct a), count(distinct a + 1) as x");
    REFUSED("get t select count(*), count()");
    TAKEN("get t select count()");
    REFUSED("get t select count(a)");
    REFUSED("get t select count(a, b) as x");
    REFUSED("get t select count(distinct) as x");
    REFUSED("get t select distinct(a) as x, count(*)");
    REFUSED("get t select distinct(a) as x");
    REFUSED("get t select sum(distinct(a)) as x");
    REFUSED("get t select sum()");
    REFUSED("get t select sum(a, b) as x");
    REFUSED("get t select avg()");
    REFUSED("get t select min(a, b) as x");
    REFUSED("get t select max() as x");
    REFUSED("get t select first()");
    REFUSED("get t select first(a, b, c) as x");
    TAKEN("get t select first(a), last(b, c), first(d by e + 1), last(a + 1 by b) as x");
    REFUSED("get t select approx_count_distinct(a, b) as x");
    REFUSED("get t select hll_accumulate() as x");
    REFUSED("get t select hll_combine(a, b) as x");
    REFUSED("get t select sum(max(a)) as x");
    REFUSED("get t select sum(1 + count(*)) as x");
    REFUSED("get t select count(distinct max(a)) as x");
    REFUSED("get t select first(a by max(b)) as x");
    REFUSED("get t select lower(sum(max(a))) as x");
    TAKEN("get t select hll_estimate(hll_combine(s)) as n, SUM(a) - MIN(a) as x");
    TAKEN("get t where sum(a) = 1"); /* an unknown function, judged when it is called */
    TAKEN("put t {a: sum(1)}");
    REFUSED("get t select sum(a) + 1");
    REFUSED("get t select sum(a + 1)");
    REFUSED("get t select count(distinct a + 1)");
    REFUSED("get t select first(a + 1 by b)");
}

TEST(names_of_columns_differ)
{
    TAKEN("get t select a, a");
    TAKEN("get t select n as n");
    REFUSED("get t select n, f as n");
    REFUSED("get t select f as n, n");
    REFUSED("get t select n, n, f as n");
    REFUSED("get t select n * 2 as a, f as a");
    REFUSED("get t select n, n as n");
    REFUSED("get t select sum(n), sum(n)");
    REFUSED("get t select sum(n), SUM(n)");
    REFUSED("get t select sum(n) as a, avg(n) as a");
    REFUSED("get t select a, a, count(*) group a");
    REFUSED("get t select count, count(*) group count");
    REFUSED("get t select first(n), first(n by k)");
    TAKEN("get t select sum(n), sum(m.n)");
    REFUSED("get t select n * 2");
    REFUSED("get t select 5");
    REFUSED("get t select lower(s)");
    REFUSED("get t select a, -n");
}

TEST(lookups_hang_off_rows_and_groups)
{
    TAKEN("get a lookup b on x lookup c on y");
    REFUSED("get a lookup a on x");
    REFUSED("get a lookup b on x lookup a on y");
    REFUSED("get a lookup b on x lookup b on y");
    TAKEN("get a where id in (get a select x) lookup b on x where y in (get a select z)");
    TAKEN("get a lookup b1 on x lookup b2 on x lookup b3 on x lookup b4 on x lookup b5 on x lookup b6 on x "
          "lookup b7 on x lookup b8 on x");
    REFUSED("get a lookup b1 on x lookup b2 on x lookup b3 on x lookup b4 on x lookup b5 on x lookup b6 on x "
            "lookup b7 on x lookup b8 on x lookup b9 on x");
    REFUSED("get a lookup b on x group y");
    REFUSED("get a lookup b on x select y group y");
    TAKEN("get a lookup b on x select y, count(*) group y");
    REFUSED("get a lookup b on x select z, count(*) group y");
    TAKEN("get a lookup b on x select sum(y) / count(*) as m");
    REFUSED("get a lookup b on x select sum(y) / count(*)");
    REFUSED("get a lookup b on x select count(*) group count(*)");
    REFUSED("get a lookup b on x select count(*) as d group v as d");
    TAKEN("get a lookup b on x select q, count(*) group v as q");
    REFUSED("get a lookup b on x select sum(n), sum(n)");
    REFUSED("get a lookup b on x select count(n)");
    REFUSED("get a select count(*) lookup b on x");
    REFUSED("get a select n, count(*) group n lookup b on x");
    REFUSED("get a select n, count(*) group n lookup b on x = m");
    REFUSED("get a select count(*) group n as q lookup b on x = q"); /* no column of the list */
    TAKEN("get a select q, count(*) group n as q lookup b on x = q");
    TAKEN("get a select n, count(*) group n lookup b on x = n lookup c on y");
    TAKEN("get a select n, count(*) as m group n lookup b on (x, y) = (n, m)");
    REFUSED("get a lookup b on x select count(*) lookup c on y");
    REFUSED("get a lookup b on x select k, count(*) group k lookup c on y = k");
    TAKEN("get a lookup b on x lookup c on y select count(*)");
}

TEST(inner_queries_answer_one_column)
{
    TAKEN("get t where a in (get u select b)");
    TAKEN("get t where a in (select b from u)");
    TAKEN("get t where a in (get u select m.k order b limit 3 offset $1)");
    TAKEN("get t where a in (get u select b + 1 as c)");
    TAKEN("get t where a in (get u select max(b))");
    TAKEN("get t where a in (get u select max(b) group c having max(b) > 1)");
    TAKEN("get t where a in (get u select id match b 'x' limit 3)");
    REFUSED("get t where a in (get u)");
    REFUSED("get t where a in (get u select *)");
    REFUSED("get t where a in (get u select b, c)");
    REFUSED("get t where a in (get u select b, count(*) group b)");
    REFUSED("get t where a in (get u count)");
    REFUSED("get t where a in (get u select b, count(*) group b count)");
    REFUSED("get t where a in (get u select b require 1)");
    REFUSED("get t where a in (get u select b lookup v on c)");
    REFUSED("get t where a in (get u select b + 1)");
    REFUSED("get t where a in (get u select b near v $1 order b)");
    REFUSED("get t where a in (get u select highlight(b) match b 'x')");
    REFUSED("get t where a in (get u select b, highlight(b) match b 'x')");
    REFUSED("set t {a: 1} where a in (get u)");
    REFUSED("get t lookup v on x where a in (get u)");
}

TEST(facets_have_their_bounds)
{
    TAKEN("get t facet a, b, m.k, m");
    REFUSED("get t facet a, a");
    REFUSED("get t facet m.k, b, m.k top 3");
    REFUSED("get t near v $1 facet a");
    REFUSED("get t select count(*) facet a");
    REFUSED("get t select a, count(*) group a facet a");
    REFUSED("get t facet a top 0");
    TAKEN("get t facet a top 1");
    TAKEN("get t facet a top 10000");
    REFUSED("get t facet a top 10001");
    TAKEN("get t facet a top $1");
    REFUSED("get t facet a ranges []");
    REFUSED("get t facet a ranges [1]");
    TAKEN("get t facet a ranges [1, 2]");
    REFUSED("get t facet a ranges [1, 1]");
    REFUSED("get t facet a ranges [1, 1.0]");
    REFUSED("get t facet a ranges [5, 1]");
    REFUSED("get t facet a ranges [0, 5, 5, 6]");
    TAKEN("get t facet a ranges [9007199254740992, 9007199254740993]");
    REFUSED("get t facet a top 3 ranges [0, 5]");
    TAKEN("get t facet a limit 0 lookup u on b required");
}

TEST(range_facets_take_up_to_10001_bounds)
{
    for (int bounds = 10001; bounds <= 10002; bounds++) {
        buffer b;
        parsed p;

        buffer_init(&b);
        buffer_text(&b, "get t facet a ranges [");
        for (int i = 0; i < bounds; i++)
            buffer_printf(&b, "%s%d", i ? ", " : "", i);
        buffer_text(&b, "]");
        int code = parse_text(b.bytes, b.len, &p, &last);
        CHECK_INT(code, bounds == 10001 ? FENEC_OK : FENEC_QUERY);
        if (code == FENEC_OK) {
            CHECK_INT(p.stmts[0].select->facets[0].range_count, 10000);
            parsed_clear(&p);
        }
        buffer_clear(&b);
    }
}

/* The fields and operators of a filter, enough to tell which terms are left. */
static void write_filter(buffer *out, const expr *e)
{
    switch (e->kind) {
    case EXPR_AND:
        write_filter(out, e->left);
        buffer_text(out, " & ");
        write_filter(out, e->right);
        break;
    case EXPR_FIELD: buffer_text(out, e->field.text); break;
    default:
        if (e->left)
            write_filter(out, e->left);
        if (e->right)
            write_filter(out, e->right);
        break;
    }
}

static const char *own_filter(const char *text, uint32_t place)
{
    static char shown[500];
    parsed p;
    buffer out;

    if (parse(text, &p) != FENEC_OK)
        return last.message;
    const select_stmt *s = p.stmts[0].select;
    snprintf(shown, sizeof shown, "%s", s->facets[place].own_filter_given ? "none" : "its own");
    if (s->facets[place].own_filter) {
        buffer_init(&out);
        write_filter(&out, s->facets[place].own_filter);
        snprintf(shown, sizeof shown, "%.*s", (int)out.len, (const char *)out.bytes);
        buffer_clear(&out);
    }
    parsed_clear(&p);
    return shown;
}

TEST(a_disjunctive_facet_leaves_its_own_terms_out)
{
    CHECK_TEXT(own_filter("get t where a = 1 and b = 2 and c = 3 facet b disjunctive", 0), "a & c");
    CHECK_TEXT(own_filter("get t where b = 1 and (b = 2 or not b is null) and c facet b disjunctive", 0),
               "c");
    CHECK_TEXT(own_filter("get t where b in [1, 2] facet b disjunctive", 0), "none");
    CHECK_TEXT(own_filter("get t where a = 1 facet b disjunctive", 0), "its own");
    CHECK_TEXT(own_filter("get t where b = 1 facet b", 0), "its own");
    CHECK_TEXT(own_filter("get t facet b disjunctive", 0), "its own");
    CHECK_TEXT(own_filter("get t where a = 1 and b = 2 and c facet b disjunctive, c, a disjunctive", 2),
               "b & c");
    CHECK_TEXT(own_filter("get t where m.a = 1 and m.b = 2 and m is null facet m.a disjunctive", 0),
               "m.b & m");
    CHECK_TEXT(own_filter("get t where a and b and true facet a disjunctive", 0), "b & ");
    CHECK_TEXT(own_filter("get t where b in (get u select c where b = 1 and d) and e facet b disjunctive", 0),
               "e");
}

TEST(a_disjunctive_facet_refuses_a_term_of_its_field_and_another)
{
    REFUSED("get t where brand = 'a' or sale facet brand disjunctive");
    TAKEN("get t where brand = 'a' or sale facet brand, sale");
    REFUSED("get t where x and brand = other facet brand disjunctive");
    REFUSED("get t where case when a then b end facet a disjunctive");
    REFUSED("get t where a in [b] facet b disjunctive");
    REFUSED("get t where m.a = m.b facet m.a disjunctive");
    REFUSED("get t where not (a = 1 and b = 2) facet a disjunctive");
    TAKEN("get t where a = 1 or b = 2 facet c disjunctive");
}

TEST(checks_read_long_lists)
{
    buffer b;
    parsed p;

    /* Group keys and columns by the ten thousands. */
    buffer_init(&b);
    buffer_text(&b, "get t select count(*)");
    for (int i = 0; i < 20000; i++)
        buffer_printf(&b, ", k%d", i);
    buffer_text(&b, " group k0");
    for (int i = 1; i < 20000; i++)
        buffer_printf(&b, ", k%d", i);
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    parsed_clear(&p);
    /* Facets, each of them disjunctive, some with a term of their own. */
    b.len = 0;
    buffer_text(&b, "get t where k0 = 1");
    for (int i = 1; i < 500; i++)
        buffer_printf(&b, " and k%d = 1", i);
    buffer_text(&b, " facet f");
    for (int i = 0; i < 20000; i++)
        buffer_printf(&b, ", k%d disjunctive", i);
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    CHECK(p.stmts[0].select->facets[500].own_filter != NULL);
    CHECK(!p.stmts[0].select->facets[501].own_filter_given);
    parsed_clear(&p);
    /* Fields of a collection. */
    b.len = 0;
    buffer_text(&b, "create collection t (f int");
    for (int i = 0; i < 20000; i++)
        buffer_printf(&b, ", k%d int", i);
    buffer_text(&b, ")");
    CHECK_INT(parse_text(b.bytes, b.len, &p, &last), FENEC_OK);
    parsed_clear(&p);
    buffer_clear(&b);
}
