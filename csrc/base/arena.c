#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/memory.h"

#define CHUNK_LEN 4096u
#define CHUNK_MAX (1u << 20)

struct arena_chunk {
    arena_chunk *before;
    size_t len; /* bytes after this header */
    alignas(max_align_t) uint8_t bytes[];
};

void arena_init(arena *a)
{
    *a = (arena){0};
}

static void free_until(arena *a, arena_chunk *keep)
{
    while (a->head != keep) {
        arena_chunk *gone = a->head;
        a->head = gone->before;
        memory_free(gone);
    }
}

void arena_clear(arena *a)
{
    free_until(a, NULL);
    a->at = a->end = NULL;
}

void arena_reset(arena *a)
{
    if (!a->head)
        return;
    arena_chunk *first = a->head;
    while (first->before)
        first = first->before;
    free_until(a, first);
    a->at = first->bytes;
    a->end = first->bytes + first->len;
}

void *arena_alloc(arena *a, size_t len)
{
    const size_t align = alignof(max_align_t);

    if (len > SIZE_MAX / 2)
        return NULL;
    len = len ? (len + align - 1) / align * align : align; /* NULL means no memory, and that alone */
    if ((size_t)(a->end - a->at) < len) {
        /* Chunks double, so that a long call makes few of them. */
        size_t room = a->head ? a->head->len * 2 : CHUNK_LEN - sizeof(arena_chunk);
        if (room > CHUNK_MAX)
            room = CHUNK_MAX;
        if (room < len)
            room = len;
        arena_chunk *chunk = memory_alloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        chunk->before = a->head;
        chunk->len = room;
        a->head = chunk;
        a->at = chunk->bytes;
        a->end = chunk->bytes + room;
    }
    void *out = a->at;
    a->at += len;
    return out;
}

void *arena_zeroed(arena *a, size_t len)
{
    void *out = arena_alloc(a, len);
    return out ? memset(out, 0, len) : NULL;
}

void *arena_copy(arena *a, const void *bytes, size_t len)
{
    uint8_t *out = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

    if (!out)
        return NULL;
    if (len)
        memcpy(out, bytes, len);
    out[len] = 0;
    return out;
}

arena_mark arena_here(const arena *a)
{
    return (arena_mark){.head = a->head, .at = a->at};
}

void arena_rewind(arena *a, arena_mark mark)
{
    free_until(a, mark.head);
    a->at = mark.at;
    a->end = a->head ? a->head->bytes + a->head->len : NULL;
}
