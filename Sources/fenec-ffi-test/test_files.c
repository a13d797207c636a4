/* test_files.c - files, their lock, what is refused untouched (chapter 5 section 5). */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void a_file_keeps_what_was_written(void)
{
    uint64_t h = 0;
    const char *path = temp_path("kept.fenec");

    CHECK_CODE(open_file(path, 0, &h), FENEC_OK);
    CHECK_CODE(query(h, "create collection t (n int, s text); put t [{n: 1, s: \"a\"}, {n: 2}]"), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK(file_size(temp_path("kept.fenec")) > 0);
    CHECK(file_size(temp_path("kept.fenec.lock")) == 0);
    CHECK(file_size(temp_path("kept.fenec-wal")) == -1);
    CHECK_CODE(open_file(temp_path("kept.fenec"), 0, &h), FENEC_OK);
    CHECK_ANSWER(query(h, "get t"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\",\"n\",\"s\"],\"rows\":["
                 "{\"id\":1,\"n\":1,\"s\":\"a\"},{\"id\":2,\"n\":2,\"s\":null}]}}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void a_second_open_is_locked(void)
{
    uint64_t h = 0, other = 42;

    CHECK_CODE(open_file(temp_path("held.fenec"), 0, &h), FENEC_OK);
    CHECK_CODE(open_file(temp_path("held.fenec"), 0, &other), FENEC_LOCKED);
    CHECK(other == 42);
    CHECK(answer_holds("io error: ") && answer_holds("held.fenec"));
    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK_CODE(open_file(temp_path("held.fenec"), 0, &h), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void another_process_is_locked_out_and_leaves_no_lock(void)
{
    int ready[2];
    uint64_t h = 0;
    char byte = 0;
    char path[512];

    snprintf(path, sizeof path, "%s", temp_path("shared.fenec"));
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        uint64_t mine = 0;
        if (fenec_open((const uint8_t *)path, strlen(path), 0, &mine, NULL, NULL) == FENEC_OK)
            byte = 1;
        if (write(ready[1], &byte, 1) != 1)
            _exit(3);
        for (;;)
            pause();
    }
    CHECK(child > 0 && read(ready[0], &byte, 1) == 1 && byte == 1);
    CHECK_CODE(open_file(path, 0, &h), FENEC_LOCKED);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_CODE(open_file(path, 0, &h), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
    close(ready[0]);
    close(ready[1]);
}

static void refuses_untouched(const char *name, const void *bytes, size_t len, int32_t code)
{
    uint64_t h = 42;
    unsigned char *after = malloc(len ? len : 1);

    write_file(temp_path(name), bytes, len);
    CHECK_CODE(open_file(temp_path(name), 0, &h), code);
    CHECK(h == 42);
    CHECK(file_size(temp_path(name)) == (long)len);
    FILE *f = fopen(temp_path(name), "rb");
    CHECK(f && fread(after, 1, len, f) == len && memcmp(after, bytes, len) == 0);
    if (f)
        fclose(f);
    free(after);
    char beside[64];
    snprintf(beside, sizeof beside, "%s-wal", name);
    CHECK(file_size(temp_path(beside)) == -1);
}

static void what_is_no_database_is_refused_untouched(void)
{
    unsigned char noise[8192];
    uint64_t h = 0;

    memset(noise, 'x', sizeof noise);
    refuses_untouched("noise.fenec", noise, sizeof noise, FENEC_CORRUPT);
    refuses_untouched("short.fenec", "hello", 5, FENEC_CORRUPT);
    /* An SQLite database of somebody else's, in WAL mode. */
    memcpy(noise, "SQLite format 3\0\x10\x00\x02\x02\x00\x40\x20\x20", 24);
    memset(noise + 24, 0, sizeof noise - 24);
    refuses_untouched("foreign.fenec", noise, sizeof noise, FENEC_CORRUPT);
    write_file(temp_path("empty.fenec"), "", 0);
    CHECK_CODE(open_file(temp_path("empty.fenec"), 0, &h), FENEC_OK);
    CHECK_CODE(query(h, "create collection t (n int)"), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void a_newer_format_is_refused_untouched(void)
{
    uint64_t h = 0;
    unsigned char *bytes;
    long len;

    CHECK_CODE(open_file(temp_path("newer.fenec"), 0, &h), FENEC_OK);
    CHECK_CODE(query(h, "create collection t (n int)"), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
    len = file_size(temp_path("newer.fenec"));
    bytes = malloc((size_t)len);
    FILE *f = fopen(temp_path("newer.fenec"), "rb");
    CHECK(f && fread(bytes, 1, (size_t)len, f) == (size_t)len);
    if (f)
        fclose(f);
    bytes[71]++; /* the application id's low byte: the format version */
    refuses_untouched("newer.fenec", bytes, (size_t)len, FENEC_CORRUPT);
    CHECK(answer_holds("newer"));
    free(bytes);
}

static void places_that_cannot_hold_a_file_are_io(void)
{
    uint64_t h = 42;

    CHECK_CODE(open_file(temp_path("no/such/folder.fenec"), 0, &h), FENEC_IO);
    CHECK(mkdir(temp_path("folder.fenec"), 0700) == 0);
    CHECK_CODE(open_file(temp_path("folder.fenec"), 0, &h), FENEC_IO);
    if (geteuid() != 0) {
        CHECK(mkdir(temp_path("closed"), 0500) == 0);
        CHECK_CODE(open_file(temp_path("closed/x.fenec"), 0, &h), FENEC_IO);
    }
    CHECK(h == 42);
    CHECK_CODE(open_file("", 0, &h), FENEC_MISUSE);
    CHECK(fenec_open((const uint8_t *)"a\0b", 3, 0, &h, NULL, NULL) != FENEC_OK);
    CHECK(fenec_open((const uint8_t *)"x", 1, 0, NULL, NULL, NULL) == FENEC_MISUSE);
}

static void a_path_may_hold_anything_but_a_nul(void)
{
    const char *names[] = {"a b.fenec", "it's \"quoted\".fenec", "çiçek-🦊.fenec", "50%25?x=1&mode=ro#y.fenec",
                           "file:x.fenec", ":memory:"};
    uint64_t h = 0;

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_CODE(open_file(temp_path(names[i]), 0, &h), FENEC_OK);
        CHECK_CODE(query(h, "create collection t (n int)"), FENEC_OK);
        CHECK_CODE(close_handle(h), FENEC_OK);
        CHECK(file_size(temp_path(names[i])) > 0);
    }
}

static void unknown_flags_are_ignored(void)
{
    uint64_t h = 0;

    CHECK_CODE(open_file(temp_path("flags.fenec"), 0xFFFFFFF8u | 4, &h), FENEC_OK);
    CHECK_CODE(query(h, "create collection t (n int)"), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void damage_answers_corrupt_and_never_ends_the_process(void)
{
    uint64_t h = 0;
    long len;

    CHECK_CODE(open_file(temp_path("flip.fenec"), 0, &h), FENEC_OK);
    CHECK_CODE(query(h, "create collection t (n int @sorted, s text @hash, j json)"), FENEC_OK);
    for (int i = 0; i < 40; i++)
        CHECK_CODE(query(h, "put t [{n: 1, s: \"abc\", j: {a: [1, 2]}}, {n: 2, s: \"def\"}, {n: 3, s: \"ghi\"}]"),
                   FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
    len = file_size(temp_path("flip.fenec"));
    unsigned char *good = malloc((size_t)len), *bad = malloc((size_t)len);
    FILE *f = fopen(temp_path("flip.fenec"), "rb");
    CHECK(f && fread(good, 1, (size_t)len, f) == (size_t)len);
    if (f)
        fclose(f);
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 400; round++) {
        memcpy(bad, good, (size_t)len);
        for (int k = 0; k < 1 + round % 3; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            bad[state % (uint64_t)len] ^= (unsigned char)(1u << (state >> 40) % 8);
        }
        size_t keep = round % 10 == 9 ? (size_t)(state >> 20) % (size_t)len : (size_t)len;
        write_file(temp_path("flipped.fenec"), bad, keep);
        int32_t code = open_file(temp_path("flipped.fenec"), 0, &h);
        CHECK(code == FENEC_OK || code == FENEC_CORRUPT);
        if (code == FENEC_OK) {
            const char *texts[] = {"get t", "get t where n = 2", "get t order n desc limit 5", "get t where s = \"abc\"",
                                   "put t {n: 5, s: \"new\"}", "set t {n: n + 1} where s = \"ghi\"", "del t where n = 3",
                                   "get t select j.a count", "get t count", "collections"};
            for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
                query(h, texts[i]);
            code = close_handle(h);
            CHECK(code == FENEC_OK || code == FENEC_IO || code == FENEC_CORRUPT);
        }
        remove(temp_path("flipped.fenec"));
        remove(temp_path("flipped.fenec-wal"));
    }
    free(good);
    free(bad);
}

void test_files(void)
{
    a_file_keeps_what_was_written();
    a_second_open_is_locked();
    another_process_is_locked_out_and_leaves_no_lock();
    what_is_no_database_is_refused_untouched();
    a_newer_format_is_refused_untouched();
    places_that_cannot_hold_a_file_are_io();
    a_path_may_hold_anything_but_a_nul();
    unknown_flags_are_ignored();
    damage_answers_corrupt_and_never_ends_the_process();
}
