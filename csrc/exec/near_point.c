#include "exec/near_point.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/access.h"
#include "exec/index.h"
#include "exec/node.h"
#include "exec/points.h"
#include "value/geo.h"
#include "value/geo_cell.h"

#define HALF_EARTH_M 20030000.0 /* no distance is longer */
#define FIRST_CIRCLE_M 1000.0   /* where nothing says how near the nearest is */

struct near_point_plan {
    const collection *of;
    const catalog_field *field;
    const bound *point;
    bool exact;
    const catalog_index *index; /* @geo, ready; NULL: none */
    const bound *filter;        /* NULL: every row passes */
    constants once;
    access_plan access;
    count_value limit, offset;
};

/* ---- binding ---- */

bool near_point_is(const near_clause *near, const collection *of)
{
    bool plain = near->field.part_count == 1;
    int32_t place = plain ? collection_field(of, near->field.text, near->field.text_len) : -1;

    return place >= 0 && of->fields[place].type.kind == TYPE_GEO;
}

int near_point_bind(const near_clause *near, const catalog *cat, const collection *of, const expr *where,
                    count_value limit, count_value offset, arena *a, near_point_plan **out, error *err)
{
    near_point_plan *p = arena_zeroed(a, sizeof *p);
    const binding values = {.place = BIND_VALUE};
    bound *point = NULL, *filter = NULL;

    if (!p)
        return fail_memory(err);
    if (near->ef_given)
        return fail(err, FENEC_QUERY, "`ef` is for vectors: near over the points of `%s` has no use for it",
                    near->field.text);
    p->of = of;
    p->field = &of->fields[collection_field(of, near->field.text, near->field.text_len)];
    p->exact = near->exact;
    p->limit = limit;
    p->offset = offset;
    if (p->field->index && p->field->index->state == INDEX_READY)
        p->index = p->field->index;
    int rc = expr_bind(near->vector, &values, a, &point, err);
    if (!rc)
        rc = filter_bind(where, cat, of, &p->once, a, &filter, err);
    p->point = point;
    p->filter = filter;
    if (!rc)
        rc = access_bind(of, filter, a, &p->access, err);
    if (!rc)
        *out = p;
    return rc;
}

/* ---- the first rows: a heap with the last of them on top ---- */

typedef struct met {
    double metres;
    int64_t id;
} met;

typedef struct nearest {
    const near_point_plan *p;
    const context *cx;
    explain *x;
    constant *resolved;
    double from[2];
    scope s;
    row at;
    arena_mark mark; /* of cx->memory: what a row took is given back before the next */
    met *rows;
    size_t count, want;
    uint64_t measured;
    double inner, outer; /* the ring under way */
    int code;
    error *err;
} nearest;

static bool comes_before(const met *a, const met *b)
{
    return a->metres < b->metres || (a->metres == b->metres && a->id < b->id);
}

static int by_distance(const void *a, const void *b)
{
    return comes_before(b, a) - comes_before(a, b);
}

static bool is_wanted(const nearest *n, const met *m)
{
    return n->count < n->want || comes_before(m, &n->rows[0]);
}

/* `m` is wanted. */
static void keep(nearest *n, met m)
{
    size_t at = 0, child;

    if (n->count < n->want) {
        for (at = n->count++; at > 0 && comes_before(&n->rows[(at - 1) / 2], &m); at = (at - 1) / 2)
            n->rows[at] = n->rows[(at - 1) / 2];
        n->rows[at] = m;
        return;
    }
    while ((child = 2 * at + 1) < n->count) {
        if (child + 1 < n->count && comes_before(&n->rows[child], &n->rows[child + 1]))
            child++;
        if (!comes_before(&m, &n->rows[child]))
            break;
        n->rows[at] = n->rows[child];
        at = child;
    }
    n->rows[at] = m;
}

/* ---- finding them ---- */

static int test(nearest *n, bool *pass, error *err)
{
    return n->p->filter->test(n->p->filter, &n->s, pass, err);
}

/* Measures every row that an access names. */
static int measure(nearest *n, access *a, error *err)
{
    const near_point_plan *p = n->p;
    access_rows rows;
    int rc = access_open(&rows, a, p->of, n->cx, n->resolved, false, err);

    while (!rc && (rc = access_next(&rows, &n->at, err)) == FENEC_OK) {
        bool pass = true;
        value v;
        rc = row_field(&n->at, p->field->number, n->cx->memory, &v, err);
        if (!rc && v.kind == VALUE_POINT) {
            const met m = {geo_distance(v.point, n->from), n->at.id};
            n->measured++;
            if (is_wanted(n, &m)) {
                if (p->filter && !a->exact)
                    rc = test(n, &pass, err);
                if (!rc && pass)
                    keep(n, m);
            }
        }
        arena_rewind(n->cx->memory, n->mark);
    }
    access_close(&rows);
    return rc == FN_END ? FENEC_OK : rc;
}

static bool meet(void *to, int64_t id, const double p[2])
{
    nearest *n = to;
    const met m = {geo_distance(p, n->from), id};
    bool pass = true;

    if (m.metres <= n->inner || m.metres > n->outer)
        return true;
    n->measured++;
    if (!is_wanted(n, &m))
        return true;
    if (n->p->filter) {
        n->code = access_row(n->p->of, n->cx->c, id, &n->at, n->err);
        if (!n->code)
            n->code = test(n, &pass, n->err);
        arena_rewind(n->cx->memory, n->mark);
    }
    if (!n->code && pass)
        keep(n, m);
    return !n->code;
}

/* The points farther than `inner` (below 0: none is left out) and no farther than `outer`. */
static int walk_ring(nearest *n, double inner, double outer, error *err)
{
    double box[4];

    n->inner = inner;
    n->outer = outer;
    n->code = FENEC_OK;
    n->err = err;
    geo_around(n->from, outer, box);
    int rc = points_within(n->cx->c, n->p->index, box, meet, n, err);
    return n->code ? n->code : rc;
}

/* How far it is to the next point along the curve: the nearest is no farther. */
static int first_circle(const nearest *n, double *metres, error *err)
{
    uint8_t low[GEO_KEY_LEN];
    const key_range from = {.low = low, .low_len = GEO_CELL_LEN, .has_low = true};
    const uint8_t *key;
    cursor cur = {0};
    double p[2];
    size_t len;
    int64_t id;

    *metres = FIRST_CIRCLE_M;
    geo_key(low, n->from);
    int rc = cursor_entries(&cur, n->cx->c, table_index(n->p->index->number), &from, false, err);
    if (!rc)
        rc = cursor_next_entry(&cur, &id, &key, &len, err);
    if (!rc && geo_key_point(key, len, p))
        *metres = geo_distance(p, n->from) * 1.01 + 1;
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

/* Circles, each larger by what the last one lacked, until one holds the whole page. */
static int walk_out(nearest *n, error *err)
{
    double inner = -1, outer;
    int rc = first_circle(n, &outer, err);

    while (!rc) {
        rc = walk_ring(n, inner, outer, err);
        if (rc || n->count == n->want || outer > HALF_EARTH_M)
            return rc;
        double grow = n->count ? sqrt(1.5 * (double)n->want / (double)n->count) : 4;
        inner = outer;
        outer *= grow > 4 ? 4 : grow;
    }
    return rc;
}

/* Whether measuring what an index names is cheaper than walking out, which is taken to meet rows that pass
 * evenly. */
static int naming_pays(const nearest *n, const access *a, bool *out, error *err)
{
    int64_t last;
    int rc = rows_last_id(n->cx->c, table_records(n->p->of->number), &last, err);

    *out = a->kind != ACCESS_SCAN &&
           (!n->p->index || (double)a->named * (double)a->named < (double)n->want * (double)last);
    return rc;
}

static void explain_near(const nearest *n, const access *a, bool walked)
{
    const char *filter = n->p->filter ? "tested" : "none";

    if (a->kind == ACCESS_SCAN || walked)
        explain_step(n->x, "filter: %s%s", filter,
                     !n->p->filter ? "" : walked ? " on the walk" : ", full scan");
    else
        explain_step(n->x, "filter: %s named %" PRId64 " rows, %s", a->how, a->named,
                     a->exact ? "which are the answer" : "candidates to test");
    if (walked)
        explain_step(n->x, "near: the point index walked outwards, %" PRIu64 " points measured", n->measured);
    else
        explain_step(n->x, "near: every point measured, %" PRIu64, n->measured);
}

static int find(nearest *n, error *err)
{
    const near_point_plan *p = n->p;
    access a = {.kind = ACCESS_SCAN, .low = INT64_MIN, .high = INT64_MAX, .named = INT64_MAX};
    bool walks = p->index && !p->exact, named = false;
    int rc = FENEC_OK;

    if (p->filter)
        rc = access_choose(&p->access, n->cx, n->resolved, INT64_MAX, &a, err);
    n->mark = arena_here(n->cx->memory);
    if (!rc && walks)
        rc = naming_pays(n, &a, &named, err);
    walks &= !named;
    if (!rc)
        rc = walks ? walk_out(n, err) : measure(n, &a, err);
    if (!rc)
        explain_near(n, &a, walks);
    access_clear(&a);
    if (!rc && n->count > 1)
        qsort(n->rows, n->count, sizeof *n->rows, by_distance);
    return rc;
}

/* The rows found, from `at` on. */
typedef struct handing {
    nearest *n;
    size_t at;
    near_visit *visit;
    void *to;
    int code;
    error *err;
} handing;

static bool hand_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    handing *h = to;
    nearest *n = h->n;

    if (n->rows[h->at].id != id)
        return false; /* the one before it is not there */
    h->code = row_open(&n->at, n->cx->c, n->p->of->number, id, bytes, len, h->err);
    if (!h->code)
        h->code = h->visit(h->to, &n->at, n->rows[h->at++].metres, h->err);
    arena_rewind(n->cx->memory, n->mark);
    return !h->code;
}

static int hand_out(nearest *n, size_t skip, near_visit *visit, void *to, error *err)
{
    handing h = {.n = n, .at = skip, .visit = visit, .to = to, .err = err};
    const size_t count = n->count - skip;
    int64_t *list = arena_alloc(n->cx->memory, sizeof *list * count), last;

    if (!list)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        list[i] = n->rows[skip + i].id;
    n->mark = arena_here(n->cx->memory);
    int rc = rows_listed(n->cx->c, table_records(n->p->of->number), list, count, hand_row, &h, &last, err);
    if (h.code || (rc && rc != FN_END))
        return h.code ? h.code : rc;
    return h.at == n->count ? FENEC_OK : access_row(n->p->of, n->cx->c, n->rows[h.at].id, &n->at, err);
}

static int ask_point(nearest *n, error *err)
{
    value v;
    int rc = n->p->point->eval(n->p->point, &n->s, &v, err);

    return rc ? rc : geo_point(&v, n->from, err);
}

/* Rows `skip`.. of the first `want`. */
static int run(nearest *n, size_t skip, near_visit *visit, void *to, error *err)
{
    int rc = ask_point(n, err);

    if (!rc)
        rc = constants_resolve(&n->p->once, n->cx, n->x, &n->resolved, err);
    if (rc)
        return rc;
    n->s.resolved = n->resolved;
    n->rows = arena_alloc(n->cx->memory, sizeof *n->rows * (n->want ? n->want : 1));
    if (!n->rows)
        return fail_memory(err);
    if (n->want > skip)
        rc = find(n, err);
    else
        explain_step(n->x, "near: nothing measured, the page is empty");
    return rc || n->count <= skip ? rc : hand_out(n, skip, visit, to, err);
}

static nearest begin(const near_point_plan *p, const context *cx, explain *x)
{
    return (nearest){.p = p, .cx = cx, .x = x, .s = {.cx = cx, .memory = cx->memory}};
}

int near_point_first(const near_point_plan *p, const context *cx, int64_t want, near_visit *visit, void *to,
                     explain *x, error *err)
{
    nearest n = begin(p, cx, x);

    n.s.row = &n.at;
    n.want = (size_t)want;
    return run(&n, 0, visit, to, err);
}

int near_point_run(const near_point_plan *p, const context *cx, near_visit *visit, void *to, explain *x,
                   error *err)
{
    nearest n = begin(p, cx, x);
    int64_t limit, offset;
    int rc = context_count(cx, &p->limit, "limit", INT64_MAX, &limit, err);

    n.s.row = &n.at;
    if (!rc)
        rc = context_count(cx, &p->offset, "offset", 0, &offset, err);
    if (rc)
        return rc;
    bool all = limit == INT64_MAX && !p->limit.given;
    if (offset > NEAR_ROWS_MAX || (!all && limit > NEAR_ROWS_MAX - offset))
        return fail(err, FENEC_QUERY, "near answers the first %d rows at most", NEAR_ROWS_MAX);
    n.want = (size_t)(all ? NEAR_ROWS_MAX : limit + offset);
    return run(&n, (size_t)offset, visit, to, err);
}
