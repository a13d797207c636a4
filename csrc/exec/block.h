/* block.h - writes that land together or not at all. */
#ifndef EXEC_BLOCK_H
#define EXEC_BLOCK_H

#include <stdatomic.h>

#include "base/error.h"
#include "catalog/catalog.h"
#include "exec/changes.h"
#include "exec/context.h"
#include "exec/id_marks.h"
#include "exec/id_set.h"
#include "exec/maintenance.h"
#include "exec/published.h"
#include "store/conn.h"
#include "store/store.h"

/* An index being built beside the database, in short blocks: writers keep the entries of ids at or below `to`.
 * In order of id it moves up with the build. In order of key it is past all ids from the start: writers keep
 * every entry and name the ids in `touched`, whose entries the build then takes from the rows as they are. */
typedef struct build {
    uint32_t index;
    int64_t to;
    bool by_key;
    id_set touched;
    id_set clashes; /* put by writers under a key of what is to be @unique that another id had: to be looked at again */
    struct build *next;
} build;

/* What the blocks of one database share. The first five are fixed, `compacting` is atomic, the rest is
 * under the writer's lock. */
typedef struct writer {
    store *s;
    change_ring *ring;
    maintenance *behind;
    struct row_cache *cache; /* of the rows of search indexes */
    struct unbuilt *unbuilt;
    id_marks marks;
    build *builds;
    _Atomic(bool) compacting;
    uint64_t seq; /* changes landed */
} writer;

struct block;

/* What a kind of search index has a block do. */
typedef struct part_kind {
    bool passes; /* what the block has of it is its own alone: nothing is published */
    /* Before the block lands: writes what goes with it. May be NULL. */
    int (*land)(struct block *b, uint32_t index, version *v, error *err);
    /* The block has landed, the lock is held still. May be NULL. */
    void (*landed)(struct block *b, uint32_t index, version *v);
    /* The block was put back: what it did to shared memory is undone, under the writer's lock still. May be
     * NULL. The version is dropped after it. */
    void (*undo)(version *v);
} part_kind;

/* What a search index is to a block that touched it. */
typedef struct block_part {
    uint32_t index;
    const part_kind *kind;
    version *v; /* the block's reference; NULL: it is to be read from the file */
} block_part;

typedef struct block {
    writer *w;
    conn *c;
    const published *base;  /* as published */
    const catalog *cat; /* as the next statement sees it */
    catalog *own;       /* cat where a statement of the block made it, with the block's reference */
    block_part *parts;  /* by ascending index; the scratch's memory */
    uint32_t part_count;
    changes *noted;     /* the scratch's */
    struct scratch *scratch;
    search_need need; /* with FN_AGAIN */
} block;

/* Waits for the writer's lock. `undo` is store_write's; the scratch is the call's. */
int block_begin(block *b, writer *w, bool undo, struct scratch *memory, error *err);

/* For a block that only reads search indexes and publishes them: store_write_still. */
int block_begin_still(block *b, writer *w, struct scratch *memory, error *err);

/* Takes a catalog that a schema statement of the block made (its reference passes on). */
void block_schema(block *b, catalog *next);

/* A search index as the block sees it, borrowed; NULL: to be read from the file. *own: block_set_part gave it. */
version *block_get_part(const block *b, uint32_t index, bool *own);

/* Of what kind the block's own version is; NULL: it has none. */
const part_kind *block_part_kind(const block *b, uint32_t index);

/* What it is from now on, to the block and, published with it, to everybody after it. The reference passes
 * on, on failure too (undone then). The same version again, or another in its place, which undoes its own
 * doings alone. */
int block_set_part(block *b, uint32_t index, const part_kind *kind, version *v, error *err);

/* FENEC_PANIC where memory ran out. */
int block_note(block *b, uint32_t of, int64_t id, error *err);

/* Lands it, changes told to the ring; *ticket is store_wait's. On failure it was put back. */
int block_commit(block *b, uint64_t *ticket, error *err);
void block_rollback(block *b);

#endif
