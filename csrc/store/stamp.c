#include "store/stamp.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/frames.h"
#include "store/sqlite_error.h"

#define HEADER_BYTES 100

void mark_put(uint8_t out[MARK_BYTES], uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(number >> (24 - 8 * i));
        out[4 + i] = (uint8_t)~out[i];
    }
}

head_stamp head_stamp_of(const uint8_t head[100])
{
    uint32_t mark = big32(head + MARK_AT);
    bool marked = big32(head + MARK_AT + 4) == ~mark;

    return (head_stamp){.number = big32(head + STAMP_AT), .marked = marked, .mark = marked ? mark : 0};
}

bool head_is_whole(const head_stamp *h)
{
    return !h->marked || h->mark == h->number;
}

/* The numbers may wrap: what counts is how far each is from the one before the log. */
bool head_fits(const head_stamp *h, uint32_t first, uint32_t last)
{
    uint32_t before = first - 1, reach = last - before, number = h->number - before;
    int32_t ahead = h->marked ? (int32_t)(h->mark - h->number) : 0;

    if (number > reach || (ahead > 0 && h->mark - before > reach))
        return false;
    return number > 0 || ahead >= 0;
}

/* A file of a VFS, opened to read. */
typedef struct source {
    sqlite3_file *file;
    sqlite3_int64 size;
} source;

static void source_close(source *f)
{
    if (f->file && f->file->pMethods)
        f->file->pMethods->xClose(f->file);
    memory_free(f->file);
    *f = (source){0};
}

/* FN_END: there is no such file, or an empty one. */
static int source_open(source *f, sqlite3_vfs *vfs, const char *name, int kind, error *err)
{
    int exists = 0, flags;

    *f = (source){0};
    int rc = vfs->xAccess(vfs, name, SQLITE_ACCESS_EXISTS, &exists);
    if (rc == SQLITE_OK && !exists)
        return FN_END;
    if (rc == SQLITE_OK) {
        f->file = memory_zeroed((size_t)vfs->szOsFile);
        if (!f->file)
            return fail_memory(err);
        rc = vfs->xOpen(vfs, name, f->file, SQLITE_OPEN_READONLY | kind, &flags);
    }
    if (rc == SQLITE_OK)
        rc = f->file->pMethods->xFileSize(f->file, &f->size);
    /* SQLite's unix VFS says 0 for a file of one byte. */
    uint8_t byte;
    if (rc == SQLITE_OK && f->size == 0 && f->file->pMethods->xRead(f->file, &byte, 1, 0) == SQLITE_OK)
        f->size = 1;
    if (rc == SQLITE_OK && f->size > 0)
        return FENEC_OK;
    source_close(f);
    if (rc == SQLITE_OK)
        return FN_END;
    char doing[700];
    snprintf(doing, sizeof doing, "cannot open %.600s", name);
    return sqlite_fail(err, rc, NULL, doing);
}

static int source_read(source *f, uint8_t *to, int len, sqlite3_int64 at, error *err)
{
    int rc = f->file->pMethods->xRead(f->file, to, len, at);

    if (rc == SQLITE_OK || rc == SQLITE_IOERR_SHORT_READ) /* what is missing reads as zeros */
        return FENEC_OK;
    return sqlite_fail(err, rc, NULL, "cannot read the file");
}

/* Whether an application id is ours and not too new. */
static int check_application(uint32_t id, const char *path, error *err)
{
    if ((id & ~0xFFu) != APPLICATION_ID)
        return fail(err, FENEC_CORRUPT, "%.900s is not a Fenec database", path);
    if ((id & 0xFF) == 0 || (id & 0xFF) > FORMAT_VERSION)
        return fail(err, FENEC_CORRUPT, "%.800s was written by a newer version, in format %u; this one reads %d",
                    path, (unsigned)(id & 0xFF), FORMAT_VERSION);
    return FENEC_OK;
}

static int check_header(const uint8_t *header, const char *path, error *err)
{
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return fail(err, FENEC_CORRUPT, "%.900s is not a database", path);
    int code = check_application(big32(header + 68), path, err);
    if (code)
        return code;
    /* Pages of 4096 bytes without a reserve, rollback or WAL, a schema of format 4, text in UTF-8. */
    if (header[16] != 0x10 || header[17] != 0 || header[18] < 1 || header[18] > 2 || header[19] < 1 ||
        header[19] > 2 || header[20] != 0 || big32(header + 44) != 4 || big32(header + 56) != 1)
        return fail(err, FENEC_CORRUPT, "the head of %.900s is damaged", path);
    return FENEC_OK;
}

#define FRAMES_READ 64 /* at once: a log of a large block is read whole at an open */

typedef struct log_stamps {
    uint32_t frames; /* committed */
    bool any;        /* a committed page 1 */
    uint32_t first, last;
    uint32_t application; /* of the last one */
} log_stamps;

static int foreign_log(const char *name, const char *path, error *err)
{
    return fail(err, FENEC_CORRUPT,
                "%.400s is the log of another database, or of another moment: it does not belong to %.400s", name,
                path);
}

/* Walks the frames SQLite would replay: those with the head's salts and the right running checksum, up to
 * the last that ends a commit. */
static int read_log(log_stamps *out, source *f, const char *name, const char *path, uint8_t *room,
                    error *err)
{
    int place = FRAMES_READ;
    uint8_t head[LOG_HEAD_BYTES];
    log_stamps seen = {0};
    frames chain;

    *out = seen;
    if (f->size < LOG_HEAD_BYTES)
        return FENEC_OK;
    int code = source_read(f, head, sizeof head, 0, err);
    if (code)
        return code;
    if (!frames_begin(&chain, head))
        return FENEC_OK; /* SQLite takes it for an empty log */
    if (chain.page_bytes != PAGE_BYTES)
        return foreign_log(name, path, err);
    for (sqlite3_int64 at = LOG_HEAD_BYTES; at + FRAME_BYTES <= f->size; at += FRAME_BYTES) {
        if (place == FRAMES_READ) {
            sqlite3_int64 left = (f->size - at) / FRAME_BYTES;
            place = 0;
            code = source_read(f, room, (int)(left < FRAMES_READ ? left : FRAMES_READ) * FRAME_BYTES, at, err);
            if (code)
                return code;
        }
        const uint8_t *frame = room + (size_t)place++ * FRAME_BYTES;
        if (!frames_next(&chain, frame))
            break;
        uint32_t page = big32(frame), commit = big32(frame + 4);
        seen.frames++;
        if (page == 1) {
            uint32_t number = big32(frame + 24 + STAMP_AT);
            if (!seen.any)
                seen.first = number;
            seen.any = true;
            seen.last = number;
            seen.application = big32(frame + 24 + 68);
        }
        if (commit)
            *out = seen;
    }
    return FENEC_OK;
}

static int read_stamps(log_stamps *out, sqlite3_vfs *vfs, const char *name, const char *path, error *err)
{
    source log;

    *out = (log_stamps){0};
    /* Not as a log: the unix VFS would look for the file it belongs to, which may be missing. */
    int code = source_open(&log, vfs, name, SQLITE_OPEN_SUPER_JOURNAL, err);
    if (code)
        return code == FN_END ? FENEC_OK : code;
    uint8_t *room = memory_alloc((size_t)FRAMES_READ * FRAME_BYTES);
    code = room ? read_log(out, &log, name, path, room, err) : fail_memory(err);
    memory_free(room);
    source_close(&log);
    return code;
}

static int inspect(stamp *out, sqlite3_vfs *vfs, const char *path, const char *log_name, bool journal,
                   error *err)
{
    static const uint8_t zeros[HEADER_BYTES];
    uint8_t header[HEADER_BYTES] = {0};
    log_stamps log;
    source file;

    int code = source_open(&file, vfs, path, SQLITE_OPEN_MAIN_DB, err);
    bool exists = code == FENEC_OK;
    sqlite3_int64 size = file.size;
    if (exists) {
        code = source_read(&file, header, HEADER_BYTES, 0, err);
        source_close(&file);
    }
    if (code && code != FN_END)
        return code;
    /* A file being made when the power went: SQLite rolls it back to nothing. */
    if (journal && memcmp(header, zeros, HEADER_BYTES) == 0)
        exists = false;
    if (exists) {
        code = size < HEADER_BYTES ? fail(err, FENEC_CORRUPT, "%.900s is not a database", path)
                                   : check_header(header, path, err);
        if (code)
            return code;
    }
    code = read_stamps(&log, vfs, log_name, path, err);
    if (code)
        return code;
    head_stamp head = head_stamp_of(header);
    *out = (stamp){.is_new = !exists,
                   .has_journal = journal,
                   .marked = head.marked,
                   .number = head.number,
                   .log_frames = log.frames};
    if (log.frames == 0) {
        /* With a log the file may be behind what its head says, until the log is folded in. */
        if (exists && !journal && memcmp(header + 24, header + 92, 4) == 0 &&
            size / PAGE_BYTES < (sqlite3_int64)big32(header + 28))
            return fail(err, FENEC_CORRUPT, "%.900s is cut short", path);
        if (exists && !journal && !head_is_whole(&head))
            return fail(err, FENEC_CORRUPT,
                        "%.700s was copied without its log, or while it was written: "
                        "fenec recover exports what it holds",
                        path);
        return FENEC_OK;
    }
    if (!exists || !log.any || !head_fits(&head, log.first, log.last))
        return foreign_log(log_name, path, err);
    out->number = log.last;
    return check_application(log.application, path, err);
}

/* Of a file and what stands beside it. */
typedef struct names {
    char *main, *log, *journal;
} names;

static void names_clear(names *n)
{
    if (n->main)
        sqlite3_free_filename(n->main);
    memory_free(n->log);
    memory_free(n->journal);
}

static int names_make(names *n, const char *path, error *err)
{
    size_t len = strlen(path);

    *n = (names){.log = memory_alloc(len + sizeof "-wal"), .journal = memory_alloc(len + sizeof "-journal")};
    if (n->log && n->journal) {
        snprintf(n->log, len + sizeof "-wal", "%s-wal", path);
        snprintf(n->journal, len + sizeof "-journal", "%s-journal", path);
        /* The name of a main file has to be one that SQLite made: a VFS looks for parameters behind it. */
        n->main = (char *)sqlite3_create_filename(path, n->journal, n->log, 0, NULL);
    }
    if (n->main)
        return FENEC_OK;
    names_clear(n);
    return fail_memory(err);
}

int stamp_read(stamp *out, sqlite3_vfs *vfs, const char *path, error *err)
{
    int has_journal = 0;
    names n;
    int code = names_make(&n, path, err);

    if (code)
        return code;
    int rc = vfs->xAccess(vfs, n.journal, SQLITE_ACCESS_EXISTS, &has_journal);
    code = rc ? sqlite_fail(err, rc, NULL, "cannot look for a journal")
              : inspect(out, vfs, n.main, n.log, has_journal != 0, err);
    names_clear(&n);
    return code;
}

static int write_mark(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, uint32_t number)
{
    uint8_t mark[MARK_BYTES];
    int flags = 0;
    int rc = vfs->xOpen(vfs, name, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, &flags);

    mark_put(mark, number);
    if (rc == SQLITE_OK && !(flags & SQLITE_OPEN_READONLY)) {
        rc = file->pMethods->xWrite(file, mark, MARK_BYTES, MARK_AT);
        if (rc == SQLITE_OK)
            rc = file->pMethods->xSync(file, SYNC_HOW);
    }
    if (file->pMethods)
        file->pMethods->xClose(file);
    return rc;
}

int stamp_mark(sqlite3_vfs *vfs, const char *path, uint32_t number, error *err)
{
    names n;
    int code = names_make(&n, path, err);

    if (code)
        return code;
    sqlite3_file *file = memory_zeroed((size_t)vfs->szOsFile);
    int rc = file ? write_mark(vfs, n.main, file, number) : SQLITE_NOMEM;
    memory_free(file);
    names_clear(&n);
    return rc ? sqlite_fail(err, rc, NULL, "cannot write to the file") : FENEC_OK;
}
