/* text_merge.c - several segments of a text index made into one, behind its writers.
 *
 * Segments are of about the same size when they are merged, so that a document is copied as often as sizes
 * multiply; one with many documents gone is made anew by itself. What goes while a merge runs is marked in
 * the new segment when it lands. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "search/segment_writer.h"
#include "search/text_rows.h"

#define MERGE_MIN 6            /* segments of a size there are before they are merged */
#define MERGE_MAX 16           /* segments of a merge */
#define SIZES 8.0              /* from one size to the next */
#define GONE_SHARE 4           /* a segment with more than one document in so many gone is made anew */
#define GONE_MIN 512           /* where it is so many */
#define GATHER_BYTES (1u << 20) /* of rows before they are written */
#define CLEAN_ROWS 64          /* deleted at once */

#define NOWHERE UINT32_MAX

typedef struct source {
    segment *s;
    bitmap *gone;     /* as the merge began */
    uint32_t *places; /* in the new segment, NOWHERE: gone */
    segment_reader reader;
    segment_words words;
    bool open, ended;
} source;

/* A row waiting to be written. */
typedef struct waiting {
    int64_t id;
    size_t at, len; /* in the gathered bytes */
} waiting;

struct text_merge {
    uint32_t index, number;
    bool weights;
    row_cache *cache;
    source *sources;
    uint32_t source_count;
    uint32_t docs; /* of the new segment */
    arena memory;  /* of readers */
    arena_mark here;
    segment_writer *writer;
    bool wrote_docs, ended, landed;
    recent_posting *list; /* of the term under way */
    size_t list_cap;
    /* Terms of documents left out: by so much counts fall. */
    buffer dropped_bytes;
    term_change *dropped; /* bytes: an offset until they are all there */
    size_t dropped_count, dropped_cap;
    /* Rows gathered. */
    buffer bytes;
    waiting *rows;
    size_t row_count, row_cap;
    /* What is to be cleaned: segments whose rows go, and the first id of its rows that may be left. */
    uint32_t clean_at;
    int64_t clean_from;
};

/* ---- choosing ---- */

static uint32_t live(const text_segment *s)
{
    return s->s->docs - (s->gone ? s->gone->count : 0);
}

static int size_of(const text_segment *s)
{
    int size = 0;

    for (double most = 8192; live(s) > most; most *= SIZES)
        size++;
    return size;
}

/* The smallest size that has segments enough; whether each of them is chosen. */
static uint32_t choose_size(const text_segments *all, bool *chosen)
{
    for (int size = 0; size < 12; size++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < all->count; i++)
            count += size_of(&all->items[i]) <= size;
        if (count < MERGE_MIN)
            continue;
        count = 0;
        uint64_t docs = 0;
        for (uint32_t i = 0; i < all->count && count < MERGE_MAX; i++) {
            if (size_of(&all->items[i]) > size || docs + live(&all->items[i]) > UINT32_MAX / 2)
                continue;
            docs += live(&all->items[i]);
            chosen[i] = true;
            count++;
        }
        return count;
    }
    return 0;
}

static uint32_t choose_worn(const text_segments *all, bool *chosen)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const text_segment *s = &all->items[i];
        if (s->gone && s->gone->count >= GONE_MIN && s->gone->count > s->s->docs / GONE_SHARE) {
            chosen[i] = true;
            return 1;
        }
    }
    return 0;
}

/* All of them, as many as go into a merge. */
static uint32_t choose_all(const text_segments *all, bool *chosen)
{
    uint32_t count = 0;
    uint64_t docs = 0;

    for (uint32_t i = 0; i < all->count && count < MERGE_MAX; i++) {
        if (docs + live(&all->items[i]) > UINT32_MAX / 2)
            continue;
        docs += live(&all->items[i]);
        chosen[i] = true;
        count++;
    }
    return count > 1 ? count : 0;
}

static int by_first_id(const void *a, const void *b)
{
    const source *x = a, *y = b;

    return (x->s->first_ids[0] > y->s->first_ids[0]) - (x->s->first_ids[0] < y->s->first_ids[0]);
}

static int put_row(void *to, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    text_merge *m = to;

    if (m->row_count == m->row_cap) {
        size_t cap = m->row_cap ? m->row_cap * 2 : 64;
        waiting *more = memory_resize(m->rows, cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        m->rows = more;
        m->row_cap = cap;
    }
    m->rows[m->row_count++] = (waiting){id, m->bytes.len, len};
    buffer_put(&m->bytes, bytes, len);
    return m->bytes.failed ? fail_memory(err) : FENEC_OK;
}

static int make(text_merge **out, const text_version *v, const bool *chosen, uint32_t count, error *err)
{
    text_merge *m = memory_zeroed(sizeof *m);

    if (!m)
        return fail_memory(err);
    arena_init(&m->memory);
    m->index = v->index;
    m->weights = v->how.weights;
    m->cache = v->cache;
    m->sources = memory_zeroed(count * sizeof *m->sources);
    m->number = row_cache_number(v->cache, 1);
    m->writer = segment_writer_new(m->number, m->weights, put_row, m);
    if (!m->sources || !m->writer) {
        text_merge_free(m);
        return fail_memory(err);
    }
    for (uint32_t i = 0; i < v->segments->count; i++)
        if (chosen[i]) {
            source *s = &m->sources[m->source_count++];
            s->s = segment_keep(v->segments->items[i].s);
            s->gone = bitmap_keep(v->segments->items[i].gone);
        }
    qsort(m->sources, m->source_count, sizeof *m->sources, by_first_id);
    *out = m;
    return FENEC_OK;
}

int text_merge_new(text_merge **out, const text_version *v, bool whole, error *err)
{
    bool *chosen = memory_zeroed(v->segments->count + 1);
    uint32_t count;

    *out = NULL;
    if (!chosen)
        return fail_memory(err);
    count = whole ? choose_all(v->segments, chosen) : 0;
    if (!count)
        count = choose_worn(v->segments, chosen);
    if (!count)
        count = choose_size(v->segments, chosen);
    int rc = count ? make(out, v, chosen, count, err) : FENEC_OK;
    memory_free(chosen);
    return rc;
}

void text_merge_free(text_merge *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; m->sources && i < m->source_count; i++) {
        source *s = &m->sources[i];
        if (s->open) {
            segment_words_close(&s->words);
            segment_reader_close(&s->reader);
        }
        segment_drop(s->s);
        bitmap_drop(s->gone);
        memory_free(s->places);
    }
    memory_free(m->sources);
    segment_writer_free(m->writer);
    arena_clear(&m->memory);
    memory_free(m->list);
    buffer_clear(&m->dropped_bytes);
    memory_free(m->dropped);
    buffer_clear(&m->bytes);
    memory_free(m->rows);
    memory_free(m);
}

/* ---- documents ---- */

static int open_sources(text_merge *m, conn *c, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < m->source_count; i++) {
        source *s = &m->sources[i];
        s->places = memory_alloc(s->s->docs * sizeof *s->places);
        if (!s->places)
            return fail_memory(err);
        rc = segment_reader_open(&s->reader, s->s, c, m->cache, &m->memory, err);
        if (!rc)
            rc = segment_words_open(&s->words, &s->reader, NULL, 0, err);
        s->open = !rc;
    }
    return rc;
}

/* Where each source is, while documents are put in order of id. */
typedef struct front {
    uint32_t place;
    int64_t id;
    uint32_t length;
    bool ended;
} front;

/* The next document of a source that is not gone. */
static int step(source *s, front *f, error *err)
{
    while (f->place < s->s->docs && bitmap_has(s->gone, f->place))
        s->places[f->place++] = NOWHERE;
    f->ended = f->place == s->s->docs;
    if (f->ended)
        return FENEC_OK;
    const segment_docs *d;
    int rc = segment_docs_at(&s->reader, f->place, &d, err);
    if (!rc) {
        f->id = segment_docs_id(d, f->place);
        f->length = segment_docs_length(d, f->place);
    }
    return rc;
}

static int write_docs(text_merge *m, error *err)
{
    front *fronts = memory_zeroed(m->source_count * sizeof *fronts);
    int rc = fronts ? FENEC_OK : fail_memory(err);

    for (uint32_t i = 0; !rc && i < m->source_count; i++)
        rc = step(&m->sources[i], &fronts[i], err);
    while (!rc) {
        uint32_t best = m->source_count;
        for (uint32_t i = 0; i < m->source_count; i++)
            if (!fronts[i].ended && (best == m->source_count || fronts[i].id < fronts[best].id))
                best = i;
        if (best == m->source_count)
            break;
        front *f = &fronts[best];
        m->sources[best].places[f->place++] = m->docs++;
        rc = segment_writer_doc(m->writer, f->id, f->length, err);
        if (!rc)
            rc = step(&m->sources[best], f, err);
    }
    memory_free(fronts);
    return rc;
}

/* ---- terms ---- */

static int note_dropped(text_merge *m, const buffer *word, uint32_t count, error *err)
{
    if (m->dropped_count == m->dropped_cap) {
        size_t cap = m->dropped_cap ? m->dropped_cap * 2 : 256;
        term_change *more = memory_resize(m->dropped, cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        m->dropped = more;
        m->dropped_cap = cap;
    }
    m->dropped[m->dropped_count++] = (term_change){.len = word->len, .by = -(int64_t)count};
    buffer_put(&m->dropped_bytes, word->bytes, word->len);
    return m->dropped_bytes.failed ? fail_memory(err) : FENEC_OK;
}

static int make_list_room(text_merge *m, size_t more, size_t *count, error *err)
{
    if (*count + more <= m->list_cap)
        return FENEC_OK;
    size_t cap = m->list_cap * 2 > *count + more ? m->list_cap * 2 : *count + more + 256;
    recent_posting *list = memory_resize(m->list, cap * sizeof *list);
    if (!list)
        return fail_memory(err);
    m->list = list;
    m->list_cap = cap;
    return FENEC_OK;
}

/* Adds the postings of a source's term to the list, its documents that are gone to *dropped. */
static int gather_postings(text_merge *m, source *s, size_t *count, uint32_t *dropped, error *err)
{
    segment_list l = {0};
    int rc = segment_list_open(&l, &s->reader, &s->words.t, err);

    if (!rc)
        rc = make_list_room(m, s->words.t.docs, count, err);
    for (uint32_t b = 0; !rc && b < l.block_count; b++) {
        rc = segment_list_read(&l, b, err);
        for (uint32_t i = 0; !rc && i < l.count; i++) {
            uint32_t place = s->places[l.places[i]];
            if (place == NOWHERE)
                ++*dropped;
            else
                m->list[(*count)++] = (recent_posting){place, segment_list_bits(&l, i)};
        }
    }
    segment_list_close(&l);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const recent_posting *x = a, *y = b;

    return (x->slot > y->slot) - (x->slot < y->slot);
}

static int write_term(text_merge *m, const buffer *word, size_t count, error *err)
{
    bool in_order = true;

    if (count == 0)
        return FENEC_OK;
    for (size_t i = 1; i < count && in_order; i++)
        in_order = m->list[i - 1].slot < m->list[i].slot;
    if (!in_order)
        qsort(m->list, count, sizeof *m->list, by_place);
    int rc = segment_writer_term(m->writer, word->bytes, word->len, err);
    for (size_t i = 0; !rc && i < count; i++)
        rc = segment_writer_posting(m->writer, m->list[i].slot, m->list[i].count, err);
    return rc;
}

static int advance(source *s, error *err)
{
    int rc = segment_words_next(&s->words, err);

    s->ended = rc == FN_END;
    return s->ended ? FENEC_OK : rc;
}

static int compare_terms(const buffer *a, const buffer *b)
{
    int order = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);

    return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* The smallest term that sources stand at, from all of them that do. FN_END: there is none. */
static int merge_term(text_merge *m, error *err)
{
    const source *first = NULL;
    size_t count = 0;
    uint32_t dropped = 0;
    bool same[MERGE_MAX];
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < m->source_count; i++) {
        const source *s = &m->sources[i];
        int order = s->ended ? 1 : first ? compare_terms(&s->words.bytes, &first->words.bytes) : -1;
        same[i] = order <= 0;
        for (uint32_t k = 0; order < 0 && k < i; k++)
            same[k] = false;
        if (order < 0)
            first = s;
    }
    if (!first)
        return FN_END;
    for (uint32_t i = 0; !rc && i < m->source_count; i++)
        if (same[i])
            rc = gather_postings(m, &m->sources[i], &count, &dropped, err);
    if (!rc)
        rc = write_term(m, &first->words.bytes, count, err);
    if (!rc && dropped && !m->weights)
        rc = note_dropped(m, &first->words.bytes, dropped, err);
    for (uint32_t i = 0; !rc && i < m->source_count; i++)
        if (same[i])
            rc = advance(&m->sources[i], err);
    arena_rewind(&m->memory, m->here);
    return rc;
}

static int begin(text_merge *m, conn *c, error *err)
{
    int rc = open_sources(m, c, err);

    if (!rc)
        rc = write_docs(m, err);
    for (uint32_t i = 0; !rc && i < m->source_count; i++)
        rc = advance(&m->sources[i], err);
    m->here = arena_here(&m->memory);
    m->wrote_docs = true;
    return rc;
}

int text_merge_read(text_merge *m, conn *c, error *err)
{
    int rc = FENEC_OK;

    if (!m->wrote_docs)
        rc = begin(m, c, err);
    for (uint32_t i = 0; i < m->source_count; i++)
        m->sources[i].reader.c = c;
    while (!rc && m->bytes.len < GATHER_BYTES)
        rc = merge_term(m, err);
    if (rc == FN_END && m->docs) {
        int failed = segment_writer_end(m->writer, err);
        rc = failed ? failed : FN_END;
    }
    m->ended = rc == FN_END;
    return rc;
}

int text_merge_write(text_merge *m, conn *c, error *err)
{
    int rc = FENEC_OK;

    for (size_t i = 0; !rc && i < m->row_count; i++)
        rc = row_cache_write(c, m->index, m->rows[i].id, m->bytes.bytes + m->rows[i].at, m->rows[i].len, err);
    if (!rc) {
        m->row_count = 0;
        m->bytes.len = 0;
    }
    return rc;
}

/* ---- landing ---- */

static const text_segment *find(const text_segments *all, uint32_t number)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].s->number == number)
            return &all->items[i];
    return NULL;
}

static const source *source_of(const text_merge *m, uint32_t number)
{
    for (uint32_t i = 0; i < m->source_count; i++)
        if (m->sources[i].s->number == number)
            return &m->sources[i];
    return NULL;
}

/* Whether the recent set hides documents of what was merged. */
static bool hides_some(const text_merge *m, const text_version *own)
{
    for (uint32_t i = 0; i < recent_slots(own->recent); i++) {
        const recent_slot *s = recent_slot_at(own->recent, i);
        if (s->segment && recent_sees(s, own->number) && source_of(m, s->segment))
            return true;
    }
    return false;
}

/* The documents of the new segment that went since the merge began. */
static int mark_gone(const text_merge *m, const text_version *own, text_segment *fresh, error *err)
{
    uint64_t before = 0, now = 0, terms_now = 0, terms = 0;

    for (uint32_t i = 0; i < m->source_count; i++) {
        const source *s = &m->sources[i];
        const text_segment *there = find(own->segments, s->s->number);
        now += there->gone ? there->gone->count : 0;
        before += s->gone ? s->gone->count : 0;
        terms_now += there->s->terms - there->gone_terms;
        for (uint32_t p = 0; there->gone && there->gone != s->gone && p < s->s->docs; p++) {
            if (!bitmap_has(there->gone, p) || bitmap_has(s->gone, p))
                continue;
            if (!fresh->gone && !(fresh->gone = bitmap_new(m->docs, NULL)))
                return fail_memory(err);
            bitmap_set(fresh->gone, s->places[p]);
        }
    }
    terms = fresh->s->terms;
    fresh->gone_terms = terms - terms_now;
    return now - before == (fresh->gone ? fresh->gone->count : 0) && terms >= terms_now ? FENEC_OK : ROW_DAMAGED;
}

static int make_segments(const text_merge *m, const text_version *own, conn *c, text_segments **out, error *err)
{
    text_segments *s = text_segments_new(own->segments->count + 1);
    int rc = FENEC_OK;

    *out = s;
    if (!s)
        return fail_memory(err);
    if (m->docs) {
        rc = segment_open(&s->items[0].s, c, m->cache, m->index, m->number, err);
        s->count += !rc;
        if (!rc)
            rc = mark_gone(m, own, &s->items[0], err);
    }
    for (uint32_t i = 0; !rc && i < own->segments->count; i++) {
        const text_segment *old = &own->segments->items[i];
        if (!source_of(m, old->s->number))
            s->items[s->count++] = (text_segment){segment_keep(old->s), bitmap_keep(old->gone), old->gone_terms};
    }
    return rc;
}

static int make_counts(text_merge *m, const text_version *own, term_counts **out, error *err)
{
    size_t at = 0;

    for (size_t i = 0; i < m->dropped_count; i++) {
        m->dropped[i].bytes = m->dropped_bytes.bytes + at;
        at += m->dropped[i].len;
    }
    return term_counts_change(own->counts, m->dropped, m->dropped_count, out, err);
}

bool text_merge_is_current(const text_merge *m, const text_version *v)
{
    for (uint32_t i = 0; i < m->source_count; i++)
        if (!find(v->segments, m->sources[i].s->number))
            return false;
    return true;
}

int text_merge_land(text_merge *m, text_version *own, conn *c, error *err)
{
    text_segments *segments = NULL;
    term_counts *counts = NULL;
    int rc = FENEC_OK;

    if (!text_merge_is_current(m, own))
        return FN_END;
    if (hides_some(m, own))
        rc = text_index_flush(own, c, err);
    if (!rc)
        rc = make_segments(m, own, c, &segments, err);
    if (!rc)
        rc = make_counts(m, own, &counts, err);
    if (!rc)
        rc = text_rows_write(segments, counts, own->segments, c, m->index, err);
    if (rc) {
        text_segments_drop(segments);
        term_counts_drop(counts);
        return rc;
    }
    text_segments_drop(own->segments);
    term_counts_drop(own->counts);
    own->segments = segments;
    own->counts = counts;
    return FENEC_OK;
}

void text_merge_landed(text_merge *m)
{
    m->landed = true;
}

/* ---- cleaning ---- */

/* Deletes rows of a segment, a few at a time. FN_END: it has none. Each time it begins above those of the time
 * before: rows that do not go, the table being damaged, are not met for ever. */
static int clean(text_merge *m, uint32_t number, conn *c, error *err)
{
    const int64_t first = segment_row_id(number, SEGMENT_HEAD, 0);
    int64_t low = m->clean_from ? m->clean_from : first, id = 0;
    const uint8_t *bytes;
    cursor cur = {0};
    size_t len;
    int count = 0, rc = cursor_rows(&cur, c, table_search(m->index), low, first + UINT32_MAX, false, err);

    while (!rc && count < CLEAN_ROWS && (rc = cursor_next_row(&cur, &id, &bytes, &len, err)) == FENEC_OK)
        count++;
    cursor_close(&cur);
    if (rc && rc != FN_END)
        return rc;
    m->clean_from = count ? id + 1 : 0;
    return count ? rows_delete_range(c, table_search(m->index), low, id, err) : FN_END;
}

int text_merge_clean(text_merge *m, conn *c, error *err)
{
    if (!m->landed)
        return clean(m, m->number, c, err);
    while (m->clean_at < m->source_count) {
        int rc = clean(m, m->sources[m->clean_at].s->number, c, err);
        if (rc != FN_END)
            return rc;
        m->clean_at++;
    }
    return FN_END;
}
