/* slab.h - an array of items of one size that grows and never moves: one thread at a time makes room, others
 * read what they were told is there.
 *
 * Its chunks double: chunk k holds 2^(first + k) items, so that item i stands in the chunk that the highest bit
 * of i + 2^first names. What was not written to costs address space alone. */
#ifndef SEARCH_SLAB_H
#define SEARCH_SLAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLAB_CHUNKS 32

typedef struct slab {
    size_t item;    /* bytes of one */
    unsigned first; /* the first chunk holds 2^first items */
    uint32_t count; /* chunks there are */
    uint8_t *_Atomic chunks[SLAB_CHUNKS];
} slab;

/* Allocates nothing. */
void slab_init(slab *s, size_t item);
void slab_clear(slab *s);

/* Makes room for items below n (at most 2^31), zeroed: false where memory ran out. What is there stays. */
bool slab_reserve(slab *s, uint32_t n);

/* The same where `whole` items are all that come for now: no memory is spent on more. */
bool slab_fit(slab *s, uint32_t n, uint32_t whole);

/* An item below what was reserved; the first of a chunk is aligned for any vector. */
static inline uint8_t *slab_at(const slab *s, uint32_t i)
{
    uint32_t place = i + (1u << s->first);
    unsigned bit = 31u - (unsigned)__builtin_clz(place);
    uint8_t *chunk = atomic_load_explicit(&s->chunks[bit - s->first], memory_order_relaxed);

    return chunk + (size_t)(place ^ (1u << bit)) * s->item;
}

/* Item i of a slab of 32-bit numbers that are read beside their writer. */
static inline _Atomic(uint32_t) *slab_word(const slab *s, uint32_t i)
{
    return (_Atomic(uint32_t) *)(void *)slab_at(s, i);
}

/* Up to which item the one at i is followed by the next in memory. */
uint32_t slab_run(const slab *s, uint32_t i);

#endif
