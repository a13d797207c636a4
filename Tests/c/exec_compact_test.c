#include <dirent.h>
#include <sched.h>
#include <sys/stat.h>

#include "base/thread.h"
#include "exec/compact.h"
#include "exec/keeper.h"
#include "exec_bed.h"
#include "test_vfs.h"

#define MIB ((uint64_t)1024 * 1024)
#define MEMORY (1024 * MIB * 1024) /* of a device that has enough */

static const char *file_of(const char *name)
{
    static char file[400];

    snprintf(file, sizeof file, "%s/%s", test_folder(), name);
    return file;
}

static void open_named(bed *b, const char *name, uint32_t flags)
{
    const char *file = file_of(name);

    *b = (bed){0};
    error_init(&b->err);
    CHECK_INT(database_open(&b->d, (const uint8_t *)file, strlen(file), flags, &b->err), FENEC_OK);
}

static uint64_t size_of(const char *name)
{
    struct stat is;

    return stat(file_of(name), &is) == 0 ? (uint64_t)is.st_size : 0;
}

/* `count` documents of about 100 kB each, from id `first` on. */
static void put_large(bed *b, int first, int count)
{
    char *text = malloc(102000);

    for (int i = first; i < first + count; i++) {
        int len = sprintf(text, "put t {id: %d, a: '", i);
        memset(text + len, 'a' + i % 26, 100000);
        strcpy(text + len + 100000, "'}");
        bed_do(b, text);
    }
    free(text);
}

/* A file of `count` such documents, of which those below `kept` are still there, folded in. */
static void make_dead(bed *b, const char *name, int count, int kept)
{
    char text[100];

    open_named(b, name, FENEC_OPEN_NO_SYNC | FENEC_OPEN_NO_AUTO_COMPACT);
    bed_do(b, "create collection t (a text, n int)");
    put_large(b, 1, count);
    snprintf(text, sizeof text, "del t where id > %d", kept);
    bed_do(b, text);
    CHECK_INT(database_sync(b->d, &b->err), FENEC_OK);
}

TEST(a_compaction_is_due_by_half_of_the_file_and_64_mib)
{
    CHECK(!compact_is_due(100 * MIB, 64 * MIB - 1, MEMORY));
    CHECK(compact_is_due(128 * MIB, 64 * MIB, MEMORY));
    CHECK(!compact_is_due(128 * MIB + 1, 64 * MIB, MEMORY));
    CHECK(compact_is_due(128 * MIB + 2, 64 * MIB + 1, MEMORY));
    CHECK(compact_is_due(64 * MIB, 64 * MIB, MEMORY));
    CHECK(!compact_is_due(0, 0, MEMORY));
}

TEST(a_compaction_is_due_sooner_where_memory_for_the_pages_is_short)
{
    CHECK(compact_is_due(768 * MIB, 64 * MIB, 1024 * MIB));
    CHECK(!compact_is_due(768 * MIB - 1, 64 * MIB, 1024 * MIB));
    CHECK(!compact_is_due(768 * MIB, 64 * MIB - 1, 1024 * MIB));
    CHECK(!compact_is_due(768 * MIB, 64 * MIB, UINT64_MAX));
}

TEST(a_look_compacts_a_file_whose_dead_half_is_64_mib)
{
    bed b;

    make_dead(&b, "due.fenec", 1300, 600); /* about 67 MiB of 127 */
    uint64_t before = size_of("due.fenec");
    database_look(b.d, MEMORY);
    uint64_t after = size_of("due.fenec");
    CHECK(before > 127 * MIB * 9 / 10);
    CHECK(after > 57 * MIB && after < 64 * MIB);
    CHECK_ROWS(&b, "get t count", "{\"count\":600}");
    CHECK_ROWS(&b, "get t where id = 600 select len(a) as l", "{\"l\":100000}");
    bed_close(&b);
}

TEST(a_look_leaves_a_file_alone_where_nothing_is_due)
{
    bed b;

    make_dead(&b, "undue.fenec", 1300, 700); /* about 57 MiB of 127 */
    uint64_t before = size_of("undue.fenec");
    database_look(b.d, MEMORY);
    CHECK_INT(size_of("undue.fenec"), before);
    /* Three quarters of the memory, but not yet 64 MiB. */
    database_look(b.d, 128 * MIB);
    CHECK_INT(size_of("undue.fenec"), before);
    bed_do(&b, "del t where id > 620");
    CHECK_INT(database_sync(b.d, &b.err), FENEC_OK);
    database_look(b.d, 1024 * MIB);
    CHECK(size_of("undue.fenec") < 70 * MIB);
    bed_close(&b);
}

TEST(a_look_compacts_sooner_where_the_file_nears_the_memory)
{
    bed b;

    make_dead(&b, "sooner.fenec", 1700, 980); /* about 69 MiB of 166 */
    database_look(b.d, 256 * MIB);
    CHECK(size_of("sooner.fenec") > 160 * MIB);
    database_look(b.d, 200 * MIB);
    CHECK(size_of("sooner.fenec") < 100 * MIB);
    bed_close(&b);
}

/* ---- what a look waits for, and what it does not disturb ---- */

typedef struct looker {
    thread thread;
    database *d;
    _Atomic(bool) *done;
} looker;

static void look_once(void *argument)
{
    looker *l = argument;

    database_look(l->d, MEMORY);
    atomic_store(l->done, true);
}

typedef struct pieces {
    database *d;
    looker looker;
    _Atomic(bool) done;
    int given;
    bool early; /* the look was over while the block was under way */
} pieces;

/* The second piece is what makes a compaction due. The look begins before it. */
static int next_piece(void *from, piece *out, error *err)
{
    static const char *const texts[] = {"put t {n: 1}", "del t where id > 600"};
    pieces *p = from;

    (void)err;
    if (p->given == 1) {
        p->looker = (looker){.d = p->d, .done = &p->done};
        CHECK(thread_start(&p->looker.thread, look_once, &p->looker));
        for (int i = 0; i < 1000; i++) /* as long a start as a test without a clock can give */
            sched_yield();
    }
    p->early |= atomic_load(&p->done);
    if (p->given == 2)
        return FN_END;
    *out = (piece){.text = (const uint8_t *)texts[p->given], .text_len = strlen(texts[p->given])};
    p->given++;
    return FENEC_OK;
}

TEST(a_look_waits_for_the_write_under_way_and_sees_what_it_left)
{
    bed b;

    make_dead(&b, "waits.fenec", 1300, 1300);
    pieces p = {.d = b.d};
    CHECK_INT(database_block(b.d, next_piece, &p, &b.err), FENEC_OK);
    thread_join(&p.looker.thread);
    CHECK(!p.early);
    CHECK(size_of("waits.fenec") < 64 * MIB);
    bed_close(&b);
}

TEST(a_look_at_a_database_without_a_file_does_nothing)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (a text)");
    put_large(&b, 1, 800);
    bed_do(&b, "del t");
    database_look(b.d, MEMORY);
    CHECK_ROWS(&b, "get t count", "{\"count\":0}");
    bed_close(&b);
}

TEST(a_look_after_a_storage_error_does_nothing)
{
    test_disk *disk = test_disk_new();
    store_options options = {.path = (const uint8_t *)"/look.db", .path_len = 8, .vfs = test_disk_vfs(disk)};
    bed b = {0};

    error_init(&b.err);
    CHECK_INT(database_open_with(&b.d, &options, &b.err), FENEC_OK);
    bed_do(&b, "create collection t (a text)");
    char *text = malloc(11000000);
    for (int k = 0; k < 13; k++) {
        int len = sprintf(text, "put t {a: '");
        memset(text + len, 'x', 10000000);
        strcpy(text + len + 10000000, "'}");
        bed_do(&b, text);
    }
    free(text);
    bed_do(&b, "del t where id > 5");
    test_disk_fail(disk, DISK_SYNC, NULL, 1, 1034, false);
    CHECK_CODE(&b, "put t {a: 'x'}", FENEC_IO);
    long writes = test_disk_calls(disk, DISK_WRITE), syncs = test_disk_calls(disk, DISK_SYNC);
    database_look(b.d, MEMORY);
    CHECK_INT(test_disk_calls(disk, DISK_WRITE), writes);
    CHECK_INT(test_disk_calls(disk, DISK_SYNC), syncs);
    memory_free(b.answer);
    CHECK_INT(database_close(b.d, &b.err), FENEC_IO);
    database_free(b.d);
    b = (bed){0};
    CHECK_INT(database_open_with(&b.d, &options, &b.err), FENEC_OK);
    database_look(b.d, MEMORY);
    CHECK(test_disk_size(disk, "/look.db") < 60000000);
    bed_close(&b);
    test_disk_free(disk);
}

/* Documents of 100 kB come, are replaced and go for ever. What is held is never less than 64 MiB, below which a
 * file is left alone. */
TEST(a_file_that_is_updated_for_ever_stays_under_twice_what_it_holds)
{
    uint64_t random = test_seed(), most = 0, written = 0;
    long rounds = test_scale(12, 200);
    char text[100];
    int held = 700;
    bed b;

    open_named(&b, "ever.fenec", FENEC_OPEN_NO_SYNC | FENEC_OPEN_NO_AUTO_COMPACT);
    bed_do(&b, "create collection t (a text, n int)");
    put_large(&b, 1, held);
    for (long round = 0; round < rounds; round++) {
        int want = 700 + (int)(test_random(&random) % 900);
        int first = (int)(test_random(&random) % (uint64_t)(held - 100)) + 1;
        put_large(&b, first, 100); /* in the place of others */
        written += 100;
        if (want > held) {
            put_large(&b, held + 1, want - held);
            written += (uint64_t)(want - held);
        } else if (want < held) {
            sprintf(text, "del t where id > %d", want);
            bed_do(&b, text);
        }
        held = want;
        CHECK_INT(database_sync(b.d, &b.err), FENEC_OK);
        database_look(b.d, MEMORY);
        CHECK_INT(database_sync(b.d, &b.err), FENEC_OK);
        uint64_t share = size_of("ever.fenec") * 100 / ((uint64_t)held * 100000);
        most = share > most ? share : most;
    }
    printf("    %ld looks at a file of 70 to 160 MB, %lu MB written: at most %lu %% of what it held\n", rounds,
           (unsigned long)written / 10, (unsigned long)most);
    CHECK(most < 200);
    sprintf(text, "{\"count\":%d}", held);
    CHECK_ROWS(&b, "get t count", text);
    bed_close(&b);
}

/* ---- the thread ---- */

TEST(an_open_file_compacts_itself_beside_reads_and_writes)
{
    uint64_t violations = lock_order_violations(), before = atomic_load(&keeper_ms);
    bed b;

    make_dead(&b, "itself.fenec", 1300, 600);
    bed_close(&b);
    atomic_store(&keeper_ms, 1);
    open_named(&b, "itself.fenec", 0);
    int n = 0;
    while (size_of("itself.fenec") > 70 * MIB && n < 2000000) {
        bed_do(&b, "put t {n: 1}");
        CHECK_ROWS(&b, "get t where id = 600 select len(a) as l", "{\"l\":100000}");
        n++;
    }
    CHECK(n < 2000000);
    printf("    %d blocks and reads while a file compacted itself\n", n);
    bed_close(&b);
    atomic_store(&keeper_ms, before);
    CHECK(size_of("itself.fenec") < 70 * MIB);
    CHECK_INT(lock_order_violations() - violations, 0);
}

TEST(a_file_opened_to_not_compact_does_not)
{
    uint64_t before = atomic_load(&keeper_ms);
    bed b;

    make_dead(&b, "never.fenec", 1300, 600);
    bed_close(&b);
    uint64_t size = size_of("never.fenec");
    atomic_store(&keeper_ms, 1);
    open_named(&b, "never.fenec", FENEC_OPEN_NO_AUTO_COMPACT);
    for (int i = 0; i < 2000; i++)
        CHECK_ROWS(&b, "get t count", "{\"count\":600}");
    bed_close(&b);
    atomic_store(&keeper_ms, before);
    CHECK_INT(size_of("never.fenec"), size);
}

TEST(a_close_waits_for_the_compaction_under_way)
{
    uint64_t before = atomic_load(&keeper_ms);
    bed b;

    make_dead(&b, "closing.fenec", 1300, 600);
    bed_close(&b);
    uint64_t size = size_of("closing.fenec");
    atomic_store(&keeper_ms, 1);
    open_named(&b, "closing.fenec", 0);
    /* Its first pages are on their way: it goes on for thousands more. */
    while (size_of("closing.fenec-wal") == 0 && size_of("closing.fenec") == size)
        sched_yield();
    bed_close(&b);
    atomic_store(&keeper_ms, before);
    CHECK(size_of("closing.fenec") < 64 * MIB);
    CHECK_INT(size_of("closing.fenec-wal"), 0);
}

static int count_in(const char *folder)
{
    DIR *d = opendir(folder);
    int count = 0;

    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    return count - 2;
}

TEST(nothing_of_a_database_stays_after_a_close)
{
    uint64_t before = atomic_load(&keeper_ms);
    long rounds = test_scale(100, 3000);
    char folder[400], text[300];
    bed b;

    snprintf(folder, sizeof folder, "%s/own", test_folder());
    CHECK_INT(mkdir(folder, 0755), 0);
    atomic_store(&keeper_ms, 1);
    int threads = count_in("/proc/self/task");
    for (long round = 0; round < rounds; round++) {
        open_named(&b, "own/x.fenec", round % 2 ? FENEC_OPEN_NO_SYNC : 0);
        if (round == 0)
            bed_do(&b, "create collection t (a text @text, n int @sorted, v vector<2> @hnsw)");
        for (int i = 0; i < 3; i++) {
            sprintf(text, "put t {a: 'words of round %ld', n: %ld, v: [1, %d]}", round, round, i);
            bed_do(&b, text);
        }
        bed_do(&b, "get t select id match a 'words' limit 2");
        bed_do(&b, "get t select id near v [1, 1] limit 2");
        bed_close(&b);
        CHECK_INT(count_in(folder), 2); /* the file and its lock */
        /* The system may list a thread for an instant after it was joined. */
        for (int i = 0; i < 100000 && threads >= 0 && count_in("/proc/self/task") != threads; i++)
            sched_yield();
        if (threads >= 0)
            CHECK_INT(count_in("/proc/self/task"), threads);
    }
    atomic_store(&keeper_ms, before);
    printf("    %ld opens and closes: no thread, no side file left\n", rounds);
}

TEST(a_close_ends_the_thread_that_looks)
{
    uint64_t before = atomic_load(&keeper_ms);

    atomic_store(&keeper_ms, 1);
    for (int round = 0; round < test_scale(200, 5000); round++) {
        bed b;
        open_named(&b, "ends.fenec", FENEC_OPEN_NO_SYNC);
        if (round == 0)
            bed_do(&b, "create collection t (n int)");
        bed_do(&b, "put t {n: 1}");
        bed_close(&b);
    }
    atomic_store(&keeper_ms, before);
}
