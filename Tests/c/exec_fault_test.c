/* A disk on which call after call fails while a database lives its scripted life: the right code, nothing half
 * done, reads that go on, writes refused until a reopen where the disk refused one, and a reopen that finds
 * every acknowledged block - also where what was never synced is lost. */
#include <sqlite3.h>
#include <stdlib.h>

#include "base/memory.h"
#include "fenec.h"
#include "test.h"
#include "workload.h"

typedef struct faults {
    const workload *w;
    disk_call call;
    const int *codes;
    int code_count;
    long budget; /* of a step and kind of call */
    long made, hit, failed, reopened;
    uint64_t random;
} faults;

typedef struct trial {
    faults *of;
    test_disk *d;
    int k, code; /* SQLite's */
    long n;
    bool forever;
    char when[240];
} trial;

static const char *const calls[] = {"open", "read", "write", "truncate", "sync", "delete", "lock", "shm"};

static const char *name(trial *t, const char *after)
{
    snprintf(t->when, sizeof t->when, "%s %ld answers %d%s, step %d, %.70s%s", calls[t->of->call], t->n, t->code,
             t->forever ? " for good" : "", t->k, workload_name(t->of->w, t->k), after);
    return t->when;
}

static bool is_memory(int code)
{
    return code == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM;
}

/* The code that a call which met the fault may answer. A log that could not be synced is not trusted any more,
 * whatever for. */
static bool is_right(const trial *t, int code)
{
    if (is_memory(t->code))
        return code == FENEC_PANIC || (code == FENEC_IO && (t->of->call == DISK_SYNC || t->forever));
    if (t->code == SQLITE_CORRUPT)
        return code == FENEC_CORRUPT || (code == FENEC_IO && t->of->call == DISK_SYNC);
    return code == FENEC_IO;
}

static void check_code(trial *t, const char *what, int code, char *answer)
{
    bool hit = test_disk_faults(t->d, t->of->call) > 0;

    if (code != FENEC_OK && (!hit || !is_right(t, code) || !answer))
        test_failed(__FILE__, __LINE__, "%s: %d %s", name(t, what), code, answer ? answer : "-");
    t->of->failed += code != FENEC_OK;
}

/* No VFS of SQLite's answers CORRUPT for a read, and SQLite, which forgets its pages where a rollback meets a failed
 * read, does so for IOERR and FULL alone: for good, such an answer leaves what was put back in its cache. Damage in
 * the bytes of a page is the matter of exec_damage_test. */
static bool is_possible(disk_call call, int code, bool forever)
{
    return call != DISK_READ || code != SQLITE_CORRUPT || !forever;
}

/* The step, and after its failure the disk is sound again: does the handle still hold up? Whether it was done. */
static bool live(trial *t, uint64_t h)
{
    const workload *w = t->of->w;
    char *answer;
    int code = workload_step(h, &w->steps[t->k], &answer);

    check_code(t, "", code, answer);
    fenec_free_string(answer);
    test_disk_heal(t->d);
    bool hit = test_disk_faults(t->d, t->of->call) > 0, writing = t->of->call == DISK_WRITE || t->of->call == DISK_SYNC;
    bool done = code == FENEC_OK;
    if (hit)
        workload_state(w, h, t->k + done, t->k + (done || !w->steps[t->k].reads), name(t, ", read after it"));
    if (code == FENEC_OK)
        return true;
    int again = workload_step(h, &w->steps[t->k], &answer);
    bool refused = code == FENEC_IO && writing && w->steps[t->k].kind == STEP_QUERY && !w->steps[t->k].reads;
    /* A full disk stops writes for good, whichever call told of it. */
    bool stops = t->code == SQLITE_FULL || (t->of->call != DISK_READ && t->of->call != DISK_OPEN);
    if (again != FENEC_OK && (again != FENEC_IO || !stops))
        test_failed(__FILE__, __LINE__, "%s: %d %s", name(t, ", again"), again, answer);
    if (again == FENEC_OK && refused)
        test_failed(__FILE__, __LINE__, "%s", name(t, ", taken after the disk had refused it"));
    fenec_free_string(answer);
    return again == FENEC_OK;
}

static bool try_step(faults *f, int k, long n, int code, bool forever)
{
    trial t = {.of = f, .k = k, .n = n, .code = code, .forever = forever};
    char *answer;
    uint64_t h;
    bool done = false;

    t.d = test_disk_cut(f->w->starts[k], LOSE_NOTHING, &f->random);
    test_disk_fail(t.d, f->call, NULL, n, code, forever);
    int opened = workload_open(t.d, FENEC_OPEN_NO_AUTO_COMPACT, &h, &answer);
    check_code(&t, " in the open", opened, answer);
    memory_free(answer);
    if (opened == FENEC_OK)
        done = live(&t, h);
    bool hit = test_disk_faults(t.d, f->call) > 0;
    test_disk_heal(t.d);
    if (hit) {
        /* As it was killed then, as the power was lost, and as a close leaves it. */
        for (disk_loss loss = LOSE_NOTHING; loss <= LOSE_SOME; loss++) {
            test_disk *lost = test_disk_cut(t.d, loss, &f->random);
            static const char *const losses[] = {", killed", ", nothing kept that was not synced", ", some of it kept"};
            if ((long)loss == f->made % 3 || f->call == DISK_SYNC || f->call == DISK_WRITE)
                f->reopened += workload_reopen(f->w, lost, k + done, k + 1, 1, name(&t, losses[loss])) >= 0;
            test_disk_free(lost);
        }
    }
    if (opened == FENEC_OK)
        fenec_close(h, NULL, NULL);
    if (hit)
        f->reopened += workload_reopen(f->w, t.d, k + done, k + 1, 0, name(&t, ", closed")) >= 0;
    f->made++;
    f->hit += hit;
    test_disk_free(t.d);
    return hit;
}

static long count_calls(faults *f, int k)
{
    test_disk *d = test_disk_cut(f->w->starts[k], LOSE_NOTHING, &f->random);
    uint64_t h;

    CHECK_INT(workload_open(d, FENEC_OPEN_NO_AUTO_COMPACT, &h, NULL), FENEC_OK);
    CHECK_INT(workload_step(h, &f->w->steps[k], NULL), FENEC_OK);
    long count = test_disk_calls(d, f->call);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    test_disk_free(d);
    return count;
}

static void fail_each(const workload *w, disk_call call, const int codes[], int code_count, long budget)
{
    faults f = {.w = w, .call = call, .codes = codes, .code_count = code_count, .random = test_seed()};
    long places = 0;

    for (int k = 0; k < w->count; k++) {
        long count = count_calls(&f, k), stride = 1 + count * code_count * 2 / budget;
        places += count;
        /* Call by call with each code, once and for good; some of all that where there is no time. */
        for (long i = (long)(test_random(&f.random) % (uint64_t)stride); i < count * code_count * 2; i += stride)
            if (is_possible(call, codes[i / 2 % code_count], i % 2))
                try_step(&f, k, 1 + i / (code_count * 2), codes[i / 2 % code_count], i % 2);
    }
    printf("  %s: %ld calls, %ld trials, %ld met the fault, %ld calls failed, %ld reopened\n", calls[call], places, f.made,
           f.hit, f.failed, f.reopened);
    CHECK(f.hit > 0 || call == DISK_DELETE || call == DISK_TRUNCATE);
}

static void run_kind(disk_call call, int io, int memory)
{
    const int codes[] = {SQLITE_FULL, io, SQLITE_CORRUPT, memory};
    workload *w = workload_new(true);

    fail_each(w, call, codes, 4, test_scale(4, 1000000));
    workload_free(w);
}

TEST(fault_of_any_write_leaves_every_acknowledged_block)
{
    run_kind(DISK_WRITE, SQLITE_IOERR_WRITE, SQLITE_IOERR_NOMEM);
}

TEST(fault_of_any_sync_leaves_every_acknowledged_block)
{
    run_kind(DISK_SYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_NOMEM);
}

TEST(fault_of_any_read_is_told_and_passes)
{
    run_kind(DISK_READ, SQLITE_IOERR_READ, SQLITE_IOERR_NOMEM);
}

TEST(fault_of_any_open_truncate_or_delete_is_told)
{
    run_kind(DISK_OPEN, SQLITE_CANTOPEN, SQLITE_NOMEM);
    run_kind(DISK_TRUNCATE, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_NOMEM);
    run_kind(DISK_DELETE, SQLITE_IOERR_DELETE, SQLITE_IOERR_NOMEM);
}

TEST(fault_of_any_lock_is_told_and_passes)
{
    run_kind(DISK_LOCK, SQLITE_IOERR_LOCK, SQLITE_NOMEM);
    run_kind(DISK_SHM, SQLITE_IOERR_SHMLOCK, SQLITE_NOMEM);
}

/* Somebody stands in the way for an instant, at any lock: no call tells of it. */
TEST(fault_of_a_lock_that_is_taken_for_an_instant_reaches_nobody)
{
    faults f = {.w = workload_new(true), .call = DISK_SHM, .random = test_seed()};
    long stride = test_scale(7, 1);

    for (int k = 0; k < f.w->count; k++) {
        long count = count_calls(&f, k);
        for (long n = 1 + (long)(test_random(&f.random) % (uint64_t)stride); n <= count; n += stride) {
            test_disk *d = test_disk_cut(f.w->starts[k], LOSE_NOTHING, &f.random);
            char *answer;
            uint64_t h;
            test_disk_fail(d, DISK_SHM, NULL, n, SQLITE_BUSY, false);
            int code = workload_open(d, FENEC_OPEN_NO_AUTO_COMPACT, &h, NULL);
            if (code == FENEC_OK)
                code = workload_step(h, &f.w->steps[k], &answer);
            f.hit += test_disk_faults(d, DISK_SHM);
            test_disk_heal(d);
            if (code != FENEC_OK)
                test_failed(__FILE__, __LINE__, "lock %ld is busy in step %d, %s: %d %s", n, k,
                            workload_name(f.w, k), code, answer ? answer : "-");
            fenec_free_string(answer);
            workload_state(f.w, h, k + 1, k + 1, "after a busy lock");
            CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
            test_disk_free(d);
        }
    }
    printf("  shm: %ld locks that were busy for an instant\n", f.hit);
    workload_free((workload *)f.w);
}
