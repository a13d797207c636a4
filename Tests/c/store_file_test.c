#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/lockfile.h"
#include "store_make.h"

extern char **environ;

#define BLOCK_BYTES 1000

/* What an open of `path` answers, closed again. The message is in *err. */
static int open_code(const char *path, error *err)
{
    store *s;
    int code = try_open(&s, path, false, err);

    if (code == FENEC_OK) {
        CHECK_INT(store_close(s, err), FENEC_OK);
        store_free(s);
    }
    return code;
}

static bool exists(const char *path, const char *ending)
{
    char name[500];

    snprintf(name, sizeof name, "%s%s", path, ending);
    return access(name, F_OK) == 0;
}

/* Writes bytes to `name`, and checks that an open refuses them with CORRUPT and leaves them alone. */
static void check_refused(const char *name, const void *bytes, long len, const char *word)
{
    const char *path = make_path(name);
    long after;
    error err;

    write_file(path, bytes, len);
    CHECK_INT(open_code(path, &err), FENEC_CORRUPT);
    if (!strstr(err.message, word))
        test_failed(__FILE__, __LINE__, "%s: no \"%s\" in \"%s\"", name, word, err.message);
    uint8_t *now = file_bytes(path, &after);
    CHECK(after == len && !memcmp(now, bytes, (size_t)len));
    CHECK(!exists(path, "-wal"));
    CHECK(!exists(path, "-journal"));
    free(now);
}

/* A database of some rows, closed, as bytes. */
static uint8_t *database_bytes(const char *name, long *len)
{
    const char *path = make_path(name);
    store *s = make_store(path, false);
    error err;

    for (int i = 1; i <= 200; i++)
        MUST(put_text(s, table_records(1), i, "a text of some length, so that there are pages", &err));
    end_store(s);
    return file_bytes(path, len);
}

TEST(store_makes_a_missing_and_an_empty_file)
{
    const char *path = make_path("fresh.fenec"), *empty = make_path("empty.fenec");
    error err;

    store *s = make_store(path, false);
    MUST(put_text(s, table_records(1), 1, "x", &err));
    end_store(s);
    CHECK(!exists(path, "-wal"));
    CHECK(exists(path, ".lock"));
    write_file(empty, "", 0);
    s = make_store(empty, false);
    MUST(put_text(s, table_records(1), 1, "x", &err));
    end_store(s);
    s = make_store(empty, false);
    CHECK_TEXT(get_text(s, table_records(1), 1), "x");
    end_store(s);
}

TEST(store_refuses_what_is_no_database_untouched)
{
    uint8_t noise[9000];
    uint64_t random = test_seed();
    long len;

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)test_random(&random);
    check_refused("noise", noise, sizeof noise, "not a database");
    check_refused("one", "x", 1, "not a database");
    memset(noise, 0, sizeof noise);
    check_refused("zeros", noise, sizeof noise, "not a database");
    uint8_t *bytes = database_bytes("whole.fenec", &len);
    CHECK(len > 3 * 4096);
    check_refused("head", bytes, 99, "not a database");
    check_refused("short", bytes, 4096, "cut short");
    check_refused("shorter", bytes, len - 4096, "cut short");
    check_refused("shortest", bytes, 100, "cut short");
    bytes[71] = 2;
    check_refused("newer", bytes, len, "newer");
    bytes[71] = 0;
    check_refused("nought", bytes, len, "newer");
    bytes[70] ^= 1;
    check_refused("foreign", bytes, len, "not a Fenec database");
    free(bytes);
}

TEST(store_refuses_a_database_of_another_program_untouched)
{
    for (int log = 0; log < 2; log++) {
        const char *path = make_path(log ? "other1" : "other0");
        sqlite3 *db;
        long len;

        CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
        CHECK_INT(sqlite3_exec(db, log ? "pragma journal_mode=wal; create table t(x); insert into t values(1)"
                                       : "create table t(x); insert into t values(1)",
                               NULL, NULL, NULL),
                  SQLITE_OK);
        sqlite3_close(db);
        uint8_t *bytes = file_bytes(path, &len);
        check_refused(log ? "other1" : "other0", bytes, len, "not a Fenec database");
        free(bytes);
    }
}

TEST(store_meets_any_damaged_head_with_a_code)
{
    uint64_t random = test_seed();
    long len;
    uint8_t *bytes = database_bytes("base.fenec", &len);

    for (long round = 0; round < test_scale(300, 10000); round++) {
        const char *path = make_path("damaged.fenec");
        size_t at = test_random(&random) % (round % 2 ? 100 : (size_t)len);
        uint8_t bit = (uint8_t)(1u << test_random(&random) % 8);
        store *s;
        error err;

        bytes[at] ^= bit;
        write_file(path, bytes, len);
        int code = try_open(&s, path, false, &err);
        if (code != FENEC_OK && code != FENEC_CORRUPT)
            test_failed(__FILE__, __LINE__, "byte %zu: %d %s", at, code, err.message);
        if (code == FENEC_OK) {
            conn *c;
            version *v;
            cursor cur = {0};
            const uint8_t *row;
            size_t row_len;
            int64_t id;
            MUST(store_read(s, &c, &v, &err));
            code = cursor_rows(&cur, c, table_records(1), 0, INT64_MAX, false, &err);
            while (code == FENEC_OK)
                code = cursor_next_row(&cur, &id, &row, &row_len, &err);
            if (code != FN_END && code != FENEC_CORRUPT)
                test_failed(__FILE__, __LINE__, "byte %zu: %d %s", at, code, err.message);
            cursor_close(&cur);
            store_read_end(c);
            store_close(s, &err);
            store_free(s);
        }
        bytes[at] ^= bit;
    }
    free(bytes);
}

TEST(store_answers_io_where_no_file_can_be)
{
    const char *folder = make_path("folder");
    char inside[500];
    error err;

    CHECK_INT(mkdir(folder, 0755), 0);
    CHECK_INT(open_code(folder, &err), FENEC_IO);
    CHECK_INT(open_code(make_path("missing/x.fenec"), &err), FENEC_IO);
    CHECK_INT(open_code("/dev/null", &err), FENEC_IO);
    store_options nul = {.path = (const uint8_t *)"a\0b", .path_len = 3};
    store *s;
    CHECK_INT(store_open(&s, &nul, &err), FENEC_IO);
    unlink("/dev/null.lock");
    snprintf(inside, sizeof inside, "%s/x.fenec/y.fenec", folder);
    CHECK_INT(open_code(inside, &err), FENEC_IO);
}

/* Runs in a child without rights, because nothing is forbidden to root. */
static int open_without_rights(const char *path)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        store *s;
        error err;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(99);
        int code = try_open(&s, path, false, &err);
        if (code == FENEC_OK)
            store_close(s, &err);
        _exit(code);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(store_answers_io_without_permission_and_touches_nothing)
{
    char folder[420], file[460], lock[470];
    const char *base = make_path("rights");
    long len, after;
    error err;

    snprintf(folder, sizeof folder, "%s", base);
    snprintf(file, sizeof file, "%s/x.fenec", folder);
    snprintf(lock, sizeof lock, "%s.lock", file);
    CHECK_INT(mkdir(folder, 0755), 0);
    CHECK_INT(chmod(test_folder(), 0755), 0);
    store *s = make_store(file, false);
    MUST(put_text(s, table_records(1), 1, "x", &err));
    end_store(s);
    uint8_t *bytes = file_bytes(file, &len);
    CHECK_INT(chmod(file, 0644), 0);
    if (geteuid() == 0) {
        CHECK_INT(open_without_rights(file), FENEC_IO); /* no lock file to be had */
        CHECK_INT(chmod(lock, 0666), 0);
        CHECK_INT(open_without_rights(file), FENEC_IO); /* nor a file to write */
        CHECK_INT(chmod(file, 0600), 0);
        CHECK_INT(open_without_rights(file), FENEC_IO); /* nor to read */
    } else {
        CHECK_INT(chmod(file, 0400), 0);
        CHECK_INT(open_code(file, &err), FENEC_IO);
        CHECK_INT(chmod(file, 0600), 0);
        CHECK_INT(chmod(folder, 0555), 0);
        unlink(lock);
        CHECK_INT(chmod(folder, 0755), 0);
    }
    uint8_t *now = file_bytes(file, &after);
    CHECK(after == len && now && !memcmp(bytes, now, (size_t)len));
    CHECK(!exists(file, "-wal"));
    free(bytes);
    free(now);
}

/* ---- the lock ---- */

TEST(store_holds_a_file_alone)
{
    const char *path = make_path("alone.fenec");
    char link[450];
    store *s = make_store(path, false);
    error err;

    CHECK_INT(open_code(path, &err), FENEC_LOCKED);
    CHECK_INT(open_code(path, &err), FENEC_LOCKED);
    snprintf(link, sizeof link, "%s.link", path);
    CHECK_INT(symlink(path, link), 0);
    CHECK_INT(open_code(link, &err), FENEC_LOCKED);
    /* The refused opens did not let go of the lock. */
    CHECK_INT(open_without_rights(path) == FENEC_LOCKED || geteuid() == 0, true);
    pid_t child = fork();
    if (child == 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        char name[450];
        snprintf(name, sizeof name, "%s.lock", path);
        int descriptor = open(name, O_RDWR);
        if (descriptor >= 0 && fcntl(descriptor, F_SETLK, &whole) < 0 && (errno == EACCES || errno == EAGAIN))
            _exit(7);
        _exit(1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    end_store(s);
    CHECK_INT(open_code(path, &err), FENEC_OK);
    CHECK_INT(open_code(link, &err), FENEC_OK);
}

TEST(store_is_locked_while_another_process_holds_it)
{
    const char *path = make_path("process.fenec");
    int there[2], back[2], status = 0;
    char byte = 0;
    error err;

    end_store(make_store(path, false));
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0) {
        store *s;
        int code = try_open(&s, path, false, &err);
        if (write(there[1], &code, 1) == 1 && read(back[0], &byte, 1) >= 0)
            _exit(code); /* without a close */
        _exit(98);
    }
    CHECK(read(there[0], &byte, 1) == 1 && byte == FENEC_OK);
    CHECK_INT(open_code(path, &err), FENEC_LOCKED);
    CHECK(write(back[1], "x", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == FENEC_OK);
    CHECK_INT(open_code(path, &err), FENEC_OK);
    close(there[0]), close(there[1]), close(back[0]), close(back[1]);
}

static _Atomic(bool) enough;

static void *spawn_children(void *count)
{
    char *arguments[] = {"true", NULL};

    while (!atomic_load(&enough)) {
        pid_t child;
        int status;
        if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0)
            *(long *)count += waitpid(child, &status, 0) == child;
    }
    return NULL;
}

TEST(store_lets_a_file_go_whatever_children_were_spawned)
{
    const char *path = make_path("spawn.fenec");
    long children = 0;
    pthread_t spawner;
    error err;

    atomic_store(&enough, false);
    CHECK_INT(pthread_create(&spawner, NULL, spawn_children, &children), 0);
    for (int round = 0; round < 3000; round++) {
        lockfile *l = NULL;
        error_init(&err);
        MUST(lockfile_open(&l, path, &err));
        lockfile_close(l);
    }
    for (long round = 0; round < test_scale(100, 3000); round++)
        CHECK_INT(open_code(path, &err), FENEC_OK);
    atomic_store(&enough, true);
    pthread_join(spawner, NULL);
    printf("    3000 locks and %ld opens beside %ld children\n", test_scale(100, 3000), children);
    CHECK(children > 0);
}

TEST(store_of_a_forked_child_is_refused_as_misuse)
{
    const char *path = make_path("forked.fenec");
    store *s = make_store(path, false);
    int status = 0;
    error err;

    MUST(put_text(s, table_records(1), 1, "x", &err));
    pid_t child = fork();
    if (child == 0) {
        uint64_t bytes;
        version *v;
        conn *c;
        int wrong = 0;
        wrong += store_read(s, &c, &v, &err) != FENEC_MISUSE;
        wrong += store_write(s, true, &c, &v, &err) != FENEC_MISUSE;
        wrong += store_sync(s, &err) != FENEC_MISUSE;
        wrong += store_flush(s, &err) != FENEC_MISUSE;
        wrong += store_checkpoint(s, &err) != FENEC_MISUSE;
        wrong += store_shrink(s, &bytes, &err) != FENEC_MISUSE;
        wrong += store_wait(s, 1, &err) != FENEC_MISUSE;
        wrong += store_close(s, &err) != FENEC_MISUSE;
        wrong += open_code(path, &err) != FENEC_LOCKED;
        _exit(wrong);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    MUST(put_text(s, table_records(1), 2, "y", &err));
    CHECK_TEXT(get_text(s, table_records(1), 2), "y");
    end_store(s);
}

TEST(store_once_closed_answers_misuse)
{
    store *s = make_store(make_path("closed.fenec"), false);
    version *v;
    conn *c;
    error err;

    MUST(store_close(s, &err));
    CHECK_INT(store_close(s, &err), FENEC_MISUSE);
    CHECK_TEXT(err.message, "the database was closed");
    CHECK_INT(store_read(s, &c, &v, &err), FENEC_MISUSE);
    CHECK_INT(store_write(s, false, &c, &v, &err), FENEC_MISUSE);
    CHECK_INT(store_sync(s, &err), FENEC_MISUSE);
    CHECK_INT(store_flush(s, &err), FENEC_MISUSE);
    CHECK_INT(store_checkpoint(s, &err), FENEC_MISUSE);
    store_free(s);
}

/* ---- what NO_SYNC writes when ---- */

static uint64_t bytes_on_disk(store *s)
{
    uint64_t file, log;

    store_sizes(s, &file, &log);
    return file + log;
}

static void put_blocks(store *s, int64_t from, int count)
{
    uint8_t bytes[BLOCK_BYTES] = {1};
    uint64_t ticket;
    version *v;
    conn *c;
    error err;

    for (int64_t id = from; id < from + count; id++) {
        MUST(store_write(s, id % 2, &c, &v, &err));
        MUST(rows_put(c, table_records(1), id, bytes, sizeof bytes, &err));
        MUST(store_write_commit(c, NULL, &ticket, &err));
        CHECK_INT(ticket, 0);
    }
}

TEST(store_without_sync_grows_no_file_before_a_flush_or_a_megabyte)
{
    const char *path = make_path("growth.fenec");
    store *s = make_store(path, true);
    error err;

    uint64_t before = bytes_on_disk(s);
    put_blocks(s, 1, 1000); /* 1.0 MB is less than 1 MiB */
    CHECK_INT(bytes_on_disk(s), before);
    put_blocks(s, 1001, 49);
    CHECK(bytes_on_disk(s) > before + 1000000);
    before = bytes_on_disk(s);
    put_blocks(s, 2001, 10);
    CHECK_INT(bytes_on_disk(s), before);
    MUST(store_flush(s, &err));
    CHECK(bytes_on_disk(s) > before);
    before = bytes_on_disk(s);
    MUST(store_flush(s, &err));
    CHECK_INT(bytes_on_disk(s), before);
    put_blocks(s, 3001, 10);
    MUST(store_sync(s, &err));
    CHECK(bytes_on_disk(s) > before);
    before = bytes_on_disk(s);
    put_blocks(s, 4001, 10);
    CHECK_INT(count_rows(s, table_records(1)), 1079); /* a read sees what landed before it */
    CHECK(bytes_on_disk(s) > before);
    put_blocks(s, 5001, 10);
    end_store(s);
    s = make_store(path, true);
    CHECK_INT(count_rows(s, table_records(1)), 1089);
    end_store(s);
}

TEST(store_without_sync_bounds_its_log_though_reads_commit)
{
    store *s = make_store(make_path("reads.fenec"), true);
    uint64_t file, log;

    for (int i = 0; i < 60; i++) {
        put_blocks(s, 1 + i * 300, 300);
        CHECK_INT(count_rows(s, table_records(1)), (i + 1) * 300);
        store_sizes(s, &file, &log);
        CHECK(log < 6 * 1024 * 1024);
    }
    end_store(s);
}

TEST(store_without_sync_takes_a_block_larger_than_its_buffer)
{
    const char *path = make_path("larger.fenec");
    store *s = make_store(path, true);
    static uint8_t bytes[100000];
    uint64_t ticket;
    version *v;
    conn *c;
    error err;

    put_blocks(s, 1, 10);
    MUST(store_write(s, true, &c, &v, &err));
    for (int id = 1000; id < 1600; id++)
        MUST(rows_put(c, table_side(1, 1), id, bytes, sizeof bytes, &err));
    store_write_rollback(c);
    MUST(store_write(s, true, &c, &v, &err));
    for (int id = 1000; id < 1300; id++)
        MUST(rows_put(c, table_side(1, 1), id, bytes, sizeof bytes, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    put_blocks(s, 11, 10);
    end_store(s);
    s = make_store(path, true);
    CHECK_INT(count_rows(s, table_side(1, 1)), 300);
    CHECK_INT(count_rows(s, table_records(1)), 20);
    end_store(s);
}

/* ---- checkpoints ---- */

static uint64_t free_bytes(store *s)
{
    uint64_t pages = 0, unused = 0;
    version *v;
    error err;
    conn *c;

    MUST(store_read(s, &c, &v, &err));
    MUST(store_weigh(c, &pages, &unused, &err));
    store_read_end(c);
    return unused;
}

TEST(store_checkpoint_leaves_one_file_without_free_pages)
{
    const char *path = make_path("image.fenec");
    store *s = make_store(path, false);
    uint64_t file, log, ticket;
    version *v;
    conn *c;
    error err;

    MUST(store_write(s, true, &c, &v, &err));
    uint8_t bytes[BLOCK_BYTES] = {0};
    for (int id = 1; id <= 2000; id++)
        MUST(rows_put(c, table_records(1), id, bytes, sizeof bytes, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_checkpoint(s, &err));
    store_sizes(s, &file, &log);
    CHECK_INT(log, 0);
    CHECK(file > 2000000);
    MUST(store_write(s, true, &c, &v, &err));
    for (int id = 1; id <= 1990; id++)
        MUST(rows_delete(c, table_records(1), id, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    CHECK(free_bytes(s) > 1500000);
    MUST(store_checkpoint(s, &err));
    CHECK_INT(free_bytes(s), 0);
    store_sizes(s, &file, &log);
    CHECK_INT(log, 0);
    CHECK(file < 300000);
    CHECK_INT(count_rows(s, table_records(1)), 10);
    end_store(s);
}

TEST(store_shrink_gives_free_pages_back)
{
    store *s = make_store(make_path("shrink.fenec"), false);
    uint64_t before, file, log, given = 0, ticket;
    version *v;
    conn *c;
    error err;

    MUST(store_write(s, true, &c, &v, &err));
    uint8_t bytes[BLOCK_BYTES] = {0};
    for (int id = 1; id <= 2000; id++)
        MUST(rows_put(c, table_records(1), id, bytes, sizeof bytes, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_checkpoint(s, &err));
    store_sizes(s, &before, &log);
    MUST(store_write(s, true, &c, &v, &err));
    MUST(table_drop(c, table_records(1), &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_shrink(s, &given, &err));
    store_sizes(s, &file, &log);
    CHECK_INT(before - file, given);
    CHECK(given > 2000000);
    end_store(s);
}

TEST(store_bounds_its_log)
{
    store *s = make_store(make_path("log.fenec"), false);
    static uint8_t bytes[50000];
    uint64_t file, log, ticket;
    version *v;
    conn *c;
    error err;

    for (int id = 1; id <= 400; id++) {
        MUST(store_write(s, false, &c, &v, &err));
        MUST(rows_put(c, table_records(1), id, bytes, sizeof bytes, &err));
        MUST(store_write_commit(c, NULL, &ticket, &err));
        store_sizes(s, &file, &log);
        CHECK(log < 5 * 1024 * 1024);
    }
    /* One block far beyond: its log is cut back once it has been folded in. */
    MUST(store_write(s, true, &c, &v, &err));
    for (int id = 1000; id <= 2000; id++)
        MUST(rows_put(c, table_records(1), id, bytes, sizeof bytes, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(put_text(s, table_records(2), 1, "x", &err));
    store_sizes(s, &file, &log);
    CHECK(log <= 16 * 1024 * 1024);
    CHECK(file > 60 * 1000 * 1000);
    end_store(s);
}

/* ---- a log belongs to its file ---- */

/* Copies file and log of an open store, as a crash at this moment would leave them. */
static void copy_pair(const char *from, const char *to)
{
    char a[500], b[500];
    long len;

    for (int part = 0; part < 2; part++) {
        snprintf(a, sizeof a, "%s%s", from, part ? "-wal" : "");
        snprintf(b, sizeof b, "%s%s", to, part ? "-wal" : "");
        uint8_t *bytes = file_bytes(a, &len);
        CHECK(len > 0);
        write_file(b, bytes, len);
        free(bytes);
    }
}

static void check_pair_refused(const char *path)
{
    char log[500];
    long before[2], after[2];
    uint8_t *was[2], *is[2];
    error err;

    snprintf(log, sizeof log, "%s-wal", path);
    was[0] = file_bytes(path, &before[0]);
    was[1] = file_bytes(log, &before[1]);
    CHECK_INT(open_code(path, &err), FENEC_CORRUPT);
    if (!strstr(err.message, "-wal"))
        test_failed(__FILE__, __LINE__, "no log in \"%s\"", err.message);
    is[0] = file_bytes(path, &after[0]);
    is[1] = file_bytes(log, &after[1]);
    for (int i = 0; i < 2; i++) {
        CHECK(before[i] == after[i] && (before[i] < 0 || !memcmp(was[i], is[i], (size_t)before[i])));
        free(was[i]);
        free(is[i]);
    }
}

TEST(store_recovers_from_its_own_log)
{
    const char *path = make_path("crashed.fenec"), *copy = make_path("crashed-copy.fenec");
    store *s = make_store(path, false);
    error err;

    for (int round = 1; round <= 4; round++) {
        MUST(put_text(s, table_records(1), round, "x", &err));
        copy_pair(path, copy);
        store *other = make_store(copy, false);
        CHECK_INT(count_rows(other, table_records(1)), round);
        MUST(put_text(other, table_records(1), 100, "y", &err));
        end_store(other);
        if (round % 2 == 0)
            MUST(store_checkpoint(s, &err));
    }
    end_store(s);
}

TEST(store_refuses_a_log_that_belongs_to_another_file)
{
    const char *one = make_path("one.fenec"), *two = make_path("two.fenec");
    const char *mixed = make_path("mixed.fenec");
    char log[500];
    long len;
    store *s;
    error err;

    for (int i = 0; i < 2; i++) {
        s = make_store(i ? two : one, false);
        MUST(put_text(s, table_records(1), 1, i ? "two" : "one", &err));
        end_store(s);
    }
    s = make_store(one, false);
    MUST(put_text(s, table_records(1), 2, "one", &err));
    copy_pair(one, mixed); /* the log of one.fenec ... */
    end_store(s);
    uint8_t *bytes = file_bytes(two, &len);
    write_file(mixed, bytes, len); /* ... beside the file two.fenec */
    free(bytes);
    check_pair_refused(mixed);
    unlink(mixed); /* beside no file at all */
    check_pair_refused(mixed);
    /* A log that holds nothing is nobody's. */
    snprintf(log, sizeof log, "%s-wal", mixed);
    write_file(log, "", 0);
    CHECK_INT(open_code(mixed, &err), FENEC_OK);
}

TEST(store_refuses_an_old_copy_beside_a_newer_log)
{
    const char *path = make_path("aged.fenec"), *mixed = make_path("aged-mixed.fenec");
    store *s = make_store(path, false);
    long len;
    error err;

    MUST(put_text(s, table_records(1), 1, "old", &err));
    MUST(store_checkpoint(s, &err));
    uint8_t *old = file_bytes(path, &len);
    for (int i = 0; i < 3; i++) {
        MUST(put_text(s, table_records(1), 2 + i, "newer", &err));
        MUST(store_checkpoint(s, &err));
    }
    MUST(put_text(s, table_records(1), 9, "in the log", &err));
    copy_pair(path, mixed);
    end_store(s);
    store *good = make_store(mixed, false);
    CHECK_INT(count_rows(good, table_records(1)), 5);
    /* Closed without its process' end it would have left a log: make the pair again, with the old file. */
    end_store(good);
    s = make_store(path, false);
    MUST(put_text(s, table_records(1), 10, "in the log", &err));
    copy_pair(path, mixed);
    end_store(s);
    write_file(mixed, old, len);
    check_pair_refused(mixed);
    free(old);
}

TEST(store_opens_over_a_log_cut_anywhere)
{
    const char *path = make_path("cut.fenec"), *copy = make_path("cut-copy.fenec");
    const char *log = make_path("cut-copy.fenec-wal");
    store *s = make_store(path, false);
    uint64_t random = test_seed();
    long len, log_len;
    error err;

    for (int id = 1; id <= 30; id++)
        MUST(put_text(s, table_records(1), id, "x", &err));
    copy_pair(path, copy);
    end_store(s);
    uint8_t *bytes = file_bytes(copy, &len), *log_bytes = file_bytes(log, &log_len);
    for (int round = 0; round < 40; round++) {
        long cut = (long)(test_random(&random) % (uint64_t)(log_len + 1));
        write_file(copy, bytes, len);
        write_file(log, log_bytes, cut);
        s = make_store(copy, false);
        int64_t count = count_rows(s, table_records(1));
        for (int64_t id = 1; id <= 30; id++)
            CHECK_TEXT(get_text(s, table_records(1), id), id <= count ? "x" : "");
        end_store(s);
    }
    free(bytes);
    free(log_bytes);
}
