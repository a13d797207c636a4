#include "search/text_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/varint.h"
#include "search/row_cache.h"

/* Of a document of a segment, by place. */
typedef struct place_sum {
    uint64_t terms;  /* of the hashes */
    uint32_t length; /* of the counts, or postings with weights */
    bool seen;       /* its document came */
} place_sum;

typedef struct part {
    const text_segment *of;
    segment_reader reader;
    place_sum *sums;
} part;

/* A document of the recent set. */
typedef struct recent_doc {
    int64_t id;
    uint32_t length;
    bool seen;
} recent_doc;

struct text_check {
    const text_version *v;
    conn *c;
    text_check_visit *visit;
    void *to;
    arena memory;
    part *parts;
    uint32_t part_count;
    recent_doc *recent; /* by id */
    uint32_t recent_count;
    uint64_t gone_terms; /* hashes of terms, once for each document that is gone and has it */
};

static int compare_ids(const void *a, const void *b)
{
    int64_t x = ((const recent_doc *)a)->id, y = ((const recent_doc *)b)->id;

    return (x > y) - (x < y);
}

static void say(text_check *k, int64_t id, const char *what)
{
    k->visit(k->to, id, what);
}

/* ---- all postings ---- */

static bool weighs_within(uint32_t bits, const segment_block *b)
{
    return segment_weight(b->shortest) <= segment_weight(bits) && segment_weight(bits) <= segment_weight(b->most);
}

/* A block says the most and the least that its postings come to, by which a search passes it over. */
static int add_block(text_check *k, part *p, segment_list *l, uint32_t block, uint64_t hash, bool *loose, error *err)
{
    const segment_block *b = &l->blocks[block];
    int rc = segment_list_read(l, block, err);

    for (uint32_t i = 0; !rc && i < l->count; i++) {
        uint32_t place = l->places[i];
        const segment_docs *d;
        if (place >= p->of->s->docs)
            return ROW_DAMAGED;
        uint32_t count = segment_list_bits(l, i);
        p->sums[place].terms += hash * count;
        p->sums[place].length += p->of->s->weights ? 1 : count;
        if (bitmap_has(p->of->gone, place) && !p->of->s->weights)
            k->gone_terms += hash;
        rc = segment_docs_at(&p->reader, place, &d, err);
        if (!rc)
            *loose |= p->of->s->weights ? !weighs_within(count, b)
                                        : count > b->most || segment_docs_length(d, place) < b->shortest;
    }
    return rc;
}

static int add_term(text_check *k, part *p, const segment_words *w, int64_t *postings, bool *loose, error *err)
{
    uint64_t hash = hash64(w->bytes.bytes, w->bytes.len);
    segment_list l = {0};
    uint32_t seen = 0;
    int rc = segment_list_open(&l, &p->reader, &w->t, err);

    for (uint32_t i = 0; !rc && i < l.block_count; i++) {
        rc = add_block(k, p, &l, i, hash, loose, err);
        seen += l.count;
    }
    segment_list_close(&l);
    if (!rc && seen != w->t.docs)
        rc = ROW_DAMAGED;
    *postings += seen;
    return rc;
}

static int read_part(text_check *k, part *p, int64_t *postings, error *err)
{
    const segment *s = p->of->s;
    segment_words w = {0};
    bool loose = false;
    int rc = segment_reader_open(&p->reader, s, k->c, k->v->cache, &k->memory, err);

    p->sums = rc ? NULL : memory_zeroed(((size_t)s->docs + 1) * sizeof *p->sums);
    if (!rc && !p->sums)
        rc = fail_memory(err);
    if (!rc)
        rc = segment_words_open(&w, &p->reader, (const uint8_t *)"", 0, err);
    while (!rc && !(rc = segment_words_next(&w, err))) {
        arena_mark here = arena_here(&k->memory);
        rc = add_term(k, p, &w, postings, &loose, err);
        arena_rewind(&k->memory, here);
    }
    segment_words_close(&w);
    if (loose)
        say(k, 0, "the bounds of some postings are not theirs");
    return rc == FN_END ? FENEC_OK : rc;
}

/* ---- what was taken away ---- */

static bool check_counts(text_check *k)
{
    const term_counts *t = k->v->counts;
    const uint8_t *at = t ? t->bytes : NULL, *end = t ? at + t->len : NULL;

    while (at < end) {
        uint64_t len, count;
        if (!varint_get(&at, end, &len) || len > (uint64_t)(end - at))
            return false;
        uint64_t hash = hash64(at, (size_t)len);
        at += len;
        if (!varint_get(&at, end, &count))
            return false;
        k->gone_terms -= hash * count;
    }
    return k->gone_terms == 0;
}

static bool is_gone(const text_check *k, const part *p, uint32_t place)
{
    return bitmap_has(p->of->gone, place) || recent_hides(k->v->recent, k->v->number, p->of->s->number, place);
}

/* What the head of a segment says against its postings. */
static int check_totals(text_check *k, part *p, error *err)
{
    const segment *s = p->of->s;
    uint64_t terms = 0, gone = 0;
    int64_t before = 0;
    char line[160];

    for (uint32_t place = 0; place < s->docs; place++) {
        const segment_docs *d;
        int rc = segment_docs_at(&p->reader, place, &d, err);
        if (rc)
            return rc;
        int64_t id = segment_docs_id(d, place);
        uint32_t length = segment_docs_length(d, place);
        terms += length;
        if (bitmap_has(p->of->gone, place))
            gone += length;
        if (place && id <= before)
            say(k, id, "stands in a segment out of its order");
        before = id;
        if (length != p->sums[place].length) {
            snprintf(line, sizeof line, "has %" PRIu32 " terms by its length, %" PRIu32 " by its postings", length,
                     p->sums[place].length);
            say(k, id, line);
        }
    }
    if (terms != s->terms || gone != p->of->gone_terms)
        say(k, 0, "the numbers of terms of a segment do not add up");
    return FENEC_OK;
}

static int gather_recent(text_check *k, error *err)
{
    const recent *r = k->v->recent;
    uint32_t slots = recent_slots(r);

    k->recent = memory_alloc(((size_t)slots + 1) * sizeof *k->recent);
    if (!k->recent)
        return fail_memory(err);
    for (uint32_t i = 0; i < slots; i++) {
        const recent_slot *s = recent_slot_at(r, i);
        if (s->segment == 0 && s->length && recent_sees(s, k->v->number))
            k->recent[k->recent_count++] = (recent_doc){.id = s->id, .length = s->length};
    }
    if (k->recent_count > 1)
        qsort(k->recent, k->recent_count, sizeof *k->recent, compare_ids);
    return FENEC_OK;
}

int text_check_new(text_check **out, const text_version *v, conn *c, text_check_visit *visit, void *to,
                   int64_t *postings, error *err)
{
    text_check *k = memory_zeroed(sizeof *k);
    int rc = FENEC_OK;

    if (!k)
        return fail_memory(err);
    *k = (text_check){.v = v, .c = c, .visit = visit, .to = to};
    arena_init(&k->memory);
    k->parts = memory_zeroed(((size_t)v->segments->count + 1) * sizeof *k->parts);
    if (!k->parts)
        rc = fail_memory(err);
    for (uint32_t i = 0; !rc && i < v->segments->count; i++) {
        part *p = &k->parts[k->part_count++];
        p->of = &v->segments->items[i];
        rc = read_part(k, p, postings, err);
        if (!rc)
            rc = check_totals(k, p, err);
    }
    if (!rc && !check_counts(k))
        say(k, 0, "the counts of documents that are gone are not theirs");
    if (!rc)
        rc = gather_recent(k, err);
    if (rc)
        text_check_free(k);
    else
        *out = k;
    return rc;
}

void text_check_free(text_check *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; i < k->part_count; i++) {
        segment_reader_close(&k->parts[i].reader);
        memory_free(k->parts[i].sums);
    }
    memory_free(k->parts);
    memory_free(k->recent);
    arena_clear(&k->memory);
    memory_free(k);
}

/* ---- a document ---- */

typedef struct own_sum {
    uint64_t terms, length;
} own_sum;

static int add_own(void *to, const term *t, error *err)
{
    own_sum *s = to;

    (void)err;
    s->terms += hash64(t->bytes, t->len) * t->count;
    s->length++;
    return FENEC_OK;
}

static recent_doc *find_recent(const text_check *k, int64_t id)
{
    recent_doc wanted = {.id = id};

    return k->recent_count ? bsearch(&wanted, k->recent, k->recent_count, sizeof wanted, compare_ids) : NULL;
}

int text_check_document(text_check *k, int64_t id, const uint8_t *text, size_t len, error *err)
{
    own_sum own = {0};
    uint32_t held = 0;
    int rc = text ? analyse(&k->v->how, text, len, add_own, &own, err) : FENEC_OK;

    recent_doc *lately = find_recent(k, id);
    if (!rc && lately) {
        held++;
        lately->seen = true;
        if (lately->length != own.length)
            say(k, id, "has another length in the index than its text");
    }
    for (uint32_t i = 0; !rc && i < k->part_count; i++) {
        part *p = &k->parts[i];
        uint32_t place;
        rc = segment_place(&p->reader, id, &place, err);
        if (rc == FN_END || (!rc && is_gone(k, p, place))) {
            rc = FENEC_OK;
            continue;
        }
        if (rc)
            break;
        held++;
        p->sums[place].seen = true;
        if (own.length && (p->sums[place].terms != own.terms || p->sums[place].length != own.length))
            say(k, id, "has other terms in the index than its text");
    }
    if (!rc && own.length && held == 0)
        say(k, id, "is missing in the index");
    else if (!rc && held > 1)
        say(k, id, "stands more than once in the index");
    else if (!rc && held && !own.length)
        say(k, id, "stands in the index without a text");
    return rc;
}

int text_check_end(text_check *k, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < k->recent_count; i++)
        if (!k->recent[i].seen)
            say(k, k->recent[i].id, "stands in the index and is not there");
    for (uint32_t i = 0; !rc && i < k->part_count; i++) {
        part *p = &k->parts[i];
        for (uint32_t place = 0; !rc && place < p->of->s->docs; place++) {
            const segment_docs *d;
            if (p->sums[place].seen || is_gone(k, p, place))
                continue;
            rc = segment_docs_at(&p->reader, place, &d, err);
            if (!rc)
                say(k, segment_docs_id(d, place), "stands in the index and is not there");
        }
    }
    return rc;
}
