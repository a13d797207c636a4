#include "exec/vector_linking.h"

#include "exec/scratch.h"
#include "exec/unbuilt.h"
#include "exec/vector_part.h"
#include "search/row_cache.h"
#include "search/vector_index.h"

enum {
    LINKED_AT_ONCE = 64, /* before it is asked whether to stop, or to save, */
    LINKED_A_TURN = 1024, /* and before other jobs have their turn */
    ROUNDS = 4           /* of following what was written while an index is made anew */
};

/* An index that is worked at. */
typedef struct working {
    writer *w;
    scratch *memory;
    uint32_t index;
    bool closing; /* nobody asks to stop any more */
    error err;    /* nobody hears of it */
} working;

static bool is_to_stop(const working *k)
{
    return !k->closing && maintenance_stops(k->w->behind);
}

/* ---- blocks ---- */

/* The index as the block finds it; NULL: there is none, or none in memory. *ready: it is in use. */
static vector_version *newest_in(const working *k, const block *b, bool *ready)
{
    *ready = false;
    for (uint32_t i = 0; i < b->cat->count && !*ready; i++) {
        const catalog_index *x = collection_index_numbered(b->cat->collections[i], k->index);
        *ready = x && x->state == INDEX_READY;
    }
    return (vector_version *)published_find(b->base, k->index);
}

/* The same, kept past the block. */
static vector_version *newest(working *k, bool *ready)
{
    vector_version *v;
    block b;

    if (block_begin(&b, k->w, false, k->memory, &k->err) != FENEC_OK)
        return NULL;
    v = newest_in(k, &b, ready);
    v = v ? (vector_version *)version_keep(&v->head) : NULL;
    block_rollback(&b);
    return v;
}

/* ---- saving ---- */

typedef int save_step(vector_save *s, conn *c, error *err);

/* One step in a block, while the index is the one that is saved. */
static int step(working *k, const vector_index *of, vector_save *s, save_step *run)
{
    uint64_t ticket;
    bool ready;
    block b;
    int rc = block_begin(&b, k->w, true, k->memory, &k->err);

    if (rc != FENEC_OK)
        return rc;
    const vector_version *v = newest_in(k, &b, &ready);
    if (!v || !ready || v->of != of) {
        block_rollback(&b);
        return FENEC_QUERY; /* there is nobody to tell */
    }
    rc = run(s, b.c, &k->err);
    if (rc != FENEC_OK && rc != FN_END) {
        block_rollback(&b);
        return rc;
    }
    int landed = block_commit(&b, &ticket, &k->err);
    return landed ? landed : rc;
}

/* FENEC_OK with *out NULL: the index is not in use yet, or nothing is due. */
static int begin_save(working *k, vector_due when, vector_save **out)
{
    bool ready;
    block b;
    int rc = block_begin(&b, k->w, false, k->memory, &k->err);

    *out = NULL;
    if (rc != FENEC_OK)
        return rc;
    const vector_version *v = newest_in(k, &b, &ready);
    if (v && ready && vector_is_due(v, when))
        rc = vector_save_new(out, v, k->index, &k->err);
    block_rollback(&b);
    return rc;
}

/* A save that fails, or is told to stop, is made by whoever comes next. */
static int save(working *k, vector_due when)
{
    vector_save *s = NULL;
    int rc = store_is_memory(k->w->s) ? FENEC_OK : begin_save(k, when, &s);

    if (rc != FENEC_OK || !s)
        return rc;
    const vector_index *of = vector_save_of(s);
    while ((rc = step(k, of, s, vector_save_write)) == FENEC_OK && !is_to_stop(k))
        continue;
    if (rc == FN_END)
        rc = step(k, of, s, vector_save_land);
    else
        rc = rc ? rc : FN_END;
    if (rc == FENEC_OK) {
        vector_save_landed(s);
        while ((rc = step(k, of, s, vector_save_clean)) == FENEC_OK && !is_to_stop(k))
            continue;
        rc = FENEC_OK; /* what is left of old rows goes with the next save */
    }
    vector_save_free(s);
    return rc;
}

/* ---- making anew ---- */

static int link_all(working *k, const vector_version *v)
{
    bool done = false;
    int rc = FENEC_OK;

    while (!rc && !done && !is_to_stop(k))
        rc = vector_link(v, LINKED_AT_ONCE, &done, &k->err);
    return rc;
}

/* Puts the new index in the old one's place, with what was written since *seen. */
static int replace(working *k, vector_version **fresh, const vector_version *seen)
{
    uint64_t ticket;
    bool ready;
    block b;
    int rc = block_begin(&b, k->w, true, k->memory, &k->err);

    if (rc != FENEC_OK)
        return rc;
    const vector_version *now = newest_in(k, &b, &ready);
    rc = now && now->of == seen->of ? vector_follow(fresh, seen, now, &k->err) : FN_END;
    if (rc == FENEC_OK)
        rc = vector_take_place(*fresh, now, &k->err);
    if (rc == FENEC_OK) {
        version_keep(&(*fresh)->head);
        rc = block_set_part(&b, k->index, &vector_part.part, &(*fresh)->head, &k->err);
    }
    if (rc == FENEC_OK)
        return block_commit(&b, &ticket, &k->err);
    block_rollback(&b);
    return rc;
}

/* Linked before it is seen, unless the old one grows faster than that. */
static int renew(working *k, const vector_version *v, bool urgent)
{
    vector_version *fresh = NULL, *seen = (vector_version *)version_keep((version *)&v->head);
    int rc = vector_renew(v, &fresh, &k->err);

    for (int i = 0; !rc && i < ROUNDS && !urgent && !is_to_stop(k); i++) {
        bool ready;
        uint32_t before = fresh->entries;
        rc = link_all(k, fresh);
        vector_version *now = rc ? NULL : newest(k, &ready);
        if (!now || now->of != v->of) {
            if (now)
                version_drop(&now->head);
            rc = rc ? rc : FN_END;
            break;
        }
        rc = vector_follow(&fresh, seen, now, &k->err);
        version_drop(&seen->head);
        seen = now;
        if (fresh->entries - before < LINKED_AT_ONCE)
            break;
    }
    if (!rc && !is_to_stop(k))
        rc = replace(k, &fresh, seen);
    version_drop(&seen->head);
    if (fresh)
        version_drop(&fresh->head);
    return rc;
}

/* ---- reading ---- */

/* The index where it is in use and not in memory. */
static const catalog_index *find_unread(const published *s, uint32_t index, const collection **of)
{
    const catalog_index *x = NULL;

    for (uint32_t i = 0; i < s->cat->count && !x; i++) {
        *of = s->cat->collections[i];
        x = collection_index_numbered(*of, index);
    }
    return x && x->state == INDEX_READY && !published_find(s, index) ? x : NULL;
}

static int read_or_follow(working *k, conn *c, const published *s, vector_version **v, size_t *count, uint32_t *of)
{
    const collection *in = NULL;
    const catalog_index *x = find_unread(s, k->index, &in);

    if (!x)
        return FN_END;
    *of = in->number;
    *count = SIZE_MAX;
    return *v ? vector_part_follow(c, in, x, v, count, &k->err) : vector_part_read(c, in, x, v, &k->err);
}

/* In a snapshot. */
static int read_beside(working *k, vector_version **v, size_t *count, uint32_t *of)
{
    version *s;
    conn *c;
    int rc = store_read(k->w->s, &c, &s, &k->err);

    if (rc)
        return rc;
    store_read_long(c);
    rc = read_or_follow(k, c, (const published *)s, v, count, of);
    store_read_end(c);
    return rc;
}

/* Where nobody else did, with what was written meanwhile. */
static int publish(working *k, vector_version **v, uint32_t *of)
{
    uint64_t ticket;
    size_t count;
    block b;
    int rc = block_begin_still(&b, k->w, k->memory, &k->err);

    if (rc)
        return rc;
    rc = read_or_follow(k, b.c, b.base, v, &count, of);
    if (!rc) {
        version_keep(&(*v)->head);
        rc = block_set_part(&b, k->index, &vector_part.part, &(*v)->head, &k->err);
    }
    if (!rc)
        return block_commit(&b, &ticket, &k->err);
    block_rollback(&b);
    return rc;
}

static int read_and_publish(working *k, uint32_t *of)
{
    vector_version *v = NULL;
    size_t count = SIZE_MAX;
    int rc = FENEC_OK;

    for (int i = 0; !rc && i < ROUNDS && count > LINKED_A_TURN && !is_to_stop(k); i++)
        rc = read_beside(k, &v, &count, of);
    if (!rc && v && !is_to_stop(k))
        rc = publish(k, &v, of);
    if (v)
        version_drop(&v->head);
    return rc;
}

void vector_reading(void *with, uint32_t index, bool *again)
{
    working k = {.w = with, .memory = scratch_new(), .index = index};
    uint32_t of = 0;

    *again = false;
    if (!k.memory)
        return;
    error_init(&k.err);
    lock_take(&k.w->unbuilt->reading);
    int rc = read_and_publish(&k, &of);
    lock_leave(&k.w->unbuilt->reading);
    if (rc == ROW_DAMAGED)
        unbuilt_lose(k.w->unbuilt, k.w, of, index, k.memory);
    scratch_free(k.memory);
}

/* ---- jobs ---- */

static void work(working *k, vector_due when, bool *again)
{
    bool ready, urgent, done = false;
    vector_version *v = newest(k, &ready);
    int rc = FENEC_OK;

    *again = false;
    if (!v)
        return;
    if (vector_is_worn(v, &urgent)) {
        *again = renew(k, v, urgent) == FENEC_OK && !is_to_stop(k);
        version_drop(&v->head);
        return;
    }
    for (int n = 0; !rc && !done && n < LINKED_A_TURN && !is_to_stop(k); n += LINKED_AT_ONCE) {
        rc = vector_link(v, LINKED_AT_ONCE, &done, &k->err);
        if (!rc && ready && vector_is_due(v, VECTOR_GROWN))
            rc = save(k, VECTOR_GROWN);
    }
    version_drop(&v->head);
    *again = !rc && !done;
    if (!rc && done && when == VECTOR_ANYTHING)
        save(k, when);
}

static void run(writer *w, uint32_t index, vector_due when, bool *again)
{
    working k = {.w = w, .memory = scratch_new(), .index = index};

    if (!k.memory)
        return;
    error_init(&k.err);
    work(&k, when, again);
    scratch_free(k.memory);
}

void vector_linking(void *with, uint32_t index, bool *again)
{
    run(with, index, VECTOR_GROWN, again);
}

void vector_settling(void *with, uint32_t index, bool *again)
{
    run(with, index, VECTOR_ANYTHING, again);
}

void vector_closing(writer *w, uint32_t index, struct scratch *memory)
{
    working k = {.w = w, .memory = memory, .index = index, .closing = true};

    error_init(&k.err);
    save(&k, VECTOR_CLOSING);
}
