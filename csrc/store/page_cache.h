/* page_cache.h - pages of tables that a reader keeps over the commits of others.
 *
 * SQLite drops all it has cached for a connection at each commit of another. But a page of the main file
 * changes only by a checkpoint, and a frame of the log not before the log begins anew (page_map.h): what is
 * kept here goes then, all of a kind at once. Of a page only the newest is kept, as snapshots of one reader
 * never go back.
 *
 * Sets of a few places each; within one, leaves make room before inner pages, which every get passes. */
#ifndef STORE_PAGE_CACHE_H
#define STORE_PAGE_CACHE_H

#include "store/page_map.h"

#define PAGE_CACHE_WAYS 4

typedef struct cached_page {
    uint32_t page;  /* 0: none */
    uint32_t frame; /* of the log; 0: the main file's */
    uint32_t used;
    bool inner;
    uint8_t *bytes; /* and PAGE_SLACK zeros; may be there without a page */
} cached_page;

/* {.kib} is an empty one. */
typedef struct page_cache {
    uint32_t kib; /* of pages, at most; a power of two */
    uint64_t folds;
    uint8_t salts[LOG_SALTS];
    uint32_t uses;
    uint32_t mask;       /* of sets */
    cached_page *places; /* NULL before the first */
} page_cache;

/* Drops what is not the view's. Before the first page of each snapshot. */
void page_cache_begin(page_cache *p, const log_view *v);

/* The place of a page, which has it (*has), or is to be filled: bytes, `inner`, then page and frame. NULL: no
 * memory. What was handed out before may be gone. */
cached_page *page_cache_find(page_cache *p, uint32_t page, uint32_t frame, bool *has);

void page_cache_clear(page_cache *p); /* gives its memory back */

#endif
