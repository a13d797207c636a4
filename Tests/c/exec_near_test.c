#include <math.h>
#include <stdarg.h>

#include "exec_bed.h"

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(test_random(state) >> 11) / 9007199254740992.0);
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

static void places(bed *b)
{
    bed_open(b);
    bed_do(b, "create collection g (name text, kind text @hash, loc geo @geo)");
    bed_do(b, "put g [{name: 'Palermo', kind: 'city', loc: [13.361389, 38.115556]},"
              " {name: 'Catania', kind: 'city', loc: [15.087269, 37.502669]}, {name: 'nowhere', kind: 'none'}]");
}

TEST(near_orders_by_distance_and_tells_it)
{
    bed b;

    places(&b);
    CHECK_ROWS(&b, "get g select name near loc [15, 37] limit 10",
               "{\"name\":\"Catania\",\"_score\":56441.34},{\"name\":\"Palermo\",\"_score\":190442.42}");
    CHECK_ROWS(&b, "get g select name near loc [15, 37] limit 1 offset 1", "{\"name\":\"Palermo\",\"_score\":190442.42}");
    CHECK_ROWS(&b, "get g select name near loc [15, 37] exact limit 1", "{\"name\":\"Catania\",\"_score\":56441.34}");
    CHECK_ROWS(&b, "get g select name where distance(loc, [15, 37]) > 100000 near loc [15, 37]",
               "{\"name\":\"Palermo\",\"_score\":190442.42}");
    CHECK_ROWS(&b, "get g select name where kind = 'none' near loc [15, 37]", "");
    CHECK_ROWS_OF(&b, "get g select id near loc $1 limit $2", "[[15, 37], 1]", "{\"id\":2,\"_score\":56441.34}");
    CHECK_ROWS(&b, "get g select id near loc [15, 37] limit 0", "");
    CHECK_ROWS(&b, "get g select id near loc [15, 37] offset 2", "");
    bed_close(&b);
}

TEST(equal_distances_go_by_id)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection g (loc geo @geo)");
    bed_do(&b, "put g [{id: 9, loc: [1, 0]}, {id: 3, loc: [-1, 0]}, {id: 5, loc: [0, 1]}, {id: 4, loc: [0, 0]}]");
    CHECK_ROWS(&b, "get g near loc [0, 0] select id limit 2", "{\"id\":4,\"_score\":0},{\"id\":3,\"_score\":111226.3}");
    CHECK_ROWS(&b, "get g near loc [0, 0] select id", "{\"id\":4,\"_score\":0},{\"id\":3,\"_score\":111226.3},"
                                                      "{\"id\":5,\"_score\":111226.3},{\"id\":9,\"_score\":111226.3}");
    bed_close(&b);
}

TEST(near_refuses_what_is_no_point_and_pages_beyond_its_ceiling)
{
    bed b;

    places(&b);
    CHECK_CODE(&b, "get g near loc null", FENEC_TYPE);
    CHECK_CODE(&b, "get g near loc [200, 2]", FENEC_TYPE);
    CHECK_CODE(&b, "get g near loc [1, 2, 3]", FENEC_TYPE);
    CHECK_CODE(&b, "get g near loc 'here'", FENEC_TYPE);
    CHECK_CODE(&b, "get g near loc [1, 2] ef 5", FENEC_QUERY);
    CHECK_CODE(&b, "get g near loc [1, 2] limit 10001", FENEC_QUERY);
    CHECK_CODE(&b, "get g near loc [1, 2] limit 5000 offset 5001", FENEC_QUERY);
    CHECK_CODE(&b, "get g near loc [1, 2] offset 10001", FENEC_QUERY);
    CHECK_CODE(&b, "get g near loc [1, 2] limit 5000 offset 5000", FENEC_OK);
    CHECK_CODE(&b, "get g near loc [1, 2] offset 10000", FENEC_OK);
    CHECK_CODE(&b, "get g near loc [1, 2] order name", FENEC_QUERY);
    CHECK_CODE(&b, "get g near loc $1", FENEC_QUERY);
    CHECK_CODE(&b, "get g near ghost [1, 2]", FENEC_QUERY);
    CHECK_CODE(&b, "get ghost near loc [1, 2]", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get g near loc [1, 2] where ghost = 1", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get g near loc [1, 2] require 3", FENEC_UNMET);
    CHECK_CODE(&b, "get g near loc [1, 2] require 2", FENEC_OK);
    bed_close(&b);
}

TEST(near_is_read_by_an_inner_get)
{
    bed b;

    places(&b);
    CHECK_ROWS(&b, "get g select name where id in (get g select id near loc [15, 37] limit 1)", "{\"name\":\"Catania\"}");
    bed_close(&b);
}

TEST(explain_tells_how_the_nearest_were_found)
{
    bed b;

    places(&b);
    CHECK_ROWS(&b, "explain get g near loc [15, 37] limit 1",
               "{\"plan\":\"filter: none\"},{\"plan\":\"near: the point index walked outwards, 1 points measured\"},"
               "{\"plan\":\"rows: 1\"}");
    CHECK_ROWS(&b, "explain get g near loc [15, 37] exact",
               "{\"plan\":\"filter: none\"},{\"plan\":\"near: every point measured, 2\"},{\"plan\":\"rows: 2\"}");
    bed_close(&b);
}

/* Walked outwards, measured without an index, measured because it was asked for: one answer. */
TEST(near_answers_alike_with_an_index_without_and_exactly)
{
    enum { ROWS = 3000 };
    uint64_t state = test_seed();
    char text[200];
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection g (n int, k int @hash, loc geo @geo); create collection twin (n int, k int, loc geo)");
    for (int i = 0; i < ROWS; i++) {
        double lon = i % 3 ? between(&state, 28.9, 29.1) : between(&state, -180, 180);
        double lat = i % 3 ? between(&state, 40.9, 41.1) : between(&state, -90, 90);
        const char *at = i % 20 == 7 ? "null" : i % 50 == 8 ? "[180, 0]" : i % 50 == 9 ? "[-180, 0]" : format("[%.17g, %.17g]", lon, lat);
        bed_do(&b, format("put g {n: %d, k: %d, loc: %s}; put twin {n: %d, k: %d, loc: %s}", i % 100, i % 40, at, i % 100,
                          i % 40, at));
    }
    for (int i = 0; i < 200; i++) {
        static const char *const filters[] = {"", "where n < 3", "where k = 5", "where n = 7 and k < 20", "where id > 2900",
                                              "where within(loc, [28, 40, 29, 41])", "where distance(loc, [0, 0]) < 2000000"};
        double lon = i % 2 ? between(&state, 28.8, 29.2) : i % 5 ? between(&state, -180, 180) : 180;
        double lat = i % 2 ? between(&state, 40.8, 41.2) : i % 7 ? between(&state, -90, 90) : 90;
        const char *where = filters[test_random(&state) % 7];
        int limit = (int)(test_random(&state) % 3 ? test_random(&state) % 20 : test_random(&state) % 4000);
        snprintf(text, sizeof text, "%s near loc [%.17g, %.17g]", where, lon, lat);
        const char *page = test_random(&state) % 4 ? format("limit %d offset %d", limit, limit / 3) : "";
        const char *indexed = bed_rows(&b, format("get g %s %s", text, page), NULL);
        char *kept = malloc(strlen(indexed) + 1);
        strcpy(kept, indexed);
        CHECK_TEXT(bed_rows(&b, format("get twin %s %s", text, page), NULL), kept);
        CHECK_TEXT(bed_rows(&b, format("get g %s exact %s", text, page), NULL), kept);
        free(kept);
    }
    bed_close(&b);
}
