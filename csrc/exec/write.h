/* write.h - put, insert, set, del. */
#ifndef EXEC_WRITE_H
#define EXEC_WRITE_H

#include "base/buffer.h"
#include "exec/block.h"
#include "exec/context.h"
#include "ql/ast.h"

typedef struct write_plan write_plan;

/* Binds a write to a catalog: immutable, in `a`. NOT_FOUND (collection, returning), TYPE, FENEC_QUERY. */
int write_bind(const stmt *s, const catalog *cat, arena *a, write_plan **out, error *err);

/* Runs it inside a block, whose connection and catalog the context has; appends the whole answer. On
 * failure the caller puts the block back. */
int write_run(const write_plan *p, const context *cx, block *b, buffer *out, error *err);

/* Whether it may have to be put back after its first write: not a single document, checked whole before. */
bool write_needs_undo(const stmt *s, const value *params, uint32_t param_count);

#endif
