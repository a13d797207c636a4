#include "exec/sort.h"

#include <string.h>

#include "base/memory.h"

struct sort_entry {
    int64_t id;
    value keys[];
};

enum {
    GARBAGE_MAX = 1 << 20, /* a heap whose entries were replaced is copied anew once this much is garbage */
    FEW = 16               /* sorted by insertion, without memory */
};

void sorter_init(sorter *s, const sort_by by[], uint32_t key_count, uint64_t keep)
{
    *s = (sorter){.by = by, .key_count = key_count, .keep = keep};
    arena_init(&s->slots);
    arena_init(&s->bytes);
}

void sorter_clear(sorter *s)
{
    memory_free(s->entries);
    arena_clear(&s->slots);
    arena_clear(&s->bytes);
    s->entries = NULL;
    s->count = s->cap = 0;
}

void sorter_reset(sorter *s, uint64_t keep)
{
    arena_reset(&s->slots);
    arena_reset(&s->bytes);
    s->count = 0;
    s->used = s->garbage = 0;
    s->is_heap = false;
    s->keep = keep;
}

static int order_of(const sorter *s, int64_t a_id, const value *a, int64_t b_id, const value *b)
{
    for (uint32_t i = 0; i < s->key_count; i++) {
        int order = value_compare_in(s->by[i].collate, &a[i], &b[i]);
        if (order)
            return s->by[i].descending ? -order : order;
    }
    return (a_id > b_id) - (a_id < b_id);
}

static int order_entries(const sorter *s, const sort_entry *a, const sort_entry *b)
{
    return order_of(s, a->id, a->keys, b->id, b->keys);
}

static bool borrows(const value *v)
{
    return v->kind >= VALUE_TEXT && v->kind != VALUE_POINT;
}

static bool copy_keys(sorter *s, const value *from, value *to)
{
    for (uint32_t i = 0; i < s->key_count + s->carried; i++) {
        const value v = from[i];
        to[i] = v;
        if (!borrows(&v))
            continue;
        if (!value_copy(&s->bytes, &v, &to[i]))
            return false;
        s->used += v.len;
    }
    return true;
}

static void sink(const sorter *s, size_t at)
{
    sort_entry *moved = s->entries[at];
    size_t child;

    while ((child = 2 * at + 1) < s->count) {
        if (child + 1 < s->count && order_entries(s, s->entries[child], s->entries[child + 1]) < 0)
            child++;
        if (order_entries(s, s->entries[child], moved) <= 0)
            break;
        s->entries[at] = s->entries[child];
        at = child;
    }
    s->entries[at] = moved;
}

static bool grow(sorter *s)
{
    size_t cap = s->cap ? s->cap * 2 : 64;
    sort_entry **grown;

    if (cap > SIZE_MAX / sizeof *grown)
        return false;
    grown = memory_resize(s->entries, cap * sizeof *grown);
    if (!grown)
        return false;
    s->entries = grown;
    s->cap = cap;
    return true;
}

/* Copies what the entries point to into an arena of its own and lets the old one go. */
static bool tidy(sorter *s)
{
    arena old = s->bytes;

    arena_init(&s->bytes);
    s->used = s->garbage = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!copy_keys(s, s->entries[i]->keys, s->entries[i]->keys)) {
            arena_clear(&old); /* the entries before it are lost: the caller gives the sort up */
            s->count = 0;
            return false;
        }
    arena_clear(&old);
    return true;
}

/* The heap is full: an entry that comes before its last takes that one's place. */
static int replace_last(sorter *s, int64_t id, const value *keys, error *err)
{
    sort_entry *top = s->entries[0];

    if (order_of(s, id, keys, top->id, top->keys) >= 0)
        return FENEC_OK;
    for (uint32_t i = 0; i < s->key_count + s->carried; i++)
        if (borrows(&top->keys[i]))
            s->garbage += top->keys[i].len;
    top->id = id;
    if (!copy_keys(s, keys, top->keys))
        return fail_memory(err);
    sink(s, 0);
    if (s->garbage > GARBAGE_MAX && s->garbage > s->used / 2 && !tidy(s))
        return fail_memory(err);
    return FENEC_OK;
}

int sorter_add(sorter *s, int64_t id, const value keys[], error *err)
{
    if (s->count >= s->keep) {
        return s->count ? replace_last(s, id, keys, err) : FENEC_OK;
    }
    if (s->count == s->cap && !grow(s))
        return fail_memory(err);
    sort_entry *e = arena_alloc(&s->slots, sizeof *e + sizeof *keys * (s->key_count + s->carried));
    if (!e)
        return fail_memory(err);
    e->id = id;
    if (!copy_keys(s, keys, e->keys))
        return fail_memory(err);
    s->entries[s->count++] = e;
    if (s->count >= s->keep) {
        for (size_t i = s->count / 2; i-- > 0;)
            sink(s, i);
        s->is_heap = true;
    }
    return FENEC_OK;
}

bool sorter_takes(const sorter *s, const value keys[])
{
    if (!s->is_heap)
        return s->keep > 0;
    return order_of(s, INT64_MAX, keys, s->entries[0]->id, s->entries[0]->keys) < 0;
}

const value *sorter_last(const sorter *s)
{
    return s->is_heap ? s->entries[0]->keys : NULL;
}

static void merge(const sorter *s, sort_entry **from, size_t middle, size_t end, sort_entry **to)
{
    size_t left = 0, right = middle;

    for (size_t i = 0; i < end; i++) {
        bool take_left = left < middle && (right >= end || order_entries(s, from[left], from[right]) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

int sorter_finish(sorter *s, error *err)
{
    if (s->count <= FEW) {
        for (size_t i = 1; i < s->count; i++) {
            sort_entry *moved = s->entries[i];
            size_t at = i;
            for (; at > 0 && order_entries(s, s->entries[at - 1], moved) > 0; at--)
                s->entries[at] = s->entries[at - 1];
            s->entries[at] = moved;
        }
        return FENEC_OK;
    }
    sort_entry **spare = memory_alloc(s->count * sizeof *spare), **from = s->entries, **to = spare;
    if (!spare)
        return fail_memory(err);
    for (size_t width = 1; width < s->count; width *= 2) {
        for (size_t at = 0; at < s->count; at += 2 * width) {
            size_t left = s->count - at;
            merge(s, from + at, width < left ? width : left, 2 * width < left ? 2 * width : left, to + at);
        }
        sort_entry **other = from;
        from = to;
        to = other;
    }
    s->entries = from;
    s->cap = s->count;
    memory_free(to);
    return FENEC_OK;
}

int64_t sorter_id(const sorter *s, size_t place)
{
    return s->entries[place]->id;
}

const value *sorter_carried(const sorter *s, size_t place)
{
    return s->entries[place]->keys + s->key_count;
}
