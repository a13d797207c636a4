#include "value/geo_cell.h"

#include <math.h>

#include "test.h"
#include "value/geo.h"

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(test_random(state) >> 11) / 9007199254740992.0);
}

/* Points anywhere, at the poles, at the antimeridian, at the edges of cells. */
static void random_point(uint64_t *state, double p[2])
{
    static const double lons[] = {-180, 180, 0, 90, -90, 179.9999999, -179.9999999, 45};
    static const double lats[] = {-90, 90, 0, 45, 89.9999999, -89.9999999, 22.5};

    p[0] = test_random(state) % 4 ? between(state, -180, 180) : lons[test_random(state) % 8];
    p[1] = test_random(state) % 4 ? between(state, -90, 90) : lats[test_random(state) % 7];
}

static uint64_t cell_of(const double p[2])
{
    uint8_t key[GEO_KEY_LEN];
    uint64_t cell = 0;

    geo_key(key, p);
    for (int i = 0; i < GEO_CELL_LEN; i++)
        cell = cell << 8 | key[i];
    return cell;
}

static bool covers(const geo_cells *cells, uint32_t count, const double p[2])
{
    uint64_t cell = cell_of(p);

    for (uint32_t i = 0; i < count; i++)
        if (cell >= cells[i].first && cell <= cells[i].last)
            return true;
    return false;
}

static void check_order(const geo_cells *cells, uint32_t count)
{
    CHECK(count >= 1 && count <= GEO_COVER_MAX);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(cells[i].first <= cells[i].last && cells[i].last <= GEO_CELL_MAX);
        CHECK(i == 0 || cells[i - 1].last < cells[i].first);
    }
}

TEST(a_points_key_gives_the_point_back)
{
    uint64_t state = test_seed();

    for (int i = 0; i < 20000; i++) {
        uint8_t key[GEO_KEY_LEN];
        double p[2], q[2];
        random_point(&state, p);
        geo_key(key, p);
        CHECK(geo_key_point(key, sizeof key, q));
        CHECK(p[0] == q[0] && p[1] == q[1]);
    }
}

TEST(bytes_that_are_no_points_key_are_told)
{
    uint8_t key[GEO_KEY_LEN + 1] = {0};
    double p[2] = {1, 2};

    geo_key(key, p);
    CHECK(!geo_key_point(key, sizeof key, p));
    CHECK(!geo_key_point(key, GEO_KEY_LEN - 1, p));
    CHECK(!geo_key_point(key, 0, p));
    memset(key + GEO_CELL_LEN, 0xFF, 16); /* NaN */
    CHECK(!geo_key_point(key, GEO_KEY_LEN, p));
}

TEST(neighbours_on_the_curve_are_neighbours_on_the_earth)
{
    uint64_t state = test_seed();

    /* A square of 2^n by 2^n cells is one range: its corners share the digits above. */
    for (int i = 0; i < 2000; i++) {
        double size = 360.0 / (1 << 10), p[2], q[2];
        p[0] = floor(between(&state, -512, 512)) * size + size * 0.25;
        p[1] = floor(between(&state, -512, 512)) * (size / 2) + size * 0.125;
        q[0] = p[0] + size * 0.5;
        q[1] = p[1] + size * 0.25;
        CHECK(cell_of(p) >> 28 == cell_of(q) >> 28);
    }
}

TEST(a_cover_holds_every_point_of_its_box)
{
    uint64_t state = test_seed();
    geo_cells cells[GEO_COVER_MAX];

    for (int i = 0; i < 5000; i++) {
        double a[2], b[2], size = pow(10, between(&state, -6, 2.5));
        random_point(&state, a);
        b[0] = a[0] + between(&state, 0, size);
        b[1] = a[1] + between(&state, 0, size);
        if (b[0] > 180)
            b[0] = b[0] > 540 ? 180 : b[0] - 360;
        if (b[1] > 90)
            b[1] = 90;
        const double box[4] = {a[0], a[1], b[0], b[1]};
        uint32_t count = geo_cover(box, cells);
        check_order(cells, count);
        CHECK(covers(cells, count, a) && covers(cells, count, b));
        for (int k = 0; k < 20; k++) {
            double p[2];
            random_point(&state, p);
            if (k % 2 && box[0] <= box[2]) {
                p[0] = between(&state, box[0], box[2]);
                p[1] = between(&state, box[1], box[3]);
            }
            if (geo_within(p, box))
                CHECK(covers(cells, count, p));
        }
    }
}

TEST(a_small_box_has_a_small_cover)
{
    const double box[4] = {28.97, 41.00, 28.98, 41.01};
    geo_cells cells[GEO_COVER_MAX];
    uint32_t count = geo_cover(box, cells);
    double all = 0;

    for (uint32_t i = 0; i < count; i++)
        all += (double)(cells[i].last - cells[i].first + 1);
    /* 466 by 932 cells, and what lies around them. */
    CHECK(all < 2.5 * 466 * 932);
}

TEST(the_box_around_a_circle_holds_the_circle)
{
    uint64_t state = test_seed();

    for (int i = 0; i < 50000; i++) {
        double from[2], p[2], box[4];
        random_point(&state, from);
        if (i % 2) { /* near, over the edges too */
            double reach = pow(10, between(&state, -7, 1.5));
            p[0] = from[0] + between(&state, -reach, reach);
            p[1] = from[1] + between(&state, -reach, reach);
            if (p[0] > 180)
                p[0] -= 360;
            if (p[0] < -180)
                p[0] += 360;
            if (p[1] > 90)
                p[1] = 90;
            if (p[1] < -90)
                p[1] = -90;
        } else {
            random_point(&state, p);
        }
        /* A circle with the point on its very edge. */
        geo_around(from, geo_distance(from, p), box);
        CHECK(box[0] >= -180 && box[0] <= 180 && box[2] >= -180 && box[2] <= 180);
        CHECK(box[1] >= -90 && box[1] <= box[3] && box[3] <= 90);
        if (!geo_within(p, box))
            test_failed(__FILE__, __LINE__, "[%.17g, %.17g] is not in the box around [%.17g, %.17g]", p[0], p[1],
                        from[0], from[1]);
    }
}

TEST(a_circle_over_a_pole_is_every_longitude)
{
    double box[4];

    geo_around((double[]){10, 89.9}, 20000, box);
    CHECK(box[0] == -180 && box[2] == 180 && box[3] == 90);
    geo_around((double[]){10, 0}, 1e300, box);
    CHECK(box[0] == -180 && box[1] == -90 && box[2] == 180 && box[3] == 90);
    geo_around((double[]){179.9, 10}, 50000, box);
    CHECK(box[0] > 179 && box[2] < -179);
}
