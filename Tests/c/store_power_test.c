#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "base/thread.h"
#include "store/store.h"
#include "store_load.h"
#include "test.h"
#include "test_vfs.h"

#define DATABASE "/power.db"

static int open_store(store **s, test_disk *d, bool no_sync, error *err)
{
    store_options options = {.path = (const uint8_t *)DATABASE,
                             .path_len = strlen(DATABASE),
                             .no_sync = no_sync,
                             .vfs = test_disk_vfs(d)};

    return store_open(s, &options, err);
}

/* Disks as a loss of power left them, each with what had to be on it. */
typedef struct image {
    struct image *next;
    test_disk *disk;
    uint32_t least, most; /* blocks acknowledged, blocks begun */
    disk_loss loss;
    disk_call call;
} image;

typedef struct power {
    test_disk *disk;
    store_load load;
    pthread_mutex_t guard; /* of what follows */
    uint64_t random;
    unsigned one_in; /* of the moments at which the power could be cut */
    uint32_t acknowledged, begun;
    image *images;
    long checked, short_of; /* images; those that hold less than was begun */
} power;

static void cut(void *argument, disk_call call, const char *path)
{
    power *p = argument;

    (void)path;
    pthread_mutex_lock(&p->guard);
    bool now = test_random(&p->random) % p->one_in == 0;
    for (disk_loss loss = LOSE_NOTHING; now && loss <= LOSE_SOME; loss++) {
        /* What survives a killed process is least likely to be wrong. */
        if (loss == LOSE_NOTHING && test_random(&p->random) % 4 > 0)
            continue;
        image *i = calloc(1, sizeof *i);
        *i = (image){p->images, NULL, p->acknowledged, p->begun, loss, call};
        i->disk = test_disk_cut(p->disk, loss, &p->random);
        p->images = i;
    }
    pthread_mutex_unlock(&p->guard);
}

static bool is_whole(test_disk *d)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    bool whole = false;

    if (sqlite3_open_v2(DATABASE, &db, SQLITE_OPEN_READWRITE, test_disk_vfs(d)) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "pragma integrity_check", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        whole = !strcmp((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return whole;
}

static void check_image(power *p, image *i)
{
    static const char *const losses[] = {"nothing", "all", "some"};
    store *s;
    error err;
    uint32_t n;
    uint64_t ticket;

    error_init(&err);
    int code = open_store(&s, i->disk, false, &err);
    if (code != FENEC_OK) {
        test_failed(__FILE__, __LINE__, "open: %d %s; %s lost before call %d, block %u", code, err.message,
                    losses[i->loss], i->call, i->least);
        return;
    }
    CHECK_INT(store_load_read(s, &p->load, &n, &err), FENEC_OK);
    if (n < i->least || n > i->most)
        test_failed(__FILE__, __LINE__, "%u blocks, not %u to %u; %s lost before call %d", n, i->least,
                    i->most, losses[i->loss], i->call);
    else if (p->checked % 4 == 0) { /* it can be gone on with */
        CHECK_INT(store_load_block(s, &p->load, n + 1, &ticket, &err), FENEC_OK);
        CHECK_INT(store_wait(s, ticket, &err), FENEC_OK);
        CHECK_INT(store_load_read(s, &p->load, &n, &err), FENEC_OK);
    }
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    CHECK(is_whole(i->disk));
    p->checked++;
    p->short_of += n < i->most;
}

/* Not from within a hook: there the store that is being written holds its locks. */
static void check_images(power *p)
{
    pthread_mutex_lock(&p->guard);
    image *all = p->images;
    p->images = NULL;
    pthread_mutex_unlock(&p->guard);
    while (all) {
        image *i = all;
        all = i->next;
        check_image(p, i);
        test_disk_free(i->disk);
        free(i);
    }
}

static void power_init(power *p, uint32_t row_bytes, unsigned one_in)
{
    *p = (power){.disk = test_disk_new(), .random = test_seed(), .one_in = one_in};
    p->load = (store_load){.seed = test_random(&p->random), .row_bytes = row_bytes};
    pthread_mutex_init(&p->guard, NULL);
    test_disk_hook(p->disk, cut, p);
}

static void power_clear(power *p, store *s)
{
    error err;

    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    check_images(p);
    test_disk_free(p->disk);
    pthread_mutex_destroy(&p->guard);
}

/* Blocks `from` to `to`, a checkpoint after every so many. */
static void run_blocks(power *p, store *s, uint32_t from, uint32_t to, uint32_t checkpoint_every)
{
    error err;
    uint64_t ticket;

    for (uint32_t n = from; n <= to; n++) {
        p->begun = n;
        CHECK_INT(store_load_block(s, &p->load, n, &ticket, &err), FENEC_OK);
        CHECK_INT(store_wait(s, ticket, &err), FENEC_OK);
        p->acknowledged = n;
        if (n % checkpoint_every == 0)
            CHECK_INT(store_checkpoint(s, &err), FENEC_OK);
        check_images(p);
    }
}

TEST(store_keeps_every_acknowledged_block_through_a_loss_of_power)
{
    power p;
    store *s;
    error err;

    power_init(&p, 200, 1);
    CHECK_INT(open_store(&s, p.disk, false, &err), FENEC_OK);
    check_images(&p);
    run_blocks(&p, s, 1, (uint32_t)test_scale(120, 2000), 9);
    /* A close and an open in between: the log is gone and begins anew. */
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    check_images(&p);
    CHECK_INT(open_store(&s, p.disk, false, &err), FENEC_OK);
    run_blocks(&p, s, p.begun + 1, p.begun + 20, 7);
    power_clear(&p, s);
    CHECK(p.checked >= 2000);
    CHECK(p.short_of > 100);
}

/* The log is folded in at its own limits, by the writer as it goes on. */
TEST(store_keeps_every_block_through_checkpoints_of_a_large_log)
{
    power p;
    store *s;
    error err;

    power_init(&p, 9000, 200);
    CHECK_INT(open_store(&s, p.disk, false, &err), FENEC_OK);
    run_blocks(&p, s, 1, (uint32_t)test_scale(250, 1000), UINT32_MAX);
    power_clear(&p, s);
    CHECK(p.checked > 20);
}

TEST(store_no_sync_keeps_what_was_synced_and_loses_the_rest_in_order)
{
    power p;
    store *s;
    error err;
    uint64_t ticket;

    power_init(&p, 300, 1);
    CHECK_INT(open_store(&s, p.disk, true, &err), FENEC_OK);
    for (uint32_t n = 1; n <= (uint32_t)test_scale(120, 2000); n++) {
        p.begun = n;
        CHECK_INT(store_load_block(s, &p.load, n, &ticket, &err), FENEC_OK);
        if (n % 10 == 5)
            CHECK_INT(store_flush(s, &err), FENEC_OK);
        if (n % 10 == 9) {
            CHECK_INT(store_sync(s, &err), FENEC_OK);
            p.acknowledged = n;
        }
        if (n % 30 == 0) {
            CHECK_INT(store_checkpoint(s, &err), FENEC_OK);
            p.acknowledged = n;
        }
        check_images(&p);
    }
    power_clear(&p, s);
    CHECK(p.checked > 300);
}

typedef struct worker {
    power *p;
    store *s;
    uint32_t last;
} worker;

/* Blocks of several threads share syncs. */
static void write_blocks(void *argument)
{
    worker *w = argument;
    power *p = w->p;
    uint64_t ticket;
    error err;

    for (;;) {
        conn *c;
        version *v;
        CHECK_INT(store_write(w->s, true, &c, &v, &err), FENEC_OK);
        pthread_mutex_lock(&p->guard);
        uint32_t n = p->begun < w->last ? ++p->begun : 0;
        pthread_mutex_unlock(&p->guard);
        if (n == 0) {
            store_write_rollback(c);
            return;
        }
        CHECK_INT(store_load_write(c, &p->load, n, &err), FENEC_OK);
        CHECK_INT(store_write_commit(c, NULL, &ticket, &err), FENEC_OK);
        CHECK_INT(store_wait(w->s, ticket, &err), FENEC_OK);
        pthread_mutex_lock(&p->guard);
        if (n > p->acknowledged)
            p->acknowledged = n;
        pthread_mutex_unlock(&p->guard);
        if (n % 50 == 0)
            CHECK_INT(store_checkpoint(w->s, &err), FENEC_OK);
    }
}

TEST(store_keeps_every_acknowledged_block_of_several_threads)
{
    power p;
    store *s;
    error err;
    thread threads[4];
    int started = 0;

    power_init(&p, 200, 8);
    CHECK_INT(open_store(&s, p.disk, false, &err), FENEC_OK);
    worker w = {.p = &p, .s = s, .last = (uint32_t)test_scale(300, 4000)};
    while (started < 4 && thread_start(&threads[started], write_blocks, &w))
        started++;
    for (int i = 0; i < started; i++)
        thread_join(&threads[i]);
    check_images(&p);
    CHECK_INT(p.acknowledged, w.last);
    power_clear(&p, s);
    CHECK(p.checked > 100);
}

TEST(store_open_after_a_cut_open_finds_what_was_there)
{
    power p;
    store *s;
    error err;
    uint64_t ticket, random = test_seed();

    power_init(&p, 200, 1);
    test_disk_hook(p.disk, NULL, NULL);
    CHECK_INT(open_store(&s, p.disk, false, &err), FENEC_OK);
    for (uint32_t n = 1; n <= 20; n++)
        CHECK_INT(store_load_block(s, &p.load, n, &ticket, &err), FENEC_OK);
    CHECK_INT(store_wait(s, ticket, &err), FENEC_OK);
    p.begun = p.acknowledged = 20;
    test_disk *killed = test_disk_cut(p.disk, LOSE_ALL, &random);
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    test_disk_free(p.disk);

    /* The log is there and the open recovers it, under cuts of its own. */
    p.disk = killed;
    test_disk_hook(killed, cut, &p);
    CHECK_INT(open_store(&s, killed, false, &err), FENEC_OK);
    check_images(&p);
    power_clear(&p, s);
    CHECK(p.checked > 0);
}
