/* arena.h - memory that goes all at once: of a call, of a parsed text, of a catalog version. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct arena_chunk arena_chunk;

typedef struct arena {
    arena_chunk *head;
    uint8_t *at, *end; /* free bytes of the head */
} arena;

/* A place to rewind to. */
typedef struct arena_mark {
    arena_chunk *head;
    uint8_t *at;
} arena_mark;

void arena_init(arena *a);  /* allocates nothing */
void arena_clear(arena *a); /* frees everything; the arena may be used again */
void arena_reset(arena *a); /* forgets everything, keeps one chunk for the next call */

/* `len` bytes aligned for any type, or NULL where memory ran out. Zeroed by the second. */
void *arena_alloc(arena *a, size_t len);
void *arena_zeroed(arena *a, size_t len);

/* A copy of bytes[0..len) with a NUL after it (not counted), or NULL. */
void *arena_copy(arena *a, const void *bytes, size_t len);

/* What was allocated after the mark is given back: temporaries of one row. */
arena_mark arena_here(const arena *a);
void arena_rewind(arena *a, arena_mark mark);

#endif
