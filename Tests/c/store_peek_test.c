/* A file read by somebody who neither has it nor locks it. */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "exec/database.h"
#include "test.h"

static const char *file_path(const char *name)
{
    static char path[600];

    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

/* What it describes, or the error. To be freed. */
static char *peek(const char *path, int *code)
{
    buffer out;
    size_t len;
    error err;

    buffer_init(&out);
    error_init(&err);
    *code = database_peek((const uint8_t *)path, strlen(path), &out, &err);
    if (*code)
        buffer_text(&out, err.message);
    return buffer_take(&out, &len);
}

static void check_peek(const char *path, int code, const char *want)
{
    int got;
    char *text = peek(path, &got);

    CHECK_INT(got, code);
    if (code == FENEC_OK)
        CHECK_TEXT(text, want);
    memory_free(text);
}

static void run(database *d, const char *text)
{
    buffer out;
    error err;

    buffer_init(&out);
    error_init(&err);
    if (database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err) != FENEC_OK)
        test_failed(__FILE__, __LINE__, "%s: %s", text, err.message);
    buffer_clear(&out);
}

static database *open_file(const char *path)
{
    database *d = NULL;
    error err;

    error_init(&err);
    if (database_open(&d, (const uint8_t *)path, strlen(path), 0, &err) != FENEC_OK)
        test_failed(__FILE__, __LINE__, "%s: %s", path, err.message);
    return d;
}

static void close_file(database *d)
{
    error err;

    error_init(&err);
    CHECK_INT(database_close(d, &err), FENEC_OK);
    database_free(d);
}

#define ONE "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"index\":{\"kind\":\"hash\"}}]}]}"

TEST(peek_reads_a_file_that_was_closed)
{
    char path[600];
    struct stat before, after;

    snprintf(path, sizeof path, "%s", file_path("closed.fenec"));
    database *d = open_file(path);
    run(d, "create collection _own (x int) create collection t (a int @hash)");
    close_file(d);
    unlink(file_path("closed.fenec.lock"));
    CHECK_INT(stat(path, &before), 0);
    check_peek(path, FENEC_OK, ONE);
    CHECK_INT(stat(path, &after), 0);
    CHECK(before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
          before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    CHECK(access(file_path("closed.fenec-wal"), F_OK) != 0);
    CHECK(access(file_path("closed.fenec.lock"), F_OK) != 0);
    chmod(path, 0444);
    check_peek(path, FENEC_OK, ONE);
}

TEST(peek_refuses_what_is_no_database)
{
    check_peek(file_path("missing.fenec"), FENEC_IO, NULL);
    CHECK(access(file_path("missing.fenec"), F_OK) != 0);
    check_peek(test_folder(), FENEC_IO, NULL);
    FILE *f = fopen(file_path("foreign"), "wb");
    for (int i = 0; i < 3000; i++)
        fputs("no database", f);
    fclose(f);
    check_peek(file_path("foreign"), FENEC_CORRUPT, NULL);
    f = fopen(file_path("empty"), "wb");
    fclose(f);
    check_peek(file_path("empty"), FENEC_OK, "{\"format\":1,\"collections\":[]}");
}

/* Writes until killed; a schema change with each 50th block, told by its number. */
static void write_until_killed(const char *path, int told)
{
    char text[200];
    database *d = open_file(path);

    run(d, "create collection if not exists t (f0 int)");
    for (unsigned n = 1;; n++) {
        if (n % 50 == 0) {
            snprintf(text, sizeof text, "alter collection t rename field f%u to f%u", n / 50 - 1, n / 50);
            run(d, text);
            unsigned name = n / 50;
            if (write(told, &name, sizeof name) != sizeof name)
                _exit(1);
        }
        snprintf(text, sizeof text, "put t [{f%u: %u}, {f%u: 2}, {f%u: 3}]", n / 50, n, n / 50, n / 50);
        run(d, text);
    }
}

TEST(peek_reads_a_file_in_use_by_another_process)
{
    char path[600];
    int told[2];
    unsigned name = 0;

    snprintf(path, sizeof path, "%s", file_path("used.fenec"));
    CHECK_INT(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        close(told[0]);
        write_until_killed(path, told[1]);
        _exit(0);
    }
    close(told[1]);
    for (long round = test_scale(40, 600); round > 0 && read(told[0], &name, sizeof name) == sizeof name; round--) {
        /* The name told last or a later one, and never one that went back. */
        for (unsigned before = name, tries = 0; tries < 2; tries++) {
            int code;
            unsigned seen = 0;
            char *text = peek(path, &code);
            if (code != FENEC_OK || sscanf(text, "{\"format\":1,\"collections\":[{\"name\":\"t\",\"fields\":[{\"name\":\"f%u\"", &seen) != 1 ||
                seen < before)
                test_failed(__FILE__, __LINE__, "after f%u: %d %s", before, code, text);
            before = seen;
            memory_free(text);
        }
    }
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    close(told[0]);
    /* What a kill left is read as an open would find it. */
    int code;
    char *text = peek(path, &code), *again;
    CHECK_INT(code, FENEC_OK);
    database *d = open_file(path);
    close_file(d);
    again = peek(path, &code);
    CHECK_TEXT(text, again);
    memory_free(text);
    memory_free(again);
}
