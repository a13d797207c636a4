#include "search/bitmap.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"

bitmap *bitmap_new(uint32_t size, const bitmap *like)
{
    size_t words = (size_t)size / 64 + 1;
    bitmap *b = memory_zeroed(sizeof *b + words * sizeof *b->words);

    if (!b)
        return NULL;
    atomic_init(&b->references, 1);
    b->size = size;
    if (like) {
        b->count = like->count;
        memcpy(b->words, like->words, words * sizeof *b->words);
    }
    return b;
}

bitmap *bitmap_keep(const bitmap *b)
{
    bitmap *kept = (bitmap *)b; /* the count alone changes */

    if (kept)
        atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

void bitmap_drop(bitmap *b)
{
    if (b && atomic_fetch_sub_explicit(&b->references, 1, memory_order_acq_rel) == 1)
        memory_free(b);
}
