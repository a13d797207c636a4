/* test_calling.c - text in, text out, misuse (chapter 5 sections 3, 4, 9). */
#include <string.h>

#include "check.h"

static const uint8_t *bytes(const char *text)
{
    return (const uint8_t *)text;
}

static void outputs_may_be_left_out(void)
{
    uint64_t h = memory_database();
    size_t len = 7;
    char *out = (char *)1;

    CHECK(fenec_query(h, bytes("collections"), 11, NULL, 0, NULL, 0, NULL, NULL) == FENEC_OK);
    CHECK(fenec_query(h, bytes("nonsense"), 8, NULL, 0, NULL, 0, NULL, NULL) == FENEC_QUERY);
    CHECK(fenec_query(h, bytes("collections"), 11, NULL, 0, NULL, 0, NULL, &len) == FENEC_OK);
    CHECK(len == strlen("{\"kind\":\"schemas\",\"collections\":[]}"));
    CHECK(fenec_query(h, bytes("collections"), 11, NULL, 0, NULL, 0, &out, NULL) == FENEC_OK);
    CHECK(strcmp(out, "{\"kind\":\"schemas\",\"collections\":[]}") == 0);
    fenec_free_string(out);
    CHECK(fenec_open_memory(NULL, NULL, NULL) == FENEC_MISUSE);
    CHECK(fenec_close(h, NULL, NULL) == FENEC_OK);
    fenec_free_string(NULL);
}

static void outputs_are_always_written(void)
{
    uint64_t h = 0;
    char *out = (char *)1;
    size_t len = 1;

    CHECK(fenec_open_memory(&h, &out, &len) == FENEC_OK);
    CHECK(out == NULL && len == 0);
    out = (char *)1, len = 1;
    CHECK(fenec_sync(h, &out, &len) == FENEC_OK);
    CHECK(out == NULL && len == 0);
    out = (char *)1, len = 1;
    CHECK(fenec_close(h, &out, &len) == FENEC_OK);
    CHECK(out == NULL && len == 0);
}

static void null_and_bad_text_are_misuse(void)
{
    uint64_t h = memory_database();
    char *out;
    size_t len;

    CHECK(fenec_query(h, NULL, 3, NULL, 0, NULL, 0, &out, &len) == FENEC_MISUSE);
    CHECK(strcmp(out, "{\"kind\":\"error\",\"message\":\"the text is null\"}") == 0);
    fenec_free_string(out);
    CHECK(fenec_query(h, NULL, (size_t)2 << 30, NULL, 0, NULL, 0, NULL, NULL) == FENEC_MISUSE);
    CHECK(fenec_query(h, bytes("get t"), 5, NULL, 9, NULL, 0, &out, &len) == FENEC_MISUSE);
    CHECK(strstr(out, "the parameters"));
    fenec_free_string(out);
    CHECK(fenec_query(h, bytes("\xff\xfe"), 2, NULL, 0, NULL, 0, &out, &len) == FENEC_MISUSE);
    CHECK(strstr(out, "the text"));
    fenec_free_string(out);
    CHECK(fenec_query(h, bytes("get t"), 5, bytes("[\"\xc3\"]"), 5, NULL, 0, &out, &len) == FENEC_MISUSE);
    CHECK(strstr(out, "the parameters"));
    fenec_free_string(out);
    CHECK(fenec_warm(h, NULL, 1, &out, &len) == FENEC_MISUSE);
    CHECK(strstr(out, "the indexes"));
    fenec_free_string(out);
    CHECK(fenec_open(NULL, 4, 0, &h, &out, &len) == FENEC_MISUSE);
    CHECK(strstr(out, "the path"));
    fenec_free_string(out);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void empty_text_is_fine_whatever_its_pointer(void)
{
    uint64_t h = memory_database();
    char *out;
    size_t len;

    CHECK(fenec_query(h, NULL, 0, NULL, 0, NULL, 0, &out, &len) == FENEC_OK);
    CHECK(strcmp(out, "{\"kind\":\"ok\",\"message\":\"empty\"}") == 0);
    fenec_free_string(out);
    CHECK_ANSWER(query(h, " ; -- nothing\n # more"), FENEC_OK, "{\"kind\":\"ok\",\"message\":\"empty\"}");
    CHECK_ANSWER(warm_handle(h, ""), FENEC_OK, "{\"built\":0}");
    CHECK_ANSWER(warm_handle(h, " , nobody , t.x"), FENEC_OK, "{\"built\":0}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void every_class_has_its_prefix(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection t (n int, u text @unique)"), FENEC_OK);
    CHECK_CODE(query(h, "put t {n: \"one\"}"), FENEC_TYPE);
    CHECK(answer_holds("\"message\":\"type error: "));
    CHECK_CODE(query(h, "get deck"), FENEC_NOT_FOUND);
    CHECK(answer_holds("\"message\":\"not found: "));
    CHECK(answer_holds("deck"));
    CHECK_CODE(query(h, "create collection t (n int)"), FENEC_EXISTS);
    CHECK(answer_holds("\"message\":\"already exists: "));
    CHECK_CODE(query(h, "put t [{u: \"x\"}, {u: \"x\"}]"), FENEC_DUPLICATE);
    CHECK(answer_holds("\"message\":\"duplicate: "));
    CHECK(answer_holds("u") && answer_holds("x"));
    CHECK_CODE(query(h, "gte t"), FENEC_QUERY);
    CHECK(answer_holds("\"message\":\"query error: ") && answer_holds("position 0"));
    CHECK_CODE(query(h, "set t {n: 1} require 2"), FENEC_UNMET);
    CHECK(answer_holds("\"message\":\"unmet: "));
    CHECK(answer_holds("set") && answer_holds("0") && answer_holds("2"));
    CHECK_CODE(query(77, "get t"), FENEC_MISUSE);
    CHECK(!answer_holds(": "));
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void positions_count_characters(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "get çok wher x"), FENEC_QUERY);
    CHECK(answer_holds("position 8"));
    CHECK_CODE(query(h, "get t where s = \"açık"), FENEC_QUERY);
    CHECK(answer_holds("position 16"));
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void version_is_semantic(void)
{
    const char *v = fenec_version();
    int dots = 0;
    for (const char *p = v; *p; p++)
        dots += *p == '.';
    CHECK(dots == 2 && v[0] >= '0' && v[0] <= '9');
    CHECK(v == fenec_version());
}

void test_calling(void)
{
    outputs_may_be_left_out();
    outputs_are_always_written();
    null_and_bad_text_are_misuse();
    empty_text_is_fine_whatever_its_pointer();
    every_class_has_its_prefix();
    positions_count_characters();
    version_is_semantic();
}
