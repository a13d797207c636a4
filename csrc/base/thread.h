/* thread.h - locks, conditions and threads.
 *
 * A lock has a rank; a thread takes locks only in rising order, which a build with FENEC_LOCK_ORDER
 * checks and reports through lock_order_violations. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum lock_rank {
    LOCK_HANDLES = 1, /* the table of handles */
    LOCK_SYNC,        /* the sync machine */
    LOCK_BUILD,       /* builds of what a file lacks */
    LOCK_WRITER,      /* the one writer of a database */
    LOCK_DURABLE,     /* who has landed, who is synced */
    LOCK_PUBLISH,     /* the committed version */
    LOCK_POOL,        /* reader connections */
    LOCK_RING,        /* the change ring */
    LOCK_TEXTS,       /* parsed texts */
    LOCK_FILES,       /* lock files this process holds; files of a memory VFS */
    LOCK_LEAF         /* takes no other lock */
} lock_rank;

typedef struct lock {
    pthread_mutex_t mutex;
    lock_rank rank;
} lock;

#define LOCK_INIT(r) {.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = (r)}

bool lock_init(lock *l, lock_rank rank); /* false: no memory */
void lock_destroy(lock *l);
void lock_take(lock *l);
void lock_leave(lock *l);

typedef struct condition {
    pthread_cond_t cond;
} condition;

bool condition_init(condition *c);
void condition_destroy(condition *c);
void condition_wait(condition *c, lock *l);
bool condition_wait_ms(condition *c, lock *l, uint64_t ms); /* false: the time passed */
void condition_signal(condition *c);
void condition_broadcast(condition *c);

typedef struct thread {
    pthread_t id;
    void (*run)(void *);
    void *argument;
} thread;

/* *t must live until thread_join. False: none could be started. */
bool thread_start(thread *t, void (*run)(void *), void *argument);
void thread_join(thread *t);

/* Rises when a thread took a lock out of order; 0 in builds that do not check. */
uint64_t lock_order_violations(void);

#endif
