/* copy.h - a file that is there whole or not at all, and a copy of a snapshot as such a file.
 *
 * It is written beside its place under a name of its own, synced and moved there. A database copied so has a
 * stamp (stamp.h) of its own: a log that is left from whatever stood in that place belongs to it no more than to
 * any other file, and is refused. */
#ifndef STORE_COPY_H
#define STORE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/conn.h"
#include "store/lockfile.h"

/* A file on its way; starts as {0}. */
typedef struct fresh_file {
    char *path;    /* its place, symbolic links not followed */
    char *written; /* where it is until then */
    bool replace;
    lockfile *lock; /* of what it replaces */
} fresh_file;

/* Nothing is there yet under either name but, with `replace`, a file that is no open database. IO: something
 * is there that is not to be replaced, or cannot be; LOCKED: a database that is open. */
int fresh_file_begin(fresh_file *f, const uint8_t *path, size_t len, bool replace, error *err);

/* Puts it in its place, durable; a database (whose name it was written under is closed) gets its stamp first. */
int fresh_file_land(fresh_file *f, bool database, error *err);

/* Ends it, landed or not: nothing is left under the other name. {0} too. */
void fresh_file_end(fresh_file *f);

/* Told how many pages are done; false ends the copy, which then answers FN_END. */
typedef bool copy_progress(void *to, int64_t done, int64_t of);

/* The pages of the snapshot into that file, which is to be landed. *bytes is its size. */
int copy_snapshot(conn *from, const fresh_file *f, copy_progress *goes_on, void *to, int64_t *bytes, error *err);

#endif
