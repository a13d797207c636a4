/* vector_value.h - a query's vector, and how near a document's is to it (chapter 4 section 7.3). */
#ifndef EXEC_VECTOR_VALUE_H
#define EXEC_VECTOR_VALUE_H

#include "base/arena.h"
#include "base/error.h"
#include "value/type.h"
#include "value/value.h"

/* The vector that `near` or `rerank` was given for a field of type t: a vector, a list of numbers, or a text
 * with a JSON array of them. Floats of the arena's, t->dimension of them. TYPE, naming the field. */
int vector_query(const value *v, const type *t, const char *field, arena *a, float **out, error *err);

/* The same of a sparse field: a sparse value or its text. TYPE. */
int sparse_query(const value *v, const type *t, const char *field, arena *a, value *out, error *err);

/* A query against which vectors are measured one by one. */
typedef struct measure {
    vector_metric metric;
    uint32_t dimension;
    const float *query; /* of length 1 where the metric is the cosine */
    float *copy;        /* of the vector under way */
} measure;

/* Prepares a query, which it may change. PANIC. */
int measure_init(measure *m, vector_metric metric, float *query, uint32_t dimension, arena *a, error *err);

/* The score of floats that stand unaligned in a value. */
float measure_score(const measure *m, const uint8_t *floats);

/* Whether the smallest score is the best. */
static inline bool metric_ascends(vector_metric metric)
{
    return metric == METRIC_L2;
}

#endif
