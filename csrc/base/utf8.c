#include "base/utf8.h"

#include <string.h>

/* Length of the valid character at p[0..len), len > 0; 0 where there is none. Table 3-7 of the Unicode
 * Standard. */
static size_t character_len(const uint8_t *p, size_t len)
{
    uint8_t lead = p[0];

    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    size_t need = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (len < need)
        return 0;
    uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return need;
}

bool utf8_valid(const uint8_t *bytes, size_t len)
{
    size_t i = 0;

    while (i < len) {
        uint64_t word;
        if (len - i >= 8 && (memcpy(&word, bytes + i, 8), (word & 0x8080808080808080u) == 0)) {
            i += 8;
            continue;
        }
        size_t n = character_len(bytes + i, len - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

uint32_t utf8_next(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;

    if (p[0] < 0x80) {
        *at = p + 1;
        return p[0];
    }
    size_t n = character_len(p, (size_t)(end - p));
    *at = p + (n ? n : 1);
    switch (n) {
    case 2: return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    case 3: return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    case 4:
        return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
               (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
    default: return UTF8_REPLACEMENT;
    }
}

size_t utf8_count(const uint8_t *bytes, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += (bytes[i] & 0xC0) != 0x80;
    return count;
}

size_t utf8_write(uint8_t out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xC0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xE0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

size_t utf8_cut(const uint8_t *bytes, size_t len)
{
    size_t start = len;

    while (start > 0 && (bytes[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return 0;
    start--;
    return character_len(bytes + start, len - start) ? len : start;
}
