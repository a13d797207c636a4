#include "value/value.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "value/collation.h"
#include "value/elements.h"
#include "value/json.h"
#include "value/packed.h"
#include "value/timestamp.h"

/* The ranks of chapter 2 section 8.1. */
static const uint8_t ranks[] = {
    [VALUE_NULL] = 0,  [VALUE_BOOL] = 1,   [VALUE_INT] = 2,  [VALUE_FLOAT] = 2,
    [VALUE_TEXT] = 3,  [VALUE_BYTES] = 3,  [VALUE_TIMESTAMP] = 2, [VALUE_VECTOR] = 4,
    [VALUE_LIST] = 5,  [VALUE_POINT] = 5,  [VALUE_SPARSE] = 6, [VALUE_OBJECT] = 7,
};

static int compare_ints(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_unsigned(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* 0 where one is NaN. */
static int compare_doubles(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_octets(const value *a, const value *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order = len ? memcmp(a->bytes, b->bytes, len) : 0;

    return order ? order : (a->len > b->len) - (a->len < b->len);
}

static double as_double(const value *v)
{
    return v->kind == VALUE_FLOAT ? v->number : (double)v->integer;
}

static int compare_instant_with_text(int64_t ms, const value *text)
{
    int64_t other;

    return timestamp_read(text->bytes, text->len, &other) ? compare_ints(ms, other) : -1;
}

/* A side of a comparison as a vector: components rounded to 32-bit floats. */
static int compare_as_vectors(const value *a, const value *b)
{
    elements left, right;
    value x, y;

    elements_open(&left, a);
    elements_open(&right, b);
    for (;;) {
        bool more_left = elements_next(&left, &x, NULL) == FENEC_OK;
        bool more_right = elements_next(&right, &y, NULL) == FENEC_OK;
        if (!more_left || !more_right)
            return more_left - more_right;
        int order = compare_doubles((float)as_double(&x), (float)as_double(&y));
        if (order)
            return order;
    }
}

static int compare_vectors(const value *a, const value *b)
{
    uint32_t count = a->count < b->count ? a->count : b->count;

    for (uint32_t i = 0; i < count; i++) {
        float x = value_component(a, i), y = value_component(b, i);
        if (x < y)
            return -1;
        if (x > y)
            return 1;
    }
    return compare_unsigned(a->count, b->count);
}

static int compare_sparse(const value *a, const value *b)
{
    uint32_t count = a->count < b->count ? a->count : b->count;

    for (size_t i = 0; i < count; i++) {
        const uint8_t *x = a->bytes + 4 + 8 * i, *y = b->bytes + 4 + 8 * i;
        int order = compare_unsigned(bytes_u32(x), bytes_u32(y));
        if (!order)
            order = compare_doubles(bytes_f32(x + 4), bytes_f32(y + 4));
        if (order)
            return order;
    }
    int order = compare_unsigned(a->count, b->count);
    return order ? order : compare_unsigned(bytes_u32(a->bytes), bytes_u32(b->bytes));
}

static int compare(collation collate, const value *a, const value *b, uint32_t depth_left);

static int compare_lists(collation collate, const value *a, const value *b, uint32_t depth_left)
{
    elements left, right;
    value x, y;

    /* Bytes of a file may nest deeper than anything that was let in: such values count as equal. */
    if (depth_left == 0)
        return 0;
    elements_open(&left, a);
    elements_open(&right, b);
    for (;;) {
        bool more_left = elements_next(&left, &x, NULL) == FENEC_OK;
        bool more_right = elements_next(&right, &y, NULL) == FENEC_OK;
        if (!more_left || !more_right)
            return more_left - more_right;
        int order = compare(collate, &x, &y, depth_left - 1);
        if (order)
            return order;
    }
}

static int compare_objects(const value *a, const value *b, uint32_t depth_left)
{
    packed_iter left, right;
    value key, other_key, member, other_member;

    if (depth_left == 0)
        return 0;
    packed_iterate(&left, a);
    packed_iterate(&right, b);
    for (;;) {
        bool more_left = packed_next_member(&left, &key, &member, NULL) == FENEC_OK;
        bool more_right = packed_next_member(&right, &other_key, &other_member, NULL) == FENEC_OK;
        if (!more_left || !more_right)
            return more_left - more_right;
        int order = compare_octets(&key, &other_key);
        if (!order)
            order = compare(COLLATION_NONE, &member, &other_member, depth_left - 1);
        if (order)
            return order;
    }
}

static int compare_numbers(const value *a, const value *b)
{
    /* Two ints, or two instants, exactly; an int with an instant is a pair of unlike numbers. */
    if (a->kind == b->kind && a->kind != VALUE_FLOAT)
        return compare_ints(a->integer, b->integer);
    return compare_doubles(as_double(a), as_double(b));
}

static int compare_same_rank(collation collate, const value *a, const value *b, uint32_t depth_left)
{
    switch (a->kind) {
    case VALUE_NULL: return 0;
    case VALUE_BOOL: return a->boolean - b->boolean;
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_TIMESTAMP: return compare_numbers(a, b);
    case VALUE_TEXT:
    case VALUE_BYTES:
        if (collate != COLLATION_NONE && a->kind == VALUE_TEXT && b->kind == VALUE_TEXT)
            return collation_compare(collate, a->bytes, a->len, b->bytes, b->len);
        return compare_octets(a, b);
    case VALUE_VECTOR: return compare_vectors(a, b);
    case VALUE_LIST:
    case VALUE_POINT: return compare_lists(collate, a, b, depth_left);
    case VALUE_SPARSE: return compare_sparse(a, b);
    case VALUE_OBJECT: return compare_objects(a, b, depth_left);
    }
    return 0;
}

/* A point reads as a list of two numbers. */
static bool serves_as_vector(const value *v)
{
    return v->kind == VALUE_POINT || value_is_number_list(v);
}

static int compare_ranks(const value *a, const value *b)
{
    if (a->kind == VALUE_TIMESTAMP && b->kind == VALUE_TEXT)
        return compare_instant_with_text(a->integer, b);
    if (a->kind == VALUE_TEXT && b->kind == VALUE_TIMESTAMP)
        return -compare_instant_with_text(b->integer, a);
    if ((a->kind == VALUE_VECTOR && serves_as_vector(b)) || (b->kind == VALUE_VECTOR && serves_as_vector(a)))
        return compare_as_vectors(a, b);
    return ranks[a->kind] < ranks[b->kind] ? -1 : 1;
}

static int compare(collation collate, const value *a, const value *b, uint32_t depth_left)
{
    if (a->kind == b->kind && (a->kind == VALUE_INT || a->kind == VALUE_TIMESTAMP))
        return compare_ints(a->integer, b->integer);
    if (ranks[a->kind] == ranks[b->kind])
        return compare_same_rank(collate, a, b, depth_left);
    return compare_ranks(a, b);
}

int value_compare(const value *a, const value *b)
{
    return compare(COLLATION_NONE, a, b, PACKED_DEPTH_MAX);
}

int value_compare_in(collation collate, const value *a, const value *b)
{
    return compare(collate, a, b, PACKED_DEPTH_MAX);
}

bool value_equal(const value *a, const value *b)
{
    if (a->kind == b->kind) {
        switch (a->kind) {
        case VALUE_INT:
        case VALUE_TIMESTAMP: return a->integer == b->integer;
        case VALUE_TEXT:
        case VALUE_BYTES: return a->len == b->len && (a->len == 0 || memcmp(a->bytes, b->bytes, a->len) == 0);
        case VALUE_VECTOR:
        case VALUE_SPARSE:
        case VALUE_LIST:
        case VALUE_OBJECT:
            if (a->count != b->count)
                return false;
            if (a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0)
                return true;
            break;
        default: break;
        }
    }
    return compare(COLLATION_NONE, a, b, PACKED_DEPTH_MAX) == 0;
}

bool value_truth(const value *v)
{
    switch (v->kind) {
    case VALUE_NULL: return false;
    case VALUE_BOOL: return v->boolean;
    case VALUE_INT:
    case VALUE_TIMESTAMP: return v->integer != 0;
    case VALUE_FLOAT: return v->number != 0;
    case VALUE_TEXT:
    case VALUE_BYTES: return v->len != 0;
    case VALUE_VECTOR:
    case VALUE_LIST:
    case VALUE_SPARSE:
    case VALUE_OBJECT: return v->count != 0;
    case VALUE_POINT: return true;
    }
    return false;
}

bool value_is_number_list(const value *v)
{
    elements e;
    value x;

    if (v->kind != VALUE_LIST || v->count == 0)
        return false;
    elements_open(&e, v);
    while (elements_next(&e, &x, NULL) == FENEC_OK)
        if (x.kind != VALUE_INT && x.kind != VALUE_FLOAT)
            return false;
    return true;
}

bool value_components(const value *v, arena *a, const float **out, uint32_t *count)
{
    elements e;
    value x;
    uint32_t i = 0;
    bool empty = v->kind == VALUE_LIST && v->count == 0;

    if (v->kind != VALUE_VECTOR && !empty && !value_is_number_list(v))
        return false;
    float *to = arena_alloc(a, (size_t)v->count * sizeof *to);
    if (!to)
        return false;
    elements_open(&e, v);
    while (i < v->count && elements_next(&e, &x, NULL) == FENEC_OK)
        to[i++] = (float)as_double(&x);
    *out = to;
    *count = i;
    return true;
}

float value_component(const value *vector, uint32_t i)
{
    return bytes_f32(vector->bytes + 4 * (size_t)i);
}

const char *value_kind_name(const value *v)
{
    switch (v->kind) {
    case VALUE_NULL: return "null";
    case VALUE_BOOL: return "a bool";
    case VALUE_INT: return "an int";
    case VALUE_FLOAT: return "a float";
    case VALUE_TIMESTAMP: return "a timestamp";
    case VALUE_TEXT: return "text";
    case VALUE_BYTES: return "bytes";
    case VALUE_VECTOR: return "a vector";
    case VALUE_LIST: return "a list";
    case VALUE_POINT: return "a point";
    case VALUE_SPARSE: return "a sparse vector";
    case VALUE_OBJECT: return "an object";
    }
    return "a value";
}

/* Writes no more of v than a message shows: a parameter may be megabytes long. */
static void quote(buffer *out, const value *v, uint32_t depth_left)
{
    packed_iter it;
    elements e;
    value key, member;

    switch (v->kind) {
    case VALUE_TEXT: {
        size_t len = v->len < VALUE_QUOTE_MAX ? v->len : utf8_cut(v->bytes, VALUE_QUOTE_MAX);
        json_write_text(out, v->bytes, len);
        break;
    }
    case VALUE_BYTES: {
        value part = *v;
        part.len = v->len < VALUE_QUOTE_MAX ? v->len : VALUE_QUOTE_MAX;
        json_write(out, &part);
        break;
    }
    case VALUE_SPARSE: {
        value part = *v;
        part.count = v->count < VALUE_QUOTE_MAX ? v->count : VALUE_QUOTE_MAX;
        part.len = 4 + 8 * (size_t)part.count;
        json_write(out, &part);
        break;
    }
    case VALUE_VECTOR: {
        value part = *v;
        part.count = v->count < VALUE_QUOTE_MAX ? v->count : VALUE_QUOTE_MAX;
        part.len = 4 * (size_t)part.count;
        json_write(out, &part);
        break;
    }
    case VALUE_LIST:
        buffer_byte(out, '[');
        elements_open(&e, v);
        for (uint32_t i = 0; depth_left && out->len < VALUE_QUOTE_MAX; i++) {
            if (elements_next(&e, &member, NULL) != FENEC_OK)
                break;
            if (i)
                buffer_byte(out, ',');
            quote(out, &member, depth_left - 1);
        }
        buffer_byte(out, ']');
        break;
    case VALUE_OBJECT:
        buffer_byte(out, '{');
        packed_iterate(&it, v);
        for (uint32_t i = 0; depth_left && out->len < VALUE_QUOTE_MAX; i++) {
            if (packed_next_member(&it, &key, &member, NULL) != FENEC_OK)
                break;
            if (i)
                buffer_byte(out, ',');
            quote(out, &key, 0);
            buffer_byte(out, ':');
            quote(out, &member, depth_left - 1);
        }
        buffer_byte(out, '}');
        break;
    default: json_write(out, v); break;
    }
}

const char *value_quote(char out[VALUE_QUOTE_MAX], const value *v)
{
    buffer text;

    buffer_init(&text);
    quote(&text, v, VALUE_QUOTE_MAX);
    if (text.failed) {
        strcpy(out, value_kind_name(v));
    } else if (text.len < VALUE_QUOTE_MAX) {
        memcpy(out, text.bytes, text.len);
        out[text.len] = 0;
    } else {
        size_t len = utf8_cut(text.bytes, VALUE_QUOTE_MAX - sizeof "...");
        memcpy(out, text.bytes, len);
        strcpy(out + len, "...");
    }
    buffer_clear(&text);
    return out;
}

bool value_copy(arena *a, const value *v, value *out)
{
    *out = *v;
    switch (v->kind) {
    case VALUE_TEXT:
    case VALUE_BYTES:
    case VALUE_VECTOR:
    case VALUE_LIST:
    case VALUE_SPARSE:
    case VALUE_OBJECT: out->bytes = arena_copy(a, v->bytes, v->len); return out->bytes != NULL;
    default: return true;
    }
}
