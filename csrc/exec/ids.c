#include "exec/ids.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

void ids_clear(ids *l)
{
    memory_free(l->at);
    *l = (ids){0};
}

static int make_room(ids *l, size_t cap, error *err)
{
    int64_t *grown = cap <= SIZE_MAX / sizeof *grown ? memory_resize(l->at, cap * sizeof *grown) : NULL;

    if (!grown)
        return fail_memory(err);
    l->at = grown;
    l->cap = cap;
    return FENEC_OK;
}

int ids_add(ids *l, int64_t id, error *err)
{
    if (l->count == l->cap) {
        int rc = make_room(l, l->cap ? l->cap * 2 : 64, err);
        if (rc)
            return rc;
    }
    l->at[l->count++] = id;
    return FENEC_OK;
}

int ids_append(ids *l, const ids *more, error *err)
{
    if (!more->count)
        return FENEC_OK;
    if (l->cap - l->count < more->count) {
        int rc = make_room(l, l->count + more->count, err);
        if (rc)
            return rc;
    }
    memcpy(l->at + l->count, more->at, more->count * sizeof *more->at);
    l->count += more->count;
    return FENEC_OK;
}

/* By bytes, the lowest first; a byte all ids share is passed over. */
void ids_sort(int64_t at[], size_t count, int64_t spare[])
{
    const uint64_t sign = (uint64_t)1 << 63;
    int64_t *from = at, *to = spare;

    if (count < 64) {
        for (size_t i = 1; i < count; i++) {
            int64_t moved = at[i];
            size_t place = i;
            for (; place > 0 && at[place - 1] > moved; place--)
                at[place] = at[place - 1];
            at[place] = moved;
        }
        return;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t starts[257] = {0};
        bool shared = false;
        for (size_t i = 0; i < count; i++)
            starts[(((uint64_t)from[i] ^ sign) >> shift & 0xFF) + 1]++;
        for (unsigned byte = 1; byte <= 256; byte++) {
            shared |= starts[byte] == count;
            starts[byte] += starts[byte - 1];
        }
        if (shared)
            continue;
        for (size_t i = 0; i < count; i++)
            to[starts[((uint64_t)from[i] ^ sign) >> shift & 0xFF]++] = from[i];
        int64_t *other = from;
        from = to;
        to = other;
    }
    if (from != at)
        memcpy(at, from, count * sizeof *at);
}

static bool is_ordered(const ids *l)
{
    size_t i = 1;

    while (i < l->count && l->at[i - 1] < l->at[i])
        i++;
    return i >= l->count;
}

int ids_order(ids *l, error *err)
{
    size_t kept = 0;

    if (is_ordered(l))
        return FENEC_OK;
    int64_t *spare = memory_alloc(l->count * sizeof *spare);
    if (!spare)
        return fail_memory(err);
    ids_sort(l->at, l->count, spare);
    memory_free(spare);
    for (size_t i = 0; i < l->count; i++)
        if (kept == 0 || l->at[kept - 1] != l->at[i])
            l->at[kept++] = l->at[i];
    l->count = kept;
    return FENEC_OK;
}
