#include "store/page_scan.h"

#include <string.h>

#include "base/memory.h"
#include "store/inside.h"
#include "store/stamp.h"

#define HEIGHT_MAX 20      /* SQLite's bound */
#define AHEAD_PAGES 16     /* leaves read at once, where they lie side by side in the main file */
#define SLACK 32           /* behind a page: two varints may be read before their end is checked */
#define ROWS_OF_FRAME 4    /* rows through SQLite cost what one more frame in the map does */
#define ROW_KEPT 65536     /* bytes of a buffer that stay for the next scan */
#define LEAF_PAGE 0x0D
#define INNER_PAGE 0x05
#define LEAF_HEAD 8
#define INNER_HEAD 12
#define LOCAL_MAX (PAGE_BYTES - 35) /* of a row in a leaf; what is longer goes on in overflow pages */
#define LOCAL_MIN ((PAGE_BYTES - 12) * 32 / 255 - 23)
#define OVERFLOW_BYTES (PAGE_BYTES - 4)

typedef struct level {
    uint8_t *page;
    uint32_t cells, next; /* child to go down to next: 0 to cells, where it is the last; above: none */
} level;

typedef struct page_walk {
    conn *c;
    sqlite3_file *file, *log;
    const page_map *map; /* NULL: all is in the main file */
    uint32_t pages;      /* of the database */
    uint32_t budget;     /* pages it may still read: damage may have made a loop of them */
    uint32_t visited;    /* rows of the leaf at hand */
    int height;          /* inner levels */
    level levels[HEIGHT_MAX];
    uint32_t ahead, ahead_first, ahead_count; /* leaves to read next; those in `leaves` */
    uint8_t *row; /* one from overflow pages */
    size_t row_cap;
    uint8_t leaves[AHEAD_PAGES * PAGE_BYTES + SLACK];
} page_walk;

/* ---- pages ---- */

static bool read_bytes(sqlite3_file *file, uint8_t *to, uint32_t len, int64_t at)
{
    return file->pMethods->xRead(file, to, (int)len, at) == SQLITE_OK;
}

static bool spend(page_walk *w, uint32_t page)
{
    if (page < 2 || page > w->pages || w->budget == 0)
        return false;
    w->budget--;
    return true;
}

static uint32_t frame_of(const page_walk *w, uint32_t page)
{
    return w->map ? page_map_find(w->map, page) : 0;
}

/* The first `len` bytes of a page. */
static bool read_part(page_walk *w, uint32_t page, uint8_t *to, uint32_t len)
{
    uint32_t frame = frame_of(w, page);

    if (frame) /* its page ends where the next frame begins */
        return read_bytes(w->log, to, len, LOG_HEAD_BYTES + (int64_t)frame * FRAME_BYTES - PAGE_BYTES);
    return read_bytes(w->file, to, len, (int64_t)(page - 1) * PAGE_BYTES);
}

static bool read_page(page_walk *w, uint32_t page, uint8_t *to)
{
    return spend(w, page) && read_part(w, page, to, PAGE_BYTES);
}

/* SQLite's number of 1 to 9 bytes, 7 bits each but the ninth. */
static inline const uint8_t *read_varint(const uint8_t *p, uint64_t *out)
{
    if (*p < 0x80) {
        *out = *p;
        return p + 1;
    }
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        n = n << 7 | (*p & 0x7F);
        if (*p++ < 0x80) {
            *out = n;
            return p;
        }
    }
    *out = n << 8 | *p;
    return p + 1;
}

/* ---- down the tree ---- */

/* An inner page that stands in its level. */
static bool open_inner(level *l)
{
    l->cells = page_u16(l->page + 3);
    l->next = 0;
    return l->page[0] == INNER_PAGE && INNER_HEAD + 2 * l->cells <= PAGE_BYTES;
}

/* The cell of an inner page that leads to a child: its page, then the highest id below it. NULL: damaged. */
static const uint8_t *inner_cell(const level *l, uint32_t cell)
{
    uint32_t at = page_u16(l->page + INNER_HEAD + 2 * cell);

    return at < INNER_HEAD + 2 * l->cells || at > PAGE_BYTES - 5 ? NULL : l->page + at;
}

/* 0: damaged. */
static uint32_t child_of(const level *l, uint32_t cell)
{
    if (cell == l->cells)
        return page_u32(l->page + 8);
    const uint8_t *at = inner_cell(l, cell);
    return at ? page_u32(at) : 0;
}

/* Puts `next` at the first child that may hold ids from `low` on. */
static bool seek(level *l, int64_t low)
{
    uint32_t from = 0, to = l->cells;

    while (from < to) {
        uint32_t middle = (from + to) / 2;
        const uint8_t *at = inner_cell(l, middle);
        uint64_t key;
        if (!at)
            return false;
        read_varint(at + 4, &key);
        if ((int64_t)key < low)
            from = middle + 1;
        else
            to = middle;
    }
    l->next = from;
    return true;
}

static bool make_level(page_walk *w, int at)
{
    if (!w->levels[at].page)
        w->levels[at].page = memory_alloc(PAGE_BYTES + SLACK);
    if (w->levels[at].page)
        memset(w->levels[at].page + PAGE_BYTES, 0, SLACK);
    return w->levels[at].page != NULL;
}

/* From the root to the leaf where ids from `low` on begin; it is then in `leaves`. */
static bool descend(page_walk *w, uint32_t page, int64_t low)
{
    for (w->height = 0; w->height < HEIGHT_MAX; w->height++) {
        if (!read_page(w, page, w->leaves))
            return false;
        if (w->leaves[0] == LEAF_PAGE) {
            w->ahead_first = page;
            w->ahead_count = 1;
            return true;
        }
        if (!make_level(w, w->height))
            return false;
        level *l = &w->levels[w->height];
        memcpy(l->page, w->leaves, PAGE_BYTES);
        if (!open_inner(l) || !seek(l, low))
            return false;
        page = child_of(l, l->next++);
    }
    return false;
}

/* A leaf below the lowest inner level, and those that follow it in that level and in the file. */
static const uint8_t *read_leaf(page_walk *w, uint32_t page)
{
    if (page - w->ahead_first < w->ahead_count && page >= w->ahead_first)
        return w->leaves + (size_t)(page - w->ahead_first) * PAGE_BYTES;
    w->ahead_count = 0;
    uint32_t count = 1;
    if (frame_of(w, page)) {
        if (!read_page(w, page, w->leaves))
            return NULL;
    } else {
        const level *l = &w->levels[w->height - 1];
        if (!spend(w, page))
            return NULL;
        while (count < w->ahead && l->next + count - 1 <= l->cells &&
               child_of(l, l->next + count - 1) == page + count && !frame_of(w, page + count) &&
               spend(w, page + count))
            count++;
        if (!read_bytes(w->file, w->leaves, count * PAGE_BYTES, (int64_t)(page - 1) * PAGE_BYTES))
            return NULL;
        if (w->ahead < AHEAD_PAGES)
            w->ahead *= 2;
    }
    w->ahead_first = page;
    w->ahead_count = count;
    return w->leaves;
}

/* The leaf after the one before. PAGE_STOPPED: *out is it. */
static page_end next_leaf(page_walk *w, const uint8_t **out)
{
    int at = w->height - 1;

    while (at >= 0 && w->levels[at].next > w->levels[at].cells)
        at--;
    if (at < 0)
        return PAGE_END;
    uint32_t page = child_of(&w->levels[at], w->levels[at].next++);
    while (++at < w->height) {
        level *l = &w->levels[at];
        if (!read_page(w, page, l->page) || !open_inner(l))
            return PAGE_UNSURE;
        page = child_of(l, l->next++);
    }
    *out = read_leaf(w, page);
    return *out && (*out)[0] == LEAF_PAGE ? PAGE_STOPPED : PAGE_UNSURE;
}

/* ---- rows ---- */

/* A row of `len` bytes of which `local` stand at `from`, and behind them the page where it goes on. */
static const uint8_t *join_row(page_walk *w, const uint8_t *from, uint32_t local, uint64_t len)
{
    if (len > (uint64_t)w->budget * OVERFLOW_BYTES + local || sqlite3_get_autocommit(w->c->db))
        return NULL;
    if (len > w->row_cap) {
        uint8_t *fresh = memory_alloc((size_t)len);
        if (!fresh)
            return NULL;
        memory_free(w->row);
        w->row = fresh;
        w->row_cap = (size_t)len;
    }
    memcpy(w->row, from, local);
    uint8_t page_bytes[PAGE_BYTES];
    uint32_t page = page_u32(from + local);
    for (uint64_t done = local; done < len;) {
        uint32_t part = len - done < OVERFLOW_BYTES ? (uint32_t)(len - done) : OVERFLOW_BYTES;
        if (!spend(w, page) || !read_part(w, page, page_bytes, 4 + part))
            return NULL;
        memcpy(w->row + done, page_bytes + 4, part);
        done += part;
        page = page_u32(page_bytes);
    }
    return w->row;
}

/* The rows of a leaf. PAGE_STOPPED with `more`: it was visited to its end. */
static page_end visit_leaf(page_walk *w, page_scan *scan, const uint8_t *page, bool is_first, bool *more)
{
    uint32_t cells = page_u16(page + 3), first = LEAF_HEAD + 2 * cells;
    const uint8_t *end = page + PAGE_BYTES;
    int64_t before = INT64_MIN;

    *more = false;
    if (first > PAGE_BYTES)
        return PAGE_UNSURE;
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t at = page_u16(page + LEAF_HEAD + 2 * i);
        uint64_t len, number, kind;
        if (at < first || at > PAGE_BYTES - 4)
            return PAGE_UNSURE;
        const uint8_t *from = read_varint(page + at, &len);
        from = read_varint(from, &number);
        int64_t id = (int64_t)number;
        if (from > end || (i > 0 && id <= before))
            return PAGE_UNSURE;
        before = id;
        if (id < scan->low) {
            if (!is_first)
                return PAGE_UNSURE;
            continue;
        }
        if (id > scan->high)
            return PAGE_END;
        if (len <= LOCAL_MAX) {
            if (len > (uint64_t)(end - from))
                return PAGE_UNSURE;
        } else {
            uint32_t local = LOCAL_MIN + (uint32_t)((len - LOCAL_MIN) % OVERFLOW_BYTES);
            if (local > LOCAL_MAX)
                local = LOCAL_MIN;
            if (from + local + 4 > end || !(from = join_row(w, from, local, len)))
                return PAGE_UNSURE;
        }
        /* Its head's length, no value for the id, a blob. */
        if (len < 3 || from[1] != 0)
            return PAGE_UNSURE;
        uint8_t head[SLACK] = {0};
        const uint8_t *value = from + 2;
        if (len < SLACK) { /* the number may seem to reach over the row's end */
            memcpy(head, from, (size_t)len);
            value = from + (read_varint(head + 2, &kind) - head);
        } else {
            value = read_varint(value, &kind);
        }
        uint64_t head_len = (uint64_t)(value - from);
        if (from[0] != head_len || kind < 12 || kind & 1 || len != head_len + (kind - 12) / 2)
            return PAGE_UNSURE;
        w->visited++;
        scan->last = id;
        if (!scan->visit(scan->to, scan->wants_id ? id : 0, value, (size_t)(len - head_len)))
            return PAGE_STOPPED;
        if (id == INT64_MAX || id == scan->high)
            return PAGE_END;
        scan->low = id + 1;
    }
    *more = true;
    return PAGE_STOPPED;
}

static void count_rows(conn *c, uint32_t rows)
{
    uint32_t before = c->steps;

    c->pages.rows += rows;
    c->steps += rows;
    if (before < LONG_READ_ROWS && c->steps >= LONG_READ_ROWS)
        pool_note_long(c);
}

static page_end walk(page_walk *w, page_scan *scan, uint32_t root)
{
    const uint8_t *leaf = w->leaves;
    bool more;

    if (!descend(w, root, scan->low))
        return PAGE_UNSURE;
    for (bool is_first = true;; is_first = false) {
        w->visited = 0;
        page_end how = visit_leaf(w, scan, leaf, is_first, &more);
        count_rows(w->c, w->visited);
        /* A visit that reads may have met an error upon which SQLite ends the transaction. */
        if ((more || how != PAGE_STOPPED) && sqlite3_get_autocommit(w->c->db)) {
            scan->rc = SQLITE_ABORT_ROLLBACK;
            return PAGE_FAILED;
        }
        if (!more)
            return how;
        how = next_leaf(w, &leaf);
        if (how != PAGE_STOPPED)
            return how;
    }
}

/* ---- what a scan begins with ---- */

static page_walk *take_walk(conn *c)
{
    page_walk *w = c->pages.spare;

    c->pages.spare = NULL; /* a visit may scan too */
    if (!w && (w = memory_zeroed(sizeof *w)))
        w->c = c;
    return w;
}

static void walk_free(page_walk *w)
{
    if (!w)
        return;
    for (int i = 0; i < HEIGHT_MAX; i++)
        memory_free(w->levels[i].page);
    memory_free(w->row);
    memory_free(w);
}

static void give_walk(conn *c, page_walk *w)
{
    if (w->row_cap > ROW_KEPT) {
        memory_free(w->row);
        w->row = NULL;
        w->row_cap = 0;
    }
    if (c->pages.spare)
        walk_free(w);
    else
        c->pages.spare = w;
}

/* Where the table begins in this snapshot; 0: it is missing, or not as we make it, or *rc says why. */
static uint32_t root_of(conn *c, table t, int *rc)
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

/* The files, the map, and from the head of page 1 what is to be expected of the rest. */
static bool start(page_walk *w)
{
    const log_view *view = &w->c->pages.view;
    uint8_t head[100];

    w->map = NULL;
    w->file = w->log = NULL;
    w->ahead = 1;
    w->ahead_first = w->ahead_count = 0;
    if (sqlite3_file_control(w->c->db, "main", SQLITE_FCNTL_FILE_POINTER, &w->file) || !w->file ||
        !w->file->pMethods)
        return false;
    if (view->state == LOG_PINNED) {
        if (sqlite3_file_control(w->c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &w->log) || !w->log ||
            !w->log->pMethods || !page_map_extend(&w->c->pages.map, view, w->log))
            return false;
        w->map = &w->c->pages.map;
    }
    if (!read_part(w, 1, head, sizeof head))
        return false;
    w->pages = w->budget = page_u32(head + 28);
    return memcmp(head, "SQLite format 3", 16) == 0 && page_u16(head + 16) == PAGE_BYTES && head[20] == 0 &&
           page_u32(head + 24) == page_u32(head + 92) && page_u32(head + 40) == (uint32_t)w->c->schema &&
           (!w->map || w->map->file_pages == w->pages);
}

_Atomic(bool) page_scan_eager;

int64_t page_scan_lead(const conn *c)
{
    if (c->writer || c->pages.view.state == LOG_UNSURE)
        return -1;
    if (c->pages.view.state == LOG_WHOLE || atomic_load_explicit(&page_scan_eager, memory_order_relaxed))
        return 0;
    return (int64_t)page_map_missing(&c->pages.map, &c->pages.view) * ROWS_OF_FRAME;
}

page_end page_scan_run(page_scan *scan, conn *c, table t)
{
    /* Not where an error has ended the snapshot. */
    if (!c->in_snapshot || sqlite3_get_autocommit(c->db))
        return PAGE_UNSURE;
    scan->rc = SQLITE_OK;
    uint32_t root = root_of(c, t, &scan->rc);
    if (scan->rc)
        return PAGE_FAILED;
    page_walk *w = root ? take_walk(c) : NULL;
    if (!w)
        return PAGE_UNSURE;
    page_end how = start(w) ? walk(w, scan, root) : PAGE_UNSURE;
    give_walk(c, w);
    return how;
}

void page_reader_clear(page_reader *p)
{
    walk_free(p->spare);
    page_map_clear(&p->map);
    *p = (page_reader){0};
}
