#include "store/inside.h"

#include <sched.h>
#include <stdio.h>

#include "store/sqlite_error.h"
#include "store/stamp.h"

#define WRITER_CACHE_KIB 8192
/* Half of it SQLite's, half for pages that outlast commits (page_cache.h). */
#define READER_CACHE_KIB 16384 /* of the reader that works when only one does */
#define READERS_CACHE_KIB 2048 /* of the others */
#define BUSY_TRIES 1000000
#define STEPS_TO_LONG 200000 /* of SQLite's machine within one step: about a count of 50 000 entries */

#ifdef __APPLE__
#define FULL_SYNC "pragma fullfsync = on; pragma checkpoint_fullfsync = on;"
#else
#define FULL_SYNC
#endif

static const char *const fixed_sql[FIXED_COUNT] = {
    [FIXED_BEGIN] = "begin",
    [FIXED_BEGIN_WRITE] = "begin immediate",
    [FIXED_COMMIT] = "commit",
    [FIXED_ROLLBACK] = "rollback",
    [FIXED_SCHEMA] = "pragma schema_version",
    [FIXED_BLOCK] = "savepoint block",
    [FIXED_BLOCK_UNDO] = "rollback to block",
    [FIXED_BLOCK_END] = "release block",
    [FIXED_MARK] = "savepoint mark",
    [FIXED_MARK_UNDO] = "rollback to mark",
    [FIXED_MARK_END] = "release mark",
    [FIXED_FREE] = "pragma freelist_count",
    [FIXED_PAGES] = "pragma page_count",
    [FIXED_VACUUM] = "pragma incremental_vacuum(64)",
};

/* Whoever stands in the way holds a lock of the wal-index for an instant. A file locked for good, by a
 * program that is none of ours, ends in SQLITE_BUSY all the same. */
static int wait_busy(void *unused, int tries)
{
    (void)unused;
    sched_yield();
    return tries < BUSY_TRIES;
}

static int note_progress(void *reader)
{
    pool_note_long(reader);
    return 0;
}

/* The log's size after each commit. Stands in for SQLite's own checkpoints as well. */
static int note_log(void *writer, sqlite3 *db, const char *name, int frames)
{
    store *s = ((conn *)writer)->s;

    (void)db;
    (void)name;
    if ((uint32_t)frames < s->log_frames)
        s->checkpoint_frames = LOG_BYTES / FRAME_BYTES; /* it began anew */
    s->log_frames = (uint32_t)frames;
    s->log_moved = true;
    return SQLITE_OK;
}

static int set_up(conn *c, conn_role role)
{
    char sql[200];
    int kib = READERS_CACHE_KIB;

    if (role == CONN_WRITER || role == CONN_FIRST_READER)
        kib = role == CONN_WRITER ? WRITER_CACHE_KIB : READER_CACHE_KIB;
    if (role == CONN_READER || role == CONN_FIRST_READER)
        c->pages.cache.kib = (uint32_t)(kib /= 2);
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_handler(c->db, wait_busy, NULL);
    sqlite3_wal_autocheckpoint(c->db, 0);
    /* A fold says in the file that it is under way, and one of SQLite's own would not. */
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* What a stranger wrote into the schema does not run. */
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* Opened under the writer's lock: nothing that has SQLite read the schema, which may be of a thousand tables. */
    if (role == CONN_CHECKPOINT)
        return conn_run(c, "pragma mmap_size = 0;" FULL_SYNC);
    if (role == CONN_WRITER)
        sqlite3_wal_hook(c->db, note_log, c);
    if (role == CONN_READER || role == CONN_FIRST_READER)
        sqlite3_progress_handler(c->db, STEPS_TO_LONG, note_progress, c);
    snprintf(sql, sizeof sql, "pragma cache_size = -%d; pragma journal_size_limit = %d;", kib,
             LOG_BYTES_LARGE);
    int rc = conn_run(c, sql);
    if (rc == SQLITE_OK)
        rc = scan_register(c->db, c);
    if (rc == SQLITE_OK)
        rc = probe_register(c->db, c);
    if (rc == SQLITE_OK)
        rc = listed_register(c->db, c);
    if (rc == SQLITE_OK)
        rc = conn_run(c, "pragma mmap_size = 0; pragma temp_store = memory; pragma secure_delete = off;"
                         "pragma synchronous = normal;" FULL_SYNC);
    return rc;
}

/* What ends a transaction must not need memory then. */
static int prepare_ends(conn *c)
{
    static const fixed ends[] = {FIXED_COMMIT, FIXED_ROLLBACK};
    int rc = SQLITE_OK;

    for (int i = 0; i < 2 && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v3(c->db, fixed_sql[ends[i]], -1, SQLITE_PREPARE_PERSISTENT, &c->fixed[ends[i]], NULL);
    return rc;
}

int conn_open(conn *c, store *s, conn_role role, bool create, error *err)
{
    char doing[700];
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);

    c->s = s;
    c->writer = role == CONN_WRITER;
    int rc = sqlite3_open_v2(s->path, &c->db, flags, s->vfs);
    if (rc == SQLITE_OK)
        rc = set_up(c, role);
    if (rc == SQLITE_OK)
        rc = prepare_ends(c);
    if (rc == SQLITE_OK)
        return FENEC_OK;
    snprintf(doing, sizeof doing, "cannot open %.600s", s->memory ? "a memory database" : s->path);
    int code = sqlite_fail(err, rc, c->db, doing);
    conn_close(c);
    return code;
}

void conn_close(conn *c)
{
    statements_clear(&c->cache);
    page_reader_clear(&c->pages);
    for (int i = 0; i < FIXED_COUNT; i++) {
        sqlite3_finalize(c->fixed[i]);
        c->fixed[i] = NULL;
    }
    sqlite3_close(c->db); /* everything prepared is gone: it cannot refuse */
    c->db = NULL;
}

int conn_step(conn *c, fixed which, int64_t *out)
{
    sqlite3_stmt **st = &c->fixed[which];
    int rc = SQLITE_OK;

    if (!*st)
        rc = sqlite3_prepare_v3(c->db, fixed_sql[which], -1, SQLITE_PREPARE_PERSISTENT, st, NULL);
    if (rc)
        return rc;
    while ((rc = sqlite3_step(*st)) == SQLITE_ROW)
        if (out)
            *out = sqlite3_column_int64(*st, 0);
    int reset = sqlite3_reset(*st);
    return rc == SQLITE_DONE ? reset : rc;
}

int conn_run(conn *c, const char *sql)
{
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL);
}

int conn_fail(conn *c, int rc, const char *doing, error *err)
{
    int code = sqlite_fail(err, rc, c->db, doing);

    if (c->writer)
        transaction_note(c->s, rc, err);
    return code;
}

bool conn_is_writer(const conn *c)
{
    return c->writer;
}
