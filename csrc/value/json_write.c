#include "value/json.h"

#include <math.h>

#include "base/bytes.h"
#include "value/json_run.h"
#include "value/number.h"
#include "value/packed.h"
#include "value/sparse.h"
#include "value/timestamp.h"

static void write_null(buffer *out)
{
    buffer_put(out, "null", 4);
}

void json_write_int(buffer *out, int64_t i)
{
    char *to = (char *)buffer_reserve(out, NUMBER_DIGITS_MAX + 1);

    if (!to)
        return;
    size_t sign = i < 0;
    to[0] = '-';
    out->len += sign + number_write_digits(to + sign, i < 0 ? 0 - (uint64_t)i : (uint64_t)i);
}

void json_write_float(buffer *out, double f)
{
    if (!isfinite(f)) {
        write_null(out);
        return;
    }
    if (f > -1e15 && f < 1e15 && f == (double)(int64_t)f) {
        json_write_int(out, (int64_t)f);
        return;
    }
    char *to = (char *)buffer_reserve(out, NUMBER_PLAIN_MAX);
    if (to)
        out->len += number_write(to, f);
}

void json_write_float32(buffer *out, float f)
{
    if (!isfinite(f)) {
        write_null(out);
        return;
    }
    char *to = (char *)buffer_reserve(out, NUMBER_PLAIN_MAX);
    if (to)
        out->len += number_write32(to, f);
}

static void write_escape(buffer *out, uint8_t byte)
{
    static const char hex[] = "0123456789abcdef";
    char control[6] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};

    switch (byte) {
    case '"': buffer_put(out, "\\\"", 2); break;
    case '\\': buffer_put(out, "\\\\", 2); break;
    case '\n': buffer_put(out, "\\n", 2); break;
    case '\r': buffer_put(out, "\\r", 2); break;
    case '\t': buffer_put(out, "\\t", 2); break;
    default: buffer_put(out, control, 6); break;
    }
}

void json_write_text(buffer *out, const uint8_t *bytes, size_t len)
{
    buffer_byte(out, '"');
    for (;;) {
        /* Room for all that is left and the quote; each escape looks after itself. */
        uint8_t *to = buffer_reserve(out, len < SIZE_MAX ? len + 1 : len);
        uint64_t word;
        size_t i = 0;

        if (!to)
            return;
        while (len - i >= 8 && (memcpy(&word, bytes + i, 8), !json_word_is_special(word))) {
            memcpy(to + i, &word, 8);
            i += 8;
        }
        for (; i < len && !json_byte_is_special(bytes[i]); i++)
            to[i] = bytes[i];
        if (i == len) {
            to[i] = '"';
            out->len += i + 1;
            return;
        }
        out->len += i;
        write_escape(out, bytes[i]);
        bytes += i + 1;
        len -= i + 1;
    }
}

static void write_octets(buffer *out, const value *v)
{
    buffer_byte(out, '[');
    for (size_t i = 0; i < v->len; i++) {
        if (i)
            buffer_byte(out, ',');
        json_write_int(out, v->bytes[i]);
    }
    buffer_byte(out, ']');
}

static void write_vector(buffer *out, const value *v)
{
    buffer_byte(out, '[');
    for (uint32_t i = 0; i < v->count; i++) {
        if (i)
            buffer_byte(out, ',');
        json_write_float32(out, bytes_f32(v->bytes + 4 * (size_t)i));
    }
    buffer_byte(out, ']');
}

static void write_point(buffer *out, const value *v)
{
    buffer_byte(out, '[');
    json_write_float(out, v->point[0]);
    buffer_byte(out, ',');
    json_write_float(out, v->point[1]);
    buffer_byte(out, ']');
}

static void write_timestamp(buffer *out, int64_t ms)
{
    char text[TIMESTAMP_TEXT_MAX];
    size_t len = timestamp_write(text, ms);

    buffer_byte(out, '"');
    buffer_put(out, text, len);
    buffer_byte(out, '"');
}

static void write_value(buffer *out, const value *v, unsigned depth_left);

/* Bytes of a file may be damaged, or nest deeper than anything that was let in: then the answer fails. */
static void write_elements(buffer *out, const value *v, unsigned depth_left)
{
    bool object = v->kind == VALUE_OBJECT;
    char comma = object ? '{' : '[';
    packed_iter it;
    value key, element;

    if (v->count == 0) {
        buffer_put(out, object ? "{}" : "[]", 2);
        return;
    }
    if (depth_left == 0) {
        buffer_fail_damaged(out);
        return;
    }
    packed_iterate(&it, v);
    for (;;) {
        int code = object ? packed_next_member(&it, &key, &element, NULL) : packed_next(&it, &element, NULL);
        if (code == FN_END)
            break;
        if (code != FENEC_OK) {
            buffer_fail_damaged(out);
            return;
        }
        buffer_byte(out, (uint8_t)comma);
        comma = ',';
        if (object) {
            json_write_text(out, key.bytes, key.len);
            buffer_byte(out, ':');
        }
        write_value(out, &element, depth_left - 1);
    }
    buffer_byte(out, object ? '}' : ']');
}

static void write_value(buffer *out, const value *v, unsigned depth_left)
{
    switch (v->kind) {
    case VALUE_NULL: write_null(out); break;
    case VALUE_BOOL: buffer_put(out, v->boolean ? "true" : "false", v->boolean ? 4 : 5); break;
    case VALUE_INT: json_write_int(out, v->integer); break;
    case VALUE_FLOAT: json_write_float(out, v->number); break;
    case VALUE_TIMESTAMP: write_timestamp(out, v->integer); break;
    case VALUE_TEXT: json_write_text(out, v->bytes, v->len); break;
    case VALUE_BYTES: write_octets(out, v); break;
    case VALUE_VECTOR: write_vector(out, v); break;
    case VALUE_POINT: write_point(out, v); break;
    case VALUE_SPARSE:
        buffer_byte(out, '"');
        sparse_write(out, v);
        buffer_byte(out, '"');
        break;
    case VALUE_LIST:
    case VALUE_OBJECT: write_elements(out, v, depth_left); break;
    }
}

void json_write(buffer *out, const value *v)
{
    write_value(out, v, PACKED_DEPTH_MAX);
}
