/* term_counts.h - how many of the documents that are gone from the segments hold each term: by so much the
 * segments' counts are too high. Immutable and shared, made anew to change some. */
#ifndef SEARCH_TERM_COUNTS_H
#define SEARCH_TERM_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct term_counts {
    _Atomic(long) references;
    uint8_t *bytes; /* of each term its length, its bytes, its count; no count is 0 */
    size_t len;
    uint32_t count, mask;
    uint32_t *cells; /* by hash: 1 + a place in starts, 0: none */
    size_t *starts;  /* of each term */
} term_counts;

typedef struct term_change {
    const uint8_t *bytes;
    size_t len;
    int64_t by;
} term_change;

/* `old` (NULL: no terms) changed, each term at most once; *out is NULL where no term is left. ROW_DAMAGED: a count
 * would fall below 0. PANIC. */
int term_counts_change(const term_counts *old, const term_change changes[], size_t count, term_counts **out,
                       error *err);

/* Out of bytes as old->bytes are, which it copies. ROW_DAMAGED, PANIC. */
int term_counts_read(const uint8_t *bytes, size_t len, term_counts **out, error *err);

/* How many bytes of whole terms, from byte `at` on, go into `room`; one term at least, 0 at the end. */
size_t term_counts_part(const term_counts *t, size_t at, size_t room);

term_counts *term_counts_keep(const term_counts *t); /* NULL does nothing */
void term_counts_drop(term_counts *t);

/* 0 where there is none, or t is NULL. */
int64_t term_counts_of(const term_counts *t, const uint8_t *bytes, size_t len, uint64_t hash);

#endif
