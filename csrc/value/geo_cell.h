/* geo_cell.h - points in the order of a curve that keeps neighbours together, and the parts of it that hold
 * a box.
 *
 * The world is a grid of 2^24 by 2^24 cells of longitude and latitude (2.4 m by 1.2 m at the equator),
 * numbered along a Hilbert curve, so that a square of 2^n by 2^n of them is one range of numbers. The key of
 * a point is its cell, 6 bytes big-endian, and the point itself, two little-endian doubles: what is exact is
 * told from the key, without the record. */
#ifndef VALUE_GEO_CELL_H
#define VALUE_GEO_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GEO_KEY_LEN 22
#define GEO_CELL_LEN 6
#define GEO_CELL_MAX (((uint64_t)1 << 48) - 1)
#define GEO_COVER_MAX 32

void geo_key(uint8_t out[GEO_KEY_LEN], const double p[2]);
bool geo_key_point(const uint8_t *key, size_t len, double out[2]); /* false: these bytes are no such key */

typedef struct geo_cells {
    uint64_t first, last; /* both in */
} geo_cells;

/* Ascending, apart from each other: every point that is within the box (geo_within) lies in one of them,
 * and points around it do too. How many. */
uint32_t geo_cover(const double box[4], geo_cells out[GEO_COVER_MAX]);

/* A box that holds every point whose geo_distance from p is at most `metres`, and more; west is above east
 * where it crosses the antimeridian. */
void geo_around(const double p[2], double metres, double box[4]);

#endif
