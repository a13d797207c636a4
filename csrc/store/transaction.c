#include "store/inside.h"

#include <stdio.h>

#include "store/sqlite_error.h"

#define SPILL_NEVER 1000000000
#define CACHE_CHECK_BYTES 16384 /* gathered between two looks at the size of the page cache */
#define CACHE_BYTES_MAX (32 * 1024 * 1024)

int transaction_check(store *s, error *err)
{
    return atomic_load(&s->refused) ? durable_refused(s, err) : FENEC_OK;
}

int transaction_check_lost(store *s, error *err)
{
    int code = transaction_check(s, err);

    if (code == FENEC_OK && s->transaction.lost)
        return fail(err, s->transaction.lost_code, "the block was put back when it failed");
    return code;
}

/* Forgets the transaction; versions go back to what is committed. */
static void transaction_over(store *s)
{
    bool under_way = s->transaction.under_way;
    bool made_tables = s->transaction.made_tables;

    s->transaction = (transaction){.under_way = under_way};
    atomic_store(&s->buffered, false);
    if (made_tables)
        s->writer.schema++;
}

static void back_to_committed(store *s)
{
    version *old = s->latest;

    lock_take(&s->pool);
    s->latest = version_keep(s->current);
    lock_leave(&s->pool);
    version_drop(old);
}

void transaction_note(store *s, int rc, error *err)
{
    transaction *t = &s->transaction;

    if (t->open && sqlite3_get_autocommit(s->writer.db)) {
        t->open = false;
        t->lost = true;
        t->lost_code = err->code;
        if (t->buffered > 0)
            durable_refuse(s, err->message);
    }
    if (sqlite_refused_write(rc))
        durable_refuse(s, err->message);
}

void transaction_allow_spills(store *s, bool allowed)
{
    char sql[60];

    snprintf(sql, sizeof sql, "pragma cache_spill = %d", allowed ? 1 : SPILL_NEVER);
    if (conn_run(&s->writer, sql) == SQLITE_OK)
        s->spills = allowed;
}

int transaction_begin(store *s, error *err)
{
    int rc = transaction_settle(s);

    if (rc == SQLITE_OK && s->mark_due) {
        rc = mark_whole(s);
        if (rc)
            return conn_fail(&s->writer, rc, "cannot write to the file", err);
    }
    if (rc == SQLITE_OK)
        rc = conn_step(&s->writer, FIXED_BEGIN_WRITE, NULL);
    if (rc)
        return conn_fail(&s->writer, rc, "cannot begin a block", err);
    s->transaction = (transaction){.open = true, .under_way = s->transaction.under_way};
    return FENEC_OK;
}

int transaction_settle(store *s)
{
    return sqlite3_get_autocommit(s->writer.db) ? SQLITE_OK : conn_step(&s->writer, FIXED_ROLLBACK, NULL);
}

void transaction_undo(store *s)
{
    if (s->transaction.open)
        conn_step(&s->writer, FIXED_ROLLBACK, NULL);
    if (s->transaction.buffered > 0)
        durable_refuse(s, "blocks that were buffered are lost");
    transaction_over(s);
    back_to_committed(s);
}

static int raise_stamp(store *s)
{
    char sql[60];

    snprintf(sql, sizeof sql, "pragma user_version = %d", (int32_t)(s->stamp + 1));
    return conn_run(&s->writer, sql);
}

int transaction_land(store *s, error *err)
{
    version *drops[PUBLISH_DROPS];
    int drop_count = 0, rc = SQLITE_OK;
    bool raise = s->transaction.changed && s->stamp_due;
    int counted = counter_write(s, err);

    if (counted) {
        transaction_undo(s);
        return counted;
    }
    if (raise)
        rc = raise_stamp(s);
    if (rc == SQLITE_OK) {
        lock_take(&s->publish);
        atomic_fetch_add(&s->number, 1);
        s->log_moved = false;
        rc = conn_step(&s->writer, FIXED_COMMIT, NULL);
        if (rc == SQLITE_OK) {
            log_view_commit(s);
            drop_count = pool_publish(s, drops);
        } else {
            log_view_doubt(s, true);
            lock_take(&s->pool);
            atomic_fetch_add(&s->number, 1);
            lock_leave(&s->pool);
        }
        lock_leave(&s->publish);
    }
    while (drop_count > 0)
        version_drop(drops[--drop_count]);
    if (rc) {
        int code = conn_fail(&s->writer, rc, "cannot commit", err);
        transaction_undo(s);
        return code;
    }
    if (raise) {
        s->stamp++;
        s->stamp_due = false;
    }
    if (s->log_moved)
        s->stamped = raise;
    bool changed = s->transaction.changed;
    s->transaction.made_tables = false; /* they stay */
    transaction_over(s);
    if (changed) {
        uint64_t ticket;
        durable_land(s, &ticket);
    }
    return FENEC_OK;
}

int transaction_stamp(store *s, error *err)
{
    if (s->memory || s->stamped)
        return FENEC_OK;
    int code = transaction_begin(s, err);
    if (code)
        return code;
    s->stamp_due = true;
    s->transaction.changed = true;
    return transaction_land(s, err);
}

int transaction_flush(store *s, error *err)
{
    if (!s->transaction.open || s->transaction.buffered == 0)
        return FENEC_OK;
    if (atomic_load(&s->refused)) {
        transaction_undo(s);
        return durable_refused(s, err);
    }
    return transaction_land(s, err);
}

/* The end of a block: lets the lock go. */
static void leave(store *s)
{
    s->transaction.under_way = false;
    statements_end(&s->writer.cache);
    durable_leave(s);
    checkpoint_if_due(s);
    lock_leave(&s->writing);
}

/* `still`: the block writes no row. */
static int begin_block(store *s, bool undo, bool still, conn **out, version **v, error *err)
{
    transaction *t = &s->transaction;
    int code = store_check_fork(s, err);

    if (code)
        return code;
    if (atomic_exchange(&s->put_off, false)) { /* before anybody waits for this block to be over */
        lock_take(&s->writing);
        checkpoint_if_due(s);
        lock_leave(&s->writing);
    }
    atomic_fetch_add(&s->entered, 1);
    lock_take(&s->writing);
    code = s->writer.db ? transaction_check(s, err) : store_fail_closed(err);
    if (code && s->writer.db && still) {
        if (t->open)
            transaction_undo(s); /* what was buffered is lost */
        code = FENEC_OK;
    }
    if (code == FENEC_OK && !t->open) {
        code = transaction_begin(s, err);
        if (code == FENEC_OK && s->no_sync && s->spills)
            transaction_allow_spills(s, false);
    }
    if (code == FENEC_OK) {
        t->under_way = true;
        t->wrote = t->counts = false;
        t->work = 0;
        if (undo && t->buffered > 0) {
            int rc = conn_step(&s->writer, FIXED_BLOCK, NULL);
            code = rc ? conn_fail(&s->writer, rc, "cannot begin a block", err) : FENEC_OK;
            t->savepoint = code == FENEC_OK;
        }
    }
    if (code) {
        leave(s);
        return code;
    }
    statements_begin(&s->writer.cache);
    *out = &s->writer;
    *v = s->latest;
    return FENEC_OK;
}

int store_write(store *s, bool undo, conn **out, version **v, error *err)
{
    return begin_block(s, undo, false, out, v, err);
}

int store_write_still(store *s, conn **out, version **v, error *err)
{
    return begin_block(s, true, true, out, v, err);
}

bool store_write_refused(const conn *c)
{
    return c->writer && atomic_load(&c->s->refused);
}

int store_savepoint(conn *c, error *err)
{
    transaction *t = &c->s->transaction;
    int rc = SQLITE_OK;

    if (t->lost)
        return transaction_check_lost(c->s, err);
    if (t->marked)
        rc = conn_step(c, FIXED_MARK_END, NULL);
    if (rc == SQLITE_OK)
        rc = conn_step(c, FIXED_MARK, NULL);
    if (rc)
        return conn_fail(c, rc, "cannot mark a place in a block", err);
    t->marked = true;
    return FENEC_OK;
}

int store_savepoint_undo(conn *c, error *err)
{
    transaction *t = &c->s->transaction;

    if (t->lost)
        return transaction_check_lost(c->s, err);
    if (!t->marked)
        return fail(err, FENEC_PANIC, "no place in the block was marked");
    int rc = conn_step(c, FIXED_MARK_UNDO, NULL);
    if (t->made_tables)
        c->schema++;
    return rc ? conn_fail(c, rc, "cannot put a part of a block back", err) : FENEC_OK;
}

static void put_back(store *s)
{
    transaction *t = &s->transaction;

    if (t->buffered == 0 || t->lost) {
        transaction_undo(s);
        return;
    }
    int rc = SQLITE_OK;
    if (t->savepoint) {
        rc = conn_step(&s->writer, FIXED_BLOCK_UNDO, NULL);
        if (rc == SQLITE_OK)
            rc = conn_step(&s->writer, FIXED_BLOCK_END, NULL);
        if (t->made_tables)
            s->writer.schema++;
    } else if (t->wrote) {
        rc = SQLITE_INTERNAL; /* the block cannot be told from those before it */
    }
    t->savepoint = t->marked = t->counts = false;
    if (rc)
        transaction_undo(s);
}

void store_write_rollback(conn *c)
{
    put_back(c->s);
    leave(c->s);
}

/* Whether what is buffered has become too much, in bytes written or in changed pages. */
static bool buffer_is_full(store *s)
{
    int used = 0, highest;

    if (s->transaction.bytes >= BUFFER_BYTES)
        return true;
    sqlite3_db_status(s->writer.db, SQLITE_DBSTATUS_CACHE_USED, &used, &highest, 0);
    return used >= CACHE_BYTES_MAX;
}

static int buffer_block(store *s, version *next, error *err)
{
    transaction *t = &s->transaction;
    int rc = SQLITE_OK;

    if (t->savepoint)
        rc = conn_step(&s->writer, FIXED_BLOCK_END, NULL);
    else if (t->marked)
        rc = conn_step(&s->writer, FIXED_MARK_END, NULL);
    t->savepoint = t->marked = false;
    if (rc) {
        int code = conn_fail(&s->writer, rc, "cannot land a block", err);
        version_drop(next);
        transaction_undo(s);
        return code;
    }
    if (next) {
        version_drop(s->latest);
        s->latest = next;
    }
    if (t->counts) {
        t->count_due = true;
        t->due = t->count;
        t->counts = false;
    }
    t->buffered++;
    atomic_store(&s->buffered, true);
    /* What a read waits for is landed here, so that it need not get the lock before the next block does. */
    return buffer_is_full(s) || atomic_load(&s->awaited) ? transaction_land(s, err) : FENEC_OK;
}

static int land_block(store *s, version *next, uint64_t *ticket, error *err)
{
    bool wrote = s->transaction.wrote;
    version *old = NULL;

    if (next) {
        old = s->latest;
        s->latest = next;
    }
    int code = transaction_land(s, err);
    version_drop(old);
    if (code == FENEC_OK && wrote)
        *ticket = s->landed; /* changed under LOCK_WRITER alone */
    return code;
}

int store_write_land(conn *c, version *next, uint64_t *ticket, error *err)
{
    store *s = c->s;
    transaction *t = &s->transaction;
    int code = FENEC_OK;

    *ticket = 0;
    if (t->lost || (t->wrote && atomic_load(&s->refused))) {
        code = transaction_check_lost(s, err);
        version_drop(next);
        put_back(s);
    } else if (!t->wrote && !next) {
        put_back(s);
    } else if (s->no_sync && (s->current || !next) && !atomic_load(&s->refused)) {
        code = buffer_block(s, next, err);
    } else {
        /* The first version lands at once: it is what reads go back to where buffered blocks are lost. So does one that
         * is read where no block is taken any more: what is buffered then is lost. */
        code = land_block(s, next, ticket, err);
    }
    return code;
}

void store_write_leave(conn *c)
{
    leave(c->s);
}

int store_write_commit(conn *c, version *next, uint64_t *ticket, error *err)
{
    int code = store_write_land(c, next, ticket, err);

    store_write_leave(c);
    return code;
}
