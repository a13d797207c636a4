/* exact.h - parameters that came as 32-bit floats where every digit is needed (chapter 5 section 10.3). */
#ifndef EXEC_EXACT_H
#define EXEC_EXACT_H

#include "base/error.h"
#include "catalog/catalog.h"
#include "ql/parser.h"

/* FENEC_OK, or FENEC_QUERY with err->exact filled where a place marked in `apart` (param_count flags)
 * stands by itself where a json or geo value is wanted, in the order of the statements. */
int exact_check(const parsed *p, const catalog *cat, const bool apart[], uint32_t param_count, error *err);

#endif
