#include "base/unicode.h"

#include "base/unicode_tables.h"
#include "base/utf8.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static bool in_ranges(const unicode_range *table, size_t count, uint32_t c)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > table[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && c >= table[low].first;
}

static bool is_ascii_letter(uint32_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

bool unicode_is_space(uint32_t c)
{
    if (c < 0x80)
        return c == ' ' || (c >= '\t' && c <= '\r');
    return in_ranges(unicode_white_space, COUNT(unicode_white_space), c);
}

bool unicode_is_name_start(uint32_t c)
{
    if (c < 0x80)
        return is_ascii_letter(c) || c == '_';
    return in_ranges(unicode_alphabetic, COUNT(unicode_alphabetic), c);
}

bool unicode_is_name_part(uint32_t c)
{
    if (c < 0x80)
        return is_ascii_letter(c) || c == '_' || (c >= '0' && c <= '9');
    return in_ranges(unicode_alphabetic, COUNT(unicode_alphabetic), c) ||
           in_ranges(unicode_numbers, COUNT(unicode_numbers), c);
}

bool unicode_is_alphanumeric(uint32_t c)
{
    return c != '_' && unicode_is_name_part(c);
}

static uint32_t map_simple(const unicode_case *table, size_t count, uint32_t c)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > table[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || c < table[low].first || (c - table[low].first) % table[low].stride != 0)
        return c;
    return (uint32_t)((int32_t)c + table[low].delta);
}

uint32_t unicode_lower_character(uint32_t c)
{
    if (c < 0x80)
        return c - 'A' < 26 ? c | 0x20 : c;
    return map_simple(unicode_to_lower, COUNT(unicode_to_lower), c);
}

static const unicode_special *find_special(const unicode_special *table, size_t count, uint32_t c)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > table[middle].from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && table[low].from == c ? &table[low] : NULL;
}

static void put_character(buffer *out, uint32_t c)
{
    uint8_t bytes[4];

    buffer_put(out, bytes, utf8_write(bytes, c));
}

static void put_special(buffer *out, const unicode_special *special)
{
    for (int i = 0; i < 3 && special->to[i]; i++)
        put_character(out, special->to[i]);
}

/* Where the ASCII bytes at p end. */
static const uint8_t *ascii_end(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p < 0x80)
        p++;
    return p;
}

/* ASCII letters from `first` on, 26 of them, change case; other bytes stay. */
static void put_ascii(buffer *out, const uint8_t *p, size_t len, uint8_t first)
{
    uint8_t *to = buffer_reserve(out, len);

    if (!to)
        return;
    for (size_t i = 0; i < len; i++)
        to[i] = (uint8_t)(p[i] ^ ((uint8_t)(p[i] - first) < 26 ? 0x20 : 0));
    out->len += len;
}

/* Final_Sigma: a cased character stands before it and none after it, case-ignorable ones passed over. */
#define SIGMA 0x03A3u
#define FINAL_SIGMA 0x03C2u

static bool is_case_ignorable(uint32_t c)
{
    return in_ranges(unicode_case_ignorable, COUNT(unicode_case_ignorable), c);
}

static bool is_cased(uint32_t c)
{
    return in_ranges(unicode_cased, COUNT(unicode_cased), c);
}

static bool cased_before(const uint8_t *text, const uint8_t *at)
{
    while (at > text) {
        const uint8_t *end = at;
        do
            at--;
        while (at > text && (*at & 0xC0) == 0x80);
        const uint8_t *p = at;
        uint32_t c = utf8_next(&p, end);
        if (!is_case_ignorable(c))
            return is_cased(c);
    }
    return false;
}

static bool cased_after(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        uint32_t c = utf8_next(&at, end);
        if (!is_case_ignorable(c))
            return is_cased(c);
    }
    return false;
}

void unicode_lower(buffer *out, const uint8_t *text, size_t len)
{
    const uint8_t *p = text, *end = len ? text + len : text;

    while (p < end) {
        const uint8_t *start = p;
        p = ascii_end(p, end);
        if (p > start) {
            put_ascii(out, start, (size_t)(p - start), 'A');
            continue;
        }
        uint32_t c = utf8_next(&p, end);
        const unicode_special *special;
        if (c == SIGMA && cased_before(text, start) && !cased_after(p, end))
            put_character(out, FINAL_SIGMA);
        else if ((special = find_special(unicode_special_lower, COUNT(unicode_special_lower), c)))
            put_special(out, special);
        else
            put_character(out, map_simple(unicode_to_lower, COUNT(unicode_to_lower), c));
    }
}

void unicode_upper(buffer *out, const uint8_t *text, size_t len)
{
    const uint8_t *p = text, *end = len ? text + len : text;

    while (p < end) {
        const uint8_t *start = p;
        p = ascii_end(p, end);
        if (p > start) {
            put_ascii(out, start, (size_t)(p - start), 'a');
            continue;
        }
        uint32_t c = utf8_next(&p, end);
        const unicode_special *special = find_special(unicode_special_upper, COUNT(unicode_special_upper), c);
        if (special)
            put_special(out, special);
        else
            put_character(out, map_simple(unicode_to_upper, COUNT(unicode_to_upper), c));
    }
}
