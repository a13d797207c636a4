/* text_part.h - @text and @inverted indexes as a kind of search index: read, written and published with blocks. */
#ifndef EXEC_TEXT_PART_H
#define EXEC_TEXT_PART_H

#include "exec/search_kind.h"

extern const search_kind text_part;

#endif
