#include "exec/database.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "exec/backup.h"
#include "exec/build.h"
#include "exec/checking.h"
#include "exec/compact.h"
#include "exec/ddl.h"
#include "exec/exact.h"
#include "exec/keeper.h"
#include "exec/schema.h"
#include "exec/search.h"
#include "exec/text_cache.h"
#include "exec/unbuilt.h"
#include "search/row_cache.h"
#include "value/json.h"

struct database {
    writer w;
    text_cache *texts;
    unbuilt unbuilt;
    keeper *keeper; /* NULL: nobody looks */
    bool compacts;  /* by itself */
    _Atomic(bool) closed;
};

/* ---- opening and closing ---- */

void database_free(database *d)
{
    if (!d)
        return;
    text_cache_free(d->texts);
    change_ring_free(d->w.ring);
    id_marks_clear(&d->w.marks);
    while (d->w.builds) {
        build *gone = d->w.builds;
        d->w.builds = gone->next;
        id_set_clear(&gone->touched);
        memory_free(gone);
    }
    if (d->w.s)
        store_free(d->w.s);
    maintenance_free(d->w.behind);
    row_cache_free(d->w.cache);
    unbuilt_clear(&d->unbuilt);
    memory_free(d);
}

/* Reads catalog and counter, and publishes the first version. */
static int load(database *d, error *err)
{
    catalog *cat = NULL, *next;
    uint64_t ticket;
    version *none;
    conn *c;
    int rc = store_write(d->w.s, true, &c, &none, err);

    if (rc != FENEC_OK)
        return rc;
    rc = catalog_load(c, &cat, err);
    if (rc == FENEC_OK)
        rc = build_drop_unfinished(cat, c, &next, err);
    if (rc == FENEC_OK && next) {
        version_drop(&cat->head);
        cat = next;
    }
    if (rc == FENEC_OK)
        rc = catalog_settle(cat, c, err);
    if (rc == FENEC_OK)
        unbuilt_note(&d->unbuilt, cat);
    if (rc == FENEC_OK)
        rc = counter_get(c, &d->w.seq, err);
    if (rc == FENEC_OK && !(d->w.ring = change_ring_new(d->w.seq, cat)))
        rc = fail_memory(err);
    published *first = rc == FENEC_OK ? published_new(NULL, cat, NULL, 0) : NULL;
    if (rc == FENEC_OK && !first)
        rc = fail_memory(err);
    if (rc == FENEC_OK)
        rc = store_write_commit(c, &first->head, &ticket, err);
    else
        store_write_rollback(c);
    if (cat)
        version_drop(&cat->head);
    return rc;
}

static void look_after(void *with)
{
    database *d = with;

    store_trim(d->w.s);
    if (d->compacts)
        database_look(d, 0);
}

int database_open(database **out, const uint8_t *file, size_t file_len, uint32_t flags, error *err)
{
    const store_options options = {.path = file,
                                   .path_len = file_len,
                                   .no_sync = (flags & FENEC_OPEN_NO_SYNC) != 0};
    int rc = database_open_with(out, &options, err);

    if (rc == FENEC_OK && file) {
        (*out)->compacts = (flags & FENEC_OPEN_NO_AUTO_COMPACT) == 0;
        (*out)->keeper = keeper_start(look_after, *out);
    }
    return rc;
}

int database_open_with(database **out, const store_options *options, error *err)
{
    database *d = memory_zeroed(sizeof *d);
    error unused;

    if (!d)
        return fail_memory(err);
    if (!unbuilt_init(&d->unbuilt)) {
        memory_free(d);
        return fail_memory(err);
    }
    d->w.unbuilt = &d->unbuilt;
    d->texts = text_cache_new();
    d->w.behind = maintenance_new();
    d->w.cache = row_cache_new(ROW_CACHE_BYTES);
    bool made = d->texts && d->w.behind && d->w.cache;
    int rc = made ? store_open(&d->w.s, options, err) : fail_memory(err);
    if (rc == FENEC_OK) {
        rc = load(d, err);
        if (rc != FENEC_OK)
            store_close(d->w.s, &unused);
    } else {
        d->w.s = NULL;
    }
    if (rc != FENEC_OK) {
        database_free(d);
        return rc;
    }
    *out = d;
    return FENEC_OK;
}

int database_close(database *d, error *err)
{
    atomic_store(&d->closed, true);
    /* In a child there is no thread to wait for. */
    int rc = store_check_fork(d->w.s, err);
    if (rc != FENEC_OK)
        return rc;
    keeper_stop(d->keeper);
    d->keeper = NULL;
    maintenance_stop(d->w.behind);
    scratch *memory = scratch_new();
    if (memory) { /* else the next open does what is not done now */
        search_close(&d->w, memory);
        scratch_free(memory);
    }
    return store_close(d->w.s, err);
}

static int check_open(database *d, error *err)
{
    return atomic_load(&d->closed) ? fail(err, FENEC_MISUSE, "the database was closed") : FENEC_OK;
}

/* ---- parameters ---- */

/* A text on its way. */
typedef struct call {
    database *d;
    scratch *memory; /* the use's */
    text_use use;
    const parsed *p;
    value *params;
    uint32_t param_count;
    bool *apart; /* by place: came as 32-bit floats; NULL: none did */
    buffer *out;
    size_t start; /* of the answer in it */
    search_need need; /* with FN_AGAIN */
    int tries;        /* so far */
} call;

static int bad_vectors(error *err, const char *why)
{
    return fail(err, FENEC_QUERY, "the vector parameters are malformed: %s", why);
}

/* Lays the vectors over the parameters: chapter 5 section 10. */
static int lay_vectors(call *k, const uint8_t *bytes, size_t len, error *err)
{
    if (!bytes || len == 0)
        return FENEC_OK;
    k->apart = arena_zeroed(&k->memory->memory, k->param_count + 1);
    if (!k->apart)
        return fail_memory(err);
    while (len > 0) {
        if (len < 8)
            return bad_vectors(err, "bytes are left over at the end");
        uint32_t place = bytes_u32(bytes), count = bytes_u32(bytes + 4);
        bytes += 8;
        len -= 8;
        if (place >= k->param_count)
            return bad_vectors(err, "a place is past the end of the parameters");
        if (k->apart[place] || k->params[place].kind != VALUE_NULL)
            return bad_vectors(err, "a place does not hold null");
        if (count > len / 4)
            return bad_vectors(err, "a vector is cut short");
        k->apart[place] = true;
        k->params[place] = (value){.kind = VALUE_VECTOR, .count = count, .bytes = bytes, .len = (size_t)count * 4};
        bytes += (size_t)count * 4;
        len -= (size_t)count * 4;
    }
    return FENEC_OK;
}

/* ---- statements ---- */

#define PROVIDES_MAX 64 /* of a call: each search index read from the file, and some built anew */

/* What one statement runs in: its memory is given back with the next. */
static context context_of(call *k, const published *of, conn *c, const catalog *cat, block *b,
                          struct subquery_answer **answered)
{
    return (context){.c = c,
                     .cat = cat,
                     .state = of,
                     .block = b,
                     .need = b ? &b->need : &k->need,
                     .params = k->params,
                     .param_count = k->param_count,
                     .now_ms = clock_now_ms(),
                     .memory = &k->memory->memory,
                     .answered = answered};
}

static int check_exact(const call *k, const catalog *cat, error *err)
{
    return k->apart ? exact_check(k->p, cat, k->apart, k->param_count, err) : FENEC_OK;
}

/* The plan of a statement: of the text's where they are over that catalog, else bound for this run alone. */
static int find_plan(const call *k, uint32_t at, const context *cx, plan *out, error *err)
{
    const plans *kept = k->use.plans;

    if (kept->cat == cx->cat && (kept->items[at].write || kept->items[at].read)) {
        *out = kept->items[at];
        return FENEC_OK;
    }
    *out = (plan){0};
    return plan_bind(&k->p->stmts[at], cx->cat, cx->memory, out, err);
}

/* Statement `at`, inside a block or (b NULL) a snapshot. Its answer replaces the one before. */
static int run_one(call *k, uint32_t at, const published *of, conn *c, const catalog *cat, block *b, error *err)
{
    const stmt *s = &k->p->stmts[at];
    arena_mark here = arena_here(&k->memory->memory);
    struct subquery_answer *answered = NULL;
    context cx = context_of(k, of, c, cat, b, &answered);
    plan with;
    int rc;

    k->out->len = k->start;
    switch (s->kind) {
    case STMT_SELECT:
    case STMT_EXPLAIN:
        rc = find_plan(k, at, &cx, &with, err);
        if (rc == FENEC_OK)
            rc = read_run(with.read, &cx, k->out, err);
        break;
    case STMT_PUT:
    case STMT_UPDATE:
    case STMT_DELETE:
        rc = find_plan(k, at, &cx, &with, err);
        if (rc == FENEC_OK)
            rc = write_run(with.write, &cx, b, k->out, err);
        break;
    case STMT_COLLECTIONS:
    case STMT_DESCRIBE:
        rc = describe_run(cat, s, k->out, err);
        break;
    default:
        rc = ddl_run(b, s, k->out, err);
        break;
    }
    arena_rewind(&k->memory->memory, here);
    if (rc == FENEC_OK && k->out->failed)
        rc = buffer_error(k->out, err);
    if (rc != FENEC_OK && rc != FN_AGAIN && k->p->stmt_count > 1)
        err->at = (int)at;
    return rc;
}

/* Statements of one snapshot, all of them reads. */
static int read_snapshot(call *k, uint32_t first, uint32_t count, error *err)
{
    version *v;
    conn *c;
    int rc = store_read(k->d->w.s, &c, &v, err);

    if (rc != FENEC_OK)
        return rc;
    const published *of = (const published *)v;
    rc = check_exact(k, of->cat, err);
    if (rc == FENEC_OK)
        rc = text_bind(k->d->texts, &k->use, of->cat, err);
    for (uint32_t i = first; i < first + count && rc == FENEC_OK; i++)
        rc = run_one(k, i, of, c, of->cat, NULL, err);
    store_read_end(c);
    return rc;
}

/* Sees to what a run ended for with FN_AGAIN. */
static int provide(call *k, error *err)
{
    writer *w = &k->d->w;

    if (k->tries++ >= PROVIDES_MAX)
        return fail(err, FENEC_CORRUPT, k->need.damaged ? "a search index was damaged again as soon as it was built anew"
                                                        : "a search index cannot be kept in memory");
    if (k->need.damaged)
        return unbuilt_rebuild(&k->d->unbuilt, w, k->need.collection, k->need.index, k->memory, err);
    return search_read(w, k->need.collection, k->need.index, k->memory, err);
}

static int run_reads(call *k, uint32_t first, uint32_t count, error *err)
{
    int rc;

    while ((rc = read_snapshot(k, first, count, err)) == FN_AGAIN)
        if ((rc = provide(k, err)) != FENEC_OK)
            return rc;
    return rc;
}

/* Statements of one block. */
static int write_block(call *k, uint32_t first, uint32_t count, error *err)
{
    const stmt *s = &k->p->stmts[first];
    uint64_t ticket;
    block b;
    bool undo = count > 1 || write_needs_undo(s, k->params, k->param_count);
    int rc = block_begin(&b, &k->d->w, undo, k->memory, err);

    if (rc != FENEC_OK)
        return rc;
    rc = check_exact(k, b.cat, err);
    if (rc == FENEC_OK)
        rc = text_bind(k->d->texts, &k->use, b.cat, err);
    for (uint32_t i = first; i < first + count && rc == FENEC_OK; i++)
        rc = run_one(k, i, b.base, b.c, b.cat, &b, err);
    if (rc != FENEC_OK) {
        block_rollback(&b);
        k->need = b.need;
        return rc;
    }
    rc = block_commit(&b, &ticket, err);
    k->need = b.need;
    return rc == FENEC_OK ? store_wait(k->d->w.s, ticket, err) : rc;
}

static int run_block(call *k, uint32_t first, uint32_t count, error *err)
{
    int rc;

    while ((rc = write_block(k, first, count, err)) == FN_AGAIN)
        if ((rc = provide(k, err)) != FENEC_OK)
            return rc;
    return rc;
}

/* What is built beside the database: a lone `create index`, a compact. */
static int run_beside(const call *k, uint32_t at, error *err)
{
    const stmt *s = &k->p->stmts[at];
    uint64_t ticket = 0;
    int rc;

    k->out->len = k->start;
    if (s->kind == STMT_COMPACT)
        rc = compact_run(&k->d->w, s, k->memory, k->out, &ticket, err);
    else
        rc = build_run(&k->d->w, s, k->memory, k->out, &ticket, err);
    changes_reset(&k->memory->noted);
    return rc == FENEC_OK ? store_wait(k->d->w.s, ticket, err) : rc;
}

static int run_alone(call *k, uint32_t at, error *err)
{
    const stmt *s = &k->p->stmts[at];
    int rc;

    if (s->kind == STMT_COMPACT || s->kind == STMT_CREATE_INDEX)
        rc = run_beside(k, at, err);
    else if (stmt_is_read(s))
        rc = run_reads(k, at, 1, err);
    else
        rc = run_block(k, at, 1, err);
    if (rc != FENEC_OK && k->p->stmt_count > 1 && err->exact_count == 0)
        err->at = (int)at;
    return rc;
}

static int run_text(call *k, error *err)
{
    const parsed *p = k->p;
    int rc = FENEC_OK;

    if (p->stmt_count == 0) {
        rc = check_open(k->d, err);
        answer_ok(k->out, "empty");
        return rc;
    }
    if (p->only_reads)
        return run_reads(k, 0, p->stmt_count, err);
    if (p->stmt_count == 1)
        return run_alone(k, 0, err);
    if (!p->has_compact)
        return run_block(k, 0, p->stmt_count, err);
    for (uint32_t i = 0; i < p->stmt_count && rc == FENEC_OK; i++) {
        rc = run_alone(k, i, err);
        changes_reset(&k->memory->noted);
    }
    return rc;
}

int database_query(database *d, const uint8_t *bytes, size_t len, const uint8_t *params, size_t params_len,
                   const uint8_t *vectors, size_t vectors_len, buffer *out, error *err)
{
    call k = {.d = d, .out = out, .start = out->len};
    int rc;

    rc = text_begin(d->texts, bytes, len, &k.use, err);
    if (rc != FENEC_OK)
        return rc;
    k.memory = k.use.memory;
    rc = json_read_params(params, params_len, &k.memory->memory, &k.params, &k.param_count, err);
    if (rc == FENEC_OK)
        rc = lay_vectors(&k, vectors, vectors_len, err);
    if (rc == FENEC_OK)
        rc = text_parse(d->texts, bytes, len, &k.use, err);
    if (rc == FENEC_OK) {
        k.p = text_parsed(k.use.t);
        unbuilt_read(&d->unbuilt, &d->w, k.p, bytes, len, k.memory);
        rc = run_text(&k, err);
    }
    text_end(d->texts, &k.use);
    if (rc == FENEC_OK && out->failed)
        rc = buffer_error(out, err);
    return rc;
}

/* ---- a block that comes in pieces ---- */

static int run_piece(call *k, block *b, const piece *p, error *err)
{
    int rc = text_begin(k->d->texts, p->text, p->text_len, &k->use, err);

    if (rc != FENEC_OK)
        return rc;
    k->memory = k->use.memory;
    rc = json_read_params(p->params, p->params_len, &k->memory->memory, &k->params, &k->param_count, err);
    if (rc == FENEC_OK)
        rc = text_parse(k->d->texts, p->text, p->text_len, &k->use, err);
    if (rc == FENEC_OK) {
        k->p = text_parsed(k->use.t);
        rc = k->p->has_compact ? fail(err, FENEC_QUERY, "compact cannot be in a block")
                               : text_bind(k->d->texts, &k->use, b->cat, err);
    }
    for (uint32_t i = 0; rc == FENEC_OK && i < k->p->stmt_count; i++)
        rc = run_one(k, i, b->base, b->c, b->cat, b, err);
    text_end(k->d->texts, &k->use);
    return rc;
}

int database_block(database *d, piece_source next, void *from, error *err)
{
    call k = {.d = d};
    text_use whole = {0}; /* the block's memory; each piece has its own */
    buffer unheard;       /* what the pieces answer */
    uint64_t ticket;
    piece p;
    block b;
    int rc = text_begin(d->texts, NULL, 0, &whole, err);

    if (rc != FENEC_OK)
        return rc;
    buffer_init(&unheard);
    k.out = &unheard;
    rc = block_begin(&b, &d->w, true, whole.memory, err);
    if (rc == FENEC_OK) {
        while ((rc = next(from, &p, err)) == FENEC_OK && (rc = run_piece(&k, &b, &p, err)) == FENEC_OK)
            continue;
        if (rc == FN_END) {
            rc = block_commit(&b, &ticket, err);
            if (rc == FENEC_OK)
                rc = store_wait(d->w.s, ticket, err);
        } else {
            block_rollback(&b);
        }
        if (rc == FN_AGAIN) {
            k.memory = whole.memory;
            k.need = b.need;
            rc = provide(&k, err);
            if (rc == FENEC_OK)
                rc = fail(err, FENEC_CORRUPT, "a search index was damaged and is built anew: run this again");
        }
    }
    buffer_clear(&unheard);
    text_end(d->texts, &whole);
    return rc;
}

/* ---- the schema in code ---- */

/* text_runner's: a text inside a block that is under way. */
static int run_inside(void *d, block *b, const char *bytes, size_t len, const buffer *params, buffer *answer,
                      error *err)
{
    const piece p = {(const uint8_t *)bytes, len, params ? params->bytes : NULL, params ? params->len : 0};
    call k = {.d = d, .out = answer, .start = answer->len};
    int rc = run_piece(&k, b, &p, err);

    if (rc == FENEC_OK && answer->len == k.start)
        rc = fail(err, FENEC_QUERY, "there is no statement in it");
    if (rc != FENEC_OK)
        err->at = -1; /* a statement of a text nobody handed in */
    return rc;
}

static int bring_once(call *k, const description *wanted, bool apply, error *err)
{
    const text_runner runner = {run_inside, k->d};
    uint64_t ticket;
    bool keep;
    block b;
    int rc = block_begin(&b, &k->d->w, true, k->memory, err);

    if (rc != FENEC_OK)
        return rc;
    k->out->len = k->start;
    rc = schema_bring(&b, wanted, apply, &runner, k->out, &keep, err);
    if (rc == FENEC_OK && k->out->failed) /* not after it landed */
        rc = fail_memory(err);
    if (rc == FENEC_OK && keep)
        rc = block_commit(&b, &ticket, err);
    else
        block_rollback(&b);
    k->need = b.need;
    return rc == FENEC_OK && keep ? store_wait(k->d->w.s, ticket, err) : rc;
}

static int bring_schema(database *d, const description *wanted, bool apply, buffer *out, error *err)
{
    call k = {.d = d, .out = out, .start = out->len};
    text_use whole = {0}; /* the block's memory; each text has its own */
    int rc = text_begin(d->texts, NULL, 0, &whole, err);

    if (rc != FENEC_OK)
        return rc;
    k.memory = whole.memory;
    while ((rc = bring_once(&k, wanted, apply, err)) == FN_AGAIN)
        if ((rc = provide(&k, err)) != FENEC_OK)
            break;
    text_end(d->texts, &whole);
    return rc;
}

/* What the database has, as it is (wanted NULL) or beside what is wanted. */
static int read_schema(database *d, const description *wanted, buffer *out, error *err)
{
    version *v;
    conn *c;
    int rc = store_read(d->w.s, &c, &v, err);

    if (rc != FENEC_OK)
        return rc;
    const catalog *cat = ((const published *)v)->cat;
    if (wanted)
        rc = schema_follow(cat, wanted, out, err);
    else
        description_write(cat, out);
    store_read_end(c);
    return rc;
}

int database_schema(database *d, const uint8_t *bytes, size_t len, uint32_t mode, buffer *out, error *err)
{
    description wanted;
    int rc = check_open(d, err);

    if (rc != FENEC_OK)
        return rc;
    if (mode == FENEC_SCHEMA_DESCRIBE) {
        rc = read_schema(d, NULL, out, err);
    } else {
        rc = description_read(bytes, len, &wanted, err);
        if (rc != FENEC_OK)
            return rc;
        rc = mode == FENEC_SCHEMA_FOLLOW ? read_schema(d, &wanted, out, err)
                                         : bring_schema(d, &wanted, mode == FENEC_SCHEMA_APPLY, out, err);
        description_clear(&wanted);
    }
    return rc == FENEC_OK && out->failed ? buffer_error(out, err) : rc;
}

int database_peek(const uint8_t *file, size_t file_len, buffer *out, error *err)
{
    catalog *cat;
    int rc = catalog_peek(file, file_len, &cat, err);

    if (rc != FENEC_OK)
        return rc;
    description_write(cat, out);
    version_drop(&cat->head);
    return out->failed ? buffer_error(out, err) : FENEC_OK;
}

/* ---- the rest ---- */

int database_changes(database *d, uint64_t since, buffer *out, error *err)
{
    int rc = check_open(d, err);

    if (rc != FENEC_OK)
        return rc;
    change_ring_since(d->w.ring, since, out);
    return out->failed ? buffer_error(out, err) : FENEC_OK;
}

int database_sync(database *d, error *err)
{
    return store_sync(d->w.s, err);
}

int database_flush(database *d, error *err)
{
    return store_flush(d->w.s, err);
}

int database_checkpoint(database *d, error *err)
{
    text_use use = {0};
    int rc = store_check_fork(d->w.s, err);

    if (rc == FENEC_OK)
        rc = text_begin(d->texts, NULL, 0, &use, err);
    if (rc != FENEC_OK)
        return rc;
    search_settle(&d->w, use.memory);
    text_end(d->texts, &use);
    return store_checkpoint(d->w.s, err);
}

void database_look(database *d, uint64_t memory)
{
    text_use use = {0};
    error unused;

    error_init(&unused);
    if (text_begin(d->texts, NULL, 0, &use, &unused) == FENEC_OK)
        compact_look(&d->w, use.memory, memory);
    text_end(d->texts, &use);
}

int database_check(database *d, const check_watch *watch, check_report *out, error *err)
{
    version *v;
    conn *c;
    int rc = store_read(d->w.s, &c, &v, err);

    if (rc != FENEC_OK)
        return rc;
    rc = check_run(c, (const published *)v, watch, out, err);
    store_read_end(c);
    return rc;
}

int database_backup(database *d, const uint8_t *file, size_t len, bool replace, const check_watch *watch,
                    backup_report *out, error *err)
{
    version *v;
    conn *c;
    int rc = store_read(d->w.s, &c, &v, err);

    if (rc != FENEC_OK)
        return rc;
    rc = backup_run(c, (const published *)v, file, len, replace, watch, out, err);
    store_read_end(c);
    return rc;
}

/* The index of that place among all of them, counted from 0: FENEC_OK, FN_END. */
static int find_index(database *d, uint32_t place, uint32_t *of, uint32_t *index, error *err)
{
    version *v;
    conn *c;
    int rc = store_read(d->w.s, &c, &v, err);

    if (rc != FENEC_OK)
        return rc;
    const catalog *cat = ((const published *)v)->cat;
    rc = FN_END;
    for (uint32_t i = 0; i < cat->count && rc == FN_END; i++) {
        if (place < cat->collections[i]->index_count) {
            *of = cat->collections[i]->number;
            *index = cat->collections[i]->indexes[place].number;
            rc = FENEC_OK;
        }
        place -= cat->collections[i]->index_count;
    }
    store_read_end(c);
    return rc;
}

static int drop_index(database *d, uint32_t of, uint32_t index, scratch *memory, error *err)
{
    uint64_t ticket;
    catalog *next;
    block b;
    int rc = block_begin(&b, &d->w, true, memory, err);

    if (rc != FENEC_OK)
        return rc;
    rc = catalog_remove_index(b.cat, b.c, catalog_numbered(b.cat, of), index, &next, err);
    if (rc == FENEC_OK) {
        block_schema(&b, next);
        return block_commit(&b, &ticket, err);
    }
    block_rollback(&b);
    return rc;
}

int database_rebuild(database *d, const check_watch *watch, error *err)
{
    text_use use = {0};
    uint32_t of, index, place = 0;
    int rc = text_begin(d->texts, NULL, 0, &use, err);

    while (rc == FENEC_OK && (rc = find_index(d, place, &of, &index, err)) == FENEC_OK) {
        rc = unbuilt_rebuild(&d->unbuilt, &d->w, of, index, use.memory, err);
        if (rc == FENEC_DUPLICATE) {
            watch->found(watch->to, err->message);
            rc = drop_index(d, of, index, use.memory, err);
        } else {
            place++;
        }
    }
    text_end(d->texts, &use);
    return rc == FN_END ? FENEC_OK : rc;
}

/* What a file declares without entries is built, search indexes are read and linked. */
int database_warm(database *d, const uint8_t *only, size_t only_len, buffer *out, error *err)
{
    text_use use = {0};
    int64_t built = 0;
    int rc = check_open(d, err);

    if (rc == FENEC_OK)
        rc = text_begin(d->texts, NULL, 0, &use, err);
    if (rc != FENEC_OK)
        return rc;
    rc = unbuilt_warm(&d->unbuilt, &d->w, only, only_len, use.memory, &built, err);
    if (rc == FENEC_OK)
        rc = search_warm(&d->w, only, only_len, use.memory, err);
    text_end(d->texts, &use);
    if (rc != FENEC_OK)
        return rc;
    buffer_text(out, "{\"built\":");
    json_write_int(out, built);
    buffer_byte(out, '}');
    return out->failed ? buffer_error(out, err) : FENEC_OK;
}
