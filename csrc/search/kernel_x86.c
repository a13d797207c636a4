#include "search/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2,fma,f16c,popcnt")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")))
#define AVX512_MORE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512vpopcntdq,fma,f16c")))

/* ---- 256 bits ---- */

AVX2 static float add_up8(__m256 v)
{
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

/* The first n < 8 floats, the others 0. */
AVX2 static __m256 load_some8(const float *at, size_t n)
{
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_maskload_ps(at, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), places));
}

AVX2 static float dot_avx2(const float *a, const float *b, size_t n)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
        s1 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8), s1);
        s2 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 16), _mm256_loadu_ps(b + i + 16), s2);
        s3 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 24), _mm256_loadu_ps(b + i + 24), s3);
    }
    for (; i + 8 <= n; i += 8)
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
    if (i < n)
        s1 = _mm256_fmadd_ps(load_some8(a + i, n - i), load_some8(b + i, n - i), s1);
    return add_up8(_mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3)));
}

AVX2 static __m256 add_square8(__m256 a, __m256 b, __m256 sum)
{
    __m256 d = _mm256_sub_ps(a, b);

    return _mm256_fmadd_ps(d, d, sum);
}

AVX2 static float l2_avx2(const float *a, const float *b, size_t n)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        s0 = add_square8(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
        s1 = add_square8(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8), s1);
        s2 = add_square8(_mm256_loadu_ps(a + i + 16), _mm256_loadu_ps(b + i + 16), s2);
        s3 = add_square8(_mm256_loadu_ps(a + i + 24), _mm256_loadu_ps(b + i + 24), s3);
    }
    for (; i + 8 <= n; i += 8)
        s0 = add_square8(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
    if (i < n)
        s1 = add_square8(load_some8(a + i, n - i), load_some8(b + i, n - i), s1);
    return add_up8(_mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3)));
}

/* Two sums a vector, added in the order of the others. */
AVX2 static void dot4_avx2(const float *a, const float *const b[4], size_t n, float out[4])
{
    __m256 s[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 q = _mm256_loadu_ps(a + i);
        for (int k = 0; k < 4; k++)
            s[k] = _mm256_fmadd_ps(q, _mm256_loadu_ps(b[k] + i), s[k]);
    }
    if (i < n) {
        __m256 q = load_some8(a + i, n - i);
        for (int k = 0; k < 4; k++)
            s[k] = _mm256_fmadd_ps(q, load_some8(b[k] + i, n - i), s[k]);
    }
    for (int k = 0; k < 4; k++)
        out[k] = add_up8(s[k]);
}

AVX2 static void l24_avx2(const float *a, const float *const b[4], size_t n, float out[4])
{
    __m256 s[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 q = _mm256_loadu_ps(a + i);
        for (int k = 0; k < 4; k++)
            s[k] = add_square8(q, _mm256_loadu_ps(b[k] + i), s[k]);
    }
    if (i < n) {
        __m256 q = load_some8(a + i, n - i);
        for (int k = 0; k < 4; k++)
            s[k] = add_square8(q, load_some8(b[k] + i, n - i), s[k]);
    }
    for (int k = 0; k < 4; k++)
        out[k] = add_up8(s[k]);
}

AVX2 static __m256 load_half8(const uint16_t *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
}

AVX2 static __m256 load_some_half8(const uint16_t *at, size_t n)
{
    uint16_t some[8] = {0};

    memcpy(some, at, n * sizeof *some);
    return load_half8(some);
}

AVX2 static float dot_half_avx2(const float *a, const uint16_t *b, size_t n)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = s0;
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), load_half8(b + i), s0);
        s1 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 8), load_half8(b + i + 8), s1);
    }
    for (; i + 8 <= n; i += 8)
        s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), load_half8(b + i), s0);
    if (i < n)
        s1 = _mm256_fmadd_ps(load_some8(a + i, n - i), load_some_half8(b + i, n - i), s1);
    return add_up8(_mm256_add_ps(s0, s1));
}

AVX2 static float l2_half_avx2(const float *a, const uint16_t *b, size_t n)
{
    __m256 s0 = _mm256_setzero_ps(), s1 = s0;
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        s0 = add_square8(_mm256_loadu_ps(a + i), load_half8(b + i), s0);
        s1 = add_square8(_mm256_loadu_ps(a + i + 8), load_half8(b + i + 8), s1);
    }
    for (; i + 8 <= n; i += 8)
        s0 = add_square8(_mm256_loadu_ps(a + i), load_half8(b + i), s0);
    if (i < n)
        s1 = add_square8(load_some8(a + i, n - i), load_some_half8(b + i, n - i), s1);
    return add_up8(_mm256_add_ps(s0, s1));
}

AVX2 static int32_t dot_code_avx2(const int8_t *a, const uint8_t *b, size_t n)
{
    __m256i sum = _mm256_setzero_si256();
    int32_t some[8], out = 0;
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256i q = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(a + i)));
        __m256i v = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(b + i)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(q, v));
    }
    _mm256_storeu_si256((__m256i *)(void *)some, sum);
    for (int k = 0; k < 8; k++)
        out += some[k];
    for (; i < n; i++)
        out += a[i] * b[i];
    return out;
}

AVX2 static sign_sums signs_avx2(const uint8_t *planes, const uint8_t *code, size_t len)
{
    sign_sums out = {0};
    size_t i = 0;

    for (; i + 8 <= len; i += 8) {
        uint64_t bits, under;
        memcpy(&bits, code + i, 8);
        out.set += (uint32_t)_mm_popcnt_u64(bits);
        for (size_t p = 0; p < KERNEL_PLANES; p++) {
            memcpy(&under, planes + p * len + i, 8);
            out.weighted += (uint32_t)_mm_popcnt_u64(bits & under) << p;
        }
    }
    for (; i < len; i++) {
        out.set += (uint32_t)_mm_popcnt_u32(code[i]);
        for (size_t p = 0; p < KERNEL_PLANES; p++)
            out.weighted += (uint32_t)_mm_popcnt_u32(code[i] & planes[p * len + i]) << p;
    }
    return out;
}

/* ---- 512 bits ---- */

AVX512 static __mmask16 some16(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}

AVX512 static float dot_avx512(const float *a, const float *b, size_t n)
{
    __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    size_t i = 0;

    for (; i + 64 <= n; i += 64) {
        s0 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), s0);
        s1 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 16), _mm512_loadu_ps(b + i + 16), s1);
        s2 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 32), _mm512_loadu_ps(b + i + 32), s2);
        s3 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 48), _mm512_loadu_ps(b + i + 48), s3);
    }
    for (; i + 16 <= n; i += 16)
        s0 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), s0);
    if (i < n) {
        __mmask16 m = some16(n - i);
        s1 = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(m, a + i), _mm512_maskz_loadu_ps(m, b + i), s1);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
}

AVX512 static __m512 add_square16(__m512 a, __m512 b, __m512 sum)
{
    __m512 d = _mm512_sub_ps(a, b);

    return _mm512_fmadd_ps(d, d, sum);
}

AVX512 static float l2_avx512(const float *a, const float *b, size_t n)
{
    __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    size_t i = 0;

    for (; i + 64 <= n; i += 64) {
        s0 = add_square16(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), s0);
        s1 = add_square16(_mm512_loadu_ps(a + i + 16), _mm512_loadu_ps(b + i + 16), s1);
        s2 = add_square16(_mm512_loadu_ps(a + i + 32), _mm512_loadu_ps(b + i + 32), s2);
        s3 = add_square16(_mm512_loadu_ps(a + i + 48), _mm512_loadu_ps(b + i + 48), s3);
    }
    for (; i + 16 <= n; i += 16)
        s0 = add_square16(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), s0);
    if (i < n) {
        __mmask16 m = some16(n - i);
        s1 = add_square16(_mm512_maskz_loadu_ps(m, a + i), _mm512_maskz_loadu_ps(m, b + i), s1);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
}

/* Four vectors of 16 sums as their four totals. */
AVX512 static __m128 add_up4(const __m512 s[4])
{
    __m256 h0 = _mm256_add_ps(_mm512_castps512_ps256(s[0]), _mm512_extractf32x8_ps(s[0], 1));
    __m256 h1 = _mm256_add_ps(_mm512_castps512_ps256(s[1]), _mm512_extractf32x8_ps(s[1], 1));
    __m256 h2 = _mm256_add_ps(_mm512_castps512_ps256(s[2]), _mm512_extractf32x8_ps(s[2], 1));
    __m256 h3 = _mm256_add_ps(_mm512_castps512_ps256(s[3]), _mm512_extractf32x8_ps(s[3], 1));
    __m256 sum = _mm256_hadd_ps(_mm256_hadd_ps(h0, h1), _mm256_hadd_ps(h2, h3));

    return _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
}

AVX512 static void dot4_avx512(const float *a, const float *const b[4], size_t n, float out[4])
{
    __m512 s[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m512 q = _mm512_loadu_ps(a + i);
        for (int k = 0; k < 4; k++)
            s[k] = _mm512_fmadd_ps(q, _mm512_loadu_ps(b[k] + i), s[k]);
    }
    if (i < n) {
        __mmask16 m = some16(n - i);
        __m512 q = _mm512_maskz_loadu_ps(m, a + i);
        for (int k = 0; k < 4; k++)
            s[k] = _mm512_fmadd_ps(q, _mm512_maskz_loadu_ps(m, b[k] + i), s[k]);
    }
    _mm_storeu_ps(out, add_up4(s));
}

AVX512 static void l24_avx512(const float *a, const float *const b[4], size_t n, float out[4])
{
    __m512 s[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m512 q = _mm512_loadu_ps(a + i);
        for (int k = 0; k < 4; k++)
            s[k] = add_square16(q, _mm512_loadu_ps(b[k] + i), s[k]);
    }
    if (i < n) {
        __mmask16 m = some16(n - i);
        __m512 q = _mm512_maskz_loadu_ps(m, a + i);
        for (int k = 0; k < 4; k++)
            s[k] = add_square16(q, _mm512_maskz_loadu_ps(m, b[k] + i), s[k]);
    }
    _mm_storeu_ps(out, add_up4(s));
}

AVX512 static __m512 load_half16(const uint16_t *at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)at));
}

AVX512 static __m512 load_some_half16(const uint16_t *at, size_t n)
{
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(some16(n), at));
}

AVX512 static float dot_half_avx512(const float *a, const uint16_t *b, size_t n)
{
    __m512 s0 = _mm512_setzero_ps(), s1 = s0;
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        s0 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), load_half16(b + i), s0);
        s1 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 16), load_half16(b + i + 16), s1);
    }
    for (; i + 16 <= n; i += 16)
        s0 = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), load_half16(b + i), s0);
    if (i < n)
        s1 = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(some16(n - i), a + i), load_some_half16(b + i, n - i), s1);
    return _mm512_reduce_add_ps(_mm512_add_ps(s0, s1));
}

AVX512 static float l2_half_avx512(const float *a, const uint16_t *b, size_t n)
{
    __m512 s0 = _mm512_setzero_ps(), s1 = s0;
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        s0 = add_square16(_mm512_loadu_ps(a + i), load_half16(b + i), s0);
        s1 = add_square16(_mm512_loadu_ps(a + i + 16), load_half16(b + i + 16), s1);
    }
    for (; i + 16 <= n; i += 16)
        s0 = add_square16(_mm512_loadu_ps(a + i), load_half16(b + i), s0);
    if (i < n)
        s1 = add_square16(_mm512_maskz_loadu_ps(some16(n - i), a + i), load_some_half16(b + i, n - i), s1);
    return _mm512_reduce_add_ps(_mm512_add_ps(s0, s1));
}

AVX512_MORE static int32_t dot_code_avx512(const int8_t *a, const uint8_t *b, size_t n)
{
    __m512i s0 = _mm512_setzero_si512(), s1 = s0;
    size_t i = 0;

    for (; i + 128 <= n; i += 128) {
        s0 = _mm512_dpbusd_epi32(s0, _mm512_loadu_si512(b + i), _mm512_loadu_si512(a + i));
        s1 = _mm512_dpbusd_epi32(s1, _mm512_loadu_si512(b + i + 64), _mm512_loadu_si512(a + i + 64));
    }
    for (; i < n; i += 64) {
        __mmask64 m = n - i >= 64 ? ~(__mmask64)0 : (__mmask64)((1ull << (n - i)) - 1);
        s0 = _mm512_dpbusd_epi32(s0, _mm512_maskz_loadu_epi8(m, b + i), _mm512_maskz_loadu_epi8(m, a + i));
    }
    return _mm512_reduce_add_epi32(_mm512_add_epi32(s0, s1));
}

AVX512_MORE static sign_sums signs_avx512(const uint8_t *planes, const uint8_t *code, size_t len)
{
    __m512i set = _mm512_setzero_si512(), weighted = set;

    for (size_t i = 0; i < len; i += 64) {
        __mmask64 m = len - i >= 64 ? ~(__mmask64)0 : (__mmask64)((1ull << (len - i)) - 1);
        __m512i bits = _mm512_maskz_loadu_epi8(m, code + i);
        set = _mm512_add_epi64(set, _mm512_popcnt_epi64(bits));
        for (unsigned p = 0; p < KERNEL_PLANES; p++) {
            __m512i under = _mm512_and_si512(bits, _mm512_maskz_loadu_epi8(m, planes + p * len + i));
            weighted = _mm512_add_epi64(weighted, _mm512_slli_epi64(_mm512_popcnt_epi64(under), p));
        }
    }
    return (sign_sums){(uint32_t)_mm512_reduce_add_epi64(weighted), (uint32_t)_mm512_reduce_add_epi64(set)};
}

__attribute__((target("popcnt"))) static uint32_t differ_popcnt(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint64_t x, y, out = 0;
    size_t i = 0;

    for (; i + 8 <= len; i += 8) {
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        out += (uint64_t)__builtin_popcountll(x ^ y);
    }
    x = y = 0;
    if (i < len) {
        memcpy(&x, a + i, len - i);
        memcpy(&y, b + i, len - i);
    }
    return (uint32_t)(out + (uint64_t)__builtin_popcountll(x ^ y));
}

/* ---- */

static const kernels avx2 = {"avx2",          dot_avx2,     l2_avx2,       dot4_avx2, l24_avx2,
                             dot_half_avx2, l2_half_avx2, dot_code_avx2, signs_avx2, differ_popcnt};
static const kernels avx512 = {"avx512",          dot_avx512,     l2_avx512,     dot4_avx512, l24_avx512,
                               dot_half_avx512, l2_half_avx512, dot_code_avx2, signs_avx2, differ_popcnt};
static const kernels avx512_more = {"avx512 vnni",     dot_avx512,     l2_avx512,       dot4_avx512, l24_avx512,
                                    dot_half_avx512, l2_half_avx512, dot_code_avx512, signs_avx512, differ_popcnt};

const kernels *kernels_native(unsigned place)
{
    const kernels *all[3];
    unsigned count = 0;

    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
        __builtin_cpu_supports("popcnt")) {
        all[count++] = &avx2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
            all[count++] = &avx512;
            if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vpopcntdq"))
                all[count++] = &avx512_more;
        }
    }
    return place < count ? all[place] : NULL;
}

#elif !defined(__aarch64__)

const kernels *kernels_native(unsigned place)
{
    (void)place;
    return NULL;
}

#endif
