#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "store/inside.h"
#include "store_make.h"
#include "test_vfs.h"

#define DATABASE "d"

/* Rows of a length drawn from `most`, in one block. */
static void put_rows(store *s, table t, int64_t first, int64_t count, int64_t step, uint32_t most,
                     uint64_t *random)
{
    uint8_t *bytes = memory_alloc(most + 1);
    uint64_t ticket;
    version *v;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    for (int64_t i = 0; i < count; i++) {
        size_t len = test_random(random) % (most + 1);
        memset(bytes, (int)(test_random(random) % 255), len);
        MUST(rows_put(c, t, first + i * step, bytes, len, &err));
    }
    MUST(store_write_commit(c, NULL, &ticket, &err));
    memory_free(bytes);
}

/* Whether a get answers what a cursor does, which reads through SQLite. */
static bool is_same(conn *c, table t, int64_t id)
{
    const uint8_t *bytes, *other;
    size_t len, other_len;
    int64_t other_id;
    cursor rows = {0};
    error err, other_err;

    int code = rows_get(c, t, id, &bytes, &len, &err);
    int want = cursor_rows(&rows, c, t, id, id, false, &other_err);
    if (want == FENEC_OK)
        want = cursor_next_row(&rows, &other_id, &other, &other_len, &other_err);
    bool same = code == want;
    if (same && code == FENEC_OK)
        same = other_id == id && len == other_len && (len == 0 || memcmp(bytes, other, len) == 0);
    cursor_close(&rows);
    return same;
}

static int64_t draw_id(uint64_t *random, int64_t most)
{
    static const int64_t odd[] = {INT64_MIN, -6, 0, INT64_MAX};

    return test_random(random) % 50 ? 1 + (int64_t)(test_random(random) % (uint64_t)most)
                                    : odd[test_random(random) % 4];
}

/* Gets in one snapshot; answers how many of them went off the pages. */
static uint64_t check_gets(store *s, table t, int64_t most, int count, uint64_t *random)
{
    version *v;
    error err;
    conn *c;

    MUST(store_read(s, &c, &v, &err));
    uint64_t before = c->pages.gets;
    for (int i = 0; i < count; i++)
        CHECK(is_same(c, t, draw_id(random, most)));
    uint64_t gets = c->pages.gets - before;
    store_read_end(c);
    return gets;
}

TEST(rows_get_reads_off_the_pages_what_cursors_read)
{
    static const uint32_t lengths[] = {0, 1, 65, 800, 4100, 70000};
    uint64_t random = test_seed();

    for (int kind = 0; kind < 3; kind++) {
        const char *path = kind ? make_path("get.fenec") : NULL;
        store *s = make_store(path, kind == 2);
        error err;

        for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            table t = table_side((uint32_t)kind + 1, i);
            int64_t most = lengths[i] > 5000 ? 60 : 3000;
            CHECK_INT(check_gets(s, t, most, 100, &random), 0);
            put_rows(s, t, 1, most, 1, lengths[i], &random);
            CHECK(check_gets(s, t, most + 10, 300, &random) > 200);
            put_rows(s, t, -5, 40, 77, lengths[i] * 3 + 10, &random); /* some rows anew, some larger */
            CHECK(check_gets(s, t, most + 10, 300, &random) > 200);
            MUST(store_checkpoint(s, &err));
            CHECK(check_gets(s, t, most + 10, 300, &random) > 200);
        }
        end_store(s);
    }
}

TEST(rows_get_reads_ids_of_every_size)
{
    uint64_t random = test_seed();
    store *s = make_store(NULL, false);
    table t = table_records(1);
    version *v;
    error err;
    conn *c;

    for (int bits = 0; bits < 63; bits++) {
        put_rows(s, t, (int64_t)1 << bits, 30, 1, 100, &random);
        put_rows(s, t, -((int64_t)1 << bits) - 30, 30, 1, 100, &random);
    }
    put_rows(s, t, INT64_MAX, 1, 0, 100, &random);
    put_rows(s, t, INT64_MIN, 1, 0, 100, &random);
    MUST(store_read(s, &c, &v, &err));
    for (int bits = 0; bits < 63; bits++)
        for (int64_t near = -2; near < 35; near++)
            CHECK(is_same(c, t, ((int64_t)1 << bits) + near) &&
                  is_same(c, t, -((int64_t)1 << bits) + 2 - near));
    CHECK(is_same(c, t, INT64_MAX) && is_same(c, t, INT64_MIN) && is_same(c, t, INT64_MAX - 1));
    CHECK(c->pages.gets > 4000);
    store_read_end(c);
    end_store(s);
}

TEST(rows_get_keeps_bytes_until_the_next_get_of_the_same_table)
{
    uint64_t random = test_seed();
    store *s = make_store(NULL, false);
    const uint8_t *first, *bytes;
    size_t first_len, len;
    uint8_t before[3000];
    version *v;
    error err;
    conn *c;

    put_rows(s, table_records(1), 1, 2000, 1, 3000, &random);
    put_rows(s, table_side(1, 1), 1, 2000, 1, 9000, &random);
    check_gets(s, table_records(1), 2000, 50, &random);
    MUST(store_read(s, &c, &v, &err));
    MUST(rows_get(c, table_records(1), 7, &first, &first_len, &err));
    memcpy(before, first, first_len);
    for (int64_t id = 1; id <= 2000; id++)
        MUST(rows_get(c, table_side(1, 1), id, &bytes, &len, &err));
    CHECK(memcmp(before, first, first_len) == 0);
    store_read_end(c);
    end_store(s);
}

/* ---- pages that stay ---- */

/* Reads of the disk that one get of each of the ids takes. */
static long reads_of(test_disk *d, store *s, table t, int64_t count)
{
    long before = test_disk_calls(d, DISK_READ);
    const uint8_t *bytes;
    size_t len;
    version *v;
    error err;
    conn *c;

    MUST(store_read(s, &c, &v, &err));
    for (int64_t id = 1; id <= count; id++)
        MUST(rows_get(c, t, id, &bytes, &len, &err));
    store_read_end(c);
    return test_disk_calls(d, DISK_READ) - before;
}

TEST(rows_get_keeps_its_pages_over_commits_and_no_longer_than_to_a_checkpoint)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)DATABASE, .path_len = 1, .vfs = test_disk_vfs(d)};
    table t = table_records(1);
    store *s = NULL;
    error err;

    error_init(&err);
    MUST(store_open(&s, &options, &err));
    put_rows(s, t, 1, 3000, 1, 200, &random);
    put_rows(s, table_records(2), 1, 1, 1, 200, &random);
    MUST(store_checkpoint(s, &err));
    long pages = reads_of(d, s, t, 3000), kept = 0;
    for (int i = 0; i < 20; i++) {
        put_rows(s, table_records(2), 1, 1, 1, 200, &random);
        kept = reads_of(d, s, t, 3000); /* page 1 twice, heads of frames */
        CHECK(kept <= 8);
    }
    put_rows(s, t, 9, 1, 1, 10, &random);
    long one = reads_of(d, s, t, 3000);
    CHECK(one > 2 && one <= 11); /* and that page, from the log */
    MUST(store_checkpoint(s, &err));
    long anew = reads_of(d, s, t, 3000);
    CHECK(anew > 70);
    printf("    3000 gets: %ld reads at first, %ld after a commit, %ld after one of that page, "
           "%ld after a checkpoint\n", pages, kept, one, anew);
    check_gets(s, t, 3000, 1000, &random);
    end_store(s);
    test_disk_free(d);
}

TEST(rows_get_keeps_its_state_while_the_log_begins_anew)
{
    uint64_t random = test_seed();

    for (int whole = 0; whole < 2; whole++) {
        store *s = make_store(make_path(whole ? "whole.fenec" : "pinned.fenec"), false);
        version *v;
        error err;
        conn *c;

        put_rows(s, table_records(1), 1, 2000, 1, 300, &random);
        if (whole)
            MUST(store_checkpoint(s, &err));
        page_scan_eager = true;
        MUST(store_read(s, &c, &v, &err));
        CHECK_INT(c->pages.view.state, whole ? LOG_WHOLE : LOG_PINNED);
        pool_note_long(c);
        for (int i = 0; i < 12; i++) {
            uint64_t before = c->pages.gets;
            put_rows(s, table_records(1), 1, 2000, 1, 1000, &random);
            for (int k = 0; k < 500; k++)
                CHECK(is_same(c, table_records(1), draw_id(&random, 2010)));
            CHECK(c->pages.gets >= before + 490);
        }
        store_read_end(c);
        CHECK(check_gets(s, table_records(1), 2010, 500, &random) > 400);
        page_scan_eager = false;
        end_store(s);
    }
}

/* ---- beside writers and checkpoints ---- */

#define TABLES 4 /* the last one is never made */

typedef struct contest {
    store *s;
    _Atomic(bool) stop;
    _Atomic(long) differs, gets, by_pages, unsure, reads, logs;
    long blocks;
    uint32_t most;
} contest;

static void *write_on(void *argument)
{
    contest *h = argument;
    uint64_t random = test_seed() ^ (uint64_t)(uintptr_t)&random;
    error err;

    for (long i = 0; i < h->blocks; i++) {
        table t = table_records(1 + (uint32_t)(test_random(&random) % (TABLES - 1)));
        uint64_t what = test_random(&random) % 200, ticket, bytes;
        if (what < 164) {
            put_rows(h->s, t, 1 + (int64_t)(test_random(&random) % 3000),
                     1 + (int64_t)(test_random(&random) % 40), 1 + (int64_t)(test_random(&random) % 3),
                     what < 5 ? h->most * 20 : h->most, &random);
        } else if (what < 195) {
            version *v;
            conn *c;
            MUST(store_write(h->s, true, &c, &v, &err));
            int64_t low = (int64_t)(test_random(&random) % 3000);
            MUST(rows_delete_range(c, t, low, low + (int64_t)(test_random(&random) % 400), &err));
            if (what == 194)
                MUST(table_drop(c, t, &err));
            if (what % 5 == 0)
                store_write_rollback(c);
            else
                MUST(store_write_commit(c, NULL, &ticket, &err));
        } else if (what < 197) {
            MUST(store_shrink(h->s, &bytes, &err));
        } else if (what < 198) {
            MUST(store_checkpoint(h->s, &err));
        } else {
            MUST(store_flush(h->s, &err));
        }
    }
    return NULL;
}

static void *get_on(void *argument)
{
    contest *h = argument;
    uint64_t random = test_seed() ^ (uint64_t)(uintptr_t)&random;
    uint8_t salts[LOG_SALTS] = {0};
    version *v;
    error err;
    conn *c;

    while (!atomic_load(&h->stop)) {
        bool slow = test_random(&random) % 20 == 0;
        MUST(store_read(h->s, &c, &v, &err));
        if (slow)
            pool_note_long(c); /* no checkpoint waits for it: it keeps an old state */
        if (test_random(&random) % 500 == 0) { /* now one page, now many */
            page_cache_clear(&c->pages.cache);
            c->pages.cache.kib = 16u << test_random(&random) % 7;
            c->pages.cache_open = false;
        }
        uint64_t before = c->pages.gets;
        int count = slow ? 300 : 1 + (int)(test_random(&random) % 30);
        for (int i = 0; i < count; i++) {
            table t = table_records(1 + (uint32_t)(test_random(&random) % TABLES));
            if (!is_same(c, t, draw_id(&random, 3100)))
                atomic_fetch_add(&h->differs, 1);
        }
        atomic_fetch_add(&h->reads, 1);
        atomic_fetch_add(&h->gets, count);
        atomic_fetch_add(&h->by_pages, (long)(c->pages.gets - before));
        atomic_fetch_add(&h->unsure, c->pages.view.state == LOG_UNSURE);
        if (c->pages.view.state == LOG_PINNED && memcmp(salts, c->pages.view.salts, LOG_SALTS) != 0) {
            memcpy(salts, c->pages.view.salts, LOG_SALTS);
            atomic_fetch_add(&h->logs, 1);
        }
        store_read_end(c);
    }
    return NULL;
}

static void contest_run(store *s, const char *of, long blocks, uint32_t most, bool eager)
{
    contest h = {.s = s, .blocks = blocks, .most = most};
    pthread_t writers[2], readers[3];

    atomic_store(&page_scan_eager, eager);
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&readers[i], NULL, get_on, &h), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&writers[i], NULL, write_on, &h), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    atomic_store(&h.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    CHECK_INT(h.differs, 0);
    CHECK(h.by_pages > 0 && h.unsure < h.reads);
    atomic_store(&page_scan_eager, false);
    printf("    %s: %ld blocks, %ld gets in %ld snapshots, %ld off pages, of at least %ld logs: %ld differ\n",
           of, 2 * blocks, h.gets, h.reads, h.by_pages, h.logs / 3, h.differs);
}

TEST(rows_get_is_right_beside_writers_and_checkpoints)
{
    const char *path = make_path("contest.fenec");
    store *s = make_store(path, false);

    contest_run(s, "durable", test_scale(400, 4000), 900, false);
    contest_run(s, "durable, eager", test_scale(400, 4000), 900, true);
    end_store(s);
    s = make_store(path, true);
    contest_run(s, "NO_SYNC", test_scale(400, 4000), 200, false);
    contest_run(s, "NO_SYNC, eager", test_scale(400, 4000), 200, true);
    end_store(s);
}

TEST(rows_get_is_right_beside_writers_of_a_memory_database)
{
    store *s = make_store(NULL, false);

    contest_run(s, "memory", test_scale(400, 4000), 900, false);
    contest_run(s, "memory, eager", test_scale(400, 4000), 900, true);
    end_store(s);
}

TEST(rows_get_is_right_beside_a_checkpoint_beside_writers)
{
    uint64_t random = test_seed();
    store *s = make_store(make_path("large.fenec"), false);
    version *v;
    error err;
    conn *held;

    /* A long read keeps the log from beginning anew until it is past 16 MiB. */
    put_rows(s, table_records(1), 1, 3000, 1, 200, &random);
    page_scan_eager = true;
    MUST(store_read(s, &held, &v, &err));
    pool_note_long(held);
    for (int i = 0; i < 25; i++) {
        put_rows(s, table_records(2), 1 + i * 10, 200, 1, 8000, &random);
        for (int k = 0; k < 300; k++)
            CHECK(is_same(held, table_records(1 + (uint32_t)k % 2), draw_id(&random, 500)));
        store_read_end(held); /* a new one: the log may begin anew only now and then */
        check_gets(s, table_records(2), 500, 300, &random);
        MUST(store_read(s, &held, &v, &err));
        pool_note_long(held);
    }
    store_read_end(held);
    page_scan_eager = false;
    end_store(s);
}

TEST(rows_get_goes_through_sqlite_after_a_recovery_until_the_first_commit)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)DATABASE, .path_len = 1, .vfs = test_disk_vfs(d)};
    store *s = NULL;
    error err;

    error_init(&err);
    MUST(store_open(&s, &options, &err));
    put_rows(s, table_records(1), 1, 3000, 1, 200, &random);
    MUST(store_sync(s, &err));
    test_disk *cut = test_disk_cut(d, LOSE_ALL, &random);
    end_store(s);
    test_disk_free(d);

    options.vfs = test_disk_vfs(cut);
    MUST(store_open(&s, &options, &err));
    CHECK_INT(check_gets(s, table_records(1), 3000, 300, &random), 0);
    put_rows(s, table_records(1), 5, 3, 1, 200, &random);
    page_scan_eager = true;
    CHECK(check_gets(s, table_records(1), 3000, 300, &random) > 200);
    page_scan_eager = false;
    end_store(s);
    test_disk_free(cut);
}

/* ---- faults ---- */

TEST(rows_get_meets_failing_reads)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)DATABASE, .path_len = 1, .vfs = test_disk_vfs(d)};
    table t = table_records(1);
    long failed = 0, answered = 0;
    store *s = NULL;
    error err;

    error_init(&err);
    MUST(store_open(&s, &options, &err));
    put_rows(s, t, 1, 3000, 1, 5000, &random);
    page_scan_eager = true;
    check_gets(s, t, 3000, 20, &random);
    for (int round = 0; round < 2; round++) {
        for (long n = 1; n < 60; n += 1 + n / 8) {
            for (int forever = 0; forever < 2; forever++) {
                const uint8_t *bytes;
                size_t len;
                version *v;
                conn *c;
                put_rows(s, t, 5, 3, 1, 200, &random);
                MUST(store_read(s, &c, &v, &err));
                int64_t id = 1 + (int64_t)(test_random(&random) % 3000);
                test_disk_fail(d, DISK_READ, NULL, n, SQLITE_IOERR_READ, forever);
                for (int i = 0; i < 5; i++) {
                    int code = rows_get(c, t, id + i, &bytes, &len, &err);
                    CHECK(code == FENEC_OK || code == FENEC_IO || (code == FN_END && id + i > 3000));
                    failed += code == FENEC_IO;
                    answered += code != FENEC_IO;
                }
                test_disk_heal(d);
                store_read_end(c);
                check_gets(s, t, 3000, 20, &random);
            }
        }
        MUST(store_checkpoint(s, &err));
    }
    printf("    %ld gets refused, %ld answered\n", failed, answered);
    CHECK(failed > 0 && answered > failed);
    page_scan_eager = false;
    end_store(s);
    test_disk_free(d);
}

/* Whether a get answers what the same get does through SQLite. */
static bool is_same_get(conn *c, table t, int64_t id, bool *corrupt)
{
    log_state state = c->pages.view.state;
    static uint8_t before[100000];
    const uint8_t *bytes;
    size_t len, other_len;
    error err;

    int code = rows_get(c, t, id, &bytes, &len, &err);
    if (code == FENEC_OK)
        memcpy(before, bytes, len < sizeof before ? len : sizeof before);
    c->pages.view.state = LOG_UNSURE;
    int want = rows_get(c, t, id, &bytes, &other_len, &err);
    c->pages.view.state = state;
    *corrupt = code == FENEC_CORRUPT;
    return code == want &&
           (code || (len == other_len && len <= sizeof before && memcmp(bytes, before, len) == 0));
}

/* Bytes of the file changed at random: every get answers what SQLite does, or SQLite's error. */
TEST(rows_get_of_damaged_pages_answers_as_sqlite_does)
{
    uint64_t random = test_seed();
    const char *path = make_path("damage.fenec");
    store *s = make_store(path, false);
    long gets = 0, by_pages = 0, corrupt = 0, rounds = test_scale(60, 3000);
    error err;

    put_rows(s, table_records(1), 1, 2000, 1, 65, &random);
    put_rows(s, table_records(2), 1, 60, 1, 30000, &random);
    put_rows(s, table_records(3), 1, 40000, 1, 3, &random);
    end_store(s);
    long len;
    uint8_t *bytes = file_bytes(path, &len), *copy = malloc((size_t)len);
    for (long round = 0; round < rounds; round++) {
        memcpy(copy, bytes, (size_t)len);
        for (int i = 0; i < 60; i++) {
            size_t page = 3 + test_random(&random) % ((size_t)len / PAGE_BYTES - 3);
            size_t at = test_random(&random) % (test_random(&random) % 3 ? 64 : PAGE_BYTES);
            copy[page * PAGE_BYTES + at] ^= (uint8_t)(1u << test_random(&random) % 8);
        }
        write_file(path, copy, len);
        if (try_open(&s, path, false, &err))
            continue;
        for (uint32_t n = 1; n <= 3; n++) {
            static const int64_t most[] = {2000, 60, 40000};
            version *v;
            conn *c;
            if (store_read(s, &c, &v, &err))
                continue;
            uint64_t before = c->pages.gets;
            for (int i = 0; i < 300; i++) {
                bool is_corrupt;
                CHECK(is_same_get(c, table_records(n), draw_id(&random, most[n - 1]), &is_corrupt));
                corrupt += is_corrupt;
                gets++;
            }
            by_pages += (long)(c->pages.gets - before);
            store_read_end(c);
        }
        store_close(s, &err);
        store_free(s);
    }
    printf("    %ld files, %ld gets, %ld off pages, %ld of damage\n", rounds, gets, by_pages, corrupt);
    CHECK(by_pages > gets / 2 && corrupt > 0);
    free(copy);
    free(bytes);
}

TEST(rows_get_takes_memory_that_runs_out)
{
    uint64_t random = test_seed();
    store *s = make_store(NULL, false);
    error err;

    page_scan_eager = true;
    put_rows(s, table_records(1), 1, 1000, 1, 9000, &random);
    for (long n = 0; n < 30; n++) {
        const uint8_t *bytes;
        size_t len;
        version *v;
        conn *c;
        put_rows(s, table_records(2), n, 1, 1, 10, &random);
        MUST(store_read(s, &c, &v, &err));
        page_cache_clear(&c->pages.cache);
        memory_fail_after(n / 2);
        for (int64_t id = 1; id <= 20; id++) {
            int code = rows_get(c, table_records(1), id, &bytes, &len, &err);
            CHECK(code == FENEC_OK || code == FENEC_PANIC);
        }
        memory_fail_after(-1);
        store_read_end(c);
    }
    CHECK(check_gets(s, table_records(1), 1000, 2000, &random) > 900);
    page_scan_eager = false;
    end_store(s);
}
