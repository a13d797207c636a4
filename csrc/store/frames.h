/* frames.h - the frames of a log that SQLite would replay: those with the head's salts and the right running
 * checksum. The last of them that ends a commit is the last that counts.
 *
 *   head   32 bytes: magic, format, page size, checkpoint number, 2 salts, 2 checksums
 *   frame  u32 page, u32 pages of the file where it ends a commit, 2 salts, 2 checksums, the page
 *
 * Numbers are big-endian; those summed up are as the magic says. */
#ifndef STORE_FRAMES_H
#define STORE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "store/stamp.h"

typedef struct frames {
    uint32_t a, b; /* the sum so far */
    bool big;
    uint32_t page_bytes;
    uint8_t salts[8];
} frames;

static inline uint32_t big32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* False where SQLite takes the log for an empty one. */
bool frames_begin(frames *f, const uint8_t head[LOG_HEAD_BYTES]);

/* Of a log whose pages have PAGE_BYTES: whether the next frame is one. */
bool frames_next(frames *f, const uint8_t frame[FRAME_BYTES]);

#endif
