#include "search/row_cache.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"

#define BUCKETS_FIRST 256

/* In memory before its bytes. Rows nobody holds stand in a ring in the order they were let go of; a row that
 * was asked for again since it joined is passed over once. */
typedef struct entry {
    cached_row row; /* the first member: what is handed out */
    uint32_t index;
    uint32_t holders;
    int64_t id;
    bool asked;
    struct entry *same;           /* of its bucket */
    struct entry *before, *after; /* while nobody holds it */
    size_t bytes;
} entry;

struct row_cache {
    lock guard;
    size_t budget, bytes;
    entry **buckets;
    size_t bucket_count, count;
    entry idle; /* head of the ring */
    uint32_t number; /* handed out last */
};

row_cache *row_cache_new(size_t budget_bytes)
{
    row_cache *c = memory_zeroed(sizeof *c);

    if (!c)
        return NULL;
    c->buckets = memory_zeroed(BUCKETS_FIRST * sizeof *c->buckets);
    if (!c->buckets || !lock_init(&c->guard, LOCK_LEAF)) {
        memory_free(c->buckets);
        memory_free(c);
        return NULL;
    }
    c->bucket_count = BUCKETS_FIRST;
    c->budget = budget_bytes;
    c->idle.before = c->idle.after = &c->idle;
    return c;
}

void row_cache_free(row_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->bucket_count; i++) {
        while (c->buckets[i]) {
            entry *gone = c->buckets[i];
            c->buckets[i] = gone->same;
            memory_free(gone);
        }
    }
    lock_destroy(&c->guard);
    memory_free(c->buckets);
    memory_free(c);
}

static size_t bucket_of(const row_cache *c, uint32_t index, int64_t id)
{
    uint64_t mixed = ((uint64_t)id ^ (uint64_t)index << 40) * 0x9E3779B97F4A7C15u;

    return (size_t)(mixed >> 32) & (c->bucket_count - 1);
}

static entry *find(const row_cache *c, uint32_t index, int64_t id)
{
    for (entry *e = c->buckets[bucket_of(c, index, id)]; e; e = e->same)
        if (e->id == id && e->index == index)
            return e;
    return NULL;
}

static void leave_ring(entry *e)
{
    if (!e->after)
        return;
    e->before->after = e->after;
    e->after->before = e->before;
    e->before = e->after = NULL;
}

static void join_ring(row_cache *c, entry *e)
{
    e->before = c->idle.before;
    e->after = &c->idle;
    e->before->after = e->after->before = e;
}

static void take_out(row_cache *c, entry *e)
{
    entry **at = &c->buckets[bucket_of(c, e->index, e->id)];

    while (*at != e)
        at = &(*at)->same;
    *at = e->same;
    c->count--;
}

/* Lets rows go until the budget is kept; *gone is a list to free under no lock. */
static void shrink(row_cache *c, entry **gone)
{
    while (c->bytes > c->budget && c->idle.after != &c->idle) {
        entry *e = c->idle.after;
        leave_ring(e);
        if (e->asked) {
            e->asked = false;
            join_ring(c, e);
            continue;
        }
        take_out(c, e);
        c->bytes -= e->bytes;
        e->same = *gone;
        *gone = e;
    }
}

static void free_all(entry *gone)
{
    while (gone) {
        entry *next = gone->same;
        memory_free(gone);
        gone = next;
    }
}

static void grow(row_cache *c)
{
    size_t before = c->bucket_count;
    entry **more = memory_zeroed(before * 2 * sizeof *more), **old = c->buckets;

    if (!more)
        return; /* longer chains, nothing worse */
    c->buckets = more;
    c->bucket_count = before * 2;
    for (size_t i = 0; i < before; i++) {
        while (old[i]) {
            entry *e = old[i];
            old[i] = e->same;
            entry **at = &c->buckets[bucket_of(c, e->index, e->id)];
            e->same = *at;
            *at = e;
        }
    }
    memory_free(old);
}

/* What the row's checksum starts from: a row in another's place is not taken for it. */
static uint32_t sum_of(uint32_t index, int64_t id, const uint8_t *bytes, size_t len)
{
    uint8_t place[12];

    bytes_put_u32(place, index);
    bytes_put_u64(place + 4, (uint64_t)id);
    return crc32c(crc32c(0, place, sizeof place), bytes, len);
}

bool row_cache_check(uint32_t index, int64_t id, const uint8_t *bytes, size_t *len)
{
    if (*len < 4 || sum_of(index, id, bytes, *len - 4) != bytes_u32(bytes + *len - 4))
        return false;
    *len -= 4;
    return true;
}

int row_cache_read(conn *from, uint32_t index, int64_t id, const uint8_t **bytes, size_t *len, error *err)
{
    int rc = rows_get(from, table_search(index), id, bytes, len, err);

    if (rc)
        return rc;
    return row_cache_check(index, id, *bytes, len) ? FENEC_OK : ROW_DAMAGED;
}

static int read_row(conn *from, uint32_t index, int64_t id, entry **out, error *err)
{
    const uint8_t *bytes;
    size_t len;
    int rc = row_cache_read(from, index, id, &bytes, &len, err);

    if (rc)
        return rc == FN_END ? ROW_DAMAGED : rc;
    size_t head = (sizeof(entry) + 15) & ~(size_t)15;
    entry *e = memory_alloc(head + len + ROW_CACHE_PAD);
    if (!e)
        return fail_memory(err);
    uint8_t *own = (uint8_t *)e + head;
    memcpy(own, bytes, len);
    memset(own + len, 0, ROW_CACHE_PAD);
    *e = (entry){.row = {own, len}, .index = index, .id = id, .holders = 1, .bytes = head + len + ROW_CACHE_PAD};
    *out = e;
    return FENEC_OK;
}

int row_cache_take(row_cache *c, conn *from, uint32_t index, int64_t id, const cached_row **out, error *err)
{
    entry *fresh = NULL, *there, *gone = NULL;

    lock_take(&c->guard);
    there = find(c, index, id);
    if (there) {
        there->holders++;
        there->asked = true;
        leave_ring(there);
    }
    lock_leave(&c->guard);
    if (there) {
        *out = &there->row;
        return FENEC_OK;
    }
    int rc = read_row(from, index, id, &fresh, err);
    if (rc)
        return rc;
    lock_take(&c->guard);
    there = find(c, index, id); /* somebody else may have read it meanwhile */
    if (there) {
        there->holders++;
        leave_ring(there);
        gone = fresh;
        gone->same = NULL;
        fresh = there;
    } else {
        if (c->count >= c->bucket_count * 2)
            grow(c);
        entry **at = &c->buckets[bucket_of(c, index, id)];
        fresh->same = *at;
        *at = fresh;
        c->count++;
        c->bytes += fresh->bytes;
        shrink(c, &gone);
    }
    lock_leave(&c->guard);
    free_all(gone);
    *out = &fresh->row;
    return FENEC_OK;
}

void row_cache_leave(row_cache *c, const cached_row *row)
{
    entry *e = (entry *)row, *gone = NULL;

    if (!row)
        return;
    lock_take(&c->guard);
    if (--e->holders == 0) {
        join_ring(c, e);
        shrink(c, &gone);
    }
    lock_leave(&c->guard);
    free_all(gone);
}

uint32_t row_cache_number(row_cache *c, uint32_t least)
{
    lock_take(&c->guard);
    c->number = c->number + 1 > least ? c->number + 1 : least;
    uint32_t number = c->number;
    lock_leave(&c->guard);
    return number;
}

size_t row_cache_bytes(row_cache *c)
{
    lock_take(&c->guard);
    size_t bytes = c->bytes;
    lock_leave(&c->guard);
    return bytes;
}

int row_cache_write(conn *to, uint32_t index, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    uint8_t *whole = memory_alloc(len + 4);

    if (!whole)
        return fail_memory(err);
    if (len)
        memcpy(whole, bytes, len);
    bytes_put_u32(whole + len, sum_of(index, id, bytes, len));
    int rc = rows_put(to, table_search(index), id, whole, len + 4, err);
    memory_free(whole);
    return rc;
}
