#include "exec/id_set.h"

#include "base/memory.h"

#define CAP_FIRST 64

/* Where the id is, or belongs: at most half of the places are taken. */
static size_t place(const id_set *s, int64_t id)
{
    size_t i = (size_t)((uint64_t)id * 0x9E3779B97F4A7C15u >> 20) & (s->cap - 1);

    while (s->at[i] && s->at[i] != id)
        i = (i + 1) & (s->cap - 1);
    return i;
}

static bool grow(id_set *s)
{
    id_set more = {.count = s->count, .cap = s->cap ? s->cap * 2 : CAP_FIRST};

    if (more.cap > SIZE_MAX / sizeof *more.at)
        return false;
    more.at = memory_zeroed(more.cap * sizeof *more.at);
    if (!more.at)
        return false;
    for (size_t i = 0; i < s->cap; i++)
        if (s->at[i])
            more.at[place(&more, s->at[i])] = s->at[i];
    memory_free(s->at);
    *s = more;
    return true;
}

bool id_set_add(id_set *s, int64_t id)
{
    if (s->count >= s->cap / 2 && !grow(s))
        return false;
    int64_t *at = &s->at[place(s, id)];
    s->count += *at == 0;
    *at = id;
    return true;
}

bool id_set_has(const id_set *s, int64_t id)
{
    return s->count > 0 && s->at[place(s, id)] == id;
}

void id_set_clear(id_set *s)
{
    memory_free(s->at);
    *s = (id_set){0};
}
