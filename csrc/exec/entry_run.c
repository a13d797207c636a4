#include "exec/entry_run.h"

#include <stdlib.h>

#include "base/memory.h"

void entry_run_init(entry_run *r)
{
    *r = (entry_run){0};
    buffer_init(&r->bytes);
}

void entry_run_clear(entry_run *r)
{
    memory_free(r->entries);
    buffer_clear(&r->bytes);
    entry_run_init(r);
}

static uint64_t head_of(const uint8_t *key, size_t len)
{
    uint64_t head = 0;

    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (i < len ? key[i] : 0);
    return head;
}

int entry_run_add(entry_run *r, const uint8_t *key, size_t len, int64_t id, error *err)
{
    if (r->count == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 256;
        entry *more = cap <= SIZE_MAX / sizeof *more ? memory_resize(r->entries, cap * sizeof *more) : NULL;
        if (!more)
            return fail_memory(err);
        r->entries = more;
        r->cap = cap;
    }
    r->entries[r->count] = (entry){.head = head_of(key, len), .id = id, .at = r->bytes.len, .len = (uint32_t)len};
    buffer_put(&r->bytes, key, len);
    if (r->bytes.failed)
        return fail_memory(err);
    r->count++;
    return FENEC_OK;
}

size_t entry_run_size(const entry_run *r)
{
    return r->count * sizeof *r->entries + r->bytes.len;
}

/* ---- order ---- */

static bool is_after(const entry_run *r, const entry *a, const entry *b)
{
    if (a->head != b->head)
        return a->head > b->head;
    size_t len = a->len < b->len ? a->len : b->len;
    int order = memcmp(r->bytes.bytes + a->at, r->bytes.bytes + b->at, len);
    if (order != 0)
        return order > 0;
    return a->len != b->len ? a->len > b->len : a->id > b->id;
}

/* The entry at `i` of a heap of `count` sinks to its place. */
static void sink(entry_run *r, size_t i, size_t count)
{
    entry held = r->entries[i];

    for (size_t below; (below = 2 * i + 1) < count; i = below) {
        if (below + 1 < count && is_after(r, &r->entries[below + 1], &r->entries[below]))
            below++;
        if (!is_after(r, &r->entries[below], &held))
            break;
        r->entries[i] = r->entries[below];
    }
    r->entries[i] = held;
}

/* In place: a build has its memory bounded by what it gathers. */
void entry_run_sort(entry_run *r)
{
    for (size_t i = r->count / 2; i > 0; i--)
        sink(r, i - 1, r->count);
    for (size_t end = r->count; end > 1; end--) {
        entry largest = r->entries[0];
        r->entries[0] = r->entries[end - 1];
        r->entries[end - 1] = largest;
        sink(r, 0, end - 1);
    }
}
