/* compare.h - what the benchmarks share: a clock, medians, a line of two times and their ratio. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS_MAX 15

typedef struct sample {
    double us[ROUNDS_MAX];
    int count;
} sample;

static inline double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void sample_add(sample *s, double us)
{
    if (s->count < ROUNDS_MAX)
        s->us[s->count++] = us;
}

static inline double sample_median(const sample *s)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, s->us, sizeof sorted);
    qsort(sorted, (size_t)s->count, sizeof *sorted, by_size);
    return s->count % 2 ? sorted[s->count / 2] : (sorted[s->count / 2 - 1] + sorted[s->count / 2]) / 2;
}

/* "<work>  ours  theirs  ratio  target": smaller is better. */
static inline void compare_print(const char *work, const sample *ours, const sample *theirs, double target)
{
    double a = sample_median(ours), b = sample_median(theirs), ratio = a / b;
    printf("%-44s %12.2f %12.2f %8.2f %8.2f  %s\n", work, a, b, ratio, target, ratio <= target ? "ok" : "MISSED");
    fflush(stdout);
}

static inline void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bench: %s failed\n", what);
        exit(1);
    }
}

/* splitmix64: the data is the same in every run. */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

#endif
