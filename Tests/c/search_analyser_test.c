#include "base/buffer.h"
#include "base/memory.h"
#include "search/analyser.h"
#include "search/edits.h"
#include "test.h"

static int note(void *to, const term *t, error *err)
{
    (void)err;
    if (((buffer *)to)->len)
        buffer_byte(to, ' ');
    buffer_put(to, t->bytes, t->len);
    return FENEC_OK;
}

/* The terms of a text, a space between them; stays until the next call but three. */
static const char *terms_with(const analysis *how, const char *text)
{
    static char *kept[4];
    static int next;
    buffer out;
    size_t len;
    error err;

    buffer_init(&out);
    CHECK_INT(analyse(how, (const uint8_t *)text, strlen(text), note, &out, &err), FENEC_OK);
    memory_free(kept[next]);
    kept[next] = buffer_take(&out, &len);
    const char *found = kept[next];
    next = (next + 1) % 4;
    return found;
}

static const char *terms(const char *text)
{
    const analysis plain = {.prefix_min = 3};

    return terms_with(&plain, text);
}

/* ---- chapter 4 section 2.1 ---- */

TEST(analyser_cuts_texts_into_runs)
{
    CHECK_TEXT(terms("Ada's notes: v1.5"), "ada s notes v1 5");
    CHECK_TEXT(terms("a_b-c.d"), "a b c d");
    CHECK_TEXT(terms("x² + 3.14"), "x² 3 14");
    CHECK_TEXT(terms("slow🐙fish"), "slow fish");
    CHECK_TEXT(terms("o\xCC\x81pera"), "o pera");
    CHECK_TEXT(terms(""), "");
    CHECK_TEXT(terms(" \t.,;!?\n"), "");
    CHECK_TEXT(terms("½ Ⅷ"), "½ ⅷ");
    CHECK_TEXT(terms("\xCC\x87"), "");          /* nothing but U+0307 */
    CHECK_TEXT(terms("\xCC\x87\xCC\x87 a"), "a");
    CHECK_TEXT(terms("don’t 7\xEF\xB8\x8F\xE2\x83\xA3"), "don t 7");
    CHECK_TEXT(terms("क्या"), "क या"); /* a virama is not alphabetic */
}

/* ---- section 2.2 ---- */

TEST(analyser_pairs_scripts_written_without_spaces)
{
    CHECK_TEXT(terms("大阪城へ"), "大阪 阪城 城へ");
    CHECK_TEXT(terms("港"), "港");
    CHECK_TEXT(terms("도서관에 간다"), "도서 서관 관에 간다");
    CHECK_TEXT(terms("สวัสดี"), "สวั วัส ัสด สดี");
    CHECK_TEXT(terms("ดี"), "ดี");
    CHECK_TEXT(terms("Model3汽车 2031年"), "model3 汽车 2031 年");
    CHECK_TEXT(terms("東京とソウル서울"), "東京 京と とソ ソウ ウル ル서 서울");
    CHECK_TEXT(terms("ＡＩ大阪"), "ai 大阪");
    CHECK_TEXT(terms("ດີ ກາເຟ"), "ດີ ກາເ າເຟ");
}

TEST(analyser_adds_single_characters_where_asked)
{
    const analysis chars = {.chars = true};

    CHECK_TEXT(terms_with(&chars, "青岛港"), "青 岛 青岛 港 岛港");
    CHECK_TEXT(terms_with(&chars, "港"), "港");
    CHECK_TEXT(terms_with(&chars, "ดี สวัส"), "ดี สวั วัส");
    CHECK_TEXT(terms_with(&chars, "a港b"), "a 港 b");
}

TEST(analyser_drops_words_that_fold_to_nothing)
{
    CHECK_TEXT(terms("大\xCC\x87阪"), "大 阪"); /* U+0307 has size 0 and cuts the stretch */
    CHECK_TEXT(terms("a\xCC\x87\xCC\x87"), "a");
}

/* ---- section 2.3 ---- */

TEST(analyser_folds_without_context)
{
    CHECK_TEXT(terms("İzmit IZMIT izmit ızmıt I\xCC\x87zmit"), "izmit izmit izmit izmit izmit");
    CHECK_TEXT(terms("sır sir SIR"), "sir sir sir");
    CHECK_TEXT(terms("STRAßE"), "straße");
    CHECK_TEXT(terms("ΟΔΟΣ οδός"), "οδοσ οδός");
    CHECK_TEXT(terms("CAFÉ Köln"), "café köln");
    CHECK_TEXT(terms("ＡＩ２０"), "ai20");
    CHECK_TEXT(terms("Ⱥ ẞ Ǆ"), "ⱥ ß ǆ");
}

/* ---- section 2.4 ---- */

TEST(analyser_adds_prefixes)
{
    const analysis five = {.prefix_min = 3, .prefix_max = 5}, one = {.prefix_min = 0, .prefix_max = 1};
    const analysis off = {.prefix_min = 6, .prefix_max = 5};

    CHECK_TEXT(terms_with(&five, "gardens ivy"), "gardens ^gar ^gard ^garde ivy");
    CHECK_TEXT(terms_with(&five, "gardener"), "gardener ^gar ^gard ^garde");
    CHECK_TEXT(terms_with(&five, "gard"), "gard ^gar");
    CHECK_TEXT(terms_with(&five, "üüüü"), "üüüü ^üüü");
    CHECK_TEXT(terms_with(&one, "ab c"), "ab ^a c");
    CHECK_TEXT(terms_with(&off, "gardens"), "gardens");
    const analysis grams = {.prefix_min = 1, .prefix_max = 2};
    CHECK_TEXT(terms_with(&grams, "大阪"), "大阪 ^大");
    CHECK_TEXT(terms_with(&grams, "สวัส"), "สวั ^ส ^สว วัส ^ว ^วั");
}

TEST(analyser_says_what_a_term_is)
{
    CHECK_INT(term_kind_of((const uint8_t *)"word", 4), TERM_WORD);
    CHECK_INT(term_kind_of((const uint8_t *)"éa", 3), TERM_WORD);
    CHECK_INT(term_kind_of((const uint8_t *)"^wo", 3), TERM_PREFIX);
    CHECK_INT(term_kind_of((const uint8_t *)"港", 3), TERM_GRAM);
    CHECK_INT(term_kind_of((const uint8_t *)"ดี", 6), TERM_GRAM);
    CHECK_INT(term_kind_of((const uint8_t *)"𠀀", 4), TERM_GRAM);
}


static int note_span(void *to, const term *t, error *err)
{
    (void)err;
    buffer_printf(to, "%zu-%zu ", t->start, t->end);
    return FENEC_OK;
}

TEST(analyser_tells_where_terms_come_from)
{
    const analysis how = {.prefix_min = 3, .prefix_max = 3};
    buffer out;
    size_t len;
    error err;

    buffer_init(&out);
    CHECK_INT(analyse(&how, (const uint8_t *)"ÀB gardens 大阪", strlen("ÀB gardens 大阪"), note_span, &out, &err), 0);
    char *text = buffer_take(&out, &len);
    CHECK_TEXT(text, "0-3 4-11 4-11 12-18 ");
    memory_free(text);
}

TEST(analyser_takes_texts_of_any_shape)
{
    size_t len = 3 << 20;
    uint8_t *text = memory_alloc(len);
    const analysis how = {.prefix_min = 1, .prefix_max = 64, .chars = true};
    static const char *const characters[] = {"a", "A", "\xCC\x81", "\xCC\x87", "港", "ก", "́", "\xE1\x85\xA0"};
    uint64_t state = test_seed();
    error err;

    for (size_t k = 0; k < sizeof characters / sizeof *characters; k++) {
        size_t size = strlen(characters[k]);
        for (size_t i = 0; i < len; i++)
            text[i] = (uint8_t)characters[k][i % size];
        buffer out;
        buffer_init(&out);
        CHECK_INT(analyse(&how, text, len / size * size / 64, note_span, &out, &err), FENEC_OK);
        buffer_clear(&out);
    }
    /* Not even valid. */
    for (size_t i = 0; i < len; i++)
        text[i] = (uint8_t)test_random(&state);
    buffer out;
    buffer_init(&out);
    CHECK_INT(analyse(&how, text, len / 16, note_span, &out, &err), FENEC_OK);
    buffer_clear(&out);
    memory_free(text);
}

/* ---- section 5.1: edits ---- */

/* Optimal string alignment, written out over whole matrices. */
static uint32_t distance(const char *a, const char *b)
{
    uint32_t d[24][24];
    uint32_t n = (uint32_t)strlen(a), m = (uint32_t)strlen(b);

    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t k = 0; k <= m; k++) {
            uint32_t best = i ? d[i - 1][k] + 1 : k;
            if (i && k) {
                uint32_t swap = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
                best = d[i][k - 1] + 1 < best ? d[i][k - 1] + 1 : best;
                best = swap < best ? swap : best;
                if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && d[i - 2][k - 2] + 1 < best)
                    best = d[i - 2][k - 2] + 1;
            } else if (i && !k) {
                best = i;
            }
            d[i][k] = best;
        }
    return d[n][m];
}

TEST(edits_are_those_of_optimal_string_alignment)
{
    uint64_t state = test_seed();
    char a[24], b[24];
    arena memory;
    edits e;

    arena_init(&memory);
    for (long round = test_scale(20000, 400000); round > 0; round--) {
        uint32_t n = (uint32_t)(test_random(&state) % 9), m = (uint32_t)(test_random(&state) % 9);
        uint32_t budget = (uint32_t)(test_random(&state) % 3);
        for (uint32_t i = 0; i < n; i++)
            a[i] = (char)('a' + test_random(&state) % 3);
        for (uint32_t i = 0; i < m; i++)
            b[i] = (char)('a' + test_random(&state) % 3);
        a[n] = b[m] = 0;
        uint32_t want = distance(a, b);
        size_t hopeless;
        CHECK(edits_init(&e, (const uint8_t *)a, n, budget, &memory));
        uint32_t got = edits_of(&e, (const uint8_t *)b, m, &hopeless);
        if (got != (want > budget ? budget + 1 : want))
            test_failed(__FILE__, __LINE__, "%s %s within %u: %u, not %u", a, b, budget, got, want);
        if (hopeless != SIZE_MAX && got <= budget)
            test_failed(__FILE__, __LINE__, "%s %s is hopeless and near", a, b);
        arena_reset(&memory);
    }
    arena_clear(&memory);
}

TEST(edits_allowed_follow_the_length_of_the_word)
{
    CHECK_INT(edits_allowed(4, 2), 0);
    CHECK_INT(edits_allowed(5, 2), 1);
    CHECK_INT(edits_allowed(8, 2), 1);
    CHECK_INT(edits_allowed(9, 2), 2);
    CHECK_INT(edits_allowed(9, 1), 1);
    CHECK_INT(edits_allowed(100, 0), 0);
}
