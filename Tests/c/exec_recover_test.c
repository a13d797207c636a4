#include <dirent.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "check_bed.h"
#include "damage.h"
#include "exec/recover.h"

#define PAGE 4096

static char *file_called(char out[400], const char *name)
{
    snprintf(out, 400, "%s/%s", test_folder(), name);
    return out;
}

/* What a recover answered, and the lines it said. */
typedef struct outcome {
    int code;
    recover_report report;
    buffer lines;
    error err;
} outcome;

static void recover_file(outcome *o, const char *from, const char *to)
{
    check_watch watch = {.found = check_line, .to = &o->lines};

    buffer_init(&o->lines);
    error_init(&o->err);
    o->code = recover_run((const uint8_t *)from, strlen(from), (const uint8_t *)to, strlen(to), true, &watch, &o->report, &o->err);
    buffer_byte(&o->lines, 0);
    if (o->code == FENEC_PANIC)
        test_failed(__FILE__, __LINE__, "%s", o->err.message);
}

static char *answer_of(database *d, const char *text)
{
    buffer out;
    error err;
    size_t len;

    buffer_init(&out);
    error_init(&err);
    int rc = database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err);
    if (rc) {
        out.len = 0;
        buffer_text(&out, err.message);
    }
    return buffer_take(&out, &len);
}

/* `when` and `round` name what was asked. */
static void same_answers(database *a, database *b, const char *when, long round)
{
    static const char *const texts[] = {"get item order id", "get note order id", "get item where kind = \"k3\" order id",
                                        "get item order size limit 7", "get item match body \"w1\" order id",
                                        "get item count", "get note match title \"w0\" order id", "describe item",
                                        "get item where data.n > 20 order id", "get item where code = \"c5-1\""};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *x = answer_of(a, texts[i]), *y = answer_of(b, texts[i]);
        if (!x || !y || strcmp(x, y) != 0)
            test_failed(__FILE__, __LINE__, "%s, round %ld: %s: %.300s, not %.300s", when, round, texts[i],
                        y ? y : "", x ? x : "");
        memory_free(x);
        memory_free(y);
    }
}

static void make_file(const char *file, int writes, uint32_t ids, uint64_t seed)
{
    uint64_t random = seed;

    unlink(file);
    database *d = check_open(file, FENEC_OPEN_NO_SYNC);
    check_make(d);
    for (int i = 0; i < writes; i++)
        check_write(d, &random, ids);
    check_close(d);
}

static uint8_t *read_file(const char *file, size_t *len)
{
    FILE *f = fopen(file, "rb");
    struct stat about;

    CHECK(f != NULL);
    fstat(fileno(f), &about);
    uint8_t *bytes = malloc((size_t)about.st_size + 1);
    *len = fread(bytes, 1, (size_t)about.st_size, f);
    fclose(f);
    return bytes;
}

static void write_file(const char *file, const uint8_t *bytes, size_t len)
{
    FILE *f = fopen(file, "wb");

    CHECK_INT(fwrite(bytes, 1, len, f), len);
    fclose(f);
}

TEST(recover_takes_all_of_a_file_that_is_sound_and_leaves_it_alone)
{
    char file[400], to[400];
    size_t len, after_len;
    outcome o;

    make_file(file_called(file, "sound.db"), 600, 400, test_seed());
    uint8_t *before = read_file(file, &len);
    recover_file(&o, file, file_called(to, "sound-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK_TEXT((const char *)o.lines.bytes, "");
    CHECK_INT(o.report.lost, 0);
    CHECK_INT(o.report.strays, 0);
    CHECK_INT(o.report.collections, 2);
    buffer_clear(&o.lines);
    uint8_t *after = read_file(file, &after_len);
    CHECK(len == after_len && memcmp(before, after, len) == 0);
    free(before);
    free(after);
    database *a = check_open(file, 0), *b = check_open(to, 0);
    same_answers(a, b, "sound", 0);
    check_is_quiet(b, "recovered");
    /* Ids go on where they were. */
    check_must(a, "put note {name: \"next\"}");
    check_must(b, "put note {name: \"next\"}");
    same_answers(a, b, "sound", 0);
    check_close(a);
    check_close(b);
}

TEST(recover_reads_the_log_of_a_file_that_was_not_closed)
{
    char file[400], copy[400], to[400], command[2000];
    database *d = check_open(file_called(file, "running.db"), 0);
    uint64_t random = test_seed() ^ 3;
    outcome o;

    check_make(d);
    for (int i = 0; i < 60; i++)
        check_write(d, &random, 100);
    file_called(copy, "crashed.db");
    snprintf(command, sizeof command, "cp '%s' '%s'; cp '%s-wal' '%s-wal'", file, copy, file, copy);
    CHECK_INT(system(command), 0);
    recover_file(&o, file, file_called(to, "crashed-out.db"));
    CHECK_INT(o.code, FENEC_LOCKED);
    buffer_clear(&o.lines);
    recover_file(&o, copy, to);
    CHECK_INT(o.code, FENEC_OK);
    CHECK_TEXT((const char *)o.lines.bytes, "");
    buffer_clear(&o.lines);
    database *b = check_open(to, 0);
    same_answers(d, b, "sound", 0);
    check_close(b);
    check_close(d);
}

/* Its head names a commit that its mark does not. */
TEST(recover_takes_what_is_in_a_copy_that_was_made_amid_a_checkpoint)
{
    char file[400], copy[400], to[400];
    database *d = NULL;
    size_t len;
    error err;
    outcome o;

    make_file(file_called(file, "folded.db"), 100, 60, test_seed() ^ 4);
    uint8_t *bytes = read_file(file, &len);
    bytes[63]++;
    write_file(file_called(copy, "amid.db"), bytes, len);
    free(bytes);
    error_init(&err);
    CHECK_INT(database_open(&d, (const uint8_t *)copy, strlen(copy), 0, &err), FENEC_CORRUPT);
    CHECK(strstr(err.message, "was copied without its log") != NULL);
    CHECK(strstr(err.message, "fenec recover") != NULL);
    recover_file(&o, copy, file_called(to, "amid-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK(o.report.lost > 0);
    CHECK(strstr((const char *)o.lines.bytes, "the file was copied without its log or while it was") != NULL);
    buffer_clear(&o.lines);
    d = check_open(file, 0);
    database *b = check_open(to, 0);
    same_answers(d, b, "amid", 0);
    check_close(d);
    check_close(b);
}

/* Pages of the kind, in order. */
static size_t find_page(const uint8_t *bytes, size_t len, uint8_t type, int which)
{
    for (size_t at = PAGE; at + PAGE <= len; at += PAGE)
        if (bytes[at] == type && which-- == 0)
            return at;
    return 0;
}

TEST(recover_takes_the_rest_where_an_inner_page_is_gone)
{
    char file[400], to[400];
    size_t len;
    outcome o;

    make_file(file_called(file, "inner.db"), 900, 900, 11);
    uint8_t *bytes = read_file(file, &len);
    size_t at = find_page(bytes, len, 0x05, 0);
    CHECK(at != 0);
    memset(bytes + at, 0xA5, PAGE);
    write_file(file, bytes, len);
    free(bytes);
    recover_file(&o, file, file_called(to, "inner-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK(o.report.lost > 0);
    CHECK(strstr((const char *)o.lines.bytes, "it is no page of a table") != NULL);
    CHECK(o.report.documents > 100); /* through the map of parents */
    buffer_clear(&o.lines);
    database *d = check_open(to, 0);
    check_is_quiet(d, "recovered");
    check_close(d);
}

TEST(recover_names_what_stood_on_a_page_that_is_gone)
{
    char file[400], to[400];
    size_t len;
    outcome o;

    make_file(file_called(file, "leaf.db"), 500, 900, 12);
    uint8_t *bytes = read_file(file, &len);
    database *d = check_open(file, 0);
    char *before = answer_of(d, "get item count");
    check_close(d);
    memory_free(before);
    /* A leaf in the middle. */
    size_t at = find_page(bytes, len, 0x0D, 12);
    CHECK(at != 0);
    memset(bytes + at, 0, PAGE);
    write_file(file, bytes, len);
    free(bytes);
    recover_file(&o, file, file_called(to, "leaf-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK(o.report.lost > 0);
    CHECK(strstr((const char *)o.lines.bytes, "ids from") != NULL);
    buffer_clear(&o.lines);
    d = check_open(to, 0);
    check_is_quiet(d, "recovered");
    check_close(d);
}

TEST(recover_reads_a_file_whose_head_is_gone_or_that_is_cut_short)
{
    char file[400], to[400];
    size_t len;
    outcome o;

    make_file(file_called(file, "head.db"), 500, 500, 13);
    uint8_t *bytes = read_file(file, &len);
    memset(bytes, 0, 100);
    write_file(file, bytes, len);
    recover_file(&o, file, file_called(to, "head-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK(o.report.documents > 100);
    CHECK_INT(o.report.collections, 2);
    buffer_clear(&o.lines);

    /* All of page 1: names are lost, and with them which rows are whose; declarations are not. */
    memset(bytes, 0x77, PAGE);
    write_file(file, bytes, len);
    recover_file(&o, file, file_called(to, "names-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK_INT(o.report.collections, 2);
    CHECK(o.report.strays > 100);
    CHECK(strstr((const char *)o.lines.bytes, ".strays.jsonl") != NULL);
    buffer_clear(&o.lines);
    char strays[450];
    snprintf(strays, sizeof strays, "%s.strays.jsonl", to);
    size_t strays_len;
    uint8_t *rows = read_file(strays, &strays_len);
    rows[strays_len] = 0;
    CHECK(strstr((char *)rows, "\"values\":{\"f0\":\"c") != NULL);
    free(rows);

    make_file(file, 500, 500, 13);
    free(bytes);
    bytes = read_file(file, &len);
    write_file(file, bytes, len / 2 + 100);
    free(bytes);
    recover_file(&o, file, to);
    CHECK_INT(o.code, FENEC_OK);
    CHECK(strstr((const char *)o.lines.bytes, "the file ends before it") != NULL);
    CHECK(o.report.documents > 20);
    buffer_clear(&o.lines);
    database *d = check_open(to, 0);
    check_is_quiet(d, "recovered");
    check_close(d);
}

TEST(recover_exports_rows_whose_declaration_is_damaged)
{
    char file[400], to[400];
    sqlite3 *db;
    outcome o;

    make_file(file_called(file, "undeclared.db"), 300, 300, 14);
    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "update catalog set rec = cast(x'0102030405' || substr(rec, 6) as blob) where id = 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    recover_file(&o, file, file_called(to, "undeclared-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK_INT(o.report.collections, 1);
    CHECK(o.report.strays > 50);
    CHECK(strstr((const char *)o.lines.bytes, "that of collection 1 is damaged") != NULL);
    buffer_clear(&o.lines);
}

TEST(recover_leaves_out_a_value_that_is_lost_and_a_record_that_is_damaged)
{
    char file[400], to[400];
    sqlite3 *db;
    outcome o;

    make_file(file_called(file, "values.db"), 300, 300, 15);
    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db,
                           "delete from s1_10 where id = (select min(id) from s1_10);"
                           "update c2 set rec = cast(substr(rec, 1, length(rec) - 4) || x'01020304' as blob) where id = (select max(id) from c2)",
                           NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    recover_file(&o, file, file_called(to, "values-out.db"));
    CHECK_INT(o.code, FENEC_OK);
    CHECK_INT(o.report.lost, 2);
    CHECK(strstr((const char *)o.lines.bytes, "the value of `v` is lost") != NULL);
    CHECK(strstr((const char *)o.lines.bytes, "is lost: its record is damaged") != NULL);
    buffer_clear(&o.lines);
    database *d = check_open(to, 0);
    check_is_quiet(d, "recovered");
    check_close(d);
}

TEST(recover_refuses_what_is_no_database)
{
    char file[400], to[400];
    uint8_t bytes[3 * PAGE];
    uint64_t random = test_seed();
    outcome o;

    file_called(to, "nothing-out.db");
    recover_file(&o, file_called(file, "nofile.db"), to);
    CHECK_INT(o.code, FENEC_IO);
    buffer_clear(&o.lines);
    recover_file(&o, test_folder(), to);
    CHECK_INT(o.code, FENEC_IO);
    buffer_clear(&o.lines);
    for (int i = 0; i < 50; i++) {
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)test_random(&random);
        write_file(file_called(file, "noise.db"), bytes, sizeof bytes - (size_t)(test_random(&random) % sizeof bytes));
        recover_file(&o, file, to);
        CHECK_INT(o.code, FENEC_CORRUPT);
        buffer_clear(&o.lines);
        CHECK(access(to, F_OK) != 0);
    }
}

/* ---- damage at random ---- */

static void damage(uint8_t *bytes, size_t *len, uint64_t *random)
{
    for (uint32_t n = 1 + check_draw(random, 4); n > 0; n--) {
        size_t at = (size_t)(test_random(random) % *len), page = at / PAGE * PAGE;
        switch (check_draw(random, 6)) {
        case 0: bytes[at] ^= (uint8_t)(1u << check_draw(random, 8)); break;
        case 1: bytes[at] = (uint8_t)test_random(random); break;
        case 2: /* the head of a page */
            if (page + 12 <= *len)
                bytes[page + check_draw(random, 12)] = (uint8_t)test_random(random);
            break;
        case 3: /* a page as another */
            if (*len >= 2 * PAGE && page + PAGE <= *len)
                memcpy(bytes + page, bytes + test_random(random) % (*len / PAGE) * PAGE, PAGE);
            break;
        case 4:
            for (size_t i = at; i < at + 64 && i < *len; i++)
                bytes[i] = (uint8_t)test_random(random);
            break;
        default:
            if (check_draw(random, 4) == 0 && at > 100)
                *len = at;
        }
        if (*len == 0)
            return;
    }
}

static void survive(bool of_pages, long rounds)
{
    char file[400], from[400], to[400], how[160] = "";
    uint64_t random = test_seed() ^ 0xDA3A6E;
    long opened = 0, found = 0, exported = 0, whole = 0;
    size_t sound_len;
    outcome o;

    make_file(file_called(from, "sound-for-damage.db"), 250, 200, random);
    uint8_t *sound = read_file(from, &sound_len), *bytes = malloc(sound_len);
    file_called(file, "damaged.db");
    file_called(to, "damaged-out.db");
    for (long i = 0; i < rounds; i++) {
        size_t len = sound_len;
        database *d = NULL;
        error err;
        memcpy(bytes, sound, len);
        if (of_pages)
            damage_pages(bytes, len, (int)(i % DAMAGE_KINDS), &random, how);
        else
            damage(bytes, &len, &random);
        write_file(file, bytes, len);
        error_init(&err);

        recover_file(&o, file, to);
        if (o.code != FENEC_OK && o.code != FENEC_CORRUPT)
            test_failed(__FILE__, __LINE__, "round %ld, %s: recover %d: %s", i, how, o.code, o.err.message);
        if (o.code == FENEC_OK) {
            exported++;
            whole += o.report.lost == 0;
            if (strstr((char *)o.lines.bytes, "in the new file"))
                test_failed(__FILE__, __LINE__, "round %ld, %s: %.900s", i, how, (char *)o.lines.bytes);
            if (o.report.lost == 0) {
                database *a = check_open(from, 0), *b = check_open(to, 0);
                same_answers(a, b, "recovered, nothing lost", i);
                check_close(a);
                check_close(b);
            }
        }
        buffer_clear(&o.lines);

        if (database_open(&d, (const uint8_t *)file, strlen(file), FENEC_OPEN_NO_SYNC, &err) == FENEC_OK) {
            check_lines l;
            opened++;
            check_lines_of(d, &l);
            if (l.code)
                test_failed(__FILE__, __LINE__, "round %ld, %s: check %d: %.300s", i, how, l.code, (char *)l.text.bytes);
            found += l.report.findings > 0;
            if (l.report.findings == 0) {
                database *a = check_open(from, 0);
                same_answers(a, d, "check was quiet", i);
                check_close(a);
            }
            check_lines_clear(&l);
            error_init(&err);
            database_close(d, &err);
            database_free(d);
        }
        char log[420];
        snprintf(log, sizeof log, "%s-wal", file);
        unlink(log);
        unlink(file);
    }
    free(sound);
    free(bytes);
    printf("  %ld damaged files: %ld opened, check found something in %ld; recover exported %ld, %ld of them whole\n", rounds,
           opened, found, exported, whole);
}

TEST(check_and_recover_survive_damage_at_random)
{
    survive(false, test_scale(200, 5000));
}

TEST(check_and_recover_survive_damage_of_what_holds_pages_together)
{
    survive(true, test_scale(120, 5000));
}
