/* vector_inside.h - what the sources of a vector index share. */
#ifndef SEARCH_VECTOR_INSIDE_H
#define SEARCH_VECTOR_INSIDE_H

#include "base/thread.h"
#include "search/number_table.h"
#include "search/vector_index.h"

#define ENTRY_NONE 0x7fffffffu
#define VECTOR_LOG ((int64_t)1 << 62) /* id of the first log row */
#define RING_MIXED 0x80000000u /* of vector_index.last: the node's entries do not ascend by id */
#define NUMBER_NEVER UINT32_MAX

/* A document's vector, from one block's number to another's, in three slabs: what looks for an id meets no more than
 * ids. The other two hold what is not as in most entries, so that where nothing is, nothing was written and their
 * pages are not there: an entry read from the file is seen from number 1 on, of the node of its own number, alone
 * in its ring. */
typedef struct entry_life {
    _Atomic(uint32_t) added; /* less 1; NUMBER_NEVER less 1: it was put back */
    _Atomic(uint32_t) gone;  /* from NUMBER_NEVER down: 0 is not yet */
} entry_life;

typedef struct entry_ring {
    uint32_t node;          /* less the entry's number */
    _Atomic(uint32_t) next; /* entry of the node, less its own number: a ring, mostly by ascending id */
} entry_ring;

/* What of an index stands in the file (vector_rows.h): of who saves. */
typedef struct vector_saved {
    bool there;
    bool numbered; /* nodes have the numbers they have there */
    uint32_t nodes, linked, gone;
    int64_t log; /* rows of it before are older */
    uint8_t items_side, lists_side;
    uint8_t *link_sides; /* by row of lists: those of layer 0, then the others; NULL: none */
    uint32_t link_rows, upper_rows;
} vector_saved;

struct vector_index {
    _Atomic(long) references;
    index_spec spec;
    type type;
    codec how;
    float *centres; /* of CODEC_SIGN */
    slab vectors;   /* items by node */
    graph links;
    slab last;    /* u32 a node: the last entry of its ring, with RING_MIXED; ENTRY_NONE */
    slab ids;     /* int64_t an entry */
    slab rings;   /* entry_ring */
    slab lives;   /* entry_life */
    _Atomic(uint32_t) usual; /* entries: below, nothing was written to rings and lives */
    _Atomic(uint32_t) gone; /* entries that are gone to the newest version, and nodes without any */

    /* The writer's. */
    float *floats; /* one vector */
    uint8_t *item; /* and how it is held */
    uint32_t node_count, entry_count, sorted;
    number_table by_vector; /* nodes; empty until the first write */
    bool knows_vectors;
    _Atomic(size_t) table_bytes; /* of by_vector and by_id */

    lock guard; /* a leaf */
    number_table by_id;    /* the newest entry of ids beyond the sorted ones */
    graph_walker *walkers; /* nobody uses */

    _Atomic(int64_t) log_next; /* the writer's: id of the next log row */
    int64_t logged_to;         /* the writer's: ids at or below are noted there when they are written */

    graph_walker *linker; /* who links: one thread at a time */
    vector_saved saved;
};

static inline uint64_t vector_zigzag(int64_t n)
{
    return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

static inline int64_t vector_unzigzag(uint64_t n)
{
    return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

static inline int64_t vector_entry_id(const vector_index *x, uint32_t entry)
{
    return *(const int64_t *)(const void *)slab_at(&x->ids, entry);
}

static inline entry_ring *vector_entry_ring(const vector_index *x, uint32_t entry)
{
    return (entry_ring *)(void *)slab_at(&x->rings, entry);
}

static inline entry_life *vector_entry_life(const vector_index *x, uint32_t entry)
{
    return (entry_life *)(void *)slab_at(&x->lives, entry);
}

static inline uint32_t vector_entry_node(const vector_index *x, uint32_t entry)
{
    return vector_entry_ring(x, entry)->node + entry;
}

static inline uint32_t vector_entry_next(const vector_index *x, uint32_t entry)
{
    return atomic_load_explicit(&vector_entry_ring(x, entry)->next, memory_order_acquire) + entry;
}

static inline bool vector_sees(const vector_version *v, uint32_t entry)
{
    const entry_life *l = vector_entry_life(v->of, entry);

    return atomic_load_explicit(&l->added, memory_order_relaxed) < v->number &&
           v->number < NUMBER_NEVER - atomic_load_explicit(&l->gone, memory_order_relaxed);
}

/* The entry of an id that v sees: FENEC_OK; FN_END: there is none; ENTRY_UNCLEAR: this cannot be told. */
#define ENTRY_UNCLEAR (-4)
int vector_find(const vector_version *v, int64_t id, uint32_t *entry);

/* The sorted entry of an id; false where there is none. It is looked for near *from, which moves there. */
bool vector_find_sorted(const vector_version *v, int64_t id, uint32_t *from);

/* ---- the writer's ---- */

/* A version that v's doings end in, over what the index holds: another document. PANIC. */
int vector_write_item(vector_version *own, int64_t id, const uint8_t *item, error *err);

/* Adds a node with the item, or an entry of a node, past the last. False: no memory. */
bool vector_add_node(vector_index *x, const uint8_t *item, uint32_t *node);
bool vector_add_entry(vector_index *x, int64_t id, uint32_t node, uint32_t number);

/* What it will hold is decided with it: codes under signs need `centres`, whose memory passes on. */
vector_index *vector_index_new(const index_spec *spec, const type *t, codec_kind kind, float *centres);
codec_kind vector_plain_kind(const index_spec *spec, const type *t); /* before there are centres */
void vector_index_drop(vector_index *x);
vector_version *vector_version_new(vector_index *x); /* keeps x, all of it seen by number 1; NULL: no memory */

#endif
