#include "store/page_map.h"

#include <string.h>

#include "base/memory.h"
#include "store/stamp.h"

#define FRAME_HEAD 24
#define FRAMES_MAX (16 * 4096) /* of a log that long reads let grow; a longer one is read through SQLite */
#define CAP_MIN 256
#define CAP_KEPT 8192 /* places kept for the next log */

static uint32_t slot_of(const page_map *m, uint32_t page)
{
    return (page * 0x9E3779B1u) >> 7 & (m->cap - 1);
}

/* The place of a page, or the free one where it belongs; some place is always free. */
static page_place *place_of(const page_map *m, uint32_t page)
{
    uint32_t at = slot_of(m, page);

    while (m->places[at].page && m->places[at].page != page)
        at = (at + 1) & (m->cap - 1);
    return &m->places[at];
}

static bool grow(page_map *m)
{
    page_map fresh = *m;

    fresh.cap = m->cap ? m->cap * 2 : CAP_MIN;
    fresh.places = memory_zeroed(fresh.cap * sizeof *fresh.places);
    if (!fresh.places)
        return false;
    for (uint32_t i = 0; i < m->cap; i++)
        if (m->places[i].page)
            *place_of(&fresh, m->places[i].page) = m->places[i];
    memory_free(m->places);
    *m = fresh;
    return true;
}

static bool set(page_map *m, uint32_t page, uint32_t frame)
{
    if (m->count + 1 > m->cap / 2 && !grow(m))
        return false;
    page_place *p = place_of(m, page);
    m->count += p->page == 0;
    *p = (page_place){page, frame};
    return true;
}

static void empty(page_map *m)
{
    if (m->cap > CAP_KEPT)
        page_map_clear(m);
    else if (m->count)
        memset(m->places, 0, m->cap * sizeof *m->places);
    m->count = m->frames = m->file_pages = 0;
}

static bool is_same_log(const page_map *m, const log_view *v)
{
    return memcmp(m->salts, v->salts, LOG_SALTS) == 0 && m->frames <= v->frames;
}

uint32_t page_map_missing(const page_map *m, const log_view *v)
{
    return is_same_log(m, v) ? v->frames - m->frames : v->frames;
}

bool page_map_extend(page_map *m, const log_view *v, sqlite3_file *log)
{
    uint8_t head[FRAME_HEAD];

    if (!is_same_log(m, v)) {
        empty(m);
        memcpy(m->salts, v->salts, LOG_SALTS);
    }
    if (v->frames == 0 || v->frames > FRAMES_MAX)
        return false;
    while (m->frames < v->frames) {
        sqlite3_int64 at = LOG_HEAD_BYTES + (sqlite3_int64)m->frames * FRAME_BYTES;
        if (log->pMethods->xRead(log, head, sizeof head, at) != SQLITE_OK)
            goto fail;
        uint32_t page = page_u32(head);
        if (page == 0 || memcmp(head + 8, v->salts, LOG_SALTS) != 0 || !set(m, page, m->frames + 1))
            goto fail;
        m->file_pages = page_u32(head + 4);
        m->frames++;
    }
    if (m->file_pages) /* 0: no commit ends here */
        return true;
fail:
    empty(m);
    return false;
}

uint32_t page_map_find(const page_map *m, uint32_t page)
{
    return m->cap ? place_of(m, page)->frame : 0;
}

void page_map_clear(page_map *m)
{
    memory_free(m->places);
    *m = (page_map){0};
}
