#include "base/bytes.h"
#include "search/sparse_search.h"
#include "search_bed.h"
#include "value/sparse.h"

/* ---- documents: entries over few dimensions that many have, and over many that few have ---- */

enum { ENTRIES = 40, DIMENSIONS = 400 };

static float draw_weight(search_bed *b)
{
    static const float some[] = {1, 1, 0.5f, -1, 1e-30f, 3e30f, -7e-3f, 16777216};

    if (b->spec.k1_hundredths == 0) /* weights that tie */
        return bed_below(b, 4) ? 1 : -1;
    if (bed_below(b, 9) == 0)
        return some[bed_below(b, sizeof some / sizeof *some)];
    float w = (float)(1 + bed_below(b, 1u << 24)) / (float)(1u << bed_below(b, 27));
    return bed_below(b, 5) ? w : -w;
}

static uint32_t draw_entries(search_bed *b, uint8_t *out, uint32_t most)
{
    uint32_t count = 0, dimension = 0, step = 1 + bed_below(b, 20);

    while (count < most && (dimension += 1 + bed_below(b, dimension < 8 ? 3 : step)) < DIMENSIONS) {
        bytes_put_u32(out + count * SPARSE_ENTRY, dimension < DIMENSIONS - 20 ? dimension : dimension + 999999000);
        bytes_put_f32(out + count * SPARSE_ENTRY + 4, draw_weight(b));
        count++;
    }
    return count;
}

static void draw_vector(search_bed *b, bed_text *t)
{
    t->there = true;
    t->bytes = (const uint8_t *)t->text;
    t->len = draw_entries(b, (uint8_t *)t->text, bed_below(b, ENTRIES)) * (size_t)SPARSE_ENTRY;
}

/* ---- the model ---- */

static bool product(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len, float *out)
{
    bool any = false;
    double sum = 0;

    for (size_t i = 0; i < a_len; i += SPARSE_ENTRY)
        for (size_t k = 0; k < b_len; k += SPARSE_ENTRY)
            if (bytes_u32(a + i) == bytes_u32(b + k)) {
                sum += (double)bytes_f32(a + i + 4) * (double)bytes_f32(b + k + 4);
                any = true;
            }
    *out = (float)sum;
    return any;
}

static void compare(search_bed *b, const uint8_t *asked, uint32_t count, size_t want, uint32_t share)
{
    static best_row model[BED_IDS];
    size_t kept = 0;
    sparse_work did;
    version *none;
    arena memory;
    best top;
    conn *c;
    error err;

    for (int id = 1; id <= BED_IDS; id++) {
        const bed_text *t = &b->texts[id];
        bool pass;
        bed_filter(&share, id, &pass, &err);
        model[kept].id = id;
        kept += pass && t->there &&
                product(asked, count * (size_t)SPARSE_ENTRY, t->bytes, t->len, &model[kept].score);
    }
    qsort(model, kept, sizeof *model, bed_by_rank);
    if (kept > want)
        kept = want;
    arena_init(&memory);
    MUST(store_read(b->s, &c, &none, &err));
    best_init(&top, want, &memory, share < 97 ? bed_filter : NULL, &share);
    CHECK_INT(sparse_rank(b->v, c, asked, count, &top, &did, &memory, &err), FENEC_OK);
    best_finish(&top);
    CHECK_INT(top.count, kept);
    CHECK(did.read <= did.postings);
    for (size_t i = 0; i < kept && i < top.count; i++)
        if (top.rows[i].id != model[i].id || top.rows[i].score != model[i].score) {
            test_failed(__FILE__, __LINE__, "row %zu of %u entries, want %zu, is %lld: %.9g, not %lld: %.9g", i, count,
                        want, (long long)top.rows[i].id, (double)top.rows[i].score, (long long)model[i].id,
                        (double)model[i].score);
            break;
        }
    store_read_end(c);
    arena_clear(&memory);
}

static void compare_some(search_bed *b)
{
    static const size_t wants[] = {1, 3, 10, 50, BED_IDS};
    static const uint32_t shares[] = {97, 97, 30, 2, 0};
    uint8_t asked[ENTRIES * SPARSE_ENTRY];

    for (int i = 0; i < 12; i++) {
        uint32_t count = draw_entries(b, asked, i % 4 == 0 ? 1 : i % 4 == 3 ? ENTRIES : 6);
        compare(b, asked, count, wants[bed_below(b, 5)], shares[bed_below(b, 5)]);
    }
}

static void check_history(bool ties, long rounds)
{
    search_bed b;

    search_bed_open(&b);
    version_drop(&b.v->head);
    b.spec = (index_spec){.kind = INDEX_INVERTED, .k1_hundredths = !ties};
    b.draw = draw_vector;
    CHECK_INT(bed_read(&b), FENEC_OK);
    bed_history(&b, compare_some, rounds);
    search_bed_close(&b);
}

TEST(sparse_near_ranks_as_the_product_with_every_document_after_any_history)
{
    check_history(false, test_scale(150, 5000));
}

TEST(sparse_near_tells_equal_products_apart_by_id)
{
    check_history(true, test_scale(150, 5000));
}
