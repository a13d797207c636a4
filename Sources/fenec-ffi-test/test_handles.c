/* test_handles.c - numbers, never pointers (chapter 5 sections 4 and 6). */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static void numbers_are_never_handed_out_twice(void)
{
    uint64_t before = memory_database();

    for (int i = 0; i < 200; i++) {
        uint64_t h = memory_database();
        CHECK(h > before);
        before = h;
        CHECK_CODE(close_handle(h), FENEC_OK);
    }
}

static void unknown_numbers_are_misuse(void)
{
    uint64_t h = memory_database();
    uint64_t odd[] = {0, h + 1000, UINT64_MAX, 1u << 31};

    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK(!last.given);
    CHECK_CODE(close_handle(h), FENEC_MISUSE);
    CHECK_CODE(sync_handle(h), FENEC_MISUSE);
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) {
        CHECK_CODE(query(odd[i], "get t"), FENEC_MISUSE);
        CHECK_CODE(changes(odd[i], 0), FENEC_MISUSE);
        CHECK_CODE(sync_handle(odd[i]), FENEC_MISUSE);
        CHECK_CODE(flush_handle(odd[i]), FENEC_MISUSE);
        CHECK_CODE(checkpoint_handle(odd[i]), FENEC_MISUSE);
        CHECK_CODE(warm_handle(odd[i], ""), FENEC_MISUSE);
        CHECK_CODE(close_handle(odd[i]), FENEC_MISUSE);
    }
}

static void the_handle_is_checked_first(void)
{
    char *out;
    size_t len;

    CHECK(fenec_query(987654, (const uint8_t *)"\xff", 1, NULL, 5, NULL, 0, &out, &len) == FENEC_MISUSE);
    CHECK(out && len > 0);
    bool says = false;
    for (const char *p = out; *p; p++)
        says = says || (p[0] == '9' && p[1] == '8' && p[2] == '7');
    CHECK(says);
    fenec_free_string(out);
}

static void databases_do_not_see_each_other(void)
{
    uint64_t a = memory_database(), b = memory_database();

    CHECK_CODE(query(a, "create collection t (n int); put t {n: 1}"), FENEC_OK);
    CHECK_CODE(query(b, "get t"), FENEC_NOT_FOUND);
    CHECK_CODE(close_handle(a), FENEC_OK);
    CHECK_CODE(query(b, "collections"), FENEC_OK);
    CHECK_CODE(close_handle(b), FENEC_OK);
}

static uint64_t shared;
static _Atomic(bool) enough;

static void *call_and_call(void *unused)
{
    while (!atomic_load(&enough)) {
        fenec_query(shared, (const uint8_t *)"get t", 5, NULL, 0, NULL, 0, NULL, NULL);
        fenec_changes(shared, 0, NULL, NULL);
    }
    return unused;
}

/* Calls that are no MISUSE. */
static int calls_of_a_child(void)
{
    int wrong = fenec_query(shared, (const uint8_t *)"get t", 5, NULL, 0, NULL, 0, NULL, NULL) != FENEC_MISUSE;

    wrong += fenec_query(shared, NULL, 0, NULL, 0, NULL, 0, NULL, NULL) != FENEC_MISUSE;
    wrong += fenec_changes(shared, 0, NULL, NULL) != FENEC_MISUSE;
    wrong += fenec_sync(shared, NULL, NULL) != FENEC_MISUSE;
    wrong += fenec_flush(shared, NULL, NULL) != FENEC_MISUSE;
    wrong += fenec_checkpoint(shared, NULL, NULL) != FENEC_MISUSE;
    wrong += fenec_warm(shared, NULL, 0, NULL, NULL) != FENEC_MISUSE;
    wrong += fenec_close(shared, NULL, NULL) != FENEC_MISUSE;
    return wrong;
}

static void a_forked_child_is_refused_whatever_its_parent_was_doing(void)
{
    pthread_t threads[3];
    int status = 0;

    CHECK_CODE(open_file(temp_path("forked.fenec"), 0, &shared), FENEC_OK);
    CHECK_CODE(query(shared, "create collection t (n int); put t {n: 1}"), FENEC_OK);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, call_and_call, NULL) == 0);
    for (int i = 0; i < 100 && status == 0; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60); /* not for ever, where it waits for a thread it has not */
            _exit(calls_of_a_child());
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
    }
    CHECK(status == 0);
    atomic_store(&enough, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_CODE(query(shared, "put t {n: 2}"), FENEC_OK);
    CHECK_CODE(close_handle(shared), FENEC_OK);
}

void test_handles(void)
{
    numbers_are_never_handed_out_twice();
    unknown_numbers_are_misuse();
    the_handle_is_checked_first();
    databases_do_not_see_each_other();
    a_forked_child_is_refused_whatever_its_parent_was_doing();
}
