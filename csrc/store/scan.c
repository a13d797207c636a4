/* Scans. Rows are read off the pages (page_scan.h), or through a statement whose filter is a function of ours
 * that visits the row and answers false, so that a row never leaves SQLite's step: handing it out and stepping
 * again is what a cursor's row costs most of. */
#include "store/inside.h"

#include <string.h>

typedef struct scan {
    row_visit *visit;
    void *to;
    bool failed; /* memory ran out */
    bool paused; /* after as many rows as `left` was */
    int64_t left;
    struct scan *outer;
} scan;

static void visit_row(sqlite3_context *context, int count, sqlite3_value **values)
{
    conn *c = sqlite3_user_data(context);
    scan *s = c->scan;
    const uint8_t *bytes = sqlite3_value_blob(values[0]);
    int len = sqlite3_value_bytes(values[0]);

    if (!s || (!bytes && len > 0)) {
        if (s)
            s->failed = true;
        sqlite3_result_error_nomem(context);
        return;
    }
    if (!s->visit(s->to, count > 1 ? sqlite3_value_int64(values[1]) : 0, bytes ? bytes : (const uint8_t *)"",
                  (size_t)len)) {
        sqlite3_result_int(context, 1);
    } else if (--s->left == 0) {
        s->paused = true;
        sqlite3_result_int(context, 1);
    }
}

/* The same of an id alone. */
static void visit_id(sqlite3_context *context, int count, sqlite3_value **values)
{
    scan *s = ((conn *)sqlite3_user_data(context))->scan;

    (void)count;
    if (!s || !s->visit(s->to, sqlite3_value_int64(values[0]), NULL, 0))
        sqlite3_result_int(context, 1);
}

int scan_register(sqlite3 *db, conn *c)
{
    int rc = SQLITE_OK;

    /* Not for the schema of a file: what a stranger wrote there does not run. */
    for (int count = 1; rc == SQLITE_OK && count <= 2; count++)
        rc = sqlite3_create_function_v2(db, "fenec_visit", count, SQLITE_UTF8 | SQLITE_DIRECTONLY, c, visit_row,
                                        NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function_v2(db, "fenec_visit_id", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, c, visit_id, NULL,
                                        NULL, NULL);
    return rc;
}

/* Steps a statement of this call to where a visit ends it, or to its end. */
static int run(conn *c, statement *st, scan *here, int64_t *last, error *err)
{
    here->outer = c->scan;
    c->scan = here;
    int code = statement_step(c, st, "cannot read on", err);
    c->scan = here->outer;
    if (code == FENEC_OK)
        *last = sqlite3_column_int64(st->prepared, 0);
    statement_release(c, st);
    return here->failed ? fail_memory(err) : code;
}

/* Through SQLite: all rows, or the first `lead` of them. */
static int scan_steps(conn *c, table t, page_scan *rows, int64_t lead, bool *paused, error *err)
{
    bool part = rows->low > INT64_MIN || rows->high < INT64_MAX;
    unsigned operation = (part ? ROWS_SCAN_PART : ROWS_SCAN) + rows->wants_id;
    scan here = {.visit = rows->visit, .to = rows->to, .left = lead};
    statement *st;
    int code = statement_find(c, operation, t, false, &st, err);

    if (code)
        return code;
    statement_claim(c, st);
    if (part) {
        sqlite3_bind_int64(st->prepared, 1, rows->low);
        sqlite3_bind_int64(st->prepared, 2, rows->high);
    }
    code = run(c, st, &here, &rows->last, err);
    *paused = code == FENEC_OK && here.paused;
    return code;
}

#if FENEC_CHECK_SCANS
/* Of builds that look for mistakes: every scan is first made both ways and compared, row by row. */
typedef struct comparison {
    cursor rows;
    bool differs;
} comparison;

static bool compare_row(void *to, int64_t id, const uint8_t *bytes, size_t len)
{
    comparison *both = to;
    const uint8_t *other;
    size_t other_len;
    int64_t other_id;
    error ignored;

    both->differs = cursor_next_row(&both->rows, &other_id, &other, &other_len, &ignored) != FENEC_OK ||
                    id != other_id || len != other_len || memcmp(bytes, other, len) != 0;
    return !both->differs;
}

static int check_scan(conn *c, table t, const page_scan *rows, error *err)
{
    comparison both = {0};
    page_scan again = *rows;
    const uint8_t *bytes;
    size_t len;
    int64_t id;
    error ignored;

    if (page_scan_lead(c) < 0 || cursor_rows(&both.rows, c, t, rows->low, rows->high, false, &ignored))
        return FENEC_OK;
    again.wants_id = true;
    again.visit = compare_row;
    again.to = &both;
    if (page_scan_run(&again, c, t) == PAGE_END)
        both.differs |= cursor_next_row(&both.rows, &id, &bytes, &len, &ignored) == FENEC_OK;
    cursor_close(&both.rows);
    return both.differs ? fail(err, FENEC_PANIC, "a scan of pages is not what SQLite reads") : FENEC_OK;
}
#else
#define check_scan(c, t, rows, err) FENEC_OK
#endif

/* A long scan reads the pages itself, after as many rows through SQLite as make up for what that begins with;
 * where it may not, or anything is not as expected, SQLite has the rest. */
static int scan_rows(conn *c, table t, page_scan *rows, error *err)
{
    int64_t lead = page_scan_lead(c);
    bool paused = false;
    int code;

    if (lead > 0) {
        code = scan_steps(c, t, rows, lead, &paused, err);
        if (!paused)
            return code;
        if (rows->last >= rows->high)
            return FN_END;
        rows->low = rows->last + 1;
    }
    if (lead >= 0) {
        switch (page_scan_run(rows, c, t)) {
        case PAGE_END: return FN_END;
        case PAGE_STOPPED: return FENEC_OK;
        case PAGE_FAILED: return conn_fail(c, rows->rc, "cannot read on", err);
        case PAGE_UNSURE: break;
        }
    }
    return scan_steps(c, t, rows, 0, &paused, err);
}

int rows_scan(conn *c, table t, int64_t low, int64_t high, bool wants_id, row_visit *visit, void *to,
              int64_t *last, error *err)
{
    page_scan rows = {.low = low, .high = high, .wants_id = wants_id, .visit = visit, .to = to};

    if (low > high)
        return FN_END;
    int code = check_scan(c, t, &rows, err);
    if (code == FENEC_OK)
        code = scan_rows(c, t, &rows, err);
    if (code == FENEC_OK)
        *last = rows.last;
    return code;
}

int rows_listed(conn *c, table t, const int64_t ids[], size_t count, row_visit *visit, void *to, int64_t *last,
                error *err)
{
    scan here = {.visit = visit, .to = to};
    statement *st;
    int code = statement_find(c, ROWS_LISTED, t, false, &st, err);

    if (code)
        return code;
    statement_claim(c, st);
    c->listed = ids;
    c->listed_count = count;
    return run(c, st, &here, last, err);
}

int entries_scan(conn *c, table t, const uint8_t *low, size_t low_len, const uint8_t *high, size_t high_len,
                 bool wants_key, row_visit *visit, void *to, error *err)
{
    scan here = {.visit = visit, .to = to};
    int64_t last;
    statement *st;
    int code = statement_find(c, wants_key ? ENTRIES_SCAN : ENTRIES_SCAN_IDS, t, false, &st, err);

    if (code)
        return code;
    statement_claim(c, st);
    int rc = statement_bind(st, 1, low, low_len);
    if (rc == SQLITE_OK)
        rc = statement_bind(st, 2, high, high_len);
    if (rc != SQLITE_OK) {
        statement_release(c, st);
        return conn_fail(c, rc, "cannot bind a key", err);
    }
    return run(c, st, &here, &last, err);
}
