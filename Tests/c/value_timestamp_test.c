#include "value/timestamp.h"

#include "test.h"

static bool reads(const char *text, int64_t *ms)
{
    return timestamp_read((const uint8_t *)text, strlen(text), ms);
}

static int64_t instant(const char *text)
{
    int64_t ms = -999;
    if (!reads(text, &ms))
        test_failed(__FILE__, __LINE__, "\"%s\" is refused", text);
    return ms;
}

static const char *written(int64_t ms)
{
    static char text[TIMESTAMP_TEXT_MAX + 1];
    text[timestamp_write(text, ms)] = 0;
    return text;
}

TEST(timestamp_read_takes_every_form)
{
    CHECK_INT(instant("1970-01-01"), 0);
    CHECK_INT(instant("1970-01-01T00:00:00Z"), 0);
    CHECK_INT(instant("2024-03-05T12:20:30+02:00"), 1709634030000);
    CHECK_INT(instant("2024-03-05 10:20:30"), 1709634030000);
    CHECK_INT(instant("2024-03-05t10:20:30z"), 1709634030000);
    CHECK_INT(instant("2024-03-05T12:20:30+0200"), 1709634030000);
    CHECK_INT(instant("2024-03-05T12:20:30+02"), 1709634030000);
    CHECK_INT(instant("2024-03-05T04:50:30-05:30"), 1709634030000);
    CHECK_INT(instant("2024-3-5T10:20:30"), 1709634030000);
    CHECK_INT(instant("2024-3-5T1:2:3z"), 1709600523000);
    CHECK_INT(instant("2024-03-05T10"), 1709632800000);
    CHECK_INT(instant("2024-03-05T10:20"), 1709634000000);
    CHECK_INT(instant("2024-03-05T10-03"), 1709643600000);
    CHECK_INT(instant("2024-03-05Z"), 1709596800000);
    CHECK_INT(instant("2024-03-05+02:00"), 1709589600000);
    CHECK_INT(instant("2024-03-05-02:00"), 1709604000000);
    CHECK_INT(instant("  \t2024-03-05\r\n"), 1709596800000);
    CHECK_INT(instant("\xC2\xA0"
                      "2024-03-05\xE3\x80\x80"),
              1709596800000);
    CHECK_INT(instant("0000-01-01"), -62167219200000);
    CHECK_INT(instant("0001-01-01"), -62135596800000);
    CHECK_INT(instant("02024-03-05"), 1709596800000);
    CHECK_INT(instant("12024-03-05"), 317279116800000);
}

TEST(timestamp_read_cuts_and_pads_the_fraction)
{
    CHECK_INT(instant("1970-01-01T00:00:00.5"), 500);
    CHECK_INT(instant("1970-01-01T00:00:00.05Z"), 50);
    CHECK_INT(instant("1970-01-01T00:00:00.250Z"), 250);
    CHECK_INT(instant("1970-01-01T00:00:00.2509999Z"), 250);
    CHECK_INT(instant("1970-01-01T00:00:01.999999999999999999999999+00:00"), 1999);
}

TEST(timestamp_read_carries_a_leap_second)
{
    CHECK_INT(instant("2023-12-31T23:59:60Z"), instant("2024-01-01T00:00:00Z"));
    CHECK_INT(instant("1970-01-01T00:00:60"), 60000);
}

TEST(timestamp_read_knows_the_calendar)
{
    int64_t ms;

    CHECK_INT(instant("2024-02-29"), 1709164800000);
    CHECK_INT(instant("2000-02-29"), 951782400000);
    CHECK(!reads("2023-02-29", &ms));
    CHECK(!reads("1900-02-29", &ms));
    CHECK(!reads("2024-04-31", &ms));
    CHECK(!reads("2024-02-30", &ms));
}

TEST(timestamp_read_refuses_what_is_malformed)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "no",
                                        "2024",
                                        "2024-03",
                                        "2024-03-",
                                        "24-03-05",
                                        "024-03-05",
                                        "-2024-03-05",
                                        "+2024-03-05",
                                        "2024-00-05",
                                        "2024-13-05",
                                        "2024-03-00",
                                        "2024-03-32",
                                        "2024-003-05",
                                        "2024-03-005",
                                        "2024-03-05T",
                                        "2024-03-05 Z",
                                        "2024-03-05T24",
                                        "2024-03-05T24:00:00",
                                        "2024-03-05T10:60",
                                        "2024-03-05T10:20:61",
                                        "2024-03-05T10:20:30.",
                                        "2024-03-05T10:20:30.Z",
                                        "2024-03-05T10:",
                                        "2024-03-05T10:20:",
                                        "2024-03-05T010",
                                        "2024-03-05T10:020",
                                        "2024-03-05T10:20:030",
                                        "2024-03-05T10:20:30+2",
                                        "2024-03-05T10:20:30+24",
                                        "2024-03-05T10:20:30+02:60",
                                        "2024-03-05T10:20:30+02:",
                                        "2024-03-05T10:20:30+02:0",
                                        "2024-03-05T10:20:30+020",
                                        "2024-03-05T10:20:30+02:000",
                                        "2024-03-05T10:20:30ZZ",
                                        "2024-03-05T10:20:30 Z",
                                        "2024-03-05T10:20:30Z+01",
                                        "2024-3-5+02:00",
                                        "2024-3-05-02",
                                        "2024-03-05T10:20:30,5",
                                        "2024/03/05",
                                        "2024-03-05x",
                                        "2024-03-05T10.5",
                                        "2024-03-05T-1",
                                        "1e9",
                                        "292278995-01-01",
                                        "99999999999999999999999-01-01"};
    int64_t ms;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (reads(texts[i], &ms))
            test_failed(__FILE__, __LINE__, "\"%s\" is taken", texts[i]);
    CHECK(!timestamp_read((const uint8_t *)"2024-03-05\0", 11, &ms));
    CHECK(!timestamp_read(NULL, 0, &ms));
}

TEST(timestamp_read_ends_where_64_bits_end)
{
    int64_t ms;

    CHECK(instant("292278994-08-17T07:12:55.807Z") == INT64_MAX);
    CHECK(!reads("292278994-08-17T07:12:55.808Z", &ms));
    CHECK(instant("292278994-08-17T08:12:55.807+01:00") == INT64_MAX);
    CHECK(!reads("292278994-08-17T07:12:55.807-00:01", &ms));
}

TEST(timestamp_write_is_the_iso_text)
{
    CHECK_TEXT(written(0), "1970-01-01T00:00:00Z");
    CHECK_TEXT(written(1500), "1970-01-01T00:00:01.500Z");
    CHECK_TEXT(written(-1), "1969-12-31T23:59:59.999Z");
    CHECK_TEXT(written(1709634030000), "2024-03-05T10:20:30Z");
    CHECK_TEXT(written(7), "1970-01-01T00:00:00.007Z");
    CHECK_TEXT(written(-62135596800000), "0001-01-01T00:00:00Z");
    CHECK_TEXT(written(-62167219200000), "0000-01-01T00:00:00Z");
    CHECK_TEXT(written(-62167219200001), "-0001-12-31T23:59:59.999Z");
    CHECK_TEXT(written(253402300800000), "10000-01-01T00:00:00Z");
    CHECK_TEXT(written(INT64_MAX), "292278994-08-17T07:12:55.807Z");
    CHECK_TEXT(written(INT64_MIN), "-292275055-05-16T16:47:04.192Z");
}

TEST(timestamp_text_from_year_0_on_reads_back)
{
    uint64_t state = test_seed();

    for (int i = 0; i < 200000; i++) {
        int64_t ms = (int64_t)(test_random(&state) >> (1 + test_random(&state) % 32)), back;
        const char *text = written(ms);
        if (!reads(text, &back) || back != ms)
            test_failed(__FILE__, __LINE__, "%lld is written %s", (long long)ms, text);
    }
}

TEST(civil_days_go_there_and_back_one_by_one)
{
    int64_t year;
    unsigned month, day;
    int64_t y = -801, m = 1, d = 1;

    for (int64_t days = days_from_civil(y, 1, 1), last = days_from_civil(2801, 1, 1); days < last; days++) {
        civil_from_days(days, &year, &month, &day);
        if (year != y || month != m || day != d || days_from_civil(year, month, day) != days) {
            test_failed(__FILE__, __LINE__, "day %lld is %lld-%u-%u", (long long)days, (long long)year, month,
                        day);
            return;
        }
        bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
        int64_t of_month = m == 2 ? 28 + leap : m == 4 || m == 6 || m == 9 || m == 11 ? 30 : 31;
        if (++d > of_month) {
            d = 1;
            if (++m > 12) {
                m = 1;
                y++;
            }
        }
    }
    CHECK_INT(days_from_civil(1970, 1, 1), 0);
    CHECK_INT(days_from_civil(2000, 3, 1), 11017);
}
