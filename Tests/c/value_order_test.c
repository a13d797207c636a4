#include <math.h>

#include "value/json.h"
#include "value/timestamp.h"
#include "value_make.h"

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void check_order(const value *a, const value *b, int want, int line)
{
    if (sign(value_compare(a, b)) != want || sign(value_compare(b, a)) != -want)
        test_failed(__FILE__, line, "%d and %d, not %d", value_compare(a, b), value_compare(b, a), want);
    if (value_equal(a, b) != (want == 0) || value_equal(b, a) != (want == 0))
        test_failed(__FILE__, line, "value_equal disagrees with the order");
}

#define CHECK_ORDER(a, b, want)                   \
    do {                                          \
        value a_ = (a), b_ = (b);                 \
        check_order(&a_, &b_, (want), __LINE__);  \
    } while (0)

TEST(values_of_different_kinds_order_by_rank)
{
    arena a;
    const uint32_t index[] = {0};
    const float weight[] = {1};

    arena_init(&a);
    const value ranked[] = {
        value_null(), value_bool(false), value_bool(true), value_int(INT64_MIN), value_int(INT64_MAX),
        make_text(""), make_text("z"), VECTOR(&a, 1.0f), make_empty_list(&a), LIST(&a, make_text("a")),
        make_sparse(&a, 1, index, weight, 1), make_empty_object(&a),
    };
    for (size_t i = 0; i < sizeof ranked / sizeof *ranked; i++)
        for (size_t j = 0; j < sizeof ranked / sizeof *ranked; j++)
            CHECK_ORDER(ranked[i], ranked[j], (i > j) - (i < j));
    arena_clear(&a);
}

TEST(numbers_compare_exactly_within_a_kind_and_as_doubles_across)
{
    CHECK_ORDER(value_int(9007199254740993), value_int(9007199254740992), 1);
    CHECK_ORDER(value_int(9007199254740993), value_float(9007199254740992.0), 0);
    CHECK_ORDER(value_int(3), value_float(3.0), 0);
    CHECK_ORDER(value_float(-0.0), value_float(0.0), 0);
    CHECK_ORDER(value_timestamp(9007199254740993), value_timestamp(9007199254740992), 1);
    CHECK_ORDER(value_timestamp(9007199254740993), value_int(9007199254740992), 0);
    CHECK_ORDER(value_timestamp(1500), value_int(1500), 0);
    CHECK_ORDER(value_timestamp(1500), value_float(1500.5), -1);
    CHECK_ORDER(value_int(INT64_MAX), value_float(9223372036854775808.0), 0);
    value nan = value_float(NAN), three = value_int(3);
    CHECK(value_equal(&nan, &three) && value_compare(&three, &nan) == 0);
}

TEST(text_compares_by_bytes_and_with_bytes_octet_by_octet)
{
    CHECK_ORDER(make_text("B"), make_text("a"), -1);
    CHECK_ORDER(make_text("a"), make_text("\xC3\xA9"), -1);
    CHECK_ORDER(make_text("a"), make_text("ab"), -1);
    CHECK_ORDER(make_text("ab"), make_bytes("ab", 2), 0);
    CHECK_ORDER(make_text("ab"), make_bytes("ab\0", 3), -1);
    CHECK_ORDER(make_bytes("\xFF", 1), make_text("z"), 1);
}

TEST(text_compares_with_a_timestamp_as_an_instant)
{
    CHECK_ORDER(make_text("2024-03-05T12:20:30+02:00"), value_timestamp(1709634030000), 0);
    CHECK_ORDER(make_text("2024-03-05"), value_timestamp(1709634030000), -1);
    CHECK_ORDER(make_text("2024-03-06"), value_timestamp(1709634030000), 1);
    CHECK_ORDER(make_text("soon"), value_timestamp(INT64_MAX), 1);
    CHECK_ORDER(make_bytes("1970-01-01", 10), value_timestamp(0), 1);
}

TEST(lists_compare_element_by_element_and_a_prefix_first)
{
    arena a;

    arena_init(&a);
    CHECK_ORDER(LIST(&a, value_int(1)), LIST(&a, value_int(1), value_null()), -1);
    CHECK_ORDER(LIST(&a, value_int(1), value_int(2)), LIST(&a, value_float(1), value_float(2)), 0);
    CHECK_ORDER(LIST(&a, value_int(2)), LIST(&a, value_int(1), value_int(9)), 1);
    CHECK_ORDER(LIST(&a, LIST(&a, value_int(1))), LIST(&a, LIST(&a, value_int(2))), -1);
    CHECK_ORDER(make_point(1, 2), LIST(&a, value_int(1), value_float(2)), 0);
    CHECK_ORDER(make_point(1, 2), LIST(&a, value_int(1), make_text("x")), -1);
    CHECK_ORDER(make_point(1, 2), make_point(1, 3), -1);
    arena_clear(&a);
}

TEST(a_list_of_numbers_compares_with_a_vector_as_a_vector)
{
    arena a;

    arena_init(&a);
    CHECK_ORDER(LIST(&a, value_float(0.1), value_int(2)), VECTOR(&a, 0.1f, 2.0f), 0);
    CHECK_ORDER(LIST(&a, value_int(0)), VECTOR(&a, 0.1f, 2.0f), -1);
    CHECK_ORDER(LIST(&a, value_int(16777217)), VECTOR(&a, 16777216.0f), 0);
    CHECK_ORDER(LIST(&a, make_text("x")), VECTOR(&a, 9.0f), 1);
    CHECK_ORDER(make_empty_list(&a), VECTOR(&a, 9.0f), 1);
    CHECK_ORDER(make_point(1, 2), VECTOR(&a, 1.0f, 2.0f), 0);
    CHECK_ORDER(VECTOR(&a, 1.0f), VECTOR(&a, 1.0f, -5.0f), -1);
    arena_clear(&a);
}

TEST(sparse_vectors_compare_by_entries_then_length_then_dimension)
{
    arena a;
    const uint32_t one[] = {1, 3}, other[] = {2, 3};
    const float w[] = {1, 2}, heavier[] = {5, 2};

    arena_init(&a);
    CHECK_ORDER(make_sparse(&a, 8, one, w, 2), make_sparse(&a, 8, one, w, 2), 0);
    CHECK_ORDER(make_sparse(&a, 8, one, w, 2), make_sparse(&a, 8, other, w, 2), -1);
    CHECK_ORDER(make_sparse(&a, 8, one, w, 2), make_sparse(&a, 8, one, heavier, 2), -1);
    CHECK_ORDER(make_sparse(&a, 8, one, w, 1), make_sparse(&a, 7, one, w, 2), -1);
    CHECK_ORDER(make_sparse(&a, 8, one, w, 2), make_sparse(&a, 9, one, w, 2), -1);
    arena_clear(&a);
}

TEST(objects_compare_member_by_member)
{
    arena a;

    arena_init(&a);
    value base = OBJECT(&a, make_text("a"), value_int(1), make_text("b"), value_int(2));
    CHECK_ORDER(base, OBJECT(&a, make_text("a"), value_float(1), make_text("b"), value_float(2)), 0);
    CHECK_ORDER(base, OBJECT(&a, make_text("a"), value_int(1)), 1);
    CHECK_ORDER(base, OBJECT(&a, make_text("a"), value_int(2)), -1);
    CHECK_ORDER(base, OBJECT(&a, make_text("b"), value_int(0)), -1);
    arena_clear(&a);
}

TEST(equality_and_order_agree_on_random_pairs)
{
    uint64_t state = test_seed();
    arena a;

    arena_init(&a);
    for (long round = 0; round < test_scale(100000, 5000000); round++) {
        arena_reset(&a);
        value x = make_random(&a, &state, 3), y = make_random(&a, &state, 3), copy;
        int order = value_compare(&x, &y);
        CHECK_INT(sign(order), -sign(value_compare(&y, &x)));
        CHECK(value_equal(&x, &y) == (order == 0));
        CHECK_INT(order, value_compare_in(COLLATION_NONE, &x, &y));
        CHECK(value_copy(&a, &x, &copy));
        CHECK(value_equal(&x, &copy));
    }
    arena_clear(&a);
}

TEST(truth_is_that_of_chapter_1)
{
    arena a;
    const uint32_t index[] = {0};
    const float weight[] = {1};

    arena_init(&a);
    const value yes[] = {value_bool(true), value_int(-1), value_float(0.5), value_timestamp(1),
                         make_text("x"),
                         make_bytes("\0", 1), LIST(&a, value_null()), VECTOR(&a, 0.0f), make_point(0, 0),
                         make_sparse(&a, 4, index, weight, 1), OBJECT(&a, make_text("a"), value_null())};
    const value no[] = {value_null(), value_bool(false), value_int(0), value_float(-0.0), value_timestamp(0),
                        make_text(""), make_bytes("", 0), make_empty_list(&a), make_empty_object(&a),
                        make_sparse(&a, 4, index, weight, 0)};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        CHECK(value_truth(&yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        CHECK(!value_truth(&no[i]));
    arena_clear(&a);
}

TEST(components_come_from_vectors_and_number_lists)
{
    arena a;
    const float *out;
    uint32_t count;

    arena_init(&a);
    value v = LIST(&a, value_int(1), value_float(0.1));
    CHECK(value_components(&v, &a, &out, &count));
    CHECK_INT(count, 2);
    CHECK(out[0] == 1.0f && out[1] == 0.1f);
    v = VECTOR(&a, 3.5f);
    CHECK(value_components(&v, &a, &out, &count));
    CHECK(count == 1 && out[0] == 3.5f);
    v = make_empty_list(&a);
    CHECK(value_components(&v, &a, &out, &count));
    CHECK_INT(count, 0);
    v = LIST(&a, value_int(1), value_null());
    CHECK(!value_components(&v, &a, &out, &count));
    v = make_text("[1]");
    CHECK(!value_components(&v, &a, &out, &count));
    arena_clear(&a);
}

TEST(quoted_values_are_json_cut_at_a_character)
{
    char out[VALUE_QUOTE_MAX];
    char longer[1000];
    arena a;

    arena_init(&a);
    value v = LIST(&a, value_int(1), value_float(2.5), make_text("a\"b"), value_null());
    CHECK_TEXT(value_quote(out, &v), "[1,2.5,\"a\\\"b\",null]");
    v = OBJECT(&a, make_text("k"), value_bool(true));
    CHECK_TEXT(value_quote(out, &v), "{\"k\":true}");
    for (size_t i = 0; i + 1 < sizeof longer; i += 2)
        memcpy(longer + i, "\xC3\xA9", 2);
    v = value_text(longer, sizeof longer);
    value_quote(out, &v);
    CHECK(strlen(out) < VALUE_QUOTE_MAX);
    CHECK(strlen(out) > VALUE_QUOTE_MAX - 8);
    CHECK_TEXT(out + strlen(out) - 5, "\xC3\xA9...");
    arena_clear(&a);
}
