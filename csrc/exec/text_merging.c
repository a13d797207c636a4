#include "exec/text_merging.h"

#include "exec/scratch.h"
#include "exec/text_part.h"
#include "exec/unbuilt.h"
#include "search/row_cache.h"
#include "search/text_index.h"

/* A merge under way. Rows are read in snapshots and written in blocks, by turns: a thread is in one of the two
 * at a time. */
typedef struct merging {
    writer *w;
    scratch *memory;
    uint32_t index;
    bool whole;    /* all segments are to be one */
    text_merge *m; /* NULL: nothing to do */
    error err;     /* nobody hears of it */
} merging;

/* In a snapshot: chooses what to merge, or reads on. */
static int read_on(merging *g)
{
    version *v;
    conn *c;
    int rc = store_read(g->w->s, &c, &v, &g->err);

    if (rc != FENEC_OK)
        return rc;
    const text_version *t = (const text_version *)published_find((const published *)v, g->index);
    if (t && !g->m)
        rc = text_merge_new(&g->m, t, g->whole, &g->err);
    if (rc == FENEC_OK && g->m)
        rc = text_merge_read(g->m, c, &g->err);
    store_read_end(c);
    return rc;
}

/* In a block: the index as it is now, where what is merged is a part of it still. */
static const text_version *current(const merging *g, const block *b)
{
    bool own;
    const text_version *t = (const text_version *)block_get_part(b, g->index, &own);

    return t && text_merge_is_current(g->m, t) ? t : NULL;
}

static int write_rows(merging *g)
{
    uint64_t ticket;
    block b;
    int rc = block_begin(&b, g->w, true, g->memory, &g->err);

    if (rc != FENEC_OK)
        return rc;
    rc = current(g, &b) ? text_merge_write(g->m, b.c, &g->err) : FN_END;
    if (rc == FENEC_OK)
        return block_commit(&b, &ticket, &g->err);
    block_rollback(&b);
    return rc;
}

static int land(merging *g)
{
    uint64_t ticket;
    block b;
    int rc = block_begin(&b, g->w, true, g->memory, &g->err);

    if (rc != FENEC_OK)
        return rc;
    const text_version *t = current(g, &b);
    text_version *own = t ? text_index_begin(t) : NULL;
    rc = own ? block_set_part(&b, g->index, &text_part.part, &own->head, &g->err) : FN_END;
    if (rc == FENEC_OK)
        rc = text_merge_land(g->m, own, b.c, &g->err);
    if (rc != FENEC_OK) {
        block_rollback(&b);
        return rc;
    }
    rc = block_commit(&b, &ticket, &g->err);
    if (rc == FENEC_OK)
        text_merge_landed(g->m);
    return rc;
}

/* What is merged is gone from the file, or rows of a merge that came to nothing are. */
static void clean(merging *g)
{
    int rc = FENEC_OK;

    while (rc == FENEC_OK && !maintenance_stops(g->w->behind)) {
        uint64_t ticket;
        bool own;
        block b;
        rc = block_begin(&b, g->w, true, g->memory, &g->err);
        if (rc != FENEC_OK)
            return;
        rc = block_get_part(&b, g->index, &own) ? text_merge_clean(g->m, b.c, &g->err) : FN_END;
        if (rc == FENEC_OK)
            rc = block_commit(&b, &ticket, &g->err);
        else
            block_rollback(&b);
    }
}

/* Rows that are not as they were written, of an index that names them still. */
static void note_damage(merging *g)
{
    uint32_t of = 0;
    version *v;
    conn *c;

    if (store_read(g->w->s, &c, &v, &g->err) != FENEC_OK)
        return;
    const published *p = (const published *)v;
    const text_version *t = (const text_version *)published_find(p, g->index);
    for (uint32_t i = 0; i < p->cat->count && !of; i++)
        if (collection_index_numbered(p->cat->collections[i], g->index))
            of = p->cat->collections[i]->number;
    bool is_current = t && g->m && text_merge_is_current(g->m, t);
    store_read_end(c);
    if (is_current && of)
        unbuilt_lose(g->w->unbuilt, g->w, of, g->index, g->memory);
}

static void run(writer *w, uint32_t index, bool whole, bool *again)
{
    merging g = {.w = w, .memory = scratch_new(), .index = index, .whole = whole};
    int rc = FENEC_OK;

    if (!g.memory)
        return;
    error_init(&g.err);
    do {
        rc = read_on(&g);
        bool last = rc == FN_END;
        if (!g.m || (rc != FENEC_OK && !last))
            break;
        rc = write_rows(&g);
        if (rc == FENEC_OK && last) {
            rc = land(&g);
            *again = rc == FENEC_OK;
            break;
        }
    } while (rc == FENEC_OK && !maintenance_stops(g.w->behind));
    if (rc == ROW_DAMAGED)
        note_damage(&g);
    else if (g.m && !maintenance_stops(g.w->behind))
        clean(&g);
    text_merge_free(g.m);
    scratch_free(g.memory);
}

void text_merging(void *with, uint32_t index, bool *again)
{
    run(with, index, false, again);
}

void text_merging_whole(void *with, uint32_t index, bool *again)
{
    run(with, index, true, again);
}
