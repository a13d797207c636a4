#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic(unsigned) count;
static pthread_once_t watching = PTHREAD_ONCE_INIT;

/* In the child. */
static void note_fork(void)
{
    atomic_fetch_add(&count, 1);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

unsigned fork_count(void)
{
    pthread_once(&watching, watch);
    return atomic_load_explicit(&count, memory_order_relaxed);
}
