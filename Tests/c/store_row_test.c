#include "store/row.h"

#include <stdlib.h>

#include "base/memory.h"
#include "store/store.h"
#include "test.h"
#include "value/packed.h"

enum { COLLECTION = 7, FIELDS = 4 };

/* A memory database inside a block. */
typedef struct place {
    store *s;
    conn *c;
    arena a;
    error err;
} place;

static void place_init(place *p)
{
    version *v;
    store_options options = {0};

    *p = (place){0};
    error_init(&p->err);
    arena_init(&p->a);
    CHECK_INT(store_open(&p->s, &options, &p->err), FENEC_OK);
    CHECK_INT(store_write(p->s, true, &p->c, &v, &p->err), FENEC_OK);
}

static void place_clear(place *p)
{
    uint64_t ticket;

    CHECK_INT(store_write_commit(p->c, NULL, &ticket, &p->err), FENEC_OK);
    CHECK_INT(store_close(p->s, &p->err), FENEC_OK);
    store_free(p->s);
    arena_clear(&p->a);
}

static value text_of(place *p, size_t len, int letter)
{
    uint8_t *bytes = arena_alloc(&p->a, len + 1);

    memset(bytes, letter, len);
    return value_text(bytes, len);
}

static value vector_of(place *p, uint32_t count, float first)
{
    float *components = arena_alloc(&p->a, count * sizeof *components);

    for (uint32_t i = 0; i < count; i++)
        components[i] = first + (float)i;
    return (value){.kind = VALUE_VECTOR, .count = count, .bytes = (uint8_t *)components, .len = count * 4};
}

static row_value fresh(value v)
{
    return (row_value){.v = v};
}

/* Over what is there. */
static void write_row(place *p, int64_t id, const row_value values[], uint32_t fields)
{
    row old;
    bool is_old = row_find(&old, p->c, COLLECTION, id, &p->err) == FENEC_OK;

    if (is_old)
        CHECK_INT(row_keep(&old, &p->a, &p->err), FENEC_OK);
    int code = row_write(p->c, COLLECTION, id, values, fields, is_old ? &old : NULL, &p->a, &p->err);
    CHECK_INT(code, FENEC_OK);
}

static value field(place *p, int64_t id, uint32_t number)
{
    row r;
    value v = value_null();

    CHECK_INT(row_find(&r, p->c, COLLECTION, id, &p->err), FENEC_OK);
    CHECK_INT(row_keep(&r, &p->a, &p->err), FENEC_OK);
    CHECK_INT(row_field(&r, number, &p->a, &v, &p->err), FENEC_OK);
    return v;
}

static bool is(value got, value want)
{
    return got.kind == want.kind && value_equal(&got, &want);
}

static int side_rows(place *p, uint32_t number)
{
    int64_t count = -1;

    CHECK_INT(rows_count(p->c, table_side(COLLECTION, number), &count, &p->err), FENEC_OK);
    return (int)count;
}

TEST(row_reads_back_what_was_written)
{
    place p;

    place_init(&p);
    value values[] = {value_int(-5), value_null(), value_text("abc", 3), value_float(0.5), value_bool(true)};
    row_value written[5];
    for (int i = 0; i < 5; i++)
        written[i] = fresh(values[i]);
    write_row(&p, 12, written, 5);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(is(field(&p, 12, i), values[i]));
    CHECK_INT(field(&p, 12, 5).kind, VALUE_NULL);
    CHECK_INT(field(&p, 12, 70000).kind, VALUE_NULL);
    row r;
    CHECK_INT(row_find(&r, p.c, COLLECTION, 13, &p.err), FN_END);
    CHECK_INT(row_find(&r, p.c, COLLECTION, 12, &p.err), FENEC_OK);
    CHECK_INT(record_check(r.rec.bytes, r.rec.len, 12, &p.err), FENEC_OK);
    place_clear(&p);
}

TEST(row_puts_aside_what_packs_to_more_than_1024_bytes)
{
    place p;

    place_init(&p);
    /* A tag and two bytes of length before the text. */
    value inline_text = text_of(&p, 1021, 'a'), large = text_of(&p, 1022, 'b');
    row_value values[] = {fresh(inline_text), fresh(large), fresh(value_int(3))};
    write_row(&p, 1, values, 3);
    CHECK_INT(side_rows(&p, 0), 0);
    CHECK_INT(side_rows(&p, 1), 1);
    CHECK(is(field(&p, 1, 0), inline_text));
    CHECK(is(field(&p, 1, 1), large));
    CHECK(is(field(&p, 1, 2), value_int(3)));
    place_clear(&p);
}

TEST(row_puts_every_vector_aside_at_full_or_half_precision)
{
    place p;
    const uint8_t *bytes;
    size_t len;

    place_init(&p);
    value vector = vector_of(&p, 3, 0.5f);
    row_value values[] = {{.v = vector}, {.v = vector, .half = true}};
    write_row(&p, 1, values, 2);
    CHECK_INT(rows_get(p.c, table_side(COLLECTION, 0), 1, &bytes, &len, &p.err), FENEC_OK);
    CHECK(len == 1 + 1 + 3 * 4 && bytes[0] == 11);
    CHECK_INT(rows_get(p.c, table_side(COLLECTION, 1), 1, &bytes, &len, &p.err), FENEC_OK);
    CHECK(len == 1 + 1 + 3 * 2 && bytes[0] == 12);
    CHECK(is(field(&p, 1, 0), vector));
    CHECK(is(field(&p, 1, 1), vector)); /* halves hold these numbers exactly */
    place_clear(&p);
}

TEST(row_keeps_a_value_without_touching_its_side_row)
{
    place p;
    buffer other;

    place_init(&p);
    value a = text_of(&p, 3000, 'a'), b = text_of(&p, 3000, 'b');
    write_row(&p, 1, (row_value[]){fresh(a), fresh(value_int(1)), fresh(value_int(2))}, 3);
    buffer_init(&other);
    packed_put(&other, &b);
    CHECK_INT(rows_put(p.c, table_side(COLLECTION, 0), 1, other.bytes, other.len, &p.err), FENEC_OK);
    buffer_clear(&other);
    write_row(&p, 1, (row_value[]){{.keep = true}, {.keep = true}, fresh(value_int(3)), {.keep = true}}, 4);
    CHECK(is(field(&p, 1, 0), b)); /* neither written nor deleted */
    CHECK(is(field(&p, 1, 1), value_int(1)));
    CHECK(is(field(&p, 1, 2), value_int(3)));
    CHECK_INT(field(&p, 1, 3).kind, VALUE_NULL);
    write_row(&p, 2, (row_value[]){{.keep = true}}, 1); /* nothing to keep */
    CHECK_INT(field(&p, 2, 0).kind, VALUE_NULL);
    place_clear(&p);
}

TEST(row_leaves_no_side_row_of_a_value_that_is_gone)
{
    place p;

    place_init(&p);
    value large = text_of(&p, 3000, 'a'), larger = text_of(&p, 4000, 'b');
    row_value four[] = {fresh(large), fresh(large), fresh(large), fresh(large)};
    write_row(&p, 1, four, 4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_INT(side_rows(&p, i), 1);
    /* Smaller, null, another large one; the fourth is not known any more. */
    write_row(&p, 1, (row_value[]){fresh(value_int(1)), fresh(value_null()), fresh(larger)}, 3);
    CHECK_INT(side_rows(&p, 0), 0);
    CHECK_INT(side_rows(&p, 1), 0);
    CHECK_INT(side_rows(&p, 2), 1);
    CHECK_INT(side_rows(&p, 3), 0);
    CHECK(is(field(&p, 1, 0), value_int(1)));
    CHECK(is(field(&p, 1, 2), larger));
    write_row(&p, 1, four, 4); /* and back */
    for (uint32_t i = 0; i < 4; i++)
        CHECK(is(field(&p, 1, i), large));
    place_clear(&p);
}

TEST(row_delete_takes_the_side_rows_along)
{
    place p;
    row r;

    place_init(&p);
    value large = text_of(&p, 3000, 'a');
    write_row(&p, 1, (row_value[]){fresh(large), fresh(value_int(1)), fresh(vector_of(&p, 2, 1))}, 3);
    write_row(&p, 2, (row_value[]){fresh(large)}, 1);
    CHECK_INT(row_find(&r, p.c, COLLECTION, 1, &p.err), FENEC_OK);
    CHECK_INT(row_keep(&r, &p.a, &p.err), FENEC_OK);
    CHECK_INT(row_delete(p.c, &r, &p.err), FENEC_OK);
    CHECK_INT(row_find(&r, p.c, COLLECTION, 1, &p.err), FN_END);
    CHECK_INT(side_rows(&p, 0), 1);
    CHECK_INT(side_rows(&p, 2), 0);
    CHECK(is(field(&p, 2, 0), large));
    place_clear(&p);
}

TEST(row_of_damaged_bytes_is_corrupt)
{
    place p;
    row r;
    value v;

    place_init(&p);
    write_row(&p, 1, (row_value[]){fresh(text_of(&p, 3000, 'a'))}, 1);
    CHECK_INT(row_find(&r, p.c, COLLECTION, 1, &p.err), FENEC_OK);
    CHECK_INT(row_keep(&r, &p.a, &p.err), FENEC_OK);
    CHECK_INT(rows_put(p.c, table_side(COLLECTION, 0), 1, (const uint8_t *)"\x09\x01x", 3, &p.err), FENEC_OK);
    CHECK_INT(row_field(&r, 0, &p.a, &v, &p.err), FENEC_CORRUPT);
    CHECK_TEXT(p.err.message, "the record of document 1 is damaged");
    CHECK_INT(rows_delete(p.c, table_side(COLLECTION, 0), 1, &p.err), FENEC_OK);
    CHECK_INT(row_field(&r, 0, &p.a, &v, &p.err), FENEC_CORRUPT);
    CHECK_INT(rows_put(p.c, table_records(COLLECTION), 1, (const uint8_t *)"abc", 3, &p.err), FENEC_OK);
    CHECK_INT(row_find(&r, p.c, COLLECTION, 1, &p.err), FENEC_CORRUPT);
    place_clear(&p);
}

TEST(row_refuses_a_value_that_is_not_the_whole_of_its_place)
{
    place p;
    row r;
    value v;
    buffer out;
    record_slot_bytes slots[] = {{(const uint8_t *)"\x02\x02", 2}, {(const uint8_t *)"\x80\x01", 2}};

    place_init(&p);
    buffer_init(&out);
    record_write(&out, 1, slots, 2);
    CHECK_INT(row_open(&r, p.c, COLLECTION, 1, out.bytes, out.len, &p.err), FENEC_OK);
    CHECK_INT(row_field(&r, 0, &p.a, &v, &p.err), FENEC_CORRUPT);
    CHECK_INT(row_field(&r, 1, &p.a, &v, &p.err), FENEC_CORRUPT);
    buffer_clear(&out);
    place_clear(&p);
}

/* Small, large, vectors, nulls, in any order over one another; what is beside is what records refer to. */
TEST(row_agrees_with_a_model_over_random_writes)
{
    enum { IDS = 8 };
    static value model[IDS + 1][FIELDS];
    uint64_t random = test_seed();
    place p;

    place_init(&p);
    memset(model, 0, sizeof model);
    for (long round = 0; round < test_scale(2000, 50000); round++) {
        int letter = (int)(round % 26);
        int64_t id = 1 + (int64_t)(test_random(&random) % IDS);
        row_value values[FIELDS];
        uint32_t fields = 1 + (uint32_t)(test_random(&random) % FIELDS);
        row r;

        for (uint32_t i = 0; i < FIELDS; i++) {
            value v = value_null();
            bool keep = false;
            switch (i < fields ? test_random(&random) % 6 : 0) {
            case 1: keep = true; break;
            case 2: v = value_int((int64_t)test_random(&random)); break;
            case 3: v = text_of(&p, (size_t)(test_random(&random) % 2000), 'a' + letter); break;
            case 4: v = vector_of(&p, 1 + (uint32_t)(test_random(&random) % 5), (float)round); break;
            case 5: v = text_of(&p, 1015 + (size_t)(test_random(&random) % 15), 'A' + letter); break;
            default: break;
            }
            values[i] = (row_value){.v = v, .keep = keep};
            if (!keep)
                model[id][i] = v;
        }
        if (test_random(&random) % 10 == 0) {
            if (row_find(&r, p.c, COLLECTION, id, &p.err) == FENEC_OK)
                CHECK_INT(row_delete(p.c, &r, &p.err), FENEC_OK);
            memset(model[id], 0, sizeof model[id]);
        } else {
            write_row(&p, id, values, fields);
        }
        for (uint32_t i = 0; i < FIELDS; i++) {
            int beside = 0;
            for (int64_t other = 1; other <= IDS; other++) {
                const value *v = &model[other][i];
                beside += v->kind == VALUE_VECTOR || (v->kind == VALUE_TEXT && v->len + 3 > 1024);
            }
            if (round % 50 == 0)
                CHECK_INT(side_rows(&p, i), beside);
            if (row_find(&r, p.c, COLLECTION, id, &p.err) == FENEC_OK)
                CHECK(is(field(&p, id, i), model[id][i]));
        }
    }
    place_clear(&p);
}

TEST(row_write_without_memory_answers_panic)
{
    place p;
    bool done = false;

    place_init(&p);
    value large = text_of(&p, 3000, 'a'), vector = vector_of(&p, 5, 1);
    row_value values[] = {fresh(large), {.v = vector, .half = true}, fresh(value_int(5))};
    write_row(&p, 1, values, 3);
    for (long n = 0; n < 100 && !done; n++) {
        arena a;
        row old;
        arena_init(&a);
        CHECK_INT(row_find(&old, p.c, COLLECTION, 1, &p.err), FENEC_OK);
        memory_fail_after(n);
        int code = row_keep(&old, &a, &p.err);
        if (code == FENEC_OK)
            code = row_write(p.c, COLLECTION, 1, values, 3, &old, &a, &p.err);
        value v;
        if (code == FENEC_OK)
            code = row_find(&old, p.c, COLLECTION, 1, &p.err);
        for (uint32_t i = 0; i < 3 && code == FENEC_OK; i++)
            code = row_field(&old, i, &a, &v, &p.err);
        memory_fail_after(-1);
        CHECK(code == FENEC_OK || code == FENEC_PANIC);
        done = code == FENEC_OK;
        arena_clear(&a);
    }
    CHECK(done);
    CHECK(is(field(&p, 1, 0), large));
    place_clear(&p);
}
