/* statement.h - prepared statements of a connection, by operation and table.
 *
 * Prepared once, used again without preparing. A statement is for one state of the schema (conn.schema)
 * and prepared anew in another; that its table is missing is remembered the same way, so that a read of
 * an empty collection prepares nothing. */
#ifndef STORE_STATEMENT_H
#define STORE_STATEMENT_H

#include <sqlite3.h>

#include "store/conn.h"

enum {
    ROW_GET,
    ROW_EXISTS,
    ROW_COUNT,
    ROW_LAST,
    ROW_PUT,
    ROW_DELETE,
    ROWS_DELETE,
    ROWS_UP,
    ROWS_DOWN,
    /* Scans: with bounds or without, with ids or without. */
    ROWS_SCAN,
    ROWS_SCAN_IDS,
    ROWS_SCAN_PART,
    ROWS_SCAN_PART_IDS,
    ROWS_ROOT, /* the page a table made by make_table begins at */
    ROWS_LISTED,
    ENTRIES_SCAN, /* with keys, */
    ENTRIES_SCAN_IDS, /* without */
    ENTRY_FIRST,
    ENTRY_PUT,
    ENTRY_DELETE,
    ENTRIES_OF_KEY,
    /* Entries with the rows they name; the table's `field` is the collection. */
    JOINED_OF_KEY,
    JOINED_FROM_KEY,
    /* Of a range: which bounds there are is added, 0 to 8. */
    ENTRIES_UP,
    ENTRIES_DOWN = ENTRIES_UP + 9,
    ENTRIES_COUNT = ENTRIES_DOWN + 9,
    ENTRIES_COUNT_SOME = ENTRIES_COUNT + 9,
    OPERATIONS = ENTRIES_COUNT_SOME + 9
};

#define SCHEMA_NONE INT64_MIN /* no number that a file's head can hold */

typedef struct statement {
    struct statement *next; /* of its bucket */
    sqlite3_stmt *prepared; /* NULL: the table is missing */
    unsigned operation;
    table t;
    int64_t schema; /* SCHEMA_NONE: not prepared for any yet */
    bool busy;     /* a cursor's */
    uint64_t used; /* statements.uses at its last use */
    uint8_t *copy; /* bytes handed out that must outlive the step */
    size_t copy_cap;
    /* Of gets: where the table begins (page_get.h), 0 where that is not known, or not to be used. */
    uint32_t root;
    int asked; /* gets that would have used it */
} statement;

#define STATEMENT_BUCKETS 128

typedef struct statements {
    statement *buckets[STATEMENT_BUCKETS];
    int count;
    uint64_t uses;
    uint64_t uses_before; /* when the snapshot or block began: what was used since stays */
    bool large;           /* some copy is */
    int busy;             /* how many are a cursor's */
} statements;

/* Bounds of a range as a number to add to the operation; 0: none. */
unsigned statement_bounds(const key_range *range);

/* For a cursor: nobody else's until it is released. */
void statement_claim(conn *c, statement *st);
void statement_release(conn *c, statement *st);

/* One that is not busy. FN_END: the table is missing, and `make` is false. */
int statement_find(conn *c, unsigned operation, table t, bool make, statement **out, error *err);

/* FENEC_OK: a row; FN_END: no more, or the table turned out to be missing. */
int statement_step(conn *c, statement *st, const char *doing, error *err);

/* Bytes that are not copied. SQLite's code. */
int statement_bind(statement *st, int place, const uint8_t *bytes, size_t len);

/* Binds the bounds there are, from place 1 on, copied or not; *next is the free place after them. */
int statement_bind_range(statement *st, const key_range *range, bool copied, int *next);

/* Room for bytes of a row that are then handed out. NULL: no memory. */
uint8_t *statement_room(conn *c, statement *st, size_t len);

/* The blob of a column, copied into the statement. False: no memory. */
bool statement_copy(conn *c, statement *st, int column, const uint8_t **bytes, size_t *len);

int statement_drop_table(conn *c, table t, error *err); /* never made: FENEC_OK */

void statements_begin(statements *all); /* a snapshot or block begins */
void statements_end(statements *all);   /* it is over: gives large memory back, resets what is busy still */
void statements_clear(statements *all);

#endif
