#include "store/inside.h"

#include <string.h>

#include "store/page_get.h"

/* Every function takes a statement, runs it and leaves it reset: a statement that stays open would be in
 * the way of a drop, and bytes of a page do not outlive a write to it. */

static int step_and_reset(conn *c, statement *st, const char *doing, error *err)
{
    int code = statement_step(c, st, doing, err);

    sqlite3_reset(st->prepared);
    return code;
}

static int fail_bind(conn *c, int rc, error *err)
{
    return conn_fail(c, rc, "cannot bind a value", err);
}

/* A write of a block that SQLite has put back would land alone. */
static int check_block(conn *c, error *err)
{
    return c->s->transaction.lost ? transaction_check_lost(c->s, err) : FENEC_OK;
}

void conn_forget_pages(conn *c)
{
    sqlite3_db_release_memory(c->db);
    page_cache_clear(&c->pages.cache);
    c->pages.cache_open = false;
}

static int get_row(conn *c, statement *st, int64_t id, const uint8_t **bytes, size_t *len, error *err)
{
    sqlite3_bind_int64(st->prepared, 1, id);
    int code = statement_step(c, st, "cannot read a row", err);
    if (code == FENEC_OK && !statement_copy(c, st, 0, bytes, len))
        code = fail_memory(err);
    sqlite3_reset(st->prepared);
    return code;
}

#if FENEC_CHECK_SCANS
/* Of builds that look for mistakes: what was read off the pages is read again. */
static int check_get(conn *c, statement *st, int64_t id, int code, const uint8_t *bytes, size_t len,
                     error *err)
{
    sqlite3_bind_int64(st->prepared, 1, id);
    int again = statement_step(c, st, "cannot read a row", err);
    bool same = again == code;
    if (same && code == FENEC_OK)
        same = (size_t)sqlite3_column_bytes(st->prepared, 0) == len &&
               (len == 0 || memcmp(sqlite3_column_blob(st->prepared, 0), bytes, len) == 0);
    sqlite3_reset(st->prepared);
    return same ? code : fail(err, FENEC_PANIC, "a row off the pages is not what SQLite reads");
}
#else
#define check_get(c, st, id, code, bytes, len, err) (code)
#endif

int rows_get(conn *c, table t, int64_t id, const uint8_t **bytes, size_t *len, error *err)
{
    statement *st;
    int rc = SQLITE_OK, code = statement_find(c, ROW_GET, t, false, &st, err);

    if (code)
        return code;
    switch (page_get(c, st, id, bytes, len, &rc)) {
    case GET_FOUND: return check_get(c, st, id, FENEC_OK, *bytes, *len, err);
    case GET_NONE: return check_get(c, st, id, FN_END, NULL, 0, err);
    case GET_FAILED: return conn_fail(c, rc, "cannot read a row", err);
    case GET_UNSURE: break;
    }
    return get_row(c, st, id, bytes, len, err);
}

int rows_exists(conn *c, table t, int64_t id, error *err)
{
    statement *st;
    int code = statement_find(c, ROW_EXISTS, t, false, &st, err);

    if (code)
        return code;
    sqlite3_bind_int64(st->prepared, 1, id);
    return step_and_reset(c, st, "cannot read a row", err);
}

/* The number a statement answers; 0 where it answers none. */
static int read_number(conn *c, statement *st, int64_t *out, error *err)
{
    int code = statement_step(c, st, "cannot read", err);

    if (code == FENEC_OK)
        *out = sqlite3_column_int64(st->prepared, 0);
    else if (code == FN_END)
        *out = 0;
    sqlite3_reset(st->prepared);
    return code == FN_END ? FENEC_OK : code;
}

static int read_plain_number(conn *c, unsigned operation, table t, int64_t *out, error *err)
{
    statement *st;
    int code = statement_find(c, operation, t, false, &st, err);

    if (code == FN_END) {
        *out = 0;
        return FENEC_OK;
    }
    return code ? code : read_number(c, st, out, err);
}

int rows_count(conn *c, table t, int64_t *out, error *err)
{
    return read_plain_number(c, ROW_COUNT, t, out, err);
}

int rows_last_id(conn *c, table t, int64_t *out, error *err)
{
    return read_plain_number(c, ROW_LAST, t, out, err);
}

int rows_put(conn *c, table t, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    statement *st;
    int code = check_block(c, err);

    if (code == FENEC_OK)
        code = statement_find(c, ROW_PUT, t, true, &st, err);
    if (code)
        return code;
    sqlite3_bind_int64(st->prepared, 1, id);
    int rc = statement_bind(st, 2, bytes, len);
    if (rc)
        return fail_bind(c, rc, err);
    code = step_and_reset(c, st, "cannot write a row", err);
    if (code != FN_END)
        return code;
    transaction_wrote(c, len);
    return FENEC_OK;
}

int rows_delete(conn *c, table t, int64_t id, error *err)
{
    statement *st;
    int code = check_block(c, err);

    if (code == FENEC_OK)
        code = statement_find(c, ROW_DELETE, t, false, &st, err);
    if (code)
        return code == FN_END ? FENEC_OK : code;
    sqlite3_bind_int64(st->prepared, 1, id);
    code = step_and_reset(c, st, "cannot delete a row", err);
    if (code != FN_END)
        return code;
    if (sqlite3_changes(c->db))
        transaction_wrote(c, 0);
    return FENEC_OK;
}

int rows_delete_range(conn *c, table t, int64_t low, int64_t high, error *err)
{
    statement *st;
    int code = check_block(c, err);

    if (code == FENEC_OK)
        code = statement_find(c, ROWS_DELETE, t, false, &st, err);
    if (code)
        return code == FN_END ? FENEC_OK : code;
    sqlite3_bind_int64(st->prepared, 1, low);
    sqlite3_bind_int64(st->prepared, 2, high);
    code = step_and_reset(c, st, "cannot delete rows", err);
    if (code != FN_END)
        return code;
    if (sqlite3_changes(c->db))
        transaction_wrote(c, 0);
    return FENEC_OK;
}

int entries_first(conn *c, table t, const uint8_t *key, size_t len, int64_t after, int64_t *id, error *err)
{
    statement *st;
    int code = statement_find(c, ENTRY_FIRST, t, false, &st, err);

    if (code)
        return code;
    int rc = statement_bind(st, 1, key, len);
    if (rc)
        return fail_bind(c, rc, err);
    sqlite3_bind_int64(st->prepared, 2, after);
    code = statement_step(c, st, "cannot read an index", err);
    if (code == FENEC_OK)
        *id = sqlite3_column_int64(st->prepared, 0);
    sqlite3_reset(st->prepared);
    return code;
}

static int write_entry(conn *c, unsigned operation, table t, const uint8_t *key, size_t len, int64_t id,
                       error *err)
{
    statement *st;
    int code = check_block(c, err);

    if (code == FENEC_OK)
        code = statement_find(c, operation, t, operation == ENTRY_PUT, &st, err);
    if (code)
        return code == FN_END ? FENEC_OK : code;
    int rc = statement_bind(st, 1, key, len);
    if (rc)
        return fail_bind(c, rc, err);
    sqlite3_bind_int64(st->prepared, 2, id);
    code = step_and_reset(c, st, "cannot write an index", err);
    if (code != FN_END)
        return code;
    if (sqlite3_changes(c->db))
        transaction_wrote(c, len);
    return FENEC_OK;
}

int entries_put(conn *c, table t, const uint8_t *key, size_t len, int64_t id, error *err)
{
    return write_entry(c, ENTRY_PUT, t, key, len, id, err);
}

int entries_delete(conn *c, table t, const uint8_t *key, size_t len, int64_t id, error *err)
{
    return write_entry(c, ENTRY_DELETE, t, key, len, id, err);
}

int entries_count(conn *c, table t, const key_range *range, int64_t stop, int64_t *out, error *err)
{
    statement *st;
    bool all = stop == INT64_MAX;
    unsigned operation = (all ? ENTRIES_COUNT : ENTRIES_COUNT_SOME) + statement_bounds(range);
    int place, code = statement_find(c, operation, t, false, &st, err);

    if (code == FN_END) {
        *out = 0;
        return FENEC_OK;
    }
    if (code)
        return code;
    int rc = statement_bind_range(st, range, false, &place);
    if (rc)
        return fail_bind(c, rc, err);
    if (!all)
        sqlite3_bind_int64(st->prepared, place, stop < 0 ? 0 : stop);
    return read_number(c, st, out, err);
}

int table_drop(conn *c, table t, error *err)
{
    int code = check_block(c, err);

    return code ? code : statement_drop_table(c, t, err);
}
