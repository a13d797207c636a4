#include "value/collation.h"

#include <string.h>

#ifndef FENEC_ICU
#define FENEC_ICU 1
#endif

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

int collation_compare(collation collate, const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    (void)collate;
    return compare_octets(a, a_len, b, b_len);
}

#endif
