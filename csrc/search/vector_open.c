/* vector_open.c - an @hnsw index read from its rows. Nothing in them is trusted. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/varint.h"
#include "search/vector_rows.h"

enum { ROWS_KEPT = 4 }; /* of 64 KiB, in SQLite's cache */

typedef struct opening {
    conn *c;
    uint32_t index;
    vector_manifest m;
    uint8_t *sides;
    uint32_t link_rows, upper_rows;
    vector_index *x;
    uint32_t upper_at; /* items of `upper` that nodes were given */
    /* TALL, ENTRIES: what the next number is told from. */
    int64_t before;
    uint32_t node_before;
    /* The log: documents written since. */
    int64_t *ids;
    size_t id_count, id_cap;
    int64_t log_next;
} opening;

/* ---- rows ---- */

/* Rows are read once: their pages are let go of before there are many of them. */
static int read_row(opening *o, vector_rows kind, uint8_t side, uint32_t row, const uint8_t **bytes, size_t *len,
                    error *err)
{
    if (row % ROWS_KEPT == 0)
        conn_forget_pages(o->c);
    int rc = row_cache_read(o->c, o->index, vector_row_id(kind, side, row), bytes, len, err);
    return rc == FN_END ? ROW_DAMAGED : rc;
}

/* ---- manifest ---- */

static bool is_possible(const vector_manifest *m, const index_spec *spec, const type *t)
{
    const uint64_t plain = vector_plain_kind(spec, t), sides = m->items_side | m->lists_side;
    bool kind = m->kind == plain || (m->kind == CODEC_SIGN && spec->quant == QUANT_BIT);

    return m->format == VECTOR_FORMAT && kind && m->dimension == t->dimension && m->m == spec->m && sides <= 1 &&
           m->nodes < GRAPH_NODES_MAX && m->linked <= m->nodes && m->entry <= m->linked &&
           (m->entry > 0) == (m->linked > 0) && m->top < GRAPH_LAYERS_MAX && m->upper < GRAPH_NODES_MAX &&
           m->docs < ENTRY_NONE && m->tall_rows <= m->linked && m->entry_rows <= m->docs &&
           m->log >= (uint64_t)VECTOR_LOG && m->log < INT64_MAX;
}

/* How many rows the lists have is known from their items, once there are slabs for them. */
static int read_sides(opening *o, const uint8_t *at, const uint8_t *end, error *err)
{
    const size_t count = (size_t)(end - at);

    o->link_rows = vector_row_count((uint32_t)o->m.linked, graph_row_items(&o->x->links.links));
    o->upper_rows = vector_row_count((uint32_t)o->m.upper, graph_row_items(&o->x->links.upper));
    if (count != (size_t)o->link_rows + o->upper_rows)
        return ROW_DAMAGED;
    for (size_t i = 0; i < count; i++)
        if (at[i] > 1)
            return ROW_DAMAGED;
    o->sides = memory_alloc(count);
    if (!o->sides)
        return fail_memory(err);
    if (count)
        memcpy(o->sides, at, count);
    return FENEC_OK;
}

static int read_centres(opening *o, float **out, error *err)
{
    const size_t whole = CODEC_CENTRE_FLOATS(o->m.dimension) * sizeof **out;
    float *centres = memory_alloc(whole);
    int rc = centres ? FENEC_OK : fail_memory(err);

    for (size_t at = 0, row = 0; !rc && at < whole; row++) {
        const uint8_t *bytes;
        size_t len, want = whole - at < VECTOR_ROW_BYTES ? whole - at : VECTOR_ROW_BYTES;
        rc = read_row(o, VECTOR_CENTRES, (uint8_t)o->m.items_side, (uint32_t)row, &bytes, &len, err);
        if (rc || len != want) {
            rc = rc ? rc : ROW_DAMAGED;
            break;
        }
        memcpy((uint8_t *)centres + at, bytes, len);
        at += len;
    }
    if (rc)
        memory_free(centres);
    else
        *out = centres;
    return rc;
}

/* Its numbers, and what stands behind them. FN_END: nothing was saved. */
static int read_manifest_numbers(conn *c, uint32_t index, vector_manifest *m, const uint8_t **rest, size_t *len,
                                 error *err)
{
    uint64_t numbers[VECTOR_MANIFEST_NUMBERS];
    const uint8_t *at, *end;
    int rc = row_cache_read(c, index, VECTOR_MANIFEST, &at, len, err);

    if (rc)
        return rc;
    end = at + *len;
    for (int i = 0; i < VECTOR_MANIFEST_NUMBERS; i++)
        if (!varint_get(&at, end, &numbers[i]))
            return ROW_DAMAGED;
    memcpy(m, numbers, sizeof *m);
    *rest = at;
    *len = (size_t)(end - at);
    return FENEC_OK;
}

static int read_manifest(opening *o, const index_spec *spec, const type *t, error *err)
{
    const uint8_t *at, *end;
    float *centres = NULL;
    size_t len;
    int rc = read_manifest_numbers(o->c, o->index, &o->m, &at, &len, err);

    if (rc)
        return rc;
    end = at + len;
    if (!is_possible(&o->m, spec, t))
        return ROW_DAMAGED;
    uint8_t *sides = memory_alloc((size_t)(end - at) + 1); /* reading centres reads other rows */
    if (!sides)
        return fail_memory(err);
    len = (size_t)(end - at);
    memcpy(sides, at, len);
    if (o->m.kind == CODEC_SIGN)
        rc = read_centres(o, &centres, err);
    if (!rc) {
        o->x = vector_index_new(spec, t, (codec_kind)o->m.kind, centres);
        rc = o->x ? read_sides(o, sides, sides + len, err) : fail_memory(err);
    }
    memory_free(sides);
    return rc;
}

/* ---- vectors and lists ---- */

/* Rows of items of a slab. Room is made a row at a time: how many there are is only what the manifest says. */
static int read_items(opening *o, vector_rows kind, slab *to, uint32_t a_row, uint32_t count, const uint8_t *sides,
                      error *err)
{
    for (uint32_t at = 0, row = 0; at < count; row++) {
        const uint8_t side = sides ? sides[row] : (uint8_t)o->m.items_side;
        const uint32_t stop = count - at < a_row ? count : at + a_row;
        const uint8_t *bytes;
        size_t len;
        int rc = read_row(o, kind, side, row, &bytes, &len, err);
        if (rc)
            return rc;
        if (len < (size_t)(stop - at) * to->item)
            return ROW_DAMAGED;
        if (!slab_fit(to, stop, count))
            return fail_memory(err);
        while (at < stop) {
            uint32_t run = slab_run(to, at);
            run = run < stop ? run : stop;
            memcpy(slab_at(to, at), bytes, (size_t)(run - at) * to->item);
            bytes += (size_t)(run - at) * to->item;
            at = run;
        }
    }
    return FENEC_OK;
}

static int take_tall(opening *o, const uint8_t *at, const uint8_t *end)
{
    graph *g = &o->x->links;

    while (at < end) {
        uint64_t gap, height;
        if (!varint_get(&at, end, &gap) || !varint_get(&at, end, &height) || gap == 0 ||
            gap >= (uint64_t)((int64_t)o->m.linked - o->before) || height == 0 || height >= GRAPH_LAYERS_MAX ||
            height > o->m.upper - o->upper_at)
            return ROW_DAMAGED;
        o->before += (int64_t)gap;
        atomic_store_explicit(slab_word(&g->place, (uint32_t)o->before), o->upper_at, memory_order_relaxed);
        for (uint64_t i = 0; i < height; i++, o->upper_at++)
            if (atomic_load_explicit(slab_word(&g->upper, o->upper_at), memory_order_relaxed) != height)
                return ROW_DAMAGED;
    }
    return FENEC_OK;
}

static int take_entries(opening *o, const uint8_t *at, const uint8_t *end, error *err)
{
    while (at < end) {
        uint64_t gap, node;
        if (!varint_get(&at, end, &gap) || !varint_get(&at, end, &node))
            return ROW_DAMAGED;
        int64_t id = (int64_t)((uint64_t)o->before + (uint64_t)vector_unzigzag(gap));
        uint32_t of = o->node_before + 1 + (uint32_t)vector_unzigzag(node);
        if ((o->x->entry_count && id <= o->before) || of >= o->m.nodes || o->x->entry_count >= o->m.docs)
            return ROW_DAMAGED;
        if (!vector_add_entry(o->x, id, of, 1))
            return fail_memory(err);
        o->before = id;
        o->node_before = of;
    }
    return FENEC_OK;
}

/* Rows of numbers, each told from the one before. */
static int read_numbers(opening *o, vector_rows kind, uint64_t rows, error *err)
{
    o->before = kind == VECTOR_TALL ? -1 : 0;
    o->node_before = UINT32_MAX;
    for (uint32_t row = 0; row < rows; row++) {
        const uint8_t *bytes;
        size_t len;
        int rc = read_row(o, kind, (uint8_t)o->m.lists_side, row, &bytes, &len, err);
        if (!rc)
            rc = kind == VECTOR_TALL ? take_tall(o, bytes, bytes + len) : take_entries(o, bytes, bytes + len, err);
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

/* Whether every link leads to a node that stands in its layer. */
static bool check_list(const graph *g, uint32_t node, uint32_t layer, uint32_t linked)
{
    const _Atomic(uint32_t) *list = graph_list(g, node, layer);
    const uint32_t room = graph_room(g, layer);
    bool ended = false;

    for (uint32_t i = 0; i < room; i++) {
        uint32_t to = atomic_load_explicit(list + i, memory_order_relaxed);
        if (to != GRAPH_NONE && (ended || to >= linked || (layer && graph_height(g, to) < layer)))
            return false;
        ended |= to == GRAPH_NONE;
    }
    return true;
}

static int check_graph(const opening *o)
{
    const graph *g = &o->x->links;
    const uint32_t linked = (uint32_t)o->m.linked;

    if (o->upper_at != o->m.upper || (linked && graph_height(g, (uint32_t)o->m.entry - 1) != o->m.top))
        return ROW_DAMAGED;
    for (uint32_t i = 0; i < linked; i++) {
        uint32_t height = graph_height(g, i);
        for (uint32_t layer = 0; layer <= height; layer++)
            if (height > o->m.top || !check_list(g, i, layer, linked))
                return ROW_DAMAGED;
    }
    return FENEC_OK;
}

static int read_graph(opening *o, error *err)
{
    graph *g = &o->x->links;
    const uint32_t linked = (uint32_t)o->m.linked, upper = (uint32_t)o->m.upper;

    if (!graph_make_room(g, linked, upper))
        return fail_memory(err);
    int rc = read_items(o, VECTOR_LINKS, &g->links, graph_row_items(&g->links), linked, o->sides, err);
    if (!rc)
        rc = read_items(o, VECTOR_UPPER, &g->upper, graph_row_items(&g->upper), upper, o->sides + o->link_rows, err);
    if (!rc)
        rc = read_numbers(o, VECTOR_TALL, o->m.tall_rows, err);
    if (!rc)
        rc = check_graph(o);
    if (rc)
        return rc;
    atomic_store_explicit(&g->upper_count, upper, memory_order_relaxed);
    if (linked)
        atomic_store_explicit(&g->entry, o->m.top << 32 | (o->m.entry - 1), memory_order_relaxed);
    atomic_store_explicit(&g->linked, linked, memory_order_release);
    return FENEC_OK;
}

static int read_documents(opening *o, error *err)
{
    vector_index *x = o->x;
    const uint32_t a_row = x->how.item < VECTOR_ROW_BYTES ? (uint32_t)(VECTOR_ROW_BYTES / x->how.item) : 1;
    const uint32_t nodes = (uint32_t)o->m.nodes;
    uint32_t empty = 0;

    int rc = read_items(o, VECTOR_ITEMS, &x->vectors, a_row, nodes, NULL, err);
    if (!rc && !slab_fit(&x->last, nodes, nodes))
        rc = fail_memory(err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < nodes; i++)
        atomic_store_explicit(slab_word(&x->last, i), ENTRY_NONE, memory_order_relaxed);
    x->node_count = nodes;
    rc = read_numbers(o, VECTOR_ENTRIES, o->m.entry_rows, err);
    if (!rc && x->entry_count != o->m.docs)
        rc = ROW_DAMAGED;
    for (uint32_t i = 0; i < nodes; i++)
        empty += atomic_load_explicit(slab_word(&x->last, i), memory_order_relaxed) == ENTRY_NONE;
    atomic_store_explicit(&x->gone, empty, memory_order_relaxed);
    return rc;
}

/* ---- the log ---- */

static int note_id(opening *o, int64_t id, error *err)
{
    if (o->id_count == o->id_cap) {
        size_t cap = o->id_cap ? o->id_cap * 2 : 64;
        int64_t *more = memory_resize(o->ids, cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        o->ids = more;
        o->id_cap = cap;
    }
    o->ids[o->id_count++] = id;
    return FENEC_OK;
}

static int read_log_row(opening *o, const uint8_t *at, const uint8_t *end, error *err)
{
    const int64_t last = vector_unzigzag(o->m.last);
    uint64_t id;
    int rc = FENEC_OK;

    while (!rc && at < end) {
        if (!varint_get(&at, end, &id))
            return ROW_DAMAGED;
        if (vector_unzigzag(id) <= last)
            rc = note_id(o, vector_unzigzag(id), err);
    }
    return rc;
}

/* Rows before those of the manifest are of a save that it is not of, or without one of none. */
static int read_log(opening *o, int64_t from, error *err)
{
    cursor cur = {0};
    int rc = cursor_rows(&cur, o->c, table_search(o->index), VECTOR_LOG, INT64_MAX, false, err);

    o->log_next = o->x->saved.there ? from : VECTOR_LOG;
    while (!rc) {
        const uint8_t *bytes;
        size_t len;
        int64_t id;
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        if (!rc && !row_cache_check(o->index, id, bytes, &len))
            rc = ROW_DAMAGED;
        if (!rc && id >= from)
            rc = read_log_row(o, bytes, bytes + len, err);
        if (!rc && id >= o->log_next)
            o->log_next = id + 1;
    }
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Each document of the log as it is now. */
static int follow_log(opening *o, vector_version *v, vector_source *source, void *from, error *err)
{
    int rc = FENEC_OK;

    if (o->id_count > 1)
        qsort(o->ids, o->id_count, sizeof *o->ids, ascending);
    for (size_t i = 0; !rc && i < o->id_count; i++) {
        const uint8_t *floats = NULL;
        if (i && o->ids[i] == o->ids[i - 1])
            continue;
        rc = source(from, o->ids[i], &floats, err);
        if (rc == FENEC_OK || rc == FN_END)
            rc = vector_write(v, o->ids[i], rc == FENEC_OK ? floats : NULL, err);
    }
    return rc;
}

int vector_is_saved(conn *c, uint32_t index, error *err)
{
    vector_manifest m;
    const uint8_t *rest;
    size_t len;

    return read_manifest_numbers(c, index, &m, &rest, &len, err);
}

/* All of them, also those that the save does not know of: who reads the index meanwhile finds them by this alone. */
int vector_note(conn *c, uint32_t index, const int64_t ids[], size_t count, error *err)
{
    vector_manifest m;
    const uint8_t *rest;
    size_t len;
    int64_t row;
    buffer b;
    int rc = read_manifest_numbers(c, index, &m, &rest, &len, err);

    if (!rc)
        rc = rows_last_id(c, table_search(index), &row, err);
    if (rc)
        return rc;
    if (m.log < (uint64_t)VECTOR_LOG || m.log >= INT64_MAX)
        return ROW_DAMAGED;
    buffer_init(&b);
    for (size_t i = 0; i < count; i++)
        varint_put(&b, vector_zigzag(ids[i]));
    row = row < (int64_t)m.log ? (int64_t)m.log : row + 1;
    rc = b.failed ? fail_memory(err) : row_cache_write(c, index, row, b.bytes, b.len, err);
    buffer_clear(&b);
    return rc;
}

int vector_catch_up(vector_version **v, conn *c, uint32_t index, vector_source *source, void *from, size_t *count,
                    error *err)
{
    vector_index *x = (*v)->of;
    const int64_t next = atomic_load_explicit(&x->log_next, memory_order_relaxed);
    opening o = {.c = c, .index = index, .x = x, .m = {.last = vector_zigzag(INT64_MAX)}};
    vector_version *own = NULL;
    int rc = read_log(&o, next, err);

    if (!rc && o.id_count && !(own = vector_begin(*v)))
        rc = fail_memory(err);
    if (own)
        rc = follow_log(&o, own, source, from, err);
    memory_free(o.ids);
    if (rc) {
        if (own)
            version_drop(&own->head);
        return rc;
    }
    if (own) {
        vector_land(own);
        version_drop(&(*v)->head);
        *v = own;
    }
    atomic_store_explicit(&x->log_next, o.log_next > next ? o.log_next : next, memory_order_relaxed);
    *count = o.id_count;
    return FENEC_OK;
}

/* ---- all of it ---- */

static void note_saved(opening *o)
{
    o->x->saved = (vector_saved){.there = true,
                                 .numbered = true,
                                 .nodes = (uint32_t)o->m.nodes,
                                 .linked = (uint32_t)o->m.linked,
                                 .gone = atomic_load_explicit(&o->x->gone, memory_order_relaxed),
                                 .log = (int64_t)o->m.log,
                                 .items_side = (uint8_t)o->m.items_side,
                                 .lists_side = (uint8_t)o->m.lists_side,
                                 .link_sides = o->sides,
                                 .link_rows = o->link_rows,
                                 .upper_rows = o->upper_rows};
    o->sides = NULL;
}

/* The index as it was saved, and after it what the log speaks of. */
static int make_version(opening *o, vector_version **out, vector_source *source, void *from, error *err)
{
    vector_version *saved = vector_version_new(o->x), *own = NULL;
    int rc = saved ? FENEC_OK : fail_memory(err);

    if (!rc)
        rc = read_log(o, o->x->saved.there ? (int64_t)o->m.log : INT64_MAX, err);
    if (!rc && !(own = vector_begin(saved)))
        rc = fail_memory(err);
    if (saved)
        version_drop(&saved->head);
    if (!rc)
        rc = follow_log(o, own, source, from, err);
    if (rc) {
        if (own)
            version_drop(&own->head);
        return rc;
    }
    vector_land(own);
    atomic_store_explicit(&o->x->log_next, o->log_next, memory_order_relaxed);
    if (!o->x->saved.there)
        o->x->saved.log = o->log_next;
    *out = own;
    return FENEC_OK;
}

int vector_open(vector_version **out, int64_t *last, conn *c, uint32_t index, const index_spec *spec, const type *t,
                vector_source *source, void *from, error *err)
{
    opening o = {.c = c, .index = index};
    int rc = read_manifest(&o, spec, t, err);

    if (rc == FN_END) {
        o.x = vector_index_new(spec, t, vector_plain_kind(spec, t), NULL);
        rc = o.x ? FENEC_OK : fail_memory(err);
        *last = INT64_MIN;
    } else if (!rc) {
        rc = read_documents(&o, err);
        if (!rc)
            rc = read_graph(&o, err);
        if (!rc)
            note_saved(&o);
        *last = vector_unzigzag(o.m.last);
    }
    if (!rc)
        rc = make_version(&o, out, source, from, err);
    if (!rc)
        o.x->logged_to = *last;
    memory_free(o.ids);
    memory_free(o.sides);
    if (o.x)
        vector_index_drop(o.x);
    return rc;
}
