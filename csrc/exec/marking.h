/* marking.h - highlight and snippet in a select list (chapter 4 section 6). */
#ifndef EXEC_MARKING_H
#define EXEC_MARKING_H

#include "base/buffer.h"
#include "exec/match.h"
#include "ql/ast.h"
#include "store/row.h"

typedef struct marks_plan marks_plan;

/* Binds the marks of a select with a match; immutable, in `a`. NOT_FOUND; TYPE: a field that is no text. */
int marks_bind(const select_stmt *s, const match_plan *match, const collection *of, arena *a, marks_plan **out,
               error *err);

typedef struct marking marking;

/* In cx->memory, for the rows of one run. TYPE: a tag that is no text. */
int marking_open(const marks_plan *p, const context *cx, marking **out, error *err);

/* Writes the mark of that number for a row: answer.h's `mark`. */
int marking_write(void *m, uint32_t number, const row *r, buffer *out, error *err);

#endif
