#include "value/key.h"

#include <math.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/varint.h"
#include "value/collation.h"
#include "value/elements.h"
#include "value/packed.h"
#include "value/timestamp.h"

#define TAG_BOOL 0x01
#define TAG_NUMBER 0x02
#define TAG_OCTETS 0x03
#define TAG_HASH 0x04

#define EXACT_DOUBLE_MAX ((int64_t)1 << 53) /* whole numbers up to here are doubles, each its own */

static key_state put_tag(buffer *out, uint8_t tag, key_state state)
{
    buffer_byte(out, tag);
    return state;
}

static key_state put_bool(buffer *out, bool b)
{
    const uint8_t key[2] = {TAG_BOOL, b};

    buffer_put(out, key, sizeof key);
    return KEY_EXACT;
}

static key_state put_int(buffer *out, int64_t i)
{
    uint8_t key[9] = {TAG_NUMBER};

    bytes_put_big_u64(key + 1, (uint64_t)i ^ (uint64_t)1 << 63);
    buffer_put(out, key, sizeof key);
    return KEY_EXACT;
}

/* Not NaN. */
static key_state put_double(buffer *out, double f)
{
    uint8_t key[9] = {TAG_NUMBER};
    uint64_t bits;

    f += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &f, sizeof bits);
    /* Negative ones are larger the larger their bits: all turned. Others rise: above the negative. */
    bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    bytes_put_big_u64(key + 1, bits);
    buffer_put(out, key, sizeof key);
    return KEY_EXACT;
}

static key_state put_octets(buffer *out, const uint8_t *bytes, size_t len)
{
    uint8_t hash[16];

    buffer_byte(out, TAG_OCTETS);
    if (len <= KEY_EXACT_MAX - 1) {
        buffer_put(out, bytes, len);
        return KEY_EXACT;
    }
    /* The tag is one and the same, so the hash of the rest is that of the whole. */
    hash128(hash, bytes, len);
    buffer_put(out, bytes, KEY_EXACT_MAX - 1);
    buffer_put(out, hash, sizeof hash);
    return KEY_TIED;
}

/* What is hashed: a form in which equal values of one type have equal bytes. Numbers are doubles, text
 * and bytes octets, points lists of two numbers; a vector is one only where the type says so, for there
 * alone a list of numbers equals it. */

enum { FORM_NULL, FORM_BOOL, FORM_NUMBER, FORM_OCTETS, FORM_VECTOR, FORM_LIST, FORM_SPARSE, FORM_OBJECT };

static bool put_form_number(buffer *out, double f)
{
    uint8_t bytes[9] = {FORM_NUMBER};

    if (isnan(f))
        return false;
    bytes_put_f64(bytes + 1, f + 0.0);
    buffer_put(out, bytes, sizeof bytes);
    return true;
}

static bool put_form_octets(buffer *out, const value *v)
{
    buffer_byte(out, FORM_OCTETS);
    varint_put(out, v->len);
    buffer_put(out, v->bytes, v->len);
    return true;
}

static bool put_form_vector(buffer *out, const value *v, uint32_t dimension)
{
    uint8_t bytes[4];
    elements e;
    value x;

    if (v->kind != VALUE_VECTOR && !value_is_number_list(v))
        return false;
    if (v->count != dimension)
        return false;
    buffer_byte(out, FORM_VECTOR);
    elements_open(&e, v);
    while (elements_next(&e, &x, NULL) == FENEC_OK) {
        float f = (float)(x.kind == VALUE_INT ? (double)x.integer : x.number);
        if (isnan(f))
            return false;
        bytes_put_f32(bytes, f + 0.0f);
        buffer_put(out, bytes, sizeof bytes);
    }
    return true;
}

static bool put_form_sparse(buffer *out, const value *v, uint32_t dimension)
{
    uint8_t entry[8];

    if (v->kind != VALUE_SPARSE || bytes_u32(v->bytes) != dimension)
        return false;
    buffer_byte(out, FORM_SPARSE);
    varint_put(out, v->count);
    for (size_t i = 0; i < v->count; i++) {
        float weight = bytes_f32(v->bytes + 8 + 8 * i);
        if (isnan(weight))
            return false;
        memcpy(entry, v->bytes + 4 + 8 * i, 4);
        bytes_put_f32(entry + 4, weight + 0.0f);
        buffer_put(out, entry, sizeof entry);
    }
    return true;
}

static bool put_form(buffer *out, const type *t, const value *v, uint32_t depth_left);

static bool put_form_list(buffer *out, const type *element, const value *v, uint32_t depth_left)
{
    elements e;
    value x;
    int code;

    if (depth_left == 0 || (v->kind != VALUE_LIST && v->kind != VALUE_POINT))
        return false;
    buffer_byte(out, FORM_LIST);
    varint_put(out, v->kind == VALUE_POINT ? 2 : v->count);
    elements_open(&e, v);
    while ((code = elements_next(&e, &x, NULL)) == FENEC_OK)
        if (!put_form(out, element, &x, depth_left - 1))
            return false;
    return code == FN_END;
}

static bool put_form_object(buffer *out, const type *t, const value *v, uint32_t depth_left)
{
    packed_iter it;
    value key, x;
    int code;

    if (depth_left == 0)
        return false;
    buffer_byte(out, FORM_OBJECT);
    varint_put(out, v->count);
    packed_iterate(&it, v);
    while ((code = packed_next_member(&it, &key, &x, NULL)) == FENEC_OK) {
        put_form_octets(out, &key);
        if (!put_form(out, t, &x, depth_left - 1))
            return false;
    }
    return code == FN_END;
}

static bool put_form_json(buffer *out, const type *t, const value *v, uint32_t depth_left)
{
    switch (v->kind) {
    case VALUE_BOOL: {
        const uint8_t bytes[2] = {FORM_BOOL, v->boolean};
        buffer_put(out, bytes, sizeof bytes);
        return true;
    }
    case VALUE_INT: return put_form_number(out, (double)v->integer);
    case VALUE_FLOAT: return put_form_number(out, v->number);
    case VALUE_TEXT:
    case VALUE_BYTES: return put_form_octets(out, v);
    case VALUE_LIST:
    case VALUE_POINT: return put_form_list(out, t, v, depth_left);
    case VALUE_OBJECT: return put_form_object(out, t, v, depth_left);
    default: return false; /* a timestamp equals texts, a vector lists that hash otherwise */
    }
}

/* False: v holds what no value of type t has as its equal, or may equal values that hash otherwise. */
static bool put_form(buffer *out, const type *t, const value *v, uint32_t depth_left)
{
    static const type number = {.kind = TYPE_FLOAT};
    int64_t ms;

    if (v->kind == VALUE_NULL) {
        buffer_byte(out, FORM_NULL);
        return true;
    }
    switch (t->kind) {
    case TYPE_BOOL:
    case TYPE_JSON: break;
    case TYPE_INT:
    case TYPE_FLOAT:
        if (v->kind == VALUE_TIMESTAMP)
            return put_form_number(out, (double)v->integer);
        break;
    case TYPE_TIMESTAMP:
        if (v->kind == VALUE_TEXT)
            return timestamp_read(v->bytes, v->len, &ms) && put_form_number(out, (double)ms);
        if (v->kind == VALUE_TIMESTAMP)
            return put_form_number(out, (double)v->integer);
        break;
    case TYPE_TEXT:
    case TYPE_BYTES: return (v->kind == VALUE_TEXT || v->kind == VALUE_BYTES) && put_form_octets(out, v);
    case TYPE_VECTOR: return put_form_vector(out, v, t->dimension);
    case TYPE_SPARSE: return put_form_sparse(out, v, t->dimension);
    case TYPE_LIST: return put_form_list(out, t->element, v, depth_left);
    case TYPE_GEO: return put_form_list(out, &number, v, depth_left);
    }
    if (t->kind == TYPE_BOOL && v->kind != VALUE_BOOL)
        return false;
    if ((t->kind == TYPE_INT || t->kind == TYPE_FLOAT || t->kind == TYPE_TIMESTAMP) && v->kind != VALUE_INT &&
        v->kind != VALUE_FLOAT)
        return false;
    return put_form_json(out, t, v, depth_left);
}

/* False, and nothing appended, where v has no such form. */
static bool put_hash(buffer *out, const type *t, const value *v)
{
    uint8_t key[17] = {TAG_HASH};
    buffer form;

    buffer_init(&form);
    bool has_form = put_form(&form, t, v, PACKED_DEPTH_MAX);
    if (form.failed) {
        out->failed = true;
        out->damaged = form.damaged;
    } else if (has_form) {
        hash128(key + 1, form.bytes, form.len);
        buffer_put(out, key, sizeof key);
    }
    buffer_clear(&form);
    return has_form;
}

static bool beyond_doubles(int64_t i)
{
    return i > EXACT_DOUBLE_MAX || i < -EXACT_DOUBLE_MAX;
}

/* A number of json under a double: from 2^53 on one double stands for several ints, told apart on the
 * record. */
static key_state put_json_number(buffer *out, double f)
{
    put_double(out, f);
    return fabs(f) < (double)EXACT_DOUBLE_MAX ? KEY_EXACT : KEY_TIED;
}

static key_state json_stored(buffer *out, key_form form, const type *t, const value *v)
{
    switch (v->kind) {
    case VALUE_INT:
        if (form == KEY_HASHED)
            return put_json_number(out, (double)v->integer);
        if (beyond_doubles(v->integer))
            break;
        return put_double(out, (double)v->integer);
    case VALUE_FLOAT:
        if (isnan(v->number))
            break;
        return form == KEY_HASHED ? put_json_number(out, v->number) : put_double(out, v->number);
    case VALUE_TEXT: return put_octets(out, v->bytes, v->len);
    case VALUE_BOOL:
        if (form == KEY_ORDERED)
            break;
        return put_bool(out, v->boolean);
    default:
        if (form == KEY_HASHED && put_hash(out, t, v))
            return KEY_TIED;
        break;
    }
    return put_tag(out, KEY_UNPLACED, KEY_TIED);
}

key_state key_stored(buffer *out, key_form form, const type *t, bool path, const value *v)
{
    static const type json = {.kind = TYPE_JSON};

    if (v->kind == VALUE_NULL)
        return form == KEY_ORDERED ? put_tag(out, KEY_NULL, KEY_EXACT) : KEY_ABSENT;
    if (path || t->kind == TYPE_JSON)
        return json_stored(out, form, &json, v);
    switch (t->kind) {
    case TYPE_BOOL:
        if (v->kind == VALUE_BOOL)
            return put_bool(out, v->boolean);
        break;
    case TYPE_INT:
        if (v->kind == VALUE_INT)
            return put_int(out, v->integer);
        break;
    case TYPE_TIMESTAMP:
        if (v->kind == VALUE_TIMESTAMP)
            return put_int(out, v->integer);
        break;
    case TYPE_FLOAT:
        if (v->kind == VALUE_FLOAT && !isnan(v->number))
            return put_double(out, v->number);
        break;
    case TYPE_TEXT:
    case TYPE_BYTES:
        if (v->kind == VALUE_TEXT || v->kind == VALUE_BYTES)
            return put_octets(out, v->bytes, v->len);
        break;
    default:
        if (form == KEY_HASHED && put_hash(out, t, v))
            return KEY_TIED;
        break;
    }
    return put_tag(out, KEY_UNPLACED, KEY_TIED);
}

/* The int that a number equals alone among the ints: below 2^53, from where on doubles skip some. */
static bool lone_int(const value *v, int64_t *out)
{
    const double most = (double)EXACT_DOUBLE_MAX;
    double f = v->kind == VALUE_FLOAT ? v->number : (double)v->integer;

    if (!(f > -most && f < most) || f != trunc(f))
        return false;
    *out = (int64_t)f;
    return true;
}

static key_state json_probe(buffer *out, key_form form, const type *t, const value *v)
{
    switch (v->kind) {
    case VALUE_INT:
        if (beyond_doubles(v->integer))
            return KEY_SCAN;
        return form == KEY_HASHED ? put_json_number(out, (double)v->integer)
                                  : put_double(out, (double)v->integer);
    case VALUE_FLOAT:
        if (isnan(v->number))
            return KEY_SCAN;
        return form == KEY_HASHED ? put_json_number(out, v->number) : put_double(out, v->number);
    case VALUE_TEXT: return put_octets(out, v->bytes, v->len);
    case VALUE_BOOL: return form == KEY_HASHED ? put_bool(out, v->boolean) : KEY_SCAN;
    case VALUE_LIST:
    case VALUE_POINT:
    case VALUE_OBJECT: return form == KEY_HASHED && put_hash(out, t, v) ? KEY_TIED : KEY_SCAN;
    default: return KEY_SCAN;
    }
}

key_state key_probe(buffer *out, key_form form, const type *t, bool path, const value *v)
{
    static const type json = {.kind = TYPE_JSON};
    int64_t i;

    if (v->kind == VALUE_NULL)
        return KEY_SCAN;
    if (path || t->kind == TYPE_JSON)
        return json_probe(out, form, &json, v);
    switch (t->kind) {
    case TYPE_BOOL: return v->kind == VALUE_BOOL ? put_bool(out, v->boolean) : KEY_SCAN;
    case TYPE_INT:
        if (v->kind == VALUE_INT)
            return put_int(out, v->integer);
        if ((v->kind == VALUE_FLOAT || v->kind == VALUE_TIMESTAMP) && lone_int(v, &i))
            return put_int(out, i);
        return KEY_SCAN;
    case TYPE_TIMESTAMP:
        if (v->kind == VALUE_TIMESTAMP)
            return put_int(out, v->integer);
        if (v->kind == VALUE_INT && lone_int(v, &i))
            return put_int(out, i);
        if (v->kind == VALUE_TEXT && timestamp_read(v->bytes, v->len, &i))
            return put_int(out, i);
        return KEY_SCAN;
    case TYPE_FLOAT:
        if (v->kind == VALUE_FLOAT && !isnan(v->number))
            return put_double(out, v->number);
        if (v->kind == VALUE_INT && !beyond_doubles(v->integer))
            return put_double(out, (double)v->integer);
        return KEY_SCAN;
    case TYPE_TEXT: return v->kind == VALUE_TEXT ? put_octets(out, v->bytes, v->len) : KEY_SCAN;
    case TYPE_BYTES:
        return v->kind == VALUE_TEXT || v->kind == VALUE_BYTES ? put_octets(out, v->bytes, v->len) : KEY_SCAN;
    default: return form == KEY_HASHED && put_hash(out, t, v) ? KEY_TIED : KEY_SCAN;
    }
}

static double double_of_key(const uint8_t *key)
{
    uint64_t bits = bytes_big_u64(key);
    double f;

    bits = bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits;
    memcpy(&f, &bits, sizeof f);
    return f;
}

bool key_value(const uint8_t *key, size_t len, const type *t, bool path, value *out)
{
    bool json = path || t->kind == TYPE_JSON;

    if (len == 0 || len > KEY_EXACT_MAX)
        return false;
    switch (key[0]) {
    case KEY_NULL: *out = value_null(); return len == 1;
    case TAG_BOOL:
        *out = value_bool(len == 2 && key[1]);
        return len == 2 && (json || t->kind == TYPE_BOOL);
    case TAG_NUMBER:
        if (len != 9 || json)
            return false;
        if (t->kind == TYPE_FLOAT)
            *out = value_float(double_of_key(key + 1));
        else if (t->kind == TYPE_INT || t->kind == TYPE_TIMESTAMP)
            *out = (value){.kind = t->kind == TYPE_INT ? VALUE_INT : VALUE_TIMESTAMP,
                           .integer = (int64_t)(bytes_big_u64(key + 1) ^ (uint64_t)1 << 63)};
        return t->kind == TYPE_FLOAT || t->kind == TYPE_INT || t->kind == TYPE_TIMESTAMP;
    case TAG_OCTETS:
        *out = value_text(key + 1, len - 1);
        if (t->kind == TYPE_BYTES && !json)
            out->kind = VALUE_BYTES;
        return json || t->kind == TYPE_TEXT || t->kind == TYPE_BYTES;
    default: return false;
    }
}

/* ---- collated ---- */

static key_state put_collated(buffer *out, collation collate, const value *v)
{
    const size_t start = out->len;
    uint8_t hash[16];

    buffer_byte(out, TAG_OCTETS);
    if (!collation_key(out, collate, v->bytes, v->len)) {
        out->len = start;
        return KEY_SCAN;
    }
    if (out->failed || out->len - start <= KEY_EXACT_MAX)
        return KEY_EXACT;
    hash128(hash, out->bytes + start + 1, out->len - start - 1);
    out->len = start + KEY_EXACT_MAX;
    buffer_put(out, hash, sizeof hash);
    return KEY_TIED;
}

key_state key_stored_in(buffer *out, collation collate, const value *v)
{
    if (v->kind == VALUE_NULL)
        return put_tag(out, KEY_NULL, KEY_EXACT);
    key_state state = v->kind == VALUE_TEXT ? put_collated(out, collate, v) : KEY_SCAN;
    return state == KEY_SCAN ? put_tag(out, KEY_UNPLACED, KEY_TIED) : state;
}

key_state key_probe_in(buffer *out, collation collate, const value *v)
{
    return v->kind == VALUE_TEXT ? put_collated(out, collate, v) : KEY_SCAN;
}
