#include "value/collation.h"

#include "base/thread.h"
#include "value_make.h"

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
