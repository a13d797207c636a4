/* context.h - what a statement runs in. */
#ifndef EXEC_CONTEXT_H
#define EXEC_CONTEXT_H

#include "base/arena.h"
#include "base/error.h"
#include "catalog/catalog.h"
#include "store/conn.h"
#include "value/value.h"

struct subquery_answer;
struct published;
struct block;

/* A run ends with this, err unfilled, where a search index has to be read from the file, or built anew, before
 * it can go on: `need` says which. Whoever began the snapshot sees to it and runs the statement again. */
#define FN_AGAIN (-2)

typedef struct search_need {
    uint32_t collection, index;
    bool damaged;
} search_need;

typedef struct context {
    conn *c;            /* inside a snapshot or a block */
    const catalog *cat; /* as the statement sees it */
    const value *params;
    uint32_t param_count;
    int64_t now_ms; /* now(): one per statement */
    arena *memory;  /* of the statement: goes with its answer */
    const struct published *state; /* of the snapshot; in a block the block's */
    struct block *block;       /* NULL: a snapshot */
    search_need *need;
    struct subquery_answer **answered; /* by its inner reads so far: subquery.c's, NULL to start */
} context;

/* The parameter of a place, or FENEC_QUERY where it was not given. */
int context_param(const context *cx, uint32_t place, value *out, error *err);

/* limit, offset, top: an int, below 0 counts as 0. FENEC_QUERY. `absent` where none was written. */
int context_count(const context *cx, const count_value *n, const char *what, int64_t absent, int64_t *out,
                  error *err);

#endif
