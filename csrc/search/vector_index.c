#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/varint.h"
#include "search/row_cache.h"
#include "search/vector_rows.h"

#define RING_STEPS 32 /* along a ring, for a document's place in it */

/* What a block did. */
typedef struct vector_own {
    uint32_t first_node, first_entry, sorted; /* as it began */
    bool joins;                               /* an entry of it belongs to a node from before it */
    int64_t *written;
    size_t written_count, written_cap;
    uint32_t *taken; /* entries from before it that it took away */
    size_t taken_count, taken_cap;
} vector_own;

/* ---- one index ---- */

static uint64_t hash_node(const void *owner, uint32_t n)
{
    const vector_index *x = owner;

    return hash64(slab_at(&x->vectors, n), x->how.item);
}

static uint64_t hash_id(int64_t id)
{
    uint64_t h = (uint64_t)id * 0x9e3779b97f4a7c15u;

    return h ^ h >> 32;
}

static uint64_t hash_entry(const void *owner, uint32_t n)
{
    return hash_id(vector_entry_id(owner, n));
}

codec_kind vector_plain_kind(const index_spec *spec, const type *t)
{
    if (spec->quant == QUANT_INT8)
        return CODEC_INT8;
    return t->half ? CODEC_HALF : CODEC_FLOAT;
}

static bool make_scratch(vector_index *x)
{
    x->floats = memory_alloc((size_t)x->how.dimension * sizeof *x->floats);
    x->item = memory_alloc(x->how.item);
    x->linker = graph_walker_new();
    return x->floats && x->item && x->linker;
}

vector_index *vector_index_new(const index_spec *spec, const type *t, codec_kind kind, float *centres)
{
    vector_index *x = memory_zeroed(sizeof *x);

    if (!x) {
        memory_free(centres);
        return NULL;
    }
    atomic_init(&x->references, 1);
    x->spec = *spec;
    x->type = *t;
    atomic_init(&x->log_next, VECTOR_LOG);
    atomic_init(&x->usual, ENTRY_NONE);
    x->logged_to = INT64_MIN;
    x->centres = centres;
    codec_init(&x->how, kind, spec->metric, t->dimension);
    x->how.centres = centres;
    slab_init(&x->vectors, x->how.item);
    slab_init(&x->last, sizeof(uint32_t));
    slab_init(&x->ids, sizeof(int64_t));
    slab_init(&x->rings, sizeof(entry_ring));
    slab_init(&x->lives, sizeof(entry_life));
    graph_init(&x->links, (graph_vectors){&x->how, &x->vectors}, spec->m, spec->ef_construction);
    x->by_vector = (number_table){.hash = hash_node, .owner = x};
    x->by_id = (number_table){.hash = hash_entry, .owner = x};
    if (!lock_init(&x->guard, LOCK_LEAF)) {
        memory_free(centres);
        memory_free(x);
        return NULL;
    }
    if (!make_scratch(x)) {
        vector_index_drop(x);
        return NULL;
    }
    return x;
}

void vector_index_drop(vector_index *x)
{
    if (atomic_fetch_sub(&x->references, 1) > 1)
        return;
    graph_clear(&x->links);
    slab_clear(&x->vectors);
    slab_clear(&x->last);
    slab_clear(&x->ids);
    slab_clear(&x->rings);
    slab_clear(&x->lives);
    number_table_clear(&x->by_vector);
    number_table_clear(&x->by_id);
    while (x->walkers) {
        graph_walker *w = x->walkers;
        x->walkers = w->next;
        graph_walker_free(w);
    }
    graph_walker_free(x->linker);
    lock_destroy(&x->guard);
    memory_free(x->saved.link_sides);
    codec_clear(&x->how);
    memory_free(x->centres);
    memory_free(x->floats);
    memory_free(x->item);
    memory_free(x);
}

/* ---- versions ---- */

static void own_free(vector_own *own)
{
    if (!own)
        return;
    memory_free(own->written);
    memory_free(own->taken);
    memory_free(own);
}

static void version_free(version *head)
{
    vector_version *v = (vector_version *)head;

    own_free(v->own);
    vector_index_drop(v->of);
    memory_free(v);
}

static vector_version *version_over(vector_index *x)
{
    vector_version *v = memory_zeroed(sizeof *v);

    if (!v)
        return NULL;
    atomic_init(&v->head.references, 1);
    v->head.free = version_free;
    v->of = x;
    atomic_fetch_add(&x->references, 1);
    return v;
}

vector_version *vector_version_new(vector_index *x)
{
    vector_version *v = version_over(x);

    if (!v)
        return NULL;
    v->number = 1;
    v->nodes = x->node_count;
    v->entries = x->entry_count;
    v->sorted = x->sorted;
    v->docs = x->entry_count;
    return v;
}

vector_version *vector_new(const index_spec *spec, const type *t)
{
    vector_index *x = vector_index_new(spec, t, vector_plain_kind(spec, t), NULL);
    vector_version *v = x ? vector_version_new(x) : NULL;

    if (x)
        vector_index_drop(x);
    return v;
}

vector_version *vector_begin(const vector_version *v)
{
    vector_own *own = memory_zeroed(sizeof *own);
    vector_version *next = own && v->number < NUMBER_NEVER - 2 ? version_over(v->of) : NULL;

    if (!next) {
        memory_free(own);
        return NULL;
    }
    const vector_index *x = v->of; /* which may hold entries of blocks that were put back */
    *own = (vector_own){.first_node = x->node_count, .first_entry = x->entry_count, .sorted = x->sorted};
    next->own = own;
    next->number = v->number + 1;
    next->nodes = x->node_count;
    next->entries = x->entry_count;
    next->sorted = x->sorted;
    next->docs = v->docs;
    return next;
}

int vector_log(const vector_version *v, conn *c, uint32_t index, error *err)
{
    const vector_own *own = v->own;
    buffer b;

    if (!own || !own->written_count)
        return FENEC_OK;
    const int64_t row = atomic_load_explicit(&v->of->log_next, memory_order_relaxed);
    buffer_init(&b);
    for (size_t i = 0; i < own->written_count; i++)
        varint_put(&b, vector_zigzag(own->written[i]));
    int rc = b.failed ? fail_memory(err) : row_cache_write(c, index, row, b.bytes, b.len, err);
    buffer_clear(&b);
    return rc;
}

static void note_tables(vector_index *x)
{
    size_t slots = (size_t)x->by_vector.cap + x->by_id.cap;

    atomic_store_explicit(&x->table_bytes, slots * sizeof(uint32_t), memory_order_relaxed);
}

void vector_land(vector_version *own)
{
    note_tables(own->of);
    if (own->own && own->own->written_count)
        atomic_fetch_add_explicit(&own->of->log_next, 1, memory_order_relaxed);
    own_free(own->own);
    own->own = NULL;
}

/* ---- finding a document ---- */

bool vector_find_sorted(const vector_version *v, int64_t id, uint32_t *from)
{
    const vector_index *x = v->of;
    uint32_t low = *from, high, step = 1;

    if (low >= v->sorted)
        return false;
    int64_t first = vector_entry_id(x, low);
    if (id < first && low > 0)
        first = vector_entry_id(x, low = 0);
    *from = low;
    if (id <= first)
        return id == first;
    /* Ids mostly follow one another: the entry is then as far on as the id is. */
    uint64_t ahead = (uint64_t)id - (uint64_t)first;
    if (ahead < v->sorted - low && vector_entry_id(x, low + (uint32_t)ahead) == id) {
        *from = low + (uint32_t)ahead;
        return true;
    }
    while (step < v->sorted - low && vector_entry_id(x, low + step) < id) {
        low += step;
        step *= 2;
    }
    high = step < v->sorted - low ? low + step : v->sorted; /* the first not below it is in low+1 .. high */
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (vector_entry_id(x, middle) < id)
            low = middle;
        else
            high = middle;
    }
    *from = high;
    return high < v->sorted && vector_entry_id(x, high) == id;
}

/* The newest entry of an id past the sorted ones. Under the guard, or the writer's. */
static bool find_late(const vector_index *x, int64_t id, uint32_t *entry, uint32_t *at)
{
    bool started = false;

    while (number_table_next(&x->by_id, hash_id(id), at, &started, entry))
        if (vector_entry_id(x, *entry) == id)
            return true;
    return false;
}

int vector_find(const vector_version *v, int64_t id, uint32_t *entry)
{
    vector_index *x = v->of;
    uint32_t at = 0;
    bool any = vector_find_sorted(v, id, &at);

    if (any && vector_sees(v, at)) {
        *entry = at;
        return FENEC_OK;
    }
    lock_take(&x->guard);
    bool late = find_late(x, id, entry, &at);
    lock_leave(&x->guard);
    if (late && vector_sees(v, *entry))
        return FENEC_OK;
    /* An older entry is not found any more once a newer one stands in the table. */
    return late ? ENTRY_UNCLEAR : FN_END;
}

/* ---- the writer's additions ---- */

static _Atomic(uint32_t) *last_of(const vector_index *x, uint32_t node)
{
    return slab_word(&x->last, node);
}

bool vector_add_node(vector_index *x, const uint8_t *item, uint32_t *node)
{
    uint32_t n = x->node_count;

    if (n >= GRAPH_NODES_MAX - 1 || !slab_reserve(&x->vectors, n + 1) || !slab_reserve(&x->last, n + 1))
        return false;
    memcpy(slab_at(&x->vectors, n), item, x->how.item);
    atomic_store_explicit(last_of(x, n), ENTRY_NONE, memory_order_relaxed);
    x->node_count++;
    *node = n;
    return true;
}

static void note_unusual(vector_index *x, uint32_t entry)
{
    if (entry < atomic_load_explicit(&x->usual, memory_order_relaxed))
        atomic_store_explicit(&x->usual, entry, memory_order_relaxed);
}

/* What is so already is not written: its page may not be there. */
static void set(vector_index *x, uint32_t entry, _Atomic(uint32_t) *to, uint32_t n)
{
    if (atomic_load_explicit(to, memory_order_relaxed) == n)
        return;
    atomic_store_explicit(to, n, memory_order_release);
    note_unusual(x, entry);
}

static void set_next(vector_index *x, uint32_t entry, uint32_t next)
{
    set(x, entry, &vector_entry_ring(x, entry)->next, next - entry);
}

static void set_added(vector_index *x, uint32_t entry, uint32_t number)
{
    set(x, entry, &vector_entry_life(x, entry)->added, number - 1);
}

static void set_gone(vector_index *x, uint32_t entry, uint32_t number)
{
    set(x, entry, &vector_entry_life(x, entry)->gone, NUMBER_NEVER - number);
}

/* Where in the ring after `last` the id belongs: the entry before it. False: it is too far to look. */
static bool find_before(const vector_index *x, uint32_t last, int64_t id, uint32_t *before)
{
    uint32_t at = last;

    for (int i = 0; i < RING_STEPS; i++) {
        uint32_t next = vector_entry_next(x, at);
        if (id < vector_entry_id(x, next)) {
            *before = at;
            return true;
        }
        at = next;
    }
    return false;
}

static void join_ring(vector_index *x, uint32_t entry, uint32_t node, int64_t id)
{
    uint32_t last = atomic_load_explicit(last_of(x, node), memory_order_relaxed), before;
    uint32_t mixed = last & RING_MIXED, tail = last & ~RING_MIXED;

    if (tail == ENTRY_NONE) {
        set_next(x, entry, entry);
        atomic_store_explicit(last_of(x, node), entry, memory_order_release);
        return;
    }
    if (!mixed && id < vector_entry_id(x, tail) && find_before(x, tail, id, &before)) {
        set_next(x, entry, vector_entry_next(x, before));
        set_next(x, before, entry);
        return;
    }
    if (id < vector_entry_id(x, tail))
        mixed = RING_MIXED;
    set_next(x, entry, vector_entry_next(x, tail));
    set_next(x, tail, entry);
    atomic_store_explicit(last_of(x, node), entry | mixed, memory_order_release);
}

/* Makes the entry the newest of its id. There is room. */
static void note_newest(vector_index *x, uint32_t entry)
{
    uint32_t there, at = 0;
    int64_t id = vector_entry_id(x, entry);

    lock_take(&x->guard);
    if (find_late(x, id, &there, &at))
        number_table_replace(&x->by_id, at, entry);
    else
        number_table_put(&x->by_id, entry);
    lock_leave(&x->guard);
}

bool vector_add_entry(vector_index *x, int64_t id, uint32_t node, uint32_t number)
{
    uint32_t n = x->entry_count;
    bool in_order = n == x->sorted && (n == 0 || vector_entry_id(x, n - 1) < id);

    if (n >= ENTRY_NONE - 1 || !slab_reserve(&x->ids, n + 1) || !slab_reserve(&x->rings, n + 1) ||
        !slab_reserve(&x->lives, n + 1))
        return false;
    if (!in_order) {
        lock_take(&x->guard);
        bool room = number_table_room(&x->by_id, 1);
        lock_leave(&x->guard);
        if (!room)
            return false;
    }
    memcpy(slab_at(&x->ids, n), &id, sizeof id);
    if (vector_entry_node(x, n) != node) {
        vector_entry_ring(x, n)->node = node - n;
        note_unusual(x, n);
    }
    set_added(x, n, number);
    set_gone(x, n, NUMBER_NEVER);
    join_ring(x, n, node, id);
    x->entry_count++;
    x->sorted += in_order;
    if (!in_order)
        note_newest(x, n);
    return true;
}

/* The table of nodes by vector is made by the first write, not by who only reads. */
static bool know_vectors(vector_index *x)
{
    if (x->knows_vectors)
        return true;
    if (!number_table_room(&x->by_vector, x->node_count))
        return false;
    for (uint32_t i = 0; i < x->node_count; i++)
        number_table_put(&x->by_vector, i);
    x->knows_vectors = true;
    return true;
}

static bool find_node(const vector_index *x, const uint8_t *item, uint32_t *node)
{
    const uint64_t hash = hash64(item, x->how.item);
    bool started = false;
    uint32_t at = 0;

    while (number_table_next(&x->by_vector, hash, &at, &started, node))
        if (memcmp(slab_at(&x->vectors, *node), item, x->how.item) == 0)
            return true;
    return false;
}

static bool make_node(vector_index *x, const uint8_t *item, uint32_t *node)
{
    if (!number_table_room(&x->by_vector, 1) || !vector_add_node(x, item, node))
        return false;
    number_table_put(&x->by_vector, *node);
    return true;
}

/* ---- a block's writes ---- */

static bool room_for(void **list, size_t count, size_t *cap, size_t item)
{
    if (count < *cap)
        return true;
    size_t grown = *cap ? *cap * 2 : 16;
    void *more = memory_resize(*list, grown * item);
    if (!more)
        return false;
    *list = more;
    *cap = grown;
    return true;
}

static int take_away(vector_version *v, int64_t id, error *err)
{
    vector_own *own = v->own;
    uint32_t entry;

    if (vector_find(v, id, &entry) != FENEC_OK)
        return FENEC_OK;
    if (entry < own->first_entry) {
        if (!room_for((void **)&own->taken, own->taken_count, &own->taken_cap, sizeof *own->taken))
            return fail_memory(err);
        own->taken[own->taken_count++] = entry;
    }
    set_gone(v->of, entry, v->number);
    atomic_fetch_add(&v->of->gone, 1);
    v->docs--;
    return FENEC_OK;
}

static int add(vector_version *v, int64_t id, const uint8_t *item, error *err)
{
    vector_index *x = v->of;
    uint32_t node;

    if (!know_vectors(x) || (!find_node(x, item, &node) && !make_node(x, item, &node)) ||
        !vector_add_entry(x, id, node, v->number))
        return fail_memory(err);
    v->own->joins |= node < v->own->first_node;
    v->docs++;
    return FENEC_OK;
}

/* The index holds other things from now on. */
static void see_all(vector_version *v)
{
    v->nodes = v->of->node_count;
    v->entries = v->of->entry_count;
    v->sorted = v->of->sorted;
}

int vector_write_item(vector_version *v, int64_t id, const uint8_t *item, error *err)
{
    int rc = take_away(v, id, err);

    if (rc == FENEC_OK && item)
        rc = add(v, id, item, err);
    see_all(v);
    return rc;
}

int vector_write(vector_version *v, int64_t id, const uint8_t *floats, error *err)
{
    vector_own *own = v->own;
    vector_index *x = v->of;

    if (id <= x->logged_to) {
        if (!room_for((void **)&own->written, own->written_count, &own->written_cap, sizeof *own->written))
            return fail_memory(err);
        own->written[own->written_count++] = id;
    }
    if (!floats)
        return vector_write_item(v, id, NULL, err);
    memcpy(x->floats, floats, (size_t)x->how.dimension * sizeof *x->floats);
    codec_encode(&x->how, x->floats, x->item);
    return vector_write_item(v, id, x->item, err);
}

/* Nobody else has seen the nodes of the block, nor its entries but for those in rings of other nodes. */
void vector_undo(vector_version *v)
{
    vector_index *x = v->of;
    vector_own *own = v->own;
    uint32_t gone = 0;

    if (!own)
        return;
    for (uint32_t i = own->first_node; x->knows_vectors && i < x->node_count; i++)
        number_table_erase(&x->by_vector, i);
    lock_take(&x->guard);
    for (uint32_t i = own->first_entry; i < x->entry_count; i++) {
        gone += atomic_load_explicit(&vector_entry_life(x, i)->gone, memory_order_relaxed) == NUMBER_NEVER - v->number;
        set_gone(x, i, 0);
        set_added(x, i, NUMBER_NEVER);
        number_table_erase(&x->by_id, i);
    }
    lock_leave(&x->guard);
    for (size_t i = 0; i < own->taken_count; i++) {
        set_gone(x, own->taken[i], NUMBER_NEVER);
        if (own->taken[i] >= own->sorted)
            note_newest(x, own->taken[i]); /* room: what stood in its place has left */
    }
    atomic_fetch_sub(&x->gone, gone + (uint32_t)own->taken_count);
    x->node_count = own->first_node;
    if (own->joins) { /* their numbers stay theirs: a reader may be at one of them */
        atomic_fetch_add(&x->gone, x->entry_count - own->first_entry);
        return;
    }
    x->entry_count = own->first_entry;
    x->sorted = own->sorted;
}

bool vector_is_exact(const vector_version *v)
{
    return v->of->how.kind == CODEC_FLOAT || v->of->how.kind == CODEC_HALF;
}
