/* entry_run.h - entries of an index in memory, to be handed out in order of key, then id. */
#ifndef EXEC_ENTRY_RUN_H
#define EXEC_ENTRY_RUN_H

#include "base/buffer.h"
#include "base/error.h"

typedef struct entry {
    uint64_t head; /* of the key, big-endian: most comparisons end here */
    int64_t id;
    size_t at; /* in bytes */
    uint32_t len;
} entry;

typedef struct entry_run {
    entry *entries;
    size_t count, cap;
    buffer bytes; /* keys */
} entry_run;

void entry_run_init(entry_run *r);
void entry_run_clear(entry_run *r); /* may be used again */

int entry_run_add(entry_run *r, const uint8_t *key, size_t len, int64_t id, error *err); /* PANIC */
size_t entry_run_size(const entry_run *r);                                               /* bytes of memory */
void entry_run_sort(entry_run *r);

#endif
