/* Scans. The statement's filter is a function of ours that visits the row and answers false, so a row
 * never leaves SQLite's step: handing it out and stepping again is what a cursor's row costs most of. */
#include "store/inside.h"

typedef struct scan {
    row_visit *visit;
    void *to;
    bool failed; /* memory ran out */
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
                  (size_t)len))
        sqlite3_result_int(context, 1);
}

int scan_register(sqlite3 *db, conn *c)
{
    int rc = SQLITE_OK;

    /* Not for the schema of a file: what a stranger wrote there does not run. */
    for (int count = 1; rc == SQLITE_OK && count <= 2; count++)
        rc = sqlite3_create_function_v2(db, "fenec_visit", count, SQLITE_UTF8 | SQLITE_DIRECTONLY, c, visit_row,
                                        NULL, NULL, NULL);
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

int rows_scan(conn *c, table t, int64_t low, int64_t high, bool wants_id, row_visit *visit, void *to,
              int64_t *last, error *err)
{
    bool part = low > INT64_MIN || high < INT64_MAX;
    unsigned operation = (part ? ROWS_SCAN_PART : ROWS_SCAN) + wants_id;
    scan here = {.visit = visit, .to = to};
    statement *st;
    int code = statement_find(c, operation, t, false, &st, err);

    if (code)
        return code;
    statement_claim(c, st);
    if (part) {
        sqlite3_bind_int64(st->prepared, 1, low);
        sqlite3_bind_int64(st->prepared, 2, high);
    }
    return run(c, st, &here, last, err);
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
                 row_visit *visit, void *to, error *err)
{
    scan here = {.visit = visit, .to = to};
    int64_t last;
    statement *st;
    int code = statement_find(c, ENTRIES_SCAN, t, false, &st, err);

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
