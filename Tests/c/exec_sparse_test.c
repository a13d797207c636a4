#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "check_bed.h"
#include "exec_bed.h"

/* ---- a collection beside a model of it: weights are 64ths, so that every sum is exact ---- */

enum { IDS = 14000, ENTRIES = 12, DIMENSIONS = 300, PAGE = 300 };

typedef struct vector {
    int count;
    int dimension[ENTRIES], weight[ENTRIES];
} vector;

typedef struct document {
    bool there, has;
    int n;
    vector v;
} document;

typedef struct model {
    bed b;
    const char *path; /* NULL: in memory */
    uint64_t state;
    document docs[IDS + 1], kept[IDS + 1];
    buffer text;
} model;

typedef struct ranked {
    long long id;
    double score;
} ranked;

static int below(model *m, int n)
{
    return (int)(test_random(&m->state) % (uint64_t)n);
}

static vector draw(model *m, int most)
{
    vector v = {.count = most ? below(m, most + 1) : 0};
    int dimension = 0;

    for (int i = 0; i < v.count; i++) {
        dimension += 1 + below(m, i < 3 ? 3 : DIMENSIONS / ENTRIES - 1);
        v.dimension[i] = dimension;
        v.weight[i] = (1 + below(m, below(m, 4) ? 256 : 4)) * (below(m, 8) ? 1 : -1);
    }
    return v;
}

static void add(buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(buffer *out, const char *format, ...)
{
    char text[200];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buffer_text(out, text);
}

static void write_vector(buffer *out, const vector *v)
{
    buffer_text(out, "'{");
    for (int i = 0; i < v->count; i++)
        add(out, "%s%d:%.6f", i ? "," : "", v->dimension[i], v->weight[i] / 64.0);
    add(out, "}/%d'", DIMENSIONS);
}

static const char *text_of(buffer *b)
{
    buffer_byte(b, 0);
    b->len = 0;
    return (const char *)b->bytes;
}

static bool product(const vector *a, const vector *b, double *out)
{
    bool any = false;

    *out = 0;
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++)
            if (a->dimension[i] == b->dimension[k]) {
                *out += a->weight[i] / 64.0 * (b->weight[k] / 64.0);
                any = true;
            }
    return any;
}

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void ask(model *m)
{
    static ranked want[IDS];
    const vector q = draw(m, below(m, 3) ? ENTRIES : 2);
    const int above = below(m, 2) ? 0 : below(m, 101), limit = below(m, PAGE), offset = below(m, 3) ? 0 : below(m, 200);
    int count = 0, row = 0;

    for (int id = 1; id <= IDS; id++) {
        const document *d = &m->docs[id];
        if (d->there && d->has && d->n >= above && product(&q, &d->v, &want[count].score))
            want[count++].id = id;
    }
    qsort(want, (size_t)count, sizeof *want, by_rank);
    buffer_text(&m->text, "get c select id ");
    if (above)
        add(&m->text, "where n >= %d ", above);
    buffer_text(&m->text, "near v ");
    write_vector(&m->text, &q);
    add(&m->text, "%s limit %d offset %d", below(m, 8) ? "" : " exact", limit, offset);
    const char *text = text_of(&m->text), *at = bed_rows(&m->b, text, NULL);
    for (; (at = strstr(at, "{\"id\":")) != NULL; at++, row++) {
        ranked r = {0}, w = row + offset < count ? want[row + offset] : (ranked){0};
        if (sscanf(at, "{\"id\":%lld,\"_score\":%lf}", &r.id, &r.score) != 2 || r.id != w.id ||
            (float)r.score != (float)w.score) {
            test_failed(__FILE__, __LINE__, "%s: row %d is %lld: %.9g, not %lld: %.9g", text, row, r.id, r.score, w.id,
                        w.score);
            return;
        }
    }
    int left = count > offset ? count - offset : 0;
    CHECK_INT(row, left < limit ? left : limit);
}

/* ---- writes ---- */

static void write_document(model *m, int id)
{
    document *d = &m->docs[id];

    *d = (document){.there = true, .has = below(m, 12) > 0, .n = below(m, 100)};
    add(&m->text, "{id: %d, n: %d, v: ", id, d->n);
    if (d->has) {
        d->v = draw(m, ENTRIES);
        write_vector(&m->text, &d->v);
    } else {
        buffer_text(&m->text, "null");
    }
    buffer_text(&m->text, "}");
}

static void write_documents(model *m, int first, int count)
{
    buffer_text(&m->text, "put c [");
    for (int id = first; id < first + count; id++) {
        buffer_text(&m->text, id > first ? ", " : "");
        write_document(m, id);
    }
    buffer_text(&m->text, "]; ");
}

/* A statement of the block under way. */
static void write_change(model *m)
{
    int id = 1 + below(m, below(m, 2) ? IDS : 400);
    document *d = &m->docs[id];

    switch (below(m, 5)) {
    case 0:
        add(&m->text, "del c where id = %d; ", id);
        d->there = false;
        break;
    case 1:
        add(&m->text, "set c {v: null} where id = %d; ", id);
        d->has = false;
        break;
    case 2:
        d->v = draw(m, ENTRIES);
        d->has = true;
        buffer_text(&m->text, "set c {v: ");
        write_vector(&m->text, &d->v);
        add(&m->text, "} where id = %d; ", id);
        break;
    case 3: write_documents(m, 1 + below(m, IDS - 40), 1 + below(m, 40)); break;
    default: write_documents(m, id, 1); break;
    }
}

/* A block that lands, or is put back by its last statement. */
static void run_block(model *m)
{
    bool undo = below(m, 4) == 0;

    if (undo)
        memcpy(m->kept, m->docs, sizeof m->docs);
    for (int i = 1 + below(m, 12); i > 0; i--)
        write_change(m);
    if (!undo) {
        bed_do(&m->b, text_of(&m->text));
        return;
    }
    buffer_text(&m->text, "put c {u: 1}; put c {u: 1}");
    CHECK_INT(bed_run(&m->b, text_of(&m->text), NULL, NULL, 0), FENEC_DUPLICATE);
    memcpy(m->docs, m->kept, sizeof m->docs);
}

static void open_bed(bed *b, const char *path)
{
    *b = (bed){0};
    error_init(&b->err);
    CHECK_INT(database_open(&b->d, (const uint8_t *)path, path ? strlen(path) : 0, 0, &b->err), FENEC_OK);
}

static model *start(const char *path, const char *index)
{
    model *m = memory_zeroed(sizeof *m);

    m->path = path;
    m->state = test_seed();
    buffer_init(&m->text);
    open_bed(&m->b, path);
    add(&m->text, "create collection c (v sparse<%d> %s, n int, u int @unique)", DIMENSIONS, index);
    bed_do(&m->b, text_of(&m->text));
    return m;
}

static void stop(model *m)
{
    bed_close(&m->b);
    buffer_clear(&m->text);
    memory_free(m);
}

static void run_history(model *m, long rounds)
{
    for (long i = 0; i < rounds; i++) {
        run_block(m);
        if (m->path && below(m, 25) == 0) {
            bed_close(&m->b);
            open_bed(&m->b, m->path);
            check_is_quiet(m->b.d, "reopened");
        }
        for (int k = below(m, 3); k >= 0; k--)
            ask(m);
    }
}

static const char *path_of(const char *name)
{
    static char path[600];

    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

TEST(sparse_near_answers_as_every_row_measured_whatever_was_written)
{
    model *m = start(path_of("sparse.fenec"), "@inverted");

    for (int first = 1; first < 6000; first += 1000) {
        write_documents(m, first, 1000);
        bed_do(&m->b, text_of(&m->text));
        ask(m);
    }
    run_history(m, test_scale(150, 5000));
    stop(m);
}

/* Of rows that are there, in one segment that is gone through in several windows. */
TEST(sparse_near_answers_so_from_an_index_made_later_and_passes_over_postings)
{
    model *m = start(NULL, "");
    unsigned long long all = 0, read = 0;

    for (int first = 1; first < IDS; first += 2000) {
        write_documents(m, first, 2000);
        bed_do(&m->b, text_of(&m->text));
    }
    bed_do(&m->b, "create index on c (v) @inverted");
    for (int i = 0; i < 40; i++)
        ask(m);
    run_history(m, test_scale(20, 500));
    bed_run(&m->b, "explain get c near v '{1:4,2:2,3:1,4:0.25,5:0.015625,6:0.015625,40:0.015625}/300' limit 5", NULL,
            NULL, 0);
    const char *at = strstr(m->b.answer, "7 dimensions asked, ");
    CHECK(at && sscanf(at, "7 dimensions asked, %llu of %llu postings read", &read, &all) == 2);
    CHECK(read > 0 && read < all);
    stop(m);
}

TEST(a_block_sees_its_own_sparse_vectors_and_leaves_none_when_put_back)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection c (e sparse<6> @inverted, u int @unique)");
    bed_do(&b, "put c [{e: '{1:1}/6', u: 1}, {e: '{1:5,2:-1}/6', u: 2}]");
    CHECK_ROWS(&b, "put c {e: '{1:2}/6', u: 3}; set c {e: '{1:9}/6'} where id = 1; get c select id near e '{1:1}/6'",
               "{\"id\":1,\"_score\":9},{\"id\":2,\"_score\":5},{\"id\":3,\"_score\":2}");
    CHECK_CODE(&b, "put c {e: '{1:7}/6', u: 4}; set c {e: '{3:1}/6'} where id = 2; del c where id = 3;"
                   " put c {e: '{1:1}/6', u: 1}", FENEC_DUPLICATE);
    CHECK_ROWS(&b, "get c select id near e '{1:1,2:1}/6'",
               "{\"id\":1,\"_score\":9},{\"id\":2,\"_score\":4},{\"id\":3,\"_score\":2}");
    bed_close(&b);
}

TEST(sparse_rows_rank_by_both_signs_and_only_where_a_dimension_is_shared)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection c (e sparse<6> @inverted)");
    bed_do(&b, "put c [{e: '{2:2,3:1}/6'}, {e: '{3:4}/6'}, {e: '{6:7}/6'}, {e: '{2:3}/6'}, {e: '{}/6'}, {e: null},"
               " {e: '{2:1,3:-1}/6'}, {e: '{3:-4}/6'}]");
    CHECK_ROWS(&b, "get c select id near e '{2:1,3:1}/6'",
               "{\"id\":2,\"_score\":4},{\"id\":1,\"_score\":3},{\"id\":4,\"_score\":3},{\"id\":7,\"_score\":0},"
               "{\"id\":8,\"_score\":-4}");
    CHECK_ROWS(&b, "get c select id near e '{3:-1}/6' limit 2 offset 1",
               "{\"id\":7,\"_score\":1},{\"id\":1,\"_score\":-1}");
    CHECK_ROWS(&b, "get c select id near e '{}/6'", "");
    CHECK_ROWS(&b, "get c select id near e '{5:1}/6'", "");
    CHECK_ROWS(&b, "explain get c where id in [1, 3] near e '{3:1}/6'",
               "{\"plan\":\"filter: the id index named 2 rows, 2 pass\"},{\"plan\":\"near: the rows that pass measured, 2\"},"
               "{\"plan\":\"rows: 1\"}");
    CHECK_ROWS(&b, "get c select id where id in [1, 8] near e '{3:1}/6'",
               "{\"id\":1,\"_score\":1},{\"id\":8,\"_score\":-4}");
    bed_close(&b);
}

TEST(sparse_near_is_a_side_of_fuse)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection c (e sparse<6> @inverted, t text @text)");
    bed_do(&b, "put c [{e: '{1:1}/6', t: 'ant'}, {e: '{1:2}/6', t: 'bee'}, {e: null, t: 'ant ant'}]");
    /* By text 3, 1; by vector 2, 1. */
    CHECK_ROWS(&b, "get c select id match t 'ant' near e '{1:1}/6' fuse",
               "{\"id\":1,\"_score\":0.032258064},{\"id\":2,\"_score\":0.016393442},{\"id\":3,\"_score\":0.016393442}");
    bed_close(&b);
}

/* Every query answers what measuring every row does, where nobody writes. */
static void check_against_rows(bed *b, uint64_t *state, bool still)
{
    for (int i = 0; i < 30; i++) {
        char text[300];
        int one = 1 + (int)(test_random(state) % 8), other = 9 + (int)(test_random(state) % 40);
        snprintf(text, sizeof text, "get c select id near v '{%d:1,%d:-0.5,%d:2}/300' exact limit 40", one, other,
                 other + 3);
        char *want = strdup(bed_rows(b, text, NULL));
        snprintf(text, sizeof text, "get c select id near v '{%d:1,%d:-0.5,%d:2}/300' limit 40", one, other, other + 3);
        const char *got = bed_rows(b, text, NULL);
        if (still)
            CHECK_TEXT(got, want);
        free(want);
    }
}

/* ---- beside writes ---- */

enum { GROUP = 20, BLOCKS = 60 };

typedef struct beside {
    database *d;
    _Atomic(bool) done;
    thread thread;
    const char *wrong; /* what a reader saw; NULL: nothing */
} beside;

static bool query_text(database *d, const char *text, buffer *out)
{
    error err;

    error_init(&err);
    out->len = 0;
    bool good = database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, out, &err) == FENEC_OK;
    buffer_byte(out, 0);
    return good;
}

/* Every block gives the rows of the group one weight, larger than before. */
static void read_beside(void *with)
{
    beside *r = with;
    double before = 0;
    buffer out;

    buffer_init(&out);
    while (!atomic_load(&r->done) && !r->wrong) {
        if (!query_text(r->d, "get c select id near v '{1:1}/300' limit 100", &out))
            r->wrong = "a read failed";
        const char *at = (const char *)out.bytes;
        double score = 0, first = 0;
        int count = 0;
        for (; !r->wrong && (at = strstr(at, "\"_score\":")) != NULL; at++, count++) {
            score = strtod(at + strlen("\"_score\":"), NULL);
            first = count ? first : score;
            if (score != first || score < before)
                r->wrong = "rows of two blocks, or of an earlier one";
        }
        if (!r->wrong && count != GROUP)
            r->wrong = "not all rows";
        before = score;
    }
    buffer_clear(&out);
}

static void write_group(buffer *text, int block, uint64_t *state)
{
    text->len = 0;
    buffer_text(text, "put c [");
    for (int id = 1; id <= GROUP; id++)
        buffer_printf(text, "%s{id: %d, v: '{1:%d}/300'}", id > 1 ? "," : "", id * 1000, block);
    for (int i = 0; i < 400; i++)
        buffer_printf(text, ",{v: '{%u:1,%u:2}/300'}", 2 + (unsigned)(test_random(state) % 100),
                      150 + (unsigned)(test_random(state) % 100));
    buffer_text(text, "]");
    buffer_byte(text, 0);
}

TEST(sparse_readers_see_whole_blocks_beside_writes_and_merges)
{
    uint64_t state = test_seed();
    beside readers[2] = {0};
    buffer text, out;
    bed b;

    bed_open(&b);
    buffer_init(&text);
    buffer_init(&out);
    bed_do(&b, "create collection c (v sparse<300> @inverted)");
    write_group(&text, 1, &state);
    bed_do(&b, (const char *)text.bytes);
    for (int i = 0; i < 2; i++) {
        readers[i].d = b.d;
        CHECK(thread_start(&readers[i].thread, read_beside, &readers[i]));
    }
    for (int block = 2; block < test_scale(BLOCKS, 2000); block++) {
        write_group(&text, block, &state);
        CHECK(query_text(b.d, (const char *)text.bytes, &out));
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&readers[i].done, true);
        thread_join(&readers[i].thread);
        CHECK_TEXT(readers[i].wrong ? readers[i].wrong : "", "");
    }
    check_is_quiet(b.d, "written");
    buffer_clear(&text);
    buffer_clear(&out);
    bed_close(&b);
}

static void write_beside(void *with)
{
    beside *w = with;
    model *m = memory_zeroed(sizeof *m);
    buffer out;

    m->state = test_seed();
    buffer_init(&m->text);
    buffer_init(&out);
    while (!atomic_load(&w->done) && !w->wrong) {
        for (int i = 0; i < 12; i++)
            write_change(m);
        if (!query_text(w->d, text_of(&m->text), &out))
            w->wrong = "a write failed";
    }
    buffer_clear(&out);
    buffer_clear(&m->text);
    memory_free(m);
}

TEST(a_sparse_index_is_made_beside_writes)
{
    model *m = start(NULL, "");
    beside writer = {.d = m->b.d};
    uint64_t state = test_seed();

    for (int first = 1; first < 8000; first += 2000) {
        write_documents(m, first, 2000);
        bed_do(&m->b, text_of(&m->text));
    }
    CHECK(thread_start(&writer.thread, write_beside, &writer));
    bed_do(&m->b, "create index on c (v) @inverted");
    check_against_rows(&m->b, &state, false);
    atomic_store(&writer.done, true);
    thread_join(&writer.thread);
    CHECK_TEXT(writer.wrong ? writer.wrong : "", "");
    check_against_rows(&m->b, &state, true);
    check_is_quiet(m->b.d, "written");
    stop(m);
}

/* ---- files ---- */

static _Noreturn void write_until_killed(const char *path, uint64_t state, int told)
{
    model *m = memory_zeroed(sizeof *m);

    m->path = path;
    m->state = state;
    buffer_init(&m->text);
    open_bed(&m->b, path);
    for (;;) {
        write_documents(m, 1 + below(m, IDS - 900), 900);
        for (int i = 0; i < 20; i++)
            write_change(m);
        if (bed_run(&m->b, text_of(&m->text), NULL, NULL, 0) != FENEC_OK || write(told, "", 1) != 1)
            _exit(7);
    }
}

TEST(a_kill_leaves_a_sparse_index_as_its_rows_say)
{
    const char *path = path_of("killed_sparse.fenec");
    uint64_t state = test_seed();
    bed b;

    open_bed(&b, path);
    bed_do(&b, "create collection c (v sparse<300> @inverted, n int, u int @unique)");
    bed_close(&b);
    for (long round = test_scale(8, 200); round > 0; round--) {
        int told[2];
        char byte;
        CHECK(pipe(told) == 0);
        pid_t child = fork();
        if (child == 0) {
            close(told[0]);
            write_until_killed(path, state, told[1]);
        }
        close(told[1]);
        for (uint64_t i = test_random(&state) % 14; i > 0 && read(told[0], &byte, 1) == 1; i--)
            ;
        for (volatile uint64_t spin = test_random(&state) % 3000000; spin > 0; spin--)
            ;
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        close(told[0]);
        open_bed(&b, path);
        check_against_rows(&b, &state, true);
        check_is_quiet(b.d, "killed");
        bed_close(&b);
    }
}

/* The table of the only search index there is. */
static void name_of_index(sqlite3 *db, char name[32])
{
    sqlite3_stmt *pick = NULL;

    CHECK_INT(sqlite3_prepare_v2(db, "select name from sqlite_master where name glob 'x[0-9]*'", -1, &pick, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(pick), SQLITE_ROW);
    snprintf(name, 32, "%s", (const char *)sqlite3_column_text(pick, 0));
    sqlite3_finalize(pick);
}

/* Turns one bit of a row of the index's, drawn. */
static void damage(const char *path, uint64_t *state)
{
    sqlite3_stmt *pick = NULL, *put = NULL;
    sqlite3 *db;
    char sql[200], name[32] = "";

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    name_of_index(db, name);
    snprintf(sql, sizeof sql, "select id, rec from %s order by id limit 1 offset abs(%d) %% (select count(*) from %s)", name,
             (int)(test_random(state) & 0xFFFFFF), name);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &pick, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(pick), SQLITE_ROW);
    int len = sqlite3_column_bytes(pick, 1);
    uint8_t *bytes = malloc((size_t)len + 1);
    memcpy(bytes, sqlite3_column_blob(pick, 1), (size_t)len);
    uint64_t bit = test_random(state) % ((uint64_t)len * 8);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    snprintf(sql, sizeof sql, "update %s set rec = ? where id = %lld", name, (long long)sqlite3_column_int64(pick, 0));
    sqlite3_finalize(pick);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &put, NULL), SQLITE_OK);
    sqlite3_bind_blob(put, 1, bytes, len, SQLITE_TRANSIENT);
    CHECK_INT(sqlite3_step(put), SQLITE_DONE);
    sqlite3_finalize(put);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    free(bytes);
}

TEST(a_damaged_sparse_index_is_made_anew_and_never_answers_wrongly)
{
    model *m = start(path_of("damaged.fenec"), "@inverted");

    for (int first = 1; first < 8000; first += 2000) {
        write_documents(m, first, 2000);
        bed_do(&m->b, text_of(&m->text));
    }
    for (long round = test_scale(12, 300); round > 0; round--) {
        bed_close(&m->b);
        damage(m->path, &m->state);
        open_bed(&m->b, m->path);
        if (below(m, 2))
            run_block(m);
        check_against_rows(&m->b, &m->state, true);
        for (int i = 0; i < 4; i++)
            ask(m);
    }
    stop(m);
}

TEST(check_compares_a_sparse_index_with_its_documents)
{
    const char *path = path_of("compared.fenec");
    char sql[200], name[32] = "";
    check_lines found;
    sqlite3 *db;
    bed b;

    open_bed(&b, path);
    bed_do(&b, "create collection c (v sparse<9> @inverted)");
    bed_do(&b, "put c [{v: '{1:1,2:-2}/9'}, {v: '{}/9'}, {v: null}]");
    bed_do(&b, "put c {v: '{2:3}/9'}");
    check_is_quiet(b.d, "written");
    bed_close(&b);
    /* What its last block wrote is not there any more. */
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    name_of_index(db, name);
    snprintf(sql, sizeof sql, "delete from %s where id = (select max(id) from %s)", name, name);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    open_bed(&b, path);
    check_lines_of(b.d, &found);
    CHECK_INT(found.report.findings, 1);
    CHECK(strstr((const char *)found.text.bytes, "document 4 in the index on `v`: it is missing in the index"));
    check_lines_clear(&found);
    bed_close(&b);
}
