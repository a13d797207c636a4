#include "store/sqlite_error.h"

#include <string.h>

static int code_of(int rc)
{
    if (rc == SQLITE_IOERR_NOMEM)
        return FENEC_PANIC;
    switch (rc & 0xFF) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return FENEC_IO;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT: return FENEC_CORRUPT;
    case SQLITE_TOOBIG: return FENEC_QUERY;
    default: return FENEC_PANIC;
    }
}

static const char *reason(int rc, sqlite3 *db)
{
    switch (rc & 0xFF) {
    case SQLITE_FULL: return "the disk is full";
    case SQLITE_NOMEM: return "out of memory";
    case SQLITE_BUSY: return "another program holds the file";
    case SQLITE_CORRUPT: return "the file is damaged";
    case SQLITE_NOTADB: return "the file is no database";
    case SQLITE_TOOBIG: return "more than 1 000 000 000 bytes in one value";
    case SQLITE_ERROR: return db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    }
    return rc == SQLITE_IOERR_NOMEM ? "out of memory" : sqlite3_errstr(rc);
}

int sqlite_fail(error *err, int rc, sqlite3 *db, const char *doing)
{
    int code = code_of(rc);
    int system = db && code == FENEC_IO ? sqlite3_system_errno(db) : 0;

    if (system)
        return fail(err, code, "%s: %s (%s)", doing, reason(rc, db), strerror(system));
    return fail(err, code, "%s: %s", doing, reason(rc, db));
}

bool sqlite_refused_write(int rc)
{
    switch (rc) {
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_NOMEM:
    case SQLITE_IOERR_ACCESS:
    case SQLITE_IOERR_FSTAT: return false;
    }
    switch (rc & 0xFF) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY: return true;
    default: return false;
    }
}
