/* area.h - an operand of a filter that leaves the points of one area: `distance(f, p) < r`, `<= r`, mirrored
 * too, and `within(f, box)`. */
#ifndef EXEC_AREA_H
#define EXEC_AREA_H

#include "exec/context.h"
#include "exec/expr.h"

typedef struct area {
    bool circle, below; /* below: the edge is left out */
    double at[2], metres;
    double box[4]; /* circle: around it */
} area;

/* The geo field that an operand speaks of; NULL where it is no such operand. */
const bound *area_field(const bound *n);

/* False where its values cannot be worked out or are none an index is asked for: rows are tested, and err
 * what they raise. */
bool area_resolve(const bound *n, const context *cx, const constant *resolved, area *out);

bool area_holds(const area *a, const double p[2]);

#endif
