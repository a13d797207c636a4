/* What an @hnsw index leaves in the file, and what comes of it after an end of any kind. */
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_make.h"

#include "exec/check.h"
#include "exec/ddl.h"
#include "exec/vector_part.h"
#include "exec_bed.h"
#include "search/row_cache.h"
#include "search/vector_rows.h"
#include "base/thread.h"
#include "base/varint.h"
#include "test_vfs.h"

#define DATABASE "/vectors.db"

static const char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));
static const char *format(const char *text, ...)
{
    static _Thread_local char out[8][600];
    static _Thread_local int next;
    char *to = out[next++ % 8];
    va_list args;

    va_start(args, text);
    vsnprintf(to, sizeof out[0], text, args);
    va_end(args);
    return to;
}

/* ---- a database on a disk ---- */

static int try_open_on(bed *b, const char *vfs, const char *file)
{
    const store_options options = {.path = (const uint8_t *)file, .path_len = strlen(file), .vfs = vfs};

    *b = (bed){0};
    error_init(&b->err);
    return database_open_with(&b->d, &options, &b->err);
}

static void open_on(bed *b, const test_disk *d)
{
    int code = try_open_on(b, test_disk_vfs(d), DATABASE);

    if (code)
        test_failed(__FILE__, __LINE__, "open: %d %s", code, b->err.message);
}

static void warm(bed *b)
{
    buffer unheard;

    buffer_init(&unheard);
    CHECK_INT(database_warm(b->d, NULL, 0, &unheard, &b->err), FENEC_OK);
    buffer_clear(&unheard);
}

static uint32_t drawn(uint64_t *state, uint32_t n)
{
    return (uint32_t)(test_random(state) % n);
}

static const char *draw(uint64_t *state)
{
    return format("[%d,%d,%d,%d]", (int)drawn(state, 200) - 100, (int)drawn(state, 200) - 100,
                  (int)drawn(state, 200) - 100, (int)drawn(state, 200) - 100);
}

/* One of what changes an index, over ids to `most`. */
static const char *draw_change(uint64_t *state, uint32_t most)
{
    uint32_t id = 1 + drawn(state, most);

    switch (drawn(state, 8)) {
    case 0: return format("del c where id = %u", id);
    case 1: return format("set c {e: null} where id = %u", id);
    case 2: return format("put c [{e: %s}, {e: %s}]", draw(state), draw(state));
    case 3: return format("put c {id: %u, e: [1, 2, 3, 4]}", id);
    case 4: return format("put c {e: [0, 0, 1, %u]}; del c where id = %u", drawn(state, 3), id);
    default: return format("put c {id: %u, e: %s}", id, draw(state));
    }
}

static void load(bed *b, const char *index, uint64_t *state, int first, int rounds)
{
    bed_do(b, format("create collection c (e vector<4> @hnsw(%s, m=3, ef=10, ef_construction=20))", index));
    for (int i = 0; i < first; i += 5)
        bed_do(b, format("put c [{e: %s}, {e: %s}, {e: %s}, {e: %s}, {e: %s}]", draw(state), draw(state), draw(state),
                         draw(state), draw(state)));
    for (int i = 0; i < rounds; i++) {
        bed_do(b, draw_change(state, (uint32_t)first));
        if (drawn(state, 12) == 0)
            CHECK_INT(database_checkpoint(b->d, &b->err), FENEC_OK);
    }
}

/* ---- the index beside the documents ---- */

static void tell(void *to, int64_t id, const char *what)
{
    ++*(int *)to;
    test_failed(__FILE__, __LINE__, "document %lld: %s", (long long)id, what);
}

/* In a store: FENEC_OK where the index of `c` is whole. */
static int check_index(store *s, int *faults)
{
    version *none;
    catalog *cat;
    conn *c;
    error err;
    int rc;

    *faults = 0;
    MUST(store_write(s, true, &c, &none, &err));
    MUST(catalog_load(c, &cat, &err));
    const collection *of = collection_called(cat, "c");
    rc = of ? vector_part_check(c, of, of->fields[collection_field(of, "e", 1)].index, tell, faults, &err) : FENEC_OK;
    store_write_rollback(c);
    version_drop(&cat->head);
    return rc;
}

static void check_on(const test_disk *d)
{
    store_options options = {
        .path = (const uint8_t *)DATABASE, .path_len = strlen(DATABASE), .vfs = test_disk_vfs(d)};
    store *s = NULL;
    error err;
    int faults;

    MUST(store_open(&s, &options, &err));
    if (!s)
        return;
    CHECK_INT(check_index(s, &faults), FENEC_OK);
    CHECK_INT(faults, 0);
    end_store(s);
}

/* Every document with a vector is answered once, and nothing else. */
static void check_answers(bed *b)
{
    char *all, *at;
    long long id;
    int with = 0, answered = 0;

    all = strdup(bed_rows(b, "get c select id where e != null", NULL));
    for (at = all; (at = strstr(at, "{\"id\":")); at++)
        with++;
    const char *rows = bed_rows(b, "get c select id near e [1, 2, 3, 4]", NULL);
    for (const char *row = rows; (row = strstr(row, "{\"id\":")); row++) {
        answered++;
        if (sscanf(row, "{\"id\":%lld", &id) != 1 || !strstr(all, format("{\"id\":%lld}", id)))
            test_failed(__FILE__, __LINE__, "document %lld is answered and has no vector", id);
    }
    CHECK_INT(answered, with);
    free(all);
}

/* ---- saving ---- */

static bool explains(bed *b, const char *what)
{
    bed_run(b, "explain get c near e [1, 2, 3, 4] limit 3", NULL, NULL, 0);
    if (strstr(b->answer, what))
        return true;
    fprintf(stderr, "%s\n", b->answer);
    return false;
}

TEST(saved_vectors_are_read_back_and_none_is_linked_again)
{
    static const char *const kinds[] = {"l2", "cosine", "dot", "cosine, quant=int8", "l2, quant=int8", "cosine, quant=bit"};
    uint64_t random = 11;

    for (int i = 0; i < 6; i++) {
        test_disk *d = test_disk_new(), *killed;
        bed b;
        open_on(&b, d);
        bed_do(&b, format("create collection c (e vector<4> @hnsw(%s, m=4, ef=10))", kinds[i]));
        for (int k = 0; k < 600; k++)
            bed_do(&b, format("put c {e: [%d, %d, %d, 1]}", k, k % 7, 600 - k));
        CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
        char *before = strdup(bed_rows(&b, "get c select id near e [9, 2, 3, 4] limit 20", NULL));
        killed = test_disk_cut(d, LOSE_NOTHING, &random);
        bed_close(&b);
        test_disk_free(d);
        check_on(killed);
        open_on(&b, killed);
        CHECK(explains(&b, "holds 600 vectors, 600 linked"));
        CHECK_ROWS(&b, "get c select id near e [9, 2, 3, 4] limit 20", before);
        bed_do(&b, "put c {e: [1, 1, 1, 1]}; del c where id = 5; set c {e: [5, 5, 5, 5]} where id = 6");
        check_answers(&b);
        bed_close(&b);
        free(before);
        check_on(killed);
        open_on(&b, killed);
        check_answers(&b);
        bed_close(&b);
        test_disk_free(killed);
    }
}

TEST(an_index_that_is_not_in_memory_is_written_to_without_being_read)
{
    static const char *const kinds[] = {"l2", "cosine, quant=bit"};
    uint64_t state = test_seed();

    for (int i = 0; i < 2; i++) {
        test_disk *d = test_disk_new();
        bed b;
        open_on(&b, d);
        load(&b, kinds[i], &state, 2500, 0);
        bed_do(&b, "create collection u (k int @unique)");
        CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
        bed_close(&b);
        for (long round = test_scale(12, 200); round > 0; round--) {
            open_on(&b, d);
            for (uint32_t n = drawn(&state, 4); n > 0; n--)
                bed_do(&b, draw_change(&state, 2500));
            /* A block that is put back, one that asks after it wrote, and one that writes once more then. */
            CHECK_CODE(&b, format("put c {id: 3, e: %s}; put u [{k: 1}, {k: 1}]", draw(&state)), FENEC_DUPLICATE);
            CHECK_ROWS(&b, "put c {id: 4, e: [9000, 1, 1, 1]}; get c select id near e [9000, 1, 1, 1] limit 1",
                       i ? "{\"id\":4,\"_score\":1}" : "{\"id\":4,\"_score\":0}");
            bed_do(&b, format("put c {id: 5, e: %s}; get c select id near e %s limit 1; del c where id = 5", draw(&state),
                              draw(&state)));
            if (drawn(&state, 2))
                warm(&b);
            check_answers(&b);
            bed_close(&b);
            check_on(d);
            open_on(&b, d);
            for (uint32_t n = 1 + drawn(&state, 4); n > 0; n--)
                bed_do(&b, draw_change(&state, 2500));
            if (drawn(&state, 2))
                check_answers(&b); /* beside who reads it */
            else
                warm(&b);
            check_answers(&b);
            bed_close(&b);
            check_on(d);
        }
        test_disk_free(d);
    }
}

/* ---- ends at any point ---- */

enum { CUTS_MAX = 40 };

typedef struct cutting {
    test_disk *d;
    _Atomic(long) calls;
    long every;
    uint64_t random;
    test_disk *cuts[CUTS_MAX];
    int count;
} cutting;

static void cut_now(void *argument, disk_call call, const char *name)
{
    cutting *k = argument;

    (void)call;
    (void)name;
    if (atomic_fetch_add(&k->calls, 1) % k->every == k->every - 1 && k->count < CUTS_MAX)
        k->cuts[k->count++] = test_disk_cut(k->d, drawn(&k->random, 2) ? LOSE_NOTHING : LOSE_SOME, &k->random);
}

static void end_anywhere(const char *index, int first, int rounds, long every)
{
    uint64_t state = test_seed();
    cutting k = {.d = test_disk_new(), .every = every, .random = state};
    bed b;

    open_on(&b, k.d);
    test_disk_hook(k.d, cut_now, &k);
    load(&b, index, &state, first, rounds);
    test_disk_hook(k.d, NULL, NULL);
    bed_close(&b);
    CHECK(k.count > 0);
    check_on(k.d);
    for (int i = 0; i < k.count; i++) {
        check_on(k.cuts[i]);
        open_on(&b, k.cuts[i]);
        if (bed_run(&b, "describe c", NULL, NULL, 0) == FENEC_OK) {
            check_answers(&b);
            for (int n = 0; n < 5; n++)
                bed_do(&b, draw_change(&state, (uint32_t)first));
            check_answers(&b);
            CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
        }
        bed_close(&b);
        check_on(k.cuts[i]);
        test_disk_free(k.cuts[i]);
    }
    test_disk_free(k.d);
}

TEST(an_end_at_any_point_leaves_every_vector_in_its_index)
{
    int rounds = (int)test_scale(250, 3000);

    end_anywhere("l2", 300, rounds, 700);
    end_anywhere("cosine, quant=int8", 300, rounds, 700);
    end_anywhere("dot", 1500, rounds, 2500);
    end_anywhere("cosine, quant=bit", 2500, rounds, 2500);
}

/* Writes until it is killed; a byte for each text that has landed. */
static void write_for_ever(const char *file, uint64_t state, int acks)
{
    bed b;

    if (try_open_on(&b, NULL, file) != FENEC_OK)
        _exit(1);
    bed_run(&b, "create collection if not exists c (e vector<4> @hnsw(l2, m=3, ef=10, ef_construction=20))", NULL, NULL,
            0);
    for (;;) {
        if (bed_run(&b, draw_change(&state, 400), NULL, NULL, 0) != FENEC_OK)
            _exit(2);
        if (drawn(&state, 6) == 0 && database_checkpoint(b.d, &b.err) != FENEC_OK)
            _exit(3);
        if (write(acks, "x", 1) != 1)
            _exit(4);
    }
}

TEST(a_killed_process_leaves_every_vector_in_its_index)
{
    uint64_t state = test_seed();
    char file[500];
    error err;

    snprintf(file, sizeof file, "%s", make_path("killed_vectors.fenec"));
    for (long round = test_scale(8, 300); round > 0; round--) {
        int acks[2], status = 0, faults;
        uint64_t child_state = test_random(&state);
        CHECK_INT(pipe(acks), 0);
        pid_t child = fork();
        if (child == 0) {
            close(acks[0]);
            write_for_ever(file, child_state, acks[1]);
        }
        close(acks[1]);
        char byte;
        for (uint32_t n = drawn(&state, 120); n > 0 && read(acks[0], &byte, 1) == 1; n--)
            continue;
        kill(child, SIGKILL);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        close(acks[0]);
        store *s = NULL;
        MUST(try_open(&s, file, false, &err));
        if (!s)
            return;
        CHECK_INT(check_index(s, &faults), FENEC_OK);
        CHECK_INT(faults, 0);
        end_store(s);
    }
}

/* ---- damage ---- */

/* Flips a bit of the n-th row of the index, under its old checksum or (`sound`) a new one; false: it has no more. */
static bool flip(const test_disk *d, int n, bool sound, uint64_t *random)
{
    store_options options = {
        .path = (const uint8_t *)DATABASE, .path_len = strlen(DATABASE), .vfs = test_disk_vfs(d)};
    store *s = NULL;
    uint64_t ticket;
    version *none;
    cursor cur = {0};
    catalog *cat;
    conn *c;
    error err;
    bool there = false;

    MUST(store_open(&s, &options, &err));
    MUST(store_write(s, true, &c, &none, &err));
    MUST(catalog_load(c, &cat, &err));
    const collection *of = collection_called(cat, "c");
    const uint32_t index = of->fields[collection_field(of, "e", 1)].index->number;
    const table rows = table_search(index);
    MUST(cursor_rows(&cur, c, rows, INT64_MIN, INT64_MAX, false, &err));
    for (int i = 0; i <= n; i++) {
        const uint8_t *bytes;
        size_t len;
        int64_t id;
        if (cursor_next_row(&cur, &id, &bytes, &len, &err) != FENEC_OK)
            break;
        if (i < n)
            continue;
        uint8_t *own = malloc(len);
        memcpy(own, bytes, len);
        if (sound)
            len -= 4;
        for (uint32_t k = sound ? drawn(random, 3) + 1 : 1; k > 0; k--)
            own[drawn(random, (uint32_t)len)] ^= (uint8_t)(1u << drawn(random, 8));
        cursor_close(&cur);
        if (sound)
            MUST(row_cache_write(c, index, id, own, len, &err));
        else
            MUST(rows_put(c, rows, id, own, len, &err));
        free(own);
        there = true;
    }
    cursor_close(&cur);
    MUST(store_write_commit(c, NULL, &ticket, &err));
    version_drop(&cat->head);
    end_store(s);
    return there;
}

TEST(a_damaged_row_of_a_vector_index_is_noticed_and_the_index_built_anew)
{
    uint64_t state = test_seed(), random = state;
    test_disk *d = test_disk_new();
    bool more = true;
    bed b;

    open_on(&b, d);
    load(&b, "cosine, quant=bit", &state, 2400, 0);
    CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
    bed_do(&b, "del c where id = 7; put c {id: 9, e: [1, 1, 1, 1]}");
    test_disk *saved = test_disk_cut(d, LOSE_NOTHING, &random);
    bed_close(&b);
    test_disk_free(d);
    for (int n = 0; more; n++) {
        test_disk *one = test_disk_cut(saved, LOSE_NOTHING, &random);
        more = flip(one, n, false, &random);
        if (!more)
            CHECK(n >= 8);
        open_on(&b, one);
        check_answers(&b);
        bed_close(&b);
        check_on(one);
        test_disk_free(one);
    }
    test_disk_free(saved);
}

TEST(rows_of_a_vector_index_that_make_no_sense_do_no_harm)
{
    uint64_t state = test_seed(), random = state;
    static const char *const kinds[] = {"l2", "cosine, quant=bit"};

    for (int i = 0; i < 2; i++) {
        test_disk *d = test_disk_new();
        bed b;
        open_on(&b, d);
        load(&b, kinds[i], &state, 2200, 0);
        CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
        bed_do(&b, "del c where id = 7; put c {id: 9, e: [1, 1, 1, 1]}");
        test_disk *saved = test_disk_cut(d, LOSE_NOTHING, &random);
        bed_close(&b);
        test_disk_free(d);
        for (long n = test_scale(12, 2000); n > 0; n--) {
            test_disk *one = test_disk_cut(saved, LOSE_NOTHING, &random);
            flip(one, (int)drawn(&random, 12), true, &random);
            open_on(&b, one);
            CHECK_CODE(&b, "get c select id near e [1, 2, 3, 4] limit 10", FENEC_OK);
            for (int k = 0; k < 3; k++)
                bed_do(&b, draw_change(&state, 2200));
            warm(&b);
            CHECK_CODE(&b, "get c select id near e [4, 3, 2, 1] limit 300", FENEC_OK);
            CHECK_CODE(&b, "get c select id near e [4, 3, 2, 1] exact limit 300", FENEC_OK);
            bed_close(&b);
            test_disk_free(one);
        }
        test_disk_free(saved);
    }
}

/* The manifest with other numbers of vectors and of documents, under its right checksum. */
static void claim(const test_disk *d, uint64_t nodes, uint64_t docs)
{
    store_options options = {
        .path = (const uint8_t *)DATABASE, .path_len = strlen(DATABASE), .vfs = test_disk_vfs(d)};
    uint64_t numbers[VECTOR_MANIFEST_NUMBERS], ticket;
    const uint8_t *bytes, *at;
    store *s = NULL;
    version *none;
    catalog *cat;
    buffer own;
    size_t len;
    conn *c;
    error err;

    MUST(store_open(&s, &options, &err));
    MUST(store_write(s, true, &c, &none, &err));
    MUST(catalog_load(c, &cat, &err));
    const collection *of = collection_called(cat, "c");
    const uint32_t index = of->fields[collection_field(of, "e", 1)].index->number;
    MUST(row_cache_read(c, index, VECTOR_MANIFEST, &bytes, &len, &err));
    buffer_init(&own);
    at = bytes;
    for (int i = 0; i < VECTOR_MANIFEST_NUMBERS; i++) {
        CHECK(varint_get(&at, bytes + len, &numbers[i]));
        varint_put(&own, i == 4 ? nodes : i == 9 ? docs : numbers[i]);
    }
    buffer_put(&own, at, len - (size_t)(at - bytes));
    CHECK_INT(numbers[4], 2200);
    MUST(row_cache_write(c, index, VECTOR_MANIFEST, own.bytes, own.len, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    buffer_clear(&own);
    version_drop(&cat->head);
    end_store(s);
}

static long most_memory_kib(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

TEST(a_manifest_that_claims_millions_of_vectors_takes_no_memory_for_them)
{
    uint64_t state = test_seed();
    test_disk *d = test_disk_new();
    bed b;

    open_on(&b, d);
    load(&b, "l2", &state, 2200, 0);
    CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
    bed_close(&b);
    claim(d, 1u << 29, 1u << 29);
    long before = most_memory_kib();
    open_on(&b, d);
    CHECK_CODE(&b, "get c select id near e [1, 2, 3, 4] limit 10", FENEC_OK);
    bed_close(&b);
    CHECK(most_memory_kib() - before < 1024 * 1024);
    test_disk_free(d);
}

static void note_line(void *to, const char *line)
{
    snprintf(to, 300, "%s", line);
}

TEST(check_compares_vectors_saved_with_the_documents)
{
    uint64_t state = test_seed(), random = state;
    char line[300] = "";
    const check_watch watch = {.found = note_line, .to = line};
    check_report report;
    test_disk *d = test_disk_new();
    bed b;

    open_on(&b, d);
    load(&b, "l2", &state, 300, 50);
    CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
    bed_do(&b, "del c where id = 7; put c {id: 9, e: [1, 1, 1, 1]}");
    CHECK_INT(database_check(b.d, &watch, &report, &b.err), FENEC_OK);
    CHECK_INT(report.findings, 0);
    bed_close(&b);
    for (int i = 0; i < 12; i++) /* the vectors, in the row after the manifest; some bits are of those that are gone */
        flip(d, 1, true, &random);
    open_on(&b, d);
    CHECK_INT(database_check(b.d, &watch, &report, &b.err), FENEC_OK);
    if (report.findings == 0 || !strstr(line, "the index on `e`: the index does not hold it with its vector"))
        test_failed(__FILE__, __LINE__, "%ld findings: %s", (long)report.findings, line);
    bed_close(&b);
    test_disk_free(d);
}

/* ---- failures ---- */

TEST(a_block_that_fails_for_want_of_memory_leaves_no_vector)
{
    bed b;
    int failed = 0;

    bed_open(&b);
    bed_do(&b, "create collection c (e vector<2> @hnsw(l2), t text @text)");
    bed_do(&b, "put c {id: 1, e: [5, 0], t: \"one\"}");
    CHECK_ROWS(&b, "get c select id match t \"one\"", "{\"id\":1,\"_score\":0.2876821}");
    for (long n = 0;; n++) {
        memory_fail_after(n);
        int code = bed_run(&b, "put c [{id: 90, e: [0, 0], t: \"two\"}, {id: 91, e: [5, 0]}]; del c where id = 1", NULL,
                           NULL, 0);
        memory_fail_after(-1);
        if (code == FENEC_OK)
            break;
        failed++;
        CHECK_ROWS(&b, "get c select id near e [1, 0]", "{\"id\":1,\"_score\":4}");
        bed_do(&b, "put c {id: 2, e: [3, 0]}");
        CHECK_ROWS(&b, "get c select id near e [1, 0]", "{\"id\":2,\"_score\":2},{\"id\":1,\"_score\":4}");
        bed_do(&b, "del c where id = 2");
    }
    CHECK(failed > 5);
    CHECK_ROWS(&b, "get c select id near e [1, 0]", "{\"id\":90,\"_score\":1},{\"id\":91,\"_score\":4}");
    bed_close(&b);
}

TEST(a_save_that_fails_is_made_by_the_next)
{
    uint64_t state = test_seed();
    bool done = false;

    for (long n = 1; !done && n < test_scale(40, 400); n += 3) {
        test_disk *d = test_disk_new();
        bed b;
        open_on(&b, d);
        load(&b, "l2", &state, 300, 10);
        test_disk_fail(d, DISK_WRITE, NULL, n, 10 /* SQLITE_IOERR */, true);
        done = database_checkpoint(b.d, &b.err) == FENEC_OK;
        check_answers(&b);
        test_disk_heal(d);
        database_close(b.d, &b.err);
        database_free(b.d);
        memory_free(b.answer);
        check_on(d);
        open_on(&b, d);
        check_answers(&b);
        CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
        bed_close(&b);
        check_on(d);
        test_disk_free(d);
    }
}

/* ---- beside one another ---- */

typedef struct reader {
    database *d;
    uint64_t random;
    _Atomic(bool) *over;
    thread t;
} reader;

static void read_on(void *of)
{
    reader *r = of;
    bed b = {.d = r->d};

    while (!atomic_load(r->over)) {
        double score, before = 0;
        int count = 0;
        const char *at = bed_rows(&b, format("get c select id near e %s limit 10", draw(&r->random)), NULL);
        for (; (at = strstr(at, "\"_score\":")); at++, count++) {
            CHECK(sscanf(at, "\"_score\":%lf", &score) == 1 && score >= before);
            before = score;
        }
        CHECK_INT(count, 10);
    }
    memory_free(b.answer);
}

/* Readers beside a writer, saves and whatever is done behind. */
static void work_together(const char *index, int first, long rounds)
{
    enum { READERS = 2 };
    uint64_t state = test_seed();
    _Atomic(bool) over = false;
    reader readers[READERS];
    test_disk *d = test_disk_new();
    bed b;

    open_on(&b, d);
    load(&b, index, &state, first, 0);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (reader){.d = b.d, .random = state + (uint64_t)i, .over = &over};
        CHECK(thread_start(&readers[i].t, read_on, &readers[i]));
    }
    for (long i = 0; i < rounds; i++) {
        bed_do(&b, draw_change(&state, (uint32_t)first));
        if (i % 50 == 9)
            CHECK_CODE(&b, format("put c {id: 3, e: %s}; del c where id = 5; insert c {id: 3}", draw(&state)),
                       FENEC_DUPLICATE);
        if (i % 100 == 50)
            CHECK_INT(database_checkpoint(b.d, &b.err), FENEC_OK);
    }
    atomic_store(&over, true);
    for (int i = 0; i < READERS; i++)
        thread_join(&readers[i].t);
    check_answers(&b);
    bed_close(&b);
    check_on(d);
    test_disk_free(d);
}

TEST(vectors_are_read_written_linked_and_saved_beside_one_another)
{
    long rounds = test_scale(1200, 20000);

    work_together("l2", 300, rounds);
    work_together("l2, quant=int8", 300, rounds);
}

static void read_all(void *of)
{
    reader *r = of;
    bed b = {.d = r->d};

    while (!atomic_load(r->over)) {
        int count = 0;
        const char *at = bed_rows(&b, format("get c select id near e %s limit 10", draw(&r->random)), NULL);
        for (; (at = strstr(at, "\"_score\":")); at++)
            count++;
        CHECK_INT(count, 10);
    }
    memory_free(b.answer);
}

TEST(vectors_become_codes_beside_readers)
{
    uint64_t state = 4;
    _Atomic(bool) over = false;
    reader r = {.random = 9, .over = &over};
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection c (e vector<4> @hnsw(cosine, quant=bit, m=3, ef_construction=10))");
    for (int i = 0; i < 20; i++)
        bed_do(&b, format("put c {e: %s}", draw(&state)));
    r.d = b.d;
    CHECK(thread_start(&r.t, read_all, &r));
    for (int i = 0; i < 1200; i++)
        bed_do(&b, format("put c [{e: %s}, {e: [%d, %d, 1, %d]}]", draw(&state), i, i % 7, i / 3));
    warm(&b);
    atomic_store(&over, true);
    thread_join(&r.t);
    check_answers(&b);
    bed_close(&b);
}

/* ---- for ever ---- */

TEST(what_is_gone_leaves_an_index_in_time)
{
    uint64_t state = 3;
    unsigned nodes = 0, linked = 0;
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection c (e vector<4> @hnsw(l2, m=4, ef=20))");
    for (int i = 0; i < 400; i++)
        bed_do(&b, format("put c {e: %s}", draw(&state)));
    for (int i = 0; i < 6000; i++) {
        bed_do(&b, format("put c {id: %u, e: %s}", 1 + drawn(&state, 400), draw(&state)));
        if (i % 200 == 0)
            warm(&b);
    }
    warm(&b);
    bed_run(&b, "explain get c near e [1, 2, 3, 4] limit 3", NULL, NULL, 0);
    const char *holds = strstr(b.answer, "holds ");
    CHECK(holds && sscanf(holds, "holds %u vectors, %u linked", &nodes, &linked) == 2);
    CHECK(nodes < 1200 && linked == nodes);
    check_answers(&b);
    bed_close(&b);
}

/* ---- what is found ---- */

enum { WIDE = 768, CLUSTERS = 30, PAGE = 10 };

static float bell(uint64_t *state)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += (double)(test_random(state) >> 11) / 9007199254740992.0;
    return (float)(sum - 2);
}

/* A text with one vector near a centre as $1. */
static int run_near_centre(bed *b, const char *text, const float *centres, uint64_t *state)
{
    static uint8_t bytes[8 + WIDE * 4];
    static const uint8_t head[8] = {0, 0, 0, 0, WIDE & 0xff, WIDE >> 8};
    const float *centre = centres + (size_t)drawn(state, CLUSTERS) * WIDE;

    memcpy(bytes, head, sizeof head);
    for (int i = 0; i < WIDE; i++) {
        float x = centre[i] + 0.5f * bell(state);
        memcpy(bytes + 8 + i * 4, &x, sizeof x);
    }
    return bed_run(b, text, "[null]", bytes, sizeof bytes);
}

static int read_ids(const bed *b, long long ids[PAGE])
{
    int count = 0;

    for (const char *at = b->answer; count < PAGE && (at = strstr(at, "{\"id\":")); at++)
        count += sscanf(at, "{\"id\":%lld", &ids[count]);
    return count;
}

/* Of the ten nearest, over some queries. */
static double recall(bed *b, const float *centres, int queries)
{
    uint64_t state = 77;
    int found = 0, wanted = 0;

    for (int i = 0; i < queries; i++) {
        long long all[PAGE], some[PAGE];
        uint64_t same = state;
        CHECK_INT(run_near_centre(b, "get c select id near e $1 exact limit 10", centres, &same), FENEC_OK);
        int all_count = read_ids(b, all);
        CHECK_INT(run_near_centre(b, "get c select id near e $1 limit 10", centres, &state), FENEC_OK);
        int some_count = read_ids(b, some);
        wanted += all_count;
        for (int k = 0; k < some_count; k++)
            for (int n = 0; n < all_count; n++)
                found += some[k] == all[n];
    }
    return wanted ? (double)found / wanted : 0;
}

static float *draw_clusters(uint64_t *state)
{
    float *centres = malloc(sizeof *centres * CLUSTERS * WIDE);

    for (int i = 0; i < CLUSTERS * WIDE; i++)
        centres[i] = bell(state);
    return centres;
}

static void load_clusters(bed *b, const char *index, const float *centres, int documents, uint64_t *state)
{
    bed_open(b);
    bed_do(b, format("create collection c (e vector<%d> @hnsw(%s))", WIDE, index));
    for (int i = 0; i < documents; i++)
        CHECK_INT(run_near_centre(b, "put c {e: $1}", centres, state), FENEC_OK);
    warm(b);
}

TEST(codes_of_signs_find_nine_of_ten_at_the_default_beam)
{
    uint64_t state = 5;
    float *centres = draw_clusters(&state);
    bed b;

    load_clusters(&b, "cosine, quant=bit, ef_construction=40", centres, 3000, &state);
    double got = recall(&b, centres, 30);
    if (got < 0.9)
        test_failed(__FILE__, __LINE__, "recall %.3f", got);
    /* 9 bytes and a bit a component, where floats take 3072. */
    unsigned nodes, linked, kib = 0;
    run_near_centre(&b, "explain get c near e $1 limit 3", centres, &state);
    const char *holds = strstr(b.answer, "holds ");
    CHECK(holds && sscanf(holds, "holds %u vectors, %u linked: %u KiB of vectors", &nodes, &linked, &kib) == 3);
    CHECK(kib <= 3000 * 108 / 1024 && linked == 3000);
    bed_close(&b);
    free(centres);
}

TEST(few_vectors_under_codes_of_signs_are_answered_exactly)
{
    uint64_t state = 6;
    float *centres = draw_clusters(&state);
    bed b;

    load_clusters(&b, "cosine, quant=bit, ef_construction=20", centres, 600, &state);
    CHECK(recall(&b, centres, 10) == 1);
    bed_close(&b);
    free(centres);
}

TEST(vectors_written_over_for_ever_are_found_as_before)
{
    uint64_t state = 8;
    float *centres = draw_clusters(&state);
    bed b;

    load_clusters(&b, "cosine, m=8, ef_construction=40, ef=40", centres, 700, &state);
    double before = recall(&b, centres, 30);
    for (int i = 0; i < 3000; i++) {
        CHECK_INT(run_near_centre(&b, format("put c {id: %u, e: $1}", 1 + drawn(&state, 700)), centres, &state), FENEC_OK);
        if (i % 500 == 0)
            warm(&b);
    }
    warm(&b);
    double after = recall(&b, centres, 30);
    if (before < 0.95 || after < before - 0.03)
        test_failed(__FILE__, __LINE__, "recall %.3f, then %.3f", before, after);
    bed_close(&b);
    free(centres);
}
