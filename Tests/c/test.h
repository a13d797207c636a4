/* test.h - the whole test framework: TEST makes and registers one, CHECK fails it and goes on. */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
} test;

void test_register(test *t);
void test_failed(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *test_folder(void);             /* an empty folder of this test, removed at its end */
uint64_t test_seed(void);                  /* of this run, printed; FENEC_SEED sets it */
uint64_t test_random(uint64_t *state);     /* splitmix64 */
long test_scale(long rounds, long soak);   /* soak under FENEC_SOAK=1 */

#define TEST(sentence)                                                                                  \
    static void sentence(void);                                                                         \
    static test sentence##_test = {#sentence, sentence, NULL};                                          \
    __attribute__((constructor)) static void sentence##_register(void) { test_register(&sentence##_test); } \
    static void sentence(void)

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition))                                                   \
            test_failed(__FILE__, __LINE__, "%s", #condition);              \
    } while (0)
#define CHECK_INT(got, want)                                                                           \
    do {                                                                                               \
        long long got_ = (long long)(got), want_ = (long long)(want);                                  \
        if (got_ != want_)                                                                             \
            test_failed(__FILE__, __LINE__, "%s is %lld, not %lld", #got, got_, want_);                \
    } while (0)
#define CHECK_TEXT(got, want)                                                                          \
    do {                                                                                               \
        const char *got_ = (got), *want_ = (want);                                                     \
        if (!got_ || strcmp(got_, want_))                                                              \
            test_failed(__FILE__, __LINE__, "%s is\n    %s\nnot %s", #got, got_ ? got_ : "NULL", want_); \
    } while (0)

#endif
