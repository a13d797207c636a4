/* page_source.h - the pages of a snapshot, read from where it has them, and what is known of their format.
 *
 * For a reader in its snapshot. Pages are read through the reader's own files, so that every VFS sees it, and
 * each from where the snapshot has it (page_map.h says why that holds). Nothing in them is trusted. */
#ifndef STORE_PAGE_SOURCE_H
#define STORE_PAGE_SOURCE_H

#include <string.h>

#include "store/conn.h"
#include "store/page_map.h"
#include "store/stamp.h"

#define PAGE_HEIGHT_MAX 20 /* SQLite's bound */
#define PAGE_SLACK 32      /* behind a page: two varints may be read before their end is checked */
#define LEAF_PAGE 0x0D
#define INNER_PAGE 0x05
#define LEAF_HEAD 8
#define INNER_HEAD 12
#define LOCAL_MAX (PAGE_BYTES - 35) /* of a row in a leaf; what is longer goes on in overflow pages */
#define LOCAL_MIN ((PAGE_BYTES - 12) * 32 / 255 - 23)
#define OVERFLOW_BYTES (PAGE_BYTES - 4)

typedef struct page_source {
    sqlite3_file *file, *log;
    const page_map *map; /* NULL: all is in the main file */
    uint32_t pages;      /* of the database */
    bool checked;        /* the head of page 1 once was as expected */
} page_source;

/* The files, the map brought up to date, and where no commit has told it from the head of page 1 what is to
 * be expected of the rest; done once a snapshot. NULL: not sure. */
const page_source *page_source_open(conn *c);

/* The frame of the log that holds a page; 0: the main file does. */
static inline uint32_t page_source_frame(const page_source *s, uint32_t page)
{
    return s->map ? page_map_find(s->map, page) : 0;
}

/* The first `len` bytes of a page that the frame holds, or the main file. */
bool page_source_read(const page_source *s, uint32_t page, uint32_t frame, uint8_t *to, uint32_t len);

/* Where a table begins in this snapshot; 0: it is missing, or not as we make it, or *rc says why. */
uint32_t page_root(conn *c, table t, int *rc);

/* SQLite's number of 1 to 9 bytes, 7 bits each but the ninth. */
static inline const uint8_t *page_varint(const uint8_t *p, uint64_t *out)
{
    if (*p < 0x80) {
        *out = *p;
        return p + 1;
    }
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        n = n << 7 | (*p & 0x7F);
        if (*p++ < 0x80) {
            *out = n;
            return p;
        }
    }
    *out = n << 8 | *p;
    return p + 1;
}

/* How much of a row of `len` bytes stands in its leaf. */
static inline uint32_t page_local(uint64_t len)
{
    if (len <= LOCAL_MAX)
        return (uint32_t)len;
    uint32_t local = LOCAL_MIN + (uint32_t)((len - LOCAL_MIN) % OVERFLOW_BYTES);
    return local > LOCAL_MAX ? LOCAL_MIN : local;
}

/* Bytes before the value of a row of `len` bytes, of which PAGE_SLACK or all are there: its head's length, no
 * value for the id, a blob to its end. 0: it is something else. */
static inline uint32_t page_row_head(const uint8_t *from, uint64_t len)
{
    uint8_t head[PAGE_SLACK] = {0};
    uint64_t kind;
    uint32_t head_len;

    if (len < 3 || from[1] != 0)
        return 0;
    if (len < PAGE_SLACK) { /* the number may seem to reach over the row's end */
        memcpy(head, from, (size_t)len);
        head_len = (uint32_t)(page_varint(head + 2, &kind) - head);
    } else {
        head_len = (uint32_t)(page_varint(from + 2, &kind) - from);
    }
    return from[0] != head_len || kind < 12 || kind & 1 || len != head_len + (kind - 12) / 2 ? 0 : head_len;
}

#endif
