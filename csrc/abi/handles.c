#include "abi/handles.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>

#include "base/fork.h"
#include "base/memory.h"
#include "base/thread.h"

#define BUCKETS 64u /* a process opens few databases; a longer list is still right */

struct handle {
    handle *next; /* of its bucket, under `table` */
    uint64_t number;
    database *d;
    unsigned forks; /* how often the process had been forked */
    long users; /* calls in flight, and 1 while it is in the table; under `table` */
};

/* Held for look-ups alone, never while a database works. */
static lock table = LOCK_INIT(LOCK_HANDLES);
static handle *buckets[BUCKETS];
static uint64_t last_number; /* never handed out twice */

/* The table is whole in a child too, and its lock free, whatever other threads of the parent did. */
static void before_fork(void)
{
    lock_take(&table);
}

static void after_fork(void)
{
    lock_leave(&table);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

handle *handle_new(void)
{
    static pthread_once_t watching = PTHREAD_ONCE_INIT;
    handle *h = memory_zeroed(sizeof(handle));

    pthread_once(&watching, watch_forks);
    if (h)
        h->forks = fork_count();
    return h;
}

void handle_discard(handle *h)
{
    memory_free(h);
}

uint64_t handle_register(handle *h, database *d)
{
    h->d = d;
    h->users = 1;
    lock_take(&table);
    h->number = ++last_number;
    h->next = buckets[h->number % BUCKETS];
    buckets[h->number % BUCKETS] = h;
    uint64_t number = h->number;
    lock_leave(&table);
    return number;
}

/* Under `table`: where the number stands in its bucket; NULL with the error where nobody may call it. */
static handle **look_up(uint64_t number, error *err)
{
    handle **link = &buckets[number % BUCKETS];

    while (*link && (*link)->number != number)
        link = &(*link)->next;
    if (!*link)
        fail(err, FENEC_MISUSE, "no database is open under the number %" PRIu64, number);
    else if ((*link)->forks != fork_count())
        fail(err, FENEC_MISUSE, "the database was opened before this process was forked");
    else
        return link;
    return NULL;
}

handle *handle_find(uint64_t number, error *err)
{
    lock_take(&table);
    handle **link = look_up(number, err);
    handle *h = link ? *link : NULL;
    if (h)
        h->users++;
    lock_leave(&table);
    return h;
}

database *handle_database(handle *h)
{
    return h->d;
}

void handle_done(handle *h)
{
    lock_take(&table);
    long left = --h->users;
    lock_leave(&table);
    if (left == 0) {
        database_free(h->d);
        memory_free(h);
    }
}

handle *handle_remove(uint64_t number, error *err)
{
    lock_take(&table);
    handle **link = look_up(number, err);
    handle *h = link ? *link : NULL;
    if (h)
        *link = h->next; /* the table's use becomes the caller's */
    lock_leave(&table);
    return h;
}
