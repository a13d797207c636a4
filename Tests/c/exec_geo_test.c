#include <math.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/thread.h"
#include "catalog/catalog_row.h"
#include "exec_bed.h"
#include "store/conn.h"

#define EARTH_M 6372797.560856L

static double haversine(const double a[2], const double b[2])
{
    const long double degree = 3.14159265358979323846264338327950288L / 180;
    long double u = sinl((b[1] - a[1]) * degree / 2), v = sinl((b[0] - a[0]) * degree / 2);
    long double h = u * u + cosl(a[1] * degree) * cosl(b[1] * degree) * v * v;

    return (double)(2 * EARTH_M * asinl(sqrtl(h < 1 ? h : 1)));
}

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(test_random(state) >> 11) / 9007199254740992.0);
}

/* Half of them in one town, the rest anywhere, some at the edges of the world. */
static void random_point(uint64_t *state, double p[2])
{
    switch (test_random(state) % 8) {
    case 0:
        p[0] = test_random(state) % 2 ? 180 : -180;
        p[1] = between(state, -90, 90);
        break;
    case 1:
        p[0] = between(state, -180, 180);
        p[1] = test_random(state) % 2 ? between(state, 89, 90) : -90;
        break;
    case 2:
    case 3:
        p[0] = between(state, -180, 180);
        p[1] = between(state, -90, 90);
        break;
    default:
        p[0] = between(state, 28.9, 29.1);
        p[1] = between(state, 40.9, 41.1);
        break;
    }
}

static const char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));
static const char *format(const char *text, ...)
{
    static char out[4][1000];
    static int next;
    char *to = out[next++ % 4];
    va_list args;

    va_start(args, text);
    vsnprintf(to, sizeof out[0], text, args);
    va_end(args);
    return to;
}

static void fill(bed *b, int count, double points[][2], uint64_t *state)
{
    bed_do(b, "create collection g (n int, loc geo @geo)");
    bed_do(b, "create collection twin (n int, loc geo)");
    for (int i = 0; i < count; i++) {
        bool none = test_random(state) % 16 == 0;
        random_point(state, points[i]);
        const char *at = none ? "null" : format("[%.17g, %.17g]", points[i][0], points[i][1]);
        if (none)
            points[i][0] = NAN;
        bed_do(b, format("put g {n: %d, loc: %s}; put twin {n: %d, loc: %s}", i % 10, at, i % 10, at));
    }
}

/* The same of both collections, to the byte. */
static void check_twins(bed *b, const char *text)
{
    const char *with = bed_rows(b, format(text, "g"), NULL);
    char *kept = malloc(strlen(with) + 1);

    strcpy(kept, with);
    const char *without = bed_rows(b, format(text, "twin"), NULL);
    if (strcmp(kept, without))
        test_failed(__FILE__, __LINE__, "%s:\n    %s\nnot %s", text, kept, without);
    free(kept);
}

TEST(circles_and_boxes_by_the_index_answer_as_without_one)
{
    enum { ROWS = 1500 };
    static double points[ROWS][2];
    uint64_t state = test_seed();
    bed b;

    bed_open(&b);
    fill(&b, ROWS, points, &state);
    for (int i = 0; i < 300; i++) {
        double p[2], q[2], r = pow(10, between(&state, 0, 7.5));
        random_point(&state, p);
        random_point(&state, q);
        const char *op = test_random(&state) % 2 ? "<" : "<=";
        check_twins(&b, format("get %%s where distance(loc, [%.17g, %.17g]) %s %.17g", p[0], p[1], op, r));
        check_twins(&b, format("get %%s where %.17g > distance([%.17g, %.17g], loc) count", r, p[0], p[1]));
        check_twins(&b, format("get %%s where distance(loc, [%.17g, %.17g]) <= %.0f and n > 4 order n, id desc limit 7", p[0],
                               p[1], r));
        check_twins(&b, format("get %%s where within(loc, [%.17g, %.17g, %.17g, %.17g]) and n < 8", p[0],
                               fmin(p[1], q[1]), q[0], fmax(p[1], q[1])));
        check_twins(&b, format("get %%s where within(loc, [%.17g, %.17g, %.17g, %.17g]) count", p[0], fmin(p[1], q[1]),
                               q[0], fmax(p[1], q[1])));
        check_twins(&b, format("get %%s where not distance(loc, [%.17g, %.17g]) < %.17g limit 20 offset 3", p[0], p[1], r));
    }
    bed_close(&b);
}

TEST(a_circle_has_the_points_that_another_formula_gives_it)
{
    enum { ROWS = 1500 };
    static double points[ROWS][2];
    uint64_t state = test_seed();
    bed b;

    bed_open(&b);
    fill(&b, ROWS, points, &state);
    for (int i = 0; i < 200; i++) {
        double p[2], r = pow(10, between(&state, 1, 7.2));
        int inside = 0, unsure = 0;
        random_point(&state, p);
        for (int k = 0; k < ROWS; k++) {
            double metres = isnan(points[k][0]) ? HUGE_VAL : haversine(points[k], p);
            unsure += fabs(metres - r) < (metres > 19000000 ? 1 : 1e-4);
            inside += metres <= r;
        }
        const char *got = bed_rows(&b, format("get g where distance(loc, [%.17g, %.17g]) <= %.17g count", p[0], p[1], r), NULL);
        if (!unsure)
            CHECK_TEXT(got, format("{\"count\":%d}", inside));
    }
    bed_close(&b);
}

TEST(points_moved_cleared_and_gone_leave_the_index)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection g (name text, loc geo @geo)");
    bed_do(&b, "put g [{name: 'a', loc: [10, 10]}, {name: 'b', loc: [10.001, 10]}, {name: 'c', loc: [50, 50]}]");
    CHECK_ROWS(&b, "get g select name where distance(loc, [10, 10]) < 1000", "{\"name\":\"a\"},{\"name\":\"b\"}");
    bed_do(&b, "set g {loc: [50, 50.001]} where name = 'a'");
    CHECK_ROWS(&b, "get g select name where distance(loc, [10, 10]) < 1000", "{\"name\":\"b\"}");
    CHECK_ROWS(&b, "get g select name where distance(loc, [50, 50]) < 1000", "{\"name\":\"a\"},{\"name\":\"c\"}");
    bed_do(&b, "set g {loc: null} where name = 'c'");
    bed_do(&b, "del g where name = 'b'");
    CHECK_ROWS(&b, "get g select name where distance(loc, [50, 50]) < 1000", "{\"name\":\"a\"}");
    CHECK_ROWS(&b, "get g select name where distance(loc, [10, 10]) < 1000", "");
    CHECK_ROWS(&b, "get g select name near loc [0, 0]", "{\"name\":\"a\",\"_score\":7296005}");
    bed_close(&b);
}

TEST(the_point_index_is_named_by_explain)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection g (loc geo @geo)");
    for (int i = 0; i < 60; i++)
        bed_do(&b, format("put g {loc: [%d, 10]}", i));
    CHECK_ROWS(&b, "explain get g where distance(loc, [7, 10]) < 1000",
               "{\"plan\":\"filter: a point index named 1 rows, which are the answer, 1 matched\"},{\"plan\":\"rows: 1\"}");
    CHECK_ROWS(&b, "explain get g where within(loc, [6, 9, 8, 11]) and id > 2",
               "{\"plan\":\"filter: a point index named 3 rows, candidates to test, 3 matched\"},{\"plan\":\"rows: 3\"}");
    CHECK_ROWS(&b, "explain get g where within(loc, [6, 9, 8, 11]) count",
               "{\"plan\":\"filter: an index counted, no row read\"},{\"plan\":\"count: 3\"}");
    bed_close(&b);
}

TEST(what_no_index_can_answer_is_tested_row_by_row)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection g (loc geo @geo, r float)");
    CHECK_ROWS(&b, "get g where within(loc, [0, 5, 1, 4])", ""); /* tested on no row */
    bed_do(&b, "put g [{loc: [1, 1], r: 5}, {r: 7}]");
    CHECK_CODE(&b, "get g where within(loc, [0, 5, 1, 4])", FENEC_TYPE);
    CHECK_CODE(&b, "get g where distance(loc, [0, 91]) < 5", FENEC_TYPE);
    CHECK_CODE(&b, "get g where distance(loc, 'here') < 5", FENEC_TYPE);
    CHECK_ROWS(&b, "get g select id where distance(loc, null) < 5", "");
    CHECK_ROWS(&b, "get g select id where not within(loc, null)", "{\"id\":1},{\"id\":2}");
    CHECK_ROWS(&b, "get g select id where distance(loc, [1, 1]) < -1", "");
    CHECK_ROWS(&b, "get g select id where distance(loc, [1, 1]) <= r", "{\"id\":1}");
    CHECK_ROWS(&b, "get g select id where distance(loc, [1, 1]) = 0", "{\"id\":1}");
    CHECK_ROWS(&b, "get g select id where distance(loc, [1, 1]) < 'x'", "{\"id\":1}");
    CHECK_ROWS(&b, "get g select id where distance(loc, [1, 1]) <= 0", "{\"id\":1}");
    CHECK_ROWS(&b, "get g select id where distance(loc, [1, 1]) < 0", "");
    CHECK_ROWS_OF(&b, "get g select id where distance(loc, $1) < $2", "[[1, 1], 10]", "{\"id\":1}");
    bed_close(&b);
}

TEST(a_point_index_made_late_holds_what_is_there)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection g (loc geo)");
    for (int i = 0; i < 2500; i += 100) {
        char text[8000], *at = text + sprintf(text, "put g [");
        for (int k = i; k < i + 100; k++)
            at += sprintf(at, "%s{loc: [%d, %d]}", k > i ? ", " : "", k % 180, k % 90);
        sprintf(at, "]");
        bed_do(&b, text);
    }
    bed_do(&b, "create index on g (loc) @geo");
    CHECK_ROWS(&b, "get g where distance(loc, [17, 17]) < 1000 count", "{\"count\":14}");
    CHECK_ROWS(&b, "explain get g where distance(loc, [17, 17]) < 1000",
               "{\"plan\":\"filter: a point index named 14 rows, which are the answer, 14 matched\"},{\"plan\":\"rows: 14\"}");
    CHECK_CODE(&b, "create index on g (loc) @geo", FENEC_EXISTS);
    bed_close(&b);
}

/* ---- files from before ---- */

/* The file as an engine wrote it that kept no points: the index declared, without entries. */
static void declare_only(const char *file)
{
    store_options options = {.path = (const uint8_t *)file, .path_len = strlen(file)};
    buffer row;
    catalog *cat;
    uint64_t ticket;
    version *v;
    store *s;
    conn *c;
    error err;

    error_init(&err);
    CHECK_INT(store_open(&s, &options, &err), FENEC_OK);
    CHECK_INT(store_write(s, true, &c, &v, &err), FENEC_OK);
    CHECK_INT(catalog_load(c, &cat, &err), FENEC_OK);
    collection *of = cat->collections[0];
    for (uint32_t i = 0; i < of->index_count; i++)
        if (of->indexes[i].spec.kind == INDEX_GEO) {
            of->indexes[i].state = INDEX_DECLARED;
            CHECK_INT(table_drop(c, table_index(of->indexes[i].number), &err), FENEC_OK);
        }
    buffer_init(&row);
    catalog_row_write(&row, of);
    CHECK_INT(rows_put(c, table_catalog(), of->number, row.bytes, row.len, &err), FENEC_OK);
    buffer_clear(&row);
    CHECK_INT(store_write_commit(c, NULL, &ticket, &err), FENEC_OK);
    version_drop(&cat->head);
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
}

static void open_file(bed *b, const char *file)
{
    *b = (bed){0};
    error_init(&b->err);
    CHECK_INT(database_open(&b->d, (const uint8_t *)file, strlen(file), 0, &b->err), FENEC_OK);
}

static const char *warm(bed *b, const char *only)
{
    static char out[100];
    buffer answer;

    buffer_init(&answer);
    CHECK_INT(database_warm(b->d, (const uint8_t *)only, strlen(only), &answer, &b->err), FENEC_OK);
    snprintf(out, sizeof out, "%.*s", (int)answer.len, (const char *)answer.bytes);
    buffer_clear(&answer);
    return out;
}

static const char *old_file(const char *name)
{
    static char file[400];
    bed b;

    snprintf(file, sizeof file, "%s/%s", test_folder(), name);
    open_file(&b, file);
    bed_do(&b, "create collection g (n int @hash, loc geo @geo)");
    for (int i = 0; i < 1500; i++)
        bed_do(&b, format("put g {n: %d, loc: [%d, 10]}", i, i % 180));
    bed_close(&b);
    declare_only(file);
    return file;
}

#define EXPLAINED "explain get g where distance(loc, [7, 10]) < 1000"
#define BY_INDEX(n) \
    "{\"plan\":\"filter: a point index named " #n " rows, which are the answer, " #n " matched\"},{\"plan\":\"rows: " #n "\"}"

TEST(an_index_that_a_file_declares_is_built_by_the_first_read)
{
    const char *file = old_file("declared");
    bed b;

    open_file(&b, file);
    bed_do(&b, "put g {loc: [7, 10]}"); /* a write builds nothing */
    bed_do(&b, "create collection other (n int)");
    CHECK_ROWS(&b, "get other", "");
    CHECK_ROWS(&b, EXPLAINED, BY_INDEX(10));
    CHECK_TEXT(warm(&b, ""), "{\"built\":0}");
    bed_do(&b, "del g where n < 900");
    CHECK_ROWS(&b, EXPLAINED, BY_INDEX(5));
    bed_close(&b);
    open_file(&b, file);
    CHECK_ROWS(&b, EXPLAINED, BY_INDEX(5));
    bed_close(&b);
}

TEST(warm_builds_what_a_file_declares)
{
    const char *file = old_file("warmed");
    bed b;

    open_file(&b, file);
    CHECK_TEXT(warm(&b, " other, g.n ,"), "{\"built\":0}");
    CHECK_TEXT(warm(&b, "ghost"), "{\"built\":0}");
    CHECK_TEXT(warm(&b, " g.loc "), "{\"built\":1}");
    CHECK_TEXT(warm(&b, ""), "{\"built\":0}");
    CHECK_ROWS(&b, EXPLAINED, BY_INDEX(9));
    bed_close(&b);
    unlink(file);
    file = old_file("warmed-2");
    open_file(&b, file);
    CHECK_TEXT(warm(&b, "g"), "{\"built\":1}");
    bed_close(&b);
}

/* ---- written while it is built ---- */

typedef struct writing {
    bed b; /* the same database, an answer of its own */
    int failed;
} writing;

static void write_on(void *to)
{
    writing *w = to;
    char text[200];

    for (int i = 0; i < 150; i++) {
        snprintf(text, sizeof text, "put g {n: -1, loc: [%d, 10]}; del g where id = %d; set g {loc: [%d, 10]} where id = %d",
                 i % 180, i * 9 + 1, (i + 90) % 180, i * 7 + 2);
        w->failed += bed_run(&w->b, text, NULL, NULL, 0) != FENEC_OK;
    }
}

TEST(what_is_written_while_an_index_is_built_is_in_it)
{
    const char *file = old_file("busy");
    writing w = {0};
    thread other;
    bed b;

    open_file(&b, file);
    w.b = b;
    CHECK(thread_start(&other, write_on, &w));
    /* Whoever comes first builds it: this call, or a text of the writer's that names the collection. */
    const char *built = warm(&b, "");
    CHECK(strcmp(built, "{\"built\":1}") == 0 || strcmp(built, "{\"built\":0}") == 0);
    thread_join(&other);
    memory_free(w.b.answer);
    CHECK_INT(w.failed, 0);
    for (int lon = 0; lon < 180; lon += 3) {
        const char *by_index = bed_rows(&b, format("get g select id, loc where distance(loc, [%d, 10]) < 1000", lon), NULL);
        char *kept = malloc(strlen(by_index) + 1);
        strcpy(kept, by_index);
        CHECK_TEXT(bed_rows(&b, format("get g select id, loc where distance(loc, [%d, 10]) + 0 < 1000", lon), NULL), kept);
        free(kept);
    }
    bed_close(&b);
}
