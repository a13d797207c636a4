#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/inside.h"
#include "store/stamp.h"
#include "store_make.h"
#include "test_vfs.h"

#define DATABASE "d"

/* ---- a scan beside a cursor ---- */

typedef struct beside {
    conn *c;
    cursor rows;
    int64_t count, stop_at; /* visits; the one that ends it */
    bool wants_id, differs;
    bool reads; /* the visit reads the table too */
    table t;
} beside;

static bool visit_beside(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    beside *b = to;
    const uint8_t *other;
    size_t other_len;
    int64_t other_id;
    error err;

    if (cursor_next_row(&b->rows, &other_id, &other, &other_len, &err) != FENEC_OK || len != other_len ||
        memcmp(bytes, other, len) != 0 || id != (b->wants_id ? other_id : 0))
        b->differs = true;
    if (b->reads && b->count % 97 == 0)
        b->differs |= rows_get(b->c, b->t, other_id, &other, &other_len, &err) != FENEC_OK ||
                      len != other_len || memcmp(bytes, other, len) != 0;
    return ++b->count != b->stop_at && !b->differs;
}

/* Whether a scan of the range hands out what a cursor does; *by_pages: some of it off the pages. */
static bool is_same(conn *c, table t, int64_t low, int64_t high, uint64_t *random, bool *by_pages)
{
    beside b = {.c = c, .t = t, .wants_id = test_random(random) % 2, .reads = test_random(random) % 4 == 0};
    uint64_t before = c->pages.rows;
    int64_t last = 0, id;
    const uint8_t *bytes;
    size_t len;
    error err;

    if (test_random(random) % 4 == 0)
        b.stop_at = 1 + (int64_t)(test_random(random) % 1000);
    MUST(cursor_rows(&b.rows, c, t, low, high, false, &err));
    int code = rows_scan(c, t, low, high, b.wants_id, visit_beside, &b, &last, &err);
    if (code == FENEC_OK)
        b.differs |= b.count != b.stop_at;
    else if (code == FN_END)
        b.differs |= cursor_next_row(&b.rows, &id, &bytes, &len, &err) != FN_END;
    else
        test_failed(__FILE__, __LINE__, "rows_scan is %d: %s", code, err.message);
    cursor_close(&b.rows);
    *by_pages = c->pages.rows > before;
    return !b.differs;
}

static bool check_table(store *s, table t, uint64_t *random)
{
    bool by_pages;
    version *v;
    error err;
    conn *c;

    MUST(store_read(s, &c, &v, &err));
    CHECK(is_same(c, t, INT64_MIN, INT64_MAX, random, &by_pages));
    int64_t low = (int64_t)(test_random(random) % 5000);
    bool part;
    CHECK(is_same(c, t, low, low + (int64_t)(test_random(random) % 3000), random, &part));
    store_read_end(c);
    return by_pages;
}

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

TEST(rows_scan_reads_off_the_pages_what_cursors_read)
{
    static const uint32_t lengths[] = {0, 1, 65, 800, 4100, 70000};
    uint64_t random = test_seed();

    for (int kind = 0; kind < 3; kind++) {
        const char *path = kind ? make_path("scan.fenec") : NULL;
        store *s = make_store(path, kind == 2);
        error err;

        for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            table t = table_records(kind * 10 + i + 1);
            CHECK(!check_table(s, t, &random));
            put_rows(s, t, 1, lengths[i] > 5000 ? 60 : 3000, 1, lengths[i], &random);
            check_table(s, t, &random);
            page_scan_eager = true;
            CHECK(check_table(s, t, &random));
            page_scan_eager = false;
            put_rows(s, t, -5, 40, 77, lengths[i] * 3 + 10, &random); /* some rows anew, some larger */
            check_table(s, t, &random);
            MUST(store_checkpoint(s, &err));
            CHECK(check_table(s, t, &random));
        }
        end_store(s);
        if (path) { /* without a log */
            s = make_store(path, false);
            CHECK(check_table(s, table_records((uint32_t)kind * 10 + 3), &random));
            end_store(s);
        }
    }
}

TEST(rows_scan_reads_ids_of_every_size)
{
    static const int64_t ids[] = {INT64_MIN, INT64_MIN + 1, -70000, -1, 0, 1, 127, 128, 300, 70000, 1LL << 40,
                                  INT64_MAX - 1, INT64_MAX};
    uint64_t random = test_seed();
    store *s = make_store(NULL, false);
    bool by_pages;
    version *v;
    error err;
    conn *c;

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        put_rows(s, table_records(1), ids[i], 1, 1, 40, &random);
    MUST(store_checkpoint(s, &err));
    MUST(store_read(s, &c, &v, &err));
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        for (size_t k = 0; k < sizeof ids / sizeof *ids; k++) {
            CHECK(is_same(c, table_records(1), ids[i], ids[k], &random, &by_pages));
            CHECK(by_pages == (i <= k));
        }
    store_read_end(c);
    end_store(s);
}

static bool visit_nested(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    beside *outer = to;
    bool by_pages;

    (void)id, (void)bytes, (void)len;
    uint64_t random = 1;
    int64_t low = outer->count * 50;
    outer->differs |= !is_same(outer->c, outer->t, low, low + 200, &random, &by_pages);
    return ++outer->count < 20;
}

TEST(rows_scan_is_made_inside_a_visit_of_another)
{
    uint64_t random = test_seed();
    store *s = make_store(NULL, false);
    version *v;
    int64_t last;
    error err;
    conn *c;

    put_rows(s, table_records(1), 1, 2000, 1, 100, &random);
    put_rows(s, table_records(2), 1, 2000, 1, 6000, &random);
    MUST(store_checkpoint(s, &err));
    MUST(store_read(s, &c, &v, &err));
    beside outer = {.c = c, .t = table_records(2)};
    int code = rows_scan(c, table_records(1), INT64_MIN, INT64_MAX, true, visit_nested, &outer, &last, &err);
    CHECK_INT(code, FENEC_OK);
    CHECK_INT(last, 20);
    CHECK(!outer.differs);
    CHECK(c->pages.rows > 1000);
    store_read_end(c);
    end_store(s);
}

/* ---- beside writers and checkpoints ---- */

typedef struct contest {
    store *s;
    _Atomic(bool) stop;
    _Atomic(long) differs, scans, by_pages, unsure;
    long blocks;
    uint32_t most;
} contest;

#define TABLES 4

static void *write_on(void *argument)
{
    contest *h = argument;
    uint64_t random = test_seed() ^ (uint64_t)(uintptr_t)&random;
    error err;

    for (long i = 0; i < h->blocks; i++) {
        table t = table_records(1 + (uint32_t)(test_random(&random) % TABLES));
        uint64_t what = test_random(&random) % 100, ticket, bytes;
        if (what < 70) {
            put_rows(h->s, t, 1 + (int64_t)(test_random(&random) % 5000), (int64_t)(test_random(&random) % 300),
                     1 + (int64_t)(test_random(&random) % 3), what < 5 ? h->most * 20 : h->most, &random);
        } else if (what < 96) {
            version *v;
            conn *c;
            MUST(store_write(h->s, true, &c, &v, &err));
            int64_t low = (int64_t)(test_random(&random) % 5000);
            MUST(rows_delete_range(c, t, low, low + (int64_t)(test_random(&random) % 400), &err));
            if (what == 95)
                MUST(table_drop(c, t, &err));
            if (what % 5 == 0)
                store_write_rollback(c);
            else
                MUST(store_write_commit(c, NULL, &ticket, &err));
        } else if (what < 98) {
            MUST(store_shrink(h->s, &bytes, &err));
        } else if (what < 99) {
            MUST(store_checkpoint(h->s, &err));
        } else {
            MUST(store_flush(h->s, &err));
        }
    }
    return NULL;
}

static void *scan_on(void *argument)
{
    contest *h = argument;
    uint64_t random = test_seed() ^ (uint64_t)(uintptr_t)&random;
    version *v;
    error err;
    conn *c;

    while (!atomic_load(&h->stop)) {
        bool by_pages, slow = test_random(&random) % 20 == 0;
        MUST(store_read(h->s, &c, &v, &err));
        if (slow)
            pool_note_long(c); /* no checkpoint waits for it: it keeps an old state */
        for (int i = 0; i < (slow ? 10 : 2); i++) {
            table t = table_records(1 + (uint32_t)(test_random(&random) % TABLES));
            int64_t low = test_random(&random) % 2 ? INT64_MIN : (int64_t)(test_random(&random) % 5000);
            int64_t high = test_random(&random) % 2 ? INT64_MAX : low + (int64_t)(test_random(&random) % 1000);
            if (!is_same(c, t, low, high, &random, &by_pages))
                atomic_fetch_add(&h->differs, 1);
            atomic_fetch_add(&h->scans, 1);
            atomic_fetch_add(&h->by_pages, by_pages);
            atomic_fetch_add(&h->unsure, c->pages.view.state == LOG_UNSURE);
        }
        store_read_end(c);
    }
    return NULL;
}

static void contest_run(store *s, long blocks, uint32_t most, bool eager)
{
    contest h = {.s = s, .blocks = blocks, .most = most};
    pthread_t writers[2], readers[3];

    atomic_store(&page_scan_eager, eager);
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&readers[i], NULL, scan_on, &h), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&writers[i], NULL, write_on, &h), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    atomic_store(&h.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    CHECK_INT(h.differs, 0);
    CHECK(h.by_pages > 0 && h.unsure < h.scans);
    atomic_store(&page_scan_eager, false);
    if (getenv("FENEC_VERBOSE"))
        printf("    %ld scans, %ld off pages, %ld unsure\n", h.scans, h.by_pages, h.unsure);
}

TEST(rows_scan_is_right_beside_writers_and_checkpoints)
{
    const char *path = make_path("contest.fenec");
    store *s = make_store(path, false);

    contest_run(s, test_scale(150, 1500), 900, false);
    contest_run(s, test_scale(150, 1500), 900, true);
    end_store(s);
    s = make_store(path, true);
    contest_run(s, test_scale(150, 1500), 200, true);
    end_store(s);
}

TEST(rows_scan_is_right_beside_writers_of_a_memory_database)
{
    store *s = make_store(NULL, false);

    contest_run(s, test_scale(150, 1500), 900, true);
    end_store(s);
}

TEST(rows_scan_is_right_beside_a_checkpoint_beside_writers)
{
    uint64_t random = test_seed();
    const char *path = make_path("large.fenec");
    store *s = make_store(path, false);
    version *v;
    error err;
    conn *held;

    /* A long read keeps the log from beginning anew until it is past 16 MiB. */
    put_rows(s, table_records(1), 1, 3000, 1, 200, &random);
    MUST(store_read(s, &held, &v, &err));
    pool_note_long(held);
    for (int i = 0; i < 25; i++) {
        bool by_pages;
        put_rows(s, table_records(2), 1 + i * 10, 200, 1, 8000, &random);
        CHECK(is_same(held, table_records(1), INT64_MIN, INT64_MAX, &random, &by_pages));
        CHECK(is_same(held, table_records(2), INT64_MIN, INT64_MAX, &random, &by_pages));
        store_read_end(held); /* a new one: the log may begin anew only now and then */
        check_table(s, table_records(2), &random);
        MUST(store_read(s, &held, &v, &err));
        pool_note_long(held);
    }
    store_read_end(held);
    end_store(s);
}

/* ---- what is older than the newest state ---- */

TEST(rows_scan_keeps_its_state_while_the_log_begins_anew)
{
    uint64_t random = test_seed();

    for (int whole = 0; whole < 2; whole++) {
        store *s = make_store(make_path(whole ? "whole.fenec" : "pinned.fenec"), false);
        int64_t count;
        bool by_pages;
        version *v;
        error err;
        conn *c;

        put_rows(s, table_records(1), 1, 2000, 1, 300, &random);
        if (whole) {
            MUST(store_checkpoint(s, &err));
            MUST(store_write(s, true, &c, &v, &err));
            uint64_t ticket;
            MUST(rows_put(c, table_records(2), 1, (const uint8_t *)"x", 1, &err));
            MUST(store_write_commit(c, NULL, &ticket, &err));
            lock_take(&s->writing);
            checkpoint_run(s); /* the log is left as it is */
            lock_leave(&s->writing);
        }
        page_scan_eager = true;
        MUST(store_read(s, &c, &v, &err));
        CHECK_INT(c->pages.view.state, whole ? LOG_WHOLE : LOG_PINNED);
        pool_note_long(c);
        for (int i = 0; i < 12; i++) {
            put_rows(s, table_records(1), 1, 2000, 1, 1000, &random);
            CHECK(is_same(c, table_records(1), INT64_MIN, INT64_MAX, &random, &by_pages));
            CHECK(by_pages);
            MUST(rows_count(c, table_records(1), &count, &err));
            CHECK_INT(count, 2000);
        }
        store_read_end(c);
        CHECK(check_table(s, table_records(1), &random));
        page_scan_eager = false;
        end_store(s);
    }
}

TEST(rows_scan_goes_through_sqlite_after_a_recovery_until_the_first_commit)
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
    CHECK(!check_table(s, table_records(1), &random));
    put_rows(s, table_records(1), 5, 3, 1, 200, &random);
    page_scan_eager = true;
    CHECK(check_table(s, table_records(1), &random));
    page_scan_eager = false;
    end_store(s);
    test_disk_free(cut);
}

/* ---- faults ---- */

TEST(rows_scan_meets_failing_reads)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)DATABASE, .path_len = 1, .vfs = test_disk_vfs(d)};
    store *s = NULL;
    error err;

    error_init(&err);
    MUST(store_open(&s, &options, &err));
    put_rows(s, table_records(1), 1, 3000, 1, 200, &random);
    page_scan_eager = true;
    for (int round = 0; round < 2; round++) {
        check_table(s, table_records(1), &random);
        for (long n = 1; n < 200; n += 1 + n / 8) {
            for (int forever = 0; forever < 2; forever++) {
                version *v;
                conn *c;
                MUST(store_read(s, &c, &v, &err));
                beside b = {.c = c, .wants_id = true};
                int64_t last;
                MUST(cursor_rows(&b.rows, c, table_records(1), INT64_MIN, INT64_MAX, false, &err));
                test_disk_fail(d, DISK_READ, NULL, n, SQLITE_IOERR_READ, forever);
                int code = rows_scan(c, table_records(1), INT64_MIN, INT64_MAX, true, visit_beside, &b, &last,
                                     &err);
                test_disk_heal(d);
                /* One that fails is read again through SQLite; the cursor beside it may be what failed. */
                CHECK(code == FN_END || code == FENEC_OK || code == FENEC_IO || code == FENEC_PANIC);
                if (code == FN_END)
                    CHECK(!b.differs && b.count == 3000);
                cursor_close(&b.rows);
                store_read_end(c);
                check_table(s, table_records(1), &random);
            }
        }
        MUST(store_checkpoint(s, &err));
    }
    page_scan_eager = false;
    end_store(s);
    test_disk_free(d);
}

static bool count_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    (void)id;
    *(uint64_t *)to += len ? bytes[0] + bytes[len - 1] : 1u;
    return true;
}

/* Bytes of the file changed at random: an error or other rows, never a crash or a scan without end. */
TEST(rows_scan_survives_damaged_pages)
{
    uint64_t random = test_seed();
    const char *path = make_path("damage.fenec");
    store *s = make_store(path, false);
    error err;

    put_rows(s, table_records(1), 1, 2000, 1, 65, &random);
    put_rows(s, table_records(2), 1, 60, 1, 30000, &random);
    put_rows(s, table_records(3), 1, 40000, 1, 3, &random);
    end_store(s);
    long len;
    uint8_t *bytes = file_bytes(path, &len), *copy = malloc((size_t)len);
    for (long round = 0; round < test_scale(60, 3000); round++) {
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
            uint64_t sum = 0;
            int64_t last;
            version *v;
            conn *c;
            if (store_read(s, &c, &v, &err))
                continue;
            int code = rows_scan(c, table_records(n), INT64_MIN, INT64_MAX, true, count_row, &sum, &last, &err);
            CHECK(code == FN_END || code == FENEC_CORRUPT || code == FENEC_PANIC || code == FENEC_IO);
            code = rows_scan(c, table_records(n), 100, 1500, false, count_row, &sum, &last, &err);
            CHECK(code == FN_END || code == FENEC_CORRUPT || code == FENEC_PANIC || code == FENEC_IO);
            store_read_end(c);
        }
        store_close(s, &err);
        store_free(s);
    }
    free(copy);
    free(bytes);
}

TEST(rows_scan_takes_memory_that_runs_out)
{
    uint64_t random = test_seed();
    store *s = make_store(NULL, false);
    error err;

    put_rows(s, table_records(1), 1, 1000, 1, 9000, &random);
    for (long n = 0; n < 12; n++) {
        uint64_t sum = 0;
        int64_t last;
        version *v;
        conn *c;
        MUST(store_read(s, &c, &v, &err));
        memory_fail_after(n);
        int code = rows_scan(c, table_records(1), INT64_MIN, INT64_MAX, true, count_row, &sum, &last, &err);
        memory_fail_after(-1);
        CHECK(code == FN_END || code == FENEC_PANIC);
        store_read_end(c);
    }
    check_table(s, table_records(1), &random);
    page_scan_eager = true;
    CHECK(check_table(s, table_records(1), &random));
    page_scan_eager = false;
    end_store(s);
}
