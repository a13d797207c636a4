/* match_model.h - a database with texts beside a model of them: BM25 worked out document by document, words in any
 * form the index asks for. */
#ifndef MATCH_MODEL_H
#define MATCH_MODEL_H

#include <math.h>

#include "exec_bed.h"

enum { MODEL_DOCS = 2400, MODEL_VOCABULARY = 500, MODEL_WORDS = 24, MODEL_ASKED = 14 };

typedef struct model_doc {
    bool there, has_text;
    int count;
    uint16_t words[MODEL_WORDS];
    int n, m; /* fields to filter by, 0..99 */
} model_doc;

typedef struct match_model {
    bed b;
    const char *path; /* NULL: in memory */
    uint32_t flags;
    char vocabulary[MODEL_VOCABULARY][20]; /* in order of bytes */
    model_doc *docs;                       /* by id, from 1 */
    double k1, b_option;
    int prefix_min, prefix_max; /* 0: off */
    const char *options;
    uint64_t random;
    buffer text;
} match_model;

static inline int model_below(match_model *m, int n)
{
    return (int)(test_random(&m->random) % (uint64_t)n);
}

/* ---- words ---- */

static inline int model_by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Words of 2 to 16 letters, many of which begin others or are an edit or two away from one. */
static inline void model_make_words(match_model *m)
{
    int count = 0;

    while (count < MODEL_VOCABULARY) {
        char word[20];
        int len;
        if (count > 10 && model_below(m, 3)) {
            strcpy(word, m->vocabulary[model_below(m, count)]);
            len = (int)strlen(word);
            int at = model_below(m, len);
            switch (model_below(m, 4)) {
            case 0: word[at] = (char)('a' + model_below(m, 5)); break;
            case 1:
                if (at + 1 < len) {
                    char c = word[at];
                    word[at] = word[at + 1];
                    word[at + 1] = c;
                }
                break;
            case 2:
                if (len > 2)
                    word[--len] = 0;
                break;
            default:
                if (len < 16) {
                    word[len++] = (char)('a' + model_below(m, 5));
                    word[len] = 0;
                }
            }
        } else {
            len = 2 + model_below(m, 15);
            for (int i = 0; i < len; i++)
                word[i] = (char)('a' + model_below(m, 5));
            word[len] = 0;
        }
        bool there = false;
        for (int i = 0; i < count; i++)
            there |= !strcmp(m->vocabulary[i], word);
        if (!there)
            strcpy(m->vocabulary[count++], word);
    }
    qsort(m->vocabulary, MODEL_VOCABULARY, sizeof m->vocabulary[0], model_by_text);
}

/* A word's number: some stand in most texts, most in few. */
static inline int model_word(match_model *m)
{
    int spread = 1 << model_below(m, 10), at = model_below(m, spread) * 37 % MODEL_VOCABULARY;

    return at;
}

static inline void model_draw(match_model *m, model_doc *d)
{
    d->there = true;
    d->has_text = model_below(m, 20) > 0;
    d->count = d->has_text ? model_below(m, MODEL_WORDS) : 0;
    for (int i = 0; i < d->count; i++)
        d->words[i] = (uint16_t)model_word(m);
    d->n = model_below(m, 100);
    d->m = model_below(m, 100);
}

/* Optimal string alignment, as chapter 4 section 5.1 counts edits. */
static inline int model_edits(const char *a, const char *b)
{
    int d[20][20], x = (int)strlen(a), y = (int)strlen(b);

    for (int i = 0; i <= x; i++)
        for (int k = 0; k <= y; k++) {
            if (!i || !k) {
                d[i][k] = i + k;
                continue;
            }
            int least = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            least = d[i - 1][k] + 1 < least ? d[i - 1][k] + 1 : least;
            least = d[i][k - 1] + 1 < least ? d[i][k - 1] + 1 : least;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && d[i - 2][k - 2] + 1 < least)
                least = d[i - 2][k - 2] + 1;
            d[i][k] = least;
        }
    return d[x][y];
}

/* ---- terms ---- */

/* What a document adds to its length with a word: itself and its marked prefixes. */
static inline int model_terms_of(const match_model *m, const char *word)
{
    int len = (int)strlen(word), count = 1;

    for (int k = m->prefix_min; m->prefix_max && k <= m->prefix_max; k++)
        count += k < len;
    return count;
}

static inline int model_length(const match_model *m, const model_doc *d)
{
    int length = 0;

    for (int i = 0; i < d->count; i++)
        length += model_terms_of(m, m->vocabulary[d->words[i]]);
    return length;
}

/* A term of a query and what it stands for: what each word of the vocabulary weighs. */
typedef struct model_term {
    char text[22];
    int times;
    double weights[MODEL_VOCABULARY];
} model_term;

typedef struct model_query {
    char text[MODEL_ASKED * 21];
    int fuzzy;
    bool prefix;
    int count;
    model_term terms[MODEL_ASKED * 12];
} model_query;

static inline void model_add_term(const match_model *m, model_query *q, const char *text, bool is_prefix, bool begins)
{
    int len = (int)strlen(text), most = len < 5 ? 0 : len < 9 ? 1 : 2;
    model_term *t = NULL;

    for (int i = 0; i < q->count && !begins; i++)
        if (!strcmp(q->terms[i].text, text)) {
            q->terms[i].times++;
            return;
        }
    t = &q->terms[q->count++];
    memset(t, 0, sizeof *t);
    strcpy(t->text, text);
    t->times = 1;
    most = q->fuzzy < most ? q->fuzzy : most;
    for (int i = 0; i < MODEL_VOCABULARY; i++) {
        const char *word = m->vocabulary[i];
        if (is_prefix) { /* `^` and the first letters */
            t->weights[i] = (int)strlen(word) > len - 1 && !strncmp(word, text + 1, (size_t)len - 1);
            continue;
        }
        int edits = most ? model_edits(word, text) : 99;
        if (!strcmp(word, text))
            t->weights[i] = 1;
        else if (begins && !strncmp(word, text, (size_t)len))
            t->weights[i] = (double)0.7f;
        else if (edits <= most)
            t->weights[i] = edits == 1 ? (double)0.6f : (double)0.4f;
    }
}

/* Words of the vocabulary, some misspelt; the last is none of the others. */
static inline void model_query_draw(match_model *m, model_query *q, int most)
{
    int count = 1 + model_below(m, most);
    char words[MODEL_ASKED][22];

    *q = (model_query){.fuzzy = model_below(m, 2) ? 0 : 1 + model_below(m, 2), .prefix = model_below(m, 3) == 0};
    for (int i = 0; i < count; i++) {
        strcpy(words[i], m->vocabulary[model_word(m)]);
        if (model_below(m, 4) == 0)
            words[i][model_below(m, (int)strlen(words[i]))] = (char)('a' + model_below(m, 6));
        if (i + 1 == count && q->prefix && strlen(words[i]) > 3)
            words[i][3] = 0;
        for (int k = 0; k < i; k++)
            if (i + 1 == count && !strcmp(words[i], words[k]))
                strcat(words[i], "f");
    }
    for (int i = 0; i < count; i++) {
        int len = (int)strlen(words[i]);
        strcat(strcat(q->text, i ? " " : ""), words[i]);
        model_add_term(m, q, words[i], false, q->prefix && i + 1 == count);
        for (int k = m->prefix_min; m->prefix_max && k <= m->prefix_max && k < len; k++) {
            char marked[22] = "^";
            strncat(marked, words[i], (size_t)k);
            model_add_term(m, q, marked, true, false);
        }
    }
}

/* ---- ranking ---- */

typedef struct model_row {
    int id;
    float score;
} model_row;

static inline int model_by_rank(const void *a, const void *b)
{
    const model_row *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->id - y->id;
}

/* How often a document holds a term, in order of the words' bytes. */
static inline double model_count(const match_model *m, const model_doc *d, const model_term *t)
{
    uint16_t counts[MODEL_VOCABULARY] = {0};
    double sum = 0;

    (void)m;
    for (int i = 0; i < d->count; i++)
        counts[d->words[i]]++;
    for (int i = 0; i < MODEL_VOCABULARY; i++)
        if (counts[i] && t->weights[i] > 0)
            sum += t->weights[i] * counts[i];
    return sum;
}

/* All rows that are ranked, of those that pass; answers how many. */
static inline int model_rank(const match_model *m, const model_query *q, bool (*pass)(const model_doc *d, int id, int with),
                             int with, model_row out[MODEL_DOCS])
{
    double docs = 0, terms = 0, (*counts)[MODEL_ASKED * 12] = malloc((MODEL_DOCS + 1) * sizeof *counts);
    double weights[MODEL_ASKED * 12];
    int found = 0;

    for (int id = 1; id <= MODEL_DOCS; id++) {
        const model_doc *d = &m->docs[id];
        docs += d->there && d->count > 0;
        terms += d->there ? model_length(m, d) : 0;
        for (int i = 0; d->there && i < q->count; i++)
            counts[id][i] = model_count(m, d, &q->terms[i]);
    }
    double average = docs > 0 && terms / docs > 1 ? terms / docs : 1;
    for (int i = 0; i < q->count; i++) {
        double df = 0;
        for (int id = 1; id <= MODEL_DOCS; id++)
            df += m->docs[id].there && counts[id][i] > 0;
        weights[i] = q->terms[i].times * log(1 + (docs - df + 0.5) / (df + 0.5)) * (m->k1 + 1);
    }
    for (int id = 1; id <= MODEL_DOCS; id++) {
        const model_doc *d = &m->docs[id];
        if (!d->there || (pass && !pass(d, id, with)))
            continue;
        double norm = m->k1 * (1 - m->b_option) + m->k1 * m->b_option / average * model_length(m, d), sum = 0;
        bool any = false;
        if (norm < m->k1 * 1e-6)
            norm = m->k1 * 1e-6;
        for (int i = 0; i < q->count; i++)
            if (counts[id][i] > 0) {
                any = true;
                sum += (double)(float)(weights[i] * (counts[id][i] / (counts[id][i] + norm)));
            }
        if (any)
            out[found++] = (model_row){id, (float)sum};
    }
    free(counts);
    qsort(out, (size_t)found, sizeof *out, model_by_rank);
    return found;
}

/* ---- the database ---- */

static inline void model_open(match_model *m)
{
    error_init(&m->b.err);
    CHECK_INT(database_open(&m->b.d, (const uint8_t *)m->path, m->path ? strlen(m->path) : 0, m->flags, &m->b.err),
              FENEC_OK);
}

static inline void model_close(match_model *m)
{
    CHECK_INT(database_close(m->b.d, &m->b.err), FENEC_OK);
    database_free(m->b.d);
}

static inline void model_create(match_model *m)
{
    char text[200];

    snprintf(text, sizeof text, "create collection doc (body text @text(%s), n int @sorted, m int)", m->options);
    bed_do(&m->b, text);
}

static inline void model_init(match_model *m, const char *path, uint32_t flags, const char *options)
{
    *m = (match_model){.path = path, .flags = flags, .k1 = 0.9, .b_option = 0.4, .options = options};
    m->random = test_seed();
    m->docs = calloc(MODEL_DOCS + 1, sizeof *m->docs);
    buffer_init(&m->text);
    model_make_words(m);
    model_open(m);
    model_create(m);
}

static inline void model_end(match_model *m)
{
    model_close(m);
    memory_free(m->b.answer);
    buffer_clear(&m->text);
    free(m->docs);
}

/* A document as JSON, after what stands in m->text. */
static inline void model_write(match_model *m, int id)
{
    const model_doc *d = &m->docs[id];
    char number[80];

    snprintf(number, sizeof number, "{\"id\":%d,\"n\":%d,\"m\":%d,\"body\":", id, d->n, d->m);
    buffer_text(&m->text, number);
    buffer_text(&m->text, d->has_text ? "\"" : "null");
    for (int i = 0; i < d->count; i++) {
        buffer_text(&m->text, i ? " " : "");
        buffer_text(&m->text, m->vocabulary[d->words[i]]);
    }
    buffer_text(&m->text, d->has_text ? "\"}" : "}");
}

/* Writes documents anew, some in a row. The parameters of `put doc $1`. */
static inline const char *model_draw_some(match_model *m, int count)
{
    int first = model_below(m, MODEL_DOCS);
    bool spread = model_below(m, 2);

    m->text.len = 0;
    for (int i = 0; i < count; i++) {
        int id = 1 + (spread ? model_below(m, MODEL_DOCS) : (first + i) % MODEL_DOCS);
        model_draw(m, &m->docs[id]);
        buffer_text(&m->text, i ? "," : "[[");
        model_write(m, id);
    }
    buffer_text(&m->text, "]]");
    buffer_byte(&m->text, 0);
    return (const char *)m->text.bytes;
}

static inline void model_must(match_model *m, const char *text, const char *params)
{
    int code = bed_run(&m->b, text, params, NULL, 0);

    if (code)
        test_failed(__FILE__, __LINE__, "%s: %d %s", text, code, m->b.answer);
}

/* Some blocks; one in four fails at its end and is put back. */
static inline void model_change(match_model *m)
{
    bool fails = model_below(m, 4) == 0;
    model_doc *kept = malloc((MODEL_DOCS + 1) * sizeof *kept);
    char text[300] = "";

    memcpy(kept, m->docs, (MODEL_DOCS + 1) * sizeof *kept);
    int low = 1 + model_below(m, MODEL_DOCS), high = low + model_below(m, 60), set = 1 + model_below(m, MODEL_DOCS);
    const char *params = "[]";
    switch (model_below(m, 6)) {
    case 0:
        snprintf(text, sizeof text, "del doc where id >= %d and id <= %d", low, high);
        for (int id = low; id <= high && id <= MODEL_DOCS; id++)
            m->docs[id].there = false;
        break;
    case 1:
        snprintf(text, sizeof text, "set doc {body: null} where id in [%d, %d]", low, set);
        m->docs[low].has_text = m->docs[set].has_text = false;
        m->docs[low].count = m->docs[set].count = 0;
        break;
    case 2: /* the text stays */
        snprintf(text, sizeof text, "set doc {m: 5} where id >= %d and id <= %d", low, high);
        for (int id = low; id <= high && id <= MODEL_DOCS; id++)
            m->docs[id].m = 5;
        break;
    case 3: /* the same document twice */
        params = model_draw_some(m, 1 + model_below(m, 5));
        strcpy(text, "put doc $1; put doc $1");
        break;
    default:
        params = model_draw_some(m, 1 + model_below(m, 1 + model_below(m, 500)));
        strcpy(text, "put doc $1");
    }
    if (fails)
        strcat(text, "; put doc {id: 1}; insert doc {id: 1}");
    int code = bed_run(&m->b, text, params, NULL, 0);
    if (code != (fails ? FENEC_DUPLICATE : FENEC_OK))
        test_failed(__FILE__, __LINE__, "%s: %d %s", text, code, m->b.answer);
    if (fails)
        memcpy(m->docs, kept, (MODEL_DOCS + 1) * sizeof *kept);
    free(kept);
}

/* The same documents in a collection that gets its index after them. */
static inline void model_index_anew(match_model *m)
{
    char text[200];
    bool any = false;

    bed_do(&m->b, "drop collection doc");
    bed_do(&m->b, "create collection doc (body text, n int @sorted, m int)");
    m->text.len = 0;
    for (int id = 1; id <= MODEL_DOCS; id++) {
        if (!m->docs[id].there)
            continue;
        buffer_text(&m->text, any ? "," : "[[");
        model_write(m, id);
        any = true;
    }
    buffer_text(&m->text, any ? "]]" : "[[]]");
    buffer_byte(&m->text, 0);
    model_must(m, "put doc $1", (const char *)m->text.bytes);
    snprintf(text, sizeof text, "create index on doc (body) @text(%s)", m->options);
    bed_do(&m->b, text);
}

/* ---- comparing ---- */

static inline bool model_passes(const model_doc *d, int id, int with)
{
    switch (with / 1000) {
    case 1: return d->n < with % 1000;
    case 2: return d->m < with % 1000;
    case 3: return d->n < with % 1000 && id > MODEL_DOCS / 2;
    default: return true;
    }
}

/* The rows of a query, from its ranking, against those that are answered. `where` as model_passes numbers them. */
static inline void model_compare(match_model *m, const model_query *q, int where, int offset, int limit)
{
    static model_row rows[MODEL_DOCS];
    char text[300], filter[80], params[MODEL_ASKED * 22], tail[80] = "";
    int count = model_rank(m, q, where ? model_passes : NULL, where, rows), at = offset;

    static const char *const filters[] = {"", "where n < %d", "where m < %d", "where n < %d and id > %d"};
    snprintf(filter, sizeof filter, filters[where / 1000], where % 1000, MODEL_DOCS / 2);
    if (q->fuzzy)
        snprintf(tail, sizeof tail, " fuzzy %d", q->fuzzy);
    snprintf(params, sizeof params, "[\"%s\"]", q->text);
    snprintf(text, sizeof text, "get doc select id %s match body $1%s%s limit %d offset %d", filter, tail,
             q->prefix ? " prefix" : "", limit, offset);
    int want = count < offset + limit ? count : offset + limit;
    for (const char *row = bed_rows(&m->b, text, params); *row; at++) {
        int id = (int)strtol(row + strlen("{\"id\":"), NULL, 10);
        const char *score = strstr(row, "_score\":"), *end = strchr(row, '}');
        float got = score ? strtof(score + strlen("_score\":"), NULL) : -1;
        if (at >= want || rows[at].id != id || rows[at].score != got) {
            test_failed(__FILE__, __LINE__, "row %d of %d of `%s` %s is %d: %.9g, not %d: %.9g", at, want, q->text, text, id,
                        (double)got, at < want ? rows[at].id : 0, at < want ? (double)rows[at].score : 0.0);
            return;
        }
        row = end[1] == ',' ? end + 2 : end + 1;
    }
    if (at < want || (at > want && want > offset))
        test_failed(__FILE__, __LINE__, "%d rows of `%s` %s, not %d", at - offset, q->text, text, want - offset);
}

static inline void model_compare_some(match_model *m, int times)
{
    static const int limits[] = {1, 3, 10, 40, MODEL_DOCS};

    for (int i = 0; i < times; i++) {
        model_query q;
        int kind = model_below(m, 5), offset = model_below(m, 3) ? 0 : model_below(m, 60);
        model_query_draw(m, &q, i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : MODEL_ASKED);
        model_compare(m, &q, kind < 2 ? 0 : (kind - 1) * 1000 + model_below(m, 100), offset, limits[model_below(m, 5)]);
    }
}

#endif
