/* test_schema.c - fenec_schema at the boundary, and an apply that is killed (chapters 5 section 12.1, 6). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define NOTHING "{\"kind\":\"schema\",\"applied\":false,\"ran\":false,\"migrations\":[],\"statements\":[],\"refusals\":[]}"
#define RECIPE "{\"format\":1,\"fenecql\":\"create collection recipe (title text required)\"}"

static void what_the_call_refuses(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(schema(h, NULL, 3, FENEC_SCHEMA_DESCRIBE), FENEC_MISUSE);
    CHECK_CODE(schema(h, "\xff\xfe", 2, FENEC_SCHEMA_DESCRIBE), FENEC_MISUSE);
    CHECK_CODE(schema(h, "{\"format\":1}", 12, 4), FENEC_MISUSE);
    CHECK_CODE(schema(h, "{\"format\":1}", 12, UINT32_MAX), FENEC_MISUSE);
    CHECK_CODE(schema(h + 1, "{\"format\":1}", 12, FENEC_SCHEMA_PLAN), FENEC_MISUSE);
    CHECK_CODE(schema(h, NULL, 0, FENEC_SCHEMA_PLAN), FENEC_QUERY);
    CHECK_CODE(schema(h, "{\"format\":1}", 12, FENEC_SCHEMA_PLAN), FENEC_OK);
    CHECK(strcmp(last.text, NOTHING) == 0);
    CHECK_ANSWER(schema(h, NULL, 0, FENEC_SCHEMA_DESCRIBE), FENEC_OK, "{\"format\":1,\"collections\":[]}");
    CHECK_ANSWER(schema(h, "[", 1, FENEC_SCHEMA_DESCRIBE), FENEC_OK, "{\"format\":1,\"collections\":[]}");
    CHECK(fenec_schema(h, (const uint8_t *)RECIPE, strlen(RECIPE), FENEC_SCHEMA_APPLY, NULL, NULL) == FENEC_OK);
    CHECK_ANSWER(schema(h, RECIPE, strlen(RECIPE), FENEC_SCHEMA_APPLY), FENEC_OK, NOTHING);
    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK_CODE(schema(h, RECIPE, strlen(RECIPE), FENEC_SCHEMA_APPLY), FENEC_MISUSE);
}

static void refusals_are_no_errors(void)
{
    uint64_t h = memory_database();

    CHECK_CODE(query(h, "create collection recipe (title int)"), FENEC_OK);
    CHECK_CODE(schema(h, RECIPE, strlen(RECIPE), FENEC_SCHEMA_APPLY), FENEC_OK);
    CHECK(answer_starts("{\"kind\":\"schema\",\"applied\":false,\"ran\":false,\"migrations\":[],\"statements\":[],"
                        "\"refusals\":[{\"kind\":\"type_changed\",\"collection\":\"recipe\",\"field\":\"title\","));
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void an_apply_is_there_after_an_open(void)
{
    uint64_t h = 0;

    CHECK_CODE(open_file(temp_path("applied.fenec"), 0, &h), FENEC_OK);
    CHECK_CODE(schema(h, RECIPE, strlen(RECIPE), FENEC_SCHEMA_APPLY), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK_CODE(open_file(temp_path("applied.fenec"), 0, &h), FENEC_OK);
    CHECK_ANSWER(schema(h, RECIPE, strlen(RECIPE), FENEC_SCHEMA_APPLY), FENEC_OK, NOTHING);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

/* ---- a kill ---- */

/* Version n of an app: t has n and fn, whose values the n-th migration took over from f(n-1); a collection cn
 * is new with it. */
static char *version(unsigned n)
{
    char *text = malloc(1024 + (size_t)n * 160), *at = text;

    at += sprintf(at, "{\"format\":1,\"fenecql\":\"create collection t (n int @sorted, f%u int @hash) create collection "
                      "c%u (x int)\",\"migrations\":[", n, n);
    for (unsigned i = 1; i <= n; i++)
        at += sprintf(at, "%s\"alter collection t add field f%u int @hash; set t {f%u: f%u + 1}; alter collection t drop "
                          "field f%u\"", i > 1 ? "," : "", i, i, i - 1, i - 1);
    sprintf(at, "]}");
    return text;
}

static unsigned recorded(uint64_t h)
{
    char *out = NULL;
    size_t len;
    const char *ask = "get _migrations count";

    if (fenec_query(h, (const uint8_t *)ask, strlen(ask), NULL, 0, NULL, 0, &out, &len) != FENEC_OK) {
        fenec_free_string(out);
        return 0;
    }
    unsigned n = (unsigned)strtoul(strstr(out, "{\"count\":") + 9, NULL, 10);
    fenec_free_string(out);
    return n;
}

/* One version after the other; the number of each goes into the pipe. */
static void apply_until_killed(const char *path, int acknowledged)
{
    uint64_t h = 0;

    if (fenec_open((const uint8_t *)path, strlen(path), 0, &h, NULL, NULL) != FENEC_OK)
        _exit(3);
    for (unsigned n = recorded(h) + 1;; n++) {
        char *text = version(n);
        if (fenec_schema(h, (const uint8_t *)text, strlen(text), FENEC_SCHEMA_APPLY, NULL, NULL) != FENEC_OK)
            _exit(4);
        free(text);
        if (write(acknowledged, &n, sizeof n) != sizeof n)
            _exit(5);
    }
}

static void make_rows(const char *path)
{
    char text[8192], *at = text;
    uint64_t h = 0;

    at += sprintf(at, "create collection t (n int @sorted, f0 int @hash); put t [{n: 0, f0: 0}");
    for (int i = 1; i < 200; i++)
        at += sprintf(at, ", {n: %d, f0: %d}", i, i);
    sprintf(at, "]");
    CHECK_CODE(open_file(path, 0, &h), FENEC_OK);
    CHECK_CODE(query(h, text), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

/* Everything of version n is there, nothing of the next. */
static void check_version(uint64_t h, unsigned n)
{
    char text[128];

    snprintf(text, sizeof text, "get t where f%u = n + %u count", n, n);
    CHECK_CODE(query(h, text), FENEC_OK);
    CHECK(answer_holds("{\"count\":200}"));
    snprintf(text, sizeof text, "get t select f%u", n + 1);
    CHECK_CODE(query(h, text), FENEC_NOT_FOUND);
    if (n == 0)
        return;
    snprintf(text, sizeof text, "get t select f%u", n - 1);
    CHECK_CODE(query(h, text), FENEC_NOT_FOUND);
    snprintf(text, sizeof text, "get c%u", n);
    CHECK_CODE(query(h, text), FENEC_OK);
    snprintf(text, sizeof text, "get c%u", n + 1);
    CHECK_CODE(query(h, text), FENEC_NOT_FOUND);
    char *whole = version(n);
    CHECK_ANSWER(schema(h, whole, strlen(whole), FENEC_SCHEMA_APPLY), FENEC_OK, NOTHING);
    free(whole);
}

static void a_killed_apply_is_there_whole_or_not_at_all(int rounds)
{
    uint64_t state = 0x9E3779B97F4A7C15u, h = 0;
    char path[512];

    snprintf(path, sizeof path, "%s", temp_path("migrated.fenec"));
    make_rows(path);
    for (int round = 0; round < rounds; round++) {
        int acknowledged[2];
        unsigned sure = 0, n;
        CHECK(pipe(acknowledged) == 0);
        pid_t child = fork();
        if (child == 0) {
            close(acknowledged[0]);
            apply_until_killed(path, acknowledged[1]);
        }
        close(acknowledged[1]);
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        for (uint64_t i = state % 3; i > 0 && read(acknowledged[0], &n, sizeof n) == sizeof n; i--)
            sure = n;
        for (volatile uint64_t spin = (state >> 32) % 3000000; spin > 0; spin--)
            ;
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        while (read(acknowledged[0], &n, sizeof n) == sizeof n)
            sure = n;
        close(acknowledged[0]);

        CHECK_CODE(open_file(path, 0, &h), FENEC_OK);
        unsigned there = recorded(h);
        CHECK(there >= sure);
        check_version(h, there);
        CHECK_CODE(close_handle(h), FENEC_OK);
    }
}

void test_schema(void)
{
    const char *soak = getenv("FENEC_SOAK");

    what_the_call_refuses();
    refusals_are_no_errors();
    an_apply_is_there_after_an_open();
    a_killed_apply_is_there_whole_or_not_at_all(soak && *soak == '1' ? 1000 : 60);
}
