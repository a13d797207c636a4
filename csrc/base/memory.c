#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

static _Thread_local long allocations_left = -1;
static _Thread_local bool just_one, held;
static _Thread_local long asked, failures;

void memory_fail_after(long countdown)
{
    allocations_left = countdown;
    just_one = false;
    asked = failures = 0;
}

void memory_fail_one(long countdown)
{
    memory_fail_after(countdown);
    just_one = true;
}

void memory_hold(bool hold)
{
    held = hold;
}

long memory_asked(void)
{
    return asked;
}

long memory_failures(void)
{
    return failures;
}

static bool may_allocate(void)
{
    if (allocations_left < 0 || held)
        return true;
    asked++;
    if (allocations_left > 0) {
        allocations_left--;
        return true;
    }
    if (just_one)
        allocations_left = -1;
    failures++;
    return false;
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
