/* search.h - search indexes as statements see them: one door to every kind.
 *
 * A kind is a folder below (csrc/search) and a part of the published state (published.h). What a block writes to
 * one is its own until it lands. */
#ifndef EXEC_SEARCH_H
#define EXEC_SEARCH_H

#include "exec/block.h"
#include "exec/context.h"

/* Whether an index of that kind is one: @text, @hnsw, @inverted. */
static inline bool search_is(index_kind kind)
{
    return kind == INDEX_TEXT || kind == INDEX_HNSW || kind == INDEX_INVERTED;
}

/* The part of an index that is READY, borrowed for the statement. FN_AGAIN. */
int search_part(const context *cx, const collection *of, const catalog_index *x, version **out, error *err);

/* FN_AGAIN, for an index whose rows are damaged. */
int search_damaged(search_need *need, const collection *of, const catalog_index *x);

/* A document's value of the index's field goes from `had` to `gets`, either of which is null where it has none.
 * Called before the rows are written, under the id the document has or gets. FN_AGAIN; PANIC; IO; CORRUPT. */
int search_write(block *b, const collection *of, const catalog_index *x, int64_t id, const value *had,
                 const value *gets, error *err);

/* An index that was built holds every row. FENEC_OK where it is none of search. */
int search_built(block *b, const collection *of, const catalog_index *x, error *err);

/* Reads an index from the file and publishes it. No lock may be held. */
int search_read(writer *w, uint32_t collection, uint32_t index, struct scratch *memory, error *err);

/* Reads those that `only` names as unbuilt_warm has it, and waits for what runs behind. */
int search_warm(writer *w, const uint8_t *only, size_t only_len, struct scratch *memory, error *err);

/* Before a checkpoint: links and saves what is pending of the indexes in memory. */
void search_settle(writer *w, struct scratch *memory);

/* The same of what is worth it, after maintenance_stop. */
void search_close(writer *w, struct scratch *memory);

#endif
