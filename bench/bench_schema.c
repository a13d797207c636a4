/* bench_schema.c - a schema of a thousand collections: brought into a new file, found unchanged, opened.
 * Prints medians in milliseconds next to the target. */
#include <unistd.h>

#include "compare.h"
#include "fenec.h"

#define COLLECTIONS 1000
#define ROUNDS 7

static char path[300];

static char *description(void)
{
    char *text = malloc(64 + COLLECTIONS * 256), *at = text;

    must(text != NULL, "memory");
    at += sprintf(at, "{\"format\":1,\"fenecql\":\"");
    for (int i = 0; i < COLLECTIONS; i++)
        at += sprintf(at, "create collection c%d (name text required @hash, made timestamp @sorted, tags [text], body "
                          "text @text, place geo @geo, meta json)\\ncreate index on c%d (meta.lang) @hash\\n", i, i);
    sprintf(at, "\"}");
    return text;
}

static void print(const char *work, const sample *s, double target)
{
    double ms = sample_median(s) / 1000;

    printf("%-44s %12.2f %34.2f  %s\n", work, ms, target, ms <= target ? "ok" : "MISSED");
    fflush(stdout);
}

static double apply(uint64_t h, const char *text, const char *holds)
{
    char *out;
    size_t len;
    double start = now_us();

    must(fenec_schema(h, (const uint8_t *)text, strlen(text), FENEC_SCHEMA_APPLY, &out, &len) == FENEC_OK, "apply");
    double us = now_us() - start;
    must(strstr(out, holds) != NULL, "the answer of an apply");
    fenec_free_string(out);
    return us;
}

static void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", ".lock"};
    char name[320];

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

int main(void)
{
    sample fresh = {0}, again = {0}, opened = {0};
    char *text = description();

    snprintf(path, sizeof path, "%s/fenec-bench-%ld.fenec", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    printf("%-44s %12s %34s\n", "a schema of 1 000 collections", "ms", "target");
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t h = 0;
        must(fenec_open((const uint8_t *)path, strlen(path), 0, &h, NULL, NULL) == FENEC_OK, path);
        sample_add(&fresh, apply(h, text, "\"applied\":true"));
        must(fenec_close(h, NULL, NULL) == FENEC_OK, "close");
        double start = now_us();
        must(fenec_open((const uint8_t *)path, strlen(path), 0, &h, NULL, NULL) == FENEC_OK, path);
        sample_add(&opened, now_us() - start);
        sample_add(&again, apply(h, text, "\"applied\":false"));
        must(fenec_close(h, NULL, NULL) == FENEC_OK, "close");
        remove_files();
    }
    print("applied to a new file, durable", &fresh, 1000);
    print("applied again, nothing to do", &again, 1000);
    print("opened", &opened, 50);
    free(text);
    return 0;
}
