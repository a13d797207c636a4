/* block.h - writes that land together or not at all. */
#ifndef EXEC_BLOCK_H
#define EXEC_BLOCK_H

#include <stdatomic.h>

#include "base/error.h"
#include "catalog/catalog.h"
#include "exec/changes.h"
#include "exec/id_marks.h"
#include "store/conn.h"
#include "store/store.h"

/* An index being built beside the database, in order of id, in short blocks: writers keep the entries of
 * ids at or below `to`. */
typedef struct build {
    uint32_t index;
    int64_t to;
    bool clash; /* a writer put a second id under a key of what is to be @unique: look at all keys */
    struct build *next;
} build;

/* What the blocks of one database share. `s` and `ring` are fixed, `compacting` is atomic, the rest is
 * under the writer's lock. */
typedef struct writer {
    store *s;
    change_ring *ring;
    id_marks marks;
    build *builds;
    _Atomic(bool) compacting;
    uint64_t seq; /* changes landed */
} writer;

typedef struct block {
    writer *w;
    conn *c;
    const catalog *cat; /* as the next statement sees it */
    catalog *own;       /* cat where a statement of the block made it, with the block's reference */
    changes *noted;     /* the scratch's */
    struct scratch *scratch;
} block;

/* Waits for the writer's lock. `undo` is store_write's; the scratch is the call's. */
int block_begin(block *b, writer *w, bool undo, struct scratch *memory, error *err);

/* Takes a catalog that a schema statement of the block made (its reference passes on). */
void block_schema(block *b, catalog *next);

/* FENEC_PANIC where memory ran out. */
int block_note(block *b, uint32_t of, int64_t id, error *err);

/* Lands it, changes told to the ring; *ticket is store_wait's. On failure it was put back. */
int block_commit(block *b, uint64_t *ticket, error *err);
void block_rollback(block *b);

#endif
