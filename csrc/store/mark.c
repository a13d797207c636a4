/* Writes the mark in the head of the open file; what it says stands in stamp.h. Through SQLite's own file, as
 * closing a descriptor of ours would drop its locks. The writer keeps page 1 as it read it before: a mark that it
 * writes there is an older one than this, under a newer number. */
#include "store/inside.h"

#include "store/sqlite_error.h"
#include "store/stamp.h"

int mark_write(sqlite3 *db, uint32_t number)
{
    uint8_t mark[MARK_BYTES];
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);

    if (rc == SQLITE_OK && (!file || !file->pMethods))
        rc = SQLITE_CANTOPEN;
    mark_put(mark, number);
    if (rc == SQLITE_OK)
        rc = file->pMethods->xWrite(file, mark, MARK_BYTES, MARK_AT);
    return rc == SQLITE_OK ? file->pMethods->xSync(file, SYNC_HOW) : rc;
}

int mark_begin(store *s)
{
    /* Never a second time: the fold may have come to page 1, and the file would pass for whole. */
    if (s->memory || s->begun == s->stamp)
        return SQLITE_OK;
    int rc = mark_write(s->writer.db, s->stamp);
    if (rc == SQLITE_OK)
        s->begun = s->stamp;
    return rc;
}

int mark_whole(store *s)
{
    if (s->memory || s->whole == s->stamp)
        return SQLITE_OK;
    s->mark_due = true;
    int rc = mark_write(s->writer.db, s->stamp);
    if (rc == SQLITE_OK) {
        s->whole = s->stamp;
        s->mark_due = false;
    } else {
        checkpoint_note_failure(s, rc);
    }
    return rc;
}
