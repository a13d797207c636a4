/* changes.h - what was written: the changes of a block, and the ring of the last 4 096 of a database. */
#ifndef EXEC_CHANGES_H
#define EXEC_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/thread.h"
#include "catalog/catalog.h"

#define CHANGES_REMEMBERED 4096

/* One document written or deleted, or (id 0) a change of the collection's schema. */
typedef struct change {
    uint32_t collection;
    int64_t id;
} change;

/* The changes of one block, not landed yet. Beyond the last 4 096 only the count is kept. */
typedef struct changes {
    change *items; /* a ring of at most CHANGES_REMEMBERED, grown on demand */
    uint32_t cap;
    uint64_t count;
    bool dropped; /* a collection was dropped: cursors before this block cannot be told */
    bool failed;  /* memory ran out: the block is to be put back */
} changes;

void changes_init(changes *c);
void changes_clear(changes *c);
void changes_note(changes *c, uint32_t collection, int64_t id);

/* The ring, behind LOCK_RING. */
typedef struct change_ring change_ring;

change_ring *change_ring_new(uint64_t seq); /* NULL: no memory */
void change_ring_free(change_ring *r);
uint64_t change_ring_seq(change_ring *r);
void change_ring_land(change_ring *r, const changes *landed);

/* {"seq":N,"horizon":M,"collections":[...]} by the names and order of `cat`. */
void change_ring_since(change_ring *r, uint64_t since, const catalog *cat, buffer *out);

#endif
