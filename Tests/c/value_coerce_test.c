#include "value/coerce.h"

#include <math.h>

#include "value/json.h"
#include "value_make.h"

static const type bool_type = {.kind = TYPE_BOOL}, int_type = {.kind = TYPE_INT},
    float_type = {.kind = TYPE_FLOAT},
                  text_type = {.kind = TYPE_TEXT}, bytes_type = {.kind = TYPE_BYTES},
                  instant_type = {.kind = TYPE_TIMESTAMP}, json_type = {.kind = TYPE_JSON},
                  geo_type = {.kind = TYPE_GEO}, vector_type = {.kind = TYPE_VECTOR, .dimension = 2},
                  half_type = {.kind = TYPE_VECTOR, .dimension = 2, .half = true},
                  sparse_type = {.kind = TYPE_SPARSE, .dimension = 8},
                  ints_type = {.kind = TYPE_LIST, .element = &int_type},
                  floats_type = {.kind = TYPE_LIST, .element = &float_type},
                  lists_type = {.kind = TYPE_LIST, .element = &ints_type},
                  vectors_type = {.kind = TYPE_LIST, .element = &half_type};

/* Coerces; answers the value as its kind's name and JSON, or the error's message. */
static const char *coerced(arena *a, value v, const type *t)
{
    value out = value_null();
    error err;
    buffer b;

    error_init(&err);
    int code = value_coerce(&v, t, "f", a, &out, &err);
    buffer_init(&b);
    if (code == FENEC_OK) {
        buffer_printf(&b, "%s ", value_kind_name(&out));
        json_write(&b, &out);
    } else {
        buffer_printf(&b, "%s", code == FENEC_TYPE ? "TYPE" : err.message);
        CHECK(strstr(err.message, "`f`"));
    }
    const char *text = arena_copy(a, b.bytes, b.len);
    buffer_clear(&b);
    return text;
}

#define CHECK_COERCED(v, t, want) CHECK_TEXT(coerced(&a, (v), &(t)), (want))

TEST(null_fits_every_field)
{
    arena a;

    arena_init(&a);
    CHECK_COERCED(value_null(), int_type, "null null");
    CHECK_COERCED(value_null(), json_type, "null null");
    CHECK_COERCED(value_null(), geo_type, "null null");
    CHECK_COERCED(value_null(), vector_type, "null null");
    arena_clear(&a);
}

TEST(scalar_fields_take_what_chapter_2_lists)
{
    arena a;

    arena_init(&a);
    CHECK_COERCED(value_bool(true), bool_type, "a bool true");
    CHECK_COERCED(value_int(1), bool_type, "TYPE");
    CHECK_COERCED(value_int(INT64_MIN), int_type, "an int -9223372036854775808");
    CHECK_COERCED(value_float(4.0), int_type, "an int 4");
    CHECK_COERCED(value_float(-9223372036854775808.0), int_type, "an int -9223372036854775808");
    CHECK_COERCED(value_float(9223372036854775808.0), int_type, "TYPE");
    CHECK_COERCED(value_float(0.5), int_type, "TYPE");
    CHECK_COERCED(value_float(NAN), int_type, "TYPE");
    CHECK_COERCED(value_float(INFINITY), int_type, "TYPE");
    CHECK_COERCED(value_timestamp(1500), int_type, "an int 1500");
    CHECK_COERCED(value_bool(true), int_type, "TYPE");
    CHECK_COERCED(make_text("1"), int_type, "TYPE");
    CHECK_COERCED(value_int(2), float_type, "a float 2");
    CHECK_COERCED(value_float(0.1), float_type, "a float 0.1");
    CHECK_COERCED(value_timestamp(1), float_type, "TYPE");
    CHECK_COERCED(make_text("1"), float_type, "TYPE");
    CHECK_COERCED(make_text("x"), text_type, "text \"x\"");
    CHECK_COERCED(value_timestamp(1500), text_type, "text \"1970-01-01T00:00:01.500Z\"");
    CHECK_COERCED(value_int(1), text_type, "TYPE");
    CHECK_COERCED(make_bytes("x", 1), text_type, "TYPE");
    CHECK_COERCED(value_timestamp(5), instant_type, "a timestamp \"1970-01-01T00:00:00.005Z\"");
    CHECK_COERCED(value_int(-1), instant_type, "a timestamp \"1969-12-31T23:59:59.999Z\"");
    CHECK_COERCED(make_text("2024-03-05T12:20:30+02:00"), instant_type,
                  "a timestamp \"2024-03-05T10:20:30Z\"");
    CHECK_COERCED(make_text("2023-02-29"), instant_type, "TYPE");
    CHECK_COERCED(value_float(1), instant_type, "TYPE");
    arena_clear(&a);
}

TEST(bytes_take_text_and_lists_of_octets)
{
    arena a;

    arena_init(&a);
    CHECK_COERCED(make_text("Az"), bytes_type, "bytes [65,122]");
    CHECK_COERCED(make_bytes("\0", 1), bytes_type, "bytes [0]");
    CHECK_COERCED(LIST(&a, value_int(0), value_float(255.0)), bytes_type, "bytes [0,255]");
    CHECK_COERCED(VECTOR(&a, 1.0f, 2.0f), bytes_type, "bytes [1,2]");
    CHECK_COERCED(make_empty_list(&a), bytes_type, "bytes []");
    CHECK_COERCED(LIST(&a, value_int(256)), bytes_type, "TYPE");
    CHECK_COERCED(LIST(&a, value_int(-1)), bytes_type, "TYPE");
    CHECK_COERCED(LIST(&a, value_float(0.5)), bytes_type, "TYPE");
    CHECK_COERCED(LIST(&a, make_text("1")), bytes_type, "TYPE");
    CHECK_COERCED(VECTOR(&a, 0.5f), bytes_type, "TYPE");
    CHECK_COERCED(make_point(1, 2), bytes_type, "TYPE");
    CHECK_COERCED(value_int(1), bytes_type, "TYPE");
    arena_clear(&a);
}

TEST(vectors_take_numbers_of_their_dimension)
{
    arena a;

    arena_init(&a);
    CHECK_COERCED(LIST(&a, value_int(1), value_float(0.1)), vector_type, "a vector [1,0.1]");
    CHECK_COERCED(VECTOR(&a, 1.0f, -0.0f), vector_type, "a vector [1,-0]");
    CHECK_COERCED(LIST(&a, value_float(0.1), value_float(70000)), half_type, "a vector [0.099975586,null]");
    CHECK_COERCED(VECTOR(&a, 0.1f, 65504.0f), half_type, "a vector [0.099975586,65504]");
    CHECK_COERCED(LIST(&a, value_int(1)), vector_type, "TYPE");
    CHECK_COERCED(make_empty_list(&a), vector_type, "TYPE");
    CHECK_COERCED(LIST(&a, value_int(1), value_null()), vector_type, "TYPE");
    CHECK_COERCED(make_text("[1,2]"), vector_type, "TYPE");
    CHECK_COERCED(make_point(1, 2), vector_type, "TYPE");
    arena_clear(&a);
}

TEST(sparse_fields_take_text_and_their_own_dimension)
{
    arena a;
    const uint32_t index[] = {0};
    const float weight[] = {2};

    arena_init(&a);
    CHECK_COERCED(make_text("{5:0.5, 1:2}/8"), sparse_type, "a sparse vector \"{1:2,5:0.5}/8\"");
    CHECK_COERCED(make_text("{1:2}/9"), sparse_type, "TYPE");
    CHECK_COERCED(make_sparse(&a, 8, index, weight, 1), sparse_type, "a sparse vector \"{1:2}/8\"");
    CHECK_COERCED(make_sparse(&a, 9, index, weight, 1), sparse_type, "TYPE");
    CHECK_COERCED(VECTOR(&a, 1.0f), sparse_type, "TYPE");
    arena_clear(&a);
}

TEST(lists_coerce_each_element_and_keep_nulls)
{
    arena a;

    arena_init(&a);
    CHECK_COERCED(LIST(&a, value_float(1), value_null(), value_timestamp(5)), ints_type, "a list [1,null,5]");
    CHECK_COERCED(LIST(&a, value_float(1.5)), ints_type, "TYPE");
    CHECK_COERCED(VECTOR(&a, 1.0f, 0.1f), floats_type, "a list [1,0.10000000149011612]");
    CHECK_COERCED(make_point(1.5, 2), floats_type, "a list [1.5,2]");
    CHECK_COERCED(make_point(1.5, 2), ints_type, "TYPE");
    CHECK_COERCED(make_empty_list(&a), ints_type, "a list []");
    CHECK_COERCED(LIST(&a, LIST(&a, value_float(1)), value_null()), lists_type, "a list [[1],null]");
    CHECK_COERCED(LIST(&a, value_int(1)), lists_type, "TYPE");
    CHECK_COERCED(LIST(&a, LIST(&a, value_float(0.1), value_int(1))), vectors_type,
                  "a list [[0.099975586,1]]");
    CHECK_COERCED(value_int(1), ints_type, "TYPE");
    CHECK_COERCED(make_text("x"), ints_type, "TYPE");
    arena_clear(&a);
}

TEST(json_keeps_what_json_has_and_turns_instants_and_points)
{
    arena a;

    arena_init(&a);
    CHECK_COERCED(value_int(9007199254740993), json_type, "an int 9007199254740993");
    CHECK_COERCED(value_timestamp(0), json_type, "text \"1970-01-01T00:00:00Z\"");
    CHECK_COERCED(make_point(1, 2.5), json_type, "a list [1,2.5]");
    CHECK_COERCED(LIST(&a, value_int(1), value_float(2.5), value_int(12345678901)), json_type,
                  "a list [1,2.5,12345678901]");
    CHECK_COERCED(OBJECT(&a, make_text("at"), value_timestamp(1), make_text("p"), LIST(&a, make_point(0, 1))),
                  json_type, "an object {\"at\":\"1970-01-01T00:00:00.001Z\",\"p\":[[0,1]]}");
    CHECK_COERCED(value_float(NAN), json_type, "TYPE");
    CHECK_COERCED(LIST(&a, value_float(INFINITY)), json_type, "TYPE");
    CHECK_COERCED(make_bytes("x", 1), json_type, "TYPE");
    CHECK_COERCED(VECTOR(&a, 1.0f), json_type, "TYPE");
    CHECK_COERCED(LIST(&a, make_bytes("x", 1)), json_type, "TYPE");
    arena_clear(&a);
}

TEST(json_nests_at_most_64_containers)
{
    arena a;
    value out;
    error err;

    arena_init(&a);
    value v = make_empty_list(&a);
    for (int i = 1; i < 64; i++)
        v = LIST(&a, v);
    CHECK_INT(value_coerce(&v, &json_type, "f", &a, &out, &err), FENEC_OK);
    v = LIST(&a, v);
    CHECK_INT(value_coerce(&v, &json_type, "f", &a, &out, &err), FENEC_TYPE);
    v = make_point(1, 2);
    for (int i = 0; i < 63; i++)
        v = OBJECT(&a, make_text("k"), v);
    CHECK_INT(value_coerce(&v, &json_type, "f", &a, &out, &err), FENEC_OK);
    v = LIST(&a, v);
    CHECK_INT(value_coerce(&v, &json_type, "f", &a, &out, &err), FENEC_TYPE);
    arena_clear(&a);
}

TEST(geo_fields_take_points_and_lists_of_two_numbers)
{
    arena a;

    arena_init(&a);
    CHECK_COERCED(LIST(&a, value_float(179.123456789), value_float(0.000000001)), geo_type,
                  "a point [179.123456789,0.000000001]");
    CHECK_COERCED(LIST(&a, value_int(-180), value_float(-0.0)), geo_type, "a point [-180,0]");
    CHECK_COERCED(make_point(1, 2), geo_type, "a point [1,2]");
    CHECK_COERCED(LIST(&a, value_int(181), value_int(0)), geo_type, "TYPE");
    CHECK_COERCED(LIST(&a, value_int(0), value_float(90.5)), geo_type, "TYPE");
    CHECK_COERCED(LIST(&a, value_int(0)), geo_type, "TYPE");
    CHECK_COERCED(LIST(&a, value_int(0), make_text("1")), geo_type, "TYPE");
    CHECK_COERCED(VECTOR(&a, 1.0f, 2.0f), geo_type, "TYPE");
    CHECK_COERCED(make_text("1,2"), geo_type, "TYPE");
    arena_clear(&a);
}
