#include "store/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "store/sqlite_error.h"
#include "store/stamp.h"

#define STARTS_MAX 1000 /* against a writer whose log begins anew all the time */
#define LOG_BYTES_MAX ((int64_t)1 << 31)

typedef struct peek {
    sqlite3_vfs vfs;
    char vfs_name[48];
    char *path, *log_path; /* full */
    int file;              /* descriptor of the main file */
    uint8_t **pages;       /* as they were first read; NULL: not yet */
    size_t page_count;
    bool fresh; /* this pass read a page */
    uint8_t *log;
    size_t log_len;
    buffer rows; /* of the last pass: number (u64), length (u32), bytes */
} peek;

/* ---- files ---- */

static ssize_t read_at(int file, uint8_t *to, size_t len, int64_t at)
{
    size_t done = 0;

    while (done < len) {
        ssize_t got = pread(file, to + done, len - done, (off_t)(at + (int64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static int fail_file(const char *path, const char *doing, error *err)
{
    return fail(err, FENEC_IO, "cannot %s %.800s: %s", doing, path, strerror(errno));
}

/* The log as far as it is there, its first bytes alone with `head`. */
static int read_log(const peek *p, bool head, uint8_t **out, size_t *len, error *err)
{
    struct stat about;
    int code = FENEC_OK;

    *out = NULL;
    *len = 0;
    int file = open(p->log_path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? FENEC_OK : fail_file(p->log_path, "open", err);
    if (fstat(file, &about) != 0 || about.st_size > LOG_BYTES_MAX) {
        code = fail_file(p->log_path, "read", err);
    } else {
        size_t want = head && about.st_size > LOG_HEAD_BYTES ? LOG_HEAD_BYTES : (size_t)about.st_size;
        *out = memory_alloc(want);
        ssize_t got = *out ? read_at(file, *out, want, 0) : 0;
        if (!*out)
            code = fail_memory(err);
        else if (got < 0)
            code = fail_file(p->log_path, "read", err);
        else
            *len = (size_t)got;
    }
    close(file);
    if (code != FENEC_OK) {
        memory_free(*out);
        *out = NULL;
    }
    return code;
}

static bool begins_with(const uint8_t *log, size_t len, const uint8_t *head, size_t head_len)
{
    /* A log that came or grew to its head under way is another one. */
    if (head_len < LOG_HEAD_BYTES && len != head_len)
        return false;
    return len >= head_len && (head_len == 0 || memcmp(log, head, head_len) == 0);
}

/* Whether the log still has that head. */
static int same_log(const peek *p, const uint8_t *head, size_t head_len, bool *same, error *err)
{
    uint8_t *now;
    size_t len;
    int code = read_log(p, true, &now, &len, err);

    if (code == FENEC_OK)
        *same = begins_with(now, len, head, head_len);
    memory_free(now);
    return code;
}

/* ---- the VFS ---- */

typedef struct handle {
    sqlite3_file base;
    peek *of;
    bool is_log;
} handle;

/* The page that holds a byte; NULL where it is cut short or memory ran out. */
static const uint8_t *page_at(peek *p, size_t page)
{
    if (page >= p->page_count) {
        size_t count = page + 1 > p->page_count * 2 ? page + 1 : p->page_count * 2;
        uint8_t **more = memory_resize(p->pages, count * sizeof *more);
        if (!more)
            return NULL;
        memset(more + p->page_count, 0, (count - p->page_count) * sizeof *more);
        p->pages = more;
        p->page_count = count;
    }
    if (p->pages[page])
        return p->pages[page];
    uint8_t *bytes = memory_alloc(PAGE_BYTES);
    p->fresh = true;
    if (!bytes || read_at(p->file, bytes, PAGE_BYTES, (int64_t)page * PAGE_BYTES) != PAGE_BYTES) {
        memory_free(bytes);
        return NULL;
    }
    p->pages[page] = bytes;
    return bytes;
}

static int read_main(peek *p, uint8_t *to, size_t len, int64_t at)
{
    size_t inside = (size_t)(at % PAGE_BYTES);
    const uint8_t *page = inside + len <= PAGE_BYTES ? page_at(p, (size_t)(at / PAGE_BYTES)) : NULL;

    if (!page) {
        memset(to, 0, len);
        return SQLITE_IOERR_SHORT_READ;
    }
    memcpy(to, page + inside, len);
    return SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *out, int len, sqlite3_int64 at)
{
    handle *h = (handle *)base;
    peek *p = h->of;

    if (!h->is_log)
        return read_main(p, out, (size_t)len, at);
    size_t there = (size_t)at < p->log_len ? p->log_len - (size_t)at : 0;
    size_t held = there < (size_t)len ? there : (size_t)len;
    if (held)
        memcpy(out, p->log + at, held);
    memset((uint8_t *)out + held, 0, (size_t)len - held);
    return held == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *out)
{
    handle *h = (handle *)base;
    struct stat about;

    if (h->is_log) {
        *out = (sqlite3_int64)h->of->log_len;
        return SQLITE_OK;
    }
    if (fstat(h->of->file, &about) != 0)
        return SQLITE_IOERR_FSTAT;
    *out = about.st_size;
    return SQLITE_OK;
}

static int close_file(sqlite3_file *base)
{
    (void)base;
    return SQLITE_OK;
}

static int write_file(sqlite3_file *base, const void *bytes, int len, sqlite3_int64 at)
{
    (void)base, (void)bytes, (void)len, (void)at;
    return SQLITE_READONLY;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    (void)base, (void)size;
    return SQLITE_READONLY;
}

/* What syncs and locks: the file is looked at and no more. */
static int nothing(sqlite3_file *base, int flags)
{
    (void)base, (void)flags;
    return SQLITE_OK;
}

static int check_reserved(sqlite3_file *base, int *out)
{
    (void)base;
    *out = 0;
    return SQLITE_OK;
}

static int control_file(sqlite3_file *base, int op, void *argument)
{
    (void)base, (void)op, (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *base)
{
    (void)base;
    return PAGE_BYTES;
}

static int device_characteristics(sqlite3_file *base)
{
    (void)base;
    return 0;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = close_file,
        .xRead = read_file,
        .xWrite = write_file,
        .xTruncate = truncate_file,
        .xSync = nothing,
        .xFileSize = file_size,
        .xLock = nothing,
        .xUnlock = nothing,
        .xCheckReservedLock = check_reserved,
        .xFileControl = control_file,
        .xSectorSize = sector_size,
        .xDeviceCharacteristics = device_characteristics,
    };
    handle *h = (handle *)base;

    *h = (handle){.of = vfs->pAppData, .is_log = (flags & SQLITE_OPEN_WAL) != 0};
    if (!path || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
        return SQLITE_CANTOPEN;
    h->base.pMethods = &methods;
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    (void)vfs, (void)path, (void)sync_folder;
    return SQLITE_READONLY;
}

/* There is no journal: where one is left, the file is new. */
static int access_file(sqlite3_vfs *vfs, const char *path, int what, int *out)
{
    const peek *p = vfs->pAppData;

    (void)what;
    *out = strcmp(path, p->path) == 0 || (p->log_len > 0 && strcmp(path, p->log_path) == 0);
    return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *path, int cap, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)cap, "%s", path) < cap ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int randomness(sqlite3_vfs *vfs, int len, char *out)
{
    (void)vfs;
    memset(out, 0, (size_t)len);
    return len;
}

static int pause_for(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int current_time(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    *out = 2451545.0; /* nothing that is read here asks */
    return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int len, char *out)
{
    (void)vfs, (void)len, (void)out;
    return 0;
}

/* ---- a pass ---- */

static int keep_rows(peek *p, sqlite3 *db, error *err)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(db, "select id, rec from catalog order by id", -1, &st, NULL);

    p->rows.len = 0;
    while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        uint8_t head[12];
        const void *bytes = sqlite3_column_blob(st, 1);
        uint32_t len = (uint32_t)sqlite3_column_bytes(st, 1);
        bytes_put_u64(head, (uint64_t)sqlite3_column_int64(st, 0));
        bytes_put_u32(head + 8, len);
        buffer_put(&p->rows, head, sizeof head);
        buffer_put(&p->rows, bytes, len);
        rc = SQLITE_OK;
    }
    int code = rc == SQLITE_DONE ? FENEC_OK : sqlite_fail(err, rc, db, "cannot read the catalog");
    sqlite3_finalize(st);
    return code == FENEC_OK && p->rows.failed ? fail_memory(err) : code;
}

static int run_pass(peek *p, error *err)
{
    sqlite3 *db = NULL;
    int code;

    p->fresh = false;
    int rc = sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, p->vfs_name);
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(db, 1);
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        /* Alone with its VFS, SQLite keeps the wal-index on the heap. */
        rc = sqlite3_exec(db, "pragma locking_mode = exclusive; pragma temp_store = memory; pragma mmap_size = 0",
                          NULL, NULL, NULL);
    }
    code = rc == SQLITE_OK ? keep_rows(p, db, err) : sqlite_fail(err, rc, db, "cannot read the database");
    sqlite3_close(db);
    return code;
}

static void forget_pages(peek *p)
{
    for (size_t i = 0; i < p->page_count; i++)
        memory_free(p->pages[i]);
    memory_free(p->pages);
    p->pages = NULL;
    p->page_count = 0;
}

/* Passes over one log. FN_END: it began anew under way. */
static int read_over(peek *p, const uint8_t *head, size_t head_len, error *err)
{
    stamp found;
    bool same = true;
    int code = stamp_read(&found, sqlite3_vfs_find(NULL), p->path, err), rc;

    if (code == FENEC_OK && found.is_new)
        return FENEC_OK; /* an empty file, or one whose making was cut short: nothing is declared */
    do {
        memory_free(p->log);
        rc = read_log(p, false, &p->log, &p->log_len, err);
        if (rc != FENEC_OK)
            return rc;
        same = begins_with(p->log, p->log_len, head, head_len);
        if (code == FENEC_OK && same)
            code = run_pass(p, err);
        if (same) {
            rc = same_log(p, head, head_len, &same, err);
            if (rc != FENEC_OK)
                return rc;
        }
    } while (same && code == FENEC_OK && p->fresh);
    return same ? code : FN_END;
}

static int read_rows(peek *p, error *err)
{
    const struct timespec instant = {.tv_nsec = 1000000};
    uint8_t *head;
    size_t head_len;
    bool doubted = false;
    int code = FN_END;

    for (int starts = 0; code == FN_END && starts < STARTS_MAX; starts++) {
        if (starts)
            nanosleep(&instant, NULL);
        forget_pages(p);
        p->rows.len = 0;
        code = read_log(p, true, &head, &head_len, err);
        if (code != FENEC_OK)
            return code;
        code = read_over(p, head, head_len, err);
        memory_free(head);
        if (code == FENEC_CORRUPT && !doubted) {
            doubted = true; /* the head may have been read amid a write to it */
            code = FN_END;
        }
    }
    return code == FN_END ? fail(err, FENEC_IO, "%.900s is written to all the time", p->path) : code;
}

/* ---- the whole ---- */

static int set_paths(peek *p, const uint8_t *path, size_t path_len, error *err)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char *given = memory_alloc(path_len + 1);
    int code = FENEC_OK;

    if (!vfs) {
        memory_free(given);
        return fail(err, FENEC_PANIC, "SQLite knows no files");
    }
    p->path = memory_alloc((size_t)vfs->mxPathname + 1);
    p->log_path = memory_alloc((size_t)vfs->mxPathname + sizeof "-wal");
    if (!given || !p->path || !p->log_path) {
        code = fail_memory(err);
    } else {
        memcpy(given, path, path_len);
        given[path_len] = 0;
        int rc = vfs->xFullPathname(vfs, given, vfs->mxPathname + 1, p->path);
        if (rc & 0xFF) /* SQLITE_OK_SYMLINK is fine */
            code = sqlite_fail(err, rc, NULL, "cannot find the file");
        else
            snprintf(p->log_path, (size_t)vfs->mxPathname + sizeof "-wal", "%s-wal", p->path);
    }
    memory_free(given);
    return code;
}

static int open_main(peek *p, error *err)
{
    struct stat about;

    p->file = open(p->path, O_RDONLY | O_CLOEXEC);
    if (p->file < 0)
        return fail_file(p->path, "open", err);
    if (fstat(p->file, &about) != 0 || !S_ISREG(about.st_mode))
        return fail(err, FENEC_IO, "%.900s is not a file", p->path);
    return FENEC_OK;
}

static int make_vfs(peek *p, error *err)
{
    uint64_t number[2];

    sqlite3_randomness(sizeof number, number);
    snprintf(p->vfs_name, sizeof p->vfs_name, "fenec-peek-%016llx%016llx", (unsigned long long)number[0],
             (unsigned long long)number[1]);
    p->vfs = (sqlite3_vfs){.iVersion = 1,
                           .szOsFile = sizeof(handle),
                           .mxPathname = 4096,
                           .zName = p->vfs_name,
                           .pAppData = p,
                           .xOpen = open_file,
                           .xDelete = delete_file,
                           .xAccess = access_file,
                           .xFullPathname = full_path,
                           .xRandomness = randomness,
                           .xSleep = pause_for,
                           .xCurrentTime = current_time,
                           .xGetLastError = last_error};
    int rc = sqlite3_vfs_register(&p->vfs, 0);
    return rc == SQLITE_OK ? FENEC_OK : sqlite_fail(err, rc, NULL, "cannot read files");
}

static void hand_out(const peek *p, row_visit *visit, void *to)
{
    const uint8_t *at = p->rows.bytes, *end = at + p->rows.len;

    for (bool goes_on = true; goes_on && at < end;) {
        uint32_t len = bytes_u32(at + 8);
        goes_on = visit(to, (int64_t)bytes_u64(at), at + 12, len);
        at += 12 + len;
    }
}

int peek_catalog(const uint8_t *path, size_t path_len, row_visit *visit, void *to, error *err)
{
    peek p = {.file = -1};
    int rc = sqlite3_initialize();

    if (rc != SQLITE_OK)
        return sqlite_fail(err, rc, NULL, "cannot start SQLite");
    buffer_init(&p.rows);
    int code = set_paths(&p, path, path_len, err);
    if (code == FENEC_OK)
        code = open_main(&p, err);
    if (code == FENEC_OK)
        code = make_vfs(&p, err);
    if (code == FENEC_OK) {
        code = read_rows(&p, err);
        sqlite3_vfs_unregister(&p.vfs);
    }
    if (code == FENEC_OK && p.rows.len)
        hand_out(&p, visit, to);
    if (p.file >= 0)
        close(p.file);
    forget_pages(&p);
    memory_free(p.log);
    memory_free(p.path);
    memory_free(p.log_path);
    buffer_clear(&p.rows);
    return code;
}
