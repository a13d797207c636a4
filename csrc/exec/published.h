/* published.h - one committed state of a database: its catalog, and what its search indexes hold in memory.
 *
 * It is the version that is published with a commit: immutable, counted, shared between threads. The part
 * of a search index is a version of its kind's own; NULL, or missing, where it was not read from the file
 * yet. */
#ifndef EXEC_PUBLISHED_H
#define EXEC_PUBLISHED_H

#include "catalog/catalog.h"
#include "store/store.h"

typedef struct published_part {
    uint32_t index; /* its number */
    version *v;     /* kept */
} published_part;

typedef struct published {
    version head;
    const catalog *cat; /* kept */
    uint32_t count;
    published_part parts[]; /* by ascending number */
} published;

/* Has one reference. NULL: no memory. Parts of indexes that `cat` does not have are left out; each of
 * `changed`, which ascend, stands in the place of one of `before` (NULL: there was none). */
published *published_new(const published *before, const catalog *cat, const published_part changed[], uint32_t count);

version *published_find(const published *s, uint32_t index); /* borrowed; NULL: not read yet */

#endif
