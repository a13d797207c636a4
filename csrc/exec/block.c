#include "exec/block.h"

#include <string.h>

#include "base/memory.h"
#include "exec/scratch.h"

static int begun(block *b, int rc, const version *v)
{
    if (rc != FENEC_OK)
        return rc;
    b->base = (const published *)v;
    b->cat = b->base->cat;
    return FENEC_OK;
}

static void block_init(block *b, writer *w, scratch *memory)
{
    *b = (block){.w = w, .noted = &memory->noted, .scratch = memory, .parts = memory->parts};
}

int block_begin(block *b, writer *w, bool undo, scratch *memory, error *err)
{
    version *v = NULL;

    block_init(b, w, memory);
    int rc = store_write(w->s, undo, &b->c, &v, err);
    return begun(b, rc, v);
}

int block_begin_still(block *b, writer *w, scratch *memory, error *err)
{
    version *v = NULL;

    block_init(b, w, memory);
    int rc = store_write_still(w->s, &b->c, &v, err);
    return begun(b, rc, v);
}

void block_schema(block *b, catalog *next)
{
    if (b->own)
        version_drop(&b->own->head);
    b->cat = b->own = next;
}

int block_note(block *b, uint32_t of, int64_t id, error *err)
{
    return changes_note(b->noted, of, id) ? FENEC_OK : fail_memory(err);
}

/* ---- search indexes ---- */

/* Where the part of that index is, or belongs. */
static uint32_t part_place(const block *b, uint32_t index)
{
    uint32_t i = 0;

    while (i < b->part_count && b->parts[i].index < index)
        i++;
    return i;
}

version *block_get_part(const block *b, uint32_t index, bool *own)
{
    uint32_t i = part_place(b, index);

    *own = i < b->part_count && b->parts[i].index == index;
    return *own ? b->parts[i].v : published_find(b->base, index);
}

const part_kind *block_part_kind(const block *b, uint32_t index)
{
    uint32_t i = part_place(b, index);

    return i < b->part_count && b->parts[i].index == index ? b->parts[i].kind : NULL;
}

static void drop_part(const block_part *p)
{
    if (p->v && p->kind->undo)
        p->kind->undo(p->v);
    version_drop(p->v);
}

int block_set_part(block *b, uint32_t index, const part_kind *kind, version *v, error *err)
{
    const block_part fresh = {.index = index, .kind = kind, .v = v};
    uint32_t i = part_place(b, index);

    if (i < b->part_count && b->parts[i].index == index) {
        version_drop(b->parts[i].v);
        b->parts[i] = fresh;
        return FENEC_OK;
    }
    if (b->part_count == b->scratch->part_cap) {
        uint32_t cap = b->part_count + 4;
        block_part *more = memory_resize(b->scratch->parts, cap * sizeof *more);
        if (!more) {
            drop_part(&fresh);
            return fail_memory(err);
        }
        b->scratch->parts = b->parts = more;
        b->scratch->part_cap = cap;
    }
    memmove(&b->parts[i + 1], &b->parts[i], (b->part_count - i) * sizeof *b->parts);
    b->parts[i] = fresh;
    b->part_count++;
    return FENEC_OK;
}

static void drop_parts(block *b, bool undo)
{
    for (uint32_t i = 0; i < b->part_count; i++) {
        const block_part *p = &b->parts[i];
        if (undo) {
            drop_part(p);
            continue;
        }
        if (p->v && p->kind->landed)
            p->kind->landed(b, p->index, p->v);
        version_drop(p->v);
    }
    b->part_count = 0;
}

/* ---- the end ---- */

/* The state that the block leaves; NULL: the one it found. */
static int next_state(block *b, published **out, error *err)
{
    arena *a = &b->scratch->memory;
    arena_mark here = arena_here(a);
    published_part *changed = arena_alloc(a, b->part_count * sizeof *changed + 1);
    int rc = changed ? FENEC_OK : fail_memory(err);
    bool publishes = false;

    *out = NULL;
    for (uint32_t i = 0; rc == FENEC_OK && i < b->part_count; i++) {
        const block_part *p = &b->parts[i];
        if (p->v && p->kind->land)
            rc = p->kind->land(b, p->index, p->v, err);
        changed[i] = (published_part){p->index, p->v && p->kind->passes ? NULL : p->v};
        publishes |= !p->v || !p->kind->passes;
    }
    if (rc == FENEC_OK && (b->own || publishes) &&
        !(*out = published_new(b->base, b->cat, changed, b->part_count)))
        rc = fail_memory(err);
    arena_rewind(a, here);
    return rc;
}

/* After what was written is put back, the lock still held. */
static void forget(block *b)
{
    id_marks_undo(&b->w->marks);
    drop_parts(b, true);
    changes_reset(b->noted);
}

void block_rollback(block *b)
{
    forget(b);
    store_write_rollback(b->c);
    if (b->own)
        version_drop(&b->own->head);
}

int block_commit(block *b, uint64_t *ticket, error *err)
{
    writer *w = b->w;
    published *next;
    int rc = next_state(b, &next, err);

    if (rc != FENEC_OK) {
        block_rollback(b);
        return rc;
    }
    if (b->noted->count)
        counter_set(b->c, w->seq + b->noted->count);
    rc = store_write_land(b->c, next ? &next->head : NULL, ticket, err);
    if (rc == FENEC_OK) {
        id_marks_land(&w->marks);
        w->seq += b->noted->count;
        if (b->noted->count || b->own)
            change_ring_land(w->ring, b->noted, b->own);
        drop_parts(b, false);
    } else {
        forget(b);
    }
    store_write_leave(b->c);
    if (b->own)
        version_drop(&b->own->head);
    return rc;
}
