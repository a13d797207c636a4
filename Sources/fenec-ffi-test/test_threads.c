/* test_threads.c - one handle from many threads (chapter 5 section 14). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int32_t run(uint64_t h, const char *text, char **out)
{
    size_t len;
    return fenec_query(h, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, out, &len);
}

typedef struct bank {
    uint64_t handle;
    atomic_bool done;
    atomic_long wrong, reads, refused;
} bank;

static void *move_money(void *argument)
{
    bank *b = argument;
    char text[200];

    for (int i = 0; i < 300; i++) {
        int from = 1 + i % 10, to = 1 + (i * 7 + 3) % 10;
        snprintf(text, sizeof text, "set acc {bal: bal - 5} where id = %d require 1; set acc {bal: bal + 5} where id = %d require 1",
                 from, to);
        if (run(b->handle, text, NULL) != FENEC_OK)
            b->wrong++;
        /* A block that fails half way is never seen. */
        snprintf(text, sizeof text, "set acc {bal: bal - 900} where id = %d; set acc {bal: 0} where id = 99 require 1", from);
        if (run(b->handle, text, NULL) != FENEC_UNMET)
            b->wrong++;
    }
    return NULL;
}

static void *watch_money(void *argument)
{
    bank *b = argument;

    while (!b->done) {
        char *out = NULL;
        long total = 0;
        if (run(b->handle, "get acc select bal", &out) != FENEC_OK) {
            b->wrong++;
        } else {
            for (char *p = out; (p = strstr(p, "{\"bal\":")); p += 7)
                total += strtol(p + 7, NULL, 10);
            if (total != 1000)
                b->wrong++;
        }
        fenec_free_string(out);
        b->reads++;
    }
    return NULL;
}

static void readers_never_see_part_of_a_block(const char *path)
{
    bank b = {0};
    pthread_t writers[4], watchers[4];

    if (path)
        CHECK_CODE(open_file(path, 0, &b.handle), FENEC_OK);
    else
        b.handle = memory_database();
    CHECK_CODE(query(b.handle, "create collection acc (bal int)"), FENEC_OK);
    for (int i = 0; i < 10; i++)
        CHECK_CODE(query(b.handle, "put acc {bal: 100}"), FENEC_OK);
    for (int i = 0; i < 4; i++)
        pthread_create(&watchers[i], NULL, watch_money, &b);
    for (int i = 0; i < 4; i++)
        pthread_create(&writers[i], NULL, move_money, &b);
    for (int i = 0; i < 4; i++)
        pthread_join(writers[i], NULL);
    b.done = true;
    for (int i = 0; i < 4; i++)
        pthread_join(watchers[i], NULL);
    CHECK(b.wrong == 0);
    CHECK(b.reads > 0);
    CHECK_CODE(close_handle(b.handle), FENEC_OK);
}

static void *put_numbers(void *argument)
{
    bank *b = argument;

    for (int i = 0; i < 100; i++)
        if (run(b->handle, "put t {n: 1}", NULL) != FENEC_OK)
            b->wrong++;
    return NULL;
}

static void concurrent_puts_get_ids_of_their_own(void)
{
    bank b = {.handle = memory_database()};
    pthread_t threads[8];

    CHECK_CODE(query(b.handle, "create collection t (n int)"), FENEC_OK);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, put_numbers, &b);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK(b.wrong == 0);
    CHECK_CODE(query(b.handle, "get t where id = 800 count"), FENEC_OK);
    CHECK(answer_holds("{\"count\":1}"));
    CHECK_CODE(query(b.handle, "get t count"), FENEC_OK);
    CHECK(answer_holds("{\"count\":800}"));
    CHECK_CODE(close_handle(b.handle), FENEC_OK);
}

static void *use_until_refused(void *argument)
{
    bank *b = argument;
    int32_t code;
    char *out = NULL;

    do {
        code = run(b->handle, b->reads++ % 3 ? "get t count" : "put t {n: 1}", &out);
        if (code != FENEC_OK && code != FENEC_MISUSE)
            b->wrong++;
        fenec_free_string(out);
        out = NULL;
    } while (code == FENEC_OK);
    return NULL;
}

static void *close_it(void *argument)
{
    bank *b = argument;

    while (b->reads < 200)
        ;
    if (fenec_close(b->handle, NULL, NULL) == FENEC_OK)
        b->refused++; /* counts the closes that got it */
    return NULL;
}

static void a_close_waits_for_calls_in_flight(void)
{
    for (int round = 0; round < 20; round++) {
        bank b = {0};
        pthread_t users[4], closers[2];
        char name[64];

        snprintf(name, sizeof name, "closing%d.fenec", round);
        CHECK_CODE(open_file(temp_path(name), FENEC_OPEN_NO_SYNC, &b.handle), FENEC_OK);
        CHECK_CODE(query(b.handle, "create collection t (n int)"), FENEC_OK);
        for (int i = 0; i < 4; i++)
            pthread_create(&users[i], NULL, use_until_refused, &b);
        for (int i = 0; i < 2; i++)
            pthread_create(&closers[i], NULL, close_it, &b);
        for (int i = 0; i < 4; i++)
            pthread_join(users[i], NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(closers[i], NULL);
        CHECK(b.wrong == 0);
        CHECK(b.refused == 1);
        CHECK_CODE(open_file(temp_path(name), 0, &b.handle), FENEC_OK);
        CHECK_CODE(close_handle(b.handle), FENEC_OK);
    }
}

static void *sum_up(void *argument)
{
    static const char *const texts[] = {
        "get acc select count(*) as c, sum(bal) as s, count(distinct grp) as g",
        "get acc select grp, sum(bal) as s, last(bal by id) as b group grp having s != 100 count",
    };
    static const char *const answers[] = {"{\"c\":20000,\"s\":200000,\"g\":2000}", "{\"count\":0}"};
    bank *b = argument;

    do {
        for (int i = 0; i < 2; i++) {
            char *out = NULL;
            if (run(b->handle, texts[i], &out) != FENEC_OK || !strstr(out, answers[i]))
                b->wrong++;
            fenec_free_string(out);
            b->reads++;
        }
    } while (!b->done);
    return NULL;
}

/* Each block moves money within its group: no sum ever differs. */
static void an_aggregate_sees_one_state_beside_ten_thousand_blocks(void)
{
    enum { ROWS = 20000, GROUPS = 2000, BLOCKS = 10000 };
    bank b = {0};
    pthread_t reader;
    char text[200], *rows = malloc(ROWS * 40), *to = rows;

    CHECK_CODE(open_file(temp_path("sums.fenec"), FENEC_OPEN_NO_SYNC, &b.handle), FENEC_OK);
    CHECK_CODE(query(b.handle, "create collection acc (grp int, bal int)"), FENEC_OK);
    to += sprintf(to, "put acc [");
    for (int i = 0; i < ROWS; i++)
        to += sprintf(to, "%s{grp: %d, bal: 10}", i ? "," : "", i % GROUPS);
    sprintf(to, "]");
    CHECK_CODE(query(b.handle, rows), FENEC_OK);
    free(rows);
    pthread_create(&reader, NULL, sum_up, &b);
    for (int i = 0; i < BLOCKS; i++) {
        int from = 1 + i * 7 % GROUPS;
        snprintf(text, sizeof text, "set acc {bal: bal - %d} where id = %d; set acc {bal: bal + %d} where id = %d", 1 + i % 5, from,
                 1 + i % 5, from + GROUPS * (1 + i % 9));
        if (run(b.handle, text, NULL) != FENEC_OK)
            b.wrong++;
    }
    b.done = true;
    pthread_join(reader, NULL);
    CHECK(b.wrong == 0);
    CHECK(b.reads > 0);
    CHECK_CODE(close_handle(b.handle), FENEC_OK);
}

void test_threads(void)
{
    readers_never_see_part_of_a_block(NULL);
    char path[512];
    snprintf(path, sizeof path, "%s", temp_path("bank.fenec"));
    readers_never_see_part_of_a_block(path);
    concurrent_puts_get_ids_of_their_own();
    a_close_waits_for_calls_in_flight();
    an_aggregate_sees_one_state_beside_ten_thousand_blocks();
}
