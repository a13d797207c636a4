#include "store/inside.h"

#include "base/clock.h"
#include "base/memory.h"

/* ---- snapshots; the caller holds the reader ---- */

static void snapshot_end(conn *c, version **v)
{
    *v = c->v;
    c->v = NULL;
    if (c->in_snapshot)
        conn_step(c, FIXED_COMMIT, NULL); /* of a read: nothing that could fail */
    c->in_snapshot = false;
}

static int snapshot_begin(conn *c, error *err)
{
    int64_t schema = 0;

    int rc = conn_step(c, FIXED_BEGIN, NULL);
    if (rc == SQLITE_OK) {
        c->in_snapshot = true;
        rc = conn_step(c, FIXED_SCHEMA, &schema);
    }
    if (rc)
        return conn_fail(c, rc, "cannot read the file", err);
    c->schema = schema;
    if (atomic_load(&c->s->view_epoch) != c->pages.epoch)
        c->pages.view.state = LOG_UNSURE;
    return FENEC_OK;
}

static void snapshot_drop(conn *c)
{
    version *v;

    snapshot_end(c, &v);
    version_drop(v);
}

/* Number and version, together. */
static void note_current(conn *c)
{
    store *s = c->s;

    lock_take(&s->pool);
    c->number = atomic_load(&s->number);
    c->v = version_keep(s->current);
    c->begun = s->reads;
    c->pages.view = s->view;
    c->pages.source_open = c->pages.cache_open = false;
    c->pages.epoch = atomic_load(&s->view_epoch);
    lock_leave(&s->pool);
}

static int snapshot_take(conn *c, error *err)
{
    store *s = c->s;

    note_current(c);
    int code = snapshot_begin(c, err);
    if (code == FENEC_OK && (c->number & 1) == 0 && atomic_load(&s->number) == c->number)
        return FENEC_OK;
    snapshot_drop(c);
    if (code)
        return code;
    lock_take(&s->publish);
    note_current(c);
    code = snapshot_begin(c, err);
    lock_leave(&s->publish);
    if (code)
        snapshot_drop(c);
    return code;
}

/* ---- the pool ---- */

/* So many are not handed out any more. True: the gate waited for the last one. LOCK_POOL held. */
static bool note_returned(store *s, int count)
{
    s->active_count -= count;
    condition_signal(&s->available);
    condition_broadcast(&s->returned);
    return s->gate == GATE_DRAIN && s->active_count == 0;
}

/* Opened without a lock: others go on. */
static int reader_new(store *s, bool first, conn **out, error *err)
{
    conn *c = memory_zeroed(sizeof *c);

    if (!c)
        return fail_memory(err);
    int code = conn_open(c, s, first ? CONN_FIRST_READER : CONN_READER, false, err);
    if (code) {
        memory_free(c);
        return code;
    }
    c->first = first;
    *out = c;
    return FENEC_OK;
}

/* Adds a reader to those that are handed out. */
static int pool_grow(store *s, bool first, conn **out, error *err)
{
    conn *c = NULL;
    int code = reader_new(s, first, &c, err);

    lock_take(&s->pool);
    if (code == FENEC_OK)
        s->readers[s->reader_count++] = *out = c;
    s->opening--;
    return code;
}

/* The reader used last: what it has cached is warm. */
static int pool_take(store *s, conn **out, error *err)
{
    int code = FENEC_OK;

    lock_take(&s->pool);
    while (!s->closed && (s->gate != GATE_OPEN || (!s->idle && s->reader_count + s->opening == READERS_MAX)))
        condition_wait(&s->available, &s->pool);
    if (s->closed) {
        lock_leave(&s->pool);
        return store_fail_closed(err);
    }
    s->active_count++;
    if (s->idle) {
        *out = s->idle;
        s->idle = (*out)->next_idle;
    } else {
        bool first = s->reader_count + s->opening++ == 0;
        lock_leave(&s->pool);
        code = pool_grow(s, first, out, err); /* the lock is held again */
    }
    if (code == FENEC_OK) {
        (*out)->active = true;
        (*out)->since = ++s->reads;
        (*out)->steps = 0;
    } else {
        note_returned(s, 1);
    }
    lock_leave(&s->pool);
    return code;
}

/* The first reader, which has the largest cache, stands first where it is idle. LOCK_POOL held. */
static void put_idle(store *s, conn *c)
{
    conn **at = s->idle && s->idle->first ? &s->idle->next_idle : &s->idle;

    c->next_idle = *at;
    *at = c;
}

/* True: it was the one the gate waited for. */
static bool pool_return(conn *c)
{
    store *s = c->s;

    lock_take(&s->pool);
    /* A commit that is on its way ends what it finds idle; one that is through has done so already. An error
     * may have ended the transaction. */
    if (c->in_snapshot && (sqlite3_get_autocommit(c->db) || c->number != (atomic_load(&s->number) & ~(uint64_t)1) || c->begun <= s->fence)) {
        lock_leave(&s->pool);
        snapshot_drop(c);
        lock_take(&s->pool);
    }
    if (c->is_long) {
        c->is_long = false;
        atomic_store(&s->retry, true);
    }
    c->active = false;
    put_idle(s, c);
    bool last = note_returned(s, 1);
    lock_leave(&s->pool);
    return last;
}

/* Takes the idle readers out that nobody had since the last time, but the first. They count as handed out
 * until they are closed. LOCK_POOL held. */
static conn *take_unneeded(store *s, version *drops[READERS_MAX], int *count)
{
    conn *taken = NULL;

    for (conn **at = &s->idle; *at;) {
        conn *c = *at;
        if (c->first || c->since > s->trimmed) {
            at = &c->next_idle;
            continue;
        }
        *at = c->next_idle;
        for (int i = 0; i < s->reader_count; i++)
            if (s->readers[i] == c)
                s->readers[i] = s->readers[--s->reader_count];
        if (c->in_snapshot)
            snapshot_end(c, &drops[(*count)++]);
        c->next_idle = taken;
        taken = c;
        s->active_count++;
    }
    s->trimmed = s->reads;
    return taken;
}

void store_trim(store *s)
{
    version *drops[READERS_MAX];
    int count = 0, closed = 0;
    conn *taken = NULL, *next;

    lock_take(&s->pool);
    if (!s->closed)
        taken = take_unneeded(s, drops, &count);
    lock_leave(&s->pool);
    while (count > 0)
        version_drop(drops[--count]);
    for (; taken; taken = next, closed++) {
        next = taken->next_idle;
        conn_close(taken);
        memory_free(taken);
    }
    if (closed == 0)
        return;
    lock_take(&s->pool);
    bool last = note_returned(s, closed);
    lock_leave(&s->pool);
    if (last)
        checkpoint_drained(s);
}

/* A read sees every block that was over when it began: what is buffered is landed first, by the next block that is
 * over, or here. The log is left to those who write. Where the disk refuses, reads go on with what was committed. */
static void land_buffered(store *s)
{
    error ignored;

    atomic_fetch_add(&s->awaited, 1);
    lock_take(&s->durable);
    const uint64_t asked = atomic_load(&s->entered);
    s->giving_way++;
    while (atomic_load(&s->buffered) && s->left < asked)
        condition_wait(&s->gathered, &s->durable);
    s->giving_way--;
    lock_leave(&s->durable);
    if (atomic_load(&s->buffered)) {
        lock_take(&s->writing);
        if (s->writer.db && transaction_flush(s, &ignored) == FENEC_OK)
            checkpoint_put_off(s);
        lock_leave(&s->writing);
    }
    atomic_fetch_sub(&s->awaited, 1);
}

int store_read(store *s, conn **out, version **v, error *err)
{
    conn *c = NULL;
    int code = store_check_fork(s, err);

    if (code == FENEC_OK && atomic_load(&s->buffered))
        land_buffered(s);
    if (code == FENEC_OK)
        code = pool_take(s, &c, err);
    if (code)
        return code;
    if (!c->in_snapshot) {
        code = snapshot_take(c, err);
        if (code) {
            store_read_end(c);
            return code;
        }
    }
    statements_begin(&c->cache);
    *out = c;
    *v = c->v;
    return FENEC_OK;
}

void store_read_end(conn *c)
{
    store *s = c->s;

    statements_end(&c->cache);
    uint64_t since = c->since;
    if (pool_return(c))
        checkpoint_drained(s);
    if (since % READS_TO_TRIM == 0)
        store_trim(s);
}

void store_read_long(conn *c)
{
    pool_note_long(c);
}

/* ---- for those who commit and checkpoint ---- */

/* LOCK_POOL held. */
static int end_idle(store *s, version *drops[READERS_MAX])
{
    int count = 0;

    for (conn *c = s->idle; c; c = c->next_idle)
        if (c->in_snapshot)
            snapshot_end(c, &drops[count++]);
    return count;
}

int pool_publish(store *s, version *drops[PUBLISH_DROPS])
{
    lock_take(&s->pool);
    int count = end_idle(s, drops);
    if (s->current != s->latest) {
        drops[count++] = s->current;
        s->current = version_keep(s->latest);
    }
    atomic_fetch_add(&s->number, 1);
    lock_leave(&s->pool);
    return count;
}

/* LOCK_POOL held. */
static bool read_since(const store *s, uint64_t last, bool long_too)
{
    for (int i = 0; i < s->reader_count; i++) {
        const conn *c = s->readers[i];
        if (c->active && c->since <= last && (long_too || !c->is_long))
            return true;
    }
    return false;
}

/* LOCK_POOL held. */
static void note_all_long(store *s, uint64_t last)
{
    for (int i = 0; i < s->reader_count; i++) {
        conn *c = s->readers[i];
        if (c->active && c->since <= last)
            c->is_long = true;
    }
}

void pool_wait(store *s, bool long_too)
{
    version *drops[READERS_MAX];

    lock_take(&s->pool);
    uint64_t last = s->fence = s->reads;
    int count = end_idle(s, drops);
    int64_t until = clock_monotonic_us() + SHORT_READ_MS * 1000;
    while (read_since(s, last, long_too)) {
        if (long_too) {
            condition_wait(&s->returned, &s->pool);
            continue;
        }
        /* Others return meanwhile: it is the time since the start that counts. */
        int64_t left = until - clock_monotonic_us();
        if (left <= 0 || !condition_wait_ms(&s->returned, &s->pool, (uint64_t)(left + 999) / 1000))
            note_all_long(s, last);
    }
    lock_leave(&s->pool);
    while (count > 0)
        version_drop(drops[--count]);
}

uint64_t pool_reads(store *s)
{
    lock_take(&s->pool);
    uint64_t reads = s->reads;
    lock_leave(&s->pool);
    return reads;
}

bool pool_shut(store *s, gate how, uint64_t spared)
{
    lock_take(&s->pool);
    bool reading = s->active_count > 0;
    if (reading && !read_since(s, spared, true))
        s->gate = how;
    lock_leave(&s->pool);
    return reading;
}

void pool_admit(store *s)
{
    lock_take(&s->pool);
    s->gate = GATE_OPEN;
    condition_broadcast(&s->available);
    lock_leave(&s->pool);
}

void pool_note_long(conn *c)
{
    store *s = c->s;

    if (c->writer || !c->active)
        return;
    lock_take(&s->pool);
    if (!c->is_long) {
        c->is_long = true;
        condition_broadcast(&s->returned);
    }
    lock_leave(&s->pool);
}

void pool_close(store *s)
{
    lock_take(&s->pool);
    s->closed = true;
    condition_broadcast(&s->available);
    while (s->active_count > 0)
        condition_wait(&s->returned, &s->pool);
    lock_leave(&s->pool);
}

void pool_free(store *s)
{
    for (int i = 0; i < s->reader_count; i++) {
        version_drop(s->readers[i]->v);
        conn_close(s->readers[i]);
        memory_free(s->readers[i]);
    }
    s->reader_count = 0;
    s->idle = NULL;
    version_drop(s->current);
    s->current = NULL;
}
