/* stamp.h - looks at a database file and its log before SQLite does.
 *
 * SQLite changes a WAL database by opening it, and replays any valid log over whatever file stands beside
 * it. So a file that is not ours, or newer than we are, is refused on its first 100 bytes, and a log that
 * belongs to another file, or to this one at another moment, on two numbers in the head of the file:
 *
 *   number  `user_version`, random at first. Raised by the first commit of a log that begins anew, and by a
 *           commit of its own before the log is folded in where others came since. So the pages 1 of a log carry
 *           the numbers first..last, and a fold ends with the last of them at most.
 *   mark    behind the application id, where SQLite looks at nothing: a number and its complement, so that half
 *           of one is none. Synced before a fold with the last number of the log: from then on the file may hold
 *           pages up to that. Page 1 may come over it. Synced with the same number once more after a fold that
 *           left nothing, before the log begins anew.
 *
 * A fold copies pages in their order, but none that stands in the log again behind the fold's end. So either it
 * begins with page 1, and the file has the new number and the mark that the writer knew, an older one; or page 1
 * stays as it was, with the mark of this fold. Hence, of a file:
 *
 *   mark < number   a fold up to `number` was under way
 *   mark = number   it is whole: the state committed last under that number
 *   mark > number   it was whole, and a fold up to `mark` was under way
 *   no mark         one that was never opened; or half of one that the disk refused, beside its log
 *
 * It opens without a log only where it is whole; with one only where that reaches to what the file may hold,
 * and began before the file's number or right after it, when the file was whole. */
#ifndef STORE_STAMP_H
#define STORE_STAMP_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PAGE_BYTES 4096
#define FRAME_BYTES (PAGE_BYTES + 24)
#define LOG_HEAD_BYTES 32

#define FORMAT_VERSION 1
#define APPLICATION_ID 0x464E4300u /* "FNC" and the version of the format in the low byte */

typedef struct stamp {
    bool is_new;         /* no file, or an empty one, or one whose making was cut short */
    bool has_journal;    /* which SQLite rolls back */
    bool marked;         /* the file is */
    uint32_t number;     /* of the newest committed state */
    uint32_t log_frames; /* committed */
} stamp;

/* For xSync of a file. */
#ifdef __APPLE__
#define SYNC_HOW SQLITE_SYNC_FULL
#else
#define SYNC_HOW SQLITE_SYNC_NORMAL
#endif

#define STAMP_AT 60 /* in the file's head */
#define MARK_AT 72
#define MARK_BYTES 8

/* What a file's head says of it. */
typedef struct head_stamp {
    uint32_t number;
    bool marked;
    uint32_t mark; /* where it is */
} head_stamp;

void mark_put(uint8_t out[MARK_BYTES], uint32_t number);
head_stamp head_stamp_of(const uint8_t head[100]);
bool head_is_whole(const head_stamp *h); /* it needs no log */

/* Whether a log whose pages 1 carry first..last belongs to a file with that head. */
bool head_fits(const head_stamp *h, uint32_t first, uint32_t last);

/* `path` is a full path as SQLite will use it. CORRUPT, IO; nothing is changed. */
int stamp_read(stamp *out, sqlite3_vfs *vfs, const char *path, error *err);

/* Marks a file as whole that nobody has open, durably; one that may not be written stays as it is. IO. */
int stamp_mark(sqlite3_vfs *vfs, const char *path, uint32_t number, error *err);

#endif
