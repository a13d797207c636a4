#include <pthread.h>
#include <stdatomic.h>

#include "base/thread.h"
#include "store_make.h"
#include "test_vfs.h"

#define ACCOUNTS 20

/* ---- rows and version of one commit ---- */

/* A version carries a number, and every account of that commit holds it. */
typedef struct numbered {
    version head;
    int64_t number;
} numbered;

static _Atomic(long) versions;

static void numbered_free(version *v)
{
    atomic_fetch_sub(&versions, 1);
    free(v);
}

static version *numbered_new(int64_t number)
{
    numbered *v = malloc(sizeof *v);

    atomic_fetch_add(&versions, 1);
    *v = (numbered){.head = {.references = 1, .free = numbered_free}, .number = number};
    return &v->head;
}

typedef struct hammer {
    store *s;
    _Atomic(bool) stop;
    _Atomic(long) torn, failed, reads, newest;
    bool rare; /* half of the blocks are put back */
} hammer;

static int write_accounts(hammer *h, int64_t number, error *err)
{
    uint64_t ticket;
    version *v;
    conn *c;

    int code = store_write(h->s, true, &c, &v, err);
    if (code)
        return code;
    for (int64_t id = 1; id <= ACCOUNTS && code == FENEC_OK; id++)
        code = rows_put(c, table_records(1), id, (const uint8_t *)&number, sizeof number, err);
    if (code || (h->rare && number % 2)) {
        store_write_rollback(c);
        return code;
    }
    code = store_write_commit(c, numbered_new(number), &ticket, err);
    /* A read that begins now sees it, synced or not. */
    if (code == FENEC_OK)
        atomic_store(&h->newest, (long)number);
    return code;
}

static void check_snapshot(hammer *h, uint64_t *random)
{
    const uint8_t *bytes;
    long newest = atomic_load(&h->newest);
    int64_t id, held;
    version *v;
    cursor cur;
    size_t len;
    error err;
    conn *c;

    if (store_read(h->s, &c, &v, &err)) {
        atomic_fetch_add(&h->failed, 1);
        return;
    }
    int64_t want = v ? ((numbered *)v)->number : 0, seen = 0;
    if (want < newest)
        atomic_fetch_add(&h->torn, 1);
    if (test_random(random) % 2) {
        id = (int64_t)(test_random(random) % ACCOUNTS) + 1;
        if (rows_get(c, table_records(1), id, &bytes, &len, &err) == FENEC_OK) {
            memcpy(&held, bytes, sizeof held);
            seen = held == want ? ACCOUNTS : -1;
        }
    } else {
        if (cursor_rows(&cur, c, table_records(1), 1, ACCOUNTS, false, &err))
            atomic_fetch_add(&h->failed, 1);
        while (cursor_next_row(&cur, &id, &bytes, &len, &err) == FENEC_OK) {
            memcpy(&held, bytes, sizeof held);
            seen += held == want;
        }
        cursor_close(&cur);
    }
    if (seen != (want ? ACCOUNTS : 0))
        atomic_fetch_add(&h->torn, 1);
    store_read_end(c);
    atomic_fetch_add(&h->reads, 1);
}

static void *read_on(void *argument)
{
    hammer *h = argument;
    uint64_t random = test_seed() ^ (uint64_t)(uintptr_t)&random;

    while (!atomic_load(&h->stop))
        check_snapshot(h, &random);
    return NULL;
}

static void hammer_store(const char *path, bool no_sync, int readers, long blocks)
{
    hammer h = {.s = make_store(path, no_sync), .rare = true};
    pthread_t threads[24];
    error err;

    versions = 0;
    for (int i = 0; i < readers; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, read_on, &h), 0);
    for (long n = 1; n <= blocks; n++)
        MUST(write_accounts(&h, n, &err));
    atomic_store(&h.stop, true);
    for (int i = 0; i < readers; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(h.torn, 0);
    CHECK_INT(h.failed, 0);
    CHECK(h.reads > 0);
    end_store(h.s);
    CHECK_INT(versions, 0);
}

TEST(store_readers_beside_a_writer_see_one_commit)
{
    hammer_store(NULL, false, 4, test_scale(3000, 100000));
    hammer_store(make_path("hammer.fenec"), false, 4, test_scale(3000, 100000));
}

TEST(store_readers_beside_a_writer_without_sync_see_one_commit)
{
    hammer_store(make_path("hammer-no-sync.fenec"), true, 4, test_scale(2000, 50000));
}

TEST(store_readers_wait_where_all_connections_are_in_use)
{
    hammer_store(make_path("many.fenec"), false, 24, test_scale(500, 10000));
}

/* ---- group commit ---- */

typedef struct committer {
    store *s;
    int number;
    int64_t acknowledged;
    int64_t blocks;
    int code;
} committer;

static void *commit_on(void *argument)
{
    committer *w = argument;
    error err;

    for (int64_t i = 1; i <= w->blocks && w->code == FENEC_OK; i++) {
        w->code = put_text(w->s, table_records((uint32_t)w->number), i, "acknowledged", &err);
        if (w->code == FENEC_OK)
            w->acknowledged = i;
    }
    return NULL;
}

static void commit_in_threads(store *s, committer w[8], int64_t blocks)
{
    pthread_t threads[8];

    for (int i = 0; i < 8; i++) {
        w[i] = (committer){.s = s, .number = i + 1, .blocks = blocks};
        CHECK_INT(pthread_create(&threads[i], NULL, commit_on, &w[i]), 0);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

TEST(store_keeps_what_eight_threads_were_acknowledged)
{
    uint64_t violations = lock_order_violations();
    const char *path = make_path("group.fenec");
    int64_t blocks = test_scale(150, 5000);
    committer w[8];

    store *s = make_store(path, false);
    commit_in_threads(s, w, blocks);
    end_store(s);
    s = make_store(path, false);
    for (int i = 0; i < 8; i++) {
        CHECK_INT(w[i].code, FENEC_OK);
        CHECK_INT(count_rows(s, table_records((uint32_t)i + 1)), blocks);
    }
    end_store(s);
    CHECK_INT(lock_order_violations() - violations, 0);
}

TEST(store_shares_a_sync_between_writers)
{
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)"/group.db", .path_len = 9, .vfs = test_disk_vfs(d)};
    committer w[8];
    store *s;
    error err;

    MUST(store_open(&s, &options, &err));
    test_disk_sync_ms(d, 4);
    long before = test_disk_calls(d, DISK_SYNC);
    commit_in_threads(s, w, 50);
    long syncs = test_disk_calls(d, DISK_SYNC) - before;
    CHECK(syncs < 400 / 2); /* one for each block would be 400 */
    end_store(s);
    test_disk_free(d);
}

TEST(store_fails_all_who_wait_for_a_sync_that_fails)
{
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)"/fail.db", .path_len = 8, .vfs = test_disk_vfs(d)};
    committer w[8];
    store *s;
    error err;

    MUST(store_open(&s, &options, &err));
    MUST(put_text(s, table_records(1), 1, "x", &err));
    test_disk_sync_ms(d, 2);
    test_disk_fail(d, DISK_SYNC, NULL, 20, 1034 /* SQLITE_IOERR_FSYNC */, false);
    commit_in_threads(s, w, 10000);
    long syncs = test_disk_calls(d, DISK_SYNC);
    for (int i = 0; i < 8; i++)
        CHECK_INT(w[i].code, FENEC_IO);
    CHECK_INT(put_text(s, table_records(1), 2, "x", &err), FENEC_IO);
    CHECK_INT(store_sync(s, &err), FENEC_IO);
    CHECK_INT(store_flush(s, &err), FENEC_IO);
    CHECK_INT(store_checkpoint(s, &err), FENEC_IO);
    CHECK_TEXT(get_text(s, table_records(1), 1), "acknowledged"); /* reads go on */
    CHECK_INT(store_close(s, &err), FENEC_IO);
    store_free(s);
    CHECK_INT(test_disk_calls(d, DISK_SYNC), syncs); /* never tried again */
    MUST(store_open(&s, &options, &err));
    for (int i = 0; i < 8; i++)
        CHECK(count_rows(s, table_records((uint32_t)i + 1)) >= w[i].acknowledged);
    end_store(s);
    test_disk_free(d);
}

/* What others do while a sync is under way: in the hook, so that a sync which held a lock of theirs would
 * never end. */
typedef struct meanwhile {
    store *s;
    _Atomic(bool) armed;
    int syncs;
    int64_t landed, read;
    uint64_t ticket;
} meanwhile;

static void *read_and_write(void *argument)
{
    meanwhile *m = argument;
    const char text[] = "landed during a sync";
    version *v;
    error err;
    conn *c;

    m->read = count_rows(m->s, table_records(1));
    MUST(store_write(m->s, false, &c, &v, &err));
    MUST(rows_put(c, table_records(2), 1, (const uint8_t *)text, sizeof text, &err));
    MUST(store_write_commit(c, NULL, &m->ticket, &err));
    m->landed = count_rows(m->s, table_records(2));
    return NULL;
}

static void work_meanwhile(void *argument, disk_call call, const char *path)
{
    meanwhile *m = argument;
    pthread_t other;

    (void)path;
    if (call != DISK_SYNC)
        return;
    m->syncs++;
    if (!atomic_exchange(&m->armed, false))
        return;
    CHECK_INT(pthread_create(&other, NULL, read_and_write, m), 0);
    pthread_join(other, NULL);
}

TEST(store_reads_and_lands_blocks_while_a_sync_is_under_way)
{
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)"/while.db", .path_len = 9, .vfs = test_disk_vfs(d)};
    meanwhile m = {0};
    error err;

    MUST(store_open(&m.s, &options, &err));
    MUST(put_text(m.s, table_records(1), 1, "one", &err));
    test_disk_hook(d, work_meanwhile, &m);
    atomic_store(&m.armed, true);
    MUST(put_text(m.s, table_records(1), 2, "two", &err));
    CHECK_INT(m.read, 2); /* visible before it is durable */
    CHECK_INT(m.landed, 1);
    /* It landed after that sync had begun, which may not have covered it: it has one of its own. */
    int syncs = m.syncs;
    MUST(store_wait(m.s, m.ticket, &err));
    CHECK_INT(m.syncs, syncs + 1);
    /* One that everybody's sync covered has none. */
    MUST(store_wait(m.s, m.ticket, &err));
    CHECK_INT(m.syncs, syncs + 1);
    test_disk_hook(d, NULL, NULL);
    end_store(m.s);
    test_disk_free(d);
}

/* ---- the log ---- */

#define LOG_MOST (16l * 1024 * 1024)
#define LOG_A_BLOCK (200 * 1024) /* above what a block of put_pages adds to the log */

typedef struct scanner {
    hammer *h;
    int rows;
    long blocks; /* most that landed during one of its reads */
} scanner;

static void *scan_on(void *argument)
{
    scanner *r = argument;
    const uint8_t *bytes;
    version *v;
    cursor cur;
    size_t len;
    int64_t id;
    error err;
    conn *c;

    while (!atomic_load(&r->h->stop)) {
        long before = atomic_load(&r->h->newest);
        if (store_read(r->h->s, &c, &v, &err))
            break;
        int rows = 0;
        if (cursor_rows(&cur, c, table_records(1), 1, INT64_MAX, false, &err) == FENEC_OK)
            while (rows++ < r->rows && cursor_next_row(&cur, &id, &bytes, &len, &err) == FENEC_OK)
                ;
        cursor_close(&cur);
        store_read_end(c);
        long during = atomic_load(&r->h->newest) - before;
        r->blocks = during > r->blocks ? during : r->blocks;
        atomic_fetch_add(&r->h->reads, 1);
    }
    return NULL;
}

/* 20 000 rows to scan. */
static void put_rows(store *s)
{
    static uint8_t bytes[100];
    uint64_t ticket;
    version *v;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    for (int64_t id = 1; id <= 20000; id++)
        MUST(rows_put(c, table_records(1), id, bytes, sizeof bytes, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_checkpoint(s, &err));
}

/* Block n: 100 kB of other rows, committed. The log's size. */
static long put_pages(store *s, int64_t n)
{
    static uint8_t bytes[2000];
    uint64_t file, log, ticket;
    version *v;
    error err;
    conn *c;

    MUST(store_write(s, false, &c, &v, &err));
    for (int64_t id = 0; id < 50; id++)
        MUST(rows_put(c, table_records(2), n * 50 % 1000 + id, bytes, sizeof bytes, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_flush(s, &err));
    store_sizes(s, &file, &log);
    return (long)log;
}

/* Whatever the machine is busy with: 16 MiB, and what was written during a read that held the log, and during
 * one that began before that read was over. */
static void log_under_readers(const char *path, int rows)
{
    hammer h = {.s = make_store(path, true)};
    scanner readers[3];
    pthread_t threads[3];
    long most = 0, during = 0, blocks = test_scale(300, 10000);

    put_rows(h.s);
    for (int i = 0; i < 3; i++) {
        readers[i] = (scanner){.h = &h, .rows = rows};
        CHECK_INT(pthread_create(&threads[i], NULL, scan_on, &readers[i]), 0);
    }
    for (long n = 0; n < blocks; n++) {
        long log = put_pages(h.s, n);
        atomic_store(&h.newest, n + 1);
        most = log > most ? log : most;
    }
    atomic_store(&h.stop, true);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        during = readers[i].blocks > during ? readers[i].blocks : during;
    }
    CHECK(h.reads > 0);
    printf("    %ld blocks, %ld reads of %d rows: log at most %ld KiB, %ld blocks during one read\n", blocks,
           (long)h.reads, rows, most / 1024, during);
    if (most > LOG_MOST + (2 * during + 2) * LOG_A_BLOCK)
        test_failed(__FILE__, __LINE__, "the log grew to %ld bytes, %ld blocks during one read", most, during);
    end_store(h.s);
}

TEST(store_bounds_its_log_under_overlapping_reads)
{
    log_under_readers(make_path("overlap.fenec"), 500);
}

TEST(store_bounds_its_log_under_overlapping_long_reads)
{
    log_under_readers(make_path("overlap-long.fenec"), 20000);
}

/* A snapshot that has stepped so many rows. */
static conn *hold_read(store *s, int rows, cursor *cur)
{
    const uint8_t *bytes;
    version *v;
    size_t len;
    int64_t id;
    error err;
    conn *c;

    MUST(store_read(s, &c, &v, &err));
    MUST(cursor_rows(cur, c, table_records(1), 1, INT64_MAX, false, &err));
    for (int i = 0; i < rows; i++)
        MUST(cursor_next_row(cur, &id, &bytes, &len, &err));
    return c;
}

/* What waits for the read under way would never come back here: nobody else ends it. */
static void log_under_one_read(int rows)
{
    store *s = make_store(make_path("one-read.fenec"), true);
    cursor cur;
    long log = 0, short_reads = 0;
    int64_t n = 0;

    put_rows(s);
    conn *held = hold_read(s, rows, &cur);
    for (; n < 400; n++) {
        cursor other;
        log = put_pages(s, n);
        conn *c = hold_read(s, 10, &other);
        cursor_close(&other);
        store_read_end(c);
        short_reads++;
    }
    CHECK(log > LOG_MOST); /* it is held, or this shows nothing */
    CHECK(log < 400l * LOG_A_BLOCK);
    cursor_close(&cur);
    store_read_end(held);
    for (; n < 402; n++)
        log = put_pages(s, n);
    CHECK(log <= LOG_MOST);
    CHECK_INT(short_reads, 400);
    end_store(s);
}

TEST(store_under_one_long_read_writes_and_reads_on_and_folds_its_log_in_after_it)
{
    log_under_one_read(15000);
}

TEST(store_waits_only_so_long_for_a_read_that_steps_no_rows)
{
    log_under_one_read(1);
}

TEST(store_folds_a_large_log_in_beside_other_writers)
{
    static uint8_t bytes[100000];
    store *s = make_store(make_path("beside.fenec"), false);
    uint64_t ticket, file, log;
    pthread_t threads[2];
    committer w[2];
    version *v;
    error err;
    conn *c;

    for (int i = 0; i < 2; i++) {
        w[i] = (committer){.s = s, .number = i + 1, .blocks = test_scale(200, 3000)};
        CHECK_INT(pthread_create(&threads[i], NULL, commit_on, &w[i]), 0);
    }
    for (int n = 0; n < 3; n++) {
        MUST(store_write(s, true, &c, &v, &err));
        for (int64_t id = 1; id <= 250; id++)
            MUST(rows_put(c, table_side(1, 1), n * 250 + id, bytes, sizeof bytes, &err));
        MUST(store_write_commit(c, NULL, &ticket, &err));
        MUST(store_wait(s, ticket, &err));
        store_sizes(s, &file, &log);
        CHECK(log < 40u * 1024 * 1024);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(w[i].code, FENEC_OK);
    }
    CHECK_INT(count_rows(s, table_side(1, 1)), 750);
    end_store(s);
}

/* ---- closing ---- */

static void *use_until_closed(void *argument)
{
    hammer *h = argument;
    error err;
    version *v;
    conn *c;
    int code;

    do {
        code = put_text(h->s, table_records(1), 1, "x", &err);
        if (code == FENEC_OK)
            code = store_read(h->s, &c, &v, &err);
        if (code == FENEC_OK) {
            store_read_end(c);
            code = store_sync(h->s, &err);
        }
    } while (code == FENEC_OK);
    if (code != FENEC_MISUSE)
        atomic_fetch_add(&h->failed, 1);
    return NULL;
}

TEST(store_close_waits_for_calls_in_flight)
{
    uint64_t violations = lock_order_violations();
    const char *path = make_path("closing.fenec");

    for (long round = 0; round < test_scale(20, 500); round++) {
        hammer h = {.s = make_store(path, round % 2)};
        pthread_t threads[4];
        error err;

        for (int i = 0; i < 4; i++)
            CHECK_INT(pthread_create(&threads[i], NULL, use_until_closed, &h), 0);
        for (long i = 0; i < round; i++)
            MUST(put_text(h.s, table_records(2), i + 1, "x", &err));
        MUST(store_close(h.s, &err));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        store_free(h.s);
        CHECK_INT(h.failed, 0);
    }
    CHECK_INT(lock_order_violations() - violations, 0);
}

static void *checkpoint_on(void *argument)
{
    hammer *h = argument;
    uint64_t bytes;
    error err;

    while (!atomic_load(&h->stop))
        if (store_checkpoint(h->s, &err) || store_shrink(h->s, &bytes, &err))
            atomic_fetch_add(&h->failed, 1);
    return NULL;
}

TEST(store_checkpoints_and_shrinks_beside_reads_and_writes)
{
    for (int no_sync = 0; no_sync < 2; no_sync++) {
        const char *path = make_path(no_sync ? "busy1.fenec" : "busy0.fenec");
        hammer h = {.s = make_store(path, no_sync), .rare = true};
        pthread_t threads[4];
        error err;

        for (int i = 0; i < 4; i++)
            CHECK_INT(pthread_create(&threads[i], NULL, i ? read_on : checkpoint_on, &h), 0);
        for (long n = 1; n <= test_scale(500, 20000); n++)
            MUST(write_accounts(&h, n, &err));
        atomic_store(&h.stop, true);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        CHECK_INT(h.torn, 0);
        CHECK_INT(h.failed, 0);
        end_store(h.s);
    }
}
