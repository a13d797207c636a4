/* geo.h - points, boxes and the distance between them, alike on every machine (chapter 3 section 14). */
#ifndef VALUE_GEO_H
#define VALUE_GEO_H

#include "base/error.h"
#include "value/value.h"

/* A point from a point or a list of two numbers; -0 becomes 0. FENEC_TYPE names the value. */
int geo_point(const value *v, double out[2], error *err);
/* [west, south, east, north], checked. FENEC_TYPE. */
int geo_box(const value *v, double out[4], error *err);
double geo_distance(const double a[2], const double b[2]); /* metres */
bool geo_within(const double p[2], const double box[4]);

#endif
