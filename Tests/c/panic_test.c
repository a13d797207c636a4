/* Memory that runs out at every place of a scripted life: each call answers PANIC, or goes on without what it
 * wanted; nothing is half done, the handle stays usable, and a reopen agrees. */
#include <stdlib.h>

#include "base/memory.h"
#include "fenec.h"
#include "sqlite_memory.h"
#include "test.h"
#include "workload.h"

typedef struct heap {
    const char *name;
    void (*fail_after)(long), (*fail_one)(long);
    long (*asked)(void), (*failures)(void);
} heap;

static const heap engine = {"engine", memory_fail_after, memory_fail_one, memory_asked, memory_failures};
static const heap sqlite = {"SQLite", sqlite_memory_fail_after, sqlite_memory_fail_one, sqlite_memory_asked,
                            sqlite_memory_failures};

typedef struct trials {
    const workload *w;
    const heap *from;
    bool all;    /* after the first failure no allocation succeeds any more */
    long budget; /* of one step */
    long made, refused, passed_over;
    char when[200];
} trials;

static void arm(const trials *t, long n)
{
    (t->all ? t->from->fail_after : t->from->fail_one)(n);
}

static const char *name(trials *t, int k, long n, const char *after)
{
    snprintf(t->when, sizeof t->when, "%s allocation %ld%s of step %d, %.80s%s", t->from->name, n,
             t->all ? " and later ones" : "", k, k < t->w->count ? workload_name(t->w, k) : "", after);
    return t->when;
}

static bool is_panic(int code, const char *answer)
{
    return code == FENEC_PANIC && (!answer || strstr(answer, "internal error: "));
}

/* The handle after a step that failed: as before it, and the step can be made again. */
static void recover(trials *t, uint64_t h, int k, long n)
{
    char *answer;

    workload_state(t->w, h, k, k, name(t, k, n, ", put back"));
    int code = workload_step(h, &t->w->steps[k], &answer);
    if (code != FENEC_OK)
        test_failed(__FILE__, __LINE__, "%s: %d %s", name(t, k, n, ", again"), code, answer ? answer : "-");
    fenec_free_string(answer);
}

/* False where the step asks for fewer allocations. */
static bool try_step(trials *t, int k, long n)
{
    uint64_t random = 1, h = 0;
    test_disk *d = test_disk_cut(t->w->starts[k], LOSE_NOTHING, &random);
    char *answer;

    CHECK_INT(workload_open(d, 0, &h, &answer), FENEC_OK);
    arm(t, n);
    int code = workload_step(h, &t->w->steps[k], &answer);
    long hits = t->from->failures();
    t->from->fail_after(-1);
    t->made++;
    if (code != FENEC_OK && (!hits || !is_panic(code, answer)))
        test_failed(__FILE__, __LINE__, "%s: %d %s", name(t, k, n, ""), code, answer ? answer : "-");
    fenec_free_string(answer);
    t->refused += code != FENEC_OK;
    t->passed_over += hits && code == FENEC_OK;
    if (code != FENEC_OK)
        recover(t, h, k, n);
    if (hits)
        workload_state(t->w, h, k + 1, k + 1, name(t, k, n, ", done"));
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    if (hits && t->made % 8 == 0)
        workload_reopen(t->w, d, k + 1, k + 1, 0, name(t, k, n, ", reopened"));
    test_disk_free(d);
    return hits > 0;
}

/* One handle, allocation after allocation: what failed before has left its traces in its caches. */
static void wear_step(trials *t, uint64_t h, int k)
{
    char *answer;

    for (long n = 0;; n++) {
        arm(t, n);
        int code = workload_step(h, &t->w->steps[k], &answer);
        long hits = t->from->failures();
        t->from->fail_after(-1);
        t->made++;
        t->refused += code != FENEC_OK;
        t->passed_over += hits && code == FENEC_OK;
        if (code != FENEC_OK && (!hits || !is_panic(code, answer)))
            test_failed(__FILE__, __LINE__, "%s: %d %s", name(t, k, n, ", one handle"), code, answer ? answer : "-");
        fenec_free_string(answer);
        if (code == FENEC_OK)
            break;
        if (n % test_scale(16, 4) == 0)
            workload_state(t->w, h, k, k, name(t, k, n, ", put back, one handle"));
    }
    workload_state(t->w, h, k + 1, k + 1, name(t, k, 0, ", done, one handle"));
}

static void run_on_one_handle(trials *t)
{
    test_disk *d = test_disk_new();
    uint64_t h = 0;

    CHECK_INT(workload_open(d, 0, &h, NULL), FENEC_OK);
    for (int k = 0; k < t->w->count; k++)
        wear_step(t, h, k);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    workload_reopen(t->w, d, t->w->count, t->w->count, 0, "after all on one handle");
    test_disk_free(d);
}

/* How many allocations a step asks for on a handle of its own. */
static long count_asked(const trials *t, int k)
{
    uint64_t random = 1, h = 0;
    test_disk *d = test_disk_cut(t->w->starts[k], LOSE_NOTHING, &random);

    CHECK_INT(workload_open(d, 0, &h, NULL), FENEC_OK);
    t->from->fail_after(1000000000);
    CHECK_INT(workload_step(h, &t->w->steps[k], NULL), FENEC_OK);
    long asked = t->from->asked();
    t->from->fail_after(-1);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    test_disk_free(d);
    return asked;
}

static void run_steps(trials *t)
{
    uint64_t random = test_seed();
    long places = 0;

    for (int k = 0; k < t->w->count; k++) {
        long asked = count_asked(t, k), stride = 1 + asked / t->budget;
        places += asked;
        for (long n = (long)(test_random(&random) % (uint64_t)stride); try_step(t, k, n); n += stride)
            continue;
    }
    printf("  memory of %s%s: %ld places, %ld trials, %ld refused, %ld done without\n", t->from->name,
           t->all ? ", all from there" : "", places, t->made, t->refused, t->passed_over);
}

static void run_out_of(const heap *from, long budget)
{
    workload *w = workload_new(true);

    for (int all = 0; all <= 1; all++) {
        trials steps = {.w = w, .from = from, .all = all, .budget = budget}, one = steps;
        run_steps(&steps);
        run_on_one_handle(&one);
        printf("  memory of %s%s on one handle: %ld trials, %ld refused, %ld done without\n", from->name,
               all ? ", all from there" : "", one.made, one.refused, one.passed_over);
        CHECK(steps.refused > 100);
    }
    workload_free(w);
}

TEST(panic_every_allocation_of_the_engine_that_fails_is_put_back)
{
    run_out_of(&engine, test_scale(12, 1000000));
}

TEST(panic_every_allocation_of_sqlite_that_fails_is_put_back)
{
    run_out_of(&sqlite, test_scale(12, 1000000));
}

/* Calls of the interface itself: an open answers PANIC and leaves nothing behind that hinders the next one; a
 * close lets the handle go all the same. */
static void run_opens(const workload *w, const heap *from, bool all, const char *path)
{
    const uint8_t *bytes = (const uint8_t *)path;
    long opens = 0, closes = 0;
    uint64_t h = 0;
    char *answer;
    int code;

    for (bool hit = true; hit; opens++) {
        (all ? from->fail_after : from->fail_one)(opens);
        code = path ? fenec_open(bytes, strlen(path), FENEC_OPEN_NO_AUTO_COMPACT, &h, &answer, NULL)
                    : fenec_open_memory(&h, &answer, NULL);
        hit = from->failures() > 0;
        from->fail_after(-1);
        if (code != FENEC_OK && (!hit || !is_panic(code, answer)))
            test_failed(__FILE__, __LINE__, "%s allocation %ld of an open: %d %s", from->name, opens, code,
                        answer ? answer : "-");
        fenec_free_string(answer);
        if (code == FENEC_OK) {
            workload_state(w, h, path ? 6 : 0, path ? 6 : 0, "after an open");
            CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
        }
    }
    for (bool hit = true; hit; closes++) {
        CHECK_INT(path ? fenec_open(bytes, strlen(path), 0, &h, NULL, NULL) : fenec_open_memory(&h, NULL, NULL), FENEC_OK);
        CHECK_INT(workload_step(h, &w->steps[6], NULL), path ? FENEC_OK : FENEC_NOT_FOUND);
        (all ? from->fail_after : from->fail_one)(closes);
        code = fenec_close(h, &answer, NULL);
        hit = from->failures() > 0;
        from->fail_after(-1);
        if (code != FENEC_OK && (!hit || (code != FENEC_PANIC && code != FENEC_IO)))
            test_failed(__FILE__, __LINE__, "%s allocation %ld of a close: %d %s", from->name, closes, code,
                        answer ? answer : "-");
        fenec_free_string(answer);
        CHECK_INT(fenec_close(h, NULL, NULL), FENEC_MISUSE);
    }
    printf("  memory of %s%s: %ld opens, %ld closes of a %s\n", from->name, all ? ", all from there" : "", opens, closes,
           path ? "file" : "memory database");
}

TEST(panic_every_allocation_of_an_open_and_a_close_may_fail)
{
    workload *w = workload_new(false);
    uint64_t h = 0;
    char path[300];

    snprintf(path, sizeof path, "%s/panic.fenec", test_folder());
    CHECK_INT(fenec_open((const uint8_t *)path, strlen(path), 0, &h, NULL, NULL), FENEC_OK);
    for (int k = 0; k < 6; k++)
        CHECK_INT(workload_step(h, &w->steps[k], NULL), FENEC_OK);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    for (int all = 0; all <= 1; all++) {
        run_opens(w, &engine, all, path);
        run_opens(w, &sqlite, all, path);
        run_opens(w, &engine, all, NULL);
        run_opens(w, &sqlite, all, NULL);
    }
    workload_free(w);
}
