/* main.c - the contract of fenec.h, checked through fenec.h alone. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

reply last;
static long passed, failed;
static char folder[256];

static int32_t remember(int32_t code, char *text, size_t len)
{
    free(last.text);
    last = (reply){.code = code, .given = text != NULL, .len = len};
    last.text = calloc(1, len + 1);
    if (text)
        memcpy(last.text, text, len);
    CHECK(!text || text[len] == 0);
    CHECK(text || len == 0);
    CHECK(!text || strlen(text) == len);
    fenec_free_string(text);
    return code;
}

int32_t query_vectors(uint64_t handle, const char *text, const char *params, const void *vectors, size_t n)
{
    char *out = (char *)1;
    size_t len = 1;
    int32_t code = fenec_query(handle, (const uint8_t *)text, strlen(text), (const uint8_t *)params,
                               params ? strlen(params) : 0, vectors, n, &out, &len);
    return remember(code, out, len);
}

int32_t query_with(uint64_t handle, const char *text, const char *params)
{
    return query_vectors(handle, text, params, NULL, 0);
}

int32_t query(uint64_t handle, const char *text)
{
    return query_with(handle, text, NULL);
}

int32_t changes(uint64_t handle, uint64_t since)
{
    char *out = (char *)1;
    size_t len = 1;
    int32_t code = fenec_changes(handle, since, &out, &len);
    return remember(code, out, len);
}

int32_t open_file(const char *path, uint32_t flags, uint64_t *handle)
{
    char *out = (char *)1;
    size_t len = 1;
    int32_t code = fenec_open((const uint8_t *)path, strlen(path), flags, handle, &out, &len);
    return remember(code, out, len);
}

uint64_t memory_database(void)
{
    uint64_t handle = 0;
    char *out = (char *)1;
    size_t len = 1;
    int32_t code = fenec_open_memory(&handle, &out, &len);
    CHECK(remember(code, out, len) == FENEC_OK);
    CHECK(handle != 0);
    return handle;
}

#define SIMPLE(name, function)                                      \
    int32_t name(uint64_t handle)                                   \
    {                                                               \
        char *out = (char *)1;                                      \
        size_t len = 1;                                             \
        int32_t code = function(handle, &out, &len);                \
        return remember(code, out, len);                            \
    }
SIMPLE(close_handle, fenec_close)
SIMPLE(sync_handle, fenec_sync)
SIMPLE(flush_handle, fenec_flush)
SIMPLE(checkpoint_handle, fenec_checkpoint)

int32_t schema(uint64_t handle, const char *text, size_t n, uint32_t mode)
{
    char *out = (char *)1;
    size_t len = 1;
    int32_t code = fenec_schema(handle, (const uint8_t *)text, n, mode, &out, &len);
    return remember(code, out, len);
}

int32_t warm_handle(uint64_t handle, const char *only)
{
    char *out = (char *)1;
    size_t len = 1;
    int32_t code = fenec_warm(handle, (const uint8_t *)only, strlen(only), &out, &len);
    return remember(code, out, len);
}

const char *temp_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

long file_size(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? (long)s.st_size : -1;
}

void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, len, f) == len);
    if (f)
        fclose(f);
}

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

void check_at(const char *file, int line, bool good, const char *what)
{
    pthread_mutex_lock(&counting);
    if (good) {
        passed++;
    } else {
        failed++;
        if (failed <= 50)
            fprintf(stderr, "%s:%d: %s\n    last answer: %d %s\n", file, line, what, last.code,
                    last.text ? last.text : "");
    }
    pthread_mutex_unlock(&counting);
}

void check_reply_at(const char *file, int line, int32_t code, int32_t want, const char *text)
{
    char what[256];
    if (code != want) {
        snprintf(what, sizeof what, "answered %d, expected %d", code, want);
        check_at(file, line, false, what);
    } else if (text && strcmp(last.text, text) != 0) {
        snprintf(what, sizeof what, "expected %s", text);
        check_at(file, line, false, what);
    } else {
        check_at(file, line, true, "");
    }
    if (want != FENEC_OK)
        check_at(file, line, answer_starts("{\"kind\":\"error\",\"message\":\""), "an error says why");
}

bool answer_holds(const char *piece)
{
    return last.text && strstr(last.text, piece);
}

bool answer_starts(const char *piece)
{
    return last.text && strncmp(last.text, piece, strlen(piece)) == 0;
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/fenec-ffi-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        fprintf(stderr, "no folder for tests at %s\n", folder);
        return 2;
    }
    test_calling();
    test_handles();
    test_files();
    test_queries();
    test_vectors();
    test_changes();
    test_durability();
    test_schema();
    test_threads();
    test_hostile();
    char command[600];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", folder, folder);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", folder);
    free(last.text);
    printf("fenec-ffi-test: checks\n%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}
