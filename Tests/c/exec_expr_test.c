#include "base/clock.h"
#include "exec_bed.h"
#include "value/collation.h"

/* A collection with one row that expressions read. */
static void open_row(bed *b)
{
    bed_open(b);
    bed_do(b, "create collection r (i int, f float, t text, at timestamp, b bytes, ok bool, tags [text], "
              "ns [int], j json, p geo, v vector<2>, z int)");
    bed_do(b, "put r {i: 7, f: 2.5, t: \"Hello\", at: \"2026-05-03T10:10:00Z\", b: \"Az\", ok: true, "
              "tags: [\"x\", \"y\"], ns: [1, 2], j: {a: {b: 3}, s: \"q\", l: [1, \"two\"]}, p: [15, 37], "
              "v: [3, 4]}");
}

/* What an expression answers over that row, as JSON; or the code it fails with, as "code N". */
static const char *value_of(bed *b, const char *e)
{
    static char got[4096];
    static char text[24000];

    snprintf(text, sizeof text, "get r select %s as v", e);
    int code = bed_run(b, text, NULL, NULL, 0);
    if (code) {
        snprintf(got, sizeof got, "code %d", code);
        return got;
    }
    const char *at = strstr(b->answer, "\"rows\":[{\"v\":");
    if (!at)
        return b->answer;
    at += strlen("\"rows\":[{\"v\":");
    snprintf(got, sizeof got, "%.*s", (int)(strlen(at) - strlen("}]}}")), at);
    return got;
}

/* Whether the row passes a filter: 1, 0, or minus the code. */
static int passes(bed *b, const char *e)
{
    static char text[24000];

    snprintf(text, sizeof text, "get r where %s count", e);
    int code = bed_run(b, text, NULL, NULL, 0);
    return code ? -code : strstr(b->answer, "\"count\":1") != NULL;
}

#define CHECK_VALUE(e, want) CHECK_TEXT(value_of(&b, e), want)
#define CHECK_PASS(e, want) CHECK_INT(passes(&b, e), want)

TEST(arithmetic_follows_the_table_of_kinds)
{
    bed b;
    open_row(&b);
    CHECK_VALUE("i + 1", "8");
    CHECK_VALUE("-7 / 2", "-3");
    CHECK_VALUE("i / 2", "3");
    CHECK_VALUE("i / 2.0", "3.5");
    CHECK_VALUE("i - 1 - 1", "5");
    CHECK_VALUE("1 + 2 * 3", "7");
    CHECK_VALUE("(1 + 2) * 3", "9");
    CHECK_VALUE("-i", "-7");
    CHECK_VALUE("f * 2", "5");
    CHECK_VALUE("at + 1000", "\"2026-05-03T10:10:01Z\"");
    CHECK_VALUE("1000 + at", "\"2026-05-03T10:10:01Z\"");
    CHECK_VALUE("at - 1000", "\"2026-05-03T10:09:59Z\"");
    CHECK_VALUE("at - timestamp(\"2026-05-03T10:09:00Z\")", "60000");
    CHECK_VALUE("t + \" you\"", "\"Hello you\"");
    CHECK_VALUE("z + 1", "null");
    CHECK_VALUE("z + t", "null");
    CHECK_VALUE("null / 0", "null");
    bed_close(&b);
}

TEST(arithmetic_refuses_what_does_not_fit)
{
    bed b;
    open_row(&b);
    CHECK_VALUE("i / 0", "code 6");
    CHECK_VALUE("f / 0", "code 6");
    CHECK_VALUE("f / 0.0", "code 6");
    CHECK_VALUE("9223372036854775807 + 1", "code 6");
    CHECK_VALUE("-9223372036854775808 / -1", "code 6");
    CHECK_VALUE("-9223372036854775808 - 1", "code 6");
    CHECK_VALUE("9223372036854775807 * 2", "code 6");
    CHECK_VALUE("1e308 * 10", "code 6");
    CHECK_VALUE("at + 9223372036854775807", "code 6");
    CHECK_VALUE("at + 1.0", "code 1");
    CHECK_VALUE("1 - at", "code 1");
    CHECK_VALUE("at + at", "code 1");
    CHECK_VALUE("t - t", "code 1");
    CHECK_VALUE("t + 1", "code 1");
    CHECK_VALUE("ok + 1", "code 1");
    CHECK_VALUE("tags + tags", "code 1");
    bed_close(&b);
}

TEST(comparisons_with_null_are_two_valued)
{
    bed b;
    open_row(&b);
    CHECK_PASS("z = null", 1);
    CHECK_PASS("z != null", 0);
    CHECK_PASS("i = null", 0);
    CHECK_PASS("i != null", 1);
    CHECK_PASS("z != 5", 1);
    CHECK_PASS("z = 5", 0);
    CHECK_PASS("z < 5", 0);
    CHECK_PASS("z > 5", 0);
    CHECK_PASS("not z > 5", 1);
    CHECK_PASS("z <= null", 0);
    CHECK_PASS("z >= null", 0);
    CHECK_PASS("z is null", 1);
    CHECK_PASS("z is not null", 0);
    CHECK_PASS("i is not null", 1);
    CHECK_PASS("z in [null]", 1);
    CHECK_PASS("z in [1, 2]", 0);
    CHECK_PASS("i in []", 0);
    CHECK_PASS("not i in []", 1);
    CHECK_PASS("j.none is null", 1);
    CHECK_PASS("j.a.b.c is null", 1);
    CHECK_PASS("j.l.x is null", 1);
    bed_close(&b);
}

TEST(comparisons_use_the_order_over_all_kinds)
{
    bed b;
    open_row(&b);
    CHECK_PASS("i = 7.0", 1);
    CHECK_PASS("7 = i", 1);
    CHECK_PASS("5 < i", 1);
    CHECK_PASS("i < 7.5", 1);
    CHECK_PASS("i > 6.5", 1);
    CHECK_PASS("i < \"a\"", 1);
    CHECK_PASS("i > true", 1);
    CHECK_PASS("i = \"7\"", 0);
    CHECK_PASS("i != \"7\"", 1);
    CHECK_PASS("i < [1]", 1);
    CHECK_PASS("f = 2.5", 1);
    CHECK_PASS("f > 2", 1);
    CHECK_PASS("t = \"Hello\"", 1);
    CHECK_PASS("t > \"Hell\"", 1);
    CHECK_PASS("t < \"a\"", 1);
    CHECK_PASS("t > 5", 1);
    CHECK_PASS("t >= \"Hello\" and t <= \"Hello\"", 1);
    CHECK_PASS("at = \"2026-05-03T12:10:00+02:00\"", 1);
    CHECK_PASS("at > \"2026-05-03\"", 1);
    CHECK_PASS("at < \"zebra\"", 1);
    CHECK_PASS("at = \"zebra\"", 0);
    CHECK_PASS("at = 1777803000000", 1);
    CHECK_PASS("at in [\"2026-05-03T10:10:00Z\"]", 1);
    CHECK_PASS("ok = true", 1);
    CHECK_PASS("ok > false", 1);
    CHECK_PASS("j.a.b = 3.0", 1);
    CHECK_PASS("j.s > 100", 1);
    CHECK_PASS("j.l > \"x\"", 1);
    CHECK_PASS("j = {a: {b: 3}, s: \"q\", l: [1, \"two\"]}", 1);
    CHECK_PASS("v = [3, 4]", 1);
    CHECK_PASS("v = [3.0, 4.0]", 1);
    CHECK_PASS("p = [15, 37]", 1);
    CHECK_PASS("b = \"Az\"", 1);
    CHECK_PASS("id = 1", 1);
    CHECK_PASS("id = 1.0", 1);
    CHECK_PASS("id = \"x\"", 0);
    CHECK_PASS("id >= 1 and id < 2", 1);
    CHECK_PASS("id in [1.0, \"x\", null, 5]", 1);
    bed_close(&b);
}

TEST(text_is_searched_without_case_and_lists_by_element)
{
    bed b;
    open_row(&b);
    CHECK_PASS("t ~ \"ELL\"", 1);
    CHECK_PASS("t ~ \"\"", 1);
    CHECK_PASS("t ~ \"hello!\"", 0);
    CHECK_PASS("t ~ 5", 0);
    CHECK_PASS("i ~ \"7\"", 0);
    CHECK_PASS("z ~ \"\"", 0);
    CHECK_PASS("\"ÇAĞLA\" ~ \"çağ\"", 1);
    CHECK_PASS("tags has \"x\"", 1);
    CHECK_PASS("tags has \"X\"", 0);
    CHECK_PASS("ns has 2.0", 1);
    CHECK_PASS("j.l has \"two\"", 1);
    CHECK_PASS("p has 37", 1);
    CHECK_PASS("v has 3", 0);
    CHECK_PASS("z has null", 0);
    CHECK_PASS("t in [\"a\", \"Hello\"]", 1);
    CHECK_PASS("i in [1, 7, 9]", 1);
    CHECK_PASS("i in [1, 7.0]", 1);
    CHECK_PASS("i in [6, i]", 1);
    bed_close(&b);
}

TEST(logic_stops_at_the_first_operand_that_decides)
{
    bed b;
    open_row(&b);
    CHECK_PASS("true or nothing = 1", 1);
    CHECK_PASS("false and nothing = 1", 0);
    CHECK_PASS("i in [7, $1]", 1);
    CHECK_PASS("i in [8, $1]", -FENEC_QUERY);
    CHECK_PASS("nothing = 1", -FENEC_NOT_FOUND);
    CHECK_PASS("i.x = 1", -FENEC_TYPE);
    CHECK_PASS("i = $1", -FENEC_QUERY);
    CHECK_PASS("0 or 0.0 or \"\" or null or []", 0);
    CHECK_PASS("1 and 0.5 and \"x\" and [0]", 1);
    CHECK_PASS("not timestamp(0)", 1);
    CHECK_PASS("not {}", 1);
    bed_close(&b);
}

TEST(a_filter_tested_on_no_row_raises_nothing)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection e (n int)");
    CHECK_ROWS(&b, "get e where nothing = 1", "");
    CHECK_ROWS(&b, "get e where unknown(1) = $4", "");
    CHECK_CODE(&b, "get e select nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get e select n.x", FENEC_TYPE);
    CHECK_CODE(&b, "get e order nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get e order n.x", FENEC_TYPE);
    CHECK_CODE(&b, "get e order sum(n)", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get e where expired()", FENEC_QUERY);
    bed_close(&b);
}

TEST(functions_answer_as_their_table_says)
{
    bed b;
    open_row(&b);
    CHECK_VALUE("lower(t)", "\"hello\"");
    CHECK_VALUE("UPPER(t)", "\"HELLO\"");
    CHECK_VALUE("lower(i)", "7");
    CHECK_VALUE("upper(\"straße\")", "\"STRASSE\"");
    CHECK_VALUE("len(\"çağ\")", "3");
    CHECK_VALUE("len(b)", "2");
    CHECK_VALUE("len(tags)", "2");
    CHECK_VALUE("len(v)", "2");
    CHECK_VALUE("len(p)", "2");
    CHECK_VALUE("len(i)", "0");
    CHECK_VALUE("len(z)", "0");
    CHECK_VALUE("coalesce(z, null, i)", "7");
    CHECK_VALUE("coalesce(z)", "null");
    CHECK_VALUE("greatest(1, z, 3, 2)", "3");
    CHECK_VALUE("least(4, z, 3.5)", "3.5");
    CHECK_VALUE("greatest(z, z)", "null");
    CHECK_VALUE("timestamp(0)", "\"1970-01-01T00:00:00Z\"");
    CHECK_VALUE("timestamp(\"2026-05-03\")", "\"2026-05-03T00:00:00Z\"");
    CHECK_VALUE("timestamp(z)", "null");
    CHECK_VALUE("timestamp(\"x\")", "code 1");
    CHECK_VALUE("timestamp(1.5)", "code 1");
    CHECK_VALUE("case when i > 5 then \"big\" else \"small\" end", "\"big\"");
    CHECK_VALUE("case when i > 9 then 1 / 0 end", "null");
    CHECK_VALUE("case when z then 1 when t then 2 end", "2");
    CHECK_VALUE("unknown(1)", "code 6");
    CHECK_VALUE("lower(t, t)", "code 6");
    CHECK_VALUE("lower()", "code 6");
    CHECK_VALUE("expired()", "code 6");
    bed_close(&b);
}

TEST(now_is_one_value_throughout_a_statement)
{
    bed b;
    open_row(&b);
    clock_set_ms(1777803000000);
    CHECK_VALUE("now()", "\"2026-05-03T10:10:00Z\"");
    CHECK_PASS("at = now()", 1);
    clock_set_ms(-1);
    bed_close(&b);
}

TEST(bucket_answers_the_start_of_an_interval)
{
    bed b;
    open_row(&b);
    CHECK_VALUE("bucket(at, 1h)", "\"2026-05-03T10:00:00Z\"");
    CHECK_VALUE("bucket(at, \"15m\")", "\"2026-05-03T10:00:00Z\"");
    CHECK_VALUE("bucket(at, 3600000)", "\"2026-05-03T10:00:00Z\"");
    CHECK_VALUE("bucket(i, 5)", "5");
    CHECK_VALUE("bucket(-1, 5)", "-5");
    CHECK_VALUE("bucket(z, 1h)", "null");
    CHECK_VALUE("bucket(at, 1h, null)", "null");
    CHECK_VALUE("bucket(t, 1h)", "code 1");
    CHECK_VALUE("bucket(t, 0m)", "code 6");
    CHECK_VALUE("bucket(z, 5x)", "code 6");
    CHECK_VALUE("bucket(at, 1h, 3)", "code 6");
    CHECK_VALUE("bucket(z, 1h, \"Nowhere/Else\")", "code 6");
    CHECK_VALUE("bucket(timestamp(\"2026-05-03T22:30:00Z\"), 1d, \"+03:00\")", "\"2026-05-03T21:00:00Z\"");
    CHECK_VALUE("bucket(timestamp(\"2026-03-30T12:00:00Z\"), 1d, \"Europe/Berlin\")",
                "\"2026-03-29T22:00:00Z\"");
    bed_close(&b);
}

TEST(points_are_measured_and_boxes_hold_them)
{
    bed b;
    open_row(&b);
    CHECK_VALUE("distance(p, [15, 37])", "0");
    CHECK_VALUE("distance([13.361389, 38.115556], [15.087269, 37.502669])", "166274.2577914073");
    CHECK_VALUE("distance(p, null)", "null");
    CHECK_VALUE("distance(null, [1, 200])", "code 1");
    CHECK_VALUE("distance(p, \"x\")", "code 1");
    CHECK_VALUE("within(p, [15, 37, 16, 38])", "true");
    CHECK_VALUE("within(p, [170, -10, -170, 90])", "false");
    CHECK_VALUE("within(p, [0, 10, 1, 5])", "code 1");
    CHECK_VALUE("within(p, null)", "null");
    CHECK_PASS("not within(null, [0, 0, 1, 1])", 1);
    bed_close(&b);
}

TEST(vectors_and_number_lists_are_measured_alike)
{
    bed b;
    open_row(&b);
    CHECK_VALUE("norm(v)", "5");
    CHECK_VALUE("norm([])", "0");
    CHECK_VALUE("normalize(v)", "[0.6,0.8]");
    CHECK_VALUE("normalize([0, 0])", "[0,0]");
    CHECK_VALUE("dot(v, [1, 2])", "11");
    CHECK_VALUE("l2(v, [0, 0])", "5");
    CHECK_VALUE("cosine(v, [3, 4])", "1");
    CHECK_VALUE("cosine(v, [0, 0])", "0");
    CHECK_VALUE("dot(v, [1])", "code 1");
    CHECK_VALUE("norm(null)", "code 1");
    CHECK_VALUE("norm(t)", "code 1");
    bed_close(&b);
}

TEST(a_long_chain_and_a_deep_expression_are_worked_out)
{
    bed b;
    static char text[20000];
    open_row(&b);

    size_t len = (size_t)snprintf(text, sizeof text, "i = 0");
    for (int n = 0; n < 500; n++)
        len += (size_t)snprintf(text + len, sizeof text - len, " or i = %d", n == 499 ? 7 : 100 + n);
    CHECK_PASS(text, 1);

    len = (size_t)snprintf(text, sizeof text, "0");
    for (int n = 0; n < 500; n++)
        len += (size_t)snprintf(text + len, sizeof text - len, " + 1");
    CHECK_VALUE(text, "500");

    len = 0;
    for (int n = 0; n < 500; n++)
        text[len++] = '(';
    len += (size_t)snprintf(text + len, sizeof text - len, "i");
    for (int n = 0; n < 500; n++)
        len += (size_t)snprintf(text + len, sizeof text - len, " * 1 + 0)");
    CHECK_VALUE(text, "7");

    len = 0;
    for (int n = 0; n < 500; n++)
        text[len++] = '(';
    len += (size_t)snprintf(text + len, sizeof text - len, "z");
    for (int n = 0; n < 500; n++)
        len += (size_t)snprintf(text + len, sizeof text - len, " = i and i or i)");
    CHECK_PASS(text, 1);
    bed_close(&b);
}

TEST(a_collation_counts_where_the_field_is_one_side)
{
    bed b;
    if (!collation_available())
        return;
    bed_open(&b);
    bed_do(&b, "create collection p (name text collate tr, plain text)");
    bed_do(&b, "put p [{name: \"Irmak\", plain: \"Irmak\"}, {name: \"Zeynep\", plain: \"Zeynep\"}, "
               "{name: \"cem\", plain: \"cem\"}, {name: \"Çağla\", plain: \"Çağla\"}, "
               "{name: \"İlker\", plain: \"İlker\"}, {name: \"ılgaz\", plain: \"ılgaz\"}]");
    CHECK_ROWS(&b, "get p select id order name",
               "{\"id\":3},{\"id\":4},{\"id\":6},{\"id\":1},{\"id\":5},{\"id\":2}");
    CHECK_ROWS(&b, "get p select id order plain",
               "{\"id\":1},{\"id\":2},{\"id\":3},{\"id\":4},{\"id\":5},{\"id\":6}");
    CHECK_ROWS(&b, "get p select id order plain collate und",
               "{\"id\":4},{\"id\":3},{\"id\":5},{\"id\":1},{\"id\":6},{\"id\":2}");
    CHECK_ROWS(&b, "get p select id where name > \"Çağla\" order name limit 2", "{\"id\":6},{\"id\":1}");
    CHECK_ROWS(&b, "get p select id where plain < \"Zeynep\"", "{\"id\":1}");
    CHECK_CODE(&b, "get p order id collate tr", FENEC_QUERY);
    bed_close(&b);
}
