#include "exec/id_marks.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "catalog/catalog.h"

void id_marks_init(id_marks *m)
{
    *m = (id_marks){0};
}

void id_marks_clear(id_marks *m)
{
    memory_free(m->items);
    *m = (id_marks){0};
}

/* The place of the collection's id_mark, or where it would stand. */
static uint32_t place_of(const id_marks *m, uint32_t number)
{
    uint32_t low = 0, high = m->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->items[mid].collection < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int load(conn *c, uint32_t number, int64_t *out, error *err)
{
    const uint8_t *bytes;
    size_t len;
    int64_t last, stored = 0;
    int rc = rows_get(c, table_meta(), META_MARK(number), &bytes, &len, err);

    if (rc == FENEC_OK) {
        stored = len == 8 ? (int64_t)bytes_u64(bytes) : 0;
        if (stored < 1)
            return fail(err, FENEC_CORRUPT, "the id id_mark of collection %u is damaged", number);
    } else if (rc != FN_END) {
        return rc;
    }
    rc = rows_last_id(c, table_records(number), &last, err);
    if (rc == FENEC_OK)
        *out = last > stored ? last : stored;
    return rc;
}

int id_marks_find(id_marks *m, conn *c, uint32_t number, id_mark **out, error *err)
{
    uint32_t at = place_of(m, number);
    int64_t id = 0;

    if (at < m->count && m->items[at].collection == number) {
        *out = &m->items[at];
        return FENEC_OK;
    }
    int rc = load(c, number, &id, err);
    if (rc != FENEC_OK)
        return rc;
    if (m->count == m->cap) {
        uint32_t grown = m->cap ? m->cap * 2 : 8;
        id_mark *more = memory_resize(m->items, grown * sizeof *more);
        if (!more)
            return fail_memory(err);
        m->items = more;
        m->cap = grown;
    }
    memmove(&m->items[at + 1], &m->items[at], (m->count - at) * sizeof *m->items);
    m->items[at] = (id_mark){.collection = number, .landed = id, .now = id};
    m->count++;
    *out = &m->items[at];
    return FENEC_OK;
}

void id_marks_raise(id_marks *m, id_mark *of, int64_t id)
{
    if (id > of->now) {
        of->now = id;
        of->moved = m->moved = true;
    }
}

int id_marks_before_delete(const id_mark *of, conn *c, int64_t id, error *err)
{
    uint8_t bytes[8];

    if (id != of->now)
        return FENEC_OK;
    bytes_put_u64(bytes, (uint64_t)id);
    return rows_put(c, table_meta(), META_MARK(of->collection), bytes, sizeof bytes, err);
}

void id_marks_forget(id_marks *m, uint32_t number)
{
    uint32_t at = place_of(m, number);

    if (at < m->count && m->items[at].collection == number)
        memmove(&m->items[at], &m->items[at + 1], (--m->count - at) * sizeof *m->items);
}

void id_marks_land(id_marks *m)
{
    for (uint32_t i = 0; m->moved && i < m->count; i++)
        if (m->items[i].moved) {
            m->items[i].landed = m->items[i].now;
            m->items[i].moved = false;
        }
    m->moved = false;
}

void id_marks_undo(id_marks *m)
{
    for (uint32_t i = 0; m->moved && i < m->count; i++)
        if (m->items[i].moved) {
            m->items[i].now = m->items[i].landed;
            m->items[i].moved = false;
        }
    m->moved = false;
}
