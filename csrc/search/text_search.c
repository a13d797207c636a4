#include "search/text_search.h"

#include <stdlib.h>
#include <string.h>

#include "search/bm25.h"

/* One term of the query: what it stands for, and what it weighs. */
typedef struct wanted {
    query_term *t;
    double weight;
    /* Of a term that stands for others: all of them that the index holds, in order of their bytes. */
    struct variant *variants;
    uint32_t variant_count;
} wanted;

typedef struct variant {
    const uint8_t *bytes;
    size_t len;
    uint64_t hash;
    float factor;
    struct variant *next; /* while they are gathered */
} variant;

typedef struct searching {
    const text_version *v;
    conn *c;
    arena *a;
    wanted *terms;
    uint32_t count;
    bm25 model;
} searching;

static bool stands_for_others(const query_term *t)
{
    return t->begins || t->edits;
}

/* ---- what a term stands for ---- */

typedef struct gathering {
    searching *s;
    wanted *of;
    variant *first;
    uint32_t count;
    bool no_memory;
} gathering;

static bool note_variant(gathering *g, const uint8_t *bytes, size_t len, uint64_t hash, float factor)
{
    variant *v = arena_alloc(g->s->a, sizeof *v);

    if (v)
        *v = (variant){.bytes = bytes, .len = len, .hash = hash, .factor = factor, .next = g->first};
    else
        g->no_memory = true;
    g->first = v;
    g->count++;
    return v;
}

static bool gather_recent(void *to, const recent_term *t)
{
    gathering *g = to;

    if (t->kind != TERM_WORD)
        return true;
    float factor = query_weight(g->of->t, t->bytes, t->len);
    return factor == 0 || note_variant(g, t->bytes, t->len, t->hash, factor);
}

static int by_bytes(const void *a, const void *b)
{
    const variant *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int gather(searching *s, wanted *w, error *err)
{
    gathering g = {.s = s, .of = w};
    uint32_t kept = 0;

    recent_terms(s->v->recent, gather_recent, &g);
    w->variants = arena_alloc(s->a, (g.count + 1) * sizeof *w->variants);
    if (g.no_memory || !w->variants)
        return fail_memory(err);
    for (const variant *at = g.first; at; at = at->next)
        w->variants[w->variant_count++] = *at;
    qsort(w->variants, w->variant_count, sizeof *w->variants, by_bytes);
    for (uint32_t i = 0; i < w->variant_count; i++)
        if (i == 0 || by_bytes(&w->variants[kept - 1], &w->variants[i]) != 0)
            w->variants[kept++] = w->variants[i];
    w->variant_count = kept;
    return FENEC_OK;
}

/* ---- documents in memory ---- */

/* Sums by slot. Touched slots are listed in the order they were met. */
typedef struct sums {
    double *scores, *counts; /* counts: of the term under way, where it stands for others */
    uint32_t *touched, *met;  /* by the query; by the term under way */
    uint8_t *marks;
    uint32_t touched_count, met_count;
} sums;

enum { MARK_TOUCHED = 1, MARK_MET = 2 };

static int sums_make(sums *m, uint32_t slots, arena *a, error *err)
{
    *m = (sums){0};
    m->scores = arena_zeroed(a, slots * sizeof *m->scores);
    m->counts = arena_zeroed(a, slots * sizeof *m->counts);
    m->touched = arena_alloc(a, slots * sizeof *m->touched);
    m->met = arena_alloc(a, slots * sizeof *m->met);
    m->marks = arena_zeroed(a, slots);
    return m->scores && m->counts && m->touched && m->met && m->marks ? FENEC_OK : fail_memory(err);
}

/* How often each slot holds what the term stands for. */
static void meet_variants(const searching *s, const wanted *w, sums *m)
{
    for (uint32_t i = 0; i < w->variant_count; i++) {
        const variant *v = &w->variants[i];
        const recent_term *t = recent_find(s->v->recent, v->bytes, v->len, v->hash);
        recent_list l;
        recent_posting p;
        const recent_slot *slot;
        if (!t)
            continue;
        for (recent_open(&l, s->v->recent, s->v->number, t, false); recent_next(&l, &p, &slot);) {
            if (!(m->marks[p.slot] & MARK_MET))
                m->met[m->met_count++] = p.slot;
            m->marks[p.slot] |= MARK_MET;
            m->counts[p.slot] += (double)v->factor * p.count;
        }
    }
}

static void forget_met(sums *m)
{
    for (uint32_t i = 0; i < m->met_count; i++) {
        m->marks[m->met[i]] &= (uint8_t)~MARK_MET;
        m->counts[m->met[i]] = 0;
    }
    m->met_count = 0;
}

static void touch(const searching *s, const wanted *w, sums *m, uint32_t at, double count, uint32_t length)
{
    if (!(m->marks[at] & MARK_TOUCHED)) {
        m->marks[at] |= MARK_TOUCHED;
        m->touched[m->touched_count++] = at;
    }
    m->scores[at] += (double)bm25_part(&s->model, w->weight, count, length);
}

static void sum_term(const searching *s, const wanted *w, sums *m)
{
    const recent *r = s->v->recent;
    recent_list l;
    recent_posting p;
    const recent_slot *slot;

    if (w->variants) {
        meet_variants(s, w, m);
        for (uint32_t i = 0; i < m->met_count; i++)
            touch(s, w, m, m->met[i], m->counts[m->met[i]], recent_slot_at(r, m->met[i])->length);
        forget_met(m);
        return;
    }
    const recent_term *t = recent_find(r, w->t->bytes, w->t->len, w->t->hash);
    if (t)
        for (recent_open(&l, r, s->v->number, t, false); recent_next(&l, &p, &slot);)
            touch(s, w, m, p.slot, p.count, slot->length);
}

/* ---- statistics ---- */

static int64_t count_term(const searching *s, const wanted *w, sums *m)
{
    const recent *r = s->v->recent;

    if (w->variants) {
        meet_variants(s, w, m);
        int64_t count = m->met_count;
        forget_met(m);
        return count;
    }
    const recent_term *t = recent_find(r, w->t->bytes, w->t->len, w->t->hash);
    return t ? recent_count(r, s->v->number, t, false) : 0;
}

static int begin(searching *s, const text_version *v, conn *c, query *q, sums *m, arena *a, error *err)
{
    *s = (searching){.v = v, .c = c, .a = a, .count = q->count};
    s->terms = arena_zeroed(a, (q->count + 1) * sizeof *s->terms);
    if (!s->terms)
        return fail_memory(err);
    s->model = bm25_make(v->k1, v->b, v->docs, v->terms);
    int rc = sums_make(m, recent_slots(v->recent), a, err);
    for (uint32_t i = 0; !rc && i < q->count; i++) {
        wanted *w = &s->terms[i];
        w->t = &q->terms[i];
        if (stands_for_others(w->t))
            rc = gather(s, w, err);
        if (!rc)
            w->weight = bm25_weight(&s->model, count_term(s, w, m), w->t->times);
    }
    return rc;
}

int text_rank(const text_version *v, conn *c, query *q, best *out, arena *a, error *err)
{
    searching s;
    sums m;
    int rc = begin(&s, v, c, q, &m, a, err);

    for (uint32_t i = 0; !rc && i < s.count; i++)
        sum_term(&s, &s.terms[i], &m);
    for (uint32_t i = 0; !rc && i < m.touched_count; i++) {
        float score = (float)m.scores[m.touched[i]];
        int64_t id = recent_slot_at(v->recent, m.touched[i])->id;
        if (best_takes(out, score, id))
            rc = best_add(out, score, id, err);
    }
    return rc;
}

int text_each(const text_version *v, conn *c, query *q, text_visit *visit, void *to, arena *a, error *err)
{
    searching s;
    sums m;
    int rc = begin(&s, v, c, q, &m, a, err);

    for (uint32_t i = 0; !rc && i < s.count; i++)
        sum_term(&s, &s.terms[i], &m);
    for (uint32_t i = 0; !rc && i < m.touched_count; i++)
        rc = visit(to, recent_slot_at(v->recent, m.touched[i])->id, err);
    return rc;
}
