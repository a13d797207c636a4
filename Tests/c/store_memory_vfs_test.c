#include "store/memory_vfs.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "store/memory_file.h"
#include "test.h"

static sqlite3 *open_named(const char *name, int more)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | more, MEMORY_VFS);

    if (rc != SQLITE_OK) {
        sqlite3_close(db);
        return NULL;
    }
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

static sqlite3 *new_database(char name[MEMORY_VFS_NAME_MAX])
{
    CHECK_INT(memory_vfs_register(), SQLITE_OK);
    memory_vfs_name(name);
    sqlite3 *db = open_named(name, SQLITE_OPEN_CREATE);
    CHECK(db != NULL);
    CHECK_INT(run(db, "pragma journal_mode=wal"), SQLITE_OK);
    CHECK_INT(run(db, "pragma wal_autocheckpoint=0; create table t(id integer primary key, x)"), SQLITE_OK);
    return db;
}

TEST(memory_vfs_is_not_the_default)
{
    CHECK_INT(memory_vfs_register(), SQLITE_OK);
    CHECK_INT(memory_vfs_register(), SQLITE_OK);
    CHECK(sqlite3_vfs_find(MEMORY_VFS) != NULL);
    CHECK(sqlite3_vfs_find(NULL) != sqlite3_vfs_find(MEMORY_VFS));
}

TEST(memory_vfs_has_a_write_ahead_log)
{
    char name[MEMORY_VFS_NAME_MAX];
    sqlite3 *db = new_database(name);
    sqlite3_stmt *statement;

    CHECK_INT(sqlite3_prepare_v2(db, "pragma journal_mode", -1, &statement, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(statement), SQLITE_ROW);
    CHECK_TEXT((const char *)sqlite3_column_text(statement, 0), "wal");
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

TEST(memory_vfs_reads_a_snapshot_beside_a_writer)
{
    char name[MEMORY_VFS_NAME_MAX];
    sqlite3 *writer = new_database(name), *reader = open_named(name, 0);

    CHECK_INT(run(writer, "insert into t values(1, 'a')"), SQLITE_OK);
    CHECK_INT(run(reader, "begin"), SQLITE_OK);
    CHECK_INT(number(reader, "select count(*) from t"), 1);
    CHECK_INT(run(writer, "insert into t values(2, 'b')"), SQLITE_OK);
    CHECK_INT(number(reader, "select count(*) from t"), 1);
    CHECK_INT(run(reader, "commit"), SQLITE_OK);
    CHECK_INT(number(reader, "select count(*) from t"), 2);
    CHECK_INT(run(writer, "begin immediate"), SQLITE_OK);
    CHECK_INT(run(reader, "begin immediate"), SQLITE_BUSY);
    CHECK_INT(run(writer, "commit"), SQLITE_OK);
    CHECK_INT(run(reader, "insert into t values(3, 'c')"), SQLITE_OK);
    sqlite3_close(reader);
    CHECK_INT(number(writer, "select count(*) from t"), 3);
    sqlite3_close(writer);
}

TEST(memory_vfs_checkpoints_and_keeps_what_was_there)
{
    char name[MEMORY_VFS_NAME_MAX];
    sqlite3 *db = new_database(name), *reader = open_named(name, 0);

    for (int round = 0; round < 5; round++) {
        CHECK_INT(run(db, "begin"), SQLITE_OK);
        CHECK_INT(run(db, "with recursive n(i) as (select 1 union all select i+1 from n where i < 300)"
                          " insert into t select NULL, randomblob(3000) from n"),
                  SQLITE_OK);
        CHECK_INT(run(db, "commit"), SQLITE_OK);
        CHECK_INT(number(db, "pragma wal_checkpoint(truncate)"), 0);
        CHECK_INT(number(reader, "select count(*) from t"), 300 * (round + 1));
    }
    CHECK_INT(run(db, "delete from t where id % 2"), SQLITE_OK);
    CHECK_INT(run(db, "vacuum"), SQLITE_OK);
    CHECK_INT(number(reader, "select count(*) from t"), 750);
    CHECK_INT(number(reader, "select count(*) from pragma_integrity_check where integrity_check='ok'"), 1);
    sqlite3_close(db);
    CHECK_INT(number(reader, "select count(*) from t"), 750);
    sqlite3_close(reader);
}

TEST(memory_vfs_works_with_a_rollback_journal)
{
    char name[MEMORY_VFS_NAME_MAX];
    sqlite3 *db = new_database(name), *other = open_named(name, 0);

    sqlite3_close(other);
    CHECK_INT(run(db, "pragma journal_mode=delete"), SQLITE_OK);
    CHECK_INT(run(db, "begin; insert into t values(1, randomblob(100000)); rollback"), SQLITE_OK);
    CHECK_INT(number(db, "select count(*) from t"), 0);
    other = open_named(name, 0);
    CHECK_INT(run(other, "begin"), SQLITE_OK);
    CHECK_INT(number(other, "select count(*) from t"), 0);
    CHECK_INT(run(db, "begin; insert into t values(1, 2)"), SQLITE_OK);
    CHECK_INT(run(other, "insert into t values(1, 3)"), SQLITE_BUSY);
    CHECK_INT(run(db, "commit"), SQLITE_BUSY); /* the other reads */
    CHECK_INT(run(other, "commit"), SQLITE_OK);
    CHECK_INT(run(db, "commit"), SQLITE_OK);
    CHECK_INT(number(other, "select x from t"), 2);
    sqlite3_close(other);
    sqlite3_close(db);
}

TEST(memory_vfs_database_goes_with_its_last_connection)
{
    char name[MEMORY_VFS_NAME_MAX];
    sqlite3 *first = new_database(name), *second = open_named(name, 0);

    sqlite3_close(first);
    CHECK_INT(number(second, "select count(*) from t"), 0);
    sqlite3_close(second);
    CHECK(open_named(name, 0) == NULL);
    first = open_named(name, SQLITE_OPEN_CREATE);
    CHECK_INT(number(first, "select count(*) from sqlite_schema"), 0);
    sqlite3_close(first);
}

TEST(memory_vfs_forgets_a_name_and_leaves_its_connections_alone)
{
    char name[MEMORY_VFS_NAME_MAX];
    sqlite3 *db = new_database(name);

    memory_vfs_forget("no such database");
    memory_vfs_forget(name);
    CHECK(open_named(name, 0) == NULL);
    CHECK_INT(run(db, "insert into t values(1, 1)"), SQLITE_OK);
    CHECK_INT(number(db, "select count(*) from t"), 1);
    sqlite3 *other = open_named(name, SQLITE_OPEN_CREATE);
    CHECK_INT(number(other, "select count(*) from sqlite_schema"), 0);
    sqlite3_close(db);
    CHECK_INT(number(other, "select count(*) from sqlite_schema"), 0);
    sqlite3_close(other);
}

TEST(memory_vfs_names_differ)
{
    char a[MEMORY_VFS_NAME_MAX], b[MEMORY_VFS_NAME_MAX];

    CHECK_INT(memory_vfs_register(), SQLITE_OK);
    memory_vfs_name(a);
    memory_vfs_name(b);
    CHECK(strcmp(a, b) != 0);
}

TEST(memory_vfs_without_memory_answers_nomem_and_stays_usable)
{
    char name[MEMORY_VFS_NAME_MAX];
    sqlite3 *db = new_database(name);
    long fault = 0;

    for (; fault < 1000; fault++) {
        memory_fail_after(fault);
        int rc = run(db, "insert into t values(1, randomblob(200000))");
        memory_fail_after(-1);
        CHECK(sqlite3_get_autocommit(db));
        if (rc == SQLITE_OK)
            break;
        CHECK_INT(rc, SQLITE_NOMEM);
        CHECK_INT(number(db, "select count(*) from t"), 0);
    }
    CHECK(fault > 0 && fault < 1000);
    CHECK_INT(number(db, "select length(x) from t"), 200000);
    for (fault = 0; fault < 100; fault++) {
        memory_fail_after(fault);
        sqlite3 *other = open_named(name, 0);
        long long count = other ? number(other, "select count(*) from t") : -1;
        memory_fail_after(-1);
        sqlite3_close(other);
        if (count == 1)
            break;
    }
    CHECK(fault < 100);
    CHECK_INT(number(db, "select count(*) from pragma_integrity_check where integrity_check='ok'"), 1);
    sqlite3_close(db);
}

typedef struct load {
    const char *name;
    _Atomic(int) done;
    _Atomic(long) wrong;
} load;

/* Two rows always sum to 100. */
static void read_sums(void *argument)
{
    load *l = argument;
    sqlite3 *db = open_named(l->name, 0);

    if (!db) {
        l->wrong++;
        return;
    }
    sqlite3_busy_timeout(db, 10000);
    while (!l->done)
        if (number(db, "select sum(x) from t where id <= 2") != 100)
            l->wrong++;
    sqlite3_close(db);
}

TEST(memory_vfs_serves_readers_on_threads_beside_a_writer)
{
    char name[MEMORY_VFS_NAME_MAX], sql[200];
    sqlite3 *db = new_database(name);
    load l = {.name = name};
    thread readers[4];
    uint64_t random = test_seed();
    int started = 0;

    CHECK_INT(run(db, "insert into t values(1, 50), (2, 50)"), SQLITE_OK);
    while (started < 4 && thread_start(&readers[started], read_sums, &l))
        started++;
    CHECK_INT(started, 4);
    sqlite3_busy_timeout(db, 10000);
    for (int i = 0; i < 2000; i++) {
        int n = (int)(test_random(&random) % 100);
        snprintf(sql, sizeof sql,
                 "begin; update t set x=%d where id=1; insert into t values(NULL, randomblob(%d));"
                 "update t set x=%d where id=2; commit",
                 n, n * 50, 100 - n);
        CHECK_INT(run(db, sql), SQLITE_OK);
        if (i % 100 == 99)
            CHECK(number(db, "pragma wal_checkpoint(passive)") >= 0);
    }
    l.done = 1;
    for (int i = 0; i < started; i++)
        thread_join(&readers[i]);
    CHECK_INT(l.wrong, 0);
    CHECK_INT(number(db, "select count(*) from pragma_integrity_check where integrity_check='ok'"), 1);
    sqlite3_close(db);
}

TEST(memory_file_agrees_with_an_array)
{
    enum { span = 5 * MEMORY_FILE_CHUNK };
    uint8_t *model = calloc(1, span), *got = malloc(span);
    memory_file f = {0};
    int64_t size = 0;
    uint64_t random = test_seed();

    for (int round = 0; round < 2000; round++) {
        size_t at = (size_t)(test_random(&random) % span), len = (size_t)(test_random(&random) % 20000);
        if (len > span - at)
            len = span - at;
        if (test_random(&random) % 4 == 0) {
            memory_file_truncate(&f, (int64_t)at);
            if ((int64_t)at < size) {
                memset(model + at, 0, span - at);
                size = (int64_t)at;
            }
        } else if (len > 0) {
            memset(got, (int)(test_random(&random) | 1), len);
            CHECK(memory_file_write(&f, (int64_t)at, got, len));
            memcpy(model + at, got, len);
            if ((int64_t)(at + len) > size)
                size = (int64_t)(at + len);
        }
        CHECK_INT(f.size, size);
        at = (size_t)(test_random(&random) % span);
        size_t held = memory_file_read(&f, (int64_t)at, got, span - at);
        CHECK_INT(held, (int64_t)at < size ? size - (int64_t)at : 0);
        CHECK(!memcmp(got, model + at, span - at));
    }
    memory_file_clear(&f);
    free(model);
    free(got);
}
