#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

static size_t whole_pages(size_t len)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return len > SIZE_MAX - page ? 0 : (len + page - 1) & ~(page - 1);
}

void *memory_pages(size_t len, size_t alignment)
{
    const size_t whole = whole_pages(len), more = whole_pages(alignment);

    if (!whole || whole > SIZE_MAX - more || !may_allocate())
        return NULL;
    uint8_t *all = mmap(NULL, whole + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)all & (alignment - 1));
    if (before)
        munmap(all, before);
    if (more > before)
        munmap(all + before + whole, more - before);
    return all + before;
}

void memory_pages_free(void *pages, size_t len)
{
    if (pages)
        munmap(pages, whole_pages(len));
}
