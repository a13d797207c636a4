/* read.h - get, select and explain. */
#ifndef EXEC_READ_H
#define EXEC_READ_H

#include "base/buffer.h"
#include "exec/context.h"
#include "exec/explain.h"
#include "ql/ast.h"

typedef struct read_plan read_plan;

/* Binds a select to a catalog: immutable, in `a`, names borrowed from both. NOT_FOUND; TYPE; FENEC_QUERY,
 * also for a clause this build does not run ("... is not available in this build"). */
int read_bind(const select_stmt *s, const catalog *cat, bool explained, arena *a, read_plan **out, error *err);

/* What each value of the only column is handed to. It is valid during the call alone. */
typedef int read_visit(void *to, const value *v, error *err);

/* Runs a plan of one column, a row at a time; its steps are told to x. */
int read_values(const read_plan *p, const context *cx, read_visit *visit, void *to, explain *x, error *err);

/* Runs it and appends the whole answer to *out. UNMET where `require` is. */
int read_run(const read_plan *p, const context *cx, buffer *out, error *err);

#endif
