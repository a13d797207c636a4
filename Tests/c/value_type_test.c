#include "value/type.h"

#include "test.h"

static const type boolean = {.kind = TYPE_BOOL}, whole = {.kind = TYPE_INT}, number = {.kind = TYPE_FLOAT},
                  text = {.kind = TYPE_TEXT}, octets = {.kind = TYPE_BYTES},
                  instant = {.kind = TYPE_TIMESTAMP}, vector = {.kind = TYPE_VECTOR, .dimension = 4},
                  half = {.kind = TYPE_VECTOR, .dimension = 4, .half = true},
                  sparse = {.kind = TYPE_SPARSE, .dimension = 1000000000}, json = {.kind = TYPE_JSON},
                  point = {.kind = TYPE_GEO}, texts = {.kind = TYPE_LIST, .element = &text},
                  points = {.kind = TYPE_LIST, .element = &point},
                  halves = {.kind = TYPE_LIST, .element = &half},
                  deep = {.kind = TYPE_LIST, .element = &texts};

static const char *type_text(const type *t)
{
    static char out[100];
    buffer b;

    buffer_init(&b);
    type_write(&b, t);
    snprintf(out, sizeof out, "%.*s", (int)b.len, (const char *)b.bytes);
    buffer_clear(&b);
    return out;
}

static const char *index_text(index_spec spec)
{
    static char out[100];
    buffer b;

    buffer_init(&b);
    index_spec_write(&b, &spec);
    snprintf(out, sizeof out, "%.*s", (int)b.len, (const char *)b.bytes);
    buffer_clear(&b);
    return out;
}

TEST(type_write_is_the_name_of_describe)
{
    CHECK_TEXT(type_text(&boolean), "bool");
    CHECK_TEXT(type_text(&whole), "int");
    CHECK_TEXT(type_text(&number), "float");
    CHECK_TEXT(type_text(&text), "text");
    CHECK_TEXT(type_text(&octets), "bytes");
    CHECK_TEXT(type_text(&instant), "timestamp");
    CHECK_TEXT(type_text(&vector), "vector<4>");
    CHECK_TEXT(type_text(&half), "vector<4, f16>");
    CHECK_TEXT(type_text(&sparse), "sparse<1000000000>");
    CHECK_TEXT(type_text(&json), "json");
    CHECK_TEXT(type_text(&point), "geo");
    CHECK_TEXT(type_text(&texts), "[text]");
    CHECK_TEXT(type_text(&deep), "[[text]]");
    CHECK_TEXT(type_text(&halves), "[vector<4, f16>]");
}

TEST(type_equal_looks_at_every_parameter)
{
    const type *all[] = {&boolean, &whole, &number, &text,  &octets, &instant, &vector, &half,
                         &sparse,  &json,  &point,  &texts, &points, &halves,  &deep};
    const type five = {.kind = TYPE_VECTOR, .dimension = 5}, other = {.kind = TYPE_SPARSE, .dimension = 9},
               another = {.kind = TYPE_LIST, .element = &text};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            CHECK_INT(type_equal(all[i], all[j]), i == j);
    CHECK(!type_equal(&vector, &five));
    CHECK(!type_equal(&sparse, &other));
    CHECK(type_equal(&texts, &another));
}

TEST(index_spec_write_is_the_text_of_describe)
{
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_NONE}), "none");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_HASH}), "hash");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_UNIQUE}), "unique");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_SORTED}), "sorted");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_INVERTED}), "inverted");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_GEO}), "geo");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_SORTED, .ttl_ms = 1800000}), "ttl(30m)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_SORTED, .ttl_ms = 3600000}), "ttl(1h)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_SORTED, .ttl_ms = 172800000}), "ttl(2d)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_SORTED, .ttl_ms = 90000}), "ttl(90s)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_SORTED, .ttl_ms = 1500}), "ttl(1500ms)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_HNSW, .metric = METRIC_COSINE, .m = 16}),
               "hnsw(cosine, m=16)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_HNSW, .metric = METRIC_L2, .m = 8, .quant = QUANT_INT8}),
               "hnsw(l2, m=8, quant=int8)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_HNSW, .metric = METRIC_DOT, .m = 2}), "hnsw(dot, m=2)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_HNSW, .m = 16, .quant = QUANT_BIT}),
               "hnsw(cosine, m=16, quant=bit)");
    CHECK_TEXT(index_text((index_spec){
                   .kind = INDEX_TEXT, .k1_hundredths = 90, .b_hundredths = 40, .prefix_min = 3}),
               "text(k1=0.9, b=0.4)");
    CHECK_TEXT(index_text((index_spec){.kind = INDEX_TEXT,
                                       .k1_hundredths = 124,
                                       .b_hundredths = 5,
                                       .prefix_max = 6,
                                       .prefix_min = 3,
                                       .chars = true}),
               "text(k1=1.24, b=0.05, prefix=6, chars)");
    CHECK_TEXT(
        index_text((index_spec){
            .kind = INDEX_TEXT, .k1_hundredths = 200, .b_hundredths = 0, .prefix_max = 6, .prefix_min = 4}),
        "text(k1=2, b=0, prefix=6, prefix_min=4)");
    CHECK_TEXT(
        index_text((index_spec){
            .kind = INDEX_TEXT, .k1_hundredths = 10000, .b_hundredths = 75, .prefix_min = 4, .chars = true}),
        "text(k1=100, b=0.75, chars)");
}

static int fits(index_spec spec, const type *t, bool path)
{
    error err;

    error_init(&err);
    int code = index_spec_fits(&spec, t, path, "f", &err);
    CHECK(code == FENEC_OK || strstr(err.message, "`f`"));
    return code;
}

TEST(index_spec_fits_by_the_table_of_types)
{
    const type *all[] = {&boolean, &whole, &number, &text,  &octets, &instant, &vector, &half,
                         &sparse,  &json,  &point,  &texts, &points, &halves,  &deep};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const type *t = all[i];
        bool sorted = t == &whole || t == &number || t == &text || t == &instant || t == &json;
        CHECK_INT(fits((index_spec){.kind = INDEX_NONE}, t, false), FENEC_OK);
        CHECK_INT(fits((index_spec){.kind = INDEX_HASH}, t, false), t == &point ? FENEC_TYPE : FENEC_OK);
        CHECK_INT(fits((index_spec){.kind = INDEX_UNIQUE}, t, false), t == &point ? FENEC_TYPE : FENEC_OK);
        CHECK_INT(fits((index_spec){.kind = INDEX_SORTED}, t, false), sorted ? FENEC_OK : FENEC_TYPE);
        CHECK_INT(fits((index_spec){.kind = INDEX_SORTED, .ttl_ms = 1}, t, false),
                  t == &instant ? FENEC_OK : FENEC_TYPE);
        CHECK_INT(fits((index_spec){.kind = INDEX_HNSW}, t, false),
                  t == &vector || t == &half ? FENEC_OK : FENEC_TYPE);
        CHECK_INT(fits((index_spec){.kind = INDEX_TEXT}, t, false), t == &text ? FENEC_OK : FENEC_TYPE);
        CHECK_INT(fits((index_spec){.kind = INDEX_INVERTED}, t, false), t == &sparse ? FENEC_OK : FENEC_TYPE);
        CHECK_INT(fits((index_spec){.kind = INDEX_GEO}, t, false), t == &point ? FENEC_OK : FENEC_TYPE);
    }
}

TEST(index_spec_fits_a_path_only_as_hash_unique_or_sorted)
{
    CHECK_INT(fits((index_spec){.kind = INDEX_HASH}, &json, true), FENEC_OK);
    CHECK_INT(fits((index_spec){.kind = INDEX_UNIQUE}, &json, true), FENEC_OK);
    CHECK_INT(fits((index_spec){.kind = INDEX_SORTED}, &json, true), FENEC_OK);
    CHECK_INT(fits((index_spec){.kind = INDEX_SORTED, .ttl_ms = 1}, &json, true), FENEC_TYPE);
    CHECK_INT(fits((index_spec){.kind = INDEX_HNSW}, &json, true), FENEC_QUERY);
    CHECK_INT(fits((index_spec){.kind = INDEX_TEXT}, &json, true), FENEC_QUERY);
    CHECK_INT(fits((index_spec){.kind = INDEX_INVERTED}, &json, true), FENEC_QUERY);
    CHECK_INT(fits((index_spec){.kind = INDEX_GEO}, &json, true), FENEC_QUERY);
    CHECK_INT(fits((index_spec){.kind = INDEX_HASH}, &text, true), FENEC_TYPE);
}

TEST(index_spec_fits_bits_with_cosine_alone)
{
    CHECK_INT(fits((index_spec){.kind = INDEX_HNSW, .quant = QUANT_BIT}, &vector, false), FENEC_OK);
    CHECK_INT(fits((index_spec){.kind = INDEX_HNSW, .quant = QUANT_BIT, .metric = METRIC_L2}, &vector, false),
              FENEC_QUERY);
    CHECK_INT(
        fits((index_spec){.kind = INDEX_HNSW, .quant = QUANT_BIT, .metric = METRIC_DOT}, &vector, false),
        FENEC_QUERY);
    CHECK_INT(
        fits((index_spec){.kind = INDEX_HNSW, .quant = QUANT_INT8, .metric = METRIC_DOT}, &vector, false),
        FENEC_OK);
}
