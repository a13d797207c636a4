/* query.h - the text of a match, analysed: its terms, each once, and which of them stand for others too. */
#ifndef SEARCH_QUERY_H
#define SEARCH_QUERY_H

#include "base/arena.h"
#include "search/analyser.h"
#include "search/edits.h"

typedef struct query_term {
    const uint8_t *bytes;
    size_t len;
    uint64_t hash;
    uint32_t times;
    term_kind kind;
    bool begins;    /* stands for every word it begins as well */
    uint32_t edits; /* and for every word so near, 0: none */
    edits near;     /* where edits > 0: of the word */
} query_term;

/* In the arena it was made in; one thread's. */
typedef struct query {
    query_term *terms; /* in the order they first stand in */
    uint32_t count;
    bool expands; /* one of them stands for others */
    uint32_t *places; /* by hash: 1 + place of a plain term, 0: none */
    uint32_t mask;
} query;

/* `text` is valid UTF-8; what it was made with is copied. fuzzy 0 to 2. PANIC. */
int query_make(query *q, const analysis *how, const uint8_t *text, size_t len, uint32_t fuzzy, bool prefix,
               arena *a, error *err);

/* Whether a text's term is one of the query's or, of a word, one it stands for. */
bool query_holds(query *q, const term *t);

/* What a word weighs against the term that stands for it: 1 where they are one, 0 where it does not. Then, where
 * no word with the same first bytes does either, *hopeless (may be NULL) is how many bytes; else SIZE_MAX. */
float query_weight(query_term *of, const uint8_t *word, size_t len, size_t *hopeless);

#define WEIGHT_BEGINS 0.7f
#define WEIGHT_ONE_EDIT 0.6f
#define WEIGHT_TWO_EDITS 0.4f

#endif
