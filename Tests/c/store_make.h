/* store_make.h - short ways to open, write and read a store in tests. A failure fails the test. */
#ifndef STORE_MAKE_H
#define STORE_MAKE_H

#include <stdlib.h>

#include "store/conn.h"
#include "store/store.h"
#include "test.h"

#define MUST(call)                                                                        \
    do {                                                                                  \
        int code_ = (call);                                                               \
        if (code_)                                                                        \
            test_failed(__FILE__, __LINE__, "%s is %d: %s", #call, code_, err.message);   \
    } while (0)

/* A path in the test's folder; of the same thread's last call no more after eight. */
static inline const char *make_path(const char *name)
{
    static _Thread_local char paths[8][400];
    static _Thread_local int next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", test_folder(), name);
    return path;
}

static inline int try_open(store **s, const char *path, bool no_sync, error *err)
{
    store_options options = {.path = (const uint8_t *)path,
                             .path_len = path ? strlen(path) : 0,
                             .no_sync = no_sync};

    error_init(err);
    return store_open(s, &options, err);
}

static inline store *make_store(const char *path, bool no_sync)
{
    store *s = NULL;
    error err;

    MUST(try_open(&s, path, no_sync, &err));
    return s;
}

static inline void end_store(store *s)
{
    error err;

    MUST(store_close(s, &err));
    store_free(s);
}

/* One row as a block, durable. */
static inline int put_text(store *s, table t, int64_t id, const char *text, error *err)
{
    conn *c;
    version *v;
    uint64_t ticket;

    int code = store_write(s, false, &c, &v, err);
    if (code)
        return code;
    code = rows_put(c, t, id, (const uint8_t *)text, strlen(text), err);
    if (code) {
        store_write_rollback(c);
        return code;
    }
    code = store_write_commit(c, NULL, &ticket, err);
    return code ? code : store_wait(s, ticket, err);
}

/* A row as text in a snapshot of its own; "" where there is none. */
static inline const char *get_text(store *s, table t, int64_t id)
{
    static _Thread_local char text[256];
    const uint8_t *bytes;
    size_t len;
    version *v;
    conn *c;
    error err;

    text[0] = 0;
    MUST(store_read(s, &c, &v, &err));
    int code = rows_get(c, t, id, &bytes, &len, &err);
    if (code == FENEC_OK)
        snprintf(text, sizeof text, "%.*s", (int)len, (const char *)bytes);
    else if (code != FN_END)
        test_failed(__FILE__, __LINE__, "rows_get is %d: %s", code, err.message);
    store_read_end(c);
    return text;
}

static inline int64_t count_rows(store *s, table t)
{
    int64_t count = -1;
    version *v;
    conn *c;
    error err;

    MUST(store_read(s, &c, &v, &err));
    MUST(rows_count(c, t, &count, &err));
    store_read_end(c);
    return count;
}

/* A file's bytes; *len -1 where there is no such file. */
static inline uint8_t *file_bytes(const char *path, long *len)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;

    *len = -1;
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *len = ftell(f);
    rewind(f);
    bytes = malloc((size_t)*len + 1);
    if (bytes && fread(bytes, 1, (size_t)*len, f) != (size_t)*len)
        *len = -2;
    fclose(f);
    return bytes;
}

static inline void write_file(const char *path, const void *bytes, long len)
{
    FILE *f = fopen(path, "wb");

    CHECK(f && fwrite(bytes, 1, (size_t)len, f) == (size_t)len);
    if (f)
        fclose(f);
}

#endif
