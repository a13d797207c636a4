#include "exec/vector_part.h"

#include "base/memory.h"
#include "exec/scratch.h"
#include "search/row_cache.h"
#include "search/vector_index.h"
#include "value/packed.h"

enum { LINKED_AT_ONCE = 64 }; /* before it is asked whether to stop */

/* ---- reading ---- */

typedef struct loading {
    vector_version *v;
    arena memory;
    int code;
    error *err;
} loading;

static bool load_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    loading *l = to;
    const uint8_t *end = bytes + len;
    value v;

    l->code = packed_read(&bytes, end, &l->memory, &v, l->err);
    if (!l->code && v.kind == VALUE_VECTOR)
        l->code = vector_write(l->v, id, v.bytes, l->err);
    arena_reset(&l->memory);
    return !l->code;
}

static int load_rows(block *b, const collection *of, const catalog_index *x, vector_version *v, error *err)
{
    loading l = {.v = v, .err = err};
    int64_t last;

    arena_init(&l.memory);
    int rc = rows_scan(b->c, table_side(of->number, of->fields[x->field].number), INT64_MIN, INT64_MAX, true,
                       load_row, &l, &last, err);
    arena_clear(&l.memory);
    return l.code ? l.code : rc == FN_END ? FENEC_OK : rc;
}

static int read(block *b, const collection *of, const catalog_index *x, version **out, error *err)
{
    vector_version *v = vector_new(&x->spec, &of->fields[x->field].type), *own = v ? vector_begin(v) : NULL;
    int rc = own ? FENEC_OK : fail_memory(err);

    if (v)
        version_drop(&v->head);
    if (!rc && x->state == INDEX_READY)
        rc = load_rows(b, of, x, own, err);
    if (!rc) {
        vector_land(own);
        *out = &own->head;
    } else if (own) {
        version_drop(&own->head);
    }
    return rc;
}

/* ---- linking ---- */

static void scratch_open(scratch *s)
{
    *s = (scratch){0};
    arena_init(&s->memory);
    arena_init(&s->rows);
    row_keys_init(&s->keys);
    changes_init(&s->noted);
}

static void scratch_close(scratch *s)
{
    arena_clear(&s->memory);
    arena_clear(&s->rows);
    row_keys_clear(&s->keys);
    changes_clear(&s->noted);
    memory_free(s->parts);
}

/* The newest version of an index, kept; NULL: there is none, or none in memory. */
static vector_version *newest(writer *w, uint32_t index, error *err)
{
    version *v = NULL;
    scratch memory;
    block b;

    scratch_open(&memory);
    if (block_begin(&b, w, false, &memory, err) == FENEC_OK) {
        v = version_keep(published_find(b.base, index));
        block_rollback(&b);
    }
    scratch_close(&memory);
    return (vector_version *)v;
}

static void link_job(void *with, uint32_t index, bool *again)
{
    writer *w = with;
    error err;
    bool done = false;
    int rc = FENEC_OK;

    error_init(&err);
    vector_version *v = newest(w, index, &err);
    if (!v)
        return;
    while (!rc && !done && !maintenance_stops(w->behind))
        rc = vector_link(v, LINKED_AT_ONCE, &done, &err);
    version_drop(&v->head);
    *again = false;
}

/* ---- a block ---- */

static int begin(block *b, version *v, version **out, error *err)
{
    vector_version *own = (vector_version *)v;

    (void)b;
    if (!own->own)
        own = vector_begin(own);
    if (!own)
        return fail_memory(err);
    *out = &own->head;
    return FENEC_OK;
}

static int write(block *b, const catalog_index *x, version *own, int64_t id, const value *had, const value *gets,
                 error *err)
{
    (void)b;
    (void)x;
    (void)had;
    return vector_write((vector_version *)own, id, gets->kind == VALUE_VECTOR ? gets->bytes : NULL, err);
}

static int land(block *b, uint32_t index, version *v, error *err)
{
    (void)err;
    vector_land((vector_version *)v);
    maintenance_ask(b->w->behind, link_job, b->w, index);
    return FENEC_OK;
}

static void undo(version *v)
{
    vector_undo((vector_version *)v);
}

const search_kind vector_part = {
    .read = read, .begin = begin, .write = write, .part = {.land = land, .undo = undo}};
