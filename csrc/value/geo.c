#include "value/geo.h"

#include <math.h>

#include "value/packed.h"

/* Every step below is one rounding to a double and no two are fused: a point on the edge of a radius is
 * in or out alike on every device. The build says -ffp-contract=off; this holds where it does not. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define PI 3.141592653589793
#define EARTH_RADIUS_M 6372797.560856

/* Taylor coefficients, each the double nearest to it, lowest power first. */
static const double sin_terms[] = {
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362880.0,
    -1.0 / 39916800.0,
    1.0 / 6227020800.0,
    -1.0 / 1307674368000.0,
    1.0 / 355687428096000.0,
};
static const double cos_terms[] = {
    1.0,
    -1.0 / 2.0,
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40320.0,
    -1.0 / 3628800.0,
    1.0 / 479001600.0,
    -1.0 / 87178291200.0,
    1.0 / 20922789888000.0,
    -1.0 / 6402373705728000.0,
};
/* (2k)! / (4^k (k!)^2 (2k + 1)) */
static const double asin_terms[] = {
    1.0,
    0.16666666666666666,
    0.075,
    0.044642857142857144,
    0.030381944444444444,
    0.022372159090909092,
    0.017352764423076924,
    0.01396484375,
    0.011551800896139705,
    0.009761609529194078,
    0.008390335809616815,
    0.0073125258735988454,
    0.006447210311889649,
    0.005740037670841924,
    0.005153309682319905,
    0.004660143486915096,
    0.004240907093679363,
    0.003880964558837669,
    0.0035692053938259347,
    0.003297059503473485,
    0.0030578216492580306,
    0.002846178401108942,
    0.00265787063820729,
    0.0024894486782468836,
    0.002338091892111975,
};

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static double horner(const double terms[], int count, double u)
{
    double sum = terms[count - 1];

    for (int i = count - 2; i >= 0; i--)
        sum = sum * u + terms[i];
    return sum;
}

static double sin_series(double x)
{
    return x * horner(sin_terms, COUNT(sin_terms), x * x);
}

static double cos_series(double x)
{
    return horner(cos_terms, COUNT(cos_terms), x * x);
}

static double asin_series(double s)
{
    return s * horner(asin_terms, COUNT(asin_terms), s * s);
}

/* |x| <= pi, as for the next. */
static double sine(double x)
{
    double a = fabs(x);

    if (a > PI / 2)
        a = PI - a;
    double y = a <= PI / 4 ? sin_series(a) : cos_series(PI / 2 - a);
    return x < 0 ? -y : y;
}

static double cosine(double x)
{
    double a = fabs(x);
    bool negative = a > PI / 2;

    if (negative)
        a = PI - a;
    double y = a <= PI / 4 ? cos_series(a) : sin_series(PI / 2 - a);
    return negative ? -y : y;
}

/* 0 <= y <= 1 */
static double arcsine(double y)
{
    return y <= 0.5 ? asin_series(y) : PI / 2 - 2 * asin_series(sqrt((1 - y) * 0.5));
}

static double radians(double degrees)
{
    return degrees * (PI / 180);
}

double geo_distance(const double a[2], const double b[2])
{
    double dl = b[0] - a[0];

    if (dl > 180)
        dl -= 360;
    if (dl < -180)
        dl += 360;
    double p1 = radians(a[1]), p2 = radians(b[1]);
    double u = sine((p2 - p1) / 2), v = sine(radians(dl) / 2);
    double h = u * u + cosine(p1) * cosine(p2) * (v * v);
    if (h > 1)
        h = 1;
    return 2 * EARTH_RADIUS_M * arcsine(sqrt(h));
}

bool geo_within(const double p[2], const double box[4])
{
    double west = box[0], south = box[1], east = box[2], north = box[3];

    if (p[1] < south || p[1] > north)
        return false;
    return west <= east ? p[0] >= west && p[0] <= east : p[0] >= west || p[0] <= east;
}

/* Whether v is a list of `count` ints and floats; then into out. */
static bool numbers_of(const value *v, double out[], uint32_t count)
{
    packed_iter it;
    value x;

    if (v->kind != VALUE_LIST || v->count != count)
        return false;
    packed_iterate(&it, v);
    for (uint32_t i = 0; i < count; i++) {
        if (packed_next(&it, &x, NULL) != FENEC_OK)
            return false;
        if (x.kind == VALUE_INT)
            out[i] = (double)x.integer;
        else if (x.kind == VALUE_FLOAT)
            out[i] = x.number + 0.0; /* -0 becomes 0 */
        else
            return false;
    }
    return true;
}

static bool in_range(const double p[2])
{
    return p[0] >= -180 && p[0] <= 180 && p[1] >= -90 && p[1] <= 90;
}

int geo_point(const value *v, double out[2], error *err)
{
    char quoted[VALUE_QUOTE_MAX];
    double p[2];

    if (v->kind == VALUE_POINT) {
        p[0] = v->point[0] + 0.0;
        p[1] = v->point[1] + 0.0;
    } else if (!numbers_of(v, p, 2)) {
        return fail(err, FENEC_TYPE, "%s is no point [longitude, latitude]", value_quote(quoted, v));
    }
    if (!in_range(p))
        return fail(err, FENEC_TYPE, "point %s is out of range: longitude -180 to 180, latitude -90 to 90",
                    value_quote(quoted, v));
    out[0] = p[0];
    out[1] = p[1];
    return FENEC_OK;
}

int geo_box(const value *v, double out[4], error *err)
{
    char quoted[VALUE_QUOTE_MAX];
    double box[4];

    if (!numbers_of(v, box, 4))
        return fail(err, FENEC_TYPE, "%s is no box [west, south, east, north]", value_quote(quoted, v));
    if (!in_range(box) || !in_range(box + 2))
        return fail(err, FENEC_TYPE,
                    "a corner of box %s is out of range: longitude -180 to 180, latitude -90 to 90",
                    value_quote(quoted, v));
    if (box[1] > box[3])
        return fail(err, FENEC_TYPE, "box %s has its south above its north", value_quote(quoted, v));
    for (int i = 0; i < 4; i++)
        out[i] = box[i];
    return FENEC_OK;
}
