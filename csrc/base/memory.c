#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

static _Thread_local long allocations_left = -1;

void memory_fail_after(long countdown)
{
    allocations_left = countdown;
}

static bool may_allocate(void)
{
    if (allocations_left < 0)
        return true;
    if (allocations_left == 0)
        return false;
    allocations_left--;
    return true;
}

void *memory_alloc(size_t len)
{
    return may_allocate() ? malloc(len ? len : 1) : NULL;
}

void *memory_zeroed(size_t len)
{
    return may_allocate() ? calloc(1, len ? len : 1) : NULL;
}

void *memory_resize(void *old, size_t len)
{
    return may_allocate() ? realloc(old, len ? len : 1) : NULL;
}

void memory_free(void *bytes)
{
    free(bytes);
}
