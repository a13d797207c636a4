#include "value/sparse.h"

#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "test.h"

static arena room;
static error err;

static const char *again(const char *text, uint32_t dimension)
{
    static char out[400];
    buffer b;
    value v;

    arena_reset(&room);
    error_init(&err);
    int code = sparse_read((const uint8_t *)text, strlen(text), dimension, &room, &v, &err);
    if (code != FENEC_OK) {
        snprintf(out, sizeof out, "%d", code);
        return out;
    }
    CHECK_INT(v.kind, VALUE_SPARSE);
    CHECK_INT(v.len, 4 + 8 * v.count);
    buffer_init(&b);
    sparse_write(&b, &v);
    snprintf(out, sizeof out, "%.*s", (int)b.len, (const char *)b.bytes);
    buffer_clear(&b);
    return out;
}

TEST(sparse_text_comes_back_in_order_without_zeros)
{
    CHECK_TEXT(again("{5:0.5, 1:2}/8", 8), "{1:2,5:0.5}/8");
    CHECK_TEXT(again("{}/8", 8), "{}/8");
    CHECK_TEXT(again("{1:0.75,4:0.5}/9", 9), "{1:0.75,4:0.5}/9");
    CHECK_TEXT(again("{4:0,2:1,3:-0.0,1:1e-60}/9", 9), "{2:1}/9");
    CHECK_TEXT(again("{3:-2.5e-7}/9", 9), "{3:-0.00000025}/9");
    CHECK_TEXT(again("{3:+1.5E+1,7:-0.5e0}/9", 9), "{3:15,7:-0.5}/9");
    CHECK_TEXT(again("{0009:0.1}/00009", 9), "{9:0.1}/9");
    CHECK_TEXT(again("{1000000000:1}/1000000000", 1000000000), "{1000000000:1}/1000000000");
    CHECK_TEXT(again("{1:3.4028235e38}/1", 1), "{1:340282350000000000000000000000000000000}/1");
}

TEST(sparse_text_takes_white_space_around_every_part)
{
    CHECK_TEXT(again(" \t{ 1 : 2 ,\n3\r:\x0C-4 } / 5 ", 5), "{1:2,3:-4}/5");
    CHECK_TEXT(again("{ } / 5", 5), "{}/5");
}

TEST(sparse_read_of_any_dimension_keeps_that_of_the_text)
{
    CHECK_TEXT(again("{2:1}/7", 0), "{2:1}/7");
    CHECK_TEXT(again("{2:1}/1000000000", 0), "{2:1}/1000000000");
    CHECK_TEXT(again("{2:1}/1000000001", 0), "1");
    CHECK_TEXT(again("{2:1}/0", 0), "1");
    CHECK_TEXT(again("{}/0", 0), "1");
    CHECK_TEXT(again("{8:1}/7", 0), "1");
}

TEST(sparse_read_refuses_what_is_malformed)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "{",
                                        "}",
                                        "{}",
                                        "{}/",
                                        "/8",
                                        "{}8",
                                        "{1:1}",
                                        "{1:1}/",
                                        "{1:1,}/8",
                                        "{,1:1}/8",
                                        "{1:1}/8x",
                                        "{1:1}/8,",
                                        "{0:1}/8",
                                        "{-1:1}/8",
                                        "{+1:1}/8",
                                        "{1.5:1}/8",
                                        "{9:1}/8",
                                        "{1:1,1:2}/8",
                                        "{2:1,1:1,2:0}/8",
                                        "{1:0,1:0}/8",
                                        "{1:NaN}/8",
                                        "{1:inf}/8",
                                        "{1:1e39}/8",
                                        "{1:-1e400}/8",
                                        "{1:.5}/8",
                                        "{1:5.}/8",
                                        "{1:1e}/8",
                                        "{1:1e+}/8",
                                        "{1:}/8",
                                        "{1}/8",
                                        "{:1}/8",
                                        "{1:1 2:1}/8",
                                        "{1:- 1}/8",
                                        "{1:+-1}/8",
                                        "{1:-+1}/8",
                                        "{1:++1}/8",
                                        "{1 0:1}/8",
                                        "{1:1}/9",
                                        "{1:1}/-8",
                                        "{1:1}/+8",
                                        "{1:1}/8.0",
                                        "{1:1}/99999999999999999999",
                                        "[1,2]",
                                        "{99999999999999999999:1}/8",
                                        "{1:0x1}/8",
                                        "{1:1_0}/8",
                                        "x{}/8",
                                        "{1:1}/8\xC2\xA0"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(again(texts[i], 8), "1"))
            test_failed(__FILE__, __LINE__, "%s is taken as %s", texts[i], again(texts[i], 8));
    CHECK(strstr(err.message, "/8") != NULL);
}

TEST(sparse_weights_are_rounded_once)
{
    value v;
    /* A little above half-way between 0.5 and the float after it; as a double exactly half-way. */
    static const char text[] = "{1:0.50000002980232238769531250000000000000000001}/1";

    CHECK_INT(sparse_read((const uint8_t *)text, sizeof text - 1, 1, &room, &v, &err), FENEC_OK);
    CHECK(bytes_f32(v.bytes + 8) == nextafterf(0.5f, 1));
}

TEST(sparse_value_holds_indices_from_0)
{
    value v;

    CHECK_INT(sparse_read((const uint8_t *)"{7:2,1:1}/9", 11, 9, &room, &v, &err), FENEC_OK);
    CHECK_INT(v.count, 2);
    CHECK_INT(sparse_dimension(&v), 9);
    CHECK_INT(bytes_u32(v.bytes + 4), 0);
    CHECK_INT(bytes_u32(v.bytes + 12), 6);
    CHECK(bytes_f32(v.bytes + 16) == 2);
}

TEST(sparse_text_of_many_entries_is_sorted)
{
    uint64_t state = test_seed();
    buffer text, want;
    uint32_t order[5000];

    buffer_init(&text);
    buffer_init(&want);
    for (uint32_t i = 0; i < 5000; i++)
        order[i] = i + 1;
    for (uint32_t i = 5000; i > 1; i--) {
        uint32_t j = (uint32_t)(test_random(&state) % i), t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
    for (uint32_t i = 0; i < 5000; i++) {
        buffer_printf(&text, "%c%u:%u", i ? ',' : '{', order[i] * 3, order[i]);
        buffer_printf(&want, "%c%u:%u", i ? ',' : '{', (i + 1) * 3, i + 1);
    }
    buffer_text(&text, "}/15000");
    buffer_text(&want, "}/15000");
    value v;
    CHECK_INT(sparse_read(text.bytes, text.len, 0, &room, &v, &err), FENEC_OK);
    text.len = 0;
    sparse_write(&text, &v);
    CHECK(text.len == want.len && !memcmp(text.bytes, want.bytes, want.len));
    buffer_clear(&text);
    buffer_clear(&want);
}

TEST(sparse_read_tells_when_memory_runs_out)
{
    value v;

    arena_clear(&room);
    memory_fail_after(0);
    CHECK_INT(sparse_read((const uint8_t *)"{1:1}/8", 7, 8, &room, &v, &err), FENEC_PANIC);
    memory_fail_after(-1);
    arena_clear(&room);
}
