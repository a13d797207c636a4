/* stamp.h - looks at a database file and its log before SQLite does.
 *
 * SQLite changes a WAL database by opening it, and replays any valid log over whatever file stands beside
 * it. So a file that is not ours, or newer than we are, is refused on its first 100 bytes, and a log that
 * belongs to another file on its stamps: `user_version` starts at a random number and the first block
 * after each complete checkpoint raises it by one. The pages 1 in a log therefore carry the numbers
 * first..last, and the file it belongs to one of first-1..last. */
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
    uint32_t number;     /* of the newest committed state */
    uint32_t log_frames; /* committed */
} stamp;

/* `path` is a full path as SQLite will use it. CORRUPT, IO; nothing is changed. */
int stamp_read(stamp *out, sqlite3_vfs *vfs, const char *path, error *err);

#endif
