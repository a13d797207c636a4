/* elements.h - what a list, a vector or a point holds, one value after another, without a copy. */
#ifndef VALUE_ELEMENTS_H
#define VALUE_ELEMENTS_H

#include "base/error.h"
#include "value/packed.h"
#include "value/value.h"

/* On the caller's stack, nothing to free; borrows the value. */
typedef struct elements {
    value of;
    packed_iter list;
    uint32_t next;
} elements;

/* False, and no elements, where v is of another kind. */
bool elements_open(elements *e, const value *v);

/* A vector's components and a point's numbers come as floats. FENEC_OK; FN_END after the last; CORRUPT.
 * `err` may be NULL. */
int elements_next(elements *e, value *out, error *err);

#endif
