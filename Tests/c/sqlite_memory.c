#include "sqlite_memory.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

static sqlite3_mem_methods heap;
static _Thread_local long left = -1, asked, failures;
static _Thread_local bool just_one;

void sqlite_memory_fail_after(long countdown)
{
    left = countdown;
    just_one = false;
    asked = failures = 0;
}

void sqlite_memory_fail_one(long countdown)
{
    sqlite_memory_fail_after(countdown);
    just_one = true;
}

long sqlite_memory_asked(void)
{
    return asked;
}

long sqlite_memory_failures(void)
{
    return failures;
}

static bool may(void)
{
    if (left < 0)
        return true;
    asked++;
    if (left > 0) {
        left--;
        return true;
    }
    if (just_one)
        left = -1;
    failures++;
    return false;
}

static void *get(int len)
{
    return may() ? heap.xMalloc(len) : NULL;
}

static void *resize(void *old, int len)
{
    return may() ? heap.xRealloc(old, len) : NULL;
}

__attribute__((constructor)) static void set_up(void)
{
    sqlite3_mem_methods ours;

    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &heap);
    ours = heap;
    ours.xMalloc = get;
    ours.xRealloc = resize;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}
