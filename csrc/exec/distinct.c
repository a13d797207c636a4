#include "exec/distinct.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

typedef struct distinct_entry {
    uint64_t owner;
    size_t len;
    uint8_t bytes[];
} distinct_entry;

enum { SLOTS_FIRST = 64 };

void distinct_clear(distinct *d)
{
    memory_free(d->slots);
    arena_clear(&d->memory);
    *d = (distinct){0};
}

static bool grow(distinct *d)
{
    size_t count = d->slots ? (d->mask + 1) * 2 : SLOTS_FIRST;
    distinct_slot *slots = memory_zeroed(count * sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; d->slots && i <= d->mask; i++) {
        if (!d->slots[i].entry)
            continue;
        size_t at = d->slots[i].hash & (count - 1);
        while (slots[at].entry)
            at = (at + 1) & (count - 1);
        slots[at] = d->slots[i];
    }
    memory_free(d->slots);
    d->slots = slots;
    d->mask = count - 1;
    return true;
}

int distinct_add(distinct *d, uint64_t owner, const uint8_t *bytes, size_t len, uint64_t *held, bool *fresh,
                 error *err)
{
    uint64_t hash = hash64(bytes, len) ^ owner * 0x9E3779B97F4A7C15u;
    size_t at = 0;

    *fresh = false;
    if (d->slots) {
        for (at = hash & d->mask; d->slots[at].entry; at = (at + 1) & d->mask) {
            const distinct_entry *e = d->slots[at].entry;
            if (d->slots[at].hash == hash && e->owner == owner && e->len == len &&
                !memcmp(e->bytes, bytes, len))
                return FENEC_OK;
        }
    }
    if (*held >= DISTINCT_MAX)
        return fail(err, FENEC_QUERY, "count(distinct ...) holds more than %u values", DISTINCT_MAX);
    if (!d->slots || d->count * 2 > d->mask) {
        if (!grow(d))
            return fail_memory(err);
        at = hash & d->mask;
        while (d->slots[at].entry)
            at = (at + 1) & d->mask;
    }
    distinct_entry *e = len < SIZE_MAX - sizeof *e ? arena_alloc(&d->memory, sizeof *e + len) : NULL;
    if (!e)
        return fail_memory(err);
    e->owner = owner;
    e->len = len;
    memcpy(e->bytes, bytes, len);
    d->slots[at] = (distinct_slot){.hash = hash, .entry = e};
    d->count++;
    ++*held;
    *fresh = true;
    return FENEC_OK;
}
