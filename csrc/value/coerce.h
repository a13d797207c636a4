/* coerce.h - how a value enters a field (chapter 2 section 4). */
#ifndef VALUE_COERCE_H
#define VALUE_COERCE_H

#include "base/arena.h"
#include "base/error.h"
#include "value/type.h"
#include "value/value.h"

#define JSON_DEPTH_MAX 64

/* v as a value of type t, borrowing v's bytes or the arena's. FENEC_TYPE names `field` and the value. A
 * vector for a half field is rounded to half precision already (its components stay 32-bit floats). */
int value_coerce(const value *v, const type *t, const char *field, arena *a, value *out, error *err);

#endif
