/* json_run.h - bytes of text that stand in a JSON string as they are; for json_read.c and json_write.c. */
#ifndef VALUE_JSON_RUN_H
#define VALUE_JSON_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether one of eight bytes is a quote, a backslash or below U+0020. */
static inline bool json_word_is_special(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';

    return (((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
}

static inline bool json_byte_is_special(uint8_t byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\';
}

/* How many bytes of text[0..len) stand before the first special one. */
static inline size_t json_run(const uint8_t *text, size_t len)
{
    size_t i = 0;
    uint64_t word;

    while (len - i >= 8 && (memcpy(&word, text + i, 8), !json_word_is_special(word)))
        i += 8;
    while (i < len && !json_byte_is_special(text[i]))
        i++;
    return i;
}

#endif
