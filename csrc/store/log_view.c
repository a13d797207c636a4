/* The store's side of the view of its log; what it is and why it may be told is said in page_map.h. */
#include "store/inside.h"

#include <string.h>

#include "store/stamp.h"

static void set_view(store *s, log_view v)
{
    if (!s->exclusive)
        return; /* whoever else has the file may commit and checkpoint: it stays UNSURE */
    lock_take(&s->pool);
    s->view = v;
    atomic_fetch_add(&s->view_epoch, 1);
    lock_leave(&s->pool);
}

void log_view_open(store *s)
{
    sqlite3_int64 size = 0;

    int rc = s->log->pMethods->xFileSize(s->log, &size);
    if (rc == SQLITE_OK && size < LOG_HEAD_BYTES + FRAME_BYTES) /* no frame: nothing was recovered */
        set_view(s, (log_view){.state = LOG_WHOLE});
}

void log_view_commit(store *s)
{
    uint8_t head[LOG_HEAD_BYTES];
    log_view v = s->view;

    if (!s->log_moved)
        return;
    if (v.state != LOG_PINNED || s->log_frames <= v.frames) {
        v.known = s->log->pMethods->xRead(s->log, head, sizeof head, 0) == SQLITE_OK;
        if (v.known)
            memcpy(v.salts, head + 16, LOG_SALTS);
    }
    v.frames = s->log_frames;
    v.state = v.known ? LOG_PINNED : LOG_UNSURE;
    set_view(s, v);
}

void log_view_doubt(store *s, bool forget)
{
    log_view v = s->view;

    v.state = LOG_UNSURE;
    v.folds++;
    v.known &= !forget;
    set_view(s, v);
}

void log_view_fold(store *s, int rc, int frames, int done)
{
    log_view v = s->view;

    if (rc != SQLITE_OK || frames < 0)
        return;
    if (frames == done)
        v.state = LOG_WHOLE;
    else if (v.known && done < frames && (uint32_t)frames == v.frames)
        v.state = LOG_PINNED;
    set_view(s, v);
}
