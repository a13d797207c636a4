/* state.h - one committed state of a database: its catalog, and what its search indexes hold in memory.
 *
 * It is the version that is published with a commit: immutable, counted, shared between threads. The part
 * of a search index is a version of its kind's own; NULL, or missing, where it was not read from the file
 * yet. */
#ifndef EXEC_STATE_H
#define EXEC_STATE_H

#include "catalog/catalog.h"
#include "store/store.h"

typedef struct state_part {
    uint32_t index; /* its number */
    version *v;     /* kept */
} state_part;

typedef struct state {
    version head;
    const catalog *cat; /* kept */
    uint32_t count;
    state_part parts[]; /* by ascending number */
} state;

/* Has one reference. NULL: no memory. Parts of indexes that `cat` does not have are left out; each of
 * `changed`, which ascend, stands in the place of one of `before` (NULL: there was none). */
state *state_new(const state *before, const catalog *cat, const state_part changed[], uint32_t count);

version *state_find(const state *s, uint32_t index); /* borrowed; NULL: not read yet */

#endif
