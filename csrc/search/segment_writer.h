/* segment_writer.h - a segment made: its documents, then its terms in order with their postings. */
#ifndef SEARCH_SEGMENT_WRITER_H
#define SEARCH_SEGMENT_WRITER_H

#include "search/segment.h"

typedef struct segment_writer segment_writer;

/* Takes a finished row. */
typedef int segment_put(void *to, int64_t id, const uint8_t *bytes, size_t len, error *err);

/* `weights`: postings have those for counts. NULL: no memory. */
segment_writer *segment_writer_new(uint32_t number, bool weights, segment_put *put, void *to);
void segment_writer_free(segment_writer *w);

/* Documents come by ascending id, all before the first term; each has a term. */
int segment_writer_doc(segment_writer *w, int64_t id, uint32_t length, error *err);

/* Terms come in order of their bytes, each once; after it its postings by ascending place, one at least. */
int segment_writer_term(segment_writer *w, const uint8_t *bytes, size_t len, error *err);
int segment_writer_posting(segment_writer *w, uint32_t place, uint32_t count, error *err);

/* Puts what is left, and the head last: a segment without it is none. */
int segment_writer_end(segment_writer *w, error *err);

#endif
