#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "exec/encoding.h"
#include "exec/sketch.h"
#include "test.h"
#include "value/json.h"

static value make_json(arena *a, const char *text)
{
    error err;
    value v = value_null();

    error_init(&err);
    CHECK_INT(json_read((const uint8_t *)text, strlen(text), a, &v, &err), FENEC_OK);
    return v;
}

/* ---- encodings ---- */

static const char *hex_of(const buffer *b)
{
    static char text[512];

    text[0] = 0;
    for (size_t i = 0; i < b->len && i < 250; i++)
        snprintf(text + 2 * i, 3, "%02x", b->bytes[i]);
    return text;
}

/* The encoding of a JSON text as hexadecimal digits. */
static void check_encoding(const char *file, int line, const value *v, const char *want)
{
    buffer b;
    error err;

    buffer_init(&b);
    error_init(&err);
    if (encoding_put(&b, v, &err) || strcmp(hex_of(&b), want) != 0)
        test_failed(file, line, "the encoding is %s, not %s", hex_of(&b), want);
    buffer_clear(&b);
}

#define CHECK_ENCODING(v, want)                          \
    do {                                                 \
        value v_ = (v);                                  \
        check_encoding(__FILE__, __LINE__, &v_, (want)); \
    } while (0)

TEST(encodings_are_those_of_the_appendix)
{
    static const uint8_t vector[] = {0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0}; /* 1, -2 */
    /* of 10 dimensions: 0.5 at index 3, -1 at index 7 */
    static const uint8_t sparse[] = {10, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0x3F, 7, 0, 0, 0, 0, 0, 0x80, 0xBF};
    arena a;

    arena_init(&a);
    CHECK_ENCODING(value_null(), "00");
    CHECK_ENCODING(value_bool(false), "0100");
    CHECK_ENCODING(value_bool(true), "0101");
    CHECK_ENCODING(value_int(0), "0200");
    CHECK_ENCODING(value_int(-1), "0201");
    CHECK_ENCODING(value_int(1), "0202");
    CHECK_ENCODING(value_int(300), "02d804");
    CHECK_ENCODING(value_int(INT64_MAX), "02feffffffffffffffff01");
    CHECK_ENCODING(value_int(INT64_MIN), "02ffffffffffffffffff01");
    CHECK_ENCODING(value_float(1), "03000000000000f03f");
    CHECK_ENCODING(value_float(0.0), "030000000000000000");
    CHECK_ENCODING(value_float(-0.0), "030000000000000000");
    CHECK_ENCODING(value_text("a", 1), "040161");
    CHECK_ENCODING(value_text("", 0), "0400");
    CHECK_ENCODING(((value){.kind = VALUE_BYTES, .bytes = (const uint8_t *)"\xff\x01", .len = 2}), "0502ff01");
    CHECK_ENCODING(((value){.kind = VALUE_VECTOR, .count = 2, .bytes = vector, .len = 8}), "06020000803f000000c0");
    CHECK_ENCODING(make_json(&a, "[1, 2.5, null]"), "0703020203000000000000044000");
    CHECK_ENCODING(((value){.kind = VALUE_POINT, .point = {1, 2.5}}), "070203000000000000f03f030000000000000440");
    CHECK_ENCODING(value_timestamp(-1), "0901");
    CHECK_ENCODING(((value){.kind = VALUE_SPARSE, .count = 2, .bytes = sparse, .len = sizeof sparse}),
                   "0a0a0203040000003f000080bf");
    CHECK_ENCODING(make_json(&a, "{\"b\": {\"c\": true}, \"a\": 1}"), "0d020161020201620d0101630101");
    arena_clear(&a);
}

TEST(the_hash_of_an_encoding_is_the_formula_of_the_appendix)
{
    CHECK(encoding_hash((const uint8_t *)"", 0) == 0x9ca066f1a4ab2eeau);
    CHECK(encoding_hash((const uint8_t *)"\x00", 1) == 0xcf37d002ac2c82fu);
    CHECK(encoding_hash((const uint8_t *)"\x02\x02", 2) == 0x35b5306587fcddb1u);
    CHECK(encoding_hash((const uint8_t *)"\x04\x01"
                                         "a", 3) == 0x532d2468b6dd6317u);
    CHECK(encoding_hash((const uint8_t *)"\x04\x06"
                                         "abcdef", 8) == 0x2c2c3a2a38de7082u);
    CHECK(encoding_hash((const uint8_t *)"\x04\x07"
                                         "abcdefg", 9) == 0x5ea74b3e5ac5e1eau);
    CHECK(encoding_hash((const uint8_t *)"\x04\x0chello, world", 14) == 0xab8242520e9a9206u);
}

TEST(packed_encodings_are_alike_exactly_where_encodings_are)
{
    static const char *const texts[] = {"0", "0.0", "-0.0", "1", "1.0", "\"1\"", "true", "null", "[]", "{}", "[0.0]",
                                        "[-0.0]", "[0]", "{\"a\": [-0.0]}", "{\"a\": [0.0]}", "\"\"", "[[]]", "[null]"};
    enum { COUNT = sizeof texts / sizeof *texts };
    arena a;
    error err;

    arena_init(&a);
    error_init(&err);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            buffer b[4];
            for (int n = 0; n < 4; n++) {
                value v = make_json(&a, texts[n % 2 ? k : i]);
                buffer_init(&b[n]);
                CHECK_INT(n < 2 ? encoding_put(&b[n], &v, &err) : encoding_put_packed(&b[n], &v, &err), FENEC_OK);
            }
            bool one = b[0].len == b[1].len && !memcmp(b[0].bytes, b[1].bytes, b[0].len);
            bool other = b[2].len == b[3].len && !memcmp(b[2].bytes, b[3].bytes, b[2].len);
            if (one != other)
                test_failed(__FILE__, __LINE__, "%s and %s", texts[i], texts[k]);
            for (int n = 0; n < 4; n++)
                buffer_clear(&b[n]);
        }
    }
    value point = {.kind = VALUE_POINT, .point = {1, 2.5}}, list = make_json(&a, "[1.0, 2.5]");
    buffer left, right;
    buffer_init(&left);
    buffer_init(&right);
    CHECK_INT(encoding_put_packed(&left, &point, &err), FENEC_OK);
    CHECK_INT(encoding_put_packed(&right, &list, &err), FENEC_OK);
    CHECK(left.len == right.len && !memcmp(left.bytes, right.bytes, left.len));
    buffer_clear(&left);
    buffer_clear(&right);
    arena_clear(&a);
}

TEST(an_encoding_of_damaged_bytes_is_refused)
{
    /* A list that says it holds two values and holds half of one. */
    static const uint8_t bytes[] = {4, 1};
    value v = {.kind = VALUE_LIST, .count = 2, .bytes = bytes, .len = sizeof bytes};
    buffer b;
    error err;

    buffer_init(&b);
    error_init(&err);
    CHECK_INT(encoding_put(&b, &v, &err), FENEC_CORRUPT);
    CHECK_INT(encoding_put_packed(&b, &v, &err), FENEC_CORRUPT);
    buffer_clear(&b);
}

/* ---- sketches ---- */

typedef struct sketch_bed {
    arena memory;
    uint64_t held;
    sketch_room room;
    error err;
} sketch_bed;

static void open_room(sketch_bed *b)
{
    *b = (sketch_bed){0};
    arena_init(&b->memory);
    error_init(&b->err);
    b->room = (sketch_room){.memory = &b->memory, .held = &b->held};
}

/* A hash that sets a register to a rank. */
static uint64_t hash_for(uint32_t index, unsigned rank)
{
    return (uint64_t)index << 50 | (rank > 50 ? 0 : (uint64_t)1 << (50 - rank));
}

static void add_int(sketch *s, sketch_bed *b, int64_t i)
{
    value v = value_int(i);
    buffer bytes;

    buffer_init(&bytes);
    CHECK_INT(encoding_put(&bytes, &v, &b->err), FENEC_OK);
    CHECK_INT(sketch_add(s, encoding_hash(bytes.bytes, bytes.len), &b->room, &b->err), FENEC_OK);
    buffer_clear(&bytes);
}

TEST(a_sketch_is_sparse_and_ascending_at_first)
{
    static const uint8_t want[] = {2, 14, 1, 0, 51, 7, 0, 9, 0xFF, 0x3F, 1};
    sketch_bed b;
    sketch s = {0};

    open_room(&b);
    sketch_add(&s, hash_for(16383, 1), &b.room, &b.err);
    sketch_add(&s, hash_for(7, 4), &b.room, &b.err);
    sketch_add(&s, hash_for(1, 51), &b.room, &b.err);
    sketch_add(&s, hash_for(7, 9), &b.room, &b.err);
    sketch_add(&s, hash_for(7, 3), &b.room, &b.err);
    CHECK_INT(s.len, sizeof want);
    CHECK(!memcmp(s.bytes, want, sizeof want));
    CHECK_INT(b.held, 9);
    CHECK_INT(sketch_check(s.bytes, s.len, &b.err), FENEC_OK);
    arena_clear(&b.memory);
}

TEST(a_sketch_is_dense_after_1024_registers)
{
    sketch_bed b;
    sketch s = {0};

    open_room(&b);
    for (uint32_t i = 0; i < 1024; i++)
        sketch_add(&s, hash_for(i * 3, 2 + i % 5), &b.room, &b.err);
    CHECK_INT(s.bytes[0], 2);
    CHECK_INT(s.len, 2 + 3 * 1024);
    CHECK_INT(b.held, 3 * 1024);
    sketch_add(&s, hash_for(3, 40), &b.room, &b.err); /* one that is set */
    CHECK_INT(s.bytes[0], 2);
    sketch_add(&s, hash_for(16000, 7), &b.room, &b.err);
    CHECK_INT(s.bytes[0], 1);
    CHECK_INT(s.bytes[1], 14);
    CHECK_INT(s.len, 2 + 16384);
    CHECK_INT(b.held, 16384);
    CHECK_INT(s.bytes[2], 2);
    CHECK_INT(s.bytes[2 + 1], 0);
    CHECK_INT(s.bytes[2 + 3], 40);
    CHECK_INT(s.bytes[2 + 16000], 7);
    CHECK_INT(sketch_check(s.bytes, s.len, &b.err), FENEC_OK);
    arena_clear(&b.memory);
}

/* Sketches of two halves merged are the sketch of the whole, whichever comes first. */
TEST(merging_is_adding_everything)
{
    static const int sizes[][2] = {{10, 5}, {700, 600}, {5000, 20}, {20, 5000}, {4000, 4000}, {0, 9}};

    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        sketch_bed b;
        sketch left = {0}, right = {0}, whole = {0}, merged = {0}, turned = {0};
        open_room(&b);
        for (int i = 0; i < sizes[n][0]; i++) {
            add_int(&left, &b, i);
            add_int(&whole, &b, i);
        }
        for (int i = 0; i < sizes[n][1]; i++) {
            add_int(&right, &b, 1000000 + i);
            add_int(&whole, &b, 1000000 + i);
        }
        if (left.bytes) {
            CHECK_INT(sketch_merge(&merged, left.bytes, left.len, &b.room, &b.err), FENEC_OK);
            CHECK_INT(sketch_merge(&merged, right.bytes, right.len, &b.room, &b.err), FENEC_OK);
            CHECK_INT(sketch_merge(&turned, right.bytes, right.len, &b.room, &b.err), FENEC_OK);
            CHECK_INT(sketch_merge(&turned, left.bytes, left.len, &b.room, &b.err), FENEC_OK);
        } else {
            CHECK_INT(sketch_merge(&merged, right.bytes, right.len, &b.room, &b.err), FENEC_OK);
            turned = merged;
        }
        CHECK(merged.len == whole.len && !memcmp(merged.bytes, whole.bytes, whole.len));
        CHECK(turned.len == whole.len && !memcmp(turned.bytes, whole.bytes, whole.len));
        arena_clear(&b.memory);
    }
}

TEST(merging_a_dense_sketch_makes_a_dense_one)
{
    static uint8_t dense[2 + 16384] = {1, 14, 3};
    sketch_bed b;
    sketch s = {0};

    open_room(&b);
    CHECK_INT(sketch_merge(&s, dense, sizeof dense, &b.room, &b.err), FENEC_OK);
    CHECK_INT(s.bytes[0], 1);
    CHECK_INT(sketch_estimate(s.bytes, s.len), 1);
    arena_clear(&b.memory);
}

static int check_bytes(const uint8_t *bytes, size_t len)
{
    error err;

    error_init(&err);
    return sketch_check(bytes, len, &err);
}

TEST(bytes_that_are_no_sketch_are_refused)
{
    static uint8_t dense[2 + 16384 + 1] = {1, 14};

    CHECK_INT(check_bytes((const uint8_t *)"", 0), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02", 1), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e", 2), FENEC_OK);
    CHECK_INT(check_bytes((const uint8_t *)"\x03\x0e", 2), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0d", 2), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x01\x0e", 2), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x01\x00", 4), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x01\x00\x01", 5), FENEC_OK);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x01\x00\x00", 5), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x01\x00\x33", 5), FENEC_OK);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x01\x00\x34", 5), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x00\x40\x01", 5), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x05\x00\x01\x05\x00\x01", 8), FENEC_TYPE);
    CHECK_INT(check_bytes((const uint8_t *)"\x02\x0e\x05\x00\x01\x04\x00\x01", 8), FENEC_TYPE);
    CHECK_INT(check_bytes(dense, 2 + 16384), FENEC_OK);
    CHECK_INT(check_bytes(dense, 2 + 16383), FENEC_TYPE);
    CHECK_INT(check_bytes(dense, 2 + 16385), FENEC_TYPE);
    dense[2 + 16383] = 52;
    CHECK_INT(check_bytes(dense, 2 + 16384), FENEC_TYPE);
    dense[2 + 16383] = 51;
    CHECK_INT(check_bytes(dense, 2 + 16384), FENEC_OK);
    dense[2 + 16383] = 0;
}

TEST(estimates_are_near_and_small_ones_exact)
{
    static const int counts[] = {0, 1, 2, 10, 30, 300, 1000, 5000, 30000, 200000};
    sketch_bed b;

    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        sketch s = {0};
        open_room(&b);
        for (int i = 0; i < counts[n]; i++)
            add_int(&s, &b, i);
        int64_t got = s.bytes ? sketch_estimate(s.bytes, s.len) : 0;
        double apart = counts[n] ? fabs((double)got / counts[n] - 1) : 0;
        if (counts[n] <= 30 ? got != counts[n] : apart > 0.04)
            test_failed(__FILE__, __LINE__, "%d values are estimated as %lld", counts[n], (long long)got);
        arena_clear(&b.memory);
    }
    CHECK_INT(sketch_estimate((const uint8_t *)"\x02\x0e", 2), 0);
}

TEST(an_estimate_of_registers_all_full_is_a_number)
{
    uint8_t *dense = malloc(2 + 16384);

    memset(dense, 51, 2 + 16384);
    dense[0] = 1;
    dense[1] = 14;
    CHECK(sketch_estimate(dense, 2 + 16384) > 0);
    free(dense);
}

TEST(sketches_past_their_bound_are_refused)
{
    sketch_bed b;
    sketch s = {0}, last = {0};

    open_room(&b);
    b.held = SKETCHES_BYTES_MAX - 3;
    CHECK_INT(sketch_add(&s, hash_for(1, 1), &b.room, &b.err), FENEC_OK);
    CHECK_INT(sketch_add(&last, hash_for(1, 1), &b.room, &b.err), FENEC_QUERY);
    arena_clear(&b.memory);
}
