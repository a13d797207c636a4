#include "exec/checking.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "store/integrity.h"

#define CACHE_BYTES (8u * 1024 * 1024)
#define MARKS_FROM META_MARK(0)

/* ---- findings ---- */

static void tell(checking *k, const char *format, va_list args)
{
    char line[ERROR_MESSAGE_MAX + 400];

    k->report->findings++;
    if (k->section++ >= CHECK_LINES_MAX)
        return;
    vsnprintf(line, sizeof line, format, args);
    k->watch->found(k->watch->to, line);
}

void check_found(checking *k, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(k, format, args);
    va_end(args);
}

void check_section(checking *k, const char *where)
{
    char line[400];

    if (k->section > CHECK_LINES_MAX) {
        snprintf(line, sizeof line, "%s: %" PRId64 " more", k->where, k->section - CHECK_LINES_MAX);
        k->watch->found(k->watch->to, line);
    }
    k->section = 0;
    k->where = where;
}

bool check_goes_on(checking *k, const char *what, int64_t done, int64_t of)
{
    if (!k->report->stopped && k->watch->goes_on && !k->watch->goes_on(k->watch->to, what, done, of))
        k->report->stopped = true;
    return !k->report->stopped;
}

int check_judge(checking *k, int rc, const error *why, const char *format, ...)
{
    char what[400];
    va_list args;

    if (rc == FENEC_OK || rc == FN_END)
        return FENEC_OK;
    if (rc != FENEC_CORRUPT && rc != FENEC_IO && rc != ROW_DAMAGED)
        return rc;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    check_found(k, "%s: %s", what, rc == ROW_DAMAGED ? "a row is missing or its checksum is another" : why->message);
    return FENEC_OK;
}

/* ---- what belongs to no collection ---- */

static void found_page(void *to, const char *line)
{
    check_found(to, "pages: %s", line);
}

static bool is_side_of(const collection *of, uint32_t field)
{
    return field < of->next_field;
}

static bool has_index(const catalog *cat, uint32_t number)
{
    for (uint32_t i = 0; i < cat->count; i++)
        if (collection_index_numbered(cat->collections[i], number))
            return true;
    return false;
}

static void found_table(void *to, const char *name, const table *t)
{
    checking *k = to;
    const catalog *cat = k->state->cat;
    const collection *of = t && t->kind != TABLE_INDEX && t->kind != TABLE_SEARCH ? catalog_numbered(cat, t->number) : NULL;
    bool known = t != NULL;

    if (t && t->kind == TABLE_RECORDS)
        known = of != NULL;
    else if (t && t->kind == TABLE_SIDE)
        known = of && is_side_of(of, t->field);
    else if (t && (t->kind == TABLE_INDEX || t->kind == TABLE_SEARCH))
        known = has_index(cat, t->number);
    if (!known)
        check_found(k, "tables: %.80s belongs to nothing that is declared", name);
}

/* The declarations as the file has them, beside those in use. */
static int check_catalog(checking *k, error *err)
{
    catalog *read = NULL;
    int rc = catalog_load(k->c, &read, err);

    if (rc)
        return check_judge(k, rc, err, "catalog");
    const catalog *used = k->state->cat;
    if (read->count != used->count || read->next_collection != used->next_collection || read->next_index != used->next_index)
        check_found(k, "catalog: the file declares other collections than those in use");
    version_drop(&read->head);
    return FENEC_OK;
}

static int check_meta(checking *k, error *err)
{
    const catalog *cat = k->state->cat;
    cursor cur = {0};
    int rc = cursor_rows(&cur, k->c, table_meta(), INT64_MIN, INT64_MAX, false, err);

    while (rc == FENEC_OK) {
        const uint8_t *bytes;
        size_t len;
        int64_t id;
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        if (rc)
            break;
        if (len != 8)
            check_found(k, "numbers: row %" PRId64 " has %zu bytes, not 8", id, len);
        else if (id >= MARKS_FROM && id <= META_MARK(UINT32_MAX)) {
            const collection *of = catalog_numbered(cat, (uint32_t)id);
            if (!of)
                check_found(k, "numbers: the largest id of a collection that is not there");
            else if ((int64_t)bytes_u64(bytes) < 1)
                check_found(k, "`%s`: the largest id it ever held is damaged", of->name);
        }
    }
    cursor_close(&cur);
    return check_judge(k, rc, err, "numbers");
}

static int check_around(checking *k, error *err)
{
    check_section(k, "pages");
    if (!check_goes_on(k, "pages", 0, 0))
        return FENEC_OK;
    int rc = check_judge(k, integrity_pages(k->c, found_page, k, err), err, "pages");
    check_section(k, "tables");
    if (!rc)
        rc = check_judge(k, integrity_tables(k->c, found_table, k, err), err, "tables");
    check_section(k, "catalog");
    if (!rc)
        rc = check_catalog(k, err);
    check_section(k, "numbers");
    return rc ? rc : check_meta(k, err);
}

/* ---- the whole ---- */

static int check_collections(checking *k, const catalog *cat, bool indexes, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < cat->count && !rc && !k->report->stopped; i++) {
        check_section(k, cat->collections[i]->name);
        rc = check_collection(k, cat->collections[i], indexes, err);
        k->report->collections++;
    }
    check_section(k, "");
    return rc;
}

int check_run(conn *c, const published *state, const check_watch *watch, check_report *out, error *err)
{
    checking k = {.c = c, .state = state, .watch = watch, .report = out, .where = ""};

    *out = (check_report){0};
    store_read_long(c);
    k.cache = row_cache_new(CACHE_BYTES);
    if (!k.cache)
        return fail_memory(err);
    int rc = check_around(&k, err);
    if (!rc)
        rc = check_collections(&k, state->cat, true, err);
    row_cache_free(k.cache);
    return rc;
}

int check_records(conn *c, const catalog *cat, const check_watch *watch, check_report *out, error *err)
{
    checking k = {.c = c, .watch = watch, .report = out, .where = ""};

    *out = (check_report){0};
    store_read_long(c);
    return check_collections(&k, cat, false, err);
}
