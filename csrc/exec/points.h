/* points.h - the points that a @geo index holds in a box, in the order of its cells; those around it may be
 * among them. */
#ifndef EXEC_POINTS_H
#define EXEC_POINTS_H

#include "store/conn.h"
#include "catalog/catalog.h"
#include "value/geo_cell.h"

/* In the caller's frame; points_close, which may be called on {0}, lets it go. */
typedef struct points {
    conn *c;
    const catalog_index *index;
    geo_cells cells[GEO_COVER_MAX];
    uint32_t count, at;
    cursor cur;
    bool is_open;
} points;

void points_open(points *w, conn *c, const catalog_index *index, const double box[4]);
int points_next(points *w, int64_t *id, double p[2], error *err); /* FENEC_OK, FN_END; CORRUPT */
void points_close(points *w);

#endif
