#include "exec/vector_part.h"

#include "base/memory.h"
#include "exec/vector_linking.h"
#include "search/row_cache.h"
#include "search/vector_index.h"
#include "value/packed.h"

/* ---- reading ---- */

/* Vectors of documents, as a connection sees them. */
typedef struct loading {
    conn *c;
    table from;
    uint32_t dimension;
    vector_version *v; /* what the scan adds to */
    arena memory;
    int code;
    error *err;
} loading;

/* A field's bytes as a vector; FN_END: it is none. */
static int vector_in(loading *l, const uint8_t *bytes, size_t len, const uint8_t **floats, error *err)
{
    const uint8_t *end = bytes + len;
    value v;

    arena_reset(&l->memory);
    int rc = packed_read(&bytes, end, &l->memory, &v, err);
    if (rc)
        return rc;
    if (v.kind != VALUE_VECTOR || v.count != l->dimension)
        return FN_END;
    *floats = v.bytes;
    return FENEC_OK;
}

static int vector_of(void *from, int64_t id, const uint8_t **floats, error *err)
{
    loading *l = from;
    const uint8_t *bytes;
    size_t len;
    int rc = rows_get(l->c, l->from, id, &bytes, &len, err);

    return rc ? rc : vector_in(l, bytes, len, floats, err);
}

static bool load_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    loading *l = to;
    const uint8_t *floats;

    l->code = vector_in(l, bytes, len, &floats, l->err);
    if (!l->code)
        l->code = vector_write(l->v, id, floats, l->err);
    else if (l->code == FN_END)
        l->code = FENEC_OK;
    return !l->code && !vector_is_to_code(l->v);
}

/* Documents above `last`, into l->v, which is landed. Where it is to hold codes from some document on, it is made
 * anew before it goes on, so that it never holds many vectors whole. */
static int load_rows(loading *l, int64_t last, error *err)
{
    int rc = last == INT64_MAX ? FN_END : FENEC_OK;

    while (rc == FENEC_OK) {
        vector_version *own = vector_begin(l->v), *fresh;
        if (!own)
            return fail_memory(err);
        version_drop(&l->v->head);
        l->v = own;
        rc = rows_scan(l->c, l->from, last == INT64_MIN ? last : last + 1, INT64_MAX, true, load_row, l, &last, err);
        rc = l->code ? l->code : rc;
        vector_land(l->v);
        if (rc == FENEC_OK && vector_is_to_code(l->v)) {
            rc = vector_renew(l->v, &fresh, err);
            if (!rc && (rc = vector_take_place(fresh, l->v, err)))
                version_drop(&fresh->head);
            if (!rc) {
                version_drop(&l->v->head);
                l->v = fresh;
            }
        }
        if (last == INT64_MAX)
            break;
    }
    return rc == FN_END ? FENEC_OK : rc;
}

static loading loading_of(conn *c, const collection *of, const catalog_index *x, error *err)
{
    const catalog_field *field = &of->fields[x->field];
    loading l = {.c = c, .from = table_side(of->number, field->number), .dimension = field->type.dimension, .err = err};

    arena_init(&l.memory);
    return l;
}

int vector_part_read(conn *c, const collection *of, const catalog_index *x, vector_version **out, error *err)
{
    const type *t = &of->fields[x->field].type;
    loading l = loading_of(c, of, x, err);
    int64_t last;
    int rc = vector_open(&l.v, &last, c, x->number, &x->spec, t, vector_of, &l, err);
    if (!rc)
        rc = load_rows(&l, last, err);
    arena_clear(&l.memory);
    conn_forget_pages(c); /* vectors are in memory once */
    if (!rc)
        *out = l.v;
    else if (l.v)
        version_drop(&l.v->head);
    return rc;
}

int vector_part_follow(conn *c, const collection *of, const catalog_index *x, vector_version **v, size_t *count,
                       error *err)
{
    loading l = loading_of(c, of, x, err);
    int rc = vector_catch_up(v, c, x->number, vector_of, &l, count, err);

    arena_clear(&l.memory);
    return rc;
}

static int read(block *b, const collection *of, const catalog_index *x, version **out, error *err)
{
    vector_version *v = NULL;
    int rc = FENEC_OK;

    if (x->state == INDEX_READY) {
        rc = vector_part_read(b->c, of, x, &v, err);
    } else if (!(v = vector_new(&x->spec, &of->fields[x->field].type))) {
        rc = fail_memory(err);
    }
    if (!rc)
        *out = &v->head;
    return rc;
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
    return vector_log((const vector_version *)v, b->c, index, err);
}

static void landed(block *b, uint32_t index, version *v)
{
    vector_land((vector_version *)v);
    maintenance_ask(b->w->behind, vector_linking, b->w, index);
}

static void undo(version *v)
{
    vector_undo((vector_version *)v);
}

static void settle(writer *w, uint32_t index)
{
    maintenance_ask(w->behind, vector_settling, w, index);
}

/* ---- a block, while the index is not in memory ---- */

/* Documents that the block wrote, for the log. */
typedef struct notes {
    version head;
    int64_t *ids;
    size_t count, cap;
} notes;

static void notes_free(version *v)
{
    notes *n = (notes *)v;

    memory_free(n->ids);
    memory_free(n);
}

static int notes_add(notes *n, int64_t id, error *err)
{
    if (n->count && n->ids[n->count - 1] == id)
        return FENEC_OK;
    if (n->count == n->cap) {
        size_t cap = n->cap ? n->cap * 2 : 16;
        int64_t *more = memory_resize(n->ids, cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        n->ids = more;
        n->cap = cap;
    }
    n->ids[n->count++] = id;
    return FENEC_OK;
}

static int note(block *b, const catalog_index *x, version *v, version **out, int64_t id, error *err)
{
    notes *n = (notes *)v;
    int rc = n ? FENEC_OK : vector_is_saved(b->c, x->number, err);

    if (!rc && !n && !(n = memory_zeroed(sizeof *n)))
        rc = fail_memory(err);
    if (rc)
        return rc;
    if (!v) {
        atomic_init(&n->head.references, 1);
        n->head.free = notes_free;
    }
    rc = notes_add(n, id, err);
    if (rc && !v)
        version_drop(&n->head);
    if (!rc)
        *out = &n->head;
    return rc;
}

static int land_notes(block *b, uint32_t index, version *v, error *err)
{
    notes *n = (notes *)v;
    int rc = n->count ? vector_note(b->c, index, n->ids, n->count, err) : FENEC_OK;

    n->count = 0;
    return rc;
}

static void landed_notes(block *b, uint32_t index, version *v)
{
    (void)v;
    maintenance_ask(b->w->behind, vector_reading, b->w, index);
}

const search_kind vector_part = {.read = read,
                                 .note = note,
                                 .noted = {.passes = true, .land = land_notes, .landed = landed_notes},
                                 .begin = begin,
                                 .write = write,
                                 .settle = settle,
                                 .close = vector_closing,
                                 .part = {.land = land, .landed = landed, .undo = undo}};

/* ---- checking ---- */

typedef struct checking {
    loading rows;
    vector_fault *found;
    void *to;
    int64_t documents;
} checking;

static bool check_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    checking *k = to;
    const uint8_t *floats;
    int rc = vector_in(&k->rows, bytes, len, &floats, k->rows.err);

    if (rc == FENEC_OK) {
        k->documents++;
        if (!vector_holds(k->rows.v, id, floats))
            k->found(k->to, id, "the index does not hold it with its vector");
    } else if (rc != FN_END) {
        k->rows.code = rc;
    }
    return !k->rows.code;
}

static bool check_document(void *to, int64_t id)
{
    checking *k = to;
    const uint8_t *floats;
    int rc = vector_of(&k->rows, id, &floats, k->rows.err);

    if (rc == FN_END)
        k->found(k->to, id, "the index holds it, and it has no vector");
    else
        k->rows.code = rc;
    return !k->rows.code;
}

int vector_part_check(conn *c, const collection *of, const catalog_index *x, vector_fault *found, void *to,
                      error *err)
{
    checking k = {.found = found, .to = to};
    int64_t last;

    if (x->state != INDEX_READY)
        return FENEC_OK;
    k.rows = (loading){.c = c,
                       .from = table_side(of->number, of->fields[x->field].number),
                       .dimension = of->fields[x->field].type.dimension,
                       .err = err};
    int rc = vector_part_read(c, of, x, &k.rows.v, err);
    if (rc)
        return rc;
    arena_init(&k.rows.memory);
    rc = rows_scan(c, k.rows.from, INT64_MIN, INT64_MAX, true, check_row, &k, &last, err);
    rc = k.rows.code ? k.rows.code : rc == FN_END ? FENEC_OK : rc;
    if (!rc && k.documents != k.rows.v->docs)
        rc = vector_each(k.rows.v, check_document, &k, err);
    arena_clear(&k.rows.memory);
    version_drop(&k.rows.v->head);
    return rc ? rc : k.rows.code;
}
