#include "search/graph.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define EXPANDED (1u << 30)   /* its links were followed */
#define PASSES_NOT (1u << 31) /* it is passed through alone */

enum {
    PIECE = 64,       /* links looked at together */
    AHEAD = 8,        /* vectors asked for before they are measured */
    LINES_AHEAD = 8,  /* of each, 64 bytes long */
    SLACK = 64        /* room of `found` beside the beam, for what is passed through */
};

static inline uint32_t load(const _Atomic(uint32_t) *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static inline void store(_Atomic(uint32_t) *to, uint32_t n)
{
    atomic_store_explicit(to, n, memory_order_relaxed);
}

/* ---- the graph ---- */

void graph_init(graph *g, graph_vectors vectors, uint32_t m, uint32_t ef_construction)
{
    memset(g, 0, sizeof *g);
    g->walked = g->linked_by = vectors;
    g->m = m;
    g->ef_construction = ef_construction;
    slab_init(&g->links, (size_t)m * 8);
    slab_init(&g->place, 4);
    slab_init(&g->upper, (size_t)m * 4 + 4);
    slab_init(&g->changed, 1);
    slab_init(&g->upper_changed, 1);
    atomic_init(&g->linked, 0);
    atomic_init(&g->entry, GRAPH_NONE);
}

void graph_clear(graph *g)
{
    slab_clear(&g->links);
    slab_clear(&g->place);
    slab_clear(&g->upper);
    slab_clear(&g->changed);
    slab_clear(&g->upper_changed);
}

_Atomic(uint32_t) *graph_list(const graph *g, uint32_t node, uint32_t layer)
{
    if (layer == 0)
        return slab_word(&g->links, node);
    return slab_word(&g->upper, load(slab_word(&g->place, node)) + layer - 1) + 1;
}

uint32_t graph_height(const graph *g, uint32_t node)
{
    uint32_t at = load(slab_word(&g->place, node));

    return at == GRAPH_NONE ? 0 : load(slab_word(&g->upper, at));
}

bool graph_make_room(graph *g, uint32_t nodes, uint32_t upper)
{
    if (!slab_fit(&g->links, nodes, nodes) || !slab_fit(&g->place, nodes, nodes) || !slab_fit(&g->upper, upper, upper) ||
        !slab_reserve(&g->changed, nodes / graph_row_items(&g->links) + 1) ||
        !slab_reserve(&g->upper_changed, upper / graph_row_items(&g->upper) + 1))
        return false;
    for (uint32_t i = 0; i < nodes; i++)
        store(slab_word(&g->place, i), GRAPH_NONE);
    return true;
}

static void note_change(graph *g, uint32_t node, uint32_t layer)
{
    if (layer == 0)
        *slab_at(&g->changed, node / graph_row_items(&g->links)) = 1;
    else
        *slab_at(&g->upper_changed, (load(slab_word(&g->place, node)) + layer - 1) / graph_row_items(&g->upper)) = 1;
}

/* Room for a node that stands so high, its lists empty. Nodes come in order. */
static bool place(graph *g, uint32_t node, uint32_t height)
{
    const uint32_t upper = g->upper_count + height;

    if (!slab_reserve(&g->links, node + 1) || !slab_reserve(&g->place, node + 1) || !slab_reserve(&g->upper, upper) ||
        !slab_reserve(&g->changed, node / graph_row_items(&g->links) + 1) ||
        !slab_reserve(&g->upper_changed, upper / graph_row_items(&g->upper) + 1))
        return false;
    store(slab_word(&g->place, node), height ? g->upper_count : GRAPH_NONE);
    for (uint32_t i = 0; i < height; i++)
        store(slab_word(&g->upper, g->upper_count++), height);
    for (uint32_t layer = 0; layer <= height; layer++) {
        for (uint32_t i = 0; i < graph_room(g, layer); i++)
            store(graph_list(g, node, layer) + i, GRAPH_NONE);
        note_change(g, node, layer);
    }
    return true;
}

size_t graph_bytes(const graph *g, uint32_t nodes)
{
    return (size_t)nodes * (g->links.item + g->place.item) + (size_t)g->upper_count * g->upper.item;
}

/* ---- walkers ---- */

graph_walker *graph_walker_new(void)
{
    return memory_zeroed(sizeof(graph_walker));
}

void graph_walker_free(graph_walker *w)
{
    if (!w)
        return;
    memory_free(w->visited);
    memory_free(w->found);
    memory_free(w->memory);
    memory_free(w);
}

static int make_room(graph_walker *w, uint32_t beam, error *err)
{
    uint32_t cap = beam + beam / 2 + SLACK;

    if (w->cap < cap) {
        graph_found *more = memory_resize(w->found, (size_t)cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        w->found = more;
        w->cap = cap;
    }
    return FENEC_OK;
}

int graph_start(graph_walker *w, uint32_t beam, error *err)
{
    w->count = w->passed = w->bound = 0;
    w->measured = 0;
    return make_room(w, beam, err);
}

/* Forgets which nodes were met, of the first `nodes`. */
static int forget_visits(graph_walker *w, uint32_t nodes, error *err)
{
    size_t words = ((size_t)nodes + 63) / 64;

    if (w->words < words) {
        uint64_t *more = memory_alloc((words + words / 4) * sizeof *more);
        if (!more)
            return fail_memory(err);
        memory_free(w->visited);
        w->visited = more;
        w->words = words + words / 4;
    }
    memset(w->visited, 0, words * sizeof *w->visited);
    return FENEC_OK;
}

static inline bool visit(graph_walker *w, uint32_t node)
{
    uint64_t bit = 1ull << (node & 63), *word = &w->visited[node >> 6];

    if (*word & bit)
        return false;
    *word |= bit;
    return true;
}

/* ---- what was found: ascending by distance ---- */

bool graph_passes(const graph_found *f)
{
    return !(f->node & PASSES_NOT);
}

/* Whether a node of that distance would stay. */
static inline bool is_near(const graph_walker *w, uint32_t beam, float distance)
{
    return w->passed < beam || distance < w->found[w->count - 1].distance;
}

/* Puts it in its place, which is answered; what is then beyond the beam goes. */
static uint32_t keep(graph_walker *w, uint32_t beam, float distance, uint32_t node)
{
    uint32_t low = 0, high = w->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (w->found[middle].distance <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    if (w->count == w->cap) { /* full of what does not pass */
        w->count--;
        w->passed -= graph_passes(&w->found[w->count]);
        if (low > w->count)
            return w->count;
    }
    memmove(&w->found[low + 1], &w->found[low], (w->count - low) * sizeof *w->found);
    w->found[low] = (graph_found){distance, node};
    w->count++;
    w->passed += !(node & PASSES_NOT);
    while (w->passed > beam)
        w->passed -= graph_passes(&w->found[--w->count]);
    if (w->passed == beam)
        while (!graph_passes(&w->found[w->count - 1]))
            w->count--;
    return low;
}

/* ---- walking a layer ---- */

typedef struct walk {
    const graph *g;
    graph_vectors of;
    graph_walker *w;
    codec_query *q;
    uint32_t beam;
    const graph_test *t; /* NULL: every node passes */
    uint32_t nearest;    /* place in w->found of the nearest node whose links were not followed */
} walk;

static inline float real(float distance)
{
    return distance < INFINITY ? distance : INFINITY; /* no number is as far as can be */
}

static inline const uint8_t *item_of(const walk *k, uint32_t node)
{
    return slab_at(k->of.items, node);
}

static inline void ask_for(const uint8_t *item, size_t len)
{
    size_t lines = len < LINES_AHEAD * 64 ? len : LINES_AHEAD * 64;

    for (size_t i = 0; i < lines; i += 64)
        __builtin_prefetch(item + i, 0, 3);
}

static inline void meet(walk *k, uint32_t node, float distance)
{
    graph_walker *w = k->w;
    float d = real(distance);

    if (!is_near(w, k->beam, d))
        return;
    if (k->t && (node >= k->t->limit || (k->t->passes && !k->t->passes(k->t->with, node))))
        node |= PASSES_NOT;
    uint32_t at = keep(w, k->beam, d, node);
    if (at < k->nearest)
        k->nearest = at;
}

static void measure_met(walk *k, const uint32_t *nodes, uint32_t count)
{
    const size_t len = k->of.how->item;
    float d[4];
    uint32_t i = 0;

    for (; i + 4 <= count; i += 4) {
        const uint8_t *items[4];
        for (uint32_t n = 0; n < 4; n++) {
            items[n] = item_of(k, nodes[i + n]);
            if (i + n + AHEAD < count)
                ask_for(item_of(k, nodes[i + n + AHEAD]), len);
        }
        k->q->distance4(k->q, items, d);
        for (uint32_t n = 0; n < 4; n++)
            meet(k, nodes[i + n], d[n]);
    }
    for (; i < count; i++)
        meet(k, nodes[i], k->q->distance(k->q, item_of(k, nodes[i])));
    k->w->measured += count;
}

static void follow_links(walk *k, uint32_t node, uint32_t layer)
{
    const _Atomic(uint32_t) *list = graph_list(k->g, node, layer);
    const uint32_t room = graph_room(k->g, layer);
    uint32_t fresh[PIECE], count = 0, to = 0;

    for (uint32_t i = 0; i < room; i++) {
        to = load(list + i);
        if (to == GRAPH_NONE)
            break;
        if (to >= k->w->bound || !visit(k->w, to))
            continue;
        if (count < AHEAD)
            ask_for(item_of(k, to), k->of.how->item);
        fresh[count++] = to;
        if (count == PIECE) {
            measure_met(k, fresh, count);
            count = 0;
        }
    }
    measure_met(k, fresh, count);
}

/* From the nodes that are in w->found on. */
static void walk_layer(walk *k, uint32_t layer)
{
    graph_walker *w = k->w;

    k->nearest = 0;
    while (k->nearest < w->count) {
        graph_found *next = &w->found[k->nearest];
        if (next->node & EXPANDED) {
            k->nearest++;
            continue;
        }
        next->node |= EXPANDED;
        follow_links(k, graph_node(next), layer);
    }
}

/* Steps to the nearest neighbour until there is none nearer, layer by layer down to the one above `layer`. */
static graph_found descend(const walk *k, graph_found from, uint32_t top, uint32_t layer)
{
    for (uint32_t l = top; l > layer; l--) {
        bool moved = true;
        while (moved) {
            const _Atomic(uint32_t) *list = graph_list(k->g, from.node, l);
            moved = false;
            for (uint32_t i = 0; i < k->g->m; i++) {
                uint32_t to = load(list + i);
                if (to == GRAPH_NONE)
                    break;
                if (to >= k->w->bound)
                    continue;
                float d = k->q->distance(k->q, item_of(k, to));
                k->w->measured++;
                if (d < from.distance) {
                    from = (graph_found){d, to};
                    moved = true;
                }
            }
        }
    }
    return from;
}

int graph_search(const graph *g, graph_walker *w, codec_query *q, uint32_t beam, const graph_test *t, error *err)
{
    /* In this order: the entry is linked before it is one. */
    uint64_t entry = atomic_load_explicit(&g->entry, memory_order_acquire);
    walk k = {.g = g, .of = g->walked, .w = w, .q = q, .beam = beam, .t = t};
    graph_found from = {.node = (uint32_t)entry};

    w->bound = atomic_load_explicit(&g->linked, memory_order_acquire);
    if (from.node == GRAPH_NONE)
        return FENEC_OK;
    int rc = forget_visits(w, w->bound, err);
    if (rc)
        return rc;
    from.distance = real(q->distance(q, item_of(&k, from.node)));
    from = descend(&k, from, (uint32_t)(entry >> 32), 0);
    visit(w, from.node);
    meet(&k, from.node, from.distance);
    walk_layer(&k, 0);
    return FENEC_OK;
}

void graph_measure(const graph *g, graph_walker *w, codec_query *q, uint32_t from, uint32_t to, uint32_t beam,
                   const graph_test *t)
{
    walk k = {.g = g, .of = g->walked, .w = w, .q = q, .beam = beam, .t = t};
    uint32_t nodes[PIECE], count = 0;

    for (uint32_t i = from; i < to; i++) {
        nodes[count++] = i;
        if (count == PIECE || i + 1 == to) {
            measure_met(&k, nodes, count);
            count = 0;
        }
    }
}

/* ---- linking ---- */

/* Memory of a linking, in a walker. */
typedef struct linking {
    walk k;
    graph *g;
    void *query, *other; /* codec queries of the node and of one it is compared with */
    graph_found *list;   /* of a neighbour, one more than there is room for */
    uint32_t *kept;
    uint32_t kept_count;
} linking;

static size_t up64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static int linking_begin(linking *l, graph *g, graph_walker *w, codec_query *q, error *err)
{
    const size_t query = up64(codec_query_bytes(g->linked_by.how)), room = 2 * (size_t)g->m + 1;
    const size_t len = 2 * query + up64(room * sizeof *l->list) + room * sizeof *l->kept;

    if (w->memory_len < len) {
        void *more = memory_alloc(len);
        if (!more)
            return fail_memory(err);
        memory_free(w->memory);
        w->memory = more;
        w->memory_len = len;
    }
    uint8_t *at = w->memory;
    *l = (linking){.k = {.g = g, .of = g->linked_by, .w = w, .q = q, .beam = g->ef_construction}, .g = g};
    l->query = at;
    l->other = at + query;
    l->list = (graph_found *)(void *)(at + 2 * query);
    l->kept = (uint32_t *)(void *)(at + 2 * query + up64(room * sizeof *l->list));
    return FENEC_OK;
}

/* Chooses up to `most` of candidates, which ascend by distance from a node: each nearer to it than to every one
 * that was chosen before, so that they lie in different directions. */
static void choose(linking *l, const graph_found *from, uint32_t count, uint32_t most)
{
    const walk *k = &l->k;

    l->kept_count = 0;
    for (uint32_t i = 0; i < count && l->kept_count < most; i++) {
        uint32_t node = graph_node(&from[i]), n = 0;
        bool apart = true;
        float d[4];
        codec_query q;
        if (l->kept_count)
            codec_query_held(k->of.how, item_of(k, node), l->other, &q);
        for (; apart && n + 4 <= l->kept_count; n += 4) {
            const uint8_t *items[4];
            for (uint32_t j = 0; j < 4; j++)
                items[j] = item_of(k, l->kept[n + j]);
            q.distance4(&q, items, d);
            apart = !(d[0] < from[i].distance || d[1] < from[i].distance || d[2] < from[i].distance ||
                      d[3] < from[i].distance);
        }
        for (; apart && n < l->kept_count; n++)
            apart = !(q.distance(&q, item_of(k, l->kept[n])) < from[i].distance);
        if (apart)
            l->kept[l->kept_count++] = node;
    }
}

static void write_list(_Atomic(uint32_t) *list, const uint32_t *nodes, uint32_t count, uint32_t room)
{
    for (uint32_t i = 0; i < count; i++)
        store(list + i, nodes[i]);
    for (uint32_t i = count; i < room; i++)
        store(list + i, GRAPH_NONE);
}

static void insert_ordered(graph_found *list, uint32_t count, graph_found f)
{
    uint32_t at = count;

    for (; at > 0 && list[at - 1].distance > f.distance; at--)
        list[at] = list[at - 1];
    list[at] = f;
}

/* The neighbour's list, with one node too many, chosen from anew. */
static void choose_again(linking *l, uint32_t neighbour, uint32_t fresh, float distance, uint32_t layer)
{
    const walk *k = &l->k;
    const uint32_t room = graph_room(l->g, layer);
    _Atomic(uint32_t) *list = graph_list(l->g, neighbour, layer);
    uint32_t i = 0;
    codec_query q;
    float d[4];

    codec_query_held(k->of.how, item_of(k, neighbour), l->other, &q);
    for (uint32_t n = 0; n < room && n < 16; n++)
        ask_for(item_of(k, load(list + n)), k->of.how->item);
    for (; i + 4 <= room; i += 4) {
        const uint8_t *items[4];
        for (uint32_t n = 0; n < 4; n++) {
            items[n] = item_of(k, load(list + i + n));
            if (i + n + 16 < room)
                ask_for(item_of(k, load(list + i + n + 16)), k->of.how->item);
        }
        q.distance4(&q, items, d);
        for (uint32_t n = 0; n < 4; n++)
            insert_ordered(l->list, i + n, (graph_found){real(d[n]), load(list + i + n)});
    }
    for (; i < room; i++)
        insert_ordered(l->list, i, (graph_found){real(q.distance(&q, item_of(k, load(list + i)))), load(list + i)});
    insert_ordered(l->list, room, (graph_found){distance, fresh});
    choose(l, l->list, room + 1, room);
    write_list(list, l->kept, l->kept_count, room);
}

static void link_back(linking *l, uint32_t neighbour, uint32_t fresh, float distance, uint32_t layer)
{
    const uint32_t room = graph_room(l->g, layer);
    _Atomic(uint32_t) *list = graph_list(l->g, neighbour, layer);
    uint32_t count = 0;

    while (count < room && load(list + count) != GRAPH_NONE)
        count++;
    if (count < room)
        store(list + count, fresh);
    else
        choose_again(l, neighbour, fresh, distance, layer);
    note_change(l->g, neighbour, layer);
}

/* Links the node in a layer to nodes chosen from those found, and back. */
static void link_layer(linking *l, uint32_t node, uint32_t layer)
{
    const graph_walker *w = l->k.w;
    const uint32_t room = graph_room(l->g, layer);
    _Atomic(uint32_t) *list = graph_list(l->g, node, layer);

    choose(l, w->found, w->count, l->g->m);
    write_list(list, l->kept, l->kept_count, room);
    const uint32_t count = l->kept_count;
    for (uint32_t i = 0, at = 0; i < count; i++) {
        uint32_t to = load(list + i);
        while (graph_node(&w->found[at]) != to)
            at++;
        link_back(l, to, node, w->found[at].distance, layer);
    }
}

/* A number that looks like chance, of the node's alone. */
static uint32_t draw_height(const graph *g, uint32_t node)
{
    uint64_t x = (uint64_t)node + 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    double u = ((double)(x >> 11) + 1) * 0x1p-53;
    double height = -log(u) / log(g->m < 2 ? 2 : g->m);
    return height >= GRAPH_LAYERS_MAX - 1 ? GRAPH_LAYERS_MAX - 1 : (uint32_t)height;
}

static int link_in(graph *g, graph_walker *w, uint32_t node, uint32_t height, error *err)
{
    uint64_t entry = atomic_load_explicit(&g->entry, memory_order_relaxed);
    uint32_t top = (uint32_t)(entry >> 32);
    graph_found from = {.node = (uint32_t)entry};
    codec_query q;
    linking l;
    int rc = linking_begin(&l, g, w, &q, err);

    if (!rc)
        rc = graph_start(w, g->ef_construction, err);
    w->bound = node;
    if (!rc)
        rc = forget_visits(w, node, err); /* room, so that nothing fails below */
    if (rc)
        return rc;
    codec_query_held(g->linked_by.how, item_of(&l.k, node), l.query, &q);
    from.distance = real(q.distance(&q, item_of(&l.k, from.node)));
    from = descend(&l.k, from, top, height);
    for (uint32_t layer = height < top ? height : top;; layer--) {
        forget_visits(w, node, err);
        w->count = w->passed = 0;
        visit(w, from.node);
        meet(&l.k, from.node, from.distance);
        walk_layer(&l.k, layer);
        from = (graph_found){w->found[0].distance, graph_node(&w->found[0])};
        link_layer(&l, node, layer);
        if (layer == 0)
            return FENEC_OK;
    }
}

int graph_link(graph *g, graph_walker *w, bool wanted, error *err)
{
    const uint32_t node = atomic_load_explicit(&g->linked, memory_order_relaxed);
    const uint64_t entry = atomic_load_explicit(&g->entry, memory_order_relaxed);
    const uint32_t upper = g->upper_count;
    uint32_t height = wanted ? draw_height(g, node) : 0;
    int rc = FENEC_OK;

    if (!place(g, node, height))
        return fail_memory(err);
    if (wanted && (uint32_t)entry != GRAPH_NONE)
        rc = link_in(g, w, node, height, err);
    if (rc) {
        g->upper_count = upper;
        return rc;
    }
    atomic_store_explicit(&g->linked, node + 1, memory_order_release);
    if (wanted && ((uint32_t)entry == GRAPH_NONE || height > (uint32_t)(entry >> 32)))
        atomic_store_explicit(&g->entry, (uint64_t)height << 32 | node, memory_order_release);
    return FENEC_OK;
}
