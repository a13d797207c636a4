/* bm25.h - how much a term adds to a document's score (chapter 4 section 4).
 *
 * A part is worked out in double and rounded to f32; parts are summed in double in the order of the query's
 * terms, and the sum is rounded to f32. So a score depends on nothing but the documents there are. */
#ifndef SEARCH_BM25_H
#define SEARCH_BM25_H

#include <math.h>
#include <stdint.h>

typedef struct bm25 {
    double docs;         /* N */
    double k1;
    double fixed, grows; /* of a document's length: k1 (1 - b), and k1 b / average for each of its terms */
    double least;        /* below what the two come to no length goes */
} bm25;

static inline bm25 bm25_make(double k1, double b, int64_t docs, int64_t terms)
{
    double average = docs > 0 ? (double)terms / (double)docs : 1;

    if (average < 1)
        average = 1;
    return (bm25){.docs = (double)docs, .k1 = k1, .fixed = k1 * (1 - b), .grows = k1 * b / average, .least = k1 * 1e-6};
}

/* What a term in that many documents weighs, `times` of it in the query. */
static inline double bm25_weight(const bm25 *m, int64_t documents, uint32_t times)
{
    return times * log(1 + (m->docs - (double)documents + 0.5) / ((double)documents + 0.5)) * (m->k1 + 1);
}

static inline double bm25_exact(const bm25 *m, double weight, double count, uint32_t length)
{
    double norm = m->fixed + m->grows * length;

    return weight * (count / (count + (norm > m->least ? norm : m->least)));
}

static inline float bm25_part(const bm25 *m, double weight, double count, uint32_t length)
{
    return (float)bm25_exact(m, weight, count, length);
}

#endif
