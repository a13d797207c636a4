#include "exec/fuse.h"

#include <stdlib.h>

/* A row of a list, by its rank from 0. */
typedef struct listed_row {
    int64_t id;
    size_t rank;
} listed_row;

static int by_id(const void *a, const void *b)
{
    const listed_row *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static listed_row *list(const ranking *of, arena *a)
{
    listed_row *rows = arena_alloc(a, of->count * sizeof *rows);

    if (!rows)
        return NULL;
    for (size_t i = 0; i < of->count; i++)
        rows[i] = (listed_row){of->rows[i].id, i};
    if (of->count > 1)
        qsort(rows, of->count, sizeof *rows, by_id);
    return rows;
}

static float share(uint32_t k, size_t rank)
{
    return 1 / ((float)k + (float)(rank + 1));
}

int fuse_rows(const ranking *texts, const ranking *near, uint32_t k, size_t want, ranking *out, arena *a, error *err)
{
    const listed_row *t = list(texts, a), *n = list(near, a);
    size_t i = 0, j = 0;

    if (!t || !n)
        return fail_memory(err);
    int rc = ranking_init(out, want, false, a, err);
    if (rc)
        return rc;
    while (i < texts->count || j < near->count) {
        bool of_text = i < texts->count && (j == near->count || t[i].id <= n[j].id);
        bool of_near = j < near->count && (i == texts->count || n[j].id <= t[i].id);
        int64_t id = of_text ? t[i].id : n[j].id;
        float score = 0;
        if (of_text)
            score += share(k, t[i++].rank);
        if (of_near)
            score += share(k, n[j++].rank);
        ranking_add(out, id, score);
    }
    ranking_finish(out);
    return FENEC_OK;
}
