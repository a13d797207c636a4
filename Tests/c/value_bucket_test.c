#include "value/bucket.h"

#include "base/thread.h"
#include "test.h"
#include "value/timestamp.h"
#include "value/zone.h"

#if FENEC_ICU
#include <unicode/ucal.h>
#endif

static error err;

static value text_value(const char *text)
{
    return value_text(text, strlen(text));
}

static bool interval_of(const char *text, bucket_interval *out)
{
    value v = text_value(text);

    error_init(&err);
    int code = bucket_interval_read(&v, out, &err);
    CHECK(code == FENEC_OK || (code == FENEC_QUERY && err.message[0]));
    return code == FENEC_OK;
}

static int64_t instant(const char *text)
{
    int64_t ms = 0;
    CHECK(timestamp_read((const uint8_t *)text, strlen(text), &ms));
    return ms;
}

static const char *start(const char *t, const char *interval, const char *zone_name)
{
    static char text[TIMESTAMP_TEXT_MAX + 1];
    bucket_interval read;
    value zone_value = text_value(zone_name ? zone_name : "");
    int64_t ms;

    if (!interval_of(interval, &read))
        return "no interval";
    error_init(&err);
    if (bucket_start(&read, instant(t), zone_name ? &zone_value : NULL, &ms, &err) != FENEC_OK)
        return "refused";
    text[timestamp_write(text, ms)] = 0;
    return text;
}

TEST(bucket_counts_fixed_steps_from_the_epoch)
{
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "15m", NULL), "2024-03-05T10:45:00Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "1s", NULL), "2024-03-05T10:47:33Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "100ms", NULL), "2024-03-05T10:47:33.200Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "1h", NULL), "2024-03-05T10:00:00Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "1d", NULL), "2024-03-05T00:00:00Z");
    CHECK_TEXT(start("1969-12-31T23:59:59.999Z", "1h", NULL), "1969-12-31T23:00:00Z");
    CHECK_TEXT(start("1969-12-31T23:00:00Z", "1h", NULL), "1969-12-31T23:00:00Z");
    CHECK_TEXT(start("1969-12-31T23:59:59.999Z", "2d", NULL), "1969-12-30T00:00:00Z");
}

TEST(bucket_weeks_begin_on_monday)
{
    CHECK_TEXT(start("2024-03-05T10:00:00Z", "1w", NULL), "2024-03-04T00:00:00Z");
    CHECK_TEXT(start("2024-03-04T00:00:00Z", "1w", NULL), "2024-03-04T00:00:00Z");
    CHECK_TEXT(start("2024-03-03T23:59:59.999Z", "1w", NULL), "2024-02-26T00:00:00Z");
    CHECK_TEXT(start("1970-01-04", "1w", NULL), "1969-12-29T00:00:00Z");
    CHECK_TEXT(start("1970-01-06", "2w", NULL), "1970-01-05T00:00:00Z");
    CHECK_TEXT(start("1970-01-04", "2w", NULL), "1969-12-22T00:00:00Z");
}

TEST(bucket_months_and_years_follow_the_calendar)
{
    CHECK_TEXT(start("2024-03-05T10:00:00Z", "1mo", NULL), "2024-03-01T00:00:00Z");
    CHECK_TEXT(start("2024-03-05T10:00:00Z", "3mo", NULL), "2024-01-01T00:00:00Z");
    CHECK_TEXT(start("2024-12-31T23:59:59Z", "3mo", NULL), "2024-10-01T00:00:00Z");
    CHECK_TEXT(start("2024-12-31T23:59:59Z", "1y", NULL), "2024-01-01T00:00:00Z");
    CHECK_TEXT(start("2029-12-31T23:59:59Z", "10y", NULL), "2020-01-01T00:00:00Z");
    CHECK_TEXT(start("1969-12-31", "10y", NULL), "1960-01-01T00:00:00Z");
    CHECK_TEXT(start("2024-03-05", "5mo", NULL), "2024-03-01T00:00:00Z"); /* month 24290 */
    CHECK_TEXT(start("2024-02-05", "5mo", NULL), "2023-10-01T00:00:00Z"); /* month 24285 */
    CHECK_TEXT(start("0003-05-05", "10y", NULL), "0000-01-01T00:00:00Z");
    CHECK_TEXT(start("2024-03-05", "1000000y", NULL), "0000-01-01T00:00:00Z");
}

TEST(bucket_years_before_0_are_cut_towards_the_past)
{
    bucket_interval read;
    int64_t ms;

    CHECK(interval_of("10y", &read));
    CHECK_INT(bucket_start(&read, instant("0000-01-01") - 1, NULL, &ms, &err), FENEC_OK);
    CHECK_INT(ms, days_from_civil(-10, 1, 1) * 86400000);
    CHECK(interval_of("5mo", &read));
    CHECK_INT(bucket_start(&read, instant("0000-01-01") - 1, NULL, &ms, &err), FENEC_OK);
    CHECK_INT(ms, days_from_civil(-1, 8, 1) * 86400000);
}

TEST(bucket_units_are_taken_in_any_case)
{
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "1M", NULL), "2024-03-05T10:47:00Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "1MO", NULL), "2024-03-01T00:00:00Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "1Mo", NULL), "2024-03-01T00:00:00Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "100MS", NULL), "2024-03-05T10:47:33.200Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "1W", NULL), "2024-03-04T00:00:00Z");
    CHECK_TEXT(start("2024-03-05T10:47:33.250Z", "01h", NULL), "2024-03-05T10:00:00Z");
}

TEST(bucket_intervals_that_are_none_are_refused)
{
    static const char *const texts[] = {"",
                                        "m",
                                        "0m",
                                        "-1m",
                                        "+1m",
                                        "5x",
                                        "5",
                                        "1.5h",
                                        "1 h",
                                        " 1h",
                                        "1h ",
                                        "1hh",
                                        "1mon",
                                        "1min",
                                        "1ns",
                                        "9223372036854775808ms",
                                        "9223372036854775807s",
                                        "9223372036854775807w",
                                        "9223372036854775807y",
                                        "0mo",
                                        "h1",
                                        "1\xC2\xB5s"};
    bucket_interval read;
    value v;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (interval_of(texts[i], &read))
            test_failed(__FILE__, __LINE__, "%s is taken", texts[i]);
    v = value_text("1h\0", 3);
    CHECK_INT(bucket_interval_read(&v, &read, &err), FENEC_QUERY);
    v = value_int(0);
    CHECK_INT(bucket_interval_read(&v, &read, &err), FENEC_QUERY);
    v = value_int(-5);
    CHECK_INT(bucket_interval_read(&v, &read, &err), FENEC_QUERY);
    v = value_float(60000);
    CHECK_INT(bucket_interval_read(&v, &read, &err), FENEC_QUERY);
    v = value_null();
    CHECK_INT(bucket_interval_read(&v, &read, &err), FENEC_QUERY);
    v = value_int(60000);
    CHECK_INT(bucket_interval_read(&v, &read, &err), FENEC_OK);
    CHECK_INT(read.step_ms, 60000);
}

TEST(bucket_refuses_a_start_outside_64_bits)
{
    bucket_interval read;
    int64_t ms = 5;

    CHECK(interval_of("1d", &read));
    CHECK_INT(bucket_start(&read, INT64_MIN, NULL, &ms, &err), FENEC_QUERY);
    CHECK_INT(bucket_start(&read, INT64_MAX, NULL, &ms, &err), FENEC_OK);
    CHECK(interval_of("1mo", &read));
    CHECK_INT(bucket_start(&read, INT64_MIN, NULL, &ms, &err), FENEC_QUERY);
    CHECK(interval_of("9223372036854775807mo", &read));
    CHECK_INT(bucket_start(&read, instant("0000-01-01") - 1, NULL, &ms, &err), FENEC_QUERY);
    CHECK(interval_of("9223372036854775807ms", &read));
    CHECK_INT(bucket_start(&read, -1, NULL, &ms, &err), FENEC_OK);
    CHECK_INT(ms, -INT64_MAX);
    value offset = text_value("+23:59");
    CHECK_INT(bucket_start(&read, -1, &offset, &ms, &err), FENEC_OK);
    CHECK_INT(ms, -86340000);
    offset = text_value("+00:01");
    CHECK_INT(bucket_start(&read, -100000, &offset, &ms, &err), FENEC_QUERY);
    offset = text_value("+12:00");
    CHECK(interval_of("1ms", &read));
    CHECK_INT(bucket_start(&read, INT64_MAX, &offset, &ms, &err), FENEC_OK);
    CHECK(ms == INT64_MAX);
}

TEST(bucket_offsets_move_the_clock)
{
    CHECK_TEXT(start("2026-05-03T22:30:00Z", "1d", "+03:00"), "2026-05-03T21:00:00Z");
    CHECK_TEXT(start("2026-05-03T22:30:00Z", "1d", NULL), "2026-05-03T00:00:00Z");
    CHECK_TEXT(start("2026-05-03T10:10:00Z", "1h", "+05:30"), "2026-05-03T09:30:00Z");
    CHECK_TEXT(start("2026-05-03T10:10:00Z", "1h", "-05:30"), "2026-05-03T09:30:00Z");
    CHECK_TEXT(start("2026-05-03T02:00:00Z", "1mo", "-05:30"), "2026-05-01T05:30:00Z");
    CHECK_TEXT(start("2026-05-03T02:00:00Z", "1d", "+00:00"), "2026-05-03T00:00:00Z");
}

TEST(bucket_zones_that_are_none_are_refused)
{
    static const char *const texts[] = {
        "",          "+3",           "+03",           "+0300",          "+3:00",   "+03:0",
        "+24:00",    "+03:60",       "03:00",         "+03:00 ",        " +03:00", "+03-00",
        "+0a:00",    "Nowhere/City", "europe/berlin", "Europe/Berlin ", "Europe",  "GMT+3",
        "GMT+03:00", "PST",          "IST",           "Etc/Unknown",    "local",   "Europe/\xC4\xB0stanbul"};
    bucket_interval day = {.step_ms = 86400000};
    value v;
    int64_t ms;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        v = text_value(texts[i]);
        error_init(&err);
        if (bucket_start(&day, 0, &v, &ms, &err) != FENEC_QUERY || bucket_zone_check(&v, &err) != FENEC_QUERY)
            test_failed(__FILE__, __LINE__, "%s is taken", texts[i]);
        CHECK(err.message[0]);
    }
    v = value_int(3);
    CHECK_INT(bucket_start(&day, 0, &v, &ms, &err), FENEC_QUERY);
    v = value_text("Europe/Berlin\0", 14);
    CHECK_INT(bucket_start(&day, 0, &v, &ms, &err), FENEC_QUERY);
    v = text_value("-11:59");
    CHECK_INT(bucket_zone_check(&v, &err), FENEC_OK);
}

TEST(duration_ms_takes_what_ttl_takes)
{
    int64_t ms = 0;

    CHECK(duration_ms(30, "m", 1, &ms) && ms == 1800000);
    CHECK(duration_ms(500, "ms", 2, &ms) && ms == 500);
    CHECK(duration_ms(2, "H", 1, &ms) && ms == 7200000);
    CHECK(duration_ms(1, "d", 1, &ms) && ms == 86400000);
    CHECK(duration_ms(90, "s", 1, &ms) && ms == 90000);
    CHECK(duration_ms(INT64_MAX, "MS", 2, &ms) && ms == INT64_MAX);
    CHECK(!duration_ms(INT64_MAX, "s", 1, &ms));
    CHECK(!duration_ms(0, "m", 1, &ms));
    CHECK(!duration_ms(-1, "m", 1, &ms));
    CHECK(!duration_ms(1, "w", 1, &ms));
    CHECK(!duration_ms(1, "mo", 2, &ms));
    CHECK(!duration_ms(1, "y", 1, &ms));
    CHECK(!duration_ms(1, "", 0, &ms));
    CHECK(!duration_ms(1, "mss", 3, &ms));
}

#if FENEC_ICU

TEST(bucket_days_of_a_zone_run_from_midnight_to_midnight)
{
    CHECK_TEXT(start("2026-03-29T12:00:00Z", "1d", "Europe/Berlin"), "2026-03-28T23:00:00Z");
    CHECK_TEXT(start("2026-03-30T12:00:00Z", "1d", "Europe/Berlin"), "2026-03-29T22:00:00Z");
    CHECK_TEXT(start("2026-10-25T22:59:59Z", "1d", "Europe/Berlin"), "2026-10-24T22:00:00Z");
    CHECK_TEXT(start("2026-10-25T23:00:00Z", "1d", "Europe/Berlin"), "2026-10-25T23:00:00Z");
    CHECK_TEXT(start("2026-05-03T22:30:00Z", "1d", "Europe/Istanbul"), "2026-05-03T21:00:00Z");
    CHECK_TEXT(start("2026-07-15T12:00:00Z", "1mo", "America/New_York"), "2026-07-01T04:00:00Z");
    CHECK_TEXT(start("2026-07-15T12:00:00Z", "1y", "America/New_York"), "2026-01-01T05:00:00Z");
    CHECK_TEXT(start("2026-07-15T12:00:00Z", "1w", "America/New_York"), "2026-07-13T04:00:00Z");
    CHECK_TEXT(start("2026-05-03T10:10:00Z", "1h", "Asia/Kolkata"), "2026-05-03T09:30:00Z");
    CHECK_TEXT(start("2026-05-03T10:10:00Z", "1h", "UTC"), "2026-05-03T10:00:00Z");
    CHECK_TEXT(start("2026-05-03T10:10:00Z", "1d", "Etc/GMT-3"), "2026-05-02T21:00:00Z");
    CHECK_TEXT(start("2026-05-03T10:10:00Z", "1d", "EST"), "2026-05-03T05:00:00Z");
}

TEST(bucket_start_that_was_jumped_over_is_the_first_instant_after)
{
    /* São Paulo put its clocks forward at midnight: 4 November 2018 began at 01:00, 03:00 UTC. */
    CHECK_TEXT(start("2018-11-04T12:00:00Z", "1d", "America/Sao_Paulo"), "2018-11-04T03:00:00Z");
    CHECK_TEXT(start("2018-11-04T03:00:00Z", "1d", "America/Sao_Paulo"), "2018-11-04T03:00:00Z");
    CHECK_TEXT(start("2018-11-04T02:59:59Z", "1d", "America/Sao_Paulo"), "2018-11-03T03:00:00Z");
    /* Berlin, 2 h: 02:00 to 04:00 began with a jump from 02:00 to 03:00. */
    CHECK_TEXT(start("2026-03-29T01:30:00Z", "2h", "Europe/Berlin"), "2026-03-29T01:00:00Z");
    /* Samoa left out 30 December 2011 whole: the week before ends, 31 December begins at once. */
    CHECK_TEXT(start("2011-12-30T15:00:00Z", "1d", "Pacific/Apia"), "2011-12-30T10:00:00Z");
    CHECK_TEXT(start("2011-12-30T09:00:00Z", "1d", "Pacific/Apia"), "2011-12-29T10:00:00Z");
}

TEST(bucket_start_that_occurs_twice_is_the_latest_not_after)
{
    /* Berlin, 25 October 2026: 02:00 to 03:00 comes at 00:00 and again at 01:00 UTC. */
    CHECK_TEXT(start("2026-10-25T00:30:00Z", "1h", "Europe/Berlin"), "2026-10-25T00:00:00Z");
    CHECK_TEXT(start("2026-10-25T01:30:00Z", "1h", "Europe/Berlin"), "2026-10-25T01:00:00Z");
    CHECK_TEXT(start("2026-10-25T01:00:00Z", "1h", "Europe/Berlin"), "2026-10-25T01:00:00Z");
    CHECK_TEXT(start("2026-10-25T00:59:59Z", "30m", "Europe/Berlin"), "2026-10-25T00:30:00Z");
    CHECK_TEXT(start("2026-10-25T02:30:00Z", "3h", "Europe/Berlin"), "2026-10-25T02:00:00Z");
    CHECK_TEXT(start("2026-10-25T01:30:00Z", "2h", "Europe/Berlin"), "2026-10-25T01:00:00Z");
    /* Havana went back from 01:00 to 00:00: midnight of 1 November 2020 came at 04:00 and 05:00 UTC. */
    CHECK_TEXT(start("2020-11-01T04:30:00Z", "1d", "America/Havana"), "2020-11-01T04:00:00Z");
    CHECK_TEXT(start("2020-11-01T12:00:00Z", "1d", "America/Havana"), "2020-11-01T05:00:00Z");
}

static const char *const names[] = {
    "Europe/Berlin",     "Europe/Istanbul",  "America/New_York", "America/Sao_Paulo",
    "America/Havana",    "Pacific/Apia",     "Asia/Manila",      "Australia/Lord_Howe",
    "Africa/Casablanca", "Asia/Kathmandu",   "Europe/Dublin",    "Antarctica/Troll",
    "Africa/Monrovia",   "America/St_Johns", "Asia/Tehran",      "UTC"};
#define NAMES (sizeof names / sizeof *names)

static int64_t random_ms(uint64_t *state)
{
    int64_t years[] = {-500, 1840, 1900, 1970, 2000, 2020, 2095, 2490, 2600, 12000};
    size_t i = test_random(state) % 10;
    int64_t span = i == 0 || i == 9 ? 3000 : 100;

    return days_from_civil(years[i], 1, 1) * 86400000 +
           (int64_t)(test_random(state) % (uint64_t)(span * 365 * INT64_C(86400000)));
}

TEST(zone_at_agrees_with_icu_at_any_instant)
{
    uint64_t state = test_seed();

    for (size_t i = 0; i < NAMES; i++) {
        UChar name[64];
        UErrorCode status = U_ZERO_ERROR;
        const zone *z = zone_find(names[i], strlen(names[i]));
        for (size_t at = 0; at <= strlen(names[i]); at++)
            name[at] = (UChar)names[i][at];
        UCalendar *calendar = ucal_open(name, -1, "", UCAL_GREGORIAN, &status);
        CHECK(z && U_SUCCESS(status));
        for (int n = 0; z && n < 5000; n++) {
            int64_t ms = random_ms(&state);
            ucal_setMillis(calendar, (UDate)ms, &status);
            int32_t want =
                ucal_get(calendar, UCAL_ZONE_OFFSET, &status) + ucal_get(calendar, UCAL_DST_OFFSET, &status);
            zone_period got = zone_at(z, ms);
            if (got.ahead_ms != want || got.from_ms > ms) {
                test_failed(__FILE__, __LINE__, "%s at %lld: %d, not %d", names[i], (long long)ms,
                            got.ahead_ms, want);
                break;
            }
        }
        ucal_close(calendar);
    }
}

/* The rule of chapter 3 section 10.1 by trying every distance from UTC the zone ever had near there. */
static int64_t start_by_search(const zone *z, int64_t reading, int64_t ms)
{
    int64_t best = INT64_MIN, jump = INT64_MIN;
    int64_t at = reading + 4 * 86400000 < ms ? reading + 4 * 86400000 : ms;

    for (;;) {
        zone_period period = zone_at(z, at);
        int64_t candidate = reading - period.ahead_ms;
        if (candidate <= ms && zone_at(z, candidate).ahead_ms == period.ahead_ms && candidate > best)
            best = candidate;
        if (period.from_ms == INT64_MIN || period.from_ms < reading - 8 * INT64_C(86400000))
            break;
        zone_period before = zone_at(z, period.from_ms - 1);
        if (period.from_ms + before.ahead_ms <= reading && reading < period.from_ms + period.ahead_ms)
            jump = period.from_ms;
        at = period.from_ms - 1;
    }
    return best != INT64_MIN ? best : jump;
}

TEST(bucket_start_in_zones_is_what_a_search_finds)
{
    static const char *const intervals[] = {"1h", "2h",  "3h",  "30m", "1d",  "7d",
                                            "1w", "1mo", "3mo", "1y",  "10y", "1000y"};
    uint64_t state = test_seed() + 1;

    for (int n = 0; n < 20000; n++) {
        const char *name = names[test_random(&state) % NAMES];
        const zone *z = zone_find(name, strlen(name));
        bucket_interval read;
        value zone_value = text_value(name);
        int64_t ms = random_ms(&state), got, reading;
        if (!z || !interval_of(intervals[test_random(&state) % 12], &read))
            continue;
        /* Often near a change. */
        zone_period period = zone_at(z, ms);
        if (test_random(&state) % 2 && period.from_ms != INT64_MIN)
            ms = period.from_ms + (int64_t)(test_random(&state) % 36000000);
        CHECK_INT(bucket_start(&read, ms + zone_at(z, ms).ahead_ms, NULL, &reading, &err), FENEC_OK);
        CHECK_INT(bucket_start(&read, ms, &zone_value, &got, &err), FENEC_OK);
        int64_t want = start_by_search(z, reading, ms);
        if (got != want || got > ms) {
            test_failed(__FILE__, __LINE__, "%s at %lld, reading %lld: %lld, not %lld", name, (long long)ms,
                        (long long)reading, (long long)got, (long long)want);
            break;
        }
    }
}

static void look_up(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument;
    bucket_interval day = {.step_ms = 86400000};

    for (int n = 0; n < 2000; n++) {
        value zone_value = text_value(names[test_random(&state) % NAMES]);
        int64_t ms;
        error mine;
        if (bucket_start(&day, (int64_t)n * 86400000, &zone_value, &ms, &mine) != FENEC_OK)
            test_failed(__FILE__, __LINE__, "a zone is lost");
    }
}

TEST(bucket_zones_are_shared_by_threads)
{
    thread threads[4];
    bool started[4];

    for (uintptr_t i = 0; i < 4; i++)
        started[i] = thread_start(&threads[i], look_up, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        if (started[i])
            thread_join(&threads[i]);
}

#endif
