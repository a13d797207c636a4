/* answer.h - an answer of kind rows, written straight to bytes. */
#ifndef EXEC_ANSWER_H
#define EXEC_ANSWER_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "value/value.h"

/* Column names, escaped once: immutable, cached with a plan. */
typedef struct answer_columns {
    const char **names; /* "\"name\":" each, all but the first with a comma before it */
    const uint32_t *lens;
    uint32_t count;
    const char *head; /* {"kind":"rows","result":{"columns":[...],"rows":[ */
    uint32_t head_len;
} answer_columns;

/* False where memory ran out. */
bool answer_columns_make(answer_columns *c, arena *a, const char *const names[], const uint32_t lens[],
                         uint32_t count);

struct row;

typedef struct answer {
    buffer *out;
    const answer_columns *columns;
    uint32_t at; /* next column */
    uint64_t rows;
    /* Writes a column that is a mark; set after answer_begin where there are such. */
    int (*mark)(void *marks, uint32_t number, const struct row *r, buffer *out, error *err);
    void *marks;
} answer;

void answer_begin(answer *w, buffer *out, const answer_columns *columns);
void answer_row(answer *w);                   /* starts a row */
void answer_value(answer *w, const value *v); /* its next column */
void answer_row_end(answer *w);
void answer_end(answer *w);

/* The next column of a row without its value, which the caller writes. */
static inline void answer_name(answer *w)
{
    uint32_t i = w->at++;
    buffer_put(w->out, w->columns->names[i], w->columns->lens[i]);
}

#endif
