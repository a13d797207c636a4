/* writing.h - what write.c and put.c share: a write bound, a write under way, one row of it. */
#ifndef EXEC_WRITING_H
#define EXEC_WRITING_H

#include "exec/answer.h"
#include "exec/document.h"
#include "exec/pick.h"
#include "exec/scratch.h"
#include "exec/write.h"

/* A column of `returning`. */
typedef struct returned {
    int32_t place; /* -1: id */
    const path *on; /* NULL: the field itself */
} returned;

struct write_plan {
    const stmt *s;
    const collection *of;
    bound_pairs *docs; /* s->doc_count */
    bound_pairs set;
    pick_plan *pick;
    answer_columns columns; /* where returning is given */
    returned *returned;
};

typedef struct writing {
    const write_plan *p;
    const collection *of;
    const context *cx;
    block *b;
    id_mark *mark;
    arena *rows; /* of the row under way; cx->memory where rows are to last */
    answer answer;
    uint64_t written;
} writing;

/* put and insert, everything but what frames the answer. */
int put_run(writing *w, error *err);

/* One row set by the plan's pairs; `fresh` is the document of an upsert or NULL. *old is kept. The values
 * it has now, by place, are old's but where touched: both in w->rows. */
int set_row(writing *w, const row *old, const document *fresh, value **values, bool **touched, error *err);

/* Makes room for the row whose keys were made: deletes rows past their time that hold one of its @unique
 * values. A live one is DUPLICATE, or *live where live is not NULL; nothing is deleted then. `own` 0: the
 * row is new and needs an id. The keys are to be made anew where *made_room. */
int make_room(writing *w, int64_t own, int64_t *live, bool *made_room, error *err);

/* FENEC_QUERY: the largest id has been held. */
int no_id_left(const writing *w, error *err);

/* Writes the row under `id` with its entries; `touched` NULL: all. */
int write_row(writing *w, int64_t id, const value *values, const bool *touched, const row *old, error *err);
int delete_row(writing *w, const row *old, error *err);

/* A row of `returning`: values where touched (NULL: all), else old's. */
int answer_written(writing *w, int64_t id, const value *values, const bool *touched, const row *old, error *err);

#endif
