/* changes.h - what was written: the changes of a block, and the ring of the last 4 096 of a database. */
#ifndef EXEC_CHANGES_H
#define EXEC_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "catalog/catalog.h"

#define CHANGES_REMEMBERED 4096

/* One document written or deleted, or (id 0) a change of the collection's schema. */
typedef struct change {
    uint32_t collection;
    int64_t id;
} change;

/* The changes of one block, not landed yet. Beyond the last 4 096 only the count is kept. */
typedef struct changes {
    change *items; /* a ring, change number n at n % CHANGES_REMEMBERED; grown on demand */
    uint32_t cap;
    uint64_t count;
} changes;

void changes_init(changes *c);
void changes_clear(changes *c);
void changes_reset(changes *c); /* forgets them, keeps the memory */
/* False where memory ran out: the block is to be put back. */
bool changes_note(changes *c, uint32_t of, int64_t id);

/* The ring, behind LOCK_RING. It keeps the catalog that goes with what has landed. */
typedef struct change_ring change_ring;

change_ring *change_ring_new(uint64_t seq, const catalog *cat); /* NULL: no memory */
void change_ring_free(change_ring *r);

/* Lands a block's changes, and the catalog after it (NULL: as it was). Under the writer's lock, so that
 * blocks land in the order of their commits. */
void change_ring_land(change_ring *r, const changes *landed, const catalog *cat);

/* {"seq":N,"horizon":M,"collections":[...]} (chapter 2 section 18). */
void change_ring_since(change_ring *r, uint64_t since, buffer *out);

#endif
