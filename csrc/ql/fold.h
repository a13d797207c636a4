/* fold.h - a select list with its groups: names, the shapes of aggregates, and what may stand outside
 * them (chapter 1 sections 6.2, 6.4 and 8.3). */
#ifndef QL_FOLD_H
#define QL_FOLD_H

#include "base/arena.h"
#include "base/error.h"
#include "ql/ast.h"

/* A list, of a query or of a lookup level. */
typedef struct fold {
    const column *columns;
    uint32_t column_count;
    bool aggregates;
    const group_key *groups;
    uint32_t group_count;
    const expr *having;
} fold;

bool aggregate_named(const char *name); /* lower case */

/* FENEC_OK, FENEC_QUERY or FENEC_PANIC. `a` holds what the check needs; nothing of it is kept. */
int fold_check(const fold *f, arena *a, error *err);

#endif
