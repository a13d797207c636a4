#include "base/memory.h"
#include "search_bed.h"

/* ---- changes ---- */

/* Writes a document's next text, or takes it away, in a block's own version and in the model. */
static void change(search_bed *b, text_version *own, conn *c, int id)
{
    bed_text *t = &b->texts[id];
    error err;

    if (t->there)
        CHECK_INT(text_index_remove(own, c, id, (const uint8_t *)t->text, strlen(t->text), &err), FENEC_OK);
    t->there = false;
    if (bed_below(b, 4) == 0)
        return;
    bed_text_draw(b, t);
    CHECK_INT(text_index_add(own, id, (const uint8_t *)t->text, strlen(t->text), &err), FENEC_OK);
}

/* A block of some changes; one in four is put back. */
static void run_block(search_bed *b, bool flushes)
{
    bool undo = bed_below(b, 4) == 0;
    bed_text *kept = malloc((BED_IDS + 1) * sizeof *kept);
    uint64_t ticket;
    version *none;
    conn *c;
    error err;

    memcpy(kept, b->texts, (BED_IDS + 1) * sizeof *kept);
    MUST(store_write(b->s, true, &c, &none, &err));
    text_version *own = text_index_begin(b->v);
    uint32_t count = 1 + bed_below(b, 60), first = bed_below(b, BED_IDS);
    for (uint32_t i = 0; i < count; i++) {
        change(b, own, c, (int)(1 + (bed_below(b, 2) ? first + i : bed_below(b, BED_IDS)) % BED_IDS));
        if (flushes && bed_below(b, 40) == 0)
            CHECK_INT(text_index_flush(own, c, &err), FENEC_OK);
    }
    if (undo) {
        text_index_undo(own);
        store_write_rollback(c);
        version_drop(&own->head);
        memcpy(b->texts, kept, (BED_IDS + 1) * sizeof *kept);
    } else {
        CHECK_INT(text_index_land(own, c, &err), FENEC_OK);
        MUST(store_write_commit(c, NULL, &ticket, &err));
        text_index_landed(own);
        version_drop(&b->v->head);
        b->v = own;
    }
    free(kept);
}

/* A merge, with blocks beside it now and then. */
static void run_merge(search_bed *b)
{
    uint64_t ticket;
    text_merge *m;
    version *none;
    conn *c;
    error err;
    int rc;

    CHECK_INT(text_merge_new(&m, b->v, bed_below(b, 2), &err), FENEC_OK);
    if (!m)
        return;
    do {
        MUST(store_read(b->s, &c, &none, &err));
        rc = text_merge_read(m, c, &err);
        store_read_end(c);
        CHECK(rc == FENEC_OK || rc == FN_END);
        if (bed_below(b, 2))
            run_block(b, true);
        MUST(store_write(b->s, true, &c, &none, &err));
        CHECK_INT(text_merge_write(m, c, &err), FENEC_OK);
        MUST(store_write_commit(c, NULL, &ticket, &err));
    } while (rc == FENEC_OK);
    if (bed_below(b, 2))
        run_block(b, false);
    MUST(store_write(b->s, true, &c, &none, &err));
    text_version *own = text_index_begin(b->v);
    CHECK_INT(text_merge_land(m, own, c, &err), FENEC_OK);
    CHECK_INT(text_index_land(own, c, &err), FENEC_OK);
    MUST(store_write_commit(c, NULL, &ticket, &err));
    text_index_landed(own);
    version_drop(&b->v->head);
    b->v = own;
    do {
        MUST(store_write(b->s, true, &c, &none, &err));
        rc = text_merge_clean(m, c, &err);
        MUST(store_write_commit(c, NULL, &ticket, &err));
    } while (rc == FENEC_OK);
    CHECK_INT(rc, FN_END);
    text_merge_free(m);
}

static void run_reopen(search_bed *b)
{
    version_drop(&b->v->head);
    row_cache_free(b->cache);
    b->cache = row_cache_new(bed_below(b, 2) ? ROW_CACHE_BYTES : 1);
    b->v = NULL;
    CHECK_INT(bed_read(b), FENEC_OK);
}

/* ---- comparing ---- */

static int test_filter(void *with, int64_t id, bool *pass, error *err)
{
    (void)err;
    *pass = (uint64_t)id * 2654435761u % 97 < *(uint32_t *)with;
    return FENEC_OK;
}

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
        test_filter(&share, model[i].id, &pass, &err);
        if (pass)
            model[kept++] = model[i];
    }
    if (kept > want)
        kept = want;
    arena_init(&memory);
    MUST(store_read(b->s, &c, &none, &err));
    CHECK_INT(query_make(&asked, &b->v->how, (const uint8_t *)q->text, strlen(q->text), 0, false, &memory, &err),
              FENEC_OK);
    best_init(&top, want, &memory, share < 97 ? test_filter : NULL, &share);
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
    bed_query q;

    for (int i = 0; i < 12; i++) {
        bed_query_draw(b, &q, i % 4 == 0 ? 1 : i % 4 == 3 ? 40 : 6);
        compare(b, &q, wants[bed_below(b, 5)], shares[bed_below(b, 5)]);
    }
}

static void run_history(search_bed *b, long rounds)
{
    for (long i = 0; i < rounds; i++) {
        run_block(b, true);
        if (bed_below(b, 6) == 0)
            run_merge(b);
        if (bed_below(b, 10) == 0)
            run_reopen(b);
        compare_some(b);
    }
}

TEST(match_ranks_as_the_sum_over_every_document_after_any_history)
{
    search_bed b;

    search_bed_open(&b);
    run_history(&b, test_scale(150, 5000));
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
        run_history(&b, test_scale(30, 500));
        search_bed_close(&b);
    }
}
