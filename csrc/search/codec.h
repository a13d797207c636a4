/* codec.h - how an index holds vectors, and how near a query is to what it holds.
 *
 *   CODEC_FLOAT  the floats; of length 1 under the cosine
 *   CODEC_HALF   halves; under the cosine 1 / their length as a float after them
 *   CODEC_INT8   a byte a component, 128 for 0, and the float that one step of them is worth; under l2 the
 *                squared length after it
 *   CODEC_SIGN   two floats, the number of a centre, and a bit a component: whether the vector lies beyond
 *                the centre there. Of cosines alone
 *
 * A distance is small where vectors are near: the dot product times -1 (cosine, dot), or the squared distance
 * (l2). What INT8 and SIGN answer is an estimate. */
#ifndef SEARCH_CODEC_H
#define SEARCH_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/kernel.h"
#include "value/type.h"

#define CODEC_CENTRES 128

/* Floats of the centres: centres[CODEC_CENTRES * dimension], then the squared length of each. */
#define CODEC_CENTRE_FLOATS(dimension) ((size_t)CODEC_CENTRES * ((size_t)(dimension) + 1))

typedef enum codec_kind { CODEC_FLOAT, CODEC_HALF, CODEC_INT8, CODEC_SIGN } codec_kind;

typedef struct codec {
    codec_kind kind;
    vector_metric metric;
    uint32_t dimension;
    size_t item; /* bytes of a vector held, a multiple of 4 */
    const kernels *kernels;
    const float *centres; /* SIGN; the owner's */
    struct codec_centres *between; /* SIGN: what codes are compared with each other by; of who links */
} codec;

void codec_init(codec *c, codec_kind kind, vector_metric metric, uint32_t dimension);

/* Of SIGN, before vectors that are held are made queries: by who links, beside who searches. False: no memory. */
bool codec_prepare(codec *c);
void codec_clear(codec *c);

/* Floats to the form they are held in. `v` is changed where the metric is the cosine: it becomes of length 1. */
void codec_encode(const codec *c, float *v, uint8_t *item);

/* What codec_decode answered of a whole vector (of length 1) as a code of SIGN, to the bit what codec_encode makes of it. */
void codec_sign(const codec *c, const float *v, uint8_t *item);

/* What is held as floats again, of length 1 under the cosine; of codes what they stand for. */
void codec_decode(const codec *c, const uint8_t *item, float *v);

/* A vector ready to be measured against items. */
typedef struct codec_query {
    const codec *how;
    const float *floats;
    const int8_t *code; /* INT8 */
    float step, squared; /* of the code; the squared length */
    int32_t bias;        /* 128 times the sum of the code */
    const uint8_t *planes; /* SIGN; NULL where it was made of an item, */
    const uint8_t *item;   /* this */
    float low, sum;        /* what a plane of zeros stands for; the sum of the components */
    float *centre_dots;    /* with each centre, where centre_known says so */
    uint8_t *centre_known;
    float (*distance)(const struct codec_query *q, const uint8_t *item);
    void (*distance4)(const struct codec_query *q, const uint8_t *const items[4], float out[4]);
} codec_query;

size_t codec_query_bytes(const codec *c); /* of memory for one, aligned for floats */

/* Out of floats of the caller's, which under the cosine are of length 1 or 0 and stay as long as the query. */
void codec_query_make(const codec *c, const float *v, void *memory, codec_query *out);

/* Out of what is held; of SIGN by an estimate of both. */
void codec_query_held(const codec *c, const uint8_t *item, void *memory, codec_query *out);

/* How far off the estimate for an item may be, in effect never more; 0 where it is none. */
float codec_doubt(const codec_query *q, const uint8_t *item);

/* The score that a distance is answered as. */
float codec_score(vector_metric metric, float distance);

/* The centres of vectors of length 1, v[n * dimension], by a few rounds of k-means; repeatable. False: no
 * memory. */
bool codec_learn(const float *v, uint32_t n, uint32_t dimension, float *centres);

#endif
