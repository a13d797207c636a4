#include "test_vfs.h"

#include <sqlite3.h>

#include "test.h"

static sqlite3 *open_on(test_disk *d, const char *setup)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

    CHECK_INT(sqlite3_open_v2("a.db", &db, flags, test_disk_vfs(d)), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, setup, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static long long number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    long long n = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return -2;
    if (sqlite3_step(statement) == SQLITE_ROW)
        n = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return n;
}

/* The number that a query answers on what a cut left; -2 where it does not run. */
static long long after_cut(test_disk *d, disk_loss loss, uint64_t *random, const char *sql)
{
    test_disk *cut = test_disk_cut(d, loss, random);
    sqlite3 *db = open_on(cut, "select 1");
    long long n = number(db, sql);

    sqlite3_close(db);
    test_disk_free(cut);
    return n;
}

TEST(test_disk_keeps_what_was_synced_and_loses_the_rest)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    sqlite3 *db = open_on(d, "pragma journal_mode=wal; pragma synchronous=full; create table t(x)");

    CHECK_INT(run(db, "insert into t values(1)"), SQLITE_OK);
    CHECK_INT(run(db, "pragma synchronous=off; insert into t values(2)"), SQLITE_OK);
    CHECK_INT(after_cut(d, LOSE_ALL, &random, "select count(*) from t"), 1);
    CHECK_INT(after_cut(d, LOSE_NOTHING, &random, "select count(*) from t"), 2);
    CHECK_INT(run(db, "pragma synchronous=full; insert into t values(3)"), SQLITE_OK);
    CHECK_INT(after_cut(d, LOSE_ALL, &random, "select count(*) from t"), 3);
    for (int i = 0; i < 50; i++) {
        long long count = after_cut(d, LOSE_SOME, &random, "select count(*) from t");
        CHECK_INT(count, 3);
    }
    sqlite3_close(db);
    test_disk_free(d);
}

TEST(test_disk_loses_any_sectors_of_what_was_not_synced)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    sqlite3 *db = open_on(d, "pragma journal_mode=delete; pragma synchronous=full; create table t(x);"
                             "insert into t select zeroblob(3000) from pragma_function_list limit 50");
    int damaged = 0;

    CHECK_INT(run(db, "pragma synchronous=off; update t set x=randomblob(3000)"), SQLITE_OK);
    const char *changed = "select count(*) from t where x is not zeroblob(3000)";
    for (int i = 0; i < 100; i++)
        damaged += after_cut(d, LOSE_SOME, &random, changed) != 50;
    CHECK(damaged > 10);
    sqlite3_close(db);
    test_disk_free(d);
}

TEST(test_disk_loses_a_name_that_was_not_synced)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    sqlite3 *db = open_on(d, "pragma journal_mode=memory; pragma synchronous=full; create table t(x)");

    CHECK(test_disk_calls(d, DISK_SYNC) > 0);
    CHECK_INT(after_cut(d, LOSE_ALL, &random, "select count(*) from sqlite_schema"), 0);
    CHECK_INT(run(db, "pragma journal_mode=delete; insert into t values(1)"), SQLITE_OK);
    CHECK_INT(after_cut(d, LOSE_ALL, &random, "select count(*) from t"), 0); /* the journal is there again */
    CHECK_INT(run(db, "pragma synchronous=extra; insert into t values(2)"), SQLITE_OK);
    CHECK_INT(after_cut(d, LOSE_ALL, &random, "select count(*) from t"), 2);
    sqlite3_close(db);
    test_disk_free(d);
}

TEST(test_disk_fails_the_nth_call_once_or_for_good)
{
    test_disk *d = test_disk_new();
    sqlite3 *db = open_on(d, "pragma journal_mode=wal; create table t(x)");

    test_disk_fail(d, DISK_WRITE, "-wal", 2, SQLITE_FULL, false);
    CHECK_INT(run(db, "insert into t values(1)"), SQLITE_FULL);
    CHECK_INT(test_disk_faults(d, DISK_WRITE), 1);
    CHECK_INT(run(db, "insert into t values(1)"), SQLITE_OK);
    test_disk_fail(d, DISK_WRITE, NULL, 1, SQLITE_IOERR_WRITE, true);
    CHECK_INT(run(db, "insert into t values(2)"), SQLITE_IOERR);
    CHECK_INT(run(db, "insert into t values(2)"), SQLITE_IOERR);
    test_disk_heal(d);
    CHECK_INT(run(db, "insert into t values(2)"), SQLITE_OK);
    CHECK_INT(number(db, "select count(*) from t"), 2);
    sqlite3_close(db);
    test_disk_free(d);
}

TEST(test_disk_makes_durable_nothing_that_a_failed_sync_held)
{
    uint64_t random = test_seed();
    test_disk *d = test_disk_new();
    sqlite3 *db = open_on(d, "pragma journal_mode=wal; pragma synchronous=full; create table t(x)");

    test_disk_fail(d, DISK_SYNC, "-wal", 1, SQLITE_IOERR_FSYNC, false);
    CHECK_INT(run(db, "insert into t values(1)"), SQLITE_IOERR);
    CHECK_INT(after_cut(d, LOSE_ALL, &random, "select count(*) from t"), 0);
    sqlite3_close(db);
    test_disk_free(d);
}

typedef struct cuts {
    test_disk *disk;
    uint64_t random;
    int least, made;
} cuts;

/* Only adds up: a row is whole, and no acknowledged one is missing. */
static void cut_here(void *argument, disk_call call, const char *path)
{
    cuts *c = argument;

    (void)call;
    (void)path;
    for (disk_loss loss = LOSE_NOTHING; loss <= LOSE_SOME; loss++) {
        long long count = after_cut(c->disk, loss, &c->random, "select count(*) from t");
        CHECK(count == c->least || count == c->least + 1);
        c->made++;
    }
}

TEST(test_disk_cut_at_every_write_of_sqlite_loses_nothing_acknowledged)
{
    cuts c = {.disk = test_disk_new(), .random = test_seed()};
    sqlite3 *db = open_on(c.disk, "pragma journal_mode=wal; pragma synchronous=full; create table t(x)");

    test_disk_hook(c.disk, cut_here, &c);
    for (int i = 0; i < 30; i++) {
        CHECK_INT(run(db, "insert into t values(randomblob(2000))"), SQLITE_OK);
        c.least++;
        if (i % 10 == 9)
            CHECK_INT(number(db, i == 9 ? "pragma wal_checkpoint(truncate)" : "pragma wal_checkpoint"), 0);
    }
    CHECK(c.made > 300);
    test_disk_hook(c.disk, NULL, NULL);
    sqlite3_close(db);
    test_disk_free(c.disk);
}
