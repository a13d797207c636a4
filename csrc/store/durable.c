/* Group commit. A block commits without waiting for the disk and gets a ticket; then one waiter syncs the
 * log for everybody who has landed. The leader first lets the blocks land that asked for the writer's lock
 * before it looked, so that they share its sync; for a long block it does not wait. */
#include "store/inside.h"

#include <sched.h>
#include <stdio.h>

#include "base/clock.h"
#include "store/sqlite_error.h"
#include "store/stamp.h"

#define GATHER_YIELDS 16
#define GATHER_SHARE 3 /* of the time of a sync */

void durable_refuse(store *s, const char *reason)
{
    lock_take(&s->durable);
    if (!atomic_load(&s->refused)) {
        snprintf(s->reason, sizeof s->reason, "%s", reason);
        atomic_store(&s->refused, true);
    }
    condition_broadcast(&s->moved);
    condition_broadcast(&s->gathered);
    lock_leave(&s->durable);
}

int durable_refused(store *s, error *err)
{
    char reason[sizeof s->reason];

    lock_take(&s->durable);
    snprintf(reason, sizeof reason, "%s", s->reason);
    lock_leave(&s->durable);
    return fail(err, FENEC_IO, "no writes until the database is opened again: %s", reason);
}

void durable_land(store *s, uint64_t *ticket)
{
    lock_take(&s->durable);
    *ticket = ++s->landed;
    lock_leave(&s->durable);
}

void durable_leave(store *s)
{
    lock_take(&s->durable);
    s->left++;
    s->long_block = false;
    if (s->gathering || s->giving_way)
        condition_broadcast(&s->gathered);
    lock_leave(&s->durable);
}

void durable_note_long(store *s)
{
    lock_take(&s->durable);
    s->long_block = true;
    if (s->gathering)
        condition_broadcast(&s->gathered);
    lock_leave(&s->durable);
}

void durable_note_short(store *s)
{
    lock_take(&s->durable);
    s->long_block = false;
    lock_leave(&s->durable);
}

void durable_note_synced(store *s, uint64_t ticket)
{
    lock_take(&s->durable);
    if (ticket > s->synced)
        s->synced = ticket;
    condition_broadcast(&s->moved);
    lock_leave(&s->durable);
}

/* Through SQLite's own file: closing a descriptor of ours would drop its locks. The writer may be at work in
 * the same file. */
int durable_sync_log(store *s)
{
    return s->log->pMethods->xSync(s->log, SYNC_HOW);
}

static bool may_gather(const store *s)
{
    return !s->long_block && !atomic_load(&s->refused);
}

/* LOCK_DURABLE held. Those whom the last sync let go tend to come back at once: the processor is theirs a
 * few times before the next one, which they would miss by microseconds and then wait for whole. Where a sync takes
 * milliseconds, a part of that is waited for them. Blocks that have asked by then land, or one turns out to be
 * long. */
static void gather(store *s)
{
    int64_t until = clock_monotonic_us() + s->sync_us / GATHER_SHARE;

    for (int i = 0; i < GATHER_YIELDS && s->landed - s->synced < s->released && may_gather(s); i++) {
        lock_leave(&s->durable);
        sched_yield();
        lock_take(&s->durable);
    }
    s->gathering = true;
    while (s->landed - s->synced < s->released && may_gather(s)) {
        int64_t left = (until - clock_monotonic_us()) / 1000;
        if (left <= 0 || !condition_wait_ms(&s->gathered, &s->durable, (uint64_t)left))
            break;
    }
    uint64_t asked = atomic_load(&s->entered);
    while (s->left < asked && may_gather(s))
        condition_wait(&s->gathered, &s->durable);
    s->gathering = false;
}

int durable_wait(store *s, uint64_t ticket, error *err)
{
    int rc = SQLITE_OK;

    lock_take(&s->durable);
    while (s->synced < ticket && !atomic_load(&s->refused)) {
        if (s->syncing) {
            s->waiting++;
            condition_wait(&s->moved, &s->durable);
            s->waiting--;
            continue;
        }
        s->syncing = true;
        gather(s);
        uint64_t landed = s->landed;
        lock_leave(&s->durable);
        int64_t begun = clock_monotonic_us();
        rc = durable_sync_log(s);
        int64_t took = clock_monotonic_us() - begun;
        if (rc) {
            sqlite_fail(err, rc, NULL, "cannot sync the log");
            durable_refuse(s, err->message);
        }
        lock_take(&s->durable);
        s->syncing = false;
        s->sync_us = took;
        if (rc == SQLITE_OK && landed > s->synced) {
            s->released = s->waiting + 1;
            s->synced = landed;
        }
        condition_broadcast(&s->moved);
    }
    bool synced = s->synced >= ticket;
    lock_leave(&s->durable);
    return synced ? FENEC_OK : durable_refused(s, err);
}

void store_give_way(store *s)
{
    lock_take(&s->durable);
    uint64_t asked = atomic_load(&s->entered);
    s->giving_way++;
    while (s->left < asked)
        condition_wait(&s->gathered, &s->durable);
    s->giving_way--;
    lock_leave(&s->durable);
    checkpoint_early(s); /* so that it seldom falls to one of them */
}

int store_wait(store *s, uint64_t ticket, error *err)
{
    if (ticket == 0 || s->no_sync || s->memory)
        return FENEC_OK;
    int code = store_check_fork(s, err);
    return code ? code : durable_wait(s, ticket, err);
}
