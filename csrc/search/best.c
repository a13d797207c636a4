#include "search/best.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more. `want` may be large and few rows found. */
static int make_room(best *r, error *err)
{
    if (r->count < r->cap)
        return FENEC_OK;
    size_t cap = r->cap ? r->cap * 4 : 64;
    if (cap > r->want)
        cap = r->want;
    best_row *more = arena_alloc(r->memory, cap * sizeof *more);
    if (!more)
        return fail_memory(err);
    if (r->count)
        memcpy(more, r->rows, r->count * sizeof *more);
    r->rows = more;
    r->cap = cap;
    return FENEC_OK;
}

static void sift_down(best *r, best_row one)
{
    size_t at = 0, child;

    while ((child = 2 * at + 1) < r->count) {
        if (child + 1 < r->count && best_before(&r->rows[child], &r->rows[child + 1]))
            child++;
        if (!best_before(&one, &r->rows[child]))
            break;
        r->rows[at] = r->rows[child];
        at = child;
    }
    r->rows[at] = one;
}

int best_add(best *r, float score, int64_t id, error *err)
{
    const best_row one = {id, score};
    bool pass = true;
    size_t at;

    if (r->test) {
        int rc = r->test(r->with, id, &pass, err);
        r->tested++;
        if (rc || !pass)
            return rc;
    }
    if (r->count == r->want) {
        sift_down(r, one);
        return FENEC_OK;
    }
    int rc = make_room(r, err);
    if (rc)
        return rc;
    for (at = r->count++; at > 0 && best_before(&r->rows[(at - 1) / 2], &one); at = (at - 1) / 2)
        r->rows[at] = r->rows[(at - 1) / 2];
    r->rows[at] = one;
    return FENEC_OK;
}

static int by_rank(const void *a, const void *b)
{
    return best_before(b, a) - best_before(a, b);
}

void best_finish(best *r)
{
    if (r->count > 1)
        qsort(r->rows, r->count, sizeof *r->rows, by_rank);
}
