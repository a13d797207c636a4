#include "search/text_terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- words that a term stands for ---- */

typedef struct gathering {
    searching *s;
    query_term *of;
    variant *first, **last;
    bool no_memory;
} gathering;

static variant *note(gathering *g, double factor)
{
    variant *v = arena_zeroed(g->s->a, sizeof *v);

    if (!v) {
        g->no_memory = true;
        return NULL;
    }
    v->factor = factor;
    *g->last = v;
    g->last = &v->next;
    return v;
}

static bool gather_recent(void *to, const recent_term *t)
{
    gathering *g = to;

    if (term_kind_of(t->bytes, t->len) != TERM_WORD)
        return true;
    float factor = query_weight(g->of, t->bytes, t->len, NULL);
    variant *v = factor > 0 ? note(g, (double)factor) : NULL;
    if (v)
        v->in_recent = t;
    return !g->no_memory;
}

static int by_bytes(const void *a, const void *b)
{
    const recent_term *x = (*(variant *const *)a)->in_recent, *y = (*(variant *const *)b)->in_recent;
    int order = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* By bytes, so that sums come out the same wherever documents stand. */
static int sort_variants(gathering *g, error *err)
{
    size_t count = 0, i = 0;

    for (const variant *v = g->first; v; v = v->next)
        count++;
    variant **all = arena_alloc(g->s->a, (count + 1) * sizeof *all);
    if (!all)
        return fail_memory(err);
    for (variant *v = g->first; v; v = v->next)
        all[i++] = v;
    qsort(all, count, sizeof *all, by_bytes);
    all[count] = NULL;
    for (i = 0; i < count; i++)
        all[i]->next = all[i + 1];
    g->first = all[0];
    return FENEC_OK;
}

static bool begins_with(const buffer *word, const query_term *t)
{
    return word->len >= t->len && !memcmp(word->bytes, t->bytes, t->len);
}

/* Words of a segment, in order. Where only beginnings count they are a range of it. */
static int gather_segment(gathering *g, segment_reader *r, error *err)
{
    static const uint8_t after_prefixes[] = {TERM_PREFIX_MARK + 1};
    const query_term *t = g->of;
    size_t hopeless = SIZE_MAX;
    segment_words w;
    int rc = segment_words_open(&w, r, t->edits ? NULL : t->bytes, t->edits ? 0 : t->len, err);

    while (!rc && (rc = segment_words_next(&w, err)) == FENEC_OK) {
        if (!t->edits && !begins_with(&w.bytes, t))
            break;
        if (hopeless <= w.shared)
            continue;
        hopeless = SIZE_MAX;
        term_kind kind = term_kind_of(w.bytes.bytes, w.bytes.len);
        if (kind == TERM_PREFIX) {
            segment_words_close(&w);
            rc = segment_words_open(&w, r, after_prefixes, sizeof after_prefixes, err);
            continue;
        }
        if (kind == TERM_GRAM)
            continue;
        float factor = query_weight(g->of, w.bytes.bytes, w.bytes.len, &hopeless);
        if (t->begins) /* longer words with these bytes may still begin with the term */
            hopeless = SIZE_MAX;
        variant *v = factor > 0 ? note(g, (double)factor) : NULL;
        if (v)
            v->in_segment = w.t;
        if (g->no_memory)
            rc = fail_memory(err);
    }
    segment_words_close(&w);
    return rc == FN_END ? FENEC_OK : rc;
}

/* ---- one list of several ---- */

/* Weighted counts by place, of documents that are there. */
typedef struct merging {
    double *counts;
    uint64_t *met; /* bits */
    uint32_t count;
} merging;

static int add_variant(const searching *s, uint32_t n, const variant *v, merging *m, error *err)
{
    segment_list l = {0};
    int rc = segment_list_open(&l, &s->readers[n], &v->in_segment, err);

    for (uint32_t b = 0; !rc && b < l.block_count; b++) {
        rc = segment_list_read(&l, b, err);
        for (uint32_t i = 0; !rc && i < l.count; i++) {
            uint32_t place = l.places[i];
            uint64_t bit = (uint64_t)1 << place % 64;
            if (!(m->met[place / 64] & bit)) {
                if (searching_is_gone(s, n, place))
                    continue;
                m->met[place / 64] |= bit;
                m->count++;
            }
            m->counts[place] += v->factor * segment_list_count(&l, i);
        }
    }
    segment_list_close(&l);
    return rc;
}

static int list_met(const searching *s, const merging *m, uint32_t docs, term_place *out, error *err)
{
    out->places = arena_alloc(s->a, ((size_t)m->count + 1) * sizeof *out->places);
    out->counts = arena_alloc(s->a, ((size_t)m->count + 1) * sizeof *out->counts);
    if (!out->places || !out->counts)
        return fail_memory(err);
    for (uint32_t word = 0; word <= docs / 64; word++) {
        for (uint64_t bits = m->met[word]; bits; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            out->places[out->count] = place;
            out->counts[out->count++] = m->counts[place];
        }
    }
    out->found = out->count > 0;
    return FENEC_OK;
}

static int merge_variants(const searching *s, uint32_t n, const variant *first, term_place *out, error *err)
{
    uint32_t docs = s->v->segments->items[n].s->docs;
    merging m = {.counts = memory_zeroed(docs * sizeof *m.counts),
                 .met = memory_zeroed(((size_t)docs / 64 + 1) * sizeof *m.met)};
    int rc = m.counts && m.met ? FENEC_OK : fail_memory(err);

    for (const variant *v = first; v && !rc; v = v->next)
        rc = add_variant(s, n, v, &m, err);
    if (!rc)
        rc = list_met(s, &m, docs, out, err);
    memory_free(m.counts);
    memory_free(m.met);
    return rc;
}

/* ---- the recent set ---- */

enum { MARK_TOUCHED = 1, MARK_MET = 2 };

static int make_sums(searching *s, error *err)
{
    size_t slots = recent_slots(s->v->recent);
    bool others = false;

    if (slots == 0)
        return FENEC_OK;
    for (uint32_t i = 0; i < s->count; i++)
        others |= s->terms[i].stands_for_others;
    recent_sums *m = arena_zeroed(s->a, sizeof *m);
    if (!m)
        return fail_memory(err);
    m->scores = arena_alloc(s->a, slots * sizeof *m->scores);
    m->touched = arena_alloc(s->a, slots * sizeof *m->touched);
    m->marks = arena_zeroed(s->a, slots);
    if (others) {
        m->counts = arena_zeroed(s->a, slots * sizeof *m->counts);
        m->met = arena_alloc(s->a, slots * sizeof *m->met);
    }
    if (!m->scores || !m->touched || !m->marks || (others && (!m->counts || !m->met)))
        return fail_memory(err);
    s->sums = m;
    return FENEC_OK;
}

/* How often each slot holds what the term stands for. */
static void meet_variants(const searching *s, const wanted *w)
{
    recent_sums *m = s->sums;

    for (const variant *v = w->recent; v; v = v->next) {
        recent_list l;
        recent_posting p;
        const recent_slot *slot;
        for (recent_open(&l, s->v->recent, s->v->number, v->in_recent, false); recent_next(&l, &p, &slot);) {
            if (!(m->marks[p.slot] & MARK_MET))
                m->met[m->met_count++] = p.slot;
            m->marks[p.slot] |= MARK_MET;
            m->counts[p.slot] += v->factor * p.count;
        }
    }
}

static void forget_met(recent_sums *m)
{
    for (uint32_t i = 0; i < m->met_count; i++) {
        m->marks[m->met[i]] &= (uint8_t)~MARK_MET;
        m->counts[m->met[i]] = 0;
    }
    m->met_count = 0;
}

static void touch(const searching *s, const wanted *w, uint32_t at, double count, uint32_t length)
{
    recent_sums *m = s->sums;

    if (!(m->marks[at] & MARK_TOUCHED)) {
        m->marks[at] |= MARK_TOUCHED;
        m->touched[m->touched_count++] = at;
        m->scores[at] = 0;
    }
    m->scores[at] += (double)bm25_part(&s->model, w->weight, count, length);
}

static void sum_term(const searching *s, const wanted *w)
{
    const recent *r = s->v->recent;
    recent_list l;
    recent_posting p;
    const recent_slot *slot;

    if (w->stands_for_others) {
        meet_variants(s, w);
        for (uint32_t i = 0; i < s->sums->met_count; i++) {
            uint32_t at = s->sums->met[i];
            touch(s, w, at, s->sums->counts[at], recent_slot_at(r, at)->length);
        }
        forget_met(s->sums);
        return;
    }
    const recent_term *t = recent_find(r, w->t->bytes, w->t->len, w->t->hash);
    if (t)
        for (recent_open(&l, r, s->v->number, t, false); recent_next(&l, &p, &slot);)
            touch(s, w, p.slot, p.count, slot->length);
}

void searching_sum_recent(searching *s)
{
    for (uint32_t i = 0; s->sums && i < s->count; i++)
        sum_term(s, &s->terms[i]);
}

/* ---- looking terms up ---- */

/* A term that stands for others: its documents are counted one by one. */
static int look_up_others(searching *s, uint32_t n, error *err)
{
    wanted *w = &s->terms[n];
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < s->v->segments->count; i++) {
        gathering g = {.s = s, .of = w->t, .last = &g.first};
        rc = gather_segment(&g, &s->readers[i], err);
        if (!rc && g.first)
            rc = merge_variants(s, i, g.first, &s->places[i][n], err);
        w->docs += s->places[i][n].count;
    }
    if (rc || !s->sums)
        return rc;
    gathering g = {.s = s, .of = w->t, .last = &g.first};
    recent_terms(s->v->recent, gather_recent, &g);
    rc = g.no_memory ? fail_memory(err) : sort_variants(&g, err);
    if (rc)
        return rc;
    w->recent = g.first;
    meet_variants(s, w);
    w->docs += s->sums->met_count;
    forget_met(s->sums);
    return FENEC_OK;
}

/* A plain term: segments and recent set know how many documents it stands in, but for those that are gone. */
static int look_up(searching *s, uint32_t n, error *err)
{
    const text_version *v = s->v;
    wanted *w = &s->terms[n];
    const query_term *t = w->t;

    for (uint32_t i = 0; i < v->segments->count; i++) {
        term_place *p = &s->places[i][n];
        int rc = segment_find(&s->readers[i], t->bytes, t->len, &p->t, err);
        if (rc && rc != FN_END)
            return rc;
        p->found = !rc;
        w->docs += p->found ? p->t.docs : 0;
    }
    w->docs -= term_counts_of(v->counts, t->bytes, t->len, t->hash);
    const recent_term *r = s->sums ? recent_find(v->recent, t->bytes, t->len, t->hash) : NULL;
    if (r) {
        w->docs += recent_count(v->recent, v->number, r, false);
        w->docs -= recent_count(v->recent, v->number, r, true);
    }
    return w->docs < 0 ? ROW_DAMAGED : FENEC_OK;
}

int searching_open(searching *s, const text_version *v, conn *c, query *q, arena *a, error *err)
{
    uint32_t segments = v->segments->count;
    int rc = FENEC_OK;

    *s = (searching){.v = v, .c = c, .a = a, .count = q->count, .model = bm25_make(v->k1, v->b, v->docs, v->terms)};
    s->terms = arena_zeroed(a, ((size_t)q->count + 1) * sizeof *s->terms);
    s->readers = arena_zeroed(a, ((size_t)segments + 1) * sizeof *s->readers);
    s->places = arena_zeroed(a, ((size_t)segments + 1) * sizeof *s->places);
    if (!s->terms || !s->readers || !s->places)
        return fail_memory(err);
    for (uint32_t i = 0; !rc && i < segments; i++) {
        s->places[i] = arena_zeroed(a, ((size_t)q->count + 1) * sizeof **s->places);
        if (!s->places[i])
            return fail_memory(err);
        rc = segment_reader_open(&s->readers[i], v->segments->items[i].s, c, v->cache, a, err);
    }
    for (uint32_t i = 0; i < q->count; i++) {
        s->terms[i].t = &q->terms[i];
        s->terms[i].stands_for_others = q->terms[i].begins || q->terms[i].edits;
    }
    if (!rc)
        rc = make_sums(s, err);
    for (uint32_t i = 0; !rc && i < q->count; i++) {
        wanted *w = &s->terms[i];
        rc = w->stands_for_others ? look_up_others(s, i, err) : look_up(s, i, err);
        w->weight = bm25_weight(&s->model, w->docs, w->t->times);
    }
    return rc;
}

void searching_close(searching *s)
{
    for (uint32_t i = 0; s->readers && i < s->v->segments->count; i++)
        segment_reader_close(&s->readers[i]);
}
