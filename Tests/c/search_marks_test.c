#include "base/memory.h"
#include "base/utf8.h"
#include "search/marks.h"
#include "test.h"

static const analysis plain = {.prefix_min = 3};

typedef struct asked {
    const analysis *how;
    const char *query;
    uint32_t fuzzy;
    bool prefix;
    uint32_t words; /* 0: highlight */
    mark_style style;
} asked;

static mark_text text_of(const char *text)
{
    return (mark_text){(const uint8_t *)text, strlen(text)};
}

/* The JSON; stays until the next call but three. */
static const char *marked(const asked *a, const char *text)
{
    static char *kept[4];
    static int next;
    buffer out;
    arena memory;
    size_t len;
    query q;
    error err;

    arena_init(&memory);
    buffer_init(&out);
    CHECK_INT(query_make(&q, a->how, (const uint8_t *)a->query, strlen(a->query), a->fuzzy, a->prefix, &memory, &err),
              FENEC_OK);
    int rc = a->words ? marks_snippet(&q, a->how, text_of(text), a->words, &a->style, &out, &err)
                      : marks_highlight(&q, a->how, text_of(text), &a->style, &out, &err);
    CHECK_INT(rc, FENEC_OK);
    memory_free(kept[next]);
    kept[next] = buffer_take(&out, &len);
    const char *found = kept[next];
    next = (next + 1) % 4;
    arena_clear(&memory);
    return found;
}

static const char *highlight(const char *text, const char *words)
{
    return marked(&(asked){.how = &plain, .query = words}, text);
}

static const char *snippet(const char *text, const char *words, uint32_t count, const char *ellipsis, const char *pre,
                           const char *post)
{
    asked a = {.how = &plain, .query = words, .words = count};

    if (ellipsis)
        a.style.ellipsis = text_of(ellipsis);
    if (pre) {
        a.style.tagged = true;
        a.style.before = text_of(pre);
        a.style.after = text_of(post);
    }
    return marked(&a, text);
}

/* ---- chapter 4 section 6.1 ---- */

TEST(highlight_marks_what_the_query_asks_for)
{
    const analysis five = {.prefix_min = 3, .prefix_max = 5};

    CHECK_TEXT(highlight("Rain, rain. Rainy", "rain"), "[[0,4],[6,10]]");
    CHECK_TEXT(highlight("İnegöl'de INEGÖL", "inegöl"), "[[0,6],[10,16]]");
    CHECK_TEXT(highlight("大阪城に", "大阪城"), "[[0,3]]");
    CHECK_TEXT(highlight("o\xCC\x81pera", "o"), "[[0,2]]");
    CHECK_TEXT(highlight("dial 7\xEF\xB8\x8F\xE2\x83\xA3", "7"), "[[5,8]]");
    CHECK_TEXT(highlight("🐙 tea", "tea"), "[[3,6]]");
    CHECK_TEXT(marked(&(asked){.how = &five, .query = "defter"}, "defterlerin kalem deftere"), "[[0,11],[18,25]]");
    CHECK_TEXT(highlight("nothing here", "rain"), "[]");
    CHECK_TEXT(highlight("", "rain"), "[]");
    CHECK_TEXT(highlight("rain", ""), "[]");
}

TEST(highlight_marks_words_that_are_near_or_begun)
{
    CHECK_TEXT(marked(&(asked){.how = &plain, .query = "rockey", .fuzzy = 1}, "a rocket, rocky"), "[[2,8],[10,15]]");
    CHECK_TEXT(marked(&(asked){.how = &plain, .query = "old keyb", .prefix = true}, "oldest keyboard, old KEYB"),
               "[[7,15],[17,20],[21,25]]");
    CHECK_TEXT(marked(&(asked){.how = &plain, .query = "lamq", .fuzzy = 2}, "lamp"), "[]");
}

TEST(highlight_tags_without_touching_the_text)
{
    asked a = {.how = &plain, .query = "rain", .style = {.tagged = true, .before = text_of("<b>"), .after = text_of("</b>")}};

    CHECK_TEXT(marked(&a, "Rain & \"rain\""), "\"<b>Rain</b> & \\\"<b>rain</b>\\\"\"");
    CHECK_TEXT(marked(&a, "<i>"), "\"<i>\"");
}

TEST(highlight_merges_pairs_found_in_any_order)
{
    const analysis chars = {.chars = true};

    CHECK_TEXT(marked(&(asked){.how = &chars, .query = "岛"}, "青岛港岛"), "[[1,2],[3,4]]");
    CHECK_TEXT(marked(&(asked){.how = &chars, .query = "青岛"}, "港青岛青"), "[[1,4]]");
}

/* ---- section 6.2 ---- */

TEST(snippet_chooses_the_window_with_most_marks)
{
    const char *pier = "lantern on the old pier beside seven grey fishing boats";

    CHECK_TEXT(snippet(pier, "pier", 4, "…", "[", "]"), "\"…the old [pier] beside…\"");
    CHECK_TEXT(snippet("(aa) bb, cc! dd ee", "cc", 2, "~", NULL, NULL), "{\"marks\":[[5,7]],\"text\":\"~bb, cc~\"}");
    CHECK_TEXT(snippet("(aa) bb.", "cc", 2, "~", NULL, NULL), "{\"marks\":[],\"text\":\"(aa) bb.\"}");
    CHECK_TEXT(snippet("(aa) bb, cc! dd ee", "zz", 2, "~", NULL, NULL), "{\"marks\":[],\"text\":\"(aa) bb~\"}");
    CHECK_TEXT(snippet("aa bb cc dd ee.", "ee", 2, NULL, "<", ">"), "\"dd <ee>.\"");
    CHECK_TEXT(snippet("aa bb cc dd ee ff gg", "aa gg ff", 3, "~", "<", ">"), "\"~ee <ff> <gg>\"");
    CHECK_TEXT(snippet("🐙 aa bb 大阪城", "大阪", 2, "…", NULL, NULL), "{\"marks\":[[4,5]],\"text\":\"…bb 大…\"}");
}

TEST(snippet_cuts_marks_at_the_edges_of_its_window)
{
    CHECK_TEXT(snippet("大阪城公園", "大阪城公園", 2, "~", NULL, NULL), "{\"marks\":[[0,2]],\"text\":\"大阪~\"}");
}

/* ---- whatever the text ---- */

static const char *const pieces[] = {"rain", "Rain", " ", ", ", "大", "阪", "城", "ส", "วั", "o\xCC\x81", "🐙", "\xCC\x87",
                                     "İ", "7\xEF\xB8\x8F", "\xE2\x80\x8D", "\xE1\x85\xA0", "b", "rainy", "."};

static size_t draw_text(uint64_t *state, char *out, uint32_t most)
{
    size_t len = 0;

    out[0] = 0;
    for (uint64_t n = test_random(state) % most; n > 0; n--) {
        const char *piece = pieces[test_random(state) % (sizeof pieces / sizeof *pieces)];
        memcpy(out + len, piece, strlen(piece) + 1);
        len += strlen(piece);
    }
    return len;
}

static uint64_t units(const char *text)
{
    uint64_t n = 0;

    for (const uint8_t *p = (const uint8_t *)text; *p; p++)
        n += ((*p & 0xC0) != 0x80) + (*p >= 0xF0);
    return n;
}

TEST(marks_stand_in_order_on_whole_characters)
{
    static char text[600], words[600];
    uint64_t state = test_seed();

    for (long round = test_scale(4000, 100000); round > 0; round--) {
        analysis how = {.prefix_min = 1, .prefix_max = (uint32_t)(test_random(&state) % 3), .chars = test_random(&state) % 2};
        asked a = {.how = &how, .query = words, .fuzzy = (uint32_t)(test_random(&state) % 3)};
        draw_text(&state, text, 40);
        draw_text(&state, words, 6);
        const char *json = marked(&a, text);
        long long before = -1, start, end;
        int read;
        for (const char *at = json + 1; sscanf(at, "[%lld,%lld]%n", &start, &end, &read) == 2; at += read + (at[read] == ',')) {
            if (start <= before || end <= start || (uint64_t)end > units(text))
                test_failed(__FILE__, __LINE__, "%s · %s: %s", text, words, json);
            before = end;
        }
        /* Tags taken out, the text is what it was. */
        a.style = (mark_style){.tagged = true, .before = text_of("{"), .after = text_of("}")};
        const char *tagged = marked(&a, text);
        char back[sizeof text * 4];
        size_t len = 0;
        for (const char *p = tagged + 1; p[1]; p++)
            if (*p != '{' && *p != '}')
                back[len++] = *p;
        back[len] = 0;
        if (strcmp(back, text))
            test_failed(__FILE__, __LINE__, "%s · %s: %s", text, words, tagged);
        a.words = 1 + (uint32_t)(test_random(&state) % 5);
        CHECK(marked(&a, text) != NULL);
    }
}

TEST(marks_take_long_texts_of_extenders)
{
    size_t len = 3 << 18;
    char *text = memory_alloc(len + 1);

    for (size_t i = 0; i < len; i++)
        text[i] = "\xE1\x85\xA0"[i % 3]; /* jamo: an extender that is a gram's part */
    text[len] = 0;
    const char *json = highlight(text, "\xE1\x85\xA0\xE1\x85\xA0");
    char want[40];
    snprintf(want, sizeof want, "[[0,%zu]]", len / 3);
    CHECK_TEXT(json, want);
    memory_free(text);
}
