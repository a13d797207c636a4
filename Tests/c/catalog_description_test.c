/* The schema in code: what is read, what is refused, what is spelled (chapter 6 sections 2 to 5, 9, 14). */
#include <stdlib.h>

#include "base/memory.h"
#include "catalog/change.h"
#include "catalog/comparison.h"
#include "test.h"

static error found;

static int read_bytes(const char *text, size_t len, description *out)
{
    error_init(&found);
    return description_read((const uint8_t *)text, len, out, &found);
}

static int refused(const char *text)
{
    description d;
    int rc = read_bytes(text, strlen(text), &d);

    if (rc == FENEC_OK)
        description_clear(&d);
    return rc;
}

/* The statements that make it in an empty database, a line each. */
static const char *spelled(const char *text)
{
    static char out[8192];
    description d;
    comparison c;
    arena memory;
    size_t len = 0;

    out[0] = 0;
    if (read_bytes(text, strlen(text), &d) != FENEC_OK) {
        snprintf(out, sizeof out, "%d %s", found.code, found.message);
        return out;
    }
    catalog *empty = catalog_new(1);
    arena_init(&memory);
    CHECK_INT(comparison_make(empty, &d, false, &memory, &c, &found), FENEC_OK);
    CHECK_INT(c.refusal_count, 0);
    for (uint32_t i = 0; i < c.statement_count; i++)
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%s", i ? "\n" : "", c.statements[i]);
    comparison_clear(&c);
    arena_clear(&memory);
    version_drop(&empty->head);
    description_clear(&d);
    return out;
}

#define FIELD(members) "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"a\"," members "}]}]}"
#define INDEX(type, index) FIELD("\"type\":\"" type "\",\"index\":" index)
#define FQL(text) "{\"format\":1,\"fenecql\":\"" text "\"}"

TEST(description_spells_every_type)
{
    static const char *const types[] = {"bool", "int", "float", "text", "bytes", "timestamp", "json", "geo",
                                        "vector<65536>", "vector<4, f16>", "sparse<1000000000>", "[text]",
                                        "[[vector<3>]]", "[geo]"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[256], want[128];
        snprintf(text, sizeof text, FIELD("\"type\":\"%s\""), types[i]);
        snprintf(want, sizeof want, "create collection t (a %s)", types[i]);
        CHECK_TEXT(spelled(text), want);
    }
    CHECK_TEXT(spelled(FIELD("\"type\":\"vector<0000000003>\"")), "create collection t (a vector<3>)");
}

/* As deep as a statement takes them: what is described can be handed in again. */
TEST(description_nests_lists_as_deep_as_a_statement)
{
    for (int deep = 512; deep <= 513; deep++) {
        char type[1100], text[1300], want[1300];
        snprintf(type, sizeof type, "%*sint%*s", deep, "", deep, "");
        for (char *at = type; *at; at++)
            if (*at == ' ')
                *at = at - type < deep ? '[' : ']';
        snprintf(want, sizeof want, "create collection t (a %s)", type);
        snprintf(text, sizeof text, FIELD("\"type\":\"%s\""), type);
        if (deep == 512)
            CHECK_TEXT(spelled(text), want);
        else
            CHECK_INT(refused(text), FENEC_QUERY);
        snprintf(text, sizeof text, FQL("%s"), want);
        if (deep == 512)
            CHECK_TEXT(spelled(text), want);
        else
            CHECK_INT(refused(text), FENEC_QUERY);
    }
}

TEST(description_refuses_a_type_spelled_otherwise)
{
    static const char *const types[] = {"", "Int", "string", "vector", "vector<>", "vector<3,f16>", "vector<3, f32>",
                                        "vector<0>", "vector<65537>", "vector< 3>", "vector<-1>", "sparse<0>",
                                        "sparse<1000000001>", "sparse<3, f16>", "[text", "text]", "[]", " int", "int ",
                                        "vector<00000000003>", "vector<4294967299>"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[256];
        snprintf(text, sizeof text, FIELD("\"type\":\"%s\""), types[i]);
        CHECK_INT(refused(text), FENEC_QUERY);
    }
    CHECK_INT(refused(FIELD("\"type\":\"[json]\"")), FENEC_TYPE);
    CHECK_INT(refused(FIELD("\"type\":\"[[json]]\"")), FENEC_TYPE);
    CHECK_INT(refused(FIELD("\"type\":7")), FENEC_QUERY);
    CHECK_INT(refused(FIELD("\"type\":null")), FENEC_QUERY);
}

TEST(description_spells_every_index_with_every_option)
{
    static const struct {
        const char *type, *index, *want;
    } cases[] = {
        {"int", "{\"kind\":\"hash\"}", "@hash"},
        {"int", "{\"kind\":\"unique\"}", "@unique"},
        {"int", "{\"kind\":\"sorted\"}", "@sorted"},
        {"geo", "{\"kind\":\"geo\"}", "@geo"},
        {"sparse<9>", "{\"kind\":\"inverted\"}", "@inverted"},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":1500}", "@ttl(1500ms)"},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":1800000}", "@ttl(30m)"},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":7200000}", "@ttl(2h)"},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":604800000}", "@ttl(7d)"},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":9007199254740993}", "@ttl(9007199254740993ms)"},
        {"text", "{\"kind\":\"text\"}", "@text(k1=0.9, b=0.4)"},
        {"text", "{\"kind\":\"text\",\"k1\":1.2,\"b\":0.75}", "@text(k1=1.2, b=0.75)"},
        {"text", "{\"kind\":\"text\",\"k1\":1,\"b\":1e0}", "@text(k1=1, b=1)"},
        {"text", "{\"kind\":\"text\",\"k1\":1.005,\"b\":100}", "@text(k1=1, b=100)"},
        {"text", "{\"kind\":\"text\",\"prefix\":5}", "@text(k1=0.9, b=0.4, prefix=5)"},
        {"text", "{\"kind\":\"text\",\"prefix\":5,\"prefix_min\":2}", "@text(k1=0.9, b=0.4, prefix=5, prefix_min=2)"},
        {"text", "{\"kind\":\"text\",\"prefix\":0,\"prefix_min\":9}", "@text(k1=0.9, b=0.4)"},
        {"text", "{\"kind\":\"text\",\"prefix\":null,\"prefix_min\":null,\"chars\":null}", "@text(k1=0.9, b=0.4)"},
        {"text", "{\"kind\":\"text\",\"prefix\":4,\"chars\":true}", "@text(k1=0.9, b=0.4, prefix=4, chars)"},
        {"vector<3>", "{\"kind\":\"hnsw\"}", "@hnsw(cosine, m=16, ef_construction=200, ef_search=100)"},
        {"vector<3>", "{\"kind\":\"hnsw\",\"metric\":\"l2\",\"m\":0,\"ef_construction\":0,\"ef_search\":0}",
         "@hnsw(l2, m=2, ef_construction=8, ef_search=1)"},
        {"vector<3>", "{\"kind\":\"hnsw\",\"quant\":\"bit\"}",
         "@hnsw(cosine, m=16, ef_construction=200, ef_search=200, quant=bit)"},
        {"vector<3>", "{\"kind\":\"hnsw\",\"quant\":\"Binary\",\"ef_search\":7}",
         "@hnsw(cosine, m=16, ef_construction=200, ef_search=7, quant=bit)"},
        {"vector<3>", "{\"kind\":\"hnsw\",\"metric\":\"dot\",\"m\":32767,\"quant\":\"I8\"}",
         "@hnsw(dot, m=32767, ef_construction=200, ef_search=100, quant=int8)"},
        {"vector<3>", "{\"kind\":\"hnsw\",\"m\":null,\"ef_construction\":null,\"ef_search\":null,\"quant\":\"NONE\"}",
         "@hnsw(cosine, m=16, ef_construction=200, ef_search=100)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], want[256];
        snprintf(text, sizeof text, INDEX("%s", "%s"), cases[i].type, cases[i].index);
        snprintf(want, sizeof want, "create collection t (a %s %s)", cases[i].type, cases[i].want);
        CHECK_TEXT(spelled(text), want);
    }
}

TEST(description_refuses_index_options_out_of_form)
{
    static const struct {
        const char *type, *index;
        int code;
    } cases[] = {
        {"int", "\"hash\"", FENEC_QUERY},
        {"int", "{}", FENEC_QUERY},
        {"int", "{\"kind\":\"Hash\"}", FENEC_QUERY},
        {"int", "{\"kind\":null}", FENEC_QUERY},
        {"int", "{\"kind\":\"none\"}", FENEC_QUERY},
        {"int", "{\"kind\":\"hash\",\"ms\":3}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\"}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":null}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":-1}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":0}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":1000.0}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":1e3}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":\"1000\"}", FENEC_QUERY},
        {"timestamp", "{\"kind\":\"ttl\",\"ms\":9223372036854775808}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"k1\":null}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"k1\":100.1}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"b\":-0.1}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"b\":\"1\"}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"prefix\":65}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"prefix\":3.0}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"prefix_min\":-0}", FENEC_QUERY},
        {"text", "{\"kind\":\"text\",\"chars\":1}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"metric\":\"Cosine\"}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"metric\":null}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"quant\":null}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"m\":16.0}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"m\":\"16\"}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"m\":32768}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"ef_search\":1E2}", FENEC_QUERY},
        {"vector<3>", "{\"kind\":\"hnsw\",\"metric\":\"dot\",\"quant\":\"bit\"}", FENEC_QUERY},
        {"bool", "{\"kind\":\"sorted\"}", FENEC_TYPE},
        {"[int]", "{\"kind\":\"sorted\"}", FENEC_TYPE},
        {"geo", "{\"kind\":\"unique\"}", FENEC_TYPE},
        {"int", "{\"kind\":\"ttl\",\"ms\":5}", FENEC_TYPE},
        {"json", "{\"kind\":\"text\"}", FENEC_TYPE},
        {"sparse<3>", "{\"kind\":\"hnsw\"}", FENEC_TYPE},
        {"vector<3>", "{\"kind\":\"inverted\"}", FENEC_TYPE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, INDEX("%s", "%s"), cases[i].type, cases[i].index);
        if (refused(text) != cases[i].code)
            test_failed(__FILE__, __LINE__, "%s %s: %d %s", cases[i].type, cases[i].index, found.code, found.message);
    }
}

TEST(description_takes_null_for_an_option_left_out)
{
    CHECK_TEXT(spelled("{\"format\":1,\"collections\":null,\"migrations\":null}"), "");
    CHECK_TEXT(spelled("{\"format\":1}"), "");
    CHECK_TEXT(spelled(FIELD("\"type\":\"json\",\"required\":null,\"collate\":null,\"index\":null,\"paths\":null")),
               "create collection t (a json)");
    CHECK_TEXT(spelled(FIELD("\"type\":\"[text]\",\"required\":true,\"collate\":\"tr\"")),
               "create collection t (a [text] required collate tr)");
}

TEST(description_puts_paths_in_the_order_of_their_fields)
{
    CHECK_TEXT(spelled("{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":["
                       "{\"name\":\"a\",\"type\":\"json\",\"paths\":[{\"path\":\"lang\",\"index\":{\"kind\":\"hash\"}},"
                       "{\"path\":\"src.rank\",\"index\":{\"kind\":\"sorted\"}}]},"
                       "{\"name\":\"b\",\"type\":\"json\",\"paths\":[{\"path\":\"id\",\"index\":{\"kind\":\"unique\"}}]}]}]}"),
               "create collection t (a json, b json)\ncreate index on t (a.lang) @hash\n"
               "create index on t (a.src.rank) @sorted\ncreate index on t (b.id) @unique");
    CHECK_TEXT(spelled(FQL("create collection t (a json, b json) create index on t (b.x) @hash; create index on t "
                           "(a.y) @sorted create index on t (b.w.z) @unique create index on t (a) @hash")),
               "create collection t (a json @hash, b json)\ncreate index on t (a.y) @sorted\n"
               "create index on t (b.x) @hash\ncreate index on t (b.w.z) @unique");
}

#define PATH(type, path, index) FIELD("\"type\":\"" type "\",\"paths\":[{\"path\":" path ",\"index\":" index "}]")

TEST(description_refuses_paths_that_lead_nowhere)
{
    char keys[512] = "\"k";

    CHECK_INT(refused(PATH("json", "\"\"", "{\"kind\":\"hash\"}")), FENEC_QUERY);
    CHECK_INT(refused(PATH("json", "\"a..b\"", "{\"kind\":\"hash\"}")), FENEC_QUERY);
    CHECK_INT(refused(PATH("json", "\"a b\"", "{\"kind\":\"hash\"}")), FENEC_QUERY);
    CHECK_INT(refused(PATH("json", "\"a.2\"", "{\"kind\":\"hash\"}")), FENEC_QUERY);
    CHECK_INT(refused(PATH("json", "null", "{\"kind\":\"hash\"}")), FENEC_QUERY);
    CHECK_INT(refused(PATH("json", "\"a\"", "null")), FENEC_QUERY);
    CHECK_INT(refused(PATH("json", "\"a\"", "{\"kind\":\"text\"}")), FENEC_QUERY);
    CHECK_INT(refused(PATH("json", "\"a\"", "{\"kind\":\"ttl\",\"ms\":5}")), FENEC_TYPE);
    CHECK_INT(refused(PATH("text", "\"a\"", "{\"kind\":\"hash\"}")), FENEC_TYPE);
    CHECK_INT(refused(FIELD("\"type\":\"json\",\"paths\":{}")), FENEC_QUERY);
    CHECK_INT(refused(FIELD("\"type\":\"json\",\"paths\":[{\"path\":\"a\",\"index\":{\"kind\":\"hash\"}},"
                            "{\"path\":\"a\",\"index\":{\"kind\":\"unique\"}}]")), FENEC_QUERY);
    for (int i = 1; i < 64; i++)
        strcat(keys, ".k");
    char text[1024];
    snprintf(text, sizeof text, PATH("json", "%s\"", "{\"kind\":\"hash\"}"), keys);
    CHECK_INT(refused(text), FENEC_OK);
    snprintf(text, sizeof text, PATH("json", "%s.k\"", "{\"kind\":\"hash\"}"), keys);
    CHECK_INT(refused(text), FENEC_QUERY);
}

TEST(description_refuses_what_is_no_description)
{
    static const char *const texts[] = {
        "", " ", "nonsense", "[1]", "null", "1", "{", "{}", "{\"format\":1", "{\"format\":1}x", "{format:1}",
        "{\"format\":1,}", "{\"collections\":[]}", "{\"format\":null}", "{\"format\":2}", "{\"format\":1.0}",
        "{\"format\":1e0}", "{\"format\":\"1\"}", "{\"format\":true}", "{\"format\":-1}", "{\"format\":1,\"format\":1}",
        "{\"format\":1,\"version\":2}", "{\"format\":1,\"Collections\":[]}", "{\"format\":1,\"collections\":{}}",
        "{\"format\":1,\"collections\":\"a\"}", "{\"format\":1,\"collections\":[1]}",
        "{\"format\":1,\"collections\":[null]}", "{\"format\":1,\"fenecql\":null}", "{\"format\":1,\"fenecql\":1}",
        "{\"format\":1,\"fenecql\":\"\",\"collections\":null}", "{\"format\":1,\"fenecql\":\"\",\"collections\":[]}",
        "{\"format\":1,\"migrations\":{}}", "{\"format\":1,\"migrations\":[1]}", "{\"format\":1,\"migrations\":[null]}",
        "{\"format\":1,\"migrations\":[\"\"]}", "{\"format\":1,\"migrations\":[\" \\n\\t\"]}",
        "{\"format\":1,\"migrations\":[\"\\u2003\"]}", "{\"format\":1,\"migrations\":[{}]}",
        "{\"format\":1,\"migrations\":[{\"rebuild\":\"t\"}]}",
        "{\"format\":1,\"migrations\":[{\"rebuild\":{\"collection\":\"t\"}}]}",
        "{\"format\":1,\"migrations\":[{\"rebuild\":{\"collection\":\"t\",\"field\":\"a\",\"to\":1}}]}",
        "{\"format\":1,\"migrations\":[{\"rebuild\":{\"collection\":\"t\",\"field\":\"a\"},\"n\":1}]}",
        "{\"format\":1,\"migrations\":[{\"rename\":{\"collection\":\"t\",\"field\":\"a\"}}]}",
        "{\"form\\u0000at\":1}", "{\"format\\u0000\":1}", "{\"format\":1,\"\\u0000\":1}", "{\"format\":1,\"x\":\"\\ud800\"}",
        "{\"format\":1,\"migrations\":[{\"rebuild\":{\"collection\":\"t\\u0000\",\"field\":\"a\"}}]}",
        "\xEF\xBB\xBF{\"format\":1}", FIELD("\"type\":\"int\\u0000\""), FIELD("\"type\":\"int\",\"index\":{\"kind\":\"hash\\u0000\"}"),
        "{\"format\":1,\"collections\":[{\"name\":\"t\"}]}", "{\"format\":1,\"collections\":[{\"fields\":[]}]}",
        "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":null}]}",
        "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[]}]}",
        "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":{\"a\":\"int\"}}]}",
        "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{}]}]}",
        "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[\"a int\"]}]}",
        "{\"format\":1,\"collections\":[{\"name\":\"t\",\"comment\":\"\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}]}",
        FIELD("\"type\":\"int\",\"default\":0"), FIELD("\"type\":\"int\",\"required\":\"yes\""),
        FIELD("\"type\":\"int\",\"collate\":\"und\""), FIELD("\"type\":\"text\",\"collate\":\"UND\""),
        FIELD("\"type\":\"text\",\"collate\":\"none\""), FIELD("\"type\":\"[[text]]\",\"collate\":\"und\""),
        FIELD("\"type\":\"int\",\"type\":\"int\""), FIELD("\"type\":\"int\",\"index\":[]")};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (refused(texts[i]) != FENEC_QUERY)
            test_failed(__FILE__, __LINE__, "%s: %d %s", texts[i], found.code, found.message);
        if (strncmp(found.message, "schema description: ", 20) != 0)
            test_failed(__FILE__, __LINE__, "%s: %s", texts[i], found.message);
    }
}

TEST(description_refuses_names_that_are_none)
{
    static const char *const names[] = {"", " a", "a ", "a.b", "2a", "a-b", "a#b", "a;b", "a)", "a\\nb", "\\\"a\\\"",
                                        "$1", "a\\u0301", "e\\u0000", "a --", "1", "-1", "a, b int"};
    char text[512];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text,
                 "{\"format\":1,\"collections\":[{\"name\":\"%s\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}]}",
                 names[i]);
        CHECK_INT(refused(text), FENEC_QUERY);
        snprintf(text, sizeof text,
                 "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"%s\",\"type\":\"int\"}]}]}",
                 names[i]);
        CHECK_INT(refused(text), FENEC_QUERY);
    }
    CHECK_TEXT(spelled("{\"format\":1,\"collections\":[{\"name\":\"\xC5\x9F" "ehir\",\"fields\":[{\"name\":\"field\","
                       "\"type\":\"int\"},{\"name\":\"null\",\"type\":\"int\"},{\"name\":\"ID\",\"type\":\"int\"}]}]}"),
               "create collection \xC5\x9F" "ehir (field int, null int, ID int)");
}

TEST(description_refuses_what_stands_there_twice)
{
    CHECK_INT(refused("{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]},"
                      "{\"name\":\"t\",\"fields\":[{\"name\":\"b\",\"type\":\"int\"}]}]}"), FENEC_QUERY);
    CHECK_INT(refused("{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},"
                      "{\"name\":\"a\",\"type\":\"text\"}]}]}"), FENEC_EXISTS);
    /* Case tells names apart. */
    CHECK_TEXT(spelled("{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},"
                       "{\"name\":\"A\",\"type\":\"text\"}]},{\"name\":\"T\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}]}"),
               "create collection t (a int, A text)\ncreate collection T (a int)");
}

TEST(description_of_text_compiles_to_what_json_gives)
{
    CHECK_TEXT(spelled(FQL("CREATE Collection if not exists pin (at geo @geo, tag string @hash,) -- a comment\\n"
                           "create collection log (at timestamptz @ttl(48h))")),
               "create collection pin (at geo @geo, tag text @hash)\ncreate collection log (at timestamp @ttl(2d))");
    CHECK_TEXT(spelled(FQL("create collection a (x int)\\ncreate index if not exists on a (x) @sorted")),
               "create collection a (x int @sorted)");
    CHECK_TEXT(spelled(FQL("create collection v (e vec<8> @vector(cos, quant=binary))")),
               "create collection v (e vector<8> @hnsw(cosine, m=16, ef_construction=200, ef_search=200, quant=bit))");
    CHECK_TEXT(spelled(FQL("create collection a (x text @bm25(prefix_min=7))")),
               "create collection a (x text @text(k1=0.9, b=0.4))");
    CHECK_TEXT(spelled(FQL(" ; -- nothing")), "");
}

TEST(description_of_text_refuses_what_is_no_schema)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"create collection t (a int) create collection t (a int)", FENEC_QUERY},
        {"create index on t (a) @hash create collection t (a int)", FENEC_QUERY},
        {"create collection t (a int) create index on t (b) @hash", FENEC_QUERY},
        {"create collection t (a int) create index on t (id) @hash", FENEC_QUERY},
        {"create collection t (a int @hash) create index on t (a) @sorted", FENEC_QUERY},
        {"create collection t (a int @hash) create index if not exists on t (a) @hash", FENEC_QUERY},
        {"create collection t (a json) create index on t (a.k) @hash create index on t (a.k) @sorted", FENEC_QUERY},
        {"create collection t (a json) create index on t (b.k) @hash", FENEC_NOT_FOUND},
        {"create collection t (a int) create index on t (a.k) @hash", FENEC_TYPE},
        {"create collection t (a json) create index on t (a.k) @text", FENEC_QUERY},
        {"create collection t (a json) create index on t (a.k) @ttl(5m)", FENEC_TYPE},
        {"create collection t (a bool) create index on t (a) @sorted", FENEC_TYPE},
        {"create collection t (a timestamp @ttl(1h), b timestamp) create index on t (b) @ttl(1h)", FENEC_QUERY},
        {"create collection t (a int, a int)", FENEC_EXISTS},
        {"create collection t (id int)", FENEC_QUERY},
        {"create collection t (a int) put t {a: 1}", FENEC_QUERY},
        {"create collection t (a int) drop collection t", FENEC_QUERY},
        {"create collection t (a int) get t", FENEC_QUERY},
        {"create collection t (a int", FENEC_QUERY},
        {"create collection t (a [json])", FENEC_TYPE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, FQL("%s"), cases[i].text);
        if (refused(text) != cases[i].code || !strstr(found.message, "position "))
            test_failed(__FILE__, __LINE__, "%s: %d %s", cases[i].text, found.code, found.message);
    }
    refused(FQL("create collection t (a int) nonsense"));
    CHECK(strncmp(found.message, "schema description: the description: position 28: ", 50) == 0);
}

TEST(description_errors_name_the_place)
{
    refused("{\"format\":1,\"collections\":[{\"fields\":[]}]}");
    CHECK(strncmp(found.message, "schema description: a collection: ", 34) == 0);
    refused("{\"format\":1,\"collections\":[{\"name\":\"recipe\",\"fields\":[]}]}");
    CHECK(strncmp(found.message, "schema description: recipe: ", 28) == 0);
    refused("{\"format\":1,\"collections\":[{\"name\":\"recipe\",\"fields\":[{\"name\":\"a\",\"type\":\"x\"}]}]}");
    CHECK(strncmp(found.message, "schema description: recipe.a: ", 30) == 0);
    refused("{\"format\":9}");
    CHECK(strncmp(found.message, "schema description: the description: ", 37) == 0);
    refused("{\"format\":1,\"collections\":[{\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}],"
            "\"migrations\":[7]}");
    CHECK(strncmp(found.message, "schema description: the description: ", 37) == 0);
}

TEST(description_refuses_a_second_ttl)
{
    CHECK_INT(refused("{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":["
                      "{\"name\":\"a\",\"type\":\"timestamp\",\"index\":{\"kind\":\"ttl\",\"ms\":1}},"
                      "{\"name\":\"b\",\"type\":\"timestamp\",\"index\":{\"kind\":\"ttl\",\"ms\":1}}]}]}"), FENEC_QUERY);
}

TEST(description_keeps_migrations_as_they_are_written)
{
    static const char text[] = "{\"format\":1,\"migrations\":[\" del t -- \\u015f\\ud83e\\udd8a\\n\","
                               "{\"rebuild\":{\"field\":\"b\",\"collection\":\"a\"}}]}";
    description d;

    CHECK_INT(read_bytes(text, sizeof text - 1, &d), FENEC_OK);
    CHECK_INT(d.migration_count, 2);
    CHECK_TEXT(d.migrations[0].text, " del t -- \xC5\x9F\xF0\x9F\xA6\x8A\n");
    CHECK_INT(d.migrations[0].len, 17);
    CHECK(d.migrations[1].text == NULL);
    CHECK_TEXT(d.migrations[1].collection, "a");
    CHECK_TEXT(d.migrations[1].field, "b");
    description_clear(&d);
}

TEST(description_survives_memory_that_runs_out)
{
    static const char json[] = "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":\"[text]\","
                               "\"collate\":\"und\"},{\"name\":\"m\",\"type\":\"json\",\"paths\":[{\"path\":\"k.l\","
                               "\"index\":{\"kind\":\"hash\"}}]}]}],\"migrations\":[\"del t\"]}";
    static const char text[] = FQL("create collection t (a int, m json) create index on t (m.k) @hash");
    const char *const both[] = {json, text};

    for (int which = 0; which < 2; which++) {
        int rc = FENEC_PANIC;
        for (long n = 0; rc == FENEC_PANIC && n < 1000; n++) {
            memory_fail_after(n);
            rc = refused(both[which]);
            memory_fail_after(-1);
        }
        CHECK_INT(rc, FENEC_OK);
    }
}

TEST(description_stands_random_bytes)
{
    static const char seed_text[] = "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":"
                                    "\"vector<3, f16>\",\"index\":{\"kind\":\"hnsw\",\"m\":8}},{\"name\":\"\\u0062\",\"type\":\"json\","
                                    "\"paths\":[{\"path\":\"x\",\"index\":{\"kind\":\"hash\"}}]}]}],\"migrations\":[\"\\ud83e\\udd8a\"]}";
    uint64_t state = test_seed();
    char text[sizeof seed_text];

    for (long round = test_scale(20000, 400000); round > 0; round--) {
        memcpy(text, seed_text, sizeof text);
        size_t len = sizeof seed_text - 1;
        for (uint64_t changes = 1 + test_random(&state) % 3; changes > 0; changes--)
            text[test_random(&state) % len] = (char)(" {}[]\",:\\0123456789eE.-ud"[test_random(&state) % 25]);
        if (test_random(&state) % 8 == 0)
            len = (size_t)(test_random(&state) % len);
        char *exact = memory_alloc(len); /* of its own, so that a read past it is seen */
        description d;
        memcpy(exact, text, len);
        int rc = read_bytes(exact, len, &d);
        if (rc == FENEC_OK)
            description_clear(&d);
        else if (rc != FENEC_QUERY && rc != FENEC_TYPE && rc != FENEC_EXISTS)
            test_failed(__FILE__, __LINE__, "%d for %.*s", rc, (int)len, text);
        memory_free(exact);
    }
}

TEST(description_keeps_every_character_of_a_text)
{
    static const char text[] = "{\"format\":1,\"fenecql\":\"-- a\\u0000b\\ncreate collection t (a int)\","
                               "\"migrations\":[\"put t {a: '\\u0000\\ud83e\\udd8a'}\",\"-- \\ud800\",\"\\u0000\"]}";
    static const char *const want[] = {"put t {a: '\0\xF0\x9F\xA6\x8A'}", "-- \xEF\xBF\xBD", "\0"};
    static const size_t lens[] = {18, 6, 1};
    description d;

    CHECK_INT(read_bytes(text, sizeof text - 1, &d), FENEC_OK);
    CHECK_INT(d.count, 1);
    CHECK_INT(d.migration_count, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(d.migrations[i].len, lens[i]);
        CHECK(memcmp(d.migrations[i].text, want[i], lens[i]) == 0);
    }
    description_clear(&d);
}

TEST(description_errors_of_long_names_still_say_why)
{
    char name[3001] = "", text[7000];

    memset(name, 'n', sizeof name - 1);
    snprintf(text, sizeof text,
             "{\"format\":1,\"collections\":[{\"name\":\"%s\",\"fields\":[{\"name\":\"%s\",\"type\":\"no\"}]}]}", name, name);
    CHECK_INT(refused(text), FENEC_QUERY);
    CHECK(strstr(found.message, "there is no type `no`") != NULL);
}
