#include <stdlib.h>

#include "base/hash.h"
#include "search/postings.h"
#include "search/segment_writer.h"
#include "search/term_counts.h"
#include "store_make.h"

/* ---- blocks ---- */

static uint32_t draw(uint64_t *state, uint32_t bits)
{
    return bits ? (uint32_t)(test_random(state) >> (64 - bits)) : 0;
}

TEST(postings_come_back_as_they_were_packed)
{
    uint64_t state = test_seed();

    for (long round = test_scale(20000, 200000); round > 0; round--) {
        uint32_t places[POSTINGS_BLOCK], counts[POSTINGS_BLOCK], seen[POSTINGS_BLOCK];
        uint8_t bytes[POSTINGS_BYTES_MAX + POSTINGS_PAD] = {0};
        uint32_t n = 1 + draw(&state, 7), gap_bits = draw(&state, 5) % 25, count_bits = draw(&state, 6) % 33;
        int64_t before = (int64_t)draw(&state, 2) - 1, at = before;
        for (uint32_t i = 0; i < n; i++) {
            at += 1 + draw(&state, gap_bits);
            places[i] = (uint32_t)at;
            counts[i] = 1 + draw(&state, count_bits);
            counts[i] += counts[i] == 0;
        }
        size_t len = postings_pack(bytes, before, places, counts, n), read;
        postings_block b;
        CHECK(len <= POSTINGS_BYTES_MAX);
        CHECK(postings_open(&b, bytes, len, n, &read));
        CHECK_INT(read, len);
        CHECK_INT(postings_places(&b, before, seen), places[n - 1]);
        for (uint32_t i = 0; i < n; i++)
            if (seen[i] != places[i] || postings_count(&b, i) != counts[i])
                test_failed(__FILE__, __LINE__, "posting %u of %u", i, n);
        CHECK(!postings_open(&b, bytes, len - 1, n, &read));
    }
}

TEST(postings_refuse_widths_that_are_none)
{
    uint8_t bytes[64] = {33, 1};
    postings_block b;
    size_t len;

    CHECK(!postings_open(&b, bytes, sizeof bytes, 3, &len));
    bytes[0] = 1;
    bytes[1] = 33;
    CHECK(!postings_open(&b, bytes, sizeof bytes, 3, &len));
    CHECK(!postings_open(&b, bytes, 1, 3, &len));
    bytes[1] = 32;
    CHECK(postings_open(&b, bytes, 2 + 1 + 12, 3, &len));
    CHECK_INT(len, 15);
}

/* ---- segments ---- */

typedef struct posting {
    uint32_t place, count;
} posting;

typedef struct listed {
    char term[40];
    size_t len;
    posting *at;
    uint32_t count;
} listed;

typedef struct made {
    store *s;
    row_cache *cache;
    conn *c;
    int64_t *ids;
    uint32_t *lengths;
    uint32_t docs;
    listed *terms;
    uint32_t term_count;
} made;

static int put(void *to, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    return row_cache_write(to, 7, id, bytes, len, err);
}

static int by_term(const void *a, const void *b)
{
    return strcmp(((const listed *)a)->term, ((const listed *)b)->term);
}

static void draw_terms(made *m, uint64_t *state)
{
    m->terms = calloc(m->term_count, sizeof *m->terms);
    for (uint32_t i = 0; i < m->term_count; i++) {
        listed *t = &m->terms[i];
        /* Many share long beginnings, some are longer than what is kept of a row's first term. */
        snprintf(t->term, sizeof t->term, "%.*s%u", (int)draw(state, 5) % 24, "commonbeginningsofmanyterms", i);
    }
    qsort(m->terms, m->term_count, sizeof *m->terms, by_term);
    for (uint32_t i = 0; i < m->term_count; i++) {
        listed *t = &m->terms[i];
        uint32_t every = 1 + draw(state, draw(state, 4) % 14);
        t->len = strlen(t->term);
        t->at = calloc(m->docs, sizeof *t->at);
        for (uint32_t p = draw(state, 10) % m->docs; p < m->docs; p += 1 + draw(state, 16) % every)
            t->at[t->count++] = (posting){p, 1 + draw(state, draw(state, 3))};
    }
}

static void make_segment(made *m, uint32_t docs, uint32_t terms, uint64_t *state)
{
    uint64_t ticket;
    version *none;
    conn *c;
    error err;

    *m = (made){.s = make_store(NULL, false), .cache = row_cache_new(1 << 20), .docs = docs, .term_count = terms};
    m->ids = calloc(docs, sizeof *m->ids);
    m->lengths = calloc(docs, sizeof *m->lengths);
    uint32_t gap = draw(state, 1) ? 1 : 1 + draw(state, 20), longest = 1 + draw(state, 1 + draw(state, 4));
    int64_t id = (int64_t)draw(state, 20) - 1000;
    for (uint32_t i = 0; i < docs; i++, id += gap > 1 ? 1 + draw(state, 31) % gap : 1) {
        m->ids[i] = id;
        m->lengths[i] = 1 + draw(state, 20) % longest;
    }
    draw_terms(m, state);
    MUST(store_write(m->s, true, &c, &none, &err));
    segment_writer *w = segment_writer_new(3, false, put, c);
    for (uint32_t i = 0; i < docs; i++)
        MUST(segment_writer_doc(w, m->ids[i], m->lengths[i], &err));
    for (uint32_t i = 0; i < terms; i++) {
        MUST(segment_writer_term(w, (const uint8_t *)m->terms[i].term, m->terms[i].len, &err));
        for (uint32_t k = 0; k < m->terms[i].count; k++)
            MUST(segment_writer_posting(w, m->terms[i].at[k].place, m->terms[i].at[k].count, &err));
    }
    MUST(segment_writer_end(w, &err));
    segment_writer_free(w);
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_read(m->s, &m->c, &none, &err));
}

static void drop_segment(made *m)
{
    store_read_end(m->c);
    end_store(m->s);
    row_cache_free(m->cache);
    for (uint32_t i = 0; i < m->term_count; i++)
        free(m->terms[i].at);
    free(m->terms);
    free(m->ids);
    free(m->lengths);
}

static void check_list(segment_reader *r, const segment_term *t, const listed *want, const uint32_t *lengths)
{
    segment_list l = {0};
    uint32_t k = 0;
    error err;

    CHECK_INT(t->docs, want->count);
    CHECK_INT(segment_list_open(&l, r, t, &err), FENEC_OK);
    for (uint32_t b = 0; b < l.block_count; b++) {
        uint32_t most = 0, shortest = UINT32_MAX;
        CHECK_INT(segment_list_read(&l, b, &err), FENEC_OK);
        for (uint32_t i = 0; i < l.count && k < want->count; i++, k++) {
            if (l.places[i] != want->at[k].place || segment_list_count(&l, i) != want->at[k].count)
                test_failed(__FILE__, __LINE__, "%s: posting %u", want->term, k);
            most = want->at[k].count > most ? want->at[k].count : most;
            shortest = lengths[l.places[i]] < shortest ? lengths[l.places[i]] : shortest;
        }
        CHECK_INT(l.blocks[b].most, most);
        CHECK_INT(l.blocks[b].shortest, shortest);
        CHECK_INT(l.blocks[b].last, want->at[k - 1].place);
    }
    CHECK_INT(k, want->count);
    segment_list_close(&l);
}

static void check_segment(made *m, uint64_t *state)
{
    segment_reader r = {0};
    segment_words w;
    const segment_docs *d;
    segment_term t;
    uint32_t place;
    segment *s;
    arena memory;
    error err;

    arena_init(&memory);
    CHECK_INT(segment_open(&s, m->c, m->cache, 7, 3, &err), FENEC_OK);
    CHECK_INT(s->docs, m->docs);
    CHECK_INT(segment_reader_open(&r, s, m->c, m->cache, &memory, &err), FENEC_OK);
    for (uint32_t i = 0; i < m->docs; i++) {
        CHECK_INT(segment_docs_at(&r, i, &d, &err), FENEC_OK);
        if (segment_docs_id(d, i) != m->ids[i] || segment_docs_length(d, i) != m->lengths[i])
            test_failed(__FILE__, __LINE__, "document %u", i);
        if (i % 97 == 0) {
            CHECK_INT(segment_place(&r, m->ids[i], &place, &err), FENEC_OK);
            CHECK_INT(place, i);
            if (i + 1 == m->docs || m->ids[i] + 1 != m->ids[i + 1])
                CHECK_INT(segment_place(&r, m->ids[i] + 1, &place, &err), FN_END);
        }
    }
    CHECK_INT(segment_place(&r, m->ids[0] - 1, &place, &err), FN_END);
    for (uint32_t i = 0; i < m->term_count; i++) {
        char other[48];
        CHECK_INT(segment_find(&r, (const uint8_t *)m->terms[i].term, m->terms[i].len, &t, &err), FENEC_OK);
        check_list(&r, &t, &m->terms[i], m->lengths);
        snprintf(other, sizeof other, "%sx", m->terms[i].term);
        CHECK_INT(segment_find(&r, (const uint8_t *)other, strlen(other), &t, &err), FN_END);
        CHECK_INT(segment_find(&r, (const uint8_t *)other, strlen(other) / 2, &t, &err) == FENEC_OK,
                  bsearch((other[strlen(other) / 2] = 0, other), m->terms, m->term_count, sizeof *m->terms, by_term) != NULL);
    }
    /* In order, from the start and from anywhere. */
    for (int round = 0; round < 20; round++) {
        uint32_t i = round ? draw(state, 20) % m->term_count : 0;
        const char *from = m->terms[i].term;
        CHECK_INT(segment_words_open(&w, &r, round ? (const uint8_t *)from : NULL, strlen(from), &err), FENEC_OK);
        int rc;
        while ((rc = segment_words_next(&w, &err)) == FENEC_OK && i < m->term_count) {
            if (w.bytes.len != m->terms[i].len || memcmp(w.bytes.bytes, m->terms[i].term, w.bytes.len))
                test_failed(__FILE__, __LINE__, "term %u is %.*s", i, (int)w.bytes.len, w.bytes.bytes);
            i++;
        }
        CHECK_INT(rc, FN_END);
        CHECK_INT(i, m->term_count);
        segment_words_close(&w);
    }
    segment_reader_close(&r);
    segment_drop(s);
    arena_clear(&memory);
}

TEST(segments_come_back_as_they_were_written)
{
    static const uint32_t sizes[][2] = {{1, 1}, {5, 40}, {4096, 300}, {4097, 20}, {9000, 900}, {70000, 60}};
    uint64_t state = test_seed();
    made m;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_segment(&m, sizes[i][0], sizes[i][1], &state);
        check_segment(&m, &state);
        drop_segment(&m);
    }
}

/* Reads all of a segment, whatever it answers. */
static int read_whole(const made *m)
{
    segment_reader r = {0};
    segment_words w = {0};
    segment *s = NULL;
    arena memory;
    error err;
    int rc;

    arena_init(&memory);
    row_cache *cache = row_cache_new(1 << 20);
    rc = segment_open(&s, m->c, cache, 7, 3, &err);
    if (!rc)
        rc = segment_reader_open(&r, s, m->c, cache, &memory, &err);
    for (uint32_t i = 0; !rc && i < s->docs; i++) {
        const segment_docs *d;
        rc = segment_docs_at(&r, i, &d, &err);
    }
    if (!rc)
        rc = segment_words_open(&w, &r, NULL, 0, &err);
    while (!rc && (rc = segment_words_next(&w, &err)) == FENEC_OK) {
        segment_list l = {0};
        rc = segment_list_open(&l, &r, &w.t, &err);
        for (uint32_t b = 0; !rc && b < l.block_count; b++)
            rc = segment_list_read(&l, b, &err);
        segment_list_close(&l);
    }
    segment_words_close(&w);
    segment_reader_close(&r);
    segment_drop(s);
    row_cache_free(cache);
    arena_clear(&memory);
    return rc;
}

static void rewrite(made *m, int64_t id, const uint8_t *bytes, size_t len, bool sealed)
{
    uint64_t ticket;
    version *none;
    conn *c;
    error err;

    store_read_end(m->c);
    MUST(store_write(m->s, true, &c, &none, &err));
    if (sealed)
        MUST(row_cache_write(c, 7, id, bytes, len, &err));
    else
        MUST(rows_put(c, table_search(7), id, bytes, len, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_read(m->s, &m->c, &none, &err));
}

TEST(segments_notice_flipped_bits_and_survive_any_bytes)
{
    uint64_t state = test_seed();
    made m;
    error err;

    make_segment(&m, 5000, 200, &state);
    CHECK_INT(read_whole(&m), FN_END);
    int64_t low = 0;
    for (;;) {
        uint8_t kept[70000], changed[70000];
        const uint8_t *bytes;
        cursor cur;
        size_t len;
        int64_t id;
        MUST(cursor_rows(&cur, m.c, table_search(7), low, INT64_MAX, false, &err));
        int rc = cursor_next_row(&cur, &id, &bytes, &len, &err);
        if (rc == FENEC_OK && len <= sizeof kept)
            memcpy(kept, bytes, len);
        cursor_close(&cur);
        if (rc == FN_END)
            break;
        low = id + 1;
        for (long i = test_scale(6, 60); i > 0; i--) {
            size_t bit = test_random(&state) % (len * 8);
            memcpy(changed, kept, len);
            changed[bit / 8] ^= (uint8_t)(1 << bit % 8);
            rewrite(&m, id, changed, len, false);
            CHECK_INT(read_whole(&m), -3); /* ROW_DAMAGED */
            /* A checksum that is right: whatever comes of it, nothing else is read. */
            for (uint32_t k = 1 + draw(&state, 3); k > 0; k--)
                changed[test_random(&state) % (len - 4)] = (uint8_t)test_random(&state);
            rewrite(&m, id, changed, draw(&state, 2) ? len - 4 : test_random(&state) % (len - 3), true);
            read_whole(&m);
        }
        rewrite(&m, id, kept, len, false);
    }
    CHECK_INT(read_whole(&m), FN_END);
    drop_segment(&m);
}

TEST(segments_refuse_a_term_that_is_empty)
{
    /* One term, one restart at 0; nothing shared, no bytes; in one document, at place 0, once. */
    static const uint8_t words[] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1};
    uint64_t state = test_seed();
    made m;

    make_segment(&m, 1, 1, &state);
    CHECK_INT(read_whole(&m), FN_END);
    rewrite(&m, segment_row_id(3, SEGMENT_WORDS, 0), words, sizeof words, true);
    CHECK_INT(read_whole(&m), ROW_DAMAGED);
    drop_segment(&m);
}

/* ---- counts of what is gone ---- */

TEST(term_counts_add_up_and_leave_at_zero)
{
    static const term_change first[] = {{(const uint8_t *)"b", 1, 2}, {(const uint8_t *)"abc", 3, 1}};
    static const term_change second[] = {{(const uint8_t *)"b", 1, -2}, {(const uint8_t *)"c", 1, 5}};
    static const term_change third[] = {{(const uint8_t *)"c", 1, -6}};
    static const term_change all[] = {{(const uint8_t *)"abc", 3, -1}, {(const uint8_t *)"c", 1, -5}};
    term_counts *a, *b, *c, *d;
    error err;

    CHECK_INT(term_counts_change(NULL, first, 2, &a, &err), FENEC_OK);
    CHECK_INT(term_counts_of(a, (const uint8_t *)"b", 1, hash64("b", 1)), 2);
    CHECK_INT(term_counts_of(a, (const uint8_t *)"abc", 3, hash64("abc", 3)), 1);
    CHECK_INT(term_counts_of(a, (const uint8_t *)"c", 1, hash64("c", 1)), 0);
    CHECK_INT(term_counts_change(a, second, 2, &b, &err), FENEC_OK);
    CHECK_INT(term_counts_of(b, (const uint8_t *)"b", 1, hash64("b", 1)), 0);
    CHECK_INT(term_counts_of(b, (const uint8_t *)"c", 1, hash64("c", 1)), 5);
    CHECK_INT(term_counts_of(a, (const uint8_t *)"b", 1, hash64("b", 1)), 2); /* as it was */
    CHECK_INT(term_counts_change(b, third, 1, &c, &err), ROW_DAMAGED);
    CHECK_INT(term_counts_change(b, all, 2, &c, &err), FENEC_OK);
    CHECK(c == NULL);
    CHECK_INT(term_counts_read(b->bytes, b->len, &d, &err), FENEC_OK);
    CHECK_INT(term_counts_of(d, (const uint8_t *)"abc", 3, hash64("abc", 3)), 1);
    CHECK_INT(term_counts_part(b, 0, 1), b->bytes[0] + 2);
    CHECK_INT(term_counts_part(b, b->len, 100), 0);
    term_counts_drop(d);
    CHECK_INT(term_counts_read(b->bytes, b->len - 1, &d, &err), ROW_DAMAGED);
    term_counts_drop(a);
    term_counts_drop(b);
}
