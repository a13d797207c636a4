/* main.c - runs the C unit tests: all, or those whose name holds one of the arguments. */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static test *first, **last = &first;
static int failures_here;
static char folder[256];
static uint64_t seed;

void test_register(test *t)
{
    *last = t;
    last = &t->next;
}

void test_failed(const char *file, int line, const char *format, ...)
{
    va_list args;

    failures_here++;
    if (failures_here > 20)
        return;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

const char *test_folder(void)
{
    if (!folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/fenec-test-XXXXXX", base ? base : "/tmp");
        if (!mkdtemp(folder))
            folder[0] = 0;
    }
    return folder;
}

uint64_t test_seed(void)
{
    return seed;
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

long test_scale(long rounds, long soak)
{
    const char *want = getenv("FENEC_SOAK");
    return want && *want == '1' ? soak : rounds;
}

static bool chosen(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return true;
    return argc < 2;
}

static void remove_folder(void)
{
    char command[300];

    if (!folder[0])
        return;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", folder);
    folder[0] = 0;
}

int main(int argc, char **argv)
{
    const char *given = getenv("FENEC_SEED");
    int passed = 0, failed = 0;

    seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 2654435761u ^ (uint64_t)getpid();
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (test *t = first; t; t = t->next) {
        if (!chosen(t->name, argc, argv))
            continue;
        failures_here = 0;
        t->run();
        remove_folder();
        if (failures_here) {
            failed++;
            printf("FAIL %s\n", t->name);
            fflush(stdout);
        } else {
            passed++;
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
