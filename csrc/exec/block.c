#include "exec/block.h"

#include "exec/scratch.h"

/* A commit that failed left the lock before anything here could be taken back. */
static int read_anew(block *b, error *err)
{
    int rc = counter_get(b->c, &b->w->seq, err);

    if (rc == FENEC_OK) {
        id_marks_clear(&b->w->marks);
        atomic_store(&b->w->unsure, 0);
    }
    return rc;
}

int block_begin(block *b, writer *w, bool undo, scratch *memory, error *err)
{
    version *v;

    *b = (block){.w = w, .noted = &memory->noted, .scratch = memory};
    int rc = store_write(w->s, undo, &b->c, &v, err);
    if (rc != FENEC_OK)
        return rc;
    b->cat = (const catalog *)v;
    if (atomic_load(&w->unsure)) {
        rc = read_anew(b, err);
        if (rc != FENEC_OK)
            store_write_rollback(b->c);
    }
    return rc;
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
    int rc;

    if (b->noted->count == 0 && !b->own)
        return store_write_commit(b->c, NULL, ticket, err);
    if (b->noted->count)
        counter_set(b->c, w->seq + b->noted->count);
    id_marks_land(&w->marks);
    w->seq += b->noted->count;
    uint64_t before = w->order++, after = before + 1;
    atomic_store(&w->unsure, after);
    if (b->own)
        version_keep(&b->own->head); /* the ring's; the block's goes to the store */
    rc = store_write_commit(b->c, b->own ? &b->own->head : NULL, ticket, err);
    if (rc == FENEC_OK)
        atomic_compare_exchange_strong(&w->unsure, &after, 0);
    else
        changes_reset(b->noted);
    change_ring_land(w->ring, before, b->noted, rc == FENEC_OK ? b->own : NULL);
    if (b->own)
        version_drop(&b->own->head);
    return rc;
}
