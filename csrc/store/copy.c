#include "store/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/inside.h"
#include "store/sqlite_error.h"
#include "store/stamp.h"

#define PAGES_AT_ONCE 256
#define FOREIGN 4 /* of `beside`: those that SQLite looks at */

static const char *const beside[] = {"", "-journal", "-wal", "-shm", ".lock"};

static int fail_file(const char *path, const char *doing, error *err)
{
    return fail(err, FENEC_IO, "cannot %s %.800s: %s", doing, path, strerror(errno));
}

/* The name with an ending, as memory_free's; NULL: no memory. */
static char *named(const char *path, const char *ending)
{
    size_t len = strlen(path) + strlen(ending) + 1;
    char *name = memory_alloc(len);

    if (name)
        snprintf(name, len, "%s%s", path, ending);
    return name;
}

static void remove_beside(const char *path, int from, int to)
{
    for (size_t i = (size_t)from; i < (size_t)to; i++) {
        char *name = named(path, beside[i]);
        if (name)
            unlink(name);
        memory_free(name);
    }
}

/* Files of SQLite's beside the place would be taken for those of the new one. */
static int check_beside(const fresh_file *f, error *err)
{
    for (size_t i = 1; i < FOREIGN; i++) {
        char *name = named(f->path, beside[i]);
        bool there = name && access(name, F_OK) == 0;
        int rc = !name ? fail_memory(err)
                 : there ? fail(err, FENEC_IO, "%.900s is there, which belongs to another database", name) : FENEC_OK;
        memory_free(name);
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

int fresh_file_begin(fresh_file *f, const uint8_t *path, size_t len, bool replace, error *err)
{
    uint32_t number;
    char ending[24];
    struct stat about;

    *f = (fresh_file){.replace = replace};
    if (len == 0 || memchr(path, 0, len))
        return fail(err, FENEC_IO, "a path that is empty or has a NUL in it names no file");
    f->path = memory_alloc(len + 1);
    if (!f->path)
        return fail_memory(err);
    memcpy(f->path, path, len);
    f->path[len] = 0;
    sqlite3_randomness(sizeof number, &number);
    snprintf(ending, sizeof ending, ".part-%08x", (unsigned)number);
    bool there = lstat(f->path, &about) == 0;
    if (there && !replace)
        return fail(err, FENEC_IO, "%.900s is there already", f->path);
    if (there && !S_ISREG(about.st_mode))
        return fail(err, FENEC_IO, "%.900s is not a file", f->path);
    int rc = there ? lockfile_open(&f->lock, f->path, err) : check_beside(f, err);
    if (rc)
        return rc;
    f->written = named(f->path, ending);
    return f->written ? FENEC_OK : fail_memory(err);
}

/* To the medium, as far as the system lets us. */
static bool sync_descriptor(int file)
{
#ifdef F_FULLFSYNC
    if (fcntl(file, F_FULLFSYNC) == 0)
        return true;
#endif
    return fsync(file) == 0;
}

static int finish(const fresh_file *f, bool database, error *err)
{
    uint32_t number;
    uint8_t mark[MARK_BYTES];
    int rc = FENEC_OK, file = open(f->written, O_RDWR | O_CLOEXEC);

    if (file < 0)
        return fail_file(f->written, "open", err);
    if (database) {
        sqlite3_randomness(sizeof number, &number);
        number &= 0x3FFFFFFF;
        mark_put(mark, number);
        if (pwrite(file, mark, 4, STAMP_AT) != 4 || pwrite(file, mark, MARK_BYTES, MARK_AT) != MARK_BYTES)
            rc = fail_file(f->written, "write", err);
    }
    if (!rc && !sync_descriptor(file))
        rc = fail_file(f->written, "write", err);
    close(file);
    return rc;
}

static int sync_folder(const char *path, error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? named("/", "") : slash ? named(path, "") : named(".", "");
    int rc = FENEC_OK;

    if (!folder)
        return fail_memory(err);
    if (slash && slash != path)
        folder[slash - path] = 0;
    int file = open(folder, O_RDONLY | O_CLOEXEC);
    /* Some file systems take no sync of a folder, and say so: then there is none to wait for. */
    if (file < 0 || (fsync(file) != 0 && errno != EINVAL && errno != EBADF && errno != ENOTSUP))
        rc = fail_file(folder, "write", err);
    if (file >= 0)
        close(file);
    memory_free(folder);
    return rc;
}

/* Without `replace` a file that came meanwhile stays: a link never replaces. Where there are no links, it is
 * looked once more. */
static int move(const fresh_file *f, error *err)
{
    if (!f->replace) {
        if (link(f->written, f->path) == 0)
            return FENEC_OK; /* the other name goes with fresh_file_end */
        if (errno == EEXIST || access(f->path, F_OK) == 0)
            return fail(err, FENEC_IO, "%.900s is there already", f->path);
    }
    return rename(f->written, f->path) == 0 ? FENEC_OK : fail_file(f->path, "write", err);
}

int fresh_file_land(fresh_file *f, bool database, error *err)
{
    char *journal = NULL;
    int rc = finish(f, database, err);

    if (rc)
        return rc;
    if (f->replace) {
        /* A journal would be rolled back into whatever stands there; a log is refused by its stamps. */
        journal = named(f->path, "-journal");
        if (!journal)
            return fail_memory(err);
        unlink(journal);
        memory_free(journal);
    }
    rc = move(f, err);
    if (!rc && f->replace)
        remove_beside(f->path, 1, FOREIGN);
    return rc ? rc : sync_folder(f->path, err);
}

void fresh_file_end(fresh_file *f)
{
    if (f->written)
        remove_beside(f->written, 0, sizeof beside / sizeof *beside);
    lockfile_close(f->lock);
    memory_free(f->written);
    memory_free(f->path);
    *f = (fresh_file){0};
}

/* ---- a snapshot ---- */

static int run_backup(sqlite3_backup *b, sqlite3 *into, copy_progress *goes_on, void *to, error *err)
{
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK) {
        rc = sqlite3_backup_step(b, PAGES_AT_ONCE);
        int64_t all = sqlite3_backup_pagecount(b);
        if (rc == SQLITE_OK && !goes_on(to, all - sqlite3_backup_remaining(b), all))
            return FN_END;
    }
    return rc == SQLITE_DONE ? FENEC_OK : sqlite_fail(err, rc, into, "cannot copy the database");
}

int copy_snapshot(conn *from, const fresh_file *f, copy_progress *goes_on, void *to, int64_t *bytes, error *err)
{
    const char *vfs = sqlite3_vfs_find("unix-excl") ? "unix-excl" : NULL;
    sqlite3 *into = NULL;
    int code = FENEC_OK;
    int rc = sqlite3_open_v2(f->written, &into, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, vfs);

    if (rc == SQLITE_OK)
        rc = sqlite3_extended_result_codes(into, 1);
    if (rc == SQLITE_OK) /* nobody has the file until it is synced and moved */
        rc = sqlite3_exec(into, "pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -2048", NULL,
                          NULL, NULL);
    sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(into, "main", from->db, "main") : NULL;
    if (!b) {
        code = sqlite_fail(err, rc ? rc : sqlite3_errcode(into), into, "cannot write the copy");
    } else {
        code = run_backup(b, into, goes_on, to, err);
        *bytes = (int64_t)sqlite3_backup_pagecount(b) * PAGE_BYTES;
        rc = sqlite3_backup_finish(b);
        if (!code && rc)
            code = sqlite_fail(err, rc, into, "cannot copy the database");
    }
    rc = sqlite3_close(into);
    if (!code && rc)
        code = sqlite_fail(err, rc, NULL, "cannot close the copy");
    return code;
}
