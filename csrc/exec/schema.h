/* schema.h - the schema in code, followed or brought into a database (chapter 6 section 11). */
#ifndef EXEC_SCHEMA_H
#define EXEC_SCHEMA_H

#include "base/buffer.h"
#include "catalog/description.h"
#include "exec/block.h"

/* Runs a text inside a block and appends the answer of its last statement; parameters as JSON. A text
 * without a statement, and one with compact, is QUERY. FN_AGAIN is handed on as it is. */
typedef struct text_runner {
    int (*run)(void *context, block *b, const char *text, size_t len, const buffer *params, buffer *answer,
               error *err);
    void *context;
} text_runner;

/* What differs; nothing is written. Appends the answer. */
int schema_follow(const catalog *cat, const description *d, buffer *out, error *err);

/* Runs the pending migrations in the block, compares and, with `apply`, adds what is only added. *keep:
 * the block is to land; else, and on failure, it is to be put back. Appends the answer. */
int schema_bring(block *b, const description *d, bool apply, const text_runner *runner, buffer *out, bool *keep,
                 error *err);

#endif
