/* test_vfs.h - a disk in memory that fails when told to and can lose its power.
 *
 * Each disk is an SQLite VFS of its own over the engine's heap VFS. It knows what a power loss leaves:
 * for every file what was synced and, in order, each change since; for the folder the same (made durable
 * by the first sync of a new log or journal, and by a delete that asks for it). */
#ifndef TEST_VFS_H
#define TEST_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test_disk test_disk;

typedef enum disk_call {
    DISK_OPEN,
    DISK_READ,
    DISK_WRITE,
    DISK_TRUNCATE,
    DISK_SYNC,
    DISK_DELETE,
    DISK_LOCK, /* of the file */
    DISK_SHM,  /* maps and locks of the wal-index */
    DISK_CALLS
} disk_call;

test_disk *test_disk_new(void);
void test_disk_free(test_disk *d); /* everything opened on it must be closed; NULL does nothing */
const char *test_disk_vfs(const test_disk *d);

/* ---- faults ---- */

/* The n-th such call from now on (1: the next) on a path with this ending (NULL: any) fails with an SQLite
 * code, and with `forever` all after it. A write that fails writes its first half. What a sync that
 * fails should have made durable no later sync makes durable. One fault for each kind of call. */
void test_disk_fail(test_disk *d, disk_call call, const char *ending, long n, int code, bool forever);
void test_disk_heal(test_disk *d); /* no faults any more */

long test_disk_calls(test_disk *d, disk_call call);  /* so far */
long test_disk_faults(test_disk *d, disk_call call); /* how many of them failed as told */

void test_disk_sync_ms(test_disk *d, unsigned ms); /* each sync takes that long */

/* Called before each write, truncate, sync and delete takes effect, on its thread; it may cut. */
typedef void (*disk_hook)(void *argument, disk_call call, const char *path);
void test_disk_hook(test_disk *d, disk_hook hook, void *argument);

/* ---- loss of power ---- */

typedef enum disk_loss {
    LOSE_NOTHING, /* the process was killed */
    LOSE_ALL,     /* everything not synced */
    LOSE_SOME     /* of it any 512-byte sectors, sizes and names */
} disk_loss;

/* The disk as a loss of power at this moment leaves it, as a new one. */
test_disk *test_disk_cut(test_disk *d, disk_loss loss, uint64_t *random);

/* A file's bytes to free, NULL where there is none; and a file made of bytes, synced. */
uint8_t *test_disk_get(test_disk *d, const char *path, size_t *len);
void test_disk_put(test_disk *d, const char *path, const uint8_t *bytes, size_t len);

int64_t test_disk_size(test_disk *d, const char *path); /* -1: no such file */

#endif
