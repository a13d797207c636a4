#include "exec/points.h"

#include <string.h>

#include "base/bytes.h"
#include "value/geo.h"
#include "value/geo_cell.h"

typedef struct walk {
    const double *box;
    points_visit *visit;
    void *to;
    bool damaged;
} walk;

static bool visit_entry(void *to, int64_t id, const uint8_t *key, size_t len)
{
    walk *w = to;
    double p[2];

    if (!geo_key_point(key, len, p)) {
        w->damaged = true;
        return false;
    }
    return !geo_within(p, w->box) || w->visit(w->to, id, p);
}

int points_within(conn *c, const catalog_index *index, const double box[4], points_visit *visit, void *to,
                  error *err)
{
    walk w = {.box = box, .visit = visit, .to = to};
    geo_cells cells[GEO_COVER_MAX];
    uint32_t count = geo_cover(box, cells);
    int rc = FN_END;

    for (uint32_t i = 0; i < count && rc == FN_END; i++) {
        uint8_t low[8], high[8];
        bytes_put_big_u64(low, cells[i].first << 16);
        bytes_put_big_u64(high, (cells[i].last + 1) << 16);
        if (cells[i].last == GEO_CELL_MAX)
            memset(high, 0xFF, sizeof high); /* longer than a cell, so above every key of the last */
        rc = entries_scan(c, table_index(index->number), low, GEO_CELL_LEN, high,
                          cells[i].last == GEO_CELL_MAX ? sizeof high : GEO_CELL_LEN, true, visit_entry, &w, err);
    }
    if (w.damaged)
        return fail(err, FENEC_CORRUPT, "the index on `%s` holds what is no point", index->on.text);
    return rc == FN_END ? FENEC_OK : rc;
}
