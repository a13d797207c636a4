#include "value/bucket.h"

#include <string.h>

#include "value/number.h"
#include "value/timestamp.h"
#include "value/zone.h"

__extension__ typedef __int128 wide;

#define HOUR_MS INT64_C(3600000)
#define DAY_MS INT64_C(86400000)
#define MONDAY_MS (4 * DAY_MS) /* 1970-01-05 */
#define YEAR_MAX 300000000     /* beyond 64 bits of milliseconds */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    for (; len > 0 && *word; text++, word++, len--)
        if (lower(*text) != *word)
            return false;
    return len == 0 && !*word;
}

bool duration_ms(int64_t count, const char *unit, size_t unit_len, int64_t *ms)
{
    static const struct {
        char name[3];
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", HOUR_MS}, {"d", DAY_MS}};

    if (count <= 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (is_word(unit, unit_len, units[i].name)) {
            if (count > INT64_MAX / units[i].ms)
                return false;
            *ms = count * units[i].ms;
            return true;
        }
    return false;
}

static bool read_text(const char *text, size_t len, bucket_interval *out)
{
    size_t digits = 0;
    int64_t count;

    while (digits < len && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (digits == 0 || !number_read_int(text, digits, &count) || count <= 0)
        return false;
    const char *unit = text + digits;
    size_t unit_len = len - digits;
    *out = (bucket_interval){0};
    if (duration_ms(count, unit, unit_len, &out->step_ms))
        return true;
    if (is_word(unit, unit_len, "w")) {
        out->step_ms = 7 * DAY_MS;
        out->origin_ms = MONDAY_MS;
        if (count > INT64_MAX / out->step_ms)
            return false;
        out->step_ms *= count;
        return true;
    }
    int64_t months = is_word(unit, unit_len, "mo") ? 1 : is_word(unit, unit_len, "y") ? 12 : 0;
    if (months == 0 || count > INT64_MAX / months)
        return false;
    out->months = count * months;
    return true;
}

int bucket_interval_read(const value *v, bucket_interval *out, error *err)
{
    char quoted[VALUE_QUOTE_MAX];
    bucket_interval read;

    if (v->kind == VALUE_INT && v->integer > 0) {
        *out = (bucket_interval){.step_ms = v->integer};
        return FENEC_OK;
    }
    if (v->kind == VALUE_TEXT && read_text((const char *)v->bytes, v->len, &read)) {
        *out = read;
        return FENEC_OK;
    }
    return fail(err, FENEC_QUERY,
                "bucket: %s is no interval: a whole number from 1 and ms, s, m, h, d, w, mo or y",
                value_quote(quoted, v));
}

static wide floored(wide n, wide by)
{
    return n / by - (n % by < 0);
}

/* The reading of a clock cut to its interval. False where a year is beyond counting. */
static bool cut(const bucket_interval *interval, wide reading, wide *out)
{
    int64_t year;
    unsigned month, day;

    if (interval->step_ms > 0) {
        *out = floored(reading - interval->origin_ms, interval->step_ms) * interval->step_ms +
               interval->origin_ms;
        return true;
    }
    civil_from_days((int64_t)floored(reading, DAY_MS), &year, &month, &day);
    wide months = floored((wide)year * 12 + month - 1, interval->months) * interval->months;
    wide start = floored(months, 12);
    if (start < -YEAR_MAX || start > YEAR_MAX)
        return false;
    *out = (wide)days_from_civil((int64_t)start, (unsigned)(months - start * 12) + 1, 1) * DAY_MS;
    return true;
}

/* sign hh ":" mm */
static bool read_offset(const value *zone_text, int64_t *ahead_ms)
{
    const uint8_t *t = zone_text->bytes;

    if (zone_text->len != 6 || (t[0] != '+' && t[0] != '-') || t[3] != ':')
        return false;
    for (int i = 1; i < 6; i++)
        if (i != 3 && (t[i] < '0' || t[i] > '9'))
            return false;
    int64_t hour = (t[1] - '0') * 10 + t[2] - '0', minute = (t[4] - '0') * 10 + t[5] - '0';
    if (hour > 23 || minute > 59)
        return false;
    *ahead_ms = hour * HOUR_MS + minute * 60000;
    if (t[0] == '-')
        *ahead_ms = -*ahead_ms;
    return true;
}

/* *found for a name, *ahead_ms for an offset. */
static int read_zone(const value *zone_text, const zone **found, int64_t *ahead_ms, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    *found = NULL;
    *ahead_ms = 0;
    if (zone_text->kind == VALUE_TEXT) {
        if (read_offset(zone_text, ahead_ms))
            return FENEC_OK;
        *found = zone_find((const char *)zone_text->bytes, zone_text->len);
        if (*found)
            return FENEC_OK;
    }
    return fail(err, FENEC_QUERY, "bucket: %s is no time zone%s", value_quote(quoted, zone_text),
                FENEC_ICU ? "" : ": this build knows offsets such as +03:00, but no names");
}

int bucket_zone_check(const value *zone_text, error *err)
{
    const zone *found;
    int64_t ahead_ms;

    return read_zone(zone_text, &found, &ahead_ms, err);
}

/* The instant at which the clock of z last shows `reading`, not after `ms`, which is in `period`; where
 * it never does, since it was set forward, the first instant after that. */
static wide instant_of(const zone *z, zone_period period, wide reading, int64_t ms)
{
    wide instant = reading - period.ahead_ms;

    /* Clocks are less than two days apart: not every period in between needs a look. */
    wide latest = instant + 2 * DAY_MS;
    if (instant < period.from_ms && latest < ms) {
        latest = latest < INT64_MIN ? INT64_MIN : latest;
        period = zone_at(z, (int64_t)latest);
        instant = reading - period.ahead_ms;
    }
    while (instant < period.from_ms && period.from_ms > INT64_MIN) {
        zone_period before = zone_at(z, period.from_ms - 1);
        wide earlier = reading - before.ahead_ms;
        if (earlier >= period.from_ms)
            return period.from_ms;
        period = before;
        instant = earlier;
    }
    return instant;
}

int bucket_start(const bucket_interval *interval, int64_t ms, const value *zone_text, int64_t *out,
                 error *err)
{
    const zone *found = NULL;
    zone_period period = {0};
    int64_t ahead_ms = 0;
    wide reading, start;

    if (zone_text) {
        int code = read_zone(zone_text, &found, &ahead_ms, err);
        if (code != FENEC_OK)
            return code;
    }
    if (found) {
        period = zone_at(found, ms);
        ahead_ms = period.ahead_ms;
    }
    bool counted = cut(interval, (wide)ms + ahead_ms, &reading);
    if (counted) {
        start = found ? instant_of(found, period, reading, ms) : reading - ahead_ms;
        if (start >= INT64_MIN && start <= INT64_MAX) {
            *out = (int64_t)start;
            return FENEC_OK;
        }
    }
    return fail(err, FENEC_QUERY, "bucket: the interval of %lld begins outside 64 bits of milliseconds",
                (long long)ms);
}
