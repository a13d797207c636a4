#include "exec/ranked.h"

#include "exec/access.h"
#include "exec/match.h"
#include "exec/near.h"
#include "exec/near_point.h"

struct ranked_plan {
    const collection *of;
    match_plan *match;
    near_plan *near;
    near_point_plan *point; /* in its place: hands out rows as it finds them */
    count_value limit, offset;
};

bool ranked_is(const select_stmt *s)
{
    return s->near || s->match;
}

int ranked_bind(const select_stmt *s, const catalog *cat, const collection *of, arena *a, ranked_plan **out,
                error *err)
{
    ranked_plan *p = arena_zeroed(a, sizeof *p);

    if (!p)
        return fail_memory(err);
    *p = (ranked_plan){.of = of, .limit = s->limit, .offset = s->offset};
    if (s->match) {
        int bad = match_bind(s->match, cat, of, s->where, a, &p->match, err);
        if (!bad)
            *out = p;
        return bad;
    }
    int rc = near_point_is(s->near, of)
                 ? near_point_bind(s->near, cat, of, s->where, s->limit, s->offset, a, &p->point, err)
                 : near_bind(s->near, cat, of, s->where, a, &p->near, err);
    if (!rc)
        *out = p;
    return rc;
}

const match_plan *ranked_match(const ranked_plan *p)
{
    return p->match;
}

/* Rows skip..want of the ranking. */
static int read_page(const ranked_plan *p, const context *cx, size_t *skip, size_t *want, error *err)
{
    int64_t limit, offset;
    int rc = context_count(cx, &p->limit, "limit", RANKED_MAX, &limit, err);

    if (!rc)
        rc = context_count(cx, &p->offset, "offset", 0, &offset, err);
    if (rc)
        return rc;
    if (offset > RANKED_MAX || (p->limit.given && limit > RANKED_MAX - offset))
        return fail(err, FENEC_QUERY, "a ranked read answers its first %d rows: limit and offset are beyond them",
                    RANKED_MAX);
    *skip = (size_t)offset;
    *want = (size_t)(p->limit.given ? limit + offset : RANKED_MAX);
    return FENEC_OK;
}

/* ---- handing out ---- */

/* The rows of a page. */
typedef struct handing {
    const ranked_plan *p;
    const context *cx;
    ranked_visit *visit;
    void *to;
    const ranked_row *rows, *end;
    arena_mark mark;
    row at;
    int code;
    error *err;
} handing;

static bool hand_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    handing *h = to;

    if (h->rows->id != id)
        return false; /* the one before it is not there */
    h->code = row_open(&h->at, h->cx->c, h->p->of->number, id, bytes, len, h->err);
    if (!h->code)
        h->code = h->visit(h->to, &h->at, h->rows++->score, h->err);
    arena_rewind(h->cx->memory, h->mark);
    return !h->code;
}

static int hand_out(handing *h, error *err)
{
    const size_t count = (size_t)(h->end - h->rows);
    int64_t *list = arena_alloc(h->cx->memory, sizeof *list * count), last;

    if (!list)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        list[i] = h->rows[i].id;
    h->mark = arena_here(h->cx->memory);
    h->err = err;
    int rc = rows_listed(h->cx->c, table_records(h->p->of->number), list, count, hand_row, h, &last, err);
    if (h->code || (rc && rc != FN_END))
        return h->code ? h->code : rc;
    return h->rows == h->end ? FENEC_OK : access_row(h->p->of, h->cx->c, h->rows->id, &h->at, err);
}

static int hand_point(void *to, const row *r, double metres, error *err)
{
    const handing *h = to;

    return h->visit(h->to, r, (float)metres, err);
}

static int match_rows(const ranked_plan *p, const context *cx, size_t want, ranking *out, explain *x, error *err)
{
    best_row *rows;
    size_t count;
    int rc = match_first(p->match, cx, want, &rows, &count, x, err);

    if (!rc)
        rc = ranking_init(out, count, false, cx->memory, err);
    for (size_t i = 0; !rc && i < count; i++)
        out->rows[out->count++] = (ranked_row){rows[i].id, rows[i].score};
    return rc;
}

int ranked_run(const ranked_plan *p, const context *cx, ranked_visit *visit, void *to, explain *x, error *err)
{
    handing h = {.p = p, .cx = cx, .visit = visit, .to = to};
    size_t skip = 0, want = 0;
    ranking found;

    if (p->point)
        return near_point_run(p->point, cx, hand_point, &h, x, err);
    int rc = read_page(p, cx, &skip, &want, err);
    if (!rc && p->match)
        rc = match_rows(p, cx, want, &found, x, err);
    else if (!rc)
        rc = near_first(p->near, cx, want, &found, x, err);
    if (rc || found.count <= skip)
        return rc;
    h.rows = found.rows + skip;
    h.end = found.rows + found.count;
    return hand_out(&h, err);
}
