/* page_get.h - a row by its id off the pages of its table, without SQLite's machine and from pages that stay
 * over commits (page_cache.h).
 *
 * Only for a reader in its snapshot. Whatever is not exactly as it should be ends as unsure, and the caller
 * goes through SQLite, which then finds and names what is wrong. */
#ifndef STORE_PAGE_GET_H
#define STORE_PAGE_GET_H

#include "store/conn.h"
#include "store/statement.h"

typedef enum get_end {
    GET_UNSURE, /* ask SQLite */
    GET_FOUND,
    GET_NONE,
    GET_FAILED /* with *rc of SQLite, which may have put the read transaction back */
} get_end;

/* The row of st's table, its bytes copied into st. */
get_end page_get(conn *c, statement *st, int64_t id, const uint8_t **bytes, size_t *len, int *rc);

#endif
