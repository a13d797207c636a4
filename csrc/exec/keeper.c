#include "exec/keeper.h"

#include "base/memory.h"
#include "base/thread.h"

_Atomic(uint64_t) keeper_ms = 5000;

struct keeper {
    lock guard;
    condition stopped;
    bool stops;
    uint64_t every_ms;
    void (*look)(void *with);
    void *with;
    thread worker;
};

static void work(void *of)
{
    keeper *k = of;

    lock_take(&k->guard);
    while (!k->stops) {
        if (condition_wait_ms(&k->stopped, &k->guard, k->every_ms) || k->stops)
            continue;
        lock_leave(&k->guard);
        k->look(k->with);
        lock_take(&k->guard);
    }
    lock_leave(&k->guard);
}

static void destroy(keeper *k)
{
    condition_destroy(&k->stopped);
    lock_destroy(&k->guard);
    memory_free(k);
}

keeper *keeper_start(void (*look)(void *with), void *with)
{
    keeper *k = memory_zeroed(sizeof *k);

    if (!k)
        return NULL;
    k->every_ms = atomic_load(&keeper_ms);
    k->look = look;
    k->with = with;
    if (!lock_init(&k->guard, LOCK_LEAF)) {
        memory_free(k);
        return NULL;
    }
    if (!condition_init(&k->stopped)) {
        lock_destroy(&k->guard);
        memory_free(k);
        return NULL;
    }
    if (thread_start(&k->worker, work, k))
        return k;
    destroy(k);
    return NULL;
}

void keeper_stop(keeper *k)
{
    if (!k)
        return;
    lock_take(&k->guard);
    k->stops = true;
    condition_signal(&k->stopped);
    lock_leave(&k->guard);
    thread_join(&k->worker);
    destroy(k);
}
