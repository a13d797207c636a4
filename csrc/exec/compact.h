/* compact.h - the statement `compact`: values of dropped fields leave the records, free pages the file. And
 * when it runs by itself: where at least 64 MiB of the file are dead, and half of it or all that the memory
 * for its pages is too small for. */
#ifndef EXEC_COMPACT_H
#define EXEC_COMPACT_H

#include "base/buffer.h"
#include "exec/block.h"
#include "ql/ast.h"

/* NOT_FOUND; QUERY, asking to run it again, where a collection changed meanwhile or another compact runs.
 * *ticket is store_wait's. No lock may be held. */
int compact_run(writer *w, const stmt *s, struct scratch *memory, buffer *out, uint64_t *ticket, error *err);

/* `dead` of `file` bytes are free pages; `memory` is what the device has. */
bool compact_is_due(uint64_t file, uint64_t dead, uint64_t memory);

/* Waits for the block under way, and compacts where that is due, no index is being built and no compact runs.
 * Nobody hears of what fails: the next look tries again. `memory` 0: asks the device. No lock may be held. */
void compact_look(writer *w, struct scratch *scratch, uint64_t memory);

#endif
