#include "exec/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "catalog/catalog_row.h"
#include "exec/checking.h"
#include "exec/database.h"
#include "store/copy.h"
#include "store/record.h"
#include "store/salvage.h"
#include "value/json.h"
#include "value/packed.h"

#define ROWS_A_BLOCK 1000
#define STRAYS ".strays.jsonl"

typedef struct recovery {
    salvage *from;
    store *into;
    conn *c;
    int64_t in_block; /* rows */
    checking said;
    recover_report *report;
    collection **found; /* declared */
    uint32_t count, cap;
    const collection *of; /* whose rows are on their way */
    uint32_t field;
    const salvage_table *table;
    FILE *strays;
    char *strays_path;
    int64_t seen, all; /* pages, for the watch */
    arena memory;
    buffer bytes;
    int code;
    error *err;
} recovery;

/* ---- what is lost ---- */

static const collection *declared(const recovery *r, uint32_t number)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->found[i]->number == number)
            return r->found[i];
    return NULL;
}

static const char *table_text(const recovery *r, const salvage_table *t, char out[200])
{
    const collection *of = t->known && (t->t.kind == TABLE_RECORDS || t->t.kind == TABLE_SIDE) ? declared(r, t->t.number) : NULL;

    if (of)
        snprintf(out, 200, "`%.180s`", of->name);
    else if (t->known && t->t.kind == TABLE_CATALOG)
        snprintf(out, 200, "declarations");
    else if (t->known && t->t.kind == TABLE_META)
        snprintf(out, 200, "numbers");
    else
        snprintf(out, 200, "table %.40s", t->name);
    return out;
}

static void tell_hole(void *to, const salvage_hole *h)
{
    recovery *r = to;
    char name[200], low[24] = "the first", high[24] = "the last";

    if (!h->of) {
        check_found(&r->said, h->page ? "page %u: %s" : "%.0u%s", (unsigned)h->page, h->what);
        return;
    }
    if (h->of->known && h->of->t.kind == TABLE_SEARCH)
        return; /* built anew */
    table_text(r, h->of, name);
    if (h->low > INT64_MIN)
        snprintf(low, sizeof low, "%" PRId64, h->low);
    if (h->high < INT64_MAX)
        snprintf(high, sizeof high, "%" PRId64, h->high);
    if (h->ranged)
        check_found(&r->said, "%s: ids from %s to %s, page %u: %s", name, low, high, (unsigned)h->page, h->what);
    else
        check_found(&r->said, "%s: page %u: %s", name, (unsigned)h->page, h->what);
}

/* Holes that are met before the declarations are known are told of after them. */
typedef struct kept_hole {
    salvage_hole h;
    salvage_table of;
} kept_hole;

typedef struct holes {
    recovery *r;
    buffer kept;
    bool keeps;
} holes;

static void meet_hole(void *to, const salvage_hole *h)
{
    holes *k = to;
    kept_hole one = {.h = *h};

    if (!k->keeps) {
        tell_hole(k->r, h);
        return;
    }
    if (h->of)
        one.of = *h->of;
    one.h.of = h->of ? (const salvage_table *)1 : NULL; /* whether there is one */
    buffer_put(&k->kept, &one, sizeof one);
}

static void tell_kept(holes *k)
{
    kept_hole one;

    k->keeps = false;
    for (size_t at = 0; at + sizeof one <= k->kept.len; at += sizeof one) {
        memcpy(&one, k->kept.bytes + at, sizeof one);
        one.h.of = one.h.of ? &one.of : NULL;
        tell_hole(k->r, &one.h);
    }
}

/* ---- blocks of the new database ---- */

static int begin_block(recovery *r)
{
    version *none;

    r->in_block = 0;
    return store_write(r->into, false, &r->c, &none, r->err);
}

static int end_block(recovery *r)
{
    uint64_t ticket;
    conn *c = r->c;

    r->c = NULL;
    return store_write_commit(c, NULL, &ticket, r->err);
}

static int note_row(recovery *r)
{
    if (++r->in_block < ROWS_A_BLOCK)
        return FENEC_OK;
    int rc = end_block(r);
    return rc ? rc : begin_block(r);
}

static bool goes_on(recovery *r, uint32_t page)
{
    if (page % 256 == 0 && !check_goes_on(&r->said, r->of ? r->of->name : "pages", page, salvage_pages(r->from)))
        r->report->stopped = true;
    return !r->code && !r->report->stopped;
}

/* ---- declarations ---- */

static bool is_new(const recovery *r, const collection *made)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->found[i]->number == made->number || strcmp(r->found[i]->name, made->name) == 0)
            return false;
    return true;
}

/* A row of the catalog. What it says of its indexes is true once they are built anew. */
static int take_declaration(recovery *r, int64_t number, const uint8_t *bytes, size_t len)
{
    collection draft, *made;

    int rc = number < 1 || number >= UINT32_MAX ? FENEC_CORRUPT : catalog_row_read(bytes, len, &r->memory, &draft, r->err);
    if (!rc) {
        draft.number = (uint32_t)number;
        rc = collection_seal(&draft, &made, r->err);
    }
    arena_reset(&r->memory);
    if (rc)
        return rc == FENEC_PANIC ? rc : FENEC_CORRUPT;
    if (r->count == r->cap) {
        uint32_t cap = r->cap ? r->cap * 2 : 16;
        collection **more = memory_resize(r->found, cap * sizeof *more);
        if (!more) {
            collection_drop(made);
            return fail_memory(r->err);
        }
        r->found = more;
        r->cap = cap;
    }
    if (is_new(r, made))
        r->found[r->count++] = made;
    else
        collection_drop(made);
    return FENEC_OK;
}

static bool visit_declaration(void *to, uint32_t page, int64_t id, const uint8_t *bytes, size_t len)
{
    recovery *r = to;
    int rc = take_declaration(r, id, bytes, len);

    (void)page;
    if (rc == FENEC_PANIC)
        r->code = rc;
    else if (rc && r->table)
        check_found(&r->said, "declarations: that of collection %" PRId64 " is damaged", id);
    return !r->code;
}

/* Declarations may stand on pages whose table is lost: their checksum tells them. */
static int find_declarations(recovery *r)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < salvage_table_count(r->from); i++) {
        const salvage_table *t = salvage_table_at(r->from, i);
        if (t->known && t->t.kind != TABLE_CATALOG)
            continue;
        r->table = t->known ? t : NULL;
        rc = salvage_rows(r->from, i, visit_declaration, r, r->err);
    }
    r->table = NULL;
    if (!rc)
        rc = salvage_rows(r->from, SALVAGE_STRAYS, visit_declaration, r, r->err);
    return r->code ? r->code : rc == FN_END ? FENEC_OK : rc;
}

static int write_declarations(recovery *r, uint32_t next_collection, uint32_t next_index)
{
    uint8_t numbers[8];
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < r->count; i++) {
        const collection *of = r->found[i];
        r->bytes.len = 0;
        catalog_row_write(&r->bytes, of);
        rc = r->bytes.failed ? fail_memory(r->err)
                             : rows_put(r->c, table_catalog(), of->number, r->bytes.bytes, r->bytes.len, r->err);
        next_collection = of->number >= next_collection ? of->number + 1 : next_collection;
        for (uint32_t k = 0; k < of->index_count; k++)
            next_index = of->indexes[k].number >= next_index ? of->indexes[k].number + 1 : next_index;
        r->report->collections++;
    }
    bytes_put_u32(numbers, next_collection);
    bytes_put_u32(numbers + 4, next_index);
    return rc ? rc : rows_put(r->c, table_meta(), META_NUMBERS, numbers, sizeof numbers, r->err);
}

/* ---- numbers ---- */

typedef struct numbers {
    recovery *r;
    uint64_t changes;
    uint32_t next_collection, next_index;
} numbers;

static bool visit_number(void *to, uint32_t page, int64_t id, const uint8_t *bytes, size_t len)
{
    numbers *n = to;

    (void)page;
    if (len != 8)
        return true;
    if (id == META_CHANGES)
        n->changes = bytes_u64(bytes);
    if (id == META_NUMBERS) {
        n->next_collection = bytes_u32(bytes);
        n->next_index = bytes_u32(bytes + 4);
    }
    if (id >= META_MARK(0) && id <= META_MARK(UINT32_MAX) && (int64_t)bytes_u64(bytes) > 0 && declared(n->r, (uint32_t)id))
        n->r->code = rows_put(n->r->c, table_meta(), id, bytes, len, n->r->err);
    return !n->r->code;
}

static int take_numbers(recovery *r)
{
    numbers n = {.r = r, .next_collection = 1, .next_index = 1};
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < salvage_table_count(r->from); i++)
        if (salvage_table_at(r->from, i)->known && salvage_table_at(r->from, i)->t.kind == TABLE_META)
            rc = salvage_rows(r->from, i, visit_number, &n, r->err);
    if (r->code)
        return r->code;
    if (n.next_collection == 0 || n.next_collection > UINT32_MAX / 2)
        n.next_collection = 1;
    if (n.next_index == 0 || n.next_index > UINT32_MAX / 2)
        n.next_index = 1;
    rc = write_declarations(r, n.next_collection, n.next_index);
    if (!rc && n.changes && n.changes < INT64_MAX)
        counter_set(r->c, n.changes);
    return rc;
}

/* ---- values beside records ---- */

static bool visit_side(void *to, uint32_t page, int64_t id, const uint8_t *bytes, size_t len)
{
    recovery *r = to;
    error unused;

    if (!goes_on(r, page))
        return false;
    if (packed_check(bytes, len, &unused))
        return true; /* told of with its record */
    r->code = rows_put(r->c, table_side(r->of->number, r->field), id, bytes, len, r->err);
    if (!r->code)
        r->code = note_row(r);
    return !r->code;
}

/* ---- records ---- */

/* Whether the value that a slot refers to was found. */
static int side_is_there(recovery *r, uint32_t field, int64_t id, const record_slot_bytes *slot, bool *out)
{
    const uint8_t *bytes;
    error unused;
    size_t len;
    int rc = rows_get(r->c, table_side(r->of->number, field), id, &bytes, &len, r->err);

    *out = !rc && slot->len == RECORD_SIDE_LEN && !record_check_side(slot->bytes, bytes, len, id, &unused);
    return rc == FN_END ? FENEC_OK : rc;
}

static const char *field_name(const collection *of, uint32_t number)
{
    for (uint32_t i = 0; i < of->field_count; i++)
        if (of->fields[i].number == number)
            return of->fields[i].name;
    return "a field that was dropped";
}

/* The record less the values that are lost. */
static int take_record(recovery *r, int64_t id, const uint8_t *bytes, size_t len)
{
    record rec;
    bool whole = true;

    int rc = record_open(&rec, bytes, len, r->err);
    record_slot_bytes *slots = rc ? NULL : arena_zeroed(&r->memory, ((size_t)rec.fields + 1) * sizeof *slots);
    if (!rc && !slots)
        rc = fail_memory(r->err);
    for (uint32_t n = 0; !rc && n < rec.fields; n++) {
        bool there = true;
        rc = record_slot(&rec, n, &slots[n].bytes, &slots[n].len, r->err);
        if (!rc && slots[n].len && slots[n].bytes[0] == RECORD_SIDE)
            rc = side_is_there(r, n, id, &slots[n], &there);
        if (rc || there)
            continue;
        check_found(&r->said, "`%s`: document %" PRId64 ": the value of `%s` is lost", r->of->name, id, field_name(r->of, n));
        slots[n].len = 0;
        whole = false;
    }
    if (!rc && !whole) {
        r->bytes.len = 0;
        record_write(&r->bytes, id, slots, rec.fields);
        bytes = r->bytes.bytes;
        len = r->bytes.len;
        if (r->bytes.failed)
            rc = fail_memory(r->err);
    }
    if (!rc)
        rc = rows_put(r->c, table_records(r->of->number), id, bytes, len, r->err);
    return rc;
}

/* Of what type a value may stand beside its record: the others are never so long. */
static bool may_be_beside(const type *t)
{
    switch (t->kind) {
    case TYPE_TEXT:
    case TYPE_BYTES:
    case TYPE_VECTOR:
    case TYPE_SPARSE:
    case TYPE_LIST:
    case TYPE_JSON: return true;
    default: return false;
    }
}

/* A page of another collection may stand where one of this was: then its records are sound, and none of this. */
static bool is_of(recovery *r, const uint8_t *bytes, size_t len)
{
    error unused;
    record rec;
    value v;

    if (record_open(&rec, bytes, len, &unused) || rec.fields > r->of->next_field)
        return false;
    for (uint32_t i = 0; i < r->of->field_count; i++) {
        const catalog_field *f = &r->of->fields[i];
        const uint8_t *slot, *end;
        size_t slot_len;
        if (record_slot(&rec, f->number, &slot, &slot_len, &unused))
            return false;
        end = slot + slot_len;
        if (slot_len && slot[0] == RECORD_SIDE && !may_be_beside(&f->type))
            return false;
        if (slot_len && slot[0] != RECORD_SIDE &&
            (packed_read(&slot, end, &r->memory, &v, &unused) || (v.kind != VALUE_NULL && !check_fits(&f->type, &v))))
            return false;
    }
    return true;
}

static bool visit_record(void *to, uint32_t page, int64_t id, const uint8_t *bytes, size_t len)
{
    recovery *r = to;
    error why;

    if (!goes_on(r, page))
        return false;
    if (record_check(bytes, len, id, &why)) {
        check_found(&r->said, "`%s`: document %" PRId64 " is lost: its record is damaged", r->of->name, id);
        return true;
    }
    if (!is_of(r, bytes, len)) {
        check_found(&r->said, "`%s`: document %" PRId64 " on page %u is of another collection", r->of->name, id, (unsigned)page);
        return true;
    }
    int rc = rows_exists(r->c, table_records(r->of->number), id, r->err);
    if (rc == FN_END) {
        rc = take_record(r, id, bytes, len);
        r->report->documents++;
    }
    arena_reset(&r->memory);
    r->code = rc ? rc : note_row(r);
    return !r->code;
}

/* ---- side values that no record refers to ---- */

static int is_wanted(recovery *r, int64_t id, bool *out)
{
    const uint8_t *bytes, *slot;
    size_t len, slot_len = 0;
    record rec;
    int rc = rows_get(r->c, table_records(r->of->number), id, &bytes, &len, r->err);

    *out = false;
    if (rc)
        return rc == FN_END ? FENEC_OK : rc;
    rc = record_open(&rec, bytes, len, r->err);
    if (!rc)
        rc = record_slot(&rec, r->field, &slot, &slot_len, r->err);
    *out = !rc && slot_len && slot[0] == RECORD_SIDE;
    return rc;
}

static int drop_unwanted(recovery *r)
{
    table t = table_side(r->of->number, r->field);
    int64_t last = INT64_MIN;
    int rc = FENEC_OK;

    while (!rc) {
        const uint8_t *bytes;
        cursor cur = {0};
        size_t len;
        int64_t id = 0;
        bool wanted = false;
        rc = cursor_rows(&cur, r->c, t, last, INT64_MAX, false, r->err);
        if (!rc)
            rc = cursor_next_row(&cur, &id, &bytes, &len, r->err);
        cursor_close(&cur);
        if (!rc)
            rc = is_wanted(r, id, &wanted);
        if (!rc && !wanted)
            rc = rows_delete(r->c, t, id, r->err);
        if (id == INT64_MAX)
            break;
        last = id + 1;
    }
    return rc == FN_END ? FENEC_OK : rc;
}

static int for_tables(recovery *r, table_kind kind, salvage_visit *visit)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && !r->report->stopped && i < salvage_table_count(r->from); i++) {
        const salvage_table *t = salvage_table_at(r->from, i);
        if (!t->known || t->t.kind != kind || !(r->of = declared(r, t->t.number)))
            continue;
        r->field = t->t.field;
        if (kind == TABLE_SIDE && r->field >= r->of->next_field)
            continue;
        check_section(&r->said, r->of->name);
        rc = visit ? salvage_rows(r->from, i, visit, r, r->err) : drop_unwanted(r);
        if (rc == FN_END)
            rc = r->code;
    }
    r->of = NULL;
    check_section(&r->said, "");
    return rc;
}

/* ---- rows without a declaration ---- */

static void write_values(recovery *r, const uint8_t *bytes, size_t len)
{
    error unused;
    record rec;
    bool first = true;

    buffer_text(&r->bytes, ",\"values\":{");
    for (uint32_t n = 0; !record_open(&rec, bytes, len, &unused) && n < rec.fields; n++) {
        const uint8_t *slot, *end;
        size_t slot_len;
        value v;
        if (record_slot(&rec, n, &slot, &slot_len, &unused) || slot_len == 0 || slot[0] == RECORD_SIDE)
            continue;
        end = slot + slot_len;
        if (packed_read(&slot, end, &r->memory, &v, &unused))
            continue;
        buffer_printf(&r->bytes, "%s\"f%u\":", first ? "" : ",", (unsigned)n);
        json_write(&r->bytes, &v);
        first = false;
    }
    buffer_byte(&r->bytes, '}');
}

static bool visit_stray(void *to, uint32_t page, int64_t id, const uint8_t *bytes, size_t len)
{
    recovery *r = to;
    const uint8_t *at = bytes;
    error unused;
    value v;
    char name[24];

    if (!goes_on(r, page))
        return false;
    bool is_record = record_check(bytes, len, id, &unused) == FENEC_OK;
    if (!is_record && (packed_check(bytes, len, &unused) || packed_read(&at, bytes + len, &r->memory, &v, &unused)))
        return true; /* rows of search indexes, numbers */
    if (!r->strays && !(r->strays = fopen(r->strays_path, "we"))) {
        r->code = fail(r->err, FENEC_IO, "cannot write %.800s: %s", r->strays_path, strerror(errno));
        return false;
    }
    snprintf(name, sizeof name, "page %u", (unsigned)page);
    r->bytes.len = 0;
    buffer_printf(&r->bytes, "{\"table\":\"%s\",\"id\":%" PRId64, r->table ? r->table->name : name, id);
    if (is_record) {
        write_values(r, bytes, len);
    } else {
        buffer_text(&r->bytes, ",\"value\":");
        json_write(&r->bytes, &v);
    }
    buffer_text(&r->bytes, "}\n");
    arena_reset(&r->memory);
    if (r->bytes.failed)
        r->code = fail_memory(r->err);
    else if (fwrite(r->bytes.bytes, 1, r->bytes.len, r->strays) != r->bytes.len)
        r->code = fail(r->err, FENEC_IO, "cannot write %.800s: %s", r->strays_path, strerror(errno));
    r->report->strays++;
    return !r->code;
}

static bool is_lost(const recovery *r, const salvage_table *t)
{
    if (!t->known)
        return true;
    return (t->t.kind == TABLE_RECORDS || t->t.kind == TABLE_SIDE) && !declared(r, t->t.number);
}

static int take_strays(recovery *r)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < salvage_table_count(r->from); i++) {
        r->table = salvage_table_at(r->from, i);
        if (is_lost(r, r->table))
            rc = salvage_rows(r->from, i, visit_stray, r, r->err);
    }
    r->table = NULL;
    if (!rc)
        rc = salvage_rows(r->from, SALVAGE_STRAYS, visit_stray, r, r->err);
    if (rc == FN_END)
        rc = r->code;
    if (r->strays && fclose(r->strays) != 0 && !rc)
        rc = fail(r->err, FENEC_IO, "cannot write %.800s: %s", r->strays_path, strerror(errno));
    r->strays = NULL;
    if (!rc && r->report->strays)
        check_found(&r->said, "%" PRId64 " rows whose declaration is lost are in %.700s", r->report->strays, r->strays_path);
    return rc;
}

/* ---- the whole ---- */

static int fill(recovery *r, const fresh_file *f)
{
    const store_options options = {.path = (const uint8_t *)f->written, .path_len = strlen(f->written), .no_sync = true};
    error unused;
    int rc = store_open(&r->into, &options, r->err);

    if (rc)
        return rc;
    rc = begin_block(r);
    if (!rc)
        rc = take_numbers(r);
    if (!rc)
        rc = for_tables(r, TABLE_SIDE, visit_side);
    if (!rc)
        rc = for_tables(r, TABLE_RECORDS, visit_record);
    if (!rc)
        rc = for_tables(r, TABLE_SIDE, NULL);
    if (!rc && r->c)
        rc = end_block(r);
    else if (r->c)
        store_write_rollback(r->c);
    r->c = NULL;
    int closed = store_close(r->into, rc ? &unused : r->err);
    store_free(r->into);
    return rc ? rc : closed;
}

static void tell_check(void *to, const char *line)
{
    recovery *r = to;

    check_found(&r->said, "in the new file: %s", line);
}

/* Indexes are built, and all of it is looked at once more. */
static int finish(recovery *r, const fresh_file *f)
{
    const store_options options = {.path = (const uint8_t *)f->written, .path_len = strlen(f->written), .no_sync = true};
    const check_watch watch = {.found = tell_check, .to = r};
    check_report seen;
    database *d;
    error unused;
    int rc = database_open_with(&d, &options, r->err);

    if (rc)
        return rc;
    rc = database_rebuild(d, &watch, r->err);
    if (!rc)
        rc = database_check(d, &watch, &seen, r->err);
    int closed = database_close(d, rc ? &unused : r->err);
    database_free(d);
    return rc ? rc : closed;
}

static int set_strays(recovery *r, const fresh_file *f, bool replace)
{
    size_t len = strlen(f->path) + sizeof STRAYS;

    r->strays_path = memory_alloc(len);
    if (!r->strays_path)
        return fail_memory(r->err);
    snprintf(r->strays_path, len, "%s" STRAYS, f->path);
    if (!replace && access(r->strays_path, F_OK) == 0)
        return fail(r->err, FENEC_IO, "%.900s is there already", r->strays_path);
    return FENEC_OK;
}

static int recover(recovery *r, fresh_file *f, holes *k, bool replace)
{
    int rc = set_strays(r, f, replace);

    if (!rc)
        rc = find_declarations(r);
    if (rc)
        return rc;
    check_section(&r->said, "the file");
    tell_kept(k);
    rc = fill(r, f);
    if (!rc && !r->report->stopped)
        rc = take_strays(r);
    if (!rc && !r->report->stopped && r->count == 0 && r->report->strays == 0)
        rc = fail(r->err, FENEC_CORRUPT, "nothing of a database is left in it");
    if (!rc && !r->report->stopped)
        rc = finish(r, f);
    if (!rc && !r->report->stopped)
        rc = fresh_file_land(f, true, r->err);
    return rc;
}

int recover_run(const uint8_t *file, size_t file_len, const uint8_t *to, size_t to_len, bool replace,
                const check_watch *watch, recover_report *out, error *err)
{
    check_report told = {0};
    recovery r = {.report = out, .err = err, .said = {.watch = watch, .report = &told, .where = "the file"}};
    holes k = {.r = &r, .keeps = true};
    fresh_file f = {0};

    *out = (recover_report){0};
    arena_init(&r.memory);
    buffer_init(&r.bytes);
    buffer_init(&k.kept);
    int rc = salvage_open(&r.from, file, file_len, meet_hole, &k, err);
    if (!rc)
        rc = fresh_file_begin(&f, to, to_len, replace, err);
    if (!rc)
        rc = recover(&r, &f, &k, replace);
    check_section(&r.said, "");
    if ((rc || out->stopped) && out->strays)
        unlink(r.strays_path);
    out->lost = told.findings;
    fresh_file_end(&f);
    salvage_close(r.from);
    for (uint32_t i = 0; i < r.count; i++)
        collection_drop(r.found[i]);
    memory_free(r.found);
    memory_free(r.strays_path);
    buffer_clear(&r.bytes);
    buffer_clear(&k.kept);
    arena_clear(&r.memory);
    return rc;
}
