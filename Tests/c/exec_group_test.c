#include "exec/distinct.h"
#include "exec/group.h"
#include "exec_bed.h"
#include "value/collation.h"

/* The collection of the chapter's examples of aggregates. */
static void open_rows(bed *b)
{
    bed_open(b);
    bed_do(b, "create collection a (g text, n int, x float, s text, at timestamp, m json, v vector<2>, "
              "ok bool, "
              "tags [text], p geo)");
    bed_do(b, "put a [{g: \"p\", n: 4, x: 0.5, s: \"pear\", at: \"2026-02-01T00:00:00Z\", m: {q: 2}}, "
              "{g: \"p\", s: \"fig\", m: {q: 2.5}}, "
              "{g: \"r\", n: 10, x: 2, s: \"kiwi\", at: \"2025-01-01T08:00:00Z\"}, "
              "{n: 3}, "
              "{g: \"r\", n: 1, m: {q: 5}}]");
}

/* ---- one row ---- */

TEST(aggregates_without_groups_answer_one_row)
{
    bed b;
    open_rows(&b);
    CHECK_ROWS(&b, "get a select count(*), sum(n), avg(n), min(n), max(n)",
               "{\"count\":5,\"sum(n)\":18,\"avg(n)\":4.5,\"min(n)\":1,\"max(n)\":10}");
    CHECK_ROWS(&b, "get a select COUNT(*), Sum(x), max(s), min(at) where g = \"p\"",
               "{\"count\":2,\"sum(x)\":0.5,\"max(s)\":\"pear\",\"min(at)\":\"2026-02-01T00:00:00Z\"}");
    CHECK_ROWS(&b, "get a select sum(m.q), min(m.q), max(m.q), avg(m.q)",
               "{\"sum(m.q)\":9.5,\"min(m.q)\":2,\"max(m.q)\":5,\"avg(m.q)\":3.1666666666666665}");
    CHECK_ROWS(&b, "get a select sum(n * 2) + 1 as v, max(n) - min(n) as r, sum(n) / count(*) as d",
               "{\"v\":37,\"r\":9,\"d\":3}");
    bed_close(&b);
}

TEST(over_no_rows_counts_are_0_and_the_rest_is_null)
{
    bed b;
    open_rows(&b);
    CHECK_ROWS(&b,
               "get a select count(*), count(distinct g), sum(n), sum(x), avg(n), min(s), max(at), first(n), "
               "last(n by x), approx_count_distinct(n), hll_accumulate(n), hll_combine(s) where n > 100",
               "{\"count\":0,\"count(distinct g)\":0,\"sum(n)\":null,\"sum(x)\":null,\"avg(n)\":null,\"min(s)\":null,"
               "\"max(at)\":null,\"first(n)\":null,\"last(n)\":null,\"approx_count_distinct(n)\":0,"
               "\"hll_accumulate(n)\":null,\"hll_combine(s)\":null}");
    CHECK_ROWS(&b, "get a select g, count(*) where n > 100 group g", "");
    CHECK_ROWS(&b, "get a select g, count(*) where n > 100 group g count", "{\"count\":0}");
    bed_close(&b);
}

TEST(order_and_page_choose_the_rows_that_are_folded)
{
    bed b;
    open_rows(&b);
    CHECK_ROWS(&b, "get a select sum(n) order n desc limit 2", "{\"sum(n)\":14}");
    CHECK_ROWS(&b, "get a select count(*) where n is not null order n offset 1", "{\"count\":3}");
    CHECK_ROWS(&b, "get a select sum(n) limit 1", "{\"sum(n)\":4}");
    CHECK_ROWS(&b, "get a select count(*) limit 0", "{\"count\":0}");
    CHECK_ROWS(&b, "get a select count(*) offset 4", "{\"count\":1}");
    CHECK_ROWS(&b, "get a select first(n), last(n) order n desc limit 3", "{\"first(n)\":4,\"last(n)\":3}");
    CHECK_CODE(&b, "get a select count(*) order nobody", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get a select count(*) order nobody limit 1", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get a select count(*) order count(*)", FENEC_NOT_FOUND);
    bed_close(&b);
}

/* ---- arithmetic ---- */

TEST(a_sum_of_ints_is_refused_where_it_leaves_64_bits)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection k (g int, n int, j json)");
    bed_do(&b, "put k [{g: 1, n: 9223372036854775807}, {g: 1, n: 1}, {g: 1, n: -1}, {g: 2, n: -1}, {g: 2, "
               "n: 9223372036854775807}]");
    CHECK_CODE(&b, "get k select sum(n)", FENEC_QUERY);
    CHECK_CODE(&b, "get k select sum(n) where g = 1", FENEC_QUERY); /* though the whole would fit */
    CHECK_ROWS(&b, "get k select sum(n) where g = 2", "{\"sum(n)\":9223372036854775806}");
    /* In ascending id, whatever order chose them. */
    CHECK_CODE(&b, "get k select sum(n) where g = 1 order n limit 3", FENEC_QUERY);
    CHECK_ROWS(&b, "get k select max(n), avg(n)",
               "{\"max(n)\":9223372036854775807,\"avg(n)\":3689348814741910500}");
    bed_do(&b, "del k where g > 0");
    /* The first float makes the running sum one. */
    bed_do(&b, "put k [{j: 9223372036854775807}, {j: 0.5}, {j: 9223372036854775807}]");
    CHECK_ROWS(&b, "get k select sum(j)", "{\"sum(j)\":18446744073709552000}");
    bed_close(&b);
}

TEST(floats_that_leave_the_finite_range_come_to_null)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection k (f float)");
    bed_do(&b, "put k [{f: 1e308}, {f: 1e308}, {f: -1e308}]");
    CHECK_ROWS(&b, "get k select sum(f), avg(f), min(f) + 1 > 0 as m",
               "{\"sum(f)\":null,\"avg(f)\":null,\"m\":false}");
    CHECK_ROWS(&b, "get k select sum(f) + 1 as x", "{\"x\":null}");
    bed_close(&b);
}

TEST(types_are_judged_before_any_row)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection k (t text, ok bool, at timestamp, l [int], p geo, v vector<2>, b bytes, "
               "j json, n int)");
    CHECK_CODE(&b, "get k select sum(t)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select avg(at)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select sum(ok)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select min(l)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select max(p)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select max(v)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select min(b)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select n, count(*) group n having sum(t) > 1", FENEC_TYPE);
    CHECK_CODE(&b, "get k select min(t), max(ok), min(at), sum(j), avg(j), max(j), min(n)", FENEC_OK);
    CHECK_CODE(&b, "get k select count(distinct v), first(p), last(l), approx_count_distinct(b)", FENEC_OK);
    CHECK_CODE(&b, "get k select sum(nobody)", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get k select count(*) group nobody", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get k select count(distinct nobody) as x group t", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get k select sum(t.q)", FENEC_TYPE);
    bed_do(&b, "put k {t: \"x\", at: 5, j: {q: \"w\"}}");
    CHECK_CODE(&b, "get k select sum(j.q)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select avg(j)", FENEC_TYPE);
    CHECK_CODE(&b, "get k select sum(bucket(at, 1d)) as s", FENEC_TYPE);
    CHECK_CODE(&b, "get k select hll_combine(t)", FENEC_TYPE);
    CHECK_ROWS(&b, "get k select min(j.q), max(j.nothing), sum(n)",
               "{\"min(j.q)\":\"w\",\"max(j.nothing)\":null,\"sum(n)\":null}");
    bed_close(&b);
}

TEST(first_and_last_go_by_a_key_or_the_id)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection f (u text, at int, px int, m json)");
    bed_do(&b, "put f [{u: \"a\", at: 5, px: 50}, {u: \"a\", at: 2, px: 20}, {u: \"a\", at: 9}, "
               "{u: \"b\", at: 4, px: 41}, "
               "{u: \"b\", at: 4, px: 42}, {u: \"b\", px: 99}]");
    CHECK_ROWS(&b, "get f select first(px), last(px)", "{\"first(px)\":50,\"last(px)\":99}");
    CHECK_ROWS(&b, "get f select u, first(px by at), last(px by at) group u",
               "{\"u\":\"a\",\"first(px)\":20,\"last(px)\":50},"
               "{\"u\":\"b\",\"first(px)\":41,\"last(px)\":42}");
    CHECK_ROWS(&b, "get f select u, first(px by at) as f group u order u desc",
               "{\"u\":\"b\",\"f\":41},{\"u\":\"a\",\"f\":20}");
    CHECK_ROWS(&b, "get f select first(u by px) as low, last(u by -px) as too",
               "{\"low\":\"a\",\"too\":\"a\"}");
    bed_close(&b);
}

/* ---- distinct ---- */

TEST(values_are_distinct_by_their_encodings)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection d (m json, f float, t text, l [int])");
    bed_do(&b, "put d [{m: {v: 3}, f: 0.0, t: \"a\", l: [1]}, {m: {v: 3.0}, f: -0.0, t: \"a\", l: [1, 2]}, "
               "{m: {v: \"3\"}, t: \"A\"}, {m: {v: null}}, {m: {}}]");
    CHECK_ROWS(&b, "get d select count(distinct m.v), count(distinct f), count(distinct t), count(distinct l), "
                   "count(distinct m) as ms",
               "{\"count(distinct m.v)\":3,\"count(distinct f)\":1,\"count(distinct t)\":2,\"count(distinct l)\":2,"
               "\"ms\":5}");
    CHECK_ROWS(&b, "get d select t, count(distinct m.v) group t",
               "{\"t\":null,\"count(distinct m.v)\":0},{\"t\":\"A\",\"count(distinct m.v)\":1},"
               "{\"t\":\"a\",\"count(distinct m.v)\":2}");
    bed_close(&b);
}

TEST(a_statement_holds_a_million_distinct_values)
{
    distinct d = {0};
    uint64_t held = 0;
    bool fresh = false;
    error err;
    int rc = FENEC_OK;

    error_init(&err);
    for (uint32_t i = 0; !rc && i < 1000000; i++) {
        rc = distinct_add(&d, i % 3, (const uint8_t *)&i, sizeof i, &held, &fresh, &err);
        CHECK(fresh);
    }
    CHECK_INT(rc, FENEC_OK);
    CHECK_INT(held, 1000000);
    uint32_t again = 4;
    CHECK_INT(distinct_add(&d, 1, (const uint8_t *)&again, sizeof again, &held, &fresh, &err), FENEC_OK);
    CHECK(!fresh);
    CHECK_INT(distinct_add(&d, 2, (const uint8_t *)&again, sizeof again, &held, &fresh, &err), FENEC_QUERY);
    distinct_clear(&d);
}

/* ---- groups ---- */

TEST(groups_come_by_their_keys)
{
    bed b;
    open_rows(&b);
    CHECK_ROWS(&b, "get a select g, count(*) group g",
               "{\"g\":null,\"count\":1},{\"g\":\"p\",\"count\":2},{\"g\":\"r\",\"count\":2}");
    CHECK_ROWS(&b, "get a select count(*) as c, g group by g limit 1 offset 1", "{\"c\":2,\"g\":\"p\"}");
    CHECK_ROWS(&b, "get a select g, n, count(*) where n is not null group g, n",
               "{\"g\":null,\"n\":3,\"count\":1},{\"g\":\"p\",\"n\":4,\"count\":1},"
               "{\"g\":\"r\",\"n\":1,\"count\":1},"
               "{\"g\":\"r\",\"n\":10,\"count\":1}");
    CHECK_ROWS(&b, "get a select n, g, count(*) where n > 3 group n, g",
               "{\"n\":4,\"g\":\"p\",\"count\":1},{\"n\":10,\"g\":\"r\",\"count\":1}");
    CHECK_ROWS(&b, "get a select count(*) as c group coalesce(g, \"none\")", "{\"c\":1},{\"c\":2},{\"c\":2}");
    CHECK_ROWS(&b, "get a select m.q, count(*) group m.q",
               "{\"m.q\":null,\"count\":2},{\"m.q\":2,\"count\":1},{\"m.q\":2.5,\"count\":1},"
               "{\"m.q\":5,\"count\":1}");
    CHECK_ROWS(&b, "get a select id, count(*) where n > 3 group id",
               "{\"id\":1,\"count\":1},{\"id\":3,\"count\":1}");
    bed_close(&b);
}

TEST(order_over_groups_names_columns_and_keys)
{
    bed b;
    open_rows(&b);
    CHECK_ROWS(&b, "get a select g, sum(n) group g order sum(n) desc limit 2",
               "{\"g\":\"r\",\"sum(n)\":11},{\"g\":\"p\",\"sum(n)\":4}");
    CHECK_ROWS(&b, "get a select g, count(*) group g order count(*) desc",
               "{\"g\":\"p\",\"count\":2},{\"g\":\"r\",\"count\":2},{\"g\":null,\"count\":1}");
    CHECK_ROWS(&b, "get a select g, count(*) group g order count desc, g desc",
               "{\"g\":\"r\",\"count\":2},{\"g\":\"p\",\"count\":2},{\"g\":null,\"count\":1}");
    CHECK_ROWS(&b, "get a select g, count(distinct n) group g order count(distinct n) desc limit 1",
               "{\"g\":\"r\",\"count(distinct n)\":2}");
    CHECK_ROWS(&b, "get a select g, first(n) group g order first(n)",
               "{\"g\":null,\"first(n)\":3},{\"g\":\"p\",\"first(n)\":4},{\"g\":\"r\",\"first(n)\":10}");
    CHECK_ROWS(&b, "get a select count(*) group g as k order k desc limit 1", "{\"count\":2}");
    CHECK_ROWS(&b, "get a select k, sum(n) as total group upper(g) as k order total desc limit 1",
               "{\"k\":\"R\",\"total\":11}");
    CHECK_CODE(&b, "get a select g, count(*) group g order n", FENEC_QUERY);
    CHECK_CODE(&b, "get a select count(*) group g order g", FENEC_QUERY);
    CHECK_CODE(&b, "get a select g, count(*) group g order sum(n)", FENEC_QUERY);
    CHECK_CODE(&b, "get a select g, count(*) group g order g collate xx", FENEC_QUERY);
    CHECK_CODE(&b, "get a select g, count(*) group g order count(*) collate und", FENEC_QUERY);
    CHECK_CODE(&b, "get a select n, count(*) group n order n collate und", FENEC_QUERY);
    CHECK_CODE(&b, "get a select k, count(*) group lower(g) as k order k collate und", FENEC_QUERY);
    CHECK_CODE(&b, "get a select k, count(*) group g as k order k collate und",
               collation_available() ? FENEC_OK : FENEC_QUERY);
    bed_close(&b);
}

TEST(columns_that_carry_text_order_in_its_collation)
{
    bed b;

    if (!collation_available())
        return;
    bed_open(&b);
    bed_do(&b, "create collection n (name text collate tr, k int, m json, t text)");
    bed_do(&b, "put n [{name: \"zil\", k: 0, m: \"b\", t: \"b\"}, {name: \"çam\", k: 1, m: \"A\", t: \"A\"}, "
               "{name: \"da\", k: 2, m: \"a\", t: \"a\"}]");
    CHECK_ROWS(&b, "get n select name, count(*) group name order name",
               "{\"name\":\"çam\",\"count\":1},{\"name\":\"da\",\"count\":1},{\"name\":\"zil\",\"count\":1}");
    CHECK_ROWS(&b, "get n select name, count(*) group name limit 1", "{\"name\":\"da\",\"count\":1}");
    CHECK_ROWS(&b, "get n select min(name), max(name)", "{\"min(name)\":\"çam\",\"max(name)\":\"zil\"}");
    CHECK_ROWS(&b, "get n select max(name) as m group k order m limit 1", "{\"m\":\"çam\"}");
    CHECK_ROWS(&b, "get n select k, first(t) as f group k order f collate und",
               "{\"k\":2,\"f\":\"a\"},{\"k\":1,\"f\":\"A\"},{\"k\":0,\"f\":\"b\"}");
    CHECK_ROWS(&b, "get n select m, count(*) group m order m collate und limit 1",
               "{\"m\":\"a\",\"count\":1}");
    CHECK_ROWS(&b, "get n select m, count(*) group m order m limit 1", "{\"m\":\"A\",\"count\":1}");
    bed_close(&b);
}

TEST(keys_that_compare_equal_go_by_their_first_rows)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection e (m json, f float)");
    bed_do(&b, "put e [{m: 3.0, f: -0.0}, {m: 3, f: 0.0}, {m: 3.0}, {m: 2}, {m: 3}]");
    CHECK_ROWS(&b, "get e select count(*) as c, first(id) as i group m",
               "{\"c\":1,\"i\":4},{\"c\":2,\"i\":1},{\"c\":2,\"i\":2}");
    CHECK_ROWS(&b, "get e select f, count(*) where f is not null group f", "{\"f\":0,\"count\":2}");
    bed_close(&b);
}

TEST(names_of_keys_and_items_stand_for_keys)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection w (h int, n int, at timestamp)");
    bed_do(&b, "put w [{h: 1, n: 5, at: \"2026-05-03T09:10:00Z\"}, {h: 2, n: 6, "
               "at: \"2026-05-03T09:50:00Z\"}, "
               "{h: 2, n: 7, at: \"2026-05-03T10:50:00Z\"}]");
    CHECK_ROWS(&b, "get w select bucket(at, 1h) as h, count(*) group h",
               "{\"h\":\"2026-05-03T09:00:00Z\",\"count\":2},{\"h\":\"2026-05-03T10:00:00Z\",\"count\":1}");
    CHECK_ROWS(&b, "get w select count(*), n as h group h",
               "{\"count\":1,\"h\":5},{\"count\":1,\"h\":6},{\"count\":1,\"h\":7}");
    CHECK_ROWS(&b, "get w select q, sum(n) group h * 10 as q having q > 10", "{\"q\":20,\"sum(n)\":13}");
    CHECK_ROWS(&b, "get w select h, sum(n) group n - n as h", "{\"h\":0,\"sum(n)\":18}");
    CHECK_ROWS(&b, "get w select h + 1 as next, count(*) group h order next desc",
               "{\"next\":3,\"count\":2},{\"next\":2,\"count\":1}");
    CHECK_CODE(&b, "get w select bucket(at, 1h) as x, count(*) group bucket(at, 1h)", FENEC_QUERY);
    CHECK_CODE(&b, "get w select sum(n) as h, count(*) group h", FENEC_QUERY);
    bed_close(&b);
}

TEST(having_is_worked_out_before_the_items)
{
    bed b;
    open_rows(&b);
    CHECK_ROWS(&b, "get a select g, count(*) as c group g having c >= 2 and g != \"r\"",
               "{\"g\":\"p\",\"c\":2}");
    CHECK_ROWS(&b, "get a select g, count(*) group g having max(n) > 5", "{\"g\":\"r\",\"count\":2}");
    CHECK_ROWS(&b, "get a select g, count(*) group g having max(n) > 3 count", "{\"count\":2}");
    CHECK_ROWS(&b, "get a select g, count(*) group g count", "{\"count\":3}");
    CHECK_ROWS(&b, "get a select 10 / (count(*) - 1) as v group g having count(*) > 1",
               "{\"v\":10},{\"v\":10}");
    CHECK_CODE(&b, "get a select 10 / (count(*) - 1) as v group g having g is null", FENEC_QUERY);
    CHECK_ROWS(&b, "get a select g, sum(n) as n group g having n > 4", "{\"g\":\"r\",\"n\":11}");
    CHECK_CODE(&b, "get a select g, count(*) group g require 3", FENEC_OK);
    CHECK_CODE(&b, "get a select g, count(*) group g limit 2 require 3", FENEC_UNMET);
    CHECK_INT(bed_run(&b, "get a select g, count(*) group g count offset $1", "[0]", NULL, 0), FENEC_OK);
    CHECK_INT(bed_run(&b, "get a select g, count(*) group g count offset $1", "[1]", NULL, 0), FENEC_QUERY);
    bed_close(&b);
}

TEST(rows_past_their_time_are_in_no_group)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection s (k text, seen timestamp @ttl(1h))");
    bed_do(&b, "put s [{k: \"a\", seen: \"2001-01-01T00:00:00Z\"}, {k: \"b\", "
               "seen: \"2999-01-01T00:00:00Z\"}]");
    CHECK_ROWS(&b, "get s select count(*), min(seen)",
               "{\"count\":1,\"min(seen)\":\"2999-01-01T00:00:00Z\"}");
    CHECK_ROWS(&b, "get s select k, count(*) group k", "{\"k\":\"b\",\"count\":1}");
    bed_close(&b);
}

TEST(sketches_are_the_bytes_of_the_appendix)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection u (t text, s bytes)");
    bed_do(&b, "put u [{t: \"a\"}, {t: \"a\"}, {}]");
    /* "a" is hashed to 0x532d2468b6dd6317: register 5323, rank 2 */
    CHECK_ROWS(&b, "get u select hll_accumulate(t) as s, approx_count_distinct(t) as n",
               "{\"s\":[2,14,203,20,2],\"n\":1}");
    CHECK_CODE(&b, "set u {s: $1} where id = 1", FENEC_QUERY);
    CHECK_INT(bed_run(&b, "set u {s: $1} where id = 1", "[[2,14,203,20,2]]", NULL, 0), FENEC_OK);
    CHECK_INT(bed_run(&b, "set u {s: $1} where id = 2", "[[2,14,0,0,9,203,20,1]]", NULL, 0), FENEC_OK);
    CHECK_ROWS(&b, "get u select hll_combine(s) as c, hll_estimate(hll_combine(s)) as n",
               "{\"c\":[2,14,0,0,9,203,20,2],\"n\":2}");
    CHECK_ROWS(&b, "get u select hll_estimate(s) as n order id", "{\"n\":1},{\"n\":2},{\"n\":null}");
    CHECK_CODE(&b, "get u select hll_estimate(t) as n", FENEC_TYPE);
    CHECK_INT(bed_run(&b, "set u {s: $1} where id = 3", "[[2,14,0,0,0]]", NULL, 0), FENEC_OK);
    CHECK_CODE(&b, "get u select hll_combine(s)", FENEC_TYPE);
    CHECK_CODE(&b, "get u select hll_estimate(s) as n", FENEC_TYPE);
    bed_close(&b);
}

TEST(explain_tells_how_many_rows_went_into_how_many_groups)
{
    bed b;
    open_rows(&b);
    CHECK_ROWS(&b, "explain get a select g, count(*) group g",
               "{\"plan\":\"filter: none\"},{\"plan\":\"aggregate: 5 rows into 3 groups\"},"
               "{\"plan\":\"rows: 3\"}");
    CHECK(strstr(bed_rows(&b, "explain get a select g, count(*) group g having g is null count", NULL), "\"count: 1\"") != NULL);
    bed_close(&b);
}

/* What an ordered index answers is what a scan of a twin without it answers. */
TEST(the_ends_of_an_ordered_index_are_those_of_a_scan)
{
    static const char *const lists[] = {"min(n), max(n)", "min(f), max(f), count(*)", "min(t), max(t)", "max(at), min(at)",
                                        "min(m.v), max(m.v)", "min(n) + 1 as a, max(t) as b"};
    uint64_t state = test_seed();
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection plain (n int, f float, t text, at timestamp, m json)");
    bed_do(&b, "create collection ordered (n int @sorted, f float @sorted, t text @sorted, "
               "at timestamp @sorted, m json)");
    bed_do(&b, "create index on ordered (m.v) @sorted");
    for (int step = 0; step < 400; step++) {
        char text[1200];
        unsigned id = (unsigned)(test_random(&state) % 12) + 1, n = (unsigned)(test_random(&state) % 9);
        static const char *const texts[] = {"null", "\"\"", "\"a\"", "\"b\"", "$"};
        static const char *const jsons[] = {"3", "3.0", "null", "\"x\"", "2", "true", "[1]", "9007199254740993", "-1.5"};
        char longer[400];
        memset(longer, 'z', sizeof longer);
        snprintf(longer + 299, 100, "%u", n);
        for (int which = 0; which < 2; which++) {
            const char *name = which ? "ordered" : "plain", *t = texts[n % 5];
            if (id > 8)
                snprintf(text, sizeof text, "del %s where id = %u", name, id - 8);
            else
                snprintf(text, sizeof text, "put %s {id: %u, n: %s%u, f: %s, t: %s%.*s%s, at: %u, m: {v: %s}}", name, id,
                         n % 2 ? "-" : "", n, n % 4 ? "0.5" : "null", t[0] == '$' ? "\"" : t,
                         t[0] == '$' ? 310 : 0, longer, t[0] == '$' ? "\"" : "", n * 1000, jsons[(id + n) % 9]);
            bed_do(&b, text);
        }
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
            snprintf(text, sizeof text, "get plain select %s", lists[i]);
            char *want = strdup(bed_rows(&b, text, NULL));
            snprintf(text, sizeof text, "get ordered select %s", lists[i]);
            CHECK_TEXT(bed_rows(&b, text, NULL), want);
            free(want);
        }
    }
    bed_do(&b, "del ordered where id > 0");
    CHECK_ROWS(&b, "get ordered select min(n), max(t), count(*)",
               "{\"min(n)\":null,\"max(t)\":null,\"count\":0}");
    bed_do(&b, "put ordered {f: 1}");
    CHECK_ROWS(&b, "explain get ordered select min(n), max(f)",
               "{\"plan\":\"aggregate: the ends of ordered indexes, no further row read\"},"
               "{\"plan\":\"rows: 1\"}");
    CHECK_ROWS(&b, "explain get ordered select max(f) where n is null limit 5",
               "{\"plan\":\"filter: full scan, 1 rows tested, 1 matched\"},"
               "{\"plan\":\"aggregate: 1 rows into one\"},"
               "{\"plan\":\"rows: 1\"}");
    bed_close(&b);
}

/* ---- put aside ---- */

static void draw_rows(bed *b, uint64_t *state, int rows)
{
    for (int at = 0; at < rows; at += 100) {
        char text[32000], *to = text + sprintf(text, "put t [");
        for (int i = 0; i < 100; i++) {
            unsigned key = (unsigned)(test_random(state) % 700), n = (unsigned)(test_random(state) % 1000);
            to += sprintf(to, "{k: \"key %u%.*s\", n: %u, f: %u.25, s: \"%.*s%u\", j: {a: %s}},", key, (int)(key % 7) * 5,
                          "....................................", n, n % 13, (int)(n % 40),
                          "________________________________________", n, n % 3 ? "[1, 2.5]" : "0.0");
        }
        sprintf(to, "]");
        bed_do(b, text);
    }
}

/* Groups that come and go answer the same bytes as groups that stay. */
TEST(groups_put_aside_answer_as_groups_in_memory)
{
    static const char *const texts[] = {
        "get t select k, count(*), sum(n), avg(f), sum(f) group k",
        "get t select k, min(s), max(s), first(s), last(s), first(s by n) as f, last(s by f) as l group k",
        "get t select k, count(distinct n), count(distinct s), approx_count_distinct(n), "
        "hll_accumulate(s) group k",
        "get t select k, j, count(*), max(n) group k, j",
        "get t select n, count(*) as c group n order c desc limit 20 offset 3",
        "get t select k, sum(n) as t group k having t > 5000 order t",
        "get t select s, count(*) group s having count(*) > 2 count",
        "get t select j.a, count(*) group j.a, n",
    };
    uint64_t state = test_seed();
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (k text, n int, f float, s text, j json)");
    draw_rows(&b, &state, 3000);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *want = strdup(bed_rows(&b, texts[i], NULL));
        char explained[400];
        snprintf(explained, sizeof explained, "explain %s", texts[i]);
        groups_bound(1);
        CHECK_TEXT(bed_rows(&b, texts[i], NULL), want);
        CHECK(strstr(bed_rows(&b, explained, NULL), "put aside") != NULL);
        groups_bound(0);
        CHECK(strstr(bed_rows(&b, explained, NULL), "put aside") == NULL);
        free(want);
    }
    bed_close(&b);
}

TEST(an_aggregate_without_memory_answers_panic_and_goes_on)
{
    static const char text[] = "get t select k, count(distinct s), max(s), approx_count_distinct(n) as a group k "
                               "having a > 0 order a desc limit 3";
    uint64_t state = test_seed();
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (k text, n int, f float, s text, j json)");
    draw_rows(&b, &state, 200);
    for (int aside = 0; aside < 2; aside++) {
        int code = FENEC_PANIC;
        groups_bound(aside ? 1 : 0);
        for (long n = 0; code && n < 100000; n += 1 + n / 16) {
            buffer out;
            error err;
            buffer_init(&out);
            error_init(&err);
            memory_fail_after(n);
            code = database_query(b.d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err);
            memory_fail_after(-1);
            buffer_clear(&out);
            if (code && code != FENEC_PANIC)
                test_failed(__FILE__, __LINE__, "after %ld allocations: %d %s", n, code, err.message);
        }
        CHECK_INT(code, FENEC_OK);
    }
    groups_bound(0);
    CHECK_CODE(&b, text, FENEC_OK);
    bed_close(&b);
}
