#include "exec/vector_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "search/kernel.h"
#include "value/json.h"
#include "value/sparse.h"

static int unfit(const value *v, const type *t, const char *field, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    return fail(err, FENEC_TYPE, "`%s` is compared with a vector of %" PRIu32 " numbers, not %s", field, t->dimension,
                value_quote(quoted, v));
}

int vector_query(const value *v, const type *t, const char *field, arena *a, float **out, error *err)
{
    const float *floats;
    uint32_t count;
    value read = *v;
    error unused;

    error_init(&unused);
    if (v->kind == VALUE_TEXT && json_read(v->bytes, v->len, a, &read, &unused) != FENEC_OK)
        return unfit(v, t, field, err);
    if ((read.kind != VALUE_VECTOR && read.kind != VALUE_LIST) || read.count != t->dimension)
        return unfit(v, t, field, err);
    if (!value_components(&read, a, &floats, &count) || count != t->dimension)
        return unfit(v, t, field, err);
    *out = arena_copy(a, floats, (size_t)count * sizeof **out);
    return *out ? FENEC_OK : fail_memory(err);
}

int sparse_query(const value *v, const type *t, const char *field, arena *a, value *out, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    *out = *v;
    if (v->kind == VALUE_TEXT)
        return sparse_read(v->bytes, v->len, t->dimension, a, out, err);
    if (v->kind != VALUE_SPARSE || sparse_dimension(v) != t->dimension)
        return fail(err, FENEC_TYPE, "`%s` is compared with a sparse vector of dimension %" PRIu32 ", not %s", field,
                    t->dimension, value_quote(quoted, v));
    return FENEC_OK;
}

int measure_init(measure *m, vector_metric metric, float *query, uint32_t dimension, arena *a, error *err)
{
    *m = (measure){.metric = metric, .dimension = dimension, .query = query};
    m->copy = arena_alloc(a, (size_t)dimension * sizeof *m->copy);
    if (!m->copy)
        return fail_memory(err);
    if (metric == METRIC_COSINE)
        vector_normalise(query, dimension);
    return FENEC_OK;
}

static float cosine(double dot, double length)
{
    double c = length > 0 ? dot / length : 0;

    return (float)(c > 1 ? 1 : c < -1 ? -1 : c);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vectors are kept as this machine has floats"
#endif

float measure_score(const measure *m, const uint8_t *floats)
{
    const kernels *k = kernels_best();

    memcpy(m->copy, floats, (size_t)m->dimension * sizeof *m->copy);
    switch (m->metric) {
    case METRIC_L2: return sqrtf(k->l2(m->query, m->copy, m->dimension));
    case METRIC_DOT: return k->dot(m->query, m->copy, m->dimension);
    default: return cosine(k->dot(m->query, m->copy, m->dimension), vector_length(m->copy, m->dimension));
    }
}
