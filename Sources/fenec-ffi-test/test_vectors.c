/* test_vectors.c - parameters as 32-bit floats, and the ones needed exactly (chapter 5 section 10). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Appends an entry; answers the length so far. */
static size_t entry(unsigned char *out, size_t at, uint32_t place, const float *values, uint32_t n)
{
    unsigned char head[8] = {(unsigned char)place, (unsigned char)(place >> 8), (unsigned char)(place >> 16),
                             (unsigned char)(place >> 24), (unsigned char)n, (unsigned char)(n >> 8),
                             (unsigned char)(n >> 16), (unsigned char)(n >> 24)};
    memcpy(out + at, head, 8);
    memcpy(out + at + 8, values, 4u * n); /* tests run on little-endian machines */
    return at + 8 + 4u * n;
}

static const float pair[] = {0.1f, 0.2f};

static void a_vector_replaces_a_null(void)
{
    uint64_t h = memory_database();
    unsigned char v[64];

    CHECK_CODE(query(h, "create collection t (e vector<2>, h vector<2, f16>, f [float])"), FENEC_OK);
    size_t len = entry(v, 0, 0, pair, 2);
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "[null]", v, len), FENEC_OK);
    CHECK_ANSWER(query(h, "get t select e"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"e\"],\"rows\":[{\"e\":[0.1,0.2]}]}}");
    len = entry(v, entry(v, 0, 1, pair, 2), 0, pair, 2);
    CHECK_CODE(query_vectors(h, "put t {e: $1, h: $2}", "[null, null]", v, len), FENEC_OK);
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "[null]", v, entry(v, 0, 0, pair, 1)), FENEC_TYPE);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void malformed_vectors_are_refused(void)
{
    uint64_t h = memory_database();
    unsigned char v[64];
    size_t len = entry(v, 0, 0, pair, 2);

    CHECK_CODE(query(h, "create collection t (e vector<2>)"), FENEC_OK);
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "", v, len), FENEC_QUERY);
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "[]", v, len), FENEC_QUERY);
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "[1]", v, len), FENEC_QUERY);
    for (size_t cut = 1; cut < len; cut++)
        CHECK_CODE(query_vectors(h, "put t {e: $1}", "[null]", v, cut), FENEC_QUERY);
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "[null]", v, entry(v, len, 0, pair, 2)), FENEC_QUERY);
    memset(v + 4, 0xFF, 4); /* 4 294 967 295 components */
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "[null]", v, len), FENEC_QUERY);
    CHECK_CODE(query_vectors(h, "put t {e: $1}", "[null]", NULL, 99), FENEC_OK);
    CHECK_ANSWER(query(h, "get t count"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"count\"],\"rows\":[{\"count\":1}]}}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void json_and_points_ask_for_every_digit(void)
{
    uint64_t h = memory_database();
    unsigned char v[128];
    size_t len = entry(v, 0, 0, pair, 2);

    CHECK_CODE(query(h, "create collection note (meta json, at geo, e vector<2>)"), FENEC_OK);
    CHECK_CODE(query_vectors(h, "put note {meta: $1}", "[null]", v, len), FENEC_QUERY);
    CHECK(answer_holds(",\"exact\":[0]}"));
    CHECK(!answer_holds("query error"));
    const char *wanting[] = {"put note {meta.a: $1}",
                             "put note {at: $1}",
                             "set note {meta: $1}",
                             "set note {meta.x.y: $1}",
                             "put note {id: 1} if absent else set {meta: $1}",
                             "get note where meta = $1",
                             "get note where $1 != meta.k",
                             "get note where meta has $1",
                             "get note where meta in [1, $1]",
                             "get note where meta.a >= $1 and id > 0",
                             "get note where distance(at, $1) < 5",
                             "get note where within($1, [0, 0, 1, 1])",
                             "del note where not (meta = $1)",
                             "get note select distance($1, at) as d"};
    for (unsigned i = 0; i < sizeof wanting / sizeof *wanting; i++) {
        CHECK_CODE(query_vectors(h, wanting[i], "[null]", v, len), FENEC_QUERY);
        CHECK(answer_holds(",\"exact\":[0]}"));
    }
    const char *content[] = {"put note {e: $1}", "set note {e: $1} where e = $1", "get note where e = $1",
                             "get note select dot(e, $1) as d where e is not null"};
    for (unsigned i = 0; i < sizeof content / sizeof *content; i++)
        CHECK_CODE(query_vectors(h, content[i], "[null]", v, len), FENEC_OK);
    len = entry(v, entry(v, 0, 1, pair, 2), 2, pair, 2);
    CHECK_CODE(query_vectors(h, "put note {e: $2, meta: $3}; put note {meta: $3}", "[null,null,null]", v, len),
               FENEC_QUERY);
    CHECK(answer_holds(",\"exact\":[2,2]}") || answer_holds(",\"exact\":[2]}"));
    CHECK_CODE(query_with(h, "put note {meta: $1}", "[[0.1,0.2]]"), FENEC_OK);
    CHECK_ANSWER(query(h, "get note select meta where meta is not null"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"meta\"],\"rows\":[{\"meta\":[0.1,0.2]}]}}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

void test_vectors(void)
{
    a_vector_replaces_a_null();
    malformed_vectors_are_refused();
    json_and_points_ask_for_every_digit();
}
