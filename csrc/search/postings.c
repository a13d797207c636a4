#include "search/postings.h"

#include <string.h>

static uint8_t bits_of(uint32_t n)
{
    return n ? (uint8_t)(32 - __builtin_clz(n)) : 0;
}

static size_t bytes_of(uint32_t width, uint32_t count)
{
    return ((size_t)width * count + 7) / 8;
}

/* Packs values of `width` bits; answers the byte after them. */
static uint8_t *pack_bits(uint8_t *to, const uint32_t values[], uint32_t count, uint32_t width)
{
    uint64_t held = 0;
    uint32_t bits = 0;

    for (uint32_t i = 0; i < count; i++) {
        held |= (uint64_t)values[i] << bits;
        bits += width;
        while (bits >= 8) {
            *to++ = (uint8_t)held;
            held >>= 8;
            bits -= 8;
        }
    }
    if (bits)
        *to++ = (uint8_t)held;
    return to;
}

size_t postings_pack(uint8_t out[POSTINGS_BYTES_MAX], int64_t before, const uint32_t places[], const uint32_t counts[],
                     uint32_t count)
{
    uint32_t gaps[POSTINGS_BLOCK], less[POSTINGS_BLOCK], all_gaps = 0, all_counts = 0;

    for (uint32_t i = 0; i < count; i++) {
        gaps[i] = (uint32_t)(places[i] - before - 1);
        before = places[i];
        less[i] = counts[i] - 1;
        all_gaps |= gaps[i];
        all_counts |= less[i];
    }
    out[0] = bits_of(all_gaps);
    out[1] = bits_of(all_counts);
    uint8_t *end = pack_bits(out + 2, gaps, count, out[0]);
    end = pack_bits(end, less, count, out[1]);
    return (size_t)(end - out);
}

bool postings_open(postings_block *b, const uint8_t *bytes, size_t room, uint32_t count, size_t *len)
{
    if (room < 2 || bytes[0] > 32 || bytes[1] > 32)
        return false;
    size_t gaps = bytes_of(bytes[0], count), counts = bytes_of(bytes[1], count);
    if (gaps + counts > room - 2)
        return false;
    *b = (postings_block){.gaps = bytes + 2,
                          .counts = bytes + 2 + gaps,
                          .count = count,
                          .gap_bits = bytes[0],
                          .count_bits = bytes[1]};
    *len = 2 + gaps + counts;
    return true;
}

uint64_t postings_places(const postings_block *b, int64_t before, uint32_t places[POSTINGS_BLOCK])
{
    uint64_t at = (uint64_t)before, mask = ((uint64_t)1 << b->gap_bits) - 1;
    const uint32_t width = b->gap_bits;

    if (width == 0) {
        for (uint32_t i = 0; i < b->count; i++)
            places[i] = (uint32_t)++at;
        return at;
    }
    /* Of every 8 values the first starts at a whole byte. */
    const uint8_t *p = b->gaps;
    uint32_t i = 0;
    for (; i + 8 <= b->count; i += 8, p += width)
        for (uint32_t k = 0, bit = 0; k < 8; k++, bit += width) {
            at += (bytes_u64(p + (bit >> 3)) >> (bit & 7) & mask) + 1;
            places[i + k] = (uint32_t)at;
        }
    for (uint32_t bit = 0; i < b->count; i++, bit += width) {
        at += (bytes_u64(p + (bit >> 3)) >> (bit & 7) & mask) + 1;
        places[i] = (uint32_t)at;
    }
    return at;
}
