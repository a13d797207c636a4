#include "exec/changes.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "value/json.h"

/* ---- of a block ---- */

void changes_init(changes *c)
{
    *c = (changes){0};
}

void changes_clear(changes *c)
{
    memory_free(c->items);
    *c = (changes){0};
}

void changes_reset(changes *c)
{
    c->count = 0;
}

bool changes_note(changes *c, uint32_t of, int64_t id)
{
    if (c->count == c->cap && c->cap < CHANGES_REMEMBERED) {
        uint32_t grown = c->cap ? c->cap * 4 : 16;
        change *more = memory_resize(c->items, grown * sizeof *more);
        if (!more)
            return false;
        c->items = more;
        c->cap = grown;
    }
    c->items[c->count++ % CHANGES_REMEMBERED] = (change){of, id};
    return true;
}

/* ---- of a database ---- */

struct change_ring {
    lock lock;
    uint64_t seq, remembered; /* the last `remembered` changes are in items, number n at n % size */
    const catalog *cat;
    change items[CHANGES_REMEMBERED];
};

change_ring *change_ring_new(uint64_t seq, const catalog *cat)
{
    change_ring *r = memory_alloc(sizeof *r);

    if (!r)
        return NULL;
    if (!lock_init(&r->lock, LOCK_RING)) {
        memory_free(r);
        return NULL;
    }
    r->seq = seq;
    r->remembered = 0;
    version_keep((version *)&cat->head);
    r->cat = cat;
    return r;
}

void change_ring_free(change_ring *r)
{
    if (!r)
        return;
    version_drop((version *)&r->cat->head);
    lock_destroy(&r->lock);
    memory_free(r);
}

void change_ring_land(change_ring *r, const changes *landed, const catalog *cat)
{
    uint64_t kept = landed->count < CHANGES_REMEMBERED ? landed->count : CHANGES_REMEMBERED;
    const catalog *old = NULL;

    lock_take(&r->lock);
    for (uint64_t n = landed->count - kept; n < landed->count; n++)
        r->items[(r->seq + n) % CHANGES_REMEMBERED] = landed->items[n % CHANGES_REMEMBERED];
    r->seq += landed->count;
    r->remembered += landed->count;
    if (r->remembered > CHANGES_REMEMBERED)
        r->remembered = CHANGES_REMEMBERED;
    if (cat) {
        old = r->cat;
        version_keep((version *)&cat->head);
        r->cat = cat;
    }
    lock_leave(&r->lock);
    if (old)
        version_drop((version *)&old->head);
}

/* Marks by place in the catalog what was written after `since`. False where a collection of those is
 * gone. Numbers of collections rise with their places. */
static bool mark_since(const change_ring *r, uint64_t since, bool *written)
{
    uint32_t last = 0, place = 0;

    for (uint64_t n = since; n < r->seq; n++) {
        uint32_t number = r->items[n % CHANGES_REMEMBERED].collection;
        if (number != last) {
            uint32_t low = 0, high = r->cat->count;
            while (low < high) {
                uint32_t mid = low + (high - low) / 2;
                if (r->cat->collections[mid]->number < number)
                    low = mid + 1;
                else
                    high = mid;
            }
            if (low == r->cat->count || r->cat->collections[low]->number != number)
                return false;
            last = number;
            place = low;
        }
        written[place] = true;
    }
    return true;
}

void change_ring_since(change_ring *r, uint64_t since, buffer *out)
{
    lock_take(&r->lock);
    uint64_t seq = r->seq, horizon = r->seq - r->remembered;
    bool *written = memory_zeroed(r->cat->count + 1);
    buffer_printf(out, "{\"seq\":%" PRIu64 ",\"horizon\":%" PRIu64 ",\"collections\":", seq, horizon);
    if (!written) {
        out->failed = true;
    } else if (since > seq || since < horizon || !mark_since(r, since, written)) {
        buffer_text(out, "null}");
    } else {
        bool any = false;
        buffer_byte(out, '[');
        for (uint32_t i = 0; i < r->cat->count; i++) {
            if (!written[i])
                continue;
            if (any)
                buffer_byte(out, ',');
            any = true;
            json_write_text(out, (const uint8_t *)r->cat->collections[i]->name, r->cat->collections[i]->name_len);
        }
        buffer_text(out, "]}");
    }
    lock_leave(&r->lock);
    memory_free(written);
}
