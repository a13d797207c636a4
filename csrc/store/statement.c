#include "store/statement.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/inside.h"

#define STATEMENTS_MAX 256 /* of a connection, those of the call under way not counted */
#define COPY_KEPT 65536

#define NAME_MAX_BYTES 40
#define SQL_MAX_BYTES 200

static void table_name(char out[NAME_MAX_BYTES], table t)
{
    switch (t.kind) {
    case TABLE_META: snprintf(out, NAME_MAX_BYTES, "meta"); break;
    case TABLE_CATALOG: snprintf(out, NAME_MAX_BYTES, "catalog"); break;
    case TABLE_RECORDS: snprintf(out, NAME_MAX_BYTES, "c%u", (unsigned)t.number); break;
    case TABLE_SIDE: snprintf(out, NAME_MAX_BYTES, "s%u_%u", (unsigned)t.number, (unsigned)t.field); break;
    case TABLE_INDEX: snprintf(out, NAME_MAX_BYTES, "i%u", (unsigned)t.number); break;
    case TABLE_SEARCH: snprintf(out, NAME_MAX_BYTES, "x%u", (unsigned)t.number); break;
    }
}

unsigned statement_bounds(const key_range *range)
{
    if (!range)
        return 0;
    unsigned low = !range->has_low ? 0 : range->above_low ? 2 : 1;
    unsigned high = !range->has_high ? 0 : range->below_high ? 2 : 1;
    return low * 3 + high;
}

/* "where" and the bounds; *places is how many parameters they take. */
static void range_text(char out[64], unsigned bounds, int *places)
{
    static const char *const low[] = {"", "key >= ?1", "key > ?1"};
    static const char *const high[] = {"", "key <= ?", "key < ?"};
    unsigned l = bounds / 3, h = bounds % 3;

    *places = (l != 0) + (h != 0);
    if (bounds == 0)
        out[0] = 0;
    else if (h == 0)
        snprintf(out, 64, " where %s", low[l]);
    else
        snprintf(out, 64, " where %s%s%s%d", low[l], l ? " and " : "", high[h], *places);
}

static void range_sql(char out[SQL_MAX_BYTES], unsigned operation, const char *name)
{
    char where[64];
    int places;

    if (operation >= ENTRIES_COUNT_SOME) {
        range_text(where, operation - ENTRIES_COUNT_SOME, &places);
        snprintf(out, SQL_MAX_BYTES, "select count(*) from (select 1 from %s%s limit ?%d)", name, where,
                 places + 1);
    } else if (operation >= ENTRIES_COUNT) {
        range_text(where, operation - ENTRIES_COUNT, &places);
        snprintf(out, SQL_MAX_BYTES, "select count(*) from %s%s", name, where);
    } else if (operation >= ENTRIES_DOWN) {
        range_text(where, operation - ENTRIES_DOWN, &places);
        snprintf(out, SQL_MAX_BYTES, "select id, key from %s%s order by key desc, id desc", name, where);
    } else {
        range_text(where, operation - ENTRIES_UP, &places);
        snprintf(out, SQL_MAX_BYTES, "select id, key from %s%s order by key, id", name, where);
    }
}

static void joined_sql(char out[SQL_MAX_BYTES], unsigned operation, const char *name, uint32_t collection)
{
    bool of_key = operation == JOINED_OF_KEY;

    snprintf(out, SQL_MAX_BYTES,
             "select r.id, r.rec, e.key from %s e cross join c%u r on r.id = e.id "
             "where e.key %s ?1 and fenec_probe(r.rec, r.id, e.key) order by e.%s", name,
             (unsigned)collection, of_key ? "=" : ">=", of_key ? "id" : "key, e.id");
}

static void sql_text(char out[SQL_MAX_BYTES], unsigned operation, const char *name)
{
    static const char *const forms[] = {
        [ROW_GET] = "select rec from %s where id = ?1",
        [ROW_EXISTS] = "select 1 from %s where id = ?1",
        [ROW_COUNT] = "select count(*) from %s",
        [ROW_LAST] = "select id from %s order by id desc limit 1",
        [ROW_PUT] = "replace into %s (id, rec) values (?1, ?2)",
        [ROW_DELETE] = "delete from %s where id = ?1",
        [ROWS_DELETE] = "delete from %s where id between ?1 and ?2",
        [ROWS_UP] = "select id, rec from %s where id between ?1 and ?2 order by id",
        [ROWS_DOWN] = "select id, rec from %s where id between ?1 and ?2 order by id desc",
        [ROWS_SCAN] = "select id from %s where fenec_visit(rec) order by id",
        [ROWS_SCAN_IDS] = "select id from %s where fenec_visit(rec, id) order by id",
        [ROWS_SCAN_PART] = "select id from %s where id between ?1 and ?2 and fenec_visit(rec) order by id",
        [ROWS_SCAN_PART_IDS] = "select id from %s where id between ?1 and ?2 and fenec_visit(rec, id) order by id",
        [ROWS_ROOT] = ("select rootpage from sqlite_schema where name = '%s' and type = 'table' and "
                       "sql like 'create table % (id integer primary key, rec blob not null)'"),
        [ROWS_LISTED] = "select r.id from fenec_listed l cross join %s r on r.id = l.id where fenec_visit(r.rec, r.id)",
        [ENTRIES_SCAN] = "select id from %s where key >= ?1 and key < ?2 and fenec_visit(key, id) order by key, id",
        [ENTRIES_SCAN_IDS] = "select id from %s where key >= ?1 and key < ?2 and fenec_visit_id(id) order by key, id",
        [ENTRY_FIRST] = "select id from %s where key = ?1 and id > ?2 order by id limit 1",
        [ENTRY_PUT] = "replace into %s (key, id) values (?1, ?2)",
        [ENTRY_DELETE] = "delete from %s where key = ?1 and id = ?2",
        [ENTRIES_OF_KEY] = "select id, key from %s where key = ?1 order by id",
    };

    if (operation >= ENTRIES_UP) {
        range_sql(out, operation, name);
        return;
    }
    /* One %s each; the compiler cannot see it. */
    const char *form = forms[operation], *gap = strstr(form, "%s");
    snprintf(out, SQL_MAX_BYTES, "%.*s%s%s", (int)(gap - form), form, name, gap + 2);
}

/* SQLITE_OK: it is there; SQLITE_ERROR: it is not; else why that cannot be told. */
static int look_for_table(conn *c, const char *name)
{
    return sqlite3_table_column_metadata(c->db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* A statement that SQLite refuses although its table is there means a table that is not as we make it. */
static int fail_prepare(conn *c, int rc, const char *name, error *err)
{
    if ((rc & 0xFF) == SQLITE_ERROR)
        return fail(err, FENEC_CORRUPT, "table %s of the file is not as it was made: %s", name,
                    sqlite3_errmsg(c->db));
    return conn_fail(c, rc, "cannot prepare a statement", err);
}

static int make_table(conn *c, table t, const char *name, error *err)
{
    char sql[SQL_MAX_BYTES];

    if (t.kind == TABLE_INDEX)
        snprintf(sql, sizeof sql,
                 "create table %s (key blob not null, id integer not null, primary key (key, id)) without rowid",
                 name);
    else
        snprintf(sql, sizeof sql, "create table %s (id integer primary key, rec blob not null)", name);
    int rc = conn_run(c, sql);
    if (rc)
        return conn_fail(c, rc, "cannot make a table", err);
    c->s->transaction.made_tables = true;
    c->schema++;
    transaction_wrote(c, 128);
    return FENEC_OK;
}

static int prepare(conn *c, statement *st, bool make, error *err)
{
    char name[NAME_MAX_BYTES], sql[SQL_MAX_BYTES];

    sqlite3_finalize(st->prepared);
    st->prepared = NULL;
    st->schema = SCHEMA_NONE;
    st->root = 0;
    st->asked = 0;
    table_name(name, st->t);
    if (st->operation == JOINED_OF_KEY || st->operation == JOINED_FROM_KEY)
        joined_sql(sql, st->operation, name, st->t.field);
    else
        sql_text(sql, st->operation, name);
    for (bool made = false;; made = true) {
        int rc = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st->prepared, NULL);
        if (rc == SQLITE_OK) {
            st->schema = c->schema;
            return FENEC_OK;
        }
        st->prepared = NULL;
        if (made || (rc & 0xFF) != SQLITE_ERROR)
            return fail_prepare(c, rc, name, err);
        int there = look_for_table(c, name);
        if (there != SQLITE_ERROR)
            return fail_prepare(c, there ? there : rc, name, err);
        if (!make) {
            st->schema = c->schema;
            return FN_END;
        }
        int code = make_table(c, st->t, name, err);
        if (code)
            return code;
    }
}

static unsigned bucket_of(unsigned operation, table t)
{
    uint32_t mixed = (t.number * 8 + (uint32_t)t.kind) * 0x9E3779B1u ^ t.field * 0x85EBCA6Bu;

    return (mixed ^ operation * 0xC2B2AE35u) >> 25;
}

static bool same_table(table a, table b)
{
    return a.number == b.number && a.kind == b.kind && a.field == b.field;
}

static void statement_free(statement *st)
{
    sqlite3_finalize(st->prepared);
    memory_free(st->copy);
    memory_free(st);
}

/* Makes room by the one used longest ago, unless all are of the call under way. */
static void evict(statements *all)
{
    statement **oldest = NULL;

    for (int i = 0; i < STATEMENT_BUCKETS; i++)
        for (statement **at = &all->buckets[i]; *at; at = &(*at)->next)
            if (!(*at)->busy && (*at)->used <= all->uses_before && (!oldest || (*at)->used < (*oldest)->used))
                oldest = at;
    if (!oldest)
        return;
    statement *st = *oldest;
    *oldest = st->next;
    statement_free(st);
    all->count--;
}

int statement_find(conn *c, unsigned operation, table t, bool make, statement **out, error *err)
{
    statements *all = &c->cache;
    statement **bucket = &all->buckets[bucket_of(operation, t)], *st;

    for (st = *bucket; st; st = st->next)
        if (st->operation == operation && same_table(st->t, t) && !st->busy)
            break;
    if (!st) {
        if (all->count >= STATEMENTS_MAX)
            evict(all);
        st = memory_zeroed(sizeof *st);
        if (!st)
            return fail_memory(err);
        st->operation = operation;
        st->t = t;
        st->schema = SCHEMA_NONE;
        st->next = *bucket;
        *bucket = st;
        all->count++;
    }
    st->used = ++all->uses;
    *out = st;
    if (st->schema == c->schema && (st->prepared || !make))
        return st->prepared ? FENEC_OK : FN_END;
    return prepare(c, st, make, err);
}

int statement_step(conn *c, statement *st, const char *doing, error *err)
{
    int rc = sqlite3_step(st->prepared);

    if (rc == SQLITE_ROW)
        return FENEC_OK;
    if (rc == SQLITE_DONE)
        return FN_END;
    if ((rc & 0xFF) == SQLITE_ERROR) {
        /* Prepared over a schema the connection had read for an earlier snapshot. */
        char name[NAME_MAX_BYTES];
        table_name(name, st->t);
        int there = look_for_table(c, name);
        if (there == SQLITE_ERROR) {
            sqlite3_finalize(st->prepared);
            st->prepared = NULL;
            st->schema = c->schema;
            return FN_END;
        }
        return fail_prepare(c, there ? there : rc, name, err);
    }
    /* Nothing that was stored is too large: its length is damaged. */
    if ((rc & 0xFF) == SQLITE_TOOBIG && sqlite3_stmt_readonly(st->prepared))
        rc = SQLITE_CORRUPT;
    return conn_fail(c, rc, doing, err);
}

static int bind(statement *st, int place, const uint8_t *bytes, size_t len, bool copied)
{
    /* A NULL pointer would bind null. */
    return sqlite3_bind_blob64(st->prepared, place, len ? (const void *)bytes : "", len,
                               copied ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

int statement_bind(statement *st, int place, const uint8_t *bytes, size_t len)
{
    return bind(st, place, bytes, len, false);
}

int statement_bind_range(statement *st, const key_range *range, bool copied, int *next)
{
    int place = 1, rc = SQLITE_OK;

    if (range && range->has_low)
        rc = bind(st, place++, range->low, range->low_len, copied);
    if (rc == SQLITE_OK && range && range->has_high)
        rc = bind(st, place++, range->high, range->high_len, copied);
    *next = place;
    return rc;
}

uint8_t *statement_room(conn *c, statement *st, size_t len)
{
    if (len > st->copy_cap || !st->copy) {
        size_t cap = len < 240 ? 256 : len + len / 4;
        uint8_t *copy = memory_alloc(cap);
        if (!copy)
            return NULL;
        memory_free(st->copy);
        st->copy = copy;
        st->copy_cap = cap;
        c->cache.large |= cap > COPY_KEPT;
    }
    return st->copy;
}

bool statement_copy(conn *c, statement *st, int column, const uint8_t **bytes, size_t *len)
{
    const void *from = sqlite3_column_blob(st->prepared, column);
    size_t want = (size_t)sqlite3_column_bytes(st->prepared, column);
    uint8_t *copy = want && !from ? NULL : statement_room(c, st, want);

    if (!copy)
        return false;
    if (want)
        memcpy(copy, from, want);
    *bytes = copy;
    *len = want;
    return true;
}

void statements_begin(statements *all)
{
    all->uses_before = all->uses;
}

void statement_claim(conn *c, statement *st)
{
    st->busy = true;
    c->cache.busy++;
}

void statement_release(conn *c, statement *st)
{
    sqlite3_reset(st->prepared);
    c->cache.busy -= st->busy;
    st->busy = false;
}

void statements_end(statements *all)
{
    if (!all->large && !all->busy)
        return;
    all->large = false;
    all->busy = 0;
    for (int i = 0; i < STATEMENT_BUCKETS; i++) {
        for (statement *st = all->buckets[i]; st; st = st->next) {
            if (st->busy) { /* a cursor nobody closed would keep the transaction open */
                sqlite3_reset(st->prepared);
                st->busy = false;
            }
            if (st->copy_cap > COPY_KEPT) {
                memory_free(st->copy);
                st->copy = NULL;
                st->copy_cap = 0;
            }
        }
    }
}

void statements_clear(statements *all)
{
    for (int i = 0; i < STATEMENT_BUCKETS; i++) {
        while (all->buckets[i]) {
            statement *st = all->buckets[i];
            all->buckets[i] = st->next;
            statement_free(st);
        }
    }
    all->count = 0;
}

int statement_drop_table(conn *c, table t, error *err)
{
    char name[NAME_MAX_BYTES], sql[SQL_MAX_BYTES];

    table_name(name, t);
    snprintf(sql, sizeof sql, "drop table if exists %s", name);
    int rc = conn_run(c, sql);
    if (rc)
        return conn_fail(c, rc, "cannot drop a table", err);
    c->s->transaction.made_tables = true;
    c->schema++;
    transaction_wrote(c, 128);
    return FENEC_OK;
}
