#include "store/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"

struct lockfile {
    dev_t device;
    ino_t inode;
    int descriptor;
    lockfile *next;
};

/* Over the whole of an open and of a close: between a look at the list and what follows from it no other
 * thread may open or close a lock file. A forked child keeps its parent's entries: what it inherited it
 * does not hold, but SQLite in the child believes so, and a LOCKED there is the safe answer. */
static lock files = LOCK_INIT(LOCK_FILES);
static lockfile *held;

static bool is_held(const struct stat *file)
{
    for (const lockfile *l = held; l; l = l->next)
        if (l->device == file->st_dev && l->inode == file->st_ino)
            return true;
    return false;
}

/* 0, or errno. */
static int take(int descriptor)
{
#if defined(__APPLE__) || defined(__linux__)
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
    int done = fcntl(descriptor, F_SETLK, &whole);
#else
    int done = flock(descriptor, LOCK_EX | LOCK_NB);
#endif
    return done == 0 ? 0 : errno;
}

static int open_held(lockfile *l, const char *name, error *err)
{
    struct stat file;

    if (stat(name, &file) == 0) {
        if (is_held(&file))
            return fail(err, FENEC_LOCKED, "the database is open already: %.900s is held", name);
        if (!S_ISREG(file.st_mode))
            return fail(err, FENEC_IO, "the lock file %.900s is not a file", name);
    }
    do
        l->descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    while (l->descriptor < 0 && errno == EINTR);
    if (l->descriptor < 0)
        return fail(err, FENEC_IO, "cannot open the lock file %.800s: %s", name, strerror(errno));
    int failed = fstat(l->descriptor, &file) == 0 ? take(l->descriptor) : errno;
    if (failed) {
        close(l->descriptor);
        if (failed == EACCES || failed == EAGAIN)
            return fail(err, FENEC_LOCKED, "the database is open in another process: %.900s is held", name);
        return fail(err, FENEC_IO, "cannot lock %.800s: %s", name, strerror(failed));
    }
    l->device = file.st_dev;
    l->inode = file.st_ino;
    l->next = held;
    held = l;
    return FENEC_OK;
}

int lockfile_open(lockfile **out, const char *path, error *err)
{
    size_t len = strlen(path) + sizeof ".lock";
    char *name = memory_alloc(len);
    lockfile *l = memory_zeroed(sizeof *l);
    int code;

    if (name && l) {
        snprintf(name, len, "%s.lock", path);
        lock_take(&files);
        code = open_held(l, name, err);
        lock_leave(&files);
    } else {
        code = fail_memory(err);
    }
    memory_free(name);
    if (code == FENEC_OK)
        *out = l;
    else
        memory_free(l);
    return code;
}

void lockfile_close(lockfile *l)
{
    if (!l)
        return;
    lock_take(&files);
    /* The lock first, then the entry: an open that finds the list free finds the lock free. */
    close(l->descriptor);
    for (lockfile **at = &held; *at; at = &(*at)->next) {
        if (*at == l) {
            *at = l->next;
            break;
        }
    }
    lock_leave(&files);
    memory_free(l);
}
