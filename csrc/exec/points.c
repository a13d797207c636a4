#include "exec/points.h"

#include <string.h>

#include "base/bytes.h"

void points_open(points *w, conn *c, const catalog_index *index, const double box[4])
{
    w->c = c;
    w->index = index;
    w->count = geo_cover(box, w->cells);
    w->at = 0;
    w->cur = (cursor){0};
    w->is_open = false;
}

void points_close(points *w)
{
    if (w->is_open)
        cursor_close(&w->cur);
    w->is_open = false;
}

static int open_next(points *w, error *err)
{
    const geo_cells *cells = &w->cells[w->at++];
    uint8_t low[8], high[8];

    bytes_put_big_u64(low, cells->first << 16);
    bytes_put_big_u64(high, (cells->last + 1) << 16);
    const key_range range = {.low = low,
                             .low_len = GEO_CELL_LEN,
                             .has_low = true,
                             .high = high,
                             .high_len = GEO_CELL_LEN,
                             .has_high = cells->last < GEO_CELL_MAX,
                             .below_high = true};
    int rc = cursor_entries(&w->cur, w->c, table_index(w->index->number), &range, false, err);
    w->is_open = rc == FENEC_OK;
    return rc;
}

int points_next(points *w, int64_t *id, double p[2], error *err)
{
    const uint8_t *key;
    size_t len;
    int rc;

    for (;;) {
        if (!w->is_open) {
            if (w->at == w->count)
                return FN_END;
            rc = open_next(w, err);
            if (rc)
                return rc;
        }
        rc = cursor_next_entry(&w->cur, id, &key, &len, err);
        if (rc == FENEC_OK)
            break;
        points_close(w);
        if (rc != FN_END)
            return rc;
    }
    if (!geo_key_point(key, len, p))
        return fail(err, FENEC_CORRUPT, "the index on `%s` holds what is no point", w->index->on.text);
    return FENEC_OK;
}
