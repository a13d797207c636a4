/* search_bed.h - a text index for a test beside a model of it: texts by id, and BM25 worked out from them. The
 * documents may be others, drawn by the test. */
#ifndef SEARCH_BED_H
#define SEARCH_BED_H

#include <math.h>
#include <stdlib.h>

#include "search/query.h"
#include "search/row_cache.h"
#include "search/text_index.h"
#include "search/text_search.h"
#include "store_make.h"

#define BED_IDS 700
#define BED_WORDS 48 /* of a text, at most */

typedef struct bed_text {
    bool there;
    int count;
    char words[BED_WORDS][12];
    char text[BED_WORDS * 13];
    const uint8_t *bytes; /* what is indexed */
    size_t len;
} bed_text;

typedef struct search_bed {
    store *s;
    row_cache *cache;
    text_version *v; /* published */
    index_spec spec;
    bed_text *texts; /* by id, from 1 */
    uint64_t random;
    void (*draw)(struct search_bed *b, bed_text *t);
    error err;
} search_bed;

static inline uint32_t bed_below(search_bed *b, uint32_t n)
{
    return (uint32_t)(test_random(&b->random) % n);
}

/* A word: low numbers are frequent, the first few stand in nearly every text. */
static inline void bed_word(search_bed *b, char out[12])
{
    uint32_t spread = 1u << bed_below(b, 8);

    snprintf(out, 12, "w%c%u", "aeiou"[bed_below(b, spread) % 5], bed_below(b, spread));
}

static inline void bed_text_draw(search_bed *b, bed_text *t)
{
    size_t len = 0;

    t->there = true;
    t->count = (int)bed_below(b, BED_WORDS);
    t->text[0] = 0;
    for (int i = 0; i < t->count; i++) {
        bed_word(b, t->words[i]);
        len += (size_t)snprintf(t->text + len, sizeof t->text - len, "%s%s", i ? " " : "", t->words[i]);
    }
    t->bytes = (const uint8_t *)t->text;
    t->len = len;
}

static inline int bed_source(void *from, int64_t id, const uint8_t **text, size_t *len, error *err)
{
    const search_bed *b = from;

    (void)err;
    if (id < 1 || id > BED_IDS || !b->texts[id].there)
        return FN_END;
    *text = b->texts[id].bytes;
    *len = b->texts[id].len;
    return FENEC_OK;
}

static inline int bed_read(search_bed *b)
{
    uint64_t ticket;
    version *none;
    conn *c;
    error err;

    MUST(store_write(b->s, true, &c, &none, &err));
    int rc = text_index_open(&b->v, c, b->cache, 1, &b->spec, bed_source, b, &err);
    MUST(store_write_commit(c, NULL, &ticket, &err));
    return rc;
}

static inline void search_bed_open(search_bed *b)
{
    *b = (search_bed){.draw = bed_text_draw, .spec = {.kind = INDEX_TEXT, .k1_hundredths = 90, .b_hundredths = 40, .prefix_min = 3}};
    b->s = make_store(NULL, false);
    b->cache = row_cache_new(ROW_CACHE_BYTES);
    b->texts = calloc(BED_IDS + 1, sizeof *b->texts);
    b->random = test_seed();
    CHECK_INT(bed_read(b), FENEC_OK);
}

static inline void search_bed_close(search_bed *b)
{
    if (b->v)
        version_drop(&b->v->head);
    end_store(b->s);
    row_cache_free(b->cache);
    free(b->texts);
}

/* ---- changes ---- */

/* Writes a document's next text, or takes it away, in a block's own version and in the model. */
static inline void bed_change(search_bed *b, text_version *own, conn *c, int id)
{
    bed_text *t = &b->texts[id];
    error err;

    if (t->there)
        CHECK_INT(text_index_remove(own, c, id, t->bytes, t->len, &err), FENEC_OK);
    t->there = false;
    if (bed_below(b, 4) == 0)
        return;
    b->draw(b, t);
    CHECK_INT(text_index_add(own, id, t->bytes, t->len, &err), FENEC_OK);
}

/* A block of some changes; one in four is put back. */
static inline void bed_block(search_bed *b, bool flushes)
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
        bed_change(b, own, c, (int)(1 + (bed_below(b, 2) ? first + i : bed_below(b, BED_IDS)) % BED_IDS));
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

static inline void bed_reopen(search_bed *b)
{
    version_drop(&b->v->head);
    row_cache_free(b->cache);
    b->cache = row_cache_new(bed_below(b, 2) ? ROW_CACHE_BYTES : 1);
    b->v = NULL;
    CHECK_INT(bed_read(b), FENEC_OK);
}

/* As a process that ends here leaves a merge. */
static inline bool bed_ends(search_bed *b, text_merge *m)
{
    if (bed_below(b, 12))
        return false;
    text_merge_free(m);
    bed_reopen(b);
    return true;
}

/* A merge, with blocks beside it now and then. */
static inline void bed_merge(search_bed *b)
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
            bed_block(b, true);
        MUST(store_write(b->s, true, &c, &none, &err));
        CHECK_INT(text_merge_write(m, c, &err), FENEC_OK);
        MUST(store_write_commit(c, NULL, &ticket, &err));
        if (bed_ends(b, m))
            return;
    } while (rc == FENEC_OK);
    if (bed_below(b, 2))
        bed_block(b, false);
    MUST(store_write(b->s, true, &c, &none, &err));
    text_version *own = text_index_begin(b->v);
    CHECK_INT(text_merge_land(m, own, c, &err), FENEC_OK);
    text_merge_landed(m);
    CHECK_INT(text_index_land(own, c, &err), FENEC_OK);
    MUST(store_write_commit(c, NULL, &ticket, &err));
    text_index_landed(own);
    version_drop(&b->v->head);
    b->v = own;
    do {
        if (bed_ends(b, m))
            return;
        MUST(store_write(b->s, true, &c, &none, &err));
        rc = text_merge_clean(m, c, &err);
        MUST(store_write_commit(c, NULL, &ticket, &err));
    } while (rc == FENEC_OK);
    CHECK_INT(rc, FN_END);
    text_merge_free(m);
}

static inline int bed_filter(void *with, int64_t id, bool *pass, error *err)
{
    (void)err;
    *pass = (uint64_t)id * 2654435761u % 97 < *(uint32_t *)with;
    return FENEC_OK;
}

/* Any history of blocks, merges and reopens, with a look at what is found after each step. */
static inline void bed_history(search_bed *b, void (*look)(search_bed *), long rounds)
{
    for (long i = 0; i < rounds; i++) {
        bed_block(b, true);
        if (bed_below(b, 6) == 0)
            bed_merge(b);
        if (bed_below(b, 10) == 0)
            bed_reopen(b);
        look(b);
    }
}

/* ---- the model: BM25 over whole words, as chapter 4 section 4 has it ---- */

typedef struct bed_query {
    char words[40][12]; /* each once */
    uint32_t times[40];
    uint32_t count;
    char text[40 * 13 * 2];
} bed_query;

static inline void bed_query_draw(search_bed *b, bed_query *q, uint32_t most)
{
    uint32_t count = 1 + bed_below(b, most);
    size_t len = 0;

    *q = (bed_query){0};
    for (uint32_t i = 0; i < count; i++) {
        char word[12];
        uint32_t k = 0;
        bed_word(b, word);
        while (k < q->count && strcmp(q->words[k], word))
            k++;
        if (k == q->count)
            memcpy(q->words[q->count++], word, sizeof word);
        q->times[k]++;
        len += (size_t)snprintf(q->text + len, sizeof q->text - len, "%s ", word);
    }
}

static inline uint32_t bed_count(const bed_text *t, const char *word)
{
    uint32_t n = 0;

    for (int i = 0; t->there && i < t->count; i++)
        n += !strcmp(t->words[i], word);
    return n;
}

static inline int bed_by_rank(const void *a, const void *b)
{
    const best_row *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Every row of the model that a query ranks, best first; answers how many. */
static inline size_t bed_rank(const search_bed *b, const bed_query *q, best_row out[BED_IDS])
{
    double docs = 0, terms = 0, k1 = b->spec.k1_hundredths / 100.0, bb = b->spec.b_hundredths / 100.0;
    double weights[40];
    size_t count = 0;

    for (int id = 1; id <= BED_IDS; id++) {
        docs += b->texts[id].there && b->texts[id].count > 0;
        terms += b->texts[id].there ? b->texts[id].count : 0;
    }
    double average = docs && terms / docs > 1 ? terms / docs : 1;
    for (uint32_t i = 0; i < q->count; i++) {
        double df = 0;
        for (int id = 1; id <= BED_IDS; id++)
            df += bed_count(&b->texts[id], q->words[i]) > 0;
        weights[i] = q->times[i] * log(1 + (docs - df + 0.5) / (df + 0.5)) * (k1 + 1);
    }
    for (int id = 1; id <= BED_IDS; id++) {
        const bed_text *t = &b->texts[id];
        double norm = k1 * (1 - bb) + k1 * bb / average * t->count, sum = 0;
        bool any = false;
        if (norm < k1 * 1e-6)
            norm = k1 * 1e-6;
        for (uint32_t i = 0; i < q->count; i++) {
            uint32_t tf = bed_count(t, q->words[i]);
            any |= tf > 0;
            if (tf)
                sum += (double)(float)(weights[i] * (tf / (tf + norm)));
        }
        if (any)
            out[count++] = (best_row){id, (float)sum};
    }
    qsort(out, count, sizeof *out, bed_by_rank);
    return count;
}

#endif
