/* text_index.h - one committed state of a @text index, and how a block makes the next.
 *
 * A version is immutable once it is published and shared between threads; what it holds in memory it shares
 * with the versions before and after it. A block works on one of its own, which is published with it or
 * undone. */
#ifndef SEARCH_TEXT_INDEX_H
#define SEARCH_TEXT_INDEX_H

#include "search/analyser.h"
#include "search/recent.h"
#include "store/store.h"
#include "value/type.h"

typedef struct text_version {
    version head;
    uint32_t index; /* its number */
    analysis how;
    double k1, b;
    recent *recent;
    uint64_t number; /* of the last block it sees */
    int64_t docs, terms; /* documents with a term; all their terms, repeats counted */
    bool own;            /* a block's */
} text_version;

/* An index without a document. NULL: no memory. */
text_version *text_index_new(uint32_t index, const index_spec *spec);

/* The version of a block, out of a published one. NULL: no memory. */
text_version *text_index_begin(const text_version *v);
void text_index_undo(text_version *own); /* under the writer's lock; it is dropped after it */
void text_index_publish(text_version *own);

int text_index_add(text_version *own, int64_t id, const uint8_t *text, size_t len, error *err);
int text_index_remove(text_version *own, int64_t id, const uint8_t *text, size_t len, error *err);

#endif
