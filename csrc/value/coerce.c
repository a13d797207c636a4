#include "value/coerce.h"

#include <math.h>

#include "base/bytes.h"
#include "value/elements.h"
#include "value/geo.h"
#include "value/number.h"
#include "value/packed.h"
#include "value/sparse.h"
#include "value/timestamp.h"

typedef struct coercion {
    const char *field;
    arena *a;
    error *err;
} coercion;

static int refuse(const coercion *c, const value *v, const type *t)
{
    char quoted[VALUE_QUOTE_MAX];
    buffer name;

    buffer_init(&name);
    type_write(&name, t);
    buffer_byte(&name, 0);
    int code = name.failed ? fail_memory(c->err)
                           : fail(c->err, FENEC_TYPE, "field `%s` takes %s, not %s %s", c->field,
                                  (const char *)name.bytes, value_kind_name(v), value_quote(quoted, v));
    buffer_clear(&name);
    return code;
}

/* A whole double as an int: exact, or false. -2^63 is a double and 2^63 is the first too large. */
static bool whole(double f, int64_t *out)
{
    if (!(f >= -0x1p63 && f < 0x1p63) || f != trunc(f))
        return false;
    *out = (int64_t)f;
    return true;
}

static bool to_int(const value *v, value *out)
{
    int64_t i;

    switch (v->kind) {
    case VALUE_INT: *out = *v; return true;
    case VALUE_TIMESTAMP: *out = value_int(v->integer); return true;
    case VALUE_FLOAT:
        if (!whole(v->number, &i))
            return false;
        *out = value_int(i);
        return true;
    default: return false;
    }
}

static int timestamp_text(const coercion *c, int64_t ms, value *out)
{
    char text[TIMESTAMP_TEXT_MAX];
    size_t len = timestamp_write(text, ms);
    const void *kept = arena_copy(c->a, text, len);

    if (!kept)
        return fail_memory(c->err);
    *out = value_text(kept, len);
    return FENEC_OK;
}

static int to_bytes(const coercion *c, const value *v, const type *t, value *out)
{
    elements e;
    value x;
    int64_t octet;
    uint32_t n = 0;
    int code;

    if (v->kind == VALUE_BYTES || v->kind == VALUE_TEXT) {
        *out = *v;
        out->kind = VALUE_BYTES;
        return FENEC_OK;
    }
    if (v->kind == VALUE_POINT || !elements_open(&e, v))
        return refuse(c, v, t);
    uint8_t *octets = arena_alloc(c->a, v->count);
    if (!octets)
        return fail_memory(c->err);
    while ((code = elements_next(&e, &x, c->err)) == FENEC_OK) {
        if (x.kind == VALUE_INT)
            octet = x.integer;
        else if (x.kind != VALUE_FLOAT || !whole(x.number, &octet))
            return refuse(c, v, t);
        if (octet < 0 || octet > 255)
            return refuse(c, v, t);
        octets[n++] = (uint8_t)octet;
    }
    if (code != FN_END)
        return code;
    *out = (value){.kind = VALUE_BYTES, .bytes = octets, .len = n};
    return FENEC_OK;
}

static int to_vector(const coercion *c, const value *v, const type *t, value *out)
{
    elements e;
    value x;
    size_t at = 0;
    int code;

    if ((v->kind != VALUE_VECTOR && v->kind != VALUE_LIST) || v->count != t->dimension)
        return refuse(c, v, t);
    if (v->kind == VALUE_VECTOR && !t->half) {
        *out = *v;
        return FENEC_OK;
    }
    uint8_t *floats = arena_alloc(c->a, (size_t)v->count * 4);
    if (!floats)
        return fail_memory(c->err);
    elements_open(&e, v);
    while ((code = elements_next(&e, &x, c->err)) == FENEC_OK) {
        if (x.kind != VALUE_INT && x.kind != VALUE_FLOAT)
            return refuse(c, v, t);
        float f = (float)(x.kind == VALUE_INT ? (double)x.integer : x.number);
        bytes_put_f32(floats + at, t->half ? number_from_half(number_to_half(f)) : f);
        at += 4;
    }
    if (code != FN_END)
        return code;
    *out = (value){.kind = VALUE_VECTOR, .count = v->count, .bytes = floats, .len = at};
    return FENEC_OK;
}

/* The one packed value in `built` as a value of the arena; clears the buffer. */
static int keep(const coercion *c, buffer *built, value *out)
{
    const uint8_t *bytes = built->failed ? NULL : arena_copy(c->a, built->bytes, built->len);
    int code = bytes ? packed_read(&bytes, bytes + built->len, c->a, out, c->err) : fail_memory(c->err);

    buffer_clear(built);
    return code;
}

static int coerce(const coercion *c, const value *v, const type *t, value *out);

/* Appends the list v as a list of t->element; nesting is the type's, which the parser bounds. */
static int put_list(const coercion *c, const value *v, const type *t, buffer *built)
{
    elements e;
    value x, y;
    uint32_t count = 0;
    int code;

    if (!elements_open(&e, v))
        return refuse(c, v, t);
    size_t mark = packed_begin(built, VALUE_LIST);
    while ((code = elements_next(&e, &x, c->err)) == FENEC_OK) {
        if (x.kind != VALUE_NULL && t->element->kind == TYPE_LIST) {
            code = put_list(c, &x, t->element, built);
        } else {
            code = coerce(c, &x, t->element, &y);
            if (code == FENEC_OK)
                packed_put(built, &y);
        }
        if (code != FENEC_OK)
            return code;
        count++;
    }
    packed_end(built, mark, count);
    return code == FN_END ? FENEC_OK : code;
}

static int to_list(const coercion *c, const value *v, const type *t, value *out)
{
    buffer built;

    buffer_init(&built);
    int code = put_list(c, v, t, &built);
    if (code == FENEC_OK)
        return keep(c, &built, out);
    buffer_clear(&built);
    return code;
}

typedef enum json_state {
    JSON_AS_IS,  /* holds what JSON has and nothing else */
    JSON_TO_FIT, /* holds a timestamp or a point, which become text and a list */
    JSON_REFUSED,
    JSON_TOO_DEEP
} json_state;

static json_state json_look(const value *v, uint32_t depth_left)
{
    json_state worst = JSON_AS_IS, inner;
    packed_iter it;
    value key, x;
    int code;

    switch (v->kind) {
    case VALUE_NULL:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_TEXT: return JSON_AS_IS;
    case VALUE_FLOAT: return isfinite(v->number) ? JSON_AS_IS : JSON_REFUSED;
    case VALUE_TIMESTAMP: return JSON_TO_FIT;
    case VALUE_POINT: return depth_left ? JSON_TO_FIT : JSON_TOO_DEEP;
    case VALUE_BYTES:
    case VALUE_VECTOR:
    case VALUE_SPARSE: return JSON_REFUSED;
    case VALUE_LIST:
    case VALUE_OBJECT: break;
    }
    if (depth_left == 0)
        return JSON_TOO_DEEP;
    packed_iterate(&it, v);
    for (;;) {
        code = v->kind == VALUE_LIST ? packed_next(&it, &x, NULL) : packed_next_member(&it, &key, &x, NULL);
        if (code == FN_END)
            return worst;
        if (code != FENEC_OK)
            return JSON_REFUSED;
        inner = json_look(&x, depth_left - 1);
        if (inner >= JSON_REFUSED)
            return inner;
        if (inner > worst)
            worst = inner;
    }
}

/* Appends v, looked at before, with timestamps as text and points as lists. */
static int put_json(const coercion *c, const value *v, buffer *built)
{
    packed_iter it;
    elements e;
    value key, x;
    uint32_t count = 0;
    size_t mark;
    int code;

    switch (v->kind) {
    case VALUE_TIMESTAMP:
        code = timestamp_text(c, v->integer, &x);
        if (code == FENEC_OK)
            packed_put(built, &x);
        return code;
    case VALUE_POINT:
    case VALUE_LIST:
        mark = packed_begin(built, VALUE_LIST);
        elements_open(&e, v);
        for (; (code = elements_next(&e, &x, c->err)) == FENEC_OK; count++)
            if ((code = put_json(c, &x, built)) != FENEC_OK)
                return code;
        break;
    case VALUE_OBJECT:
        mark = packed_begin(built, VALUE_OBJECT);
        packed_iterate(&it, v);
        for (; (code = packed_next_member(&it, &key, &x, c->err)) == FENEC_OK; count++) {
            packed_put(built, &key);
            if ((code = put_json(c, &x, built)) != FENEC_OK)
                return code;
        }
        break;
    default: packed_put(built, v); return FENEC_OK;
    }
    packed_end(built, mark, count);
    return code == FN_END ? FENEC_OK : code;
}

static int to_json(const coercion *c, const value *v, const type *t, value *out)
{
    buffer built;

    switch (json_look(v, JSON_DEPTH_MAX)) {
    case JSON_AS_IS: *out = *v; return FENEC_OK;
    case JSON_TO_FIT: break;
    case JSON_REFUSED: return refuse(c, v, t);
    case JSON_TOO_DEEP:
        return fail(c->err, FENEC_TYPE, "field `%s` takes json of at most %d containers in one another",
                    c->field, JSON_DEPTH_MAX);
    }
    buffer_init(&built);
    int code = put_json(c, v, &built);
    if (code == FENEC_OK)
        return keep(c, &built, out);
    buffer_clear(&built);
    return code;
}

/* A reading of text or numbers that says itself what is wrong with them: the field goes in front. */
static int name_field(const coercion *c, int code)
{
    char message[ERROR_MESSAGE_MAX];

    if (code != FENEC_TYPE)
        return code;
    memcpy(message, c->err->message, sizeof message);
    return fail(c->err, code, "field `%s`: %s", c->field, message);
}

static int to_sparse(const coercion *c, const value *v, const type *t, value *out)
{
    if (v->kind == VALUE_TEXT)
        return name_field(c, sparse_read(v->bytes, v->len, t->dimension, c->a, out, c->err));
    if (v->kind != VALUE_SPARSE || sparse_dimension(v) != t->dimension)
        return refuse(c, v, t);
    *out = *v;
    return FENEC_OK;
}

static int to_geo(const coercion *c, const value *v, value *out)
{
    double p[2];
    int code = name_field(c, geo_point(v, p, c->err));

    if (code == FENEC_OK)
        *out = (value){.kind = VALUE_POINT, .point = {p[0], p[1]}};
    return code;
}

static int coerce(const coercion *c, const value *v, const type *t, value *out)
{
    int64_t ms;

    if (v->kind == VALUE_NULL) {
        *out = *v;
        return FENEC_OK;
    }
    switch (t->kind) {
    case TYPE_BOOL:
        if (v->kind != VALUE_BOOL)
            return refuse(c, v, t);
        *out = *v;
        return FENEC_OK;
    case TYPE_INT: return to_int(v, out) ? FENEC_OK : refuse(c, v, t);
    case TYPE_FLOAT:
        if (v->kind != VALUE_FLOAT && v->kind != VALUE_INT)
            return refuse(c, v, t);
        *out = v->kind == VALUE_INT ? value_float((double)v->integer) : *v;
        return FENEC_OK;
    case TYPE_TEXT:
        if (v->kind == VALUE_TIMESTAMP)
            return timestamp_text(c, v->integer, out);
        if (v->kind != VALUE_TEXT)
            return refuse(c, v, t);
        *out = *v;
        return FENEC_OK;
    case TYPE_BYTES: return to_bytes(c, v, t, out);
    case TYPE_TIMESTAMP:
        if (v->kind == VALUE_TIMESTAMP || v->kind == VALUE_INT)
            ms = v->integer;
        else if (v->kind != VALUE_TEXT || !timestamp_read(v->bytes, v->len, &ms))
            return refuse(c, v, t);
        *out = value_timestamp(ms);
        return FENEC_OK;
    case TYPE_VECTOR: return to_vector(c, v, t, out);
    case TYPE_SPARSE: return to_sparse(c, v, t, out);
    case TYPE_LIST: return to_list(c, v, t, out);
    case TYPE_JSON: return to_json(c, v, t, out);
    case TYPE_GEO: return to_geo(c, v, out);
    }
    return refuse(c, v, t);
}

int value_coerce(const value *v, const type *t, const char *field, arena *a, value *out, error *err)
{
    const coercion c = {.field = field, .a = a, .err = err};

    return coerce(&c, v, t, out);
}
