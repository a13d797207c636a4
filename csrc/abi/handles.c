#include "abi/handles.h"

#include <stddef.h>

#include "base/memory.h"
#include "base/thread.h"

#define BUCKETS 64u /* a process opens few databases; a longer list is still right */

struct handle {
    handle *next; /* of its bucket, under `table` */
    uint64_t number;
    database *d;
    long users; /* calls in flight, and 1 while it is in the table; under `table` */
};

/* Held for look-ups alone, never while a database works. */
static lock table = LOCK_INIT(LOCK_HANDLES);
static handle *buckets[BUCKETS];
static uint64_t last_number; /* never handed out twice */

handle *handle_new(void)
{
    return memory_zeroed(sizeof(handle));
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

handle *handle_find(uint64_t number)
{
    lock_take(&table);
    handle *h = buckets[number % BUCKETS];
    while (h && h->number != number)
        h = h->next;
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

handle *handle_remove(uint64_t number)
{
    lock_take(&table);
    handle **link = &buckets[number % BUCKETS];
    while (*link && (*link)->number != number)
        link = &(*link)->next;
    handle *h = *link;
    if (h)
        *link = h->next; /* the table's use becomes the caller's */
    lock_leave(&table);
    return h;
}
