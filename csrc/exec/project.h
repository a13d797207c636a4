/* project.h - the columns of a plain list, and a row written by them. */
#ifndef EXEC_PROJECT_H
#define EXEC_PROJECT_H

#include "exec/answer.h"
#include "exec/expr.h"

typedef struct project_item {
    enum { PROJECT_ID, PROJECT_FIELD, PROJECT_VALUE, PROJECT_MARK } kind;
    uint32_t field; /* FIELD: its number in records; MARK: which */
    const bound *e; /* VALUE: a path or what is computed */
} project_item;

/* Immutable, in the arena it was bound in. */
typedef struct projection {
    project_item *items;
    uint32_t count;
    answer_columns columns;
    constants once; /* scope's `resolved` is of these */
} projection;

/* columns NULL: id and every field in schema order. NOT_FOUND, TYPE, FENEC_QUERY. */
int projection_bind(const collection *of, const column *columns, uint32_t count, arena *a, projection *out,
                    error *err);

/* With marks where their places are among the columns; answer.mark writes them. */
int projection_bind_marked(const collection *of, bool all, const column *columns, uint32_t count, const mark marks[],
                           uint32_t mark_count, arena *a, projection *out, error *err);

/* Whether a row has to be read for its columns: more than ids is asked for. */
bool projection_wants_row(const projection *p);

/* The value of a column of s->row; of no mark. */
int projection_value(const project_item *item, const scope *s, value *out, error *err);

/* Writes its columns into a row that is begun, and not ended. */
int projection_columns(const projection *p, const scope *s, answer *w, error *err);

/* Writes s->row as the next row, straight from its record where it can. */
int projection_row(const projection *p, const scope *s, answer *w, error *err);

#endif
