#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/vector_inside.h"

enum { TOGETHER = 64 }; /* vectors measured together */

/* ---- walkers ---- */

static graph_walker *take_walker(vector_index *x)
{
    lock_take(&x->guard);
    graph_walker *w = x->walkers;
    if (w)
        x->walkers = w->next;
    lock_leave(&x->guard);
    return w ? w : graph_walker_new();
}

static void leave_walker(vector_index *x, graph_walker *w)
{
    lock_take(&x->guard);
    w->next = x->walkers;
    x->walkers = w;
    lock_leave(&x->guard);
}

/* ---- a query ---- */

static uint32_t last_of(const vector_index *x, uint32_t node)
{
    return atomic_load_explicit(slab_word(&x->last, node), memory_order_acquire);
}

/* Whether the version sees a document of the node. */
static bool has_document(void *seek, uint32_t node)
{
    const vector_version *v = ((vector_seek *)seek)->v;
    uint32_t last = last_of(v->of, node) & ~RING_MIXED, at = last;

    if (last == ENTRY_NONE)
        return false;
    do {
        if (vector_sees(v, at))
            return true;
        at = vector_entry_next(v->of, at);
    } while (at != last);
    return false;
}

static void *aligned(arena *a, size_t len)
{
    uint8_t *at = arena_alloc(a, len + 64);

    return at ? at + (64 - ((uintptr_t)at & 63)) : NULL;
}

int vector_seek_begin(vector_seek *s, const vector_version *v, float *query, arena *a, error *err)
{
    const codec *how = &v->of->how;
    float *floats = aligned(a, (size_t)how->dimension * sizeof *floats);
    void *memory = aligned(a, codec_query_bytes(how));

    *s = (vector_seek){.v = v, .memory = a, .test = {.limit = v->nodes, .with = s}};
    if (!floats || !memory)
        return fail_memory(err);
    if (how->metric == METRIC_COSINE)
        vector_normalise(query, how->dimension);
    memcpy(floats, query, (size_t)how->dimension * sizeof *floats);
    codec_query_make(how, floats, memory, &s->q);
    if (atomic_load_explicit(&v->of->gone, memory_order_relaxed))
        s->test.passes = has_document;
    s->w = take_walker(v->of);
    return s->w ? FENEC_OK : fail_memory(err);
}

void vector_seek_end(vector_seek *s)
{
    if (s->w)
        leave_walker(s->v->of, s->w);
    s->w = NULL;
}

/* ---- nearest first ---- */

int vector_seek_near(vector_seek *s, uint32_t beam, error *err)
{
    const vector_version *v = s->v;
    graph_walker *w = s->w;
    int rc = graph_start(w, beam, err);

    if (!rc)
        rc = graph_search(&v->of->links, w, &s->q, beam, &s->test, err);
    if (rc)
        return rc;
    if (w->bound < v->nodes)
        graph_measure(&v->of->links, w, &s->q, w->bound, v->nodes, beam, &s->test);
    s->measured += w->measured;
    s->at = 0;
    s->in_ring = false;
    s->group_count = s->group_at = 0;
    return FENEC_OK;
}

static int add_to_group(vector_seek *s, int64_t id, error *err)
{
    if (s->group_count == s->group_cap) {
        size_t cap = s->group_cap ? s->group_cap * 2 : 64;
        vector_hit *more = arena_alloc(s->memory, cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        if (s->group_count)
            memcpy(more, s->group, s->group_count * sizeof *more);
        s->group = more;
        s->group_cap = cap;
    }
    s->group[s->group_count++] = (vector_hit){id, s->distance, s->doubt};
    return FENEC_OK;
}

static int by_id(const void *a, const void *b)
{
    const vector_hit *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

/* The documents of nodes at..end, which are all as far. */
static int make_group(vector_seek *s, uint32_t end, error *err)
{
    const vector_index *x = s->v->of;
    int rc = FENEC_OK;

    s->group_count = s->group_at = 0;
    for (; !rc && s->at < end; s->at++) {
        const graph_found *f = &s->w->found[s->at];
        uint32_t last = last_of(x, graph_node(f)) & ~RING_MIXED, at = last;
        if (!graph_passes(f) || last == ENTRY_NONE)
            continue;
        s->doubt = codec_doubt(&s->q, slab_at(&x->vectors, graph_node(f)));
        do {
            if (vector_sees(s->v, at))
                rc = add_to_group(s, vector_entry_id(x, at), err);
            at = vector_entry_next(x, at);
        } while (!rc && at != last);
    }
    if (s->group_count > 1)
        qsort(s->group, s->group_count, sizeof *s->group, by_id);
    return rc;
}

/* The next node, or the next few as far as one another. */
static int next_node(vector_seek *s, error *err)
{
    const graph_walker *w = s->w;
    uint32_t end = s->at + 1;

    s->distance = w->found[s->at].distance;
    while (end < w->count && w->found[end].distance <= s->distance)
        end++;
    uint32_t node = graph_node(&w->found[s->at]), last = last_of(s->v->of, node);
    if (end > s->at + 1 || last & RING_MIXED)
        return make_group(s, end, err);
    s->in_ring = graph_passes(&w->found[s->at]) && last != ENTRY_NONE;
    s->doubt = codec_doubt(&s->q, slab_at(&s->v->of->vectors, node));
    s->entry = s->last = last;
    s->at++;
    return FENEC_OK;
}

/* The next document of the ring. */
static bool next_in_ring(vector_seek *s, vector_hit *out)
{
    while (s->in_ring) {
        s->entry = vector_entry_next(s->v->of, s->entry);
        s->in_ring = s->entry != s->last;
        if (vector_sees(s->v, s->entry)) {
            *out = (vector_hit){vector_entry_id(s->v->of, s->entry), s->distance, s->doubt};
            return true;
        }
    }
    return false;
}

int vector_seek_next(vector_seek *s, vector_hit *out, error *err)
{
    for (;;) {
        if (next_in_ring(s, out))
            return FENEC_OK;
        if (s->group_at < s->group_count) {
            *out = s->group[s->group_at++];
            return FENEC_OK;
        }
        if (s->at >= s->w->count)
            return FN_END;
        int rc = next_node(s, err);
        if (rc)
            return rc;
    }
}

/* ---- one by one ---- */

static inline float real(float distance)
{
    return distance < INFINITY ? distance : INFINITY;
}

static void visit_node(vector_seek *s, uint32_t node, float distance, vector_visit *visit, void *to)
{
    const vector_index *x = s->v->of;
    uint32_t last = last_of(x, node) & ~RING_MIXED, at = last;
    vector_hit hit = {.distance = distance, .doubt = codec_doubt(&s->q, slab_at(&x->vectors, node))};

    if (last == ENTRY_NONE)
        return;
    do {
        at = vector_entry_next(x, at);
        if (vector_sees(s->v, at)) {
            hit.id = vector_entry_id(x, at);
            visit(to, &hit);
        }
    } while (at != last);
}

void vector_seek_all(vector_seek *s, const float *bound, vector_visit *visit, void *to)
{
    const slab *items = &s->v->of->vectors;
    const uint32_t nodes = s->v->nodes;
    float d[4];

    for (uint32_t i = 0; i < nodes; i += 4) {
        const uint32_t few = nodes - i < 4 ? nodes - i : 4;
        const uint8_t *four[4];
        for (uint32_t n = 0; n < 4; n++)
            four[n] = slab_at(items, n < few ? i + n : i);
        s->q.distance4(&s->q, four, d);
        for (uint32_t n = 0; n < few; n++)
            if (real(d[n]) <= *bound)
                visit_node(s, i + n, real(d[n]), visit, to);
    }
    s->measured += nodes;
}

typedef struct met {
    int64_t id;
    uint32_t node;
} met;

static void measure_met(vector_seek *s, const met *all, size_t count, vector_visit *visit, void *to)
{
    const slab *items = &s->v->of->vectors;
    float d[4];

    for (size_t i = 0; i < count; i += 4) {
        const size_t few = count - i < 4 ? count - i : 4;
        const uint8_t *four[4];
        for (size_t n = 0; n < 4; n++)
            four[n] = slab_at(items, all[n < few ? i + n : i].node);
        s->q.distance4(&s->q, four, d);
        for (size_t n = 0; n < few; n++) {
            const vector_hit hit = {all[i + n].id, real(d[n]), codec_doubt(&s->q, four[n])};
            visit(to, &hit);
        }
    }
    s->measured += count;
}

size_t vector_seek_ids(vector_seek *s, const int64_t ids[], size_t count, vector_visit *visit, void *to,
                       int64_t unclear[])
{
    const vector_version *v = s->v;
    met found[TOGETHER];
    size_t found_count = 0, unclear_count = 0;
    uint32_t from = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t entry = from;
        int rc = FENEC_OK;
        if (vector_find_sorted(v, ids[i], &from) && vector_sees(v, from))
            entry = from;
        else
            rc = vector_find(v, ids[i], &entry);
        if (rc == ENTRY_UNCLEAR)
            unclear[unclear_count++] = ids[i];
        if (rc == FENEC_OK) {
            uint32_t node = vector_entry_node(v->of, entry);
            const uint8_t *item = slab_at(&v->of->vectors, node);
            for (size_t n = 0; n < v->of->how.item && n < 512; n += 64)
                __builtin_prefetch(item + n, 0, 3);
            found[found_count++] = (met){ids[i], node};
        }
        if (found_count == TOGETHER) {
            measure_met(s, found, found_count, visit, to);
            found_count = 0;
        }
    }
    measure_met(s, found, found_count, visit, to);
    return unclear_count;
}

/* ---- behind the writers ---- */

int vector_link(const vector_version *v, uint32_t most, bool *done, error *err)
{
    vector_index *x = v->of;
    uint32_t linked = atomic_load_explicit(&x->links.linked, memory_order_relaxed);
    int rc = linked < v->nodes && !codec_prepare(&x->how) ? fail_memory(err) : FENEC_OK;

    for (uint32_t i = 0; !rc && i < most && linked < v->nodes; i++, linked++)
        rc = graph_link(&x->links, x->linker, true, err);
    *done = linked >= v->nodes;
    return rc;
}

/* What is beside vectors and links; of entries all from the first on that is not as usual. */
static size_t other_bytes(const vector_version *v)
{
    const vector_index *x = v->of;
    const uint32_t usual = atomic_load_explicit(&x->usual, memory_order_relaxed);
    const size_t unusual = usual < v->entries ? v->entries - usual : 0;
    size_t len = v->entries * sizeof(int64_t) + unusual * (sizeof(entry_ring) + sizeof(entry_life));

    if (x->centres)
        len += CODEC_CENTRE_FLOATS(x->how.dimension) * sizeof(float);
    return len + v->nodes * sizeof(uint32_t) + atomic_load_explicit(&x->table_bytes, memory_order_relaxed);
}

vector_state vector_look(const vector_version *v)
{
    const vector_index *x = v->of;
    uint32_t linked = atomic_load_explicit(&x->links.linked, memory_order_relaxed);

    return (vector_state){.nodes = v->nodes,
                          .linked = linked < v->nodes ? linked : v->nodes,
                          .entries = v->entries,
                          .gone = atomic_load_explicit(&x->gone, memory_order_relaxed),
                          .vector_bytes = (size_t)v->nodes * x->how.item,
                          .link_bytes = graph_bytes(&x->links, linked),
                          .other_bytes = other_bytes(v)};
}
