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

/* Of a database. One build at a time: `building` comes before the writer's lock. */
typedef struct unbuilt {
    lock building;
    _Atomic(bool) any; /* a text has to look */
} unbuilt;

bool unbuilt_init(unbuilt *u); /* false: no memory */
void unbuilt_clear(unbuilt *u);

/* What an open found. */
void unbuilt_note(unbuilt *u, const catalog *cat);

/* Builds those of the collections that the text names, where it reads. What fails leaves them unbuilt. */
void unbuilt_read(unbuilt *u, writer *w, const parsed *p, const uint8_t *text, size_t len, struct scratch *memory);

/* Builds those of the collections and fields that `only` names, separated by commas; all where it is empty. */
int unbuilt_warm(unbuilt *u, writer *w, const uint8_t *only, size_t len, struct scratch *memory, int64_t *built,
                 error *err);

#endif
