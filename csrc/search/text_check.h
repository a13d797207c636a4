/* text_check.h - whether a @text or @inverted index holds what the documents give, no less and no more.
 *
 * Terms are compared as sums: of a document the sum of its terms' hashes, each times its count or weight. A
 * pass over all postings makes the sums of the index, one a document of a segment; analysing a text makes
 * its own. So the order of postings, which is by term, costs 8 bytes a document and no sort. */
#ifndef SEARCH_TEXT_CHECK_H
#define SEARCH_TEXT_CHECK_H

#include "search/text_index.h"

typedef struct text_check text_check;

/* What is wrong; of a document where id is not 0. */
typedef void text_check_visit(void *to, int64_t id, const char *what);

/* Reads all postings through the snapshot that the version was read through, which outlives *out. *postings is
 * how many. ROW_DAMAGED; IO, PANIC. */
int text_check_new(text_check **out, const text_version *v, conn *c, text_check_visit *visit, void *to,
                   int64_t *postings, error *err);
void text_check_free(text_check *k); /* NULL does nothing */

/* Every document of the collection once, in any order: its text, NULL where it has none. */
int text_check_document(text_check *k, int64_t id, const uint8_t *text, size_t len, error *err);

/* After the last: what the index holds beside. */
int text_check_end(text_check *k, error *err);

#endif
