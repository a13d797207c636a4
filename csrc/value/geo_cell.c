#include "value/geo_cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "value/geo.h"

#define LEVELS 24
#define GRID ((uint32_t)1 << LEVELS)
#define PI 3.14159265358979323846
#define EARTH_RADIUS_M 6372797.560856
/* What geo_distance may be wrong by, in radians of arc, and more: near the other side of the earth it loses
 * half its digits. */
#define SLACK 1e-7

/* ---- the curve: a square of the grid is four, walked in an order that its own orientation gives ---- */

enum { SWAPPED = 1, TURNED = 2 };

static const uint8_t quarter_at[4][4] = {{0, 1, 3, 2}, {0, 2, 3, 1}, {3, 2, 0, 1}, {3, 1, 0, 2}}; /* 2x + y */
static const uint8_t place_of[4][4] = {{0, 1, 3, 2}, {0, 3, 1, 2}, {2, 3, 1, 0}, {2, 1, 3, 0}};
static const uint8_t turn_at[4] = {SWAPPED, 0, 0, SWAPPED | TURNED};

static uint32_t column_of(double lon)
{
    double at = (lon + 180) / 360 * GRID;

    return at >= GRID ? GRID - 1 : at > 0 ? (uint32_t)at : 0;
}

static uint32_t line_of(double lat)
{
    double at = (lat + 90) / 180 * GRID;

    return at >= GRID ? GRID - 1 : at > 0 ? (uint32_t)at : 0;
}

static uint64_t cell_of(const double p[2])
{
    uint32_t x = column_of(p[0]), y = line_of(p[1]);
    unsigned turned = 0;
    uint64_t cell = 0;

    for (int bit = LEVELS - 1; bit >= 0; bit--) {
        unsigned place = place_of[turned][(x >> bit & 1) << 1 | (y >> bit & 1)];
        cell = cell << 2 | place;
        turned ^= turn_at[place];
    }
    return cell;
}

void geo_key(uint8_t out[GEO_KEY_LEN], const double p[2])
{
    uint8_t cell[8];

    bytes_put_big_u64(cell, cell_of(p) << 16);
    memcpy(out, cell, GEO_CELL_LEN);
    bytes_put_f64(out + GEO_CELL_LEN, p[0]);
    bytes_put_f64(out + GEO_CELL_LEN + 8, p[1]);
}

bool geo_key_point(const uint8_t *key, size_t len, double out[2])
{
    if (len != GEO_KEY_LEN)
        return false;
    out[0] = bytes_f64(key + GEO_CELL_LEN);
    out[1] = bytes_f64(key + GEO_CELL_LEN + 8);
    return out[0] >= -180 && out[0] <= 180 && out[1] >= -90 && out[1] <= 90;
}

/* ---- covering ---- */

/* Of the grid, both ends in. */
typedef struct rect {
    uint32_t west, south, east, north;
} rect;

/* 2^-level of the grid in each direction. */
typedef struct square {
    uint32_t x, y;
    uint64_t place;
    unsigned turned;
} square;

typedef enum overlap { APART, PARTLY, WHOLLY } overlap;

static overlap overlap_of(const rect *r, uint32_t count, const square *s, int level)
{
    int shift = LEVELS - level;
    uint32_t west = s->x << shift, south = s->y << shift, size = ((uint32_t)1 << shift) - 1;
    uint32_t east = west + size, north = south + size;
    overlap found = APART;

    for (uint32_t i = 0; i < count; i++) {
        if (west > r[i].east || east < r[i].west || south > r[i].north || north < r[i].south)
            continue;
        if (west >= r[i].west && east <= r[i].east && south >= r[i].south && north <= r[i].north)
            return WHOLLY;
        found = PARTLY;
    }
    return found;
}

static geo_cells cells_of(const square *s, int level)
{
    int shift = 2 * (LEVELS - level);
    uint64_t first = s->place << shift;

    return (geo_cells){first, first + (((uint64_t)1 << shift) - 1)};
}

static int by_first(const void *a, const void *b)
{
    const geo_cells *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

static uint32_t joined(geo_cells *cells, uint32_t count)
{
    uint32_t kept = 0;

    qsort(cells, count, sizeof *cells, by_first);
    for (uint32_t i = 0; i < count; i++)
        if (kept && cells[kept - 1].last + 1 == cells[i].first)
            cells[kept - 1].last = cells[i].last;
        else
            cells[kept++] = cells[i];
    return kept;
}

/* Squares of one level that lie across the edge of the box are cut into four, as long as there is room. */
uint32_t geo_cover(const double box[4], geo_cells out[GEO_COVER_MAX])
{
    uint32_t west = column_of(box[0]), south = line_of(box[1]), east = column_of(box[2]), north = line_of(box[3]);
    bool crosses = box[0] > box[2];
    const rect parts[2] = {{west, south, crosses ? GRID - 1 : east, north}, {0, south, east, north}};
    const uint32_t part_count = crosses ? 2 : 1;
    square across[GEO_COVER_MAX] = {{0, 0, 0, 0}}, next[GEO_COVER_MAX];
    uint32_t count = 1, whole = 0;
    int level = 0;

    while (count && level < LEVELS) {
        uint32_t found = 0, before = whole;
        bool fits = true;
        for (uint32_t i = 0; fits && i < count; i++)
            for (unsigned place = 0; fits && place < 4; place++) {
                const square *s = &across[i];
                unsigned quarter = quarter_at[s->turned][place];
                square q = {s->x << 1 | quarter >> 1, s->y << 1 | (quarter & 1), s->place << 2 | place,
                            s->turned ^ turn_at[place]};
                overlap how = overlap_of(parts, part_count, &q, level + 1);
                if (how == APART)
                    continue;
                fits = whole + found < GEO_COVER_MAX;
                if (fits && how == WHOLLY)
                    out[whole++] = cells_of(&q, level + 1);
                else if (fits)
                    next[found++] = q;
            }
        if (!fits) {
            whole = before;
            break;
        }
        memcpy(across, next, found * sizeof *next);
        count = found;
        level++;
    }
    for (uint32_t i = 0; i < count; i++)
        out[whole++] = cells_of(&across[i], level);
    return joined(out, whole);
}

/* ---- around a point ---- */

void geo_around(const double p[2], double metres, double box[4])
{
    double arc = metres / EARTH_RADIUS_M * (1 + 1e-9) + SLACK; /* radians */
    double degrees = arc * (180 / PI), wide = 180;

    box[0] = -180;
    box[2] = 180;
    box[1] = p[1] - degrees;
    box[3] = p[1] + degrees;
    /* Over a pole every longitude is in it. */
    if (box[1] > -90 && box[3] < 90) {
        double sine = sin(arc) / cos(p[1] * (PI / 180));
        wide = sine < 1 - 1e-9 ? asin(sine) * (180 / PI) + 1e-7 : 180;
    }
    if (box[1] < -90 || !(box[1] >= -90))
        box[1] = -90;
    if (box[3] > 90 || !(box[3] <= 90))
        box[3] = 90;
    if (wide < 179) {
        box[0] = p[0] - wide;
        box[2] = p[0] + wide;
        if (box[0] < -180)
            box[0] += 360;
        if (box[2] > 180)
            box[2] -= 360;
    }
}
