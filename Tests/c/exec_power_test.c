/* A scripted life with an index of every kind whose power goes at any write: after the next open the database is
 * in the state after one of the steps, none acknowledged is missing, and everything in it agrees. */
#include <pthread.h>
#include <stdlib.h>

#include "fenec.h"
#include "test.h"
#include "workload.h"

typedef struct image {
    struct image *next;
    test_disk *disk;
    int least, most; /* steps acknowledged, steps begun */
    disk_loss loss;
    disk_call call;
    bool in_log;
} image;

typedef struct power {
    workload *w;
    test_disk *disk;
    pthread_mutex_t guard; /* of what follows: the maintenance thread writes too */
    uint64_t random;
    unsigned one_in; /* of the moments at which the power could go */
    int acknowledged, begun, flushed;
    image *images;
    long moments, checked, short_of;
    bool no_sync;
} power;

static void cut(void *argument, disk_call call, const char *path)
{
    power *p = argument;

    pthread_mutex_lock(&p->guard);
    p->moments++;
    bool now = test_random(&p->random) % p->one_in == 0;
    for (disk_loss loss = LOSE_NOTHING; now && loss <= LOSE_SOME; loss++) {
        if (loss == LOSE_NOTHING && test_random(&p->random) % 4 > 0)
            continue;
        image *i = calloc(1, sizeof *i);
        *i = (image){p->images, NULL, p->acknowledged, p->begun, loss, call, strstr(path, "-wal") != NULL};
        if (loss == LOSE_NOTHING && p->no_sync)
            i->least = p->flushed; /* what was buffered is lost with the process */
        i->disk = test_disk_cut(p->disk, loss, &p->random);
        p->images = i;
    }
    pthread_mutex_unlock(&p->guard);
}

static void check_image(power *p, image *i)
{
    static const char *const losses[] = {"killed", "lost all", "lost some"};
    static const char *const calls[] = {"open", "read", "write", "truncate", "sync", "delete", "lock", "shm"};
    char when[200];

    snprintf(when, sizeof when, "%s before a %s%s of step %d, %.70s", losses[i->loss], calls[i->call],
             i->in_log ? " of the log" : "", i->most - 1, i->most ? workload_name(p->w, i->most - 1) : "open");
    int k = workload_reopen(p->w, i->disk, i->least, i->most, p->checked % 4 == 0 ? 2 : 0, when);
    p->checked++;
    p->short_of += k < i->most;
}

/* Not from within the hook: there the database that is being written holds its locks. */
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

static bool is_durable(const power *p, step_kind kind)
{
    return !p->no_sync || kind == STEP_SYNC || kind == STEP_CHECKPOINT;
}

/* Steps in one opening, or a new one after every so many. */
static void run_life(power *p, int reopen_every)
{
    uint64_t h = 0;
    uint32_t flags = FENEC_OPEN_NO_AUTO_COMPACT | (p->no_sync ? FENEC_OPEN_NO_SYNC : 0);

    p->disk = test_disk_new();
    p->acknowledged = p->begun = p->flushed = 0;
    test_disk_hook(p->disk, cut, p);
    CHECK_INT(workload_open(p->disk, flags, &h, NULL), FENEC_OK);
    for (int k = 0; k < p->w->count; k++) {
        char *answer;
        if (k && k % reopen_every == 0) {
            CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
            p->acknowledged = p->flushed = k;
            check_images(p);
            CHECK_INT(workload_open(p->disk, flags, &h, NULL), FENEC_OK);
        }
        pthread_mutex_lock(&p->guard);
        p->begun = k + 1;
        pthread_mutex_unlock(&p->guard);
        int code = workload_step(h, &p->w->steps[k], &answer);
        if (code != FENEC_OK)
            test_failed(__FILE__, __LINE__, "step %d answers %d %s", k, code, answer ? answer : "-");
        fenec_free_string(answer);
        pthread_mutex_lock(&p->guard);
        if (is_durable(p, p->w->steps[k].kind))
            p->acknowledged = p->flushed = k + 1;
        if (p->w->steps[k].kind == STEP_FLUSH)
            p->flushed = k + 1;
        pthread_mutex_unlock(&p->guard);
        check_images(p);
    }
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    check_images(p);
    test_disk_free(p->disk);
}

static void run_power(bool no_sync, unsigned one_in)
{
    power p = {.w = workload_new(false), .random = test_seed(), .one_in = one_in, .no_sync = no_sync};

    pthread_mutex_init(&p.guard, NULL);
    for (long round = 0; round < test_scale(1, 20); round++) {
        run_life(&p, 1000);
        run_life(&p, 1 + (int)(test_random(&p.random) % 9));
    }
    printf("  power%s: %ld moments, %ld disks after a loss, %ld of them short of what was begun\n",
           no_sync ? ", NO_SYNC" : "", p.moments, p.checked, p.short_of);
    CHECK(p.checked > 100 && p.short_of > 10);
    workload_free(p.w);
    pthread_mutex_destroy(&p.guard);
}

TEST(power_lost_at_any_write_leaves_every_index_with_its_documents)
{
    run_power(false, (unsigned)test_scale(2, 1));
}

TEST(power_lost_at_any_write_without_sync_leaves_whole_blocks_in_order)
{
    run_power(true, (unsigned)test_scale(2, 1));
}
