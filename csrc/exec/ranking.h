/* ranking.h - the best rows of a ranked read: by score, ties by ascending id. */
#ifndef EXEC_RANKING_H
#define EXEC_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { RANKED_MAX = 10000 }; /* rows that a ranked read answers at most */

typedef struct ranked_row {
    int64_t id;
    float score;
} ranked_row;

/* Plain; its rows are the arena's. While it is filled a heap with the worst row on top. */
typedef struct ranking {
    ranked_row *rows;
    size_t count, want;
    bool ascending; /* the best score is the smallest */
} ranking;

/* The best `want` rows of those that are added: room for all of them is made here. PANIC. */
int ranking_init(ranking *r, size_t want, bool ascending, arena *a, error *err);

/* Whether a row would stay. A score that is no number comes last. */
bool ranking_wants(const ranking *r, int64_t id, float score);

/* Each id once. */
void ranking_add(ranking *r, int64_t id, float score);

/* Puts the rows in order, best first. */
void ranking_finish(ranking *r);

#endif
