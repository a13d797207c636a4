/* scratch.h - memory of one call, kept for the next. */
#ifndef EXEC_SCRATCH_H
#define EXEC_SCRATCH_H

#include "base/arena.h"
#include "exec/changes.h"
#include "exec/index.h"

typedef struct scratch {
    arena memory; /* of the call: parameters, answers under way */
    arena rows;   /* of the row under way */
    row_keys keys;
    changes noted;
    block_part *parts; /* of the block under way */
    uint32_t part_cap;
    struct scratch *next; /* while nobody uses it */
} scratch;

scratch *scratch_new(void); /* NULL: no memory */
void scratch_free(scratch *s);

#endif
