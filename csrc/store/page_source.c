#include "store/page_source.h"

#include <string.h>

#include "store/inside.h"

bool page_source_read(const page_source *s, uint32_t page, uint32_t frame, uint8_t *to, uint32_t len)
{
    /* The page of a frame ends where the next frame begins. */
    sqlite3_file *file = frame ? s->log : s->file;
    int64_t at = frame ? LOG_HEAD_BYTES + (int64_t)frame * FRAME_BYTES - PAGE_BYTES
                       : (int64_t)(page - 1) * PAGE_BYTES;

    return file->pMethods->xRead(file, to, (int)len, at) == SQLITE_OK;
}

static bool find_file(conn *c, int which, sqlite3_file **out)
{
    *out = NULL;
    return sqlite3_file_control(c->db, "main", which, out) == SQLITE_OK && *out && (*out)->pMethods;
}

static bool open_source(page_source *s, conn *c)
{
    const log_view *view = &c->pages.view;
    uint8_t head[100];

    s->map = NULL;
    if (!find_file(c, SQLITE_FCNTL_FILE_POINTER, &s->file))
        return false;
    if (view->state == LOG_PINNED) {
        if (!find_file(c, SQLITE_FCNTL_JOURNAL_POINTER, &s->log) ||
            !page_map_extend(&c->pages.map, view, s->log))
            return false;
        s->map = &c->pages.map;
        if (s->checked) { /* each commit says how many pages there are */
            s->pages = s->map->file_pages;
            return true;
        }
    }
    if (!page_source_read(s, 1, page_source_frame(s, 1), head, sizeof head))
        return false;
    s->pages = page_u32(head + 28);
    s->checked = memcmp(head, "SQLite format 3", 16) == 0 && page_u16(head + 16) == PAGE_BYTES &&
                 head[20] == 0 && page_u32(head + 24) == page_u32(head + 92) &&
                 page_u32(head + 40) == (uint32_t)c->schema && (!s->map || s->map->file_pages == s->pages);
    return s->checked;
}

const page_source *page_source_open(conn *c)
{
    page_reader *p = &c->pages;

    if (!p->source_open)
        p->source_open = p->view.state != LOG_UNSURE && open_source(&p->source, c);
    return p->source_open ? &p->source : NULL;
}

uint32_t page_root(conn *c, table t, int *rc)
{
    uint32_t mixed = (t.number * 8 + (uint32_t)t.kind) ^ t.field * 31;
    int at = (int)(mixed % PAGE_ROOTS);
    table known = c->pages.roots[at].t;
    statement *st;
    error ignored;

    if (c->pages.roots[at].page && c->pages.roots[at].schema == c->schema && known.kind == t.kind &&
        known.number == t.number && known.field == t.field)
        return c->pages.roots[at].page;
    uint32_t page = 0;
    if (statement_find(c, ROWS_ROOT, t, false, &st, &ignored) == FENEC_OK) {
        if (sqlite3_step(st->prepared) == SQLITE_ROW) {
            sqlite3_int64 number = sqlite3_column_int64(st->prepared, 0);
            page = number > 1 && number <= UINT32_MAX ? (uint32_t)number : 0;
        }
        *rc = sqlite3_reset(st->prepared);
        if (*rc)
            return 0;
    }
    c->pages.roots[at].t = t;
    c->pages.roots[at].schema = c->schema;
    c->pages.roots[at].page = page;
    return page;
}
