/* A file and a log of different moments beside each other, and what keeps them apart: the mark in the file. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/thread.h"
#include "store/inside.h"
#include "store/stamp.h"
#include "store_load.h"
#include "store_make.h"
#include "test_vfs.h"

#define PATH "/mixed.db"
#define LOG PATH "-wal"

typedef struct bytes {
    uint8_t *at; /* NULL: no such file */
    size_t len;
} bytes;

static bytes take(test_disk *d, const char *path)
{
    bytes b;

    b.at = test_disk_get(d, path, &b.len);
    return b;
}

static int open_on(store **s, test_disk *d, error *err)
{
    const store_options options = {
        .path = (const uint8_t *)PATH, .path_len = strlen(PATH), .vfs = test_disk_vfs(d)};

    error_init(err);
    *s = NULL;
    return store_open(s, &options, err);
}

static bool is_sound(test_disk *d)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    bool sound = false;

    if (sqlite3_open_v2(PATH, &db, SQLITE_OPEN_READWRITE, test_disk_vfs(d)) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "pragma integrity_check", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        sound = !strcmp((const char *)sqlite3_column_text(st, 0), "ok");
    sqlite3_finalize(st);
    sqlite3_close(db);
    return sound;
}

enum { REFUSED = -1, MIXED = -2 };

/* The last block in a file beside a log, or what became of them. */
static int64_t blocks_of(const store_load *load, bytes file, bytes log, error *err)
{
    test_disk *d = test_disk_new();
    uint64_t ticket;
    uint32_t n = 0;
    store *s;
    int64_t found;

    test_disk_put(d, PATH, file.at, file.len);
    if (log.at)
        test_disk_put(d, LOG, log.at, log.len);
    int code = open_on(&s, d, err);
    if (code != FENEC_OK) {
        found = code == FENEC_CORRUPT ? REFUSED : MIXED;
    } else {
        bool good = store_load_read(s, load, &n, err) == FENEC_OK && n != UINT32_MAX;
        if (good) /* it can be gone on with */
            good = store_load_block(s, load, n + 1, &ticket, err) == FENEC_OK &&
                   store_wait(s, ticket, err) == FENEC_OK;
        good &= store_close(s, err) == FENEC_OK;
        store_free(s);
        found = good && is_sound(d) ? (int64_t)n : MIXED;
    }
    test_disk_free(d);
    return found;
}

static void check_pair(int line, const store_load *load, bytes file, bytes log, int64_t want)
{
    error err;
    int64_t got = blocks_of(load, file, log, &err);

    if (got != want)
        test_failed(__FILE__, line, "%lld, not %lld: %s", (long long)got, (long long)want, err.message);
}

#define CHECK_PAIR(load, file, log, want) check_pair(__LINE__, load, file, log, want)

/* ---- one fold, write by write ---- */

#define TAKEN_MAX 400

typedef struct fold {
    test_disk *disk;
    store *s;
    store_load load;
    uint32_t blocks;
    bytes files[TAKEN_MAX], logs[TAKEN_MAX]; /* before each write to the file */
    int count;
} fold;

static void take_both(void *to, disk_call call, const char *path)
{
    fold *f = to;

    if (call != DISK_WRITE || strcmp(path, PATH) || f->count == TAKEN_MAX)
        return;
    f->files[f->count] = take(f->disk, PATH);
    f->logs[f->count++] = take(f->disk, LOG);
}

/* Amid a fold a file says so, whatever else is found in it. */
static bool says_whole(bytes file)
{
    head_stamp h = head_stamp_of(file.at);

    return head_is_whole(&h);
}

static void write_blocks(fold *f, uint32_t to)
{
    uint64_t ticket;
    error err;

    while (f->blocks < to) {
        MUST(store_load_block(f->s, &f->load, ++f->blocks, &ticket, &err));
        MUST(store_wait(f->s, ticket, &err));
    }
}

static void fold_begin(fold *f, uint32_t blocks, uint32_t row_bytes)
{
    error err;

    *f = (fold){.disk = test_disk_new(), .load = {.seed = test_seed(), .row_bytes = row_bytes}};
    MUST(open_on(&f->s, f->disk, &err));
    write_blocks(f, blocks);
}

static void fold_run(fold *f)
{
    test_disk_hook(f->disk, take_both, f);
    lock_take(&f->s->writing);
    checkpoint_run(f->s);
    lock_leave(&f->s->writing);
    test_disk_hook(f->disk, NULL, NULL);
}

static void fold_end(fold *f)
{
    end_store(f->s);
    test_disk_free(f->disk);
    for (int i = 0; i < f->count; i++) {
        free(f->files[i].at);
        free(f->logs[i].at);
    }
}

TEST(store_opens_a_file_amid_a_fold_with_its_own_log_alone)
{
    const bytes none = {0};
    fold f;

    fold_begin(&f, 12, 400);
    bytes before = take(f.disk, PATH), early = take(f.disk, LOG);
    write_blocks(&f, 24);
    fold_run(&f);
    bytes whole = take(f.disk, PATH), late = take(f.disk, LOG);
    write_blocks(&f, 30);
    bytes next = take(f.disk, LOG);
    CHECK(f.count > 5);
    CHECK_PAIR(&f.load, before, none, 0);
    CHECK_PAIR(&f.load, before, early, 12);
    for (int i = 0; i < f.count; i++) {
        CHECK_PAIR(&f.load, f.files[i], f.logs[i], 24);
        CHECK_PAIR(&f.load, f.files[i], late, 24);
        /* Before the first write nothing is in the file. */
        CHECK_INT(says_whole(f.files[i]), i == 0);
        CHECK_PAIR(&f.load, f.files[i], none, i ? REFUSED : 0);
        CHECK_PAIR(&f.load, f.files[i], early, i ? REFUSED : 12);
        CHECK_PAIR(&f.load, f.files[i], next, REFUSED);
    }
    CHECK_PAIR(&f.load, whole, none, 24);
    CHECK_PAIR(&f.load, whole, late, 24);
    CHECK_PAIR(&f.load, whole, early, REFUSED);
    CHECK_PAIR(&f.load, whole, next, 30);
    bytes all[] = {before, early, whole, late, next};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i].at);
    fold_end(&f);
}

/* A read holds the log back: the fold ends amid it, and leaves page 1 as it was. */
TEST(store_opens_a_file_that_was_folded_in_part_with_its_own_log_alone)
{
    const bytes none = {0};
    version *v;
    conn *c;
    error err;
    fold f;

    fold_begin(&f, 22, 4000);
    MUST(store_read(f.s, &c, &v, &err));
    store_read_long(c);
    write_blocks(&f, 23);
    bytes early = take(f.disk, LOG);
    write_blocks(&f, 24);
    fold_run(&f);
    bytes part = take(f.disk, PATH), late = take(f.disk, LOG);
    CHECK(f.count > 2);
    for (int i = 0; i < f.count; i += 1 + f.count / 10) {
        CHECK_PAIR(&f.load, f.files[i], f.logs[i], 24);
        CHECK_PAIR(&f.load, f.files[i], early, i ? REFUSED : 23);
        CHECK_INT(says_whole(f.files[i]), i == 0);
        CHECK_PAIR(&f.load, f.files[i], none, i ? REFUSED : 0);
    }
    CHECK_PAIR(&f.load, part, late, 24);
    CHECK_PAIR(&f.load, part, early, REFUSED);
    CHECK_PAIR(&f.load, part, none, REFUSED);
    store_read_end(c);
    write_blocks(&f, 25);
    free(late.at);
    late = take(f.disk, LOG);
    CHECK_PAIR(&f.load, part, late, 25);
    fold_run(&f);
    bytes whole = take(f.disk, PATH);
    CHECK_PAIR(&f.load, whole, none, 25);
    bytes all[] = {early, part, late, whole};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i].at);
    fold_end(&f);
}

/* After a fold that ended amid the file the next one has page 1 behind it. */
TEST(store_opens_a_file_whose_fold_is_taken_up_again_with_its_own_log_alone)
{
    const bytes none = {0};
    error err;
    fold f;

    fold_begin(&f, 60, 400);
    MUST(store_checkpoint(f.s, &err));
    write_blocks(&f, 66);
    test_disk_fail(f.disk, DISK_WRITE, PATH, 4, SQLITE_FULL, false);
    fold_run(&f);
    CHECK_INT(test_disk_faults(f.disk, DISK_WRITE), 1);
    int failed = f.count;
    fold_run(&f);
    CHECK(f.count > failed + 3);
    for (int i = 1; i < f.count; i++) {
        CHECK(!says_whole(f.files[i]));
        CHECK_PAIR(&f.load, f.files[i], none, REFUSED);
        CHECK_PAIR(&f.load, f.files[i], f.logs[i], 66);
    }
    fold_end(&f);
}

static void take_beside(void *to, disk_call call, const char *path)
{
    fold *f = to;

    if (f->s->beside && f->count < TAKEN_MAX - 1)
        take_both(f, call, path);
}

TEST(store_opens_a_file_amid_a_fold_beside_the_writers_with_its_own_log_alone)
{
    const bytes none = {0};
    version *v;
    conn *c;
    error err;
    fold f;

    fold_begin(&f, 1, 3000);
    while (f.s->log_frames < LOG_BYTES / PAGE_BYTES - 150)
        write_blocks(&f, f.blocks + 1);
    MUST(store_read(f.s, &c, &v, &err));
    store_read_long(c);
    write_blocks(&f, f.blocks + 1);
    bytes early = take(f.disk, LOG);
    uint32_t blocks = f.blocks;
    test_disk_hook(f.disk, take_beside, &f);
    while (f.count == 0 && f.blocks < blocks + 200)
        write_blocks(&f, f.blocks + 1);
    test_disk_hook(f.disk, NULL, NULL);
    CHECK(f.count > 10);
    for (int i = 0; i < f.count; i += 1 + f.count / 10) {
        CHECK_PAIR(&f.load, f.files[i], f.logs[i], f.blocks);
        CHECK_PAIR(&f.load, f.files[i], early, i ? REFUSED : (int64_t)blocks);
        CHECK_INT(says_whole(f.files[i]), i == 0);
        CHECK_PAIR(&f.load, f.files[i], none, i ? REFUSED : 0);
    }
    store_read_end(c);
    free(early.at);
    fold_end(&f);
}

/* ---- a mark that fails ---- */

/* A fold fails at its last write, or its last sync; those of the file are counted in a run before. */
typedef struct failing {
    fold f;
    disk_call call;
    long last;
} failing;

static long counted;

static void count_file(void *to, disk_call call, const char *path)
{
    const failing *k = to;

    counted += call == k->call && strcmp(path, PATH) == 0;
}

static void failing_begin(failing *k, disk_call call, int code, bool forever)
{
    *k = (failing){.call = call};
    fold_begin(&k->f, 20, 400);
    counted = 0;
    test_disk_hook(k->f.disk, count_file, k);
    lock_take(&k->f.s->writing);
    checkpoint_run(k->f.s);
    lock_leave(&k->f.s->writing);
    test_disk_hook(k->f.disk, NULL, NULL);
    k->last = counted;
    fold_end(&k->f);
    fold_begin(&k->f, 20, 400);
    test_disk_fail(k->f.disk, call, PATH, k->last, code, forever);
    lock_take(&k->f.s->writing);
    checkpoint_run(k->f.s);
    lock_leave(&k->f.s->writing);
    CHECK_INT(test_disk_faults(k->f.disk, call), 1);
}

static void check_losses(failing *k, uint32_t least)
{
    for (disk_loss loss = LOSE_NOTHING; loss <= LOSE_SOME; loss++)
        for (int i = 0; i < (loss == LOSE_SOME ? 8 : 1); i++) {
            uint64_t random = test_seed() + (uint64_t)i;
            test_disk *d = test_disk_cut(k->f.disk, loss, &random);
            bytes file = take(d, PATH), log = take(d, LOG);
            CHECK_PAIR(&k->f.load, file, log, least);
            free(file.at);
            free(log.at);
            test_disk_free(d);
        }
}

TEST(store_tries_a_mark_again_that_the_full_disk_refused)
{
    for (int sync = 0; sync <= 1; sync++) {
        failing k;

        failing_begin(&k, sync ? DISK_SYNC : DISK_WRITE, SQLITE_FULL, true);
        check_losses(&k, 20);
        test_disk_heal(k.f.disk);
        write_blocks(&k.f, 21);
        check_losses(&k, 21);
        fold_end(&k.f);
    }
}

/* As every write that the disk refuses. */
TEST(store_refuses_the_block_for_which_the_disk_is_full_once_more_and_all_after_it)
{
    for (int sync = 0; sync <= 1; sync++) {
        failing k;
        uint64_t ticket;
        uint32_t n;
        error err;

        failing_begin(&k, sync ? DISK_SYNC : DISK_WRITE, SQLITE_FULL, true);
        CHECK_INT(store_load_block(k.f.s, &k.f.load, 21, &ticket, &err), FENEC_IO);
        CHECK(strstr(err.message, "cannot write to the file: the disk is full") != NULL);
        test_disk_heal(k.f.disk);
        CHECK_INT(store_load_block(k.f.s, &k.f.load, 21, &ticket, &err), FENEC_IO);
        CHECK(strstr(err.message, "until the database is opened again") != NULL);
        MUST(store_load_read(k.f.s, &k.f.load, &n, &err));
        CHECK_INT(n, 20);
        check_losses(&k, 20);
        CHECK_INT(store_close(k.f.s, &err), FENEC_IO);
        store_free(k.f.s);
        MUST(open_on(&k.f.s, k.f.disk, &err));
        write_blocks(&k.f, 21);
        fold_end(&k.f);
    }
}

TEST(store_leaves_its_log_where_a_close_cannot_mark_the_file)
{
    for (int sync = 0; sync <= 1; sync++) {
        failing k;
        error err;

        failing_begin(&k, sync ? DISK_SYNC : DISK_WRITE, SQLITE_FULL, true);
        CHECK_INT(store_close(k.f.s, &err), FENEC_IO);
        store_free(k.f.s);
        CHECK(test_disk_size(k.f.disk, LOG) > 0);
        check_losses(&k, 20);
        test_disk_heal(k.f.disk);
        MUST(open_on(&k.f.s, k.f.disk, &err));
        write_blocks(&k.f, 21);
        fold_end(&k.f);
    }
}

TEST(store_refuses_writes_after_a_mark_that_failed)
{
    for (int sync = 0; sync <= 1; sync++) {
        failing k;
        uint64_t ticket;
        uint32_t n;
        error err;

        if (sync)
            failing_begin(&k, DISK_SYNC, SQLITE_IOERR_FSYNC, false);
        else
            failing_begin(&k, DISK_WRITE, SQLITE_IOERR_WRITE, false);
        CHECK_INT(store_load_block(k.f.s, &k.f.load, 21, &ticket, &err), FENEC_IO);
        CHECK(strstr(err.message, "until the database is opened again") != NULL);
        MUST(store_load_read(k.f.s, &k.f.load, &n, &err));
        CHECK_INT(n, 20);
        check_losses(&k, 20);
        CHECK_INT(store_close(k.f.s, &err), FENEC_IO);
        store_free(k.f.s);
        check_losses(&k, 20);
        MUST(open_on(&k.f.s, k.f.disk, &err));
        write_blocks(&k.f, 21);
        fold_end(&k.f);
    }
}

/* ---- a file being made ---- */

typedef struct making {
    test_disk *disk;
    uint64_t random;
    long cuts;
} making;

/* What is left of it opens as an empty database, whenever the power goes. */
static void cut_making(void *to, disk_call call, const char *path)
{
    making *m = to;

    (void)call, (void)path;
    for (disk_loss loss = LOSE_NOTHING; loss <= LOSE_SOME; loss++) {
        test_disk *d = test_disk_cut(m->disk, loss, &m->random);
        store *s;
        error err;
        if (open_on(&s, d, &err) == FENEC_OK)
            end_store(s);
        else
            test_failed(__FILE__, __LINE__, "%d: %s", err.code, err.message);
        test_disk_free(d);
        m->cuts++;
    }
}

TEST(store_opens_a_file_whose_making_was_cut_anywhere)
{
    making m = {.disk = test_disk_new(), .random = test_seed()};
    store *s;
    error err;

    test_disk_hook(m.disk, cut_making, &m);
    MUST(open_on(&s, m.disk, &err));
    test_disk_hook(m.disk, NULL, NULL);
    end_store(s);
    test_disk_free(m.disk);
    CHECK(m.cuts > 10);
}

/* ---- moments of a load ---- */

#define MOMENTS_MAX 120

typedef struct moment {
    bytes file, log;
    uint32_t least, most;
} moment;

typedef struct load_run {
    test_disk *disk;
    store *s;
    store_load load;
    pthread_mutex_t guard; /* of what follows */
    uint64_t random;
    uint32_t begun, acknowledged, last;
    moment moments[MOMENTS_MAX];
    uint64_t met;
    int wanted;
    _Atomic(int) folding;   /* calls of store_checkpoint, which wait for every read */
    _Atomic(int) writing;   /* threads that are not through */
    _Atomic(long) held;     /* snapshots that lasted */
} load_run;

/* Any wanted ones of all there are, each as likely as the others. */
static moment *draw_moment(load_run *r)
{
    uint64_t n = r->met++;

    if (n < (uint64_t)r->wanted)
        return &r->moments[n];
    n = test_random(&r->random) % (n + 1);
    return n < (uint64_t)r->wanted ? &r->moments[n] : NULL;
}

static void note_moment(void *to, disk_call call, const char *path)
{
    load_run *r = to;

    pthread_mutex_lock(&r->guard);
    /* Most calls are those of blocks. */
    bool often = strcmp(path, PATH) == 0 || call != DISK_WRITE;
    moment *m = often || test_random(&r->random) % 40 == 0 ? draw_moment(r) : NULL;
    if (m) {
        disk_loss loss = (disk_loss)(test_random(&r->random) % 4);
        test_disk *d = loss <= LOSE_SOME ? test_disk_cut(r->disk, loss, &r->random) : NULL;
        free(m->file.at);
        free(m->log.at);
        *m = (moment){.file = take(d ? d : r->disk, PATH),
                      .log = take(d ? d : r->disk, LOG),
                      .least = r->acknowledged,
                      .most = r->begun};
        test_disk_free(d);
    }
    pthread_mutex_unlock(&r->guard);
}

static void write_load(void *argument)
{
    load_run *r = argument;
    uint64_t ticket, random = test_seed() ^ (uintptr_t)&ticket;
    error err;

    for (;;) {
        version *v;
        conn *c;
        MUST(store_write(r->s, true, &c, &v, &err));
        pthread_mutex_lock(&r->guard);
        uint32_t n = r->begun < r->last ? ++r->begun : 0;
        pthread_mutex_unlock(&r->guard);
        if (n == 0) {
            store_write_rollback(c);
            break;
        }
        MUST(store_load_write(c, &r->load, n, &err));
        MUST(store_write_commit(c, NULL, &ticket, &err));
        MUST(store_wait(r->s, ticket, &err));
        pthread_mutex_lock(&r->guard);
        if (n > r->acknowledged)
            r->acknowledged = n;
        pthread_mutex_unlock(&r->guard);
        if (test_random(&random) % 60 == 0) {
            atomic_fetch_add(&r->folding, 1);
            MUST(store_checkpoint(r->s, &err));
            atomic_fetch_sub(&r->folding, 1);
        }
    }
    atomic_fetch_sub(&r->writing, 1);
}

static uint32_t begun(load_run *r)
{
    pthread_mutex_lock(&r->guard);
    uint32_t n = r->begun;
    pthread_mutex_unlock(&r->guard);
    return n;
}

/* Snapshots that last for some blocks, so that folds end amid the log. */
static void read_load(void *argument)
{
    load_run *r = argument;
    error err;

    while (atomic_load(&r->writing)) {
        version *v;
        conn *c;
        MUST(store_read(r->s, &c, &v, &err));
        store_read_long(c);
        uint32_t until = begun(r) + 30;
        while (begun(r) < until && !atomic_load(&r->folding) && atomic_load(&r->writing))
            sched_yield();
        store_read_end(c);
        atomic_fetch_add(&r->held, 1);
        while (atomic_load(&r->folding))
            sched_yield();
    }
}

TEST(store_opens_file_and_log_of_any_two_moments_to_a_committed_state_or_not_at_all)
{
    static void (*const jobs[])(void *) = {write_load, write_load, read_load};
    load_run *r = calloc(1, sizeof *r);
    thread threads[3];
    int started = 0, count;
    long opened = 0, refused = 0, mixed = 0;
    error err;

    r->disk = test_disk_new();
    r->random = test_seed();
    r->load = (store_load){.seed = test_seed() + 1, .row_bytes = 6000};
    r->last = (uint32_t)test_scale(400, 4000);
    r->wanted = (int)test_scale(16, MOMENTS_MAX);
    pthread_mutex_init(&r->guard, NULL);
    MUST(open_on(&r->s, r->disk, &err));
    test_disk_hook(r->disk, note_moment, r);
    atomic_store(&r->writing, 2);
    while (started < 3 && thread_start(&threads[started], jobs[started], r))
        started++;
    for (int i = 0; i < started; i++)
        thread_join(&threads[i]);
    MUST(store_close(r->s, &err));
    store_free(r->s);
    test_disk_hook(r->disk, NULL, NULL);
    count = r->met < (uint64_t)r->wanted ? (int)r->met : r->wanted;
    for (int f = 0; f < count; f++)
        for (int l = -1; l < count; l++) {
            const moment *m = &r->moments[f];
            int64_t n = blocks_of(&r->load, m->file, l < 0 ? (bytes){0} : r->moments[l].log, &err);
            opened += n >= 0;
            refused += n == REFUSED;
            if (l == f && (n < m->least || n > m->most))
                test_failed(__FILE__, __LINE__, "%lld, not %u to %u, of one moment: %s", (long long)n, m->least,
                            m->most, err.message);
            if (n == MIXED && ++mixed <= 3)
                test_failed(__FILE__, __LINE__, "file %d beside log %d is a mix: %s", f, l, err.message);
        }
    printf("    %ld pairs of a file and a log, beside %ld snapshots: %ld opened, %ld refused, %ld mixed\n",
           opened + refused + mixed, (long)r->held, opened, refused, mixed);
    CHECK(opened >= count);
    for (int i = 0; i < count; i++) {
        free(r->moments[i].file.at);
        free(r->moments[i].log.at);
    }
    pthread_mutex_destroy(&r->guard);
    test_disk_free(r->disk);
    free(r);
}
