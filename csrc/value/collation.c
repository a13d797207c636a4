#include "value/collation.h"

#include <string.h>

#ifndef FENEC_ICU
#define FENEC_ICU 1
#endif

int collation_need(collation collate, error *err)
{
    static const char *const names[] = {"", "und", "tr"};

    if (collate == COLLATION_NONE || collation_available())
        return FENEC_OK;
    return fail(err, FENEC_QUERY, "collation `%s` is not available in this build, which was made without ICU",
                names[collate]);
}

static int compare_octets(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a, b, len) : 0;

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

#if FENEC_ICU

#include <limits.h>
#include <pthread.h>
#include <unicode/ucol.h>
#include <unicode/uversion.h>

#include "base/memory.h"

/* Opened once, never changed after and never closed: ICU lets any number of threads compare with one. */
static UCollator *collators[COLLATION_TR + 1];
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static UCollator *collator_open(const char *locale)
{
    UErrorCode status = U_ZERO_ERROR;
    UCollator *c = ucol_open(locale, &status);

    if (U_FAILURE(status))
        return NULL;
    ucol_setStrength(c, UCOL_TERTIARY);
    ucol_setAttribute(c, UCOL_ALTERNATE_HANDLING, UCOL_NON_IGNORABLE, &status);
    ucol_setAttribute(c, UCOL_NORMALIZATION_MODE, UCOL_OFF, &status);
    ucol_setAttribute(c, UCOL_NUMERIC_COLLATION, UCOL_OFF, &status);
    if (U_FAILURE(status)) {
        ucol_close(c);
        return NULL;
    }
    return c;
}

static void collators_open(void)
{
    collators[COLLATION_UND] = collator_open("");
    collators[COLLATION_TR] = collator_open("tr");
}

bool collation_available(void)
{
    pthread_once(&opened, collators_open);
    return collators[COLLATION_UND] && collators[COLLATION_TR];
}

static uint32_t packed_version(const UVersionInfo v)
{
    return (uint32_t)v[0] << 24 | (uint32_t)v[1] << 16 | (uint32_t)v[2] << 8 | v[3];
}

uint64_t collation_version(collation collate)
{
    UVersionInfo rules, library;

    if (collate == COLLATION_NONE || !collation_available())
        return 0;
    ucol_getVersion(collators[collate], rules);
    u_getVersion(library);
    return (uint64_t)packed_version(rules) << 32 | packed_version(library);
}

/* ICU makes keys of UTF-16 alone: one unit for each byte is room enough. The text is valid. */
static int32_t widen(UChar *out, const uint8_t *text, size_t len)
{
    int32_t count = 0;

    for (size_t i = 0; i < len;) {
        uint32_t lead = text[i++];
        int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
        uint32_t c = more ? lead & (0x3Fu >> more) : lead;
        for (; more > 0 && i < len; more--)
            c = c << 6 | (text[i++] & 0x3F);
        if (c < 0x10000) {
            out[count++] = (UChar)c;
        } else {
            out[count++] = (UChar)(0xD7C0 + (c >> 10));
            out[count++] = (UChar)(0xDC00 + (c & 0x3FF));
        }
    }
    return count;
}

/* Appends the key of the units, its closing 0 included. */
static bool put_sort_key(buffer *out, const UCollator *c, const UChar *units, int32_t count)
{
    uint8_t few[512], *bytes = few;
    int32_t len = ucol_getSortKey(c, units, count, few, sizeof few);
    bool made = len > 0;

    if (len > (int32_t)sizeof few) {
        int32_t room = len;
        bytes = memory_alloc((size_t)room);
        out->failed |= !bytes;
        len = bytes ? ucol_getSortKey(c, units, count, bytes, room) : 0;
        made = len == room;
    }
    if (made)
        buffer_put(out, bytes, (size_t)len);
    if (bytes != few)
        memory_free(bytes);
    return made;
}

bool collation_key(buffer *out, collation collate, const uint8_t *text, size_t len)
{
    enum { FEW = 256 };
    UChar few[FEW], *units = few;
    bool made = true;

    if (collate != COLLATION_NONE) {
        if (!collation_available() || len > INT32_MAX / 4)
            return false;
        if (len > FEW)
            units = memory_alloc(len * sizeof *units);
        out->failed |= !units;
        made = units && put_sort_key(out, collators[collate], units, widen(units, text, len));
        if (units != few)
            memory_free(units);
    }
    if (made)
        buffer_put(out, text, len);
    return made;
}

int collation_compare(collation collate, const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    UErrorCode status = U_ZERO_ERROR;

    pthread_once(&opened, collators_open);
    if (collate != COLLATION_NONE && collators[collate] && a_len <= INT32_MAX && b_len <= INT32_MAX) {
        UCollationResult order = ucol_strcollUTF8(collators[collate], (const char *)a, (int32_t)a_len,
                                                  (const char *)b, (int32_t)b_len, &status);
        if (U_SUCCESS(status) && order != UCOL_EQUAL)
            return order == UCOL_LESS ? -1 : 1;
    }
    return compare_octets(a, a_len, b, b_len);
}

#else

bool collation_available(void)
{
    return false;
}

uint64_t collation_version(collation collate)
{
    (void)collate;
    return 0;
}

bool collation_key(buffer *out, collation collate, const uint8_t *text, size_t len)
{
    if (collate == COLLATION_NONE)
        buffer_put(out, text, len);
    return collate == COLLATION_NONE;
}

int collation_compare(collation collate, const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    (void)collate;
    return compare_octets(a, a_len, b, b_len);
}

#endif
