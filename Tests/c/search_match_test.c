#include "search_bed.h"

/* ---- comparing ---- */

static void compare(search_bed *b, const bed_query *q, size_t want, uint32_t share)
{
    static best_row model[BED_IDS];
    size_t count = bed_rank(b, q, model), kept = 0;
    version *none;
    arena memory;
    query asked;
    best top;
    conn *c;
    error err;

    for (size_t i = 0; i < count; i++) {
        bool pass;
        bed_filter(&share, model[i].id, &pass, &err);
        if (pass)
            model[kept++] = model[i];
    }
    if (kept > want)
        kept = want;
    arena_init(&memory);
    MUST(store_read(b->s, &c, &none, &err));
    CHECK_INT(query_make(&asked, &b->v->how, (const uint8_t *)q->text, strlen(q->text), 0, false, &memory, &err),
              FENEC_OK);
    best_init(&top, want, &memory, share < 97 ? bed_filter : NULL, &share);
    CHECK_INT(text_rank(b->v, c, &asked, &top, &memory, &err), FENEC_OK);
    best_finish(&top);
    CHECK_INT(top.count, kept);
    for (size_t i = 0; i < kept && i < top.count; i++)
        if (top.rows[i].id != model[i].id || top.rows[i].score != model[i].score) {
            test_failed(__FILE__, __LINE__, "row %zu of `%s` want %zu is %lld: %.9g, not %lld: %.9g", i, q->text, want,
                        (long long)top.rows[i].id, (double)top.rows[i].score, (long long)model[i].id,
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
    const text_ways usual = text_search_ways;
    /* Of short lists; by a walk; with marks that documents have in common; where too many are shared. */
    const text_ways ways[] = {usual, {.short_max = 0}, {1u << 20, 1u << 20, 64}, {1u << 20, 1, 1u << 20}};
    bed_query q;

    for (int i = 0; i < 12; i++) {
        bed_query_draw(b, &q, i % 4 == 0 ? 1 : i % 4 == 3 ? 40 : 6);
        text_search_ways = ways[bed_below(b, 4)];
        compare(b, &q, wants[bed_below(b, 5)], shares[bed_below(b, 5)]);
    }
    text_search_ways = usual;
}

TEST(match_ranks_as_the_sum_over_every_document_after_any_history)
{
    search_bed b;

    search_bed_open(&b);
    bed_history(&b, compare_some, test_scale(150, 5000));
    search_bed_close(&b);
}

TEST(match_ranks_so_for_other_k1_and_b)
{
    static const uint32_t options[][2] = {{0, 40}, {120, 75}, {90, 0}, {90, 100}, {50, 400}, {10000, 40}};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        search_bed b;
        search_bed_open(&b);
        version_drop(&b.v->head);
        b.spec.k1_hundredths = options[i][0];
        b.spec.b_hundredths = options[i][1];
        bed_read(&b);
        bed_history(&b, compare_some, test_scale(30, 500));
        search_bed_close(&b);
    }
}
