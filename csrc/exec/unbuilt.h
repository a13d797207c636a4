/* unbuilt.h - indexes that a file declares and has no entries of, or has them in another order: of a kind, a
 * collation or a version of its rules that was not there when it was last open (INDEX_UNBUILT).
 *
 * The first text that reads their collection builds them before it runs, fenec_warm ahead of it, in short
 * blocks, so that a writer waits for one of them at most. Until then, and where a build fails, rows are found
 * without them. */
#ifndef EXEC_UNBUILT_H
#define EXEC_UNBUILT_H

#include <stdatomic.h>

#include "base/thread.h"
#include "exec/block.h"
#include "ql/parser.h"

/* Of a database. One build at a time, and one search index read into memory: both locks come before the writer's, and
 * nobody has both. */
typedef struct unbuilt {
    lock building, reading;
    _Atomic(bool) any; /* a text has to look */
} unbuilt;

bool unbuilt_init(unbuilt *u); /* false: no memory */
void unbuilt_clear(unbuilt *u);

/* What an open found. */
void unbuilt_note(unbuilt *u, const catalog *cat);

/* Whether an index is among those that a list of collections and fields names; all are where it is empty. */
bool unbuilt_names(const uint8_t *only, size_t len, const collection *of, const catalog_index *x);

/* A search index that is damaged: is built anew, before this is over. */
int unbuilt_rebuild(unbuilt *u, writer *w, uint32_t of, uint32_t index, struct scratch *memory, error *err);

/* The same, left to the next text that reads: for a thread that serves nobody. */
void unbuilt_lose(unbuilt *u, writer *w, uint32_t of, uint32_t index, struct scratch *memory);

/* Builds those of the collections that the text names, where it reads. What fails leaves them unbuilt. */
void unbuilt_read(unbuilt *u, writer *w, const parsed *p, const uint8_t *text, size_t len, struct scratch *memory);

/* Builds those of the collections and fields that `only` names, separated by commas; all where it is empty. */
int unbuilt_warm(unbuilt *u, writer *w, const uint8_t *only, size_t len, struct scratch *memory, int64_t *built,
                 error *err);

#endif
