/* fuzz_segment.c - rows of a text and of a sparse index, changed by any bytes: what a checksum tells is noticed or
 * does not matter to the answer; what it does not does no harm.
 *
 * The first byte says which index and whether rows get checksums that fit. Then come changes: a row, what to do
 * with it, a place in it as two bytes, and what that takes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "search/row_cache.h"
#include "search/sparse_search.h"
#include "search/text_check.h"
#include "search/text_index.h"
#include "search/text_search.h"
#include "store/conn.h"
#include "store/store.h"
#include "value/sparse.h"

enum { IDS = 420, ROWS_MAX = 64, TEXT_MAX = 400, QUERIES = 4, WANT = 20 };

typedef struct saved_row {
    int64_t id;
    uint8_t *bytes; /* with its checksum */
    size_t len;
    bool changed;
} saved_row;

typedef struct answer {
    best_row rows[WANT];
    size_t count;
} answer;

/* An index as it was written, and what it answers. */
typedef struct sample {
    index_spec spec;
    uint8_t texts[IDS + 1][TEXT_MAX];
    size_t lens[IDS + 1]; /* 0: the document is not there */
    saved_row rows[ROWS_MAX];
    int row_count;
    answer right[QUERIES];
} sample;

static sample samples[2];

static void must(int rc)
{
    if (rc)
        abort();
}

/* ---- documents ---- */

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static void draw_text(sample *s, int id)
{
    size_t len = 0;

    for (uint32_t i = 0, count = 1 + draw(30); i < count; i++)
        len += (size_t)snprintf((char *)s->texts[id] + len, TEXT_MAX - len, "w%u ", draw(1u << draw(9)));
    s->lens[id] = len;
}

static void draw_entries(sample *s, int id)
{
    uint32_t dimension = 0, count = 1 + draw(30);

    for (uint32_t i = 0; i < count; i++) {
        dimension += 1 + draw(i < 6 ? 2 : 40);
        bytes_put_u32(s->texts[id] + i * SPARSE_ENTRY, dimension);
        bytes_put_f32(s->texts[id] + i * SPARSE_ENTRY + 4, (float)(1 + draw(256)) / (draw(6) ? 64.0f : -64.0f));
    }
    s->lens[id] = count * SPARSE_ENTRY;
}

static int find_text(void *from, int64_t id, const uint8_t **text, size_t *len, error *err)
{
    const sample *s = from;

    (void)err;
    if (id < 1 || id > IDS || !s->lens[id])
        return FN_END;
    *text = s->texts[id];
    *len = s->lens[id];
    return FENEC_OK;
}

/* ---- asking ---- */

static int ask(const text_version *v, conn *c, int n, answer *out)
{
    static const char *const texts[QUERIES] = {"w0 w1", "w3 w40 w7 w200 w0", "w9", "w1"};
    static const uint32_t dimensions[QUERIES][4] = {{1, 2, 3, 90}, {4, 5, 200, 300}, {2, 0, 0, 0}, {1, 3, 0, 0}};
    uint8_t entries[4 * SPARSE_ENTRY];
    uint32_t count = 0;
    sparse_work did;
    arena memory;
    query q;
    best top;
    error err;
    int rc;

    arena_init(&memory);
    best_init(&top, WANT, &memory, NULL, NULL);
    if (v->how.weights) {
        for (; count < 4 && dimensions[n][count]; count++) {
            bytes_put_u32(entries + count * SPARSE_ENTRY, dimensions[n][count]);
            bytes_put_f32(entries + count * SPARSE_ENTRY + 4, count % 2 ? -0.5f : 1);
        }
        rc = sparse_rank(v, c, entries, count, &top, &did, &memory, &err);
    } else {
        must(query_make(&q, &v->how, (const uint8_t *)texts[n], strlen(texts[n]), n == 2 ? 1 : 0, n == 3, &memory, &err));
        rc = text_rank(v, c, &q, &top, &memory, &err);
    }
    if (!rc) {
        best_finish(&top);
        *out = (answer){.count = top.count};
        if (top.count)
            memcpy(out->rows, top.rows, top.count * sizeof *top.rows);
    }
    arena_clear(&memory);
    return rc;
}

static bool is_same(const answer *a, const answer *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (a->rows[i].id != b->rows[i].id || a->rows[i].score != b->rows[i].score)
            return false;
    return a->count == b->count;
}

/* ---- the sample ---- */

static text_version *begin(store *s, text_version *v, conn **c)
{
    version *none;
    error err;

    must(store_write(s, true, c, &none, &err));
    return text_index_begin(v);
}

static text_version *land(text_version *v, text_version *own, conn *c)
{
    uint64_t ticket;
    error err;

    must(text_index_land(own, c, &err));
    must(store_write_commit(c, NULL, &ticket, &err));
    text_index_landed(own);
    version_drop(&v->head);
    return own;
}

/* Writes so many documents of an order that is not the ids', in place of those there. */
static text_version *write_some(sample *s, store *at, text_version *v, int first, int count, bool flushed)
{
    error err;
    conn *c;
    text_version *own = begin(at, v, &c);

    for (int i = 0; i < count; i++) {
        int id = 1 + (first + i * 7) % IDS;
        if (s->lens[id])
            must(text_index_remove(own, c, id, s->texts[id], s->lens[id], &err));
        s->lens[id] = 0;
        if (i % 9 == 8)
            continue;
        if (s->spec.kind == INDEX_TEXT)
            draw_text(s, id);
        else
            draw_entries(s, id);
        must(text_index_add(own, id, s->texts[id], s->lens[id], &err));
    }
    if (flushed)
        must(text_index_flush(own, c, &err));
    return land(v, own, c);
}

static void save_rows(sample *s, conn *c)
{
    cursor cur = {0};
    const uint8_t *bytes;
    size_t len;
    int64_t id;
    error err;

    must(cursor_rows(&cur, c, table_search(1), INT64_MIN, INT64_MAX, false, &err));
    while (cursor_next_row(&cur, &id, &bytes, &len, &err) == FENEC_OK && s->row_count < ROWS_MAX) {
        saved_row *r = &s->rows[s->row_count++];
        *r = (saved_row){.id = id, .bytes = malloc(len), .len = len};
        memcpy(r->bytes, bytes, len);
    }
    cursor_close(&cur);
}

static void make_sample(sample *s, index_kind kind)
{
    store *at;
    row_cache *cache = row_cache_new(ROW_CACHE_BYTES);
    text_version *v;
    version *none;
    uint64_t ticket;
    error err;
    conn *c;

    s->spec = (index_spec){.kind = kind, .k1_hundredths = 90, .b_hundredths = 40, .prefix_min = 3};
    must(store_open(&at, &(store_options){0}, &err));
    must(store_write(at, false, &c, &none, &err));
    must(text_index_open(&v, c, cache, 1, &s->spec, find_text, s, &err));
    must(store_write_commit(c, NULL, &ticket, &err));
    v = write_some(s, at, v, 0, 300, true);
    v = write_some(s, at, v, 150, 90, true);
    v = write_some(s, at, v, 40, 60, true);
    v = write_some(s, at, v, 10, 12, false);
    must(store_read(at, &c, &none, &err));
    save_rows(s, c);
    for (int i = 0; i < QUERIES; i++)
        must(ask(v, c, i, &s->right[i]));
    store_read_end(c);
    version_drop(&v->head);
    must(store_close(at, &err));
    store_free(at);
    row_cache_free(cache);
}

/* ---- changes ---- */

typedef struct input {
    const uint8_t *at, *end;
} input;

static uint32_t take(input *in, int bytes)
{
    uint32_t n = 0;

    for (; bytes > 0; bytes--)
        n = n << 8 | (in->at < in->end ? *in->at++ : 0u);
    return n;
}

/* Puts bytes of the input for `gone` bytes at `from`. */
static void replace(saved_row *r, size_t from, size_t gone, input *in, size_t fresh)
{
    size_t rest = r->len - from < gone ? 0 : r->len - from - gone;
    uint8_t *bytes = malloc(from + fresh + rest + 1);

    memcpy(bytes, r->bytes, from);
    for (size_t i = 0; i < fresh; i++)
        bytes[from + i] = (uint8_t)take(in, 1);
    memcpy(bytes + from + fresh, r->bytes + r->len - rest, rest);
    free(r->bytes);
    r->bytes = bytes;
    r->len = from + fresh + rest;
}

/* A row's own bytes end where its checksum begins. */
static void change(saved_row *r, input *in, bool fits)
{
    uint32_t what = take(in, 1);
    size_t from = take(in, 2) % (r->len + 1);

    if (!fits) { /* few enough bits in a row for the checksum to tell in any case */
        uint8_t mask = (uint8_t)take(in, 1);
        if (!r->changed && from < r->len)
            r->bytes[from] ^= mask;
        r->changed = true;
        return;
    }
    switch (what % 4) {
    case 0: replace(r, from, 1, in, from < r->len); break;
    case 1: replace(r, from, take(in, 1), in, 0); break;
    case 2: replace(r, from, 0, in, take(in, 1)); break;
    default: replace(r, from, take(in, 1), in, take(in, 1)); break;
    }
}

static void write_rows(const sample *s, input *in, bool fits, conn *c)
{
    saved_row rows[ROWS_MAX];
    error err;

    for (int i = 0; i < s->row_count; i++) {
        rows[i] = s->rows[i];
        rows[i].len -= fits ? 4 : 0;
        rows[i].bytes = malloc(s->rows[i].len);
        memcpy(rows[i].bytes, s->rows[i].bytes, s->rows[i].len);
    }
    for (int n = 0; n < 32 && in->at < in->end; n++)
        change(&rows[take(in, 1) % (uint32_t)s->row_count], in, fits);
    for (int i = 0; i < s->row_count; i++) {
        must(fits ? row_cache_write(c, 1, rows[i].id, rows[i].bytes, rows[i].len, &err)
                  : rows_put(c, table_search(1), rows[i].id, rows[i].bytes, rows[i].len, &err));
        free(rows[i].bytes);
    }
}

/* ---- what is done with them ---- */

static void judge(int rc, bool fits)
{
    /* Where sizes are made up memory may run out. */
    if (rc && rc != ROW_DAMAGED && !(fits && (rc == FENEC_PANIC || rc == FENEC_QUERY)))
        abort();
}

static void ask_all(const sample *s, const text_version *v, conn *c, bool fits)
{
    for (int i = 0; i < QUERIES; i++) {
        answer got;
        int rc = ask(v, c, i, &got);
        judge(rc, fits);
        if (!rc && !fits && !is_same(&got, &s->right[i]))
            abort();
    }
}

static void found(void *to, int64_t id, const char *what)
{
    (void)to;
    (void)id;
    (void)what;
}

static void check(const sample *s, const text_version *v, conn *c, bool fits)
{
    int64_t postings = 0;
    text_check *k = NULL;
    error err;
    int rc = text_check_new(&k, v, c, found, NULL, &postings, &err);

    for (int id = 1; !rc && id <= IDS; id++)
        rc = text_check_document(k, id, s->lens[id] ? s->texts[id] : NULL, s->lens[id], &err);
    if (!rc)
        rc = text_check_end(k, &err);
    judge(rc, fits);
    text_check_free(k);
}

/* All segments made one, as far as that goes. */
static text_version *merge(text_version *v, store *at, bool fits)
{
    text_merge *m = NULL;
    version *none;
    error err;
    conn *c;
    int rc = text_merge_new(&m, v, true, &err);

    judge(rc, fits);
    if (rc || !m)
        return v;
    must(store_read(at, &c, &none, &err));
    rc = text_merge_read(m, c, &err);
    store_read_end(c);
    if (rc == FN_END) {
        text_version *own = begin(at, v, &c);
        must(text_merge_write(m, c, &err));
        rc = text_merge_land(m, own, c, &err);
        if (!rc) {
            v = land(v, own, c);
        } else {
            text_index_undo(own);
            store_write_rollback(c);
            version_drop(&own->head);
        }
    }
    judge(rc, fits);
    text_merge_free(m);
    return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    input in = {bytes, bytes + len};
    const uint32_t how = take(&in, 1);
    const bool fits = how & 2;
    sample *s = &samples[how & 1];
    text_version *v = NULL;
    row_cache *cache = row_cache_new(ROW_CACHE_BYTES);
    version *none;
    uint64_t ticket;
    store *at;
    error err;
    conn *c;

    if (!s->row_count)
        make_sample(s, how & 1 ? INDEX_INVERTED : INDEX_TEXT);
    must(store_open(&at, &(store_options){0}, &err));
    must(store_write(at, false, &c, &none, &err));
    write_rows(s, &in, fits, c);
    int rc = text_index_open(&v, c, cache, 1, &s->spec, find_text, s, &err);
    judge(rc, fits);
    must(store_write_commit(c, NULL, &ticket, &err));
    if (!rc) {
        must(store_read(at, &c, &none, &err));
        ask_all(s, v, c, fits);
        check(s, v, c, fits);
        store_read_end(c);
        v = merge(v, at, fits);
        must(store_read(at, &c, &none, &err));
        ask_all(s, v, c, fits);
        store_read_end(c);
        version_drop(&v->head);
    }
    must(store_close(at, &err));
    store_free(at);
    row_cache_free(cache);
    return 0;
}
