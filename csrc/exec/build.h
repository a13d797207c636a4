/* build.h - a lone `create index`: built beside the database in short blocks, in order of key, or of id where it
 * is a search index.
 *
 * The first block declares the index INDEX_BUILDING, the last makes it INDEX_READY and is the change that
 * counts. Between them writers keep the entries of what is behind the mark (block.h). What an open finds
 * INDEX_BUILDING it drops. */
#ifndef EXEC_BUILD_H
#define EXEC_BUILD_H

#include "base/buffer.h"
#include "exec/block.h"
#include "ql/ast.h"

/* What a build gathers before it writes it. Tests make it smaller. */
extern _Atomic(size_t) build_run_bytes;

/* What ddl_run answers for it; QUERY, asking to run it again, where the collection changed meanwhile.
 * *ticket is store_wait's. No lock may be held. */
int build_run(writer *w, const stmt *s, struct scratch *memory, buffer *out, uint64_t *ticket, error *err);

/* Builds an index that is INDEX_UNBUILT the same way, from nothing; the change is none that counts, and
 * waits for no disk. FENEC_OK also where it is not to be built any more. */
int build_unbuilt(writer *w, uint32_t of, uint32_t index, struct scratch *memory, error *err);

/* Drops indexes that a process left unfinished: *next is NULL where there were none. */
int build_drop_unfinished(const catalog *cat, conn *c, catalog **next, error *err);

#endif
