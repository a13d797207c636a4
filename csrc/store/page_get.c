#include "store/page_get.h"

#include <string.h>

#include "store/inside.h"

#define FRAMES_OF_GET 8 /* in the map cost what a row through SQLite does after a commit, its pages cold */
#define CELLS_MAX ((PAGE_BYTES - LEAF_HEAD) / 6)
#define GETS_BEFORE_ROOT 8 /* through SQLite, before it is asked where a table begins */
#define GETS_TO_ASK_AGAIN 1000

/* Whether the rows that were read through SQLite make up for the frames that the map lacks. */
static bool is_worth_it(conn *c)
{
    page_reader *p = &c->pages;

    if (p->view.state != LOG_PINNED || atomic_load_explicit(&page_scan_eager, memory_order_relaxed))
        return true;
    p->credit += FRAMES_OF_GET;
    return page_map_missing(&p->map, &p->view) <= p->credit;
}

static const page_source *open_source(conn *c)
{
    page_reader *p = &c->pages;

    if (p->cache_open)
        return &p->source;
    if (!p->source_open && !is_worth_it(c))
        return NULL;
    p->credit = 0; /* where it fails too */
    if (!page_source_open(c))
        return NULL;
    page_cache_begin(&p->cache, &p->view);
    p->cache_open = true;
    return &p->source;
}

static uint32_t find_root(conn *c, statement *st, int *rc)
{
    if (!st->root && ++st->asked > GETS_BEFORE_ROOT) {
        st->root = page_root(c, st->t, rc);
        st->asked = -GETS_TO_ASK_AGAIN;
    }
    return st->root;
}

/* A page of the tree; NULL: not sure. It stays until the next one. */
static const uint8_t *page_of_tree(conn *c, const page_source *s, uint32_t page)
{
    bool has;

    if (page < 2 || page > s->pages)
        return NULL;
    uint32_t frame = page_source_frame(s, page);
    cached_page *p = page_cache_find(&c->pages.cache, page, frame, &has);
    if (!p)
        return NULL;
    if (has)
        return p->bytes;
    if (!page_source_read(s, page, frame, p->bytes, PAGE_BYTES))
        return NULL;
    p->inner = p->bytes[0] == INNER_PAGE;
    uint32_t cells = page_u16(p->bytes + 3);
    if (!(p->inner || p->bytes[0] == LEAF_PAGE) || cells > CELLS_MAX)
        return NULL;
    p->page = page;
    p->frame = frame;
    return p->bytes;
}

/* The cell of a page, between the head and `behind` bytes before the end. NULL: damaged. */
static const uint8_t *cell_of(const uint8_t *page, uint32_t head, uint32_t cells, uint32_t cell,
                              uint32_t behind)
{
    uint32_t at = page_u16(page + head + 2 * cell);

    return at < head + 2 * cells || at > PAGE_BYTES - behind ? NULL : page + at;
}

/* The child of an inner page where an id belongs. 0: damaged. The places looked at are SQLite's. */
static uint32_t child_for(const uint8_t *page, int64_t id)
{
    int cells = (int)page_u16(page + 3), low = 0, high = cells - 1;

    while (low <= high) {
        int middle = (low + high) / 2;
        const uint8_t *at = cell_of(page, INNER_HEAD, (uint32_t)cells, (uint32_t)middle, 5);
        uint64_t key;
        if (!at)
            return 0;
        page_varint(at + 4, &key);
        if ((int64_t)key == id)
            return page_u32(at);
        if ((int64_t)key < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    if (low == cells)
        return page_u32(page + 8);
    const uint8_t *at = cell_of(page, INNER_HEAD, (uint32_t)cells, (uint32_t)low, 5);
    return at ? page_u32(at) : 0;
}

typedef struct leaf_row {
    const uint8_t *from;
    uint64_t len;
} leaf_row;

static get_end find_in_leaf(const uint8_t *page, int64_t id, leaf_row *out)
{
    int cells = (int)page_u16(page + 3), low = 0, high = cells - 1;

    while (low <= high) {
        int middle = (low + high) / 2;
        const uint8_t *at = cell_of(page, LEAF_HEAD, (uint32_t)cells, (uint32_t)middle, 4);
        uint64_t len, key;
        if (!at)
            return GET_UNSURE;
        at = page_varint(page_varint(at, &len), &key);
        /* SQLite takes other bytes for the key behind a length that no row has. */
        if (at > page + PAGE_BYTES || len > INT32_MAX)
            return GET_UNSURE;
        if ((int64_t)key == id) {
            *out = (leaf_row){at, len};
            return GET_FOUND;
        }
        if ((int64_t)key < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return GET_NONE;
}

/* Appends to `to` what of a row goes on in overflow pages. */
static bool read_overflow(const page_source *s, uint32_t page, uint8_t *to, uint64_t len)
{
    uint8_t bytes[PAGE_BYTES];

    for (uint32_t part; len > 0; len -= part, to += part) {
        part = len < OVERFLOW_BYTES ? (uint32_t)len : OVERFLOW_BYTES;
        if (page < 2 || page > s->pages ||
            !page_source_read(s, page, page_source_frame(s, page), bytes, 4 + part))
            return false;
        memcpy(to, bytes + 4, part);
        page = page_u32(bytes);
    }
    return true;
}

/* Copies a row's value out of the leaf and the pages where it goes on. */
static get_end take_value(conn *c, const page_source *s, statement *st, const uint8_t *page, leaf_row row,
                          const uint8_t **bytes, size_t *len)
{
    uint32_t local = page_local(row.len);
    const uint8_t *end = page + PAGE_BYTES;
    bool goes_on = local < row.len;

    if (row.from + local + (goes_on ? 4 : 0) > end || row.len > (uint64_t)s->pages * OVERFLOW_BYTES + local)
        return GET_UNSURE;
    uint32_t head = page_row_head(row.from, row.len);
    if (!head)
        return GET_UNSURE;
    *len = (size_t)(row.len - head);
    uint8_t *copy = statement_room(c, st, *len);
    if (!copy)
        return GET_UNSURE; /* SQLite may have the memory, and says so if not */
    memcpy(copy, row.from + head, local - head);
    *bytes = copy;
    if (goes_on && !read_overflow(s, page_u32(row.from + local), copy + local - head, row.len - local))
        return GET_UNSURE;
    return GET_FOUND;
}

static get_end get(conn *c, const page_source *s, statement *st, uint32_t root, int64_t id,
                   const uint8_t **bytes, size_t *len)
{
    uint32_t number = root;

    for (int height = 0; height < PAGE_HEIGHT_MAX; height++) {
        const uint8_t *page = page_of_tree(c, s, number);
        leaf_row row;
        /* Only a table without rows has a page without cells. */
        if (!page || (page_u16(page + 3) == 0 && (number != root || page[0] == INNER_PAGE)))
            return GET_UNSURE;
        if (page[0] == INNER_PAGE) {
            number = child_for(page, id);
            continue;
        }
        get_end how = find_in_leaf(page, id, &row);
        return how == GET_FOUND ? take_value(c, s, st, page, row, bytes, len) : how;
    }
    return GET_UNSURE;
}

get_end page_get(conn *c, statement *st, int64_t id, const uint8_t **bytes, size_t *len, int *rc)
{
    /* Not where an error has ended the snapshot. */
    if (!c->in_snapshot || c->pages.view.state == LOG_UNSURE || sqlite3_get_autocommit(c->db))
        return GET_UNSURE;
    uint32_t root = find_root(c, st, rc);
    if (*rc)
        return GET_FAILED;
    const page_source *s = root ? open_source(c) : NULL;
    get_end how = s ? get(c, s, st, root, id, bytes, len) : GET_UNSURE;
    if (how == GET_UNSURE)
        return how;
    c->pages.gets++;
    if (++c->steps == LONG_READ_ROWS)
        pool_note_long(c);
    return how;
}
