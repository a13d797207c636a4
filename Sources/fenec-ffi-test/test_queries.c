/* test_queries.c - texts, blocks, parameters, answers (chapter 5 sections 7, 8, 9, 18). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void the_worked_examples(void)
{
    uint64_t h = memory_database();

    CHECK_ANSWER(query(h, "create collection card (front text required, n int @unique)"), FENEC_OK,
                 "{\"kind\":\"ok\",\"message\":\"collection `card` created\"}");
    CHECK_ANSWER(query_with(h, "put card {front: $1, n: $2}", "[\"pas\",1]"), FENEC_OK,
                 "{\"kind\":\"affected\",\"count\":1}");
    CHECK_CODE(query(h, "put card {front: \"x\", n: 1}"), FENEC_DUPLICATE);
    CHECK_CODE(query(h, "put card {front: \"x\", n: \"one\"}"), FENEC_TYPE);
    CHECK_CODE(query(h, "put card {front: \"y\", n: 2}; put card {front: \"z\", n: 1}"), FENEC_DUPLICATE);
    CHECK(answer_holds(",\"at\":1}"));
    CHECK_ANSWER(query(h, "get card count"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"count\"],\"rows\":[{\"count\":1}]}}");
    CHECK_CODE(query(h, "get deck"), FENEC_NOT_FOUND);
    CHECK(!answer_holds("\"at\""));
    CHECK_CODE(query(h, "gte card"), FENEC_QUERY);
    CHECK_CODE(query_with(h, "get card", "[1,"), FENEC_QUERY);
    CHECK_ANSWER(changes(h, UINT64_MAX), FENEC_OK, "{\"seq\":2,\"horizon\":0,\"collections\":null}");
    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_MISUSE);
}

static void a_text_with_a_compact_runs_statement_by_statement(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection card (front text required, n int @unique)"), FENEC_OK);
    CHECK_CODE(query(h, "put card {front: \"a\", n: 5}; compact card; put card {front: \"b\", n: 5}"),
               FENEC_DUPLICATE);
    CHECK(answer_holds(",\"at\":2}"));
    CHECK_ANSWER(query(h, "get card select front"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"front\"],\"rows\":[{\"front\":\"a\"}]}}");
    CHECK_CODE(query(h, "compact"), FENEC_OK);
    CHECK_CODE(query(h, "compact nobody"), FENEC_NOT_FOUND);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void a_failed_block_leaves_nothing(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection t (n int @unique)"), FENEC_OK);
    CHECK_CODE(query(h, "create collection u (a int); put t {n: 1}; alter collection t add x text; "
                        "create index on t (x) @hash; put t {n: 1}"),
               FENEC_DUPLICATE);
    CHECK(answer_holds(",\"at\":4}"));
    CHECK_ANSWER(query(h, "collections"), FENEC_OK,
                 "{\"kind\":\"schemas\",\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"n\",\"type\":\"int\","
                 "\"index\":\"unique\"}]}]}");
    CHECK_ANSWER(query(h, "put t {n: 1} returning id"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\"],\"rows\":[{\"id\":1}]}}");
    CHECK_ANSWER(changes(h, 0), FENEC_OK, "{\"seq\":2,\"horizon\":0,\"collections\":[\"t\"]}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void reads_of_one_text_answer_the_last(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection t (n int); put t {n: 3}"), FENEC_OK);
    CHECK_ANSWER(query(h, "get t; get t select n"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"n\"],\"rows\":[{\"n\":3}]}}");
    CHECK_CODE(query(h, "get t; get u"), FENEC_NOT_FOUND);
    CHECK(answer_holds(",\"at\":1}"));
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void numbers_come_back_exactly(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection t (i int, f float, j json)"), FENEC_OK);
    CHECK_CODE(query_with(h, "put t {i: $1, f: $2, j: $3}",
                          "[9223372036854775807, 0.1, [1, 2.5, 12345678901, -9223372036854775808, 3.0]]"),
               FENEC_OK);
    CHECK_ANSWER(query(h, "get t select i, f, j"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"i\",\"f\",\"j\"],\"rows\":[{\"i\":9223372036854775807,"
                 "\"f\":0.1,\"j\":[1,2.5,12345678901,-9223372036854775808,3]}]}}");
    CHECK_CODE(query_with(h, "put t {f: $1}", "[1e999]"), FENEC_QUERY);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void text_is_escaped_and_may_hold_a_nul(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection t (s text)"), FENEC_OK);
    CHECK_CODE(query_with(h, "put t {s: $1}", "[\"a\\u0000b\\\"\\\\\\n\\t\\r\\u001f\\u007f\\ud83e\\udd8a\\ud800\"]"), FENEC_OK);
    CHECK_ANSWER(query(h, "get t select s"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"s\"],\"rows\":[{\"s\":"
                 "\"a\\u0000b\\\"\\\\\\n\\t\\r\\u001f\x7f🦊\xef\xbf\xbd\"}]}}");
    CHECK_ANSWER(query_with(h, "get t where s = $1 count", "[\"a\\u0000b\\\"\\\\\\n\\t\\r\\u001f\\u007f🦊\\ufffd\"]"),
                 FENEC_OK, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"count\"],\"rows\":[{\"count\":1}]}}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void parameters_nest_sixty_four_deep(void)
{
    uint64_t h = memory_database();
    char deep[300];

    CHECK_CODE(query(h, "create collection t (j json)"), FENEC_OK);
    for (int depth = 64; depth <= 65; depth++) {
        char *p = deep;
        *p++ = '[';
        for (int i = 0; i < depth; i++)
            *p++ = '[';
        for (int i = 0; i < depth; i++)
            *p++ = ']';
        *p++ = ']';
        *p = 0;
        CHECK_CODE(query_with(h, "put t {j: $1}", deep), depth == 64 ? FENEC_OK : FENEC_QUERY);
    }
    CHECK_CODE(query_with(h, "put t {j: $1}", "[{\"a\":1,\"a\":2}]"), FENEC_QUERY);
    CHECK_CODE(query_with(h, "put t {j: $2}", "[1]"), FENEC_QUERY);
    CHECK_CODE(query_with(h, "put t {j: 1}", "{}"), FENEC_QUERY);
    CHECK_CODE(query_with(h, "put t {j: 1}", "[] x"), FENEC_QUERY);
    CHECK_CODE(query_with(h, "put t {j: 1}", " \n\t "), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

void test_queries(void)
{
    the_worked_examples();
    a_text_with_a_compact_runs_statement_by_statement();
    a_failed_block_leaves_nothing();
    reads_of_one_text_answer_the_last();
    numbers_come_back_exactly();
    text_is_escaped_and_may_hold_a_nul();
    parameters_nest_sixty_four_deep();
}
