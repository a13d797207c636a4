/* text_part.h - @text and @inverted indexes as a kind of search index: read, written and published with blocks. */
#ifndef EXEC_TEXT_PART_H
#define EXEC_TEXT_PART_H

#include "exec/search_kind.h"
#include "search/text_index.h"

extern const search_kind text_part;

/* The index as a snapshot has it, read anew; one reference. ROW_DAMAGED. */
int text_part_look(conn *c, row_cache *cache, const collection *of, const catalog_index *x,
                   text_version **out, error *err);

#endif
