/* sort.h - things put in order by a few values each, ties by ascending id; all of them, or the first few. */
#ifndef EXEC_SORT_H
#define EXEC_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "value/value.h"

typedef struct sort_by {
    bool descending;
    collation collate;
} sort_by;

typedef struct sort_entry sort_entry;

/* Lives in the caller's frame; sorter_clear lets its memory go. */
typedef struct sorter {
    const sort_by *by; /* key_count; borrowed */
    uint32_t key_count;
    uint32_t carried; /* values after the keys that an entry keeps and no order looks at; 0 from sorter_init */
    uint64_t keep;        /* the first rows kept; the others are let go of as they come */
    sort_entry **entries; /* a heap with the last in order on top once it is full */
    size_t count, cap;
    bool is_heap;
    arena slots;          /* entries */
    arena bytes;          /* what their values point to */
    size_t used, garbage; /* of `bytes` */
} sorter;

void sorter_init(sorter *s, const sort_by by[], uint32_t key_count, uint64_t keep);
void sorter_clear(sorter *s);
void sorter_reset(sorter *s, uint64_t keep); /* empty again, its memory kept */

/* Copies what it keeps: the keys, then what is carried. PANIC. */
int sorter_add(sorter *s, int64_t id, const value keys[], error *err);

/* Whether one that comes after all that were added would be kept. */
bool sorter_takes(const sorter *s, const value keys[]);

/* The keys of the one that goes when another is kept; NULL while there is room. */
const value *sorter_last(const sorter *s);

/* Puts in order what is kept: sorter_id(s, 0 .. s->count - 1) from then on. PANIC. */
int sorter_finish(sorter *s, error *err);
int64_t sorter_id(const sorter *s, size_t place);
const value *sorter_carried(const sorter *s, size_t place);

#endif
