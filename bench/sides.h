/* sides.h - the two sides of a benchmark, the engine's handle and SQLite's, and what asks them. A benchmark that
 * is refused ends. */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H

#include <sqlite3.h>

#include "compare.h"
#include "fenec.h"

static uint64_t db;
static sqlite3 *lite;

/* Answers how long the answer is. */
static inline size_t run(const char *text, const char *params)
{
    char *out;
    size_t len;

    if (fenec_query(db, (const uint8_t *)text, strlen(text), (const uint8_t *)params, strlen(params), NULL, 0, &out,
                    &len) != FENEC_OK) {
        fprintf(stderr, "bench: %s: %s\n", text, out);
        exit(1);
    }
    fenec_free_string(out);
    return len;
}

static inline void lite_exec(const char *text)
{
    char *why = NULL;

    if (sqlite3_exec(lite, text, NULL, NULL, &why) != SQLITE_OK) {
        fprintf(stderr, "bench: %s: %s\n", text, why);
        exit(1);
    }
}

static inline sqlite3_stmt *prepare(const char *text)
{
    sqlite3_stmt *out;

    if (sqlite3_prepare_v3(lite, text, -1, SQLITE_PREPARE_PERSISTENT, &out, NULL) != SQLITE_OK) {
        fprintf(stderr, "bench: %s: %s\n", text, sqlite3_errmsg(lite));
        exit(1);
    }
    return out;
}

#endif
