/* lookup.h - rows of other collections hung onto the rows of a read, level under level (chapter 3
 * section 12).
 *
 * A level is one prepared probe per parent, through an id or an index of equality; its rows are written
 * straight into the answer while their parent's is under way. `required` is a test on the rows of the level
 * above, before their order and page. */
#ifndef EXEC_LOOKUP_H
#define EXEC_LOOKUP_H

#include "base/buffer.h"
#include "exec/pick.h"

typedef struct lookup_plan lookup_plan;

/* Binds the levels of a select over `of`: immutable, in `a`. NOT_FOUND, TYPE, FENEC_QUERY. */
int lookup_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, lookup_plan **out,
                error *err);

typedef struct lookup_run lookup_run;

/* Answers the inner reads of all levels. In cx->memory; lookup_close, which may be called on NULL, lets the
 * rest go. */
int lookup_open(const lookup_plan *p, const context *cx, explain *x, lookup_run **out, error *err);
void lookup_close(lookup_run *r);

/* Where the first level is required: has the rows that k picks tested for it, from whichever side is
 * cheaper. *k stays where it is until it is run for the last time. */
int lookup_require(lookup_run *r, picking *k, error *err);

/* The same for a group: whether it is kept. True where nothing is required. */
int lookup_keeps(lookup_run *r, const value columns[], bool *out, error *err);

/* Appends the member of a parent to its row. Of a row, or of the columns of a group. */
int lookup_write(lookup_run *r, const row *parent, const value columns[], buffer *out, error *err);

/* What was probed and found. */
void lookup_explain(const lookup_run *r, explain *x);

#endif
