#include "search/codec.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "value/number.h"

enum { LEARN_ROUNDS = 8, LEVELS = (1 << KERNEL_PLANES) - 1 };

static size_t up4(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

static size_t signs_bytes(const codec *c)
{
    return (c->dimension + 7) / 8;
}

void codec_init(codec *c, codec_kind kind, vector_metric metric, uint32_t dimension)
{
    *c = (codec){.kind = kind, .metric = metric, .dimension = dimension, .kernels = kernels_best()};
    switch (kind) {
    case CODEC_FLOAT: c->item = (size_t)dimension * 4; break;
    case CODEC_HALF: c->item = up4((size_t)dimension * 2) + (metric == METRIC_COSINE ? 4 : 0); break;
    case CODEC_INT8: c->item = up4(dimension) + (metric == METRIC_L2 ? 8 : 4); break;
    case CODEC_SIGN: c->item = up4(9 + signs_bytes(c)); break;
    }
}

/* ---- holding ---- */

/* Codes v in steps of its largest magnitude over 127; answers the step. */
static float code_int8(const float *v, uint32_t n, int8_t *out)
{
    float most = 0;

    for (uint32_t i = 0; i < n; i++)
        most = fabsf(v[i]) > most ? fabsf(v[i]) : most;
    if (!(most > 0) || isinf(most)) {
        memset(out, 0, n);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        float x = v[i] / most * 127;
        out[i] = isnan(x) ? 0 : (int8_t)lrintf(x);
    }
    return most / 127;
}

static float squared_length(const float *v, uint32_t n)
{
    double length = vector_length(v, n);

    return (float)(length * length);
}

static void encode_int8(const codec *c, const float *v, uint8_t *item)
{
    uint8_t *after = item + up4(c->dimension);

    memset(item, 128, up4(c->dimension));
    bytes_put_f32(after, code_int8(v, c->dimension, (int8_t *)item));
    for (uint32_t i = 0; i < c->dimension; i++)
        item[i] ^= 0x80;
    if (c->metric == METRIC_L2)
        bytes_put_f32(after + 4, squared_length(v, c->dimension));
}

static uint32_t nearest_centre(const float *centres, const kernels *k, const float *v, uint32_t n)
{
    float best = -INFINITY;
    uint32_t at = 0;

    const float *squares = centres + (size_t)CODEC_CENTRES * n;
    for (uint32_t i = 0; i < CODEC_CENTRES; i++) {
        float near = k->dot(v, centres + (size_t)i * n, n) - squares[i] / 2; /* half the squared distance, times -1 */
        if (near > best) {
            best = near;
            at = i;
        }
    }
    return at;
}

/* The rest r = v - c is held by its signs s: q.r is taken for f (q - c).s + c.r with f = |r|^2 / sum |r|, so that
 * q.v is f q.s + q.c + (c.r - f c.s). */
static void encode_sign(const codec *c, const float *v, uint8_t *item)
{
    uint32_t at = nearest_centre(c->centres, c->kernels, v, c->dimension);
    const float *centre = c->centres + (size_t)at * c->dimension;
    double squares = 0, sum = 0, with_rest = 0, with_signs = 0;

    memset(item, 0, c->item);
    for (uint32_t i = 0; i < c->dimension; i++) {
        double r = (double)v[i] - (double)centre[i];
        bool beyond = r > 0;
        squares += r * r;
        sum += fabs(r);
        with_rest += (double)centre[i] * r;
        with_signs += beyond ? (double)centre[i] : -(double)centre[i];
        if (beyond)
            item[9 + i / 8] |= (uint8_t)(1u << (i % 8));
    }
    double f = sum > 0 ? squares / sum : 0;
    bytes_put_f32(item, (float)f);
    bytes_put_f32(item + 4, (float)(with_rest - f * with_signs));
    item[8] = (uint8_t)at;
}

void codec_sign(const codec *c, const float *v, uint8_t *item)
{
    encode_sign(c, v, item);
}

void codec_encode(const codec *c, float *v, uint8_t *item)
{
    double length = 0;

    if (c->metric == METRIC_COSINE && c->kind != CODEC_HALF)
        vector_normalise(v, c->dimension);
    switch (c->kind) {
    case CODEC_FLOAT: memcpy(item, v, c->item); break;
    case CODEC_HALF:
        memset(item, 0, c->item);
        for (uint32_t i = 0; i < c->dimension; i++)
            bytes_put_u16(item + 2 * (size_t)i, number_to_half(v[i]));
        if (c->metric == METRIC_COSINE) {
            length = vector_normalise(v, c->dimension);
            bytes_put_f32(item + c->item - 4, length > 0 ? (float)(1 / length) : 0);
        }
        break;
    case CODEC_INT8: encode_int8(c, v, item); break;
    case CODEC_SIGN: encode_sign(c, v, item); break;
    }
}

void codec_decode(const codec *c, const uint8_t *item, float *v)
{
    uint32_t n = c->dimension;
    float step;

    switch (c->kind) {
    case CODEC_FLOAT: memcpy(v, item, (size_t)n * sizeof *v); break;
    case CODEC_HALF:
        for (uint32_t i = 0; i < n; i++)
            v[i] = number_from_half(bytes_u16(item + 2 * (size_t)i));
        if (c->metric == METRIC_COSINE)
            vector_normalise(v, n);
        break;
    case CODEC_INT8:
        step = bytes_f32(item + up4(n));
        for (uint32_t i = 0; i < n; i++)
            v[i] = step * (float)((int)item[i] - 128);
        break;
    case CODEC_SIGN: {
        const float *centre = c->centres + (size_t)item[8] * n;
        step = bytes_f32(item);
        for (uint32_t i = 0; i < n; i++)
            v[i] = centre[i] + (item[9 + i / 8] >> (i % 8) & 1 ? step : -step);
        break;
    }
    }
}

/* ---- measuring ---- */

static float float_dot(const codec_query *q, const uint8_t *item)
{
    return -q->how->kernels->dot(q->floats, (const float *)(const void *)item, q->how->dimension);
}

static void float_dot4(const codec_query *q, const uint8_t *const items[4], float out[4])
{
    const float *v[4];

    for (int i = 0; i < 4; i++)
        v[i] = (const float *)(const void *)items[i];
    q->how->kernels->dot4(q->floats, v, q->how->dimension, out);
    for (int i = 0; i < 4; i++)
        out[i] = -out[i];
}

static float float_l2(const codec_query *q, const uint8_t *item)
{
    return q->how->kernels->l2(q->floats, (const float *)(const void *)item, q->how->dimension);
}

static void float_l24(const codec_query *q, const uint8_t *const items[4], float out[4])
{
    const float *v[4];

    for (int i = 0; i < 4; i++)
        v[i] = (const float *)(const void *)items[i];
    q->how->kernels->l24(q->floats, v, q->how->dimension, out);
}

static float half_dot(const codec_query *q, const uint8_t *item)
{
    const codec *c = q->how;
    float dot = c->kernels->dot_half(q->floats, (const uint16_t *)(const void *)item, c->dimension);

    return c->metric == METRIC_COSINE ? -dot * bytes_f32(item + c->item - 4) : -dot;
}

static float half_l2(const codec_query *q, const uint8_t *item)
{
    return q->how->kernels->l2_half(q->floats, (const uint16_t *)(const void *)item, q->how->dimension);
}

static float int8_distance(const codec_query *q, const uint8_t *item)
{
    const codec *c = q->how;
    const uint8_t *after = item + up4(c->dimension);
    int32_t whole = c->kernels->dot_code(q->code, item, c->dimension) - q->bias;
    float dot = (float)whole * (q->step * bytes_f32(after));

    return c->metric == METRIC_L2 ? q->squared + bytes_f32(after + 4) - 2 * dot : -dot;
}

/* Planes, and what they stand for. */
typedef struct cut {
    float low, step, sum;
} cut;

/* Of the centres, to compare codes with one another: their planes, and their products. */
struct codec_centres {
    cut cuts[CODEC_CENTRES];
    float dots[CODEC_CENTRES][CODEC_CENTRES];
    uint8_t planes[]; /* of each */
};

static const uint8_t *planes_of(const codec *c, unsigned centre)
{
    return c->between->planes + (size_t)centre * KERNEL_PLANES * signs_bytes(c);
}

/* The product of what was cut to planes with signs. */
static float with_signs(const codec *c, const cut *k, const uint8_t *planes, const uint8_t *code)
{
    sign_sums under = c->kernels->signs(planes, code, signs_bytes(c));

    return 2 * (k->low * (float)under.set + k->step * (float)under.weighted) - k->sum;
}

static unsigned centre_of(const uint8_t *item)
{
    return item[8] & (CODEC_CENTRES - 1);
}

static float sign_distance(const codec_query *q, const uint8_t *item)
{
    const codec *c = q->how;
    const cut k = {q->low, q->step, q->sum};
    unsigned at = centre_of(item);

    if (!q->centre_known[at]) {
        q->centre_dots[at] = c->kernels->dot(q->floats, c->centres + (size_t)at * c->dimension, c->dimension);
        q->centre_known[at] = 1;
    }
    return -(q->centre_dots[at] + bytes_f32(item) * with_signs(c, &k, q->planes, item + 9) + bytes_f32(item + 4));
}

/* The query is c + f s of an item. */
static float between_signs(const codec_query *q, const uint8_t *item)
{
    const codec *c = q->how;
    const unsigned own = centre_of(q->item), at = centre_of(item);
    const float f = bytes_f32(q->item);
    float apart = (float)c->kernels->differ(q->item + 9, item + 9, signs_bytes(c));

    if (!q->centre_known[at]) {
        q->centre_dots[at] = c->between->dots[own][at] +
                             f * with_signs(c, &c->between->cuts[at], planes_of(c, at), q->item + 9);
        q->centre_known[at] = 1;
    }
    float signs = with_signs(c, &c->between->cuts[own], planes_of(c, own), item + 9) +
                  f * ((float)c->dimension - 2 * apart);
    return -(q->centre_dots[at] + bytes_f32(item) * signs + bytes_f32(item + 4));
}

/* Four, one after another. */
static void distance4(const codec_query *q, const uint8_t *const items[4], float out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = q->distance(q, items[i]);
}

/* ---- queries ---- */

size_t codec_query_bytes(const codec *c)
{
    size_t floats = (size_t)c->dimension * sizeof(float);

    switch (c->kind) {
    case CODEC_SIGN: return CODEC_CENTRES * (sizeof(float) + 1) + KERNEL_PLANES * signs_bytes(c);
    case CODEC_INT8: return c->dimension;
    case CODEC_HALF: return floats;
    default: return 4;
    }
}

static cut cut_to_planes(const codec *c, const float *v, uint8_t *planes)
{
    const size_t len = signs_bytes(c);
    float low = INFINITY, high = -INFINITY;
    double sum = 0;

    for (uint32_t i = 0; i < c->dimension; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
        sum += (double)v[i];
    }
    memset(planes, 0, KERNEL_PLANES * len);
    cut k = {low, high > low ? (high - low) / LEVELS : 0, (float)sum};
    for (uint32_t i = 0; k.step > 0 && i < c->dimension; i++) {
        float x = (v[i] - low) / k.step;
        unsigned level = isnan(x) ? 0 : (unsigned)lrintf(x);
        for (unsigned p = 0; p < KERNEL_PLANES; p++)
            if (level >> p & 1)
                planes[p * len + i / 8] |= (uint8_t)(1u << (i % 8));
    }
    return k;
}

bool codec_prepare(codec *c)
{
    const size_t planes = KERNEL_PLANES * signs_bytes(c);
    const uint32_t n = c->dimension;

    if (c->kind != CODEC_SIGN || c->between)
        return true;
    c->between = memory_alloc(sizeof *c->between + CODEC_CENTRES * planes);
    if (!c->between)
        return false;
    for (unsigned i = 0; i < CODEC_CENTRES; i++) {
        const float *one = c->centres + (size_t)i * n;
        c->between->cuts[i] = cut_to_planes(c, one, c->between->planes + i * planes);
        for (unsigned k = 0; k <= i; k++)
            c->between->dots[i][k] = c->between->dots[k][i] = c->kernels->dot(one, c->centres + (size_t)k * n, n);
    }
    return true;
}

void codec_clear(codec *c)
{
    memory_free(c->between);
    c->between = NULL;
}

static void add_code(codec_query *q)
{
    int32_t sum = 0;

    for (uint32_t i = 0; i < q->how->dimension; i++)
        sum += q->code[i];
    q->bias = 128 * sum;
}

static void choose_functions(codec_query *q)
{
    bool l2 = q->how->metric == METRIC_L2;

    q->distance4 = distance4;
    switch (q->how->kind) {
    case CODEC_FLOAT:
        q->distance = l2 ? float_l2 : float_dot;
        q->distance4 = l2 ? float_l24 : float_dot4;
        break;
    case CODEC_HALF: q->distance = l2 ? half_l2 : half_dot; break;
    case CODEC_INT8: q->distance = int8_distance; break;
    case CODEC_SIGN: q->distance = sign_distance; break;
    }
}

void codec_query_make(const codec *c, const float *v, void *memory, codec_query *out)
{
    *out = (codec_query){.how = c, .floats = v};
    choose_functions(out);
    if (c->kind == CODEC_INT8) {
        int8_t *code = memory;
        out->step = code_int8(v, c->dimension, code);
        out->code = code;
        out->squared = squared_length(v, c->dimension);
        add_code(out);
    } else if (c->kind == CODEC_SIGN) {
        out->centre_dots = memory;
        out->centre_known = (uint8_t *)(out->centre_dots + CODEC_CENTRES);
        memset(out->centre_known, 0, CODEC_CENTRES);
        out->planes = out->centre_known + CODEC_CENTRES;
        cut k = cut_to_planes(c, v, out->centre_known + CODEC_CENTRES);
        out->low = k.low;
        out->step = k.step;
        out->sum = k.sum;
    }
}

void codec_query_held(const codec *c, const uint8_t *item, void *memory, codec_query *out)
{
    *out = (codec_query){.how = c, .floats = memory};
    choose_functions(out);
    switch (c->kind) {
    case CODEC_FLOAT: out->floats = (const float *)(const void *)item; break;
    case CODEC_HALF: codec_decode(c, item, memory); break;
    case CODEC_INT8: {
        int8_t *code = memory;
        for (uint32_t i = 0; i < c->dimension; i++)
            code[i] = (int8_t)(item[i] ^ 0x80);
        out->floats = NULL;
        out->code = code;
        out->step = bytes_f32(item + up4(c->dimension));
        out->squared = c->metric == METRIC_L2 ? bytes_f32(item + up4(c->dimension) + 4) : 1;
        add_code(out);
        break;
    }
    case CODEC_SIGN:
        out->floats = NULL;
        out->item = item;
        out->centre_dots = memory;
        out->centre_known = (uint8_t *)(out->centre_dots + CODEC_CENTRES);
        memset(out->centre_known, 0, CODEC_CENTRES);
        out->distance = between_signs;
        break;
    }
}

float codec_doubt(const codec_query *q, const uint8_t *item)
{
    const codec *c = q->how;

    if (c->kind == CODEC_SIGN)
        return INFINITY;
    if (c->kind != CODEC_INT8)
        return 0;
    /* Each component is off by up to half a step, evenly: six deviations of their sum, of both sides. */
    const uint8_t *after = item + up4(c->dimension);
    float step = bytes_f32(after), squared;
    if (c->metric == METRIC_L2)
        squared = bytes_f32(after + 4);
    else
        squared = c->metric == METRIC_COSINE ? 1 : step * step * 127 * 127 * (float)c->dimension;
    float off = 6 * sqrtf((step * step * q->squared + q->step * q->step * squared) / 12);
    return c->metric == METRIC_L2 ? 2 * off : off;
}

float codec_score(vector_metric metric, float distance)
{
    switch (metric) {
    case METRIC_L2: return distance > 0 ? sqrtf(distance) : distance == distance ? 0 : distance;
    case METRIC_DOT: return -distance;
    default: return distance < -1 ? 1 : distance > 1 ? -1 : 0 - distance;
    }
}

/* ---- centres ---- */

static void square_centres(const kernels *k, uint32_t dimension, float *centres)
{
    float *squares = centres + (size_t)CODEC_CENTRES * dimension;

    for (uint32_t i = 0; i < CODEC_CENTRES; i++) {
        const float *c = centres + (size_t)i * dimension;
        squares[i] = k->dot(c, c, dimension);
    }
}

static void move_centres(const float *v, uint32_t n, uint32_t dimension, const uint8_t *of, const uint32_t *sizes,
                         float *centres)
{
    for (uint32_t i = 0; i < CODEC_CENTRES; i++)
        if (sizes[i])
            memset(centres + (size_t)i * dimension, 0, dimension * sizeof *centres);
    for (uint32_t r = 0; r < n; r++) {
        float *c = centres + (size_t)of[r] * dimension;
        for (uint32_t i = 0; i < dimension; i++)
            c[i] += v[(size_t)r * dimension + i];
    }
    for (uint32_t i = 0; i < CODEC_CENTRES; i++)
        for (uint32_t k = 0; sizes[i] && k < dimension; k++)
            centres[(size_t)i * dimension + k] /= (float)sizes[i];
}

bool codec_learn(const float *v, uint32_t n, uint32_t dimension, float *centres)
{
    const kernels *k = kernels_best();
    uint32_t sizes[CODEC_CENTRES];
    uint8_t *of = memory_alloc(n);

    if (!of)
        return false;
    for (uint32_t i = 0; i < CODEC_CENTRES; i++) {
        uint32_t from = (uint32_t)((uint64_t)i * n / CODEC_CENTRES);
        memcpy(centres + (size_t)i * dimension, v + (size_t)from * dimension, dimension * sizeof *centres);
    }
    square_centres(k, dimension, centres);
    for (int round = 0; round < LEARN_ROUNDS; round++) {
        memset(sizes, 0, sizeof sizes);
        for (uint32_t r = 0; r < n; r++) {
            of[r] = (uint8_t)nearest_centre(centres, k, v + (size_t)r * dimension, dimension);
            sizes[of[r]]++;
        }
        move_centres(v, n, dimension, of, sizes, centres);
        square_centres(k, dimension, centres);
    }
    memory_free(of);
    return true;
}
