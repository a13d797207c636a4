#include "store/frames.h"

#include <string.h>

static uint32_t little32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void add(frames *f, const uint8_t *bytes, size_t len)
{
    uint32_t a = f->a, b = f->b;

    for (size_t i = 0; i < len; i += 8) {
        a += (f->big ? big32(bytes + i) : little32(bytes + i)) + b;
        b += (f->big ? big32(bytes + i + 4) : little32(bytes + i + 4)) + a;
    }
    f->a = a;
    f->b = b;
}

bool frames_begin(frames *f, const uint8_t head[LOG_HEAD_BYTES])
{
    uint32_t magic = big32(head);

    *f = (frames){.big = magic & 1, .page_bytes = big32(head + 8)};
    memcpy(f->salts, head + 16, sizeof f->salts);
    if ((magic & ~1u) != 0x377F0682u || big32(head + 4) != 3007000)
        return false;
    add(f, head, 24);
    return f->a == big32(head + 24) && f->b == big32(head + 28);
}

bool frames_next(frames *f, const uint8_t frame[FRAME_BYTES])
{
    if (big32(frame) == 0 || memcmp(frame + 8, f->salts, sizeof f->salts) != 0)
        return false;
    add(f, frame, 8);
    add(f, frame + 24, PAGE_BYTES);
    return f->a == big32(frame + 16) && f->b == big32(frame + 20);
}
