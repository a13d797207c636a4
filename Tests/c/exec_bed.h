/* exec_bed.h - a database for a test, and texts run on it. */
#ifndef EXEC_BED_H
#define EXEC_BED_H

#include <stdlib.h>

#include "base/memory.h"
#include "exec/database.h"
#include "test.h"

typedef struct bed {
    database *d;
    char *answer; /* of the last text */
    size_t len;
    error err;
} bed;

static inline void bed_open(bed *b)
{
    *b = (bed){0};
    error_init(&b->err);
    CHECK_INT(database_open(&b->d, NULL, 0, 0, &b->err), FENEC_OK);
}

static inline void bed_close(bed *b)
{
    memory_free(b->answer);
    CHECK_INT(database_close(b->d, &b->err), FENEC_OK);
    database_free(b->d);
}

/* The code; the answer or the message is b->answer until the next text. */
static inline int bed_run(bed *b, const char *text, const char *params, const void *vectors, size_t vectors_len)
{
    buffer out;

    memory_free(b->answer);
    b->answer = NULL;
    buffer_init(&out);
    error_init(&b->err);
    int code = database_query(b->d, (const uint8_t *)text, strlen(text), (const uint8_t *)params,
                              params ? strlen(params) : 0, vectors, vectors_len, &out, &b->err);
    if (code) {
        out.len = 0;
        out.failed = false;
        buffer_text(&out, b->err.message);
    }
    b->answer = buffer_take(&out, &b->len);
    return code;
}

static inline void bed_do(bed *b, const char *text)
{
    int code = bed_run(b, text, NULL, NULL, 0);
    if (code)
        test_failed(__FILE__, __LINE__, "%s: %d %s", text, code, b->answer);
}

/* The rows of an answer: what stands in "rows":[...]. */
static inline const char *bed_rows(bed *b, const char *text, const char *params)
{
    int code = bed_run(b, text, params, NULL, 0);
    char *rows = b->answer ? strstr(b->answer, "\"rows\":[") : NULL;

    if (code || !rows) {
        test_failed(__FILE__, __LINE__, "%s: %d %s", text, code, b->answer ? b->answer : "");
        return "";
    }
    rows += strlen("\"rows\":[");
    b->answer[b->len - strlen("]}}")] = 0;
    return rows;
}

#define CHECK_ROWS(b, text, want) CHECK_TEXT(bed_rows(b, text, NULL), want)
#define CHECK_ROWS_OF(b, text, params, want) CHECK_TEXT(bed_rows(b, text, params), want)
#define CHECK_CODE(b, text, want) CHECK_INT(bed_run(b, text, NULL, NULL, 0), want)

#endif
