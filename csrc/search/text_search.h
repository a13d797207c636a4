/* text_search.h - match: the documents of a text index that hold a query's terms, ranked by BM25.
 *
 * Documents are met term by term in order of their places (MaxScore over blocks): what a block's largest count
 * and shortest document could come to says what need not be looked at. What is left out never could have been
 * among the best, ties by id included, so that the answer is that of the exhaustive sum. Where all lists together
 * are short, documents that several of them hold are found first, by a mark each, and ranked; the others are
 * ranked list by list. */
#ifndef SEARCH_TEXT_SEARCH_H
#define SEARCH_TEXT_SEARCH_H

#include "search/best.h"
#include "search/query.h"
#include "search/text_index.h"

/* The best rows into *out, not finished yet. What it needs meanwhile comes from `a`, which is not what the test
 * of best_init gives back. ROW_DAMAGED; PANIC; IO; what the test answers. */
int text_rank(const text_version *v, conn *c, query *q, best *out, arena *a, error *err);

/* Which of the ways several terms are ranked. Tests set it, while nobody searches. */
typedef struct text_ways {
    uint32_t short_max;  /* postings of all terms together up to which lists are short */
    uint32_t shared_max; /* documents that several short lists hold, at most */
    uint32_t marks_max;  /* a power of two from 64 */
} text_ways;
extern text_ways text_search_ways;

/* Every document that holds one of the terms, in no order. */
typedef int text_visit(void *to, int64_t id, error *err);
int text_each(const text_version *v, conn *c, query *q, text_visit *visit, void *to, arena *a, error *err);

#endif
