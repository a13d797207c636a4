#include "search/slab.h"

#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

#define FIRST_BYTES 4096 /* of the first chunk, about */
#define ALIGNMENT 64
#define PAGES_LEAST (128u * 1024) /* a chunk of so many bytes is of whole pages, */
#define HUGE_LEAST (8u * 1024 * 1024) /* of so many of huge ones */
#define HUGE_PAGE (2u * 1024 * 1024)

void slab_init(slab *s, size_t item)
{
    *s = (slab){.item = item};
    while (((size_t)2 << s->first) * item <= FIRST_BYTES)
        s->first++;
}

static size_t chunk_bytes(const slab *s, uint32_t chunk)
{
    return s->item << (s->first + chunk);
}

/* A small one comes from the heap, with what memory_free takes in front of it; of a large one the pages that were
 * not written to are not there. */
static uint8_t *chunk_new(size_t len)
{
    if (len >= PAGES_LEAST)
        return memory_pages(len, len >= HUGE_LEAST ? HUGE_PAGE : ALIGNMENT);
    uint8_t *whole = memory_zeroed(len + ALIGNMENT + sizeof whole);
    if (!whole)
        return NULL;
    uintptr_t start = ((uintptr_t)whole + sizeof whole + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    uint8_t *chunk = whole + (start - (uintptr_t)whole);
    memcpy(chunk - sizeof whole, &whole, sizeof whole);
    return chunk;
}

static void chunk_free(uint8_t *chunk, size_t len)
{
    uint8_t *whole;

    if (len >= PAGES_LEAST) {
        memory_pages_free(chunk, len);
        return;
    }
    memcpy(&whole, chunk - sizeof whole, sizeof whole);
    memory_free(whole);
}

/* Items are met all over a large chunk: in huge pages it is found sooner. */
static void use_huge_pages(uint8_t *chunk, size_t len, size_t used)
{
#ifdef MADV_HUGEPAGE
    used = (used < len ? used : len) & ~(size_t)(HUGE_PAGE - 1);
    if (len >= HUGE_LEAST && used)
        madvise(chunk, used, MADV_HUGEPAGE);
#else
    (void)chunk;
    (void)len;
    (void)used;
#endif
}

void slab_clear(slab *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        chunk_free(atomic_load_explicit(&s->chunks[i], memory_order_relaxed), chunk_bytes(s, i));
        atomic_store_explicit(&s->chunks[i], NULL, memory_order_relaxed);
    }
    s->count = 0;
}

/* Of a new chunk, huge pages for what items below `whole` take. */
static bool reserve(slab *s, uint32_t n, uint32_t whole)
{
    while (((uint64_t)n + (1u << s->first)) > (uint64_t)1 << (s->first + s->count)) {
        if (s->first + s->count >= SLAB_CHUNKS)
            return false;
        const size_t len = chunk_bytes(s, s->count);
        const uint32_t before = (1u << (s->first + s->count)) - (1u << s->first);
        uint8_t *chunk = chunk_new(len);
        if (!chunk)
            return false;
        use_huge_pages(chunk, len, whole > before ? (size_t)(whole - before) * s->item : 0);
        atomic_store_explicit(&s->chunks[s->count++], chunk, memory_order_relaxed);
    }
    return true;
}

bool slab_reserve(slab *s, uint32_t n)
{
    return reserve(s, n, UINT32_MAX);
}

bool slab_fit(slab *s, uint32_t n, uint32_t whole)
{
    return reserve(s, n, whole);
}

uint32_t slab_run(const slab *s, uint32_t i)
{
    uint32_t place = i + (1u << s->first);
    unsigned bit = 31u - (unsigned)__builtin_clz(place);

    return (uint32_t)(((uint64_t)2 << bit) - (1u << s->first));
}
