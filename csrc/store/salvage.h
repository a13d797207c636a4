/* salvage.h - rows of a database file that may be damaged anywhere, read off its pages without SQLite.
 *
 * The file and its log are read and nothing else. Which table a page is of is found twice: by walking each table
 * down from its root, and, for pages that no walk met because one above them is damaged, by the map of parents
 * that the file keeps (auto_vacuum). Pages that are free are left out: what is on them was deleted.
 *
 * Not for a file that this process has open. */
#ifndef STORE_SALVAGE_H
#define STORE_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/conn.h"

typedef struct salvage salvage;

/* A table, or what is left of one. */
typedef struct salvage_table {
    char name[48];   /* "page 7" where its name is lost */
    bool known;      /* its name is, and `t` what it says */
    table t;
    uint32_t root;
} salvage_table;

/* What cannot be read: a page, with the ids that stood on it where these are known. */
typedef struct salvage_hole {
    const salvage_table *of; /* NULL: the file as a whole */
    bool ranged;             /* ids from `low` to `high`, as far as is known */
    int64_t low, high;
    uint32_t page;
    const char *what;
} salvage_hole;

typedef void salvage_tell(void *to, const salvage_hole *hole);

/* Finds out whose pages are whose. `tell` is kept. IO: no such file, no permission, a disk that does not answer at
 * all; LOCKED: it is open; PANIC. */
int salvage_open(salvage **out, const uint8_t *path, size_t len, salvage_tell *tell, void *to, error *err);
void salvage_close(salvage *s); /* NULL does nothing */

uint32_t salvage_pages(const salvage *s);
uint32_t salvage_table_count(const salvage *s);
const salvage_table *salvage_table_at(const salvage *s, uint32_t n);

#define SALVAGE_STRAYS UINT32_MAX /* rows on pages of no table that is known */

/* Every row of a table, by page. The visit's bytes last for the call; false ends it (FN_END). */
typedef bool salvage_visit(void *to, uint32_t page, int64_t id, const uint8_t *bytes, size_t len);

int salvage_rows(salvage *s, uint32_t which, salvage_visit *visit, void *to, error *err);

#endif
