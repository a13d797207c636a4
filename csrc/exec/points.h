/* points.h - the points that a @geo index holds in a box, in the order of its cells. */
#ifndef EXEC_POINTS_H
#define EXEC_POINTS_H

#include "catalog/catalog.h"
#include "store/conn.h"

/* What each point is handed to; false ends the walk. It may read through the connection but not write. */
typedef bool points_visit(void *to, int64_t id, const double p[2]);

/* FENEC_OK, also where a visit ended it; CORRUPT. */
int points_within(conn *c, const catalog_index *index, const double box[4], points_visit *visit, void *to,
                  error *err);

#endif
