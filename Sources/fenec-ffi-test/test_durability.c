/* test_durability.c - what survives a killed process (chapter 5 sections 5.4, 12 and 15). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static long stored(const char *name)
{
    char log[64];
    long file = file_size(temp_path(name));
    snprintf(log, sizeof log, "%s-wal", name);
    long more = file_size(temp_path(log));
    return file + (more > 0 ? more : 0);
}

static void no_sync_writes_wait_in_a_buffer(void)
{
    uint64_t h = 0;

    CHECK_CODE(open_file(temp_path("buffered.fenec"), FENEC_OPEN_NO_SYNC, &h), FENEC_OK);
    CHECK_CODE(query(h, "create collection t (n int, s text)"), FENEC_OK);
    CHECK_CODE(flush_handle(h), FENEC_OK);
    long before = stored("buffered.fenec");
    CHECK_CODE(query(h, "put t {n: 1}"), FENEC_OK);
    CHECK(stored("buffered.fenec") == before);
    CHECK_CODE(flush_handle(h), FENEC_OK);
    CHECK(stored("buffered.fenec") > before);
    CHECK_CODE(query(h, "put t {n: 2}"), FENEC_OK);
    CHECK_CODE(sync_handle(h), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK_CODE(open_file(temp_path("buffered.fenec"), FENEC_OPEN_IN_MEMORY, &h), FENEC_OK);
    CHECK_ANSWER(query(h, "get t select n"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"n\"],\"rows\":[{\"n\":1},{\"n\":2}]}}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

/* Writes until killed: the number of each acknowledged block goes into the pipe. */
static void write_until_killed(const char *path, uint32_t flags, int acknowledged)
{
    uint64_t h = 0;
    char text[200];

    if (fenec_open((const uint8_t *)path, strlen(path), flags, &h, NULL, NULL) != FENEC_OK)
        _exit(3);
    const char *make = "create collection if not exists a (n int @unique); create collection if not exists b (n int)";
    if (fenec_query(h, (const uint8_t *)make, strlen(make), NULL, 0, NULL, 0, NULL, NULL) != FENEC_OK)
        _exit(4);
    /* Goes on after the last number there is: the count of b. */
    char *out = NULL;
    size_t len;
    const char *ask = "get b count";
    if (fenec_query(h, (const uint8_t *)ask, strlen(ask), NULL, 0, NULL, 0, &out, &len) != FENEC_OK)
        _exit(5);
    uint32_t n = (uint32_t)strtoul(strstr(out, "{\"count\":") + 9, NULL, 10);
    fenec_free_string(out);
    for (;;) {
        n++;
        snprintf(text, sizeof text, "put a [{n: %u}, {n: -%u}]; put b {n: %u}", n, n, n);
        if (fenec_query(h, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, NULL, NULL) != FENEC_OK)
            _exit(6);
        if ((flags & FENEC_OPEN_NO_SYNC) && n % 3 == 0 && fenec_flush(h, NULL, NULL) != FENEC_OK)
            _exit(7);
        if (!(flags & FENEC_OPEN_NO_SYNC) || n % 3 == 0)
            if (write(acknowledged, &n, sizeof n) != sizeof n)
                _exit(8);
    }
}

static void a_kill_loses_nothing_acknowledged(const char *name, uint32_t flags, int rounds)
{
    uint64_t state = 0x2545F4914F6CDD1Du, h = 0;
    char path[512], want[128];

    snprintf(path, sizeof path, "%s", temp_path(name));
    for (int round = 0; round < rounds; round++) {
        int acknowledged[2];
        uint32_t sure = 0, n;
        CHECK(pipe(acknowledged) == 0);
        pid_t child = fork();
        if (child == 0) {
            close(acknowledged[0]);
            write_until_killed(path, flags, acknowledged[1]);
        }
        close(acknowledged[1]);
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        /* Killed after a random number of acknowledgements, and a random part of the next write. */
        for (uint64_t i = state % 12; i > 0 && read(acknowledged[0], &n, sizeof n) == sizeof n; i--)
            sure = n;
        for (volatile uint64_t spin = (state >> 32) % 200000; spin > 0; spin--)
            ;
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        while (read(acknowledged[0], &n, sizeof n) == sizeof n)
            sure = n;
        close(acknowledged[0]);

        CHECK_CODE(open_file(path, 0, &h), FENEC_OK);
        CHECK_CODE(query(h, "create collection if not exists a (n int @unique); "
                            "create collection if not exists b (n int)"), FENEC_OK);
        CHECK_CODE(query(h, "get b count"), FENEC_OK);
        uint32_t there = (uint32_t)strtoul(strstr(last.text, "{\"count\":") + 9, NULL, 10);
        CHECK(there >= sure);
        /* No half block, no gap: a holds -there..-1 and 1..there, b holds 1..there. */
        snprintf(want, sizeof want, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"count\"],\"rows\":[{\"count\":%u}]}}",
                 2 * there);
        CHECK_ANSWER(query(h, "get a count"), FENEC_OK, want);
        if (there > 0) {
            char last_text[96];
            snprintf(last_text, sizeof last_text, "get a where n = -%u or n = %u count", there, there);
            CHECK_CODE(query(h, last_text), FENEC_OK);
            CHECK(answer_holds("{\"count\":2}"));
        }
        CHECK_CODE(close_handle(h), FENEC_OK);
    }
}

static void a_full_disk_is_io_and_reads_go_on(void)
{
    int status;
    char path[512];

    snprintf(path, sizeof path, "%s", temp_path("full.fenec"));
    pid_t child = fork();
    if (child == 0) {
        uint64_t h = 0;
        char big[4096];
        struct rlimit limit;
        signal(SIGXFSZ, SIG_IGN);
        memset(big, 'x', sizeof big);
        memcpy(big, "[\"", 2);
        memcpy(big + sizeof big - 3, "\"]", 3);
        CHECK_CODE(open_file(path, 0, &h), FENEC_OK);
        CHECK_CODE(query(h, "create collection t (s text); put t {s: \"first\"}"), FENEC_OK);
        getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 256 * 1024;
        setrlimit(RLIMIT_FSIZE, &limit);
        int32_t code = FENEC_OK;
        long written = 1;
        for (int i = 0; i < 1000 && code == FENEC_OK; i++) {
            code = query_with(h, "put t {s: $1}", big);
            written += code == FENEC_OK;
        }
        int good = code == FENEC_IO && query(h, "put t {s: \"more\"}") == FENEC_IO && sync_handle(h) == FENEC_IO &&
                   query(h, "get t where id = 1") == FENEC_OK;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_FSIZE, &limit);
        good = good && query(h, "put t {s: \"more\"}") == FENEC_IO;
        close_handle(h);
        good = good && open_file(path, 0, &h) == FENEC_OK && query(h, "get t count") == FENEC_OK;
        long there = good ? strtol(strstr(last.text, "{\"count\":") + 9, NULL, 10) : 0;
        good = good && there >= written && there <= written + 1 && query(h, "put t {s: \"more\"}") == FENEC_OK;
        close_handle(h);
        if (!good)
            fprintf(stderr, "full disk: code %d, %ld acknowledged, %ld there: %s\n", code, written, there, last.text);
        _exit(good ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void test_durability(void)
{
    const char *soak = getenv("FENEC_SOAK");
    int rounds = soak && *soak == '1' ? 5000 : 200;

    no_sync_writes_wait_in_a_buffer();
    a_kill_loses_nothing_acknowledged("killed.fenec", 0, rounds);
    a_kill_loses_nothing_acknowledged("killed-buffered.fenec", FENEC_OPEN_NO_SYNC, rounds / 2 + 20);
    a_full_disk_is_io_and_reads_go_on();
}
