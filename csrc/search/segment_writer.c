#include "search/segment_writer.h"

#include <string.h>

#include "base/memory.h"
#include "base/varint.h"

#define ROW_BYTES (65536u - 4) /* with the checksum 64 KiB */
#define WORDS_BYTES 16384u

struct segment_writer {
    uint32_t number;
    bool weights;
    segment_put *put;
    void *to;

    /* Documents. */
    uint32_t docs;
    uint64_t terms;
    uint32_t longest;
    int64_t ids[SEGMENT_DOCS_ROW]; /* of the row under way */
    buffer lengths;                /* u32 each, of all */
    buffer first_ids;              /* as the head has them */
    int64_t last_first, last_id;
    uint32_t docs_rows;

    /* The term under way. */
    bool in_term;
    buffer term;
    uint32_t count;       /* of its postings so far */
    uint32_t row, at;     /* of its first block */
    uint32_t waiting;     /* postings of the block under way */
    int64_t before;       /* last place of the block before it */
    uint32_t places[POSTINGS_BLOCK], counts[POSTINGS_BLOCK];
    buffer skips;         /* its skip table, each entry after its length */
    uint32_t most, shortest; /* of its last block */

    /* Rows under way. */
    buffer postings;
    uint32_t postings_rows;
    buffer words;         /* terms */
    buffer restarts;      /* u32 each */
    uint32_t word_count, words_rows;
    buffer last_word;
    buffer keys;          /* as the head has them */
    buffer row_bytes;     /* a row put together */
};

segment_writer *segment_writer_new(uint32_t number, bool weights, segment_put *put, void *to)
{
    segment_writer *w = memory_zeroed(sizeof *w);

    if (w) {
        w->number = number;
        w->weights = weights;
        w->put = put;
        w->to = to;
    }
    return w;
}

void segment_writer_free(segment_writer *w)
{
    if (!w)
        return;
    buffer *const all[] = {&w->lengths, &w->first_ids, &w->term, &w->skips, &w->postings, &w->words, &w->restarts,
                           &w->last_word, &w->keys, &w->row_bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buffer_clear(all[i]);
    memory_free(w);
}

static int put_row(segment_writer *w, segment_row kind, uint32_t row, const buffer *b, error *err)
{
    if (b->failed)
        return fail_memory(err);
    if (row >= SEGMENT_ROWS_MAX)
        return fail(err, FENEC_QUERY, "a search index has grown too large");
    return w->put(w->to, segment_row_id(w->number, kind, row), b->bytes, b->len, err);
}

/* ---- documents ---- */

static uint8_t width_of(uint64_t most)
{
    return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

static void put_number(buffer *b, uint64_t n, uint8_t width)
{
    uint8_t bytes[8];

    bytes_put_u64(bytes, n);
    buffer_put(b, bytes, width);
}

static uint32_t length_of(const segment_writer *w, uint32_t place)
{
    return bytes_u32(w->lengths.bytes + (size_t)place * 4);
}

/* The docs row under way: the last documents, one at least. */
static int put_docs(segment_writer *w, error *err)
{
    uint32_t first = w->docs_rows * SEGMENT_DOCS_ROW, count = w->docs - first;
    uint64_t span = (uint64_t)w->ids[count - 1] - (uint64_t)w->ids[0];
    uint8_t id_width = span == count - 1 ? 0 : width_of(span), length_width;
    uint32_t longest = 0;
    buffer *b = &w->row_bytes;

    for (uint32_t i = 0; i < count; i++)
        longest = length_of(w, first + i) > longest ? length_of(w, first + i) : longest;
    length_width = width_of(longest);
    b->len = 0;
    put_number(b, (uint64_t)w->ids[0], 8);
    buffer_byte(b, id_width);
    buffer_byte(b, length_width);
    for (uint32_t i = 0; id_width && i < count; i++)
        put_number(b, (uint64_t)w->ids[i] - (uint64_t)w->ids[0], id_width);
    for (uint32_t i = 0; i < count; i++)
        put_number(b, length_of(w, first + i), length_width);
    int64_t id = w->ids[0];
    if (w->docs_rows == 0)
        varint_put(&w->first_ids, (uint64_t)id << 1 ^ (uint64_t)(id >> 63));
    else
        varint_put(&w->first_ids, (uint64_t)id - (uint64_t)w->last_first);
    w->last_first = id;
    w->last_id = w->ids[count - 1];
    return put_row(w, SEGMENT_DOCS, w->docs_rows++, b, err);
}

int segment_writer_doc(segment_writer *w, int64_t id, uint32_t length, error *err)
{
    if (w->docs == UINT32_MAX - 1)
        return fail(err, FENEC_QUERY, "a search index has grown too large");
    w->ids[w->docs % SEGMENT_DOCS_ROW] = id;
    put_number(&w->lengths, length, 4);
    if (w->lengths.failed)
        return fail_memory(err);
    w->docs++;
    w->terms += length;
    w->longest = length > w->longest ? length : w->longest;
    return w->docs % SEGMENT_DOCS_ROW ? FENEC_OK : put_docs(w, err);
}

/* ---- postings ---- */

/* Makes room in the row for bytes that are not to be cut. */
static int postings_room(segment_writer *w, size_t len, error *err)
{
    if (w->postings.len + len <= ROW_BYTES)
        return w->postings.failed ? fail_memory(err) : FENEC_OK;
    int rc = put_row(w, SEGMENT_POSTINGS, w->postings_rows, &w->postings, err);
    w->postings_rows++;
    w->postings.len = 0;
    return rc;
}

static void put_skip(segment_writer *w, uint32_t gap, size_t len, bool new_row)
{
    size_t at = w->skips.len;

    buffer_byte(&w->skips, 0);
    varint_put(&w->skips, gap);
    varint_put(&w->skips, (uint64_t)len << 1 | new_row);
    varint_put(&w->skips, w->most);
    varint_put(&w->skips, w->shortest);
    if (!w->skips.failed)
        w->skips.bytes[at] = (uint8_t)(w->skips.len - at - 1);
}

static void find_bounds(segment_writer *w)
{
    w->most = w->weights ? w->counts[0] : 0;
    w->shortest = w->weights ? w->counts[0] : UINT32_MAX;
    for (uint32_t i = 0; i < w->waiting; i++) {
        uint32_t count = w->counts[i];
        if (w->weights) {
            w->most = segment_weight(count) > segment_weight(w->most) ? count : w->most;
            w->shortest = segment_weight(count) < segment_weight(w->shortest) ? count : w->shortest;
        } else {
            uint32_t length = length_of(w, w->places[i]);
            w->most = count > w->most ? count : w->most;
            w->shortest = length < w->shortest ? length : w->shortest;
        }
    }
}

static int put_block(segment_writer *w, error *err)
{
    uint8_t bytes[POSTINGS_BYTES_MAX];
    size_t len = postings_pack(bytes, w->before, w->places, w->counts, w->waiting);
    uint32_t row = w->postings_rows, last = w->places[w->waiting - 1];
    int rc = postings_room(w, len, err);

    if (rc)
        return rc;
    if (w->count == w->waiting) {
        w->row = w->postings_rows;
        w->at = (uint32_t)w->postings.len;
        row = w->row;
    }
    buffer_put(&w->postings, bytes, len);
    find_bounds(w);
    put_skip(w, (uint32_t)(last - w->before), len, row != w->postings_rows);
    w->before = last;
    w->waiting = 0;
    return FENEC_OK;
}

/* ---- terms ---- */

static int put_words(segment_writer *w, error *err)
{
    buffer *b = &w->row_bytes;

    b->len = 0;
    put_number(b, w->word_count, 4);
    put_number(b, w->restarts.len / 4, 4);
    buffer_put(b, w->restarts.bytes, w->restarts.len);
    buffer_put(b, w->words.bytes, w->words.len);
    if (w->words.failed || w->restarts.failed)
        return fail_memory(err);
    w->words.len = w->restarts.len = 0;
    w->word_count = 0;
    return put_row(w, SEGMENT_WORDS, w->words_rows++, b, err);
}

/* Puts the skip table of several blocks; *row and *at are where it begins. */
static int put_skips(segment_writer *w, uint32_t *row, uint32_t *at, error *err)
{
    if (w->skips.failed)
        return fail_memory(err);
    for (size_t i = 0; i < w->skips.len;) {
        size_t len = w->skips.bytes[i];
        int rc = postings_room(w, len, err);
        if (rc)
            return rc;
        if (i == 0) {
            *row = w->postings_rows;
            *at = (uint32_t)w->postings.len;
        }
        buffer_put(&w->postings, w->skips.bytes + i + 1, len);
        i += 1 + len;
    }
    return FENEC_OK;
}

static void put_word(segment_writer *w)
{
    size_t shared = 0, most = w->term.len < w->last_word.len ? w->term.len : w->last_word.len;

    if (w->word_count % SEGMENT_RESTART == 0)
        put_number(&w->restarts, w->words.len, 4);
    else
        while (shared < most && w->term.bytes[shared] == w->last_word.bytes[shared])
            shared++;
    if (w->word_count == 0) {
        size_t cut = w->term.len < SEGMENT_KEY_MAX ? w->term.len : SEGMENT_KEY_MAX;
        varint_put(&w->keys, cut);
        buffer_put(&w->keys, w->term.bytes, cut);
    }
    varint_put(&w->words, shared);
    varint_put(&w->words, w->term.len - shared);
    buffer_put(&w->words, w->term.bytes + shared, w->term.len - shared);
    w->word_count++;
    w->last_word.len = 0;
    buffer_put(&w->last_word, w->term.bytes, w->term.len);
}

static int end_term(segment_writer *w, error *err)
{
    uint32_t skip_row = 0, skip_at = 0;
    int rc = FENEC_OK;

    if (!w->in_term)
        return FENEC_OK;
    if (w->count > 1 && w->waiting)
        rc = put_block(w, err);
    if (!rc && w->count > POSTINGS_BLOCK)
        rc = put_skips(w, &skip_row, &skip_at, err);
    if (rc)
        return rc;
    put_word(w);
    varint_put(&w->words, w->count);
    varint_put(&w->words, w->count == 1 ? w->places[0] : w->row);
    varint_put(&w->words, w->count == 1 ? w->counts[0] : w->at);
    if (w->count > 1) {
        varint_put(&w->words, w->count > POSTINGS_BLOCK ? skip_row : w->most);
        varint_put(&w->words, w->count > POSTINGS_BLOCK ? skip_at : w->shortest);
    }
    w->in_term = false;
    if (w->last_word.failed || w->words.failed)
        return fail_memory(err);
    return w->words.len >= WORDS_BYTES ? put_words(w, err) : FENEC_OK;
}

int segment_writer_term(segment_writer *w, const uint8_t *bytes, size_t len, error *err)
{
    int rc = end_term(w, err);

    if (rc)
        return rc;
    w->term.len = 0;
    buffer_put(&w->term, bytes, len);
    w->in_term = true;
    w->count = w->waiting = 0;
    w->before = -1;
    w->skips.len = 0;
    return w->term.failed ? fail_memory(err) : FENEC_OK;
}

int segment_writer_posting(segment_writer *w, uint32_t place, uint32_t count, error *err)
{
    int rc = w->waiting == POSTINGS_BLOCK ? put_block(w, err) : FENEC_OK;

    w->places[w->waiting] = place;
    w->counts[w->waiting++] = count;
    w->count++;
    return rc;
}

/* ---- the end ---- */

int segment_writer_end(segment_writer *w, error *err)
{
    buffer *b = &w->row_bytes;
    int rc = w->docs % SEGMENT_DOCS_ROW ? put_docs(w, err) : FENEC_OK;

    if (!rc)
        rc = end_term(w, err);
    if (!rc && w->word_count)
        rc = put_words(w, err);
    if (!rc && w->postings.len)
        rc = put_row(w, SEGMENT_POSTINGS, w->postings_rows++, &w->postings, err);
    if (rc)
        return rc;
    b->len = 0;
    varint_put(b, w->weights ? SEGMENT_OF_WEIGHTS : SEGMENT_OF_COUNTS);
    varint_put(b, w->docs);
    varint_put(b, w->terms);
    varint_put(b, w->longest);
    varint_put(b, w->words_rows);
    varint_put(b, w->postings_rows);
    buffer_put(b, w->first_ids.bytes, w->first_ids.len);
    varint_put(b, (uint64_t)w->last_id - (uint64_t)w->last_first);
    buffer_put(b, w->keys.bytes, w->keys.len);
    if (w->first_ids.failed || w->keys.failed)
        return fail_memory(err);
    return put_row(w, SEGMENT_HEAD, 0, b, err);
}
