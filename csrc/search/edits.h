/* edits.h - how far words are from one word: characters inserted, deleted, substituted, or neighbours
 * swapped, none of them twice (optimal string alignment).
 *
 * A word is handed over character by character, and cut back to what it shares with the next, so that a
 * walk over words in order computes nothing twice. */
#ifndef SEARCH_EDITS_H
#define SEARCH_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct edits {
    const uint32_t *word;
    uint32_t len;
    uint32_t budget; /* 0 to 2 */
    uint32_t depth;  /* characters handed over */
    uint32_t *other; /* them; len + budget of room */
    uint8_t *rows;   /* after each: distances from the word's beginnings of about as many, at most budget + 1 */
} edits;

/* The edits that chapter 4 section 5.1 allows a word of that many characters. */
uint32_t edits_allowed(uint32_t characters, uint32_t fuzzy);

/* In `a`; false: no memory. */
bool edits_init(edits *e, const uint8_t *word, size_t len, uint32_t budget, arena *a);

void edits_cut(edits *e, uint32_t depth); /* keeps the first so many */
bool edits_push(edits *e, uint32_t character); /* false: no word that starts so is near enough, and none was added */
uint32_t edits_distance(const edits *e);  /* of what was handed over; budget + 1: too far */

/* The distance of a whole word. Where its first bytes alone are too far, *hopeless (may be NULL) is how many of
 * them; else SIZE_MAX. */
uint32_t edits_of(edits *e, const uint8_t *word, size_t len, size_t *hopeless);

#endif
