#include "exec/scratch.h"

#include "base/memory.h"

void scratch_free(scratch *s)
{
    arena_clear(&s->memory);
    arena_clear(&s->rows);
    row_keys_clear(&s->keys);
    changes_clear(&s->noted);
    memory_free(s->parts);
    memory_free(s);
}

scratch *scratch_new(void)
{
    scratch *s = memory_zeroed(sizeof *s);

    if (!s)
        return NULL;
    arena_init(&s->memory);
    arena_init(&s->rows);
    row_keys_init(&s->keys);
    changes_init(&s->noted);
    /* The first chunk is the one that is kept: a small one, whatever this call asks for first. */
    if (!arena_alloc(&s->memory, 1) || !arena_alloc(&s->rows, 1)) {
        scratch_free(s);
        return NULL;
    }
    return s;
}
