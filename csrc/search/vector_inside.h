/* vector_inside.h - what the sources of a vector index share. */
#ifndef SEARCH_VECTOR_INSIDE_H
#define SEARCH_VECTOR_INSIDE_H

#include "base/thread.h"
#include "search/number_table.h"
#include "search/vector_index.h"

#define ENTRY_NONE 0x7fffffffu
#define RING_MIXED 0x80000000u /* of vector_index.last: the node's entries do not ascend by id */
#define NUMBER_NEVER UINT32_MAX

/* A document's vector, from one block's number to another's. */
typedef struct vector_entry {
    int64_t id;
    uint32_t node;
    _Atomic(uint32_t) next;  /* entry of the node: a ring, mostly by ascending id */
    _Atomic(uint32_t) added; /* NUMBER_NEVER: it was put back */
    _Atomic(uint32_t) gone;  /* NUMBER_NEVER: not yet */
} vector_entry;

struct vector_index {
    _Atomic(long) references;
    codec how;
    float *centres; /* of CODEC_SIGN */
    slab vectors;   /* items by node */
    graph links;
    slab last;    /* u32 a node: the last entry of its ring, with RING_MIXED; ENTRY_NONE */
    slab entries; /* vector_entry */
    _Atomic(uint32_t) gone; /* entries that are gone to the newest version, and nodes without any */

    /* The writer's. */
    float *floats; /* one vector */
    uint8_t *item; /* and how it is held */
    uint32_t node_count, entry_count, sorted;
    number_table by_vector; /* nodes; empty until the first write */
    bool knows_vectors;

    lock guard; /* a leaf */
    number_table by_id;    /* the newest entry of ids beyond the sorted ones */
    graph_walker *walkers; /* nobody uses */

    graph_walker *linker; /* who links: one thread at a time */
};

static inline vector_entry *vector_entry_at(const vector_index *x, uint32_t i)
{
    return (vector_entry *)(void *)slab_at(&x->entries, i);
}

static inline bool vector_sees(const vector_version *v, const vector_entry *e)
{
    return atomic_load_explicit(&e->added, memory_order_relaxed) <= v->number &&
           v->number < atomic_load_explicit(&e->gone, memory_order_relaxed);
}

/* The entry of an id that v sees: FENEC_OK; FN_END: there is none; ENTRY_UNCLEAR: this cannot be told. */
#define ENTRY_UNCLEAR (-4)
int vector_find(const vector_version *v, int64_t id, uint32_t *entry);

/* The sorted entry of an id; false where there is none. It is looked for near *from, which moves there. */
bool vector_find_sorted(const vector_version *v, int64_t id, uint32_t *from);

/* ---- the writer's ---- */

/* Adds a node with the item, or an entry of a node, past the last. False: no memory. */
bool vector_add_node(vector_index *x, const uint8_t *item, uint32_t *node);
bool vector_add_entry(vector_index *x, int64_t id, uint32_t node, uint32_t number);

vector_index *vector_index_new(const index_spec *spec, const type *t);
void vector_index_drop(vector_index *x);
vector_version *vector_version_new(vector_index *x); /* keeps x, all of it seen by number 1; NULL: no memory */

#endif
