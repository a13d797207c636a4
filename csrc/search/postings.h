/* postings.h - up to 128 documents of one term as bits: the gaps between their places, then how often each
 * holds it.
 *
 * A block is two bytes, the widths in bits of gaps and counts, then the gaps less 1 and the counts less 1,
 * each list filled up to whole bytes, lowest bits first. What is before a block's first place is known from
 * the block before it: its last place, or -1. Blocks come from a file: whatever their bytes are, nothing is
 * read outside of them but POSTINGS_PAD bytes after, which must be readable. */
#ifndef SEARCH_POSTINGS_H
#define SEARCH_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define POSTINGS_BLOCK 128u
#define POSTINGS_PAD 8
#define POSTINGS_BYTES_MAX (2 + 2 * POSTINGS_BLOCK * 4) /* of a block */

/* Packs `count` (1 to 128) postings whose places ascend above `before`; answers the bytes it took. */
size_t postings_pack(uint8_t out[POSTINGS_BYTES_MAX], int64_t before, const uint32_t places[], const uint32_t counts[],
                     uint32_t count);

/* A block whose widths were looked at. */
typedef struct postings_block {
    const uint8_t *gaps, *counts;
    uint32_t count;
    uint8_t gap_bits, count_bits;
} postings_block;

/* False where the bytes are no block of so many. *len: bytes it takes of those `room` at `bytes`. */
bool postings_open(postings_block *b, const uint8_t *bytes, size_t room, uint32_t count, size_t *len);

/* All its places, the last of which is answered; it may be past the 32 bits, where the bytes are damaged. */
uint64_t postings_places(const postings_block *b, int64_t before, uint32_t places[POSTINGS_BLOCK]);

static inline uint32_t postings_bits(const uint8_t *bits, uint32_t width, uint32_t place)
{
    uint64_t at = (uint64_t)width * place, word;

    word = bytes_u64(bits + (at >> 3));
    return (uint32_t)(word >> (at & 7) & (((uint64_t)1 << width) - 1));
}

/* How often the document at a place in the block holds the term. */
static inline uint64_t postings_count(const postings_block *b, uint32_t place)
{
    return (uint64_t)postings_bits(b->counts, b->count_bits, place) + 1;
}

#endif
