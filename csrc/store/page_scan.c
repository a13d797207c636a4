#include "store/page_scan.h"

#include <string.h>

#include "base/memory.h"
#include "store/inside.h"

#define AHEAD_PAGES 16     /* leaves read at once, where they lie side by side in the main file */
#define ROWS_OF_FRAME 4    /* rows through SQLite cost what one more frame in the map does */
#define ROW_KEPT 65536     /* bytes of a buffer that stay for the next scan */

typedef struct level {
    uint8_t *page;
    uint32_t cells, next; /* child to go down to next: 0 to cells, where it is the last; above: none */
} level;

typedef struct page_walk {
    conn *c;
    const page_source *source;
    uint32_t budget;     /* pages it may still read: damage may have made a loop of them */
    uint32_t visited;    /* rows of the leaf at hand */
    int height;          /* inner levels */
    level levels[PAGE_HEIGHT_MAX];
    uint32_t ahead, ahead_first, ahead_count; /* leaves to read next; those in `leaves` */
    uint8_t *row; /* one from overflow pages */
    size_t row_cap;
    uint8_t leaves[AHEAD_PAGES * PAGE_BYTES + PAGE_SLACK];
} page_walk;

/* ---- pages ---- */

static bool spend(page_walk *w, uint32_t page)
{
    if (page < 2 || page > w->source->pages || w->budget == 0)
        return false;
    w->budget--;
    return true;
}

static uint32_t frame_of(const page_walk *w, uint32_t page)
{
    return page_source_frame(w->source, page);
}

/* The first `len` bytes of a page. */
static bool read_part(page_walk *w, uint32_t page, uint8_t *to, uint32_t len)
{
    return page_source_read(w->source, page, frame_of(w, page), to, len);
}

static bool read_page(page_walk *w, uint32_t page, uint8_t *to)
{
    return spend(w, page) && read_part(w, page, to, PAGE_BYTES);
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
        page_varint(at + 4, &key);
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
        w->levels[at].page = memory_alloc(PAGE_BYTES + PAGE_SLACK);
    if (w->levels[at].page)
        memset(w->levels[at].page + PAGE_BYTES, 0, PAGE_SLACK);
    return w->levels[at].page != NULL;
}

/* From the root to the leaf where ids from `low` on begin; it is then in `leaves`. */
static bool descend(page_walk *w, uint32_t page, int64_t low)
{
    for (w->height = 0; w->height < PAGE_HEIGHT_MAX; w->height++) {
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
        if (!page_source_read(w->source, page, 0, w->leaves, count * PAGE_BYTES))
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
        uint64_t len, number;
        if (at < first || at > PAGE_BYTES - 4)
            return PAGE_UNSURE;
        const uint8_t *from = page_varint(page + at, &len);
        from = page_varint(from, &number);
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
            uint32_t local = page_local(len);
            if (from + local + 4 > end || !(from = join_row(w, from, local, len)))
                return PAGE_UNSURE;
        }
        uint32_t head_len = page_row_head(from, len);
        if (!head_len)
            return PAGE_UNSURE;
        w->visited++;
        scan->last = id;
        if (!scan->visit(scan->to, scan->wants_id ? id : 0, from + head_len, (size_t)(len - head_len)))
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
    for (int i = 0; i < PAGE_HEIGHT_MAX; i++)
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
    uint32_t root = page_root(c, t, &scan->rc);
    if (scan->rc)
        return PAGE_FAILED;
    const page_source *source = root ? page_source_open(c) : NULL;
    page_walk *w = source ? take_walk(c) : NULL;
    if (!w)
        return PAGE_UNSURE;
    w->source = source;
    w->budget = source->pages;
    w->ahead = 1;
    w->ahead_first = w->ahead_count = 0;
    page_end how = walk(w, scan, root);
    give_walk(c, w);
    return how;
}

void page_reader_clear(page_reader *p)
{
    walk_free(p->spare);
    page_map_clear(&p->map);
    page_cache_clear(&p->cache);
    *p = (page_reader){0};
}
