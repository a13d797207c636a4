#include "search/number_table.h"

#include "base/memory.h"

#define CAP_FIRST 64

void number_table_clear(number_table *t)
{
    memory_free(t->slots);
    t->slots = NULL;
    t->cap = t->used = 0;
}

static void place(const number_table *t, uint32_t n)
{
    uint32_t at = (uint32_t)t->hash(t->owner, n) & (t->cap - 1);

    while (t->slots[at])
        at = (at + 1) & (t->cap - 1);
    t->slots[at] = n + 1;
}

bool number_table_room(number_table *t, uint32_t more)
{
    number_table grown = *t;

    grown.cap = t->cap ? t->cap : CAP_FIRST;
    while (((uint64_t)t->used + more) * 4 > (uint64_t)grown.cap * 3)
        grown.cap *= 2;
    if (grown.cap == t->cap)
        return true;
    grown.slots = memory_zeroed((size_t)grown.cap * sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (uint32_t i = 0; i < t->cap; i++)
        if (t->slots[i])
            place(&grown, t->slots[i] - 1);
    memory_free(t->slots);
    *t = grown;
    return true;
}

void number_table_put(number_table *t, uint32_t n)
{
    place(t, n);
    t->used++;
}

void number_table_erase(number_table *t, uint32_t n)
{
    const uint32_t mask = t->cap - 1;
    uint32_t gap, at;

    if (!t->cap)
        return;
    gap = (uint32_t)t->hash(t->owner, n) & mask;
    while (t->slots[gap] && t->slots[gap] != n + 1)
        gap = (gap + 1) & mask;
    if (!t->slots[gap])
        return;
    /* What stands after it moves up where it would not be found past the gap. */
    for (at = (gap + 1) & mask; t->slots[at]; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)t->hash(t->owner, t->slots[at] - 1) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            t->slots[gap] = t->slots[at];
            gap = at;
        }
    }
    t->slots[gap] = 0;
    t->used--;
}

bool number_table_next(const number_table *t, uint64_t hash, uint32_t *at, bool *started, uint32_t *n)
{
    if (!t->cap)
        return false;
    *at = (*started ? *at + 1 : (uint32_t)hash) & (t->cap - 1);
    *started = true;
    if (!t->slots[*at])
        return false;
    *n = t->slots[*at] - 1;
    return true;
}
