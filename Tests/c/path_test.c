/* Paths that name no database, and places where none can be: a code, a sentence, and what is there untouched. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fenec.h"
#include "store_make.h"

static int open_at(const char *path, uint64_t *h, char said[400])
{
    char *answer = NULL;
    int code = fenec_open((const uint8_t *)path, strlen(path), 0, h, &answer, NULL);

    snprintf(said, 400, "%s", answer ? answer : "");
    fenec_free_string(answer);
    return code;
}

static int run(uint64_t h, const char *text)
{
    return fenec_query(h, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, NULL, NULL);
}

/* The code, with a message that begins as that code's do and holds `about`. */
static void refused(const char *path, int code, const char *about)
{
    uint64_t h = 42;
    char said[400];
    int got = open_at(path, &h, said);

    if (got != code || h != 42 || !strstr(said, code == FENEC_IO ? "io error: " : "corrupt: ") || !strstr(said, about))
        test_failed(__FILE__, __LINE__, "%.100s: %d %s", path, got, said);
    if (got == FENEC_OK)
        fenec_close(h, NULL, NULL);
}

static void refused_untouched(const char *path, int code, const char *about)
{
    char log[500];
    long len, log_len, after, log_after;

    snprintf(log, sizeof log, "%s-wal", path);
    uint8_t *bytes = file_bytes(path, &len), *log_bytes = file_bytes(log, &log_len);
    refused(path, code, about);
    uint8_t *now = file_bytes(path, &after), *log_now = file_bytes(log, &log_after);
    CHECK(len == after && !memcmp(bytes, now, (size_t)len));
    CHECK(log_len == log_after && (log_len <= 0 || !memcmp(log_bytes, log_now, (size_t)log_len)));
    free(bytes);
    free(now);
    free(log_bytes);
    free(log_now);
}

static void make_foreign(const char *path, const char *mode, bool killed)
{
    sqlite3 *db = NULL;
    char sql[300];

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    if (killed)
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    snprintf(sql, sizeof sql, "pragma journal_mode = %s; create table meta (id integer primary key, rec blob); "
             "insert into meta values (1, 'not ours')", mode);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

TEST(path_of_another_programs_file_is_refused_untouched)
{
    static const uint8_t zip[] = "PK\003\004\024\0\0\0\010\0a zip of something, which goes on for more than a hundred bytes "
                                 "so that its head can be read whole, as that of a database can be";
    const char *plain = make_path("plain.sqlite"), *walled = make_path("wal.sqlite"), *left = make_path("left.sqlite");
    const char *packed = make_path("a.zip"), *noise = make_path("noise.fenec"), *text = make_path("text.fenec");
    uint64_t random = test_seed(), h = 0;
    uint8_t bytes[5000];
    char said[400];

    make_foreign(plain, "delete", false);
    make_foreign(walled, "wal", false);
    make_foreign(left, "wal", true);
    write_file(packed, zip, sizeof zip);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(&random);
    write_file(noise, bytes, sizeof bytes);
    write_file(text, "x", 1);
    const char *const all[] = {plain, walled, left, packed, noise, text};
    for (int i = 0; i < 6; i++)
        refused_untouched(all[i], FENEC_CORRUPT, strrchr(all[i], '/') + 1);

    /* A database of a later version: its number is one more than what we know. */
    const char *newer = make_path("newer.fenec");
    CHECK_INT(open_at(newer, &h, said), FENEC_OK);
    CHECK_INT(run(h, "create collection t (n int)"), FENEC_OK);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    long len;
    uint8_t *whole = file_bytes(newer, &len);
    whole[71]++;
    write_file(newer, whole, len);
    free(whole);
    refused_untouched(newer, FENEC_CORRUPT, "newer");

    const char *empty = make_path("empty.fenec"); /* as good as none */
    write_file(empty, "", 0);
    CHECK_INT(open_at(empty, &h, said), FENEC_OK);
    CHECK_INT(run(h, "create collection t (n int)"), FENEC_OK);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
}

TEST(path_that_is_no_file_is_refused_at_once)
{
    const char *fifo = make_path("fifo"), *folder = make_path("dir"), *loop = make_path("loop"), *back = make_path("back");
    const char *bound = make_path("s");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct stat file;

    CHECK_INT(mkfifo(fifo, 0600), 0);
    refused(fifo, FENEC_IO, "fifo");
    CHECK(stat(fifo, &file) == 0 && S_ISFIFO(file.st_mode));
    CHECK_INT(mkdir(folder, 0700), 0);
    refused(folder, FENEC_IO, "dir");
    CHECK_INT(symlink(back, loop), 0);
    CHECK_INT(symlink(loop, back), 0);
    refused(loop, FENEC_IO, "loop");
    refused("/dev/full", FENEC_IO, "full");
    unlink("/dev/full.lock");
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%.100s", bound);
    if (strlen(bound) < sizeof name.sun_path && bind(s, (struct sockaddr *)&name, sizeof name) == 0) {
        refused(bound, FENEC_IO, "/s");
        CHECK(stat(bound, &file) == 0 && S_ISSOCK(file.st_mode));
    }
    close(s);
    refused(make_path("no/such/place"), FENEC_IO, "place");
}

TEST(path_whose_names_are_long_opens_or_is_refused)
{
    char name[300], path[700], said[400];
    uint64_t h = 0;

    /* The log, the lock and the journal beside it have longer names: 247 bytes leave room for "-journal". */
    for (int len = 240; len <= 256; len++) {
        memset(name, 'n', (size_t)len);
        name[len] = 0;
        snprintf(path, sizeof path, "%s/%s", test_folder(), name);
        int code = open_at(path, &h, said);
        if (code != (len <= 247 ? FENEC_OK : FENEC_IO) || (code && !strstr(said, "io error: ")))
            test_failed(__FILE__, __LINE__, "%d bytes: %d %s", len, code, said);
        if (code != FENEC_OK) {
            CHECK(access(path, F_OK) != 0);
            continue;
        }
        CHECK_INT(run(h, "create collection t (n int); put t {n: 1}"), FENEC_OK);
        CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    }
    char *deep = malloc(6000);
    memset(deep, 'd', 5999);
    for (int i = 0; i < 5999; i += 100)
        deep[i] = '/';
    deep[5999] = 0;
    refused(deep, FENEC_IO, "");
    free(deep);
}

/* In a child without rights: nothing is forbidden to root. */
TEST(path_in_a_folder_that_may_not_be_written_is_io)
{
    const char *folder = make_path("closed");
    char path[500], said[400];
    int status = 0;
    uint64_t h = 0;

    snprintf(path, sizeof path, "%s/x.fenec", folder);
    CHECK_INT(mkdir(folder, 0755), 0);
    CHECK_INT(open_at(path, &h, said), FENEC_OK);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    CHECK_INT(chmod(test_folder(), 0755), 0);
    CHECK_INT(chmod(folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(99);
        int code = open_at(path, &h, said);
        _exit(code == FENEC_IO && strstr(said, "x.fenec") ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_INT(chmod(folder, 0755), 0);
}

static int is_gone(const char *folder)
{
    char command[600];

    snprintf(command, sizeof command, "test ! -e '%s'", folder);
    return system(command);
}

/* What was open goes on, or says IO; nothing is made anew in its place, and nothing crashes. */
TEST(path_whose_folder_disappears_while_it_is_open)
{
    const char *folder = make_path("gone");
    char path[500], command[600], said[400], text[200];
    uint64_t h = 0;

    snprintf(path, sizeof path, "%s/x.fenec", folder);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK_INT(mkdir(folder, 0755), 0);
    CHECK_INT(open_at(path, &h, said), FENEC_OK);
    CHECK_INT(run(h, "create collection t (n int @sorted, s text @text)"), FENEC_OK);
    for (int i = 0; i < 50; i++)
        CHECK_INT(run(h, "put t [{n: 1, s: \"one of them\"}, {n: 2, s: \"two\"}]"), FENEC_OK);
    CHECK_INT(system(command), 0);
    CHECK_INT(run(h, "get t where n = 1 limit 3"), FENEC_OK);
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "put t {n: %d, s: \"after it is gone\"}", i);
        int code = run(h, text);
        CHECK(code == FENEC_OK || code == FENEC_IO);
    }
    CHECK_INT(run(h, "get t match s \"two\" limit 3"), FENEC_OK);
    int code = fenec_checkpoint(h, NULL, NULL);
    CHECK(code == FENEC_OK || code == FENEC_IO);
    code = run(h, "compact");
    CHECK(code == FENEC_OK || code == FENEC_IO);
    CHECK_INT(run(h, "get t count"), FENEC_OK);
    code = fenec_close(h, NULL, NULL);
    CHECK(code == FENEC_OK || code == FENEC_IO);
    CHECK_INT(is_gone(folder), 0);
    refused(path, FENEC_IO, "x.fenec");
}
