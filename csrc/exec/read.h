/* read.h - get, select and explain. */
#ifndef EXEC_READ_H
#define EXEC_READ_H

#include "base/buffer.h"
#include "exec/context.h"
#include "ql/ast.h"

typedef struct read_plan read_plan;

/* Binds a select to a catalog: immutable, in `a`, names borrowed from both. NOT_FOUND; TYPE; FENEC_QUERY,
 * also for a clause this build does not run ("... is not available in this build"). */
int read_bind(const select_stmt *s, const catalog *cat, bool explained, arena *a, read_plan **out, error *err);

/* Runs it and appends the whole answer to *out. UNMET where `require` is. */
int read_run(const read_plan *p, const context *cx, buffer *out, error *err);

#endif
