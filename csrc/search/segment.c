#include "search/segment.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"


/* ---- the head ---- */

typedef struct reading {
    const uint8_t *at, *end;
    bool bad;
} reading;

static uint64_t read_number(reading *r, uint64_t most)
{
    uint64_t n = 0;

    if (r->bad || !varint_get(&r->at, r->end, &n) || n > most)
        r->bad = true;
    return r->bad ? 0 : n;
}

/* Ids ascend; the first may be negative. */
static bool read_ids(reading *r, segment *s, int64_t *ids)
{
    uint64_t first = read_number(r, UINT64_MAX);
    int64_t id = (int64_t)(first >> 1) ^ -(int64_t)(first & 1);

    for (uint32_t i = 0; i < s->docs_rows && !r->bad; i++) {
        uint64_t gap = i ? read_number(r, INT64_MAX) : 0;
        if (i && (gap == 0 || __builtin_add_overflow(id, (int64_t)gap, &id)))
            r->bad = true;
        ids[i] = id;
    }
    uint64_t gap = read_number(r, INT64_MAX);
    if (__builtin_add_overflow(id, (int64_t)gap, &s->last_id))
        r->bad = true;
    return !r->bad;
}

static bool read_keys(reading *r, segment *s, uint8_t *keys, uint32_t *ends)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->words_rows; i++) {
        size_t len = (size_t)read_number(r, SEGMENT_KEY_MAX);
        if (r->bad || (size_t)(r->end - r->at) < len)
            return false;
        memcpy(keys + at, r->at, len);
        r->at += len;
        at += (uint32_t)len;
        ends[i] = at;
    }
    return true;
}

static int read_head(segment *s, const uint8_t *bytes, size_t len, error *err)
{
    reading r = {.at = bytes, .end = bytes + len};

    uint64_t form = read_number(&r, SEGMENT_OF_WEIGHTS);
    if (form != SEGMENT_OF_COUNTS && form != SEGMENT_OF_WEIGHTS)
        return ROW_DAMAGED;
    s->weights = form == SEGMENT_OF_WEIGHTS;
    s->docs = (uint32_t)read_number(&r, UINT32_MAX - 1);
    s->terms = read_number(&r, INT64_MAX);
    s->longest = (uint32_t)read_number(&r, UINT32_MAX);
    s->docs_rows = s->docs / SEGMENT_DOCS_ROW + (s->docs % SEGMENT_DOCS_ROW != 0);
    s->words_rows = (uint32_t)read_number(&r, SEGMENT_ROWS_MAX);
    s->postings_rows = (uint32_t)read_number(&r, SEGMENT_ROWS_MAX);
    /* Each row takes a byte here at least. */
    if (r.bad || s->docs == 0 || s->docs_rows > len || s->words_rows > len || s->words_rows == 0)
        return ROW_DAMAGED;
    int64_t *ids = arena_alloc(&s->memory, s->docs_rows * sizeof *ids);
    uint8_t *keys = arena_alloc(&s->memory, len);
    uint32_t *ends = arena_alloc(&s->memory, s->words_rows * sizeof *ends);
    if (!ids || !keys || !ends)
        return fail_memory(err);
    s->first_ids = ids;
    s->keys = keys;
    s->key_ends = ends;
    s->bytes = s->docs_rows * sizeof *ids + len + s->words_rows * sizeof *ends;
    return read_ids(&r, s, ids) && read_keys(&r, s, keys, ends) && r.at == r.end ? FENEC_OK : ROW_DAMAGED;
}

int segment_open(segment **out, conn *c, row_cache *cache, uint32_t index, uint32_t number, error *err)
{
    const cached_row *row;
    segment *s = memory_zeroed(sizeof *s);

    if (!s)
        return fail_memory(err);
    atomic_init(&s->references, 1);
    arena_init(&s->memory);
    s->index = index;
    s->number = number;
    int rc = row_cache_take(cache, c, index, segment_row_id(number, SEGMENT_HEAD, 0), &row, err);
    if (!rc) {
        rc = read_head(s, row->bytes, row->len, err);
        row_cache_leave(cache, row);
    }
    if (!rc)
        *out = s;
    else
        segment_drop(s);
    return rc;
}

segment *segment_keep(const segment *s)
{
    segment *kept = (segment *)s; /* the count alone changes */

    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

void segment_drop(segment *s)
{
    if (s && atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) == 1) {
        arena_clear(&s->memory);
        memory_free(s);
    }
}

/* ---- documents ---- */

int segment_reader_open(segment_reader *r, const segment *s, conn *c, row_cache *cache, arena *memory, error *err)
{
    *r = (segment_reader){.s = s, .c = c, .cache = cache, .memory = memory};
    r->docs = arena_zeroed(memory, s->docs_rows * sizeof *r->docs);
    return r->docs ? FENEC_OK : fail_memory(err);
}

void segment_reader_close(segment_reader *r)
{
    for (uint32_t i = 0; r->docs && i < r->s->docs_rows; i++)
        row_cache_leave(r->cache, r->docs[i].row);
    row_cache_leave(r->cache, r->words);
    *r = (segment_reader){0};
}

static int take(segment_reader *r, segment_row kind, uint32_t row, const cached_row **out, error *err)
{
    return row_cache_take(r->cache, r->c, r->s->index, segment_row_id(r->s->number, kind, row), out, err);
}

static bool is_width(uint8_t width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

int segment_read_docs(segment_reader *r, uint32_t row, error *err)
{
    uint32_t count = row + 1 < r->s->docs_rows ? SEGMENT_DOCS_ROW : r->s->docs - row * SEGMENT_DOCS_ROW;
    segment_docs *d = &r->docs[row];
    const cached_row *found;
    int rc = take(r, SEGMENT_DOCS, row, &found, err);

    if (rc)
        return rc;
    const uint8_t *p = found->bytes;
    bool good = found->len >= 10 && (p[8] == 0 || is_width(p[8])) && is_width(p[9]) && p[9] < 8 &&
                found->len == 10 + (size_t)count * (p[8] + p[9]) && (int64_t)bytes_u64(p) == r->s->first_ids[row];
    if (!good) {
        row_cache_leave(r->cache, found);
        return ROW_DAMAGED;
    }
    *d = (segment_docs){.row = found,
                        .first = (int64_t)bytes_u64(p),
                        .id_width = p[8],
                        .length_width = p[9],
                        .ids = p + 10,
                        .lengths = p + 10 + (size_t)count * p[8]};
    return FENEC_OK;
}

int segment_place(segment_reader *r, int64_t id, uint32_t *place, error *err)
{
    const segment *s = r->s;
    uint32_t low = 0, high = s->docs_rows;
    const segment_docs *d;

    if (id < s->first_ids[0] || id > s->last_id)
        return FN_END;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->first_ids[middle] <= id)
            low = middle;
        else
            high = middle;
    }
    int rc = segment_docs_at(r, low * SEGMENT_DOCS_ROW, &d, err);
    if (rc)
        return rc;
    uint32_t first = low * SEGMENT_DOCS_ROW, end = s->docs - first < SEGMENT_DOCS_ROW ? s->docs : first + SEGMENT_DOCS_ROW;
    low = first;
    while (low < end) {
        uint32_t middle = low + (end - low) / 2;
        int64_t there = segment_docs_id(d, middle);
        if (there == id) {
            *place = middle;
            return FENEC_OK;
        }
        if (there < id)
            low = middle + 1;
        else
            end = middle;
    }
    return FN_END;
}

/* ---- terms ---- */

static int compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* The first words row that may hold a term. */
static uint32_t first_row(const segment *s, const uint8_t *bytes, size_t len)
{
    size_t cut = len < SEGMENT_KEY_MAX ? len : SEGMENT_KEY_MAX;
    uint32_t low = 0, high = s->words_rows;

    /* The last row whose key is below. One whose key is the same may begin with the term or, where keys are
     * cut, with one after it. */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t start = s->key_ends[middle - 1];
        int order = compare(s->keys + start, s->key_ends[middle] - start, bytes, cut);
        if (order < 0 || (order == 0 && len < SEGMENT_KEY_MAX))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A words row: how many terms, how many restarts, where each of those is, the terms. */
typedef struct words_row {
    uint32_t count, restarts;
    const uint8_t *starts, *bytes, *end;
} words_row;

static bool open_words_row(const cached_row *row, words_row *out)
{
    if (row->len < 8)
        return false;
    *out = (words_row){.count = bytes_u32(row->bytes), .restarts = bytes_u32(row->bytes + 4)};
    if (out->count == 0 || out->restarts != (out->count - 1) / SEGMENT_RESTART + 1 ||
        out->restarts > (row->len - 8) / 4)
        return false;
    out->starts = row->bytes + 8;
    out->bytes = out->starts + (size_t)out->restarts * 4;
    out->end = row->bytes + row->len;
    return true;
}

/* What a term adds to the one before it. */
typedef struct word {
    size_t shared, len;
    const uint8_t *rest;
} word;

/* Most are of one byte. */
static inline bool get_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    if (*at < end && **at < 0x80) {
        *out = *(*at)++;
        return true;
    }
    return varint_get(at, end, out);
}

static inline bool read_word(const uint8_t **at, const uint8_t *end, word *w)
{
    uint64_t shared, len;

    if (!get_number(at, end, &shared) || !get_number(at, end, &len) || len > (uint64_t)(end - *at))
        return false;
    *w = (word){.shared = (size_t)shared, .len = (size_t)len, .rest = *at};
    *at += len;
    return true;
}

/* Where a term's documents are named. */
static bool read_term(const uint8_t **at, const uint8_t *end, const segment *s, segment_term *t)
{
    reading r = {.at = *at, .end = end};

    *t = (segment_term){.docs = (uint32_t)read_number(&r, s->docs)};
    if (t->docs == 1) {
        t->row = (uint32_t)read_number(&r, s->docs - 1);
        t->at = (uint32_t)read_number(&r, UINT32_MAX);
        r.bad |= t->at == 0;
    } else {
        t->row = (uint32_t)read_number(&r, SEGMENT_ROWS_MAX);
        t->at = (uint32_t)read_number(&r, UINT32_MAX);
        if (t->docs <= POSTINGS_BLOCK) {
            t->most = (uint32_t)read_number(&r, UINT32_MAX);
            t->shortest = (uint32_t)read_number(&r, UINT32_MAX);
        } else {
            t->skip_row = (uint32_t)read_number(&r, SEGMENT_ROWS_MAX);
            t->skip_at = (uint32_t)read_number(&r, UINT32_MAX);
        }
    }
    *at = r.at;
    return !r.bad && t->docs > 0;
}

/* Past what read_term reads. */
static inline bool pass_term(const uint8_t **at, const uint8_t *end)
{
    uint64_t docs;
    const uint8_t *p;

    if (!get_number(at, end, &docs))
        return false;
    p = *at;
    for (int left = docs == 1 ? 2 : 4; left > 0; left -= *p++ < 0x80)
        if (p == end)
            return false;
    *at = p;
    return true;
}

/* The term at a restart, whole. */
static bool word_at_restart(const words_row *w, uint32_t restart, word *out, const uint8_t **at)
{
    uint32_t start = bytes_u32(w->starts + (size_t)restart * 4);

    *at = w->bytes + start;
    return start < (size_t)(w->end - w->bytes) && read_word(at, w->end, out) && out->shared == 0;
}

/* The last restart whose term is not after the one looked for, or the first. */
static bool find_restart(const words_row *w, const uint8_t *bytes, size_t len, uint32_t *out)
{
    uint32_t low = 0, high = w->restarts;
    const uint8_t *at;
    word there;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (!word_at_restart(w, middle, &there, &at))
            return false;
        if (compare(there.rest, there.len, bytes, len) <= 0)
            low = middle;
        else
            high = middle;
    }
    *out = low;
    return true;
}

/* Goes through the terms from a restart to the next. `same` is how many bytes of the term looked for the one before
 * has at its beginning: no term need be put together. FENEC_OK, FN_END: it would stand before one met, or,
 * where *past, after the row; ROW_DAMAGED. */
static int find_in_row(const segment *s, const words_row *w, const uint8_t *bytes, size_t len, segment_term *out,
                       bool *past)
{
    uint32_t restart;
    size_t same = 0;
    word next;

    *past = false;
    if (!find_restart(w, bytes, len, &restart))
        return ROW_DAMAGED;
    const uint8_t *at = w->bytes + bytes_u32(w->starts + (size_t)restart * 4);
    if (at >= w->end)
        return ROW_DAMAGED;
    uint32_t left = w->count - restart * SEGMENT_RESTART;
    bool is_last = left <= SEGMENT_RESTART;
    for (left = is_last ? left : SEGMENT_RESTART; left > 0; left--) {
        if (!read_word(&at, w->end, &next))
            return ROW_DAMAGED;
        const uint8_t *where = at;
        if (!pass_term(&at, w->end))
            return ROW_DAMAGED;
        if (next.shared > same)
            continue; /* it differs where the one before did, which was smaller */
        if (next.shared < same)
            return FN_END; /* it is larger there */
        size_t most = len - same < next.len ? len - same : next.len, k = 0;
        while (k < most && next.rest[k] == bytes[same + k])
            k++;
        if (k == next.len && same + k == len)
            return read_term(&where, w->end, s, out) ? FENEC_OK : ROW_DAMAGED;
        if (same + k == len || (k < next.len && next.rest[k] > bytes[same + k]))
            return FN_END;
        same += k;
    }
    *past = is_last; /* else the next restart's term is larger */
    return FN_END;
}

static int hold_words(segment_reader *r, uint32_t row, error *err)
{
    if (r->words && r->words_row == row)
        return FENEC_OK;
    row_cache_leave(r->cache, r->words);
    r->words = NULL;
    r->words_row = row;
    return take(r, SEGMENT_WORDS, row, &r->words, err);
}

int segment_find(segment_reader *r, const uint8_t *bytes, size_t len, segment_term *out, error *err)
{
    for (uint32_t row = first_row(r->s, bytes, len); row < r->s->words_rows; row++) {
        words_row w;
        bool past;
        int rc = hold_words(r, row, err);
        if (rc)
            return rc;
        if (!open_words_row(r->words, &w))
            return ROW_DAMAGED;
        rc = find_in_row(r->s, &w, bytes, len, out, &past);
        if (rc != FN_END || !past || len < SEGMENT_KEY_MAX)
            return rc;
    }
    return FN_END;
}

/* ---- terms in order ---- */

static int next_words_row(segment_words *w, error *err)
{
    words_row row;

    row_cache_leave(w->r->cache, w->row);
    w->row = NULL;
    if (w->next_row >= w->r->s->words_rows)
        return FN_END;
    int rc = take(w->r, SEGMENT_WORDS, w->next_row, &w->row, err);
    if (rc)
        return rc;
    if (!open_words_row(w->row, &row))
        return ROW_DAMAGED;
    w->next_row++;
    w->at = row.bytes;
    w->end = row.end;
    w->left = row.count;
    return FENEC_OK;
}

int segment_words_next(segment_words *w, error *err)
{
    word next;

    if (w->held) {
        w->held = false;
        return FENEC_OK;
    }
    if (w->left == 0) {
        int rc = next_words_row(w, err);
        if (rc)
            return rc;
    }
    /* No term is empty. */
    if (!read_word(&w->at, w->end, &next) || next.shared > w->bytes.len || next.shared + next.len == 0 ||
        !read_term(&w->at, w->end, w->r->s, &w->t))
        return ROW_DAMAGED;
    w->left--;
    w->shared = next.shared;
    w->bytes.len = next.shared;
    buffer_put(&w->bytes, next.rest, next.len);
    return w->bytes.failed ? fail_memory(err) : FENEC_OK;
}

int segment_words_open(segment_words *w, segment_reader *r, const uint8_t *from, size_t len, error *err)
{
    *w = (segment_words){.r = r, .next_row = from ? first_row(r->s, from, len) : 0};
    buffer_init(&w->bytes);
    if (!from)
        return FENEC_OK;
    int rc = next_words_row(w, err);
    words_row row;
    uint32_t restart;
    if (rc)
        return rc == FN_END ? FENEC_OK : rc;
    if (!open_words_row(w->row, &row) || !find_restart(&row, from, len, &restart))
        return ROW_DAMAGED;
    uint32_t start = bytes_u32(row.starts + (size_t)restart * 4);
    if (start >= (size_t)(row.end - row.bytes))
        return ROW_DAMAGED;
    /* Terms before the first that is wanted are passed over: fewer than stand between restarts, but where keys
     * are cut. */
    w->at = row.bytes + start;
    w->left = row.count - restart * SEGMENT_RESTART;
    while ((rc = segment_words_next(w, err)) == FENEC_OK)
        if (compare(w->bytes.bytes, w->bytes.len, from, len) >= 0)
            break;
    w->held = rc == FENEC_OK;
    w->shared = 0;
    return rc == FN_END ? FENEC_OK : rc;
}

void segment_words_close(segment_words *w)
{
    if (w->r)
        row_cache_leave(w->r->cache, w->row);
    buffer_clear(&w->bytes);
    *w = (segment_words){0};
}

/* ---- postings ---- */

static int hold_postings(segment_list *l, uint32_t row, error *err)
{
    if (l->row && l->row_number == row)
        return FENEC_OK;
    row_cache_leave(l->r->cache, l->row);
    l->row = NULL;
    l->row_number = row;
    if (row >= l->r->s->postings_rows)
        return ROW_DAMAGED;
    return take(l->r, SEGMENT_POSTINGS, row, &l->row, err);
}

/* Reads the skip table into l->blocks. */
static int read_skips(segment_list *l, const segment_term *t, error *err)
{
    uint32_t row = t->skip_row, at = t->skip_at, block_row = t->row, block_at = t->at, len = 0;
    int64_t last = -1;
    int rc = hold_postings(l, row, err);

    for (uint32_t i = 0; !rc && i < l->block_count; i++) {
        if (at == l->row->len) {
            at = 0;
            rc = hold_postings(l, ++row, err);
            if (rc)
                return rc;
        }
        if (at > l->row->len)
            return ROW_DAMAGED;
        reading r = {.at = l->row->bytes + at, .end = l->row->bytes + l->row->len};
        uint64_t gap = read_number(&r, UINT32_MAX), size = read_number(&r, UINT32_MAX);
        segment_block *b = &l->blocks[i];
        if (size & 1) {
            block_row++;
            block_at = 0;
        } else if (i) {
            block_at += len;
        }
        len = (uint32_t)(size >> 1);
        last += (int64_t)gap;
        *b = (segment_block){.last = (uint32_t)last, .row = block_row, .at = block_at};
        b->most = (uint32_t)read_number(&r, UINT32_MAX);
        b->shortest = (uint32_t)read_number(&r, UINT32_MAX);
        if (r.bad || gap == 0 || last >= (int64_t)l->r->s->docs)
            return ROW_DAMAGED;
        at = (uint32_t)(r.at - l->row->bytes);
    }
    return rc;
}

static int make_blocks(segment_list *l, segment_reader *r, uint32_t docs, error *err)
{
    *l = (segment_list){.r = r, .docs = docs, .block_count = (docs - 1) / POSTINGS_BLOCK + 1};
    l->block = l->block_count;
    l->blocks = arena_alloc(r->memory, l->block_count * sizeof *l->blocks);
    return l->blocks ? FENEC_OK : fail_memory(err);
}

int segment_list_open(segment_list *l, segment_reader *r, const segment_term *t, error *err)
{
    int rc = make_blocks(l, r, t->docs, err);

    if (rc)
        return rc;
    if (t->docs > POSTINGS_BLOCK)
        return read_skips(l, t, err);
    if (t->docs > 1) {
        l->blocks[0] = (segment_block){
            .last = r->s->docs, .row = t->row, .at = t->at, .most = t->most, .shortest = t->shortest};
        rc = segment_list_read(l, 0, err);
        if (!rc)
            l->blocks[0].last = l->places[l->count - 1];
        return rc;
    }
    const segment_docs *d;
    uint32_t *place = arena_alloc(r->memory, sizeof *place);
    double *count = arena_alloc(r->memory, sizeof *count);
    if (!place || !count)
        return fail_memory(err);
    *place = t->row;
    *count = t->at;
    l->own_places = place;
    l->own_counts = count;
    rc = segment_docs_at(r, t->row, &d, err);
    if (!rc)
        l->blocks[0] = (segment_block){.last = t->row,
                                       .most = t->at,
                                       .shortest = r->s->weights ? t->at : segment_docs_length(d, t->row)};
    return rc;
}

int segment_list_make(segment_list *l, segment_reader *r, const uint32_t *places, const double *counts, uint32_t count,
                      error *err)
{
    int rc = make_blocks(l, r, count, err);

    if (rc)
        return rc;
    l->own_places = places;
    l->own_counts = counts;
    for (uint32_t i = 0; !rc && i < count; i++) {
        segment_block *b = &l->blocks[i / POSTINGS_BLOCK];
        const segment_docs *d;
        if (i % POSTINGS_BLOCK == 0)
            *b = (segment_block){.shortest = UINT32_MAX};
        rc = segment_docs_at(r, places[i], &d, err);
        uint32_t length = rc ? 0 : segment_docs_length(d, places[i]);
        b->last = places[i];
        b->shortest = length < b->shortest ? length : b->shortest;
        b->most = counts[i] > b->most ? counts[i] >= UINT32_MAX ? UINT32_MAX : (uint32_t)(counts[i] + 1) : b->most;
    }
    return rc;
}

int segment_list_read(segment_list *l, uint32_t block, error *err)
{
    const segment_block *b = &l->blocks[block];
    int64_t before = block ? (int64_t)b[-1].last : -1;
    size_t len;

    if (l->block == block)
        return FENEC_OK;
    l->block = l->block_count;
    l->count = block + 1 < l->block_count ? POSTINGS_BLOCK : l->docs - block * POSTINGS_BLOCK;
    if (l->own_places) {
        memcpy(l->places, l->own_places + (size_t)block * POSTINGS_BLOCK, l->count * sizeof *l->places);
        l->block = block;
        return FENEC_OK;
    }
    int rc = hold_postings(l, b->row, err);
    if (rc)
        return rc;
    if (b->at > l->row->len || !postings_open(&l->packed, l->row->bytes + b->at, l->row->len - b->at, l->count, &len))
        return ROW_DAMAGED;
    uint64_t last = postings_places(&l->packed, before, l->places);
    if (last >= l->r->s->docs || (b->last < l->r->s->docs && last != b->last))
        return ROW_DAMAGED;
    l->block = block;
    return FENEC_OK;
}

void segment_list_leave(segment_list *l)
{
    row_cache_leave(l->r->cache, l->row);
    l->row = NULL;
    l->block = l->block_count;
}

void segment_list_close(segment_list *l)
{
    if (l->r)
        row_cache_leave(l->r->cache, l->row);
    *l = (segment_list){0};
}
