#include <stdarg.h>

#include "base/clock.h"
#include "exec_bed.h"

/* ---- what an index may not change: the same documents with indexes and without ---- */

static uint64_t drawn;

static uint64_t draw(uint64_t below)
{
    return test_random(&drawn) % below;
}

typedef struct text_of {
    char bytes[8192];
    size_t len;
} text_of;

static void add(text_of *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text_of *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf(t->bytes + t->len, sizeof t->bytes - t->len, format, args);
    va_end(args);
    if (len > 0)
        t->len += (size_t)len;
}

static void add_text_value(text_of *t)
{
    static const char *const few[] = {"", "a", "B", "ab", "é", "2026-05-03", "zz", "b"};

    if (draw(12)) {
        add(t, "\"%s\"", few[draw(sizeof few / sizeof *few)]);
        return;
    }
    /* Too long for a key: the index knows its beginning alone. */
    add(t, "\"");
    for (int i = 0; i < 250; i++)
        add(t, "x");
    add(t, "%llu\"", (unsigned long long)draw(4));
}

static void add_json_value(text_of *t, bool placed)
{
    switch (draw(placed ? 6 : 9)) {
    case 0: add(t, "null"); break;
    case 1: add(t, "%llu.5", (unsigned long long)draw(5)); break;
    case 2:
    case 3: add(t, "%d", (int)draw(8) - 2); break;
    case 4:
    case 5: add_text_value(t); break;
    case 6: add(t, "true"); break;
    case 7: add(t, "[1, %llu]", (unsigned long long)draw(3)); break;
    default: add(t, "9007199254740993"); break;
    }
}

static void add_number(text_of *t)
{
    if (draw(8) == 0)
        add(t, "null");
    else if (draw(4) == 0)
        add(t, "%d.%s", (int)draw(20) - 5, draw(2) ? "5" : "0");
    else
        add(t, "%d", (int)draw(20) - 5);
}

static void add_whole(text_of *t)
{
    if (draw(8) == 0)
        add(t, "null");
    else
        add(t, "%d", (int)draw(20) - 5);
}

static void put_rows(bed *b, int rows, bool placed)
{
    for (int i = 0; i < rows; i++) {
        text_of one = {0}, text = {0};
        add(&one, "{h: ");
        add_whole(&one);
        add(&one, ", u: %d, s: ", i * 3 - 10);
        add_whole(&one);
        add(&one, ", f: ");
        add_number(&one);
        add(&one, ", t: ");
        add_text_value(&one);
        add(&one, ", at: %llu000, n: ", (unsigned long long)draw(30));
        add_whole(&one);
        add(&one, ", j: {k: ");
        add_json_value(&one, placed);
        add(&one, ", h: ");
        add_json_value(&one, placed);
        add(&one, "}}");
        add(&text, "put a %s; put b %s", one.bytes, one.bytes);
        bed_do(b, text.bytes);
    }
}

static void add_operand(text_of *t)
{
    switch (draw(10)) {
    case 0: add_text_value(t); break;
    case 1: add(t, "timestamp(%llu000)", (unsigned long long)draw(30)); break;
    case 2: add(t, "\"1970-01-01T00:00:%02lluZ\"", (unsigned long long)draw(30)); break;
    case 3: add(t, "9007199254740993"); break;
    case 4: add(t, "9007199254740992.0"); break;
    case 5: add_json_value(t, false); break;
    case 6: add(t, "%d + 1", (int)draw(20) - 5); break;
    default: add_number(t); break;
    }
}

static void add_condition(text_of *t)
{
    static const char *const names[] = {"id", "h", "u", "s", "f", "t", "at", "n", "j.k", "j.h", "s", "j.k"};
    static const char *const ops[] = {"=", "=", "!=", "<", "<=", ">", ">="};
    const char *name = names[draw(sizeof names / sizeof *names)];

    switch (draw(8)) {
    case 0:
        add(t, "%s in [", name);
        for (uint64_t i = 0, n = draw(5); i < n; i++) {
            if (i)
                add(t, ", ");
            add_operand(t);
        }
        add(t, "]");
        break;
    case 1:
        add_operand(t);
        add(t, " %s %s", ops[draw(7)], name);
        break;
    case 2: add(t, "%s is null", name); break;
    default:
        add(t, "%s %s ", name, ops[draw(7)]);
        add_operand(t);
        break;
    }
}

static void add_filter(text_of *t)
{
    for (uint64_t i = 0, n = 1 + draw(3); i < n; i++) {
        add(t, i ? " and " : " where ");
        if (draw(8) == 0) {
            add(t, "(");
            add_condition(t);
            add(t, " or ");
            add_condition(t);
            add(t, ")");
        } else {
            if (draw(10) == 0)
                add(t, "not ");
            add_condition(t);
        }
    }
}

static void add_order(text_of *t)
{
    static const char *const names[] = {"id", "h", "u", "s", "f", "t", "at", "n", "j.k", "s", "s", "t"};

    for (uint64_t i = 0, n = 1 + draw(8) / 6; i < n; i++)
        add(t, "%s%s%s", i ? ", " : " order ", names[draw(sizeof names / sizeof *names)],
            draw(2) ? " desc" : draw(2) ? " asc" : "");
}

static void check_same(bed *b, const char *rest)
{
    char text[9000];
    char *first;

    snprintf(text, sizeof text, "get a%s", rest);
    int code = bed_run(b, text, NULL, NULL, 0);
    first = b->answer;
    b->answer = NULL;
    snprintf(text, sizeof text, "get b%s", rest);
    int other = bed_run(b, text, NULL, NULL, 0);
    if (code || other || strcmp(first, b->answer))
        test_failed(__FILE__, __LINE__, "%s\n    with indexes:    %d %.2000s\n    without indexes: %d %.2000s", rest,
                    code, first, other, b->answer);
    memory_free(first);
}

/* A filter below an `or` is neither narrowed by an index nor screened. */
static void check_filter(bed *b, const char *filter)
{
    char text[9000], plain[64];

    snprintf(text, sizeof text, "get a%s or false count", filter);
    snprintf(plain, sizeof plain, "%s", bed_rows(b, text, NULL));
    snprintf(text, sizeof text, "get a%s count", filter);
    CHECK_ROWS(b, text, plain);
    snprintf(text, sizeof text, "get b%s count", filter);
    CHECK_ROWS(b, text, plain);
}

static void check_random(int rows, bool placed, long rounds)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection a (h int @hash, u int @unique, s int @sorted, f float @sorted, t text @sorted, "
               "at timestamp @sorted, n int, j json); create index on a (j.k) @sorted; "
               "create index on a (j.h) @hash");
    bed_do(&b, "create collection b (h int, u int, s int, f float, t text, at timestamp, n int, j json)");
    put_rows(&b, rows, placed);
    bed_do(&b, "del a where n = 3; del b where n = 3; set a {s: s + 1} where n = 4; set b {s: s + 1} where n = 4");
    for (long i = 0; i < rounds; i++) {
        text_of t = {0};
        if (draw(6)) {
            add_filter(&t);
            if (draw(4) == 0)
                check_filter(&b, t.bytes);
        }
        if (draw(4) == 0) {
            add(&t, " count");
        } else {
            if (draw(3))
                add_order(&t);
            if (draw(2))
                add(&t, " limit %llu", (unsigned long long)draw(30));
            if (draw(4) == 0)
                add(&t, " offset %llu", (unsigned long long)draw(12));
        }
        check_same(&b, t.bytes);
    }
    bed_close(&b);
}

TEST(indexes_never_change_an_answer)
{
    drawn = test_seed();
    check_random(40, true, test_scale(3000, 30000));
    check_random(400, true, test_scale(4000, 40000));
}

TEST(indexes_that_hold_what_has_no_place_never_change_an_answer)
{
    drawn = test_seed() + 1;
    check_random(300, false, test_scale(3000, 30000));
}

/* ---- order, page, count ---- */

TEST(rows_come_in_order_of_the_keys_and_ties_by_id)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection t (a int, s text)");
    bed_do(&b, "put t [{a: 2, s: \"x\"}, {a: null, s: \"y\"}, {a: 1, s: \"x\"}, {a: 2, s: \"a\"}, {a: 2, s: \"x\"}]");
    CHECK_ROWS(&b, "get t select id order a", "{\"id\":2},{\"id\":3},{\"id\":1},{\"id\":4},{\"id\":5}");
    CHECK_ROWS(&b, "get t select id order a desc", "{\"id\":1},{\"id\":4},{\"id\":5},{\"id\":3},{\"id\":2}");
    CHECK_ROWS(&b, "get t select id order a desc, s", "{\"id\":4},{\"id\":1},{\"id\":5},{\"id\":3},{\"id\":2}");
    CHECK_ROWS(&b, "get t select id order s desc, id desc", "{\"id\":2},{\"id\":5},{\"id\":3},{\"id\":1},{\"id\":4}");
    CHECK_ROWS(&b, "get t select id order id desc limit 2", "{\"id\":5},{\"id\":4}");
    CHECK_ROWS(&b, "get t select id order id, a", "{\"id\":1},{\"id\":2},{\"id\":3},{\"id\":4},{\"id\":5}");
    CHECK_ROWS(&b, "get t select id order a limit 2 offset 1", "{\"id\":3},{\"id\":1}");
    CHECK_ROWS(&b, "get t select id limit 2 offset 4", "{\"id\":5}");
    CHECK_ROWS(&b, "get t select id offset 9", "");
    CHECK_ROWS(&b, "get t select id limit 0", "");
    CHECK_ROWS_OF(&b, "get t select id limit $1 offset $2", "[2,1]", "{\"id\":2},{\"id\":3}");
    CHECK_ROWS_OF(&b, "get t select id limit $1", "[-4]", "");
    CHECK_INT(bed_run(&b, "get t limit $1", "[2.5]", NULL, 0), FENEC_QUERY);
    CHECK_INT(bed_run(&b, "get t limit $1", "[\"2\"]", NULL, 0), FENEC_QUERY);
    CHECK_INT(bed_run(&b, "get t limit $1", "[]", NULL, 0), FENEC_QUERY);
    bed_close(&b);
}

TEST(count_answers_one_row_and_require_is_held_to)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection t (n int @sorted, h text @hash)");
    bed_do(&b, "put t [{n: 1, h: \"a\"}, {n: 2, h: \"a\"}, {n: 3}, {n: null, h: \"b\"}]");
    CHECK_INT(bed_run(&b, "get t count", NULL, NULL, 0), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"count\"],\"rows\":[{\"count\":4}]}}");
    CHECK_ROWS(&b, "get t where n > 1 count", "{\"count\":2}");
    CHECK_ROWS(&b, "get t where n < 9 count", "{\"count\":3}");
    CHECK_ROWS(&b, "get t where n > 1 and n <= 2 count", "{\"count\":1}");
    CHECK_ROWS(&b, "get t where n > 5 and n < 2 count", "{\"count\":0}");
    CHECK_ROWS(&b, "get t where h = \"a\" count", "{\"count\":2}");
    CHECK_ROWS(&b, "get t where h = \"a\" and n = 2 count", "{\"count\":1}");
    CHECK_ROWS(&b, "get t where h = null count", "{\"count\":1}");
    CHECK_INT(bed_run(&b, "get t count offset $1", "[1]", NULL, 0), FENEC_QUERY);
    CHECK_INT(bed_run(&b, "get t count offset $1", "[0]", NULL, 0), FENEC_OK);
    CHECK_CODE(&b, "get t require 4", FENEC_OK);
    CHECK_CODE(&b, "get t require 3", FENEC_UNMET);
    CHECK_CODE(&b, "get t limit 3 require 3", FENEC_OK);
    CHECK_CODE(&b, "get t offset 3 require 3", FENEC_UNMET);
    bed_close(&b);
}

TEST(a_list_answers_columns_in_the_order_written)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection ticks (sym text, px int, qty int, meta json)");
    bed_do(&b, "put ticks {sym: \"A\", px: 7, qty: 3, meta: {v: {x: 1}}}");
    CHECK_INT(bed_run(&b, "get ticks select qty as n, px * qty as total, meta.v.x, id", NULL, NULL, 0), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"n\",\"total\",\"meta.v.x\",\"id\"],"
                         "\"rows\":[{\"n\":3,\"total\":21,\"meta.v.x\":1,\"id\":1}]}}");
    CHECK_ROWS(&b, "get ticks", "{\"id\":1,\"sym\":\"A\",\"px\":7,\"qty\":3,\"meta\":{\"v\":{\"x\":1}}}");
    CHECK_ROWS(&b, "select sym, sym from ticks", "{\"sym\":\"A\",\"sym\":\"A\"}");
    CHECK_ROWS(&b, "get ticks select meta.none, meta.v.x.y", "{\"meta.none\":null,\"meta.v.x.y\":null}");
    CHECK_CODE(&b, "get nowhere", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get ticks select 1 / 0 as x", FENEC_QUERY);
    CHECK_ROWS(&b, "get ticks select 1 / 0 as x offset 1", "");
    bed_close(&b);
}

TEST(ids_are_found_by_any_value_equal_to_them)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection t (n int)");
    bed_do(&b, "put t [{id: 42, n: 1}, {id: 7, n: 2}, {id: 9007199254740993, n: 3}, {id: 9223372036854775807, n: 4}]");
    CHECK_ROWS(&b, "get t where id = 42.0", "{\"id\":42,\"n\":1}");
    CHECK_ROWS(&b, "get t where 42 = id and n = 1", "{\"id\":42,\"n\":1}");
    CHECK_ROWS(&b, "get t where id = 42.5", "");
    CHECK_ROWS(&b, "get t where id = \"x\"", "");
    CHECK_ROWS(&b, "get t where id = null", "");
    CHECK_ROWS(&b, "get t select n where id = 9007199254740992.0", "{\"n\":3}");
    CHECK_ROWS(&b, "get t select n where id in [9223372036854775807, 7, 7, 8, null, \"x\"]", "{\"n\":2},{\"n\":4}");
    CHECK_ROWS(&b, "get t select n where id > 42", "{\"n\":3},{\"n\":4}");
    CHECK_ROWS(&b, "get t select n where id >= 42 and id < 9007199254740993", "{\"n\":1}");
    CHECK_ROWS(&b, "get t select n where id > 9223372036854775807", "");
    CHECK_ROWS(&b, "get t select n where id > 41.5 and id <= 42", "{\"n\":1}");
    CHECK_ROWS_OF(&b, "get t select n where id = $1", "[7]", "{\"n\":2}");
    bed_close(&b);
}

TEST(rows_past_their_time_are_left_out_unless_asked_for)
{
    bed b;
    bed_open(&b);
    clock_set_ms(10000000);
    bed_do(&b, "create collection s (at timestamp @ttl(10s), n int)");
    bed_do(&b, "put s [{at: 9990000, n: 1}, {at: 9990001, n: 2}, {at: null, n: 3}, {at: 5, n: 4}]");
    CHECK_ROWS(&b, "get s select n", "{\"n\":2},{\"n\":3}");
    CHECK_ROWS(&b, "get s count", "{\"count\":2}");
    CHECK_ROWS(&b, "get s where at < 99999999 count", "{\"count\":1}");
    CHECK_ROWS(&b, "get s select n order at limit 2", "{\"n\":3},{\"n\":2}");
    CHECK_ROWS(&b, "get s select n where expired()", "{\"n\":1},{\"n\":4}");
    CHECK_ROWS(&b, "get s where expired() count", "{\"count\":2}");
    CHECK_ROWS(&b, "get s select n where expired() or n = 3", "{\"n\":1},{\"n\":3},{\"n\":4}");
    CHECK_ROWS(&b, "get s select n where not expired()", "{\"n\":2},{\"n\":3}");
    CHECK_ROWS(&b, "get s where id = 1", "");
    CHECK_CODE(&b, "get s where n / 0 = 1 and n = 1", FENEC_QUERY);
    clock_set_ms(9000000);
    CHECK_ROWS(&b, "get s select n where id = 1", "{\"n\":1}");
    clock_set_ms(-1);
    bed_close(&b);
}

/* ---- explain ---- */

static void check_plan(bed *b, const char *text, const char *begins)
{
    const char *rows = bed_rows(b, text, NULL);
    char want[256];

    snprintf(want, sizeof want, "{\"plan\":\"%s", begins);
    if (!strstr(rows, want))
        test_failed(__FILE__, __LINE__, "%s: no step begins with %s in\n    %s", text, begins, rows);
}

TEST(explain_tells_the_steps_and_the_size)
{
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection t (n int @sorted, h int @hash, m int)");
    for (int i = 0; i < 200; i++) {
        char text[100];
        snprintf(text, sizeof text, "put t {n: %d, h: %d, m: %d}", i, i % 50, i);
        bed_do(&b, text);
    }
    CHECK_ROWS(&b, "explain get t", "{\"plan\":\"filter: none\"},{\"plan\":\"rows: 200\"}");
    CHECK_ROWS(&b, "explain get t count", "{\"plan\":\"filter: none\"},{\"plan\":\"count: 200\"}");
    check_plan(&b, "explain get t where m = 3", "filter: full scan, 200 rows tested, 1 matched");
    check_plan(&b, "explain get t where id = 3", "filter: the id index");
    check_plan(&b, "explain get t where h = 3", "filter: a hash index");
    check_plan(&b, "explain get t where h in [3, 4]", "filter: a hash index through in");
    check_plan(&b, "explain get t where n > 190", "filter: an ordered index");
    check_plan(&b, "explain get t where n > 10", "filter: full scan");
    check_plan(&b, "explain get t where n < 5 count", "filter: an index counted, no row read");
    check_plan(&b, "explain get t order n desc limit 3", "order: the ordered index walked descending, 3 rows tested");
    check_plan(&b, "explain get t where m > 195 order n limit 3", "order: the ordered index given up");
    check_plan(&b, "explain get t order m limit 3", "order: keys read");
    check_plan(&b, "explain get t order m limit 3", "rows: 3");
    CHECK_CODE(&b, "explain get t select 1 / 0 as x", FENEC_QUERY);
    CHECK_CODE(&b, "explain get t require 3", FENEC_UNMET);
    bed_close(&b);
}

TEST(ranked_reads_of_fields_without_their_index_are_refused)
{
    static const char *const texts[] = {
        "get t near v [1, 2]",
        "get t match s \"x\"",
        "get t select highlight(s) match s \"x\"",
    };
    bed b;
    bed_open(&b);
    CHECK_CODE(&b, "get t match s \"x\"", FENEC_NOT_FOUND);
    bed_do(&b, "create collection t (n int, s text, v vector<2>); create collection t2 (n int)");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_CODE(&b, texts[i], FENEC_QUERY);
    }
    bed_close(&b);
}

/* ---- memory that runs out ---- */

TEST(reads_without_memory_end_in_panic_and_leave_the_database_usable)
{
    static const char *const texts[] = {
        "get t where s ~ \"É\" and n in [1, 2, 3] order s desc, n limit 5",
        "get t where n > 3 select s, upper(s) as u, j.a",
        "get t order n limit 3",
        "explain get t where n in [1, 2] order s",
        "get t where n > 1 count",
    };
    bed b;
    bed_open(&b);
    bed_do(&b, "create collection t (n int @sorted, s text, j json)");
    bed_do(&b, "put t [{n: 1, s: \"aé\", j: {a: 1}}, {n: 5, s: \"b\"}, {n: 3, s: \"É\"}]");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int code = FENEC_PANIC;
        for (long n = 0; n < 2000 && code != FENEC_OK; n++) {
            buffer out;
            buffer_init(&out);
            error_init(&b.err);
            memory_fail_after(n);
            code = database_query(b.d, (const uint8_t *)texts[i], strlen(texts[i]), NULL, 0, NULL, 0, &out, &b.err);
            memory_fail_after(-1);
            buffer_clear(&out);
            if (code != FENEC_OK && code != FENEC_PANIC)
                test_failed(__FILE__, __LINE__, "%s after %ld: %d %s", texts[i], n, code, b.err.message);
        }
        CHECK_INT(code, FENEC_OK);
        CHECK_CODE(&b, texts[i], FENEC_OK);
    }
    bed_close(&b);
}
