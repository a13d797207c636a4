#include "value/geo.h"

#include <math.h>

#include "value_make.h"

/* By an arcsine of more digits than a double has. */
static double haversine(const double a[2], const double b[2])
{
    const long double degree = 3.14159265358979323846264338327950288L / 180;
    long double u = sinl((b[1] - a[1]) * degree / 2), v = sinl((b[0] - a[0]) * degree / 2);
    long double h = u * u + cosl(a[1] * degree) * cosl(b[1] * degree) * v * v;

    return (double)(2 * 6372797.560856L * asinl(sqrtl(h < 1 ? h : 1)));
}

TEST(distance_is_that_of_chapter_3_to_the_last_digit)
{
    const double palermo[2] = {13.361389, 38.115556}, catania[2] = {15.087269, 37.502669};

    CHECK(geo_distance(palermo, catania) == 166274.2577914073);
    CHECK(geo_distance(catania, palermo) == 166274.2577914073);
}

TEST(distance_goes_the_short_way_round)
{
    const double east[2] = {180, 10}, west[2] = {-180, 10}, zero[2] = {0, 0}, one[2] = {1, 0},
        across[2] = {180, 0};
    const double a[2] = {179.5, 0}, b[2] = {-179.5, 0}, north[2] = {17, 90}, south[2] = {-170, -90};

    CHECK(geo_distance(east, west) == 0);
    CHECK(fabs(geo_distance(zero, one) - 111226.3) < 0.05);
    CHECK(fabs(geo_distance(a, b) - 111226.3) < 0.05);
    CHECK(fabs(geo_distance(zero, across) - 20020734) < 0.5);
    CHECK(fabs(geo_distance(north, south) - 20020734) < 0.5);
    CHECK(geo_distance(one, one) == 0);
}

TEST(distance_agrees_with_the_exact_haversine_and_is_symmetric)
{
    uint64_t state = test_seed();

    for (int i = 0; i < 20000; i++) {
        double p[2], q[2];
        for (int k = 0; k < 2; k++) {
            p[k] = ((double)test_random(&state) / 18446744073709551616.0 - 0.5) * (k ? 180 : 360);
            q[k] = ((double)test_random(&state) / 18446744073709551616.0 - 0.5) * (k ? 180 : 360);
        }
        double got = geo_distance(p, q), want = haversine(p, q);
        CHECK(got == geo_distance(q, p));
        /* Near the antipode the arcsine magnifies the last digit of h. */
        if (fabs(got - want) > (want < 19000000 ? 1e-5 : 0.5))
            test_failed(__FILE__, __LINE__, "%.17g is not %.17g", got, want);
    }
}

TEST(boxes_hold_their_edges_and_cross_the_antimeridian)
{
    const double box[4] = {10, 20, 30, 40}, crossing[4] = {170, -10, -170, 10};

    CHECK(geo_within((double[]){10, 20}, box) && geo_within((double[]){30, 40}, box));
    CHECK(geo_within((double[]){15, 30}, box));
    CHECK(!geo_within((double[]){9.999, 30}, box) && !geo_within((double[]){30.001, 30}, box));
    CHECK(!geo_within((double[]){15, 19.999}, box) && !geo_within((double[]){15, 40.001}, box));
    CHECK(geo_within((double[]){180, 0}, crossing) && geo_within((double[]){-180, 0}, crossing));
    CHECK(geo_within((double[]){170, 10}, crossing) && geo_within((double[]){-170, -10}, crossing));
    CHECK(!geo_within((double[]){0, 0}, crossing) && !geo_within((double[]){180, 11}, crossing));
}

static int box_code(arena *a, double west, double south, double east, double north)
{
    double out[4];
    error err;
    value v = LIST(a, value_float(west), value_float(south), value_float(east), value_float(north));

    return geo_box(&v, out, &err);
}

TEST(boxes_and_points_out_of_shape_are_refused)
{
    arena a;
    double out[4];
    error err;

    arena_init(&a);
    CHECK_INT(box_code(&a, 170, -10, -170, 10), FENEC_OK);
    CHECK_INT(box_code(&a, 0, 10, 1, 10), FENEC_OK);
    CHECK_INT(box_code(&a, 0, 11, 1, 10), FENEC_TYPE);
    CHECK_INT(box_code(&a, -181, 0, 1, 10), FENEC_TYPE);
    CHECK_INT(box_code(&a, 0, 0, 1, 91), FENEC_TYPE);
    CHECK_INT(box_code(&a, NAN, 0, 1, 10), FENEC_TYPE);
    value v = LIST(&a, value_int(0), value_int(0), value_int(1));
    CHECK_INT(geo_box(&v, out, &err), FENEC_TYPE);
    v = make_text("box");
    CHECK_INT(geo_box(&v, out, &err), FENEC_TYPE);
    v = value_null();
    CHECK_INT(geo_point(&v, out, &err), FENEC_TYPE);
    v = LIST(&a, value_int(180), value_int(-90));
    CHECK_INT(geo_point(&v, out, &err), FENEC_OK);
    CHECK(out[0] == 180 && out[1] == -90);
    v = LIST(&a, value_float(-0.0), value_float(-0.0));
    CHECK_INT(geo_point(&v, out, &err), FENEC_OK);
    CHECK(!signbit(out[0]) && !signbit(out[1]));
    v = LIST(&a, value_float(180.0000001), value_int(0));
    CHECK_INT(geo_point(&v, out, &err), FENEC_TYPE);
    CHECK(strstr(err.message, "180.0000001"));
    arena_clear(&a);
}
