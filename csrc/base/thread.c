#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#ifdef FENEC_LOCK_ORDER

#include <stdatomic.h>

#define HELD_MAX 32

static _Atomic uint64_t violations;
static _Thread_local lock_rank held[HELD_MAX]; /* in the order taken */
static _Thread_local int held_count;

static void note_taken(const lock *l)
{
    for (int i = 0; i < held_count; i++) {
        if (held[i] >= l->rank) {
            atomic_fetch_add(&violations, 1);
            break;
        }
    }
    if (held_count < HELD_MAX)
        held[held_count++] = l->rank;
}

static void note_left(const lock *l)
{
    int i = held_count;

    while (i > 0 && held[i - 1] != l->rank)
        i--;
    if (i == 0)
        return;
    for (held_count--; i <= held_count; i++)
        held[i - 1] = held[i];
}

uint64_t lock_order_violations(void)
{
    return atomic_load(&violations);
}

#else

static void note_taken(const lock *l)
{
    (void)l;
}

static void note_left(const lock *l)
{
    (void)l;
}

uint64_t lock_order_violations(void)
{
    return 0;
}

#endif

bool lock_init(lock *l, lock_rank rank)
{
    l->rank = rank;
    return pthread_mutex_init(&l->mutex, NULL) == 0;
}

void lock_destroy(lock *l)
{
    pthread_mutex_destroy(&l->mutex);
}

void lock_take(lock *l)
{
    note_taken(l); /* before: a lock out of order may never be had */
    pthread_mutex_lock(&l->mutex);
}

void lock_leave(lock *l)
{
    pthread_mutex_unlock(&l->mutex);
    note_left(l);
}

#ifdef __APPLE__

bool condition_init(condition *c)
{
    return pthread_cond_init(&c->cond, NULL) == 0;
}

static int wait_until_passed(condition *c, lock *l, uint64_t ms)
{
    struct timespec span = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    return pthread_cond_timedwait_relative_np(&c->cond, &l->mutex, &span);
}

#else

/* Waits are measured on the clock that nobody sets. */
bool condition_init(condition *c)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&c->cond, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

static int wait_until_passed(condition *c, lock *l, uint64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return pthread_cond_timedwait(&c->cond, &l->mutex, &until);
}

#endif

#define WAIT_MS_MAX ((uint64_t)1000 * 1000 * 1000) /* so that no clock arithmetic overflows */

void condition_destroy(condition *c)
{
    pthread_cond_destroy(&c->cond);
}

void condition_wait(condition *c, lock *l)
{
    pthread_cond_wait(&c->cond, &l->mutex);
}

bool condition_wait_ms(condition *c, lock *l, uint64_t ms)
{
    return wait_until_passed(c, l, ms < WAIT_MS_MAX ? ms : WAIT_MS_MAX) != ETIMEDOUT;
}

void condition_signal(condition *c)
{
    pthread_cond_signal(&c->cond);
}

void condition_broadcast(condition *c)
{
    pthread_cond_broadcast(&c->cond);
}

static void *thread_main(void *argument)
{
    thread *t = argument;

    t->run(t->argument);
    return NULL;
}

bool thread_start(thread *t, void (*run)(void *), void *argument)
{
    sigset_t all, before;

    t->run = run;
    t->argument = argument;
    /* The app's signals are for its own threads. */
    sigfillset(&all);
    bool masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    bool started = pthread_create(&t->id, NULL, thread_main, t) == 0;
    if (masked)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void thread_join(thread *t)
{
    pthread_join(t->id, NULL);
}
