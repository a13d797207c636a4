#include "value/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "test.h"
#include "value/packed.h"

static arena room;
static error err;

static const char *json(const value *v)
{
    static char *text;
    buffer out;
    size_t len;

    free(text);
    buffer_init(&out);
    json_write(&out, v);
    text = buffer_take(&out, &len);
    return text;
}

/* What JSON becomes when it is read and written again; the error's message where it is refused. */
static const char *again_len(const char *text, size_t len)
{
    value v;
    static char copy[ERROR_MESSAGE_MAX + 64];

    arena_reset(&room);
    error_init(&err);
    int code = json_read((const uint8_t *)text, len, &room, &v, &err);
    if (code == FENEC_OK)
        return json(&v);
    snprintf(copy, sizeof copy, "%d %s", code, err.message);
    return copy;
}

static const char *again(const char *text)
{
    return again_len(text, strlen(text));
}

static bool refused(const char *text, size_t len)
{
    value v;

    arena_reset(&room);
    error_init(&err);
    return json_read((const uint8_t *)text, len, &room, &v, &err) == FENEC_QUERY && err.message[0];
}

static int params(const char *text, size_t len, value **out, uint32_t *count)
{
    arena_reset(&room);
    error_init(&err);
    return json_read_params((const uint8_t *)text, len, &room, out, count, &err);
}

TEST(json_numbers_come_back_as_written)
{
    CHECK_TEXT(again("0"), "0");
    CHECK_TEXT(again("-0"), "0");
    CHECK_TEXT(again("-0.0"), "0");
    CHECK_TEXT(again("3.0"), "3");
    CHECK_TEXT(again("42"), "42");
    CHECK_TEXT(again("9223372036854775807"), "9223372036854775807");
    CHECK_TEXT(again("-9223372036854775808"), "-9223372036854775808");
    CHECK_TEXT(again("9007199254740993"), "9007199254740993");
    CHECK_TEXT(again("9223372036854775808"), "9223372036854776000"); /* 2^63 as a double */
    CHECK_TEXT(again("12345678901234567890123"), "12345678901234568000000");
    CHECK_TEXT(again("1e15"), "1000000000000000");
    CHECK_TEXT(again("1e-7"), "0.0000001");
    CHECK_TEXT(again("1E+2"), "100");
    CHECK_TEXT(again("0.1"), "0.1");
    CHECK_TEXT(again("999999999999999.0"), "999999999999999");
    CHECK_TEXT(again("1152921504606846976.0"), "1152921504606847000");
    CHECK_TEXT(again("[1, 2.5, 12345678901]"), "[1,2.5,12345678901]");
    CHECK_TEXT(again("[[0.1, 123456789]]"), "[[0.1,123456789]]");
    CHECK_TEXT(again("[179.999999999,-17.7]"), "[179.999999999,-17.7]");
}

TEST(json_numbers_have_their_kinds)
{
    value v;

    CHECK_INT(json_read((const uint8_t *)"3", 1, &room, &v, &err), FENEC_OK);
    CHECK_INT(v.kind, VALUE_INT);
    CHECK_INT(json_read((const uint8_t *)"3.0", 3, &room, &v, &err), FENEC_OK);
    CHECK_INT(v.kind, VALUE_FLOAT);
    CHECK_INT(json_read((const uint8_t *)"3e0", 3, &room, &v, &err), FENEC_OK);
    CHECK_INT(v.kind, VALUE_FLOAT);
    CHECK_INT(json_read((const uint8_t *)"-0.0", 4, &room, &v, &err), FENEC_OK);
    CHECK(v.kind == VALUE_FLOAT && v.number == 0 && signbit(v.number));
    CHECK_INT(json_read((const uint8_t *)"9223372036854775808", 19, &room, &v, &err), FENEC_OK);
    CHECK(v.kind == VALUE_FLOAT && v.number == 9223372036854775808.0);
    CHECK_INT(json_read((const uint8_t *)"-9223372036854775809", 20, &room, &v, &err), FENEC_OK);
    CHECK(v.kind == VALUE_FLOAT && v.number == -9223372036854775808.0);
}

TEST(json_numbers_beyond_a_double_are_refused)
{
    char digits[400];

    CHECK(refused("1e309", 5));
    CHECK(refused("[-1e400]", 8));
    memset(digits, '9', sizeof digits);
    CHECK(refused(digits, sizeof digits));
    CHECK(!refused("1e-400", 6));
}

TEST(json_containers_come_back_with_members_in_order_of_keys)
{
    CHECK_TEXT(again("[]"), "[]");
    CHECK_TEXT(again("{}"), "{}");
    CHECK_TEXT(again(" [ ] "), "[]");
    CHECK_TEXT(again("\t{\r\n}\n"), "{}");
    CHECK_TEXT(again("[[],{},[[]]]"), "[[],{},[[]]]");
    CHECK_TEXT(again("[null,true,false,\"\"]"), "[null,true,false,\"\"]");
    CHECK_TEXT(again("{\"b\":1,\"a\":2}"), "{\"a\":2,\"b\":1}");
    CHECK_TEXT(again("{ \"b\" : [ 1 , 2 ] , \"a\" : { \"d\" : 1 , \"c\" : 2 } , \"\" : 0 }"),
               "{\"\":0,\"a\":{\"c\":2,\"d\":1},\"b\":[1,2]}");
    CHECK_TEXT(again("{\"\xC3\xA9\":1,\"z\":2,\"B\":3,\"a\":4,\"ab\":5}"),
               "{\"B\":3,\"a\":4,\"ab\":5,\"z\":2,\"\xC3\xA9\":1}");
    CHECK_TEXT(again("{\"x\":{\"k\":1},\"x\\u0000\":2,\"\\u0078y\":3}"),
               "{\"x\":{\"k\":1},\"x\\u0000\":2,\"xy\":3}");
}

TEST(json_keys_given_twice_are_refused)
{
    CHECK(refused("{\"a\":1,\"a\":2}", 13));
    CHECK(strstr(err.message, "\"a\"") != NULL);
    CHECK(refused("{\"a\":1,\"\\u0061\":2}", 18));
    CHECK(refused("{\"b\":1,\"c\":2,\"a\":3,\"c\":4}", 25));
    CHECK(refused("[{\"b\":1,\"a\":{\"z\":1,\"y\":2,\"z\":3}}]", 33));
    CHECK(!refused("{\"a\":{\"a\":1},\"b\":{\"a\":1}}", 25));
    CHECK(refused("{\"\":1,\"\":1}", 11));
}

TEST(json_objects_of_any_order_are_sorted)
{
    uint64_t state = test_seed();

    for (int round = 0; round < 300; round++) {
        unsigned order[200], count = 1 + (unsigned)(test_random(&state) % 200);
        buffer text, want;
        value v;

        buffer_init(&text);
        buffer_init(&want);
        for (unsigned i = 0; i < count; i++)
            order[i] = i;
        for (unsigned i = count; i > 1; i--) {
            unsigned j = (unsigned)(test_random(&state) % i), t = order[i - 1];
            order[i - 1] = order[j];
            order[j] = t;
        }
        for (unsigned i = 0; i < count; i++) {
            buffer_printf(&text, "%c\"k%03u\":[%u,\"%0*d\"]", i ? ',' : '{', order[i], order[i],
                          (int)(order[i] % 9), 0);
            buffer_printf(&want, "%c\"k%03u\":[%u,\"%0*d\"]", i ? ',' : '{', i, i, (int)(i % 9), 0);
        }
        buffer_byte(&text, '}');
        buffer_put(&want, "}", 2);
        CHECK_INT(json_read(text.bytes, text.len, &room, &v, &err), FENEC_OK);
        CHECK_INT(v.count, count);
        CHECK_TEXT(json(&v), (const char *)want.bytes);
        text.len--;
        buffer_printf(&text, ",\"k%03u\":0}", order[test_random(&state) % count]);
        CHECK_INT(json_read(text.bytes, text.len, &room, &v, &err), FENEC_QUERY);
        buffer_clear(&text);
        buffer_clear(&want);
        arena_reset(&room);
    }
}

TEST(json_strings_take_every_escape)
{
    CHECK_TEXT(again("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\""), "\"a\\\"\\\\/\\u0008\\u000c\\n\\r\\tz\"");
    CHECK_TEXT(again("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\""), "\"A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
    CHECK_TEXT(again("\"\\u0000\\u001f\\u007f\""), "\"\\u0000\\u001f\x7F\"");
    CHECK_TEXT(again("\"\xF0\x9F\x98\x80 plain text of some length, copied as it is\""),
               "\"\xF0\x9F\x98\x80 plain text of some length, copied as it is\"");
    CHECK_TEXT(again("[\"\\n\",\"long enough for two words of eight \\\" bytes\"]"),
               "[\"\\n\",\"long enough for two words of eight \\\" bytes\"]");
}

TEST(json_lone_surrogates_become_the_replacement_character)
{
    CHECK_TEXT(again("\"\\ud800\""), "\"\xEF\xBF\xBD\"");
    CHECK_TEXT(again("\"\\udc00x\""), "\"\xEF\xBF\xBDx\"");
    CHECK_TEXT(again("\"\\ud800\\u0041\""), "\"\xEF\xBF\xBD"
                                            "A\"");
    CHECK_TEXT(again("\"\\ud800\\ud83d\\ude00\""), "\"\xEF\xBF\xBD\xF0\x9F\x98\x80\"");
    CHECK_TEXT(again("\"\\ud800\\n\""), "\"\xEF\xBF\xBD\\n\"");
    CHECK_TEXT(again("\"\\udbff\\udfff\""), "\"\xF4\x8F\xBF\xBF\"");
    CHECK(refused("\"\\ud800\\u00\"", 12));
}

TEST(json_that_is_not_strict_is_refused)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "nul",
                                        "nulll",
                                        "True",
                                        "tru",
                                        "falsey",
                                        "NaN",
                                        "Infinity",
                                        "-",
                                        "+1",
                                        "01",
                                        "-01",
                                        "1.",
                                        ".5",
                                        "1e",
                                        "1e+",
                                        "1.e5",
                                        "0x1",
                                        "1 2",
                                        "1,",
                                        "[",
                                        "]",
                                        "[1",
                                        "[1,",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "[1}",
                                        "{",
                                        "}",
                                        "{]",
                                        "{\"a\"",
                                        "{\"a\":",
                                        "{\"a\":}",
                                        "{\"a\":1",
                                        "{\"a\":1,",
                                        "{\"a\":1,}",
                                        "{\"a\" 1}",
                                        "{\"a\":1 \"b\":2}",
                                        "{a:1}",
                                        "{'a':1}",
                                        "{1:2}",
                                        "{\"a\":1]",
                                        "{,}",
                                        "\"",
                                        "\"a",
                                        "\"\\",
                                        "\"\\\"",
                                        "\"\\x41\"",
                                        "\"\\u\"",
                                        "\"\\u12\"",
                                        "\"\\u12g4\"",
                                        "\"\\u 123\"",
                                        "'a'",
                                        "\"a\nb\"",
                                        "\"a\tb\"",
                                        "\"tab\tin a longer string\"",
                                        "\"\\n\x01\"",
                                        "[] []",
                                        "[]x",
                                        "//c\n1",
                                        "[1]/",
                                        "\xEF\xBB\xBF[]",
                                        "\x0B[]",
                                        "\xC2\xA0[]",
                                        "[\"\\ud8\"]"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!refused(texts[i], strlen(texts[i])))
            test_failed(__FILE__, __LINE__, "%s is taken", texts[i]);
    CHECK(refused("\"a\0b\"", 5));
    CHECK(refused("[1\0]", 4));
    CHECK(refused("1\0", 2));
}

TEST(json_errors_name_the_character)
{
    CHECK(refused("[\"\xC3\xA9\xE2\x82\xAC\", x]", 11));
    CHECK(strstr(err.message, "position 7") != NULL);
}

static void check_depth(const char *open, const char *close, unsigned times, bool as_params, bool fits)
{
    buffer text;
    value *list, v;
    uint32_t count;

    buffer_init(&text);
    if (as_params)
        buffer_byte(&text, '[');
    for (unsigned i = 0; i < times; i++)
        buffer_text(&text, open);
    buffer_byte(&text, '1');
    for (unsigned i = 0; i < times; i++)
        buffer_text(&text, close);
    if (as_params)
        buffer_byte(&text, ']');
    int code = as_params ? json_read_params(text.bytes, text.len, &room, &list, &count, &err)
                         : json_read(text.bytes, text.len, &room, &v, &err);
    CHECK_INT(code, fits ? FENEC_OK : FENEC_QUERY);
    if (fits && code == FENEC_OK)
        CHECK_INT(packed_depth(as_params ? &list[0] : &v), 64);
    buffer_clear(&text);
    arena_reset(&room);
}

TEST(json_nests_64_deep_and_no_deeper)
{
    check_depth("[", "]", 64, false, true);
    check_depth("[", "]", 65, false, false);
    check_depth("{\"a\":", "}", 64, false, true);
    check_depth("{\"a\":", "}", 65, false, false);
    check_depth("[", "]", 64, true, true);
    check_depth("[", "]", 65, true, false);
    check_depth("{\"k\":[", "]}", 32, true, true);
    check_depth("{\"k\":[", "]}", 33, true, false);
    check_depth("[", "]", 1000000, true, false);
}

TEST(json_read_params_takes_nothing_as_no_parameters)
{
    value *list;
    uint32_t count = 9;

    CHECK_INT(params(NULL, 0, &list, &count), FENEC_OK);
    CHECK_INT(count, 0);
    CHECK_INT(params(" \n\t\r", 4, &list, &count), FENEC_OK);
    CHECK_INT(count, 0);
    CHECK_INT(params(" [ ] ", 5, &list, &count), FENEC_OK);
    CHECK_INT(count, 0);
}

TEST(json_read_params_reads_each_element)
{
    static const char text[] =
        "[null, true, -5, 2.5, \"plain\", \"esc\\naped\", [1,[2]], {\"b\":1,\"a\":null}]";
    value *list;
    uint32_t count;

    CHECK_INT(params(text, strlen(text), &list, &count), FENEC_OK);
    CHECK_INT(count, 8);
    CHECK_INT(list[0].kind, VALUE_NULL);
    CHECK(list[1].kind == VALUE_BOOL && list[1].boolean);
    CHECK(list[2].kind == VALUE_INT && list[2].integer == -5);
    CHECK(list[3].kind == VALUE_FLOAT && list[3].number == 2.5);
    CHECK(list[4].kind == VALUE_TEXT && list[4].len == 5 && (const char *)list[4].bytes > text &&
          (const char *)list[4].bytes < text + sizeof text);
    CHECK(list[5].kind == VALUE_TEXT && list[5].len == 8 && !memcmp(list[5].bytes, "esc\naped", 8));
    CHECK_TEXT(json(&list[6]), "[1,[2]]");
    CHECK_TEXT(json(&list[7]), "{\"a\":null,\"b\":1}");
}

TEST(json_read_params_refuses_what_is_no_array)
{
    static const char *const texts[] = {"1",    "{}",  "null", "\"a\"", "[",     "[1", "[1,",
                                        "[1,]", "[,]", "[]]",  "[1] 2", "[1 2]", "x",  ","};
    value *list = NULL;
    uint32_t count = 77;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (params(texts[i], strlen(texts[i]), &list, &count) != FENEC_QUERY)
            test_failed(__FILE__, __LINE__, "%s is taken", texts[i]);
    CHECK_INT(count, 77);
}

TEST(json_read_params_takes_many_and_large_parameters)
{
    buffer text;
    value *list;
    uint32_t count;

    buffer_init(&text);
    for (int i = 0; i < 10000; i++)
        buffer_printf(&text, "%c%d", i ? ',' : '[', i);
    buffer_byte(&text, ']');
    CHECK_INT(params((const char *)text.bytes, text.len, &list, &count), FENEC_OK);
    CHECK_INT(count, 10000);
    CHECK_INT(list[9999].integer, 9999);

    text.len = 0;
    buffer_text(&text, "[\"\\n");
    memset(buffer_reserve(&text, 10000000), 'x', 10000000);
    text.len += 10000000;
    buffer_text(&text, "\",[");
    for (int i = 0; i < 500000; i++)
        buffer_printf(&text, "%s{\"k\":%d,\"a\":\"\\t\"}", i ? "," : "", i);
    buffer_text(&text, "]]");
    CHECK_INT(params((const char *)text.bytes, text.len, &list, &count), FENEC_OK);
    CHECK_INT(count, 2);
    CHECK_INT(list[0].len, 10000001);
    CHECK_INT(list[1].count, 500000);
    buffer_clear(&text);
    arena_clear(&room);
}

TEST(json_write_writes_every_kind)
{
    static const float components[] = {0.1f, 1, -0.0f, INFINITY, NAN, -2.5e-7f};
    static const uint8_t octets[] = {65, 122, 0, 255};
    static const uint8_t sparse[] = {8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 4, 0, 0, 0, 0, 0, 0, 63};
    value v;

    v = value_null();
    CHECK_TEXT(json(&v), "null");
    v = value_bool(false);
    CHECK_TEXT(json(&v), "false");
    v = value_int(INT64_MIN);
    CHECK_TEXT(json(&v), "-9223372036854775808");
    v = value_float((double)INFINITY);
    CHECK_TEXT(json(&v), "null");
    v = value_float((double)NAN);
    CHECK_TEXT(json(&v), "null");
    v = value_float(-0.0);
    CHECK_TEXT(json(&v), "0");
    v = value_float(-42);
    CHECK_TEXT(json(&v), "-42");
    v = value_timestamp(1500);
    CHECK_TEXT(json(&v), "\"1970-01-01T00:00:01.500Z\"");
    v = (value){.kind = VALUE_BYTES, .bytes = octets, .len = 4};
    CHECK_TEXT(json(&v), "[65,122,0,255]");
    v.len = 0;
    CHECK_TEXT(json(&v), "[]");
    v = (value){
        .kind = VALUE_VECTOR, .count = 6, .bytes = (const uint8_t *)components, .len = sizeof components};
    CHECK_TEXT(json(&v), "[0.1,1,-0,null,null,-0.00000025]");
    v = (value){.kind = VALUE_POINT, .point = {28.97, -0.0}};
    CHECK_TEXT(json(&v), "[28.97,0]");
    v = (value){.kind = VALUE_SPARSE, .count = 2, .bytes = sparse, .len = sizeof sparse};
    CHECK_TEXT(json(&v), "\"{1:2,5:0.5}/8\"");
    v = value_text(NULL, 0);
    CHECK_TEXT(json(&v), "\"\"");
}

TEST(json_write_text_escapes_what_must_be_and_nothing_else)
{
    for (uint32_t c = 0; c < 0x80; c++)
        for (size_t before = 0; before < 20; before++) {
            char text[32], want[64];
            memset(text, 'x', sizeof text);
            text[before] = (char)c;
            size_t len =
                (size_t)snprintf(want, sizeof want, "\"%.*s", (int)before, "xxxxxxxxxxxxxxxxxxxxxxxx");
            const char *escape = c == '"'    ? "\\\""
                                 : c == '\\' ? "\\\\"
                                 : c == '\n' ? "\\n"
                                 : c == '\r' ? "\\r"
                                 : c == '\t' ? "\\t"
                                             : NULL;
            if (escape)
                len += (size_t)snprintf(want + len, sizeof want - len, "%s", escape);
            else if (c < 0x20)
                len += (size_t)snprintf(want + len, sizeof want - len, "\\u%04x", c);
            else
                want[len++] = (char)c;
            snprintf(want + len, sizeof want - len, "%.*s\"", (int)(24 - before - 1),
                     "xxxxxxxxxxxxxxxxxxxxxxxx");
            value v = value_text(text, 24);
            CHECK_TEXT(json(&v), want);
        }
}

TEST(json_write_of_damaged_bytes_fails)
{
    static const uint8_t damaged[] = {14, 1, 0, 0, 0, 9, 0, 0, 0, 0};
    value v = {.kind = VALUE_LIST, .count = 1, .bytes = damaged, .len = 3};
    buffer out;

    buffer_init(&out);
    json_write(&out, &v);
    CHECK(out.failed);
    buffer_clear(&out);
}

static void random_json(buffer *out, uint64_t *state, unsigned depth)
{
    static const char *const words[] = {"null",        "true", "false", "0",          "-1",
                                        "12345678901", "0.5",  "-2.25", "1000000.125"};
    uint64_t pick = test_random(state) % (depth < 5 ? 6 : 4);

    if (pick < 3) {
        buffer_text(out, words[test_random(state) % 9]);
    } else if (pick == 3) {
        uint8_t text[40];
        size_t len = 0, count = test_random(state) % 10;
        for (size_t i = 0; i < count; i++)
            len += utf8_write(text + len,
                              (uint32_t)(test_random(state) % 4 ? test_random(state) % 0x80
                                                                : 0x100 + test_random(state) % 0x5000));
        json_write_text(out, text, len);
    } else {
        unsigned count = (unsigned)(test_random(state) % 6);
        buffer_byte(out, pick == 4 ? '[' : '{');
        for (unsigned i = 0; i < count; i++) {
            if (i)
                buffer_byte(out, ',');
            if (pick == 5)
                buffer_printf(out, "\"%c\\u0001\":", 'a' + i);
            random_json(out, state, depth + 1);
        }
        buffer_byte(out, pick == 4 ? ']' : '}');
    }
}

TEST(json_in_our_own_form_comes_back_byte_for_byte)
{
    uint64_t state = test_seed();
    long rounds = test_scale(20000, 1000000);

    for (long i = 0; i < rounds; i++) {
        buffer text;
        value v;
        buffer_init(&text);
        random_json(&text, &state, 0);
        if (json_read(text.bytes, text.len, &room, &v, &err) != FENEC_OK) {
            test_failed(__FILE__, __LINE__, "%.*s is refused: %s", (int)text.len, text.bytes, err.message);
        } else {
            buffer_byte(&text, 0);
            CHECK_TEXT(json(&v), (const char *)text.bytes);
            buffer packed;
            buffer_init(&packed);
            packed_put(&packed, &v);
            CHECK_INT(packed_check(packed.bytes, packed.len, &err), FENEC_OK);
            buffer_clear(&packed);
        }
        buffer_clear(&text);
        arena_reset(&room);
    }
}

TEST(json_read_survives_text_that_was_damaged)
{
    uint64_t state = test_seed() + 3;
    long rounds = test_scale(20000, 1000000);

    for (long i = 0; i < rounds; i++) {
        buffer text;
        value v;
        buffer_init(&text);
        random_json(&text, &state, 0);
        for (uint64_t hits = 1 + test_random(&state) % 3; hits > 0; hits--)
            text.bytes[test_random(&state) % text.len] = "[]{}\",:\\u0e-.1 n"[test_random(&state) % 16];
        /* At the end of its own block, so that a read past it is seen. */
        uint8_t *exact = memory_alloc(text.len);
        memcpy(exact, text.bytes, text.len);
        if (utf8_valid(exact, text.len)) {
            int code = json_read(exact, text.len, &room, &v, &err);
            CHECK(code == FENEC_OK || code == FENEC_QUERY);
            if (code == FENEC_OK)
                CHECK(json(&v) != NULL);
        }
        memory_free(exact);
        buffer_clear(&text);
        arena_reset(&room);
    }
}

TEST(json_read_tells_when_memory_runs_out)
{
    static const char text[] = "[\"a\\nb\",{\"b\":[1,2,{\"z\":1,\"y\":\"\\t\"}],\"a\":1},7]";
    value *list;
    uint32_t count;
    int code = FENEC_PANIC;
    long n = 0;

    for (; code != FENEC_OK && n < 100; n++) {
        arena_clear(&room);
        memory_fail_after(n);
        code = json_read_params((const uint8_t *)text, strlen(text), &room, &list, &count, &err);
        memory_fail_after(-1);
        CHECK(code == FENEC_OK || code == FENEC_PANIC);
    }
    CHECK(n > 3 && n < 100);
    arena_clear(&room);
}
