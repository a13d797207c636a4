#include "exec/block.h"

#include "exec/scratch.h"

int block_begin(block *b, writer *w, bool undo, scratch *memory, error *err)
{
    version *v;

    *b = (block){.w = w, .noted = &memory->noted, .scratch = memory};
    int rc = store_write(w->s, undo, &b->c, &v, err);
    if (rc != FENEC_OK)
        return rc;
    b->cat = (const catalog *)v;
    return FENEC_OK;
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

void block_rollback(block *b)
{
    id_marks_undo(&b->w->marks);
    store_write_rollback(b->c);
    if (b->own)
        version_drop(&b->own->head);
    changes_reset(b->noted);
}

int block_commit(block *b, uint64_t *ticket, error *err)
{
    writer *w = b->w;

    if (b->noted->count)
        counter_set(b->c, w->seq + b->noted->count);
    if (b->own)
        version_keep(&b->own->head); /* the ring's; the block's goes to the store */
    int rc = store_write_land(b->c, b->own ? &b->own->head : NULL, ticket, err);
    if (rc == FENEC_OK) {
        id_marks_land(&w->marks);
        w->seq += b->noted->count;
        if (b->noted->count || b->own)
            change_ring_land(w->ring, b->noted, b->own);
    } else {
        id_marks_undo(&w->marks);
        changes_reset(b->noted);
    }
    store_write_leave(b->c);
    if (b->own)
        version_drop(&b->own->head);
    return rc;
}
