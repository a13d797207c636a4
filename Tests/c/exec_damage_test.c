/* Files damaged at random, with an index of every kind and with or without a log: an error or answers, never a
 * crash, a hang or an endless loop - and where answers are others than they were, a check that says so. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "abi/handles.h"
#include "base/memory.h"
#include "damage.h"
#include "exec/database.h"
#include "fenec.h"
#include "test.h"
#include "workload.h"

enum { PAGE = 4096, SECONDS = 60 };

typedef enum manner { AT_RANDOM, OF_PAGES, OF_ROWS } manner; /* the last two: damage.h */

typedef struct damage {
    const workload *w;
    manner manner;
    uint64_t random;
    long made, refused, errors, same, others, told, untold, panics;
    char how[160];
    uint8_t *file, *log;
    size_t file_len, log_len;
} damage;

static char under_way[400];

static void hangs(int unused)
{
    ssize_t n = write(2, under_way, strlen(under_way));

    (void)unused;
    (void)n;
    _exit(99);
}

/* Of the processor's time, which a busy machine does not lengthen; and of the clock's, for who waits for ever. */
static void watch_for(int seconds)
{
    const struct itimerval work = {.it_value.tv_sec = seconds};

    setitimer(ITIMER_PROF, &work, NULL);
    alarm(10 * (unsigned)seconds);
}

static size_t below(damage *d, size_t n)
{
    return n ? (size_t)(test_random(&d->random) % n) : 0;
}

static void mutate(damage *d, uint8_t *bytes, size_t *len, const char *what)
{
    size_t pages = *len / PAGE, a = below(d, pages), b = below(d, pages), count = 1 + below(d, 4);
    uint8_t swap[PAGE];

    if (*len == 0)
        return;
    switch (below(d, 10)) {
    case 0: /* zeroed */
        if (pages)
            memset(bytes + a * PAGE, 0, PAGE);
        snprintf(d->how, sizeof d->how, "%s: page %zu zeroed", what, a + 1);
        break;
    case 1:
        *len = below(d, 2) ? 1 + below(d, *len) : below(d, pages + 1) * PAGE;
        if (*len == 0 && *what == 'f')
            *len = 1; /* an empty file is a new one */
        snprintf(d->how, sizeof d->how, "%s: cut to %zu bytes", what, *len);
        break;
    case 2:
        if (pages) {
            memcpy(swap, bytes + a * PAGE, PAGE);
            memcpy(bytes + a * PAGE, bytes + b * PAGE, PAGE);
            memcpy(bytes + b * PAGE, swap, PAGE);
        }
        snprintf(d->how, sizeof d->how, "%s: pages %zu and %zu swapped", what, a + 1, b + 1);
        break;
    case 3: /* one page in another's place */
        if (pages)
            memcpy(bytes + a * PAGE, bytes + b * PAGE, PAGE);
        snprintf(d->how, sizeof d->how, "%s: page %zu over %zu", what, b + 1, a + 1);
        break;
    case 4: { /* a run of noise */
        size_t at = below(d, *len), run = 1 + below(d, 64);
        for (size_t i = at; i < at + run && i < *len; i++)
            bytes[i] = (uint8_t)test_random(&d->random);
        snprintf(d->how, sizeof d->how, "%s: noise from %zu, %zu bytes", what, at, run);
        break;
    }
    case 5: { /* the heads of pages, where the trees hang together */
        size_t at = a * PAGE + below(d, 12);
        if (at < *len)
            bytes[at] = (uint8_t)test_random(&d->random);
        snprintf(d->how, sizeof d->how, "%s: byte %zu of page %zu", what, at % PAGE, a + 1);
        break;
    }
    default:
        for (size_t i = 0; i < count; i++) {
            size_t at = below(d, *len);
            bytes[at] ^= (uint8_t)(1u << below(d, 8));
            snprintf(d->how, sizeof d->how, "%s: %zu bits, the last in byte %zu", what, count, at);
        }
        break;
    }
}

static void count_line(void *to, const char *line)
{
    (void)line;
    ++*(long *)to;
}

/* How many findings, -1 where it ended with an error. */
static long check(uint64_t h)
{
    long lines = 0;
    const check_watch watch = {.found = count_line, .to = &lines};
    check_report report;
    error err;

    error_init(&err);
    handle *open = handle_find(h, &err);
    int code = open ? database_check(handle_database(open), &watch, &report, &err) : FENEC_MISUSE;
    if (open)
        handle_done(open);
    return code == FENEC_OK ? lines : -1;
}

static void note_panic(damage *d, const char *doing, int code, const char *answer)
{
    if (code == FENEC_PANIC || code == FENEC_MISUSE) {
        d->panics++;
        test_failed(__FILE__, __LINE__, "%s, %s: %d %.150s", d->how, doing, code, answer ? answer : "-");
    }
}

/* A log counts up to where it is damaged. */
static bool is_known(const damage *d, const char *state, int k)
{
    for (int least = d->log_len ? 0 : k; k >= least; k--)
        if (!strcmp(state, d->w->states[k]))
            return true;
    return false;
}

/* Whether two states part in answers of vector and sparse indexes alone, which a check does not go through. */
static bool part_in_near(const char *a, const char *b)
{
    while (*a && *b) {
        size_t m = strcspn(a, "\n"), n = strcspn(b, "\n");
        if ((m != n || memcmp(a, b, n)) && !strstr(strndupa(a, m < 40 ? m : 40), " near "))
            return false;
        a += m + (a[m] != 0);
        b += n + (b[n] != 0);
    }
    return *a == *b;
}

/* Everything a caller may do with it. */
static void live(damage *d, uint64_t h, int k)
{
    static const step more[] = {
        {STEP_WARM, "", NULL, false},
        {STEP_QUERY, "put doc {title: \"swan of the lake\", n: 77, e: [1, 1, 1], loc: [1, 1], s: \"{1:1}/16\"}", NULL, false},
        {STEP_QUERY, "set doc {n: n + 100, title: \"hill\"} where n > 1", NULL, false},
        {STEP_QUERY, "del doc where n < 30", NULL, false},
        {STEP_QUERY, "put log [{what: \"swan\"}, {what: \"w1 w2\"}]", NULL, false},
        {STEP_QUERY, "set log {what: \"hill\"} where id > 20", NULL, false},
        {STEP_QUERY, "create index on log (at) @sorted", NULL, false},
        {STEP_QUERY, "alter collection part add field y int", NULL, false},
        {STEP_QUERY, "compact", NULL, false},
        {STEP_CHECKPOINT, NULL, NULL, false},
        {STEP_QUERY, "get doc select id match title \"hill\" limit 3", NULL, true},
        {STEP_QUERY, "drop collection log", NULL, false},
    };
    char *answer, *state;
    int failed;

    state = workload_ask(h, &failed);
    bool same = is_known(d, state, k);
    long findings = check(h);
    if (failed)
        d->errors++;
    else if (same)
        d->same++;
    else
        d->others++;
    if (!failed && !same && findings != 0)
        d->told++;
    else if (!failed && !same && (d->manner == OF_ROWS || part_in_near(state, d->w->states[k])))
        d->untold++; /* bytes with the right checksum may be a sound row that says something else */
    else if (!failed && !same)
        workload_find(d->w, state, k, k, d->how);
    if (strstr(state, "internal error"))
        note_panic(d, "asked", FENEC_PANIC, strstr(state, "internal error"));
    free(state);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        int code = workload_step(h, &more[i], &answer);
        note_panic(d, more[i].text ? more[i].text : "checkpoint", code, answer);
        fenec_free_string(answer);
    }
    free(workload_ask(h, &failed));
}

static void try_one(damage *d, int k)
{
    uint8_t *file = malloc(d->file_len + 1), *log = malloc(d->log_len + 1);
    size_t file_len = d->file_len, log_len = d->log_len;
    test_disk *disk = test_disk_new();
    char *answer;
    uint64_t h;

    memcpy(file, d->file, file_len);
    if (log_len)
        memcpy(log, d->log, log_len);
    snprintf(d->how, sizeof d->how, "nothing");
    if (d->manner == OF_PAGES)
        for (size_t n = 1 + (below(d, 3) ? 0 : below(d, 3)); n > 0; n--)
            damage_pages(file, file_len, (int)below(d, DAMAGE_KINDS), &d->random, d->how);
    else if (d->manner == AT_RANDOM && log_len && below(d, 2))
        mutate(d, log, &log_len, "log");
    else if (d->manner == AT_RANDOM)
        mutate(d, file, &file_len, "file");
    test_disk_put(disk, WORKLOAD_FILE, file, file_len);
    if (log_len)
        test_disk_put(disk, WORKLOAD_FILE "-wal", log, log_len);
    if (d->manner == OF_ROWS)
        damage_rows(disk, WORKLOAD_FILE, &d->random, d->how);
    const char *only = getenv("FENEC_DAMAGE");
    if (only && atol(only) != d->made) {
        d->made++;
        free(file);
        free(log);
        return test_disk_free(disk);
    }
    snprintf(under_way, sizeof under_way, "hangs: FENEC_SEED=%llu FENEC_DAMAGE=%ld, state %d, %s\n",
             (unsigned long long)test_seed(), d->made, k, d->how);
    watch_for(SECONDS);
    int code = workload_open(disk, FENEC_OPEN_NO_AUTO_COMPACT, &h, &answer);
    if (code == FENEC_OK) {
        live(d, h, k);
        code = fenec_close(h, &answer, NULL);
        note_panic(d, "closed", code, answer);
        fenec_free_string(answer);
    } else {
        d->refused++;
        note_panic(d, "opened", code, answer);
        memory_free(answer);
    }
    watch_for(0);
    d->made++;
    test_disk_free(disk);
    free(file);
    free(log);
}

/* A valid file after k steps: killed, with its log, or closed. */
static void load(damage *d, int k, bool closed)
{
    test_disk *disk = test_disk_cut(d->w->starts[k], LOSE_NOTHING, &d->random);
    uint64_t h;

    if (closed) {
        CHECK_INT(workload_open(disk, 0, &h, NULL), FENEC_OK);
        CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    }
    free(d->file);
    free(d->log);
    d->file = test_disk_get(disk, WORKLOAD_FILE, &d->file_len);
    d->log = test_disk_get(disk, WORKLOAD_FILE "-wal", &d->log_len);
    test_disk_free(disk);
}

static void damage_files(manner m, long wanted)
{
    workload *w = workload_new(true);
    damage d = {.w = w, .manner = m, .random = test_seed()};
    const int states[] = {7, 30, 36, w->count - 8, w->count};
    void (*before)(int) = signal(SIGALRM, hangs);
    signal(SIGPROF, hangs);

    for (long i = 0; i < wanted; i++) {
        int k = states[i / 10 % 5];
        if (i % 10 == 0)
            load(&d, k, m == OF_ROWS || i / 50 % 3 > 0);
        try_one(&d, k);
    }
    signal(SIGALRM, before);
    signal(SIGPROF, SIG_DFL);
    printf("  %ld damaged files: %ld refused, %ld with errors, %ld answered as ever, %ld otherwise and told by a "
           "check, %ld %s untold\n",
           d.made, d.refused, d.errors, d.same, d.told, d.untold, m == OF_ROWS ? "otherwise and" : "near others");
    CHECK_INT(d.panics, 0);
    free(d.file);
    free(d.log);
    workload_free(w);
}

TEST(damage_at_random_ends_in_errors_or_answers)
{
    damage_files(AT_RANDOM, test_scale(400, 10000));
}

TEST(damage_of_what_holds_pages_together_ends_in_errors_or_answers)
{
    damage_files(OF_PAGES, test_scale(300, 10000));
}

TEST(damage_of_rows_with_right_checksums_ends_in_errors_or_answers)
{
    damage_files(OF_ROWS, test_scale(300, 10000));
}

/* A file's bytes, by a call that changes them while nobody has it open. */
static void change_file(test_disk *disk, void (*change)(uint8_t *bytes))
{
    size_t len;
    uint8_t *bytes = test_disk_get(disk, WORKLOAD_FILE, &len);

    change(bytes);
    test_disk_put(disk, WORKLOAD_FILE, bytes, len);
    free(bytes);
}

static void set_schema_number(uint8_t *bytes)
{
    memset(bytes + 40, 0xFF, 4);
}

TEST(a_schema_number_of_minus_one_hides_no_table)
{
    const step make = {STEP_QUERY, "create collection c (n int); put c [{n: 1}, {n: 2}]", NULL, false};
    const step count = {STEP_QUERY, "get c count", NULL, true};
    test_disk *disk = test_disk_new();
    char *answer;
    uint64_t h;

    CHECK_INT(workload_open(disk, 0, &h, NULL), FENEC_OK);
    CHECK_INT(workload_step(h, &make, NULL), FENEC_OK);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    change_file(disk, set_schema_number);
    CHECK_INT(workload_open(disk, 0, &h, NULL), FENEC_OK);
    CHECK_INT(workload_step(h, &count, &answer), FENEC_OK);
    CHECK(answer && strstr(answer, "2") != NULL);
    fenec_free_string(answer);
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    test_disk_free(disk);
}
