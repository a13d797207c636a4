#include <math.h>
#include <stdarg.h>

#include "exec_bed.h"

/* ---- near against every vector measured ---- */

enum { DIMENSION = 6, ROWS_MAX = 3000, PAGE_MAX = 400 };

typedef enum metric { COSINE, L2, DOT } metric;

/* What a database is compared with. */
typedef struct model {
    bed b;
    metric metric;
    bool there[ROWS_MAX + 1], has[ROWS_MAX + 1];
    float v[ROWS_MAX + 1][DIMENSION];
    int n[ROWS_MAX + 1]; /* a field to filter by, 0..99 */
    int top;             /* ids are below or at */
    uint64_t state;
} model;

typedef struct rows {
    long long id[PAGE_MAX];
    double score[PAGE_MAX];
    int count;
} rows;

static const char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));
static const char *format(const char *text, ...)
{
    static char out[8][600];
    static int next;
    char *to = out[next++ % 8];
    va_list args;

    va_start(args, text);
    vsnprintf(to, sizeof out[0], text, args);
    va_end(args);
    return to;
}

static int below(model *m, int n)
{
    return (int)(test_random(&m->state) % (uint64_t)n);
}

/* Few of them differ, some are zero. */
static void draw(model *m, float *v, bool coarse)
{
    for (int i = 0; i < DIMENSION; i++)
        v[i] = coarse ? (float)(below(m, 3) - 1) : (float)(below(m, 20001) - 10000) / 4096.0f;
}

static const char *list(const float *v)
{
    return format("[%.9g,%.9g,%.9g,%.9g,%.9g,%.9g]", (double)v[0], (double)v[1], (double)v[2], (double)v[3], (double)v[4],
                  (double)v[5]);
}

static double score(metric how, const float *a, const float *b)
{
    double dot = 0, squares = 0, aa = 0, bb = 0;

    for (int i = 0; i < DIMENSION; i++) {
        dot += (double)a[i] * b[i];
        squares += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        aa += (double)a[i] * a[i];
        bb += (double)b[i] * b[i];
    }
    if (how == COSINE)
        return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : 0;
    return how == L2 ? sqrt(squares) : dot;
}

static bool read_rows(bed *b, const char *text, const char *params, rows *out)
{
    const char *at = bed_rows(b, text, params);

    out->count = 0;
    while ((at = strstr(at, "{\"id\":")) && out->count < PAGE_MAX) {
        if (sscanf(at, "{\"id\":%lld,\"_score\":%lf}", &out->id[out->count], &out->score[out->count]) != 2)
            return false;
        out->count++;
        at++;
    }
    return true;
}

/* The rows of a page: each with its own score, in order, full, and (exactly) none better left out. Answers how
 * many a better page would have had. */
static int check_page(model *m, const rows *r, const float *q, int above, int want, const char *text)
{
    const double sign = m->metric == L2 ? -1 : 1;
    bool answered[ROWS_MAX + 1] = {0};
    int allowed = 0, missed = 0;

    for (int i = 0; i < r->count; i++) {
        long long id = r->id[i];
        if (id < 1 || id > m->top || !m->there[id] || !m->has[id] || m->n[id] < above || answered[id]) {
            test_failed(__FILE__, __LINE__, "%s answers row %lld", text, id);
            return 0;
        }
        answered[id] = true;
        double s = score(m->metric, q, m->v[id]);
        if (fabs(r->score[i] - s) > 2e-6 + fabs(s) * 1e-5)
            test_failed(__FILE__, __LINE__, "%s: the score of row %lld is %.9g, not %.9g", text, id, r->score[i], s);
        if (i && (sign * r->score[i] > sign * r->score[i - 1] ||
                  (r->score[i] == r->score[i - 1] && id < r->id[i - 1])))
            test_failed(__FILE__, __LINE__, "%s: row %lld stands after row %lld", text, id, r->id[i - 1]);
    }
    double worst = r->count ? sign * r->score[r->count - 1] : 0;
    for (int id = 1; id <= m->top; id++) {
        bool may = m->there[id] && m->has[id] && m->n[id] >= above;
        allowed += may;
        missed += may && !answered[id] && r->count && sign * score(m->metric, q, m->v[id]) > worst + 1e-4;
    }
    CHECK_INT(r->count, allowed < want ? allowed : want);
    return missed;
}

static void ask(model *m, bool exact_expected)
{
    static rows r;
    float q[DIMENSION];
    int above = below(m, 3) ? 0 : below(m, 101), want = 1 + below(m, 30);
    bool exact = !below(m, 4);
    char text[1000];

    draw(m, q, !below(m, 3));
    snprintf(text, sizeof text, "get c select id %s near e %s%s limit %d", above ? format("where n >= %d", above) : "",
             list(q), exact ? " exact" : "", want);
    if (!read_rows(&m->b, text, NULL, &r)) {
        test_failed(__FILE__, __LINE__, "%s answers %s", text, m->b.answer);
        return;
    }
    int missed = check_page(m, &r, q, above, want, text);
    if (missed && (exact || exact_expected))
        test_failed(__FILE__, __LINE__, "%s misses %d rows", text, missed);
}

static void put(model *m, int id, bool with_vector)
{
    draw(m, m->v[id], !below(m, 3));
    m->n[id] = below(m, 100);
    m->there[id] = true;
    m->has[id] = with_vector;
    bed_do(&m->b, format("put c {id: %d, n: %d, e: %s}", id, m->n[id], with_vector ? list(m->v[id]) : "null"));
}

static void change(model *m)
{
    int id = 1 + below(m, m->top);

    switch (below(m, 6)) {
    case 0:
        bed_do(&m->b, format("del c where id = %d", id));
        m->there[id] = false;
        break;
    case 1:
        if (!m->there[id])
            break;
        draw(m, m->v[id], false);
        bed_do(&m->b, format("set c {e: %s} where id = %d", list(m->v[id]), id));
        m->has[id] = true;
        break;
    case 2:
        if (!m->there[id])
            break;
        bed_do(&m->b, format("set c {e: null} where id = %d", id));
        m->has[id] = false;
        break;
    case 3:
        if (!m->there[id])
            break;
        m->n[id] = below(m, 100);
        bed_do(&m->b, format("set c {n: %d} where id = %d", m->n[id], id));
        break;
    case 4: put(m, id, below(m, 8) > 0); break;
    default:
        if (m->top < ROWS_MAX)
            put(m, ++m->top, true);
        break;
    }
}

static model *start(const char *index, metric how, bool sorted)
{
    model *m = memory_zeroed(sizeof *m);

    m->metric = how;
    m->state = test_seed();
    bed_open(&m->b);
    bed_do(&m->b, format("create collection c (e vector<6> @hnsw(%s), n int %s)", index, sorted ? "@sorted" : ""));
    return m;
}

static void stop(model *m)
{
    bed_close(&m->b);
    memory_free(m);
}

static void run(const char *index, metric how, bool sorted, int rows_first, int rounds, bool exact_expected)
{
    model *m = start(index, how, sorted);

    for (int i = 0; i < rows_first; i++)
        put(m, ++m->top, below(m, 10) > 0);
    for (int i = 0; i < rounds; i++) {
        for (int k = below(m, 4); k >= 0; k--)
            change(m);
        ask(m, exact_expected);
    }
    stop(m);
}

TEST(near_is_exact_over_no_more_rows_than_its_beam)
{
    long rounds = test_scale(60, 2000);

    run("cosine", COSINE, true, 60, (int)rounds, true);
    run("l2", L2, false, 60, (int)rounds, true);
    run("dot", DOT, true, 60, (int)rounds, true);
    run("cosine, quant=int8", COSINE, true, 60, (int)rounds, true);
    run("l2, quant=int8", L2, false, 60, (int)rounds, true);
    run("dot, quant=int8", DOT, true, 60, (int)rounds, true);
}

TEST(near_fills_its_page_whatever_is_written_between)
{
    int rounds = (int)test_scale(150, 3000), first = (int)test_scale(700, 2000);

    run("cosine, m=4, ef=12", COSINE, true, first, rounds, false);
    run("l2, m=4, ef=12, ef_construction=20", L2, false, first, rounds, false);
    run("dot, m=3, ef=8", DOT, true, first, rounds, false);
    run("cosine, m=4, ef=12, quant=int8", COSINE, false, first, rounds, false);
}

TEST(a_block_sees_its_own_vectors_and_leaves_none_when_put_back)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection c (e vector<2> @hnsw(l2), u int @unique)");
    bed_do(&b, "put c [{e: [1, 0], u: 1}, {e: [5, 0], u: 2}]");
    CHECK_ROWS(&b, "put c {e: [2, 0], u: 3}; set c {e: [9, 0]} where id = 1; get c select id near e [0, 0]",
               "{\"id\":3,\"_score\":2},{\"id\":2,\"_score\":5},{\"id\":1,\"_score\":9}");
    CHECK_CODE(&b, "put c {e: [0, 0], u: 4}; set c {e: [0, 0]} where id = 2; del c where id = 3; put c {e: [0, 1], u: 1}",
               FENEC_DUPLICATE);
    CHECK_ROWS(&b, "get c select id near e [0, 0]",
               "{\"id\":3,\"_score\":2},{\"id\":2,\"_score\":5},{\"id\":1,\"_score\":9}");
    /* Vectors that others have too: their documents were joined to nodes that stay. */
    CHECK_CODE(&b, "put c {id: 7, e: [5, 0], u: 7}; del c where id = 2; put c {e: [0, 1], u: 1}", FENEC_DUPLICATE);
    bed_do(&b, "put c {id: 8, e: [7, 0], u: 8}");
    CHECK_ROWS(&b, "get c select id near e [0, 0]",
               "{\"id\":3,\"_score\":2},{\"id\":2,\"_score\":5},{\"id\":8,\"_score\":7},{\"id\":1,\"_score\":9}");
    bed_close(&b);
}

TEST(equal_vectors_go_by_id_however_they_came)
{
    bed b;
    char want[20000];
    size_t len = 0;

    bed_open(&b);
    bed_do(&b, "create collection c (e vector<2> @hnsw(cosine, ef=10), n int)");
    for (int i = 0; i < 200; i++)
        bed_do(&b, format("put c {id: %d, e: [%d, 0], n: 1}", 1 + (i * 37) % 200, 1 + i % 3));
    for (int i = 1; i <= 150; i++)
        len += (size_t)snprintf(want + len, sizeof want - len, "%s{\"id\":%d,\"_score\":1}", i > 1 ? "," : "", i);
    CHECK_ROWS(&b, "get c select id near e [3, 0] limit 150", want);
    CHECK_ROWS(&b, "get c select id near e [3, 0] limit 2 offset 3", "{\"id\":4,\"_score\":1},{\"id\":5,\"_score\":1}");
    CHECK_ROWS(&b, "get c select id where n = 1 near e [3, 0] limit 1", "{\"id\":1,\"_score\":1}");
    bed_close(&b);
}

TEST(vectors_of_no_length_and_no_number_do_no_harm)
{
    float endless[] = {INFINITY, 0}, none[] = {NAN, 1}, both[] = {-INFINITY, INFINITY};
    const float *all[] = {endless, none, both};
    static const char *const metrics[] = {"cosine", "l2", "dot", "cosine, quant=int8", "l2, quant=int8"};
    bed b;

    for (int i = 0; i < 5; i++) {
        bed_open(&b);
        bed_do(&b, format("create collection c (e vector<2> @hnsw(%s))", metrics[i]));
        bed_do(&b, "put c [{e: [1, 0]}, {e: [0, 0]}, {e: [-1, 0]}]");
        for (int k = 0; k < 3; k++) {
            uint8_t bytes[16] = {0, 0, 0, 0, 2};
            memcpy(bytes + 8, all[k], 8);
            CHECK_INT(bed_run(&b, "put c {e: $1}", "[null]", bytes, sizeof bytes), FENEC_OK);
            CHECK_INT(bed_run(&b, "get c near e $1 limit 3", "[null]", bytes, sizeof bytes), FENEC_OK);
        }
        CHECK_CODE(&b, "get c near e [1, 0] limit 6 require 6", FENEC_OK);
        bed_close(&b);
    }
}

TEST(near_is_answered_from_the_index_and_says_how)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection c (e vector<2> @hnsw(l2, m=2, ef=4), n int @sorted)");
    for (int i = 0; i < 300; i++)
        bed_do(&b, format("put c {e: [%d, %d], n: %d}", i % 17, i / 17, i));
    bed_run(&b, "explain get c near e [1, 1] limit 3", NULL, NULL, 0);
    CHECK(strstr(b.answer, "near: beam 4"));
    bed_run(&b, "explain get c where n < 10 near e [1, 1] limit 3", NULL, NULL, 0);
    CHECK(strstr(b.answer, "filter: ") && strstr(b.answer, "near: the set searched exactly, 10 rows"));
    bed_run(&b, "explain get c near e [1, 1] exact", NULL, NULL, 0);
    CHECK(strstr(b.answer, "near: every vector measured, 300"));
    bed_close(&b);
}
