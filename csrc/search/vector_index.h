/* vector_index.h - the vectors of an @hnsw index in memory, and one committed state of them.
 *
 * What is held is shared by all versions and only grows: a node for each distinct vector, an entry for each
 * document that has or had it. A block numbers what it adds and takes away with a number of its own, and a
 * version sees what was added by the time of its number and not taken away by then. So a reader needs no lock
 * beside the writer, and a block that is put back takes its numbers off again.
 *
 * Nodes are linked into the graph behind the writers, in their order; those that are not yet are measured one
 * by one. A node whose documents are all gone still leads to others. */
#ifndef SEARCH_VECTOR_INDEX_H
#define SEARCH_VECTOR_INDEX_H

#include "base/arena.h"
#include "base/error.h"
#include "search/graph.h"
#include "store/conn.h"
#include "value/type.h"

typedef struct vector_index vector_index;

typedef struct vector_version {
    version head;
    vector_index *of; /* kept */
    uint32_t number;
    uint32_t nodes, entries; /* there were */
    uint32_t sorted;         /* of the entries, the first so many ascend by id */
    int64_t docs;            /* with a vector */
    struct vector_own *own;  /* of a block's version that has not landed */
} vector_version;

/* An index without a document; t is the field's type. NULL: no memory. */
vector_version *vector_new(const index_spec *spec, const type *t);

/* ---- a block's doings, under the writer's lock ---- */

/* The version of a block, out of the newest. NULL: no memory. */
vector_version *vector_begin(const vector_version *v);

/* A document loses its vector, if it has one, and gets another, of the index's dimension; NULL: none. The floats
 * need not be aligned. On failure the block is to be put back. PANIC. */
int vector_write(vector_version *own, int64_t id, const uint8_t *floats, error *err);

/* Writes what goes with the block, which may still be undone: a row of the index's log. */
int vector_log(const vector_version *own, conn *c, uint32_t index, error *err);

void vector_land(vector_version *own); /* from now on it is as any other */
void vector_undo(vector_version *own);

/* ---- a search ---- */

typedef struct vector_hit {
    int64_t id;
    float distance; /* codec.h's; off by up to `doubt` where codes are held */
    float doubt;
} vector_hit;

/* A query under way: in the caller's frame, ended by vector_seek_end, which may be called on {0}. */
typedef struct vector_seek {
    const vector_version *v;
    graph_walker *w;
    codec_query q;
    arena *memory;
    graph_test test;
    uint32_t at;          /* in what was found */
    uint32_t entry, last; /* of the ring of a node under way: the last one handed out, the last of all */
    bool in_ring;
    float distance, doubt; /* of its documents */
    vector_hit *group;     /* documents at one distance, where they are not a single ring in order */
    size_t group_count, group_cap, group_at;
    uint64_t measured;
} vector_seek;

/* `query` has the index's dimension and is changed. Memory from `a`, for as long as the search. PANIC. */
int vector_seek_begin(vector_seek *s, const vector_version *v, float *query, arena *a, error *err);
void vector_seek_end(vector_seek *s);

/* About the nearest `beam` vectors; their documents follow from vector_seek_next. PANIC. */
int vector_seek_near(vector_seek *s, uint32_t beam, error *err);

/* The nearest first, then by ascending id. FN_END; PANIC. */
int vector_seek_next(vector_seek *s, vector_hit *out, error *err);

typedef void vector_visit(void *to, const vector_hit *hit);

/* Every document no farther than *bound, which the visit may lower. */
void vector_seek_all(vector_seek *s, const float *bound, vector_visit *visit, void *to);

/* The documents of a list of ids, sooner where they ascend. Where an id's vector cannot be told from here it is put into unclear[],
 * which has room for all; answers how many. */
size_t vector_seek_ids(vector_seek *s, const int64_t ids[], size_t count, vector_visit *visit, void *to,
                       int64_t unclear[]);

/* Whether distances are those of the vectors themselves. */
bool vector_is_exact(const vector_version *v);

/* ---- checks: by one thread, of a version nobody else has ---- */

/* Whether the document is held with that vector. */
bool vector_holds(const vector_version *v, int64_t id, const uint8_t *floats);

/* Visits the ids of all documents, ascending, until the visit answers false. PANIC. */
int vector_each(const vector_version *v, bool (*visit)(void *to, int64_t id), void *to, error *err);

/* ---- behind the writers ---- */

typedef struct vector_state {
    uint32_t nodes, linked; /* of the version; of the index */
    uint32_t entries, gone; /* entries; those that no later version sees */
    size_t vector_bytes, link_bytes, other_bytes;
} vector_state;

vector_state vector_look(const vector_version *v);

/* Links up to `most` nodes of a version; one thread at a time. *done: it is all linked. PANIC. */
int vector_link(const vector_version *v, uint32_t most, bool *done, error *err);

/* ---- the file: one thread at a time, that which links ---- */

/* Hands out the vector of a document: FENEC_OK and floats that last until the next call; FN_END where it has none. */
typedef int vector_source(void *from, int64_t id, const uint8_t **floats, error *err);

/* Reads what was saved of an index, an empty one where nothing was; documents written since with ids at or below
 * *last are asked for. The caller adds those above. *out has one reference. ROW_DAMAGED. */
int vector_open(vector_version **out, int64_t *last, conn *c, uint32_t index, const index_spec *spec, const type *t,
                vector_source *source, void *from, error *err);

/* Writes that documents were written to an index that is not in memory to its log, where the next who reads it finds
 * them. FN_END: there is no use, nothing of it was saved; ROW_DAMAGED. */
int vector_note(conn *c, uint32_t index, const int64_t ids[], size_t count, error *err);
int vector_is_saved(conn *c, uint32_t index, error *err); /* FENEC_OK, FN_END; ROW_DAMAGED */

/* Follows the log of *v, a version nobody else has, on from where it was read. *count: so many documents of it. */
int vector_catch_up(vector_version **v, conn *c, uint32_t index, vector_source *source, void *from, size_t *count,
                    error *err);

typedef enum vector_due { VECTOR_GROWN, VECTOR_CLOSING, VECTOR_ANYTHING } vector_due;

/* Whether so much is not saved that it should be. */
bool vector_is_due(const vector_version *v, vector_due when);

typedef struct vector_save vector_save;

/* Begins to save a version, the newest, under the writer's lock. v is kept. PANIC. */
int vector_save_new(vector_save **out, const vector_version *v, uint32_t index, error *err);
void vector_save_free(vector_save *s);
const vector_index *vector_save_of(const vector_save *s); /* whose version it is */

/* Writes some of the rows, in a block. FN_END: they are all written. */
int vector_save_write(vector_save *s, conn *c, error *err);

/* Makes what was written what stands in the file, in a block. */
int vector_save_land(vector_save *s, conn *c, error *err);
void vector_save_landed(vector_save *s); /* the block has */

/* After that deletes some of the rows that nothing names, in a block. FN_END: there are no more. */
int vector_save_clean(vector_save *s, conn *c, error *err);

/* ---- made anew ---- */

/* Whether it holds vectors whole and has enough of them to hold codes in their place. */
bool vector_is_to_code(const vector_version *v);

/* Whether it is to be made anew: for that, or for what is gone. Where it is urgent, that is not linked first. */
bool vector_is_worn(const vector_version *v, bool *urgent);

/* The same documents in an index of its own, which holds nothing else; not linked. PANIC. */
int vector_renew(const vector_version *v, vector_version **out, error *err);

/* What became of v's index until `now`, its later version, done to *of too, which stands for v and then for
 * `now`. PANIC. */
int vector_follow(vector_version **of, const vector_version *v, const vector_version *now, error *err);

/* Under the writer's lock, before it is published in the place of `old`: the log goes on. PANIC. */
int vector_take_place(vector_version *fresh, const vector_version *old, error *err);

#endif
