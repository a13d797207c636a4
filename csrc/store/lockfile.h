/* lockfile.h - one opener of a database at a time, over all processes: chapter 5 section 5.2.
 *
 * The lock is on `<path>.lock`, a file that is made when missing, never written and left in place. A
 * record lock belongs to the process and goes when *any* descriptor of the file is closed, hence a list of
 * the lock files this process holds, looked up before the file is opened once more. */
#ifndef STORE_LOCKFILE_H
#define STORE_LOCKFILE_H

#include "base/error.h"

typedef struct lockfile lockfile;

/* Never waits. LOCKED: held here or elsewhere; IO: the lock file cannot be made or opened. */
int lockfile_open(lockfile **out, const char *path, error *err);
void lockfile_close(lockfile *l); /* NULL does nothing */

#endif
