/* best.h - the first few of rows ranked by score, the largest first, ties by ascending id. */
#ifndef SEARCH_BEST_H
#define SEARCH_BEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

typedef struct best_row {
    int64_t id;
    float score;
} best_row;

/* Whether a row is among those that may be ranked. */
typedef int best_test(void *with, int64_t id, bool *pass, error *err);

/* Plain. Rows are a heap with the last of them on top once there are `want`. */
typedef struct best {
    best_row *rows;
    size_t count, want, cap;
    arena *memory;
    best_test *test; /* NULL: every row */
    void *with;
    uint64_t tested;
} best;

static inline void best_init(best *r, size_t want, arena *memory, best_test *test, void *with)
{
    *r = (best){.want = want, .memory = memory, .test = test, .with = with};
}

static inline bool best_before(const best_row *a, const best_row *b)
{
    return a->score > b->score || (a->score == b->score && a->id < b->id);
}

/* Whether a row of that score and id would be kept. */
static inline bool best_takes(const best *r, float score, int64_t id)
{
    const best_row one = {id, score};

    return r->count < r->want || (r->want && best_before(&one, &r->rows[0]));
}

/* No row below this score is kept; any is while it is negative. */
static inline float best_floor(const best *r)
{
    return r->count < r->want ? -1 : r->want ? r->rows[0].score : 3.4e38f;
}

/* Tests a row that best_takes and keeps it. PANIC; what the test answers. */
int best_add(best *r, float score, int64_t id, error *err);

/* Best first, from then on no heap. */
void best_finish(best *r);

#endif
