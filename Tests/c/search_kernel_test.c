#include <math.h>

#include "search/codec.h"
#include "search/kernel.h"
#include "test.h"
#include "value/number.h"

enum { LONGEST = 1100 };

typedef struct inputs {
    float a[LONGEST + 4], b[4][LONGEST + 4];
    uint16_t h[LONGEST + 4];
    int8_t x[LONGEST + 4];
    uint8_t y[LONGEST + 4], planes[KERNEL_PLANES * LONGEST];
} inputs;

/* Components from subnormal to large, of one size class a vector. */
static float component(uint64_t *state, int exponent)
{
    double unit = (double)(int64_t)test_random(state) / 9223372036854775808.0;

    return (float)ldexp(unit, exponent);
}

static void fill(inputs *in, uint64_t *state, int exponent)
{
    for (int i = 0; i < LONGEST + 4; i++) {
        in->a[i] = component(state, exponent);
        for (int k = 0; k < 4; k++)
            in->b[k][i] = component(state, exponent);
        in->h[i] = number_to_half(component(state, exponent > 10 ? 10 : exponent));
        in->x[i] = (int8_t)((int)(test_random(state) % 255) - 127);
        in->y[i] = (uint8_t)test_random(state);
    }
    for (size_t i = 0; i < sizeof in->planes; i++)
        in->planes[i] = (uint8_t)test_random(state);
}

/* What the sums may differ by: rounding is of the magnitudes added up. */
static double room(const float *a, const float *b, size_t n, bool l2)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += l2 ? ((double)a[i] - b[i]) * ((double)a[i] - b[i]) : fabs((double)a[i] * b[i]);
    return sum * 1e-5 + 1e-40;
}

static void check_near(const char *what, const char *name, size_t n, double got, double want, double off)
{
    if (!(fabs(got - want) <= off))
        test_failed(__FILE__, __LINE__, "%s of %s over %zu is %.9g, not %.9g", what, name, n, got, want);
}

static void compare(const kernels *k, const inputs *in, size_t n, size_t shift)
{
    const kernels *plain = &kernels_plain;
    const float *a = in->a + shift, *b = in->b[0] + shift, *const four[4] = {b, in->b[1], in->b[2] + 1, in->b[3]};
    float h[LONGEST], out[4];

    for (size_t i = 0; i < n; i++)
        h[i] = number_from_half(in->h[i + shift]);
    check_near("dot", k->name, n, k->dot(a, b, n), plain->dot(a, b, n), room(a, b, n, false));
    check_near("l2", k->name, n, k->l2(a, b, n), plain->l2(a, b, n), room(a, b, n, true));
    k->dot4(a, four, n, out);
    for (int i = 0; i < 4; i++)
        check_near("dot4", k->name, n, out[i], plain->dot(a, four[i], n), room(a, four[i], n, false));
    k->l24(a, four, n, out);
    for (int i = 0; i < 4; i++)
        check_near("l24", k->name, n, out[i], plain->l2(a, four[i], n), room(a, four[i], n, true));
    check_near("dot_half", k->name, n, k->dot_half(a, in->h + shift, n), plain->dot(a, h, n), room(a, h, n, false));
    check_near("l2_half", k->name, n, k->l2_half(a, in->h + shift, n), plain->l2(a, h, n), room(a, h, n, true));
    CHECK_INT(k->dot_code(in->x + shift, in->y + shift, n), plain->dot_code(in->x + shift, in->y + shift, n));
    sign_sums got = k->signs(in->planes, in->y + shift, (n + 7) / 8);
    sign_sums want = plain->signs(in->planes, in->y + shift, (n + 7) / 8);
    CHECK_INT(k->differ(in->planes, in->y + shift, (n + 7) / 8), plain->differ(in->planes, in->y + shift, (n + 7) / 8));
    CHECK_INT(got.weighted, want.weighted);
    CHECK_INT(got.set, want.set);
}

TEST(every_kernel_of_this_processor_agrees_with_the_plain_one)
{
    static const int exponents[] = {0, -140, 15, -70};
    static inputs in;
    uint64_t state = test_seed();

    for (unsigned e = 0; e < 4; e++) {
        fill(&in, &state, exponents[e]);
        for (unsigned at = 0; kernels_at(at); at++) {
            for (size_t n = 0; n < 150; n++)
                compare(kernels_at(at), &in, n, n % 4);
            compare(kernels_at(at), &in, 768, 0);
            compare(kernels_at(at), &in, LONGEST, 1);
        }
    }
}

TEST(whole_sums_are_exact_at_their_largest)
{
    static int8_t a[65536];
    static uint8_t b[65536];

    memset(a, 127, sizeof a);
    memset(b, 255, sizeof b);
    for (unsigned at = 0; kernels_at(at); at++)
        CHECK_INT(kernels_at(at)->dot_code(a, b, 65536), 127 * 255 * 65536);
}

TEST(a_vector_is_normalised_unless_it_has_no_length)
{
    float v[] = {3, 4}, zero[] = {0, 0}, tiny[] = {3e-42f, 4e-42f}, endless[] = {INFINITY, 1};

    CHECK(vector_normalise(v, 2) == 5);
    CHECK(v[0] == 0.6f && v[1] == 0.8f);
    CHECK(vector_normalise(zero, 2) == 0);
    CHECK(zero[0] == 0 && zero[1] == 0);
    vector_normalise(tiny, 2);
    CHECK(fabs((double)tiny[0] - 0.6) < 1e-2);
    vector_normalise(endless, 2);
    CHECK(isinf(endless[0]));
}

/* ---- codecs ---- */

enum { DIMENSION = 96 };

static void draw(float *v, uint64_t *state)
{
    for (int i = 0; i < DIMENSION; i++)
        v[i] = component(state, 0);
}

static double distance(vector_metric metric, const float *a, const float *b)
{
    double dot = 0, squares = 0, aa = 0, bb = 0;

    for (int i = 0; i < DIMENSION; i++) {
        dot += (double)a[i] * b[i];
        squares += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        aa += (double)a[i] * a[i];
        bb += (double)b[i] * b[i];
    }
    return metric == METRIC_L2 ? squares : metric == METRIC_DOT ? -dot : -dot / sqrt(aa * bb);
}

static void check_codec(codec_kind kind, vector_metric metric, const float *centres, double off, uint64_t *state)
{
    float v[DIMENSION], q[DIMENSION], work[DIMENSION];
    _Alignas(64) uint8_t item[DIMENSION * 4 + 64], memory[8192];
    codec c;
    codec_query query;

    codec_init(&c, kind, metric, DIMENSION);
    c.centres = centres;
    for (int round = 0; round < 50; round++) {
        draw(v, state);
        draw(q, state);
        if (kind == CODEC_HALF)
            for (int i = 0; i < DIMENSION; i++)
                v[i] = number_from_half(number_to_half(v[i]));
        memcpy(work, v, sizeof v);
        codec_encode(&c, work, item);
        memcpy(work, q, sizeof q);
        if (metric == METRIC_COSINE)
            vector_normalise(work, DIMENSION);
        codec_query_make(&c, work, memory, &query);
        double want = distance(metric, q, v), got = (double)query.distance(&query, item);
        double doubt = (double)codec_doubt(&query, item);
        CHECK(fabs(got - want) <= off);
        CHECK(fabs(got - want) <= doubt + 1e-4);
        const uint8_t *const four[4] = {item, item, item, item};
        float d[4];
        query.distance4(&query, four, d);
        CHECK(fabs((double)d[3] - got) <= 1e-4);
    }
}

TEST(codecs_estimate_distances_and_know_how_well)
{
    uint64_t state = test_seed();
    static const vector_metric metrics[] = {METRIC_COSINE, METRIC_L2, METRIC_DOT};
    static float centres[CODEC_CENTRE_FLOATS(DIMENSION)], some[300 * DIMENSION];

    for (int i = 0; i < 3; i++) {
        check_codec(CODEC_FLOAT, metrics[i], NULL, 1e-4, &state);
        check_codec(CODEC_HALF, metrics[i], NULL, 1e-4, &state);
        check_codec(CODEC_INT8, metrics[i], NULL, 0.5, &state);
    }
    for (int i = 0; i < 300; i++) {
        draw(some + (size_t)i * DIMENSION, &state);
        vector_normalise(some + (size_t)i * DIMENSION, DIMENSION);
    }
    CHECK(codec_learn(some, 300, DIMENSION, centres));
    check_codec(CODEC_SIGN, METRIC_COSINE, centres, 0.5, &state); /* some five times its usual error */
}

TEST(a_zero_vector_is_as_far_from_everything)
{
    static const codec_kind kinds[] = {CODEC_FLOAT, CODEC_HALF, CODEC_INT8};
    float zero[DIMENSION], q[DIMENSION];
    _Alignas(64) uint8_t item[DIMENSION * 4 + 64], memory[4096];
    uint64_t state = test_seed();

    for (int i = 0; i < 3; i++) {
        codec c;
        codec_query query;
        memset(zero, 0, sizeof zero);
        codec_init(&c, kinds[i], METRIC_COSINE, DIMENSION);
        codec_encode(&c, zero, item);
        draw(q, &state);
        vector_normalise(q, DIMENSION);
        codec_query_make(&c, q, memory, &query);
        CHECK(query.distance(&query, item) == 0);
        CHECK(codec_score(METRIC_COSINE, query.distance(&query, item)) == 0);
    }
}
