#include "search/slab.h"

#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

#define FIRST_BYTES 4096 /* of the first chunk, about */
#define ALIGNMENT 64
#define LARGE_PAGE (2u * 1024 * 1024)

void slab_init(slab *s, size_t item)
{
    *s = (slab){.item = item};
    while (((size_t)2 << s->first) * item <= FIRST_BYTES)
        s->first++;
}

/* What memory_free takes stands in front of a chunk. */
static uint8_t *chunk_new(size_t len)
{
    size_t alignment = len >= 4 * LARGE_PAGE ? LARGE_PAGE : ALIGNMENT;
    uint8_t *whole = memory_zeroed(len + alignment + sizeof whole);

    if (!whole)
        return NULL;
    uintptr_t start = ((uintptr_t)whole + sizeof whole + alignment - 1) & ~(uintptr_t)(alignment - 1);
    uint8_t *chunk = whole + (start - (uintptr_t)whole);
    memcpy(chunk - sizeof whole, &whole, sizeof whole);
#ifdef MADV_HUGEPAGE
    if (alignment == LARGE_PAGE) /* vectors are met all over it */
        madvise(chunk, len & ~(size_t)(LARGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return chunk;
}

static void chunk_free(uint8_t *chunk)
{
    uint8_t *whole;

    memcpy(&whole, chunk - sizeof whole, sizeof whole);
    memory_free(whole);
}

void slab_clear(slab *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        chunk_free(atomic_load_explicit(&s->chunks[i], memory_order_relaxed));
        atomic_store_explicit(&s->chunks[i], NULL, memory_order_relaxed);
    }
    s->count = 0;
}

bool slab_reserve(slab *s, uint32_t n)
{
    while (((uint64_t)n + (1u << s->first)) > (uint64_t)1 << (s->first + s->count)) {
        if (s->first + s->count >= SLAB_CHUNKS)
            return false;
        uint8_t *chunk = chunk_new(s->item << (s->first + s->count));
        if (!chunk)
            return false;
        atomic_store_explicit(&s->chunks[s->count++], chunk, memory_order_relaxed);
    }
    return true;
}

uint32_t slab_run(const slab *s, uint32_t i)
{
    uint32_t place = i + (1u << s->first);
    unsigned bit = 31u - (unsigned)__builtin_clz(place);

    return (uint32_t)(((uint64_t)2 << bit) - (1u << s->first));
}
