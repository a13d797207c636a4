#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "match_model.h"
#include "store_make.h"

/* ---- any history ---- */

static void run_history(match_model *m, long rounds)
{
    for (long i = 0; i < rounds; i++) {
        model_change(m);
        if (model_below(m, 12) == 0)
            model_must(m, "put doc $1", model_draw_some(m, MODEL_DOCS / 2));
        if (m->path && model_below(m, 12) == 0) {
            model_close(m);
            model_open(m);
        }
        if (model_below(m, 15) == 0)
            CHECK_INT(database_warm(m->b.d, NULL, 0, &m->text, &m->b.err), FENEC_OK);
        if (model_below(m, 25) == 0)
            bed_do(&m->b, "compact doc");
        if (model_below(m, 25) == 0)
            model_index_anew(m);
        model_compare_some(m, 6);
    }
}

TEST(match_answers_as_the_texts_say_after_any_history)
{
    match_model m;

    model_init(&m, make_path("history.fenec"), 0, "");
    run_history(&m, test_scale(60, 3000));
    model_end(&m);
}

TEST(match_answers_so_without_sync_and_in_memory)
{
    match_model m;

    model_init(&m, make_path("buffered.fenec"), 1, "");
    run_history(&m, test_scale(30, 1000));
    model_end(&m);
    model_init(&m, NULL, 0, "");
    run_history(&m, test_scale(30, 1000));
    model_end(&m);
}

TEST(match_answers_so_by_prefixes_of_the_index)
{
    match_model m;

    model_init(&m, make_path("prefixes.fenec"), 1, "k1=1.2, b=0.75, prefix=5, prefix_min=2");
    m.k1 = 1.2;
    m.b_option = 0.75;
    m.prefix_min = 2;
    m.prefix_max = 5;
    run_history(&m, test_scale(30, 1000));
    model_end(&m);
}

/* ---- what a damaged row does ---- */

static sqlite3 *raw_open(const match_model *m)
{
    sqlite3 *db = NULL;

    CHECK_INT(sqlite3_open(m->path, &db), SQLITE_OK);
    return db;
}

/* The table of the text index. */
static void search_table(sqlite3 *db, char name[32])
{
    sqlite3_stmt *s = NULL;

    name[0] = 0;
    CHECK_INT(sqlite3_prepare_v2(db, "select name from sqlite_master where name like 'x%' and type = 'table'", -1, &s, NULL),
              SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        snprintf(name, 32, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
}

/* Flips a bit of a row, cuts it short or takes it away (but for the last thing a log says). */
static void damage(match_model *m, int64_t low, int64_t high)
{
    sqlite3 *db = raw_open(m);
    sqlite3_stmt *s = NULL;
    char name[32], text[200];

    search_table(db, name);
    if (!name[0]) { /* the index was found to be damaged behind the writers */
        sqlite3_close(db);
        return;
    }
    snprintf(text, sizeof text, "select * from %s where id between ?1 and ?2 order by id %% 100003 * ?3 %% 100003 limit 1", name);
    CHECK_INT(sqlite3_prepare_v2(db, text, -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_int64(s, 1, low);
    sqlite3_bind_int64(s, 2, high);
    sqlite3_bind_int(s, 3, 1 + model_below(m, 100000));
    if (sqlite3_step(s) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(s, 0);
        int len = sqlite3_column_bytes(s, 1), how = model_below(m, low > UINT32_MAX && high == INT64_MAX ? 3 : 4);
        uint8_t *bytes = malloc((size_t)len + 1);
        memcpy(bytes, sqlite3_column_blob(s, 1), (size_t)len);
        char column[32];
        snprintf(column, sizeof column, "%s", sqlite3_column_name(s, 1));
        sqlite3_finalize(s);
        snprintf(text, sizeof text, how == 3 ? "delete from %s where id = ?1" : "update %s set %s = ?2 where id = ?1", name,
                 column);
        CHECK_INT(sqlite3_prepare_v2(db, text, -1, &s, NULL), SQLITE_OK);
        if (how < 2)
            bytes[model_below(m, len)] ^= (uint8_t)(1u << model_below(m, 8));
        else
            len = model_below(m, len);
        sqlite3_bind_int64(s, 1, id);
        if (how < 3)
            sqlite3_bind_blob(s, 2, bytes, len, SQLITE_STATIC);
        CHECK_INT(sqlite3_step(s), SQLITE_DONE);
        free(bytes);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
}

TEST(match_answers_right_whatever_of_its_index_is_damaged)
{
    /* Manifest; counts; the rows of segments; the log. */
    static const int64_t lows[] = {0, 2, (int64_t)1 << 32, (int64_t)1 << 62}, highs[] = {1, UINT32_MAX, ((int64_t)1 << 62) - 1, INT64_MAX};
    match_model m;

    model_init(&m, make_path("damage.fenec"), 1, "");
    for (long i = 0; i < test_scale(24, 1000); i++) {
        for (int k = 0; k < 3; k++)
            model_must(&m, "put doc $1", model_draw_some(&m, MODEL_DOCS / 2));
        model_change(&m);
        model_close(&m);
        int at = model_below(&m, 6);
        damage(&m, lows[at < 4 ? at : 2], highs[at < 4 ? at : 2]);
        model_open(&m);
        if (model_below(&m, 2))
            model_change(&m); /* meets it first */
        model_compare_some(&m, 6);
        CHECK_INT(database_warm(m.b.d, NULL, 0, &m.text, &m.b.err), FENEC_OK);
        model_compare_some(&m, 3);
    }
    model_end(&m);
}

/* ---- a process that is killed ---- */

/* Block n of a load: what it writes follows from n alone. */
static void run_numbered(match_model *m, uint64_t seed, long n, bool writes)
{
    char number[80];

    m->random = seed + (uint64_t)n * 1000003;
    model_draw_some(m, 200 + model_below(m, 1000));
    m->docs[1] = (model_doc){.there = true, .n = (int)n};
    m->text.len -= 3; /* the last bracket is put again */
    snprintf(number, sizeof number, ",{\"id\":1,\"n\":%ld,\"m\":0,\"body\":null}]]", n);
    buffer_text(&m->text, number);
    buffer_byte(&m->text, 0);
    if (writes)
        model_must(m, "put doc $1", (const char *)m->text.bytes);
}

static _Noreturn void write_until_killed(match_model *m, uint64_t seed, long n, int told)
{
    model_open(m);
    for (;; n++) {
        run_numbered(m, seed, n, true);
        if (write(told, "", 1) != 1)
            _exit(7);
    }
}

TEST(a_kill_leaves_a_text_index_as_its_documents_say)
{
    const uint64_t seed = test_seed();
    uint64_t random = seed;
    long landed = 0;
    match_model m;

    model_init(&m, make_path("killed_texts.fenec"), 0, "");
    model_close(&m);
    for (long round = test_scale(6, 300); round > 0; round--) {
        int told[2], status = 0;
        char byte;
        CHECK(pipe(told) == 0);
        pid_t child = fork();
        if (child == 0) {
            close(told[0]);
            write_until_killed(&m, seed, landed + 1, told[1]);
        }
        close(told[1]);
        for (uint64_t i = test_random(&random) % 20; i > 0 && read(told[0], &byte, 1) == 1; i--)
            ;
        kill(child, SIGKILL);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        close(told[0]);
        model_open(&m);
        const char *row = bed_rows(&m.b, "get doc select n where id = 1", NULL);
        for (long last = *row ? strtol(row + strlen("{\"n\":"), NULL, 10) : 0; landed < last;)
            run_numbered(&m, seed, ++landed, false);
        model_compare_some(&m, 9);
        model_close(&m);
    }
    model_open(&m);
    model_end(&m);
}

/* ---- readers beside a writer and merges ---- */

enum { STILL = 3000, MARKED = 40 };

typedef struct beside {
    database *d;
    _Atomic(bool) done;
    _Atomic(long) asked;
    char want[40]; /* the score of each marked document */
} beside;

/* MARKED documents hold the word and all are of one length: in every state there is each of them has the same
 * score. */
static void ask_beside(void *argument)
{
    static const char text[] = "get doc select id match body \"marked\" limit 100";
    beside *s = argument;
    buffer out;
    error err;

    while (!atomic_load(&s->done)) {
        int rows = 0;
        buffer_init(&out);
        error_init(&err);
        int code = database_query(s->d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err);
        buffer_byte(&out, 0);
        if (code)
            test_failed(__FILE__, __LINE__, "%d %s", code, err.message);
        for (const char *at = (const char *)out.bytes; !code && (at = strstr(at, s->want)); at++)
            rows++;
        if (!code && rows != MARKED)
            test_failed(__FILE__, __LINE__, "%d rows of %s: %.300s", rows, s->want, (const char *)out.bytes);
        buffer_clear(&out);
        atomic_fetch_add(&s->asked, 1);
    }
}

static void write_still(match_model *m, int from, int to, int mark)
{
    char text[120];

    m->text.len = 0;
    for (int id = from; id < to; id++) {
        snprintf(text, sizeof text, "%s{\"id\":%d,\"body\":\"%s w%d x%d y%d\"}", id > from ? "," : "[[", id,
                 (id - mark + STILL) % STILL < MARKED ? "marked" : "plain", model_below(m, 50), model_below(m, 900), id);
        buffer_text(&m->text, text);
    }
    buffer_text(&m->text, "]]");
    buffer_byte(&m->text, 0);
    model_must(m, "put doc $1", (const char *)m->text.bytes);
}

TEST(match_answers_from_one_state_beside_writes_and_merges)
{
    thread readers[3];
    int started = 0, mark = 1;
    match_model m;
    beside s = {0};

    model_init(&m, make_path("beside.fenec"), 1, "");
    write_still(&m, 1, STILL + 1, mark);
    double weight = log(1 + (STILL - MARKED + 0.5) / (MARKED + 0.5)) * 1.9;
    snprintf(s.want, sizeof s.want, "\"_score\":%.7g}", (double)(float)(weight * (1 / (1 + (0.9 * (1 - 0.4) + 0.9 * 0.4 / 4 * 4)))));
    s.d = m.b.d;
    while (started < 3 && thread_start(&readers[started], ask_beside, &s))
        started++;
    for (long i = test_scale(40, 600); i > 0; i--) {
        int next = 1 + model_below(&m, STILL - MARKED);
        int low = next < mark ? next : mark, high = (next > mark ? next : mark) + MARKED;
        /* The mark moves and what is between is written anew, in one block. */
        write_still(&m, low, high, next);
        mark = next;
        if (i % 10 == 0)
            CHECK_INT(database_warm(m.b.d, NULL, 0, &m.text, &m.b.err), FENEC_OK);
    }
    while (atomic_load(&s.asked) < 20)
        write_still(&m, mark, mark + MARKED, mark);
    atomic_store(&s.done, true);
    for (int i = 0; i < started; i++)
        thread_join(&readers[i]);
    model_end(&m);
}

/* ---- texts and queries of any shape ---- */

/* `unit` over and over, as the text of document `id`. */
static void put_long(match_model *m, int id, const char *unit, size_t len)
{
    char head[60];

    snprintf(head, sizeof head, "[{\"id\":%d,\"body\":\"", id);
    m->text.len = 0;
    buffer_text(&m->text, head);
    while (m->text.len < len)
        buffer_text(&m->text, unit);
    buffer_text(&m->text, "\"}]");
    buffer_byte(&m->text, 0);
    model_must(m, "put doc $1", (const char *)m->text.bytes);
}

TEST(texts_of_any_size_are_indexed_and_let_go_of)
{
    const size_t large = (size_t)10 << 20;
    match_model m;

    model_init(&m, make_path("large.fenec"), 1, "prefix=6, chars");
    put_long(&m, 1, "river ", large);
    put_long(&m, 2, "bank", large); /* one word */
    put_long(&m, 3, "\xcc\x81\xcc\x88", large); /* combining marks alone: no term */
    put_long(&m, 4, "\xe6\xb8\xaf\xe5\x8f\xa3", large);
    m.text.len = 0;
    buffer_text(&m.text, "[{\"id\":5,\"body\":\"");
    for (int i = 0; i < 300000; i++) {
        char word[20];
        snprintf(word, sizeof word, "w%d ", i);
        buffer_text(&m.text, word);
    }
    buffer_text(&m.text, "\"}]");
    buffer_byte(&m.text, 0);
    model_must(&m, "put doc $1", (const char *)m.text.bytes);
    bed_do(&m.b, "put doc {id: 6, body: \"river bank w77\"}");
    for (int round = 0; round < 2; round++) {
        CHECK(strstr(bed_rows(&m.b, "get doc select id match body \"river\"", NULL), "{\"id\":1,"));
        CHECK(strstr(bed_rows(&m.b, "get doc select id match body \"river\"", NULL), "{\"id\":6,"));
        CHECK(strstr(bed_rows(&m.b, "get doc select id match body \"bank\"", NULL), "{\"id\":2,")); /* by `^bank` */
        CHECK(strstr(bed_rows(&m.b, "get doc select id match body \"港\"", NULL), "{\"id\":4,"));
        CHECK(strstr(bed_rows(&m.b, "get doc select id match body \"w299999\"", NULL), "{\"id\":5,"));
        CHECK(strstr(bed_rows(&m.b, "get doc select id match body \"w277770 bonk w88888\" fuzzy 2 prefix", NULL), "{\"id\":5,"));
        CHECK_ROWS(&m.b, "get doc select id match body \"\xcc\x81\"", "");
        CHECK_ROWS(&m.b, "get doc select id match body \"\"", "");
        model_close(&m);
        model_open(&m);
    }
    bed_do(&m.b, "set doc {body: null} where id < 6");
    CHECK_ROWS(&m.b, "get doc select id match body \"w299999 港\"", "");
    CHECK_ROWS(&m.b, "get doc select id match body \"w77\" limit 1", "{\"id\":6,\"_score\":0.2876821}");
    int code = bed_run(&m.b, "put doc $1", "[{\"id\":9,\"body\":\"lone \\ud800 half\"}]", NULL, 0);
    CHECK(code == FENEC_OK || code == FENEC_QUERY);
    model_end(&m);
}

/* Documents of two words, so many that a segment is summed up in several parts. */
TEST(ten_thousand_words_are_asked_for_at_once)
{
    enum { DOCS = 70000, RARE = 10007, OFTEN = 97 };
    static float scores[DOCS + 1];
    match_model m;

    model_init(&m, NULL, 0, "");
    for (int first = 1; first <= DOCS; first += 5000) {
        m.text.len = 0;
        for (int id = first; id < first + 5000; id++) {
            char text[60];
            snprintf(text, sizeof text, "%s{\"body\":\"a%d b%d\"}", id > first ? "," : "[[", id % OFTEN, id % RARE);
            buffer_text(&m.text, text);
        }
        buffer_text(&m.text, "]]");
        buffer_byte(&m.text, 0);
        model_must(&m, "put doc $1", (const char *)m.text.bytes);
    }
    CHECK_INT(database_warm(m.b.d, NULL, 0, &m.text, &m.b.err), FENEC_OK);
    m.text.len = 0;
    buffer_text(&m.text, "[\"a5");
    for (int i = 0; i < 10000; i++) {
        char word[20];
        snprintf(word, sizeof word, " b%d", i);
        buffer_text(&m.text, word);
    }
    buffer_text(&m.text, "\"]");
    buffer_byte(&m.text, 0);
    for (int id = 1; id <= DOCS; id++) {
        double rare = DOCS / RARE + (id % RARE && id % RARE <= DOCS % RARE), often = DOCS / OFTEN + (5 <= DOCS % OFTEN), sum = 0;
        if (id % OFTEN == 5)
            sum += (double)(float)(log(1 + (DOCS - often + 0.5) / (often + 0.5)) * 1.9 * (1 / (1 + 0.9)));
        if (id % RARE < 10000)
            sum += (double)(float)(log(1 + (DOCS - rare + 0.5) / (rare + 0.5)) * 1.9 * (1 / (1 + 0.9)));
        scores[id] = (float)sum;
    }
    float before = 1e30f;
    int rows = 0, last = 0;
    for (const char *row = bed_rows(&m.b, "get doc select id match body $1", (const char *)m.text.bytes); *row; rows++) {
        int id = (int)strtol(row + strlen("{\"id\":"), NULL, 10);
        const char *end = strchr(row, '}');
        float got = strtof(strstr(row, "_score\":") + strlen("_score\":"), NULL);
        if (id < 1 || id > DOCS || fabsf(got - scores[id]) > 1e-5f * got || got > before || (got == before && id < last)) {
            test_failed(__FILE__, __LINE__, "row %d is %d: %.9g, not %.9g", rows, id, (double)got, (double)scores[id]);
            break;
        }
        before = got;
        last = id;
        row = end[1] == ',' ? end + 2 : end + 1;
    }
    CHECK_INT(rows, 10000);
    model_end(&m);
}

TEST(pages_of_a_match_end_at_its_ceiling)
{
    match_model m;

    model_init(&m, NULL, 0, "");
    bed_do(&m.b, "put doc [{body: \"a\"}, {body: \"a b\"}]");
    CHECK_ROWS(&m.b, "get doc select id match body \"a\" limit 0", "");
    CHECK_CODE(&m.b, "get doc select id match body \"a\" limit 10000", FENEC_OK);
    CHECK_CODE(&m.b, "get doc select id match body \"a\" limit 10001", FENEC_QUERY);
    CHECK_CODE(&m.b, "get doc select id match body \"a\" limit 9999 offset 1", FENEC_OK);
    CHECK_CODE(&m.b, "get doc select id match body \"a\" limit 9999 offset 2", FENEC_QUERY);
    CHECK_CODE(&m.b, "get doc select id match body \"a\" offset 10000", FENEC_OK);
    CHECK_CODE(&m.b, "get doc select id match body \"a\" offset 10001", FENEC_QUERY);
    CHECK_CODE(&m.b, "get doc select id match body 5", FENEC_TYPE);
    CHECK_CODE(&m.b, "get doc select id match body null", FENEC_TYPE);
    CHECK_CODE(&m.b, "get doc select id match body $1", FENEC_QUERY);
    model_end(&m);
}

/* ---- memory that runs out ---- */

TEST(matches_and_texts_survive_failed_allocations)
{
    match_model m;

    model_init(&m, make_path("failing.fenec"), 1, "prefix=3, prefix_min=2");
    m.prefix_min = 2;
    m.prefix_max = 3;
    for (int i = 0; i < 5; i++)
        model_must(&m, "put doc $1", model_draw_some(&m, MODEL_DOCS));
    for (int round = 0; round < 6; round++) {
        model_query q;
        char text[200], params[MODEL_ASKED * 22];
        long n = 0;
        int code;
        model_query_draw(&m, &q, 6);
        snprintf(params, sizeof params, "[\"%s\"]", q.text);
        snprintf(text, sizeof text, "get doc select id, highlight(body) match body $1 fuzzy %d%s limit 5", q.fuzzy,
                 q.prefix ? " prefix" : "");
        do {
            memory_fail_after(n);
            code = bed_run(&m.b, text, params, NULL, 0);
            memory_fail_after(-1);
            CHECK(code == FENEC_PANIC || code == FENEC_OK);
            n += 1 + n / 20;
        } while (code != FENEC_OK && n < 1000000);
        /* A block that makes a segment. */
        model_doc *kept = malloc((MODEL_DOCS + 1) * sizeof *kept);
        memcpy(kept, m.docs, (MODEL_DOCS + 1) * sizeof *kept);
        const char *all = model_draw_some(&m, MODEL_DOCS);
        n = model_below(&m, 50);
        do {
            memory_fail_after(n);
            code = bed_run(&m.b, "put doc $1", all, NULL, 0);
            memory_fail_after(-1);
            CHECK(code == FENEC_PANIC || code == FENEC_OK);
            n += 100 + n;
        } while (code != FENEC_OK);
        free(kept);
        model_compare_some(&m, 4);
    }
    model_end(&m);
}
