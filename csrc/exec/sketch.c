#include "exec/sketch.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

enum {
    DENSE = 1,
    SPARSE = 2,
    BITS = 14,
    HEAD = 2,
    ENTRY = 3,
    RANK_MAX = 51, /* 1 + the 50 bits of a hash beside the index */
    CAP_FIRST = 32
};

#define DENSE_LEN (HEAD + SKETCH_REGISTERS)

static int hold(const sketch_room *room, uint64_t bytes, error *err)
{
    *room->held += bytes;
    if (*room->held > SKETCHES_BYTES_MAX)
        return fail(err, FENEC_QUERY, "the sketches of a statement take more than %u MiB",
                    SKETCHES_BYTES_MAX >> 20);
    return FENEC_OK;
}

static bool grow(sketch *s, uint32_t cap, const sketch_room *room)
{
    uint8_t *grown = arena_alloc(room->memory, cap);

    if (!grown)
        return false;
    if (s->len)
        memcpy(grown, s->bytes, s->len);
    s->bytes = grown;
    s->cap = cap;
    return true;
}

static int begin(sketch *s, const sketch_room *room, error *err)
{
    if (!grow(s, CAP_FIRST, room))
        return fail_memory(err);
    s->bytes[0] = SPARSE;
    s->bytes[1] = BITS;
    s->len = HEAD;
    return FENEC_OK;
}

static void raise_dense(uint8_t *bytes, uint32_t index, uint8_t rank)
{
    uint8_t *at = bytes + HEAD + index;

    if (rank > *at)
        *at = rank;
}

static int make_dense(sketch *s, const sketch_room *room, error *err)
{
    uint8_t *dense = arena_zeroed(room->memory, DENSE_LEN);

    if (!dense)
        return fail_memory(err);
    *room->held -= s->len - HEAD;
    for (uint32_t at = HEAD; at < s->len; at += ENTRY)
        raise_dense(dense, bytes_u16(s->bytes + at), s->bytes[at + 2]);
    dense[0] = DENSE;
    dense[1] = BITS;
    *s = (sketch){.bytes = dense, .len = DENSE_LEN, .cap = DENSE_LEN};
    return hold(room, SKETCH_REGISTERS, err);
}

/* Where the entry of an index stands, or would. */
static uint32_t place_of(const sketch *s, uint32_t index)
{
    uint32_t low = 0, high = (s->len - HEAD) / ENTRY;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (bytes_u16(s->bytes + HEAD + middle * ENTRY) < index)
            low = middle + 1;
        else
            high = middle;
    }
    return HEAD + low * ENTRY;
}

static int raise(sketch *s, uint32_t index, uint8_t rank, const sketch_room *room, error *err)
{
    int rc;

    if (s->bytes[0] == DENSE) {
        raise_dense(s->bytes, index, rank);
        return FENEC_OK;
    }
    uint32_t at = place_of(s, index);
    if (at < s->len && bytes_u16(s->bytes + at) == index) {
        if (rank > s->bytes[at + 2])
            s->bytes[at + 2] = rank;
        return FENEC_OK;
    }
    if ((s->len - HEAD) / ENTRY == SKETCH_SPARSE_MAX) {
        rc = make_dense(s, room, err);
        if (!rc)
            raise_dense(s->bytes, index, rank);
        return rc;
    }
    if (s->len + ENTRY > s->cap && !grow(s, s->cap * 2, room))
        return fail_memory(err);
    memmove(s->bytes + at + ENTRY, s->bytes + at, s->len - at);
    bytes_put_u16(s->bytes + at, (uint16_t)index);
    s->bytes[at + 2] = rank;
    s->len += ENTRY;
    return hold(room, ENTRY, err);
}

int sketch_add(sketch *s, uint64_t hash, const sketch_room *room, error *err)
{
    uint64_t rest = hash << BITS;
    uint8_t rank = rest ? (uint8_t)(__builtin_clzll(rest) + 1) : RANK_MAX;
    int rc = s->bytes ? FENEC_OK : begin(s, room, err);

    return rc ? rc : raise(s, (uint32_t)(hash >> (64 - BITS)), rank, room, err);
}

int sketch_check(const uint8_t *bytes, size_t len, error *err)
{
    if (len < HEAD || (bytes[0] != DENSE && bytes[0] != SPARSE) || bytes[1] != BITS)
        return fail(err, FENEC_TYPE, "the bytes are no sketch: their head");
    if (bytes[0] == DENSE ? len != DENSE_LEN : (len - HEAD) % ENTRY != 0)
        return fail(err, FENEC_TYPE, "the bytes are no sketch: their length");
    if (bytes[0] == DENSE) {
        for (size_t at = HEAD; at < len; at++)
            if (bytes[at] > RANK_MAX)
                return fail(err, FENEC_TYPE, "the bytes are no sketch: a rank");
        return FENEC_OK;
    }
    int64_t before = -1;
    for (size_t at = HEAD; at < len; at += ENTRY) {
        int64_t index = bytes_u16(bytes + at);
        if (index <= before || index >= SKETCH_REGISTERS)
            return fail(err, FENEC_TYPE, "the bytes are no sketch: the index of a register");
        if (bytes[at + 2] == 0 || bytes[at + 2] > RANK_MAX)
            return fail(err, FENEC_TYPE, "the bytes are no sketch: a rank");
        before = index;
    }
    return FENEC_OK;
}

int sketch_merge(sketch *s, const uint8_t *bytes, size_t len, const sketch_room *room, error *err)
{
    int rc = sketch_check(bytes, len, err);

    if (!rc && !s->bytes)
        rc = begin(s, room, err);
    if (!rc && bytes[0] == DENSE && s->bytes[0] == SPARSE)
        rc = make_dense(s, room, err);
    if (rc)
        return rc;
    if (bytes[0] == DENSE) {
        for (uint32_t i = 0; i < SKETCH_REGISTERS; i++)
            raise_dense(s->bytes, i, bytes[HEAD + i]);
        return FENEC_OK;
    }
    for (size_t at = HEAD; !rc && at < len; at += ENTRY)
        rc = raise(s, bytes_u16(bytes + at), bytes[at + 2], room, err);
    return rc;
}

static double sigma(double x)
{
    double y = 1, s = x, old;

    if (x == 1)
        return INFINITY;
    do {
        x *= x;
        old = s;
        s += x * y;
        y += y;
    } while (s != old);
    return s;
}

static double tau(double x)
{
    double y = 1, s = 1 - x, old;

    if (x == 0 || x == 1)
        return 0;
    do {
        x = sqrt(x);
        old = s;
        y *= 0.5;
        s -= (1 - x) * (1 - x) * y;
    } while (s != old);
    return s / 3;
}

int64_t sketch_estimate(const uint8_t *bytes, size_t len)
{
    const double m = SKETCH_REGISTERS;
    uint32_t of_rank[RANK_MAX + 1] = {0};

    if (bytes[0] == DENSE) {
        for (size_t at = HEAD; at < len; at++)
            of_rank[bytes[at]]++;
    } else {
        for (size_t at = HEAD; at < len; at += ENTRY)
            of_rank[bytes[at + 2]]++;
        of_rank[0] = SKETCH_REGISTERS - (uint32_t)((len - HEAD) / ENTRY);
    }
    double z = m * tau(1 - of_rank[RANK_MAX] / m);
    for (int k = RANK_MAX - 1; k >= 1; k--)
        z = 0.5 * (z + of_rank[k]);
    z += m * sigma(of_rank[0] / m);
    double estimate = round(0.7213475204444817 * m * m / z);
    /* Registers nobody's values could have set. */
    return estimate < 0x1p63 ? (int64_t)estimate : INT64_MAX;
}
