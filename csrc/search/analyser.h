/* analyser.h - texts cut into terms, as chapter 4 section 2 has it: one routine for documents, queries and
 * marks, so that they can never disagree. Sparse vectors are cut here too, each entry of theirs being a term.
 *
 * A text is cut twice. A stretch is as many characters of words in a row as have one gram size: 0 where the
 * script has spaces between words, 2 or 3 where it has none. A stretch of size 0 is one word, folded; one of
 * size n is every n characters in a row of it. */
#ifndef SEARCH_ANALYSER_H
#define SEARCH_ANALYSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The options of an index that say what its terms are. */
typedef struct analysis {
    uint32_t prefix_min, prefix_max; /* characters; max 0 or below min: no prefixes */
    bool chars;                      /* single characters of stretches of size 2 are terms too */
    bool weights;                    /* no texts: entries of sparse vectors, as values hold them */
} analysis;

#define ENTRY_TERM 4 /* bytes of a term that is a dimension, the highest first */

typedef enum term_kind { TERM_WORD, TERM_GRAM, TERM_PREFIX, TERM_ENTRY } term_kind;

typedef struct term {
    const uint8_t *bytes; /* valid during the visit alone */
    size_t len;
    size_t start, end; /* bytes of the text it comes from; of a prefix those of the word it was cut from */
    term_kind kind;
    uint32_t count; /* 1; of an entry the bits of its weight, which are not all 0 */
} term;

/* What each term is handed to, in order; another code than FENEC_OK ends the analysis and is its answer. */
typedef int term_visit(void *to, const term *t, error *err);

/* `text` is valid UTF-8, or whole entries by ascending dimension. PANIC where memory ran out; what a visit answers. */
int analyse(const analysis *how, const uint8_t *text, size_t len, term_visit *visit, void *to, error *err);

typedef struct stretch {
    size_t start, end;
    unsigned gram;
    bool plain; /* ASCII without capitals: folded as it stands */
    bool empty; /* of a size 0: folds to nothing */
} stretch;

/* The next stretch at or after *at, which moves past it; false: none. */
bool stretch_next(const uint8_t *text, size_t len, size_t *at, stretch *out);

/* What a term is: prefixes stand after their mark, grams are of scripts without spaces, the others are words. */
term_kind term_kind_of(const uint8_t *bytes, size_t len);

#define TERM_PREFIX_MARK '^' /* stands in front of prefixes and in no other term */

#endif
