#include "exec/compact.h"

#include <inttypes.h>

#include "base/machine.h"
#include "exec/ddl.h"
#include "exec/scratch.h"

#define ROWS_A_BLOCK 256
#define DEAD_BYTES_MIN ((uint64_t)64 * 1024 * 1024)

/* Writes a record anew without the fields that are gone, where it holds a value of one. */
static int rewrite(const collection *of, const row *old, arena *a, error *err)
{
    row_value *values = arena_zeroed(a, of->next_field * sizeof *values);
    bool dirty = false;

    if (!values)
        return fail_memory(err);
    for (uint32_t i = 0; i < of->field_count; i++)
        values[of->fields[i].number].keep = true;
    for (uint32_t n = 0; n < old->rec.fields && n < of->next_field && !dirty; n++) {
        const uint8_t *bytes;
        size_t len = 0;
        int rc = values[n].keep ? FENEC_OK : record_slot(&old->rec, n, &bytes, &len, err);
        if (rc != FENEC_OK)
            return rc;
        dirty = len > 0;
    }
    return dirty ? row_write(old->c, of->number, old->id, values, of->next_field, old, a, err) : FENEC_OK;
}

static int rewrite_rows(block *b, const collection *of, int64_t *to, bool *done, error *err)
{
    arena *a = &b->scratch->rows;
    int64_t ids[ROWS_A_BLOCK];
    cursor cur = {0};
    int count = 0, rc;

    *done = *to == INT64_MAX;
    if (*done)
        return FENEC_OK;
    rc = cursor_rows(&cur, b->c, table_records(of->number), *to + 1, INT64_MAX, false, err);
    while (rc == FENEC_OK && count < ROWS_A_BLOCK) {
        const uint8_t *bytes;
        size_t len;
        rc = cursor_next_row(&cur, &ids[count], &bytes, &len, err);
        count += rc == FENEC_OK;
    }
    cursor_close(&cur);
    if (rc == FN_END) {
        *done = true;
        rc = FENEC_OK;
    }
    for (int i = 0; i < count && rc == FENEC_OK; i++) {
        row r;
        arena_reset(a);
        rc = row_find(&r, b->c, of->number, ids[i], err);
        if (rc == FENEC_OK)
            rc = row_keep(&r, a, err);
        if (rc == FENEC_OK)
            rc = rewrite(of, &r, a, err);
        if (rc == FN_END)
            rc = FENEC_OK;
        *to = ids[i];
    }
    return rc;
}

/* One more block over a collection; *shape is 0 in the first. */
static int go_on(writer *w, uint32_t number, uint64_t *shape, int64_t *to, bool *done, scratch *memory,
                 uint64_t *ticket, error *err)
{
    catalog *next;
    block b;
    int rc = block_begin(&b, w, true, memory, err);

    if (rc != FENEC_OK)
        return rc;
    const collection *of = catalog_numbered(b.cat, number);
    if (!of || !of->has_dropped) {
        *done = true; /* gone, or nothing to do */
        block_rollback(&b);
        return FENEC_OK;
    }
    if (*shape && *shape != of->shape)
        rc = fail(err, FENEC_QUERY, "collection `%s` changed while it was compacted: run it again", of->name);
    *shape = of->shape;
    if (rc == FENEC_OK)
        rc = rewrite_rows(&b, of, to, done, err);
    if (rc == FENEC_OK && *done) {
        rc = catalog_compacted(b.cat, b.c, of, &next, err);
        if (rc == FENEC_OK)
            block_schema(&b, next);
    }
    if (rc == FENEC_OK)
        return block_commit(&b, ticket, err);
    block_rollback(&b);
    return rc;
}

/* The collections to rewrite, by number, in the call's memory. */
static int choose(writer *w, const stmt *s, scratch *memory, uint32_t **numbers, uint32_t *count, error *err)
{
    block b;
    int rc = block_begin(&b, w, true, memory, err);

    if (rc != FENEC_OK)
        return rc;
    const collection *only = s->collection ? collection_called(b.cat, s->collection) : NULL;
    *count = 0;
    *numbers = arena_alloc(&memory->memory, b.cat->count * sizeof **numbers + 1);
    if (!*numbers)
        rc = fail_memory(err);
    else if (s->collection && !only)
        rc = no_collection(s->collection, err);
    for (uint32_t i = 0; i < b.cat->count && rc == FENEC_OK; i++) {
        const collection *c = b.cat->collections[i];
        if (c->has_dropped && (!only || only == c))
            (*numbers)[(*count)++] = c->number;
    }
    block_rollback(&b);
    return rc;
}

int compact_run(writer *w, const stmt *s, scratch *memory, buffer *out, uint64_t *ticket, error *err)
{
    uint32_t *numbers, count;
    uint64_t bytes = 0;

    if (atomic_exchange(&w->compacting, true))
        return fail(err, FENEC_QUERY, "a compact is running: run this one again after it");
    int rc = choose(w, s, memory, &numbers, &count, err);
    for (uint32_t i = 0; rc == FENEC_OK && i < count; i++) {
        uint64_t shape = 0;
        int64_t to = 0;
        bool done = false;
        while (rc == FENEC_OK && !done) {
            rc = go_on(w, numbers[i], &shape, &to, &done, memory, ticket, err);
            store_give_way(w->s);
        }
    }
    if (rc == FENEC_OK)
        rc = store_shrink(w->s, &bytes, err);
    atomic_store(&w->compacting, false);
    if (rc != FENEC_OK)
        return rc;
    if (s->collection)
        answer_ok(out, "collection `%s` compacted: %" PRIu64 " bytes reclaimed", s->collection, bytes);
    else
        answer_ok(out, "compacted: %" PRIu64 " bytes reclaimed", bytes);
    return out->failed ? buffer_error(out, err) : FENEC_OK;
}

/* ---- by itself ---- */

bool compact_is_due(uint64_t file, uint64_t dead, uint64_t memory)
{
    if (dead < DEAD_BYTES_MIN)
        return false;
    return dead >= file - dead || file >= memory - memory / 4;
}

void compact_look(writer *w, scratch *memory, uint64_t page_memory)
{
    const stmt all = {.kind = STMT_COMPACT};
    uint64_t file = 0, dead = 0, ticket = 0;
    buffer unheard;
    error err;
    block b;

    error_init(&err);
    if (block_begin(&b, w, false, memory, &err) != FENEC_OK)
        return;
    int rc = store_weigh(b.c, &file, &dead, &err);
    bool free_to = rc == FENEC_OK && !w->builds && !atomic_load(&w->compacting);
    block_rollback(&b);
    if (!free_to || dead < DEAD_BYTES_MIN || !compact_is_due(file, dead, page_memory ? page_memory : machine_memory()))
        return;
    buffer_init(&unheard);
    if (compact_run(w, &all, memory, &unheard, &ticket, &err) == FENEC_OK)
        store_wait(w->s, ticket, &err);
    changes_reset(&memory->noted);
    buffer_clear(&unheard);
}
