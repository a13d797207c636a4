/* integrity.h - what SQLite says of the pages of a file, and which tables the file has. */
#ifndef STORE_INTEGRITY_H
#define STORE_INTEGRITY_H

#include "store/conn.h"

/* A line that says what is wrong; bytes that are no UTF-8 are possible. */
typedef void integrity_visit(void *to, const char *line);

/* Every page of the snapshot. CORRUPT, IO where the look itself cannot go on. */
int integrity_pages(conn *c, integrity_visit *visit, void *to, error *err);

/* A table or other thing of the file's schema: *t is what it is to us, NULL where it is none of ours. */
typedef void integrity_table_visit(void *to, const char *name, const table *t);

int integrity_tables(conn *c, integrity_table_visit *visit, void *to, error *err);

/* What a table's name says: false where no table of ours is called so. */
bool table_named(const char *name, table *out);

#endif
