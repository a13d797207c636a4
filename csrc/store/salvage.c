#include "store/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "store/frames.h"
#include "store/integrity.h"
#include "store/lockfile.h"

enum {
    LEAF = 0x0D,
    INNER = 0x05,
    DEPTH_MAX = 24,
    MAP_ROOT = 1, /* types of the map of parents */
    MAP_INSIDE = 5,
    MAP_EVERY = PAGE_BYTES / 5 + 1,
    CELL_LOCAL_MAX = PAGE_BYTES - 35,
    CELL_LOCAL_MIN = (PAGE_BYTES - 12) * 32 / 255 - 23
};

/* Owners of pages: a table by place, or */
#define NOBODY (-1)
#define STRAY (-2)

typedef struct range {
    int64_t low, high; /* both in */
} range;

typedef struct logged {
    uint32_t page;
    int64_t at; /* of its bytes in the log */
} logged;

struct salvage {
    int file, log;
    char *path;
    lockfile *lock;
    int64_t size;
    uint32_t pages;
    logged *frames; /* by page, one each */
    size_t frame_count;
    salvage_table *tables;
    uint32_t table_count, table_cap;
    int32_t *owners; /* by page, from 1 */
    struct range *ranges; /* by page: the ids that may stand on it */
    uint8_t *met;    /* by page: bits */
    buffer payload;
    salvage_tell *tell;
    void *to;
    bool no_memory;
};

static const range every_id = {INT64_MIN, INT64_MAX};

static void tell_hole(const salvage *s, int32_t owner, bool ranged, int64_t low, int64_t high, uint32_t page, const char *what)
{
    const salvage_hole hole = {.of = owner >= 0 ? &s->tables[owner] : NULL,
                               .ranged = ranged,
                               .low = low,
                               .high = high,
                               .page = page,
                               .what = what};

    s->tell(s->to, &hole);
}

/* ---- pages ---- */

static bool read_at(int file, uint8_t *to, size_t len, int64_t at)
{
    size_t done = 0;

    while (done < len) {
        ssize_t got = pread(file, to + done, len - done, (off_t)(at + (int64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static int by_page(const void *a, const void *b)
{
    const logged *x = a, *y = b;

    if (x->page != y->page)
        return x->page < y->page ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static const logged *find_logged(const salvage *s, uint32_t page)
{
    size_t low = 0, high = s->frame_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->frames[mid].page < page)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->frame_count && s->frames[low].page == page ? &s->frames[low] : NULL;
}

/* False: it is past the end, or the disk does not give it. */
static bool read_page(const salvage *s, uint32_t page, uint8_t out[PAGE_BYTES])
{
    if (page == 0 || page > s->pages)
        return false;
    const logged *l = find_logged(s, page);
    if (l)
        return read_at(s->log, out, PAGE_BYTES, l->at);
    return read_at(s->file, out, PAGE_BYTES, (int64_t)(page - 1) * PAGE_BYTES);
}

/* ---- the log ---- */

typedef struct log_look {
    bool any;
    uint32_t first, last; /* stamps */
    uint32_t pages;       /* of the file after it */
    size_t committed;     /* frames */
} log_look;

static bool keep_frame(salvage *s, size_t *cap, uint32_t page, int64_t at)
{
    if (s->frame_count == *cap) {
        size_t grown = *cap ? *cap * 2 : 256;
        logged *more = memory_resize(s->frames, grown * sizeof *more);
        if (!more)
            return false;
        s->frames = more;
        *cap = grown;
    }
    s->frames[s->frame_count++] = (logged){page, at + 24};
    return true;
}

static int walk_log(salvage *s, log_look *seen, error *err)
{
    uint8_t head[LOG_HEAD_BYTES], *frame = memory_alloc(FRAME_BYTES);
    log_look now = {0};
    frames chain;
    size_t cap = 0;
    int rc = frame ? FENEC_OK : fail_memory(err);
    bool good = !rc && read_at(s->log, head, sizeof head, 0) && frames_begin(&chain, head) && chain.page_bytes == PAGE_BYTES;

    for (int64_t at = LOG_HEAD_BYTES; !rc && good; at += FRAME_BYTES) {
        if (!read_at(s->log, frame, FRAME_BYTES, at) || !frames_next(&chain, frame))
            break;
        if (!keep_frame(s, &cap, big32(frame), at))
            rc = fail_memory(err);
        if (big32(frame) == 1) {
            uint32_t number = big32(frame + 24 + STAMP_AT);
            now.first = now.any ? now.first : number;
            now.last = number;
            now.any = true;
        }
        if (big32(frame + 4)) {
            now.pages = big32(frame + 4);
            now.committed = s->frame_count;
            *seen = now;
        }
    }
    memory_free(frame);
    s->frame_count = seen->committed;
    return rc;
}

/* The last frame of each page. */
static void sort_frames(salvage *s)
{
    size_t kept = 0;

    if (s->frame_count > 1)
        qsort(s->frames, s->frame_count, sizeof *s->frames, by_page);
    for (size_t i = 0; i < s->frame_count; i++)
        if (i + 1 == s->frame_count || s->frames[i + 1].page != s->frames[i].page)
            s->frames[kept++] = s->frames[i];
    s->frame_count = kept;
}

static int open_log(salvage *s, error *err)
{
    size_t len = strlen(s->path) + sizeof "-wal";
    char *name = memory_alloc(len);
    uint8_t head[100];
    log_look seen = {0};

    if (!name)
        return fail_memory(err);
    snprintf(name, len, "%s-wal", s->path);
    s->log = open(name, O_RDONLY | O_CLOEXEC);
    memory_free(name);
    int rc = s->log < 0 ? FENEC_OK : walk_log(s, &seen, err);
    if (rc)
        return rc;
    /* A head that is damaged cannot say whose the log is: then it is the file's beside which it stands. */
    bool headed = read_at(s->file, head, sizeof head, 0) && memcmp(head, "SQLite format 3", 16) == 0 &&
                  (big32(head + 68) & ~0xFFu) == APPLICATION_ID;
    head_stamp own = headed ? head_stamp_of(head) : (head_stamp){0};
    if (seen.committed && headed && (!seen.any || !head_fits(&own, seen.first, seen.last))) {
        tell_hole(s, NOBODY, false, 0, 0, 0,
                  "the log beside the file belongs to another database or moment and was not used");
        s->frame_count = 0;
        return FENEC_OK;
    }
    if (!seen.committed && headed && !head_is_whole(&own))
        tell_hole(s, NOBODY, false, 0, 0, 0,
                  "the file was copied without its log or while it was written: parts of it may be older");
    sort_frames(s);
    if (seen.committed && seen.pages > s->pages)
        s->pages = seen.pages;
    return FENEC_OK;
}

/* ---- cells ---- */

/* Numbers of SQLite: big-endian, 7 bits a byte, all 8 of the ninth. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t n = 0;

    for (int i = 0; i < 9 && *at < end; i++) {
        uint8_t byte = *(*at)++;
        if (i == 8) {
            *out = n << 8 | byte;
            return true;
        }
        n = n << 7 | (byte & 0x7F);
        if (byte < 0x80) {
            *out = n;
            return true;
        }
    }
    return false;
}

typedef struct page_head {
    uint8_t type;
    uint32_t cells;
    const uint8_t *places; /* of cells */
    uint32_t right;        /* of an inner page */
} page_head;

static bool open_page(page_head *h, const uint8_t *page, uint32_t number)
{
    const uint8_t *head = page + (number == 1 ? 100 : 0);

    *h = (page_head){.type = head[0], .cells = (uint32_t)head[3] << 8 | head[4]};
    if (h->type != LEAF && h->type != INNER)
        return false;
    h->places = head + (h->type == INNER ? 12 : 8);
    h->right = h->type == INNER ? big32(head + 8) : 0;
    return h->cells <= (uint32_t)(page + PAGE_BYTES - h->places) / 2;
}

static const uint8_t *cell_at(const page_head *h, const uint8_t *page, uint32_t n)
{
    uint32_t place = (uint32_t)h->places[2 * n] << 8 | h->places[2 * n + 1];

    return place < 8 || place > PAGE_BYTES - 4 ? NULL : page + place;
}

/* The payload of a leaf's cell, gathered from the pages it goes on to; *size is what the cell takes of its page. */
static bool read_cell(salvage *s, const uint8_t *page, const uint8_t *cell, int64_t *id, size_t *size)
{
    const uint8_t *start = cell;
    const uint8_t *end = page + PAGE_BYTES;
    uint8_t *more;
    uint64_t len, number;

    if (!cell || !read_varint(&cell, end, &len) || !read_varint(&cell, end, &number) ||
        len > (uint64_t)s->pages * PAGE_BYTES || len > INT32_MAX)
        return false;
    *id = (int64_t)number;
    size_t local = (size_t)len;
    if (len > CELL_LOCAL_MAX) {
        local = CELL_LOCAL_MIN + (len - CELL_LOCAL_MIN) % (PAGE_BYTES - 4);
        local = local <= CELL_LOCAL_MAX ? local : CELL_LOCAL_MIN;
    }
    if (local > (size_t)(end - cell))
        return false;
    *size = (size_t)(cell - start) + local + (local == len ? 0 : 4);
    *size = *size < 4 ? 4 : *size;
    s->payload.len = 0;
    buffer_put(&s->payload, cell, local);
    if (local == len)
        return !s->payload.failed;
    if ((size_t)(end - cell) < local + 4 || !(more = memory_alloc(PAGE_BYTES)))
        return false;
    uint32_t next = big32(cell + local);
    while (s->payload.len < len && read_page(s, next, more)) {
        size_t left = (size_t)len - s->payload.len;
        buffer_put(&s->payload, more + 4, left < PAGE_BYTES - 4 ? left : PAGE_BYTES - 4);
        if (s->payload.failed)
            break;
        next = big32(more);
    }
    memory_free(more);
    return !s->payload.failed && s->payload.len == len;
}

static size_t serial_len(uint64_t serial)
{
    static const uint8_t small[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

    return serial < 12 ? small[serial] : (size_t)((serial - 12) / 2);
}

/* The columns of a payload, at most `most` of them; how many, -1 where it is none. */
typedef struct column {
    uint64_t serial;
    const uint8_t *bytes;
    size_t len;
} column;

static int read_columns(const salvage *s, column *out, int most)
{
    const uint8_t *at = s->payload.bytes, *end = at ? at + s->payload.len : at;
    uint64_t head_len, serial;
    int count = 0;

    if (!at || !read_varint(&at, end, &head_len) || head_len > s->payload.len)
        return -1;
    const uint8_t *value = s->payload.bytes + head_len, *head_end = value;
    while (at < head_end && count < most) {
        if (!read_varint(&at, head_end, &serial) || serial_len(serial) > (size_t)(end - value))
            return -1;
        out[count++] = (column){serial, value, serial_len(serial)};
        value += serial_len(serial);
    }
    return at == head_end && (count < most || value <= end) ? count : -1;
}

static bool is_blob(const column *c)
{
    return c->serial >= 12 && (c->serial & 1) == 0;
}

static bool is_text(const column *c)
{
    return c->serial >= 13 && (c->serial & 1) == 1;
}

/* ---- tables ---- */

static bool is_met(const salvage *s, uint32_t page)
{
    return s->met[page / 8] >> page % 8 & 1;
}

static void meet(salvage *s, uint32_t page)
{
    s->met[page / 8] |= (uint8_t)(1u << page % 8);
}

static bool add_table(salvage *s, const char *name, size_t len, uint32_t root)
{
    if (s->table_count == s->table_cap) {
        uint32_t cap = s->table_cap ? s->table_cap * 2 : 64;
        salvage_table *more = memory_resize(s->tables, cap * sizeof *more);
        if (!more)
            return !(s->no_memory = true);
        s->tables = more;
        s->table_cap = cap;
    }
    salvage_table *t = &s->tables[s->table_count++];
    *t = (salvage_table){.root = root};
    snprintf(t->name, sizeof t->name, "%.*s", (int)len, name);
    t->known = table_named(t->name, &t->t) && !memchr(name, 0, len);
    return true;
}

/* A row of SQLite's schema: type, name, table's name, root, text. */
static void note_schema_row(salvage *s)
{
    column c[5];
    uint32_t root = 0;

    if (read_columns(s, c, 5) != 5 || !is_text(&c[0]) || c[0].len != 5 || memcmp(c[0].bytes, "table", 5) != 0 ||
        !is_text(&c[1]) || c[1].len == 0 || c[1].len > 40 || c[3].serial < 1 || c[3].serial > 4)
        return;
    for (size_t i = 0; i < c[3].len; i++)
        root = root << 8 | c[3].bytes[i];
    if (root < 2 || root > s->pages)
        return;
    for (uint32_t i = 0; i < s->table_count; i++)
        if (s->tables[i].root == root || (strlen(s->tables[i].name) == c[1].len && !memcmp(s->tables[i].name, c[1].bytes, c[1].len)))
            return;
    add_table(s, (const char *)c[1].bytes, c[1].len, root);
}

/* ---- the map of parents ---- */

/* The entry of the map of parents; false where there is none. */
static bool read_map(const salvage *s, uint32_t page, uint8_t *type, uint32_t *parent)
{
    uint8_t entry[5];

    if (page < 3)
        return false;
    uint32_t map = (page - 2) / MAP_EVERY * MAP_EVERY + 2;
    if (page == map || map > s->pages)
        return false;
    int64_t inside = (int64_t)(page - map - 1) * 5;
    const logged *l = find_logged(s, map);
    if (!(l ? read_at(s->log, entry, 5, l->at + inside) : read_at(s->file, entry, 5, (int64_t)(map - 1) * PAGE_BYTES + inside)))
        return false;
    *type = entry[0];
    *parent = big32(entry + 1);
    return *type >= MAP_ROOT && *type <= MAP_INSIDE;
}

static int32_t table_at_root(const salvage *s, uint32_t root)
{
    for (uint32_t i = 0; i < s->table_count; i++)
        if (s->tables[i].root == root)
            return (int32_t)i;
    return NOBODY;
}

/* The table whose page it is by the map, STRAY where it is one of none that is known, NOBODY where it is free. */
static int32_t owner_by_map(const salvage *s, uint32_t page)
{
    uint8_t type;
    uint32_t parent;

    for (int i = 0; i < DEPTH_MAX; i++) {
        if (!read_map(s, page, &type, &parent))
            return STRAY;
        if (type == MAP_ROOT) {
            int32_t at = table_at_root(s, page);
            return at >= 0 ? at : STRAY;
        }
        if (type != MAP_INSIDE)
            return NOBODY;
        page = parent;
    }
    return STRAY;
}

/* ---- down a table ---- */

/* What is done with a leaf that a walk meets. */
typedef void leaf_visit(salvage *s, uint32_t number, const uint8_t *page, const page_head *h, int32_t owner, range ids);

static void schema_leaf(salvage *s, uint32_t number, const uint8_t *page, const page_head *h, int32_t owner, range ids)
{
    int64_t id;
    size_t size;

    (void)number, (void)owner, (void)ids;
    for (uint32_t i = 0; i < h->cells; i++)
        if (read_cell(s, page, cell_at(h, page, i), &id, &size))
            note_schema_row(s);
}

static void own_leaf(salvage *s, uint32_t number, const uint8_t *page, const page_head *h, int32_t owner, range ids)
{
    (void)page, (void)h;
    s->owners[number] = owner;
    s->ranges[number] = ids;
}

/* A pointer that is damaged may lead anywhere. */
static bool is_others(const salvage *s, uint32_t page, int32_t owner)
{
    int32_t mapped = owner >= 0 ? owner_by_map(s, page) : NOBODY;

    return mapped >= 0 && mapped != owner;
}

/* Walks a table down. */
static void walk(salvage *s, uint32_t number, range ids, int depth, leaf_visit *visit, int32_t owner)
{
    uint8_t *page = memory_alloc(PAGE_BYTES);
    page_head h;

    if (!page) {
        s->no_memory = true;
        return;
    }
    const char *what = number == 0 || number > s->pages ? "the file ends before it"
                       : depth > DEPTH_MAX || is_met(s, number) ? "it is named a second time"
                       : !read_page(s, number, page) ? "it cannot be read"
                       : !open_page(&h, page, number) ? "it is no page of a table"
                       : is_others(s, number, owner) ? "it is a page of another table" : NULL;
    if (what) {
        tell_hole(s, owner, true, ids.low, ids.high, number, what);
        if (number > 0 && number <= s->pages && !is_others(s, number, owner))
            meet(s, number); /* it has been told of */
        memory_free(page);
        return;
    }
    meet(s, number);
    if (h.type == LEAF) {
        visit(s, number, page, &h, owner, ids);
        memory_free(page);
        return;
    }
    for (uint32_t i = 0; i < h.cells; i++) {
        const uint8_t *cell = cell_at(&h, page, i), *at = cell ? cell + 4 : NULL;
        uint64_t key;
        if (!cell || !read_varint(&at, page + PAGE_BYTES, &key) || (int64_t)key < ids.low || (int64_t)key > ids.high) {
            tell_hole(s, owner, true, ids.low, ids.high, number, "a part of it is damaged");
            continue;
        }
        walk(s, big32(cell), (range){ids.low, (int64_t)key}, depth + 1, visit, owner);
        ids.low = (int64_t)key < INT64_MAX ? (int64_t)key + 1 : INT64_MAX;
    }
    walk(s, h.right, ids, depth + 1, visit, owner);
    memory_free(page);
}

/* ---- pages that no walk met ---- */

/* By the map a page of a table that no walk came to, and none by what stands on it. */
static void tell_ruin(const salvage *s, uint32_t number)
{
    int32_t owner = owner_by_map(s, number);

    if (owner >= 0 && s->tables[owner].known && s->tables[owner].t.kind != TABLE_INDEX)
        tell_hole(s, owner, false, 0, 0, number, "it is no page of a table");
}

static void own_unmet(salvage *s)
{
    uint8_t *page = memory_alloc(PAGE_BYTES);
    page_head h;

    s->no_memory |= !page;
    for (uint32_t n = 2; page && n <= s->pages; n++) {
        if (is_met(s, n))
            continue;
        if (!read_page(s, n, page) || !open_page(&h, page, n))
            tell_ruin(s, n);
        else if (h.type == LEAF)
            s->owners[n] = owner_by_map(s, n);
    }
    memory_free(page);
}

/* Roots whose names are lost are tables all the same. */
static void add_nameless(salvage *s)
{
    uint8_t type;
    uint32_t parent;
    char name[24];

    for (uint32_t n = 3; n <= s->pages && !s->no_memory; n++) {
        if (!read_map(s, n, &type, &parent) || type != MAP_ROOT || parent != 0 || table_at_root(s, n) >= 0)
            continue;
        snprintf(name, sizeof name, "page %u", (unsigned)n);
        add_table(s, name, strlen(name), n);
    }
}

/* Rows of the schema on any page, where page 1 leads to none. */
static void search_schema(salvage *s)
{
    uint8_t *page = memory_alloc(PAGE_BYTES);
    page_head h;

    s->no_memory |= !page;
    for (uint32_t n = 2; page && n <= s->pages; n++)
        if (read_page(s, n, page) && open_page(&h, page, n) && h.type == LEAF)
            schema_leaf(s, n, page, &h, NOBODY, every_id);
    memory_free(page);
}

/* What is without a name may be an index, whose pages are of another kind. */
static bool may_hold_rows(const salvage *s, const salvage_table *t, uint8_t *page)
{
    page_head h;

    if (t->known)
        return t->t.kind != TABLE_INDEX;
    return read_page(s, t->root, page) && open_page(&h, page, t->root);
}

static int find_owners(salvage *s, error *err)
{
    uint8_t *page = memory_alloc(PAGE_BYTES);
    page_head h;

    s->owners = memory_alloc(((size_t)s->pages + 1) * sizeof *s->owners);
    s->ranges = memory_alloc(((size_t)s->pages + 1) * sizeof *s->ranges);
    s->met = memory_zeroed((size_t)s->pages / 8 + 1);
    if (!s->owners || !s->ranges || !s->met || !page) {
        memory_free(page);
        return fail_memory(err);
    }
    for (uint32_t n = 0; n <= s->pages; n++) {
        s->owners[n] = NOBODY;
        s->ranges[n] = every_id;
    }
    if (read_page(s, 1, page) && open_page(&h, page, 1))
        walk(s, 1, every_id, 0, schema_leaf, NOBODY);
    else
        tell_hole(s, NOBODY, false, 0, 0, 1, "the names of the tables are damaged");
    if (s->table_count < 2)
        search_schema(s);
    add_nameless(s);
    for (uint32_t i = 0; i < s->table_count && !s->no_memory; i++)
        if (may_hold_rows(s, &s->tables[i], page))
            walk(s, s->tables[i].root, every_id, 0, own_leaf, (int32_t)i);
    memory_free(page);
    own_unmet(s);
    return s->no_memory ? fail_memory(err) : FENEC_OK;
}

/* ---- opening ---- */

static int open_file(salvage *s, error *err)
{
    struct stat about;

    s->file = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->file < 0)
        return fail(err, FENEC_IO, "cannot open %.800s: %s", s->path, strerror(errno));
    if (fstat(s->file, &about) != 0 || !S_ISREG(about.st_mode))
        return fail(err, FENEC_IO, "%.900s is not a file", s->path);
    s->size = about.st_size;
    /* A last page that is cut short is none. */
    int64_t pages = s->size / PAGE_BYTES;
    s->pages = pages < INT32_MAX ? (uint32_t)pages : INT32_MAX;
    if (s->size % PAGE_BYTES)
        tell_hole(s, NOBODY, false, 0, 0, s->pages + 1, "the file ends inside of it");
    return FENEC_OK;
}

/* Where its lock file is there, it is asked whether somebody has the file open; none is made. */
static int take_lock(salvage *s, error *err)
{
    size_t len = strlen(s->path) + sizeof ".lock";
    char *name = memory_alloc(len);

    if (!name)
        return fail_memory(err);
    snprintf(name, len, "%s.lock", s->path);
    bool there = access(name, W_OK) == 0;
    memory_free(name);
    return there ? lockfile_open(&s->lock, s->path, err) : FENEC_OK;
}

int salvage_open(salvage **out, const uint8_t *path, size_t len, salvage_tell *tell, void *to, error *err)
{
    salvage *s = memory_zeroed(sizeof *s);
    int rc = FENEC_OK;

    if (!s)
        return fail_memory(err);
    *s = (salvage){.file = -1, .log = -1, .tell = tell, .to = to};
    buffer_init(&s->payload);
    s->path = memory_alloc(len + 1);
    if (!s->path || !buffer_reserve(&s->payload, PAGE_BYTES)) {
        rc = fail_memory(err);
    } else {
        memcpy(s->path, path, len);
        s->path[len] = 0;
        if (len == 0 || strlen(s->path) != len)
            rc = fail(err, FENEC_IO, "a path that is empty or has a NUL in it names no file");
    }
    if (!rc)
        rc = take_lock(s, err);
    if (!rc)
        rc = open_file(s, err);
    if (!rc)
        rc = open_log(s, err);
    if (!rc)
        rc = find_owners(s, err);
    if (rc)
        salvage_close(s);
    else
        *out = s;
    return rc;
}

void salvage_close(salvage *s)
{
    if (!s)
        return;
    if (s->file >= 0)
        close(s->file);
    if (s->log >= 0)
        close(s->log);
    lockfile_close(s->lock);
    buffer_clear(&s->payload);
    memory_free(s->frames);
    memory_free(s->tables);
    memory_free(s->owners);
    memory_free(s->ranges);
    memory_free(s->met);
    memory_free(s->path);
    memory_free(s);
}

uint32_t salvage_pages(const salvage *s)
{
    return s->pages;
}

uint32_t salvage_table_count(const salvage *s)
{
    return s->table_count;
}

const salvage_table *salvage_table_at(const salvage *s, uint32_t n)
{
    return &s->tables[n];
}

/* ---- rows ---- */

/* Bytes of a page that are neither cells nor, by its head, between them: what its cells are to add up to. */
static bool room_for_cells(const uint8_t *page, const page_head *h, size_t *out)
{
    const uint8_t *head = h->places - 8;
    uint32_t content = (uint32_t)head[5] << 8 | head[6], at = (uint32_t)head[1] << 8 | head[2], before = 0;
    uint32_t least = (uint32_t)(h->places - page) + h->cells * 2;

    content = content ? content : 65536;
    if (content > PAGE_BYTES || content < least)
        return false;
    size_t room = PAGE_BYTES - content;
    if (head[7] > room)
        return false;
    room -= head[7];
    while (at) {
        if (at <= before || at < content || at > PAGE_BYTES - 4)
            return false;
        uint32_t size = (uint32_t)page[at + 2] << 8 | page[at + 3];
        if (size > room || size < 4)
            return false;
        room -= size;
        before = at;
        at = (uint32_t)page[at] << 8 | page[at + 1];
    }
    *out = room;
    return true;
}

static bool visit_page(salvage *s, int32_t owner, uint32_t number, const uint8_t *page, salvage_visit *visit, void *to)
{
    size_t used = 0, room = 0;
    uint32_t lost = 0, strange = 0;
    int64_t least = INT64_MIN; /* rows stand in the order of their ids: no smaller one follows */
    page_head h;

    if (!open_page(&h, page, number))
        return true;
    for (uint32_t i = 0; i < h.cells; i++) {
        const range *ids = &s->ranges[number];
        size_t size = 0;
        column c[2];
        int64_t id;
        bool good = read_cell(s, page, cell_at(&h, page, i), &id, &size);
        used += size;
        if (!good || id < least || read_columns(s, c, 2) != 2 || c[0].serial != 0 || !is_blob(&c[1]))
            lost++;
        else if (id < ids->low || id > ids->high)
            strange++;
        else if (!visit(to, number, id, c[1].bytes, c[1].len))
            return false;
        if (good && id >= least && id < INT64_MAX)
            least = id + 1;
    }
    if (owner < 0)
        return true;
    /* Of a tree of several pages none is ever empty. */
    if (strange || (h.cells == 0 && s->tables[owner].root != number))
        tell_hole(s, owner, true, s->ranges[number].low, s->ranges[number].high, number,
                  strange ? "rows of another page stand on it" : "its rows are gone");
    else if (lost)
        tell_hole(s, owner, true, s->ranges[number].low, s->ranges[number].high, number, "some rows on it are damaged");
    else if (!room_for_cells(page, &h, &room) || room != used)
        tell_hole(s, owner, true, s->ranges[number].low, s->ranges[number].high, number, "some rows on it may be missing");
    return true;
}

int salvage_rows(salvage *s, uint32_t which, salvage_visit *visit, void *to, error *err)
{
    int32_t owner = which == SALVAGE_STRAYS ? STRAY : (int32_t)which;
    uint8_t *page = memory_alloc(PAGE_BYTES);
    bool goes_on = true;

    if (!page)
        return fail_memory(err);
    for (uint32_t n = 1; goes_on && n <= s->pages; n++)
        if (s->owners[n] == owner && read_page(s, n, page))
            goes_on = visit_page(s, owner, n, page, visit, to);
    memory_free(page);
    if (s->payload.failed)
        return fail_memory(err);
    return goes_on ? FENEC_OK : FN_END;
}
