/* memory_vfs.h - the SQLite VFS of memory databases: file, log and wal-index on the heap.
 *
 * A database is its name. All connections that open the name share it, one writer and many readers as
 * over files; a lock that is taken answers SQLITE_BUSY at once. It goes when its last connection is
 * closed. Other users of SQLite in the process can open this VFS too, so that a name must not be guessed. */
#ifndef STORE_MEMORY_VFS_H
#define STORE_MEMORY_VFS_H

#define MEMORY_VFS "fenec-memory"
#define MEMORY_VFS_NAME_MAX 48 /* bytes of a name of memory_vfs_name, NUL included */

/* Makes the VFS known to SQLite, not as its default. Any thread, any number of times. SQLITE_OK, or
 * SQLite's code. */
int memory_vfs_register(void);

/* A name no other database has. The VFS must be registered. */
void memory_vfs_name(char out[MEMORY_VFS_NAME_MAX]);

/* Lets go of the database now: an open of the name makes a new one, and the memory goes with the last
 * connection. Nothing where there is no such database. */
void memory_vfs_forget(const char *name);

#endif
