#include "exec/ranked.h"

#include <inttypes.h>

#include "exec/access.h"
#include "exec/fuse.h"
#include "exec/match.h"
#include "exec/near.h"
#include "exec/near_point.h"
#include "exec/rerank.h"

struct ranked_plan {
    const collection *of;
    match_plan *match;
    near_plan *near;        /* with match: they are fused */
    near_point_plan *point; /* in its place: hands out rows as it finds them */
    rerank_plan *rerank;
    const fuse_clause *fuse;
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
    p->fuse = s->fuse;
    if (s->fuse && s->fuse->candidates > RANKED_MAX)
        return fail(err, FENEC_QUERY, "fuse takes %d candidates of a side at most", RANKED_MAX);
    int rc = s->match ? match_bind(s->match, cat, of, s->where, a, &p->match, err) : FENEC_OK;
    if (!rc && s->rerank)
        rc = rerank_bind(s->rerank, of, a, &p->rerank, err);
    if (!rc && s->near)
        rc = !s->match && near_point_is(s->near, of)
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

static int hand_ids(handing *h, error *err)
{
    int rc = FENEC_OK;

    for (; !rc && h->rows < h->end; h->rows++) {
        h->at = (row){.c = h->cx->c, .collection = h->p->of->number, .id = h->rows->id};
        rc = h->visit(h->to, &h->at, h->rows->score, err);
    }
    return rc;
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

static int rerank_match(const ranked_plan *p, const context *cx, size_t want, ranking *out, explain *x, error *err)
{
    ranking matched;
    int rc = match_rows(p, cx, rerank_depth(p->rerank, want), &matched, x, err);

    return rc ? rc : rerank_rows(p->rerank, cx, &matched, want, out, x, err);
}

static int fuse_both(const ranked_plan *p, const context *cx, size_t want, ranking *out, explain *x, error *err)
{
    const size_t depth = p->fuse->candidates < want ? want : p->fuse->candidates;
    ranking texts, near;
    int rc = match_rows(p, cx, depth, &texts, x, err);

    if (!rc)
        rc = near_first(p->near, cx, depth, &near, x, err);
    if (!rc)
        rc = fuse_rows(&texts, &near, p->fuse->k, want, out, cx->memory, err);
    if (!rc)
        explain_step(x, "fuse: k %" PRIu32 ", %zu candidates of match, %zu of near", p->fuse->k, texts.count,
                     near.count);
    return rc;
}

/* The first `want` rows. */
static int rank(const ranked_plan *p, const context *cx, size_t want, ranking *out, explain *x, error *err)
{
    if (p->fuse)
        return fuse_both(p, cx, want, out, x, err);
    if (p->rerank)
        return rerank_match(p, cx, want, out, x, err);
    return p->match ? match_rows(p, cx, want, out, x, err) : near_first(p->near, cx, want, out, x, err);
}

int ranked_run(const ranked_plan *p, const context *cx, bool ids_only, ranked_visit *visit, void *to, explain *x,
               error *err)
{
    handing h = {.p = p, .cx = cx, .visit = visit, .to = to};
    size_t skip = 0, want = 0;
    ranking found;

    if (p->point)
        return near_point_run(p->point, cx, hand_point, &h, x, err);
    int rc = read_page(p, cx, &skip, &want, err);
    if (!rc)
        rc = rank(p, cx, want, &found, x, err);
    if (rc || found.count <= skip)
        return rc;
    h.rows = found.rows + skip;
    h.end = found.rows + found.count;
    return ids_only ? hand_ids(&h, err) : hand_out(&h, err);
}
