#include "exec/unbuilt.h"

#include <string.h>

#include "exec/build.h"

/* Whose indexes are asked for. */
typedef struct wanted {
    const uint8_t *bytes;
    size_t len;
    bool names; /* a list of names, else a text that may hold them */
} wanted;

bool unbuilt_init(unbuilt *u)
{
    if (!lock_init(&u->building, LOCK_BUILD))
        return false;
    if (lock_init(&u->reading, LOCK_BUILD))
        return true;
    lock_destroy(&u->building);
    return false;
}

void unbuilt_clear(unbuilt *u)
{
    lock_destroy(&u->reading);
    lock_destroy(&u->building);
}

void unbuilt_note(unbuilt *u, const catalog *cat)
{
    bool any = false;

    for (uint32_t i = 0; i < cat->count; i++)
        for (uint32_t k = 0; k < cat->collections[i]->index_count; k++)
            any |= cat->collections[i]->indexes[k].state == INDEX_UNBUILT;
    atomic_store(&u->any, any);
}

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* "collection" or "collection.field", and as much of a path. */
static bool is_named(const uint8_t *name, size_t len, const collection *of, const catalog_index *x)
{
    size_t own = of->name_len;

    if (len < own || memcmp(name, of->name, own) != 0)
        return false;
    if (len == own)
        return true;
    return name[own] == '.' && len - own - 1 == x->on.text_len && !memcmp(name + own + 1, x->on.text, x->on.text_len);
}

static bool is_wanted(const wanted *w, const collection *of, const catalog_index *x)
{
    const uint8_t *at = w->bytes, *end = at + w->len;
    bool any = false;

    if (!w->names)
        return w->len && memmem(w->bytes, w->len, of->name, of->name_len);
    while (at < end) {
        const uint8_t *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        const uint8_t *last = stop;
        while (at < last && is_space(*at))
            at++;
        while (last > at && is_space(last[-1]))
            last--;
        any |= last > at;
        if (last > at && is_named(at, (size_t)(last - at), of, x))
            return true;
        at = comma ? comma + 1 : end;
    }
    return !any;
}

bool unbuilt_names(const uint8_t *only, size_t len, const collection *of, const catalog_index *x)
{
    const wanted asked = {.bytes = only, .len = len, .names = true};

    return is_wanted(&asked, of, x);
}

/* The first that is asked for. */
static int find_next(writer *w, const wanted *asked, uint32_t *of, uint32_t *index, error *err)
{
    version *v;
    conn *c;
    int rc = store_read(w->s, &c, &v, err);

    if (rc != FENEC_OK)
        return rc;
    const catalog *cat = ((const published *)v)->cat;
    rc = FN_END;
    for (uint32_t i = 0; rc == FN_END && i < cat->count; i++) {
        const collection *in = cat->collections[i];
        for (uint32_t k = 0; rc == FN_END && k < in->index_count; k++) {
            if (in->indexes[k].state != INDEX_UNBUILT || !is_wanted(asked, in, &in->indexes[k]))
                continue;
            *of = in->number;
            *index = in->indexes[k].number;
            rc = FENEC_OK;
        }
    }
    store_read_end(c);
    return rc;
}

static int build_wanted(unbuilt *u, writer *w, const wanted *asked, struct scratch *memory, int64_t *built,
                        error *err)
{
    uint32_t of, index;
    int rc;

    *built = 0;
    lock_take(&u->building);
    while ((rc = find_next(w, asked, &of, &index, err)) == FENEC_OK &&
           (rc = build_unbuilt(w, of, index, memory, err)) == FENEC_OK)
        ++*built;
    lock_leave(&u->building);
    return rc == FN_END ? FENEC_OK : rc;
}

/* Declares it unbuilt where it is ready. */
static int lose(writer *w, uint32_t of, uint32_t index, struct scratch *memory, error *err)
{
    uint64_t ticket;
    catalog *next;
    block b;
    int rc = block_begin(&b, w, true, memory, err);

    if (rc != FENEC_OK)
        return rc;
    const collection *in = catalog_numbered(b.cat, of);
    const catalog_index *x = in ? collection_index_numbered(in, index) : NULL;
    if (!x || x->state != INDEX_READY) {
        block_rollback(&b);
        return FENEC_OK;
    }
    rc = catalog_index_lost(b.cat, b.c, in, index, &next, err);
    if (rc == FENEC_OK) {
        block_schema(&b, next);
        rc = block_set_part(&b, index, NULL, NULL, err);
    }
    if (rc == FENEC_OK)
        return block_commit(&b, &ticket, err);
    block_rollback(&b);
    return rc;
}

int unbuilt_rebuild(unbuilt *u, writer *w, uint32_t of, uint32_t index, struct scratch *memory, error *err)
{
    lock_take(&u->building);
    int rc = lose(w, of, index, memory, err);
    if (rc == FENEC_OK)
        rc = build_unbuilt(w, of, index, memory, err);
    lock_leave(&u->building);
    return rc;
}

void unbuilt_lose(unbuilt *u, writer *w, uint32_t of, uint32_t index, struct scratch *memory)
{
    error unused;

    error_init(&unused);
    if (lose(w, of, index, memory, &unused) == FENEC_OK)
        atomic_store(&u->any, true);
}

static bool reads(const parsed *p)
{
    for (uint32_t i = 0; i < p->stmt_count; i++)
        if (p->stmts[i].kind == STMT_SELECT || p->stmts[i].kind == STMT_EXPLAIN || p->stmts[i].where)
            return true;
    return false;
}

void unbuilt_read(unbuilt *u, writer *w, const parsed *p, const uint8_t *text, size_t len, struct scratch *memory)
{
    const wanted asked = {.bytes = text, .len = len}, rest = {.names = true};
    uint32_t of, index;
    int64_t built;
    error unused;

    if (!atomic_load(&u->any) || !reads(p))
        return;
    error_init(&unused);
    int rc = build_wanted(u, w, &asked, memory, &built, &unused);
    /* After a failure texts go on without them: each would only fail again. */
    if (rc == FENEC_OK && built)
        rc = find_next(w, &rest, &of, &index, &unused);
    if (rc != FENEC_OK)
        atomic_store(&u->any, false);
}

int unbuilt_warm(unbuilt *u, writer *w, const uint8_t *only, size_t len, struct scratch *memory, int64_t *built,
                 error *err)
{
    const wanted asked = {.bytes = only, .len = len, .names = true};

    return build_wanted(u, w, &asked, memory, built, err);
}
