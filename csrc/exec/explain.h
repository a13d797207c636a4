/* explain.h - the steps of a run, one line each, in the order they ran (chapter 3 section 8). */
#ifndef EXEC_EXPLAIN_H
#define EXEC_EXPLAIN_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

typedef struct explain {
    buffer steps; /* each line with its line feed */
} explain;

void explain_init(explain *x);
void explain_clear(explain *x);

/* Does nothing where x is NULL: a run that nobody explains. The line holds no line feed. */
void explain_step(explain *x, const char *format, ...) FN_PRINTF(2, 3);

/* The whole answer: one column `plan`, a row for each step. */
int explain_answer(const explain *x, arena *a, buffer *out, error *err);

#endif
