#include "exec/maintenance.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/thread.h"

typedef struct asked {
    job *run;
    void *with;
    uint32_t number;
    struct asked *next;
} asked;

struct maintenance {
    lock guard;
    condition moved; /* a job was asked for, one is over, or the thread is to stop */
    asked *first, **last;
    bool busy, started;
    _Atomic(bool) stops;
    thread worker;
};

maintenance *maintenance_new(void)
{
    maintenance *m = memory_zeroed(sizeof *m);

    if (!m)
        return NULL;
    if (!lock_init(&m->guard, LOCK_LEAF)) {
        memory_free(m);
        return NULL;
    }
    if (!condition_init(&m->moved)) {
        lock_destroy(&m->guard);
        memory_free(m);
        return NULL;
    }
    m->last = &m->first;
    return m;
}

void maintenance_free(maintenance *m)
{
    if (!m)
        return;
    while (m->first) {
        asked *gone = m->first;
        m->first = gone->next;
        memory_free(gone);
    }
    condition_destroy(&m->moved);
    lock_destroy(&m->guard);
    memory_free(m);
}

static asked *take(maintenance *m)
{
    asked *a = m->first;

    m->first = a->next;
    if (!m->first)
        m->last = &m->first;
    a->next = NULL;
    return a;
}

static void put(maintenance *m, asked *a)
{
    *m->last = a;
    m->last = &a->next;
}

static const asked *find(const maintenance *m, const asked *like)
{
    for (const asked *a = m->first; a; a = a->next)
        if (a->run == like->run && a->with == like->with && a->number == like->number)
            return a;
    return NULL;
}

static void work(void *of)
{
    maintenance *m = of;

    lock_take(&m->guard);
    for (;;) {
        while (!m->first && !atomic_load(&m->stops))
            condition_wait(&m->moved, &m->guard);
        if (atomic_load(&m->stops))
            break;
        asked *a = take(m);
        bool again = false;
        m->busy = true;
        lock_leave(&m->guard);
        a->run(a->with, a->number, &again);
        lock_take(&m->guard);
        m->busy = false;
        if (again && !find(m, a))
            put(m, a);
        else
            memory_free(a);
        condition_broadcast(&m->moved);
    }
    lock_leave(&m->guard);
}

void maintenance_ask(maintenance *m, job *run, void *with, uint32_t number)
{
    const asked wanted = {.run = run, .with = with, .number = number};

    lock_take(&m->guard);
    if (!atomic_load(&m->stops) && !find(m, &wanted)) {
        asked *a = memory_alloc(sizeof *a);
        if (a) {
            *a = wanted;
            put(m, a);
        }
        if (!m->started)
            m->started = thread_start(&m->worker, work, m);
        condition_broadcast(&m->moved);
    }
    lock_leave(&m->guard);
}

void maintenance_wait(maintenance *m)
{
    lock_take(&m->guard);
    while ((m->first || m->busy) && m->started && !atomic_load(&m->stops))
        condition_wait(&m->moved, &m->guard);
    lock_leave(&m->guard);
}

bool maintenance_stops(const maintenance *m)
{
    return atomic_load(&m->stops);
}

void maintenance_stop(maintenance *m)
{
    lock_take(&m->guard);
    atomic_store(&m->stops, true);
    bool started = m->started;
    m->started = false;
    condition_broadcast(&m->moved);
    lock_leave(&m->guard);
    if (started)
        thread_join(&m->worker);
}
