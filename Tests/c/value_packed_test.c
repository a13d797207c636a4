#include "value/packed.h"

#include <math.h>

#include "base/memory.h"
#include "value_make.h"

static value round_trip(arena *a, const value *v)
{
    buffer b;

    buffer_init(&b);
    packed_put(&b, v);
    return make_packed(a, &b);
}

TEST(packed_ints_take_the_fewest_bytes)
{
    static const struct { int64_t i; size_t len; } cases[] = {
        {0, 2}, {127, 2}, {128, 3}, {-128, 2}, {-129, 3}, {32767, 3}, {32768, 5}, {-32769, 5}, {INT32_MAX, 5},
        {(int64_t)INT32_MAX + 1, 9}, {INT64_MAX, 9}, {INT64_MIN, 9},
    };
    arena a;

    arena_init(&a);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buffer b;
        value v = value_int(cases[i].i);
        buffer_init(&b);
        packed_put(&b, &v);
        CHECK_INT(b.len, cases[i].len);
        v = make_packed(&a, &b);
        CHECK_INT(v.kind, VALUE_INT);
        CHECK(v.integer == cases[i].i);
    }
    arena_clear(&a);
}

TEST(packed_values_of_every_kind_read_back)
{
    arena a;
    const uint32_t index[] = {0, 4};
    const float weight[] = {2.0f, 0.5f};

    arena_init(&a);
    const value all[] = {
        value_null(), value_bool(true), value_bool(false), value_int(-7), value_float(0.1),
        value_timestamp(-1), make_text("h\xC3\xA9"), make_text(""), make_bytes("\0\xFF", 2), VECTOR(&a, 1.5f, -0.0f),
        make_point(13.5, -90), LIST(&a, value_int(1), make_text("x")), make_empty_list(&a),
        OBJECT(&a, make_text("a"), value_int(1), make_text("b"), value_null()), make_empty_object(&a),
        make_sparse(&a, 8, index, weight, 2),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        value back = round_trip(&a, &all[i]);
        CHECK_INT(back.kind, all[i].kind);
        CHECK(value_equal(&back, &all[i]));
        buffer b;
        error err;
        buffer_init(&b);
        packed_put(&b, &all[i]);
        CHECK_INT(packed_check(b.bytes, b.len, &err), FENEC_OK);
        buffer_clear(&b);
    }
    arena_clear(&a);
}

TEST(packed_half_vectors_are_widened_and_need_an_arena)
{
    arena a;
    buffer b;
    error err;
    value v;

    arena_init(&a);
    buffer_init(&b);
    value vector = VECTOR(&a, 0.1f, 1.0f, 70000.0f);
    packed_put_half(&b, &vector);
    CHECK_INT(b.len, 2 + 6);
    const uint8_t *at = b.bytes;
    CHECK_INT(packed_read(&at, b.bytes + b.len, NULL, &v, &err), FENEC_CORRUPT);
    CHECK(at == b.bytes);
    CHECK_INT(packed_read(&at, b.bytes + b.len, &a, &v, &err), FENEC_OK);
    CHECK(value_component(&v, 0) == 0.0999755859375f);
    CHECK(value_component(&v, 1) == 1.0f);
    CHECK(isinf(value_component(&v, 2)));
    buffer_clear(&b);
    arena_clear(&a);
}

TEST(packed_elements_come_in_order_and_end)
{
    arena a;
    packed_iter it;
    value x;
    error err;

    arena_init(&a);
    value list = LIST(&a, value_int(1), LIST(&a, value_int(2)), make_text("t"));
    packed_iterate(&it, &list);
    CHECK_INT(packed_next(&it, &x, &err), FENEC_OK);
    CHECK_INT(x.integer, 1);
    CHECK_INT(packed_next(&it, &x, &err), FENEC_OK);
    CHECK_INT(x.kind, VALUE_LIST);
    CHECK_INT(packed_next(&it, &x, &err), FENEC_OK);
    CHECK_INT(x.kind, VALUE_TEXT);
    CHECK_INT(packed_next(&it, &x, &err), FN_END);
    CHECK_INT(packed_next(&it, &x, &err), FN_END);
    arena_clear(&a);
}

TEST(packed_members_are_found_by_key)
{
    arena a;
    value x;

    arena_init(&a);
    value object = OBJECT(&a, make_text("a"), value_int(1), make_text("bb"), value_int(2), make_text("c"),
                          value_null());
    CHECK(packed_member(&object, (const uint8_t *)"bb", 2, &x));
    CHECK_INT(x.integer, 2);
    CHECK(packed_member(&object, (const uint8_t *)"c", 1, &x));
    CHECK_INT(x.kind, VALUE_NULL);
    CHECK(!packed_member(&object, (const uint8_t *)"b", 1, &x));
    CHECK_INT(x.kind, VALUE_NULL);
    CHECK(!packed_member(&object, (const uint8_t *)"d", 1, &x));
    value text = make_text("a");
    CHECK(!packed_member(&text, (const uint8_t *)"a", 1, &x));
    arena_clear(&a);
}

TEST(packed_depth_counts_containers)
{
    arena a;

    arena_init(&a);
    value v = value_int(1);
    CHECK_INT(packed_depth(&v), 0);
    v = make_empty_list(&a);
    CHECK_INT(packed_depth(&v), 1);
    v = OBJECT(&a, make_text("a"), v);
    CHECK_INT(packed_depth(&v), 2);
    v = LIST(&a, value_int(1), v, make_point(1, 2));
    CHECK_INT(packed_depth(&v), 3);
    for (int i = 0; i < 1000; i++)
        v = LIST(&a, v);
    CHECK_INT(packed_depth(&v), PACKED_DEPTH_MAX + 1);
    arena_clear(&a);
}

TEST(packed_values_nested_too_deep_are_refused_and_compare_without_a_crash)
{
    arena a;
    error err;
    buffer b;

    arena_init(&a);
    buffer_init(&b);
    value v = make_empty_list(&a);
    for (int i = 1; i < PACKED_DEPTH_MAX; i++)
        v = LIST(&a, v);
    packed_put(&b, &v);
    CHECK_INT(packed_check(b.bytes, b.len, &err), FENEC_OK);
    buffer_clear(&b);
    for (int i = 0; i < 3000; i++)
        v = LIST(&a, v);
    packed_put(&b, &v);
    CHECK_INT(packed_check(b.bytes, b.len, &err), FENEC_CORRUPT);
    value other = LIST(&a, v);
    CHECK(value_compare(&v, &v) == 0);
    value_compare(&v, &other);
    buffer_clear(&b);
    arena_clear(&a);
}

static value set_path(arena *a, const value *base, const char *path[], uint32_t n, const value *v, int want,
                      uint32_t *met, value *holds)
{
    value keys[8], out = value_null();
    error err;

    for (uint32_t i = 0; i < n; i++)
        keys[i] = make_text(path[i]);
    CHECK_INT(packed_set_path(a, base, keys, n, v, &out, met, holds, &err), want);
    return out;
}

TEST(packed_paths_set_one_key_and_keep_the_rest)
{
    arena a;
    uint32_t met;
    value holds;

    /* Chapter 2 section 10: {"lang":"tr","src":{"rank":3}} becomes
     * {"lang":"en","src":{"rank":3,"site":"x"}}. */
    arena_init(&a);
    value meta = OBJECT(&a, make_text("lang"), make_text("tr"), make_text("src"),
                        OBJECT(&a, make_text("rank"), value_int(3)));
    value en = make_text("en"), x = make_text("x");
    meta = set_path(&a, &meta, (const char *[]){"lang"}, 1, &en, FENEC_OK, &met, &holds);
    meta = set_path(&a, &meta, (const char *[]){"src", "site"}, 2, &x, FENEC_OK, &met, &holds);
    value want = OBJECT(&a, make_text("lang"), make_text("en"), make_text("src"),
                        OBJECT(&a, make_text("rank"), value_int(3), make_text("site"), make_text("x")));
    CHECK(value_equal(&meta, &want));

    value null = value_null();
    value made = set_path(&a, &null, (const char *[]){"a", "b"}, 2, &x, FENEC_OK, &met, &holds);
    want = OBJECT(&a, make_text("a"), OBJECT(&a, make_text("b"), make_text("x")));
    CHECK(value_equal(&made, &want));
    arena_clear(&a);
}

TEST(packed_paths_refuse_a_way_through_what_is_no_object)
{
    arena a;
    uint32_t met = 99;
    value holds = value_null();

    arena_init(&a);
    value meta = OBJECT(&a, make_text("lang"), make_text("en"));
    value one = value_int(1);
    set_path(&a, &meta, (const char *[]){"lang", "code"}, 2, &one, FENEC_TYPE, &met, &holds);
    CHECK_INT(met, 1);
    CHECK_INT(holds.kind, VALUE_TEXT);
    set_path(&a, &one, (const char *[]){"lang"}, 1, &one, FENEC_TYPE, &met, &holds);
    CHECK_INT(met, 0);
    CHECK_INT(holds.integer, 1);
    arena_clear(&a);
}

TEST(packed_check_refuses_malformed_values)
{
    static const struct { const char *bytes; size_t len; const char *what; } cases[] = {
        {"", 0, "nothing"},
        {"\x11", 1, "an unknown tag"},
        {"\0\0", 2, "bytes after the value"},
        {"\x04\x01\x00", 3, "an int in more bytes than it takes"},
        {"\x03", 1, "a cut int"},
        {"\x09\x02\xC3", 3, "a cut text"},
        {"\x09\x01\xC3", 3, "text that is not UTF-8"},
        {"\x09\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 11, "a length over 64 bits"},
        {"\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11, "a length of 2^64 - 1"},
        {"\x0B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x3F\0\0\0\0", 14, "a vector longer than its bytes"},
        {"\x0E\x01\0\0\0\0\0\0\0\0", 10, "a list of no elements that has bytes"},
        {"\x0E\x01\0\0\0\x02\0\0\0\0", 10, "a list of more elements than bytes"},
        {"\x0E\x02\0\0\0\x01\0\0\0\0\0", 11, "a list with bytes after its last element"},
        {"\x0E\x02\0\0\0\x01\0\0\0\x0C\0", 11, "a half vector in a list"},
        {"\x0F\x02\0\0\0\x01\0\0\0\0\0", 11, "an object whose key is no text"},
        {"\x0F\x08\0\0\0\x02\0\0\0\x09\x01z\0\x09\x01" "a\0", 17, "keys that descend"},
        {"\x0F\x08\0\0\0\x02\0\0\0\x09\x01" "a\0\x09\x01" "a\0", 17, "a key twice"},
        {"\x10\x01\0\0\0\x04\0\0\0\x04\0\0\0\0\0\x80?", 17, "a sparse index beyond the dimension"},
        {"\x10\x02\0\0\0\x04\0\0\0\x01\0\0\0\0\0\x80?\x01\0\0\0\0\0\x80?", 25, "a sparse index twice"},
        {"\x0D\0\0\0\0\0\0\xF8\x7F\0\0\0\0\0\0\0\0", 17, "a point that is no number"},
    };
    error err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (packed_check((const uint8_t *)cases[i].bytes, cases[i].len, &err) != FENEC_CORRUPT)
            test_failed(__FILE__, __LINE__, "%s is taken", cases[i].what);
}

/* Reads everything there is in possibly damaged bytes. */
static void walk(const value *v, int depth)
{
    packed_iter it;
    value key, x;
    error err;

    if (depth == 0)
        return;
    packed_iterate(&it, v);
    if (v->kind == VALUE_LIST)
        while (packed_next(&it, &x, &err) == FENEC_OK)
            walk(&x, depth - 1);
    else if (v->kind == VALUE_OBJECT)
        while (packed_next_member(&it, &key, &x, &err) == FENEC_OK)
            walk(&x, depth - 1);
}

TEST(packed_bytes_that_were_damaged_are_never_read_past_their_end)
{
    uint64_t state = test_seed();
    arena a;
    error err;

    for (long round = 0; round < test_scale(20000, 2000000); round++) {
        buffer b;
        value v, x, back, ignored_value;
        uint32_t met;

        arena_init(&a);
        buffer_init(&b);
        v = make_random(&a, &state, 4);
        packed_put(&b, &v);
        /* A copy of exactly its length, so that a byte too far is seen. */
        size_t len = b.len - (below(&state, 4) == 0 ? below(&state, (uint32_t)b.len) : 0);
        uint8_t *bytes = memory_alloc(len);
        memcpy(bytes, b.bytes, len);
        for (uint32_t i = below(&state, 4); i > 0 && len; i--)
            bytes[below(&state, (uint32_t)len)] = (uint8_t)test_random(&state);
        const uint8_t *at = bytes;
        int sound = packed_check(bytes, len, &err);
        int code = packed_read(&at, bytes + len, &a, &back, &err);
        CHECK(code == FENEC_OK || code == FENEC_CORRUPT);
        if (sound == FENEC_OK)
            CHECK_INT(code, FENEC_OK);
        if (code == FENEC_OK) {
            CHECK(at <= bytes + len);
            walk(&back, 700);
            packed_depth(&back);
            value_compare(&back, &v);
            value_compare(&v, &back);
            value_is_number_list(&back);
            value_truth(&back);
            packed_member(&back, (const uint8_t *)"b", 1, &x);
            value keys[2] = {make_text("b"), make_text("a")};
            code = packed_set_path(&a, &back, keys, 2, &v, &x, &met, &ignored_value, &err);
            CHECK(code == FENEC_OK || code == FENEC_TYPE || code == FENEC_CORRUPT);
        }
        memory_free(bytes);
        buffer_clear(&b);
        arena_clear(&a);
    }
}

TEST(packed_writing_survives_memory_that_runs_out)
{
    arena a;
    error err;
    value out, holds;
    uint32_t met;

    arena_init(&a);
    value base = OBJECT(&a, make_text("a"), value_int(1));
    value keys[2] = {make_text("b"), make_text("c")}, one = value_int(1);
    int code = FENEC_PANIC;
    for (long n = 0; n < 20 && code != FENEC_OK; n++) {
        arena small;
        arena_init(&small);
        memory_fail_after(n);
        code = packed_set_path(&small, &base, keys, 2, &one, &out, &met, &holds, &err);
        memory_fail_after(-1);
        CHECK(code == FENEC_OK || code == FENEC_PANIC);
        arena_clear(&small);
    }
    CHECK_INT(code, FENEC_OK);
    arena_clear(&a);
}
