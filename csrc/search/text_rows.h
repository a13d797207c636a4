/* text_rows.h - the rows of a text index that are none of a segment: for text_index.c, text_open.c and
 * text_merge.c. */
#ifndef SEARCH_TEXT_ROWS_H
#define SEARCH_TEXT_ROWS_H

#include "search/text_index.h"

#define TEXT_FORMAT 1
#define TEXT_MANIFEST 1                      /* id of its row */
#define TEXT_COUNTS ((int64_t)1 << 24)       /* of the first row of counts */
#define TEXT_LOG ((int64_t)1 << 62)          /* of the first log row */
#define TEXT_GONE_BYTES 32768u               /* of bits in a row */

/* What a block did, in its log row: a byte, then numbers. */
enum { TEXT_ADDED = 1, TEXT_TAKEN, TEXT_HIDDEN };

text_segments *text_segments_new(uint32_t count); /* empty; NULL: no memory */
text_segments *text_segments_keep(const text_segments *s);
void text_segments_drop(text_segments *s);

/* Makes the file's state that of segments and counts, `before` being what it was (NULL: unknown). */
int text_rows_write(const text_segments *s, const term_counts *counts, const text_segments *before, conn *c,
                    uint32_t index, error *err);

static inline uint64_t text_zigzag(int64_t n)
{
    return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

static inline int64_t text_unzigzag(uint64_t n)
{
    return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

#endif
