#include "exec_bed.h"

/* ---- facet, chapter 3 section 13 ---- */

/* What stands in "facets":{...}. */
static const char *facets_of(bed *b, const char *text)
{
    int code = bed_run(b, text, NULL, NULL, 0);
    char *facets = b->answer ? strstr(b->answer, "\"facets\":{") : NULL;

    if (code || !facets) {
        test_failed(__FILE__, __LINE__, "%s: %d %s", text, code, b->answer ? b->answer : "");
        return "";
    }
    b->answer[b->len - strlen("}}}")] = 0;
    return facets + strlen("\"facets\":{");
}

#define CHECK_FACETS(b, text, want) CHECK_TEXT(facets_of(b, text), want)

/* Twice the same rows: under indexes and without. */
static void goods(bed *b)
{
    bed_open(b);
    bed_do(b, "create collection good (brand text @hash, price int @sorted, tags [text], m json, ok bool @hash, f float "
              "@hash, at timestamp)");
    bed_do(b, "create index on good (m.k) @hash");
    bed_do(b, "create collection bare (brand text, price int, tags [text], m json, ok bool, f float, at timestamp)");
    static const char *const names[] = {"good", "bare"};
    for (int i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "put %s [{brand: 'b', price: 5, tags: ['x', 'y', 'x'], m: {k: 3}, ok: true, f: 0.0}, "
                 "{brand: 'a', price: 15, tags: [], m: {k: 3.0}, f: -0.0, at: '1970-01-01T00:00:00.007Z'}, "
                 "{brand: 'b', price: 25, tags: ['y', null], m: {k: 'a'}, ok: true, f: 1.5}, "
                 "{price: 25, m: {k: ['a', 4]}}, {brand: 'c', m: {k: {z: 1}}, ok: false}]",
                 names[i]);
        bed_do(b, text);
    }
}

/* Over both collections; `%s` is the name. */
static void check_both(bed *b, const char *form, const char *want)
{
    static const char *const names[] = {"good", "bare"};
    char text[500];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, form, names[i]);
        CHECK_FACETS(b, text, want);
    }
}

TEST(facets_stand_beside_the_page)
{
    bed b;

    goods(&b);
    CHECK_INT(bed_run(&b, "get good select id where price > 10 order id desc limit 1 facet brand, ok", NULL, NULL, 0),
              FENEC_OK);
    CHECK_TEXT(b.answer,
               "{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\"],\"rows\":[{\"id\":4}],\"facets\":{"
               "\"brand\":[{\"value\":null,\"count\":1},{\"value\":\"a\",\"count\":1},{\"value\":\"b\",\"count\":1}],"
               "\"ok\":[{\"value\":null,\"count\":2},{\"value\":true,\"count\":1}]}}}");
    CHECK_INT(bed_run(&b, "get good count facet ok", NULL, NULL, 0), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"count\"],\"rows\":[{\"count\":5}],\"facets\":{"
                         "\"ok\":[{\"value\":null,\"count\":2},{\"value\":true,\"count\":2},{\"value\":false,\"count\":1}]}}}");
    CHECK_ROWS(&b, "explain get good limit 0 facet brand",
               "{\"plan\":\"filter: not tested, the page is empty\"},"
               "{\"plan\":\"facet brand: a hash index counted, 0 rows read, 4 values\"},{\"plan\":\"rows: 0\"}");
    bed_close(&b);
}

/* Where a line of the plan was cut, half a character was left: an answer that was no UTF-8. */
TEST(explain_names_a_facet_of_a_long_path_whole)
{
    enum { LETTERS = 300 };
    char path[2 * LETTERS + 1], text[1000], want[1000];
    bed b;

    goods(&b);
    for (int i = 0; i < LETTERS; i++)
        memcpy(path + 2 * i, "\xC3\xA9", 3);
    snprintf(text, sizeof text, "explain get good limit 0 facet m.%s", path);
    snprintf(want, sizeof want,
             "{\"plan\":\"filter: not tested, the page is empty\"},"
             "{\"plan\":\"facet m.%s: read, 5 rows, 1 values\"},{\"plan\":\"rows: 0\"}",
             path);
    CHECK_ROWS(&b, text, want);
    bed_close(&b);
}

TEST(facets_order_by_count_then_value)
{
    bed b;

    goods(&b);
    check_both(&b, "get %s limit 0 facet brand",
               "\"brand\":[{\"value\":\"b\",\"count\":2},{\"value\":null,\"count\":1},{\"value\":\"a\",\"count\":1},"
               "{\"value\":\"c\",\"count\":1}]");
    check_both(&b, "get %s limit 0 facet brand top 2",
               "\"brand\":[{\"value\":\"b\",\"count\":2},{\"value\":null,\"count\":1}]");
    check_both(&b, "get %s limit 0 facet price",
               "\"price\":[{\"value\":25,\"count\":2},{\"value\":null,\"count\":1},{\"value\":5,\"count\":1},"
               "{\"value\":15,\"count\":1}]");
    bed_close(&b);
}

TEST(facets_tell_values_apart_by_their_encoding)
{
    bed b;

    goods(&b);
    /* 3 and 3.0 are two, the lower id of its first row first; zeros of both signs are one */
    check_both(&b, "get %s limit 0 facet m.k",
               "\"m.k\":[{\"value\":\"a\",\"count\":2},{\"value\":3,\"count\":1},{\"value\":3,\"count\":1},"
               "{\"value\":4,\"count\":1},{\"value\":{\"z\":1},\"count\":1}]");
    check_both(&b, "get %s limit 0 facet f",
               "\"f\":[{\"value\":null,\"count\":2},{\"value\":0,\"count\":2},{\"value\":1.5,\"count\":1}]");
    bed_close(&b);
}

TEST(facets_count_a_list_once_for_each_value_in_it)
{
    bed b;

    goods(&b);
    check_both(&b, "get %s limit 0 facet tags",
               "\"tags\":[{\"value\":null,\"count\":3},{\"value\":\"y\",\"count\":2},{\"value\":\"x\",\"count\":1}]");
    bed_close(&b);
}

TEST(facets_count_by_ranges)
{
    bed b;

    goods(&b);
    check_both(&b, "get %s limit 0 facet price ranges [0, 5, 25, 25.5, 100]",
               "\"price\":[{\"value\":[0,5],\"count\":0},{\"value\":[5,25],\"count\":2},{\"value\":[25,25.5],\"count\":2},"
               "{\"value\":[25.5,100],\"count\":0}]");
    check_both(&b, "get %s limit 0 facet m.k ranges [0, 3.5, 10]",
               "\"m.k\":[{\"value\":[0,3.5],\"count\":2},{\"value\":[3.5,10],\"count\":1}]");
    check_both(&b, "get %s limit 0 facet at ranges [0, 10]", "\"at\":[{\"value\":[0,10],\"count\":1}]");
    bed_close(&b);
}

TEST(disjunctive_facets_leave_their_own_conditions_out)
{
    bed b;

    goods(&b);
    check_both(&b, "get %s where brand = 'b' and price > 10 limit 0 facet brand disjunctive, price disjunctive, ok",
               "\"brand\":[{\"value\":null,\"count\":1},{\"value\":\"a\",\"count\":1},{\"value\":\"b\",\"count\":1}],"
               "\"price\":[{\"value\":5,\"count\":1},{\"value\":25,\"count\":1}],\"ok\":[{\"value\":true,\"count\":1}]");
    check_both(&b, "get %s where (brand = 'b' or brand is null) limit 0 facet brand disjunctive",
               "\"brand\":[{\"value\":\"b\",\"count\":2},{\"value\":null,\"count\":1},{\"value\":\"a\",\"count\":1},"
               "{\"value\":\"c\",\"count\":1}]");
    CHECK_CODE(&b, "get good where brand = 'b' or price = 5 facet brand disjunctive", FENEC_QUERY);
    bed_close(&b);
}

TEST(facets_count_the_parents_a_required_lookup_keeps)
{
    bed b;

    goods(&b);
    bed_do(&b, "create collection part (good_id int @hash)");
    bed_do(&b, "put part [{good_id: 1}, {good_id: 1}, {good_id: 2}]");
    CHECK_FACETS(&b, "get good select id limit 1 facet brand lookup part on good_id required select id",
                 "\"brand\":[{\"value\":\"a\",\"count\":1},{\"value\":\"b\",\"count\":1}]");
    CHECK_FACETS(&b, "get good select id where brand = 'b' limit 1 facet brand disjunctive lookup part on good_id "
                     "required select id",
                 "\"brand\":[{\"value\":\"a\",\"count\":1},{\"value\":\"b\",\"count\":1}]");
    CHECK_FACETS(&b, "get good select id limit 0 facet ok lookup part on good_id select id",
                 "\"ok\":[{\"value\":null,\"count\":2},{\"value\":true,\"count\":2},{\"value\":false,\"count\":1}]");
    bed_close(&b);
}

TEST(facets_leave_rows_past_their_time_out)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection s (k text @hash, at timestamp @ttl(1h))");
    bed_do(&b, "put s [{k: 'a', at: '2001-01-01'}, {k: 'a'}, {k: 'b', at: '2101-01-01'}]");
    CHECK_FACETS(&b, "get s limit 0 facet k",
                 "\"k\":[{\"value\":\"a\",\"count\":1},{\"value\":\"b\",\"count\":1}]");
    CHECK_FACETS(&b, "get s where k = 'b' limit 0 facet k disjunctive",
                 "\"k\":[{\"value\":\"a\",\"count\":1},{\"value\":\"b\",\"count\":1}]");
    bed_close(&b);
}

TEST(facets_of_unknown_fields_and_wrong_counts_are_refused)
{
    bed b;

    goods(&b);
    CHECK_CODE(&b, "get good facet nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get good where id = 99 facet nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get good facet brand ranges [1, 2]", FENEC_QUERY);
    CHECK_CODE(&b, "get good facet brand, brand", FENEC_QUERY);
    CHECK_CODE(&b, "get good facet brand top 0", FENEC_QUERY);
    CHECK_INT(bed_run(&b, "get good facet brand top $1", "[0]", NULL, 0), FENEC_QUERY);
    CHECK_INT(bed_run(&b, "get good facet brand top $1", "[10001]", NULL, 0), FENEC_QUERY);
    CHECK_INT(bed_run(&b, "get good facet brand top $1", "[\"a\"]", NULL, 0), FENEC_QUERY);
    CHECK_INT(bed_run(&b, "get good facet brand top $1", "[10000]", NULL, 0), FENEC_OK);
    bed_close(&b);
}

/* 10 001 values, of which an index tells as many as the rows. */
TEST(facets_hold_10000_values_without_top)
{
    bed b;
    buffer params;

    bed_open(&b);
    bed_do(&b, "create collection n (v int @hash, w int)");
    buffer_init(&params);
    for (int at = 0; at < 10001;) {
        params.len = 0;
        buffer_text(&params, "[[");
        for (int i = 0; i < 5000 && at < 10001; i++, at++)
            buffer_printf(&params, "%s{\"v\":%d,\"w\":%d}", i ? "," : "", at, at);
        buffer_text(&params, "]]");
        buffer_byte(&params, 0);
        CHECK_INT(bed_run(&b, "put n $1", (const char *)params.bytes, NULL, 0), FENEC_OK);
    }
    buffer_clear(&params);
    CHECK_CODE(&b, "get n limit 0 facet v", FENEC_QUERY);
    CHECK_CODE(&b, "get n limit 0 facet w", FENEC_QUERY);
    CHECK_FACETS(&b, "get n limit 0 facet v top 2", "\"v\":[{\"value\":0,\"count\":1},{\"value\":1,\"count\":1}]");
    CHECK_CODE(&b, "get n where v < 10000 limit 0 facet w", FENEC_OK);
    bed_close(&b);
}

/* So many alike that an index is leapt through. */
TEST(facets_from_an_index_count_what_rows_do)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection n (v int @hash, s int @sorted, w int)");
    for (int i = 0; i < 300; i++) {
        char text[100];
        int v = i * i % 7;
        snprintf(text, sizeof text, v == 4 ? "put n {w: null}" : "put n {v: %d, s: %d, w: %d}", v, v, v);
        bed_do(&b, text);
    }
    char *want = strdup(facets_of(&b, "get n limit 0 facet w"));
    want[1] = 'v';
    CHECK_FACETS(&b, "get n limit 0 facet v", want);
    want[1] = 's';
    CHECK_FACETS(&b, "get n limit 0 facet s", want);
    free(want);
    bed_close(&b);
}

TEST(facets_survive_failed_allocations)
{
    static const char text[] = "get good select id where brand = 'b' and price > 0 limit 1 facet brand disjunctive, m.k, "
                               "price ranges [0, 10, 20], tags top 1";
    bed b;

    goods(&b);
    for (long n = 0; n < 400; n++) {
        memory_fail_after(n);
        int code = bed_run(&b, text, NULL, NULL, 0);
        memory_fail_after(-1);
        CHECK(code == FENEC_PANIC || code == FENEC_OK);
        if (code == FENEC_OK)
            break;
    }
    CHECK_INT(bed_run(&b, text, NULL, NULL, 0), FENEC_OK);
    bed_close(&b);
}
