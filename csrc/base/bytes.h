/* bytes.h - numbers in bytes, at any alignment: little-endian in records, big-endian in keys, whose
 * memcmp is then the numbers' order. Compilers make one load or store of each. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t bytes_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bytes_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t bytes_u64(const uint8_t *p)
{
    return (uint64_t)bytes_u32(p) | (uint64_t)bytes_u32(p + 4) << 32;
}

static inline float bytes_f32(const uint8_t *p)
{
    uint32_t bits = bytes_u32(p);
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline double bytes_f64(const uint8_t *p)
{
    uint64_t bits = bytes_u64(p);
    double f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline void bytes_put_u16(uint8_t *p, uint16_t n)
{
    p[0] = (uint8_t)n;
    p[1] = (uint8_t)(n >> 8);
}

static inline void bytes_put_u32(uint8_t *p, uint32_t n)
{
    p[0] = (uint8_t)n;
    p[1] = (uint8_t)(n >> 8);
    p[2] = (uint8_t)(n >> 16);
    p[3] = (uint8_t)(n >> 24);
}

static inline void bytes_put_u64(uint8_t *p, uint64_t n)
{
    bytes_put_u32(p, (uint32_t)n);
    bytes_put_u32(p + 4, (uint32_t)(n >> 32));
}

static inline void bytes_put_f32(uint8_t *p, float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    bytes_put_u32(p, bits);
}

static inline void bytes_put_f64(uint8_t *p, double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    bytes_put_u64(p, bits);
}

static inline uint64_t bytes_big_u64(const uint8_t *p)
{
    uint64_t n = 0;

    for (int i = 0; i < 8; i++)
        n = n << 8 | p[i];
    return n;
}

static inline void bytes_put_big_u32(uint8_t *p, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(n >> (24 - 8 * i));
}

static inline void bytes_put_big_u64(uint8_t *p, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(n >> (56 - 8 * i));
}

#endif
