/* vector_save.c - what an @hnsw index holds, written to its rows. */
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "search/vector_documents.h"
#include "search/vector_rows.h"

enum {
    ROWS_A_BLOCK = 16,    /* so that a writer waits a few milliseconds */
    CHANGES_GROWN = 1024, /* fewer are not worth a save, */
    CHANGES_CLOSING = 256, /* nor these, where it is the last chance; */
    LOG_ROWS = 4096        /* but so many blocks are */
};

typedef enum piece { CENTRES, ITEMS, LINKS, UPPER, TALL, ENTRIES, PIECES } piece;

struct vector_save {
    vector_version *v; /* kept */
    uint32_t index;
    vector_manifest m;
    uint8_t *sides; /* by row of links, then of upper */
    uint32_t item_rows, link_rows, upper_rows, centre_rows, gone;

    piece at;
    uint32_t row;   /* of the piece, the next */
    uint32_t place; /* TALL: the next node */
    vector_documents documents; /* ENTRIES */
    int64_t before; /* what the next number is told from */
    uint32_t node_before;
    buffer bytes; /* of a row */

    /* Cleaning: what there was, and how far it came. */
    uint32_t rows_before[VECTOR_CENTRES + 1];
    vector_rows kind;
    uint8_t side;
    bool cleaned;
};

/* ---- whether ---- */

static uint32_t linked_of(const vector_version *v)
{
    uint32_t linked = atomic_load_explicit(&v->of->links.linked, memory_order_relaxed);

    return linked < v->nodes ? linked : v->nodes;
}

static uint64_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

bool vector_is_due(const vector_version *v, vector_due when)
{
    const vector_saved *s = &v->of->saved;
    const uint32_t nodes = s->numbered ? s->nodes : 0, linked = s->numbered ? s->linked : 0;
    const uint32_t gone = atomic_load_explicit(&v->of->gone, memory_order_relaxed);
    const uint64_t changes = apart(v->nodes, nodes) + apart(linked_of(v), linked) + apart(gone, s->gone);

    int64_t rows = atomic_load_explicit(&v->of->log_next, memory_order_relaxed) - s->log;

    if (when == VECTOR_ANYTHING)
        return changes > 0 || (s->there && rows > 0);
    if (s->there && rows >= LOG_ROWS)
        return true;
    if (when == VECTOR_CLOSING) /* who opens it next is not to link again what is linked */
        return changes >= CHANGES_CLOSING && changes * 16 >= nodes;
    return changes >= CHANGES_GROWN && changes * 4 >= nodes;
}

/* ---- beginning ---- */

static uint32_t a_row_of(size_t item)
{
    return item < VECTOR_ROW_BYTES ? (uint32_t)(VECTOR_ROW_BYTES / item) : 1;
}

static size_t centre_bytes(const vector_index *x)
{
    return x->centres ? CODEC_CENTRE_FLOATS(x->how.dimension) * sizeof *x->centres : 0;
}

/* The side of a row of lists: another than where it stands. */
static void choose_sides(vector_save *s, const vector_saved *old)
{
    for (uint32_t i = 0; i < s->link_rows; i++)
        s->sides[i] = i < old->link_rows ? old->link_sides[i] : 1;
    for (uint32_t i = 0; i < s->upper_rows; i++)
        s->sides[s->link_rows + i] = i < old->upper_rows ? old->link_sides[old->link_rows + i] : 1;
}

static void count_rows(vector_save *s)
{
    const vector_index *x = s->v->of;
    const vector_saved *old = &x->saved;

    s->item_rows = vector_row_count(s->v->nodes, a_row_of(x->how.item));
    s->link_rows = vector_row_count((uint32_t)s->m.linked, graph_row_items(&x->links.links));
    s->upper_rows = vector_row_count((uint32_t)s->m.upper, graph_row_items(&x->links.upper));
    s->centre_rows = (uint32_t)((centre_bytes(x) + VECTOR_ROW_BYTES - 1) / VECTOR_ROW_BYTES);
    s->rows_before[VECTOR_ITEMS] = vector_row_count(old->nodes, a_row_of(x->how.item));
    s->rows_before[VECTOR_LINKS] = old->link_rows;
    s->rows_before[VECTOR_UPPER] = old->upper_rows;
}

static int64_t last_id(const vector_version *v)
{
    int64_t last = v->sorted ? vector_entry_id(v->of, v->sorted - 1) : INT64_MIN;

    for (uint32_t i = v->sorted; i < v->entries; i++)
        if (vector_entry_id(v->of, i) > last)
            last = vector_entry_id(v->of, i);
    return last;
}

int vector_save_new(vector_save **out, const vector_version *v, uint32_t index, error *err)
{
    vector_index *x = v->of;
    const vector_saved *old = &x->saved;
    const uint64_t entry = atomic_load_explicit(&x->links.entry, memory_order_relaxed);
    const bool has_entry = (uint32_t)entry != GRAPH_NONE;
    vector_save *s = memory_zeroed(sizeof *s);
    int64_t last = last_id(v);

    if (!s)
        return fail_memory(err);
    buffer_init(&s->bytes);
    s->v = (vector_version *)version_keep((version *)&v->head);
    s->index = index;
    s->gone = atomic_load_explicit(&x->gone, memory_order_relaxed);
    s->m = (vector_manifest){.format = VECTOR_FORMAT,
                             .kind = x->how.kind,
                             .dimension = x->how.dimension,
                             .m = x->links.m,
                             .nodes = v->nodes,
                             .linked = linked_of(v),
                             .entry = has_entry ? (uint64_t)(uint32_t)entry + 1 : 0,
                             .top = has_entry ? entry >> 32 : 0,
                             .upper = atomic_load_explicit(&x->links.upper_count, memory_order_relaxed),
                             .last = vector_zigzag(last),
                             .log = (uint64_t)atomic_load_explicit(&x->log_next, memory_order_relaxed),
                             .items_side = old->there ? old->items_side ^ !old->numbered : 0,
                             .lists_side = old->there ? !old->lists_side : 0};
    count_rows(s);
    s->sides = memory_alloc((size_t)s->link_rows + s->upper_rows);
    if (!s->sides) {
        vector_save_free(s);
        return fail_memory(err);
    }
    choose_sides(s, old);
    s->row = old->numbered ? old->nodes / a_row_of(x->how.item) : 0;
    s->at = old->numbered ? ITEMS : CENTRES;
    if (s->at == CENTRES)
        s->row = 0;
    /* What is written to these from now on is found in the log. */
    if (last > x->logged_to)
        x->logged_to = last;
    s->kind = VECTOR_ITEMS;
    *out = s;
    return FENEC_OK;
}

const vector_index *vector_save_of(const vector_save *s)
{
    return s->v->of;
}

void vector_save_free(vector_save *s)
{
    if (!s)
        return;
    version_drop(&s->v->head);
    buffer_clear(&s->bytes);
    vector_documents_clear(&s->documents);
    memory_free(s->sides);
    memory_free(s);
}

/* ---- rows ---- */

static int put_row(vector_save *s, conn *c, vector_rows kind, uint8_t side, error *err)
{
    if (s->bytes.failed)
        return fail_memory(err);
    return row_cache_write(c, s->index, vector_row_id(kind, side, s->row++), s->bytes.bytes, s->bytes.len, err);
}

static void next_piece(vector_save *s)
{
    s->at++;
    s->row = 0;
    s->place = 0;
    s->before = -1;
    s->node_before = UINT32_MAX;
}

static int write_centres(vector_save *s, conn *c, error *err)
{
    const vector_index *x = s->v->of;
    size_t from = (size_t)s->row * VECTOR_ROW_BYTES, len = centre_bytes(x);

    if (from >= len) {
        next_piece(s);
        return FN_END;
    }
    len = len - from < VECTOR_ROW_BYTES ? len - from : VECTOR_ROW_BYTES;
    buffer_put(&s->bytes, (const uint8_t *)x->centres + from, len);
    return put_row(s, c, VECTOR_CENTRES, (uint8_t)s->m.items_side, err);
}

/* Items of a slab into the row, from that of the row on, below `end`. */
static void put_items(vector_save *s, const slab *items, uint32_t a_row, uint32_t end)
{
    uint32_t at = s->row * a_row, stop = end - at < a_row ? end : at + a_row;

    while (at < stop) {
        uint32_t run = slab_run(items, at);
        run = run < stop ? run : stop;
        buffer_put(&s->bytes, slab_at(items, at), (size_t)(run - at) * items->item);
        at = run;
    }
}

static int write_items(vector_save *s, conn *c, error *err)
{
    const vector_index *x = s->v->of;

    if (s->row >= s->item_rows) {
        next_piece(s);
        return FN_END;
    }
    put_items(s, &x->vectors, a_row_of(x->how.item), s->v->nodes);
    return put_row(s, c, VECTOR_ITEMS, (uint8_t)s->m.items_side, err);
}

/* The next row of lists that changed. */
static int write_lists(vector_save *s, conn *c, error *err)
{
    const vector_index *x = s->v->of;
    const vector_saved *old = &x->saved;
    const bool upper = s->at == UPPER;
    const slab *lists = upper ? &x->links.upper : &x->links.links;
    const slab *changed = upper ? &x->links.upper_changed : &x->links.changed;
    const uint32_t rows = upper ? s->upper_rows : s->link_rows, before = upper ? old->upper_rows : old->link_rows;
    uint8_t *sides = s->sides + (upper ? s->link_rows : 0);

    while (s->row < rows && old->numbered && s->row < before && !*slab_at(changed, s->row))
        s->row++;
    if (s->row >= rows) {
        next_piece(s);
        return FN_END;
    }
    sides[s->row] ^= 1;
    put_items(s, lists, graph_row_items(lists), (uint32_t)(upper ? s->m.upper : s->m.linked));
    return put_row(s, c, upper ? VECTOR_UPPER : VECTOR_LINKS, sides[s->row], err);
}

static bool has_room(const vector_save *s)
{
    return s->bytes.len + 2 * VARINT_MAX <= VECTOR_ROW_BYTES;
}

static int write_tall(vector_save *s, conn *c, error *err)
{
    const graph *g = &s->v->of->links;

    for (; s->place < s->m.linked && has_room(s); s->place++) {
        uint32_t height = graph_height(g, s->place);
        if (!height)
            continue;
        varint_put(&s->bytes, (uint64_t)((int64_t)s->place - s->before));
        varint_put(&s->bytes, height);
        s->before = s->place;
    }
    if (!s->bytes.len) {
        s->m.tall_rows = s->row;
        next_piece(s);
        return FN_END;
    }
    return put_row(s, c, VECTOR_TALL, (uint8_t)s->m.lists_side, err);
}

static int write_entries(vector_save *s, conn *c, error *err)
{
    vector_document d;

    if (!s->documents.v) {
        int rc = vector_documents_open(&s->documents, s->v, err);
        if (rc)
            return rc;
        s->before = 0;
    }
    while (has_room(s) && vector_documents_next(&s->documents, &d)) {
        varint_put(&s->bytes, vector_zigzag((int64_t)((uint64_t)d.id - (uint64_t)s->before)));
        varint_put(&s->bytes, vector_zigzag((int64_t)d.node - (int64_t)(uint32_t)(s->node_before + 1)));
        s->before = d.id;
        s->node_before = d.node;
        s->m.docs++;
    }
    if (!s->bytes.len) {
        s->m.entry_rows = s->row;
        next_piece(s);
        return FN_END;
    }
    return put_row(s, c, VECTOR_ENTRIES, (uint8_t)s->m.lists_side, err);
}

/* A row of the piece; FN_END: it has no more. */
static int write_row(vector_save *s, conn *c, error *err)
{
    s->bytes.len = 0;
    switch (s->at) {
    case CENTRES: return write_centres(s, c, err);
    case ITEMS: return write_items(s, c, err);
    case LINKS:
    case UPPER: return write_lists(s, c, err);
    case TALL: return write_tall(s, c, err);
    default: return write_entries(s, c, err);
    }
}

int vector_save_write(vector_save *s, conn *c, error *err)
{
    int rows = 0;

    while (rows < ROWS_A_BLOCK && s->at < PIECES) {
        int rc = write_row(s, c, err);
        if (rc && rc != FN_END)
            return rc;
        rows += rc == FENEC_OK;
    }
    return s->at < PIECES ? FENEC_OK : FN_END;
}

/* ---- landing ---- */

int vector_save_land(vector_save *s, conn *c, error *err)
{
    uint64_t numbers[VECTOR_MANIFEST_NUMBERS];

    memcpy(numbers, &s->m, sizeof numbers);
    s->bytes.len = 0;
    for (int i = 0; i < VECTOR_MANIFEST_NUMBERS; i++)
        varint_put(&s->bytes, numbers[i]);
    buffer_put(&s->bytes, s->sides, (size_t)s->link_rows + s->upper_rows);
    if (s->bytes.failed)
        return fail_memory(err);
    int rc = row_cache_write(c, s->index, VECTOR_MANIFEST, s->bytes.bytes, s->bytes.len, err);
    if (!rc && s->m.log > (uint64_t)VECTOR_LOG)
        rc = rows_delete_range(c, table_search(s->index), VECTOR_LOG, (int64_t)s->m.log - 1, err);
    return rc;
}

static void forget_changes(slab *changed, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        *slab_at(changed, i) = 0;
}

void vector_save_landed(vector_save *s)
{
    vector_index *x = s->v->of;

    memory_free(x->saved.link_sides);
    s->rows_before[VECTOR_TALL] = s->rows_before[VECTOR_ENTRIES] = 0;
    x->saved = (vector_saved){.there = true,
                              .numbered = true,
                              .nodes = (uint32_t)s->m.nodes,
                              .linked = (uint32_t)s->m.linked,
                              .gone = s->gone,
                              .log = (int64_t)s->m.log,
                              .items_side = (uint8_t)s->m.items_side,
                              .lists_side = (uint8_t)s->m.lists_side,
                              .link_sides = s->sides,
                              .link_rows = s->link_rows,
                              .upper_rows = s->upper_rows};
    s->sides = NULL;
    forget_changes(&x->links.changed, s->link_rows);
    forget_changes(&x->links.upper_changed, s->upper_rows);
    s->row = 0;
}

/* ---- cleaning ---- */

static uint32_t rows_of(const vector_save *s, vector_rows kind)
{
    switch (kind) {
    case VECTOR_ITEMS: return s->item_rows;
    case VECTOR_LINKS: return s->link_rows;
    case VECTOR_UPPER: return s->upper_rows;
    case VECTOR_TALL: return (uint32_t)s->m.tall_rows;
    case VECTOR_ENTRIES: return (uint32_t)s->m.entry_rows;
    default: return s->centre_rows;
    }
}

static bool is_named(const vector_save *s, vector_rows kind, uint8_t side, uint32_t row)
{
    const vector_saved *now = &s->v->of->saved;

    if (row >= rows_of(s, kind))
        return false;
    switch (kind) {
    case VECTOR_LINKS: return now->link_sides[row] == side;
    case VECTOR_UPPER: return now->link_sides[now->link_rows + row] == side;
    case VECTOR_TALL:
    case VECTOR_ENTRIES: return now->lists_side == side;
    default: return now->items_side == side;
    }
}

static int delete_row(vector_save *s, conn *c, int *deleted, error *err)
{
    const int64_t id = vector_row_id(s->kind, s->side, s->row);
    int rc;

    if (is_named(s, s->kind, s->side, s->row++))
        return FENEC_OK;
    rc = rows_exists(c, table_search(s->index), id, err);
    if (rc == FENEC_OK) {
        rc = rows_delete(c, table_search(s->index), id, err);
        ++*deleted;
    }
    return rc == FN_END ? FENEC_OK : rc;
}

int vector_save_clean(vector_save *s, conn *c, error *err)
{
    int deleted = 0, rc = FENEC_OK;

    if (s->cleaned)
        return FN_END;
    while (!rc && deleted < ROWS_A_BLOCK && s->kind <= VECTOR_CENTRES) {
        uint32_t rows = rows_of(s, s->kind), before = s->rows_before[s->kind];
        rows = rows > before ? rows : before;
        if (s->row < rows) {
            rc = delete_row(s, c, &deleted, err);
            continue;
        }
        /* Left of a save that was cut short. */
        rc = rows_delete_range(c, table_search(s->index), vector_row_id(s->kind, s->side, rows),
                               vector_row_id(s->kind, s->side, UINT32_MAX), err);
        s->row = 0;
        s->kind = s->side ? s->kind + 1 : s->kind;
        s->side = !s->side;
    }
    s->cleaned = s->kind > VECTOR_CENTRES;
    return rc;
}
