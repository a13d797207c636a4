/* text_search.h - match: the documents of a text index that hold a query's terms, ranked by BM25.
 *
 * Documents are met term by term in order of their places (MaxScore over blocks): what a block's largest count
 * and shortest document could come to says what need not be looked at. What is left out never could have been
 * among the best, ties by id included, so that the answer is that of the exhaustive sum. */
#ifndef SEARCH_TEXT_SEARCH_H
#define SEARCH_TEXT_SEARCH_H

#include "search/best.h"
#include "search/query.h"
#include "search/text_index.h"

/* The best rows into *out, not finished yet. What it needs meanwhile comes from `a`, which is not what the test
 * of best_init gives back. ROW_DAMAGED; PANIC; IO; what the test answers. */
int text_rank(const text_version *v, conn *c, query *q, best *out, arena *a, error *err);

/* Every document that holds one of the terms, in no order. */
typedef int text_visit(void *to, int64_t id, error *err);
int text_each(const text_version *v, conn *c, query *q, text_visit *visit, void *to, arena *a, error *err);

#endif
