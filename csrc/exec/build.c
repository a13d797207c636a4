#include "exec/build.h"

#include "base/clock.h"
#include "base/memory.h"
#include "exec/ddl.h"
#include "exec/entry_run.h"
#include "exec/index.h"
#include "exec/scratch.h"
#include "exec/search.h"

/* A writer waits for one block of a build at most: it has as many rows as fit into a few milliseconds. */
#define ROWS_FIRST 256
#define ROWS_LEAST 16
#define ROWS_MOST 4096
#define BLOCK_US 4000

_Atomic(size_t) build_run_bytes = (size_t)16 * 1024 * 1024;

/* A build of this call. */
typedef struct building {
    writer *w;
    const stmt *s;
    scratch *memory;
    build *mark;       /* in w->builds while it runs */
    uint32_t of, index; /* numbers */
    uint64_t shape;    /* of the collection: another one is somebody's change */
    int64_t rows;      /* of the next block; 0: of the first */

    /* In order of key: entries are gathered in a snapshot, many at a time, and written in their order. In order
     * of id each block would write to nearly every page of the index. */
    entry_run run;
    size_t next;     /* of the run */
    int64_t read_to; /* documents up to that id are gathered */
    bool all_read;

    /* Of the mark's clashes those that are being looked at: from `suspect` on in its table. */
    id_set suspects;
    size_t suspect;
} building;

static void unlink_mark(building *u)
{
    for (build **at = &u->w->builds; *at; at = &(*at)->next)
        if (*at == u->mark) {
            *at = u->mark->next;
            id_set_clear(&u->mark->touched);
            id_set_clear(&u->mark->clashes);
            memory_free(u->mark);
            u->mark = NULL;
            return;
        }
}

/* Documents up to `to` have their entries. */
static int make_mark(building *u, const catalog_index *x, int64_t to, error *err)
{
    bool by_key = !search_is(x->spec.kind);

    u->mark = memory_zeroed(sizeof *u->mark);
    if (!u->mark)
        return fail_memory(err);
    *u->mark = (build){.index = u->index, .to = by_key ? INT64_MAX : to, .by_key = by_key, .next = u->w->builds};
    u->w->builds = u->mark;
    u->read_to = to;
    return FENEC_OK;
}

static int disturbed(const building *u, error *err)
{
    return fail(err, FENEC_QUERY, "collection `%s` changed while an index on `%s` was built: run it again",
                u->s->collection, u->s->index_on.text);
}

/* Before a block, under no lock: gathers what it is to write, where all that was gathered is written. */
static int gather(building *u, error *err)
{
    version *v;
    conn *c;

    if (!u->mark || !u->mark->by_key || u->all_read || u->next < u->run.count)
        return FENEC_OK;
    entry_run_clear(&u->run);
    u->next = 0;
    int rc = store_read(u->w->s, &c, &v, err);
    if (rc != FENEC_OK)
        return rc;
    const collection *of = catalog_numbered(((const published *)v)->cat, u->of);
    const catalog_index *x = of ? collection_index_numbered(of, u->index) : NULL;
    if (!x)
        u->all_read = true; /* the block finds that out too */
    else
        rc = index_gather(c, of, x, &u->read_to, atomic_load(&build_run_bytes), &u->all_read, &u->run, err);
    store_read_end(c);
    entry_run_sort(&u->run);
    return rc;
}

static int put_gathered(building *u, block *b, const collection *of, const catalog_index *x, int64_t rows, bool *done,
                        error *err)
{
    int rc = FENEC_OK;

    for (; rc == FENEC_OK && rows > 0 && u->next < u->run.count; rows--, u->next++) {
        const entry *e = &u->run.entries[u->next];
        rc = index_put(b, of, x, u->run.bytes.bytes + e->at, e->len, e->id, id_set_has(&u->mark->touched, e->id), err);
    }
    /* Whatever is written from now on, the next snapshot sees. */
    if (u->next == u->run.count)
        id_set_clear(&u->mark->touched);
    *done = u->next == u->run.count && u->all_read;
    return rc;
}

/* Looks again at documents that writers put under a key of others. Where two still hold the value, they hold it in
 * what has landed: there is no such index. The last block has looked at all, so that what it lets be is unique. */
static int look_again(building *u, block *b, const collection *of, const catalog_index *x, int64_t *rows, error *err)
{
    int rc = FENEC_OK;

    while (rc == FENEC_OK && *rows > 0) {
        if (u->suspect == u->suspects.cap) {
            if (u->mark->clashes.count == 0)
                break;
            id_set_clear(&u->suspects);
            u->suspects = u->mark->clashes;
            u->suspect = 0;
            u->mark->clashes = (id_set){0};
        }
        int64_t id = u->suspects.at[u->suspect++];
        if (id) {
            rc = index_check_document(b->c, of, x, id, err);
            --*rows;
        }
    }
    return rc;
}

static bool is_suspicious(const building *u)
{
    return u->mark && (u->suspect < u->suspects.cap || u->mark->clashes.count > 0);
}

/* As many entries as a block may write. *to is the mark's next one. */
static int fill(building *u, block *b, const collection *of, const catalog_index *x, int64_t *to, bool *done,
                error *err)
{
    int64_t rows = u->rows ? u->rows : ROWS_FIRST, left = rows, start = clock_monotonic_us();
    int rc = is_suspicious(u) ? look_again(u, b, of, x, &left, err) : FENEC_OK;

    if (rc == FENEC_OK)
        rc = u->mark && u->mark->by_key ? put_gathered(u, b, of, x, left, done, err)
                                        : index_fill(b, of, x, to, left, done, err);
    *done &= rc == FENEC_OK && !is_suspicious(u);
    int64_t took = clock_monotonic_us() - start;

    if (took > BLOCK_US)
        rows /= 2;
    else if (took < BLOCK_US / 2)
        rows *= 2;
    u->rows = rows < ROWS_LEAST ? ROWS_LEAST : rows > ROWS_MOST ? ROWS_MOST : rows;
    return rc;
}

/* The last block: the index is there, and counts as a change. */
static int finish(building *u, block *b, const collection *of, error *err)
{
    const catalog_index *x = collection_index_numbered(of, u->index);
    catalog *next;
    int rc = search_built(b, of, x, err);
    if (rc == FENEC_OK)
        rc = catalog_index_ready(b->cat, b->c, of, u->index, &next, err);
    if (rc != FENEC_OK)
        return rc;
    block_schema(b, next);
    return block_note(b, u->of, 0, err);
}

/* Takes away what was built. Where even that fails, the next open does it. */
static void abandon(building *u)
{
    const collection *of;
    uint64_t ticket;
    catalog *next;
    error unused;
    block b;

    error_init(&unused);
    if (block_begin(&b, u->w, true, u->memory, &unused) != FENEC_OK)
        return;
    unlink_mark(u);
    of = catalog_numbered(b.cat, u->of);
    if (!of || !collection_index_numbered(of, u->index) ||
        catalog_remove_index(b.cat, b.c, of, u->index, &next, &unused) != FENEC_OK) {
        block_rollback(&b);
        return;
    }
    block_schema(&b, next);
    block_commit(&b, &ticket, &unused);
}

/* One more block. *done: the index is there. */
static int go_on(building *u, bool *done, uint64_t *ticket, error *err)
{
    block b;
    int64_t to;
    int rc = block_begin(&b, u->w, true, u->memory, err);

    if (rc != FENEC_OK)
        return rc;
    const collection *of = catalog_numbered(b.cat, u->of);
    const catalog_index *x = of ? collection_index_numbered(of, u->index) : NULL;
    if (!x || of->shape != u->shape) {
        block_rollback(&b);
        return disturbed(u, err);
    }
    to = u->mark->to;
    rc = fill(u, &b, of, x, &to, done, err);
    if (rc == FENEC_OK && *done)
        rc = finish(u, &b, of, err);
    if (rc != FENEC_OK) {
        block_rollback(&b);
        return rc;
    }
    u->mark->to = to;
    if (*done)
        unlink_mark(u);
    return block_commit(&b, ticket, err);
}

/* The first block: declares the index, and is the last one too where a block holds all rows. */
static int begin(building *u, bool *done, buffer *out, uint64_t *ticket, error *err)
{
    const collection *of;
    const catalog_index *there, *x;
    catalog *next;
    int64_t to = 0;
    block b;
    int rc = block_begin(&b, u->w, true, u->memory, err);

    if (rc != FENEC_OK)
        return rc;
    rc = index_wanted(b.cat, u->s, &of, &there, err);
    if (rc != FENEC_OK)
        goto failed;
    /* Said before anything lands, so that nothing can fail after it. */
    answer_ok(out, there ? "an index on `%s` of `%s` is there already" : "index on `%s` of `%s` created",
              u->s->index_on.text, u->s->collection);
    if (out->failed)
        rc = buffer_error(out, err);
    if (rc == FENEC_OK && there) {
        *done = true;
        return block_commit(&b, ticket, err);
    }
    if (rc == FENEC_OK) {
        u->of = of->number;
        rc = catalog_add_index(b.cat, b.c, of, &u->s->index_on, &u->s->spec, INDEX_BUILDING, &next, &u->index, err);
    }
    if (rc != FENEC_OK)
        goto failed;
    block_schema(&b, next);
    of = catalog_numbered(b.cat, u->of);
    x = collection_index_numbered(of, u->index);
    u->shape = of->shape;
    if (x->state == INDEX_DECLARED) {
        *done = true;
        rc = block_note(&b, u->of, 0, err);
    } else {
        rc = fill(u, &b, of, x, &to, done, err);
        if (rc == FENEC_OK && *done)
            rc = finish(u, &b, of, err);
    }
    if (rc == FENEC_OK && !*done)
        rc = make_mark(u, x, to, err);
    if (rc == FENEC_OK)
        return block_commit(&b, ticket, err);
failed:
    block_rollback(&b);
    return rc;
}

int build_run(writer *w, const stmt *s, scratch *memory, buffer *out, uint64_t *ticket, error *err)
{
    building u = {.w = w, .s = s, .memory = memory};
    bool done = false;

    entry_run_init(&u.run);
    int rc = begin(&u, &done, out, ticket, err);

    while (rc == FENEC_OK && !done) {
        changes_reset(&memory->noted);
        store_give_way(w->s);
        rc = gather(&u, err);
        if (rc == FENEC_OK)
            rc = go_on(&u, &done, ticket, err);
    }
    if (rc != FENEC_OK) {
        changes_reset(&memory->noted);
        if (u.mark)
            abandon(&u);
    }
    entry_run_clear(&u.run);
    id_set_clear(&u.suspects);
    return rc;
}

/* One more block of an index that the file lacks. */
static int fill_unbuilt(building *u, bool *done, error *err)
{
    uint64_t ticket;
    catalog *next;
    int64_t to;
    block b;
    int rc = block_begin(&b, u->w, true, u->memory, err);

    if (rc != FENEC_OK)
        return rc;
    const collection *of = catalog_numbered(b.cat, u->of);
    const catalog_index *x = of ? collection_index_numbered(of, u->index) : NULL;
    if (!x || x->state != INDEX_UNBUILT) {
        if (u->mark)
            unlink_mark(u);
        block_rollback(&b);
        *done = true;
        return FENEC_OK;
    }
    if (!u->mark) {
        rc = table_drop(b.c, table_index(u->index), err); /* what an earlier build left */
        if (rc == FENEC_OK)
            rc = table_drop(b.c, table_search(u->index), err);
        if (rc == FENEC_OK)
            rc = block_set_part(&b, u->index, NULL, NULL, err);
        if (rc == FENEC_OK)
            rc = make_mark(u, x, 0, err);
    }
    to = u->mark ? u->mark->to : 0;
    if (rc == FENEC_OK)
        rc = fill(u, &b, of, x, &to, done, err);
    if (rc == FENEC_OK && *done)
        rc = search_built(&b, of, x, err);
    if (rc == FENEC_OK && *done)
        rc = catalog_index_ready(b.cat, b.c, of, u->index, &next, err);
    if (rc != FENEC_OK) {
        if (u->mark)
            unlink_mark(u);
        block_rollback(&b);
        return rc;
    }
    if (*done) {
        block_schema(&b, next);
        unlink_mark(u);
    } else {
        u->mark->to = to;
    }
    return block_commit(&b, &ticket, err);
}

/* A block of it did not land: the mark goes, so that writers leave the index alone. */
static void give_up(building *u)
{
    error unused;
    block b;

    error_init(&unused);
    if (!u->mark || block_begin(&b, u->w, true, u->memory, &unused) != FENEC_OK)
        return; /* nobody writes any more */
    unlink_mark(u);
    block_rollback(&b);
}

int build_unbuilt(writer *w, uint32_t of, uint32_t index, scratch *memory, error *err)
{
    building u = {.w = w, .memory = memory, .of = of, .index = index};
    bool done = false;
    int rc = FENEC_OK;

    entry_run_init(&u.run);
    while (rc == FENEC_OK && !done) {
        rc = gather(&u, err);
        if (rc == FENEC_OK)
            rc = fill_unbuilt(&u, &done, err);
        store_give_way(w->s);
    }
    changes_reset(&memory->noted);
    if (rc != FENEC_OK)
        give_up(&u);
    entry_run_clear(&u.run);
    id_set_clear(&u.suspects);
    return rc;
}

int build_drop_unfinished(const catalog *cat, conn *c, catalog **next, error *err)
{
    *next = NULL;
    for (uint32_t i = 0; i < cat->count; i++) {
        for (uint32_t k = 0; k < cat->collections[i]->index_count; k++) {
            const collection *of = cat->collections[i];
            catalog *made;
            if (of->indexes[k].state != INDEX_BUILDING)
                continue;
            int rc = catalog_remove_index(cat, c, of, of->indexes[k].number, &made, err);
            if (*next)
                version_drop(&(*next)->head);
            *next = NULL;
            if (rc != FENEC_OK)
                return rc;
            cat = *next = made;
            k--;
        }
    }
    return FENEC_OK;
}
