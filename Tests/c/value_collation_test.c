#include "value/collation.h"

#include "base/thread.h"
#include "value/key.h"
#include "value_make.h"

#ifndef FENEC_ICU
#define FENEC_ICU 1
#endif

static int compare(collation c, const char *a, const char *b)
{
    int order = collation_compare(c, (const uint8_t *)a, strlen(a), (const uint8_t *)b, strlen(b));

    return (order > 0) - (order < 0);
}

/* Every pair of a list in its order. */
static void check_sorted(collation c, const char *const texts[], int n, int line)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (compare(c, texts[i], texts[j]) != (i > j) - (i < j))
                test_failed(__FILE__, line, "%s and %s compare as %d", texts[i], texts[j],
                            compare(c, texts[i], texts[j]));
}

#define CHECK_SORTED(c, ...)                                                              \
    check_sorted(c, (const char *[]){__VA_ARGS__},                                        \
                 (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), __LINE__)

TEST(without_a_collation_text_orders_by_bytes)
{
    CHECK_SORTED(COLLATION_NONE, "Irmak", "Zeynep", "cem", "Çağla", "İlker", "ılgaz");
    CHECK_SORTED(COLLATION_NONE, "", "Z", "a", "ab", "z", "é");
}

TEST(collations_order_as_the_table_of_chapter_3)
{
    if (!collation_available())
        return;
    CHECK_SORTED(COLLATION_UND, "Çağla", "cem", "İlker", "Irmak", "ılgaz", "Zeynep");
    CHECK_SORTED(COLLATION_TR, "cem", "Çağla", "ılgaz", "Irmak", "İlker", "Zeynep");
    CHECK_SORTED(COLLATION_UND, "anna", "Émile", "Zoë", "Ζωή", "Борис", "山田");
    CHECK_SORTED(COLLATION_TR, "anna", "Émile", "Zoë", "Ζωή", "Борис", "山田");
    CHECK_SORTED(COLLATION_UND, "ince", "Ince", "İnce", "ınce");
    CHECK_SORTED(COLLATION_TR, "ınce", "Ince", "ince", "İnce");
    CHECK_SORTED(COLLATION_UND, "_coop", "1 coop", "co op", "co-op", "coop", "Coop", "cope");
    CHECK_SORTED(COLLATION_TR, "_coop", "1 coop", "co op", "co-op", "coop", "Coop", "cope");
    CHECK_SORTED(COLLATION_UND, "kar", "Kar", "kâr", "kara");
    CHECK_SORTED(COLLATION_UND, "10", "9");
}

TEST(turkish_letters_have_places_of_their_own)
{
    if (!collation_available())
        return;
    CHECK_SORTED(COLLATION_TR, "c", "cz", "ç", "Ç", "d", "g", "gz", "ğ", "Ğ", "h", "hz", "ı", "I", "i",
                 "İ", "j", "o",
                 "oz", "ö", "Ö", "p", "s", "sz", "ş", "Ş", "t", "u", "uz", "ü", "Ü", "v");
}

TEST(different_texts_never_tie)
{
    if (!collation_available())
        return;
    /* A composed and a decomposed letter differ in bytes alone; so does a text with a control in it. */
    CHECK_INT(compare(COLLATION_UND, "\xC3\xA9", "e\xCC\x81"), 1);
    CHECK_INT(compare(COLLATION_UND, "a\x01", "a"), 1);
    CHECK_INT(compare(COLLATION_UND, "a", "a"), 0);
}

TEST(collations_reach_into_lists_and_not_into_objects)
{
    arena a;

    arena_init(&a);
    if (collation_available()) {
        value x = LIST(&a, make_text("Z")), y = LIST(&a, make_text("a"));
        CHECK(value_compare(&x, &y) < 0);
        CHECK(value_compare_in(COLLATION_UND, &x, &y) > 0);
        x = OBJECT(&a, make_text("k"), make_text("Z"));
        y = OBJECT(&a, make_text("k"), make_text("a"));
        CHECK(value_compare_in(COLLATION_UND, &x, &y) < 0);
        value n = value_int(3), text = make_text("a");
        CHECK(value_compare_in(COLLATION_UND, &n, &text) < 0);
    }
    arena_clear(&a);
}

static void compare_often(void *wrong)
{
    for (int i = 0; i < 2000; i++)
        *(int *)wrong += compare(COLLATION_TR, "ılgaz", "İlker") != -1 ||
                         compare(COLLATION_UND, "Zoë", "Émile") != 1;
}

TEST(threads_compare_with_one_collator)
{
    thread threads[4];
    int wrong[4] = {0}, started = 0;

    if (!collation_available())
        return;
    while (started < 4 && thread_start(&threads[started], compare_often, &wrong[started]))
        started++;
    CHECK_INT(started, 4);
    while (started > 0) {
        thread_join(&threads[--started]);
        CHECK_INT(wrong[started], 0);
    }
}

/* ---- random texts ---- */

static size_t put_code_point(uint8_t *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (uint8_t)(0xC0 | c >> 6);
        to[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (uint8_t)(0xE0 | c >> 12);
        to[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        to[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (uint8_t)(0xF0 | c >> 18);
    to[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    to[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    to[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

/* Letters alike, marks that compose and that do not, vowels written before their consonant, Hangul as
 * syllables and jamo, Han, punctuation, controls, unassigned code points and noncharacters. */
static uint32_t random_code_point(uint64_t *state)
{
    static const uint32_t alike[] = {'a', 'A', 'b', 'i', 'I', 0x130, 0x131, 'c', 0xE7, 'g', 0x11F, 'o', 0xF6, 's',
                                     0x15F, 'u', 0xFC, 'e', 0xE9, 'k', ' ', '-', '_', '1', '9', '0', 0xDF, 0x1E9E,
                                     0x17F, 0x2D, 0xAD, 0x200B, 0xE6, 'z', 0x3C3, 0x3C2, 0x394, 0x430, 0x4E00, 0x5C71};
    static const uint32_t marks[] = {0x300, 0x301, 0x302, 0x307, 0x308, 0x323, 0x327, 0x328, 0x334, 0x345, 0x5B0, 0x64B};
    uint32_t c = 0;

    switch (test_random(state) % 12) {
    case 0: return marks[test_random(state) % (sizeof marks / sizeof *marks)];
    case 1: return 0xE40 + (uint32_t)(test_random(state) % 5); /* Thai vowels before their consonant */
    case 2: return 0xE01 + (uint32_t)(test_random(state) % 46);
    case 3: return test_random(state) % 2 ? 0xEC0 + (uint32_t)(test_random(state) % 5) : 0xE81;
    case 4: return 0xAC00 + (uint32_t)(test_random(state) % 11172);
    case 5: return 0x1100 + (uint32_t)(test_random(state) % 256);
    case 6:
        do
            c = (uint32_t)(test_random(state) % 0x110000);
        while (c >= 0xD800 && c < 0xE000);
        return c;
    case 7: return (uint32_t)(test_random(state) % 0x250);
    default: return alike[test_random(state) % (sizeof alike / sizeof *alike)];
    }
}

static size_t random_text(uint64_t *state, uint8_t *to)
{
    size_t len = 0;

    for (uint64_t n = test_random(state) % 8; n > 0; n--)
        len += put_code_point(to + len, random_code_point(state));
    return len;
}

/* A text, and one that differs from it in little or in nothing. */
static void random_pair(uint64_t *state, uint8_t a[64], size_t *a_len, uint8_t b[64], size_t *b_len)
{
    *a_len = random_text(state, a);
    if (test_random(state) % 2) {
        *b_len = random_text(state, b);
        return;
    }
    memcpy(b, a, *a_len);
    *b_len = *a_len + (test_random(state) % 4 ? put_code_point(b + *a_len, random_code_point(state)) : 0);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static int order_keys(const buffer *a, const buffer *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order = len ? memcmp(a->bytes, b->bytes, len) : 0;

    return order ? sign(order) : (a->len > b->len) - (a->len < b->len);
}

static void failed_pair(int line, collation c, const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len, int got,
                        int want)
{
    char hex[300], *at = hex;

    for (size_t i = 0; i < a_len; i++)
        at += sprintf(at, "%02x", a[i]);
    at += sprintf(at, " and ");
    for (size_t i = 0; i < b_len; i++)
        at += sprintf(at, "%02x", b[i]);
    test_failed(__FILE__, line, "in collation %d %s order %d, not %d", (int)c, hex, got, want);
}

TEST(keys_of_a_collation_order_as_it_compares)
{
    uint64_t state = test_seed();
    buffer k, l;

    if (!collation_available())
        return;
    buffer_init(&k);
    buffer_init(&l);
    for (int i = 0; i < 100000; i++) {
        collation c = i % 2 ? COLLATION_UND : COLLATION_TR;
        uint8_t a[64], b[64];
        size_t a_len, b_len;
        random_pair(&state, a, &a_len, b, &b_len);
        k.len = l.len = 0;
        CHECK(collation_key(&k, c, a, a_len) && collation_key(&l, c, b, b_len));
        int want = sign(collation_compare(c, a, a_len, b, b_len));
        if (order_keys(&k, &l) != want)
            failed_pair(__LINE__, c, a, a_len, b, b_len, order_keys(&k, &l), want);
    }
    buffer_clear(&k);
    buffer_clear(&l);
}

TEST(keys_of_long_texts_are_tied_and_told_apart)
{
    static uint8_t text[5000];
    buffer k, l;

    if (!collation_available())
        return;
    buffer_init(&k);
    buffer_init(&l);
    memset(text, 'a', sizeof text);
    value v = value_text(text, sizeof text), w = value_text(text, sizeof text - 1), s = value_text(text, 40);
    CHECK_INT(key_stored_in(&k, COLLATION_TR, &v), KEY_TIED);
    CHECK_INT(k.len, KEY_MAX);
    CHECK_INT(key_probe_in(&l, COLLATION_TR, &w), KEY_TIED);
    CHECK(l.len == KEY_MAX && memcmp(k.bytes, l.bytes, KEY_EXACT_MAX) == 0 && memcmp(k.bytes, l.bytes, KEY_MAX) != 0);
    l.len = 0;
    CHECK_INT(key_stored_in(&l, COLLATION_TR, &s), KEY_EXACT);
    CHECK(order_keys(&l, &k) < 0);
    v = value_null();
    l.len = 0;
    CHECK_INT(key_stored_in(&l, COLLATION_TR, &v), KEY_EXACT);
    CHECK(l.len == 1 && l.bytes[0] == KEY_NULL);
    CHECK_INT(key_probe_in(&l, COLLATION_TR, &v), KEY_SCAN);
    v = value_int(7);
    CHECK_INT(key_probe_in(&l, COLLATION_TR, &v), KEY_SCAN);
    buffer_clear(&k);
    buffer_clear(&l);
}

TEST(versions_of_collations_are_told)
{
    CHECK_INT(collation_version(COLLATION_NONE), 0);
    CHECK((collation_version(COLLATION_UND) != 0) == collation_available());
    CHECK((collation_version(COLLATION_TR) != 0) == collation_available());
}

#if FENEC_ICU

#include <unicode/ucol.h>
#include <unicode/ustring.h>

/* The chapter's settings, through the other form of texts that ICU takes. */
static UCollator *chapters_own(const char *locale)
{
    UErrorCode status = U_ZERO_ERROR;
    UCollator *c = ucol_open(locale, &status);

    ucol_setAttribute(c, UCOL_STRENGTH, UCOL_TERTIARY, &status);
    ucol_setAttribute(c, UCOL_ALTERNATE_HANDLING, UCOL_NON_IGNORABLE, &status);
    ucol_setAttribute(c, UCOL_NORMALIZATION_MODE, UCOL_OFF, &status);
    CHECK(U_SUCCESS(status));
    return c;
}

TEST(collations_order_as_icu_does_by_the_settings_of_chapter_3)
{
    uint64_t state = test_seed();
    UCollator *own[] = {chapters_own("root"), chapters_own("tr")};

    for (int i = 0; i < 100000; i++) {
        collation c = i % 2 ? COLLATION_TR : COLLATION_UND;
        uint8_t a[64], b[64];
        size_t a_len, b_len;
        UChar x[64], y[64];
        int32_t x_len, y_len;
        UErrorCode status = U_ZERO_ERROR;
        random_pair(&state, a, &a_len, b, &b_len);
        u_strFromUTF8(x, 64, &x_len, (const char *)a, (int32_t)a_len, &status);
        u_strFromUTF8(y, 64, &y_len, (const char *)b, (int32_t)b_len, &status);
        CHECK(U_SUCCESS(status));
        int want = ucol_strcoll(own[i % 2], x, x_len, y, y_len);
        size_t len = a_len < b_len ? a_len : b_len;
        if (!want)
            want = len && memcmp(a, b, len) ? sign(memcmp(a, b, len)) : (a_len > b_len) - (a_len < b_len);
        int got = sign(collation_compare(c, a, a_len, b, b_len));
        if (got != sign(want))
            failed_pair(__LINE__, c, a, a_len, b, b_len, got, sign(want));
    }
    ucol_close(own[0]);
    ucol_close(own[1]);
}

#endif
