/* The functions over a row (chapter 1 section 8.1, chapter 2 section 9.3). Every argument is worked out
 * before the function. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "exec/node.h"
#include "exec/sketch.h"
#include "value/bucket.h"
#include "value/geo.h"
#include "value/timestamp.h"
#include "value/value.h"

enum { ARGS_ON_STACK = 3 };

struct function {
    const char *name;
    uint32_t least, most;
    int (*run)(const value *args, uint32_t count, const scope *s, value *out, error *err);
};

/* What an argument that does not fit is refused with. */
static int unfit(const char *name, const value *v, const char *wanted, error *err)
{
    return fail(err, FENEC_TYPE, "`%s` takes %s, not %s", name, wanted, value_kind_name(v));
}

static int run_now(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    (void)args, (void)count, (void)err;
    *out = value_timestamp(s->cx->now_ms);
    return FENEC_OK;
}

static int run_timestamp(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    char quoted[VALUE_QUOTE_MAX];
    int64_t ms;

    (void)count, (void)s;
    switch (args[0].kind) {
    case VALUE_NULL:
    case VALUE_TIMESTAMP: *out = args[0]; return FENEC_OK;
    case VALUE_INT: *out = value_timestamp(args[0].integer); return FENEC_OK;
    case VALUE_TEXT:
        if (!timestamp_read(args[0].bytes, args[0].len, &ms))
            return fail(err, FENEC_TYPE, "%s is no timestamp", value_quote(quoted, &args[0]));
        *out = value_timestamp(ms);
        return FENEC_OK;
    default: return unfit("timestamp", &args[0], "a timestamp, an int or a text", err);
    }
}

static int change_case(const value *from, bool upper, const scope *s, value *out, error *err)
{
    buffer changed;
    int rc = FENEC_OK;

    *out = *from;
    if (from->kind != VALUE_TEXT)
        return FENEC_OK;
    buffer_init(&changed);
    if (upper)
        unicode_upper(&changed, from->bytes, from->len);
    else
        unicode_lower(&changed, from->bytes, from->len);
    const uint8_t *copy = changed.failed ? NULL : arena_copy(s->memory, changed.bytes, changed.len);
    if (copy)
        *out = value_text(copy, changed.len);
    else
        rc = fail_memory(err);
    buffer_clear(&changed);
    return rc;
}

static int run_lower(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    (void)count;
    return change_case(&args[0], false, s, out, err);
}

static int run_upper(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    (void)count;
    return change_case(&args[0], true, s, out, err);
}

static int run_len(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    int64_t len = 0;

    (void)count, (void)s, (void)err;
    switch (args[0].kind) {
    case VALUE_TEXT: len = (int64_t)utf8_count(args[0].bytes, args[0].len); break;
    case VALUE_BYTES: len = (int64_t)args[0].len; break;
    case VALUE_LIST:
    case VALUE_VECTOR: len = args[0].count; break;
    case VALUE_POINT: len = 2; break;
    default: break;
    }
    *out = value_int(len);
    return FENEC_OK;
}

static int run_coalesce(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    uint32_t i = 0;

    (void)s, (void)err;
    while (i < count - 1 && args[i].kind == VALUE_NULL)
        i++;
    *out = args[i];
    return FENEC_OK;
}

/* Of equal ones the first. */
static void extreme(const value *args, uint32_t count, int sign, value *out)
{
    *out = value_null();
    for (uint32_t i = 0; i < count; i++)
        if (args[i].kind != VALUE_NULL && (out->kind == VALUE_NULL || sign * value_compare(&args[i], out) > 0))
            *out = args[i];
}

static int run_greatest(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    value most;

    (void)s, (void)err;
    extreme(args, count, 1, &most);
    *out = most;
    return FENEC_OK;
}

static int run_least(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    value least;

    (void)s, (void)err;
    extreme(args, count, -1, &least);
    *out = least;
    return FENEC_OK;
}

static int run_bucket(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    const value *t = &args[0], *zone = count > 2 ? &args[2] : NULL;
    bool takes = t->kind == VALUE_TIMESTAMP || t->kind == VALUE_INT;
    char quoted[VALUE_QUOTE_MAX];
    bucket_interval interval;
    int64_t start;

    (void)s;
    /* Interval and zone are judged first, whatever t is. */
    int rc = bucket_interval_read(&args[1], &interval, err);
    if (rc)
        return rc;
    if (zone && zone->kind != VALUE_NULL && zone->kind != VALUE_TEXT)
        return fail(err, FENEC_QUERY, "%s is no time zone", value_quote(quoted, zone));
    bool no_zone = zone && zone->kind == VALUE_NULL;
    if (no_zone)
        zone = NULL;
    rc = bucket_start(&interval, takes ? t->integer : 0, zone, &start, err);
    if (rc)
        return rc;
    if (!takes && t->kind != VALUE_NULL)
        return unfit("bucket", t, "a timestamp or an int", err);
    if (t->kind == VALUE_NULL || no_zone)
        *out = value_null();
    else
        *out = t->kind == VALUE_INT ? value_int(start) : value_timestamp(start);
    return FENEC_OK;
}

static int run_distance(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    double points[2][2];

    (void)count, (void)s;
    for (int i = 0; i < 2; i++) {
        int rc = args[i].kind == VALUE_NULL ? FENEC_OK : geo_point(&args[i], points[i], err);
        if (rc)
            return rc;
    }
    if (args[0].kind == VALUE_NULL || args[1].kind == VALUE_NULL)
        *out = value_null();
    else
        *out = value_float(geo_distance(points[0], points[1]));
    return FENEC_OK;
}

static int run_within(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    double point[2], box[4];
    int rc = args[0].kind == VALUE_NULL ? FENEC_OK : geo_point(&args[0], point, err);

    (void)count, (void)s;
    if (!rc && args[1].kind != VALUE_NULL)
        rc = geo_box(&args[1], box, err);
    if (rc)
        return rc;
    if (args[0].kind == VALUE_NULL || args[1].kind == VALUE_NULL)
        *out = value_null();
    else
        *out = value_bool(geo_within(point, box));
    return FENEC_OK;
}

/* ---- vectors ---- */

static int components(const char *name, const value *v, const scope *s, const float **out, uint32_t *count,
                      error *err)
{
    bool takes = v->kind == VALUE_VECTOR || value_is_number_list(v) || (v->kind == VALUE_LIST && !v->count);

    if (!takes)
        return unfit(name, v, "vectors or lists of numbers", err);
    return value_components(v, s->memory, out, count) ? FENEC_OK : fail_memory(err);
}

static int two_vectors(const char *name, const value *args, const scope *s, const float **a,
                       const float **b, uint32_t *count, error *err)
{
    uint32_t other;
    int rc = components(name, &args[0], s, a, count, err);

    if (!rc)
        rc = components(name, &args[1], s, b, &other, err);
    if (!rc && other != *count)
        return fail(err, FENEC_TYPE, "`%s` takes vectors of one length, not of %u and %u", name,
                    (unsigned)*count, (unsigned)other);
    return rc;
}

static double product(const float *a, const float *b, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

static int run_dot(const value *args, uint32_t n, const scope *s, value *out, error *err)
{
    const float *a, *b;
    uint32_t count;
    int rc = two_vectors("dot", args, s, &a, &b, &count, err);

    (void)n;
    if (!rc)
        *out = value_float(product(a, b, count));
    return rc;
}

static int run_l2(const value *args, uint32_t n, const scope *s, value *out, error *err)
{
    const float *a, *b;
    uint32_t count;
    int rc = two_vectors("l2", args, s, &a, &b, &count, err);
    double sum = 0;

    (void)n;
    if (rc)
        return rc;
    for (uint32_t i = 0; i < count; i++) {
        double apart = (double)a[i] - b[i];
        sum += apart * apart;
    }
    *out = value_float(sqrt(sum));
    return FENEC_OK;
}

static int run_cosine(const value *args, uint32_t n, const scope *s, value *out, error *err)
{
    const float *a, *b;
    uint32_t count;
    int rc = two_vectors("cosine", args, s, &a, &b, &count, err);

    (void)n;
    if (rc)
        return rc;
    double lengths = sqrt(product(a, a, count)) * sqrt(product(b, b, count));
    *out = value_float(lengths == 0 ? 0 : product(a, b, count) / lengths);
    return FENEC_OK;
}

static int run_norm(const value *args, uint32_t n, const scope *s, value *out, error *err)
{
    const float *a;
    uint32_t count;
    int rc = components("norm", &args[0], s, &a, &count, err);

    (void)n;
    if (!rc)
        *out = value_float(sqrt(product(a, a, count)));
    return rc;
}

static int run_normalize(const value *args, uint32_t n, const scope *s, value *out, error *err)
{
    const float *a;
    uint32_t count;
    int rc = components("normalize", &args[0], s, &a, &count, err);

    (void)n;
    if (rc)
        return rc;
    uint8_t *scaled = arena_alloc(s->memory, (size_t)count * 4);
    if (!scaled)
        return fail_memory(err);
    double length = sqrt(product(a, a, count));
    for (uint32_t i = 0; i < count; i++)
        bytes_put_f32(scaled + 4 * (size_t)i, length == 0 ? a[i] : (float)(a[i] / length));
    *out = (value){.kind = VALUE_VECTOR, .count = count, .bytes = scaled, .len = (size_t)count * 4};
    return FENEC_OK;
}

/* ---- sketches ---- */

static int run_hll_estimate(const value *args, uint32_t count, const scope *s, value *out, error *err)
{
    const value *v = &args[0];

    (void)count, (void)s;
    if (v->kind != VALUE_NULL && v->kind != VALUE_BYTES)
        return unfit("hll_estimate", v, "a sketch, which is bytes", err);
    int rc = v->kind == VALUE_BYTES ? sketch_check(v->bytes, v->len, err) : FENEC_OK;
    if (!rc)
        *out = v->kind == VALUE_NULL ? value_null() : value_int(sketch_estimate(v->bytes, v->len));
    return rc;
}

/* ---- calling ---- */

static const function functions[] = {
    {"now", 0, 0, run_now},
    {"timestamp", 1, 1, run_timestamp},
    {"lower", 1, 1, run_lower},
    {"upper", 1, 1, run_upper},
    {"len", 1, 1, run_len},
    {"coalesce", 1, UINT32_MAX, run_coalesce},
    {"greatest", 1, UINT32_MAX, run_greatest},
    {"least", 1, UINT32_MAX, run_least},
    {"bucket", 2, 3, run_bucket},
    {"distance", 2, 2, run_distance},
    {"within", 2, 2, run_within},
    {"dot", 2, 2, run_dot},
    {"l2", 2, 2, run_l2},
    {"cosine", 2, 2, run_cosine},
    {"norm", 1, 1, run_norm},
    {"normalize", 1, 1, run_normalize},
    {"hll_estimate", 1, 1, run_hll_estimate},
};

const function *function_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name))
            return &functions[i];
    return NULL;
}

bool function_takes(const function *f, uint32_t count)
{
    return count >= f->least && count <= f->most;
}

int function_call(const bound *e, const scope *s, value *out, error *err)
{
    value few[ARGS_ON_STACK], *args = few;

    if (e->item_count > ARGS_ON_STACK) {
        args = arena_alloc(s->memory, sizeof *args * e->item_count);
        if (!args)
            return fail_memory(err);
    }
    for (uint32_t i = 0; i < e->item_count; i++) {
        int rc = e->items[i]->eval(e->items[i], s, &args[i], err);
        if (rc)
            return rc;
    }
    return e->function->run(args, e->item_count, s, out, err);
}
