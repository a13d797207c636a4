/* distinct.h - which values were seen before, for all counts of distinct values of a run.
 *
 * One table for everybody: an owner is a count of one group. Values are bytes that tell them apart. */
#ifndef EXEC_DISTINCT_H
#define EXEC_DISTINCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

#define DISTINCT_MAX 1000000u /* of a statement */

typedef struct distinct_slot {
    uint64_t hash;
    const struct distinct_entry *entry; /* NULL: free */
} distinct_slot;

/* Starts as {0}; distinct_clear lets its memory go. */
typedef struct distinct {
    arena memory;
    distinct_slot *slots;
    size_t mask, count;
} distinct;

void distinct_clear(distinct *d);

/* *fresh: it was not there. *held is how many the statement holds. FENEC_QUERY past DISTINCT_MAX. */
int distinct_add(distinct *d, uint64_t owner, const uint8_t *bytes, size_t len, uint64_t *held, bool *fresh,
                 error *err);

#endif
