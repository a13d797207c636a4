/* write.h - put, insert, set, del. */
#ifndef EXEC_WRITE_H
#define EXEC_WRITE_H

#include "base/buffer.h"
#include "exec/changes.h"
#include "exec/context.h"
#include "ql/ast.h"

typedef struct write_plan write_plan;

/* Binds a write to a catalog: immutable, in `a`. NOT_FOUND (collection, returning), TYPE, FENEC_QUERY. */
int write_bind(const stmt *s, const catalog *cat, arena *a, write_plan **out, error *err);

/* Runs it inside a block; the changes it made are noted in `changes`. On failure the caller puts the
 * block back. */
int write_run(const write_plan *p, const context *cx, changes *noted, buffer *out, error *err);

/* Whether it may fail after its first write, so that its block needs undo. */
bool write_needs_undo(const write_plan *p);

#endif
