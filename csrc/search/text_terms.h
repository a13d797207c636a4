/* text_terms.h - the terms of a query in an index: where each stands and what it weighs. */
#ifndef SEARCH_TEXT_TERMS_H
#define SEARCH_TEXT_TERMS_H

#include "search/bm25.h"
#include "search/query.h"
#include "search/text_index.h"

/* A word that a term stands for, in a segment or in the recent set. */
typedef struct variant {
    double factor;
    segment_term in_segment;
    const recent_term *in_recent;
    struct variant *next;
} variant;

/* A term in a segment. */
typedef struct term_place {
    bool found;
    segment_term t;
    /* Of a term that stands for others: all of them in one, documents that are gone left out. */
    uint32_t *places;
    double *counts;
    uint32_t count;
} term_place;

typedef struct wanted {
    query_term *t;
    double weight;
    int64_t docs;
    bool stands_for_others;
    const variant *recent; /* words it stands for in the recent set, by their bytes */
} wanted;

typedef struct searching {
    const text_version *v;
    conn *c;
    arena *a;
    bm25 model;
    wanted *terms;
    uint32_t count;
    segment_reader *readers; /* by segment */
    term_place **places;     /* by segment, then by term */
    /* Sums by slot of the recent set, made when it holds documents. */
    struct recent_sums *sums;
} searching;

/* Looks everything up. Closed by searching_close whatever this answers. ROW_DAMAGED; IO, PANIC. */
int searching_open(searching *s, const text_version *v, conn *c, query *q, arena *a, error *err);
void searching_close(searching *s);

/* Whether a document of a segment is there no more. */
static inline bool searching_is_gone(const searching *s, uint32_t n, uint32_t place)
{
    const text_segment *of = &s->v->segments->items[n];

    return bitmap_has(of->gone, place) || recent_hides(s->v->recent, s->v->number, of->s->number, place);
}

/* ---- the recent set: what its documents come to ---- */

typedef struct recent_sums {
    double *scores, *counts; /* by slot; counts: of a term that stands for others */
    uint32_t *touched, *met; /* slots: of the query; of such a term */
    uint8_t *marks;
    uint32_t touched_count, met_count;
} recent_sums;

/* Sums all terms: slots that hold one are s->sums->touched. */
void searching_sum_recent(searching *s);

#endif
