#include "search/term_counts.h"

#include <stdatomic.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/varint.h"
#include "search/row_cache.h"

/* One term as it stands in the bytes. */
typedef struct standing {
    const uint8_t *bytes;
    size_t len;
    int64_t count;
} standing;

static bool read_term(const uint8_t **at, const uint8_t *end, standing *s)
{
    uint64_t len, count;

    if (!varint_get(at, end, &len) || len == 0 || len > (uint64_t)(end - *at))
        return false;
    s->bytes = *at;
    s->len = (size_t)len;
    *at += len;
    if (!varint_get(at, end, &count) || count == 0 || count > UINT32_MAX)
        return false;
    s->count = (int64_t)count;
    return true;
}

static void write_term(buffer *out, const uint8_t *bytes, size_t len, int64_t count)
{
    varint_put(out, len);
    buffer_put(out, bytes, len);
    varint_put(out, (uint64_t)count);
}

static uint32_t mask_for(size_t count)
{
    uint32_t room = 16;

    while (room < count * 2)
        room *= 2;
    return room - 1;
}

/* Finds where terms stand in bytes that become t's. */
static int index_terms(term_counts *t, error *err)
{
    const uint8_t *at = t->bytes, *end = at + t->len;
    standing s;

    while (at < end) {
        if (!read_term(&at, end, &s) || t->count == UINT32_MAX / 4)
            return ROW_DAMAGED;
        t->count++;
    }
    t->mask = mask_for(t->count);
    t->cells = memory_zeroed(((size_t)t->mask + 1) * sizeof *t->cells);
    t->starts = memory_alloc(((size_t)t->count + 1) * sizeof *t->starts);
    if (!t->cells || !t->starts)
        return fail_memory(err);
    at = t->bytes;
    for (uint32_t i = 0; i < t->count; i++) {
        t->starts[i] = (size_t)(at - t->bytes);
        read_term(&at, end, &s);
        uint32_t cell = (uint32_t)hash64(s.bytes, s.len) & t->mask;
        while (t->cells[cell])
            cell = (cell + 1) & t->mask;
        t->cells[cell] = i + 1;
    }
    return FENEC_OK;
}

/* Takes the buffer's bytes. */
static int make(buffer *b, term_counts **out, error *err)
{
    term_counts *t;

    *out = NULL;
    if (b->failed)
        return fail_memory(err);
    if (b->len == 0)
        return FENEC_OK;
    t = memory_zeroed(sizeof *t);
    if (!t)
        return fail_memory(err);
    atomic_init(&t->references, 1);
    t->bytes = b->bytes;
    t->len = b->len;
    buffer_init(b);
    int rc = index_terms(t, err);
    if (rc)
        term_counts_drop(t);
    else
        *out = t;
    return rc;
}

int term_counts_read(const uint8_t *bytes, size_t len, term_counts **out, error *err)
{
    buffer b;

    buffer_init(&b);
    buffer_put(&b, bytes, len);
    int rc = make(&b, out, err);
    buffer_clear(&b);
    return rc;
}

/* ---- changes, by hash ---- */

typedef struct change_table {
    const term_change *changes;
    uint32_t *cells; /* 1 + place */
    uint32_t mask;
    bool *used;
} change_table;

static uint32_t *change_cell(const change_table *t, const uint8_t *bytes, size_t len)
{
    uint32_t i = (uint32_t)hash64(bytes, len) & t->mask;

    for (; t->cells[i]; i = (i + 1) & t->mask) {
        const term_change *c = &t->changes[t->cells[i] - 1];
        if (c->len == len && !memcmp(c->bytes, bytes, len))
            break;
    }
    return &t->cells[i];
}

static int change_table_make(change_table *t, const term_change changes[], size_t count, error *err)
{
    *t = (change_table){.changes = changes, .mask = mask_for(count)};
    t->cells = memory_zeroed(((size_t)t->mask + 1) * sizeof *t->cells);
    t->used = memory_zeroed(count + 1);
    if (!t->cells || !t->used)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        *change_cell(t, changes[i].bytes, changes[i].len) = (uint32_t)i + 1;
    return FENEC_OK;
}

static int write_changed(const term_counts *old, const change_table *t, size_t count, buffer *out)
{
    const uint8_t *at = old ? old->bytes : NULL, *end = old ? at + old->len : NULL;
    standing s;

    while (at < end) {
        read_term(&at, end, &s);
        uint32_t cell = *change_cell(t, s.bytes, s.len);
        if (cell) {
            s.count += t->changes[cell - 1].by;
            t->used[cell - 1] = true;
        }
        if (s.count < 0 || s.count > UINT32_MAX)
            return ROW_DAMAGED;
        if (s.count)
            write_term(out, s.bytes, s.len, s.count);
    }
    for (size_t i = 0; i < count; i++) {
        const term_change *c = &t->changes[i];
        if (t->used[i] || c->by == 0)
            continue;
        if (c->by < 0 || c->by > UINT32_MAX)
            return ROW_DAMAGED;
        write_term(out, c->bytes, c->len, c->by);
    }
    return FENEC_OK;
}

int term_counts_change(const term_counts *old, const term_change changes[], size_t count, term_counts **out,
                       error *err)
{
    change_table t;
    buffer b;
    int rc = change_table_make(&t, changes, count, err);

    buffer_init(&b);
    if (!rc)
        rc = write_changed(old, &t, count, &b);
    if (!rc)
        rc = make(&b, out, err);
    buffer_clear(&b);
    memory_free(t.cells);
    memory_free(t.used);
    return rc;
}

size_t term_counts_part(const term_counts *t, size_t at, size_t room)
{
    const uint8_t *start = t->bytes + at, *p = start, *end = t->bytes + t->len;
    size_t taken = 0;
    standing s;

    while (p < end && read_term(&p, end, &s)) {
        if (taken && (size_t)(p - start) > room)
            break;
        taken = (size_t)(p - start);
    }
    return taken;
}

term_counts *term_counts_keep(const term_counts *t)
{
    term_counts *kept = (term_counts *)t; /* the count alone changes */

    if (kept)
        atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

void term_counts_drop(term_counts *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) != 1)
        return;
    memory_free(t->bytes);
    memory_free(t->cells);
    memory_free(t->starts);
    memory_free(t);
}

int64_t term_counts_of(const term_counts *t, const uint8_t *bytes, size_t len, uint64_t hash)
{
    if (!t)
        return 0;
    for (uint32_t i = (uint32_t)hash & t->mask; t->cells[i]; i = (i + 1) & t->mask) {
        const uint8_t *at = t->bytes + t->starts[t->cells[i] - 1];
        standing s;
        if (read_term(&at, t->bytes + t->len, &s) && s.len == len && !memcmp(s.bytes, bytes, len))
            return s.count;
    }
    return 0;
}
