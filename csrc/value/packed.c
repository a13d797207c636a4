#include "value/packed.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "value/number.h"

enum tag {
    TAG_NULL,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INT8,
    TAG_INT16,
    TAG_INT32,
    TAG_INT64,
    TAG_FLOAT,
    TAG_TIMESTAMP,
    TAG_TEXT,
    TAG_BYTES,
    TAG_VECTOR,
    TAG_HALF_VECTOR,
    TAG_POINT,
    TAG_LIST,
    TAG_OBJECT,
    TAG_SPARSE
};

#define CONTAINER_HEAD 9u /* tag, length, count */

static void put_int(buffer *out, int64_t i)
{
    uint8_t bytes[9];
    size_t len;

    if (i == (int8_t)i) {
        bytes[0] = TAG_INT8;
        bytes[1] = (uint8_t)i;
        len = 2;
    } else if (i == (int16_t)i) {
        bytes[0] = TAG_INT16;
        bytes_put_u16(bytes + 1, (uint16_t)i);
        len = 3;
    } else if (i == (int32_t)i) {
        bytes[0] = TAG_INT32;
        bytes_put_u32(bytes + 1, (uint32_t)i);
        len = 5;
    } else {
        bytes[0] = TAG_INT64;
        bytes_put_u64(bytes + 1, (uint64_t)i);
        len = 9;
    }
    buffer_put(out, bytes, len);
}

static void put_counted(buffer *out, enum tag tag, uint64_t count, const uint8_t *bytes, size_t len)
{
    buffer_byte(out, (uint8_t)tag);
    varint_put(out, count);
    buffer_put(out, bytes, len);
}

static void put_container(buffer *out, enum tag tag, const value *v)
{
    uint8_t head[CONTAINER_HEAD];

    if (v->len > UINT32_MAX) {
        out->failed = true;
        return;
    }
    head[0] = (uint8_t)tag;
    bytes_put_u32(head + 1, (uint32_t)v->len);
    bytes_put_u32(head + 5, v->count);
    buffer_put(out, head, sizeof head);
    buffer_put(out, v->bytes, v->len);
}

void packed_put(buffer *out, const value *v)
{
    uint8_t bytes[17];

    switch (v->kind) {
    case VALUE_NULL: buffer_byte(out, TAG_NULL); break;
    case VALUE_BOOL: buffer_byte(out, v->boolean ? TAG_TRUE : TAG_FALSE); break;
    case VALUE_INT: put_int(out, v->integer); break;
    case VALUE_FLOAT:
        bytes[0] = TAG_FLOAT;
        bytes_put_f64(bytes + 1, v->number);
        buffer_put(out, bytes, 9);
        break;
    case VALUE_TIMESTAMP:
        bytes[0] = TAG_TIMESTAMP;
        bytes_put_u64(bytes + 1, (uint64_t)v->integer);
        buffer_put(out, bytes, 9);
        break;
    case VALUE_TEXT: put_counted(out, TAG_TEXT, v->len, v->bytes, v->len); break;
    case VALUE_BYTES: put_counted(out, TAG_BYTES, v->len, v->bytes, v->len); break;
    case VALUE_VECTOR: put_counted(out, TAG_VECTOR, v->count, v->bytes, v->len); break;
    case VALUE_POINT:
        bytes[0] = TAG_POINT;
        bytes_put_f64(bytes + 1, v->point[0]);
        bytes_put_f64(bytes + 9, v->point[1]);
        buffer_put(out, bytes, 17);
        break;
    case VALUE_LIST: put_container(out, TAG_LIST, v); break;
    case VALUE_OBJECT: put_container(out, TAG_OBJECT, v); break;
    case VALUE_SPARSE:
        bytes[0] = TAG_SPARSE;
        bytes_put_u32(bytes + 1, v->count);
        buffer_put(out, bytes, 5);
        buffer_put(out, v->bytes, v->len); /* the dimension first */
        break;
    }
}

void packed_put_half(buffer *out, const value *vector)
{
    buffer_byte(out, TAG_HALF_VECTOR);
    varint_put(out, vector->count);
    uint8_t *to = buffer_reserve(out, (size_t)vector->count * 2);
    if (!to)
        return;
    for (uint32_t i = 0; i < vector->count; i++)
        bytes_put_u16(to + 2 * (size_t)i, number_to_half(value_component(vector, i)));
    out->len += (size_t)vector->count * 2;
}

size_t packed_begin(buffer *out, value_kind list_or_object)
{
    static const uint8_t none[CONTAINER_HEAD - 1];
    size_t mark = out->len;

    buffer_byte(out, list_or_object == VALUE_OBJECT ? TAG_OBJECT : TAG_LIST);
    buffer_put(out, none, sizeof none);
    return mark;
}

void packed_end(buffer *out, size_t mark, uint32_t count)
{
    if (out->failed)
        return;
    size_t len = out->len - mark - CONTAINER_HEAD;
    if (len > UINT32_MAX) {
        out->failed = true;
        return;
    }
    bytes_put_u32(out->bytes + mark + 1, (uint32_t)len);
    bytes_put_u32(out->bytes + mark + 5, count);
}

typedef enum reading { READ_OK, READ_DAMAGED, READ_HALF } reading;

static reading read_counted(const uint8_t **at, const uint8_t *end, value_kind kind, uint64_t width,
                            value *out)
{
    const uint8_t *p = *at;
    uint64_t count;

    if (!varint_get(&p, end, &count) || count > (uint64_t)(end - p) / width || count > UINT32_MAX)
        return READ_DAMAGED;
    *out = (value){.kind = kind, .bytes = p, .len = (size_t)(count * width)};
    if (kind == VALUE_VECTOR)
        out->count = (uint32_t)count;
    *at = p + out->len;
    return READ_OK;
}

/* One value at *at. READ_HALF: *out is a vector whose bytes are still 16-bit floats. */
static reading read_value(const uint8_t **at, const uint8_t *end, value *out)
{
    const uint8_t *p = *at;

    if (p >= end)
        return READ_DAMAGED;
    uint8_t tag = *p++;
    size_t room = (size_t)(end - p), need;
    reading got;

    switch (tag) {
    case TAG_NULL:
        *out = value_null();
        need = 0;
        break;
    case TAG_FALSE:
    case TAG_TRUE:
        *out = value_bool(tag == TAG_TRUE);
        need = 0;
        break;
    case TAG_INT8:
        need = 1;
        if (room < need)
            return READ_DAMAGED;
        *out = value_int((int8_t)p[0]);
        break;
    case TAG_INT16:
        need = 2;
        if (room < need)
            return READ_DAMAGED;
        *out = value_int((int16_t)bytes_u16(p));
        break;
    case TAG_INT32:
        need = 4;
        if (room < need)
            return READ_DAMAGED;
        *out = value_int((int32_t)bytes_u32(p));
        break;
    case TAG_INT64:
        need = 8;
        if (room < need)
            return READ_DAMAGED;
        *out = value_int((int64_t)bytes_u64(p));
        break;
    case TAG_FLOAT:
        need = 8;
        if (room < need)
            return READ_DAMAGED;
        *out = value_float(bytes_f64(p));
        break;
    case TAG_TIMESTAMP:
        need = 8;
        if (room < need)
            return READ_DAMAGED;
        *out = value_timestamp((int64_t)bytes_u64(p));
        break;
    case TAG_POINT:
        need = 16;
        if (room < need)
            return READ_DAMAGED;
        *out = (value){.kind = VALUE_POINT, .point = {bytes_f64(p), bytes_f64(p + 8)}};
        break;
    case TAG_TEXT:
    case TAG_BYTES:
    case TAG_VECTOR:
        got = read_counted(&p, end,
                           tag == TAG_TEXT    ? VALUE_TEXT
                           : tag == TAG_BYTES ? VALUE_BYTES
                                              : VALUE_VECTOR,
                           tag == TAG_VECTOR ? 4 : 1, out);
        if (got != READ_OK)
            return got;
        *at = p;
        return READ_OK;
    case TAG_HALF_VECTOR:
        if (read_counted(&p, end, VALUE_VECTOR, 2, out) != READ_OK)
            return READ_DAMAGED;
        *at = p;
        return READ_HALF;
    case TAG_LIST:
    case TAG_OBJECT: {
        if (room < CONTAINER_HEAD - 1)
            return READ_DAMAGED;
        uint32_t len = bytes_u32(p), count = bytes_u32(p + 4);
        need = CONTAINER_HEAD - 1 + (size_t)len;
        /* An element takes a byte at least, a member three: a count the bytes cannot hold would make a
         * caller reserve for it. */
        if (room < need || count > len / (tag == TAG_LIST ? 1u : 3u) || (count == 0 && len > 0))
            return READ_DAMAGED;
        *out = (value){.kind = tag == TAG_LIST ? VALUE_LIST : VALUE_OBJECT,
                       .count = count,
                       .bytes = p + CONTAINER_HEAD - 1,
                       .len = len};
        break;
    }
    case TAG_SPARSE: {
        if (room < 8)
            return READ_DAMAGED;
        uint32_t count = bytes_u32(p);
        if (count > (room - 8) / 8)
            return READ_DAMAGED;
        need = 8 + 8 * (size_t)count;
        *out = (value){.kind = VALUE_SPARSE, .count = count, .bytes = p + 4, .len = need - 4};
        break;
    }
    default: return READ_DAMAGED;
    }
    *at = p + need;
    return READ_OK;
}

static int damaged(error *err)
{
    return err ? fail(err, FENEC_CORRUPT, "a stored value is damaged") : FENEC_CORRUPT;
}

static int widen_half(value *v, arena *a, error *err)
{
    if (!a)
        return damaged(err);
    uint8_t *wide = arena_alloc(a, (size_t)v->count * 4);
    if (!wide)
        return fail_memory(err);
    for (size_t i = 0; i < v->count; i++)
        bytes_put_f32(wide + 4 * i, number_from_half(bytes_u16(v->bytes + 2 * i)));
    v->bytes = wide;
    v->len = (size_t)v->count * 4;
    return FENEC_OK;
}

int packed_read(const uint8_t **at, const uint8_t *end, arena *a, value *out, error *err)
{
    const uint8_t *p = *at;
    value got;
    int code = FENEC_OK;

    switch (read_value(&p, end, &got)) {
    case READ_OK: break;
    case READ_HALF: code = widen_half(&got, a, err); break;
    case READ_DAMAGED: code = damaged(err); break;
    }
    if (code == FENEC_OK) {
        *at = p;
        *out = got;
    }
    return code;
}

void packed_iterate(packed_iter *it, const value *container)
{
    if (container->kind == VALUE_LIST || container->kind == VALUE_OBJECT)
        *it = (packed_iter){.at = container->bytes,
                            .end = container->len ? container->bytes + container->len : container->bytes,
                            .left = container->count};
    else
        *it = (packed_iter){0};
}

int packed_next(packed_iter *it, value *element, error *err)
{
    value got;

    if (it->left == 0 && it->at == it->end)
        return FN_END;
    if (it->left == 0 || read_value(&it->at, it->end, &got) != READ_OK) {
        it->at = it->end; /* a caller that goes on finds an end, not a loop */
        it->left = 0;
        return damaged(err);
    }
    it->left--;
    *element = got;
    return FENEC_OK;
}

int packed_next_member(packed_iter *it, value *key, value *member, error *err)
{
    value name, got;

    if (it->left == 0 && it->at == it->end)
        return FN_END;
    if (it->left == 0 || read_value(&it->at, it->end, &name) != READ_OK || name.kind != VALUE_TEXT ||
        read_value(&it->at, it->end, &got) != READ_OK) {
        it->at = it->end;
        it->left = 0;
        return damaged(err);
    }
    it->left--;
    *key = name;
    *member = got;
    return FENEC_OK;
}

static int compare_octets(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a, b, len) : 0;

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

bool packed_member(const value *object, const uint8_t *key, size_t key_len, value *out)
{
    value name, member;

    *out = value_null();
    if (object->kind != VALUE_OBJECT || object->count == 0)
        return false;
    const uint8_t *at = object->bytes, *end = at + object->len;
    for (uint32_t left = object->count; left > 0; left--) {
        if (read_value(&at, end, &name) != READ_OK || read_value(&at, end, &member) != READ_OK ||
            name.kind != VALUE_TEXT)
            return false;
        int order = compare_octets(name.bytes, name.len, key, key_len);
        if (order == 0) {
            *out = member;
            return true;
        }
        if (order > 0)
            return false;
    }
    return false;
}

/* Depth of v, itself included; more than `most` stops the walk and is answered as most + 1. */
static uint32_t depth_within(const value *v, uint32_t most)
{
    uint32_t deepest = 0;
    value element;

    if (v->kind == VALUE_POINT || v->kind == VALUE_VECTOR)
        return 1;
    if (v->kind != VALUE_LIST && v->kind != VALUE_OBJECT)
        return 0;
    if (most == 0)
        return 1;
    const uint8_t *at = v->bytes;
    for (uint64_t left = v->kind == VALUE_OBJECT ? 2 * (uint64_t)v->count : v->count; left > 0; left--) {
        if (read_value(&at, v->bytes + v->len, &element) != READ_OK)
            break;
        uint32_t depth = depth_within(&element, most - 1);
        if (depth > deepest)
            deepest = depth;
    }
    return deepest + 1;
}

uint32_t packed_depth(const value *v)
{
    return depth_within(v, PACKED_DEPTH_MAX);
}

static bool int_is_short(uint8_t tag, int64_t i)
{
    return tag == TAG_INT8 || (tag == TAG_INT16 && i != (int8_t)i) || (tag == TAG_INT32 && i != (int16_t)i) ||
           (tag == TAG_INT64 && i != (int32_t)i);
}

static bool sparse_is_sound(const value *v)
{
    uint32_t dimension = bytes_u32(v->bytes), before = 0;

    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t index = bytes_u32(v->bytes + 4 + 8 * (size_t)i);
        if (index >= dimension || (i > 0 && index <= before))
            return false;
        before = index;
    }
    return true;
}

static bool point_is_sound(const value *v)
{
    return v->point[0] >= -180 && v->point[0] <= 180 && v->point[1] >= -90 && v->point[1] <= 90;
}

static bool value_is_sound(const uint8_t **at, const uint8_t *end, uint32_t depth_left)
{
    const uint8_t *start = *at;
    value v, name, before = value_null();

    if (read_value(at, end, &v) == READ_DAMAGED)
        return false;
    switch (v.kind) {
    case VALUE_INT: return int_is_short(*start, v.integer);
    case VALUE_TEXT: return utf8_valid(v.bytes, v.len);
    case VALUE_POINT: return point_is_sound(&v);
    case VALUE_SPARSE: return sparse_is_sound(&v);
    case VALUE_LIST:
    case VALUE_OBJECT: break;
    default: return true;
    }
    if (depth_left == 0)
        return false;
    const uint8_t *p = v.bytes, *stop = v.bytes + v.len;
    for (uint32_t i = 0; i < v.count; i++) {
        if (v.kind == VALUE_OBJECT) {
            if (read_value(&p, stop, &name) != READ_OK || name.kind != VALUE_TEXT ||
                !utf8_valid(name.bytes, name.len))
                return false;
            if (i > 0 && compare_octets(before.bytes, before.len, name.bytes, name.len) >= 0)
                return false;
            before = name;
        }
        /* Half vectors stand in records only, never inside another value. */
        if (p < stop && *p == TAG_HALF_VECTOR)
            return false;
        if (!value_is_sound(&p, stop, depth_left - 1))
            return false;
    }
    return p == stop;
}

int packed_check(const uint8_t *bytes, size_t len, error *err)
{
    const uint8_t *at = bytes, *end = len ? bytes + len : bytes;

    if (!value_is_sound(&at, end, PACKED_DEPTH_MAX) || at != end)
        return damaged(err);
    return FENEC_OK;
}

typedef struct path_write {
    const value *keys;
    uint32_t n;
    const value *v;
    uint32_t *met;
    value *holds;
    error *err;
} path_write;

static int set_from(const path_write *w, buffer *out, const value *base, uint32_t walked)
{
    const value *key = &w->keys[walked];
    value name, member, found = value_null();
    uint32_t count = 0;
    bool placed = false;
    packed_iter it;
    int code;

    if (walked == w->n) {
        packed_put(out, w->v);
        return FENEC_OK;
    }
    if (base->kind != VALUE_NULL && base->kind != VALUE_OBJECT) {
        *w->met = walked;
        *w->holds = *base;
        return fail(w->err, FENEC_TYPE, "a path meets %s", value_kind_name(base));
    }
    size_t mark = packed_begin(out, VALUE_OBJECT);
    packed_iterate(&it, base);
    for (;;) {
        const uint8_t *start = it.at;
        code = packed_next_member(&it, &name, &member, w->err);
        if (code != FENEC_OK && code != FN_END)
            return code;
        int order = code == FN_END ? 1 : compare_octets(name.bytes, name.len, key->bytes, key->len);
        if (!placed && order >= 0) {
            packed_put(out, key);
            int deeper = set_from(w, out, order == 0 ? &member : &found, walked + 1);
            if (deeper != FENEC_OK)
                return deeper;
            placed = true;
            count++;
        }
        if (code == FN_END)
            break;
        if (order != 0) {
            buffer_put(out, start, (size_t)(it.at - start));
            count++;
        }
    }
    packed_end(out, mark, count);
    return FENEC_OK;
}

int packed_set_path(arena *a, const value *base, const value keys[], uint32_t n, const value *v, value *out,
                    uint32_t *met, value *holds, error *err)
{
    const path_write w = {.keys = keys, .n = n, .v = v, .met = met, .holds = holds, .err = err};
    buffer built;
    int code;

    buffer_init(&built);
    code = set_from(&w, &built, base, 0);
    if (code == FENEC_OK) {
        const uint8_t *bytes = built.failed ? NULL : arena_copy(a, built.bytes, built.len);
        if (bytes)
            code = packed_read(&bytes, bytes + built.len, a, out, err);
        else
            code = fail_memory(err);
    }
    buffer_clear(&built);
    return code;
}
