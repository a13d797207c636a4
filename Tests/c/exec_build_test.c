/* Indexes of every kind that are built beside writers. */
#include "base/thread.h"
#include "check_bed.h"
#include "exec/build.h"
#include "exec_bed.h"

#define DOCUMENTS 3000

/* `twin` gets what `t` gets, in the same block; its indexes are built when nobody writes. */
typedef struct twins {
    thread thread;
    database *d;
    _Atomic(bool) stop;
    uint64_t random;
    long blocks, put_back, failed;
} twins;

static void write_document(char *text, uint64_t *random, int64_t id)
{
    uint64_t r = test_random(random);

    sprintf(text, "i: %d, u: %d, s: 'w%d common', g: [%d, %d], v: [%d, %d], z: '{%d:0.5}/9', j: {k: %d}", (int)(r % 40),
            (int)(id * 1000 + (int64_t)(r >> 8) % 1000), (int)(r >> 16) % 30, (int)(r >> 24) % 10, (int)(r >> 28) % 10,
            (int)(r >> 32) % 10 + 1, (int)(r >> 36) % 10, (int)(r >> 40) % 9 + 1, (int)(r >> 44) % 20);
}

static int run_quietly(database *d, const char *text)
{
    buffer out;
    error err;

    buffer_init(&out);
    error_init(&err);
    int code = database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err);
    buffer_clear(&out);
    return code;
}

static void write_twins(void *argument)
{
    twins *w = argument;
    char fields[200], text[700];

    while (!atomic_load(&w->stop)) {
        int id = (int)(test_random(&w->random) % (DOCUMENTS + 200)) + 1;
        int want = FENEC_OK;
        write_document(fields, &w->random, id);
        switch (test_random(&w->random) % 6) {
        case 0:
            sprintf(text, "del t where id = %d; del twin where id = %d", id, id);
            break;
        case 1: /* what was put back never was */
            sprintf(text, "set t {%s} where id = %d; del t where id = %d; put t {id: 'none'}", fields, id, id + 1);
            want = FENEC_TYPE;
            w->put_back++;
            break;
        case 2:
            sprintf(text, "set t {s: null, g: null, z: null, v: null, j: null, i: null} where id = %d;"
                          "set twin {s: null, g: null, z: null, v: null, j: null, i: null} where id = %d", id, id);
            break;
        default:
            sprintf(text, "put t {id: %d, %s}; put twin {id: %d, %s}", id, fields, id, fields);
        }
        w->failed += run_quietly(w->d, text) != want;
        w->blocks++;
    }
}

/* An answer on `t`, beside that on `twin`. */
static void check_same(bed *b, const char *format, int n)
{
    char text[200], *ours;

    sprintf(text, format, "t", n);
    bed_do(b, text);
    ours = b->answer;
    b->answer = NULL;
    sprintf(text, format, "twin", n);
    bed_do(b, text);
    if (strcmp(ours, b->answer))
        test_failed(__FILE__, __LINE__, format, "t", n);
    memory_free(ours);
}

static void check_indexes(bed *b)
{
    for (int n = 0; n < 40; n++) {
        check_same(b, "get %s where i = %d select id, i", n);
        check_same(b, "get %s where j.k = %d select id, j", n);
        check_same(b, "get %s select id match s 'w%d' limit 5000", n);
        check_same(b, "get %s where distance(g, [3, %d]) < 300000 select id, g", n);
        check_same(b, "get %s select id near v [3, %d] exact limit 5000", n);
    }
    for (int n = 1; n < 10; n++)
        check_same(b, "get %s select id near z '{%d:1}/9' limit 5000", n);
    for (int n = 1; n <= DOCUMENTS + 200; n += 7)
        check_same(b, "get %s where u >= %d000 order u limit 3", n);
    check_same(b, "get %s where i >= %d order i select id, i", 0);
    check_same(b, "get %s where i < %d count", 20);
}

static void build_beside(const char *name, uint32_t flags, size_t run_bytes)
{
    static const char *const indexes[] = {"i) @sorted", "u) @unique", "j.k) @hash", "g) @geo",
                                          "s) @text",   "v) @hnsw",   "z) @inverted"};
    uint64_t violations = lock_order_violations();
    size_t before = atomic_load(&build_run_bytes);
    char fields[200], text[700], file[400];
    twins w = {.random = test_seed()};
    bed b = {0};

    snprintf(file, sizeof file, "%s/%s", test_folder(), name ? name : "");
    error_init(&b.err);
    CHECK_INT(database_open(&b.d, name ? (const uint8_t *)file : NULL, name ? strlen(file) : 0, flags, &b.err), FENEC_OK);
    bed_do(&b, "create collection t (i int, u int, s text, g geo, v vector<2>, z sparse<9>, j json)");
    bed_do(&b, "create collection twin (i int, u int, s text, g geo, v vector<2>, z sparse<9>, j json)");
    for (int id = 1; id <= DOCUMENTS; id++) {
        write_document(fields, &w.random, id);
        sprintf(text, "put t {id: %d, %s}; put twin {id: %d, %s}", id, fields, id, fields);
        bed_do(&b, text);
    }
    atomic_store(&build_run_bytes, run_bytes);
    w.d = b.d;
    CHECK(thread_start(&w.thread, write_twins, &w));
    for (int i = 0; i < 7; i++) {
        sprintf(text, "create index on t (%s", indexes[i]);
        bed_do(&b, text);
    }
    atomic_store(&w.stop, true);
    thread_join(&w.thread);
    atomic_store(&build_run_bytes, before);
    CHECK_INT(w.failed, 0);
    CHECK(w.put_back > 0);
    for (int i = 0; i < 7; i++) {
        sprintf(text, "create index on twin (%s", indexes[i]);
        bed_do(&b, text);
    }
    check_indexes(&b);
    printf("    7 kinds of index built beside %ld blocks, %ld of them put back, runs of %zu KiB\n", w.blocks, w.put_back,
           run_bytes / 1024);
    CHECK_INT(lock_order_violations() - violations, 0);
    bed_close(&b);
}

TEST(an_index_of_every_kind_is_built_beside_writers)
{
    build_beside("build.fenec", FENEC_OPEN_NO_SYNC, (size_t)16 * 1024 * 1024);
}

TEST(an_index_of_every_kind_is_built_from_many_runs)
{
    build_beside("build-runs.fenec", 0, 8 * 1024);
    for (long round = 0; round < test_scale(3, 60); round++)
        build_beside(NULL, 0, (size_t)1024 << round % 8);
}

/* ---- @unique beside writers whose values clash ---- */

enum { CODES = 4000 };

typedef enum clash {
    CLASH_IN_BLOCK, /* gone by the end of its block */
    CLASH_BETWEEN,  /* gone with the next block */
    CLASH_FOR_GOOD  /* the first that is not refused stays */
} clash;

typedef struct clashing {
    thread thread;
    database *d;
    clash kind;
    _Atomic(bool) stop;
    uint64_t random;
    long blocks, landed, strange;
} clashing;

static void write_clashes(void *argument)
{
    clashing *w = argument;
    char text[200];

    while (!atomic_load(&w->stop) && !(w->kind == CLASH_FOR_GOOD && w->landed)) {
        int a = (int)(test_random(&w->random) % CODES) + 1, b = a % CODES + 1;
        int len = sprintf(text, "set t {code: %d} where id = %d", b, a);
        if (w->kind == CLASH_IN_BLOCK)
            sprintf(text + len, "; set t {code: %d} where id = %d", a, a);
        int code = run_quietly(w->d, text);
        w->landed += code == FENEC_OK;
        w->strange += code != FENEC_OK && code != FENEC_DUPLICATE;
        w->blocks++;
        if (w->kind == CLASH_BETWEEN) {
            sprintf(text, "set t {code: %d} where id = %d", a, a);
            w->strange += run_quietly(w->d, text) != FENEC_OK;
        }
    }
}

/* The build's answer, and how many clashes landed. */
static int build_unique(clash kind, uint64_t seed, long *landed)
{
    clashing w = {.kind = kind, .random = seed};
    size_t before = atomic_load(&build_run_bytes);
    char text[100];
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection t (code int)");
    for (int id = 1; id <= CODES; id++) {
        sprintf(text, "put t {code: %d}", id);
        bed_do(&b, text);
    }
    atomic_store(&build_run_bytes, 2048);
    w.d = b.d;
    CHECK(thread_start(&w.thread, write_clashes, &w));
    int code = bed_run(&b, "create index on t (code) @unique", NULL, NULL, 0);
    atomic_store(&w.stop, true);
    thread_join(&w.thread);
    atomic_store(&build_run_bytes, before);
    CHECK_INT(w.strange, 0);
    if (code == FENEC_OK) {
        CHECK_CODE(&b, "set t {code: 8} where id = 7", FENEC_DUPLICATE);
        CHECK_ROWS(&b, "get t where code = 9 select id", "{\"id\":9}");
    } else {
        CHECK_INT(code, FENEC_DUPLICATE);
        CHECK(strstr(b.answer, "cannot be unique") != NULL);
        /* Nothing is left of it: another one may be made. */
        CHECK_CODE(&b, "create index on t (code) @hash", FENEC_OK);
    }
    check_is_quiet(b.d, "after the build");
    bed_close(&b);
    *landed = w.landed;
    return code;
}

TEST(clashes_within_blocks_do_not_fail_the_build_of_a_unique_index)
{
    uint64_t random = test_seed();
    long landed, all = 0;

    for (long i = test_scale(5, 100); i > 0; i--) {
        CHECK_INT(build_unique(CLASH_IN_BLOCK, test_random(&random), &landed), FENEC_OK);
        all += landed;
    }
    printf("    beside %ld blocks with a clash\n", all);
}

TEST(clashes_that_land_fail_the_build_of_a_unique_index_or_are_refused_after_it)
{
    uint64_t random = test_seed();
    long landed, failed = 0;

    for (long i = test_scale(5, 100); i > 0; i--)
        failed += build_unique(CLASH_BETWEEN, test_random(&random), &landed) == FENEC_DUPLICATE;
    for (long i = test_scale(5, 100); i > 0; i--) {
        int code = build_unique(CLASH_FOR_GOOD, test_random(&random), &landed);
        /* One of the two comes first, and the other is refused. */
        CHECK_INT(code, landed ? FENEC_DUPLICATE : FENEC_OK);
        failed += code == FENEC_DUPLICATE;
    }
    printf("    %ld builds failed\n", failed);
}
