/* extreme.h - the least and greatest value of a field or path, off the ends of its @sorted index. */
#ifndef EXEC_EXTREME_H
#define EXEC_EXTREME_H

#include "exec/context.h"
#include "exec/expr.h"

/* The index that could tell, by its order: NULL where there is none, or its order is another one. */
const catalog_index *extreme_index(const collection *of, const bound *name);

/* The value over all rows, null where every row has none; of equal ones the one of the lowest id, as a
 * scan finds it. *found false: the index cannot tell, and nothing else is written. The value is in
 * cx->memory. */
int extreme_value(const collection *of, const catalog_index *index, const bound *name, bool greatest,
                  const context *cx, value *out, bool *found, error *err);

#endif
