/* text_index.h - one committed state of a @text or @inverted index, and how a block makes the next.
 *
 * What an index of sparse vectors holds are their entries, a term each; where it says text these are meant. How
 * many documents hold a term counts for nothing there, so the terms of those that are gone are not kept.
 *
 * Documents stand in segments in the file or, those written since the last of them was, in the recent set,
 * which is in memory. A version is immutable once it is published and shared between threads; what it holds it
 * shares with the versions before and after it. A block works on one of its own, which is published with it or
 * undone.
 *
 * Besides its segments' rows an index has in table_search:
 *
 *   manifest   the segments, how many of their documents are gone, how many rows of counts there are
 *   counts     of the documents that are gone, how many hold each term
 *   gone       by segment, bits of the documents that are gone
 *   log        a row for each block since the last segment: which documents it wrote, the terms of those it
 *              took away from segments
 *
 * so that a process that ends anywhere leaves what is needed to make the recent set again. */
#ifndef SEARCH_TEXT_INDEX_H
#define SEARCH_TEXT_INDEX_H

#include "base/buffer.h"
#include "search/analyser.h"
#include "search/bitmap.h"
#include "search/recent.h"
#include "search/segment.h"
#include "search/term_counts.h"
#include "store/store.h"
#include "value/type.h"

typedef struct text_segment {
    segment *s;          /* kept */
    bitmap *gone;        /* kept; NULL: none */
    uint64_t gone_terms; /* of those that are gone, repeats counted */
} text_segment;

/* Immutable and shared. */
typedef struct text_segments {
    _Atomic(long) references;
    uint32_t count;
    text_segment items[];
} text_segments;

typedef struct text_version {
    version head;
    uint32_t index; /* its number */
    row_cache *cache;
    analysis how;
    double k1, b;
    text_segments *segments; /* kept */
    term_counts *counts;     /* kept; NULL: nothing is gone */
    recent *recent;          /* kept */
    uint64_t number;         /* of the last block it sees */
    int64_t docs, terms;     /* documents with a term; all their terms, repeats counted */
    uint32_t longest;        /* no document has more */
    int64_t log_next;        /* id of the next log row */
    /* Of a block's own. */
    bool own;
    recent *before; /* the recent set it began with, where it made another; kept */
    bool built;     /* an index of which this is the first whole version */
    buffer log;     /* what it did since the last segment */
} text_version;

/* Hands out the text of a document that the index is to hold: FENEC_OK and bytes that last until the next call;
 * FN_END where there is none. */
typedef int text_source(void *from, int64_t id, const uint8_t **text, size_t *len, error *err);

/* Reads an index through a block's connection, or a snapshot's to look at it. One reference. ROW_DAMAGED. */
int text_index_open(text_version **out, conn *c, row_cache *cache, uint32_t index, const index_spec *spec,
                    text_source *source, void *from, error *err);

/* The version of a block, out of a published one. NULL: no memory. */
text_version *text_index_begin(const text_version *v);
void text_index_undo(text_version *own); /* under the writer's lock; it is dropped after it */

/* Writes what goes with the block, which may still be undone. */
int text_index_land(text_version *own, conn *c, error *err);
void text_index_landed(text_version *own); /* it is published */

int text_index_add(text_version *own, int64_t id, const uint8_t *text, size_t len, error *err);
/* ROW_DAMAGED where the index does not hold it. */
int text_index_remove(text_version *own, conn *c, int64_t id, const uint8_t *text, size_t len, error *err);

/* Whether the recent set is large; while an index is built it may be larger. */
bool text_index_is_full(const text_version *own, bool building);

/* Tests only: how many documents make a recent set large, 0 for as many as ever. A small number gives small
 * databases many segments and merges. */
void text_index_limit(uint32_t slots);

/* Makes a segment of the recent set. On failure *own is as it was, and rows it wrote are to be put back. */
int text_index_flush(text_version *own, conn *c, error *err);

/* ---- merging ---- */

typedef struct text_merge text_merge;

/* What of a version is worth merging, or (whole) all that can be: NULL in *out where nothing is. PANIC. */
int text_merge_new(text_merge **out, const text_version *v, bool whole, error *err);
void text_merge_free(text_merge *m);

/* Whether a version still has what is merged. */
bool text_merge_is_current(const text_merge *m, const text_version *v);

/* Reads on through a snapshot and gathers rows: FENEC_OK where there are some to be written and more to come,
 * FN_END where those are the last. ROW_DAMAGED. */
int text_merge_read(text_merge *m, conn *c, error *err);
/* Writes what was gathered, in a block. */
int text_merge_write(text_merge *m, conn *c, error *err);

/* Puts the new segment in the place of those it was made of, in a block's own version. FN_END: they are not
 * there any more. */
int text_merge_land(text_merge *m, text_version *own, conn *c, error *err);
void text_merge_landed(text_merge *m); /* that block is in the file: what was merged may go */

/* Deletes some of the rows of what was merged, or of a merge that came to nothing. FN_END: there are no more. */
int text_merge_clean(text_merge *m, conn *c, error *err);

#endif
