/* fuse.h - two rankings made one by the ranks of their rows (chapter 4 section 12). */
#ifndef EXEC_FUSE_H
#define EXEC_FUSE_H

#include "exec/ranking.h"

/* The first `want` rows by the sum of 1 / (k + rank), ranks from 1, of the lists a row stands in: `texts` added
 * first. Room from the arena. PANIC. */
int fuse_rows(const ranking *texts, const ranking *near, uint32_t k, size_t want, ranking *out, arena *a, error *err);

#endif
