/* segment.h - an immutable part of a text index in the file: documents, their terms, and where each stands.
 *
 * A posting says how often a document holds a term or, in a segment of weights (an index of sparse vectors), the
 * bits of a weight, which is an f32 and not 0; bounds are then the largest weight and the smallest.
 *
 * Documents have places, from 0 in ascending order of id. A segment is rows of table_search, by kind and
 * number:
 *
 *   head      how much there is of everything; the first id of each docs row, the first term of each words row
 *   docs      ids and lengths of 4 096 documents
 *   words     terms in order of their bytes, each as what it adds to the one before, with restarts
 *   postings  blocks (postings.h) one after another; after those of a term of several its skip table
 *
 * No block and no entry of a skip table is cut by the end of a row. Rows come from a file and have checksums:
 * what does not add up is ROW_DAMAGED and nothing else. */
#ifndef SEARCH_SEGMENT_H
#define SEARCH_SEGMENT_H

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "search/postings.h"
#include "search/row_cache.h"

typedef enum segment_row { SEGMENT_HEAD, SEGMENT_DOCS, SEGMENT_WORDS, SEGMENT_POSTINGS, SEGMENT_GONE } segment_row;

/* Numbers of segments are from 1. Rows with lower ids are the index's own. */
static inline int64_t segment_row_id(uint32_t number, segment_row kind, uint32_t n)
{
    return (int64_t)number << 32 | (int64_t)kind << 28 | (int64_t)n;
}

/* What a head begins with. */
enum { SEGMENT_OF_COUNTS = 1, SEGMENT_OF_WEIGHTS };

#define SEGMENT_ROWS_MAX (1u << 28)
#define SEGMENT_DOCS_ROW 4096u
#define SEGMENT_KEY_MAX 64u /* bytes of a words row's first term that are kept */
#define SEGMENT_RESTART 16u /* every so many terms one stands whole */

typedef struct segment {
    _Atomic(long) references;
    uint32_t index, number;
    bool weights;
    uint32_t docs;
    uint64_t terms; /* of all documents, repeats counted */
    uint32_t longest; /* terms of a document, at most */
    int64_t last_id;
    uint32_t docs_rows, words_rows, postings_rows;
    const int64_t *first_ids;    /* by docs row */
    const uint8_t *keys;         /* first terms, cut, one after another */
    const uint32_t *key_ends;    /* by words row */
    size_t bytes;                /* of all this */
    arena memory;
} segment;

/* Reads the head; one reference. ROW_DAMAGED; IO, PANIC. */
int segment_open(segment **out, conn *c, row_cache *cache, uint32_t index, uint32_t number, error *err);
segment *segment_keep(const segment *s);
void segment_drop(segment *s); /* NULL does nothing */

/* ---- reading, through one snapshot, by one thread ---- */

typedef struct segment_docs {
    const cached_row *row; /* NULL: not read yet */
    const uint8_t *ids, *lengths;
    int64_t first;
    uint8_t id_width, length_width; /* bytes; ids: 0 where they follow on each other */
} segment_docs;

typedef struct segment_reader {
    const segment *s;
    conn *c;
    row_cache *cache;
    arena *memory;
    segment_docs *docs;     /* by row */
    const cached_row *words; /* the row last looked at */
    uint32_t words_row;
} segment_reader;

/* Starts as {0}; closed by segment_reader_close, which may be called on that. */
int segment_reader_open(segment_reader *r, const segment *s, conn *c, row_cache *cache, arena *memory, error *err);
void segment_reader_close(segment_reader *r);

int segment_read_docs(segment_reader *r, uint32_t row, error *err); /* segment_doc's */

static inline uint64_t segment_number(const uint8_t *at, uint8_t width)
{
    switch (width) {
    case 1: return at[0];
    case 2: return bytes_u16(at);
    case 4: return bytes_u32(at);
    case 8: return bytes_u64(at);
    default: return 0;
    }
}

/* The docs row of a place below s->docs. */
static inline int segment_docs_at(segment_reader *r, uint32_t place, const segment_docs **out, error *err)
{
    segment_docs *d = &r->docs[place / SEGMENT_DOCS_ROW];
    int rc = d->row ? FENEC_OK : segment_read_docs(r, place / SEGMENT_DOCS_ROW, err);

    *out = d;
    return rc;
}

static inline int64_t segment_docs_id(const segment_docs *d, uint32_t place)
{
    uint32_t i = place % SEGMENT_DOCS_ROW;

    if (d->id_width == 0)
        return d->first + i;
    return (int64_t)((uint64_t)d->first + segment_number(d->ids + (size_t)i * d->id_width, d->id_width));
}

static inline uint32_t segment_docs_length(const segment_docs *d, uint32_t place)
{
    return (uint32_t)segment_number(d->lengths + (size_t)(place % SEGMENT_DOCS_ROW) * d->length_width, d->length_width);
}

/* The place of an id: FENEC_OK, FN_END. */
int segment_place(segment_reader *r, int64_t id, uint32_t *place, error *err);

/* A term: in how many documents it stands, and where they are named. */
typedef struct segment_term {
    uint32_t docs;
    uint32_t row, at;           /* of its first block; of one document its place and count */
    uint32_t skip_row, skip_at; /* of its skip table, where it has several blocks */
    uint32_t most, shortest;    /* of its one block: largest count, length of the shortest document; or weights */
} segment_term;

/* FENEC_OK, FN_END. */
int segment_find(segment_reader *r, const uint8_t *bytes, size_t len, segment_term *out, error *err);

/* Terms in order. */
typedef struct segment_words {
    segment_reader *r;
    const cached_row *row;
    uint32_t next_row; /* after this one */
    const uint8_t *at, *end;
    uint32_t left;   /* terms of the row */
    bool held;       /* the term was read and not handed out */
    buffer bytes;    /* of the term */
    size_t shared;   /* bytes it has in common with the one before at least */
    segment_term t;
} segment_words;

/* From the first term that is not before the given one. Cleared by segment_words_close. */
int segment_words_open(segment_words *w, segment_reader *r, const uint8_t *from, size_t len, error *err);
int segment_words_next(segment_words *w, error *err); /* FENEC_OK, FN_END */
void segment_words_close(segment_words *w);

/* ---- postings ---- */

typedef struct segment_block {
    uint32_t last; /* place */
    uint32_t row, at;
    uint32_t most, shortest;
} segment_block;

/* The postings of a term, a block at a time. Or of several terms as one, whose places and counts were worked
 * out: then `own_places` stands. */
typedef struct segment_list {
    segment_reader *r;
    uint32_t docs;
    uint32_t block_count;
    segment_block *blocks;
    const cached_row *row; /* of the block that is open */
    uint32_t row_number;
    uint32_t block;  /* that is open; block_count: none */
    uint32_t count;  /* of its postings */
    postings_block packed;
    uint32_t places[POSTINGS_BLOCK];
    const uint32_t *own_places;
    const double *own_counts;
} segment_list;

/* Blocks of 128 of places and counts that were worked out, all of them below r->s->docs. */
int segment_list_make(segment_list *l, segment_reader *r, const uint32_t *places, const double *counts, uint32_t count,
                      error *err);
int segment_list_open(segment_list *l, segment_reader *r, const segment_term *t, error *err);
void segment_list_close(segment_list *l); /* {0} too */

/* Opens a block: its places stand in l->places. */
int segment_list_read(segment_list *l, uint32_t block, error *err);

static inline float segment_weight(uint32_t bits)
{
    float weight;

    memcpy(&weight, &bits, sizeof weight);
    return weight;
}

/* The weight of the posting at a place of the open block, as bits. */
static inline uint32_t segment_list_bits(const segment_list *l, uint32_t at)
{
    return l->own_counts ? (uint32_t)l->own_counts[at] : (uint32_t)postings_count(&l->packed, at);
}

/* Lets its row go; a block is to be opened again. */
void segment_list_leave(segment_list *l);

/* How often the posting at a place of the open block counts. */
static inline double segment_list_count(const segment_list *l, uint32_t at)
{
    if (l->own_counts)
        return l->own_counts[(size_t)l->block * POSTINGS_BLOCK + at];
    return (double)postings_count(&l->packed, at);
}

#endif
