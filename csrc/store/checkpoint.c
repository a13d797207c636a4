/* Checkpoints end on the writer's connection under its lock: a SQLite before 3.51.3 can corrupt a file
 * when a commit resets the log during a checkpoint of another connection. Most of the log is folded in before
 * that, beside other writers, by a second connection, while a pinned reader keeps the log from resetting: what
 * is left for the lock is what was written meanwhile. */
#include "store/inside.h"

#include "base/memory.h"
#include "store/sqlite_error.h"
#include "store/stamp.h"

#define LOG_FRAMES (LOG_BYTES / FRAME_BYTES)
#define LOG_FRAMES_LARGE (LOG_BYTES_LARGE / FRAME_BYTES)

/* Now, or after so many more frames. */
static bool is_due(const store *s, uint32_t early)
{
    if (!s->writer.db || s->transaction.open || s->beside || s->log_frames + early < LOG_FRAMES)
        return false;
    if (atomic_load(&s->refused))
        return false;
    return s->log_frames + early >= s->checkpoint_frames || atomic_load(&s->retry);
}

void checkpoint_note_failure(store *s, int rc)
{
    error err;

    if ((rc & 0xFF) == SQLITE_FULL || !sqlite_refused_write(rc))
        return;
    sqlite_fail(&err, rc, s->writer.db, "cannot fold the log into the file");
    durable_refuse(s, err.message);
}

/* Syncs the log itself before SQLite does: then nothing that has landed hangs on a sync of SQLite's, whatever that
 * answers, and the pages of a file whose sync failed are written again by the next fold. LOCK_WRITER held. */
static int sync_first(store *s, uint64_t *landed)
{
    error unused;

    lock_take(&s->durable);
    *landed = s->landed;
    lock_leave(&s->durable);
    if (s->memory)
        return SQLITE_OK;
    durable_note_long(s); /* nobody can land who waits for the lock */
    return durable_wait(s, *landed, &unused) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

/* One checkpoint of the writer, the last of whose commits is stamped; *whole: nothing is left in the log that is
 * not in the file. */
static int fold(store *s, int mode, bool *whole)
{
    int frames = 0, done = 0;
    uint64_t landed;

    *whole = false;
    int rc = transaction_settle(s);
    if (rc == SQLITE_OK)
        rc = sync_first(s, &landed);
    if (rc)
        return rc;
    rc = mark_begin(s);
    if (rc) {
        checkpoint_note_failure(s, rc);
        return rc;
    }
    log_view_doubt(s, false);
    rc = sqlite3_wal_checkpoint_v2(s->writer.db, "main", mode, &frames, &done);
    log_view_fold(s, rc, frames, done);
    if (rc == SQLITE_OK && frames == done) {
        *whole = true;
        s->stamp_due = true;
        durable_note_synced(s, landed); /* SQLite synced log and file */
        rc = mark_whole(s);
    } else if (rc && (rc & 0xFF) != SQLITE_BUSY) {
        checkpoint_note_failure(s, rc);
    }
    return rc;
}

/* A log that is held, or that did not begin anew for long. */
static void note_held(store *s, bool whole)
{
    bool held = !whole || s->log_frames >= LOG_FRAMES_LARGE;

    if (held && !s->held)
        s->held_since = pool_reads(s);
    s->held = held;
}

static void fold_with_care(store *s)
{
    bool whole;

    pool_wait(s, false);
    fold(s, SQLITE_CHECKPOINT_PASSIVE, &whole);
    note_held(s, whole);
    /* Long reads that overlap without end would let the log grow without end: the next ones wait until those
     * under way are over. A single one, however long, only delays the fold, and reads beside it are not to wait
     * for it: those that were there when the log was first held are spared. */
    if (s->log_frames >= LOG_FRAMES_LARGE && !pool_shut(s, GATE_DRAIN, s->held_since) && !whole) {
        fold(s, SQLITE_CHECKPOINT_PASSIVE, &whole);
        note_held(s, whole);
    }
    pool_wait(s, false);
}

void checkpoint_run(store *s)
{
    error unused;

    atomic_store(&s->retry, false);
    if (transaction_stamp(s, &unused) == FENEC_OK)
        fold_with_care(s);
    /* A log that resets begins anew at the next commit (note_log in conn.c). One that a long read holds,
     * or that could not be folded in, is tried again when it has grown as much once more, and when it gets
     * large. */
    uint32_t next = s->log_frames + LOG_FRAMES;
    s->checkpoint_frames = s->log_frames < LOG_FRAMES_LARGE && next > LOG_FRAMES_LARGE ? LOG_FRAMES_LARGE : next;
}

/* Nobody reads and nobody can. LOCK_WRITER held, no block under way. */
static void run_drained(store *s)
{
    error unused;

    checkpoint_wait(s);
    if (!atomic_exchange(&s->drained, false))
        return; /* somebody else was quicker */
    if (s->writer.db && transaction_flush(s, &unused) == FENEC_OK && !atomic_load(&s->refused))
        checkpoint_run(s);
    pool_admit(s);
}

void checkpoint_drained(store *s)
{
    /* Where writers come one after the other this thread may not get the lock for long: then it is for them. */
    atomic_store(&s->drained, true);
    lock_take(&s->writing);
    run_drained(s);
    lock_leave(&s->writing);
}

void checkpoint_wait(store *s)
{
    while (s->beside)
        condition_wait(&s->quiet, &s->writing);
}

static int open_pair(store *s, conn *pin, conn *worker)
{
    error err;

    if (conn_open(pin, s, CONN_CHECKPOINT, false, &err) || conn_open(worker, s, CONN_CHECKPOINT, false, &err))
        return SQLITE_CANTOPEN;
    int rc = conn_step(pin, FIXED_BEGIN, NULL);
    if (rc == SQLITE_OK)
        rc = conn_step(pin, FIXED_SCHEMA, NULL);
    /* A connection that has read nothing knows of no log. */
    return rc ? rc : conn_step(worker, FIXED_SCHEMA, NULL);
}

/* What the second connection does, LOCK_WRITER let go for it. *whole: all that was in the log then is in the
 * file. */
static int fold_pinned(store *s, conn *worker, bool *whole)
{
    int frames = 0, done = 0;
    uint32_t number = s->stamp;
    bool begins = !s->memory && s->begun != number;

    lock_leave(&s->writing);
    int rc = begins ? mark_write(worker->db, number) : SQLITE_OK;
    bool begun = rc == SQLITE_OK;
    if (begun)
        rc = sqlite3_wal_checkpoint_v2(worker->db, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &done);
    lock_take(&s->writing);
    if (begun)
        s->begun = number;
    *whole = rc == SQLITE_OK && frames == done;
    return rc;
}

/* A fold beside the writers came to the end of the log. The pin still keeps that from beginning anew. */
static void note_whole(store *s)
{
    s->stamp_due = true;
    /* Blocks that came to be buffered meanwhile may be written to the log at any time. */
    if (mark_whole(s) != SQLITE_OK && s->transaction.open)
        durable_refuse(s, "the file could not be marked as whole");
}

static void fold_beside(store *s)
{
    conn pin = {0}, worker = {0};
    uint64_t landed;
    error unused;
    bool whole;

    bool ready = transaction_stamp(s, &unused) == FENEC_OK && sync_first(s, &landed) == SQLITE_OK &&
                 open_pair(s, &pin, &worker) == SQLITE_OK;
    if (ready) {
        s->beside = true;
        log_view_doubt(s, false);
        int rc = fold_pinned(s, &worker, &whole);
        if (rc && (rc & 0xFF) != SQLITE_BUSY)
            checkpoint_note_failure(s, rc);
        if (rc == SQLITE_IOERR_NOMEM && landed != s->landed)
            durable_refuse(s, "a sync beside the writers may have failed"); /* of what has landed since */
        if (whole && landed == s->landed)
            note_whole(s);
    }
    conn_close(&worker);
    conn_close(&pin);
    if (ready) {
        s->beside = false;
        condition_broadcast(&s->quiet);
    }
}

/* Memory is folded into memory: nothing to wait for. */
static void run_due(store *s)
{
    error unused;

    if (!s->memory || s->log_frames >= LOG_FRAMES_LARGE)
        fold_beside(s);
    /* Blocks may have come to be buffered meanwhile, and always would where several threads write. */
    if (transaction_flush(s, &unused) || s->transaction.open || !s->writer.db || atomic_load(&s->refused))
        return;
    durable_note_long(s);
    checkpoint_run(s);
    durable_note_short(s);
}

void checkpoint_if_due(store *s)
{
    if (atomic_load(&s->drained) && !s->beside)
        run_drained(s);
    if (is_due(s, 0))
        run_due(s);
}

void checkpoint_put_off(store *s)
{
    if (is_due(s, 0))
        atomic_store(&s->put_off, true);
}

void checkpoint_early(store *s)
{
    lock_take(&s->writing);
    if (is_due(s, LOG_FRAMES / 2))
        run_due(s);
    lock_leave(&s->writing);
}

int checkpoint_whole(store *s, error *err)
{
    bool whole = false, shut = false;
    int rc = SQLITE_BUSY;
    int code = transaction_stamp(s, err);

    if (code)
        return code;

    /* A read that begins meanwhile can be in the way too, having shared the place of an older one in the
     * wal-index. After that none begins. */
    for (int i = 0; i < 3 && (rc & 0xFF) == SQLITE_BUSY; i++) {
        if (i == 2)
            shut = pool_shut(s, GATE_HELD, 0);
        pool_wait(s, true);
        rc = fold(s, SQLITE_CHECKPOINT_PASSIVE, &whole);
        if (rc == SQLITE_OK && !whole)
            rc = SQLITE_BUSY;
        if (rc == SQLITE_OK) {
            pool_wait(s, true);
            rc = fold(s, SQLITE_CHECKPOINT_TRUNCATE, &whole);
        }
    }
    if (shut)
        pool_admit(s);
    if (rc)
        return sqlite_fail(err, rc, s->writer.db, "cannot fold the log into the file");
    s->log_frames = 0;
    s->checkpoint_frames = LOG_FRAMES;
    return FENEC_OK;
}
