/* search_kind.h - what a kind of search index does for search.c. Everything runs under the writer's lock. */
#ifndef EXEC_SEARCH_KIND_H
#define EXEC_SEARCH_KIND_H

#include "exec/block.h"

/* ROW_DAMAGED (search/row_cache.h) where its rows are: the block is put back and the index built anew. */
typedef struct search_kind {
    /* Reads an index from the file, as the block sees it; *out has one reference. */
    int (*read)(block *b, const collection *of, const catalog_index *x, version **out, error *err);
    /* A version for the block to write to, with one reference, out of the one it sees; *out is v itself, and no
     * reference more, where that is the block's already. */
    int (*begin)(block *b, version *v, version **out, error *err);
    /* search_write's, on that version. */
    int (*write)(block *b, const catalog_index *x, version *own, int64_t id, const value *had, const value *gets,
                 error *err);
    /* search_write's for an index that is READY and not in memory, instead of reading it: v is what the block noted so
     * far, NULL before the first, and *out what it has noted then, with one reference more where it is another. It
     * lands by `noted`, is published as none, and is put back where the block reads the index after all. FN_END: the
     * index is to be read. May be NULL. */
    int (*note)(block *b, const catalog_index *x, version *v, version **out, int64_t id, error *err);
    part_kind noted;
    /* The rows there were have all been written to an index that was built. May be NULL. */
    int (*built)(block *b, version *own, error *err);
    /* Asks for what a checkpoint is to find done, of an index in memory, on the maintenance thread. May be NULL. */
    void (*settle)(writer *w, uint32_t index);
    /* The database closes, and the maintenance thread has stopped. No lock is held. May be NULL. */
    void (*close)(writer *w, uint32_t index, struct scratch *memory);
    part_kind part;
} search_kind;

#endif
