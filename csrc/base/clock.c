#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic int64_t set_ms = -1;

int64_t clock_now_ms(void)
{
    int64_t set = atomic_load_explicit(&set_ms, memory_order_relaxed);
    struct timespec now;

    if (set >= 0)
        return set;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_monotonic_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void clock_set_ms(int64_t ms)
{
    atomic_store_explicit(&set_ms, ms, memory_order_relaxed);
}
