#include "exec/encoding.h"

#include "base/bytes.h"
#include "base/varint.h"
#include "value/packed.h"

enum tag {
    TAG_NULL = 0,
    TAG_BOOL = 1,
    TAG_INT = 2,
    TAG_FLOAT = 3,
    TAG_TEXT = 4,
    TAG_BYTES = 5,
    TAG_VECTOR = 6,
    TAG_LIST = 7,
    TAG_TIMESTAMP = 9,
    TAG_SPARSE = 10,
    TAG_OBJECT = 13
};

static int damaged(error *err)
{
    return fail(err, FENEC_CORRUPT, "a stored value is damaged");
}

static void put_zigzag(buffer *out, enum tag tag, int64_t i)
{
    buffer_byte(out, (uint8_t)tag);
    varint_put(out, (uint64_t)i << 1 ^ (uint64_t)(i >> 63));
}

static void put_float(buffer *out, double f)
{
    uint8_t bytes[9] = {TAG_FLOAT};

    bytes_put_f64(bytes + 1, f == 0 ? 0.0 : f);
    buffer_put(out, bytes, sizeof bytes);
}

static void put_octets(buffer *out, const value *v)
{
    varint_put(out, v->len);
    buffer_put(out, v->bytes, v->len);
}

static int put_sparse(buffer *out, const value *v, error *err)
{
    uint32_t before = 0;

    if (v->len != 4 + 8 * (size_t)v->count)
        return damaged(err);
    buffer_byte(out, TAG_SPARSE);
    varint_put(out, bytes_u32(v->bytes));
    varint_put(out, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t index = bytes_u32(v->bytes + 4 + 8 * (size_t)i);
        if (index < before)
            return damaged(err);
        varint_put(out, index - before);
        before = index;
    }
    for (uint32_t i = 0; i < v->count; i++)
        buffer_put(out, v->bytes + 8 + 8 * (size_t)i, 4);
    return FENEC_OK;
}

static int put(buffer *out, const value *v, unsigned depth, error *err);

/* The code of an iteration that ended or failed. */
static int ended(int code, error *err)
{
    if (code == FN_END)
        return FENEC_OK;
    return code == FENEC_CORRUPT ? damaged(err) : code;
}

static int put_list(buffer *out, const value *v, unsigned depth, error *err)
{
    packed_iter it;
    value element;
    int rc;

    buffer_byte(out, TAG_LIST);
    varint_put(out, v->count);
    packed_iterate(&it, v);
    while ((rc = packed_next(&it, &element, NULL)) == FENEC_OK)
        if ((rc = put(out, &element, depth + 1, err)) != FENEC_OK)
            return rc;
    return ended(rc, err);
}

static int put_object(buffer *out, const value *v, unsigned depth, error *err)
{
    packed_iter it;
    value key, member;
    int rc;

    buffer_byte(out, TAG_OBJECT);
    varint_put(out, v->count);
    packed_iterate(&it, v);
    while ((rc = packed_next_member(&it, &key, &member, NULL)) == FENEC_OK) {
        put_octets(out, &key);
        if ((rc = put(out, &member, depth + 1, err)) != FENEC_OK)
            return rc;
    }
    return ended(rc, err);
}

static int put(buffer *out, const value *v, unsigned depth, error *err)
{
    if (depth > PACKED_DEPTH_MAX)
        return damaged(err);
    switch (v->kind) {
    case VALUE_NULL: buffer_byte(out, TAG_NULL); break;
    case VALUE_BOOL:
        buffer_byte(out, TAG_BOOL);
        buffer_byte(out, v->boolean);
        break;
    case VALUE_INT: put_zigzag(out, TAG_INT, v->integer); break;
    case VALUE_TIMESTAMP: put_zigzag(out, TAG_TIMESTAMP, v->integer); break;
    case VALUE_FLOAT: put_float(out, v->number); break;
    case VALUE_TEXT:
        buffer_byte(out, TAG_TEXT);
        put_octets(out, v);
        break;
    case VALUE_BYTES:
        buffer_byte(out, TAG_BYTES);
        put_octets(out, v);
        break;
    case VALUE_VECTOR:
        buffer_byte(out, TAG_VECTOR);
        varint_put(out, v->count);
        buffer_put(out, v->bytes, v->len);
        break;
    case VALUE_POINT:
        buffer_byte(out, TAG_LIST);
        varint_put(out, 2);
        put_float(out, v->point[0]);
        put_float(out, v->point[1]);
        break;
    case VALUE_SPARSE: return put_sparse(out, v, err);
    case VALUE_LIST: return put_list(out, v, depth, err);
    case VALUE_OBJECT: return put_object(out, v, depth, err);
    }
    return FENEC_OK;
}

int encoding_put(buffer *out, const value *v, error *err)
{
    return put(out, v, 0, err);
}

static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDu;
    x ^= x >> 33;
    x *= 0xC4CEB9FE1A85EC53u;
    return x ^ x >> 33;
}

uint64_t encoding_hash(const uint8_t *bytes, size_t len)
{
    uint64_t h = 0x9E3779B97F4A7C15u ^ (uint64_t)len * 0xFF51AFD7ED558CCDu;
    uint8_t last[8] = {0};

    for (; len >= 8; bytes += 8, len -= 8)
        h = mix(h ^ bytes_u64(bytes));
    if (len) {
        memcpy(last, bytes, len);
        h = mix(h ^ bytes_u64(last));
    }
    return mix(h);
}

/* ---- packed ---- */

static int pack(buffer *out, const value *v, unsigned depth, error *err);

static int pack_elements(buffer *out, const value *v, unsigned depth, error *err)
{
    size_t mark = packed_begin(out, v->kind);
    packed_iter it;
    value key, element;
    int rc;

    packed_iterate(&it, v);
    for (;;) {
        rc = v->kind == VALUE_OBJECT ? packed_next_member(&it, &key, &element, NULL)
                                     : packed_next(&it, &element, NULL);
        if (rc)
            break;
        if (v->kind == VALUE_OBJECT)
            packed_put(out, &key);
        if ((rc = pack(out, &element, depth + 1, err)) != FENEC_OK)
            return rc;
    }
    packed_end(out, mark, v->count);
    return ended(rc, err);
}

static int pack(buffer *out, const value *v, unsigned depth, error *err)
{
    value number;

    if (depth > PACKED_DEPTH_MAX)
        return damaged(err);
    switch (v->kind) {
    case VALUE_LIST:
    case VALUE_OBJECT: return pack_elements(out, v, depth, err);
    case VALUE_FLOAT:
        number = value_float(v->number == 0 ? 0.0 : v->number);
        packed_put(out, &number);
        return FENEC_OK;
    case VALUE_POINT: {
        size_t mark = packed_begin(out, VALUE_LIST);
        for (int i = 0; i < 2; i++) {
            number = value_float(v->point[i] == 0 ? 0.0 : v->point[i]);
            packed_put(out, &number);
        }
        packed_end(out, mark, 2);
        return FENEC_OK;
    }
    default: packed_put(out, v); return FENEC_OK;
    }
}

int encoding_put_packed(buffer *out, const value *v, error *err)
{
    return pack(out, v, 0, err);
}

bool encoding_is_packed(const type *t)
{
    switch (t->kind) {
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_TEXT:
    case TYPE_BYTES:
    case TYPE_TIMESTAMP: return true;
    default: return false; /* zeros of two signs, halves, points */
    }
}
