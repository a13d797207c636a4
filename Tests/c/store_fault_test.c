#include <sqlite3.h>
#include <stdlib.h>

#include "base/thread.h"
#include "store/store.h"
#include "store_load.h"
#include "test.h"
#include "test_vfs.h"

#define DATABASE "/fault.db"

enum { BEFORE = 5, LAST = 14 }; /* blocks there already, and those of a run */

static const store_load load = {.seed = 20240607, .row_bytes = 400};

static int open_store(store **s, test_disk *d, error *err)
{
    store_options options = {
        .path = (const uint8_t *)DATABASE, .path_len = strlen(DATABASE), .vfs = test_disk_vfs(d)};

    *s = NULL;
    return store_open(s, &options, err);
}

static int write_block(store *s, uint32_t n, error *err)
{
    uint64_t ticket;
    int code = store_load_block(s, &load, n, &ticket, err);

    return code == FENEC_OK ? store_wait(s, ticket, err) : code;
}

/* A disk with blocks 1 to `last`; killed, so that the log is still there. */
static test_disk *disk_with_blocks(uint32_t last)
{
    uint64_t random = 1;
    test_disk *d = test_disk_new(), *killed;
    store *s;
    error err;

    if (open_store(&s, d, &err) != FENEC_OK) {
        test_failed(__FILE__, __LINE__, "open: %s", err.message);
        return d;
    }
    for (uint32_t n = 1; n <= last; n++)
        CHECK_INT(write_block(s, n, &err), FENEC_OK);
    killed = test_disk_cut(d, LOSE_NOTHING, &random);
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    test_disk_free(d);
    return killed;
}

/* One run of calls while one of the disk's fails. */
typedef struct trial {
    test_disk *disk;
    disk_call call;
    int code; /* SQLite's, of the fault */
    bool forever;
    long n;
    uint32_t acknowledged, begun;
    int failed;   /* code of the first call that failed */
    long hits;    /* of the fault so far */
    bool refused; /* a write answered IO after the disk had refused one */
} trial;

static void report(const trial *t, const char *what, int code, const char *message)
{
    static const char *const names[] = {"open", "read", "write", "truncate", "sync", "delete", "lock", "shm"};

    test_failed(__FILE__, __LINE__, "%s: %d %s; %s %ld fails with %d%s, blocks %u to %u", what, code, message,
                names[t->call], t->n, t->code, t->forever ? " for good" : "", t->acknowledged, t->begun);
}

/* The first failure is that of the call that met the fault, with its code; for want of memory a sync
 * may say either. Afterwards there are only these two. */
static bool made(trial *t, const char *what, int code, const error *err)
{
    bool memory = t->code == SQLITE_NOMEM || t->code == SQLITE_IOERR_NOMEM;
    bool met = test_disk_faults(t->disk, t->call) > t->hits;

    t->hits = test_disk_faults(t->disk, t->call);
    if (code == FENEC_OK)
        return true;
    if (!t->failed && !met)
        report(t, "fails late", code, err->message);
    if (code != FENEC_IO && code != FENEC_PANIC)
        report(t, what, code, err->message);
    else if (!t->failed && code != (memory ? FENEC_PANIC : FENEC_IO) && !(memory && t->call == DISK_SYNC))
        report(t, what, code, err->message);
    if (!err->message[0])
        report(t, "no message", code, "");
    t->failed = t->failed ? t->failed : code;
    return false;
}

static void read_all(trial *t, store *s)
{
    error err;
    uint32_t n;

    error_init(&err);
    if (made(t, "read", store_load_read(s, &load, &n, &err), &err) && (n < t->acknowledged || n > t->begun))
        report(t, "read of other blocks", (int)n, "");
}

/* A write that the disk refused is never followed by one that it took. */
static void write_one(trial *t, store *s, uint32_t n)
{
    error err;

    error_init(&err);
    t->begun = n;
    for (int tries = 0; tries < 3 && t->acknowledged < n; tries++) {
        long before = test_disk_faults(t->disk, t->call);
        int code = write_block(s, n, &err);
        if (t->refused && code != FENEC_IO)
            report(t, "write after a refused one", code, err.message);
        bool hit = test_disk_faults(t->disk, t->call) > before;
        bool writing = t->call == DISK_WRITE || t->call == DISK_SYNC;
        if (made(t, "write", code, &err))
            t->acknowledged = n;
        else if (hit && writing && code == FENEC_IO)
            t->refused = true;
    }
}

static void run_calls(trial *t)
{
    store *s;
    error err;

    error_init(&err);
    if (!made(t, "open", open_store(&s, t->disk, &err), &err))
        return;
    read_all(t, s);
    for (uint32_t n = t->acknowledged + 1; n <= LAST && (n == t->begun + 1 || !t->refused); n++) {
        write_one(t, s, n);
        if (t->acknowledged < n)
            break;
        if (n == LAST - 5)
            made(t, "checkpoint", store_checkpoint(s, &err), &err);
        if (n % 3 == 0)
            read_all(t, s);
    }
    read_all(t, s);
    made(t, "close", store_close(s, &err), &err);
    store_free(s);
}

/* Without faults everything acknowledged is there, and it can be gone on with. */
static void check_disk(trial *t, test_disk *d, const char *what)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    store *s;
    error err;
    uint32_t n = 0;

    error_init(&err);
    int code = open_store(&s, d, &err);
    if (code != FENEC_OK) {
        report(t, what, code, err.message);
        return;
    }
    code = store_load_read(s, &load, &n, &err);
    if (code != FENEC_OK || n < t->acknowledged || n > t->begun)
        report(t, what, code ? code : (int)n, code ? err.message : "blocks");
    else if ((code = write_block(s, n + 1, &err)) != FENEC_OK)
        report(t, "write after a reopen", code, err.message);
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    CHECK_INT(sqlite3_open_v2(DATABASE, &db, SQLITE_OPEN_READWRITE, test_disk_vfs(d)), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, "pragma integrity_check", -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) != SQLITE_ROW || strcmp((char *)sqlite3_column_text(statement, 0), "ok"))
        report(t, "integrity", 0, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* Fails call after call of one kind until a run ends without meeting the fault. */
static void fail_each(test_disk *start, uint32_t blocks, disk_call call, int code, bool forever)
{
    uint64_t random = test_seed();
    long stride = test_scale(call == DISK_SHM || call == DISK_READ ? 3 : 1, 1);
    bool hit = true;

    for (long n = 1 + (long)(test_random(&random) % (uint64_t)stride); hit; n += stride) {
        trial t = {.disk = test_disk_cut(start, LOSE_NOTHING, &random),
                   .call = call,
                   .code = code,
                   .forever = forever,
                   .n = n,
                   .acknowledged = blocks,
                   .begun = blocks};
        test_disk_fail(t.disk, call, NULL, n, code, forever);
        run_calls(&t);
        hit = test_disk_faults(t.disk, call) > 0;
        test_disk_heal(t.disk);
        test_disk *lost = test_disk_cut(t.disk, LOSE_ALL, &random);
        check_disk(&t, t.disk, "reopen");
        check_disk(&t, lost, "reopen after a loss of power");
        test_disk_free(lost);
        test_disk_free(t.disk);
    }
}

static void fail_with(disk_call call, int full, int io, int memory)
{
    const int codes[] = {full, io, memory};
    test_disk *empty = test_disk_new(), *start = disk_with_blocks(BEFORE);

    for (int i = 0; i < 3; i++) {
        for (int forever = 0; forever <= 1; forever++) {
            fail_each(start, BEFORE, call, codes[i], forever);
            fail_each(empty, 0, call, codes[i], forever);
        }
    }
    test_disk_free(start);
    test_disk_free(empty);
}

TEST(store_survives_any_failing_write)
{
    fail_with(DISK_WRITE, SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_NOMEM);
}

TEST(store_survives_any_failing_sync)
{
    fail_with(DISK_SYNC, SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_IOERR_NOMEM);
}

TEST(store_survives_any_failing_truncate)
{
    fail_with(DISK_TRUNCATE, SQLITE_FULL, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_NOMEM);
}

TEST(store_survives_any_failing_delete)
{
    fail_with(DISK_DELETE, SQLITE_FULL, SQLITE_IOERR_DELETE, SQLITE_IOERR_NOMEM);
}

TEST(store_survives_any_failing_open)
{
    fail_with(DISK_OPEN, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_NOMEM);
}

TEST(store_survives_any_failing_read)
{
    fail_with(DISK_READ, SQLITE_FULL, SQLITE_IOERR_READ, SQLITE_IOERR_NOMEM);
}

TEST(store_survives_any_failing_lock)
{
    fail_with(DISK_LOCK, SQLITE_FULL, SQLITE_IOERR_LOCK, SQLITE_NOMEM);
}

TEST(store_survives_any_failing_wal_index)
{
    fail_with(DISK_SHM, SQLITE_FULL, SQLITE_IOERR_SHMMAP, SQLITE_NOMEM);
}

TEST(store_after_a_failed_sync_refuses_writes_and_goes_on_reading)
{
    uint64_t ticket, random = test_seed();
    test_disk *d = disk_with_blocks(5);
    store *s;
    error err;
    uint32_t n;

    CHECK_INT(open_store(&s, d, &err), FENEC_OK);
    CHECK_INT(write_block(s, 6, &err), FENEC_OK);
    CHECK_INT(store_load_block(s, &load, 7, &ticket, &err), FENEC_OK);
    test_disk_fail(d, DISK_SYNC, "-wal", 1, SQLITE_IOERR_FSYNC, false);
    CHECK_INT(store_wait(s, ticket, &err), FENEC_IO);
    CHECK_INT(test_disk_faults(d, DISK_SYNC), 1);
    /* The next sync would succeed, and make nothing of that block durable: it must not be asked. */
    long syncs = test_disk_calls(d, DISK_SYNC);
    CHECK_INT(store_wait(s, ticket, &err), FENEC_IO);
    CHECK_INT(store_load_block(s, &load, 8, &ticket, &err), FENEC_IO);
    CHECK_INT(store_sync(s, &err), FENEC_IO);
    CHECK_INT(store_flush(s, &err), FENEC_IO);
    CHECK_INT(store_checkpoint(s, &err), FENEC_IO);
    CHECK_INT(store_load_read(s, &load, &n, &err), FENEC_OK);
    CHECK(n == 6 || n == 7);
    CHECK_INT(test_disk_calls(d, DISK_SYNC), syncs);

    test_disk *lost = test_disk_cut(d, LOSE_ALL, &random), *some = test_disk_cut(d, LOSE_SOME, &random);
    store_close(s, &err);
    store_free(s);
    CHECK_INT(test_disk_calls(d, DISK_SYNC), syncs);
    test_disk *closed = test_disk_cut(d, LOSE_ALL, &random);
    trial t = {.disk = d, .call = DISK_SYNC, .acknowledged = 6, .begun = 7};
    check_disk(&t, lost, "after the loss of all");
    check_disk(&t, some, "after the loss of some");
    check_disk(&t, closed, "after a close and the loss of all");
    check_disk(&t, d, "after a close");
    test_disk_free(lost);
    test_disk_free(some);
    test_disk_free(closed);
    test_disk_free(d);
}

TEST(store_on_a_full_disk_refuses_the_write_and_keeps_what_was_there)
{
    test_disk *d = disk_with_blocks(5);
    store *s;
    error err;
    uint32_t n;

    CHECK_INT(open_store(&s, d, &err), FENEC_OK);
    test_disk_fail(d, DISK_WRITE, NULL, 1, SQLITE_FULL, true);
    CHECK_INT(write_block(s, 6, &err), FENEC_IO);
    CHECK_INT(store_load_read(s, &load, &n, &err), FENEC_OK);
    CHECK_INT(n, 5);
    test_disk_heal(d);
    CHECK_INT(write_block(s, 6, &err), FENEC_IO); /* until it is opened again */
    store_close(s, &err);
    store_free(s);
    CHECK_INT(open_store(&s, d, &err), FENEC_OK);
    CHECK_INT(write_block(s, 6, &err), FENEC_OK);
    CHECK_INT(store_load_read(s, &load, &n, &err), FENEC_OK);
    CHECK_INT(n, 6);
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    test_disk_free(d);
}

typedef struct shared {
    store *s;
    _Atomic(uint32_t) blocks;
} shared;

static void write_rows(void *argument)
{
    shared *w = argument;
    uint64_t ticket;
    error err;

    for (int i = 0; i < 25; i++) {
        /* Any block will do here: what is counted is syncs. */
        CHECK_INT(store_load_block(w->s, &load, 1, &ticket, &err), FENEC_OK);
        CHECK_INT(store_wait(w->s, ticket, &err), FENEC_OK);
        w->blocks++;
    }
}

TEST(store_blocks_of_several_threads_share_slow_syncs)
{
    test_disk *d = test_disk_new();
    shared w = {0};
    thread threads[8];
    int started = 0;
    error err;

    CHECK_INT(open_store(&w.s, d, &err), FENEC_OK);
    test_disk_sync_ms(d, 4);
    long before = test_disk_calls(d, DISK_SYNC);
    while (started < 8 && thread_start(&threads[started], write_rows, &w))
        started++;
    for (int i = 0; i < started; i++)
        thread_join(&threads[i]);
    CHECK_INT(w.blocks, 25 * started);
    CHECK(test_disk_calls(d, DISK_SYNC) - before < 25 * started);
    test_disk_sync_ms(d, 0);
    CHECK_INT(store_close(w.s, &err), FENEC_OK);
    store_free(w.s);
    test_disk_free(d);
}
