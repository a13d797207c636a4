#include "exec/text_part.h"

#include "exec/scratch.h"
#include "search/row_cache.h"
#include "search/text_index.h"
#include "store/row.h"

static int add_row(text_version *t, const collection *of, const catalog_index *x, const row *r, arena *a, error *err)
{
    value v;
    int rc = row_field(r, of->fields[x->field].number, a, &v, err);

    return rc || v.kind != VALUE_TEXT ? rc : text_index_add(t, r->id, v.bytes, v.len, err);
}

static int add_rows(block *b, text_version *t, const collection *of, const catalog_index *x, error *err)
{
    cursor cur = {0};
    arena memory;
    int rc = cursor_rows(&cur, b->c, table_records(of->number), INT64_MIN, INT64_MAX, false, err);

    arena_init(&memory);
    while (rc == FENEC_OK) {
        const uint8_t *bytes;
        size_t len;
        int64_t id;
        row r;
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        if (rc == FENEC_OK)
            rc = row_open(&r, b->c, of->number, id, bytes, len, err);
        if (rc == FENEC_OK)
            rc = add_row(t, of, x, &r, &memory, err);
        arena_reset(&memory);
    }
    cursor_close(&cur);
    arena_clear(&memory);
    return rc == FN_END ? FENEC_OK : rc;
}

static int text_read(block *b, const collection *of, const catalog_index *x, version **out, error *err)
{
    text_version *t = text_index_new(x->number, &x->spec);
    int rc = t ? FENEC_OK : fail_memory(err);

    if (rc == FENEC_OK && x->state == INDEX_READY)
        rc = add_rows(b, t, of, x, err);
    if (rc == FENEC_OK)
        *out = &t->head;
    else if (t)
        version_drop(&t->head);
    return rc;
}

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

static int write(block *b, const catalog_index *x, version *own, int64_t id, const value *had, const value *gets,
                 error *err)
{
    text_version *t = (text_version *)own;
    int rc = FENEC_OK;

    (void)b;
    (void)x;
    if (had->kind == VALUE_TEXT)
        rc = text_index_remove(t, id, had->bytes, had->len, err);
    if (rc == FENEC_OK && gets->kind == VALUE_TEXT)
        rc = text_index_add(t, id, gets->bytes, gets->len, err);
    return rc;
}

static int land(block *b, uint32_t index, version *v, error *err)
{
    (void)b;
    (void)index;
    (void)err;
    text_index_publish((text_version *)v);
    return FENEC_OK;
}

static void undo(version *v)
{
    text_index_undo((text_version *)v);
}

const search_kind text_part = {
    .read = text_read, .begin = begin, .write = write, .part = {.land = land, .undo = undo}};
