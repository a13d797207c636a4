/* The rows of a list of ids, visited from inside SQLite's step: a table-valued function of ours hands the ids
 * to a join, which seeks each row without leaving the step. */
#include "store/inside.h"

#include <string.h>

#include "base/memory.h"

typedef struct listed_table {
    sqlite3_vtab base;
    conn *c;
} listed_table;

typedef struct listed_cursor {
    sqlite3_vtab_cursor base;
    const int64_t *at, *end;
} listed_cursor;

static int connect_table(sqlite3 *db, void *c, int count, const char *const *words, sqlite3_vtab **out, char **why)
{
    (void)count, (void)words, (void)why;
    listed_table *t = sqlite3_malloc(sizeof *t);
    if (!t)
        return SQLITE_NOMEM;
    memset(t, 0, sizeof *t);
    t->c = c;
    /* Not for the schema of a file: what a stranger wrote there does not run. */
    sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    int rc = sqlite3_declare_vtab(db, "create table listed (id integer)");
    if (rc == SQLITE_OK)
        *out = &t->base;
    else
        sqlite3_free(t);
    return rc;
}

static int disconnect_table(sqlite3_vtab *t)
{
    sqlite3_free(t);
    return SQLITE_OK;
}

static int plan_table(sqlite3_vtab *t, sqlite3_index_info *plan)
{
    (void)t;
    plan->estimatedCost = 1;
    plan->estimatedRows = 1;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    (void)t;
    listed_cursor *cur = sqlite3_malloc(sizeof *cur);
    if (!cur)
        return SQLITE_NOMEM;
    memset(cur, 0, sizeof *cur);
    *out = &cur->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cur)
{
    sqlite3_free(cur);
    return SQLITE_OK;
}

static int start_cursor(sqlite3_vtab_cursor *base, int plan, const char *text, int count,
                        sqlite3_value **values)
{
    (void)plan, (void)text, (void)count, (void)values;
    listed_cursor *cur = (listed_cursor *)base;
    const conn *c = ((listed_table *)base->pVtab)->c;
    cur->at = c->listed;
    cur->end = c->listed + c->listed_count;
    return SQLITE_OK;
}

static int next_id(sqlite3_vtab_cursor *base)
{
    ((listed_cursor *)base)->at++;
    return SQLITE_OK;
}

static int is_past(sqlite3_vtab_cursor *base)
{
    const listed_cursor *cur = (listed_cursor *)base;

    return cur->at == cur->end;
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    (void)column;
    sqlite3_result_int64(context, *((listed_cursor *)base)->at);
    return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = *((listed_cursor *)base)->at;
    return SQLITE_OK;
}

int listed_register(sqlite3 *db, conn *c)
{
    /* No xCreate: it is there by its name, and cannot be made into a table of the file. */
    static const sqlite3_module module = {.xConnect = connect_table,
                                          .xBestIndex = plan_table,
                                          .xDisconnect = disconnect_table,
                                          .xOpen = open_cursor,
                                          .xClose = close_cursor,
                                          .xFilter = start_cursor,
                                          .xNext = next_id,
                                          .xEof = is_past,
                                          .xColumn = read_column,
                                          .xRowid = read_rowid};

    return sqlite3_create_module_v2(db, "fenec_listed", &module, c, NULL);
}
