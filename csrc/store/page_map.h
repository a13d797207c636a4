/* page_map.h - which frame of the log holds a page, and what may be told from that.
 *
 * A scan of many rows reads the pages of a table itself (page_scan.h). What a snapshot sees of a page is its
 * last frame in the log up to the snapshot's last commit, and the main file's page where there is none.
 * That only holds while nothing moves underneath. What SQLite promises, by the locks of its wal-index:
 *
 *   - Frames up to a commit never change until the log begins anew. walRestartLog does that at the first frame
 *     a writer writes, and only where the log was folded in whole when its transaction began (its read lock is
 *     0) and no reader holds a read lock but 0.
 *   - A checkpoint copies no frame behind the mark of any reader's lock 1 to 4 (walCheckpoint, mxSafeFrame),
 *     and none at all, nor does it cut the file, while some reader holds lock 0.
 *   - walTryBeginRead gives a snapshot lock 0 only where the log is folded in whole, nBackfill = mxFrame;
 *     else a lock whose mark is at most the snapshot's last frame.
 *
 * Only the writer commits, only this store checkpoints (a database that others may open too is never read this
 * way), so the store knows at every moment which of these holds, as a `log_view`:
 *
 *   PINNED  Since the last commit no checkpoint has come to its end whole, nor is one under way that could. So
 *           nBackfill < mxFrame: a snapshot begun now holds lock 1 to 4, and as long as it lasts the log does
 *           not begin anew, and the main file changes in no page that has no frame up to the snapshot's last.
 *           A commit makes it so, also one beside a checkpoint: that one's pinned reader keeps nBackfill at or
 *           below a commit before. A checkpoint that stops short leaves it so.
 *   WHOLE   A checkpoint came to its end, and nothing was committed since. The main file alone is the snapshot,
 *           whichever lock it holds: with lock 0 nothing is copied into the file, with another the log neither
 *           begins anew nor is anything copied that is newer than a mark at or below what is in the file
 *           already. An empty log at open is the same case.
 *   UNSURE  Anything else: a checkpoint is under way, a commit or checkpoint failed, the log was recovered and
 *           nothing committed since. Rows are then read through SQLite.
 *
 * A snapshot takes the view as it begins. Each change of the view counts up `view_epoch`, before a checkpoint
 * begins and before a commit's number is even again; a snapshot over whose beginning that number moved is
 * UNSURE. What a snapshot took stays right until it ends, by the above.
 *
 * By the same, pages may be kept from snapshot to snapshot (page_cache.h): those of frames while the log is the
 * same, and those of the main file while no checkpoint begins. One that was under way as a PINNED snapshot began
 * copies only frames at or below a commit before, and pages that have such a frame are read from the log.
 *
 * A log that began anew has other salts in its head. Only a commit upon WHOLE or UNSURE can have begun it anew
 * (upon PINNED nBackfill < mxFrame, and the writer's own read lock is not 0), so those commits read them. */
#ifndef STORE_PAGE_MAP_H
#define STORE_PAGE_MAP_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers in pages and logs are big-endian. */
static inline uint32_t page_u16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t page_u32(const uint8_t *p) { return page_u16(p) << 16 | page_u16(p + 2); }

typedef enum log_state { LOG_UNSURE, LOG_WHOLE, LOG_PINNED } log_state;

#define LOG_SALTS 8

typedef struct log_view {
    log_state state;
    bool known;      /* frames and salts are those of the last commit; always, where PINNED */
    uint32_t frames; /* of the log at the last commit */
    uint8_t salts[LOG_SALTS];
    uint64_t folds;  /* checkpoints begun so far */
} log_view;

typedef struct page_place {
    uint32_t page, frame; /* page 0: free */
} page_place;

/* Of one reader: the last frame of each page up to that of its snapshot. Extended from snapshot to snapshot
 * while the log is the same, as frames never change; a reader's snapshots are never older than those before. */
typedef struct page_map {
    uint8_t salts[LOG_SALTS];
    uint32_t frames;    /* seen */
    uint32_t file_pages; /* of the database as of the last of them */
    uint32_t count, cap; /* of the places; cap is a power of two */
    page_place *places;
} page_map;

/* Frames still to be seen before the map is that of a PINNED view. */
uint32_t page_map_missing(const page_map *m, const log_view *v);

/* Sees them. False: no memory, or the log is not as it should be; the map is empty then. */
bool page_map_extend(page_map *m, const log_view *v, sqlite3_file *log);

/* The frame that holds a page, from 1; 0: none, it is the main file's. */
uint32_t page_map_find(const page_map *m, uint32_t page);

void page_map_clear(page_map *m); /* gives its memory back */

#endif
