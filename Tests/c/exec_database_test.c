#include <sqlite3.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/thread.h"
#include "catalog/catalog.h"
#include "exec_bed.h"
#include "store/conn.h"
#include "test_vfs.h"

/* A database in a file of this test. */
static void open_file(bed *b, const char *name, uint32_t flags)
{
    char file[300];

    snprintf(file, sizeof file, "%s/%s", test_folder(), name);
    *b = (bed){0};
    error_init(&b->err);
    int code = database_open(&b->d, (const uint8_t *)file, strlen(file), flags, &b->err);
    if (code)
        test_failed(__FILE__, __LINE__, "open %s: %d %s", name, code, b->err.message);
}

static uint64_t seq_of(bed *b)
{
    buffer out;

    buffer_init(&out);
    CHECK_INT(database_changes(b->d, UINT64_MAX, &out, &b->err), FENEC_OK);
    buffer_byte(&out, 0);
    uint64_t seq = strtoull((char *)out.bytes + strlen("{\"seq\":"), NULL, 10);
    buffer_clear(&out);
    return seq;
}

/* ---- texts of several statements ---- */

TEST(a_text_of_several_statements_is_one_block)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection acc (name text @unique, bal int)");
    bed_do(&b, "put acc [{name: 'a', bal: 100}, {name: 'b', bal: 0}]");
    CHECK_CODE(&b, "set acc {bal: bal - 30} where name = 'a' and bal >= 30 require 1;"
                   "set acc {bal: bal + 30} where name = 'ghost' require 1", FENEC_UNMET);
    CHECK_INT(b.err.at, 1);
    CHECK_ROWS(&b, "get acc select name, bal", "{\"name\":\"a\",\"bal\":100},{\"name\":\"b\",\"bal\":0}");
    CHECK_CODE(&b, "put acc {bal: 'x'}", FENEC_TYPE);
    CHECK_INT(b.err.at, -1);
    CHECK_CODE(&b, "get acc; get ghost", FENEC_NOT_FOUND);
    CHECK_INT(b.err.at, 1);
    CHECK_CODE(&b, "put acc {bal: 1} get acc where", FENEC_QUERY);
    CHECK_INT(b.err.at, -1);
    CHECK_ROWS(&b, "put acc {name: 'c', bal: 1}; set acc {bal: bal + 1} where name = 'c'; get acc where name = 'c'",
               "{\"id\":3,\"name\":\"c\",\"bal\":2}");
    CHECK_ROWS(&b, "get acc; get acc count", "{\"count\":3}");
    CHECK_INT(bed_run(&b, " -- nothing\n ; ", NULL, NULL, 0), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"ok\",\"message\":\"empty\"}");
    bed_close(&b);
}

TEST(schema_statements_of_a_block_land_or_are_put_back_together)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a int, m json); put t [{a: 1, m.k: 'x'}, {a: 2}];"
               "create index on t (a) @unique; create index on t (m.k) @hash; alter collection t add s text @sorted;"
               "put t {a: 3, s: 'n'}");
    CHECK_ROWS(&b, "get t where s is null order s", "{\"id\":1,\"a\":1,\"m\":{\"k\":\"x\"},\"s\":null},"
                                                    "{\"id\":2,\"a\":2,\"m\":null,\"s\":null}");
    uint64_t before = seq_of(&b);
    CHECK_CODE(&b, "drop collection t; create collection t (z int); put t {z: 1}; get ghost", FENEC_NOT_FOUND);
    CHECK_INT(b.err.at, 3);
    CHECK_CODE(&b, "alter collection t drop a; alter collection t rename m to n; put t {n.k: 1, a: 2}",
               FENEC_NOT_FOUND);
    CHECK_CODE(&b, "create index on t (a) @hash", FENEC_EXISTS);
    CHECK_CODE(&b, "alter collection t drop a; put t {m.k: 5}; create index on t (m.k) @hash", FENEC_EXISTS);
    CHECK_INT(seq_of(&b), before);
    CHECK_CODE(&b, "put t {a: 3}", FENEC_DUPLICATE);
    CHECK_ROWS(&b, "get t where a = 2 select id, m.k", "{\"id\":2,\"m.k\":null}");
    CHECK_ROWS(&b, "get t where m.k = 'x' select id", "{\"id\":1}");
    bed_close(&b);
}

TEST(a_text_with_compact_runs_statement_by_statement)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection card (front text, n int @unique)");
    CHECK_CODE(&b, "put card {front: 'a', n: 5}; compact card; put card {front: 'b', n: 5}", FENEC_DUPLICATE);
    CHECK_INT(b.err.at, 2);
    CHECK_ROWS(&b, "get card select front", "{\"front\":\"a\"}");
    CHECK_CODE(&b, "compact ghost", FENEC_NOT_FOUND);
    CHECK_ROWS(&b, "put card {n: 6}; compact card; create index on card (front) @hash; get card count",
               "{\"count\":2}");
    bed_close(&b);
}

/* ---- parameters ---- */

static size_t entry(uint8_t *to, uint32_t place, uint32_t count, const float *components)
{
    bytes_put_u32(to, place);
    bytes_put_u32(to + 4, count);
    for (uint32_t i = 0; i < count; i++)
        bytes_put_f32(to + 8 + 4 * i, components[i]);
    return 8 + 4 * (size_t)count;
}

TEST(vectors_are_laid_over_nulls_of_the_parameters)
{
    const float e[] = {1.5f, -2.0f};
    uint8_t vectors[64];
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection v (n int, e vector<2>)");
    size_t len = entry(vectors, 1, 2, e);
    CHECK_INT(bed_run(&b, "put v {n: $1, e: $2}", "[7,null]", vectors, len), FENEC_OK);
    CHECK_ROWS(&b, "get v", "{\"id\":1,\"n\":7,\"e\":[1.5,-2]}");

    CHECK_INT(bed_run(&b, "put v {e: $2}", "[null]", vectors, len), FENEC_QUERY);      /* no such place */
    CHECK_INT(bed_run(&b, "put v {e: $2}", "", vectors, len), FENEC_QUERY);            /* no parameters */
    CHECK_INT(bed_run(&b, "put v {e: $2}", "[1,[1,2]]", vectors, len), FENEC_QUERY);   /* not null there */
    CHECK_INT(bed_run(&b, "put v {e: $2}", "[1,null]", vectors, len - 1), FENEC_QUERY); /* cut short */
    CHECK_INT(bed_run(&b, "put v {e: $2}", "[1,null]", vectors, len + 3), FENEC_QUERY); /* left over */
    bytes_put_u32(vectors + 4, 0xFFFFFFFFu);
    CHECK_INT(bed_run(&b, "put v {e: $2}", "[1,null]", vectors, len), FENEC_QUERY);
    len = entry(vectors, 1, 2, e);
    len += entry(vectors + len, 1, 2, e);
    CHECK_INT(bed_run(&b, "put v {e: $2}", "[1,null]", vectors, len), FENEC_QUERY); /* filled already */
    len = entry(vectors, 0, 1, e);
    CHECK_INT(bed_run(&b, "put v {e: $1}", "[null]", vectors, len), FENEC_TYPE); /* the statement's own error */
    /* Before the text is parsed. */
    CHECK_INT(bed_run(&b, "put v {", "[null]", vectors, 5), FENEC_QUERY);
    CHECK(strstr(b.answer, "vector") != NULL);
    CHECK_INT(bed_run(&b, "put v {", "[1,", NULL, 0), FENEC_QUERY);
    CHECK_ROWS(&b, "get v count", "{\"count\":1}");
    bed_close(&b);
}

TEST(parameters_needed_with_every_digit_are_asked_for_before_anything_runs)
{
    const float e[] = {0.5f, 2.0f};
    uint8_t vectors[64];
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection note (meta json, e vector<2>)");
    size_t len = entry(vectors, 0, 2, e);
    len += entry(vectors + len, 1, 2, e);
    CHECK_INT(bed_run(&b, "put note {e: $1}; put note {meta: $2}", "[null,null]", vectors, len), FENEC_QUERY);
    CHECK_INT(b.err.exact_count, 1);
    CHECK_INT(b.err.exact[0], 1);
    CHECK_INT(b.err.at, -1);
    CHECK_INT(bed_run(&b, "put note {e: $1}; compact note; put note {meta: $2}", "[null,null]", vectors, len),
              FENEC_QUERY);
    CHECK_INT(b.err.exact_count, 1);
    CHECK_INT(b.err.at, -1);
    CHECK_ROWS(&b, "get note count", "{\"count\":0}");
    len = entry(vectors, 0, 2, e);
    CHECK_INT(bed_run(&b, "put note {e: $1, meta: $2}", "[null,[0.1,123456789]]", vectors, len), FENEC_OK);
    CHECK_ROWS(&b, "get note", "{\"id\":1,\"meta\":[0.1,123456789],\"e\":[0.5,2]}");
    bed_close(&b);
}

TEST(a_repeated_text_follows_the_schema)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int)");
    for (int i = 0; i < 3; i++)
        CHECK_INT(bed_run(&b, "put t {n: $1}", "[1]", NULL, 0), FENEC_OK);
    bed_do(&b, "alter collection t rename n to k");
    CHECK_INT(bed_run(&b, "put t {n: $1}", "[1]", NULL, 0), FENEC_NOT_FOUND);
    bed_do(&b, "alter collection t add n text");
    CHECK_INT(bed_run(&b, "put t {n: $1}", "[1]", NULL, 0), FENEC_TYPE);
    CHECK_INT(bed_run(&b, "put t {n: $1}", "[\"x\"]", NULL, 0), FENEC_OK);
    bed_do(&b, "drop collection t");
    CHECK_INT(bed_run(&b, "put t {n: $1}", "[\"x\"]", NULL, 0), FENEC_NOT_FOUND);
    bed_do(&b, "create collection t (n int)");
    CHECK_INT(bed_run(&b, "put t {n: $1}", "[1]", NULL, 0), FENEC_OK);
    CHECK_ROWS(&b, "get t", "{\"id\":1,\"n\":1}");
    bed_close(&b);
}

/* More texts than the cache holds, some longer than it takes. */
TEST(many_different_texts_answer_as_they_should)
{
    static char text[20000];
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int)");
    for (int i = 0; i < 1200; i++) {
        snprintf(text, sizeof text, "put t {n: %d}", i % 600);
        bed_do(&b, text);
    }
    memset(text, ' ', sizeof text);
    snprintf(text + sizeof text - 40, 40, "get t where n = 5 select id");
    CHECK_ROWS(&b, text, "{\"id\":6},{\"id\":606}");
    CHECK_ROWS(&b, text, "{\"id\":6},{\"id\":606}");
    bed_close(&b);
}

/* ---- indexes ---- */

TEST(create_index_beside_the_database_finds_all_rows)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int, s text, at timestamp, m json)");
    for (int i = 0; i < 25; i++) {
        char text[9000], *to = text + sprintf(text, "put t [");
        for (int k = 0; k < 100; k++) {
            int n = i * 100 + k;
            to += sprintf(to, "{n: %d, s: 's%d', at: %d, m.k: %d},", n, n % 7, n, n);
        }
        strcpy(to, "]");
        bed_do(&b, text);
    }
    uint64_t before = seq_of(&b);
    bed_do(&b, "create index on t (n) @unique");
    CHECK_INT(seq_of(&b), before + 1);
    bed_do(&b, "create index on t (s) @hash");
    bed_do(&b, "create index on t (m.k) @sorted");
    bed_do(&b, "create index on t (at) @ttl(100000d)");
    CHECK_ROWS(&b, "get t where n = 2400 select id", "{\"id\":2401}");
    CHECK_ROWS(&b, "get t where s = 's3' and id > 2490 select id", "{\"id\":2496}"); /* 2495 % 7 = 3 */
    CHECK_ROWS(&b, "get t order m.k desc limit 2 select n", "{\"n\":2499},{\"n\":2498}");
    CHECK_CODE(&b, "put t {n: 17}", FENEC_DUPLICATE);
    bed_do(&b, "set t {s: 'dup'} where id = 2400 or id = 1200");
    bed_do(&b, "alter collection t add u text");
    bed_do(&b, "set t {u: s} where s = 'dup'");
    CHECK_CODE(&b, "create index on t (u) @unique", FENEC_DUPLICATE);
    CHECK(strstr(b.answer, "1200") && strstr(b.answer, "2400") && strstr(b.answer, "dup"));
    CHECK_INT(bed_run(&b, "describe t", NULL, NULL, 0), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"schemas\",\"collections\":[{\"name\":\"t\",\"fields\":["
                         "{\"name\":\"n\",\"type\":\"int\",\"index\":\"unique\"},"
                         "{\"name\":\"s\",\"type\":\"text\",\"index\":\"hash\"},"
                         "{\"name\":\"at\",\"type\":\"timestamp\",\"index\":\"ttl(100000d)\"},"
                         "{\"name\":\"m\",\"type\":\"json\",\"index\":\"none\"},"
                         "{\"name\":\"u\",\"type\":\"text\",\"index\":\"none\"}],"
                         "\"paths\":[{\"name\":\"m.k\",\"type\":\"json\",\"index\":\"sorted\"}]}]}");
    CHECK_INT(bed_run(&b, "create index on t (u) @hash", NULL, NULL, 0), FENEC_OK);
    bed_close(&b);
}

TEST(indexes_of_later_chapters_are_declared_and_described)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (e vector<2> @hnsw(l2), g geo @geo, s text @text, z sparse<9> @inverted,"
               " c text collate tr @sorted)");
    bed_do(&b, "put t [{e: [1, 2], g: [3, 4], s: 'x', z: '{1:2}/9', c: 'b'}, {c: 'a'}]");
    CHECK_INT(bed_run(&b, "collections", NULL, NULL, 0), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"schemas\",\"collections\":[{\"name\":\"t\",\"fields\":["
                         "{\"name\":\"e\",\"type\":\"vector<2>\",\"index\":\"hnsw(l2, m=16)\"},"
                         "{\"name\":\"g\",\"type\":\"geo\",\"index\":\"geo\"},"
                         "{\"name\":\"s\",\"type\":\"text\",\"index\":\"text(k1=0.9, b=0.4)\"},"
                         "{\"name\":\"z\",\"type\":\"sparse<9>\",\"index\":\"inverted\"},"
                         "{\"name\":\"c\",\"type\":\"text\",\"index\":\"sorted\"}]}]}");
    CHECK_ROWS(&b, "get t order c select id", "{\"id\":2},{\"id\":1}");
    bed_close(&b);
}

/* ---- another open ---- */

TEST(an_open_finds_what_a_close_left)
{
    for (uint32_t flags = 0; flags <= FENEC_OPEN_NO_SYNC; flags++) {
        char name[32];
        bed b;

        snprintf(name, sizeof name, "again%u.db", flags);
        open_file(&b, name, flags);
        bed_do(&b, "create collection b (n int @unique, s text required)");
        bed_do(&b, "create collection a (m json, at timestamp @ttl(2h))");
        bed_do(&b, "create index on a (m.x) @hash");
        bed_do(&b, "put b [{n: 1, s: 'x'}, {n: 2, s: 'y'}]");
        bed_do(&b, "del b where n = 2");
        bed_do(&b, "create collection gone (n int); put gone {n: 1}; drop collection gone");
        bed_do(&b, "alter collection a add z int; alter collection a drop z");
        uint64_t seq = seq_of(&b);
        bed_close(&b);

        open_file(&b, name, flags);
        CHECK_INT(seq_of(&b), seq);
        CHECK_INT(bed_run(&b, "collections", NULL, NULL, 0), FENEC_OK);
        CHECK_TEXT(b.answer, "{\"kind\":\"schemas\",\"collections\":["
                             "{\"name\":\"b\",\"fields\":[{\"name\":\"n\",\"type\":\"int\",\"index\":\"unique\"},"
                             "{\"name\":\"s\",\"type\":\"text\",\"index\":\"none\"}]},"
                             "{\"name\":\"a\",\"fields\":[{\"name\":\"m\",\"type\":\"json\",\"index\":\"none\"},"
                             "{\"name\":\"at\",\"type\":\"timestamp\",\"index\":\"ttl(2h)\"}],"
                             "\"paths\":[{\"name\":\"m.x\",\"type\":\"json\",\"index\":\"hash\"}]}]}");
        CHECK_CODE(&b, "put b {n: 1, s: 'z'}", FENEC_DUPLICATE);
        CHECK_CODE(&b, "put b {n: 9}", FENEC_TYPE);
        CHECK_ROWS(&b, "put b {n: 3, s: 'z'} returning id", "{\"id\":3}");
        CHECK_INT(seq_of(&b), seq + 1);
        bed_close(&b);
    }
}

TEST(compact_takes_values_of_dropped_fields_away)
{
    char text[5100], big[5001];
    bed b;

    open_file(&b, "compact.db", FENEC_OPEN_NO_SYNC);
    memset(big, 'v', 5000);
    big[5000] = 0;
    bed_do(&b, "create collection t (n int @sorted, old text, also text, keep text)");
    bed_do(&b, "create collection other (n int)");
    for (int i = 0; i < 600; i++) {
        snprintf(text, sizeof text, "put t {n: %d, old: '%s', also: 'also', keep: 'k%d'}", i,
                 i % 10 ? "short" : big, i);
        bed_do(&b, text);
    }
    bed_do(&b, "alter collection t drop old; alter collection t drop also");
    uint64_t before = seq_of(&b);
    bed_do(&b, "compact t");
    bed_do(&b, "compact");
    CHECK_INT(seq_of(&b), before);
    CHECK_ROWS(&b, "get t where n >= 598", "{\"id\":599,\"n\":598,\"keep\":\"k598\"},"
                                           "{\"id\":600,\"n\":599,\"keep\":\"k599\"}");
    bed_do(&b, "alter collection t add old text");
    CHECK_ROWS(&b, "get t where old is not null or n is null", "");
    bed_close(&b);
    open_file(&b, "compact.db", 0);
    CHECK_ROWS(&b, "get t where n = 10", "{\"id\":11,\"n\":10,\"keep\":\"k10\",\"old\":null}");
    bed_close(&b);
}

/* An index left unfinished: as a process that ended in the middle of a build leaves it. */
TEST(an_open_drops_an_index_that_was_left_unfinished)
{
    char file[300];
    store_options options = {.path = (const uint8_t *)file};
    uint64_t ticket;
    uint32_t number;
    version *v;
    store *s;
    conn *c;
    bed b;

    open_file(&b, "unfinished.db", 0);
    bed_do(&b, "create collection t (n int); put t [{n: 1}, {n: 1}]");
    bed_close(&b);

    snprintf(file, sizeof file, "%s/unfinished.db", test_folder());
    options.path_len = strlen(file);
    CHECK_INT(store_open(&s, &options, &b.err), FENEC_OK);
    CHECK_INT(store_write(s, true, &c, &v, &b.err), FENEC_OK);
    catalog *cat, *next;
    CHECK_INT(catalog_load(c, &cat, &b.err), FENEC_OK);
    const value part = value_text("n", 1);
    const path on = {.text = "n", .text_len = 1, .part_count = 1, .parts = &part};
    const index_spec unique = {.kind = INDEX_UNIQUE};
    CHECK_INT(catalog_add_index(cat, c, cat->collections[0], &on, &unique, INDEX_BUILDING, &next, &number, &b.err),
              FENEC_OK);
    CHECK_INT(entries_put(c, table_index(number), (const uint8_t *)"k", 1, 1, &b.err), FENEC_OK);
    version_drop(&cat->head);
    CHECK_INT(store_write_commit(c, &next->head, &ticket, &b.err), FENEC_OK);
    CHECK_INT(store_wait(s, ticket, &b.err), FENEC_OK);
    CHECK_INT(store_close(s, &b.err), FENEC_OK);
    store_free(s);

    open_file(&b, "unfinished.db", 0);
    bed_do(&b, "put t {n: 1}");
    bed_do(&b, "create index on t (n) @hash");
    CHECK_ROWS(&b, "get t where n = 1 select id", "{\"id\":1},{\"id\":2},{\"id\":3}");
    bed_close(&b);
}

TEST(a_catalog_that_cannot_be_read_is_corrupt)
{
    char file[300];
    store_options options = {.path = (const uint8_t *)file};
    uint64_t ticket;
    version *v;
    store *s;
    conn *c;
    bed b;

    for (int round = 0; round < 4; round++) {
        open_file(&b, "corrupt.db", 0);
        bed_do(&b, "create collection if not exists t (n int)");
        bed_close(&b);
        snprintf(file, sizeof file, "%s/corrupt.db", test_folder());
        options.path_len = strlen(file);
        CHECK_INT(store_open(&s, &options, &b.err), FENEC_OK);
        CHECK_INT(store_write(s, true, &c, &v, &b.err), FENEC_OK);
        const uint8_t junk[] = "junkjunk";
        if (round == 0)
            rows_put(c, table_catalog(), 1, junk, 6, &b.err);
        else if (round == 1)
            rows_put(c, table_catalog(), -5, junk, 6, &b.err);
        else if (round == 2)
            rows_put(c, table_meta(), META_NUMBERS, junk, 3, &b.err);
        else
            rows_put(c, table_meta(), META_CHANGES, junk, 3, &b.err);
        CHECK_INT(store_write_commit(c, NULL, &ticket, &b.err), FENEC_OK);
        CHECK_INT(store_close(s, &b.err), FENEC_OK);
        store_free(s);
        CHECK_INT(database_open(&b.d, (const uint8_t *)file, strlen(file), 0, &b.err), FENEC_CORRUPT);
        CHECK_INT(database_open(&b.d, (const uint8_t *)file, strlen(file), 0, &b.err), FENEC_CORRUPT); /* let go */
        unlink(file);
        strcat(file, "-wal");
        unlink(file);
    }
}

/* ---- memory that runs out ---- */

/* Every allocation fails once: the answer is PANIC, nothing is written, and the handle stays usable. */
static void fail_each_allocation(const char *setup, const char *text, const char *params, const char *check,
                                 uint32_t flags)
{
    bool done = false;

    for (long n = 0; !done; n++) {
        char *before;
        bed b;

        if (flags == UINT32_MAX) {
            bed_open(&b);
        } else {
            char file[300];
            snprintf(file, sizeof file, "%s/panic.db", test_folder());
            unlink(file);
            open_file(&b, "panic.db", flags);
        }
        bed_do(&b, setup);
        CHECK_INT(bed_run(&b, check, NULL, NULL, 0), FENEC_OK);
        before = b.answer;
        b.answer = NULL;
        uint64_t seq = seq_of(&b);
        memory_fail_after(n);
        int code = bed_run(&b, text, params, NULL, 0);
        memory_fail_after(-1);
        done = code == FENEC_OK && b.answer;
        if (!done) {
            CHECK(code == FENEC_PANIC || (code == FENEC_OK && !b.answer));
            if (code != FENEC_OK) {
                CHECK_INT(seq_of(&b), seq);
                CHECK_INT(bed_run(&b, check, NULL, NULL, 0), FENEC_OK);
                CHECK_TEXT(b.answer, before);
                CHECK_INT(bed_run(&b, text, params, NULL, 0), FENEC_OK);
            }
        }
        memory_free(before);
        bed_close(&b);
    }
}

TEST(writes_survive_memory_that_runs_out)
{
    static const uint32_t flags[] = {UINT32_MAX, FENEC_OPEN_NO_SYNC};
    const char *setup = "create collection t (k text @unique, n int @sorted, m json, e vector<2>);"
                        "create index on t (m.a) @hash; put t [{k: 'a', n: 1, m.a: 1}, {k: 'b', n: 2}]";

    for (int i = 0; i < 2; i++) {
        fail_each_allocation(setup, "put t {k: $1, n: 3, m: $2, e: [1, 2]}", "[\"c\",{\"a\":2}]", "get t", flags[i]);
        fail_each_allocation(setup, "put t $1", "[[{\"k\":\"d\",\"m.a\":4},{\"n\":7}]]", "get t", flags[i]);
        fail_each_allocation(setup, "set t {n: n + 1, m.b: k} order n desc returning *", NULL, "get t", flags[i]);
        fail_each_allocation(setup, "put t {k: 'a', n: 5} if absent else set {n: new.n} returning n", NULL,
                             "get t", flags[i]);
        fail_each_allocation(setup, "del t where k = 'b'; put t {k: 'b'}; get t", NULL, "get t", flags[i]);
        fail_each_allocation(setup, "create collection u (x int @unique); put u {x: 1};"
                                    "alter collection t add q int @sorted; alter collection t drop m", NULL,
                             "collections", flags[i]);
        fail_each_allocation(setup, "create index on t (e) @hash", NULL, "collections", flags[i]);
        fail_each_allocation(setup, "drop collection t", NULL, "collections", flags[i]);
    }
}

TEST(open_survives_memory_that_runs_out)
{
    char file[300];
    bed b;

    open_file(&b, "low.db", 0);
    bed_do(&b, "create collection t (k text @unique, m json); create index on t (m.a) @hash; put t {k: 'x'}");
    bed_close(&b);
    snprintf(file, sizeof file, "%s/low.db", test_folder());
    for (long n = 0;; n++) {
        memory_fail_after(n);
        int code = database_open(&b.d, (const uint8_t *)file, strlen(file), 0, &b.err);
        memory_fail_after(-1);
        if (code == FENEC_OK)
            break;
        CHECK_INT(code, FENEC_PANIC);
    }
    b.answer = NULL;
    CHECK_ROWS(&b, "get t select k", "{\"k\":\"x\"}");
    bed_close(&b);
}

/* ---- several threads ---- */

enum { WRITERS = 4, PUTS = 200 };

typedef struct worker {
    thread thread;
    database *d;
    int number, failures;
    _Atomic(bool) *stop;
} worker;

static int run_text(database *d, const char *text, buffer *out)
{
    error err;

    error_init(&err);
    out->len = 0;
    int code = database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, out, &err);
    buffer_byte(out, 0);
    return code;
}

static void put_many(void *argument)
{
    worker *w = argument;
    char text[200];
    buffer out;

    buffer_init(&out);
    for (int i = 0; i < PUTS; i++) {
        snprintf(text, sizeof text, "put t {w: %d, i: %d}; set sum {n: n + 1} require 1", w->number, i);
        w->failures += run_text(w->d, text, &out) != FENEC_OK;
        if (i % 5 == 0) { /* a value let go of and taken again */
            snprintf(text, sizeof text, "set t {i: i} where w = %d and i = %d require 1", w->number, i);
            w->failures += run_text(w->d, text, &out) != FENEC_OK;
        }
    }
    buffer_clear(&out);
}

static void read_many(void *argument)
{
    worker *w = argument;
    buffer out, changes;
    error err;

    buffer_init(&out);
    buffer_init(&changes);
    while (!atomic_load(w->stop)) {
        w->failures += run_text(w->d, "get t count", &out) != FENEC_OK;
        changes.len = 0;
        w->failures += database_changes(w->d, 0, &changes, &err) != FENEC_OK;
        w->failures += run_text(w->d, "get sum; get t where w < 0", &out) != FENEC_OK;
    }
    buffer_clear(&out);
    buffer_clear(&changes);
}

static void threads_share(uint32_t flags, const char *name)
{
    static const char *const indexes[] = {"create index on t (i) @sorted", "create index on t (w) @hash",
                                          "create index on t (both) @unique"};
    _Atomic(bool) stop = false;
    worker writers[WRITERS], reader = {.stop = &stop};
    uint64_t violations = lock_order_violations();
    char text[100];
    bed b;

    open_file(&b, name, flags);
    bed_do(&b, "create collection t (w int, i int, both text); create collection sum (n int); put sum {n: 0}");
    for (int i = 0; i < 3000; i += 100) {
        char *many = malloc(10000), *to = many + sprintf(many, "put t [");
        for (int k = 0; k < 100; k++)
            to += sprintf(to, "{w: 99, i: %d, both: 'b%d'},", i + k, i + k);
        strcpy(to, "]");
        bed_do(&b, many);
        free(many);
    }
    uint64_t before = seq_of(&b);
    reader.d = b.d;
    CHECK(thread_start(&reader.thread, read_many, &reader));
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (worker){.d = b.d, .number = i};
        CHECK(thread_start(&writers[i].thread, put_many, &writers[i]));
    }
    for (int i = 0; i < 3; i++)
        bed_do(&b, indexes[i]);
    for (int i = 0; i < WRITERS; i++) {
        thread_join(&writers[i].thread);
        CHECK_INT(writers[i].failures, 0);
    }
    atomic_store(&stop, true);
    thread_join(&reader.thread);
    CHECK_INT(reader.failures, 0);
    CHECK_INT(seq_of(&b), before + 3 + WRITERS * (PUTS * 2 + PUTS / 5));
    snprintf(text, sizeof text, "{\"id\":1,\"n\":%d}", WRITERS * PUTS);
    CHECK_ROWS(&b, "get sum", text);
    /* What an index finds is what a scan finds. */
    snprintf(text, sizeof text, "{\"count\":%d}", PUTS);
    for (int i = 0; i < WRITERS; i++) {
        char query[80];
        snprintf(query, sizeof query, "get t where w = %d count", i);
        CHECK_ROWS(&b, query, text);
        snprintf(query, sizeof query, "get t where w + 0 = %d count", i);
        CHECK_ROWS(&b, query, text);
    }
    snprintf(text, sizeof text, "{\"count\":%d}", WRITERS + 1);
    CHECK_ROWS(&b, "get t where i = 150 count", text);
    CHECK_ROWS(&b, "get t where i + 0 = 150 count", text);
    CHECK_CODE(&b, "put t {both: 'b2999'}", FENEC_DUPLICATE);
    CHECK_INT(lock_order_violations() - violations, 0);
    bed_close(&b);
}

TEST(threads_write_read_and_build_indexes_at_once)
{
    threads_share(0, "threads.db");
    threads_share(FENEC_OPEN_NO_SYNC, "threads_no_sync.db");
}

/* Unique values that writers bring in twice while the index is built. */
typedef struct doubler {
    thread thread;
    database *d;
    _Atomic(bool) *stop;
} doubler;

static void double_values(void *argument)
{
    doubler *w = argument;
    buffer out;

    buffer_init(&out);
    while (!atomic_load(w->stop))
        run_text(w->d, "set t {n: 5} where id = 7; set t {n: 7} where id = 7", &out);
    run_text(w->d, "set t {n: 5} where id = 7", &out);
    buffer_clear(&out);
}

TEST(a_unique_index_built_beside_writers_lets_no_value_in_twice)
{
    for (int round = 0; round < 6; round++) {
        _Atomic(bool) stop = false;
        doubler w = {.stop = &stop};
        bed b;

        bed_open(&b);
        bed_do(&b, "create collection t (n int)");
        for (int i = 0; i < 5000; i += 500) {
            char *many = malloc(20000), *to = many + sprintf(many, "put t [");
            for (int k = 1; k <= 500; k++)
                to += sprintf(to, "{n: %d},", i + k);
            strcpy(to, "]");
            bed_do(&b, many);
            free(many);
        }
        w.d = b.d;
        CHECK(thread_start(&w.thread, double_values, &w));
        int code = bed_run(&b, "create index on t (n) @unique", NULL, NULL, 0);
        atomic_store(&stop, true);
        thread_join(&w.thread);
        if (code == FENEC_OK)
            CHECK_ROWS(&b, "get t where n = 5 select id", "{\"id\":5}");
        else
            CHECK_INT(code, FENEC_DUPLICATE);
        bed_close(&b);
    }
}

static void alter_often(void *argument)
{
    doubler *w = argument;
    buffer out;
    int n = 0;

    buffer_init(&out);
    while (!atomic_load(w->stop)) {
        char text[100];
        snprintf(text, sizeof text, "alter collection t rename x%d to x%d", n, n + 1);
        if (run_text(w->d, text, &out) == FENEC_OK)
            n++;
    }
    buffer_clear(&out);
}

TEST(a_schema_change_makes_a_build_beside_it_fail_and_leave_nothing)
{
    _Atomic(bool) stop = false;
    doubler w = {.stop = &stop};
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (n int, x0 int)");
    for (int i = 0; i < 8000; i += 500) {
        char *many = malloc(20000), *to = many + sprintf(many, "put t [");
        for (int k = 1; k <= 500; k++)
            to += sprintf(to, "{n: %d},", i + k);
        strcpy(to, "]");
        bed_do(&b, many);
        free(many);
    }
    w.d = b.d;
    CHECK(thread_start(&w.thread, alter_often, &w));
    int code = bed_run(&b, "create index on t (n) @unique", NULL, NULL, 0);
    atomic_store(&stop, true);
    thread_join(&w.thread);
    if (code != FENEC_OK) {
        CHECK_INT(code, FENEC_QUERY);
        CHECK(strstr(b.answer, "again") != NULL);
        bed_do(&b, "create index on t (n) @hash");
    }
    CHECK_ROWS(&b, "get t where n = 7777 select id", "{\"id\":7777}");
    bed_close(&b);
}

/* ---- a disk that fails, power that goes ---- */

static int open_disk(bed *b, test_disk *disk, bool no_sync)
{
    const store_options options = {
        .path = (const uint8_t *)"/d.fenec", .path_len = 8, .no_sync = no_sync, .vfs = test_disk_vfs(disk)};

    *b = (bed){0};
    error_init(&b->err);
    return database_open_with(&b->d, &options, &b->err);
}

static void close_disk(bed *b)
{
    memory_free(b->answer);
    database_close(b->d, &b->err);
    database_free(b->d);
}

/* Every block writes both collections: rows of both, the counter and the ids tell how many landed. */
static const char make_pair[] = "create collection a (n int @unique); create collection b (n int @sorted)";
static const char put_pair[] = "put a {n: $1}; put b {n: $1}; del b where n = $1; put b {n: $1}";

/* What a disk holds is the state after some block; *blocks is which. */
static void check_pair(bed *b, long *blocks)
{
    char text[100];

    if (bed_run(b, "get a count", NULL, NULL, 0) == FENEC_NOT_FOUND) {
        *blocks = -1;
        CHECK_INT(seq_of(b), 0);
        return;
    }
    *blocks = strtol(strstr(b->answer, "\"count\":") + 8, NULL, 10);
    snprintf(text, sizeof text, "{\"count\":%ld}", *blocks);
    CHECK_ROWS(b, "get b count", text);
    CHECK_ROWS(b, "get b where n >= 1 count", text);
    CHECK_INT(seq_of(b), 2 + 4 * *blocks);
    snprintf(text, sizeof text, "{\"id\":%ld}", 2 * *blocks + 1);
    CHECK_ROWS(b, "put b {n: 0} returning id", text);
    snprintf(text, sizeof text, "{\"id\":%ld}", *blocks + 1);
    CHECK_ROWS(b, "put a {n: 0} returning id", text);
    if (*blocks) {
        snprintf(text, sizeof text, "[%ld]", *blocks);
        CHECK_INT(bed_run(b, "put a {n: $1}", text, NULL, 0), FENEC_DUPLICATE);
    }
}

/* Buffered blocks are lost where the first read hands them to a disk that is full. */
TEST(reads_go_on_where_the_first_buffered_blocks_are_lost)
{
    for (int there = 0; there < 2; there++) {
        test_disk *disk = test_disk_new();
        bed b;

        if (there) { /* a file of an earlier time */
            CHECK_INT(open_disk(&b, disk, false), FENEC_OK);
            bed_do(&b, make_pair);
            close_disk(&b);
        }
        CHECK_INT(open_disk(&b, disk, true), FENEC_OK);
        bed_do(&b, there ? "put a {n: 1}" : make_pair);
        test_disk_fail(disk, DISK_WRITE, NULL, 1, SQLITE_FULL, true);
        if (there)
            CHECK_ROWS(&b, "get a count", "{\"count\":0}");
        else
            CHECK_INT(bed_run(&b, "get a", NULL, NULL, 0), FENEC_NOT_FOUND);
        CHECK_INT(bed_run(&b, "put a {n: 1}", NULL, NULL, 0), FENEC_IO);
        test_disk_heal(disk);
        close_disk(&b);
        test_disk_free(disk);
    }
}

/* What a search reads from the file then is a version of no block. */
TEST(searches_read_their_indexes_where_no_writes_are_taken_any_more)
{
    for (int no_sync = 0; no_sync < 2; no_sync++) {
        test_disk *disk = test_disk_new();
        bed b;

        CHECK_INT(open_disk(&b, disk, false), FENEC_OK);
        bed_do(&b, "create collection s (t text @text, e vector<2> @hnsw, p sparse<9> @inverted)");
        bed_do(&b, "put s {t: \"swan\", e: [1, 0], p: \"{1:1}/9\"}");
        close_disk(&b);
        CHECK_INT(open_disk(&b, disk, no_sync), FENEC_OK);
        bed_do(&b, "create collection other (n int)");
        test_disk_fail(disk, DISK_WRITE, NULL, 1, SQLITE_IOERR_WRITE, true);
        bed_run(&b, "put other {n: 1}", NULL, NULL, 0);
        database_flush(b.d, &b.err);
        CHECK_INT(bed_run(&b, "put other {n: 2}", NULL, NULL, 0), FENEC_IO);
        CHECK_ROWS(&b, "get s select id match t \"swan\"", "{\"id\":1,\"_score\":0.2876821}");
        CHECK_ROWS(&b, "get s select id near e [1, 0] limit 1", "{\"id\":1,\"_score\":1}");
        CHECK_ROWS(&b, "get s select id near p \"{1:2}/9\" limit 1", "{\"id\":1,\"_score\":2}");
        test_disk_heal(disk);
        close_disk(&b);
        test_disk_free(disk);
    }
}

TEST(power_that_goes_leaves_blocks_counter_and_ids_whole)
{
    uint64_t random = test_seed();

    for (long round = 0; round < test_scale(60, 3000); round++) {
        bool no_sync = test_random(&random) % 2;
        long blocks, put = (long)(test_random(&random) % 40), safe = -1;
        test_disk *disk = test_disk_new(), *after;
        char params[32];
        bed b;

        CHECK_INT(open_disk(&b, disk, no_sync), FENEC_OK);
        bed_do(&b, make_pair);
        for (long i = 1; i <= put; i++) {
            snprintf(params, sizeof params, "[%ld]", i);
            CHECK_INT(bed_run(&b, put_pair, params, NULL, 0), FENEC_OK);
            if (no_sync && test_random(&random) % 8 == 0) {
                CHECK_INT(test_random(&random) % 2 ? database_sync(b.d, &b.err)
                                                   : database_checkpoint(b.d, &b.err), FENEC_OK);
                safe = i;
            }
        }
        if (!no_sync)
            safe = put;
        after = test_disk_cut(disk, (disk_loss)(test_random(&random) % 3), &random);
        close_disk(&b);
        test_disk_free(disk);
        CHECK_INT(open_disk(&b, after, false), FENEC_OK);
        check_pair(&b, &blocks);
        CHECK(blocks >= safe && blocks <= put);
        close_disk(&b);
        test_disk_free(after);
    }
}

TEST(a_disk_that_fails_refuses_writes_until_reopened_and_reads_go_on)
{
    static const disk_call calls[] = {DISK_WRITE, DISK_SYNC};

    for (int kind = 0; kind < 2; kind++)
        for (long n = 1; n < 12; n++) {
            test_disk *disk = test_disk_new();
            long good = 0, blocks;
            char params[32];
            bed b;

            CHECK_INT(open_disk(&b, disk, false), FENEC_OK);
            bed_do(&b, make_pair);
            test_disk_fail(disk, calls[kind], NULL, n, 10 /* SQLITE_IOERR */, false);
            for (long i = 1; i <= 30; i++) {
                snprintf(params, sizeof params, "[%ld]", i);
                int code = bed_run(&b, put_pair, params, NULL, 0);
                CHECK(code == FENEC_OK || code == FENEC_IO);
                if (code == FENEC_OK)
                    good = i;
                else if (test_disk_faults(disk, calls[kind]))
                    break;
            }
            CHECK(test_disk_faults(disk, calls[kind]) > 0);
            CHECK_INT(bed_run(&b, "put a {n: 999}", NULL, NULL, 0), FENEC_IO);
            CHECK_INT(bed_run(&b, "create index on a (n) @hash", NULL, NULL, 0) == FENEC_OK, 0);
            CHECK_INT(bed_run(&b, "get a count", NULL, NULL, 0), FENEC_OK);
            CHECK_INT(bed_run(&b, "compact", NULL, NULL, 0), FENEC_IO);
            test_disk_heal(disk);
            close_disk(&b);
            CHECK_INT(open_disk(&b, disk, false), FENEC_OK);
            check_pair(&b, &blocks);
            CHECK(blocks >= good);
            close_disk(&b);
            test_disk_free(disk);
        }
}
