/* compact.h - the statement `compact`: values of dropped fields leave the records, free pages the file. */
#ifndef EXEC_COMPACT_H
#define EXEC_COMPACT_H

#include "base/buffer.h"
#include "exec/block.h"
#include "ql/ast.h"

/* NOT_FOUND; QUERY, asking to run it again, where a collection changed meanwhile or another compact runs.
 * *ticket is store_wait's. No lock may be held. */
int compact_run(writer *w, const stmt *s, struct scratch *memory, buffer *out, uint64_t *ticket, error *err);

#endif
