/* bitmap.h - documents of a segment that are gone: immutable and shared, made anew to add some. */
#ifndef SEARCH_BITMAP_H
#define SEARCH_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bitmap {
    _Atomic(long) references;
    uint32_t size, count; /* bits; those that are set */
    uint64_t words[];
} bitmap;

bitmap *bitmap_new(uint32_t size, const bitmap *like); /* one reference, the bits of `like`; NULL: no memory */
bitmap *bitmap_keep(const bitmap *b);                  /* NULL does nothing */
void bitmap_drop(bitmap *b);

static inline bool bitmap_has(const bitmap *b, uint32_t bit)
{
    return b && b->words[bit / 64] >> bit % 64 & 1;
}

/* While nobody else has it. */
static inline void bitmap_set(bitmap *b, uint32_t bit)
{
    b->count += !bitmap_has(b, bit);
    b->words[bit / 64] |= (uint64_t)1 << bit % 64;
}

#endif
