#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "test.h"

TEST(arena_memory_is_aligned_and_goes_back_to_a_mark)
{
    arena a;

    arena_init(&a);
    void *empty = arena_alloc(&a, 0);
    CHECK(empty != NULL);
    for (size_t len = 1; len < 100000; len = len * 3 + 1) {
        arena_mark mark = arena_here(&a);
        uint8_t *p = arena_zeroed(&a, len);
        CHECK(p && (uintptr_t)p % 16 == 0 && p[0] == 0 && p[len - 1] == 0);
        memset(p, 0xAA, len);
        arena_rewind(&a, mark);
        uint8_t *q = arena_alloc(&a, len);
        CHECK(q != NULL);
        memset(q, 0xBB, len);
    }
    char *copy = arena_copy(&a, "ab\0c", 4);
    CHECK(copy && memcmp(copy, "ab\0c\0", 5) == 0);
    arena_reset(&a);
    CHECK(arena_alloc(&a, 10) != NULL);
    CHECK(arena_alloc(&a, SIZE_MAX) == NULL);
    arena_clear(&a);
    CHECK(arena_alloc(&a, 10) != NULL);
    arena_clear(&a);
}

TEST(arena_answers_null_where_memory_ran_out)
{
    arena a;

    arena_init(&a);
    memory_fail_after(0);
    CHECK(arena_alloc(&a, 1) == NULL);
    CHECK(arena_copy(&a, "x", 1) == NULL);
    memory_fail_after(-1);
    CHECK(arena_alloc(&a, 1) != NULL);
    arena_clear(&a);
}

TEST(pages_are_zeroed_and_aligned_and_fail_where_memory_runs_out)
{
    static const size_t alignments[] = {64, 4096, 2u * 1024 * 1024};

    for (int i = 0; i < 3; i++) {
        const size_t len = 300001;
        uint8_t *pages = memory_pages(len, alignments[i]);
        bool zeroed = pages != NULL;
        CHECK((uintptr_t)pages % alignments[i] == 0);
        for (size_t k = 0; zeroed && k < len; k++)
            zeroed = pages[k] == 0;
        CHECK(zeroed);
        if (pages)
            memset(pages, 1, len);
        memory_pages_free(pages, len);
    }
    memory_fail_after(0);
    CHECK(memory_pages(300001, 64) == NULL);
    memory_fail_after(-1);
    CHECK(memory_pages(SIZE_MAX - 100, 64) == NULL);
    CHECK(memory_pages(SIZE_MAX - 10000, 2u * 1024 * 1024) == NULL);
    memory_pages_free(NULL, 0);
}

TEST(buffers_grow_and_hand_their_bytes_over)
{
    buffer b;
    size_t len;

    buffer_init(&b);
    for (int i = 0; i < 1000; i++)
        buffer_printf(&b, "%d,", i % 10);
    CHECK_INT(b.len, 2000);
    buffer_text(&b, "end");
    buffer_byte(&b, '!');
    buffer_printf(&b, "%0300d", 7);
    char *text = buffer_take(&b, &len);
    CHECK_INT(len, 2304);
    CHECK(text && strlen(text) == len && memcmp(text + 1998, "9,end!0", 7) == 0);
    CHECK_INT(b.len, 0);
    memory_free(text);
    buffer_clear(&b);
}

TEST(buffers_remember_that_memory_ran_out)
{
    buffer b;
    size_t len;

    buffer_init(&b);
    buffer_text(&b, "kept");
    memory_fail_after(0);
    CHECK(buffer_reserve(&b, 10000) == NULL);
    memory_fail_after(-1);
    CHECK(b.failed);
    buffer_text(&b, "lost");
    CHECK_INT(b.len, 4);
    CHECK(buffer_take(&b, &len) == NULL);
    CHECK(!b.failed && b.len == 0 && b.bytes == NULL);
}

TEST(utf8_that_is_malformed_is_refused)
{
    static const char *const bad[] = {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xE2\x82",
                                      "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                                          "\xF5\x80\x80\x80",
                                      "\xFF", "12345678\xC3", "a\xC3z"};
    static const char *const good[] = {"", "plain text of some length", "\xC3\xA9", "\xE2\x82\xAC",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!utf8_valid((const uint8_t *)bad[i], strlen(bad[i])));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(utf8_valid((const uint8_t *)good[i], strlen(good[i])));
}

TEST(utf8_characters_read_back_as_written)
{
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        uint8_t bytes[4];
        if (c == 0xD800)
            c = 0xE000;
        size_t len = utf8_write(bytes, c);
        const uint8_t *at = bytes;
        if (!utf8_valid(bytes, len) || utf8_next(&at, bytes + len) != c || at != bytes + len)
            test_failed(__FILE__, __LINE__, "U+%04X", c);
    }
    const uint8_t broken[] = {0xE2, 0x82}, *at = broken;
    CHECK_INT(utf8_next(&at, broken + 2), UTF8_REPLACEMENT);
    CHECK(at == broken + 1);
    CHECK_INT(utf8_count((const uint8_t *)"a\xC3\xA9\xF0\x90\x80\x80", 7), 3);
    CHECK_INT(utf8_cut((const uint8_t *)"a\xC3\xA9", 2), 1);
    CHECK_INT(utf8_cut((const uint8_t *)"a\xC3\xA9", 3), 3);
    CHECK_INT(utf8_cut((const uint8_t *)"", 0), 0);
}

TEST(varints_read_back_and_are_refused_past_64_bits)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX, UINT64_MAX - 1,
                                       UINT64_C(1) << 63};
    buffer b;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t back = 0;
        buffer_init(&b);
        varint_put(&b, numbers[i]);
        CHECK(b.len <= VARINT_MAX);
        const uint8_t *at = b.bytes, *end = b.bytes + b.len;
        CHECK(varint_get(&at, end, &back) && back == numbers[i] && at == end);
        for (const uint8_t *cut = b.bytes; cut < end; cut++) {
            at = b.bytes;
            CHECK(!varint_get(&at, cut, &back) && at == b.bytes);
        }
        buffer_clear(&b);
    }
    const uint8_t over[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}, *at = over;
    uint64_t n;
    CHECK(!varint_get(&at, over + sizeof over, &n));
}

static void check_hash(const char *text, const char *want)
{
    uint8_t hash[16];
    char hex[33];

    hash128(hash, text, strlen(text));
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    CHECK_TEXT(hex, want);
}

TEST(hash128_is_that_of_the_files)
{
    /* Known answers of MurmurHash3_x64_128 with seed 0. */
    check_hash("", "00000000000000000000000000000000");
    check_hash("hello", "029bbd41b3a7d8cb191dae486a901e5b");
    check_hash("The quick brown fox jumps over the lazy dog", "6c1b07bc7bbc4be347939ac4a93c437a");
}

TEST(hash64_tells_every_length_and_byte_apart)
{
    uint8_t bytes[64] = {0};
    uint64_t seen[65 + 64];
    int n = 0;

    for (size_t len = 0; len <= 64; len++)
        seen[n++] = hash64(bytes, len);
    for (size_t i = 0; i < 64; i++) {
        bytes[i] = 1;
        seen[n++] = hash64(bytes, 64);
        bytes[i] = 0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            CHECK(seen[i] != seen[j]);
}

TEST(crc32c_gives_the_check_values_and_goes_on_in_parts)
{
    uint8_t bytes[100];
    uint64_t state = test_seed();

    CHECK_INT(crc32c(0, "123456789", 9), 0xE3069283u);
    memset(bytes, 0, 32);
    CHECK_INT(crc32c(0, bytes, 32), 0x8A9136AAu); /* RFC 3720 */
    memset(bytes, 0xFF, 32);
    CHECK_INT(crc32c(0, bytes, 32), 0x62A8AB43u);
    CHECK_INT(crc32c(0, "", 0), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(&state);
    uint32_t whole = crc32c(0, bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; cut++)
        CHECK(crc32c(crc32c(0, bytes, cut), bytes + cut, sizeof bytes - cut) == whole);
}

TEST(errors_keep_a_code_and_a_message_cut_at_a_character)
{
    error err;
    char longer[2000];

    error_init(&err);
    CHECK_INT(err.code, FENEC_OK);
    CHECK_INT(fail(&err, FENEC_TYPE, "field `%s`", "n"), FENEC_TYPE);
    CHECK_INT(err.code, FENEC_TYPE);
    CHECK_TEXT(err.message, "field `n`");
    for (size_t i = 0; i + 2 < sizeof longer; i += 2)
        memcpy(longer + i, "\xC3\xA9", 3);
    fail(&err, FENEC_QUERY, "%s", longer);
    CHECK_INT(strlen(err.message), ERROR_MESSAGE_MAX - 2);
    CHECK(utf8_valid((const uint8_t *)err.message, strlen(err.message)));
    fail(&err, FENEC_IO, "cannot open %.4s: %s", "/a\xc3\xa7\xc3\xa7", "no \xff\xe2\x82such \xf0\x9f\xa6\x8a");
    CHECK_TEXT(err.message, "cannot open /a\xc3\xa7: no such \xf0\x9f\xa6\x8a");
    fail(&err, FENEC_IO, "cannot open %.3s", "/a\xc3\xa7");
    CHECK_TEXT(err.message, "cannot open /a");
    CHECK_TEXT(error_prefix(FENEC_TYPE), "type error: ");
    CHECK_TEXT(error_prefix(FENEC_UNMET), "unmet: ");
    CHECK_TEXT(error_prefix(FENEC_OK), "");
}

static void check_case(void (*map)(buffer *, const uint8_t *, size_t), const char *text, const char *want)
{
    buffer b;
    size_t len;

    buffer_init(&b);
    map(&b, (const uint8_t *)text, strlen(text));
    char *got = buffer_take(&b, &len);
    CHECK_TEXT(got, want);
    memory_free(got);
}

TEST(names_take_letters_of_every_script)
{
    CHECK(unicode_is_name_start('a') && unicode_is_name_start('Z') && unicode_is_name_start('_'));
    CHECK(!unicode_is_name_start('1') && unicode_is_name_part('1'));
    CHECK(!unicode_is_name_part('-') && !unicode_is_name_part('.') && !unicode_is_name_part(0));
    CHECK(unicode_is_name_start(0xE7) && unicode_is_name_start(0x15F));        /* ç ş */
    CHECK(unicode_is_name_start(0x939) && unicode_is_name_start(0x93F));       /* ह and its vowel sign */
    CHECK(unicode_is_name_start(0x5C71) && unicode_is_name_start(0x24B6)); /* 山 Ⓐ */
    CHECK(!unicode_is_name_part(0x301));                                       /* a mark, not Alphabetic */
    CHECK(unicode_is_name_part(0x661) && !unicode_is_name_start(0x661));       /* Nd */
    CHECK(unicode_is_name_part(0xBD) && !unicode_is_name_start(0xBD));         /* No */
    CHECK(unicode_is_name_start(0x2160) && unicode_is_name_part(0x3007));      /* Nl */
    CHECK(!unicode_is_name_part(0x1F600) && !unicode_is_name_part(0x10FFFF));
    CHECK(unicode_is_name_start(0x20000) && unicode_is_name_start(0x2A6DF));   /* a First..Last range */
}

TEST(white_space_is_unicodes)
{
    static const uint32_t spaces[] = {9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028,
                                      0x2029, 0x202F,
                                      0x205F, 0x3000};

    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        CHECK(unicode_is_space(spaces[i]));
    CHECK(!unicode_is_space(8) && !unicode_is_space(14) && !unicode_is_space(0x200B) &&
          !unicode_is_space(0xFEFF));
}

TEST(case_maps_are_full_and_know_the_final_sigma)
{
    check_case(unicode_lower, "ABC xyz 123 [@`{", "abc xyz 123 [@`{");
    check_case(unicode_upper, "ABC xyz 123 [@`{", "ABC XYZ 123 [@`{");
    check_case(unicode_lower, "ÉÇĞŞ ΖΩΉ БОРИС", "éçğş ζωή борис");
    check_case(unicode_upper, "éçğş ζωή борис", "ÉÇĞŞ ΖΩΉ БОРИС");
    check_case(unicode_upper, "stra\u00DFe \u0149 \uFB03 \u0390", "STRASSE \u02BCN FFI \u0399\u0308\u0301");
    check_case(unicode_lower, "İ I", "i̇ i");
    check_case(unicode_upper, "ı i", "I I");
    check_case(unicode_lower, "ΟΔΟΣ ΣΟΦΟΣ, ΑΣΑ Σ Α'Σ ΑΣ' ΑΣ'Α", "οδος σοφος, ασα σ α'ς ας' ασ'α");
    check_case(unicode_lower, "𐐀Ǆǅ ẞ Ⓐ", "𐐨ǆǆ ß ⓐ");
    check_case(unicode_upper, "𐐨ǆǅ ⓐ ᾳ", "𐐀ǄǄ Ⓐ ΑΙ");
    check_case(unicode_lower, "", "");
}

static lock shared_lock;
static condition shared_condition;
static int shared_count;

static void count_up(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++) {
        lock_take(&shared_lock);
        shared_count++;
        condition_signal(&shared_condition);
        lock_leave(&shared_lock);
    }
}

TEST(threads_lock_wait_and_are_joined)
{
    thread threads[4];

    CHECK(lock_init(&shared_lock, LOCK_POOL) && condition_init(&shared_condition));
    shared_count = 0;
    for (int i = 0; i < 4; i++)
        CHECK(thread_start(&threads[i], count_up, NULL));
    lock_take(&shared_lock);
    while (shared_count < 4000)
        condition_wait(&shared_condition, &shared_lock);
    CHECK(!condition_wait_ms(&shared_condition, &shared_lock, 0));
    lock_leave(&shared_lock);
    for (int i = 0; i < 4; i++)
        thread_join(&threads[i]);
    CHECK_INT(shared_count, 4000);
    condition_destroy(&shared_condition);
    lock_destroy(&shared_lock);
}

TEST(locks_taken_out_of_order_are_counted_in_checking_builds)
{
    lock writer = LOCK_INIT(LOCK_WRITER), leaf = LOCK_INIT(LOCK_LEAF);
    uint64_t before = lock_order_violations();

    lock_take(&writer);
    lock_take(&leaf);
    lock_leave(&writer);
    lock_leave(&leaf);
    CHECK_INT(lock_order_violations() - before, 0);
#ifdef FENEC_LOCK_ORDER
    before = lock_order_violations();
    lock_take(&leaf);
    lock_take(&writer);
    lock_leave(&writer);
    lock_leave(&leaf);
    CHECK_INT(lock_order_violations() - before, 1);
#endif
}

TEST(the_clock_can_be_set_by_a_test)
{
    clock_set_ms(1709634030000);
    CHECK_INT(clock_now_ms(), 1709634030000);
    clock_set_ms(-1);
    CHECK(clock_now_ms() > 1709634030000);
    CHECK(clock_monotonic_us() <= clock_monotonic_us());
}
