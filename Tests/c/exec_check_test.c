/* What a check sees, and what it does not. Damage is done through SQLite, to a file that nobody has open. */
#include <inttypes.h>
#include <sqlite3.h>

#include "base/bytes.h"
#include "check_bed.h"

static const char *file_called(const char *name)
{
    static char file[400];

    snprintf(file, sizeof file, "%s/%s", test_folder(), name);
    return file;
}

/* A file with so many random writes, closed. */
static void make_file(const char *file, int writes, uint64_t seed)
{
    database *d = check_open(file, FENEC_OPEN_NO_SYNC);
    uint64_t random = seed;

    check_make(d);
    for (int i = 0; i < writes; i++)
        check_write(d, &random, 300);
    check_close(d);
}

static void tamper(const char *file, const char *sql)
{
    char *why = NULL;
    sqlite3 *db;

    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        test_failed(__FILE__, __LINE__, "%s: %s", sql, why);
    sqlite3_free(why);
    sqlite3_close(db);
}

/* The number of an index in the file, by what describe-like numbering gives: in order of declaration from 1. */
static void check_finds(const char *file, const char *want)
{
    database *d = check_open(file, 0);
    check_lines l;

    check_lines_of(d, &l);
    CHECK_INT(l.code, FENEC_OK);
    if (l.report.findings == 0 || !strstr((const char *)l.text.bytes, want))
        test_failed(__FILE__, __LINE__, "no \"%s\" in: %.1500s", want, (const char *)l.text.bytes);
    check_lines_clear(&l);
    check_close(d);
}

TEST(check_is_quiet_over_random_writes_in_every_index)
{
    uint64_t random = test_seed() ^ 71;
    const char *file = file_called("quiet.db");
    database *d = check_open(file, FENEC_OPEN_NO_SYNC);
    check_lines l;

    check_make(d);
    check_is_quiet(d, "empty");
    for (int round = 0; round < 6; round++) {
        for (long i = test_scale(150, 2000); i > 0; i--)
            check_write(d, &random, 300);
        check_is_quiet(d, "after writes");
        if (round == 2) {
            check_must(d, "get item match body \"w1\" limit 1");
            check_must(d, "alter collection item drop field tags");
        }
        if (round == 3)
            check_must(d, "compact");
        if (round == 4) {
            check_close(d);
            d = check_open(file, FENEC_OPEN_NO_SYNC);
        }
    }
    check_lines_of(d, &l);
    CHECK_INT(l.report.collections, 2);
    CHECK(l.report.documents > 100);
    CHECK(l.report.entries > 500);
    CHECK(l.report.side_values > 50);
    check_lines_clear(&l);
    check_close(d);
}

TEST(check_is_quiet_in_memory)
{
    database *d = check_open(NULL, 0);
    uint64_t random = test_seed();

    check_make(d);
    for (int i = 0; i < 300; i++)
        check_write(d, &random, 100);
    check_is_quiet(d, "memory");
    check_close(d);
}

TEST(check_sees_segments_of_a_text_index)
{
    const char *file = file_called("segments.db");
    database *d = check_open(file, FENEC_OPEN_NO_SYNC);
    uint64_t random = test_seed() ^ 5;
    check_lines l;
    buffer b;

    check_must(d, "create collection t (a text @text(prefix=3, prefix_min=1))");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 30; i++) {
            buffer_init(&b);
            buffer_text(&b, "put t [");
            for (int k = 0; k < 100; k++) {
                buffer_printf(&b, "%s{id: %u, a: \"", k ? ", " : "", 1 + check_draw(&random, 6000));
                check_words(&b, &random, 20);
                buffer_text(&b, "\"}");
            }
            buffer_text(&b, "]");
            buffer_byte(&b, 0);
            check_must(d, (const char *)b.bytes);
            buffer_clear(&b);
        }
        check_must(d, "del t where id > 5000");
        check_is_quiet(d, "texts");
    }
    check_lines_of(d, &l);
    CHECK(l.report.postings > 10000); /* of segments: not all in the recent set */
    check_lines_clear(&l);
    check_close(d);

    tamper(file, "delete from c1 where id in (3, 4); insert into c1 values (3, (select rec from c1 where id > 4 limit 1))");
    check_finds(file, "`t`: document 3: a record is damaged: its checksum");
}

TEST(check_finds_a_record_whose_checksum_is_another)
{
    const char *file = file_called("record.db");

    make_file(file, 200, 1);
    tamper(file, "update c1 set rec = substr(rec, 1, length(rec) - 1) || x'00' "
                 "where id = (select min(id) from c1 where substr(rec, -1) <> x'00')");
    check_finds(file, "a record is damaged: its checksum");
}

TEST(check_finds_index_entries_that_are_missing_strange_or_twice)
{
    const char *file = file_called("entries.db");

    /* Numbers of indexes are in order of declaration: code 1, kind 2, size 3, ... */
    make_file(file, 200, 2);
    tamper(file, "delete from i3 where id = (select min(id) from i3)");
    check_finds(file, "is missing in the index on `size`");
    tamper(file, "insert into i2 values (x'0361', 9000)");
    check_finds(file, "the index on `kind` names document 9000, which is not there");
    tamper(file, "update i2 set key = x'0399' where id = (select max(id) from i2 where id < 9000)");
    check_finds(file, "the index on `kind` has document");
}

TEST(check_finds_a_value_outside_the_record_that_is_missing_or_stray)
{
    const char *file = file_called("side.db");

    make_file(file, 300, 3);
    tamper(file, "delete from s1_10 where id = (select min(id) from s1_10)");
    check_finds(file, "the value of `v` that stands outside the record is missing");
    const char *stray = file_called("stray.db");
    make_file(stray, 300, 3);
    tamper(stray, "insert into s1_10 select 100000, rec from s1_10 limit 1");
    check_finds(stray, "values of `v` stand outside of records");
}

TEST(check_finds_tables_of_nothing_and_damaged_declarations)
{
    const char *file = file_called("tables.db");

    make_file(file, 50, 4);
    tamper(file, "create table c77 (id integer primary key, rec blob not null)");
    check_finds(file, "tables: c77 belongs to nothing that is declared");
    tamper(file, "drop table c77; insert into meta values (4294967396, x'0100000000000000')");
    check_finds(file, "the largest id of a collection that is not there");
}

TEST(check_finds_what_sqlite_finds)
{
    const char *file = file_called("pages.db");
    uint8_t page[4096];

    make_file(file, 400, 5);
    /* The last leaf of the table of records: its count of cells lowered. */
    FILE *f = fopen(file, "r+b");
    bool done = false;
    for (long at = 4096; !done && fseek(f, at, SEEK_SET) == 0 && fread(page, 1, sizeof page, f) == sizeof page; at += 4096)
        if (page[0] == 0x0A && page[4] > 20) {
            page[4]--;
            fseek(f, at, SEEK_SET);
            fwrite(page, 1, sizeof page, f);
            done = true;
        }
    fclose(f);
    CHECK(done);
    check_finds(file, "pages: ");
}

static bool stop_at_once(void *to, const char *what, int64_t done, int64_t of)
{
    (void)what, (void)done, (void)of;
    ++*(int *)to;
    return false;
}

static void no_line(void *to, const char *line)
{
    (void)to, (void)line;
}

/* SQLite orders text before any blob, whatever its bytes: a walk down that went on below such a key met it again. */
TEST(entries_that_are_no_keys_end_a_walk_down_an_index)
{
    const char *file = file_called("text-keys.db");
    database *d = check_open(file, 0);

    check_must(d, "create collection c (n int @sorted); put c [{n: 1}, {n: 2}, {n: 3}]");
    check_close(d);
    tamper(file, "with recursive r(n) as (select 1 union all select n + 1 from r where n < 100) "
                 "insert into i1 (key, id) select 'k', n from r");
    d = check_open(file, 0);
    CHECK_INT(check_run_text(d, "get c order n desc limit 50", NULL), FENEC_CORRUPT);
    CHECK_INT(check_run_text(d, "get c where n > 1 order n desc limit 1", NULL), FENEC_OK);
    check_close(d);
    check_finds(file, "the index on `n`");
}

TEST(entries_that_are_no_keys_end_the_counting_of_a_facet)
{
    const char *file = file_called("text-facet.db");
    database *d = check_open(file, 0);

    check_must(d, "create collection c (h text @hash); put c [{h: 'a'}, {h: 'b'}, {h: 'b'}]");
    check_close(d);
    tamper(file, "with recursive r(n) as (select 10 union all select n + 1 from r where n < 2000) "
                 "insert into i1 (key, id) select (select cast(key as text) from i1 limit 1), n from r");
    d = check_open(file, 0);
    CHECK_INT(check_run_text(d, "get c limit 0 facet h", NULL), FENEC_CORRUPT);
    check_close(d);
    check_finds(file, "the index on `h`");
}

TEST(check_takes_entries_without_a_key)
{
    const char *file = file_called("empty-keys.db");
    database *d = check_open(file, 0);

    check_must(d, "create collection c (u int @unique, n int @sorted); put c [{u: 1, n: 1}, {u: 2, n: 2}]");
    check_close(d);
    tamper(file, "insert into i1 values (x'', 1), (x'', 2); insert into i2 values (x'', 1), (x'', 2)");
    check_finds(file, "the index on `u` has document 1 under a value it does not hold");
    d = check_open(file, 0);
    check_run_text(d, "get c order n desc", NULL);
    check_run_text(d, "get c facet n, u", NULL);
    check_run_text(d, "get c select u, count() group u", NULL);
    check_close(d);
}

TEST(check_ends_where_it_is_told_to)
{
    database *d = check_open(NULL, 0);
    int asked = 0;
    check_watch watch = {.found = no_line, .goes_on = stop_at_once, .to = &asked};
    check_report report;
    error err;

    check_make(d);
    CHECK_INT(database_check(d, &watch, &report, &err), FENEC_OK);
    CHECK(report.stopped);
    CHECK_INT(asked, 1);
    check_close(d);
}
