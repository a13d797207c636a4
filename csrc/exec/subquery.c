#include "exec/subquery.h"

#include <string.h>

#include "exec/encoding.h"
#include "exec/group.h"
#include "exec/read.h"
#include "value/packed.h"

struct subquery {
    const select_stmt *s;
    read_plan *plan;
};

/* What a statement's inner reads answered: a filter that is bound twice asks twice. */
typedef struct subquery_answer {
    struct subquery_answer *next;
    const select_stmt *of;
    const value *values;
    uint32_t count;
} subquery_answer;

int subquery_bind(const select_stmt *s, const catalog *cat, arena *a, subquery **out, error *err)
{
    subquery *q = arena_zeroed(a, sizeof *q);

    if (!q)
        return fail_memory(err);
    q->s = s;
    int rc = read_bind(s, cat, false, a, &q->plan, err);
    if (!rc)
        *out = q;
    return rc;
}

/* ---- running ---- */

static const tallies nothing = {0};

typedef struct collecting {
    groups seen;
    buffer bytes;
} collecting;

static int collect(void *to, const value *v, error *err)
{
    collecting *w = to;
    group *g;

    if (v->kind == VALUE_NULL)
        return FENEC_OK;
    w->bytes.len = 0;
    int rc = encoding_put_packed(&w->bytes, v, err);
    if (!rc && w->bytes.failed)
        rc = fail_memory(err);
    if (!rc)
        rc = groups_find(&w->seen, w->bytes.bytes, w->bytes.len, &g, err);
    if (!rc && w->seen.count > SUBQUERY_VALUES_MAX)
        rc = fail(err, FENEC_QUERY, "in (get ...) answers more than %u distinct values", SUBQUERY_VALUES_MAX);
    return rc;
}

/* Copies what was collected into the statement's memory. */
static int keep(const groups *seen, arena *a, value **out, error *err)
{
    value *values = arena_alloc(a, (seen->count ? seen->count : 1) * sizeof *values);

    if (!values)
        return fail_memory(err);
    for (size_t i = 0; i < seen->count; i++) {
        const uint8_t *key = arena_copy(a, group_bytes(seen, seen->all[i]), seen->all[i]->key_len), *at = key;
        if (!key)
            return fail_memory(err);
        int rc = packed_read(&at, key + seen->all[i]->key_len, a, &values[i], err);
        if (rc)
            return rc;
    }
    *out = values;
    return FENEC_OK;
}

static int answer_inner(const subquery *q, const context *cx, explain *x, subquery_answer **out, error *err)
{
    subquery_answer *made = arena_zeroed(cx->memory, sizeof *made);
    value *values = NULL;
    collecting w;

    if (!made)
        return fail_memory(err);
    groups_init(&w.seen, &nothing, SIZE_MAX);
    buffer_init(&w.bytes);
    int rc = read_values(q->plan, cx, collect, &w, x, err);
    if (!rc)
        rc = keep(&w.seen, cx->memory, &values, err);
    *made = (subquery_answer){
        .next = *cx->answered, .of = q->s, .values = values, .count = (uint32_t)w.seen.count};
    groups_clear(&w.seen);
    buffer_clear(&w.bytes);
    if (rc)
        return rc;
    explain_step(x, "subquery: %u values from %s", made->count, q->s->collection);
    *out = *cx->answered = made;
    return FENEC_OK;
}

int subquery_values(const subquery *q, const context *cx, explain *x, value **values, uint32_t *count,
                    error *err)
{
    subquery_answer *at = *cx->answered;

    while (at && at->of != q->s)
        at = at->next;
    int rc = at ? FENEC_OK : answer_inner(q, cx, x, &at, err);
    if (rc)
        return rc;
    *values = arena_alloc(cx->memory, (at->count ? at->count : 1) * sizeof **values);
    if (!*values)
        return fail_memory(err);
    if (at->count)
        memcpy(*values, at->values, at->count * sizeof **values);
    *count = at->count;
    return FENEC_OK;
}
