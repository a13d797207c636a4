/* database.h - an open database: what the C interface runs, without handles and without JSON of errors. */
#ifndef EXEC_DATABASE_H
#define EXEC_DATABASE_H

#include "base/buffer.h"
#include "base/error.h"
#include "exec/check.h"
#include "store/store.h"

typedef struct database database;

/* path NULL: a memory database. flags are fenec_open's. */
int database_open(database **out, const uint8_t *path, size_t path_len, uint32_t flags, error *err);

/* Over a store opened so: tests name a VFS. */
int database_open_with(database **out, const store_options *options, error *err);

/* Waits for calls in flight and closes; later calls answer MISUSE "the database was closed". */
int database_close(database *d, error *err);
void database_free(database *d); /* after close, when no call is in flight */

/* fenec_query: text and params are valid UTF-8, vectors as they came. Appends the answer. On failure *out
 * is to be thrown away. err->at is set where the text has two or more statements. */
int database_query(database *d, const uint8_t *text, size_t text_len, const uint8_t *params, size_t params_len,
                   const uint8_t *vectors, size_t vectors_len, buffer *out, error *err);

/* A text of a block that comes piece by piece, with its parameters: valid UTF-8, its owner's until the next
 * piece is asked for. */
typedef struct piece {
    const uint8_t *text;
    size_t text_len;
    const uint8_t *params;
    size_t params_len;
} piece;

/* FENEC_OK and the next piece; FN_END after the last; any other code, with *err filled, ends the block. */
typedef int (*piece_source)(void *from, piece *out, error *err);

/* Runs the pieces as one block, under the writer's lock from the first to the last: an import then needs
 * no more memory than a piece of it. What fails puts everything back. Nothing of the same thread may use
 * the database meanwhile. */
int database_block(database *d, piece_source next, void *from, error *err);

/* fenec_schema: text is valid UTF-8, mode one of FENEC_SCHEMA_*. Appends the answer. */
int database_schema(database *d, const uint8_t *text, size_t text_len, uint32_t mode, buffer *out, error *err);

/* The description of a file that may be in use elsewhere, which is not touched: see store/peek.h. */
int database_peek(const uint8_t *file, size_t file_len, buffer *out, error *err);

/* Whether everything agrees (check.h), as of one committed state; reads and writes go on beside it. */
int database_check(database *d, const check_watch *watch, check_report *out, error *err);

/* A copy of one committed state as a file of its own, which opens anywhere; reads and writes go on beside it.
 * The records are checked as they are copied: CORRUPT, after the watch was told of them, where one is damaged,
 * and there is no copy then. IO: the file is there and not to be replaced, or cannot be written; LOCKED: it is a
 * database that is open. */
int database_backup(database *d, const uint8_t *file, size_t len, bool replace, const check_watch *watch,
                    backup_report *out, error *err);

/* Every index is built anew. One that cannot be, because a value that is to be unique stands twice, goes: the watch
 * is told. For a file that nobody else uses meanwhile. */
int database_rebuild(database *d, const check_watch *watch, error *err);

int database_changes(database *d, uint64_t since, buffer *out, error *err);
int database_sync(database *d, error *err);
int database_flush(database *d, error *err);
int database_checkpoint(database *d, error *err);

/* What an open file does every five seconds, unless opened with NO_AUTO_COMPACT: see compact_look. */
void database_look(database *d, uint64_t memory);

int database_warm(database *d, const uint8_t *only, size_t only_len, buffer *out, error *err);

#endif
