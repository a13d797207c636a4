#include "store/memory_vfs.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "store/memory_file.h"

/* What several connections know of one file. */
typedef struct file {
    int references; /* its name and its handles; under `names` */
    lock guard;     /* of everything below */
    memory_file content;

    int shared;           /* handles at SQLITE_LOCK_SHARED or above */
    struct handle *holder; /* the one at RESERVED or above */

    uint8_t **regions; /* the wal-index */
    int region_count;
    int region_len;
    int mapped; /* handles that use it */
    int readers[SQLITE_SHM_NLOCK];
    bool exclusive[SQLITE_SHM_NLOCK];
} file;

enum { MAIN, JOURNAL, WAL, PARTS };

typedef struct database {
    struct database *next;
    long handles;
    file *parts[PARTS]; /* NULL: no such file */
    char name[];
} database;

typedef struct handle {
    sqlite3_file base;
    file *file;
    database *database; /* NULL: a temporary file */
    int level;          /* SQLITE_LOCK_... */
    bool mapped;
    uint16_t shm_shared, shm_exclusive; /* locks of the wal-index, a bit each */
} handle;

static lock names = LOCK_INIT(LOCK_FILES); /* of the databases, and who refers to what */
static database *databases;

/* ---- names; all under `names` ---- */

/* Which file of a database a path means; *len is that of the database's name. */
static int part_of(const char *path, size_t *len)
{
    static const char *const suffixes[PARTS] = {"", "-journal", "-wal"};
    size_t all = strlen(path);

    for (int part = JOURNAL; part < PARTS; part++) {
        size_t suffix = strlen(suffixes[part]);
        if (all > suffix && !strcmp(path + all - suffix, suffixes[part])) {
            *len = all - suffix;
            return part;
        }
    }
    *len = all;
    return MAIN;
}

static database *database_find(const char *name, size_t len)
{
    for (database *d = databases; d; d = d->next)
        if (strlen(d->name) == len && !memcmp(d->name, name, len))
            return d;
    return NULL;
}

static database *database_new(const char *name, size_t len)
{
    database *d = memory_zeroed(sizeof *d + len + 1);

    if (d) {
        memcpy(d->name, name, len);
        d->next = databases;
        databases = d;
    }
    return d;
}

static file *file_new(void)
{
    file *f = memory_zeroed(sizeof *f);

    if (f && !lock_init(&f->guard, LOCK_LEAF)) {
        memory_free(f);
        return NULL;
    }
    if (f)
        f->references = 1;
    return f;
}

static void file_drop(file *f)
{
    if (!f || --f->references > 0)
        return;
    memory_file_clear(&f->content);
    for (int i = 0; i < f->region_count; i++)
        memory_free(f->regions[i]);
    memory_free(f->regions);
    lock_destroy(&f->guard);
    memory_free(f);
}

/* Out of the list, its files without a name. */
static void database_unname(database *d)
{
    for (database **at = &databases; *at; at = &(*at)->next) {
        if (*at == d) {
            *at = d->next;
            break;
        }
    }
    for (int part = 0; part < PARTS; part++) {
        file_drop(d->parts[part]);
        d->parts[part] = NULL;
    }
}

static void database_drop(database *d)
{
    if (d && d->handles == 0) {
        database_unname(d);
        memory_free(d);
    }
}

/* ---- a file ---- */

static int read_file(sqlite3_file *base, void *out, int len, sqlite3_int64 at)
{
    file *f = ((handle *)base)->file;

    lock_take(&f->guard);
    size_t held = memory_file_read(&f->content, at, out, (size_t)len);
    lock_leave(&f->guard);
    return held == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *base, const void *bytes, int len, sqlite3_int64 at)
{
    file *f = ((handle *)base)->file;

    lock_take(&f->guard);
    bool ok = memory_file_write(&f->content, at, bytes, (size_t)len);
    lock_leave(&f->guard);
    return ok ? SQLITE_OK : SQLITE_IOERR_NOMEM;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    file *f = ((handle *)base)->file;

    lock_take(&f->guard);
    memory_file_truncate(&f->content, size);
    lock_leave(&f->guard);
    return SQLITE_OK;
}

static int sync_file(sqlite3_file *base, int flags)
{
    (void)base;
    (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *out)
{
    file *f = ((handle *)base)->file;

    lock_take(&f->guard);
    *out = f->content.size;
    lock_leave(&f->guard);
    return SQLITE_OK;
}

static int control_file(sqlite3_file *base, int op, void *argument)
{
    (void)base;
    if (op != SQLITE_FCNTL_VFSNAME)
        return SQLITE_NOTFOUND;
    *(char **)argument = sqlite3_mprintf("%s", MEMORY_VFS);
    return SQLITE_OK;
}

static int sector_size(sqlite3_file *base)
{
    (void)base;
    return 4096;
}

static int device_characteristics(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL |
           SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* ---- locks of a file ---- */

static int raise_level(handle *h, int level)
{
    file *f = h->file;

    if (level == SQLITE_LOCK_SHARED) {
        if (f->holder && f->holder->level >= SQLITE_LOCK_PENDING)
            return SQLITE_BUSY;
        f->shared++;
    } else {
        if (f->holder && f->holder != h)
            return SQLITE_BUSY;
        f->holder = h;
        if (level == SQLITE_LOCK_EXCLUSIVE && f->shared > 1) {
            h->level = SQLITE_LOCK_PENDING; /* no reader comes in any more, the caller tries again */
            return SQLITE_BUSY;
        }
    }
    h->level = level;
    return SQLITE_OK;
}

static int lock_file(sqlite3_file *base, int level)
{
    handle *h = (handle *)base;
    int rc = SQLITE_OK;

    lock_take(&h->file->guard);
    if (h->level < level)
        rc = raise_level(h, level);
    lock_leave(&h->file->guard);
    return rc;
}

static int unlock_file(sqlite3_file *base, int level)
{
    handle *h = (handle *)base;
    file *f = h->file;

    lock_take(&f->guard);
    if (h->level > level) {
        if (f->holder == h)
            f->holder = NULL;
        if (level == SQLITE_LOCK_NONE)
            f->shared--;
        h->level = level;
    }
    lock_leave(&f->guard);
    return SQLITE_OK;
}

static int check_reserved(sqlite3_file *base, int *out)
{
    file *f = ((handle *)base)->file;

    lock_take(&f->guard);
    *out = f->holder != NULL;
    lock_leave(&f->guard);
    return SQLITE_OK;
}

/* ---- the wal-index ---- */

static bool region_add(file *f, int len)
{
    uint8_t **regions = memory_resize(f->regions, (size_t)(f->region_count + 1) * sizeof *regions);

    if (!regions)
        return false;
    f->regions = regions;
    regions[f->region_count] = memory_zeroed((size_t)len);
    if (!regions[f->region_count])
        return false;
    f->region_len = len;
    f->region_count++;
    return true;
}

static int map_region(sqlite3_file *base, int region, int len, int extend, void volatile **out)
{
    handle *h = (handle *)base;
    file *f = h->file;
    int rc = SQLITE_OK;

    *out = NULL;
    lock_take(&f->guard);
    if (!h->mapped) {
        h->mapped = true;
        f->mapped++;
    }
    if (f->region_count > 0 && f->region_len != len)
        rc = SQLITE_IOERR_SHMSIZE;
    while (rc == SQLITE_OK && extend && f->region_count <= region)
        if (!region_add(f, len))
            rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK && region < f->region_count)
        *out = f->regions[region];
    lock_leave(&f->guard);
    return rc;
}

static void shm_unlock(handle *h, uint16_t mask)
{
    for (int i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if (h->shm_shared & mask & 1 << i)
            h->file->readers[i]--;
        if (h->shm_exclusive & mask & 1 << i)
            h->file->exclusive[i] = false;
    }
    h->shm_shared &= (uint16_t)~mask;
    h->shm_exclusive &= (uint16_t)~mask;
}

static int shm_lock(handle *h, uint16_t mask, bool exclusive)
{
    file *f = h->file;

    for (int i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if (!(mask & 1 << i))
            continue;
        bool held = f->exclusive[i] && !(h->shm_exclusive & 1 << i);
        int others = f->readers[i] - (h->shm_shared >> i & 1);
        if (held || (exclusive && others > 0))
            return SQLITE_BUSY;
    }
    for (int i = 0; i < SQLITE_SHM_NLOCK; i++) {
        if (!(mask & 1 << i))
            continue;
        if (exclusive)
            f->exclusive[i] = true;
        else if (!(h->shm_shared & 1 << i))
            f->readers[i]++;
    }
    if (exclusive)
        h->shm_exclusive |= mask;
    else
        h->shm_shared |= mask;
    return SQLITE_OK;
}

static int lock_region(sqlite3_file *base, int offset, int count, int flags)
{
    handle *h = (handle *)base;
    uint16_t mask = (uint16_t)((1u << (offset + count)) - (1u << offset));
    int rc = SQLITE_OK;

    lock_take(&h->file->guard);
    if (flags & SQLITE_SHM_UNLOCK)
        shm_unlock(h, mask);
    else
        rc = shm_lock(h, mask, (flags & SQLITE_SHM_EXCLUSIVE) != 0);
    lock_leave(&h->file->guard);
    return rc;
}

static void barrier(sqlite3_file *base)
{
    handle *h = (handle *)base;

    __sync_synchronize();
    lock_take(&h->file->guard); /* seen by what checks for races, which a bare fence is not */
    lock_leave(&h->file->guard);
}

/* With its last user the wal-index goes: it is rebuilt from the log. */
static int unmap_regions(sqlite3_file *base, int delete)
{
    handle *h = (handle *)base;
    file *f = h->file;

    (void)delete;
    lock_take(&f->guard);
    shm_unlock(h, UINT16_MAX);
    if (h->mapped) {
        h->mapped = false;
        if (--f->mapped == 0) {
            while (f->region_count > 0)
                memory_free(f->regions[--f->region_count]);
            memory_free(f->regions);
            f->regions = NULL;
        }
    }
    lock_leave(&f->guard);
    return SQLITE_OK;
}

static int close_file(sqlite3_file *base)
{
    handle *h = (handle *)base;

    unmap_regions(base, 0);
    unlock_file(base, SQLITE_LOCK_NONE);
    lock_take(&names);
    file_drop(h->file);
    if (h->database) {
        h->database->handles--;
        database_drop(h->database);
    }
    lock_leave(&names);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = map_region,
    .xShmLock = lock_region,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_regions,
};

/* ---- files by name ---- */

/* Under `names`. */
static int open_named(handle *h, const char *path, int flags)
{
    size_t len;
    int part = part_of(path, &len);
    database *d = database_find(path, len);
    file *f = d ? d->parts[part] : NULL;

    if (f ? (flags & SQLITE_OPEN_EXCLUSIVE) != 0 : !(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    if (!d && !(d = database_new(path, len)))
        return SQLITE_NOMEM;
    if (!f && !(f = d->parts[part] = file_new())) {
        database_drop(d);
        return SQLITE_NOMEM;
    }
    f->references++;
    d->handles++;
    h->file = f;
    h->database = d;
    return SQLITE_OK;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out_flags)
{
    handle *h = (handle *)base;
    int rc = SQLITE_OK;

    (void)vfs;
    *h = (handle){0};
    if (path) {
        lock_take(&names);
        rc = open_named(h, path, flags);
        lock_leave(&names);
    } else if (!(h->file = file_new())) {
        rc = SQLITE_NOMEM;
    }
    if (rc == SQLITE_OK) {
        h->base.pMethods = &methods;
        if (out_flags)
            *out_flags = flags;
    }
    return rc;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    size_t len;
    int part = part_of(path, &len), rc = SQLITE_IOERR_DELETE_NOENT;

    (void)vfs;
    (void)sync_folder;
    lock_take(&names);
    database *d = database_find(path, len);
    if (d && d->parts[part]) {
        file_drop(d->parts[part]);
        d->parts[part] = NULL;
        rc = SQLITE_OK;
    }
    lock_leave(&names);
    return rc;
}

static int access_file(sqlite3_vfs *vfs, const char *path, int what, int *out)
{
    size_t len;
    int part = part_of(path, &len);

    (void)vfs;
    (void)what;
    lock_take(&names);
    database *d = database_find(path, len);
    *out = d && d->parts[part];
    lock_leave(&names);
    return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *path, int cap, char *out)
{
    size_t len = strlen(path);

    (void)vfs;
    if (len >= (size_t)cap)
        return SQLITE_CANTOPEN;
    memcpy(out, path, len + 1);
    return SQLITE_OK;
}

/* ---- what is not about files is the default VFS's ---- */

static sqlite3_vfs *other(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static void *dl_open(sqlite3_vfs *vfs, const char *path)
{
    return other(vfs)->xDlOpen(other(vfs), path);
}

static void dl_error(sqlite3_vfs *vfs, int len, char *out)
{
    other(vfs)->xDlError(other(vfs), len, out);
}

static void (*dl_symbol(sqlite3_vfs *vfs, void *library, const char *name))(void)
{
    return other(vfs)->xDlSym(other(vfs), library, name);
}

static void dl_close(sqlite3_vfs *vfs, void *library)
{
    other(vfs)->xDlClose(other(vfs), library);
}

static int randomness(sqlite3_vfs *vfs, int len, char *out)
{
    return other(vfs)->xRandomness(other(vfs), len, out);
}

static int pause_for(sqlite3_vfs *vfs, int microseconds)
{
    return other(vfs)->xSleep(other(vfs), microseconds);
}

static int current_time(sqlite3_vfs *vfs, double *out)
{
    return other(vfs)->xCurrentTime(other(vfs), out);
}

static int last_error(sqlite3_vfs *vfs, int len, char *out)
{
    return other(vfs)->xGetLastError ? other(vfs)->xGetLastError(other(vfs), len, out) : 0;
}

static sqlite3_vfs memory_vfs = {
    .iVersion = 1,
    .szOsFile = sizeof(handle),
    .mxPathname = 512,
    .zName = MEMORY_VFS,
    .xOpen = open_file,
    .xDelete = delete_file,
    .xAccess = access_file,
    .xFullPathname = full_path,
    .xDlOpen = dl_open,
    .xDlError = dl_error,
    .xDlSym = dl_symbol,
    .xDlClose = dl_close,
    .xRandomness = randomness,
    .xSleep = pause_for,
    .xCurrentTime = current_time,
    .xGetLastError = last_error,
};

int memory_vfs_register(void)
{
    static lock once = LOCK_INIT(LOCK_LEAF);
    static bool registered;
    int rc = SQLITE_OK;

    lock_take(&once);
    if (!registered) {
        rc = sqlite3_initialize();
        if (rc == SQLITE_OK && !(memory_vfs.pAppData = sqlite3_vfs_find(NULL)))
            rc = SQLITE_ERROR;
        if (rc == SQLITE_OK)
            rc = sqlite3_vfs_register(&memory_vfs, 0);
        registered = rc == SQLITE_OK;
    }
    lock_leave(&once);
    return rc;
}

void memory_vfs_name(char out[MEMORY_VFS_NAME_MAX])
{
    uint64_t number[2];

    sqlite3_randomness(sizeof number, number);
    snprintf(out, MEMORY_VFS_NAME_MAX, "fenec-%016llx%016llx", (unsigned long long)number[0],
             (unsigned long long)number[1]);
}

void memory_vfs_forget(const char *name)
{
    lock_take(&names);
    database *d = database_find(name, strlen(name));
    if (d) {
        database_unname(d);
        database_drop(d);
    }
    lock_leave(&names);
}
