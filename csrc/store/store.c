#include "store/inside.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fork.h"
#include "base/memory.h"
#include "store/memory_vfs.h"
#include "store/sqlite_error.h"
#include "store/stamp.h"

#define NAME_LEN_MAX 255 /* bytes, of the file systems there are */

version *version_keep(version *v)
{
    if (v)
        atomic_fetch_add_explicit(&v->references, 1, memory_order_relaxed);
    return v;
}

void version_drop(version *v)
{
    if (v && atomic_fetch_sub_explicit(&v->references, 1, memory_order_acq_rel) == 1)
        v->free(v);
}

int store_check_fork(const store *s, error *err)
{
    if (s->forks == fork_count())
        return FENEC_OK;
    return fail(err, FENEC_MISUSE, "the database was opened before this process was forked");
}

int store_fail_closed(error *err)
{
    return fail(err, FENEC_MISUSE, "the database was closed");
}

/* ---- open ---- */

static void store_destroy(store *s)
{
    pool_free(s);
    version_drop(s->latest);
    lock_destroy(&s->writing);
    lock_destroy(&s->durable);
    lock_destroy(&s->publish);
    lock_destroy(&s->pool);
    condition_destroy(&s->quiet);
    condition_destroy(&s->moved);
    condition_destroy(&s->gathered);
    condition_destroy(&s->available);
    condition_destroy(&s->returned);
    memory_free(s->path);
    memory_free(s->vfs);
    memory_free(s);
}

static store *store_new(void)
{
    store *s = memory_zeroed(sizeof *s);

    if (!s)
        return NULL;
    if (lock_init(&s->writing, LOCK_WRITER) && lock_init(&s->durable, LOCK_DURABLE) &&
        lock_init(&s->publish, LOCK_PUBLISH) && lock_init(&s->pool, LOCK_POOL) && condition_init(&s->quiet) &&
        condition_init(&s->moved) && condition_init(&s->gathered) && condition_init(&s->available) &&
        condition_init(&s->returned))
        return s;
    /* A lock that could not be made holds nothing to give back. */
    memory_free(s);
    return NULL;
}

static char *copy_text(const char *text, size_t len)
{
    char *copy = memory_alloc(len + 1);

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = 0;
    }
    return copy;
}

static int set_memory_path(store *s, error *err)
{
    char name[MEMORY_VFS_NAME_MAX];

    int rc = memory_vfs_register();
    if (rc)
        return sqlite_fail(err, rc, NULL, "cannot set up memory databases");
    memory_vfs_name(name);
    s->path = copy_text(name, strlen(name));
    s->vfs = copy_text(MEMORY_VFS, strlen(MEMORY_VFS));
    return s->path && s->vfs ? FENEC_OK : fail_memory(err);
}

/* The path as SQLite will have it, symbolic links followed: log and lock stand beside the file itself. */
static int set_file_path(store *s, const store_options *options, error *err)
{
    const char *name = options->vfs ? options->vfs : sqlite3_vfs_find("unix-excl") ? "unix-excl" : NULL;

    if (memchr(options->path, 0, options->path_len))
        return fail(err, FENEC_IO, "a path with a NUL in it names no file");
    sqlite3_vfs *vfs = sqlite3_vfs_find(name);
    if (!vfs)
        return fail(err, FENEC_MISUSE, "no such VFS");
    char *given = copy_text((const char *)options->path, options->path_len);
    s->path = memory_alloc((size_t)vfs->mxPathname + 1);
    s->vfs = name ? copy_text(name, strlen(name)) : NULL;
    int code = FENEC_OK;
    if (!given || !s->path || (name && !s->vfs)) {
        code = fail_memory(err);
    } else {
        int rc = vfs->xFullPathname(vfs, given, vfs->mxPathname + 1, s->path);
        if (rc & 0xFF) { /* SQLITE_OK_SYMLINK is fine */
            char doing[700];
            snprintf(doing, sizeof doing, "cannot open %.600s", given);
            code = sqlite_fail(err, rc, NULL, doing);
        }
    }
    memory_free(given);
    return code;
}

/* SQLite's journal of a new file has the longest of the names beside it; met later, it would leave the file. */
static int check_name(const char *path, error *err)
{
    const char *slash = strrchr(path, '/');

    if (strlen(slash ? slash + 1 : path) > NAME_LEN_MAX - strlen("-journal"))
        return fail(err, FENEC_IO, "the name of %.900s is too long for the files that stand beside it", path);
    return FENEC_OK;
}

static int check_kind(const char *path, error *err)
{
    struct stat file;

    if (stat(path, &file) == 0 && !S_ISREG(file.st_mode))
        return fail(err, FENEC_IO, "%.900s is not a file", path);
    return FENEC_OK;
}

/* A new file begins in rollback mode: until its first commit is whole there is nothing a log could be
 * replayed over. All of it is one transaction, so that no file is ever half ours: setting auto_vacuum by
 * itself would make one. */
static int create_tables(store *s, error *err)
{
    char sql[400];
    uint32_t number;

    sqlite3_randomness(sizeof number, &number);
    s->stamp = number & 0x3FFFFFFF;
    snprintf(sql, sizeof sql,
             "pragma synchronous = extra; begin; pragma auto_vacuum = incremental;"
             "pragma application_id = %d; pragma user_version = %d;"
             "create table meta (id integer primary key, rec blob not null);"
             "create table catalog (id integer primary key, rec blob not null);"
             "commit; pragma synchronous = normal;",
             (int)(APPLICATION_ID + FORMAT_VERSION), (int)s->stamp);
    int rc = conn_run(&s->writer, "pragma encoding = 'UTF-8'; pragma page_size = 4096;"
                                  "pragma journal_mode = delete;");
    if (rc == SQLITE_OK)
        rc = conn_run(&s->writer, sql);
    return rc ? sqlite_fail(err, rc, s->writer.db, "cannot make the database") : FENEC_OK;
}

/* BUSY here: another program holds the file without our lock. */
static int fail_open(store *s, int rc, error *err)
{
    if ((rc & 0xFF) == SQLITE_BUSY)
        return fail(err, FENEC_LOCKED, "%.900s is open in another program", s->path);
    return sqlite_fail(err, rc, s->writer.db, "cannot open the database");
}

static int read_number(store *s, const char *pragma, int64_t *out, error *err)
{
    sqlite3_stmt *st = NULL;

    int rc = sqlite3_prepare_v2(s->writer.db, pragma, -1, &st, NULL);
    *out = 0;
    if (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        *out = sqlite3_column_int64(st, 0);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(st);
    return rc == SQLITE_OK || rc == SQLITE_DONE ? FENEC_OK : fail_open(s, rc, err);
}

static int enter_log_mode(store *s, error *err)
{
    sqlite3_stmt *st = NULL;
    bool entered = false;

    /* At NORMAL a record of the journal may be torn, which its sum does not always tell: it samples bytes. */
    int rc = conn_run(&s->writer, "pragma synchronous = extra");
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(s->writer.db, "pragma journal_mode = wal", -1, &st, NULL);
    if (rc == SQLITE_OK) {
        while ((rc = sqlite3_step(st)) == SQLITE_ROW) { /* to its end, where it commits */
            const unsigned char *mode = sqlite3_column_text(st, 0);
            entered = mode && strcmp((const char *)mode, "wal") == 0;
        }
    }
    sqlite3_finalize(st);
    if (rc == SQLITE_DONE)
        rc = conn_run(&s->writer, "pragma synchronous = normal");
    if (rc)
        return fail_open(s, rc, err);
    return entered ? FENEC_OK : fail(err, FENEC_IO, "the file system takes no log for %.900s", s->path);
}

static int open_writer(store *s, const stamp *found, error *err)
{
    int64_t pages;
    int persist = 0;

    int code = conn_open(&s->writer, s, CONN_WRITER, found->is_new, err);
    if (code)
        return code;
    if (sqlite3_db_readonly(s->writer.db, "main"))
        return fail(err, FENEC_IO, "no permission to write %.900s", s->path);
    s->log_frames = found->log_frames;
    s->stamp = found->number;
    s->stamped = s->stamp_due = found->log_frames == 0;
    s->begun = s->whole = s->stamp; /* with a log another stamp comes before a fold */
    s->checkpoint_frames = LOG_BYTES / FRAME_BYTES;
    s->spills = true;
    code = read_number(s, "pragma page_count", &pages, err);
    if (code == FENEC_OK && pages == 0)
        code = create_tables(s, err);
    if (code == FENEC_OK)
        code = enter_log_mode(s, err);
    if (code)
        return code;
    sqlite3_file_control(s->writer.db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    /* A first transaction opens the log; the first sync makes its entry in the folder durable, and what
     * recovery found in it. */
    int rc = conn_step(&s->writer, FIXED_SCHEMA, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_file_control(s->writer.db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &s->log);
    if (rc == SQLITE_OK)
        rc = s->log && s->log->pMethods ? durable_sync_log(s) : SQLITE_CANTOPEN;
    if (rc == SQLITE_OK)
        log_view_open(s);
    return rc ? fail_open(s, rc, err) : FENEC_OK;
}

/* Makes a new file, or has SQLite roll one back whose making was cut short, and marks one that has no mark:
 * before the writer's connection, which keeps page 1 as it first read it. */
static int prepare_file(store *s, stamp *found, error *err)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(s->vfs);
    int64_t pages;
    int code = FENEC_OK;

    if (found->log_frames > 0)
        return FENEC_OK;
    if (found->is_new || found->has_journal) {
        code = conn_open(&s->writer, s, CONN_WRITER, found->is_new, err);
        if (code == FENEC_OK)
            code = read_number(s, "pragma page_count", &pages, err);
        if (code == FENEC_OK && pages == 0)
            code = create_tables(s, err);
        if (code)
            return code; /* store_open closes it */
        conn_close(&s->writer);
        code = stamp_read(found, vfs, s->path, err);
    }
    if (code == FENEC_OK && !found->marked && found->log_frames == 0)
        code = stamp_mark(vfs, s->path, found->number, err);
    return code;
}

static int open_file(store *s, const store_options *options, error *err)
{
    stamp found = {.is_new = true};
    int code;

    if (!options->path) {
        s->memory = s->exclusive = true;
        code = set_memory_path(s, err);
        return code ? code : open_writer(s, &found, err);
    }
    s->no_sync = options->no_sync;
    s->exclusive = options->vfs || sqlite3_vfs_find("unix-excl");
    code = set_file_path(s, options, err);
    if (code == FENEC_OK && !options->vfs)
        code = check_name(s->path, err);
    if (code == FENEC_OK && !options->vfs)
        code = lockfile_open(&s->lock, s->path, err);
    if (code == FENEC_OK && !options->vfs)
        code = check_kind(s->path, err);
    if (code == FENEC_OK)
        code = stamp_read(&found, sqlite3_vfs_find(s->vfs), s->path, err);
    if (code == FENEC_OK)
        code = prepare_file(s, &found, err);
    return code ? code : open_writer(s, &found, err);
}

int store_open(store **out, const store_options *options, error *err)
{
    int rc = sqlite3_initialize();

    if (rc)
        return sqlite_fail(err, rc, NULL, "cannot start SQLite");
    if (!sqlite3_threadsafe())
        return fail(err, FENEC_PANIC, "this SQLite was built for a single thread");
    store *s = store_new();
    if (!s)
        return fail_memory(err);
    s->forks = fork_count();
    int code = open_file(s, options, err);
    if (code == FENEC_OK) {
        *out = s;
        return FENEC_OK;
    }
    conn_close(&s->writer);
    lockfile_close(s->lock);
    store_destroy(s);
    return code;
}

/* ---- close ---- */

static int close_file(store *s, error *err)
{
    durable_note_long(s);
    int code = transaction_flush(s, err);
    pool_close(s);
    if (code == FENEC_OK && !s->memory) {
        lock_take(&s->durable);
        uint64_t landed = s->landed;
        lock_leave(&s->durable);
        code = durable_wait(s, landed, err);
    }
    if (code == FENEC_OK)
        code = transaction_check(s, err);
    if (code == FENEC_OK && !s->memory)
        code = checkpoint_whole(s, err);
    lock_take(&s->durable);
    while (s->syncing) /* a leader still has the log in its hands */
        condition_wait(&s->moved, &s->durable);
    lock_leave(&s->durable);
    /* The writer goes last: with the last connection SQLite takes the log away, if that was folded in whole. What
     * recovery makes of another one is decided by checksums, at the next open. */
    if (code == FENEC_OK)
        sqlite3_db_config(s->writer.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    pool_free(s);
    conn_close(&s->writer);
    lockfile_close(s->lock);
    s->lock = NULL;
    return code;
}

int store_close(store *s, error *err)
{
    int code = store_check_fork(s, err);

    if (code)
        return code;
    lock_take(&s->writing);
    checkpoint_wait(s);
    if (s->writer.db)
        code = close_file(s, err);
    else
        code = store_fail_closed(err);
    lock_leave(&s->writing);
    return code;
}

void store_free(store *s)
{
    if (s)
        store_destroy(s);
}

/* ---- maintenance ---- */

static void end_maintenance(store *s)
{
    durable_note_short(s);
    checkpoint_if_due(s);
    lock_leave(&s->writing);
}

/* Takes LOCK_WRITER for maintenance: nothing buffered, no checkpoint under way. Not taken on failure. */
static int begin_maintenance(store *s, error *err)
{
    int code = store_check_fork(s, err);

    if (code)
        return code;
    lock_take(&s->writing);
    checkpoint_wait(s);
    durable_note_long(s);
    code = s->writer.db ? transaction_check(s, err) : store_fail_closed(err);
    if (code == FENEC_OK)
        code = transaction_flush(s, err);
    if (code)
        end_maintenance(s);
    return code;
}

int store_sync(store *s, error *err)
{
    int code = store_flush(s, err);

    if (code || s->memory)
        return code;
    lock_take(&s->durable);
    uint64_t landed = s->landed;
    lock_leave(&s->durable);
    return durable_wait(s, landed, err);
}

int store_flush(store *s, error *err)
{
    int code = store_check_fork(s, err);

    if (code)
        return code;
    if (!atomic_load(&s->buffered)) {
        lock_take(&s->pool);
        bool closed = s->closed;
        lock_leave(&s->pool);
        return closed ? store_fail_closed(err) : transaction_check(s, err);
    }
    code = begin_maintenance(s, err);
    if (code == FENEC_OK)
        end_maintenance(s);
    return code;
}

/* A short transaction that gives up to 64 free pages back. */
static int give_back(store *s, int64_t *given, int64_t *left, error *err)
{
    int64_t before = 0;

    int code = transaction_begin(s, err);
    if (code)
        return code;
    int rc = conn_step(&s->writer, FIXED_FREE, &before);
    *left = before;
    *given = 0;
    if (rc == SQLITE_OK && before > 0) {
        rc = conn_step(&s->writer, FIXED_VACUUM, NULL);
        s->transaction.changed = true;
        if (rc == SQLITE_OK)
            rc = conn_step(&s->writer, FIXED_FREE, left);
    }
    code = rc ? conn_fail(&s->writer, rc, "cannot give pages back", err) : FENEC_OK;
    if (code || !s->transaction.changed)
        transaction_undo(s);
    else
        code = transaction_land(s, err);
    if (code == FENEC_OK)
        *given = before - *left;
    return code;
}

int store_checkpoint(store *s, error *err)
{
    int64_t given, left;
    int code = begin_maintenance(s, err);

    if (code)
        return code;
    do
        code = give_back(s, &given, &left, err);
    while (code == FENEC_OK && given > 0 && left > 0);
    if (code == FENEC_OK)
        code = checkpoint_whole(s, err);
    end_maintenance(s);
    return code;
}

int store_shrink(store *s, uint64_t *bytes, error *err)
{
    int64_t given, left;

    *bytes = 0;
    for (;;) {
        int code = begin_maintenance(s, err);
        if (code)
            return code;
        code = give_back(s, &given, &left, err);
        bool more = code == FENEC_OK && given > 0 && left > 0;
        if (code == FENEC_OK && !more)
            checkpoint_run(s); /* the file loses its pages when its log is folded in */
        end_maintenance(s);
        if (code == FENEC_OK)
            *bytes += (uint64_t)given * PAGE_BYTES;
        if (!more)
            return code;
        store_give_way(s);
    }
}

int store_weigh(conn *c, uint64_t *file, uint64_t *dead, error *err)
{
    int64_t pages = 0, unused = 0;
    int rc = conn_step(c, FIXED_PAGES, &pages);

    if (rc == SQLITE_OK)
        rc = conn_step(c, FIXED_FREE, &unused);
    if (rc)
        return conn_fail(c, rc, "cannot count pages", err);
    *file = (uint64_t)pages * PAGE_BYTES;
    *dead = (uint64_t)unused * PAGE_BYTES;
    return FENEC_OK;
}

static uint64_t file_size(store *s, int which)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;

    sqlite3_file_control(s->writer.db, "main", which, &file);
    if (file && file->pMethods && file->pMethods->xFileSize(file, &size) == SQLITE_OK)
        return (uint64_t)size;
    return 0;
}

void store_sizes(store *s, uint64_t *file, uint64_t *log)
{
    *file = *log = 0;
    if (s->memory)
        return;
    lock_take(&s->writing);
    if (s->writer.db) {
        *file = file_size(s, SQLITE_FCNTL_FILE_POINTER);
        *log = file_size(s, SQLITE_FCNTL_JOURNAL_POINTER);
    }
    lock_leave(&s->writing);
}

bool store_is_memory(const store *s)
{
    return s->memory;
}
