/* page_scan.h - rows of a table read off its pages, without SQLite's machine: a third of what it costs.
 *
 * Only for a reader in its snapshot. Pages are read through the reader's own files, so that every VFS sees
 * it, and each from where the snapshot has it (page_map.h says why that holds). Nothing in them is trusted.
 * Whatever is not exactly as it should be - a page, a row, the shape of the table, a read that fails - ends
 * the scan as unsure, and the caller goes on through SQLite, which then finds and names what is wrong. */
#ifndef STORE_PAGE_SCAN_H
#define STORE_PAGE_SCAN_H

#include "store/page_cache.h"
#include "store/page_source.h"

#define PAGE_ROOTS 16

/* What a reader keeps for it. */
typedef struct page_reader {
    log_view view;  /* of the snapshot */
    uint64_t epoch; /* store.view_epoch when that was taken */
    page_map map;
    page_source source;
    bool source_open; /* in this snapshot */
    page_cache cache;
    bool cache_open; /* in this snapshot */
    struct page_walk *spare; /* buffers of the last scan */
    struct {
        table t;
        int64_t schema; /* conn.schema of which it is */
        uint32_t page;  /* 0: none */
    } roots[PAGE_ROOTS];
    uint64_t rows; /* read this way so far */
    uint64_t gets; /* rows got by id this way so far */
    uint32_t credit; /* frames that gets through SQLite since the last one have made up for */
} page_reader;

typedef enum page_end {
    PAGE_UNSURE,  /* go on through SQLite from `low` */
    PAGE_END,     /* no more rows */
    PAGE_STOPPED, /* by the visit, at `last` */
    PAGE_FAILED   /* with `rc` of SQLite, which may have put the read transaction back */
} page_end;

typedef struct page_scan {
    int64_t low, high; /* both in; `low` rises with the rows visited */
    bool wants_id;
    row_visit *visit;
    void *to;
    int64_t last;
    int rc;
} page_scan;

/* Rows that are worth reading through SQLite before the first page is read here, as the map of the log has
 * to be brought up to date first; negative: all of them. */
int64_t page_scan_lead(const conn *c);

/* Tests only: pages are read from the first row on. */
extern _Atomic(bool) page_scan_eager;

page_end page_scan_run(page_scan *scan, conn *c, table t);

void page_reader_clear(page_reader *p);

#endif
