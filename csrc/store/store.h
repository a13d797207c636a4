/* store.h - one database file (or memory), its one writer and its pool of readers.
 *
 * SQLite is pager, B-tree and log; what stands in the tables is ours. A `conn` is a connection inside a
 * snapshot (store_read) or inside a block (store_write); rows and index entries are reached through it
 * (conn.h). Nothing above this folder sees SQLite.
 *
 * Besides rows a database has state that is immutable and shared - the catalog, search state. It is a
 * `version`, published with the commit: a snapshot hands out rows and version of one committed state.
 *
 * A thread is inside one snapshot or one block at a time, and waits for a ticket outside of both: a
 * checkpoint waits for short reads, and a read may wait for other reads.
 *
 * Order of locks: LOCK_WRITER, LOCK_DURABLE, LOCK_PUBLISH, LOCK_POOL. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct store store;
typedef struct conn conn;

/* Head of whatever is published. `free` runs when the last reference goes, on any thread. */
typedef struct version {
    _Atomic(long) references;
    void (*free)(struct version *);
} version;

version *version_keep(version *v); /* NULL does nothing */
void version_drop(version *v);

typedef struct store_options {
    const uint8_t *path; /* valid UTF-8; NULL: a memory database */
    size_t path_len;
    bool no_sync;
    const char *vfs; /* tests: the name of a registered SQLite VFS, for a database without a lock file */
} store_options;

/* Opens or creates. LOCKED, IO, CORRUPT as chapter 5 section 5 has it; what is refused is left as it was.
 * The caller then loads its first version through store_write and publishes it. */
int store_open(store **out, const store_options *options, error *err);

/* Waits for reads and writes in flight, commits and syncs what is buffered, closes file and lock. The
 * store is closed whatever this answers (IO); later calls on it answer MISUSE "the database was closed".
 * store_free releases the memory once no call is in flight any more. */
int store_close(store *s, error *err);
void store_free(store *s);

/* A snapshot: everything read through *out is of one committed state, whose version is *v (kept until
 * store_read_end). What a NO_SYNC database has buffered is committed first, for which the block under way
 * has to end; else no read waits for a block or a sync. MISUSE when closed or in a forked child; IO; PANIC. */
int store_read(store *s, conn **out, version **v, error *err);
void store_read_end(conn *c);

/* Closes the connections of reads that nobody needed since the last time. No lock may be held. */
void store_trim(store *s);

/* The snapshot is a long one: no checkpoint waits for it. */
void store_read_long(conn *c);

/* Begins a block: waits for the writer's lock. *v is the version of the latest block, borrowed until the
 * block ends. `undo`: the block may have to be put back after it wrote; without it a rollback is right
 * only before the first write (a single put that was checked whole). IO: writes are refused since a
 * storage error. */
int store_write(store *s, bool undo, conn **out, version **v, error *err);

/* As store_write with `undo`, for a block that writes no row and only publishes a version: begins where writes
 * are refused too, so that what reads need can still be read from the file. */
int store_write_still(store *s, conn **out, version **v, error *err);
bool store_write_refused(const conn *c); /* whether it began so */

/* Lands the block and lets the lock go. `next` (its reference passes to the store) is published with it;
 * NULL leaves the version as it is. *ticket is for store_wait; 0 where nothing was written. On failure
 * the block is put back, `next` dropped, the lock let go. */
int store_write_commit(conn *c, version *next, uint64_t *ticket, error *err);
void store_write_rollback(conn *c);

/* The two halves of store_write_commit: between them the block has landed, or was put back, and the lock is
 * still held. No row may be reached any more. */
int store_write_land(conn *c, version *next, uint64_t *ticket, error *err);
void store_write_leave(conn *c);

/* Puts back what the block wrote since `mark`; the block goes on. */
int store_savepoint(conn *c, error *err);
int store_savepoint_undo(conn *c, error *err);

/* Lets the blocks go first that wait for the writer's lock now: for those who take it again and again, in
 * short blocks, behind everybody else. No lock may be held. */
void store_give_way(store *s);

/* Waits until the block of that ticket is durable, syncing for everybody who has landed where nobody else
 * is at it. Does nothing for 0, NO_SYNC and memory. No lock may be held. IO: then and from now on. */
int store_wait(store *s, uint64_t ticket, error *err);

int store_sync(store *s, error *err);       /* everything so far durable */
int store_flush(store *s, error *err);      /* everything so far with the operating system */
int store_checkpoint(store *s, error *err); /* log folded into the file, free pages given back, durable */

/* Gives free pages back to the file system in short write transactions; *bytes is what the file lost. */
int store_shrink(store *s, uint64_t *bytes, error *err);

/* Of the state that the block or snapshot sees: bytes of the file, and how many of them are free pages. */
int store_weigh(conn *c, uint64_t *file, uint64_t *dead, error *err);

/* Bytes of the main file and of its log, as the file system tells; 0 for memory. */
void store_sizes(store *s, uint64_t *file, uint64_t *log);

bool store_is_memory(const store *s);

/* MISUSE in a child of the process that opened it. */
int store_check_fork(const store *s, error *err);

#endif
