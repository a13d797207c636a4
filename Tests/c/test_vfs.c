#include "test_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/memory_file.h"
#include "store/memory_vfs.h"
#include "test.h"

enum { SECTOR = 512, PATH_CAP = 512 };

/* A write, or where `bytes` is NULL a truncation. Whole sectors as they stood after it. */
typedef struct change {
    uint64_t number; /* rising over the disk */
    int64_t at;
    size_t len;
    uint8_t *bytes;
    int64_t size; /* of the file after it */
    bool doomed;  /* a sync of it failed */
} change;

/* What a name stands for. Its present bytes are a file of the heap VFS. */
typedef struct inode {
    struct inode *next;
    char name[64];
    sqlite3_file *present;
    memory_file synced;
    change *changes; /* since then */
    size_t count, cap;
} inode;

/* A name of the folder, or a change to it: `file` NULL is a deletion. */
typedef struct entry {
    uint64_t number;
    char path[PATH_CAP];
    inode *file;
} entry;

typedef struct folder {
    entry *entries;
    size_t count, cap;
} folder;

typedef struct fault {
    int code; /* SQLITE_OK: none */
    long left;
    bool forever;
    char ending[32];
} fault;

struct test_disk {
    sqlite3_vfs vfs;
    char vfs_name[40];
    pthread_mutex_t guard; /* of everything below */
    inode *inodes;         /* all ever made */
    folder present, synced, changes;
    uint64_t number;
    fault faults[DISK_CALLS];
    long calls[DISK_CALLS], failed[DISK_CALLS];
    unsigned sync_ms;
    disk_hook hook;
    void *hook_argument;
};

typedef struct opened {
    sqlite3_file base;
    test_disk *disk;
    inode *file;
    char path[PATH_CAP];
    bool syncs_folder, delete_at_close;
    sqlite3_file *below; /* behind this struct */
} opened;

static sqlite3_vfs *heap;

static void *must(void *bytes)
{
    if (!bytes)
        abort();
    return bytes;
}

/* ---- inodes and folders ---- */

static inode *inode_new(test_disk *d)
{
    inode *i = must(calloc(1, sizeof *i));

    memory_vfs_name(i->name);
    i->present = must(calloc(1, (size_t)heap->szOsFile));
    if (heap->xOpen(heap, i->name, i->present,
                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB, NULL) != SQLITE_OK) {
        free(i->present);
        free(i);
        return NULL;
    }
    i->next = d->inodes;
    d->inodes = i;
    return i;
}

static void inode_forget_changes(inode *i, size_t count)
{
    for (size_t c = 0; c < count; c++)
        free(i->changes[c].bytes);
    i->count -= count;
    if (i->count > 0)
        memmove(i->changes, i->changes + count, i->count * sizeof *i->changes);
}

static int64_t inode_size(inode *i)
{
    sqlite3_int64 size = 0;

    i->present->pMethods->xFileSize(i->present, &size);
    return size;
}

static entry *folder_find(folder *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->entries[i].path, path))
            return &f->entries[i];
    return NULL;
}

static void folder_append(folder *f, const char *path, inode *file, uint64_t number)
{
    if (f->count == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 8;
        f->entries = must(realloc(f->entries, f->cap * sizeof *f->entries));
    }
    entry *e = &f->entries[f->count++];
    e->number = number;
    e->file = file;
    snprintf(e->path, sizeof e->path, "%s", path);
}

static void folder_set(folder *f, const char *path, inode *file)
{
    entry *e = folder_find(f, path);

    if (e && file)
        e->file = file;
    else if (e)
        *e = f->entries[--f->count];
    else if (file)
        folder_append(f, path, file, 0);
}

static void folder_copy(folder *to, const folder *from)
{
    *to = *from;
    to->cap = from->count;
    to->entries = must(malloc((from->count + 1) * sizeof *to->entries));
    if (from->count > 0)
        memcpy(to->entries, from->entries, from->count * sizeof *to->entries);
}

static void folder_change(test_disk *d, const char *path, inode *file)
{
    folder_set(&d->present, path, file);
    folder_append(&d->changes, path, file, ++d->number);
}

static void folder_sync(test_disk *d, uint64_t until)
{
    size_t done = 0;

    for (; done < d->changes.count && d->changes.entries[done].number <= until; done++)
        folder_set(&d->synced, d->changes.entries[done].path, d->changes.entries[done].file);
    d->changes.count -= done;
    if (done > 0)
        memmove(d->changes.entries, d->changes.entries + done, d->changes.count * sizeof *d->changes.entries);
}

/* ---- what was synced ---- */

static bool set_size(memory_file *image, int64_t size)
{
    memory_file_truncate(image, size);
    return image->size == size || memory_file_write(image, size - 1, "", 1);
}

/* False where memory ran out; doing it again is right. */
static bool sync_changes(inode *i, uint64_t until)
{
    size_t done = 0;

    for (; done < i->count && i->changes[done].number <= until; done++) {
        const change *c = &i->changes[done];
        if (c->doomed)
            continue;
        if (c->bytes && !memory_file_write(&i->synced, c->at, c->bytes, c->len))
            return false;
        if (!set_size(&i->synced, c->size))
            return false;
    }
    inode_forget_changes(i, done);
    return true;
}

static void doom_changes(inode *i, uint64_t until)
{
    for (size_t c = 0; c < i->count && i->changes[c].number <= until; c++)
        i->changes[c].doomed = true;
}

/* Notes the sectors of a write, or with len 0 a truncation, that has just been made. */
static void note_change(test_disk *d, inode *i, int64_t at, size_t len)
{
    if (i->count == i->cap) {
        i->cap = i->cap ? i->cap * 2 : 16;
        i->changes = must(realloc(i->changes, i->cap * sizeof *i->changes));
    }
    change *c = &i->changes[i->count++];
    *c = (change){.number = ++d->number, .size = inode_size(i)};
    if (len > 0) {
        c->at = at / SECTOR * SECTOR;
        c->len = (size_t)((at + (int64_t)len + SECTOR - 1) / SECTOR * SECTOR - c->at);
        c->bytes = must(malloc(c->len));
        i->present->pMethods->xRead(i->present, c->bytes, (int)c->len, c->at); /* zeros past the end */
    }
}

static bool chance(uint64_t *random, unsigned of_100)
{
    return test_random(random) % 100 < of_100;
}

/* Any sectors of any changes; the size as it was before or after any of them. */
static void keep_some(memory_file *image, const inode *i, uint64_t *random)
{
    static const unsigned chances[] = {5, 50, 95};
    unsigned likely = chances[test_random(random) % 3];
    size_t sized = (size_t)(test_random(random) % (i->count + 1));
    int64_t size = sized ? i->changes[sized - 1].size : image->size;

    for (size_t n = 0; n < i->count; n++) {
        const change *c = &i->changes[n];
        if (!c->bytes && n < sized)
            memory_file_truncate(image, c->size);
        for (size_t done = 0; done < c->len; done += SECTOR) {
            if (!chance(random, likely))
                continue;
            if (!memory_file_write(image, c->at + (int64_t)done, c->bytes + done, SECTOR))
                abort();
        }
    }
    if (!set_size(image, size))
        abort();
}

static void copy_image(memory_file *to, const memory_file *from)
{
    static const uint8_t zeros[MEMORY_FILE_CHUNK];
    uint8_t chunk[MEMORY_FILE_CHUNK];

    for (int64_t at = 0; at < from->size; at += MEMORY_FILE_CHUNK) {
        size_t held = memory_file_read(from, at, chunk, sizeof chunk);
        if (memcmp(chunk, zeros, sizeof chunk) && !memory_file_write(to, at, chunk, held))
            abort();
    }
    if (!set_size(to, from->size))
        abort();
}

static void present_image(memory_file *to, inode *from)
{
    uint8_t chunk[MEMORY_FILE_CHUNK];
    int64_t size = inode_size(from);

    for (int64_t at = 0; at < size; at += MEMORY_FILE_CHUNK) {
        int len = size - at < MEMORY_FILE_CHUNK ? (int)(size - at) : MEMORY_FILE_CHUNK;
        from->present->pMethods->xRead(from->present, chunk, len, at);
        if (!memory_file_write(to, at, chunk, (size_t)len))
            abort();
    }
}

static void inode_cut(test_disk *to, const char *path, inode *from, disk_loss loss, uint64_t *random)
{
    uint8_t chunk[MEMORY_FILE_CHUNK];
    inode *i = must(inode_new(to));

    if (loss == LOSE_NOTHING)
        present_image(&i->synced, from);
    else
        copy_image(&i->synced, &from->synced);
    if (loss == LOSE_SOME)
        keep_some(&i->synced, from, random);
    for (int64_t at = 0; at < i->synced.size; at += MEMORY_FILE_CHUNK) {
        size_t held = memory_file_read(&i->synced, at, chunk, sizeof chunk);
        if (i->present->pMethods->xWrite(i->present, chunk, (int)held, at) != SQLITE_OK)
            abort();
    }
    folder_set(&to->present, path, i);
    folder_set(&to->synced, path, i);
}

test_disk *test_disk_cut(test_disk *d, disk_loss loss, uint64_t *random)
{
    test_disk *to = test_disk_new();
    folder names;

    pthread_mutex_lock(&d->guard);
    folder_copy(&names, loss == LOSE_NOTHING ? &d->present : &d->synced);
    for (size_t i = 0; loss == LOSE_SOME && i < d->changes.count; i++)
        if (chance(random, 50))
            folder_set(&names, d->changes.entries[i].path, d->changes.entries[i].file);
    for (size_t i = 0; i < names.count; i++)
        inode_cut(to, names.entries[i].path, names.entries[i].file, loss, random);
    pthread_mutex_unlock(&d->guard);
    free(names.entries);
    return to;
}

/* ---- a call is made ---- */

static bool ends_with(const char *path, const char *ending)
{
    size_t all = strlen(path), len = strlen(ending);

    return all >= len && !strcmp(path + all - len, ending);
}

/* Counts it; the code it is to fail with. */
static int call_made(test_disk *d, disk_call call, const char *path)
{
    int rc = SQLITE_OK;

    pthread_mutex_lock(&d->guard);
    fault *f = &d->faults[call];
    d->calls[call]++;
    if (f->code != SQLITE_OK && ends_with(path, f->ending)) {
        if (f->left > 1) {
            f->left--;
        } else {
            rc = f->code;
            d->failed[call]++;
            if (!f->forever)
                f->code = SQLITE_OK;
        }
    }
    pthread_mutex_unlock(&d->guard);
    return rc;
}

/* The disk's own memory is not what runs out. */
static void enter(test_disk *d)
{
    pthread_mutex_lock(&d->guard);
    memory_hold(true);
}

static void leave(test_disk *d)
{
    memory_hold(false);
    pthread_mutex_unlock(&d->guard);
}

static void call_hook(test_disk *d, disk_call call, const char *path)
{
    pthread_mutex_lock(&d->guard);
    disk_hook hook = d->hook;
    void *argument = d->hook_argument;
    pthread_mutex_unlock(&d->guard);
    if (hook)
        hook(argument, call, path);
}

static int disk_read(sqlite3_file *base, void *out, int len, sqlite3_int64 at)
{
    opened *o = (opened *)base;
    int rc = call_made(o->disk, DISK_READ, o->path);

    return rc != SQLITE_OK ? rc : o->below->pMethods->xRead(o->below, out, len, at);
}

static int disk_write(sqlite3_file *base, const void *bytes, int len, sqlite3_int64 at)
{
    opened *o = (opened *)base;

    call_hook(o->disk, DISK_WRITE, o->path);
    int fails = call_made(o->disk, DISK_WRITE, o->path), part = fails ? len / 2 : len, rc = SQLITE_OK;
    enter(o->disk);
    if (part > 0)
        rc = o->below->pMethods->xWrite(o->below, bytes, part, at);
    if (part > 0 && rc == SQLITE_OK)
        note_change(o->disk, o->file, at, (size_t)part);
    leave(o->disk);
    return fails ? fails : rc;
}

static int disk_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    opened *o = (opened *)base;

    call_hook(o->disk, DISK_TRUNCATE, o->path);
    int rc = call_made(o->disk, DISK_TRUNCATE, o->path);
    if (rc != SQLITE_OK)
        return rc;
    enter(o->disk);
    rc = o->below->pMethods->xTruncate(o->below, size);
    note_change(o->disk, o->file, 0, 0);
    leave(o->disk);
    return rc;
}

static int disk_sync(sqlite3_file *base, int flags)
{
    opened *o = (opened *)base;
    test_disk *d = o->disk;

    (void)flags;
    call_hook(d, DISK_SYNC, o->path);
    enter(d);
    uint64_t until = d->number;
    unsigned ms = d->sync_ms;
    leave(d);

    int rc = call_made(d, DISK_SYNC, o->path);
    if (ms > 0)
        usleep(ms * 1000);
    enter(d);
    if (rc != SQLITE_OK) {
        doom_changes(o->file, until);
    } else if (!sync_changes(o->file, until)) {
        rc = SQLITE_IOERR_NOMEM;
    } else if (o->syncs_folder) {
        o->syncs_folder = false;
        folder_sync(d, until);
    }
    leave(d);
    return rc;
}

static int disk_size(sqlite3_file *base, sqlite3_int64 *out)
{
    opened *o = (opened *)base;

    return o->below->pMethods->xFileSize(o->below, out);
}

static int disk_lock(sqlite3_file *base, int level)
{
    opened *o = (opened *)base;
    int rc = call_made(o->disk, DISK_LOCK, o->path);

    return rc != SQLITE_OK ? rc : o->below->pMethods->xLock(o->below, level);
}

static int disk_unlock(sqlite3_file *base, int level)
{
    opened *o = (opened *)base;

    return o->below->pMethods->xUnlock(o->below, level);
}

static int disk_check_reserved(sqlite3_file *base, int *out)
{
    opened *o = (opened *)base;

    return o->below->pMethods->xCheckReservedLock(o->below, out);
}

static int disk_control(sqlite3_file *base, int op, void *argument)
{
    (void)base;
    (void)op;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int disk_sector_size(sqlite3_file *base)
{
    (void)base;
    return SECTOR;
}

static int disk_characteristics(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int disk_shm_map(sqlite3_file *base, int region, int len, int extend, void volatile **out)
{
    opened *o = (opened *)base;
    int rc = call_made(o->disk, DISK_SHM, o->path);

    *out = NULL;
    if (rc != SQLITE_OK)
        return rc;
    memory_hold(true);
    rc = o->below->pMethods->xShmMap(o->below, region, len, extend, out);
    memory_hold(false);
    return rc;
}

static int disk_shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
    opened *o = (opened *)base;
    int rc = flags & SQLITE_SHM_LOCK ? call_made(o->disk, DISK_SHM, o->path) : SQLITE_OK;

    return rc != SQLITE_OK ? rc : o->below->pMethods->xShmLock(o->below, offset, count, flags);
}

static void disk_shm_barrier(sqlite3_file *base)
{
    opened *o = (opened *)base;

    o->below->pMethods->xShmBarrier(o->below);
}

static int disk_shm_unmap(sqlite3_file *base, int delete)
{
    opened *o = (opened *)base;

    return o->below->pMethods->xShmUnmap(o->below, delete);
}

static int disk_close(sqlite3_file *base)
{
    opened *o = (opened *)base;
    int rc = o->below->pMethods->xClose(o->below);

    if (o->delete_at_close && o->path[0]) {
        enter(o->disk);
        folder_change(o->disk, o->path, NULL);
        leave(o->disk);
    }
    return rc;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_check_reserved,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector_size,
    .xDeviceCharacteristics = disk_characteristics,
    .xShmMap = disk_shm_map,
    .xShmLock = disk_shm_lock,
    .xShmBarrier = disk_shm_barrier,
    .xShmUnmap = disk_shm_unmap,
};

/* The file of that name, made where it is missing and may be. */
static int find_or_make(test_disk *d, const char *path, int flags, inode **out)
{
    entry *e = path ? folder_find(&d->present, path) : NULL;

    if (e && flags & SQLITE_OPEN_EXCLUSIVE && flags & SQLITE_OPEN_CREATE)
        return SQLITE_CANTOPEN;
    if (!e && path && !(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    *out = e ? e->file : inode_new(d);
    if (!*out)
        return SQLITE_NOMEM;
    if (!e && path)
        folder_change(d, path, *out);
    return SQLITE_OK;
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out_flags)
{
    enum { JOURNALS = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL };
    test_disk *d = vfs->pAppData;
    opened *o = (opened *)base;
    int rc = call_made(d, DISK_OPEN, path ? path : "");

    memset(o, 0, sizeof *o);
    if (rc != SQLITE_OK)
        return rc;
    o->disk = d;
    o->below = (sqlite3_file *)(o + 1);
    o->syncs_folder = flags & SQLITE_OPEN_CREATE && flags & JOURNALS;
    o->delete_at_close = flags & SQLITE_OPEN_DELETEONCLOSE;
    snprintf(o->path, sizeof o->path, "%s", path ? path : "");
    enter(d);
    rc = find_or_make(d, path, flags, &o->file);
    if (rc == SQLITE_OK)
        rc = heap->xOpen(heap, o->file->name, o->below, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, NULL);
    leave(d);
    if (rc == SQLITE_OK) {
        o->base.pMethods = &methods;
        if (out_flags)
            *out_flags = flags;
    }
    return rc;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    test_disk *d = vfs->pAppData;

    call_hook(d, DISK_DELETE, path);
    int rc = call_made(d, DISK_DELETE, path);
    if (rc != SQLITE_OK)
        return rc;
    enter(d);
    if (folder_find(&d->present, path)) {
        folder_change(d, path, NULL);
        if (sync_folder)
            folder_sync(d, d->number);
    } else {
        rc = SQLITE_IOERR_DELETE_NOENT;
    }
    leave(d);
    return rc;
}

/* As on Unix a file of no bytes does not count. */
static int disk_access(sqlite3_vfs *vfs, const char *path, int what, int *out)
{
    (void)what;
    *out = test_disk_size(vfs->pAppData, path) > 0;
    return SQLITE_OK;
}

static int disk_full_path(sqlite3_vfs *vfs, const char *path, int cap, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)cap, "%s", path) < cap ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* ---- disks ---- */

test_disk *test_disk_new(void)
{
    static _Atomic(unsigned) disks;
    test_disk *d = must(calloc(1, sizeof *d));

    if (memory_vfs_register() != SQLITE_OK)
        abort();
    heap = sqlite3_vfs_find(MEMORY_VFS);
    pthread_mutex_init(&d->guard, NULL);
    snprintf(d->vfs_name, sizeof d->vfs_name, "fenec-test-%u", ++disks);
    d->vfs = *sqlite3_vfs_find(NULL); /* clock, randomness and the like need nothing of theirs */
    d->vfs.szOsFile = (int)sizeof(opened) + heap->szOsFile;
    d->vfs.mxPathname = PATH_CAP - 1;
    d->vfs.pNext = NULL;
    d->vfs.zName = d->vfs_name;
    d->vfs.pAppData = d;
    d->vfs.xOpen = disk_open;
    d->vfs.xDelete = disk_delete;
    d->vfs.xAccess = disk_access;
    d->vfs.xFullPathname = disk_full_path;
    if (sqlite3_vfs_register(&d->vfs, 0) != SQLITE_OK)
        abort();
    return d;
}

void test_disk_free(test_disk *d)
{
    if (!d)
        return;
    sqlite3_vfs_unregister(&d->vfs);
    while (d->inodes) {
        inode *i = d->inodes;
        d->inodes = i->next;
        i->present->pMethods->xClose(i->present);
        inode_forget_changes(i, i->count);
        memory_file_clear(&i->synced);
        free(i->changes);
        free(i->present);
        free(i);
    }
    free(d->present.entries);
    free(d->synced.entries);
    free(d->changes.entries);
    pthread_mutex_destroy(&d->guard);
    free(d);
}

const char *test_disk_vfs(const test_disk *d)
{
    return d->vfs_name;
}

void test_disk_fail(test_disk *d, disk_call call, const char *ending, long n, int code, bool forever)
{
    pthread_mutex_lock(&d->guard);
    fault *f = &d->faults[call];
    *f = (fault){.code = code, .left = n, .forever = forever};
    snprintf(f->ending, sizeof f->ending, "%s", ending ? ending : "");
    pthread_mutex_unlock(&d->guard);
}

void test_disk_heal(test_disk *d)
{
    pthread_mutex_lock(&d->guard);
    memset(d->faults, 0, sizeof d->faults);
    pthread_mutex_unlock(&d->guard);
}

long test_disk_calls(test_disk *d, disk_call call)
{
    pthread_mutex_lock(&d->guard);
    long calls = d->calls[call];
    pthread_mutex_unlock(&d->guard);
    return calls;
}

long test_disk_faults(test_disk *d, disk_call call)
{
    pthread_mutex_lock(&d->guard);
    long failed = d->failed[call];
    pthread_mutex_unlock(&d->guard);
    return failed;
}

void test_disk_sync_ms(test_disk *d, unsigned ms)
{
    pthread_mutex_lock(&d->guard);
    d->sync_ms = ms;
    pthread_mutex_unlock(&d->guard);
}

void test_disk_hook(test_disk *d, disk_hook hook, void *argument)
{
    pthread_mutex_lock(&d->guard);
    d->hook = hook;
    d->hook_argument = argument;
    pthread_mutex_unlock(&d->guard);
}

int64_t test_disk_size(test_disk *d, const char *path)
{
    pthread_mutex_lock(&d->guard);
    entry *e = folder_find(&d->present, path);
    int64_t size = e ? inode_size(e->file) : -1;
    pthread_mutex_unlock(&d->guard);
    return size;
}

uint8_t *test_disk_get(test_disk *d, const char *path, size_t *len)
{
    uint8_t *bytes = NULL;

    *len = 0;
    pthread_mutex_lock(&d->guard);
    entry *e = folder_find(&d->present, path);
    if (e) {
        *len = (size_t)inode_size(e->file);
        bytes = must(malloc(*len + 1));
        for (size_t at = 0; at < *len; at += MEMORY_FILE_CHUNK) {
            size_t part = *len - at < MEMORY_FILE_CHUNK ? *len - at : MEMORY_FILE_CHUNK;
            e->file->present->pMethods->xRead(e->file->present, bytes + at, (int)part, (sqlite3_int64)at);
        }
    }
    pthread_mutex_unlock(&d->guard);
    return bytes;
}

void test_disk_put(test_disk *d, const char *path, const uint8_t *bytes, size_t len)
{
    pthread_mutex_lock(&d->guard);
    inode *i = must(inode_new(d));
    for (size_t at = 0; at < len; at += MEMORY_FILE_CHUNK) {
        size_t part = len - at < MEMORY_FILE_CHUNK ? len - at : MEMORY_FILE_CHUNK;
        if (i->present->pMethods->xWrite(i->present, bytes + at, (int)part, (sqlite3_int64)at) != SQLITE_OK ||
            !memory_file_write(&i->synced, (int64_t)at, bytes + at, part))
            abort();
    }
    folder_set(&d->present, path, i);
    folder_set(&d->synced, path, i);
    pthread_mutex_unlock(&d->guard);
}
