/* marks.h - highlight and snippet: where a text holds what a query asks for (chapter 4 section 6). */
#ifndef SEARCH_MARKS_H
#define SEARCH_MARKS_H

#include "base/buffer.h"
#include "search/query.h"

typedef struct mark_text {
    const uint8_t *bytes; /* valid UTF-8 */
    size_t len;
} mark_text;

/* What stands around marks; without tags marks are answered as offsets. */
typedef struct mark_style {
    bool tagged;
    mark_text before, after;
    mark_text ellipsis; /* of a snippet; empty: none */
} mark_style;

/* Appends the JSON of one highlight, or of a snippet of so many words (at least 1). PANIC; where memory ran
 * out for *out, it says so. */
int marks_highlight(query *q, const analysis *how, mark_text text, const mark_style *style, buffer *out, error *err);
int marks_snippet(query *q, const analysis *how, mark_text text, uint32_t words, const mark_style *style, buffer *out,
                  error *err);

#endif
