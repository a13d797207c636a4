/* bench_geo.c - points and collated names: circles over a @geo index beside SQLite's R*Tree with an exact
 * test after it, and the first page of names in Turkish order beside an index with the same ICU collation.
 *
 *   bench_geo [rows]      1000000 without */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "sides.h"

#ifndef FENEC_ICU
#define FENEC_ICU 1
#endif
#if FENEC_ICU
#include <unicode/ucol.h>
#endif

#define PI 3.14159265358979323846
#define EARTH_M 6372797.560856

static long rows = 1000000;
static char folder[] = "/tmp/fenec-bench-geo-XXXXXX";

typedef struct place {
    double lon, lat;
    char name[24];
} place;

/* Half in fifty towns, half anywhere. */
static void draw_place(uint64_t *state, place *p)
{
    static const char *const first[] = {"Ayşe", "cem", "Çağla", "İlker", "ılgaz", "Ömer", "şule", "Uğur", "Zoë", "anna"};
    double u = (double)(draw(state) >> 11) / 9007199254740992.0, v = (double)(draw(state) >> 11) / 9007199254740992.0;

    if (draw(state) % 2) {
        uint64_t town = draw(state) % 50, seed = town + 1;
        double lon = (double)(draw(&seed) % 340) - 170, lat = (double)(draw(&seed) % 120) - 60;
        double far = sqrt(-2 * log(u + 1e-12)) * 0.08;
        p->lon = lon + far * cos(2 * PI * v);
        p->lat = lat + far * sin(2 * PI * v);
    } else {
        p->lon = u * 360 - 180;
        p->lat = asin(2 * v - 1) * 180 / PI;
    }
    snprintf(p->name, sizeof p->name, "%s %07u", first[draw(state) % 10], (unsigned)(draw(state) % 10000000));
}

static double metres(double lon1, double lat1, double lon2, double lat2)
{
    double u = sin((lat2 - lat1) * PI / 360), v = sin((lon2 - lon1) * PI / 360);
    double h = u * u + cos(lat1 * PI / 180) * cos(lat2 * PI / 180) * v * v;

    return 2 * EARTH_M * asin(sqrt(h < 1 ? h : 1));
}

static void call_metres(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_double(c, metres(sqlite3_value_double(v[0]), sqlite3_value_double(v[1]), sqlite3_value_double(v[2]),
                                    sqlite3_value_double(v[3])));
}

static int compare_bytes(void *with, int a_len, const void *a, int b_len, const void *b)
{
    int order = memcmp(a, b, (size_t)(a_len < b_len ? a_len : b_len));

    (void)with;
    return order ? order : a_len - b_len;
}

#if FENEC_ICU
static int compare_names(void *with, int a_len, const void *a, int b_len, const void *b)
{
    UErrorCode status = U_ZERO_ERROR;
    int order = ucol_strcollUTF8(with, a, a_len, b, b_len, &status);

    return order ? order : compare_bytes(NULL, a_len, a, b_len, b);
}

static void add_collation(void)
{
    UErrorCode status = U_ZERO_ERROR;
    UCollator *c = ucol_open("tr", &status);

    ucol_setAttribute(c, UCOL_ALTERNATE_HANDLING, UCOL_NON_IGNORABLE, &status);
    must(U_SUCCESS(status), "ucol_open");
    sqlite3_create_collation(lite, "turkish", SQLITE_UTF8, c, compare_names);
}
#else
static void add_collation(void)
{
    sqlite3_create_collation(lite, "turkish", SQLITE_UTF8, NULL, compare_bytes);
}
#endif

static void fill(void)
{
    enum { EACH = 1000 };
    const char *collate = FENEC_ICU ? " collate tr" : "";
    char *params = malloc(EACH * 120), text[300];
    uint64_t state = 7;
    sample times[4] = {{{0}, 0}};
    place p;

    run("create collection place (name text, loc geo @geo)", "");
    snprintf(text, sizeof text, "create collection person (name text%s @sorted, plain text%s)", collate, collate);
    run(text, "");
    lite_exec("pragma journal_mode=wal; pragma synchronous=off; pragma cache_size=-65536;"
              "create table place (id integer primary key, name text, lon real, lat real);"
              "create table person (id integer primary key, name text, plain text);"
              "create virtual table place_at using rtree(id, west, east, south, north)");
    sqlite3_stmt *row = prepare("insert into place values (?, ?, ?, ?)");
    sqlite3_stmt *at = prepare("insert into place_at values (?, ?, ?, ?, ?)");
    double ours = 0, theirs = 0;
    for (long i = 0; i < rows; i += EACH) {
        char *to = params;
        *to++ = '[';
        *to++ = '[';
        uint64_t again = state;
        for (int k = 0; k < EACH; k++) {
            draw_place(&state, &p);
            to += sprintf(to, "%s{\"name\":\"%s\",\"loc\":[%.9f,%.9f]}", k ? "," : "", p.name, p.lon, p.lat);
        }
        strcpy(to, "]]");
        double start = now_us();
        run("put place $1", params);
        ours += now_us() - start;
        start = now_us();
        lite_exec("begin");
        for (int k = 0; k < EACH; k++) {
            draw_place(&again, &p);
            char number[32];
            double lon = (snprintf(number, sizeof number, "%.9f", p.lon), strtod(number, NULL));
            double lat = (snprintf(number, sizeof number, "%.9f", p.lat), strtod(number, NULL));
            sqlite3_bind_int64(row, 1, i + k + 1);
            sqlite3_bind_text(row, 2, p.name, -1, SQLITE_STATIC);
            sqlite3_bind_double(row, 3, lon);
            sqlite3_bind_double(row, 4, lat);
            sqlite3_bind_int64(at, 1, i + k + 1);
            for (int side = 0; side < 4; side++)
                sqlite3_bind_double(at, 2 + side, side < 2 ? lon : lat);
            must(sqlite3_step(row) == SQLITE_DONE && sqlite3_step(at) == SQLITE_DONE, "insert");
            sqlite3_reset(row);
            sqlite3_reset(at);
        }
        lite_exec("commit");
        theirs += now_us() - start;
    }
    sqlite3_finalize(row);
    sqlite3_finalize(at);
    sample_add(&times[0], ours / (double)rows);
    sample_add(&times[1], theirs / (double)rows);
    compare_print("geo: put with @geo, a row", &times[0], &times[1], 1.0);

    lite_exec("create index person_name on person (name collate turkish)");
    row = prepare("insert into person values (?, ?, ?)");
    ours = theirs = 0;
    for (long i = 0; i < rows; i += EACH) {
        char *to = params + sprintf(params, "[[");
        uint64_t again = state;
        for (int k = 0; k < EACH; k++) {
            draw_place(&state, &p);
            to += sprintf(to, "%s{\"name\":\"%s\",\"plain\":\"%s\"}", k ? "," : "", p.name, p.name);
        }
        strcpy(to, "]]");
        double start = now_us();
        run("put person $1", params);
        ours += now_us() - start;
        start = now_us();
        lite_exec("begin");
        for (int k = 0; k < EACH; k++) {
            draw_place(&again, &p);
            sqlite3_bind_int64(row, 1, i + k + 1);
            sqlite3_bind_text(row, 2, p.name, -1, SQLITE_STATIC);
            sqlite3_bind_text(row, 3, p.name, -1, SQLITE_STATIC);
            must(sqlite3_step(row) == SQLITE_DONE, "insert");
            sqlite3_reset(row);
        }
        lite_exec("commit");
        theirs += now_us() - start;
    }
    sqlite3_finalize(row);
    sample_add(&times[2], ours / (double)rows);
    sample_add(&times[3], theirs / (double)rows);
    compare_print("names: put with a collated @sorted, a row", &times[2], &times[3], 1.0);
    free(params);
}

/* ---- circles ---- */

static char answer[1 << 24];

/* The rows in order of id, as the same JSON. */
static int ask_rtree(sqlite3_stmt *s, double lon, double lat, double r)
{
    double high = r / EARTH_M * 180 / PI * 1.0001, wide = high / cos(lat * PI / 180) * 1.01;
    char *to = answer;
    int count = 0;

    sqlite3_bind_double(s, 1, lon - wide);
    sqlite3_bind_double(s, 2, lon + wide);
    sqlite3_bind_double(s, 3, lat - high);
    sqlite3_bind_double(s, 4, lat + high);
    sqlite3_bind_double(s, 5, lon);
    sqlite3_bind_double(s, 6, lat);
    sqlite3_bind_double(s, 7, r);
    while (sqlite3_step(s) == SQLITE_ROW) {
        int len = sqlite3_column_bytes(s, 0);
        memcpy(to, "{\"name\":\"", 9);
        memcpy(to + 9, sqlite3_column_text(s, 0), (size_t)len);
        memcpy(to + 9 + len, "\"},", 3);
        to += 12 + len;
        count++;
    }
    sqlite3_reset(s);
    return count;
}

static void circles(double r, const char *work, const char *counting, const char *nearest)
{
    enum { ROUNDS = 9, EACH = 40 };
    sqlite3_stmt *s = prepare("select p.name from place_at a join place p on p.id = a.id where a.west >= ?1 and a.east <= ?2 and "
                              "a.south >= ?3 and a.north <= ?4 and metres(p.lon, p.lat, ?5, ?6) <= ?7 order by p.id");
    sqlite3_stmt *n = prepare("select count(*) from place_at a join place p on p.id = a.id where a.west >= ?1 and a.east <= ?2 and "
                              "a.south >= ?3 and a.north <= ?4 and metres(p.lon, p.lat, ?5, ?6) <= ?7");
    sqlite3_stmt *k = prepare("select p.name from place_at a join place p on p.id = a.id where a.west >= ?1 and a.east <= ?2 and "
                              "a.south >= ?3 and a.north <= ?4 and metres(p.lon, p.lat, ?5, ?6) <= ?7 "
                              "order by metres(p.lon, p.lat, ?5, ?6) limit 10");
    sample times[6] = {{{0}, 0}};
    uint64_t state = 11;
    long found = 0;

    for (int round = 0; round < ROUNDS; round++) {
        place at[EACH];
        char params[EACH][120];
        for (int i = 0; i < EACH; i++) {
            do
                draw_place(&state, &at[i]);
            while (fabs(at[i].lat) > 70 || fabs(at[i].lon) > 170);
            snprintf(params[i], sizeof params[i], "[[%.17g,%.17g],%.17g]", at[i].lon, at[i].lat, r);
        }
        double start = now_us();
        for (int i = 0; i < EACH; i++)
            run("get place select name where distance(loc, $1) <= $2", params[i]);
        sample_add(&times[0], (now_us() - start) / EACH);
        start = now_us();
        for (int i = 0; i < EACH; i++)
            found += ask_rtree(s, at[i].lon, at[i].lat, r);
        sample_add(&times[1], (now_us() - start) / EACH);
        start = now_us();
        for (int i = 0; i < EACH; i++)
            run("get place where distance(loc, $1) <= $2 count", params[i]);
        sample_add(&times[2], (now_us() - start) / EACH);
        start = now_us();
        for (int i = 0; i < EACH; i++)
            ask_rtree(n, at[i].lon, at[i].lat, r);
        sample_add(&times[3], (now_us() - start) / EACH);
        start = now_us();
        for (int i = 0; nearest && i < EACH; i++)
            run("get place select name near loc $1 limit 10", params[i]);
        sample_add(&times[4], (now_us() - start) / EACH);
        start = now_us();
        for (int i = 0; nearest && i < EACH; i++)
            ask_rtree(k, at[i].lon, at[i].lat, r);
        sample_add(&times[5], (now_us() - start) / EACH);
    }
    printf("  %.0f rows in a circle of %.0f m\n", (double)found / (ROUNDS * EACH), r);
    compare_print(work, &times[0], &times[1], 0.5);
    compare_print(counting, &times[2], &times[3], 0.5);
    if (nearest)
        compare_print(nearest, &times[4], &times[5], 1.0);
    sqlite3_finalize(s);
    sqlite3_finalize(n);
    sqlite3_finalize(k);
}

/* ---- names ---- */

#if FENEC_ICU
static void page(const char *work, const char *ours, const char *theirs, int each, double target)
{
    sqlite3_stmt *s = prepare(theirs);
    sample a = {0}, b = {0};

    for (int round = 0; round < 5; round++) {
        double start = now_us();
        for (int i = 0; i < each; i++)
            run(ours, "");
        sample_add(&a, (now_us() - start) / each);
        start = now_us();
        for (int i = 0; i < each; i++) {
            char *to = answer;
            while (sqlite3_step(s) == SQLITE_ROW)
                to += sprintf(to, "{\"id\":%lld,\"name\":\"%s\"},", sqlite3_column_int64(s, 0),
                              (const char *)sqlite3_column_text(s, 1));
            sqlite3_reset(s);
        }
        sample_add(&b, (now_us() - start) / each);
    }
    compare_print(work, &a, &b, target);
    sqlite3_finalize(s);
}
#endif

int main(int argc, char **argv)
{
    char path[300], command[400];

    if (argc > 1)
        rows = atol(argv[1]);
    must(mkdtemp(folder) != NULL, "mkdtemp");
    snprintf(path, sizeof path, "%s/ours", folder);
    must(fenec_open((const uint8_t *)path, strlen(path), FENEC_OPEN_NO_SYNC, &db, NULL, NULL) == FENEC_OK, "fenec_open");
    snprintf(path, sizeof path, "%s/theirs", folder);
    must(sqlite3_open(path, &lite) == SQLITE_OK, "sqlite3_open");
    sqlite3_create_function(lite, "metres", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, call_metres, NULL, NULL);
    add_collation();
    printf("%ld places, SQLite %s\n%-44s %12s %12s %8s %8s\n", rows, sqlite3_libversion(), "", "us", "SQLite us", "ratio",
           "target");
    fill();
    circles(1000, "geo: rows in a circle of 1 km", "geo: count in a circle of 1 km", NULL);
    circles(10000, "geo: rows in a circle of 10 km", "geo: count in a circle of 10 km",
            "geo: nearest 10 (SQLite: of those in 10 km)");
    circles(200000, "geo: rows in a circle of 200 km", "geo: count in a circle of 200 km", NULL);
#if FENEC_ICU
    page("names: first 20 in tr, @sorted", "get person select id, name order name limit 20",
         "select id, name from person order by name collate turkish limit 20", 200, 1.5);
    page("names: first 20 in tr, no index", "get person select id, plain order plain limit 20",
         "select id, plain from person order by plain collate turkish limit 20", 1, 1.0);
#endif
    sqlite3_close(lite);
    must(fenec_close(db, NULL, NULL) == FENEC_OK, "fenec_close");
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}
