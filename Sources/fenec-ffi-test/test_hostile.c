/* test_hostile.c - sizes, depths and bytes nobody should send: a clear refusal, a handle that goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void still_works(uint64_t h)
{
    CHECK_CODE(query(h, "get t count"), FENEC_OK);
}

static char *repeat(const char *head, const char *piece, size_t times, const char *tail)
{
    size_t h = strlen(head), p = strlen(piece), t = strlen(tail);
    char *out = malloc(h + p * times + t + 1), *at = out;
    memcpy(at, head, h);
    at += h;
    for (size_t i = 0; i < times; i++, at += p)
        memcpy(at, piece, p);
    memcpy(at, tail, t + 1);
    return out;
}

static void deep_and_long_texts(void)
{
    uint64_t h = memory_database();
    struct {
        const char *head, *piece, *tail;
        size_t times;
        int32_t code;
    } texts[] = {
        {"get t where ", "(", "", 1000000, FENEC_QUERY},
        {"get t where ", "not ", "n = 1", 250000, FENEC_QUERY},
        {"get t where ", "- ", "n = 1", 500000, FENEC_QUERY},
        {"get t where ", "n = 1 or ", "n = 1", 511, FENEC_OK},
        {"get t where ", "n = 1 or ", "n = 1", 512, FENEC_QUERY},
        {"get t where ", "n = 1 and ", "n = 1", 100000, FENEC_QUERY},
        {"get t where n = 1", " + 1", "", 511, FENEC_OK},
        {"get t where n in [", "1,", "]", 300000, FENEC_OK},
        {"put t {j: ", "[", "", 1000000, FENEC_QUERY},
        {"put t {j: ", "{a: ", "", 250000, FENEC_QUERY},
        {"create collection x (a ", "[", "", 1000000, FENEC_QUERY},
        {"get t where ", "case when ", "", 100000, FENEC_QUERY},
        {"get t where s = \"", "x", "\" count", 1000000, FENEC_OK},
        {"get t where ", "x", " = 1", 1000000, FENEC_OK}, /* over no rows an unknown field passes */
        {"get t where j", ".k", " = 1", 65, FENEC_QUERY},
        {"get t where j", ".k", " = 1", 64, FENEC_OK},
        {"put t ", "{n: 1}", "", 20000, FENEC_OK},
        {"", ";", "", 1000000, FENEC_OK},
        {"-- ", "-", "", 1000000, FENEC_OK},
        {"get t select ", "n, ", "n", 20000, FENEC_OK},
        {"get t order ", "n, ", "n", 20000, FENEC_OK},
        {"get t where lower(", "lower(", "", 200000, FENEC_QUERY},
    };

    CHECK_CODE(query(h, "create collection t (n int, s text, j json)"), FENEC_OK);
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_CODE(query(h, "del t"), FENEC_OK);
        char *text = repeat(texts[i].head, texts[i].piece, texts[i].times, texts[i].tail);
        int32_t code = query(h, text);
        if (code != texts[i].code)
            fprintf(stderr, "text %u: %.40s...\n", i, text);
        CHECK(code == texts[i].code);
        free(text);
        still_works(h);
    }
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void large_parameters(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection t (n int, s text, j json)"), FENEC_OK);
    char *text = repeat("[\"", "abcdefghij", 1000000, "\"]");
    CHECK_CODE(query_with(h, "put t {s: $1}", text), FENEC_OK);
    CHECK_CODE(query_with(h, "get t where s = $1 and len(s) = 10000000 count", text), FENEC_OK);
    CHECK(answer_holds("{\"count\":1}"));
    free(text);
    text = repeat("[", "1,", 9999, "7]");
    CHECK_CODE(query_with(h, "put t {n: $10000}", text), FENEC_OK);
    CHECK_CODE(query(h, "get t where n = 7 count"), FENEC_OK);
    CHECK(answer_holds("{\"count\":1}"));
    free(text);
    text = repeat("[[", "{\"n\":1,\"j\":{\"k\":[1,2,3]}},", 20000, "{\"n\":2}]]");
    CHECK_CODE(query_with(h, "put t $1", text), FENEC_OK);
    free(text);
    text = repeat("[{\"n\": [", "[", 1000000, "");
    CHECK_CODE(query_with(h, "put t $1", text), FENEC_QUERY);
    free(text);
    CHECK_CODE(query(h, "get t where n = $99999999999999999999"), FENEC_QUERY);
    CHECK_CODE(query(h, "get t where n = $4294967296"), FENEC_QUERY);
    still_works(h);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void hostile_names_and_bytes(void)
{
    uint64_t h = memory_database();
    char *out;
    size_t len;

    CHECK_CODE(query(h, "create collection t (n int, j json)"), FENEC_OK);
    CHECK(fenec_query(h, (const uint8_t *)"get t\0 where n = 1", 18, NULL, 0, NULL, 0, &out, &len) == FENEC_QUERY);
    fenec_free_string(out);
    CHECK_CODE(query(h, "get \"t\""), FENEC_QUERY);
    CHECK_CODE(query(h, "create collection 🦊 (n int)"), FENEC_QUERY);
    CHECK_CODE(query(h, "create collection t; drop table meta (n int)"), FENEC_QUERY);
    CHECK_CODE(query_with(h, "put t $1", "[{\"n\\u0000\": 1}]"), FENEC_NOT_FOUND);
    CHECK_CODE(query_with(h, "put t $1", "[{\"j\": {\"a\\u0000b\": 1, \"'\\\"\": 2, \"🦊\": 3, \"\": 4}}]"), FENEC_OK);
    CHECK_ANSWER(query(h, "get t select j"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"j\"],\"rows\":[{\"j\":"
                 "{\"\":4,\"'\\\"\":2,\"a\\u0000b\":1,\"🦊\":3}}]}}");
    CHECK_CODE(query_with(h, "put t $1", "[{\"j..x\": 1}]"), FENEC_QUERY);
    still_works(h);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void arithmetic_at_its_ends(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection t (n int, f float)"), FENEC_OK);
    CHECK_CODE(query_with(h, "put t {n: $1, f: 1.5}", "[-9223372036854775808]"), FENEC_OK);
    const char *refused[] = {"set t {n: n - 1}", "set t {n: n / -1}", "set t {n: n * n}", "set t {n: n / 0}",
                             "set t {f: f / 0}", "set t {f: f * 1e308 * 1e10}", "set t {n: -n}",
                             "get t where n / 0 = 1", "put t {n: 9223372036854775807 + 1}"};
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_CODE(query(h, refused[i]), FENEC_QUERY);
    CHECK_CODE(query(h, "put t {id: 9223372036854775807}"), FENEC_OK);
    CHECK_CODE(query(h, "put t {n: 1}"), FENEC_QUERY);
    CHECK_CODE(query(h, "put t {id: 5, n: 1}"), FENEC_OK);
    CHECK_CODE(query(h, "get t limit 9223372036854775807 offset 9223372036854775807"), FENEC_OK);
    CHECK_CODE(query(h, "get t limit 0"), FENEC_OK);
    still_works(h);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

void test_hostile(void)
{
    deep_and_long_texts();
    large_parameters();
    hostile_names_and_bytes();
    arithmetic_at_its_ends();
}
