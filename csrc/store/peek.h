/* peek.h - the catalog of a file that may be in use elsewhere: nothing is made, locked or changed.
 *
 * Whoever has a database open has it to itself, its wal-index in its own memory, so SQLite cannot join in.
 * The file is read through a VFS of the call's own instead: pages of the main file, which are kept as they
 * are first read, and a copy of the log that is made after them. While the log's head stays as it is the log
 * only grows, and what was folded into the file before a page was read stands in the copy; what is folded
 * in later is in no page that was kept. So a pass that needs no further page saw one committed state; one
 * that did is followed by another, and a log that began anew by a start from nothing. */
#ifndef STORE_PEEK_H
#define STORE_PEEK_H

#include "base/buffer.h"
#include "store/conn.h"

/* Visits the rows of the catalog table by number. FENEC_OK, also where a visit ended it; IO: no such file,
 * no permission; CORRUPT; PANIC. Not for a file that this process has open: closing a descriptor of it lets
 * go of the process's locks. */
int peek_catalog(const uint8_t *path, size_t path_len, row_visit *visit, void *to, error *err);

#endif
