#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <dirent.h>
#include <signal.h>
#include <unistd.h>
#include <pthread.h>
#include <sqlite3.h>

#include <stdatomic.h>

#include "base/memory.h"
#include "check_bed.h"

static char *file_called(char out[400], const char *name)
{
    snprintf(out, 400, "%s/%s", test_folder(), name);
    return out;
}

static bool keeps_on(void *to, const char *what, int64_t done, int64_t of)
{
    (void)to, (void)what, (void)done, (void)of;
    return true;
}

static int back_up(database *d, const char *path, bool replace, backup_report *report, error *err)
{
    buffer lines;
    check_watch watch = {.found = check_line, .goes_on = keeps_on, .to = &lines};

    buffer_init(&lines);
    error_init(err);
    int rc = database_backup(d, (const uint8_t *)path, strlen(path), replace, &watch, report, err);
    buffer_clear(&lines);
    return rc;
}

/* Files whose names begin so. */
static int files_called(const char *begin)
{
    DIR *folder = opendir(test_folder());
    int count = 0;

    for (struct dirent *e; (e = readdir(folder));)
        count += strncmp(e->d_name, begin, strlen(begin)) == 0;
    closedir(folder);
    return count;
}

static char *rows_of(database *d)
{
    buffer out;
    error err;
    size_t len;

    buffer_init(&out);
    error_init(&err);
    const char *text = "get item order id";
    CHECK_INT(database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err), FENEC_OK);
    return buffer_take(&out, &len);
}

TEST(backup_copies_one_committed_state_that_opens_anywhere)
{
    char file[400], copy[400];
    database *d = check_open(file_called(file, "source.db"), FENEC_OPEN_NO_SYNC);
    uint64_t random = test_seed() ^ 9;
    backup_report report;
    error err;

    check_make(d);
    for (int i = 0; i < 400; i++)
        check_write(d, &random, 200);
    CHECK_INT(back_up(d, file_called(copy, "copy.db"), false, &report, &err), FENEC_OK);
    CHECK(report.documents > 50);
    struct stat about;
    CHECK_INT(stat(copy, &about), 0);
    CHECK_INT(about.st_size, report.bytes);
    CHECK_INT(files_called("copy.db"), 1); /* nothing is left beside it */
    char *before = rows_of(d);
    check_must(d, "put item {code: \"later\", size: 1}");
    database *other = check_open(copy, 0);
    char *after = rows_of(other);
    CHECK_TEXT(after, before);
    check_is_quiet(other, "the copy");
    check_must(other, "put item {code: \"there\", size: 1}");
    memory_free(before);
    memory_free(after);

    /* What is there stays, what is open too. */
    CHECK_INT(back_up(d, copy, false, &report, &err), FENEC_IO);
    CHECK(strstr(err.message, "is there already") != NULL);
    CHECK_INT(back_up(d, copy, true, &report, &err), FENEC_LOCKED);
    CHECK_INT(back_up(d, file, true, &report, &err), FENEC_LOCKED); /* itself */
    check_close(other);
    CHECK_INT(back_up(d, copy, true, &report, &err), FENEC_OK);
    other = check_open(copy, 0);
    check_is_quiet(other, "the second copy");
    check_close(other);
    check_is_quiet(d, "the source");
    CHECK_INT(back_up(d, test_folder(), true, &report, &err), FENEC_IO);
    CHECK_INT(back_up(d, "/no/such/folder/copy.db", false, &report, &err), FENEC_IO);
    check_close(d);
}

TEST(backup_of_a_memory_database_is_a_file)
{
    char copy[400];
    database *d = check_open(NULL, 0);
    uint64_t random = test_seed();
    backup_report report;
    error err;

    check_make(d);
    for (int i = 0; i < 50; i++)
        check_write(d, &random, 50);
    CHECK_INT(back_up(d, file_called(copy, "frommemory.db"), false, &report, &err), FENEC_OK);
    char *before = rows_of(d);
    check_close(d);
    d = check_open(copy, 0);
    char *after = rows_of(d);
    CHECK_TEXT(after, before);
    check_is_quiet(d, "from memory");
    memory_free(before);
    memory_free(after);
    check_close(d);
}

/* A restored copy beside the log that was left by the file it replaces. */
TEST(backup_refuses_the_log_of_the_file_it_came_from)
{
    char file[400], copy[400], log[420], command[2000];
    database *d = check_open(file_called(file, "logged.db"), 0), *other = NULL;
    uint64_t random = test_seed();
    backup_report report;
    error err;

    check_make(d);
    for (int i = 0; i < 20; i++)
        check_write(d, &random, 50);
    CHECK_INT(back_up(d, file_called(copy, "restored.db"), false, &report, &err), FENEC_OK);
    for (int i = 0; i < 20; i++)
        check_write(d, &random, 50);
    snprintf(log, sizeof log, "%s-wal", copy);
    snprintf(command, sizeof command, "cp '%s-wal' '%s'", file, log);
    CHECK_INT(system(command), 0);
    check_close(d);
    CHECK_INT(database_open(&other, (const uint8_t *)copy, strlen(copy), 0, &err), FENEC_CORRUPT);
    CHECK(strstr(err.message, "is the log of another database") != NULL);
    /* Nor is a copy made beside one. */
    CHECK_INT(unlink(copy), 0);
    d = check_open(file, 0);
    CHECK_INT(back_up(d, copy, false, &report, &err), FENEC_IO);
    CHECK(strstr(err.message, "belongs to another database") != NULL);
    check_close(d);
    unlink(log);
}

TEST(backup_refuses_damaged_records_and_leaves_nothing)
{
    char file[400], copy[400];
    database *d = check_open(file_called(file, "bad.db"), 0);
    uint64_t random = 4;
    backup_report report;
    sqlite3 *db;
    error err;

    check_make(d);
    for (int i = 0; i < 100; i++)
        check_write(d, &random, 50);
    check_close(d);
    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "update c1 set rec = substr(rec, 1, length(rec) - 4) || x'01020304' where id = (select max(id) from c1)",
                           NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    d = check_open(file, 0);
    CHECK_INT(back_up(d, file_called(copy, "badcopy.db"), false, &report, &err), FENEC_CORRUPT);
    CHECK_INT(files_called("badcopy.db"), 0);
    check_close(d);
}

TEST(backup_to_a_full_disk_leaves_nothing_and_the_handle_usable)
{
    char copy[400];
    database *d = check_open(NULL, 0);
    struct rlimit had, less;
    backup_report report;
    uint64_t random = 8;
    error err;

    check_make(d);
    for (int i = 0; i < 300; i++)
        check_write(d, &random, 300);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &had);
    less = had;
    less.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &less);
    int rc = back_up(d, file_called(copy, "full.db"), false, &report, &err);
    setrlimit(RLIMIT_FSIZE, &had);
    signal(SIGXFSZ, SIG_DFL);
    CHECK_INT(rc, FENEC_IO);
    CHECK_INT(files_called("full.db"), 0);
    check_must(d, "put item {code: \"after\"}");
    check_is_quiet(d, "after the full disk");
    check_close(d);
}

/* ---- beside writes ---- */

typedef struct load {
    database *d;
    _Atomic(bool) over;
    uint64_t random;
} load;

static void *write_on(void *to)
{
    load *l = to;

    while (!atomic_load(&l->over))
        check_write(l->d, &l->random, 200);
    return NULL;
}

TEST(backup_and_check_run_beside_writes)
{
    char file[400], copy[400];
    load l = {.d = check_open(file_called(file, "busy.db"), FENEC_OPEN_NO_SYNC), .random = test_seed() ^ 77};
    backup_report report;
    pthread_t writer;
    error err;

    check_make(l.d);
    for (int i = 0; i < 200; i++)
        check_write(l.d, &l.random, 200);
    CHECK_INT(pthread_create(&writer, NULL, write_on, &l), 0);
    for (long i = 0; i < test_scale(5, 100); i++) {
        CHECK_INT(back_up(l.d, file_called(copy, "beside.db"), true, &report, &err), FENEC_OK);
        database *other = check_open(copy, 0);
        check_is_quiet(other, "a copy made beside writes");
        check_close(other);
        check_is_quiet(l.d, "checked beside writes");
    }
    atomic_store(&l.over, true);
    pthread_join(writer, NULL);
    check_close(l.d);
}
