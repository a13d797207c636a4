#include "search/kernel.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "value/number.h"

static float dot_neon(const float *a, const float *b, size_t n)
{
    float32x4_t s0 = vdupq_n_f32(0), s1 = s0, s2 = s0, s3 = s0;
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        s0 = vfmaq_f32(s0, vld1q_f32(a + i), vld1q_f32(b + i));
        s1 = vfmaq_f32(s1, vld1q_f32(a + i + 4), vld1q_f32(b + i + 4));
        s2 = vfmaq_f32(s2, vld1q_f32(a + i + 8), vld1q_f32(b + i + 8));
        s3 = vfmaq_f32(s3, vld1q_f32(a + i + 12), vld1q_f32(b + i + 12));
    }
    for (; i + 4 <= n; i += 4)
        s0 = vfmaq_f32(s0, vld1q_f32(a + i), vld1q_f32(b + i));
    float sum = vaddvq_f32(vaddq_f32(vaddq_f32(s0, s1), vaddq_f32(s2, s3)));
    for (; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static float32x4_t add_square4(float32x4_t sum, float32x4_t a, float32x4_t b)
{
    float32x4_t d = vsubq_f32(a, b);

    return vfmaq_f32(sum, d, d);
}

static float l2_neon(const float *a, const float *b, size_t n)
{
    float32x4_t s0 = vdupq_n_f32(0), s1 = s0, s2 = s0, s3 = s0;
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        s0 = add_square4(s0, vld1q_f32(a + i), vld1q_f32(b + i));
        s1 = add_square4(s1, vld1q_f32(a + i + 4), vld1q_f32(b + i + 4));
        s2 = add_square4(s2, vld1q_f32(a + i + 8), vld1q_f32(b + i + 8));
        s3 = add_square4(s3, vld1q_f32(a + i + 12), vld1q_f32(b + i + 12));
    }
    for (; i + 4 <= n; i += 4)
        s0 = add_square4(s0, vld1q_f32(a + i), vld1q_f32(b + i));
    float sum = vaddvq_f32(vaddq_f32(vaddq_f32(s0, s1), vaddq_f32(s2, s3)));
    for (; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void dot4_neon(const float *a, const float *const b[4], size_t n, float out[4])
{
    float32x4_t s[4][2];
    size_t i = 0;

    for (int k = 0; k < 4; k++)
        s[k][0] = s[k][1] = vdupq_n_f32(0);
    for (; i + 8 <= n; i += 8) {
        float32x4_t q0 = vld1q_f32(a + i), q1 = vld1q_f32(a + i + 4);
        for (int k = 0; k < 4; k++) {
            s[k][0] = vfmaq_f32(s[k][0], q0, vld1q_f32(b[k] + i));
            s[k][1] = vfmaq_f32(s[k][1], q1, vld1q_f32(b[k] + i + 4));
        }
    }
    for (int k = 0; k < 4; k++) {
        out[k] = vaddvq_f32(vaddq_f32(s[k][0], s[k][1]));
        for (size_t r = i; r < n; r++)
            out[k] += a[r] * b[k][r];
    }
}

static void l24_neon(const float *a, const float *const b[4], size_t n, float out[4])
{
    float32x4_t s[4][2];
    size_t i = 0;

    for (int k = 0; k < 4; k++)
        s[k][0] = s[k][1] = vdupq_n_f32(0);
    for (; i + 8 <= n; i += 8) {
        float32x4_t q0 = vld1q_f32(a + i), q1 = vld1q_f32(a + i + 4);
        for (int k = 0; k < 4; k++) {
            s[k][0] = add_square4(s[k][0], q0, vld1q_f32(b[k] + i));
            s[k][1] = add_square4(s[k][1], q1, vld1q_f32(b[k] + i + 4));
        }
    }
    for (int k = 0; k < 4; k++) {
        out[k] = vaddvq_f32(vaddq_f32(s[k][0], s[k][1]));
        for (size_t r = i; r < n; r++)
            out[k] += (a[r] - b[k][r]) * (a[r] - b[k][r]);
    }
}

static float32x4_t load_half4(const uint16_t *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at)));
}

static float dot_half_neon(const float *a, const uint16_t *b, size_t n)
{
    float32x4_t s0 = vdupq_n_f32(0), s1 = s0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        s0 = vfmaq_f32(s0, vld1q_f32(a + i), load_half4(b + i));
        s1 = vfmaq_f32(s1, vld1q_f32(a + i + 4), load_half4(b + i + 4));
    }
    float sum = vaddvq_f32(vaddq_f32(s0, s1));
    for (; i < n; i++)
        sum += a[i] * number_from_half(b[i]);
    return sum;
}

static float l2_half_neon(const float *a, const uint16_t *b, size_t n)
{
    float32x4_t s0 = vdupq_n_f32(0), s1 = s0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        s0 = add_square4(s0, vld1q_f32(a + i), load_half4(b + i));
        s1 = add_square4(s1, vld1q_f32(a + i + 4), load_half4(b + i + 4));
    }
    float sum = vaddvq_f32(vaddq_f32(s0, s1));
    for (; i < n; i++) {
        float d = a[i] - number_from_half(b[i]);
        sum += d * d;
    }
    return sum;
}

static int32_t dot_code_neon(const int8_t *a, const uint8_t *b, size_t n)
{
    int32x4_t s0 = vdupq_n_s32(0), s1 = s0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        int16x8_t q = vmovl_s8(vld1_s8(a + i)), v = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(b + i)));
        s0 = vmlal_s16(s0, vget_low_s16(q), vget_low_s16(v));
        s1 = vmlal_s16(s1, vget_high_s16(q), vget_high_s16(v));
    }
    int32_t sum = vaddvq_s32(vaddq_s32(s0, s1));
    for (; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static sign_sums signs_neon(const uint8_t *planes, const uint8_t *code, size_t len)
{
    sign_sums out = {0};
    size_t i = 0;

    for (; i + 16 <= len; i += 16) {
        uint8x16_t bits = vld1q_u8(code + i);
        out.set += vaddlvq_u8(vcntq_u8(bits));
        for (unsigned p = 0; p < KERNEL_PLANES; p++)
            out.weighted += (uint32_t)vaddlvq_u8(vcntq_u8(vandq_u8(bits, vld1q_u8(planes + p * len + i)))) << p;
    }
    for (; i < len; i++) {
        out.set += (uint32_t)__builtin_popcount(code[i]);
        for (unsigned p = 0; p < KERNEL_PLANES; p++)
            out.weighted += (uint32_t)__builtin_popcount(code[i] & planes[p * len + i]) << p;
    }
    return out;
}

static uint32_t differ_neon(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint32_t out = 0;
    size_t i = 0;

    for (; i + 16 <= len; i += 16)
        out += vaddlvq_u8(vcntq_u8(veorq_u8(vld1q_u8(a + i), vld1q_u8(b + i))));
    for (; i < len; i++)
        out += (uint32_t)__builtin_popcount(a[i] ^ b[i]);
    return out;
}

static const kernels neon = {"neon",          dot_neon,     l2_neon,       dot4_neon, l24_neon,
                             dot_half_neon, l2_half_neon, dot_code_neon, signs_neon, differ_neon};

const kernels *kernels_native(unsigned place)
{
    return place == 0 ? &neon : NULL;
}

#endif
