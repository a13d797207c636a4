#include "exec/text_part.h"

#include "exec/scratch.h"
#include "exec/text_merging.h"
#include "search/row_cache.h"
#include "search/text_index.h"
#include "store/row.h"
#include "value/sparse.h"

/* ---- reading ---- */

bool text_part_content(const value *v, const uint8_t **bytes, size_t *len)
{
    *bytes = v->bytes;
    *len = v->len;
    if (v->kind == VALUE_SPARSE) {
        *bytes = sparse_entries(v);
        *len = (size_t)v->count * SPARSE_ENTRY;
    }
    return v->kind == VALUE_TEXT || v->kind == VALUE_SPARSE;
}

/* Texts of documents, as the block sees them. */
typedef struct texts {
    conn *c;
    const collection *of;
    uint32_t field;
    arena memory;
} texts;

static int text_of(void *from, int64_t id, const uint8_t **text, size_t *len, error *err)
{
    texts *t = from;
    value v;
    row r;
    int rc = row_find(&r, t->c, t->of->number, id, err);

    arena_reset(&t->memory);
    if (rc == FENEC_OK)
        rc = row_field(&r, t->field, &t->memory, &v, err);
    if (rc == FENEC_OK && !text_part_content(&v, text, len))
        rc = FN_END;
    return rc;
}

int text_part_look(conn *c, row_cache *cache, const collection *of, const catalog_index *x, text_version **out,
                   error *err)
{
    texts from = {.c = c, .of = of, .field = of->fields[x->field].number};

    arena_init(&from.memory);
    int rc = text_index_open(out, c, cache, x->number, &x->spec, text_of, &from, err);
    arena_clear(&from.memory);
    return rc;
}

static int read_index(block *b, const collection *of, const catalog_index *x, version **out, error *err)
{
    text_version *v;
    int rc = text_part_look(b->c, b->w->cache, of, x, &v, err);

    if (rc == FENEC_OK) {
        *out = &v->head;
        maintenance_ask(b->w->behind, text_merging, b->w, x->number);
    }
    return rc;
}

/* ---- writing ---- */

static int begin(block *b, version *v, version **out, error *err)
{
    const text_version *t = (const text_version *)v;

    (void)b;
    if (t->own) {
        *out = v;
        return FENEC_OK;
    }
    text_version *own = text_index_begin(t);
    if (!own)
        return fail_memory(err);
    *out = &own->head;
    return FENEC_OK;
}

/* A segment that cannot be made now is made later: the recent set only grows meanwhile. Damage is damage. */
static int flush(block *b, text_version *own, error *err)
{
    error unused;
    int rc = store_savepoint(b->c, err);

    if (rc != FENEC_OK)
        return rc;
    error_init(&unused);
    rc = text_index_flush(own, b->c, &unused);
    if (rc == FENEC_OK)
        return FENEC_OK;
    int failed = store_savepoint_undo(b->c, err);
    return rc == ROW_DAMAGED ? rc : failed;
}

static int write(block *b, const catalog_index *x, version *own, int64_t id, const value *had, const value *gets,
                 error *err)
{
    text_version *t = (text_version *)own;
    const uint8_t *bytes;
    size_t len;
    int rc = FENEC_OK;

    if (text_index_is_full(t, x->state != INDEX_READY))
        rc = flush(b, t, err);
    if (rc == FENEC_OK && text_part_content(had, &bytes, &len))
        rc = text_index_remove(t, b->c, id, bytes, len, err);
    if (rc == FENEC_OK && text_part_content(gets, &bytes, &len))
        rc = text_index_add(t, id, bytes, len, err);
    return rc;
}

/* A small index stays in memory whole. */
static int built(block *b, version *own, error *err)
{
    text_version *t = (text_version *)own;

    t->built = true;
    return recent_slots(t->recent) >= 1024 ? flush(b, t, err) : FENEC_OK;
}

/* ---- with the block ---- */

static int land(block *b, uint32_t index, version *v, error *err)
{
    (void)index;
    return text_index_land((text_version *)v, b->c, err);
}

static void landed(block *b, uint32_t index, version *v)
{
    text_version *t = (text_version *)v;

    if (!t->own)
        return;
    if (t->built && t->segments->count > 1)
        maintenance_ask(b->w->behind, text_merging_whole, b->w, index);
    else if (t->before)
        maintenance_ask(b->w->behind, text_merging, b->w, index);
    text_index_landed(t);
}

static void undo(version *v)
{
    text_index_undo((text_version *)v);
}

const search_kind text_part = {.read = read_index,
                               .begin = begin,
                               .write = write,
                               .built = built,
                               .part = {.land = land, .landed = landed, .undo = undo}};
