#include "damage.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "test.h"

enum { PAGE = DAMAGE_PAGE, TRIES = 400, MAP_EVERY = PAGE / 5 + 1 };

static uint32_t below(uint64_t *random, uint32_t n)
{
    return n ? (uint32_t)(test_random(random) % n) : 0;
}

static uint32_t get2(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t get4(const uint8_t *p)
{
    return get2(p) << 16 | get2(p + 2);
}

static void set2(uint8_t *p, uint32_t n)
{
    p[0] = (uint8_t)(n >> 8);
    p[1] = (uint8_t)n;
}

static void set4(uint8_t *p, uint32_t n)
{
    set2(p, n >> 16);
    set2(p + 2, n);
}

/* ---- pages ---- */

typedef struct file {
    uint8_t *bytes;
    uint32_t pages;
    uint64_t *random;
} file;

/* A page of a tree. */
typedef struct tree_page {
    uint8_t *page, *head;
    uint32_t number, cells;
    bool inner, table;
    uint8_t *places;
} tree_page;

static uint8_t *page_at(const file *f, uint32_t number)
{
    return f->bytes + (size_t)(number - 1) * PAGE;
}

static bool open_tree_page(const file *f, uint32_t number, tree_page *out)
{
    uint8_t *page = page_at(f, number), *head = page + (number == 1 ? 100 : 0);
    uint8_t type = head[0];

    *out = (tree_page){.page = page, .head = head, .number = number, .inner = type == 2 || type == 5, .table = type == 5 || type == 13};
    out->cells = get2(head + 3);
    out->places = head + (out->inner ? 12 : 8);
    return (type == 2 || type == 5 || type == 10 || type == 13) && out->places + 2 * out->cells <= page + PAGE;
}

/* A random page of a tree: an inner one, a leaf, or any (-1); with cells. */
static bool draw_tree_page(const file *f, int inner, tree_page *out)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t number = 1 + below(f->random, f->pages);
        if (open_tree_page(f, number, out) && out->cells > 0 && (inner < 0 || out->inner == (inner > 0)))
            return true;
    }
    return false;
}

/* NULL: it lies past its page. */
static uint8_t *cell_at(const tree_page *t, uint32_t n)
{
    uint32_t place = get2(t->places + 2 * n);

    return place < 8 || place > PAGE - 16 ? NULL : t->page + place;
}

static const uint8_t *read_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    uint64_t n = 0;

    for (int i = 0; i < 9 && p < end; i++) {
        uint8_t byte = *p++;
        n = i == 8 ? n << 8 | byte : n << 7 | (byte & 0x7F);
        if (byte < 0x80)
            break;
    }
    *out = n;
    return p;
}

/* The number of the first overflow page of a cell; NULL: it has none. */
static uint8_t *overflow_of(const tree_page *t, uint32_t n)
{
    const uint8_t *at = cell_at(t, n), *end = t->page + PAGE;
    uint64_t len, id, most = t->table ? PAGE - 35 : (PAGE - 12) * 64 / 255 - 23, least = (PAGE - 12) * 32 / 255 - 23;

    if (!at || (t->table && t->inner))
        return NULL;
    at = read_varint(at + (t->inner ? 4 : 0), end, &len);
    if (t->table)
        at = read_varint(at, end, &id);
    if (len <= most)
        return NULL;
    uint64_t local = least + (len - least) % (PAGE - 4);
    local = local <= most ? local : least;
    return local + 4 <= (uint64_t)(end - at) ? (uint8_t *)at + local : NULL;
}

static bool draw_overflow(const file *f, tree_page *t, uint8_t **out)
{
    for (int i = 0; i < TRIES; i++) {
        if (!draw_tree_page(f, -1, t))
            return false;
        for (uint32_t n = 0; n < t->cells; n++)
            if ((*out = overflow_of(t, n)) != NULL && get4(*out) >= 2 && get4(*out) <= f->pages)
                return true;
    }
    return false;
}

/* A page that leads down to this one; 0: none. */
static uint32_t parent_of(const file *f, uint32_t number)
{
    for (uint32_t i = 1; i <= f->pages; i++) {
        tree_page t;
        if (!open_tree_page(f, i, &t) || !t.inner)
            continue;
        if (get4(t.head + 8) == number)
            return i;
        for (uint32_t n = 0; n < t.cells; n++) {
            const uint8_t *cell = cell_at(&t, n);
            if (cell && get4(cell) == number)
                return i;
        }
    }
    return 0;
}

/* Itself, one above it, one below it, any. */
static uint32_t draw_relative(const file *f, const tree_page *t)
{
    uint32_t up = t->number;

    switch (below(f->random, 4)) {
    case 0: return t->number;
    case 1:
        for (uint32_t i = 0; i <= below(f->random, 3); i++)
            up = parent_of(f, up) ? parent_of(f, up) : up;
        return up;
    case 2: return t->inner ? get4(t->head + 8) : t->number;
    default: return 1 + below(f->random, f->pages);
    }
}

static bool damage_child(const file *f, char *how, bool last)
{
    tree_page t;

    if (!draw_tree_page(f, 1, &t))
        return false;
    uint32_t n = below(f->random, t.cells), to = draw_relative(f, &t);
    uint8_t *at = last ? t.head + 8 : cell_at(&t, n);
    if (!at)
        return false;
    set4(at, to);
    snprintf(how, 160, "page %u: child %d is page %u", t.number, last ? -1 : (int)n, to);
    return true;
}

static bool damage_overflow(const file *f, char *how)
{
    tree_page t;
    uint8_t *first;
    uint32_t to = 0;

    if (!draw_overflow(f, &t, &first))
        return false;
    uint32_t page = get4(first), steps = below(f->random, 4);
    for (; steps > 0; steps--) {
        uint32_t next = get4(page_at(f, page));
        if (next < 2 || next > f->pages)
            break;
        page = next;
    }
    switch (below(f->random, 5)) {
    case 0: set4(first, to = t.number); break;
    case 1: set4(first, to = 1 + below(f->random, f->pages)); break;
    case 2: set4(page_at(f, page), to = page); break;
    case 3: set4(page_at(f, page), to = get4(first)); break;
    default: set4(page_at(f, page), to = 1 + below(f->random, f->pages + 2)); break;
    }
    snprintf(how, 160, "page %u: overflow from %u on, page %u leads to %u", t.number, get4(first), page, to);
    return true;
}

static bool damage_free_list(const file *f, char *how)
{
    uint32_t any = 1 + below(f->random, f->pages), trunk = get4(f->bytes + 32), what = below(f->random, 6);
    uint8_t *page;

    if (trunk < 2 || trunk > f->pages) { /* none is free yet: then some page is said to be */
        trunk = any;
        set4(f->bytes + 32, trunk);
        set4(f->bytes + 36, 1 + below(f->random, f->pages));
    }
    page = page_at(f, trunk);
    switch (what) {
    case 0: set4(page, trunk); break;
    case 1: set4(page, any); break;
    case 2: set4(page + 4, below(f->random, 2) ? UINT32_MAX : PAGE / 4 - 2); break;
    case 3: set4(page + 8 + 4 * below(f->random, get4(page + 4) % 1000 + 1), any); break;
    case 4: set4(f->bytes + 36, below(f->random, 2) ? UINT32_MAX : below(f->random, f->pages)); break;
    default: set4(f->bytes + 32, any); break;
    }
    snprintf(how, 160, "free list: %u, first page %u, other page %u", what, trunk, any);
    return true;
}

/* The map of parents. */
static bool damage_map(const file *f, char *how)
{
    uint32_t page = 3 + below(f->random, f->pages), map = (page - 2) / MAP_EVERY * MAP_EVERY + 2;
    uint32_t type = below(f->random, 4) ? 1 + below(f->random, 5) : below(f->random, 256);
    uint32_t parent = below(f->random, 3) ? 1 + below(f->random, f->pages) : page;

    if (page == map || map > f->pages)
        return false;
    uint8_t *at = page_at(f, map) + 5 * (page - map - 1);
    *at = (uint8_t)type;
    set4(at + 1, parent);
    snprintf(how, 160, "map: page %u is a %u of page %u", page, type, parent);
    return true;
}

static bool damage_length(const file *f, char *how)
{
    static const uint8_t lengths[][9] = {
        {0xC0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, /* 2^63 */
        {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
        {0x87, 0xFF, 0xFF, 0xFF, 0x7F},                         /* 2^31 - 1 */
        {0x83, 0x80, 0x00},                                     /* 48 KiB */
        {0x00},
    };
    static const size_t counts[] = {9, 9, 5, 3, 1};
    tree_page t;

    if (!draw_tree_page(f, -1, &t))
        return false;
    uint32_t n = below(f->random, t.cells), what = below(f->random, 5);
    uint8_t *cell = cell_at(&t, n);
    if (!cell)
        return false;
    memcpy(cell + (t.inner ? 4 : 0), lengths[what], counts[what]);
    snprintf(how, 160, "page %u: cell %u has length %u of a list", t.number, n, what);
    return true;
}

static bool damage_places(const file *f, char *how)
{
    tree_page t;

    if (!draw_tree_page(f, -1, &t))
        return false;
    uint32_t a = below(f->random, t.cells), b = below(f->random, t.cells), what = below(f->random, 3);
    uint32_t was = get2(t.places + 2 * a);
    set2(t.places + 2 * a, what == 2 ? below(f->random, PAGE) : get2(t.places + 2 * b));
    if (what == 0)
        set2(t.places + 2 * b, was);
    snprintf(how, 160, "page %u: cells %u and %u, way %u", t.number, a, b, what);
    return true;
}

static bool damage_count(const file *f, char *how)
{
    tree_page t;

    if (!draw_tree_page(f, -1, &t))
        return false;
    uint32_t to = below(f->random, 2) ? below(f->random, t.cells) : t.cells + 1 + below(f->random, 2000);
    set2(t.head + 3, to);
    snprintf(how, 160, "page %u: %u cells, not %u", t.number, to, t.cells);
    return true;
}

/* Free blocks within a page. */
static bool damage_blocks(const file *f, char *how)
{
    tree_page t;

    if (!draw_tree_page(f, -1, &t))
        return false;
    uint32_t at = 100 + below(f->random, PAGE - 104), size = below(f->random, 3) ? 4 + below(f->random, 60) : PAGE;
    set2(t.head + 1, at);
    set2(t.page + at, below(f->random, 2) ? at : at + size);
    set2(t.page + at + 2, size);
    if (below(f->random, 2))
        set2(t.head + 5, below(f->random, PAGE));
    snprintf(how, 160, "page %u: a free block at %u of %u bytes", t.number, at, size);
    return true;
}

static bool damage_id(const file *f, char *how)
{
    tree_page t;
    uint64_t len;

    if (!draw_tree_page(f, -1, &t))
        return false;
    uint32_t n = below(f->random, t.cells);
    uint8_t *cell = cell_at(&t, n);
    if (!cell)
        return false;
    const uint8_t *at = t.inner && t.table ? cell + 4 : read_varint(cell + (t.inner ? 4 : 0), t.page + PAGE, &len);
    size_t place = (size_t)(at - t.page) + below(f->random, 3);
    if (place < PAGE)
        t.page[place] = (uint8_t)test_random(f->random);
    snprintf(how, 160, "page %u: the id or key of cell %u", t.number, n);
    return true;
}

static bool damage_head(const file *f, char *how)
{
    static const uint8_t places[] = {16, 18, 20, 21, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 92, 96};
    uint32_t at = places[below(f->random, sizeof places)], to = below(f->random, 3) ? below(f->random, 2 * f->pages) : UINT32_MAX;

    if (at >= 24)
        set4(f->bytes + at, to);
    else
        f->bytes[at] = (uint8_t)to;
    snprintf(how, 160, "head: at %u stands %u", at, to);
    return true;
}

static bool damage_type(const file *f, char *how)
{
    static const uint8_t types[] = {2, 5, 10, 13, 0};
    tree_page t;

    if (!draw_tree_page(f, -1, &t))
        return false;
    uint32_t what = below(f->random, 5);
    *t.head = types[what];
    snprintf(how, 160, "page %u: of type %u", t.number, types[what]);
    return true;
}

bool damage_pages(uint8_t *bytes, size_t len, int kind, uint64_t *random, char how[160])
{
    const file f = {bytes, (uint32_t)(len / PAGE), random};

    if (f.pages < 3)
        return false;
    switch (kind) {
    case 0: return damage_child(&f, how, false);
    case 1: return damage_child(&f, how, true);
    case 2: return damage_overflow(&f, how);
    case 3: return damage_free_list(&f, how);
    case 4: return damage_map(&f, how);
    case 5: return damage_length(&f, how);
    case 6: return damage_places(&f, how);
    case 7: return damage_count(&f, how);
    case 8: return damage_blocks(&f, how);
    case 9: return damage_id(&f, how);
    case 10: return damage_head(&f, how);
    default: return damage_type(&f, how);
    }
}

/* ---- rows ---- */

typedef struct blob {
    uint8_t *bytes;
    size_t len;
} blob;

typedef struct tampering {
    sqlite3 *db;
    uint64_t *random;
    char table[40];
    bool is_index;
} tampering;

static bool run(const tampering *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool run(const tampering *t, const char *format, ...)
{
    char sql[300];
    va_list args;

    va_start(args, format);
    vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    return sqlite3_exec(t->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* The tables of search indexes, where most of what we read ourselves stands, more often than the others. */
static bool draw_table(tampering *t)
{
    sqlite3_stmt *st;
    uint32_t count = 0;

    if (sqlite3_prepare_v2(t->db, "select name from sqlite_schema where type = 'table' order by name", -1, &st, NULL) != SQLITE_OK)
        return false;
    while (sqlite3_step(st) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        uint32_t weight = *name == 'x' ? 6 : 1;
        if (strncmp(name, "sqlite", 6) == 0)
            continue;
        count += weight;
        if (below(t->random, count) < weight)
            snprintf(t->table, sizeof t->table, "%s", name);
    }
    sqlite3_finalize(st);
    t->is_index = t->table[0] == 'i';
    return count > 0;
}

/* A row by chance. */
static bool draw_row(const tampering *t, int64_t *id, blob *out)
{
    char sql[200];
    sqlite3_stmt *st;
    bool found = false;

    snprintf(sql, sizeof sql, "select id, %s from %s limit 1 offset abs(%lld) %% max(1, (select count(*) from %s))",
             t->is_index ? "key" : "rec", t->table, (long long)(test_random(t->random) >> 2), t->table);
    *out = (blob){0};
    if (sqlite3_prepare_v2(t->db, sql, -1, &st, NULL) != SQLITE_OK)
        return false;
    if (sqlite3_step(st) == SQLITE_ROW) {
        *id = sqlite3_column_int64(st, 0);
        out->len = (size_t)sqlite3_column_bytes(st, 1);
        out->bytes = malloc(out->len + 64);
        if (out->len)
            memcpy(out->bytes, sqlite3_column_blob(st, 1), out->len);
        found = true;
    }
    sqlite3_finalize(st);
    return found;
}

/* The checksum that these bytes have in that row. */
static void seal(const tampering *t, int64_t id, blob *b)
{
    uint8_t place[12];
    uint32_t sum = 0;

    if (b->len < 4 || t->is_index || t->table[0] == 's' || strcmp(t->table, "meta") == 0)
        return;
    if (t->table[0] == 'x') {
        bytes_put_u32(place, (uint32_t)atol(t->table + 1));
        bytes_put_u64(place + 4, (uint64_t)id);
        sum = crc32c(0, place, 12);
    } else if (strcmp(t->table, "catalog") != 0) {
        bytes_put_u64(place, (uint64_t)id);
        sum = crc32c(0, place, 8);
    }
    bytes_put_u32(b->bytes + b->len - 4, crc32c(sum, b->bytes, b->len - 4));
}

static bool write_row(const tampering *t, int64_t id, blob *b)
{
    char sql[100];
    sqlite3_stmt *st;

    seal(t, id, b);
    snprintf(sql, sizeof sql, "insert or replace into %s (id, %s) values (?, ?)", t->table, t->is_index ? "key" : "rec");
    if (sqlite3_prepare_v2(t->db, sql, -1, &st, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_int64(st, 1, id);
    if (t->is_index && below(t->random, 4) == 0) /* no key of ours: SQLite has text and numbers before any blob */
        sqlite3_bind_text(st, 2, (const char *)b->bytes, (int)b->len, SQLITE_TRANSIENT);
    else
        sqlite3_bind_blob(st, 2, b->bytes ? (void *)b->bytes : "", (int)b->len, SQLITE_TRANSIENT);
    for (uint32_t more = t->is_index && below(t->random, 4) == 0 ? 20 + below(t->random, 40) : 1; more > 0; more--) {
        sqlite3_step(st);
        sqlite3_reset(st);
        sqlite3_bind_int64(st, 1, id + more);
    }
    return sqlite3_finalize(st) == SQLITE_OK;
}

static void change(const tampering *t, blob *b, char *what)
{
    static const uint8_t large[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
    size_t len = b->len > 4 ? b->len - 4 : b->len, at = below(t->random, len < 40 || below(t->random, 2) ? (uint32_t)len : 40);

    if (len == 0)
        return;
    switch (below(t->random, 7)) {
    case 0:
        b->bytes[at] ^= (uint8_t)(1u << below(t->random, 8));
        snprintf(what, 60, "a bit of byte %zu", at);
        break;
    case 1:
        b->bytes[at] = (uint8_t)test_random(t->random);
        snprintf(what, 60, "byte %zu", at);
        break;
    case 2: { /* a number past all */
        size_t n = below(t->random, 2) ? sizeof large : 1 + below(t->random, sizeof large);
        for (size_t i = 0; i < n && at + i < len; i++)
            b->bytes[at + i] = large[sizeof large - n + i];
        snprintf(what, 60, "a large number at %zu", at);
        break;
    }
    case 3:
        b->len = at + (b->len - len);
        snprintf(what, 60, "cut to %zu", b->len);
        break;
    case 4: /* longer */
        memset(b->bytes + b->len, (int)below(t->random, 256), 60);
        b->len += 1 + below(t->random, 60);
        snprintf(what, 60, "%zu bytes long", b->len);
        break;
    case 5: { /* a part of it in another place */
        size_t to = below(t->random, (uint32_t)len), n = 1 + below(t->random, 32);
        for (size_t i = 0; i < n && at + i < len && to + i < len; i++)
            b->bytes[to + i] = b->bytes[at + i];
        snprintf(what, 60, "%zu bytes from %zu at %zu", n, at, to);
        break;
    }
    default:
        for (size_t i = at; i < len && i < at + 8; i++)
            b->bytes[i] = 0;
        snprintf(what, 60, "zeros at %zu", at);
        break;
    }
}

static bool tamper(tampering *t, char *how)
{
    int64_t id = 0, other = 0;
    blob a = {0}, b = {0};
    char what[60] = "";
    bool done = draw_table(t) && draw_row(t, &id, &a);

    if (done) {
        switch (below(t->random, 6)) {
        case 0:
            done = draw_row(t, &other, &b) && write_row(t, id, &b);
            snprintf(what, sizeof what, "row %lld in the place of it", (long long)other);
            break;
        case 1:
            done = run(t, "delete from %s where id = %lld", t->table, (long long)id);
            snprintf(what, sizeof what, "gone");
            break;
        case 2:
            other = below(t->random, 2) ? id + 1 + below(t->random, 3) : (int64_t)test_random(t->random);
            done = write_row(t, other, &a);
            snprintf(what, sizeof what, "once more as %lld", (long long)other);
            break;
        default:
            change(t, &a, what);
            if (t->is_index)
                run(t, "delete from %s where id = %lld", t->table, (long long)id);
            done = write_row(t, id, &a);
            break;
        }
    }
    snprintf(how, 160, "%s, row %lld: %s", t->table, (long long)id, what);
    free(a.bytes);
    free(b.bytes);
    return done;
}

bool damage_rows(test_disk *d, const char *path, uint64_t *random, char how[160])
{
    tampering t = {.random = random};
    uint32_t count = 1 + (below(random, 3) == 0 ? below(random, 3) : 0);
    bool done = false;

    if (sqlite3_open_v2(path, &t.db, SQLITE_OPEN_READWRITE, test_disk_vfs(d)) == SQLITE_OK)
        for (; count > 0; count--)
            done |= tamper(&t, how);
    sqlite3_close(t.db);
    return done;
}
