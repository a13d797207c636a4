#include "base/clock.h"
#include "exec_bed.h"

#define CHECK_ANSWER(b, text, want)                    \
    do {                                               \
        CHECK_INT(bed_run(b, text, NULL, NULL, 0), 0); \
        CHECK_TEXT((b)->answer, want);                 \
    } while (0)
#define CHECK_ANSWER_OF(b, text, params, want)           \
    do {                                                 \
        CHECK_INT(bed_run(b, text, params, NULL, 0), 0); \
        CHECK_TEXT((b)->answer, want);                   \
    } while (0)
#define CHECK_CODE_OF(b, text, params, want) CHECK_INT(bed_run(b, text, params, NULL, 0), want)
#define AFFECTED(n) "{\"kind\":\"affected\",\"count\":" #n "}"

/* ---- documents ---- */

TEST(put_replaces_a_document_whole_and_insert_refuses_to)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a int, s text)");
    CHECK_ANSWER(&b, "put t [{a: 1, s: 'x'}, {a: 2}] ", AFFECTED(2));
    CHECK_ANSWER(&b, "put t {id: 1, a: 5}", AFFECTED(1));
    CHECK_ROWS(&b, "get t", "{\"id\":1,\"a\":5,\"s\":null},{\"id\":2,\"a\":2,\"s\":null}");
    CHECK_CODE(&b, "insert t {id: 2, a: 9}", FENEC_DUPLICATE);
    CHECK_CODE(&b, "insert t [{a: 7}, {id: 1}]", FENEC_DUPLICATE);
    CHECK_ROWS(&b, "get t select a", "{\"a\":5},{\"a\":2}");
    /* The same id twice counts twice; the last one stays. */
    CHECK_ANSWER(&b, "put t [{id: 9, a: 1}, {id: 9, a: 2}]", AFFECTED(2));
    CHECK_ROWS(&b, "get t where id = 9", "{\"id\":9,\"a\":2,\"s\":null}");
    CHECK_ANSWER(&b, "put t {}", AFFECTED(1));
    CHECK_ROWS(&b, "get t where id = 10", "{\"id\":10,\"a\":null,\"s\":null}");
    bed_close(&b);
}

TEST(documents_of_a_parameter_are_an_object_or_a_list_of_objects)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a int, m json)");
    CHECK_ANSWER_OF(&b, "put t $1", "[{\"a\":1,\"m\":{\"x\":1}}]", AFFECTED(1));
    CHECK_ANSWER_OF(&b, "put t $1", "[[{\"m\":2,\"a\":3},{\"a\":4},{\"m\":null,\"m.k\":5,\"id\":40}]]", AFFECTED(3));
    CHECK_ANSWER_OF(&b, "put t $1", "[[]]", AFFECTED(0));
    CHECK_CODE_OF(&b, "put t $1", "[7]", FENEC_TYPE);
    CHECK_CODE_OF(&b, "put t $1", "[[{\"a\":1},7]]", FENEC_TYPE);
    CHECK_CODE_OF(&b, "put t $1", "[null]", FENEC_TYPE);
    CHECK_CODE_OF(&b, "put t $1", "[]", FENEC_QUERY);
    CHECK_CODE_OF(&b, "put t $1", "[{\"b\":1}]", FENEC_NOT_FOUND);
    CHECK_CODE_OF(&b, "put t $1", "[{\"a.b\":1}]", FENEC_TYPE);
    CHECK_CODE_OF(&b, "put t $1", "[{\"m..b\":1}]", FENEC_QUERY);
    CHECK_CODE_OF(&b, "put t $1", "[{\"id\":0}]", FENEC_TYPE);
    CHECK_CODE_OF(&b, "put t $1", "[{\"id\":1.0}]", FENEC_TYPE);
    CHECK_CODE_OF(&b, "put t $1", "[{\"id\":null}]", FENEC_TYPE);
    CHECK_ROWS(&b, "get t",
               "{\"id\":1,\"a\":1,\"m\":{\"x\":1}},{\"id\":2,\"a\":3,\"m\":2},{\"id\":3,\"a\":4,\"m\":null},"
               "{\"id\":40,\"a\":null,\"m\":{\"k\":5}}");
    bed_close(&b);
}

TEST(the_first_error_in_the_order_written_is_the_answer)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int, s text required)");
    CHECK_CODE(&b, "put t {n: 1 / 0, ghost: 1}", FENEC_QUERY);
    CHECK_CODE(&b, "put t {ghost: 1, n: 1 / 0}", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "put t {n: 'x', ghost: 1}", FENEC_TYPE);
    CHECK_CODE(&b, "put t {n: 1, n: 2, ghost: 1}", FENEC_QUERY);
    CHECK_CODE(&b, "put t {n: 1, ghost: 2 / 0}", FENEC_QUERY);
    CHECK_CODE(&b, "put t {n: 1, ghost: 2}", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "put t [{n: 1}, {ghost: 1}]", FENEC_TYPE); /* required comes after its own document's members */
    CHECK_CODE(&b, "put t {n: 1 / 0} returning ghost", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "put t {n: n}", FENEC_QUERY);
    CHECK_ANSWER(&b, "put t {s: null}", AFFECTED(1));
    CHECK_ANSWER(&b, "set t {n: 4}", AFFECTED(1));
    CHECK_ANSWER(&b, "set t {s: null}", AFFECTED(1));
    CHECK_CODE(&b, "put ghost {n: 1}", FENEC_NOT_FOUND);
    bed_close(&b);
}

TEST(a_text_that_fails_writes_nothing)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int @unique, s text @hash)");
    bed_do(&b, "put t {n: 1, s: 'a'}");
    CHECK_CODE(&b, "put t [{n: 2, s: 'b'}, {n: 3, s: 'c'}, {n: 1}]", FENEC_DUPLICATE);
    CHECK_CODE(&b, "set t {n: n + 1, s: 'z'} require 7", FENEC_UNMET);
    CHECK_ROWS(&b, "get t", "{\"id\":1,\"n\":1,\"s\":\"a\"}");
    CHECK_ROWS(&b, "get t where n = 2", "");
    CHECK_ROWS(&b, "get t where s = 'z'", "");
    CHECK_ROWS(&b, "get t where s = 'a' select n", "{\"n\":1}");
    bed_close(&b);
}

/* ---- ids ---- */

TEST(ids_are_never_handed_out_twice)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int)");
    bed_do(&b, "put t [{n: 1}, {n: 2}, {n: 3}]");
    bed_do(&b, "del t where id = 3");
    CHECK_ROWS(&b, "put t {n: 4} returning id", "{\"id\":4}");
    bed_do(&b, "del t order id desc"); /* 4 goes first, then 2 and 1 */
    CHECK_ROWS(&b, "put t {n: 5} returning id", "{\"id\":5}");
    bed_do(&b, "put t {id: 100}");
    bed_do(&b, "put t {id: 50}");
    CHECK_ROWS(&b, "put t {n: 6} returning id", "{\"id\":101}");
    bed_do(&b, "del t; compact");
    CHECK_ROWS(&b, "put t {n: 6} returning id", "{\"id\":102}");
    CHECK_ROWS(&b, "put t {id: 3} returning id", "{\"id\":3}");
    bed_do(&b, "drop collection t");
    bed_do(&b, "create collection t (n int)");
    CHECK_ROWS(&b, "put t {n: 6} returning id", "{\"id\":1}");
    bed_close(&b);
}

TEST(ids_of_what_was_put_back_are_handed_out_again)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int)");
    bed_do(&b, "put t {n: 1}");
    CHECK_CODE(&b, "put t [{n: 2}, {n: 3}] require 9", FENEC_UNMET);
    CHECK_CODE(&b, "put t {id: 500}; put t {n: 'x'}", FENEC_TYPE);
    CHECK_CODE(&b, "del t; put t {n: 7}; put t {n: 'x'}", FENEC_TYPE);
    CHECK_CODE(&b, "create collection u (n int); put u {id: 9}; put u {n: 'x'}", FENEC_TYPE);
    CHECK_ROWS(&b, "put t {n: 2} returning id", "{\"id\":2}");
    bed_do(&b, "create collection u (n int)");
    CHECK_ROWS(&b, "put u {n: 2} returning id", "{\"id\":1}");
    bed_close(&b);
}

TEST(the_largest_id_leaves_none_to_hand_out)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int @unique)");
    bed_do(&b, "put t {id: 9223372036854775807, n: 1}");
    CHECK_CODE(&b, "put t {n: 2}", FENEC_QUERY);
    bed_do(&b, "put t {id: 4, n: 4}");
    CHECK_ANSWER(&b, "put t {n: 4} if absent", AFFECTED(0));
    CHECK_ANSWER(&b, "put t {n: 4} if absent else set {n: 5}", AFFECTED(1));
    bed_do(&b, "del t where n = 1");
    CHECK_CODE(&b, "put t {n: 2}", FENEC_QUERY);
    CHECK_ROWS(&b, "get t", "{\"id\":4,\"n\":5}");
    bed_close(&b);
}

/* ---- unique ---- */

TEST(unique_values_are_compared_as_values)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (f float @unique, m json, y bytes @unique, l [text] @unique)");
    bed_do(&b, "create index on t (m.k) @unique");
    bed_do(&b, "put t [{f: 0.0, m: {k: 3}, y: 'Az', l: ['a', 'b']}, {}, {f: null, m: {k: null}}]");
    CHECK_CODE(&b, "put t {f: -0.0}", FENEC_DUPLICATE);
    CHECK_CODE(&b, "put t {m: {k: 3.0}}", FENEC_DUPLICATE);
    CHECK_CODE(&b, "put t {m.k: 3}", FENEC_DUPLICATE);
    CHECK_CODE(&b, "put t {y: [65, 122]}", FENEC_DUPLICATE);
    CHECK_CODE(&b, "put t {l: ['a', 'b']}", FENEC_DUPLICATE);
    CHECK_ANSWER(&b, "put t {l: ['a'], f: 1, m: {k: '3'}}", AFFECTED(1));
    CHECK_CODE(&b, "put t {f: 1.0}", FENEC_DUPLICATE);
    /* Ints beyond 2^53 are exact, though one double stands for both. */
    bed_do(&b, "put t {m: {k: 9007199254740993}}");
    CHECK_ANSWER(&b, "put t {m: {k: 9007199254740992}}", AFFECTED(1));
    CHECK_CODE(&b, "put t {m: {k: 9007199254740993}}", FENEC_DUPLICATE);
    CHECK_CODE(&b, "put t {m: {k: 9007199254740992.0}}", FENEC_DUPLICATE);
    bed_close(&b);
}

TEST(unique_texts_longer_than_a_key_are_told_apart)
{
    char text[2000], long_text[1201];
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (s text @unique)");
    memset(long_text, 'x', 1200);
    long_text[1200] = 0;
    for (int i = 0; i < 4; i++) {
        long_text[1199] = (char)('a' + i);
        snprintf(text, sizeof text, "put t {s: '%s'}", long_text);
        CHECK_ANSWER(&b, text, AFFECTED(1));
        CHECK_CODE(&b, text, FENEC_DUPLICATE);
    }
    snprintf(text, sizeof text, "set t {s: '%s'} where id = 4", long_text);
    CHECK_ANSWER(&b, text, AFFECTED(1));
    snprintf(text, sizeof text, "set t {s: '%s'} where id = 1", long_text);
    CHECK_CODE(&b, text, FENEC_DUPLICATE);
    bed_close(&b);
}

TEST(unique_check_sees_the_rows_written_before)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection u (e int @unique)");
    bed_do(&b, "put u [{e: 1}, {e: 2}]");
    CHECK_CODE(&b, "set u {e: e + 1}", FENEC_DUPLICATE);
    CHECK_ANSWER(&b, "set u {e: e + 1} order e desc", AFFECTED(2));
    CHECK_ANSWER(&b, "set u {e: e}", AFFECTED(2)); /* a document may keep its own */
    CHECK_ANSWER(&b, "put u {id: 1, e: 2}", AFFECTED(1));
    CHECK_ANSWER(&b, "del u where e = 2; put u {e: 2}", AFFECTED(1));
    CHECK_ANSWER(&b, "set u {e: 10} where e = 2; put u {e: 2}", AFFECTED(1));
    CHECK_CODE(&b, "put u [{e: 7}, {e: 7}]", FENEC_DUPLICATE);
    CHECK_ROWS(&b, "get u order e", "{\"id\":4,\"e\":2},{\"id\":2,\"e\":3},{\"id\":3,\"e\":10}");
    bed_close(&b);
}

/* ---- upserts ---- */

TEST(if_absent_passes_over_what_is_there)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection l (name text @unique, owner text)");
    CHECK_ANSWER(&b, "insert l {name: 'job', owner: 'a'} if absent", AFFECTED(1));
    CHECK_ANSWER(&b, "insert l {name: 'job', owner: 'b'} if absent", AFFECTED(0));
    CHECK_ANSWER(&b, "put l [{id: 1}, {name: 'k'}, {name: 'k'}, {owner: 'z'}] if absent", AFFECTED(2));
    CHECK_ROWS(&b, "put l [{name: 'k'}, {name: 'm'}] if absent returning id, name", "{\"id\":4,\"name\":\"m\"}");
    CHECK_ROWS(&b, "get l where id = 1", "{\"id\":1,\"name\":\"job\",\"owner\":\"a\"}");
    bed_close(&b);
}

TEST(else_set_sets_the_row_that_holds_the_document)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection m (key text @unique, n int, j json, k2 int @unique)");
    CHECK_ANSWER(&b, "put m [{key: 'c', n: 4}, {key: 'c', n: 6}] if absent else set {n: n + new.n}", AFFECTED(2));
    CHECK_ROWS(&b, "get m select key, n", "{\"key\":\"c\",\"n\":10}");
    CHECK_ANSWER(&b, "put m {id: 1, n: 1, j.a: 7} if absent else set {n: new.id, j.b: new.j.a, k2: new.k2}",
                 AFFECTED(1));
    CHECK_ROWS(&b, "get m", "{\"id\":1,\"key\":\"c\",\"n\":1,\"j\":{\"b\":7},\"k2\":null}");
    /* Its id first, then the first field that clashes. */
    bed_do(&b, "put m [{key: 'd', k2: 5}, {key: 'e', k2: 6}]");
    bed_do(&b, "put m {id: 1, key: 'd'} if absent else set {n: 100}");
    bed_do(&b, "put m {key: 'e', k2: 5} if absent else set {n: 200}");
    bed_do(&b, "put m {id: 77, k2: 5} if absent else set {n: 300}");
    CHECK_ROWS(&b, "get m select id, n", "{\"id\":1,\"n\":100},{\"id\":2,\"n\":300},{\"id\":3,\"n\":200}");
    CHECK_CODE(&b, "put m {key: 'c'} if absent else set {n: new.ghost}", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "put m {key: 'c'} if absent else set {key: 'd'}", FENEC_DUPLICATE);
    CHECK_ANSWER(&b, "put m {key: 'new'} if absent else set {n: new.ghost}", AFFECTED(1));
    /* Each row as it stands at the end. */
    CHECK_ROWS(&b, "put m [{key: 'q', n: 1}, {key: 'q', n: 2}] if absent else set {n: n + new.n} returning key, n",
               "{\"key\":\"q\",\"n\":3},{\"key\":\"q\",\"n\":3}");
    CHECK_ANSWER(&b, "put m [{key: 'q'}, {key: 'r'}] if absent else set {n: 0} require 2", AFFECTED(2));
    CHECK_CODE(&b, "put m [{key: 'q'}, {key: 'r'}] if absent else set {n: 0} require 1", FENEC_UNMET);
    bed_close(&b);
}

/* ---- set and del ---- */

TEST(set_reads_the_row_as_it_was)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection h (n int, f int, s text)");
    bed_do(&b, "put h {n: 1, f: 9, s: 'x'}");
    CHECK_ANSWER(&b, "set h {n: n + 1, f: n}", AFFECTED(1));
    CHECK_ROWS(&b, "get h", "{\"id\":1,\"n\":2,\"f\":1,\"s\":\"x\"}");
    CHECK_CODE(&b, "set h {id: 9}", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "set h {n: 1, n: 2}", FENEC_QUERY);
    CHECK_CODE(&b, "set h {n: 0.5}", FENEC_TYPE);
    CHECK_CODE(&b, "set h {ghost: 1}", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "set h {n: 9223372036854775807 + n}", FENEC_QUERY);
    CHECK_CODE(&b, "set h {n: $1}", FENEC_QUERY);
    CHECK_ANSWER(&b, "set h {id: 9, ghost: 1, n: $1} where n = 77", AFFECTED(0)); /* no row, no error */
    CHECK_CODE(&b, "set h {n: 1} where n = 77 order ghost", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "set h {n: 1} where n = 77 returning ghost", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "del h where n = 77 returning s.x", FENEC_TYPE);
    CHECK_ANSWER(&b, "del h limit 0", AFFECTED(0));
    CHECK_ANSWER(&b, "del h", AFFECTED(1));
    bed_close(&b);
}

TEST(paths_set_one_key_and_keep_the_rest)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection j (meta json, n int)");
    bed_do(&b, "put j {meta: {lang: 'tr', src: {rank: 3}}}");
    bed_do(&b, "set j {meta.lang: 'en', meta.src.site: 'x'}");
    CHECK_ROWS(&b, "get j select meta", "{\"meta\":{\"lang\":\"en\",\"src\":{\"rank\":3,\"site\":\"x\"}}}");
    CHECK_CODE(&b, "set j {meta.lang.code: 1}", FENEC_TYPE);
    CHECK(strstr(b.answer, "meta.lang") != NULL && strstr(b.answer, "\"en\"") != NULL);
    CHECK_CODE(&b, "set j {n.x: 1}", FENEC_TYPE);
    bed_do(&b, "set j {meta: {a: 1}, meta.b: meta.lang}"); /* in order; values read the old row */
    CHECK_ROWS(&b, "get j select meta", "{\"meta\":{\"a\":1,\"b\":\"en\"}}");
    CHECK_CODE(&b, "set j {meta.b: 1, meta.b: 2}", FENEC_QUERY);
    bed_do(&b, "set j {meta.b: 5, meta: null}");
    CHECK_ROWS(&b, "get j select meta", "{\"meta\":null}");
    bed_do(&b, "set j {meta.x: null}");
    CHECK_ROWS(&b, "get j select meta", "{\"meta\":{\"x\":null}}");
    CHECK_ANSWER(&b, "put j {meta.lang: 'de', 'meta.src.k': 1}", AFFECTED(1));
    CHECK_ROWS(&b, "get j select meta where id = 2", "{\"meta\":{\"lang\":\"de\",\"src\":{\"k\":1}}}");
    bed_close(&b);
}

static int put_nested(bed *b, const char *key, int lists)
{
    char text[512], *at = text + sprintf(text, "put j {%s: ", key);

    memset(at, '[', (size_t)lists);
    memset(at + lists, ']', (size_t)lists);
    strcpy(at + 2 * lists, "}");
    return bed_run(b, text, NULL, NULL, 0);
}

TEST(values_nest_at_most_64_deep)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection j (m json)");
    CHECK_INT(put_nested(&b, "m", 64), FENEC_OK);
    CHECK_INT(put_nested(&b, "m", 65), FENEC_TYPE);
    CHECK_INT(put_nested(&b, "m.k", 63), FENEC_OK);
    CHECK_INT(put_nested(&b, "m.k", 64), FENEC_TYPE);
    CHECK_INT(put_nested(&b, "m.k.l", 63), FENEC_TYPE);
    bed_close(&b);
}

TEST(returning_answers_rows_as_written_and_as_they_were)
{
    char text[5000], big[4001];
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int, m json, s text)");
    memset(big, 'b', 4000);
    big[4000] = 0;
    CHECK_ROWS(&b, "put t [{id: 5, n: 1, m.a: 2}, {id: 5, n: 3}] returning m.a, id, n",
               "{\"m.a\":2,\"id\":5,\"n\":1},{\"m.a\":null,\"id\":5,\"n\":3}");
    snprintf(text, sizeof text, "put t {n: 2, s: '%s'} returning n", big);
    CHECK_ROWS(&b, text, "{\"n\":2}");
    CHECK_ROWS(&b, "set t {n: n * 10} order n desc returning id, n", "{\"id\":5,\"n\":30},{\"id\":6,\"n\":20}");
    CHECK_ROWS(&b, "set t {n: 7} where n = 30 returning *", "{\"id\":5,\"n\":7,\"m\":null,\"s\":null}");
    CHECK_ROWS(&b, "set t {n: 8} where id = 6 returning id", "{\"id\":6}");
    snprintf(text, sizeof text, "{\"s\":\"%s\",\"n\":8}", big); /* a large value, kept and then deleted */
    CHECK_ROWS(&b, "set t {n: n} where id = 6 returning s, n", text);
    CHECK_ROWS(&b, "del t where id = 6 returning s, n", text);
    CHECK_ROWS(&b, "del t where id = 6 returning s, n", "");
    CHECK_CODE(&b, "del t returning n require 2", FENEC_UNMET);
    CHECK_ROWS(&b, "del t returning n require 1", "{\"n\":7}");
    bed_close(&b);
}

TEST(order_and_limit_pick_the_page_a_get_answers)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection jobs (owner text, run_at int @sorted, attempts int)");
    bed_do(&b, "put jobs [{run_at: 30, attempts: 0}, {run_at: 10, attempts: 0}, {run_at: 20, attempts: 0},"
               " {attempts: 0}, {run_at: 10, attempts: 0}]");
    CHECK_ROWS(&b, "set jobs {owner: 'w', run_at: run_at + 100} where run_at <= 30 order run_at limit 3"
                   " returning id, run_at",
               "{\"id\":2,\"run_at\":110},{\"id\":5,\"run_at\":110},{\"id\":3,\"run_at\":120}");
    CHECK_ROWS(&b, "get jobs select id where owner is null", "{\"id\":1},{\"id\":4}");
    CHECK_ANSWER(&b, "del jobs where id = 2 and owner = 'w' require 1", AFFECTED(1));
    CHECK_CODE(&b, "del jobs where id = 2 and owner = 'w' require 1", FENEC_UNMET);
    CHECK_ROWS_OF(&b, "del jobs order run_at desc limit $1 returning id", "[2]", "{\"id\":3},{\"id\":5}");
    bed_close(&b);
}

/* ---- expiry ---- */

TEST(rows_past_their_time_are_out_of_a_writes_way)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection s (k text @unique, p int @unique, n int, at timestamp @ttl(1m))");
    clock_set_ms(1000000);
    bed_do(&b, "put s [{k: 'a', p: 1, at: now()}, {k: 'b', p: 2, at: now()}, {k: 'c', p: 3}]");
    CHECK_ANSWER(&b, "put s {k: 'a'} if absent", AFFECTED(0));
    CHECK_CODE(&b, "insert s {id: 1}", FENEC_DUPLICATE);
    clock_set_ms(1060000); /* at or before now - 1m */
    CHECK_ROWS(&b, "get s select k", "{\"k\":\"c\"}");
    CHECK_ROWS(&b, "get s select k where expired()", "{\"k\":\"a\"},{\"k\":\"b\"}");
    CHECK_ANSWER(&b, "set s {n: 1}", AFFECTED(1));
    /* Passed over for 'c': what is past its time for 'p' stays. */
    CHECK_ANSWER(&b, "put s {k: 'c', p: 1} if absent", AFFECTED(0));
    CHECK_ROWS(&b, "get s select k where expired()", "{\"k\":\"a\"},{\"k\":\"b\"}");
    CHECK_CODE(&b, "put s {k: 'c', p: 1}", FENEC_DUPLICATE);
    CHECK_ROWS(&b, "get s select k where expired()", "{\"k\":\"a\"},{\"k\":\"b\"}");
    /* One document takes the place of two rows. */
    CHECK_ROWS(&b, "insert s {k: 'a', p: 2, at: now()} returning id", "{\"id\":4}");
    CHECK_ROWS(&b, "get s select k where expired()", "");
    clock_set_ms(1120000);
    /* An id of such a row counts as free, and the document takes it. */
    CHECK_ROWS(&b, "insert s {id: 4, k: 'a', n: 5} returning id, n, p", "{\"id\":4,\"n\":5,\"p\":null}");
    CHECK_ROWS(&b, "get s select id where p = 2", "");
    bed_do(&b, "put s {id: 9, k: 'z', at: 0}");
    CHECK_ROWS(&b, "put s {k: 'z', n: 1} if absent else set {n: 99} returning id, n", "{\"id\":10,\"n\":1}");
    bed_do(&b, "put s {id: 11, p: 50, at: 0}");
    CHECK_ANSWER(&b, "set s {p: 50} where k = 'z'", AFFECTED(1));
    CHECK_ROWS(&b, "get s select id where expired() or p = 50", "{\"id\":10}");
    /* Ids of deleted rows are not handed out again. */
    CHECK_ROWS(&b, "put s {} returning id", "{\"id\":12}");
    clock_set_ms(-1);
    bed_close(&b);
}

TEST(making_room_counts_as_changes)
{
    buffer out;
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection s (k text @unique, p int @unique, at timestamp @ttl(1m))"); /* 1 */
    bed_do(&b, "put s [{k: 'a', at: 0}, {p: 2, at: 0}]");                                     /* 3 */
    bed_do(&b, "put s {k: 'a', p: 2}"); /* two deleted, one written */
    bed_do(&b, "put s {id: 7, k: 'x', at: 0}");
    bed_do(&b, "insert s {id: 7, k: 'x'}"); /* a replacement: one change */
    buffer_init(&out);
    CHECK_INT(database_changes(b.d, UINT64_MAX, &out, &b.err), FENEC_OK);
    buffer_byte(&out, 0);
    CHECK_TEXT((char *)out.bytes, "{\"seq\":8,\"horizon\":0,\"collections\":null}");
    buffer_clear(&out);
    bed_close(&b);
}

TEST(upsert_answers_a_row_that_had_to_make_room_as_it_was_written)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection s (k text @unique, n int, at timestamp @ttl(1m))");
    CHECK_ROWS(&b, "put s [{k: 'a', n: 1, at: 0}, {k: 'a', n: 2}] if absent else set {n: 9} returning id, n",
               "{\"id\":1,\"n\":1},{\"id\":2,\"n\":2}");
    bed_close(&b);
}
