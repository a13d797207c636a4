#include "exec/near_vector.h"

#include <inttypes.h>
#include <math.h>

#include "exec/node.h"
#include "exec/search.h"
#include "search/vector_index.h"
#include "store/row.h"
#include "value/packed.h"

enum {
    BLOCK_ROWS = 256, /* rows of a scan tested together, */
    SAMPLE = 128,     /* that pass tell how many of all do, where those are many; */
    BLOCK_STEP = 16   /* every so many blocks, then the next of each: what passes may be all in one place */
};

typedef struct near_run {
    const vector_ask *ask;
    const context *cx;
    explain *x;
    const vector_version *v;
    vector_seek s;
    measure m; /* of vectors read from rows */
    ranking *out;
    ranking codes; /* candidates by what the index holds, where that is codes */
    bool holds_codes;
    float doubt; /* the largest of theirs */
    float bound; /* no distance beyond is of use */
    uint32_t beam;
    int64_t budget; /* distances that a set may cost */
    constant *resolved;
    scope scope;
    row at;
    arena_mark mark; /* of cx->memory: what a row took is given back before the next */
    ids set;         /* rows that pass, as far as they were found */
    bool is_whole;   /* they are all that pass */
    uint64_t tested, read;
    int code; /* of a visit */
    error *err;
} near_run;

/* ---- what is found ---- */

/* A distance that no row as good as the worst kept exceeds, a little more for what a score loses. */
static float worst_distance(const near_run *n)
{
    if (n->out->count < n->out->want)
        return INFINITY;
    float score = n->out->rows[0].score;
    return n->m.metric == METRIC_L2 ? score * score * 1.000001f : -score + 1e-6f * fabsf(score) + 1e-7f;
}

static void take(near_run *n, int64_t id, float score)
{
    ranking_add(n->out, id, score);
    n->bound = worst_distance(n);
}

static void take_exact(void *to, const vector_hit *h)
{
    near_run *n = to;

    take(n, h->id, codec_score(n->m.metric, h->distance));
}

static void take_code(void *to, const vector_hit *h)
{
    near_run *n = to;

    ranking_add(&n->codes, h->id, h->distance);
    n->doubt = h->doubt > n->doubt ? h->doubt : n->doubt;
    if (n->codes.count == n->codes.want)
        n->bound = n->codes.rows[0].score;
}

/* The vector of a document, from beside its record; null where it has none. */
static int read_vector(near_run *n, int64_t id, value *out, error *err)
{
    const uint8_t *bytes;
    size_t len;
    int rc = rows_get(n->cx->c, table_side(n->ask->of->number, n->ask->field->number), id, &bytes, &len, err);

    *out = value_null();
    n->read++;
    if (rc)
        return rc == FN_END ? FENEC_OK : rc;
    rc = packed_read(&bytes, bytes + len, n->cx->memory, out, err);
    if (!rc && (out->kind != VALUE_VECTOR || out->count != n->m.dimension))
        *out = value_null();
    return rc;
}

/* A document's own vector decides. */
static int take_read(near_run *n, int64_t id, error *err)
{
    value v;
    int rc = read_vector(n, id, &v, err);

    if (!rc && v.kind == VALUE_VECTOR)
        take(n, id, measure_score(&n->m, v.bytes));
    arena_rewind(n->cx->memory, n->mark);
    return rc;
}

/* Puts the best by code in order by their own vectors. */
static int read_codes(near_run *n, error *err)
{
    int rc = FENEC_OK;

    ranking_finish(&n->codes);
    n->bound = worst_distance(n);
    for (size_t i = 0; !rc && i < n->codes.count && !(n->codes.rows[i].score - n->doubt > n->bound); i++)
        rc = take_read(n, n->codes.rows[i].id, err);
    return rc;
}

/* ---- the filter ---- */

static int test(near_run *n, int64_t id, bool *pass, error *err)
{
    int rc = access_row(n->ask->of, n->cx->c, id, &n->at, err);

    n->tested++;
    if (!rc)
        rc = n->ask->filter->test(n->ask->filter, &n->scope, pass, err);
    arena_rewind(n->cx->memory, n->mark);
    return rc;
}

static int note_id(void *to, const row *r, error *err)
{
    near_run *n = to;

    return ids_add(&n->set, r->id, err);
}

/* Adds rows of an access that pass, until there are `most`. */
static int add_passing(near_run *n, picking *k, access *a, int64_t most, error *err)
{
    k->page = k->limit = most - (int64_t)n->set.count;
    int rc = k->limit > 0 ? pick_along(k, a, note_id, n, err) : FENEC_OK;
    n->tested += k->tested;
    k->tested = 0;
    return rc;
}

/* The rows of a scan, in blocks from all over it. */
static int probe_scan(near_run *n, picking *k, const access *a, int64_t most, error *err)
{
    int64_t low = a->low < 1 ? 1 : a->low, high, count;
    int rc = rows_last_id(n->cx->c, table_records(n->ask->of->number), &high, err);

    if (!rc)
        rc = rows_count(n->cx->c, table_records(n->ask->of->number), &count, err);
    if (rc)
        return rc;
    high = a->high < high ? a->high : high;
    if (high - low < BLOCK_ROWS * BLOCK_STEP || (high - low) / 4 > count) {
        access whole = {.kind = ACCESS_SCAN, .low = low, .high = high, .named = INT64_MAX};
        return low <= high ? add_passing(n, k, &whole, most, err) : FENEC_OK;
    }
    for (int64_t first = 0; first < BLOCK_STEP; first++) {
        for (int64_t at = low + first * BLOCK_ROWS; !rc && at <= high; at += BLOCK_ROWS * BLOCK_STEP) {
            access some = {.kind = ACCESS_SCAN, .low = at, .named = INT64_MAX};
            some.high = high - at < BLOCK_ROWS ? high : at + BLOCK_ROWS - 1;
            rc = add_passing(n, k, &some, most, err);
            if (rc || (int64_t)n->set.count >= most)
                return rc;
        }
    }
    return rc;
}

/* Finds rows that pass until there are `most` of them, or all are found. */
static int find_passing(near_run *n, access *a, int64_t most, error *err)
{
    picking k;
    int rc = pick_begin(&k, n->ask->pick, n->cx, NULL, err);

    n->set.count = 0;
    if (!rc && a->kind == ACCESS_SCAN)
        rc = probe_scan(n, &k, a, most, err);
    else if (!rc)
        rc = add_passing(n, &k, a, most, err);
    n->is_whole = (int64_t)n->set.count < most;
    pick_end(&k);
    return rc;
}

static int find_all(near_run *n, access *a, error *err)
{
    if (n->is_whole)
        return FENEC_OK;
    if (!a->exact || a->kind == ACCESS_SCAN)
        return find_passing(n, a, INT64_MAX, err);
    n->is_whole = true;
    n->set.count = 0;
    return access_ids(a, n->ask->of, n->cx, n->resolved, &n->set, err);
}

/* ---- ways to the page ---- */

/* By the vectors of the rows of the set, all of them. */
static int search_set(near_run *n, error *err)
{
    int64_t *unclear = arena_alloc(n->cx->memory, n->set.count * sizeof *unclear + 1);
    int rc = FENEC_OK;

    if (!unclear)
        return fail_memory(err);
    n->mark = arena_here(n->cx->memory);
    n->bound = INFINITY;
    n->out->count = n->codes.count = 0;
    size_t count = vector_seek_ids(&n->s, n->set.at, n->set.count, n->holds_codes ? take_code : take_exact, n, unclear);
    if (n->holds_codes)
        rc = read_codes(n, err);
    for (size_t i = 0; !rc && i < count; i++)
        rc = take_read(n, unclear[i], err);
    explain_step(n->x, "near: the set searched exactly, %zu rows, %" PRIu64 " vectors read", n->set.count, n->read);
    return rc;
}

/* By every vector that the index holds; of codes the best of them are read. */
static int search_all(near_run *n, error *err)
{
    int rc = FENEC_OK;

    n->bound = INFINITY;
    n->out->count = n->codes.count = 0;
    vector_seek_all(&n->s, &n->bound, n->holds_codes ? take_code : take_exact, n);
    if (n->holds_codes)
        rc = read_codes(n, err);
    explain_step(n->x, "near: every vector measured, %" PRIu64 ", %" PRIu64 " read", n->s.measured, n->read);
    return rc;
}

static int measure_row(void *to, const row *r, error *err)
{
    near_run *n = to;
    value v;
    int rc = row_field(r, n->ask->field->number, n->cx->memory, &v, err);

    if (!rc && v.kind == VALUE_VECTOR && v.count == n->m.dimension)
        take(n, r->id, measure_score(&n->m, v.bytes));
    n->read++;
    return rc;
}

/* By every document's own vector. */
static int read_all(near_run *n, error *err)
{
    picking k;
    int rc = pick_begin(&k, n->ask->pick, n->cx, NULL, err);

    if (!rc)
        rc = pick_each(&k, measure_row, n, err);
    pick_end(&k);
    explain_step(n->x, "near: exact, every vector read, %" PRIu64, n->read);
    return rc;
}

/* By the graph: candidates come nearest first, and are tested in that order. */
static int walk(near_run *n, uint32_t beam, error *err)
{
    vector_hit h;
    int rc = vector_seek_near(&n->s, beam, err);

    n->mark = arena_here(n->cx->memory);
    n->bound = INFINITY;
    n->out->count = 0;
    for (uint32_t i = 0; !rc && (i < beam || n->out->count < n->out->want); i++) {
        bool pass = true;
        rc = vector_seek_next(&n->s, &h, err);
        if (rc)
            break;
        if (h.distance - h.doubt > n->bound) {
            if (h.doubt > 0)
                continue;
            break;
        }
        n->mark = arena_here(n->cx->memory);
        if (n->ask->filter)
            rc = test(n, h.id, &pass, err);
        if (!rc && pass && n->holds_codes)
            rc = take_read(n, h.id, err);
        else if (!rc && pass)
            take_exact(n, &h);
    }
    explain_step(n->x, "near: beam %" PRIu32 ", %" PRIu64 " distances, %" PRIu64 " candidates tested, %" PRIu64 " read",
                 beam, n->s.measured, n->tested, n->read);
    return rc == FN_END ? FENEC_OK : rc;
}

/* ---- plans ---- */

static uint32_t links(const near_run *n)
{
    return 2 * n->ask->index->spec.m;
}

static int search_unfiltered(near_run *n, error *err)
{
    const int64_t docs = n->v->docs, want = (int64_t)n->out->want;

    if (docs <= n->beam || (int64_t)n->beam * links(n) >= docs)
        return search_all(n, err);
    int rc = walk(n, n->beam, err);
    if (rc || (int64_t)n->out->count >= (want < docs ? want : docs))
        return rc;
    explain_step(n->x, "near: the walk came up short, %zu rows", n->out->count);
    return search_all(n, err);
}

/* The beam in which enough of the rows will pass, where so many of all do. */
static int64_t wide_beam(const near_run *n, int64_t size)
{
    double wide = ceil(2.0 * (double)n->out->want * (double)n->v->docs / (double)(size > 0 ? size : 1));

    return wide > n->beam ? (wide < INT32_MAX ? (int64_t)wide : INT32_MAX) : n->beam;
}

/* Of a large set the rows are found by whatever index narrows it most, which nobody asked for before. */
static int find_rest(near_run *n, access *a, error *err)
{
    if (!n->is_whole && a->kind == ACCESS_SCAN) {
        access_clear(a);
        int rc = access_choose(&n->ask->access, n->cx, n->resolved, INT64_MAX, a, err);
        if (rc)
            return rc;
    }
    return find_all(n, a, err);
}

static int walk_or_finish(near_run *n, access *a, int64_t size, error *err)
{
    int64_t beam = wide_beam(n, size);
    int rc = FENEC_OK;

    if (beam * links(n) < size) {
        rc = walk(n, (uint32_t)beam, err);
        if (rc || n->out->count == n->out->want)
            return rc;
        explain_step(n->x, "near: the walk came up short, %zu rows", n->out->count);
    }
    rc = find_rest(n, a, err);
    return rc ? rc : search_set(n, err);
}

/* As many of all as of those that were probed. */
static int64_t guess_size(const near_run *n)
{
    return (int64_t)((double)n->set.count / (double)(n->tested ? n->tested : 1) * (double)n->v->docs);
}

/* Finds rows that pass: all of them, or enough to tell about how many there are and that they are too many. */
static int probe(near_run *n, access *a, int64_t *size, error *err)
{
    const bool sample = a->kind == ACCESS_SCAN && n->budget > SAMPLE;
    int rc = sample ? find_passing(n, a, SAMPLE, err) : FENEC_OK;

    if (!rc && !n->is_whole && (!sample || guess_size(n) / 4 < n->budget)) {
        n->tested = 0;
        rc = find_passing(n, a, n->budget + 1, err);
    }
    explain_step(n->x, "filter: %" PRIu64 " rows probed, %zu pass; budget %" PRId64, n->tested, n->set.count, n->budget);
    *size = n->is_whole ? (int64_t)n->set.count : guess_size(n);
    n->tested = 0;
    return rc;
}

static int search_filtered(near_run *n, access *a, error *err)
{
    int64_t size = a->named;
    int rc = FENEC_OK;

    if (a->kind != ACCESS_SCAN && a->exact && size < INT64_MAX) {
        explain_step(n->x, "filter: %s named %" PRId64 " rows, which are the answer; budget %" PRId64, a->how, size,
                     n->budget);
    } else {
        rc = probe(n, a, &size, err);
    }
    if (rc || (!n->is_whole && size > n->budget))
        return rc ? rc : walk_or_finish(n, a, size, err);
    rc = find_all(n, a, err);
    return rc ? rc : search_set(n, err);
}

static int search(near_run *n, error *err)
{
    access a = {.kind = ACCESS_SCAN, .low = INT64_MIN, .high = INT64_MAX, .named = INT64_MAX};
    int rc = constants_resolve(&n->ask->once, n->cx, n->x, &n->resolved, err);

    if (rc)
        return rc;
    if (n->ask->exact && n->holds_codes)
        return read_all(n, err);
    if (!n->ask->filter)
        return n->ask->exact ? search_all(n, err) : search_unfiltered(n, err);
    n->scope.resolved = n->resolved;
    if (n->ask->exact)
        rc = access_choose(&n->ask->access, n->cx, n->resolved, INT64_MAX, &a, err);
    else
        rc = access_choose_few(&n->ask->access, n->cx, n->resolved, n->budget + 1, &a, err);
    if (!rc && n->ask->exact) {
        rc = find_all(n, &a, err);
        if (!rc)
            rc = search_set(n, err);
    } else if (!rc) {
        rc = search_filtered(n, &a, err);
    }
    access_clear(&a);
    return rc;
}

static void explain_index(const near_run *n)
{
    if (!n->x)
        return;
    const vector_state s = vector_look(n->v);
    explain_step(n->x,
                 "near: the index holds %" PRIu32 " vectors, %" PRIu32 " linked: %zu KiB of vectors, %zu KiB of links, "
                 "%zu KiB beside",
                 s.nodes, s.linked, s.vector_bytes / 1024, s.link_bytes / 1024, s.other_bytes / 1024);
}

static int find_version(near_run *n, error *err)
{
    const catalog_index *x = n->ask->index;
    version *v;

    if (x->state != INDEX_READY) /* its build failed before: it is tried again, and says why */
        return search_damaged(n->cx->need, n->ask->of, x);
    int rc = search_part(n->cx, n->ask->of, x, &v, err);
    n->v = (const vector_version *)v;
    return rc;
}

int near_vector(const vector_ask *ask, const context *cx, float *query, size_t want, ranking *out, explain *x,
                error *err)
{
    const index_spec *spec = &ask->index->spec;
    const uint32_t ef = ask->ef ? ask->ef : spec->ef_search;
    near_run n = {.ask = ask, .cx = cx, .x = x, .out = out, .err = err};
    int rc = find_version(&n, err);

    if (rc || want == 0)
        return rc;
    n.beam = ef < want ? (uint32_t)want : ef;
    n.budget = (int64_t)ef * 2 * spec->m;
    n.holds_codes = !vector_is_exact(n.v);
    n.scope = (scope){.cx = cx, .row = &n.at, .memory = cx->memory};
    rc = measure_init(&n.m, spec->metric, query, ask->field->type.dimension, cx->memory, err);
    if (!rc && n.holds_codes)
        rc = ranking_init(&n.codes, n.beam, true, cx->memory, err);
    if (!rc)
        rc = vector_seek_begin(&n.s, n.v, query, cx->memory, err);
    n.mark = arena_here(cx->memory);
    if (!rc)
        rc = search(&n, err);
    if (!rc)
        explain_index(&n);
    vector_seek_end(&n.s);
    ids_clear(&n.set);
    return rc;
}
