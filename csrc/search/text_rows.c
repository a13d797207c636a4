#include "search/text_rows.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/varint.h"

text_segments *text_segments_new(uint32_t count)
{
    text_segments *s = memory_zeroed(sizeof *s + count * sizeof *s->items);

    if (s)
        atomic_init(&s->references, 1);
    return s;
}

text_segments *text_segments_keep(const text_segments *s)
{
    text_segments *kept = (text_segments *)s; /* the count alone changes */

    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

void text_segments_drop(text_segments *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        segment_drop(s->items[i].s);
        bitmap_drop(s->items[i].gone);
    }
    memory_free(s);
}

static int write_manifest(const text_segments *s, uint32_t counts_rows, conn *c, uint32_t index, error *err)
{
    buffer b;
    int rc;

    buffer_init(&b);
    varint_put(&b, TEXT_FORMAT);
    varint_put(&b, counts_rows);
    varint_put(&b, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        varint_put(&b, s->items[i].s->number);
        varint_put(&b, s->items[i].gone ? s->items[i].gone->count : 0);
        varint_put(&b, s->items[i].gone_terms);
    }
    rc = b.failed ? fail_memory(err) : row_cache_write(c, index, TEXT_MANIFEST, b.bytes, b.len, err);
    buffer_clear(&b);
    return rc;
}

static int write_counts(const term_counts *counts, conn *c, uint32_t index, uint32_t *rows, error *err)
{
    int rc = rows_delete_range(c, table_search(index), TEXT_COUNTS, TEXT_COUNTS + UINT32_MAX / 2, err);
    size_t at = 0, len;

    *rows = 0;
    while (!rc && counts && (len = term_counts_part(counts, at, 65536 - 4)) > 0) {
        rc = row_cache_write(c, index, TEXT_COUNTS + *rows, counts->bytes + at, len, err);
        ++*rows;
        at += len;
    }
    return rc;
}

/* Rows of 32 KiB of bits, those that changed. */
static int write_gone(const text_segment *s, const bitmap *before, conn *c, uint32_t index, error *err)
{
    const size_t row_words = TEXT_GONE_BYTES / 8, words = (size_t)s->gone->size / 64 + 1;
    uint8_t *bytes = memory_alloc(TEXT_GONE_BYTES);
    int rc = bytes ? FENEC_OK : fail_memory(err);

    for (size_t first = 0; !rc && first < words; first += row_words) {
        size_t count = words - first < row_words ? words - first : row_words;
        bool changed = false, any = false;
        for (size_t i = 0; i < count; i++) {
            uint64_t word = s->gone->words[first + i];
            bytes_put_u64(bytes + i * 8, word);
            any |= word != 0;
            changed |= word != (before ? before->words[first + i] : 0);
        }
        if (any && changed)
            rc = row_cache_write(c, index, segment_row_id(s->s->number, SEGMENT_GONE, (uint32_t)(first / row_words)),
                                 bytes, count * 8, err);
    }
    memory_free(bytes);
    return rc;
}

static const bitmap *gone_before(const text_segments *before, const segment *s)
{
    for (uint32_t i = 0; before && i < before->count; i++)
        if (before->items[i].s->number == s->number)
            return before->items[i].gone;
    return NULL;
}

int text_rows_write(const text_segments *s, const term_counts *counts, const text_segments *before, conn *c,
                    uint32_t index, error *err)
{
    uint32_t counts_rows;
    int rc = write_counts(counts, c, index, &counts_rows, err);

    for (uint32_t i = 0; !rc && i < s->count; i++) {
        const bitmap *old = gone_before(before, s->items[i].s);
        if (s->items[i].gone && s->items[i].gone != old)
            rc = write_gone(&s->items[i], old, c, index, err);
    }
    if (!rc)
        rc = write_manifest(s, counts_rows, c, index, err);
    return rc;
}
