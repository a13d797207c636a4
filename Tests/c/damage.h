/* damage.h - damage to a database's file that knows its form: what noise hits only once in a long while.
 *
 * In pages: children that lead back up, chains of overflow pages that lead into themselves, lists of free pages without
 * end, parents that are none, lengths no file could hold, cells of each other. In rows: any bytes in any row
 * of any table, with the checksum that makes them look sound. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test_vfs.h"

#define DAMAGE_PAGE 4096
#define DAMAGE_KINDS 12 /* of pages */

/* One thing in a file of whole pages; what, in `how`. False: the file has nothing of that kind. */
bool damage_pages(uint8_t *bytes, size_t len, int kind, uint64_t *random, char how[160]);

/* Some rows of a database that nobody has open. False: SQLite does not open it. */
bool damage_rows(test_disk *d, const char *path, uint64_t *random, char how[160]);

#endif
