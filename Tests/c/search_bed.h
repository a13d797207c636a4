/* search_bed.h - a text index for a test beside a model of it: texts by id, and BM25 worked out from them. */
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
} bed_text;

typedef struct search_bed {
    store *s;
    row_cache *cache;
    text_version *v; /* published */
    index_spec spec;
    bed_text *texts; /* by id, from 1 */
    uint64_t random;
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
}

static inline int bed_source(void *from, int64_t id, const uint8_t **text, size_t *len, error *err)
{
    const search_bed *b = from;

    (void)err;
    if (id < 1 || id > BED_IDS || !b->texts[id].there)
        return FN_END;
    *text = (const uint8_t *)b->texts[id].text;
    *len = strlen(b->texts[id].text);
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
    *b = (search_bed){.spec = {.kind = INDEX_TEXT, .k1_hundredths = 90, .b_hundredths = 40, .prefix_min = 3}};
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
