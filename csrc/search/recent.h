/* recent.h - the documents written lately, as an inverted index in memory that many read while one writes.
 *
 * Nothing in it moves or changes but by appending: each document gets the next slot, each term's postings
 * name slots in ascending order. What is seen of it is a matter of numbers: a slot has the number of the
 * block that made it and of the block that took it away, and a reader at number n sees the slots with
 * made <= n < taken. A block that was put back leaves slots nobody sees.
 *
 * Documents of segments that were deleted or replaced stand in it too, as slots of their own whose postings
 * are kept apart: they say by how much the segments' counts are too high. */
#ifndef SEARCH_RECENT_H
#define SEARCH_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "search/analyser.h"

typedef struct recent recent;

recent *recent_new(void); /* one reference; NULL: no memory */
recent *recent_keep(recent *r);
void recent_drop(recent *r); /* NULL does nothing */

/* ---- for the writer, in the block of that number, which rises from block to block that landed ---- */

/* A document with its text; *length is how many terms it has, and where that is 0 it is not added. */
int recent_add(recent *r, uint64_t block, int64_t id, const analysis *how, const uint8_t *text, size_t len,
               uint32_t *length, error *err);

/* A document that was added and is there: *length is what it had. FN_END: there is none. PANIC. */
int recent_take(recent *r, uint64_t block, int64_t id, uint32_t *length, error *err);

/* A document of a segment is no longer there, by its place in it. `text` is what it was added with. Its terms,
 * each once, are appended to *distinct as varint_put's length and bytes. */
int recent_hide(recent *r, uint64_t block, uint32_t segment, uint32_t place, const analysis *how,
                const uint8_t *text, size_t len, buffer *distinct, uint32_t *length, error *err);

/* The same from what an earlier one appended, or from no list where nobody counts terms; length at least 1.
 * ROW_DAMAGED where it is no such list. */
int recent_hide_listed(recent *r, uint64_t block, uint32_t segment, uint32_t place, const uint8_t *distinct,
                       size_t len, uint32_t length, error *err);

/* The block was put back. */
void recent_undo(recent *r, uint64_t block);

uint32_t recent_slots(const recent *r);
size_t recent_bytes(const recent *r);

/* ---- for everybody, at a number ---- */

typedef struct recent_slot {
    int64_t id;       /* of a hidden one: its place in the segment */
    uint32_t segment; /* of a hidden one; 0: a document */
    uint32_t length;  /* terms */
    uint64_t made;
    uint64_t before;  /* the writer's */
    _Atomic(uint64_t) taken;
} recent_slot;

const recent_slot *recent_slot_at(const recent *r, uint32_t slot);

static inline bool recent_sees(const recent_slot *s, uint64_t number)
{
    return s->made <= number && number < s->taken;
}

/* Whether a document of a segment is hidden. */
bool recent_hides(const recent *r, uint64_t number, uint32_t segment, uint32_t place);

typedef struct recent_term {
    const uint8_t *bytes;
    size_t len;
    uint64_t hash;
} recent_term;

const recent_term *recent_find(const recent *r, const uint8_t *bytes, size_t len, uint64_t hash); /* NULL: none */

/* Every term, in no order: visited until one answers false. */
typedef bool recent_visit(void *to, const recent_term *t);
void recent_terms(const recent *r, recent_visit *visit, void *to);

/* The postings of a term that are seen at a number, by ascending slot. */
typedef struct recent_list {
    const recent *from;
    uint64_t number;
    const struct recent_chunk *chunk;
    uint32_t left, at; /* postings not handed out; place in the chunk */
    bool hidden;       /* those of hidden documents */
} recent_list;

typedef struct recent_posting {
    uint32_t slot;
    uint32_t count; /* term.count's sum */
} recent_posting;

void recent_open(recent_list *l, const recent *r, uint64_t number, const recent_term *t, bool hidden);
bool recent_next(recent_list *l, recent_posting *out, const recent_slot **slot);

/* How many postings are seen. */
uint32_t recent_count(const recent *r, uint64_t number, const recent_term *t, bool hidden);

#endif
