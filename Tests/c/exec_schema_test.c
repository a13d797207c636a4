/* The schema in code: planned, applied, followed, described (chapter 6). */
#include "exec_bed.h"

#define PLAN FENEC_SCHEMA_PLAN
#define APPLY FENEC_SCHEMA_APPLY
#define FOLLOW FENEC_SCHEMA_FOLLOW
#define DESCRIBE FENEC_SCHEMA_DESCRIBE

/* The code; answer or message is b->answer. */
static int schema(bed *b, uint32_t mode, const char *text)
{
    buffer out;

    memory_free(b->answer);
    buffer_init(&out);
    error_init(&b->err);
    int code = database_schema(b->d, (const uint8_t *)text, strlen(text), mode, &out, &b->err);
    if (code) {
        out.len = 0;
        out.failed = false;
        buffer_text(&out, b->err.message);
    }
    b->answer = buffer_take(&out, &b->len);
    return code;
}

/* Of a schema in FenecQL and the members that follow it. */
static int schema_of(bed *b, uint32_t mode, const char *fenecql, const char *rest)
{
    char text[4096];

    snprintf(text, sizeof text, "{\"format\":1,\"fenecql\":\"%s\"%s}", fenecql, rest);
    return schema(b, mode, text);
}

#define CHECK_SCHEMA(b, mode, fenecql, rest, want)                \
    do {                                                          \
        CHECK_INT(schema_of(b, mode, fenecql, rest), FENEC_OK);   \
        CHECK_TEXT((b)->answer, want);                            \
    } while (0)

#define NOTHING "{\"kind\":\"schema\",\"applied\":false,\"ran\":false,\"migrations\":[],\"statements\":[],\"refusals\":[]}"

/* A member of the refusal `at` of the answer, up to its end. */
static const char *refusal(bed *b, int at, const char *name)
{
    static char out[2048];
    const char *from = strstr(b->answer, "\"refusals\":[");
    char key[32];

    for (int i = 0; from && i <= at; i++)
        from = strstr(from + 1, "{\"kind\":\"");
    snprintf(key, sizeof key, "\"%s\":", name);
    from = from ? strstr(from, key) : NULL;
    if (!from)
        return "";
    from += strlen(key);
    size_t len = 0;
    bool in_text = *from == '"';
    for (from += in_text; *from && len < sizeof out - 1; from++) {
        if (in_text ? *from == '"' : *from == ',' || *from == '}')
            break;
        if (in_text && *from == '\\')
            from++;
        out[len++] = *from;
    }
    out[len] = 0;
    return out;
}

static int refusal_count(bed *b)
{
    int count = 0;

    for (const char *at = strstr(b->answer, "\"refusals\":["); (at = strstr(at, "{\"kind\":\"")); at++)
        count++;
    return count;
}

#define CHECK_HOLDS(text, part)                                                            \
    do {                                                                                   \
        const char *text_ = (text);                                                        \
        if (!strstr(text_, part))                                                          \
            test_failed(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, text_);       \
    } while (0)

/* ---- section 15 ---- */

TEST(schema_makes_a_new_database)
{
    static const char description[] =
        "{\"format\":1,\"collections\":[{\"name\":\"recipe\",\"fields\":["
        "{\"name\":\"title\",\"type\":\"text\",\"required\":true,\"index\":{\"kind\":\"text\",\"prefix\":5}},"
        "{\"name\":\"minutes\",\"type\":\"int\",\"index\":{\"kind\":\"sorted\"}},"
        "{\"name\":\"extra\",\"type\":\"json\",\"paths\":[{\"path\":\"cuisine\",\"index\":{\"kind\":\"hash\"}}]}]}],"
        "\"migrations\":[]}";
    bed b;

    bed_open(&b);
    CHECK_INT(schema(&b, PLAN, description), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"schema\",\"applied\":false,\"ran\":false,\"migrations\":[],\"statements\":["
                         "\"create collection recipe (title text required @text(k1=0.9, b=0.4, prefix=5), minutes int "
                         "@sorted, extra json)\",\"create index on recipe (extra.cuisine) @hash\"],\"refusals\":[]}");
    CHECK_CODE(&b, "get recipe", FENEC_NOT_FOUND);
    CHECK_INT(schema(&b, APPLY, description), FENEC_OK);
    CHECK_HOLDS(b.answer, "{\"kind\":\"schema\",\"applied\":true,\"ran\":false,\"migrations\":[]");
    CHECK_INT(schema(&b, APPLY, description), FENEC_OK);
    CHECK_TEXT(b.answer, NOTHING);
    bed_close(&b);
}

TEST(schema_adds_to_what_is_there)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (title text required)");
    CHECK_SCHEMA(&b, PLAN, "create collection recipe (title text required, tags [text] @hash, embed vector<4, f16> "
                           "@hnsw(dot, m=8)) create collection shop (name text @unique)", "",
                 "{\"kind\":\"schema\",\"applied\":false,\"ran\":false,\"migrations\":[],\"statements\":["
                 "\"alter collection recipe add field tags [text] @hash\","
                 "\"alter collection recipe add field embed vector<4, f16> @hnsw(dot, m=8, ef_construction=200, "
                 "ef_search=100)\",\"create collection shop (name text @unique)\"],\"refusals\":[]}");
    CHECK_SCHEMA(&b, APPLY, "create collection recipe (title text required @hash, m json) create index on recipe "
                            "(m.k) @sorted", "",
                 "{\"kind\":\"schema\",\"applied\":true,\"ran\":true,\"migrations\":[],\"statements\":["
                 "\"create index on recipe (title) @hash\",\"alter collection recipe add field m json\","
                 "\"create index on recipe (m.k) @sorted\"],\"refusals\":[]}");
    bed_close(&b);
}

TEST(schema_asks_whether_a_field_was_renamed_or_dropped)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (title text required, note text)");
    CHECK_INT(schema_of(&b, APPLY, "create collection recipe (title text required, remark text)", ""), FENEC_OK);
    CHECK_HOLDS(b.answer, "{\"kind\":\"schema\",\"applied\":false,\"ran\":false,\"migrations\":[],\"statements\":["
                          "\"alter collection recipe add field remark text\"],\"refusals\":[{\"kind\":"
                          "\"field_not_declared\",\"collection\":\"recipe\",\"field\":\"note\",\"message\":\"");
    CHECK_HOLDS(refusal(&b, 0, "message"), "`recipe.note`");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "alter collection recipe rename field note to remark");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "alter collection recipe drop field note");
    CHECK_CODE(&b, "get recipe select remark", FENEC_NOT_FOUND);
    /* Two new text fields, or one of another type: nobody guesses. */
    CHECK_INT(schema_of(&b, PLAN, "create collection recipe (title text required, remark text, hint text)", ""), FENEC_OK);
    CHECK_HOLDS(refusal(&b, 0, "fix"), "alter collection recipe drop field note");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "alter collection recipe rename field note to <");
    CHECK(!strstr(refusal(&b, 0, "fix"), "note to remark"));
    CHECK_INT(schema_of(&b, PLAN, "create collection recipe (title text required, steps int)", ""), FENEC_OK);
    CHECK_HOLDS(refusal(&b, 0, "fix"), "alter collection recipe rename field note to <");
    bed_close(&b);
}

#define RENAME ",\"migrations\":[\"alter collection recipe rename field note to remark\"]"

TEST(schema_runs_a_migration_once)
{
    static const char declared[] = "create collection recipe (title text required, remark text)";
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (title text required, note text)");
    bed_do(&b, "put recipe {title: 'soup', note: 'hot'}");
    CHECK_SCHEMA(&b, PLAN, declared, RENAME, "{\"kind\":\"schema\",\"applied\":false,\"ran\":true,\"migrations\":[1],"
                                             "\"statements\":[],\"refusals\":[]}");
    CHECK_CODE(&b, "get _migrations", FENEC_NOT_FOUND);
    CHECK_ROWS(&b, "get recipe select note", "{\"note\":\"hot\"}");
    CHECK_SCHEMA(&b, APPLY, declared, RENAME, "{\"kind\":\"schema\",\"applied\":true,\"ran\":true,\"migrations\":[1],"
                                              "\"statements\":[],\"refusals\":[]}");
    CHECK_ROWS(&b, "get _migrations select n, text",
               "{\"n\":1,\"text\":\"alter collection recipe rename field note to remark\"}");
    CHECK_ROWS(&b, "get recipe select remark", "{\"remark\":\"hot\"}");
    CHECK_SCHEMA(&b, APPLY, declared, RENAME, NOTHING);
    bed_close(&b);
}

TEST(schema_of_a_fresh_database_records_migrations_unread)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection _own (a int)");
    CHECK_SCHEMA(&b, APPLY, "create collection recipe (title text required, remark text)",
                 ",\"migrations\":[\"alter collection recipe rename field note to remark\",\"((( nonsense\"]",
                 "{\"kind\":\"schema\",\"applied\":true,\"ran\":false,\"migrations\":[1,2],\"statements\":["
                 "\"create collection recipe (title text required, remark text)\"],\"refusals\":[]}");
    CHECK_ROWS(&b, "get _migrations select n, text order n",
               "{\"n\":1,\"text\":\"alter collection recipe rename field note to remark\"},"
               "{\"n\":2,\"text\":\"((( nonsense\"}");
    /* One time for all of them. */
    CHECK_ROWS(&b, "get _migrations select count(distinct at) as times", "{\"times\":1}");
    bed_close(&b);
}

TEST(schema_refuses_a_type_changed)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (minutes text @hash)");
    bed_do(&b, "put recipe {minutes: '20'}");
    CHECK_INT(schema_of(&b, APPLY, "create collection recipe (minutes int required @sorted)", ""), FENEC_OK);
    CHECK_INT(refusal_count(&b), 1);
    CHECK_TEXT(refusal(&b, 0, "kind"), "type_changed");
    CHECK_TEXT(refusal(&b, 0, "field"), "minutes");
    CHECK_HOLDS(refusal(&b, 0, "message"), "`recipe.minutes`");
    CHECK_HOLDS(refusal(&b, 0, "message"), "`text`");
    CHECK_HOLDS(refusal(&b, 0, "message"), "`int`");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "migration");
    CHECK_SCHEMA(&b, APPLY, "create collection recipe (minutes int)",
                 ",\"migrations\":[\"alter collection recipe add field minutes2 int; set recipe {minutes2: 20}; alter "
                 "collection recipe drop field minutes; alter collection recipe rename field minutes2 to minutes\"]",
                 "{\"kind\":\"schema\",\"applied\":true,\"ran\":true,\"migrations\":[1],\"statements\":[],\"refusals\":[]}");
    CHECK_ROWS(&b, "get recipe select minutes", "{\"minutes\":20}");
    bed_close(&b);
}

TEST(schema_rebuilds_a_field)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (slug text @hash, n int)");
    bed_do(&b, "put recipe [{slug: 'a', n: 1}, {slug: 'b', n: 2}]");
    CHECK_INT(schema_of(&b, PLAN, "create collection recipe (slug text @unique, n int)", ""), FENEC_OK);
    CHECK_TEXT(refusal(&b, 0, "kind"), "index_changed");
    CHECK_HOLDS(refusal(&b, 0, "message"), "`@hash`");
    CHECK_HOLDS(refusal(&b, 0, "message"), "`@unique`");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "{\"rebuild\": {\"collection\": \"recipe\", \"field\": \"slug\"}}");
    CHECK_SCHEMA(&b, APPLY, "create collection recipe (slug text @unique, n int)",
                 ",\"migrations\":[{\"rebuild\":{\"collection\":\"recipe\",\"field\":\"slug\"}}]",
                 "{\"kind\":\"schema\",\"applied\":true,\"ran\":true,\"migrations\":[1],\"statements\":[],\"refusals\":[]}");
    CHECK_ROWS(&b, "get _migrations select text",
               "{\"text\":\"alter collection recipe add field slug__rebuilt text @unique; set recipe {slug__rebuilt: slug}; "
               "alter collection recipe drop field slug; alter collection recipe rename field slug__rebuilt to slug\"}");
    CHECK_ROWS(&b, "get recipe order id", "{\"id\":1,\"n\":1,\"slug\":\"a\"},{\"id\":2,\"n\":2,\"slug\":\"b\"}");
    CHECK_CODE(&b, "put recipe {slug: 'a'}", FENEC_DUPLICATE);
    bed_close(&b);
}

TEST(schema_rebuilds_what_has_an_expiry_or_paths)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (at timestamp @hash, m json) create index on t (m.a) @hash create index on t (m.b) "
               "@hash");
    CHECK_INT(schema_of(&b, APPLY,
                        "create collection t (m json @hash, at timestamp @ttl(90m)) create index on t (m.a) @unique "
                        "create index on t (m.c.d) @sorted",
                        ",\"migrations\":[{\"rebuild\":{\"collection\":\"t\",\"field\":\"at\"}},"
                        "{\"rebuild\":{\"collection\":\"t\",\"field\":\"m\"}}]"),
              FENEC_OK);
    CHECK_HOLDS(b.answer, "\"applied\":true,\"ran\":true,\"migrations\":[1,2],\"statements\":[],\"refusals\":[]}");
    CHECK_ROWS(&b, "get _migrations select text order n",
               "{\"text\":\"alter collection t add field at__rebuilt timestamp; set t {at__rebuilt: at}; alter collection t "
               "drop field at; alter collection t rename field at__rebuilt to at; create index on t (at) @ttl(90m)\"},"
               "{\"text\":\"alter collection t add field m__rebuilt json @hash; set t {m__rebuilt: m}; alter collection t "
               "drop field m; alter collection t rename field m__rebuilt to m; create index on t (m.a) @unique; create "
               "index on t (m.c.d) @sorted\"}");
    bed_close(&b);
}

TEST(schema_offers_the_statement_for_an_expiry)
{
    static const struct {
        const char *stored, *code, *fix;
    } cases[] = {
        {"@ttl(30m)", "@ttl(60m)", "alter collection seen alter field at @ttl(1h)"},
        {"@sorted", "@ttl(2d)", "alter collection seen alter field at @ttl(2d)"},
        {"@ttl(30m)", "@sorted", "alter collection seen alter field at @sorted"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], rest[256];
        bed b;
        bed_open(&b);
        snprintf(text, sizeof text, "create collection seen (at timestamp %s)", cases[i].stored);
        bed_do(&b, text);
        snprintf(text, sizeof text, "create collection seen (at timestamp %s)", cases[i].code);
        CHECK_INT(schema_of(&b, PLAN, text, ""), FENEC_OK);
        CHECK_INT(refusal_count(&b), 1);
        CHECK_TEXT(refusal(&b, 0, "kind"), "index_changed");
        CHECK_HOLDS(refusal(&b, 0, "fix"), cases[i].fix);
        /* And it does resolve it. */
        snprintf(rest, sizeof rest, ",\"migrations\":[\"%s\"]", cases[i].fix);
        CHECK_SCHEMA(&b, APPLY, text, rest, "{\"kind\":\"schema\",\"applied\":true,\"ran\":true,\"migrations\":[1],"
                                            "\"statements\":[],\"refusals\":[]}");
        bed_close(&b);
    }
}

TEST(schema_tells_several_differences_in_order)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (title text required, done bool @hash)");
    CHECK_INT(schema_of(&b, PLAN, "create collection recipe (steps int, done bool required)", ""), FENEC_OK);
    CHECK_HOLDS(b.answer, "\"statements\":[\"alter collection recipe add field steps int\"]");
    CHECK_INT(refusal_count(&b), 3);
    CHECK_TEXT(refusal(&b, 0, "kind"), "required_changed");
    CHECK_HOLDS(refusal(&b, 0, "message"), "required in the code");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "done bool @hash");
    CHECK_TEXT(refusal(&b, 1, "kind"), "index_removed");
    CHECK_HOLDS(refusal(&b, 1, "message"), "`@hash`");
    CHECK_HOLDS(refusal(&b, 1, "fix"), "{\"rebuild\": {\"collection\": \"recipe\", \"field\": \"done\"}}");
    CHECK_HOLDS(refusal(&b, 1, "fix"), "not required");
    CHECK_TEXT(refusal(&b, 2, "kind"), "field_not_declared");
    CHECK_TEXT(refusal(&b, 2, "field"), "title");
    CHECK(!strstr(refusal(&b, 2, "fix"), "to steps"));
    bed_close(&b);
}

TEST(schema_migration_that_fails_leaves_nothing)
{
    static const char *const migrations[] = {"drop collection nowhere", "compact", "compact recipe", "-- nothing",
                                             "get (", "put recipe {remark: 1}", "get recipe where remark = $1",
                                             "drop collection _migrations", "alter collection _migrations drop field n",
                                             "put _migrations {n: 2}"};
    static const char *const messages[] = {"migration 2: not found: ", "migration 2: query error: ",
                                           "migration 2: query error: ", "migration 2: query error: ",
                                           "migration 2: query error: position ", "migration 2: type error: ",
                                           "migration 2: query error: ", "migration 2: not found: ",
                                           "migration 2: not found: ", "migration 2: duplicate: "};
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (note text)");
    bed_do(&b, "put recipe {note: 'x'}");
    for (size_t i = 0; i < sizeof migrations / sizeof *migrations; i++)
        for (uint32_t mode = PLAN; mode <= APPLY; mode++) {
            char rest[512];
            snprintf(rest, sizeof rest,
                     ",\"migrations\":[\"alter collection recipe rename field note to remark\",\"%s\"]", migrations[i]);
            CHECK_INT(schema_of(&b, mode, "create collection recipe (remark text)", rest), FENEC_QUERY);
            if (strncmp(b.answer, messages[i], strlen(messages[i])) != 0)
                test_failed(__FILE__, __LINE__, "%s: %s", migrations[i], b.answer);
            CHECK_INT(b.err.at, -1);
            CHECK_CODE(&b, "get recipe select note", FENEC_OK);
            CHECK_CODE(&b, "get _migrations", FENEC_NOT_FOUND);
        }
    bed_close(&b);
}

TEST(schema_holds_the_records_against_the_list)
{
    static const char declared[] = "create collection recipe (remark text)";
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (remark text)");
    bed_do(&b, "create collection _migrations (n int @unique, text text, at timestamp)");
    bed_do(&b, "put _migrations [{n: 2, text: 'drop collection old'}, "
               "{n: 1, text: 'alter collection recipe rename field note to remark'}]");
    CHECK_SCHEMA(&b, APPLY, declared,
                 ",\"migrations\":[\"alter collection recipe rename field note to remark\",\"drop collection old\"]", NOTHING);
    CHECK_INT(schema_of(&b, APPLY, declared, RENAME), FENEC_QUERY);
    CHECK_HOLDS(b.answer, "older");
    CHECK_INT(schema_of(&b, PLAN, declared, ""), FENEC_QUERY);
    CHECK_INT(schema_of(&b, PLAN, declared, ",\"migrations\":[\"del recipe\",\"drop collection old\"]"), FENEC_QUERY);
    CHECK_HOLDS(b.answer, "migration 1 ");
    CHECK_HOLDS(b.answer, "alter collection recipe rename field note to remark");
    CHECK_INT(schema_of(&b, PLAN, declared,
                        ",\"migrations\":[\"alter collection recipe rename field note to remark \",\"drop collection old\"]"),
              FENEC_QUERY);
    CHECK_SCHEMA(&b, PLAN, declared,
                 ",\"migrations\":[\"alter collection recipe rename field note to remark\",\"drop collection old\",\"del "
                 "recipe\"]",
                 "{\"kind\":\"schema\",\"applied\":false,\"ran\":true,\"migrations\":[3],\"statements\":[],\"refusals\":[]}");
    /* FOLLOW does not look at them. */
    CHECK_SCHEMA(&b, FOLLOW, declared, ",\"migrations\":[\"nonsense\",{\"rebuild\":{\"collection\":\"x\",\"field\":\"y\"}}]",
                 NOTHING);
    CHECK_INT(schema_of(&b, FOLLOW, declared, ",\"migrations\":[\" \"]"), FENEC_QUERY);
    bed_close(&b);
}

TEST(schema_refuses_records_that_are_none)
{
    static const char *const made[] = {"create collection _migrations (a int)", "create collection _migrations (n int)",
                                       "create collection _migrations (n int, text text, at timestamp) put _migrations "
                                       "{text: 'del t'}",
                                       "create collection _migrations (n float, text text, at timestamp) put _migrations "
                                       "{n: 1.5, text: 'del t'}",
                                       "create collection _migrations (n int, text text) put _migrations [{n: 1, text: 'del "
                                       "t'}, {n: 1, text: 'del t'}]",
                                       "create collection _migrations (n [int], text json) put _migrations {n: [1], text: "
                                       "{a: 1}}",
                                       "create collection _migrations (n vector<2>, text text) put _migrations {n: [1, 2]}"};

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        bed b;
        bed_open(&b);
        bed_do(&b, "create collection t (a int)");
        bed_do(&b, made[i]);
        CHECK_INT(schema_of(&b, PLAN, "create collection t (a int)", ",\"migrations\":[\"del t\",\"del t\"]"), FENEC_QUERY);
        CHECK_INT(schema_of(&b, APPLY, "create collection t (a int)", ",\"migrations\":[\"del t\",\"del t\"]"), FENEC_QUERY);
        bed_close(&b);
    }

    bed b;
    bed_open(&b);
    bed_do(&b, "create collection _migrations (n int, text text) put _migrations {n: 7, text: 'del t'}");
    CHECK_INT(schema_of(&b, PLAN, "", ",\"migrations\":[\"del t\"]"), FENEC_QUERY);
    CHECK_HOLDS(b.answer, "its n is 7 and its text \"del t\"");
    bed_close(&b);
}

TEST(schema_followed_tells_what_the_owner_lacks)
{
    static const struct {
        const char *code, *kind, *field, *message, *fix;
    } cases[] = {
        {"create collection recipe (title text required, done bool @hash)", NULL, NULL, NULL, NULL},
        {"create collection recipe (title text required, done bool)", NULL, NULL, NULL, NULL},
        {"create collection recipe (title text required, done bool, due timestamp @sorted)", "field_missing", "due",
         "`recipe.due`", "`alter collection recipe add field due timestamp @sorted`"},
        {"create collection recipe (title text required, done bool, m json) create index on recipe (m.k) @hash",
         "field_missing", "m", "`recipe.m`",
         "alter collection recipe add field m json; create index on recipe (m.k) @hash"},
        {"create collection recipe (title text required, done bool, due timestamp required)", "field_missing", "due",
         "`recipe.due`", "not required"},
        {"create collection recipe (title text required @text)", "index_missing", "title", "`@text(k1=0.9, b=0.4)`",
         "create index on recipe (title) @text(k1=0.9, b=0.4)"},
        {"create collection recipe (title text required, done bool @unique)", "index_changed", "done", "`@unique`",
         "done bool @hash"},
        {"create collection shop (a int, m json) create index on shop (m.k) @hash", "collection_missing", "null", "`shop`",
         "create collection shop (a int, m json); create index on shop (m.k) @hash"},
        {"create collection recipe (title text)", "required_changed", "title", "required in the database",
         "title text required"},
        {"create collection recipe (title int required)", "type_changed", "title", "`int`", "title text required"},
        {"create collection recipe (title text required collate tr)", "collate_changed", "title", "`none`",
         "title text required"},
    };
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection recipe (title text required, done bool @hash, extra int @sorted)");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(schema_of(&b, FOLLOW, cases[i].code, ""), FENEC_OK);
        CHECK_HOLDS(b.answer, "{\"kind\":\"schema\",\"applied\":false,\"ran\":false,\"migrations\":[],\"statements\":[],"
                              "\"refusals\":[");
        CHECK_INT(refusal_count(&b), cases[i].kind ? 1 : 0);
        if (!cases[i].kind)
            continue;
        CHECK_TEXT(refusal(&b, 0, "kind"), cases[i].kind);
        CHECK_TEXT(refusal(&b, 0, "field"), cases[i].field);
        CHECK_HOLDS(refusal(&b, 0, "message"), cases[i].message);
        CHECK_HOLDS(refusal(&b, 0, "fix"), cases[i].fix);
    }
    bed_close(&b);
}

TEST(schema_describes_what_is_there)
{
    bed b;

    bed_open(&b);
    CHECK_INT(schema(&b, DESCRIBE, "no JSON at all"), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"format\":1,\"collections\":[]}");
    bed_do(&b, "create collection _own (a int) create collection recipe (title text required collate und, at timestamp "
               "@ttl(90m), e vector<3> @hnsw(l2), m json) create index on recipe (m.lang) @unique");
    CHECK_INT(schema(&b, DESCRIBE, ""), FENEC_OK);
    CHECK_TEXT(b.answer,
               "{\"format\":1,\"collections\":[{\"name\":\"recipe\",\"fields\":["
               "{\"name\":\"title\",\"type\":\"text\",\"required\":true,\"collate\":\"und\"},"
               "{\"name\":\"at\",\"type\":\"timestamp\",\"index\":{\"kind\":\"ttl\",\"ms\":5400000}},"
               "{\"name\":\"e\",\"type\":\"vector<3>\",\"index\":{\"kind\":\"hnsw\",\"metric\":\"l2\",\"m\":16,"
               "\"ef_construction\":200,\"ef_search\":100}},"
               "{\"name\":\"m\",\"type\":\"json\",\"paths\":[{\"path\":\"lang\",\"index\":{\"kind\":\"unique\"}}]}]}]}");
    bed_do(&b, "drop collection recipe create collection t (a text @text(k1=1.25, b=0.5, prefix=4, prefix_min=2, chars), c "
               "vector<2> @hnsw(cosine, quant=bit), d text @text(prefix_min=9), s sparse<7> @inverted, g geo @geo, l [[int]] "
               "@hash, x vector<2, f16>)");
    CHECK_INT(schema(&b, DESCRIBE, ""), FENEC_OK);
    CHECK_TEXT(b.answer,
               "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":["
               "{\"name\":\"a\",\"type\":\"text\",\"index\":{\"kind\":\"text\",\"k1\":1.25,\"b\":0.5,\"prefix\":4,"
               "\"prefix_min\":2,\"chars\":true}},"
               "{\"name\":\"c\",\"type\":\"vector<2>\",\"index\":{\"kind\":\"hnsw\",\"metric\":\"cosine\",\"m\":16,"
               "\"ef_construction\":200,\"ef_search\":200,\"quant\":\"bit\"}},"
               "{\"name\":\"d\",\"type\":\"text\",\"index\":{\"kind\":\"text\",\"k1\":0.9,\"b\":0.4}},"
               "{\"name\":\"s\",\"type\":\"sparse<7>\",\"index\":{\"kind\":\"inverted\"}},"
               "{\"name\":\"g\",\"type\":\"geo\",\"index\":{\"kind\":\"geo\"}},"
               "{\"name\":\"l\",\"type\":\"[[int]]\",\"index\":{\"kind\":\"hash\"}},"
               "{\"name\":\"x\",\"type\":\"vector<2, f16>\"}]}]}");
    bed_close(&b);
}

/* ---- section 11 ---- */

static long seq(bed *b)
{
    buffer out;

    buffer_init(&out);
    CHECK_INT(database_changes(b->d, UINT64_MAX, &out, &b->err), FENEC_OK);
    buffer_byte(&out, 0);
    long n = strtol((const char *)out.bytes + strlen("{\"seq\":"), NULL, 10);
    buffer_clear(&out);
    return n;
}

TEST(schema_that_changes_nothing_moves_no_counter)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a int, b text)");
    bed_do(&b, "put t {a: 1, b: 'x'}");
    long before = seq(&b);
    CHECK_SCHEMA(&b, APPLY, "create collection t (a int, b text)", "", NOTHING);
    CHECK_INT(schema_of(&b, PLAN, "create collection t (a int, b text, c int) create collection u (x int)",
                        ",\"migrations\":[\"put t {a: 2}; set t {b: 'y'}; del t; create collection v (x int)\"]"),
              FENEC_OK);
    CHECK_INT(schema_of(&b, APPLY, "create collection t (a text)", ",\"migrations\":[\"del t\"]"), FENEC_OK);
    CHECK_HOLDS(b.answer, "\"applied\":false,\"ran\":true,\"migrations\":[1]");
    CHECK_INT(schema_of(&b, FOLLOW, "create collection u (a int)", ""), FENEC_OK);
    CHECK_INT(schema(&b, DESCRIBE, ""), FENEC_OK);
    CHECK_INT(seq(&b), before);
    CHECK_ROWS(&b, "get t", "{\"id\":1,\"a\":1,\"b\":\"x\"}");
    CHECK_CODE(&b, "get _migrations", FENEC_NOT_FOUND);
    /* Not even an id was taken. */
    bed_do(&b, "put t {a: 3}");
    CHECK_ROWS(&b, "get t where a = 3 select id", "{\"id\":2}");
    bed_close(&b);
}

TEST(schema_statement_that_fails_fails_with_its_own_code)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a int)");
    bed_do(&b, "put t [{a: 1}, {a: 1}]");
    CHECK_INT(schema_of(&b, PLAN, "create collection t (a int @unique, b int)", ",\"migrations\":[\"set t {a: 1}\"]"),
              FENEC_OK);
    CHECK_INT(schema_of(&b, APPLY, "create collection t (b int, a int @unique)", ",\"migrations\":[\"set t {a: 1}\"]"),
              FENEC_DUPLICATE);
    CHECK(!strstr(b.answer, "migration"));
    CHECK_INT(b.err.at, -1);
    CHECK_CODE(&b, "get t select b", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get _migrations", FENEC_NOT_FOUND);
    bed_close(&b);
}

TEST(schema_field_added_over_a_dropped_one_is_new)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a int, b int)");
    bed_do(&b, "put t {a: 1, b: 2}");
    bed_do(&b, "alter collection t drop field b");
    CHECK_INT(schema_of(&b, APPLY, "create collection t (a int, b int)", ""), FENEC_OK);
    CHECK_ROWS(&b, "get t select a, b", "{\"a\":1,\"b\":null}");
    bed_do(&b, "alter collection t drop field b");
    bed_do(&b, "compact");
    CHECK_INT(schema_of(&b, PLAN, "create collection t (a int)", ""), FENEC_OK);
    CHECK_TEXT(b.answer, NOTHING);
    bed_close(&b);
}

TEST(schema_of_two_apps_one_after_the_other)
{
    bed b;

    bed_open(&b);
    CHECK_INT(schema_of(&b, APPLY, "create collection t (a int)", ""), FENEC_OK);
    CHECK_INT(schema_of(&b, APPLY, "create collection u (b int)", ""), FENEC_OK);
    CHECK_HOLDS(b.answer, "\"applied\":true");
    CHECK_INT(schema_of(&b, APPLY, "create collection t (a int, c text)", ""), FENEC_OK);
    CHECK_HOLDS(b.answer, "\"applied\":true");
    CHECK_INT(schema_of(&b, APPLY, "create collection t (a int)", ""), FENEC_OK);
    CHECK_TEXT(refusal(&b, 0, "kind"), "field_not_declared");
    CHECK_INT(schema_of(&b, APPLY, "create collection u (b int)", ""), FENEC_OK);
    CHECK_TEXT(b.answer, NOTHING);
    bed_close(&b);
}

TEST(schema_rebuilds_only_what_is_declared_and_readable)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (null int @hash, a int)");
    CHECK_INT(schema_of(&b, PLAN, "create collection t (null int @hash, a int)",
                        ",\"migrations\":[{\"rebuild\":{\"collection\":\"t\",\"field\":\"b\"}}]"), FENEC_QUERY);
    CHECK_INT(schema_of(&b, PLAN, "create collection t (null int @hash, a int)",
                        ",\"migrations\":[{\"rebuild\":{\"collection\":\"u\",\"field\":\"a\"}}]"), FENEC_QUERY);
    CHECK_INT(schema_of(&b, APPLY, "create collection t (null int @unique, a int)",
                        ",\"migrations\":[{\"rebuild\":{\"collection\":\"t\",\"field\":\"null\"}}]"), FENEC_QUERY);
    CHECK_INT(schema_of(&b, PLAN, "create collection t (null int @unique, a int)", ""), FENEC_OK);
    CHECK_HOLDS(refusal(&b, 0, "fix"), "declare `t.null` as the database has it, `null int @hash`");
    CHECK(!strstr(refusal(&b, 0, "fix"), "{\"rebuild\""));
    bed_close(&b);

    bed_open(&b);
    bed_do(&b, "create collection t (null json @hash, a int) create index on t (null.k) @hash");
    CHECK_INT(schema_of(&b, PLAN, "create collection t (null json, a int)", ""), FENEC_OK);
    CHECK_HOLDS(refusal(&b, 0, "fix"), "declare `t.null` as the database has it, `null json @hash`");
    CHECK_HOLDS(refusal(&b, 1, "fix"), "declare the index of `t.null.k` as the database has it, `@hash`");
    bed_close(&b);
}

/* `del from where` would delete from a collection called `where`. */
TEST(schema_fixes_run_on_a_collection_called_from)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection from (at timestamp @ttl(1h)) insert into from {at: '1999-01-01'}");
    CHECK_INT(schema_of(&b, PLAN, "create collection from (at timestamp @hash)", ""), FENEC_OK);
    CHECK_HOLDS(refusal(&b, 0, "fix"), "`del from from where expired()`");
    CHECK_INT(schema_of(&b, APPLY, "create collection from (at timestamp @hash)",
                        ",\"migrations\":[\"del from from where expired()\",{\"rebuild\":{\"collection\":\"from\","
                        "\"field\":\"at\"}}]"), FENEC_OK);
    CHECK_HOLDS(b.answer, "\"applied\":true");
    bed_close(&b);
}

TEST(schema_migration_may_hold_any_character)
{
    static const char once[] = ",\"migrations\":[\"put t {a: 'x\\u0000y'}\"]";
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a text)");
    CHECK_INT(schema_of(&b, APPLY, "create collection t (a text)", once), FENEC_OK);
    CHECK_ROWS(&b, "get t", "{\"id\":1,\"a\":\"x\\u0000y\"}");
    CHECK_ROWS(&b, "get _migrations select text", "{\"text\":\"put t {a: 'x\\u0000y'}\"}");
    CHECK_SCHEMA(&b, APPLY, "create collection t (a text)", once, NOTHING);
    CHECK_INT(schema_of(&b, APPLY, "create collection t (a text)", ",\"migrations\":[\"put t {a: 'x\\u0000z'}\"]"),
              FENEC_QUERY);
    CHECK_HOLDS(b.answer, "it ran as `put t {a: 'x\xEF\xBF\xBDy'}`");
    bed_close(&b);
}

TEST(schema_fixes_say_what_a_rebuild_takes_along)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (at timestamp @ttl(1h), r text required, c text, m json)");
    bed_do(&b, "create index on t (m.k) @hash");
    CHECK_INT(schema_of(&b, PLAN, "create collection t (at timestamp @hash, r text, c text collate tr, m json)", ""),
              FENEC_OK);
    CHECK_INT(refusal_count(&b), 4);
    CHECK_HOLDS(refusal(&b, 0, "fix"), "`del t where expired()`");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "{\"rebuild\": {\"collection\": \"t\", \"field\": \"at\"}}");
    CHECK_TEXT(refusal(&b, 1, "kind"), "required_changed");
    CHECK_HOLDS(refusal(&b, 1, "fix"), "{\"rebuild\": {\"collection\": \"t\", \"field\": \"r\"}}");
    CHECK_TEXT(refusal(&b, 2, "kind"), "collate_changed");
    CHECK_HOLDS(refusal(&b, 2, "message"), "`none`");
    CHECK_HOLDS(refusal(&b, 2, "message"), "`tr`");
    CHECK_HOLDS(refusal(&b, 2, "fix"), "{\"rebuild\": {\"collection\": \"t\", \"field\": \"c\"}}");
    CHECK_TEXT(refusal(&b, 3, "kind"), "index_removed");
    CHECK_TEXT(refusal(&b, 3, "field"), "m.k");
    CHECK_HOLDS(refusal(&b, 3, "fix"), "{\"rebuild\": {\"collection\": \"t\", \"field\": \"m\"}}");
    CHECK_INT(schema_of(&b, PLAN, "create collection t (at timestamp, r text required, c text, m json, n int required) "
                                  "create index on t (m.k) @unique", ""), FENEC_OK);
    CHECK_TEXT(refusal(&b, 0, "kind"), "index_removed");
    CHECK_HOLDS(refusal(&b, 0, "fix"), "del t where expired()");
    CHECK_TEXT(refusal(&b, 1, "kind"), "index_changed");
    CHECK_TEXT(refusal(&b, 1, "field"), "m.k");
    CHECK_TEXT(refusal(&b, 2, "kind"), "required_added");
    CHECK_HOLDS(refusal(&b, 2, "message"), "`t.n`");
    CHECK_HOLDS(refusal(&b, 2, "fix"), "not required");
    CHECK_INT(schema_of(&b, PLAN, "create collection t (x bool)", ""), FENEC_OK);
    CHECK_INT(refusal_count(&b), 4);
    CHECK_HOLDS(refusal(&b, 0, "fix"), "drop collection t");
    bed_close(&b);
}

TEST(schema_of_a_thousand_collections)
{
    buffer text;
    bed b;

    bed_open(&b);
    buffer_init(&text);
    buffer_text(&text, "{\"format\":1,\"fenecql\":\"");
    for (int i = 0; i < 1000; i++)
        buffer_printf(&text, "create collection c%d (a text @hash, b int @sorted, m json)\\ncreate index on c%d (m.k) "
                             "@unique\\n", i, i);
    buffer_text(&text, "\"}");
    buffer_byte(&text, 0);
    CHECK_INT(schema(&b, APPLY, (const char *)text.bytes), FENEC_OK);
    CHECK_HOLDS(b.answer, "\"applied\":true");
    CHECK_HOLDS(b.answer, "\"create index on c999 (m.k) @unique\"]");
    CHECK_INT(schema(&b, APPLY, (const char *)text.bytes), FENEC_OK);
    CHECK_TEXT(b.answer, NOTHING);
    buffer_clear(&text);
    bed_close(&b);
}

TEST(schema_survives_memory_that_runs_out)
{
    static const char apply[] = "{\"format\":1,\"fenecql\":\"create collection t (b int, m json) create collection u (a text "
                                "@hash) create index on t (m.k) @hash\",\"migrations\":[\"alter collection t rename field a "
                                "to b\",{\"rebuild\":{\"collection\":\"t\",\"field\":\"b\"}}]}";
    int rc = FENEC_PANIC;
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a int)");
    bed_do(&b, "put t {a: 7}");
    for (long n = 0; rc == FENEC_PANIC && n < 20000; n++) {
        memory_fail_after(n);
        rc = schema(&b, APPLY, apply);
        memory_fail_after(-1);
        if (rc != FENEC_PANIC)
            break;
        CHECK_ROWS(&b, "get t", "{\"id\":1,\"a\":7}");
        CHECK_CODE(&b, "get _migrations", FENEC_NOT_FOUND);
    }
    CHECK_INT(rc, FENEC_OK);
    CHECK_ROWS(&b, "get t", "{\"id\":1,\"b\":7,\"m\":null}");
    bed_close(&b);
}

/* ---- random schemas ---- */

#define COLLECTIONS 3
#define FIELDS 6
#define TYPES 6
#define INDEXES 4

static const char *const type_texts[TYPES] = {"int", "text", "timestamp", "json", "vector<3, f16>", "[text]"};
/* By type; 0 is none. */
static const char *const index_texts[TYPES][INDEXES] = {
    {"", "@hash", "@unique", "@sorted"},
    {"", "@hash", "@text(k1=0.9, b=0.4)", "@text(k1=1.2, b=0.75, prefix=6, chars)"},
    {"", "@sorted", "@ttl(30m)", "@ttl(2h)"},
    {"", "@hash", "@sorted", "@unique"},
    {"", "@hash", "@hnsw(cosine, m=16, ef_construction=200, ef_search=100)",
     "@hnsw(dot, m=8, ef_construction=200, ef_search=100, quant=int8)"},
    {"", "@hash", "@unique", "@hash"},
};
static const char *const path_index_texts[3] = {"", "@hash", "@sorted"};

typedef struct random_field {
    bool there, required;
    int type, collate, index;
    int paths[2];
} random_field;

/* Fields stand in the order of their names but for `turned`, which begins elsewhere. */
typedef struct random_schema {
    struct {
        bool there;
        int turned;
        random_field fields[FIELDS];
    } collections[COLLECTIONS];
} random_schema;

static int draw(uint64_t *state, int below)
{
    return (int)(test_random(state) % (uint64_t)below);
}

static random_field draw_field(uint64_t *state, bool *has_ttl)
{
    random_field f = {.there = true, .required = draw(state, 4) == 0, .type = draw(state, TYPES)};

    f.index = draw(state, 2) ? draw(state, INDEXES) : 0;
    if (f.type == 2 && f.index >= 2) {
        f.index = *has_ttl ? 0 : f.index;
        *has_ttl = true;
    }
    if (f.type == 1 || f.type == 5)
        f.collate = draw(state, 3) ? 0 : draw(state, 3);
    for (int i = 0; i < 2 && f.type == 3; i++)
        f.paths[i] = draw(state, 3);
    return f;
}

static void draw_schema(uint64_t *state, random_schema *s)
{
    memset(s, 0, sizeof *s);
    for (int c = 0; c < COLLECTIONS; c++) {
        bool has_ttl = false, any = false;
        s->collections[c].there = draw(state, 3) != 0;
        s->collections[c].turned = draw(state, FIELDS);
        for (int f = 0; f < FIELDS; f++)
            if (draw(state, 2)) {
                s->collections[c].fields[f] = draw_field(state, &has_ttl);
                any = true;
            }
        if (!any)
            s->collections[c].fields[0] = (random_field){.there = true};
    }
}

/* Another schema that shares most of the first, so that plans without refusals are met too. */
static void vary_schema(uint64_t *state, const random_schema *from, random_schema *s)
{
    random_schema fresh;

    draw_schema(state, &fresh);
    *s = *from;
    for (int changes = draw(state, 4); changes > 0; changes--) {
        int c = draw(state, COLLECTIONS), f = draw(state, FIELDS);
        if (!s->collections[c].there)
            s->collections[c] = fresh.collections[c];
        else if (draw(state, 3) && s->collections[c].fields[f].there)
            continue;
        else if (fresh.collections[c].fields[f].type != 2 || fresh.collections[c].fields[f].index < 2)
            s->collections[c].fields[f] = fresh.collections[c].fields[f];
        bool any = false;
        for (f = 0; f < FIELDS; f++)
            any |= s->collections[c].fields[f].there;
        s->collections[c].there &= any;
    }
}

static void spell(const random_field *f, char name, buffer *out)
{
    static const char *const collations[3] = {"", " collate und", " collate tr"};
    const char *index = index_texts[f->type][f->index];

    buffer_printf(out, "%c %s%s%s%s%s", name, type_texts[f->type], f->required ? " required" : "",
                  collations[f->collate], *index ? " " : "", index);
}

/* The schema as FenecQL. */
static void spell_schema(const random_schema *s, buffer *out)
{
    for (int c = 0; c < COLLECTIONS; c++) {
        const char *before = "";
        if (!s->collections[c].there)
            continue;
        buffer_printf(out, "create collection %c (", 't' + c);
        for (int i = 0; i < FIELDS; i++) {
            int f = (i + s->collections[c].turned) % FIELDS;
            if (!s->collections[c].fields[f].there)
                continue;
            buffer_text(out, before);
            spell(&s->collections[c].fields[f], (char)('a' + f), out);
            before = ", ";
        }
        buffer_text(out, ")");
        for (int i = 0; i < FIELDS; i++) {
            int f = (i + s->collections[c].turned) % FIELDS;
            for (int p = 0; p < 2 && s->collections[c].fields[f].there; p++)
                if (s->collections[c].fields[f].paths[p])
                    buffer_printf(out, "\\ncreate index on %c (%c.%c) %s", 't' + c, 'a' + f, 'k' + p,
                                  path_index_texts[s->collections[c].fields[f].paths[p]]);
        }
        buffer_text(out, "\\n");
    }
}

static void expect(buffer *out, const char *kind, int c, int f, int path)
{
    buffer_printf(out, "%s %c.%c", kind, 't' + c, 'a' + f);
    if (path >= 0)
        buffer_printf(out, ".%c", 'k' + path);
    buffer_byte(out, '\n');
}

static void expect_index(buffer *out, buffer *adds, bool stored, bool wanted, bool same, int c, int f, int path)
{
    if (wanted && !stored)
        expect(adds, "index", c, f, path);
    else if (stored && !wanted)
        expect(out, "index_removed", c, f, path);
    else if (stored && !same)
        expect(out, "index_changed", c, f, path);
}

/* The refusals and the additions of a database made by `a` under code `b`, by the table of section 7. */
static void expect_all(const random_schema *a, const random_schema *b, buffer *out, buffer *adds)
{
    for (int c = 0; c < COLLECTIONS; c++) {
        if (!b->collections[c].there)
            continue;
        if (!a->collections[c].there) {
            buffer_printf(adds, "create %c\n", 't' + c);
            for (int i = 0; i < FIELDS; i++) {
                int f = (i + b->collections[c].turned) % FIELDS;
                for (int p = 0; p < 2; p++)
                    if (b->collections[c].fields[f].there && b->collections[c].fields[f].paths[p])
                        expect(adds, "index", c, f, p);
            }
            continue;
        }
        for (int i = 0; i < FIELDS; i++) {
            int f = (i + b->collections[c].turned) % FIELDS;
            const random_field *code = &b->collections[c].fields[f], *db = &a->collections[c].fields[f];
            if (!code->there)
                continue;
            if (!db->there) {
                if (code->required) {
                    expect(out, "required_added", c, f, -1);
                    continue;
                }
                expect(adds, "field", c, f, -1);
                for (int p = 0; p < 2; p++)
                    if (code->paths[p])
                        expect(adds, "index", c, f, p);
                continue;
            }
            if (code->type != db->type) {
                expect(out, "type_changed", c, f, -1);
                continue;
            }
            if (code->required != db->required)
                expect(out, "required_changed", c, f, -1);
            if (code->collate != db->collate)
                expect(out, "collate_changed", c, f, -1);
            expect_index(out, adds, db->index != 0, code->index != 0,
                         strcmp(index_texts[db->type][db->index], index_texts[code->type][code->index]) == 0, c, f, -1);
            for (int p = 0; p < 2; p++)
                if (code->paths[p])
                    expect_index(out, adds, db->paths[p] != 0, true, db->paths[p] == code->paths[p], c, f, p);
            for (int p = 0; p < 2; p++)
                if (!code->paths[p])
                    expect_index(out, adds, db->paths[p] != 0, false, false, c, f, p);
        }
        for (int i = 0; i < FIELDS; i++) {
            int f = (i + a->collections[c].turned) % FIELDS;
            if (a->collections[c].fields[f].there && !b->collections[c].fields[f].there)
                expect(out, "field_not_declared", c, f, -1);
        }
    }
}

/* The same of an answer. */
static void read_refusals(bed *b, buffer *out)
{
    for (int i = 0; i < refusal_count(b); i++) {
        buffer_printf(out, "%s ", refusal(b, i, "kind"));
        buffer_printf(out, "%s.", refusal(b, i, "collection"));
        buffer_printf(out, "%s\n", refusal(b, i, "field"));
    }
}

static void read_additions(bed *b, buffer *out)
{
    const char *at = strstr(b->answer, "\"statements\":["), *end = strstr(b->answer, "],\"refusals\"");
    char of, field[8];

    for (at = at ? at + strlen("\"statements\":[") : end; at < end; at = strchr(at + 1, '"') + 1) {
        at += *at == ',';
        if (sscanf(at, "\"create collection %c ", &of) == 1)
            buffer_printf(out, "create %c\n", of);
        else if (sscanf(at, "\"create index on %c (%7[a-z.])", &of, field) == 2)
            buffer_printf(out, "index %c.%s\n", of, field);
        else if (sscanf(at, "\"alter collection %c add field %7[a-z] ", &of, field) == 2)
            buffer_printf(out, "field %c.%s\n", of, field);
        else
            test_failed(__FILE__, __LINE__, "%s", at);
    }
}

static const char *text_of(buffer *b)
{
    buffer_byte(b, 0);
    b->len--;
    return (const char *)b->bytes;
}

static void put_some(bed *b, const random_schema *s, uint64_t *state)
{
    static const char *const values[TYPES] = {"7", "'x'", "'2031-01-01'", "{k: 1}", "[1, 2, 3]", "['p', 'q']"};

    for (int c = 0; c < COLLECTIONS; c++)
        for (int n = draw(state, 3); n > 0 && s->collections[c].there; n--) {
            const char *before = "";
            buffer text;
            buffer_init(&text);
            buffer_printf(&text, "put %c {", 't' + c);
            for (int f = 0; f < FIELDS; f++)
                if (s->collections[c].fields[f].there && (s->collections[c].fields[f].required || draw(state, 2))) {
                    buffer_printf(&text, "%s%c: %s", before, 'a' + f, values[s->collections[c].fields[f].type]);
                    before = ", ";
                }
            buffer_text(&text, "}");
            int code = bed_run(b, text_of(&text), NULL, NULL, 0);
            CHECK(code == FENEC_OK || code == FENEC_DUPLICATE);
            buffer_clear(&text);
        }
}

static char *described(bed *b)
{
    CHECK_INT(schema(b, DESCRIBE, ""), FENEC_OK);
    return strdup(b->answer);
}

/* What DESCRIBE tells is the schema: it plans nothing here and makes the same elsewhere. */
static void check_describe(bed *b)
{
    char *told = described(b);
    bed other;

    CHECK_INT(schema(b, PLAN, told), FENEC_OK);
    CHECK_TEXT(b->answer, NOTHING);
    bed_open(&other);
    CHECK_INT(schema(&other, APPLY, told), FENEC_OK);
    char *again = described(&other);
    CHECK_TEXT(again, told);
    free(told);
    free(again);
    bed_close(&other);
}

TEST(schema_random_a_applied_random_b_planned)
{
    uint64_t state = test_seed();

    for (long round = test_scale(150, 5000); round > 0; round--) {
        random_schema a, b;
        buffer text, other, want, adds, got;
        bed d;

        buffer_init(&text), buffer_init(&other), buffer_init(&want), buffer_init(&adds), buffer_init(&got);
        draw_schema(&state, &a);
        if (draw(&state, 3))
            vary_schema(&state, &a, &b);
        else
            draw_schema(&state, &b);
        bed_open(&d);
        spell_schema(&a, &text);
        CHECK_INT(schema_of(&d, APPLY, text_of(&text), ""), FENEC_OK);
        CHECK_INT(refusal_count(&d), 0);
        CHECK(text.len == 0 || strstr(d.answer, "\"applied\":true"));
        CHECK_INT(schema_of(&d, APPLY, text_of(&text), ""), FENEC_OK);
        CHECK_TEXT(d.answer, NOTHING);
        check_describe(&d);
        put_some(&d, &a, &state);

        long before = seq(&d);
        char *told = described(&d);
        spell_schema(&b, &other);
        expect_all(&a, &b, &want, &adds);
        CHECK_INT(schema_of(&d, PLAN, text_of(&other), ""), FENEC_OK);
        read_refusals(&d, &got);
        CHECK_TEXT(text_of(&got), text_of(&want));
        got.len = 0;
        read_additions(&d, &got);
        CHECK_TEXT(text_of(&got), text_of(&adds));
        CHECK_INT(seq(&d), before);

        int code = schema_of(&d, APPLY, text_of(&other), "");
        CHECK(code == FENEC_OK || code == FENEC_DUPLICATE);
        bool applied = code == FENEC_OK && strstr(d.answer, "\"applied\":true");
        CHECK_INT(code == FENEC_OK && applied, code == FENEC_OK && want.len == 0 && adds.len > 0);
        CHECK_INT(seq(&d) > before, applied);
        if (applied) {
            CHECK_INT(schema_of(&d, APPLY, text_of(&other), ""), FENEC_OK);
            CHECK_TEXT(d.answer, NOTHING);
            check_describe(&d);
        } else {
            char *still = described(&d);
            CHECK_TEXT(still, told);
            free(still);
        }
        free(told);
        bed_close(&d);
        buffer_clear(&text), buffer_clear(&other), buffer_clear(&want), buffer_clear(&adds), buffer_clear(&got);
    }
}
