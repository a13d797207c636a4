#include "value/zone.h"

#if !FENEC_ICU

const zone *zone_find(const char *name, size_t len)
{
    (void)name;
    (void)len;
    return NULL;
}

zone_period zone_at(const zone *z, int64_t ms)
{
    (void)z;
    (void)ms;
    return (zone_period){.from_ms = INT64_MIN};
}

#else

#include <stdbool.h>
#include <string.h>
#include <unicode/ucal.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/thread.h"

#define NAME_MAX_LEN 63

/* From FIXED_MS on a zone follows rules by the calendar alone, which repeats after CYCLE_MS (146097 days
 * are whole weeks). Its changes are listed up to FIXED_MS + CYCLE_MS. */
#define FIXED_MS INT64_C(4102444800000)      /* 2100-01-01, after every change that is listed by date */
#define CYCLE_MS INT64_C(12622780800000)     /* 400 years */
#define EARLIEST_MS INT64_C(-62135596800000) /* 0001-01-01: clocks kept local mean time long before */

struct zone {
    struct zone *next;
    char name[NAME_MAX_LEN + 1];
    size_t name_len, count;
    zone_period periods[]; /* ascending; the first from INT64_MIN */
};

/* Zones are added at the front and never leave. */
static lock zones_lock = LOCK_INIT(LOCK_LEAF);
static zone *zones;
static _Thread_local const zone *latest; /* the zone this thread asked for last */

/* ICU's own names from before IANA's, and its answer to a name it does not know. */
static bool is_no_iana_name(const char *name, size_t len)
{
    static const char old[] =
        "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT "
        "PRT PST SST VST";

    if (len == 3)
        for (const char *at = old; at < old + sizeof old - 1; at += 4)
            if (!memcmp(at, name, 3))
                return true;
    return len > 8 && !memcmp(name, "SystemV/", 8);
}

/* Whether ICU has it as a zone of its tables, and not as "GMT+3" or by falling back to GMT. */
static bool is_listed(const UChar *name, int32_t len)
{
    UChar canonical[128];
    UBool listed = false;
    UErrorCode status = U_ZERO_ERROR;

    ucal_getCanonicalTimeZoneID(name, len, canonical, 128, &listed, &status);
    return U_SUCCESS(status) && listed;
}

static bool put_period(buffer *out, UCalendar *calendar, int64_t from_ms, int64_t at_ms)
{
    UErrorCode status = U_ZERO_ERROR;

    ucal_setMillis(calendar, (UDate)at_ms, &status);
    int32_t ahead =
        ucal_get(calendar, UCAL_ZONE_OFFSET, &status) + ucal_get(calendar, UCAL_DST_OFFSET, &status);
    if (U_FAILURE(status))
        return false;
    if (out->len >= sizeof(zone_period)) {
        zone_period before;
        memcpy(&before, out->bytes + out->len - sizeof before, sizeof before);
        if (before.ahead_ms == ahead)
            return true; /* a change of name, or of what is called summer */
    }
    zone_period period = {.from_ms = from_ms, .ahead_ms = ahead};
    buffer_put(out, &period, sizeof period);
    return !out->failed;
}

static bool list_periods(buffer *out, UCalendar *calendar)
{
    UDate change = (UDate)EARLIEST_MS;
    UErrorCode status = U_ZERO_ERROR;

    if (!put_period(out, calendar, INT64_MIN, EARLIEST_MS))
        return false;
    for (;;) {
        ucal_setMillis(calendar, change, &status);
        bool any = ucal_getTimeZoneTransitionDate(calendar, UCAL_TZ_TRANSITION_NEXT, &change, &status);
        if (U_FAILURE(status))
            return false;
        if (!any || change >= (UDate)(FIXED_MS + CYCLE_MS))
            return true;
        if (!put_period(out, calendar, (int64_t)change, (int64_t)change))
            return false;
    }
}

static zone *zone_read(const char *name, size_t len)
{
    UChar wide[NAME_MAX_LEN + 1];
    UErrorCode status = U_ZERO_ERROR;
    buffer periods;
    zone *z = NULL;

    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)name[i] <= ' ' || (unsigned char)name[i] > '~')
            return NULL;
        wide[i] = (UChar)name[i];
    }
    wide[len] = 0;
    if (is_no_iana_name(name, len) || !is_listed(wide, (int32_t)len))
        return NULL;
    UCalendar *calendar = ucal_open(wide, (int32_t)len, "", UCAL_GREGORIAN, &status);
    if (U_FAILURE(status))
        return NULL;
    buffer_init(&periods);
    if (list_periods(&periods, calendar))
        z = memory_alloc(sizeof *z + periods.len);
    if (z) {
        z->next = NULL;
        memcpy(z->name, name, len);
        z->name[len] = 0;
        z->name_len = len;
        z->count = periods.len / sizeof(zone_period);
        memcpy(z->periods, periods.bytes, periods.len);
    }
    buffer_clear(&periods);
    ucal_close(calendar);
    return z;
}

static bool is_named(const zone *z, const char *name, size_t len)
{
    return z->name_len == len && !memcmp(z->name, name, len);
}

static const zone *find_known(const char *name, size_t len)
{
    const zone *z = zones;

    while (z && !is_named(z, name, len))
        z = z->next;
    return z;
}

const zone *zone_find(const char *name, size_t len)
{
    if (latest && is_named(latest, name, len))
        return latest;
    if (len == 0 || len > NAME_MAX_LEN)
        return NULL;
    lock_take(&zones_lock);
    const zone *z = find_known(name, len);
    lock_leave(&zones_lock);
    if (!z) {
        /* Read outside the lock: two threads may both do it, the second gives its own up. */
        zone *fresh = zone_read(name, len);
        if (!fresh)
            return NULL;
        lock_take(&zones_lock);
        z = find_known(name, len);
        if (!z) {
            fresh->next = zones;
            z = zones = fresh;
            fresh = NULL;
        }
        lock_leave(&zones_lock);
        memory_free(fresh);
    }
    latest = z;
    return z;
}

zone_period zone_at(const zone *z, int64_t ms)
{
    int64_t moved = 0;

    if (ms >= FIXED_MS + CYCLE_MS)
        moved = (ms - FIXED_MS) / CYCLE_MS * CYCLE_MS;
    ms -= moved;
    size_t low = 0, high = z->count; /* the period is one of [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (z->periods[middle].from_ms <= ms)
            low = middle;
        else
            high = middle;
    }
    zone_period period = z->periods[low];
    /* What began before the cycle did did not begin so many years later. */
    if (moved)
        period.from_ms = (period.from_ms < FIXED_MS ? FIXED_MS : period.from_ms) + moved;
    return period;
}

#endif
