#include "store/record.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "test.h"
#include "value/packed.h"

/* Packs each value on its own; a null is an empty slot. */
static void pack(buffer *bytes, record_slot_bytes slots[], const value values[], uint32_t fields)
{
    size_t starts[64];

    for (uint32_t i = 0; i < fields; i++) {
        starts[i] = bytes->len;
        if (values[i].kind != VALUE_NULL)
            packed_put(bytes, &values[i]);
    }
    for (uint32_t i = 0; i < fields; i++) {
        size_t end = i + 1 < fields ? starts[i + 1] : bytes->len;
        slots[i] = (record_slot_bytes){bytes->bytes + starts[i], end - starts[i]};
    }
}

static int64_t read_int(const record *r, uint32_t field)
{
    const uint8_t *bytes;
    size_t len;
    value v = value_null();
    error err;

    if (record_slot(r, field, &bytes, &len, &err) != FENEC_OK || len == 0)
        return INT64_MIN;
    const uint8_t *at = bytes;
    if (packed_read(&at, bytes + len, NULL, &v, &err) != FENEC_OK || at != bytes + len)
        return INT64_MIN + 1;
    return v.kind == VALUE_INT ? v.integer : INT64_MIN + 2;
}

static void put_crc(uint8_t *record_bytes, size_t len, int64_t id)
{
    uint8_t key[8];

    bytes_put_u64(key, (uint64_t)id);
    bytes_put_u32(record_bytes + len - 4, crc32c(crc32c(0, key, 8), record_bytes, len - 4));
}

TEST(record_write_lays_out_the_bytes_of_the_format)
{
    record_slot_bytes slots[] = {
        {(const uint8_t *)"\x03\x05", 2}, {NULL, 0}, {(const uint8_t *)"\x02", 1}, {NULL, 0}, {NULL, 0}};
    uint8_t want[] = {1, 3, 0, 2, 0, 2, 0, 3, 0, 3, 5, 2, 0, 0, 0, 0};
    buffer out;

    put_crc(want, sizeof want, 7);
    buffer_init(&out);
    record_write(&out, 7, slots, 5);
    CHECK_INT(out.len, sizeof want);
    CHECK(out.len == sizeof want && !memcmp(out.bytes, want, sizeof want));
    buffer_clear(&out);
}

TEST(record_reads_each_field_and_null_past_its_end)
{
    value values[] = {value_int(-1), value_null(), value_int(70000), value_int(INT64_MAX)};
    record_slot_bytes slots[4];
    buffer bytes, out;
    record r;
    error err;

    buffer_init(&bytes);
    buffer_init(&out);
    buffer_byte(&out, 0xEE); /* so that the record is not aligned */
    pack(&bytes, slots, values, 4);
    record_write(&out, 1, slots, 4);
    CHECK_INT(record_open(&r, out.bytes + 1, out.len - 1, &err), FENEC_OK);
    CHECK_INT(r.fields, 4);
    CHECK_INT(read_int(&r, 0), -1);
    CHECK_INT(read_int(&r, 2), 70000);
    CHECK_INT(read_int(&r, 3), INT64_MAX);
    const uint8_t *slot;
    size_t len = 1;
    CHECK_INT(record_slot(&r, 1, &slot, &len, &err), FENEC_OK);
    CHECK_INT(len, 0);
    len = 1;
    CHECK_INT(record_slot(&r, 4, &slot, &len, &err), FENEC_OK);
    CHECK_INT(len, 0);
    CHECK_INT(record_slot(&r, UINT32_MAX, &slot, &len, &err), FENEC_OK);
    CHECK_INT(record_check(out.bytes + 1, out.len - 1, 1, &err), FENEC_OK);
    buffer_clear(&bytes);
    buffer_clear(&out);
}

TEST(record_of_nulls_alone_has_no_fields)
{
    record_slot_bytes slots[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    buffer out;
    record r;
    error err;

    buffer_init(&out);
    record_write(&out, 9, slots, 3);
    CHECK_INT(out.len, 7);
    CHECK_INT(record_open(&r, out.bytes, out.len, &err), FENEC_OK);
    CHECK_INT(r.fields, 0);
    CHECK_INT(record_check(out.bytes, out.len, 9, &err), FENEC_OK);
    buffer_clear(&out);
}

TEST(record_of_many_texts_finds_the_number_after_them)
{
    enum { fields = 64 };
    static uint8_t text[1000];
    value values[fields];
    record_slot_bytes slots[fields];
    buffer bytes, out;
    record r;
    error err;

    for (uint32_t i = 0; i + 1 < fields; i++)
        values[i] = value_text(text, sizeof text);
    values[fields - 1] = value_int(42);
    buffer_init(&bytes);
    buffer_init(&out);
    pack(&bytes, slots, values, fields);
    record_write(&out, 3, slots, fields);
    CHECK_INT(record_open(&r, out.bytes, out.len, &err), FENEC_OK);
    CHECK_INT(read_int(&r, fields - 1), 42);
    CHECK_INT(record_check(out.bytes, out.len, 3, &err), FENEC_OK);
    buffer_clear(&bytes);
    buffer_clear(&out);
}

TEST(record_is_wide_only_where_its_values_need_it)
{
    record_slot_bytes slots[2];
    static uint8_t bytes[65536];
    buffer out;

    buffer_init(&out);
    slots[0] = (record_slot_bytes){bytes, 65535};
    record_write(&out, 1, slots, 1);
    CHECK_INT(out.bytes[0], 1);
    CHECK_INT(out.len, 3 + 2 + 65535 + 4);
    out.len = 0;
    slots[1] = (record_slot_bytes){bytes, 1};
    record_write(&out, 1, slots, 2);
    CHECK_INT(out.bytes[0], 2);
    CHECK_INT(out.len, 3 + 8 + 65536 + 4);
    record r;
    error err;
    const uint8_t *slot;
    size_t len;
    CHECK_INT(record_open(&r, out.bytes, out.len, &err), FENEC_OK);
    CHECK_INT(record_slot(&r, 0, &slot, &len, &err), FENEC_OK);
    CHECK_INT(len, 65535);
    CHECK_INT(record_slot(&r, 1, &slot, &len, &err), FENEC_OK);
    CHECK_INT(len, 1);
    buffer_clear(&out);
}

TEST(record_of_too_many_fields_fails_the_buffer)
{
    static record_slot_bytes slots[65536];
    buffer out;

    slots[65535] = (record_slot_bytes){(const uint8_t *)"\x02", 1};
    buffer_init(&out);
    record_write(&out, 1, slots, 65535);
    CHECK(!out.failed);
    record_write(&out, 1, slots, 65536);
    CHECK(out.failed);
    buffer_clear(&out);
}

TEST(record_write_out_of_memory_fails_the_buffer)
{
    record_slot_bytes slot = {(const uint8_t *)"\x02", 1};
    buffer out;

    buffer_init(&out);
    memory_fail_after(0);
    record_write(&out, 1, &slot, 1);
    memory_fail_after(-1);
    CHECK(out.failed);
    CHECK_INT(out.len, 0);
    buffer_clear(&out);
}

TEST(record_check_refuses_a_checksum_of_another_id)
{
    record_slot_bytes slot = {(const uint8_t *)"\x02", 1};
    buffer out;
    error err;

    buffer_init(&out);
    record_write(&out, 5, &slot, 1);
    CHECK_INT(record_check(out.bytes, out.len, 5, &err), FENEC_OK);
    CHECK_INT(record_check(out.bytes, out.len, 6, &err), FENEC_CORRUPT);
    CHECK_INT(record_check(out.bytes, out.len, 5 + (INT64_C(1) << 32), &err), FENEC_CORRUPT);
    buffer_clear(&out);
}

TEST(record_check_refuses_every_flipped_bit_and_every_cut)
{
    value values[] = {value_int(1), value_text("abc", 3), value_null(), value_float(0.5)};
    record_slot_bytes slots[4];
    buffer bytes, out;
    error err;

    buffer_init(&bytes);
    buffer_init(&out);
    pack(&bytes, slots, values, 4);
    record_write(&out, 5, slots, 4);
    CHECK_INT(record_check(out.bytes, out.len, 5, &err), FENEC_OK);
    for (size_t bit = 0; bit < out.len * 8; bit++) {
        out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK_INT(record_check(out.bytes, out.len, 5, &err), FENEC_CORRUPT);
        out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t len = 0; len < out.len; len++)
        CHECK_INT(record_check(out.bytes, len, 5, &err), FENEC_CORRUPT);
    buffer_clear(&bytes);
    buffer_clear(&out);
}

/* Damage under a right checksum: what is left to refuse is the form. */
TEST(record_check_refuses_values_that_do_not_fit_their_places)
{
    record_slot_bytes slots[] = {{(const uint8_t *)"\x03\x05", 2}, {(const uint8_t *)"\x02", 1}};
    record_slot_bytes side = {(const uint8_t *)"\x80\0\0\0\0\0\0\0\0\0", 10};
    buffer out;
    error err;

    buffer_init(&out);
    record_write(&out, 5, slots, 2);
    bytes_put_u16(out.bytes + 3, 1); /* the first value ends inside its number */
    put_crc(out.bytes, out.len, 5);
    CHECK_INT(record_check(out.bytes, out.len, 5, &err), FENEC_CORRUPT);
    bytes_put_u16(out.bytes + 3, 4); /* past the second's end */
    put_crc(out.bytes, out.len, 5);
    CHECK_INT(record_check(out.bytes, out.len, 5, &err), FENEC_CORRUPT);
    out.len = 0;
    record_write(&out, 5, &side, 1);
    CHECK_INT(record_check(out.bytes, out.len, 5, &err), FENEC_CORRUPT);
    out.len = 0;
    side.len = RECORD_SIDE_LEN;
    record_write(&out, 5, &side, 1);
    CHECK_INT(record_check(out.bytes, out.len, 5, &err), FENEC_OK);
    buffer_clear(&out);
}

TEST(record_of_random_bytes_is_read_without_leaving_them)
{
    uint64_t random = test_seed();

    for (long round = 0; round < test_scale(20000, 1000000); round++) {
        size_t len = (size_t)(test_random(&random) % 40);
        uint8_t *bytes = memory_alloc(len ? len : 1);
        record r;
        error err;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (uint8_t)(test_random(&random) % (i < 12 ? 4 : 256));
        record_check(bytes, len, 1, &err);
        if (record_open(&r, bytes, len, &err) == FENEC_OK) {
            for (uint32_t field = 0; field < r.fields + 2; field++) {
                const uint8_t *slot;
                size_t slot_len;
                if (record_slot(&r, field, &slot, &slot_len, &err) == FENEC_OK)
                    CHECK(slot >= bytes && slot + slot_len <= bytes + len);
            }
        }
        memory_free(bytes);
    }
}
