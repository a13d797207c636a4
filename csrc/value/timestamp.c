#include "value/timestamp.h"

#include <string.h>

#include "base/unicode.h"
#include "base/utf8.h"
#include "value/number.h"

__extension__ typedef __int128 wide;

#define SECOND_MS 1000
#define MINUTE_MS 60000
#define HOUR_MS 3600000
#define DAY_MS 86400000

#define YEAR_MAX 400000000 /* far beyond 64 bits of milliseconds */

/* Eras of 400 years, 146097 days each, that begin on March 1st, so that the leap day ends a year. */
int64_t days_from_civil(int64_t year, unsigned month, unsigned day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (int64_t)(month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    int64_t shifted_month = (5 * of_year + 2) / 153;

    *day = (unsigned)(of_year - (153 * shifted_month + 2) / 5 + 1);
    *month = (unsigned)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    *year = years + era * 400 + (*month <= 2);
}

static unsigned days_of_month(int64_t year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

typedef struct reader {
    const uint8_t *start, *at, *end;
} reader;

static bool take(reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* From `least` to `most` digits, as many as there are; one further digit is the caller's to refuse. */
static bool take_digits(reader *r, unsigned least, unsigned most, unsigned *out)
{
    unsigned count = 0, n = 0;

    for (; count < most && r->at < r->end && *r->at >= '0' && *r->at <= '9'; count++)
        n = n * 10 + (unsigned)(*r->at++ - '0');
    *out = n;
    return count >= least;
}

static bool take_year(reader *r, int64_t *year)
{
    unsigned count = 0;

    for (*year = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; count++) {
        *year = *year * 10 + (*r->at++ - '0');
        if (*year > YEAR_MAX)
            return false;
    }
    return count >= 4;
}

static bool take_date(reader *r, int64_t *days)
{
    int64_t year;
    unsigned month, day;

    if (!take_year(r, &year) || !take(r, '-') || !take_digits(r, 1, 2, &month) || !take(r, '-') ||
        !take_digits(r, 1, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    *days = days_from_civil(year, month, day);
    return true;
}

static bool take_time(reader *r, int64_t *ms)
{
    unsigned hour, minute = 0, second = 0, thousandths = 0;

    if (!take_digits(r, 1, 2, &hour))
        return false;
    if (take(r, ':')) {
        if (!take_digits(r, 1, 2, &minute))
            return false;
        if (take(r, ':')) {
            if (!take_digits(r, 1, 2, &second))
                return false;
            if (take(r, '.')) {
                const uint8_t *first = r->at;
                if (!take_digits(r, 1, 3, &thousandths))
                    return false;
                for (size_t count = (size_t)(r->at - first); count < 3; count++)
                    thousandths *= 10;
                while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
                    r->at++;
            }
        }
    }
    if (hour > 23 || minute > 59 || second > 60)
        return false;
    *ms = (int64_t)hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + thousandths;
    return true;
}

/* Milliseconds that the zone is ahead of UTC. */
static bool take_zone(reader *r, int64_t *ahead)
{
    unsigned hour, minute = 0;

    *ahead = 0;
    if (r->at == r->end || take(r, 'Z') || take(r, 'z'))
        return true;
    bool west = *r->at == '-';
    /* Nearer the start a sign would be one of the date's. */
    if ((!west && *r->at != '+') || r->at - r->start < 10)
        return false;
    r->at++;
    if (!take_digits(r, 2, 2, &hour))
        return false;
    if ((take(r, ':') || r->at < r->end) && !take_digits(r, 2, 2, &minute))
        return false;
    if (hour > 23 || minute > 59)
        return false;
    *ahead = (int64_t)hour * HOUR_MS + minute * MINUTE_MS;
    if (west)
        *ahead = -*ahead;
    return true;
}

/* text[0..len) without the white space around it. */
static reader trimmed(const uint8_t *text, size_t len)
{
    const uint8_t *at = text, *end = text + len;

    while (at < end) {
        const uint8_t *next = at;
        if (!unicode_is_space(utf8_next(&next, end)))
            break;
        at = next;
    }
    while (end > at) {
        const uint8_t *last = end - 1, *next;
        while (last > at && (*last & 0xC0) == 0x80)
            last--;
        next = last;
        if (!unicode_is_space(utf8_next(&next, end)) || next != end)
            break;
        end = last;
    }
    return (reader){.start = at, .at = at, .end = end};
}

bool timestamp_read(const uint8_t *text, size_t len, int64_t *ms)
{
    int64_t days, time = 0, ahead;

    if (len == 0)
        return false;
    reader r = trimmed(text, len);
    if (!take_date(&r, &days))
        return false;
    if ((take(&r, 'T') || take(&r, 't') || take(&r, ' ')) && !take_time(&r, &time))
        return false;
    if (!take_zone(&r, &ahead) || r.at != r.end)
        return false;
    wide instant = (wide)days * DAY_MS + time - ahead;
    if (instant < INT64_MIN || instant > INT64_MAX)
        return false;
    *ms = (int64_t)instant;
    return true;
}

static char *put_two(char *to, unsigned n)
{
    to[0] = (char)('0' + n / 10);
    to[1] = (char)('0' + n % 10);
    return to + 2;
}

size_t timestamp_write(char out[TIMESTAMP_TEXT_MAX], int64_t ms)
{
    int64_t days = ms / DAY_MS, year;
    int32_t of_day = (int32_t)(ms % DAY_MS);
    unsigned month, day;
    char *to = out, digits[NUMBER_DIGITS_MAX];

    if (of_day < 0) {
        of_day += DAY_MS;
        days--;
    }
    civil_from_days(days, &year, &month, &day);
    if (year < 0) {
        *to++ = '-';
        year = -year;
    }
    size_t len = number_write_digits(digits, (uint64_t)year);
    for (size_t i = len; i < 4; i++)
        *to++ = '0';
    memcpy(to, digits, len);
    to += len;
    *to++ = '-';
    to = put_two(to, month);
    *to++ = '-';
    to = put_two(to, day);
    *to++ = 'T';
    to = put_two(to, (unsigned)(of_day / HOUR_MS));
    *to++ = ':';
    to = put_two(to, (unsigned)(of_day / MINUTE_MS % 60));
    *to++ = ':';
    to = put_two(to, (unsigned)(of_day / SECOND_MS % 60));
    unsigned thousandths = (unsigned)(of_day % SECOND_MS);
    if (thousandths) {
        *to++ = '.';
        *to++ = (char)('0' + thousandths / 100);
        to = put_two(to, thousandths % 100);
    }
    *to++ = 'Z';
    return (size_t)(to - out);
}
