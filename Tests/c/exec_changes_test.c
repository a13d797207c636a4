#include "exec/changes.h"
#include "exec_bed.h"

#define CHECK_CHANGES(b, since, want) CHECK_TEXT(changes_of(b, since), want)

static const char *changes_of(bed *b, uint64_t since)
{
    buffer out;

    memory_free(b->answer);
    buffer_init(&out);
    CHECK_INT(database_changes(b->d, since, &out, &b->err), FENEC_OK);
    b->answer = buffer_take(&out, &b->len);
    return b->answer;
}

TEST(changes_count_documents_and_schema_changes)
{
    bed b;

    bed_open(&b);
    CHECK_CHANGES(&b, 0, "{\"seq\":0,\"horizon\":0,\"collections\":[]}");
    CHECK_CHANGES(&b, UINT64_MAX, "{\"seq\":0,\"horizon\":0,\"collections\":null}");
    bed_do(&b, "create collection b (n int)");
    bed_do(&b, "create collection a (n int @unique)");
    bed_do(&b, "put a [{n: 1}, {n: 2}]");
    CHECK_CHANGES(&b, 0, "{\"seq\":4,\"horizon\":0,\"collections\":[\"b\",\"a\"]}");
    CHECK_CHANGES(&b, 1, "{\"seq\":4,\"horizon\":0,\"collections\":[\"a\"]}");
    CHECK_CHANGES(&b, 4, "{\"seq\":4,\"horizon\":0,\"collections\":[]}");
    CHECK_CHANGES(&b, 5, "{\"seq\":4,\"horizon\":0,\"collections\":null}");
    bed_do(&b, "set a {n: n}");
    CHECK_CHANGES(&b, 4, "{\"seq\":6,\"horizon\":0,\"collections\":[\"a\"]}");
    bed_do(&b, "del a where n = 2");
    bed_do(&b, "create index on b (n) @sorted");
    CHECK_CHANGES(&b, 6, "{\"seq\":8,\"horizon\":0,\"collections\":[\"b\",\"a\"]}");
    bed_close(&b);
}

TEST(statements_that_change_nothing_move_no_counter)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection a (n int @unique)");
    bed_do(&b, "put a {n: 1}");
    bed_do(&b, "create collection if not exists a (x text)");
    bed_do(&b, "create index if not exists on a (n) @hash");
    bed_do(&b, "drop collection if exists ghost");
    bed_do(&b, "del a where n = 7");
    bed_do(&b, "set a {n: 9} where n = 7");
    bed_do(&b, "put a {n: 1} if absent");
    bed_do(&b, "compact");
    CHECK_CODE(&b, "put a {n: 1}", FENEC_DUPLICATE);
    CHECK_CODE(&b, "put a {n: 2}; put a {n: 1}", FENEC_DUPLICATE);
    CHECK_CHANGES(&b, 2, "{\"seq\":2,\"horizon\":0,\"collections\":[]}");
    bed_do(&b, "put a {n: 2}");
    CHECK_CHANGES(&b, 2, "{\"seq\":3,\"horizon\":0,\"collections\":[\"a\"]}");
    bed_close(&b);
}

TEST(a_dropped_collection_makes_older_cursors_null)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection a (n int)");
    bed_do(&b, "create collection c (n int)");
    bed_do(&b, "put a {n: 1}");
    bed_do(&b, "drop collection a"); /* change 4 */
    bed_do(&b, "put c {n: 1}");
    CHECK_CHANGES(&b, 3, "{\"seq\":5,\"horizon\":0,\"collections\":null}");
    CHECK_CHANGES(&b, 4, "{\"seq\":5,\"horizon\":0,\"collections\":[\"c\"]}");
    bed_do(&b, "create collection a (n int)");
    CHECK_CHANGES(&b, 3, "{\"seq\":6,\"horizon\":0,\"collections\":null}");
    CHECK_CHANGES(&b, 4, "{\"seq\":6,\"horizon\":0,\"collections\":[\"c\",\"a\"]}");
    bed_close(&b);
}

TEST(the_ring_remembers_the_last_4096_changes)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection a (n int)");
    bed_do(&b, "create collection c (n int)");
    for (int i = 0; i < 4094; i++)
        bed_do(&b, "put c {n: 1}");
    CHECK_CHANGES(&b, 0, "{\"seq\":4096,\"horizon\":0,\"collections\":[\"a\",\"c\"]}");
    bed_do(&b, "put c {n: 1}");
    CHECK_CHANGES(&b, 0, "{\"seq\":4097,\"horizon\":1,\"collections\":null}");
    CHECK_CHANGES(&b, 1, "{\"seq\":4097,\"horizon\":1,\"collections\":[\"c\"]}");
    bed_do(&b, "set c {n: 2}; put a {n: 1}"); /* one block of 4 096 changes */
    CHECK_CHANGES(&b, 4096, "{\"seq\":8193,\"horizon\":4097,\"collections\":null}");
    CHECK_CHANGES(&b, 4097, "{\"seq\":8193,\"horizon\":4097,\"collections\":[\"a\",\"c\"]}");
    CHECK_CHANGES(&b, 8192, "{\"seq\":8193,\"horizon\":4097,\"collections\":[\"a\"]}");
    bed_do(&b, "set c {n: 2}; set c {n: 3}; put a {n: 1}");
    CHECK_CHANGES(&b, 16383, "{\"seq\":16384,\"horizon\":12288,\"collections\":[\"a\"]}");
    CHECK_CHANGES(&b, 12288, "{\"seq\":16384,\"horizon\":12288,\"collections\":[\"a\",\"c\"]}");
    bed_close(&b);
}

TEST(changes_after_close_are_misuse)
{
    buffer out;
    bed b;

    bed_open(&b);
    CHECK_INT(database_close(b.d, &b.err), FENEC_OK);
    buffer_init(&out);
    CHECK_INT(database_changes(b.d, 0, &out, &b.err), FENEC_MISUSE);
    CHECK_INT(database_warm(b.d, NULL, 0, &out, &b.err), FENEC_MISUSE);
    CHECK_INT(bed_run(&b, "get a", NULL, NULL, 0), FENEC_MISUSE);
    CHECK_INT(bed_run(&b, "put a {n: 1}", NULL, NULL, 0), FENEC_MISUSE);
    CHECK_INT(bed_run(&b, "", NULL, NULL, 0), FENEC_MISUSE);
    buffer_clear(&out);
    memory_free(b.answer);
    database_free(b.d);
}
