/* graph.h - a navigable graph over vectors held in a slab (HNSW): which of them are near a query, for the most
 * part.
 *
 * Nodes are numbered from 0 and linked in that order by one thread at a time; the same vectors, linked in the
 * same order, make the same graph. Any number of threads walk it meanwhile, without a lock: a walk looks at the
 * nodes alone that were linked when it began, and a list of links that it meets half written is one of nodes
 * all the same.
 *
 * Layer 0 holds every node, with up to 2m links each; a node stands in layer k and those below it with a chance
 * of m^-k, with up to m links in each. A list shorter than its room ends with GRAPH_NONE. */
#ifndef SEARCH_GRAPH_H
#define SEARCH_GRAPH_H

#include "base/error.h"
#include "search/codec.h"
#include "search/slab.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_NODES_MAX (1u << 30)
#define GRAPH_LAYERS_MAX 30
#define GRAPH_ROW_BYTES 65528u /* of lists that are saved together, where more than one fits */

/* Vectors by node; both the owner's. */
typedef struct graph_vectors {
    const codec *how;
    const slab *items;
} graph_vectors;

typedef struct graph {
    graph_vectors walked, linked_by; /* what is measured by walks, and by linking: the same, or finer */
    uint32_t m, ef_construction;
    slab links; /* u32 x 2m a node */
    slab place; /* u32 a node: of its first item in `upper`; GRAPH_NONE */
    slab upper; /* u32 x (1 + m): how high the node stands, and its list in a layer; layer by layer */
    slab changed, upper_changed; /* a byte for each row of items of `links`, `upper`: not 0 since a list in it was
                                    written; of who links */
    _Atomic(uint32_t) upper_count; /* raised by who links */
    _Atomic(uint32_t) linked; /* nodes below are */
    _Atomic(uint64_t) entry;  /* a node of the top layer, and that layer's number << 32 */
} graph;

void graph_init(graph *g, graph_vectors vectors, uint32_t m, uint32_t ef_construction);
void graph_clear(graph *g);

/* ---- walking ---- */

typedef struct graph_found {
    float distance;
    uint32_t node; /* with flags of the walk from GRAPH_NODES_MAX on: graph_node */
} graph_found;

/* Memory of a walk, kept for the next. */
typedef struct graph_walker {
    uint64_t *visited; /* a bit a node */
    size_t words;
    graph_found *found; /* nearest first */
    uint32_t count, cap;
    uint32_t passed;     /* of them may be answered */
    uint32_t bound;      /* nodes below were walked */
    uint64_t measured;
    void *memory;        /* of a linking */
    size_t memory_len;
    struct graph_walker *next; /* while nobody uses it */
} graph_walker;

graph_walker *graph_walker_new(void); /* NULL: no memory */
void graph_walker_free(graph_walker *w);

/* What a walk may answer with; the others it passes through alone. */
typedef struct graph_test {
    uint32_t limit; /* nodes below */
    bool (*passes)(void *with, uint32_t node); /* NULL: every one of them */
    void *with;
} graph_test;

/* Begins a walk for up to `beam` nodes that pass. PANIC. */
int graph_start(graph_walker *w, uint32_t beam, error *err);

/* The nodes nearest to a query, about, into w->found[0..w->count), nearest first; those that do not pass stand
 * among them (graph_passes). What is not linked is not met: nodes from w->bound on. PANIC. */
int graph_search(const graph *g, graph_walker *w, codec_query *q, uint32_t beam, const graph_test *t, error *err);

/* Measures nodes `from` to `to` (not in) one by one, and keeps the nearest `beam` of all that were found. */
void graph_measure(const graph *g, graph_walker *w, codec_query *q, uint32_t from, uint32_t to, uint32_t beam,
                   const graph_test *t);

static inline uint32_t graph_node(const graph_found *f)
{
    return f->node & (GRAPH_NODES_MAX - 1);
}

bool graph_passes(const graph_found *f);

/* ---- linking ---- */

/* Links the node after the last that is. Left out where `wanted` is false: it has its number and no links. PANIC:
 * then nothing was done. */
int graph_link(graph *g, graph_walker *w, bool wanted, error *err);

/* For who reads a graph from a file: room for nodes, none of them placed higher than layer 0 yet, and for items of
 * `upper`. False: no memory. */
bool graph_make_room(graph *g, uint32_t nodes, uint32_t upper);

/* How many items of `links`, of `upper` are saved as one row. */
static inline uint32_t graph_row_items(const slab *lists)
{
    return lists->item < GRAPH_ROW_BYTES ? (uint32_t)(GRAPH_ROW_BYTES / lists->item) : 1;
}

/* The list of a node in a layer, of graph_room links at most. */
_Atomic(uint32_t) *graph_list(const graph *g, uint32_t node, uint32_t layer);

static inline uint32_t graph_room(const graph *g, uint32_t layer)
{
    return layer ? g->m : 2 * g->m;
}

uint32_t graph_height(const graph *g, uint32_t node); /* of one that is linked */

size_t graph_bytes(const graph *g, uint32_t nodes); /* of links of that many */

#endif
