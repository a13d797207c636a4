#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "catalog/catalog_row.h"
#include "test.h"

static value parts_of[3];

static const catalog_field fields[] = {
    {.number = 0, .name = "title", .name_len = 5, .type = {.kind = TYPE_TEXT}, .required = true,
     .collate = COLLATION_TR},
    {.number = 2, .name = "tags", .name_len = 4,
     .type = {.kind = TYPE_LIST, .element = &(const type){.kind = TYPE_LIST,
                                                          .element = &(const type){.kind = TYPE_TEXT}}}},
    {.number = 3, .name = "meta", .name_len = 4, .type = {.kind = TYPE_JSON}},
    {.number = 5, .name = "e", .name_len = 1, .type = {.kind = TYPE_VECTOR, .half = true, .dimension = 3}},
    {.number = 6, .name = "at", .name_len = 2, .type = {.kind = TYPE_TIMESTAMP}},
};

/* A declaration with a bit of everything. */
static collection draft(catalog_index indexes[4])
{
    parts_of[0] = value_text("meta", 4);
    parts_of[1] = value_text("src", 3);
    parts_of[2] = value_text("rank", 4);
    indexes[0] = (catalog_index){.number = 9, .spec = {.kind = INDEX_SORTED}, .field = 0,
                                 .on = {.part_count = 1, .parts = parts_of}};
    indexes[1] = (catalog_index){.number = 7, .spec = {.kind = INDEX_UNIQUE}, .field = 2,
                                 .on = {.part_count = 3, .parts = parts_of}};
    indexes[2] = (catalog_index){.number = 4,
                                 .spec = {.kind = INDEX_HNSW, .m = 16, .ef_construction = 200, .ef_search = 100},
                                 .field = 3, .on = {.part_count = 1, .parts = parts_of}};
    indexes[3] = (catalog_index){.number = 5, .spec = {.kind = INDEX_SORTED, .ttl_ms = 1800000}, .field = 4,
                                 .on = {.part_count = 1, .parts = parts_of}};
    return (collection){.number = 3,
                        .name = "docs",
                        .name_len = 4,
                        .next_field = 8,
                        .has_dropped = true,
                        .fields = (catalog_field *)fields,
                        .field_count = 5,
                        .indexes = indexes,
                        .index_count = 4};
}

static int read_back(const uint8_t *bytes, size_t len, collection **out, error *err)
{
    collection read;
    arena a;

    arena_init(&a);
    int rc = catalog_row_read(bytes, len, &a, &read, err);
    if (rc == FENEC_OK) {
        read.number = 3;
        rc = collection_seal(&read, out, err);
    }
    arena_clear(&a);
    return rc;
}

TEST(declaration_reads_back_as_it_was_written)
{
    catalog_index indexes[4];
    collection d = draft(indexes), *c, *again;
    buffer row, second, text;
    error err;

    CHECK_INT(collection_seal(&d, &c, &err), FENEC_OK);
    buffer_init(&row);
    buffer_init(&second);
    catalog_row_write(&row, c);
    CHECK_INT(read_back(row.bytes, row.len, &again, &err), FENEC_OK);
    catalog_row_write(&second, again);
    CHECK_INT(second.len, row.len);
    CHECK(second.len == row.len && memcmp(second.bytes, row.bytes, row.len) == 0);

    CHECK_TEXT(again->name, "docs");
    CHECK_INT(again->next_field, 8);
    CHECK(again->has_dropped);
    CHECK_INT(again->field_count, 5);
    CHECK(again->fields[0].required);
    CHECK_INT(again->fields[0].collate, COLLATION_TR);
    CHECK_INT(again->fields[3].type.dimension, 3);
    CHECK(again->fields[3].type.half);
    CHECK_INT(again->fields[4].number, 6);
    CHECK_INT(again->ttl_field, 4);
    CHECK_INT(again->ttl_ms, 1800000);
    /* Fields' own indexes in field order, paths after them. */
    CHECK_INT(again->indexes[0].number, 9);
    CHECK_INT(again->indexes[1].number, 4);
    CHECK_INT(again->indexes[2].number, 5);
    CHECK_INT(again->indexes[3].number, 7);
    CHECK_TEXT(again->indexes[3].on.text, "meta.src.rank");
    CHECK(again->fields[2].index == NULL);
    CHECK(again->fields[4].index == &again->indexes[2]);

    buffer_init(&text);
    type_write(&text, &again->fields[1].type);
    CHECK(text.len == 8 && memcmp(text.bytes, "[[text]]", 8) == 0);
    buffer_clear(&text);
    buffer_clear(&row);
    buffer_clear(&second);
    collection_drop(c);
    collection_drop(again);
}

TEST(declaration_cut_short_or_with_a_flipped_bit_is_corrupt)
{
    catalog_index indexes[4];
    collection d = draft(indexes), *c, *again;
    buffer row;
    error err;

    CHECK_INT(collection_seal(&d, &c, &err), FENEC_OK);
    buffer_init(&row);
    catalog_row_write(&row, c);
    for (size_t len = 0; len < row.len; len++)
        CHECK_INT(read_back(row.bytes, len, &again, &err), FENEC_CORRUPT);
    for (size_t bit = 0; bit < row.len * 8; bit++) {
        row.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK_INT(read_back(row.bytes, row.len, &again, &err), FENEC_CORRUPT);
        row.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    buffer_clear(&row);
    collection_drop(c);
}

/* The checksum is right: only what is read in it can tell. */
TEST(declaration_with_any_byte_changed_is_refused_or_well_formed)
{
    catalog_index indexes[4];
    collection d = draft(indexes), *c, *again;
    uint64_t random = test_seed();
    buffer row, second;
    error err;

    CHECK_INT(collection_seal(&d, &c, &err), FENEC_OK);
    buffer_init(&row);
    buffer_init(&second);
    catalog_row_write(&row, c);
    for (int round = 0; round < 20000; round++) {
        buffer b;
        buffer_init(&b);
        buffer_put(&b, row.bytes, row.len - 4);
        int changes = 1 + (int)(test_random(&random) % 3);
        for (int i = 0; i < changes; i++)
            b.bytes[test_random(&random) % b.len] = (uint8_t)test_random(&random);
        uint8_t sum[4];
        bytes_put_u32(sum, crc32c(0, b.bytes, b.len));
        buffer_put(&b, sum, 4);
        if (read_back(b.bytes, b.len, &again, &err) == FENEC_OK) {
            second.len = 0;
            catalog_row_write(&second, again);
            CHECK(!second.failed);
            collection_drop(again);
        }
        buffer_clear(&b);
    }
    buffer_clear(&second);
    buffer_clear(&row);
    collection_drop(c);
}

TEST(collection_seal_refuses_what_cannot_be_declared)
{
    catalog_index indexes[4];
    catalog_field changed[5];
    collection d, *c;
    error err;

#define REFUSED(code, change)                                  \
    do {                                                       \
        d = draft(indexes);                                    \
        memcpy(changed, fields, sizeof fields);                \
        d.fields = changed;                                    \
        change;                                                \
        CHECK_INT(collection_seal(&d, &c, &err), code);        \
    } while (0)
    REFUSED(FENEC_QUERY, (changed[0].name = "id", changed[0].name_len = 2));
    REFUSED(FENEC_QUERY, (changed[0].name = "", changed[0].name_len = 0));
    REFUSED(FENEC_QUERY, (changed[0].name = "a.b", changed[0].name_len = 3));
    REFUSED(FENEC_EXISTS, (changed[0].name = "meta", changed[0].name_len = 4));
    REFUSED(FENEC_QUERY, changed[2].collate = COLLATION_UND);
    REFUSED(FENEC_QUERY, d.field_count = d.index_count = 0);
    REFUSED(FENEC_CORRUPT, changed[1].number = changed[0].number); /* of a file: no statement makes it */
    REFUSED(FENEC_CORRUPT, changed[1].number = d.next_field);
    REFUSED(FENEC_CORRUPT, indexes[0].state = INDEX_DECLARED);
    REFUSED(FENEC_TYPE, indexes[3].field = 1);
    REFUSED(FENEC_TYPE, indexes[1].field = 1);
    REFUSED(FENEC_EXISTS, (indexes[2] = indexes[1], indexes[2].number = 12));
    REFUSED(FENEC_QUERY, (indexes[2] = indexes[3], indexes[2].field = 4, indexes[2].spec.ttl_ms = 1,
                          changed[3] = changed[4], changed[3].number = 5, changed[3].name = "at2",
                          changed[3].name_len = 3, indexes[2].field = 3));
#undef REFUSED
}

TEST(collection_seal_survives_memory_that_runs_out)
{
    catalog_index indexes[4];
    collection d = draft(indexes), *c;
    error err;

    for (long n = 0;; n++) {
        memory_fail_after(n);
        int rc = collection_seal(&d, &c, &err);
        memory_fail_after(-1);
        if (rc == FENEC_OK) {
            collection_drop(c);
            break;
        }
        CHECK_INT(rc, FENEC_PANIC);
    }
}
