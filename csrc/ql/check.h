/* check.h - what a select may not combine, judged on the tree alone (chapter 1 section 9). */
#ifndef QL_CHECK_H
#define QL_CHECK_H

#include "base/arena.h"
#include "base/error.h"
#include "ql/ast.h"

/* FENEC_OK or FENEC_QUERY; FENEC_PANIC where memory ran out. Fills in each disjunctive facet's own filter
 * (made in `a`). Called by the parser, and by whoever builds a tree without text. */
int check_select(select_stmt *s, arena *a, error *err);

/* The same for a select that stands in `in (get ...)` and has passed check_select: it answers one column
 * and holds no count, lookup or require. */
int check_inner(select_stmt *s, arena *a, error *err);

#endif
