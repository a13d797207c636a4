/* sqlite_error.h - the one place where a result of SQLite becomes a code of ours.
 *
 *   full, ioerr, readonly, cantopen, perm, auth  IO
 *   corrupt, notadb, format                      CORRUPT
 *   busy, locked, protocol                       IO: waited for as long as it makes sense before
 *   nomem                                        PANIC
 *   toobig                                       QUERY
 *   anything else                                PANIC: a mistake of ours */
#ifndef STORE_SQLITE_ERROR_H
#define STORE_SQLITE_ERROR_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

/* The code for a result that is not SQLITE_OK, with "<doing>: <why>" in *err. `db` may be NULL. */
int sqlite_fail(error *err, int rc, sqlite3 *db, const char *doing);

/* Whether the disk refused to take something, so that what the file holds is no longer known: no read
 * that failed, no lack of memory. */
bool sqlite_refused_write(int rc);

#endif
