#include "exec/ranking.h"

#include <math.h>

int ranking_init(ranking *r, size_t want, bool ascending, arena *a, error *err)
{
    *r = (ranking){.want = want, .ascending = ascending, .rows = arena_alloc(a, want * sizeof *r->rows)};
    return r->rows ? FENEC_OK : fail_memory(err);
}

/* Small is good. */
static float badness(const ranking *r, float score)
{
    if (isnan(score))
        return INFINITY;
    return r->ascending ? score : -score;
}

static bool comes_before(const ranking *r, const ranked_row *a, const ranked_row *b)
{
    float x = badness(r, a->score), y = badness(r, b->score);

    return x < y || (x == y && a->id < b->id);
}

bool ranking_wants(const ranking *r, int64_t id, float score)
{
    const ranked_row fresh = {id, score};

    return r->count < r->want || (r->want && comes_before(r, &fresh, &r->rows[0]));
}

/* Puts a row where the heap of the first `count` has a gap on top. */
static void sink(ranking *r, size_t count, ranked_row fresh)
{
    size_t at = 0, child;

    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && comes_before(r, &r->rows[child], &r->rows[child + 1]))
            child++;
        if (!comes_before(r, &fresh, &r->rows[child]))
            break;
        r->rows[at] = r->rows[child];
        at = child;
    }
    r->rows[at] = fresh;
}

void ranking_add(ranking *r, int64_t id, float score)
{
    const ranked_row fresh = {id, score};

    if (!ranking_wants(r, id, score))
        return;
    if (r->count == r->want) {
        sink(r, r->count, fresh);
        return;
    }
    size_t at = r->count++;
    for (; at > 0 && comes_before(r, &r->rows[(at - 1) / 2], &fresh); at = (at - 1) / 2)
        r->rows[at] = r->rows[(at - 1) / 2];
    r->rows[at] = fresh;
}

void ranking_finish(ranking *r)
{
    for (size_t left = r->count; left > 1; left--) {
        ranked_row last = r->rows[left - 1];
        r->rows[left - 1] = r->rows[0];
        sink(r, left - 1, last);
    }
}
