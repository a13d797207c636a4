#include "value/key.h"

#include <math.h>

#include "value/coerce.h"
#include "value_make.h"

static const type bool_type = {.kind = TYPE_BOOL}, int_type = {.kind = TYPE_INT},
    float_type = {.kind = TYPE_FLOAT},
                  text_type = {.kind = TYPE_TEXT}, bytes_type = {.kind = TYPE_BYTES},
                  instant_type = {.kind = TYPE_TIMESTAMP}, json_type = {.kind = TYPE_JSON},
                  vector_type = {.kind = TYPE_VECTOR, .dimension = 2},
                  sparse_type = {.kind = TYPE_SPARSE, .dimension = 8}, geo_type = {.kind = TYPE_GEO},
                  texts_type = {.kind = TYPE_LIST, .element = &text_type},
                  floats_type = {.kind = TYPE_LIST, .element = &float_type},
                  instants_type = {.kind = TYPE_LIST, .element = &instant_type},
                  points_type = {.kind = TYPE_LIST, .element = &geo_type},
                  vectors_type = {.kind = TYPE_LIST, .element = &vector_type};

static const type *const all_types[] = {&bool_type, &int_type, &float_type, &text_type, &bytes_type,
                                        &instant_type,
                                        &json_type, &vector_type, &sparse_type, &texts_type, &floats_type,
                                        &instants_type, &points_type, &vectors_type};
static const type *const sorted_types[] = {&int_type, &float_type, &text_type, &instant_type, &json_type};

typedef struct key {
    key_state state;
    uint8_t bytes[KEY_MAX];
    size_t len;
} key;

static key key_of(key_state (*make)(buffer *, key_form, const type *, bool, const value *), key_form form,
                  const type *t, value v)
{
    key k;
    buffer b;

    buffer_init(&b);
    k.state = make(&b, form, t, false, &v);
    k.len = b.len;
    if (b.len > KEY_MAX)
        test_failed(__FILE__, __LINE__, "a key of %zu bytes", b.len);
    else if (b.len)
        memcpy(k.bytes, b.bytes, b.len);
    buffer_clear(&b);
    return k;
}

static int key_order(const key *a, const key *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->bytes, b->bytes, len);

    return order ? (order > 0) - (order < 0) : (a->len > b->len) - (a->len < b->len);
}

static bool unplaced(const key *k)
{
    return k->len == 1 && k->bytes[0] == KEY_UNPLACED;
}

#define STATE(make, form, t, v) key_of(make, form, &(t), (v)).state

/* A value that a field of type t may hold. False where the random value does not fit. */
static bool random_stored(arena *a, uint64_t *state, const type *t, value *out)
{
    error err;
    value v;

    switch (below(state, 3)) {
    case 0:
        if (t->kind == TYPE_INT || t->kind == TYPE_TIMESTAMP) {
            v = value_int((int64_t)(test_random(state) >> below(state, 64)));
            break;
        }
        if (t->kind == TYPE_FLOAT) {
            uint64_t bits = test_random(state);
            v = value_float(0);
            memcpy(&v.number, &bits, sizeof bits);
            if (isnan(v.number))
                return false;
            break;
        }
        if (t->kind == TYPE_TEXT || t->kind == TYPE_JSON) {
            /* Long texts that share what fits into a key. */
            char text[300];
            size_t len = 230 + below(state, 30);
            memset(text, 'x', len);
            if (below(state, 2))
                text[len - 1] = 'y';
            v = value_text(arena_copy(a, text, len), len);
            break;
        }
        v = make_random(a, state, 3);
        break;
    case 1: v = make_random_scalar(a, state); break;
    default: v = make_random(a, state, 3); break;
    }
    return value_coerce(&v, t, "f", a, out, &err) == FENEC_OK;
}

TEST(ordered_keys_order_as_their_values)
{
    uint64_t state = test_seed();
    arena a;

    arena_init(&a);
    for (long round = 0; round < test_scale(100000, 3000000); round++) {
        arena_reset(&a);
        const type *t = sorted_types[below(&state, 5)];
        value x, y;
        if (!random_stored(&a, &state, t, &x) || !random_stored(&a, &state, t, &y))
            continue;
        key k = key_of(key_stored, KEY_ORDERED, t, x), l = key_of(key_stored, KEY_ORDERED, t, y);
        if (unplaced(&k) || unplaced(&l)) {
            CHECK_INT(t->kind, TYPE_JSON);
            continue;
        }
        int by_key = key_order(&k, &l), by_value = value_compare(&x, &y);
        by_value = (by_value > 0) - (by_value < 0);
        CHECK((k.state == KEY_TIED) == (k.len == KEY_MAX));
        if (k.state == KEY_TIED && l.state == KEY_TIED && memcmp(k.bytes, l.bytes, KEY_EXACT_MAX) == 0)
            CHECK((by_key == 0) == (by_value == 0));
        else
            CHECK_INT(by_key, by_value);
    }
    arena_clear(&a);
}

TEST(hashed_keys_are_equal_where_values_are)
{
    uint64_t state = test_seed();
    arena a;

    arena_init(&a);
    for (long round = 0; round < test_scale(200000, 5000000); round++) {
        arena_reset(&a);
        const type *t = all_types[below(&state, sizeof all_types / sizeof *all_types)];
        value x, y;
        if (!random_stored(&a, &state, t, &x) || !random_stored(&a, &state, t, &y))
            continue;
        key k = key_of(key_stored, KEY_HASHED, t, x), l = key_of(key_stored, KEY_HASHED, t, y);
        if (x.kind == VALUE_NULL) {
            CHECK_INT(k.state, KEY_ABSENT);
            CHECK_INT(k.len, 0);
            continue;
        }
        CHECK(!unplaced(&k));
        if (y.kind == VALUE_NULL)
            continue;
        bool same = key_order(&k, &l) == 0;
        if (value_equal(&x, &y))
            CHECK(same);
        if (same && k.state == KEY_EXACT && l.state == KEY_EXACT)
            CHECK(value_equal(&x, &y));
    }
    arena_clear(&a);
}

/* A probe that reaches an index must find there what a scan finds, and order as the scan does. */
TEST(probes_find_what_a_scan_finds)
{
    uint64_t state = test_seed();
    arena a;
    long reached = 0;

    arena_init(&a);
    for (long round = 0; round < test_scale(300000, 5000000); round++) {
        arena_reset(&a);
        bool hashed = below(&state, 2);
        const type *t = hashed ? all_types[below(&state, sizeof all_types / sizeof *all_types)]
                               : sorted_types[below(&state, 5)];
        key_form form = hashed ? KEY_HASHED : KEY_ORDERED;
        value x, y;
        if (!random_stored(&a, &state, t, &x) || x.kind == VALUE_NULL)
            continue;
        if (below(&state, 2))
            y = make_random(&a, &state, 3);
        else if (!random_stored(&a, &state, t, &y))
            continue;
        key k = key_of(key_stored, form, t, x), l = key_of(key_probe, form, t, y);
        if (l.state == KEY_SCAN) {
            CHECK_INT(l.len, 0);
            continue;
        }
        if (unplaced(&k))
            continue;
        reached++;
        int by_key = key_order(&k, &l), by_value = value_compare(&x, &y);
        by_value = (by_value > 0) - (by_value < 0);
        if (by_value == 0)
            CHECK_INT(by_key, 0);
        if (by_key == 0 && l.state == KEY_EXACT)
            CHECK_INT(by_value, 0);
        if (form == KEY_ORDERED && !(k.state == KEY_TIED && l.state == KEY_TIED))
            CHECK_INT(by_key, by_value);
    }
    CHECK(reached > 1000);
    arena_clear(&a);
}

TEST(probes_that_change_what_they_equal_are_left_to_the_scan)
{
    const int64_t p53 = INT64_C(1) << 53;
    arena a;

    arena_init(&a);
    /* price < 12.5 on an int field */
    CHECK_INT(STATE(key_probe, KEY_ORDERED, int_type, value_float(12.5)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, int_type, value_float(42.0)), KEY_EXACT);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, int_type, value_float((double)p53)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, int_type, value_int(p53 + 1)), KEY_EXACT);
    CHECK_INT(STATE(key_probe, KEY_HASHED, int_type, make_text("42")), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_HASHED, int_type, value_bool(true)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_HASHED, int_type, value_null()), KEY_SCAN);
    /* an int beyond 2^53 against a float or timestamp */
    CHECK_INT(STATE(key_probe, KEY_ORDERED, float_type, value_int(p53)), KEY_EXACT);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, float_type, value_int(p53 + 1)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, float_type, value_float(NAN)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, instant_type, value_int(p53 - 1)), KEY_EXACT);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, instant_type, value_int(p53 + 1)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, instant_type, make_text("2024-03-05")), KEY_EXACT);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, instant_type, make_text("soon")), KEY_SCAN);
    /* text holds no instants, but equals them */
    CHECK_INT(STATE(key_probe, KEY_HASHED, text_type, value_timestamp(0)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_HASHED, json_type, value_timestamp(0)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_HASHED, texts_type, LIST(&a, value_timestamp(0))), KEY_SCAN);
    /* an int beyond 2^53 compared with a json path */
    CHECK_INT(STATE(key_probe, KEY_HASHED, json_type, value_int(p53 + 1)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, json_type, value_int(-p53 - 1)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, json_type, value_int(p53)), KEY_EXACT);
    CHECK_INT(STATE(key_probe, KEY_ORDERED, json_type, value_bool(true)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_HASHED, json_type, value_bool(true)), KEY_EXACT);
    /* a vector of another dimension, and lists that equal it as one */
    CHECK_INT(STATE(key_probe, KEY_HASHED, vector_type, LIST(&a, value_int(1), value_int(2))), KEY_TIED);
    CHECK_INT(STATE(key_probe, KEY_HASHED, vector_type, LIST(&a, value_int(1))), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_HASHED, floats_type, VECTOR(&a, 1.0f)), KEY_SCAN);
    CHECK_INT(STATE(key_probe, KEY_HASHED, vector_type, VECTOR(&a, 1.0f, NAN)), KEY_SCAN);
    arena_clear(&a);
}

TEST(one_number_has_one_key)
{
    key a = key_of(key_stored, KEY_HASHED, &float_type, value_float(-0.0));
    key b = key_of(key_stored, KEY_HASHED, &float_type, value_float(0.0));
    CHECK_INT(key_order(&a, &b), 0);
    a = key_of(key_stored, KEY_HASHED, &json_type, value_int(3));
    b = key_of(key_stored, KEY_HASHED, &json_type, value_float(3.0));
    CHECK_INT(key_order(&a, &b), 0);
    CHECK_INT(a.state, KEY_EXACT);
    a = key_of(key_stored, KEY_HASHED, &json_type, value_int((INT64_C(1) << 53) + 1));
    CHECK_INT(a.state, KEY_TIED);
}

TEST(sorted_indexes_of_json_leave_some_values_unplaced)
{
    arena a;

    arena_init(&a);
    const value without_place[] = {value_bool(false), make_empty_list(&a), make_empty_object(&a),
                                   value_int((INT64_C(1) << 53) + 1), value_int(INT64_MIN)};
    for (size_t i = 0; i < sizeof without_place / sizeof *without_place; i++) {
        key k = key_of(key_stored, KEY_ORDERED, &json_type, without_place[i]);
        CHECK(unplaced(&k));
    }
    key k = key_of(key_stored, KEY_ORDERED, &float_type, value_float(NAN));
    CHECK(unplaced(&k));
    k = key_of(key_stored, KEY_HASHED, &vector_type, VECTOR(&a, 1.0f, NAN));
    CHECK(unplaced(&k));
    k = key_of(key_stored, KEY_ORDERED, &json_type, value_int(INT64_C(1) << 53));
    CHECK(!unplaced(&k));
    arena_clear(&a);
}

TEST(null_has_a_key_where_order_needs_it_alone)
{
    key k = key_of(key_stored, KEY_ORDERED, &int_type, value_null());

    CHECK_INT(k.state, KEY_EXACT);
    CHECK_INT(k.len, 1);
    CHECK_INT(k.bytes[0], KEY_NULL);
    k = key_of(key_stored, KEY_HASHED, &int_type, value_null());
    CHECK_INT(k.state, KEY_ABSENT);
    CHECK_INT(k.len, 0);
}

TEST(a_text_cannot_take_the_key_of_a_longer_one)
{
    char longer[300];
    uint8_t shorter[KEY_MAX];

    /* What stands in the key of a long text, as a text of its own. */
    memset(longer, 'x', sizeof longer);
    key tied = key_of(key_stored, KEY_HASHED, &bytes_type, make_bytes(longer, sizeof longer));
    CHECK_INT(tied.state, KEY_TIED);
    CHECK_INT(tied.len, KEY_MAX);
    memcpy(shorter, tied.bytes + 1, tied.len - 1);
    key forged = key_of(key_stored, KEY_HASHED, &bytes_type, make_bytes(shorter, tied.len - 1));
    CHECK_INT(forged.state, KEY_TIED);
    CHECK(key_order(&tied, &forged) != 0);
    key exact = key_of(key_stored, KEY_HASHED, &bytes_type, make_bytes(longer, KEY_EXACT_MAX - 1));
    CHECK_INT(exact.state, KEY_EXACT);
    CHECK_INT(exact.len, KEY_EXACT_MAX);
}
