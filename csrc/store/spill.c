#include "store/spill.h"

#include <sqlite3.h>

#include "base/memory.h"
#include "store/sqlite_error.h"

enum { GET, PUT, NEXT, STATEMENTS };

struct spill {
    sqlite3 *db;
    sqlite3_stmt *st[STATEMENTS];
};

static int fail_spill(spill *s, int rc, error *err)
{
    return sqlite_fail(err, rc, s->db, "cannot put aside what memory has no room for");
}

int spill_open(spill **out, error *err)
{
    static const char *const sql[STATEMENTS] = {
        [GET] = "select rec from t where id = ?1",
        [PUT] = "replace into t (id, rec) values (?1, ?2)",
        [NEXT] = "select id, rec from t order by id",
    };
    spill *s = memory_zeroed(sizeof *s);

    if (!s)
        return fail_memory(err);
    /* No name: a file of the folder for temporary ones, unlinked from the start where that can be. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2("", &s->db, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db,
                          "pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -8192;"
                          "create table t (id integer primary key, rec blob not null); begin",
                          NULL, NULL, NULL);
    for (int i = 0; rc == SQLITE_OK && i < STATEMENTS; i++)
        rc = sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->st[i], NULL);
    if (rc) {
        int code = fail_spill(s, rc, err);
        spill_close(s);
        return code;
    }
    *out = s;
    return FENEC_OK;
}

void spill_close(spill *s)
{
    if (!s)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(s->st[i]);
    sqlite3_close(s->db);
    memory_free(s);
}

/* The bytes of a column of the row a statement stands on. */
static int hand_out(spill *s, sqlite3_stmt *st, int column, const uint8_t **bytes, size_t *len, error *err)
{
    const void *at = sqlite3_column_blob(st, column);

    *len = (size_t)sqlite3_column_bytes(st, column);
    if (*len && !at)
        return fail_spill(s, SQLITE_NOMEM, err);
    *bytes = at ? at : (const uint8_t *)"";
    return FENEC_OK;
}

int spill_get(spill *s, int64_t id, const uint8_t **bytes, size_t *len, error *err)
{
    sqlite3_stmt *st = s->st[GET];

    sqlite3_reset(st);
    sqlite3_bind_int64(st, 1, id);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        return hand_out(s, st, 0, bytes, len, err);
    sqlite3_reset(st);
    return rc == SQLITE_DONE ? FN_END : fail_spill(s, rc, err);
}

int spill_put(spill *s, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    sqlite3_stmt *st = s->st[PUT];

    sqlite3_reset(s->st[GET]);
    sqlite3_bind_int64(st, 1, id);
    int rc = sqlite3_bind_blob64(st, 2, len ? (const void *)bytes : "", len, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    sqlite3_reset(st);
    return rc == SQLITE_DONE ? FENEC_OK : fail_spill(s, rc, err);
}

void spill_rewind(spill *s)
{
    sqlite3_reset(s->st[NEXT]);
}

int spill_next(spill *s, int64_t *id, const uint8_t **bytes, size_t *len, error *err)
{
    sqlite3_stmt *st = s->st[NEXT];
    int rc = sqlite3_step(st);

    if (rc == SQLITE_ROW) {
        *id = sqlite3_column_int64(st, 0);
        return hand_out(s, st, 1, bytes, len, err);
    }
    sqlite3_reset(st);
    return rc == SQLITE_DONE ? FN_END : fail_spill(s, rc, err);
}
