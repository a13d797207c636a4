/* kernel.h - what vectors are compared with: dot products and squared distances over floats, halves and codes.
 *
 * One table of functions a kind of processor, chosen when it is first asked for. They agree with the plain one
 * to 1e-5 relative to the sum of the magnitudes added up; whole numbers agree to the last bit. */
#ifndef SEARCH_KERNEL_H
#define SEARCH_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_PLANES 6 /* bits of a component of a query measured against sign codes */

/* Of signs under a query's components in planes: sum[i] 2^p where bit i of plane p and of the code is set, and
 * how many bits of the code are. */
typedef struct sign_sums {
    uint32_t weighted, set;
} sign_sums;

typedef struct kernels {
    const char *name;
    float (*dot)(const float *a, const float *b, size_t n);
    float (*l2)(const float *a, const float *b, size_t n); /* squared */
    /* The same of one vector with four. */
    void (*dot4)(const float *a, const float *const b[4], size_t n, float out[4]);
    void (*l24)(const float *a, const float *const b[4], size_t n, float out[4]);
    float (*dot_half)(const float *a, const uint16_t *b, size_t n);
    float (*l2_half)(const float *a, const uint16_t *b, size_t n);
    /* n <= 65536, no a below -127. */
    int32_t (*dot_code)(const int8_t *a, const uint8_t *b, size_t n);
    /* planes[KERNEL_PLANES * len], plane by plane, least first. */
    sign_sums (*signs)(const uint8_t *planes, const uint8_t *code, size_t len);
    uint32_t (*differ)(const uint8_t *a, const uint8_t *b, size_t len); /* bits that do */
} kernels;

const kernels *kernels_best(void); /* of this processor */

/* Every table this processor runs, the plain one first; NULL past the last. For tests. */
const kernels *kernels_at(unsigned place);

/* Pieces of tables: kernel_x86.c, kernel_arm.c. NULL where the processor is another. */
const kernels *kernels_native(unsigned place);

extern const kernels kernels_plain;

/* v[0..n) as a vector of length 1; one of length 0, or that has none, as it is. Answers the length. */
double vector_normalise(float *v, size_t n);
double vector_length(const float *v, size_t n);

#endif
