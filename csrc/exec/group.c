#include "exec/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"

/* Of one put aside: u64 number, u64 key length, key, packed states. Its number there is its hash, or the
 * next after it that is free. */
enum {
    ASIDE_HEAD = 16,
    SLOTS_FIRST = 1024,
    SEEN_BITS = 23,
    LEAST = 16 /* groups in memory before any are put aside: a few large ones would come and go for ever */
};

/* Up to 8 bytes of a key: all of them, each length for itself. */
static inline uint64_t head_of(const uint8_t *key, size_t len)
{
    if (len >= 8)
        return bytes_u64(key);
    if (len >= 4)
        return bytes_u32(key) | (uint64_t)bytes_u32(key + len - 4) << 32;
    return len ? key[0] | (uint64_t)key[len / 2] << 8 | (uint64_t)key[len - 1] << 16 : 0;
}

/* Most keys are short: an int, a word. */
static inline uint64_t hash_of(const uint8_t *key, size_t len, uint64_t head)
{
    if (len > 16)
        return hash64(key, len);
    if (len > 8)
        head ^= bytes_u64(key + len - 8) * 0xD6E8FEB86659FD93u;
    head = (head ^ len) * 0x9E3779B97F4A7C15u;
    head = (head ^ head >> 32) * 0xD6E8FEB86659FD93u;
    return head ^ head >> 32;
}

static _Thread_local size_t bound_of_tests;

void groups_bound(size_t bytes_max)
{
    bound_of_tests = bytes_max;
}

void groups_init(groups *t, const tallies *of, size_t bytes_max)
{
    *t = (groups){.of = of, .bytes_max = bound_of_tests ? bound_of_tests : bytes_max};
    arena_init(&t->room.memory);
    arena_init(&t->one.memory);
    buffer_init(&t->packed);
}

void groups_clear(groups *t)
{
    spill_close(t->aside);
    memory_free(t->seen);
    memory_free(t->all);
    memory_free(t->slots);
    arena_clear(&t->room.memory);
    arena_clear(&t->one.memory);
    buffer_clear(&t->packed);
    t->aside = NULL;
    t->seen = NULL;
    t->all = NULL;
    t->slots = NULL;
    t->count = t->cap = 0;
}

static void forget(groups *t)
{
    arena_reset(&t->room.memory);
    t->room.used = 0;
    t->count = 0;
    if (t->slots)
        memset(t->slots, 0, (t->mask + 1) * sizeof *t->slots);
}

void groups_reset(groups *t)
{
    spill_close(t->aside);
    memory_free(t->seen);
    t->aside = NULL;
    t->seen = NULL;
    t->before = t->made;
    forget(t);
}

static size_t bytes_of(const groups *t)
{
    return t->room.used + t->cap * sizeof *t->all + (t->slots ? (t->mask + 1) * sizeof *t->slots : 0);
}

/* ---- put aside ---- */

static int64_t place_after(int64_t place)
{
    return (int64_t)((uint64_t)place + 1);
}

static bool is_of_key(const uint8_t *bytes, size_t len, const uint8_t *key, size_t key_len)
{
    return len >= ASIDE_HEAD && bytes_u64(bytes + 8) == key_len && len - ASIDE_HEAD >= key_len &&
           !memcmp(bytes + ASIDE_HEAD, key, key_len);
}

static uint64_t seen_at(uint64_t hash)
{
    return hash >> (64 - SEEN_BITS);
}

static bool was_seen(const groups *t, uint64_t hash)
{
    return t->seen[seen_at(hash) / 8] >> seen_at(hash) % 8 & 1;
}

/* Where a key stands aside, with its bytes; FN_END, and where it would. */
static int find_aside(groups *t, uint64_t hash, const uint8_t *key, size_t key_len, int64_t *place,
                      const uint8_t **bytes, size_t *len, error *err)
{
    int rc;

    *place = (int64_t)hash;
    if (!was_seen(t, hash))
        return FN_END;
    for (; (rc = spill_get(t->aside, *place, bytes, len, err)) == FENEC_OK;
         *place = place_after(*place))
        if (is_of_key(*bytes, *len, key, key_len))
            return FENEC_OK;
    return rc;
}

static int put_aside(groups *t, const group *g, error *err)
{
    uint8_t head[ASIDE_HEAD];
    const uint8_t *bytes;
    size_t len;
    int64_t place;
    int rc = find_aside(t, g->hash, group_bytes(t, g), g->key_len, &place, &bytes, &len, err);

    if (rc && rc != FN_END)
        return rc;
    bytes_put_u64(head, g->number);
    bytes_put_u64(head + 8, g->key_len);
    t->packed.len = 0;
    buffer_put(&t->packed, head, sizeof head);
    buffer_put(&t->packed, group_bytes(t, g), g->key_len);
    tallies_pack(t->of, g->states, &t->packed);
    if (t->packed.failed)
        return fail_memory(err);
    /* That of the place too: a hash after it would find it taken. */
    t->seen[seen_at(g->hash) / 8] |= (uint8_t)(1u << seen_at(g->hash) % 8);
    t->seen[seen_at((uint64_t)place) / 8] |= (uint8_t)(1u << seen_at((uint64_t)place) % 8);
    return spill_put(t->aside, place, t->packed.bytes, t->packed.len, err);
}

static int by_place(const void *a, const void *b)
{
    int64_t x = (int64_t)(*(group *const *)a)->hash, y = (int64_t)(*(group *const *)b)->hash;

    return (x > y) - (x < y);
}

static int put_all_aside(groups *t, error *err)
{
    if (!t->seen) {
        t->seen = memory_zeroed((size_t)1 << (SEEN_BITS - 3));
        if (!t->seen)
            return fail_memory(err);
    }
    int rc = t->aside ? FENEC_OK : spill_open(&t->aside, err);
    /* In the order they stand in there: each page is written once. */
    if (t->count)
        qsort(t->all, t->count, sizeof *t->all, by_place);
    for (size_t i = 0; !rc && i < t->count; i++)
        rc = put_aside(t, t->all[i], err);
    if (!rc)
        forget(t);
    return rc;
}

static group *group_new(const groups *t, uint64_t hash, const uint8_t *key, size_t len, tally_room *room)
{
    size_t head = sizeof(group) + t->of->state_len;
    group *g = len <= SIZE_MAX / 2 ? arena_alloc(&room->memory, head + len) : NULL;

    if (!g)
        return NULL;
    room->used += head + len;
    memset(g, 0, head);
    g->hash = hash;
    g->head = head_of(key, len);
    g->key_len = len;
    memcpy((uint8_t *)g + head, key, len);
    return g;
}

/* A group from the bytes it was put aside as. */
static int take_back(const groups *t, uint64_t hash, const uint8_t *bytes, size_t len, tally_room *room,
                     group **out, error *err)
{
    if (len < ASIDE_HEAD || len - ASIDE_HEAD < bytes_u64(bytes + 8))
        return fail(err, FENEC_CORRUPT, "a group that was put aside is damaged");
    size_t key_len = (size_t)bytes_u64(bytes + 8);
    group *g = group_new(t, hash, bytes + ASIDE_HEAD, key_len, room);
    if (!g)
        return fail_memory(err);
    g->number = bytes_u64(bytes);
    *out = g;
    return tallies_unpack(t->of, g->states, bytes + ASIDE_HEAD + key_len, len - ASIDE_HEAD - key_len, room,
                          err);
}

/* ---- the table ---- */

static bool grow_slots(groups *t)
{
    size_t count = t->slots ? (t->mask + 1) * 2 : SLOTS_FIRST;
    group_slot *slots = memory_zeroed(count * sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = t->all[i]->hash & (count - 1);
        while (slots[at].g)
            at = (at + 1) & (count - 1);
        slots[at] = (group_slot){.hash = t->all[i]->hash, .g = t->all[i]};
    }
    memory_free(t->slots);
    t->slots = slots;
    t->mask = count - 1;
    return true;
}

static bool grow_all(groups *t)
{
    size_t cap = t->cap ? t->cap * 2 : SLOTS_FIRST / 8;
    group **all = cap <= SIZE_MAX / sizeof *all ? memory_resize(t->all, cap * sizeof *all) : NULL;

    if (!all)
        return false;
    t->all = all;
    t->cap = cap;
    return true;
}

/* Hangs a group into the table. */
static int insert(groups *t, group *g, error *err)
{
    if (t->count == t->cap && !grow_all(t))
        return fail_memory(err);
    if ((!t->slots || t->count >= t->mask / 4 * 3) && !grow_slots(t))
        return fail_memory(err);
    size_t at = g->hash & t->mask;
    while (t->slots[at].g)
        at = (at + 1) & t->mask;
    t->all[t->count++] = g;
    t->slots[at] = (group_slot){.hash = g->hash, .g = g};
    return FENEC_OK;
}

static int add_group(groups *t, uint64_t hash, const uint8_t *key, size_t len, group **out, error *err)
{
    const uint8_t *bytes;
    size_t bytes_len;
    int64_t place;
    int rc = FN_END;

    if (t->aside)
        rc = find_aside(t, hash, key, len, &place, &bytes, &bytes_len, err);
    if (rc == FENEC_OK) {
        rc = take_back(t, hash, bytes, bytes_len, &t->room, out, err);
    } else if (rc == FN_END) {
        group *g = group_new(t, hash, key, len, &t->room);
        rc = g ? FENEC_OK : fail_memory(err);
        if (g) {
            g->number = t->made++;
            *out = g;
        }
    }
    return rc ? rc : insert(t, *out, err);
}

int groups_find(groups *t, const uint8_t *key, size_t len, group **out, error *err)
{
    uint64_t head = head_of(key, len), hash = hash_of(key, len, head);

    if (t->slots) {
        for (size_t at = hash & t->mask; t->slots[at].g; at = (at + 1) & t->mask) {
            group *g = t->slots[at].g;
            if (t->slots[at].hash == hash && g->head == head && g->key_len == len &&
                (len <= 8 || !memcmp(group_bytes(t, g), key, len))) {
                *out = g;
                return FENEC_OK;
            }
        }
    }
    if (bytes_of(t) > t->bytes_max && t->count >= LEAST) {
        int rc = put_all_aside(t, err);
        if (rc)
            return rc;
    }
    return add_group(t, hash, key, len, out, err);
}

/* ---- what there is ---- */

static int look_at(groups *t, int64_t place, const uint8_t *bytes, size_t len, const group **out, error *err)
{
    group *g;

    arena_reset(&t->one.memory);
    int rc = take_back(t, (uint64_t)place, bytes, len, &t->one, &g, err);
    if (!rc)
        *out = g;
    return rc;
}

int groups_each(groups *t, groups_visit *visit, void *to, error *err)
{
    const uint8_t *bytes;
    const group *g;
    size_t len;
    int64_t place;
    int rc = FENEC_OK;

    if (!t->aside) {
        for (size_t i = 0; !rc && i < t->count; i++)
            rc = visit(to, t->all[i], (int64_t)i, err);
        return rc;
    }
    rc = put_all_aside(t, err);
    if (rc)
        return rc;
    spill_rewind(t->aside);
    while ((rc = spill_next(t->aside, &place, &bytes, &len, err)) == FENEC_OK) {
        rc = look_at(t, place, bytes, len, &g, err);
        if (!rc)
            rc = visit(to, g, place, err);
        if (rc)
            return rc;
    }
    return rc == FN_END ? FENEC_OK : rc;
}

int groups_at(groups *t, int64_t place, const group **out, error *err)
{
    const uint8_t *bytes;
    size_t len;

    if (!t->aside) {
        *out = t->all[place];
        return FENEC_OK;
    }
    int rc = spill_get(t->aside, place, &bytes, &len, err);
    if (rc == FN_END)
        return fail(err, FENEC_PANIC, "a group that was put aside is gone");
    return rc ? rc : look_at(t, place, bytes, len, out, err);
}
