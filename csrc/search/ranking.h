/* ranking.h - the first few of rows ranked by score, the largest first, ties by ascending id. */
#ifndef SEARCH_RANKING_H
#define SEARCH_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

typedef struct ranked {
    int64_t id;
    float score;
} ranked;

/* Whether a row is among those that may be ranked. */
typedef int ranking_test(void *with, int64_t id, bool *pass, error *err);

/* Plain. Rows are a heap with the last of them on top once there are `want`. */
typedef struct ranking {
    ranked *rows;
    size_t count, want, cap;
    arena *memory;
    ranking_test *test; /* NULL: every row */
    void *with;
    uint64_t tested;
} ranking;

static inline void ranking_init(ranking *r, size_t want, arena *memory, ranking_test *test, void *with)
{
    *r = (ranking){.want = want, .memory = memory, .test = test, .with = with};
}

static inline bool ranked_before(const ranked *a, const ranked *b)
{
    return a->score > b->score || (a->score == b->score && a->id < b->id);
}

/* Whether a row of that score and id would be kept. */
static inline bool ranking_takes(const ranking *r, float score, int64_t id)
{
    const ranked one = {id, score};

    return r->count < r->want || (r->want && ranked_before(&one, &r->rows[0]));
}

/* No row below this score is kept; any is while it is negative. */
static inline float ranking_floor(const ranking *r)
{
    return r->count < r->want ? -1 : r->want ? r->rows[0].score : 3.4e38f;
}

/* Tests a row that ranking_takes and keeps it. PANIC; what the test answers. */
int ranking_add(ranking *r, float score, int64_t id, error *err);

/* Best first, from then on no heap. */
void ranking_finish(ranking *r);

#endif
