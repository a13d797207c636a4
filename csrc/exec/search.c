#include "exec/search.h"

#include "exec/search_kind.h"
#include "exec/text_part.h"
#include "exec/unbuilt.h"
#include "exec/vector_part.h"
#include "search/row_cache.h"

static const search_kind *kind_of(const catalog_index *x)
{
    switch (x->spec.kind) {
    case INDEX_TEXT:
    case INDEX_INVERTED: return &text_part;
    case INDEX_HNSW: return &vector_part;
    default: return NULL;
    }
}

int search_damaged(search_need *need, const collection *of, const catalog_index *x)
{
    *need = (search_need){.collection = of->number, .index = x->number, .damaged = true};
    return FN_AGAIN;
}

/* What a block meets of a damaged index: one that is not in use yet cannot be built anew while it is built. */
static int damaged_in(block *b, const collection *of, const catalog_index *x, error *err)
{
    if (x->state == INDEX_READY)
        return search_damaged(&b->need, of, x);
    return fail(err, FENEC_CORRUPT, "the index on `%s` of `%s` was damaged while it was built", x->on.text, of->name);
}

static bool is_noted(const block *b, const search_kind *kind, const catalog_index *x)
{
    return kind->note && block_part_kind(b, x->number) == &kind->noted;
}

/* The index as the block sees it, read where it was not. What was noted for who reads it is written before. */
static int find_in(block *b, const collection *of, const catalog_index *x, version **out, error *err)
{
    const search_kind *kind = kind_of(x);
    bool own;
    int rc = FENEC_OK;

    *out = block_get_part(b, x->number, &own);
    if (*out && !is_noted(b, kind, x))
        return FENEC_OK;
    if (*out)
        rc = kind->noted.land(b, x->number, *out, err);
    if (rc == FENEC_OK)
        rc = kind->read(b, of, x, out, err);
    if (rc == FENEC_OK)
        rc = block_set_part(b, x->number, &kind->part, *out, err);
    return rc == ROW_DAMAGED ? damaged_in(b, of, x, err) : rc;
}

int search_part(const context *cx, const collection *of, const catalog_index *x, version **out, error *err)
{
    if (cx->block)
        return find_in(cx->block, of, x, out, err);
    *out = published_find(cx->state, x->number);
    if (*out)
        return FENEC_OK;
    *cx->need = (search_need){.collection = of->number, .index = x->number};
    return FN_AGAIN;
}

/* FN_END: the index is in memory, or to be. */
static int note_write(block *b, const catalog_index *x, int64_t id, error *err)
{
    const search_kind *kind = kind_of(x);
    version *v, *noted = NULL;
    bool own;

    if (!kind->note || x->state != INDEX_READY)
        return FN_END;
    v = block_get_part(b, x->number, &own);
    if (v && !is_noted(b, kind, x))
        return FN_END;
    int rc = kind->note(b, x, v, &noted, id, err);
    return rc == FENEC_OK && noted != v ? block_set_part(b, x->number, &kind->noted, noted, err) : rc;
}

int search_write(block *b, const collection *of, const catalog_index *x, int64_t id, const value *had,
                 const value *gets, error *err)
{
    const search_kind *kind = kind_of(x);
    version *v, *own;
    int rc = note_write(b, x, id, err);

    if (rc == FENEC_OK)
        return FENEC_OK;
    if (rc == FN_END)
        rc = find_in(b, of, x, &v, err);

    if (rc != FENEC_OK)
        return rc == ROW_DAMAGED ? damaged_in(b, of, x, err) : rc;
    rc = kind->begin(b, v, &own, err);
    if (rc == FENEC_OK && own != v)
        rc = block_set_part(b, x->number, &kind->part, own, err);
    if (rc == FENEC_OK)
        rc = kind->write(b, x, own, id, had, gets, err);
    return rc == ROW_DAMAGED ? damaged_in(b, of, x, err) : rc;
}

int search_built(block *b, const collection *of, const catalog_index *x, error *err)
{
    const search_kind *kind = kind_of(x);
    version *v, *own;
    int rc = kind && kind->built ? find_in(b, of, x, &v, err) : FENEC_OK;

    if (rc != FENEC_OK || !kind || !kind->built)
        return rc;
    rc = kind->begin(b, v, &own, err);
    if (rc == FENEC_OK && own != v)
        rc = block_set_part(b, x->number, &kind->part, own, err);
    if (rc == FENEC_OK)
        rc = kind->built(b, own, err);
    return rc == ROW_DAMAGED ? damaged_in(b, of, x, err) : rc;
}

/* FN_AGAIN: its rows are damaged. */
static int read_index(writer *w, uint32_t collection_number, uint32_t index, struct scratch *memory, error *err)
{
    uint64_t ticket;
    version *v;
    block b;
    int rc = block_begin_still(&b, w, memory, err);

    if (rc != FENEC_OK)
        return rc;
    const collection *of = catalog_numbered(b.cat, collection_number);
    const catalog_index *x = of ? collection_index_numbered(of, index) : NULL;
    if (x && x->state == INDEX_READY)
        rc = find_in(&b, of, x, &v, err);
    if (rc == FENEC_OK)
        return block_commit(&b, &ticket, err);
    block_rollback(&b);
    return rc;
}

int search_read(writer *w, uint32_t collection_number, uint32_t index, struct scratch *memory, error *err)
{
    lock_take(&w->unbuilt->reading); /* where it is read behind the writers already, that is waited for */
    int rc = read_index(w, collection_number, index, memory, err);
    lock_leave(&w->unbuilt->reading);
    return rc != FN_AGAIN ? rc : unbuilt_rebuild(w->unbuilt, w, collection_number, index, memory, err);
}

/* The first index that is READY, asked for and not read yet: FENEC_OK, FN_END. */
static int find_unread(writer *w, const uint8_t *only, size_t len, uint32_t *of, uint32_t *index, error *err)
{
    version *v;
    conn *c;
    int rc = store_read(w->s, &c, &v, err);

    if (rc != FENEC_OK)
        return rc;
    const published *s = (const published *)v;
    rc = FN_END;
    for (uint32_t i = 0; rc == FN_END && i < s->cat->count; i++) {
        const collection *in = s->cat->collections[i];
        for (uint32_t k = 0; rc == FN_END && k < in->index_count; k++) {
            const catalog_index *x = &in->indexes[k];
            if (!kind_of(x) || x->state != INDEX_READY || published_find(s, x->number) || !unbuilt_names(only, len, in, x))
                continue;
            *of = in->number;
            *index = x->number;
            rc = FENEC_OK;
        }
    }
    store_read_end(c);
    return rc;
}

int search_warm(writer *w, const uint8_t *only, size_t only_len, struct scratch *memory, error *err)
{
    uint32_t of, index;
    int rc;

    while ((rc = find_unread(w, only, only_len, &of, &index, err)) == FENEC_OK)
        if ((rc = search_read(w, of, index, memory, err)) != FENEC_OK)
            return rc;
    if (rc != FN_END)
        return rc;
    maintenance_wait(w->behind);
    return FENEC_OK;
}

/* The n-th search index that is READY and in memory, with its kind; NULL after the last. */
static const search_kind *find_read(writer *w, uint32_t n, uint32_t *index, struct scratch *memory)
{
    const search_kind *kind = NULL;
    error unused;
    block b;

    error_init(&unused);
    if (block_begin(&b, w, false, memory, &unused) != FENEC_OK)
        return NULL;
    for (uint32_t i = 0; !kind && i < b.cat->count; i++) {
        const collection *of = b.cat->collections[i];
        for (uint32_t k = 0; !kind && k < of->index_count; k++) {
            const catalog_index *x = &of->indexes[k];
            if (!kind_of(x) || x->state != INDEX_READY || !published_find(b.base, x->number) || n-- > 0)
                continue;
            kind = kind_of(x);
            *index = x->number;
        }
    }
    block_rollback(&b);
    return kind;
}

void search_settle(writer *w, struct scratch *memory)
{
    const search_kind *kind;
    uint32_t index;

    for (uint32_t n = 0; (kind = find_read(w, n, &index, memory)); n++)
        if (kind->settle)
            kind->settle(w, index);
    maintenance_wait(w->behind);
}

void search_close(writer *w, struct scratch *memory)
{
    const search_kind *kind;
    uint32_t index;

    for (uint32_t n = 0; (kind = find_read(w, n, &index, memory)); n++)
        if (kind->close)
            kind->close(w, index, memory);
}
