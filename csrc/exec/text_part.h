/* text_part.h - @text and @inverted indexes as a kind of search index: read, written and published with blocks. */
#ifndef EXEC_TEXT_PART_H
#define EXEC_TEXT_PART_H

#include "exec/search_kind.h"
#include "search/text_index.h"

extern const search_kind text_part;

static inline bool text_part_has(index_kind kind)
{
    return kind == INDEX_TEXT || kind == INDEX_INVERTED;
}

/* What an index holds of a value, as analyse takes it: a text, the entries of a sparse vector. False: nothing. */
bool text_part_content(const value *v, const uint8_t **bytes, size_t *len);

/* The index as a snapshot has it, read anew; one reference. ROW_DAMAGED. */
int text_part_look(conn *c, row_cache *cache, const collection *of, const catalog_index *x,
                   text_version **out, error *err);

#endif
