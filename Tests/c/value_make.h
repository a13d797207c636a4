/* value_make.h - values for tests, built into one arena. */
#ifndef VALUE_MAKE_H
#define VALUE_MAKE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "test.h"
#include "value/packed.h"
#include "value/value.h"

#define COUNT_OF(...) (sizeof((value[]){__VA_ARGS__}) / sizeof(value))
#define LIST(a, ...) make_list(a, (value[]){__VA_ARGS__}, COUNT_OF(__VA_ARGS__))
/* key, value, key, value ... with keys ascending */
#define OBJECT(a, ...) make_object(a, (value[]){__VA_ARGS__}, COUNT_OF(__VA_ARGS__) / 2)
#define VECTOR(a, ...) \
    make_vector(a, (float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float))

static inline value make_text(const char *s)
{
    return value_text(s, strlen(s));
}

static inline value make_bytes(const void *bytes, size_t len)
{
    return (value){.kind = VALUE_BYTES, .bytes = bytes, .len = len};
}

static inline value make_point(double lon, double lat)
{
    return (value){.kind = VALUE_POINT, .point = {lon, lat}};
}

/* A packed value read back out of the arena. */
static inline value make_packed(arena *a, buffer *b)
{
    const uint8_t *bytes = arena_copy(a, b->bytes, b->len);
    value out = value_null();
    error err;

    error_init(&err);
    if (!bytes || packed_read(&bytes, bytes + b->len, a, &out, &err) != FENEC_OK)
        test_failed(__FILE__, __LINE__, "%s", err.message);
    buffer_clear(b);
    return out;
}

static inline value make_list(arena *a, const value items[], size_t n)
{
    buffer b;

    buffer_init(&b);
    size_t mark = packed_begin(&b, VALUE_LIST);
    for (size_t i = 0; i < n; i++)
        packed_put(&b, &items[i]);
    packed_end(&b, mark, (uint32_t)n);
    return make_packed(a, &b);
}

static inline value make_object(arena *a, const value items[], size_t n)
{
    buffer b;

    buffer_init(&b);
    size_t mark = packed_begin(&b, VALUE_OBJECT);
    for (size_t i = 0; i < 2 * n; i++)
        packed_put(&b, &items[i]);
    packed_end(&b, mark, (uint32_t)n);
    return make_packed(a, &b);
}

static inline value make_empty_list(arena *a)
{
    return make_list(a, NULL, 0);
}

static inline value make_empty_object(arena *a)
{
    return make_object(a, NULL, 0);
}

static inline value make_vector(arena *a, const float *floats, size_t n)
{
    uint8_t *bytes = arena_alloc(a, 4 * n + 1);

    for (size_t i = 0; i < n; i++)
        bytes_put_f32(bytes + 1 + 4 * i, floats[i]); /* unaligned on purpose */
    return (value){.kind = VALUE_VECTOR, .count = (uint32_t)n, .bytes = bytes + 1, .len = 4 * n};
}

static inline value make_sparse(arena *a, uint32_t dimension, const uint32_t *index, const float *weight,
                                uint32_t n)
{
    uint8_t *bytes = arena_alloc(a, 4 + 8 * (size_t)n);

    bytes_put_u32(bytes, dimension);
    for (size_t i = 0; i < n; i++) {
        bytes_put_u32(bytes + 4 + 8 * i, index[i]);
        bytes_put_f32(bytes + 8 + 8 * i, weight[i]);
    }
    return (value){.kind = VALUE_SPARSE, .count = n, .bytes = bytes, .len = 4 + 8 * (size_t)n};
}

static inline uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(test_random(state) % n);
}

/* A scalar from few enough that equal pairs are common, edges included. */
static inline value make_random_scalar(arena *a, uint64_t *state)
{
    static const int64_t ints[] = {0, 1, -1, 2, 127, 128, -128, -129, 32768, INT64_C(1) << 31,
                                   (INT64_C(1) << 53) - 1,
                                   INT64_C(1) << 53, (INT64_C(1) << 53) + 1, -(INT64_C(1) << 53) - 1,
                                   INT64_MAX, INT64_MIN, 1709634030000};
    static const double doubles[] = {0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 2.0, 9007199254740992.0, 1e300,
                                     -1e300, 5e-324, 9223372036854775808.0, 12.5};
    static const char *texts[] = {"", "a", "b", "B", "\xC3\xA9", "aa", "1970-01-01",
                                  "1970-01-01T00:00:00.001Z",
                                  "2024-03-05T12:20:30+02:00", "zz"};

    switch (below(state, 7)) {
    case 0: return value_null();
    case 1: return value_bool(test_random(state) & 1);
    case 2: return value_int(ints[below(state, sizeof ints / sizeof *ints)]);
    case 3: return value_float(doubles[below(state, sizeof doubles / sizeof *doubles)]);
    case 4: return value_timestamp(ints[below(state, sizeof ints / sizeof *ints)]);
    case 5: {
        value v = make_text(texts[below(state, sizeof texts / sizeof *texts)]);
        v.bytes = arena_copy(a, v.bytes, v.len);
        return v;
    }
    default: {
        uint8_t octets[3] = {(uint8_t)('a' + below(state, 3)), 'a', 0xC3};
        size_t len = below(state, 4);
        return make_bytes(arena_copy(a, octets, len), len);
    }
    }
}

static inline value make_random(arena *a, uint64_t *state, int depth)
{
    value items[8];
    float floats[4];
    size_t n = below(state, 4);

    switch (depth > 0 ? below(state, 12) : 0) {
    case 8:
        for (size_t i = 0; i < n; i++)
            items[i] = make_random(a, state, depth - 1);
        return make_list(a, items, n);
    case 9: {
        static const char *keys[] = {"a", "b", "bc", "d"};
        size_t members = 0;
        for (size_t i = 0; i < 4; i++) {
            if (below(state, 2))
                continue;
            items[2 * members] = make_text(keys[i]);
            items[2 * members++ + 1] = make_random(a, state, depth - 1);
        }
        return make_object(a, items, members);
    }
    case 10:
        for (size_t i = 0; i < n; i++)
            floats[i] = (float)below(state, 3) * 0.5f;
        return make_vector(a, floats, n);
    case 11:
        switch (below(state, 3)) {
        case 0: return make_point((double)below(state, 3) * 0.5, (double)below(state, 3));
        case 1:
            for (size_t i = 0; i < n; i++)
                items[i] = below(state, 2) ? value_int(below(state, 3)) : value_float(below(state, 3) * 0.5);
            return make_list(a, items, n);
        default: {
            uint32_t index[3] = {below(state, 2), 2 + below(state, 2), 5};
            float weight[3] = {1, (float)below(state, 2) + 1, 3};
            return make_sparse(a, 6 + below(state, 2), index, weight, (uint32_t)n);
        }
        }
    default: return make_random_scalar(a, state);
    }
}

#endif
