#include "search/kernel.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "value/number.h"

#define LANES 8 /* sums that run beside each other */

static float add_up(const float sums[LANES])
{
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

static float dot(const float *a, const float *b, size_t n)
{
    float sums[LANES] = {0};
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sums[i % LANES] += a[i] * b[i];
    return add_up(sums);
}

static float l2(const float *a, const float *b, size_t n)
{
    float sums[LANES] = {0};

    for (size_t i = 0; i < n; i++) {
        float d = a[i] - b[i];
        sums[i % LANES] += d * d;
    }
    return add_up(sums);
}

static void dot4(const float *a, const float *const b[4], size_t n, float out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = dot(a, b[i], n);
}

static void l24(const float *a, const float *const b[4], size_t n, float out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = l2(a, b[i], n);
}

static float dot_half(const float *a, const uint16_t *b, size_t n)
{
    float sums[LANES] = {0};

    for (size_t i = 0; i < n; i++)
        sums[i % LANES] += a[i] * number_from_half(b[i]);
    return add_up(sums);
}

static float l2_half(const float *a, const uint16_t *b, size_t n)
{
    float sums[LANES] = {0};

    for (size_t i = 0; i < n; i++) {
        float d = a[i] - number_from_half(b[i]);
        sums[i % LANES] += d * d;
    }
    return add_up(sums);
}

static int32_t dot_code(const int8_t *a, const uint8_t *b, size_t n)
{
    int32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static uint32_t count_bits(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

/* Up to 8 bytes. */
static uint64_t load(const uint8_t *at, size_t len)
{
    uint64_t bits = 0;

    memcpy(&bits, at, len < 8 ? len : 8);
    return bits;
}

static sign_sums signs(const uint8_t *planes, const uint8_t *code, size_t len)
{
    sign_sums out = {0};

    for (size_t i = 0; i < len; i += 8) {
        uint64_t bits = load(code + i, len - i);
        out.set += count_bits(bits);
        for (size_t p = 0; p < KERNEL_PLANES; p++)
            out.weighted += count_bits(bits & load(planes + p * len + i, len - i)) << p;
    }
    return out;
}

static uint32_t differ(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint32_t out = 0;

    for (size_t i = 0; i < len; i += 8)
        out += count_bits(load(a + i, len - i) ^ load(b + i, len - i));
    return out;
}

const kernels kernels_plain = {"plain", dot, l2, dot4, l24, dot_half, l2_half, dot_code, signs, differ};

const kernels *kernels_at(unsigned place)
{
    return place == 0 ? &kernels_plain : kernels_native(place - 1);
}

const kernels *kernels_best(void)
{
    static _Atomic(const kernels *) chosen;
    const kernels *best = atomic_load_explicit(&chosen, memory_order_relaxed);

    for (unsigned i = 0; !best; i++)
        if (!kernels_at(i + 1))
            best = kernels_at(i);
    atomic_store_explicit(&chosen, best, memory_order_relaxed);
    return best;
}

double vector_length(const float *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    return sqrt(sum);
}

double vector_normalise(float *v, size_t n)
{
    double length = vector_length(v, n);

    if (length > 0 && length <= 1.7976931348623157e308)
        for (size_t i = 0; i < n; i++)
            v[i] = (float)((double)v[i] / length);
    return length;
}
