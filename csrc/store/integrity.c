#include "store/integrity.h"

#include <stdlib.h>
#include <string.h>

#include "store/inside.h"

/* Runs a statement, each row's first column handed out. */
static int run(conn *c, const char *sql, integrity_visit *visit, void *to, error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(c->db, sql, -1, &st, NULL);

    while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(st, 0);
        visit(to, text ? text : "");
        rc = SQLITE_OK;
    }
    int code = rc == SQLITE_DONE ? FENEC_OK : conn_fail(c, rc, "cannot look at the pages", err);
    sqlite3_finalize(st);
    return code;
}

typedef struct lines {
    integrity_visit *visit;
    void *to;
} lines;

/* SQLite puts several findings into one row, a line each. */
static void hand_on(void *to, const char *text)
{
    const lines *l = to;
    char line[400];

    if (strcmp(text, "ok") == 0)
        return;
    while (*text) {
        size_t len = strcspn(text, "\n"), kept = len < sizeof line ? len : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = 0;
        if (strncmp(line, "*** in database", 15) != 0)
            l->visit(l->to, line);
        text += len + (text[len] == '\n');
    }
}

int integrity_pages(conn *c, integrity_visit *visit, void *to, error *err)
{
    lines l = {visit, to};

    return run(c, "pragma integrity_check(1000)", hand_on, &l, err);
}

static bool read_number(const char **at, uint32_t *out)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    unsigned long long n = strtoull(*at, &end, 10);
    *at = end;
    *out = (uint32_t)n;
    return n <= UINT32_MAX;
}

bool table_named(const char *name, table *out)
{
    const char *at = name + 1;

    *out = (table){0};
    if (strcmp(name, "meta") == 0 || strcmp(name, "catalog") == 0) {
        *out = name[0] == 'm' ? table_meta() : table_catalog();
        return true;
    }
    switch (name[0]) {
    case 'c': out->kind = TABLE_RECORDS; break;
    case 's': out->kind = TABLE_SIDE; break;
    case 'i': out->kind = TABLE_INDEX; break;
    case 'x': out->kind = TABLE_SEARCH; break;
    default: return false;
    }
    if (!read_number(&at, &out->number))
        return false;
    if (out->kind == TABLE_SIDE && (*at++ != '_' || !read_number(&at, &out->field)))
        return false;
    return *at == 0;
}

typedef struct naming {
    integrity_table_visit *visit;
    void *to;
} naming;

static void hand_table(void *to, const char *name)
{
    const naming *n = to;
    table t;

    n->visit(n->to, name, table_named(name, &t) ? &t : NULL);
}

int integrity_tables(conn *c, integrity_table_visit *visit, void *to, error *err)
{
    naming n = {visit, to};

    return run(c, "select name from sqlite_schema order by name", hand_table, &n, err);
}
