/* concurrency.c - what several threads get of one database: durable puts, reads beside writers, a read beside
 * an aggregate and a compaction, a writer beside an index build, memory of many readers, an open after a kill.
 * Each line has its target. Works through fenec.h.
 *
 *   concurrency [rows [part]]   rows of the large collection, 1000000 without; one part: durable, memory, reads,
 *                               get, checkpoints, builds, compaction, drop, opens */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "fenec.h"

static char folder[256];
static long rows = 1000000;
static atomic_long extra_sync_us, syncs;

/* The library syncs through these: a slower disk is had by asking for one. */
static void slow_down(void)
{
    long us = atomic_load(&extra_sync_us);

    atomic_fetch_add(&syncs, 1);
    if (us)
        usleep((useconds_t)us);
}

int fsync(int fd)
{
    slow_down();
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    slow_down();
    return (int)syscall(SYS_fdatasync, fd);
}

/* ---- calls ---- */

static const char *path_of(const char *name)
{
    static _Thread_local char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static uint64_t open_file(const char *name, uint32_t flags)
{
    const char *path = path_of(name);
    uint64_t h = 0;
    char *out;

    if (fenec_open((const uint8_t *)path, strlen(path), flags, &h, &out, NULL) != FENEC_OK) {
        fprintf(stderr, "bench: open %s: %s\n", path, out);
        exit(1);
    }
    return h;
}

static void run_params(uint64_t h, const char *text, const char *params, size_t len)
{
    char *out;

    if (fenec_query(h, (const uint8_t *)text, strlen(text), (const uint8_t *)params, len, NULL, 0, &out, NULL) !=
        FENEC_OK) {
        fprintf(stderr, "bench: %.200s: %s\n", text, out);
        exit(1);
    }
    fenec_free_string(out);
}

static void run(uint64_t h, const char *text)
{
    run_params(h, text, "", 0);
}

/* ---- lines ---- */

static void heading(const char *text)
{
    printf("\n%s\n", text);
    fflush(stdout);
}

typedef enum sense { AT_LEAST, AT_MOST, NO_TARGET } sense;

static void line(const char *what, const char *unit, double value, sense s, double target)
{
    printf("  %-66s %11.3f %-8s", what, value, unit);
    if (s == NO_TARGET)
        printf("\n");
    else
        printf(" %s %-8g %s\n", s == AT_LEAST ? ">=" : "<=", target,
               (s == AT_LEAST ? value >= target : value <= target) ? "met" : "NOT MET");
    fflush(stdout);
}

/* ---- times of many calls ---- */

typedef struct times {
    double *us;
    long count, cap;
} times;

static void times_add(times *t, double us)
{
    if (t->count == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 4096;
        t->us = realloc(t->us, (size_t)t->cap * sizeof *t->us);
        must(t->us != NULL, "memory");
    }
    t->us[t->count++] = us;
}

/* Of times in order. */
static double part(const times *t, double share)
{
    long at = (long)(share * (double)t->count);

    return t->count ? t->us[at < t->count ? at : t->count - 1] : 0;
}

static void times_line(const char *what, times *t, sense s, double p99_target)
{
    char text[100];

    qsort(t->us, (size_t)t->count, sizeof *t->us, by_size);
    snprintf(text, sizeof text, "%s: p50 of %ld", what, t->count);
    line(text, "ms", part(t, 0.5) / 1000, NO_TARGET, 0);
    snprintf(text, sizeof text, "%s: p99", what);
    line(text, "ms", part(t, 0.99) / 1000, s, p99_target);
    snprintf(text, sizeof text, "%s: longest", what);
    line(text, "ms", part(t, 1) / 1000, NO_TARGET, 0);
    free(t->us);
    *t = (times){0};
}

/* ---- workers ---- */

typedef struct worker {
    pthread_t thread;
    uint64_t h;
    _Atomic(bool) *stop;
    uint64_t state;
    double every_us; /* a writer's pace; 0: as fast as it can */
    bool timed;
    times took;
    long done;
} worker;

static void *read_on(void *argument)
{
    worker *w = argument;
    char params[32];

    while (!atomic_load(w->stop)) {
        int len = snprintf(params, sizeof params, "[%lu]", (unsigned long)(draw(&w->state) % (uint64_t)rows) + 1);
        double start = w->timed ? now_us() : 0;
        run_params(w->h, "get item where id = $1", params, (size_t)len);
        if (w->timed)
            times_add(&w->took, now_us() - start);
        w->done++;
    }
    return NULL;
}

static void *write_on(void *argument)
{
    worker *w = argument;
    char params[32];
    double start = now_us();

    while (!atomic_load(w->stop)) {
        if (w->every_us) {
            double wait = start + w->every_us * (double)w->done - now_us();
            if (wait > 0)
                usleep((useconds_t)wait + 1);
        }
        int len = snprintf(params, sizeof params, "[%lu]", (unsigned long)(draw(&w->state) % (uint64_t)rows) + 1);
        double begun = w->timed ? now_us() : 0;
        run_params(w->h, "set item {n: $1} where id = $1", params, (size_t)len);
        if (w->timed)
            times_add(&w->took, now_us() - begun);
        w->done++;
    }
    return NULL;
}

/* Blocks that give a document the `twin` of another for a moment. */
static void *clash_on(void *argument)
{
    worker *w = argument;
    char params[64];
    double start = now_us();

    while (!atomic_load(w->stop)) {
        double wait = start + w->every_us * (double)w->done - now_us();
        if (wait > 0)
            usleep((useconds_t)wait + 1);
        long a = (long)(draw(&w->state) % (uint64_t)rows) + 1, b = (long)(draw(&w->state) % (uint64_t)rows) + 1;
        int len = snprintf(params, sizeof params, "[%ld,%ld]", a, b);
        double begun = now_us();
        char *out;
        /* Refused as soon as the index is there. */
        int code = fenec_query(w->h, (const uint8_t *)"set item {twin: $2} where id = $1; set item {twin: $1} where id = $1", 68,
                               (const uint8_t *)params, (size_t)len, NULL, 0, &out, NULL);
        must(code == FENEC_OK || code == FENEC_DUPLICATE, out);
        fenec_free_string(out);
        times_add(&w->took, now_us() - begun);
        w->done++;
    }
    return NULL;
}

static void *put_on(void *argument)
{
    worker *w = argument;

    while (!atomic_load(w->stop)) {
        run(w->h, "put small {n: 7, name: 'seven'}");
        w->done++;
    }
    return NULL;
}

static void *aggregate_on(void *argument)
{
    worker *w = argument;

    while (!atomic_load(w->stop)) {
        run(w->h, "get item group grp select grp, count(), avg(price)");
        w->done++;
    }
    return NULL;
}

static void begin(worker *w, void *(*work)(void *), uint64_t h, _Atomic(bool) *stop, uint64_t seed)
{
    w->h = h;
    w->stop = stop;
    w->state = seed;
    must(pthread_create(&w->thread, NULL, work, w) == 0, "thread");
}

/* What `count` threads did in a second, for `ms`. */
static double rate(uint64_t h, void *(*work)(void *), int count, int ms)
{
    _Atomic(bool) stop = false;
    worker w[64] = {0};
    long done = 0;
    double start = now_us();

    for (int i = 0; i < count; i++)
        begin(&w[i], work, h, &stop, (uint64_t)i + 1);
    usleep((useconds_t)ms * 1000);
    atomic_store(&stop, true);
    for (int i = 0; i < count; i++) {
        pthread_join(w[i].thread, NULL);
        done += w[i].done;
    }
    return (double)done * 1e6 / (now_us() - start);
}

/* ---- durable puts ---- */

static const int writer_counts[] = {1, 2, 4, 8, 16};

static void durable_puts(uint64_t h, long sync_us, double target)
{
    double middle[5], shared[5];
    char text[80];

    atomic_store(&extra_sync_us, sync_us);
    for (int i = 0; i < 5; i++) {
        sample s = {0};
        long before = atomic_load(&syncs);
        double puts = 0;
        for (int round = 0; round < 5; round++) {
            double r = rate(h, put_on, writer_counts[i], 600);
            sample_add(&s, r);
            puts += r * 0.6;
        }
        middle[i] = sample_median(&s);
        shared[i] = puts / (double)(atomic_load(&syncs) - before);
    }
    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "%d thread%s, %.1f puts a sync", writer_counts[i], i ? "s" : "", shared[i]);
        line(text, "puts/s", middle[i], NO_TARGET, 0);
    }
    line("8 threads / 1 thread", "", middle[3] / middle[0], AT_LEAST, target);
    atomic_store(&extra_sync_us, 0);
}

static void bench_durable(void)
{
    uint64_t h = open_file("durable.fenec", 0);

    run(h, "create collection small (n int, name text)");
    heading("Durable puts");
    durable_puts(h, 0, 2);
    heading("Durable puts, each sync 4 ms slower");
    durable_puts(h, 4000, 5);
    fenec_close(h, NULL, NULL);
}

/* ---- the large collection ---- */

static void fill(uint64_t h, long count)
{
    static const char *const words[] = {"red", "green", "blue", "fast", "slow", "small", "large", "old"};
    char *params = malloc(400000);
    uint64_t state = 1;

    must(params != NULL, "memory");
    run(h, "create collection item (n int, code int, twin int, grp int, price float, name text, s text, g geo, v vector<8>, z sparse<999>)");
    for (long i = 0; i < count;) {
        size_t len = (size_t)sprintf(params, "[[");
        for (int k = 0; k < 1000 && i < count; k++, i++) {
            uint64_t r = draw(&state), q = draw(&state);
            len += (size_t)sprintf(
                params + len,
                "%s{\"n\":%lu,\"code\":%ld,\"twin\":%ld,\"grp\":%lu,\"price\":%.2f,\"name\":\"name %lu\",\"s\":\"%s %s word%lu\",\"g\":[%.4f,%.4f],"
                "\"v\":[%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu],\"z\":\"{%lu:0.5,%lu:0.25}/999\"}",
                k ? "," : "", r % 1000000, i + 1, i + 1, r % 100, (double)(r % 10000) / 100, r % 50000, words[r % 8], words[q % 8],
                q % 5000, (double)(q % 3600000) / 10000 - 180, (double)(r % 1600000) / 10000 - 80, r & 7, r >> 3 & 7,
                r >> 6 & 7, r >> 9 & 7, q & 7, q >> 3 & 7, q >> 6 & 7, q >> 9 & 7, 1 + r % 499, 500 + q % 499);
        }
        len += (size_t)sprintf(params + len, "]]");
        run_params(h, "put item $1", params, len);
    }
    free(params);
    fenec_sync(h, NULL, NULL);
}

/* ---- reads beside writers ---- */

/* Reads a second of so many threads, and blocks a second of the writer beside them. */
static double reads(uint64_t h, int threads, int writing, double every_us, double *blocks)
{
    _Atomic(bool) stop = false;
    worker w = {.every_us = every_us};

    if (writing)
        begin(&w, write_on, h, &stop, 99);
    double start = now_us(), got = rate(h, read_on, threads, 600);
    atomic_store(&stop, true);
    if (writing) {
        pthread_join(w.thread, NULL);
        *blocks = (double)w.done * 1e6 / (now_us() - start);
    }
    return got;
}

static void bench_reads(uint64_t h)
{
    static const int counts[] = {1, 2, 4};
    char text[100];

    heading("Reads by id");
    for (int i = 0; i < 3; i++) {
        sample alone = {0}, paced = {0}, flat = {0}, paced_blocks = {0}, flat_blocks = {0};
        for (int round = 0; round < 5; round++) {
            double blocks = 0;
            sample_add(&alone, reads(h, counts[i], 0, 0, &blocks));
            sample_add(&paced, reads(h, counts[i], 1, 1000, &blocks));
            sample_add(&paced_blocks, blocks);
            sample_add(&flat, reads(h, counts[i], 1, 0, &blocks));
            sample_add(&flat_blocks, blocks);
        }
        double base = sample_median(&alone);
        snprintf(text, sizeof text, "%d thread%s alone", counts[i], i ? "s" : "");
        line(text, "reads/s", base, NO_TARGET, 0);
        snprintf(text, sizeof text, "%d beside %.0f durable blocks/s / alone", counts[i], sample_median(&paced_blocks));
        line(text, "", sample_median(&paced) / base, AT_LEAST, 0.8);
        snprintf(text, sizeof text, "%d beside %.0f durable blocks/s, flat out / alone", counts[i],
                 sample_median(&flat_blocks));
        line(text, "", sample_median(&flat) / base, AT_LEAST, 0.4);
    }
}

/* ---- one read beside long work ---- */

static times gets_for(uint64_t h, int ms)
{
    _Atomic(bool) stop = false;
    worker w = {.timed = true};

    begin(&w, read_on, h, &stop, 5);
    usleep((useconds_t)ms * 1000);
    atomic_store(&stop, true);
    pthread_join(w.thread, NULL);
    return w.took;
}

static void bench_beside_aggregate(uint64_t h)
{
    _Atomic(bool) stop = false;
    worker w = {0};

    heading("A get by id");
    times t = gets_for(h, 2000);
    times_line("alone", &t, NO_TARGET, 0);
    begin(&w, aggregate_on, h, &stop, 1);
    t = gets_for(h, 4000);
    atomic_store(&stop, true);
    pthread_join(w.thread, NULL);
    char text[80];
    snprintf(text, sizeof text, "beside %ld aggregates over all rows", w.done);
    times_line(text, &t, NO_TARGET, 0);
}

static void bench_beside_compaction(uint64_t h)
{
    _Atomic(bool) stop = false;
    worker reader = {.timed = true}, writer = {.timed = true, .every_us = 2000};
    char text[80];

    run(h, "create collection junk (a text)");
    char *many = malloc(1100000);
    must(many != NULL, "memory");
    int len = sprintf(many, "put junk {a: '");
    memset(many + len, 'j', 1000000);
    strcpy(many + len + 1000000, "'}");
    for (int i = 0; i < 300; i++)
        run(h, many);
    free(many);
    run(h, "del junk");
    fenec_sync(h, NULL, NULL);
    begin(&reader, read_on, h, &stop, 5);
    begin(&writer, write_on, h, &stop, 6);
    double start = now_us();
    run(h, "compact");
    double took = (now_us() - start) / 1e6;
    atomic_store(&stop, true);
    pthread_join(reader.thread, NULL);
    pthread_join(writer.thread, NULL);
    snprintf(text, sizeof text, "beside a compaction of 300 MB (%.1f s)", took);
    times_line(text, &reader.took, NO_TARGET, 0);
    heading("A durable put of 500/s beside that compaction");
    times_line("put", &writer.took, AT_MOST, 20);
}

/* ---- a writer beside builds ---- */

static void bench_builds(uint64_t h)
{
    static const char *const indexes[] = {"n) @sorted", "name) @hash",   "code) @unique", "twin) @unique",
                                          "g) @geo",    "z) @inverted", "s) @text",      "v) @hnsw(l2)"};
    char text[100];

    heading("A durable put of 500/s beside a build over all rows; beside that on `twin` each clashes for a moment");
    for (int i = -1; i < 8; i++) {
        _Atomic(bool) stop = false;
        worker w = {.every_us = 2000, .timed = true};
        begin(&w, i == 3 ? clash_on : write_on, h, &stop, 4);
        double start = now_us();
        if (i < 0) {
            usleep(2000000);
            snprintf(text, sizeof text, "alone");
        } else {
            snprintf(text, sizeof text, "create index on item (%s", indexes[i]);
            run(h, text);
            snprintf(text, sizeof text, "(%s, %.1f s", indexes[i], (now_us() - start) / 1e6);
        }
        atomic_store(&stop, true);
        pthread_join(w.thread, NULL);
        times_line(text, &w.took, AT_MOST, 20);
    }
}

/* ---- a writer beside a drop ---- */

static void *small_on(void *argument)
{
    worker *w = argument;
    double start = now_us();

    while (!atomic_load(w->stop)) {
        double wait = start + w->every_us * (double)w->done - now_us();
        if (wait > 0)
            usleep((useconds_t)wait + 1);
        double begun = now_us();
        run(w->h, "put beside {n: 7}");
        times_add(&w->took, now_us() - begun);
        w->done++;
    }
    return NULL;
}

/* The large collection goes: the last part. */
static void bench_drop(uint64_t h)
{
    static const char *const indexes[] = {"n) @sorted", "name) @hash", "code) @unique", "g) @geo", "s) @text"};
    _Atomic(bool) stop = false;
    worker w = {.every_us = 2000, .timed = true};
    char text[100];

    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "create index if not exists on item (%s", indexes[i]);
        run(h, text);
    }
    run(h, "create collection beside (n int)");
    fenec_checkpoint(h, NULL, NULL);
    heading("A durable put of 500/s to another collection beside a drop of all rows and their indexes");
    begin(&w, small_on, h, &stop, 4);
    usleep(500000);
    struct timespec before, after;
    double start = now_us();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    run(h, "drop collection item");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    line("the drop itself", "ms", (now_us() - start) / 1000, NO_TARGET, 0);
    line("of it work of the processor", "ms",
         (double)(after.tv_sec - before.tv_sec) * 1e3 + (double)(after.tv_nsec - before.tv_nsec) / 1e6, NO_TARGET, 0);
    usleep(3000000);
    atomic_store(&stop, true);
    pthread_join(w.thread, NULL);
    times_line("put", &w.took, NO_TARGET, 0);
}

/* ---- the longest a writer waits for a checkpoint ---- */

static void bench_checkpoints(uint64_t h)
{
    _Atomic(bool) stop = false;
    worker readers[4] = {0}, aggregate = {0}, writer = {.timed = true};
    struct stat log;
    long most = 0;

    heading("A durable put flat out beside 4 readers and an aggregate: it meets every checkpoint");
    for (int i = 0; i < 4; i++)
        begin(&readers[i], read_on, h, &stop, (uint64_t)i + 50);
    begin(&aggregate, aggregate_on, h, &stop, 1);
    begin(&writer, write_on, h, &stop, 7);
    for (int i = 0; i < 500; i++) {
        usleep(10000);
        if (stat(path_of("large.fenec-wal"), &log) == 0 && log.st_size > most)
            most = log.st_size;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 4; i++)
        pthread_join(readers[i].thread, NULL);
    pthread_join(aggregate.thread, NULL);
    pthread_join(writer.thread, NULL);
    times_line("put", &writer.took, AT_MOST, 20);
    line("size of the log, most", "MiB", (double)most / 1048576, NO_TARGET, 0);
}

/* ---- memory ---- */

static double live_mib(void)
{
    struct mallinfo2 m = mallinfo2();

    return (double)(m.uordblks + m.hblkhd) / 1048576;
}

static void bench_memory(void)
{
    uint64_t h = open_file("large.fenec", 0);

    heading("Memory");
    run(h, "get item where id = 1");
    double before = live_mib();
    line("live after an open and one read", "MiB", before, AT_MOST, 32);
    _Atomic(bool) stop = false;
    static worker w[64];
    double most = 0;
    for (int i = 0; i < 64; i++)
        begin(&w[i], read_on, h, &stop, (uint64_t)i + 1);
    for (int i = 0; i < 100; i++) {
        usleep(50000);
        double now = live_mib();
        most = now > most ? now : most;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 64; i++)
        pthread_join(w[i].thread, NULL);
    line("live with 64 threads that read at random", "MiB", most, NO_TARGET, 0);
    line("live when they are through", "MiB", live_mib(), NO_TARGET, 0);
    usleep(11000000);
    line("live 11 s later", "MiB", live_mib(), NO_TARGET, 0);
    fenec_close(h, NULL, NULL);
}

/* ---- opening after a kill ---- */

static void work_until_killed(int kind)
{
    uint64_t h = open_file("killed.fenec", kind == 2 ? FENEC_OPEN_NO_SYNC : 0);

    switch (kind) {
    case 0:
        for (;;)
            run(h, "set page {n: 1} where id < 200; put page {n: 2}");
    case 1:
        for (;;) {
            char *out;
            fenec_query(h, (const uint8_t *)"create index on page (n) @sorted", 32, NULL, 0, NULL, 0, &out, NULL);
            fenec_free_string(out);
            run(h, "alter collection page drop n; alter collection page add n int");
        }
    case 2:
        for (;;)
            run(h, "set page {n: 3} where id < 2000");
    case 3:
        run(h, "del page where n < 500000");
        run(h, "compact");
        for (;;)
            pause();
    case 4:
        for (;;) {
            run(h, "set page {n: 4} where id < 5000");
            fenec_checkpoint(h, NULL, NULL);
        }
    default:
        for (;;)
            run(h, "set page {n: 5} where id < 20000");
    }
}

static void fill_pages(void)
{
    uint64_t h = open_file("killed.fenec", FENEC_OPEN_NO_SYNC);
    char *text = malloc(1100000);

    must(text != NULL, "memory");
    run(h, "create collection page (n int, a text, b text @text)");
    for (long i = 0; i < rows; i += 1000) {
        size_t len = (size_t)sprintf(text, "[[");
        for (int k = 0; k < 1000; k++) {
            len += (size_t)sprintf(text + len, "%s{\"n\":%ld,\"b\":\"text %d\",\"a\":\"", k ? "," : "", i + k, k % 100);
            memset(text + len, 'a' + k % 26, 960);
            len += 960;
            len += (size_t)sprintf(text + len, "\"}");
        }
        len += (size_t)sprintf(text + len, "]]");
        run_params(h, "put page $1", text, len);
    }
    free(text);
    fenec_close(h, NULL, NULL);
}

static void bench_opens(const char *program)
{
    static const char *const kinds[] = {"small blocks", "create index", "NO_SYNC blocks", "a large delete and compact",
                                        "checkpoints", "large blocks"};
    struct stat log, file;
    char text[100], number[20], count[20];
    uint64_t state = 9;

    fill_pages();
    must(stat(path_of("killed.fenec"), &file) == 0, "stat");
    snprintf(text, sizeof text, "Open of a file of %.0f MB whose process was killed, slowest of 5", (double)file.st_size / 1e6);
    heading(text);
    for (int kind = 0; kind < 6; kind++) {
        double slowest = 0, slowest_get = 0;
        long most = 0;
        for (int round = 0; round < 5; round++) {
            snprintf(number, sizeof number, "%d", kind);
            snprintf(count, sizeof count, "%ld", rows);
            pid_t child = fork();
            must(child >= 0, "fork");
            if (child == 0) {
                execl(program, program, count, "work", folder, number, (char *)NULL);
                _exit(9);
            }
            /* A build gathers first, a compaction comes after the delete. */
            usleep((useconds_t)((kind == 1 || kind == 3 ? 2000000 : 300000) + draw(&state) % 1500000));
            kill(child, SIGKILL);
            must(waitpid(child, NULL, 0) == child, "waitpid");
            if (stat(path_of("killed.fenec-wal"), &log) == 0 && log.st_size > most)
                most = log.st_size;
            double start = now_us();
            uint64_t h = open_file("killed.fenec", FENEC_OPEN_NO_AUTO_COMPACT);
            double opened = now_us();
            run(h, "get page where id = 77");
            double got = now_us();
            slowest = opened - start > slowest ? opened - start : slowest;
            slowest_get = got - opened > slowest_get ? got - opened : slowest_get;
            fenec_close(h, NULL, NULL);
        }
        snprintf(text, sizeof text, "amid %s (log of up to %.0f MB)", kinds[kind], (double)most / 1e6);
        line(text, "ms", slowest / 1000, AT_MOST, 100);
        if (slowest_get > 5000)
            line("  and its first get", "ms", slowest_get / 1000, NO_TARGET, 0);
    }
}

static void remove_folder(void)
{
    char command[300];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "bench: %s stays\n", folder);
}

/* Over the large collection, in this order. */
static const struct {
    const char *name;
    void (*run)(uint64_t h);
} parts[] = {{"reads", bench_reads},
             {"get", bench_beside_aggregate},
             {"checkpoints", bench_checkpoints},
             {"builds", bench_builds},
             {"compaction", bench_beside_compaction},
             {"drop", bench_drop}};

static bool wanted(const char *only, const char *part)
{
    return !only || strcmp(only, part) == 0;
}

int main(int argc, char **argv)
{
    const char *base = getenv("TMPDIR");

    if (argc > 1)
        rows = atol(argv[1]);
    if (argc > 4 && strcmp(argv[2], "work") == 0) {
        snprintf(folder, sizeof folder, "%s", argv[3]);
        work_until_killed(atoi(argv[4]));
    }
    snprintf(folder, sizeof folder, "%s/fenec-bench-XXXXXX", base ? base : "/tmp");
    must(rows > 0 && mkdtemp(folder) != NULL, "folder");
    printf("fenec %s, %ld rows, %ld processors, %s\n", fenec_version(), rows, sysconf(_SC_NPROCESSORS_ONLN), folder);
    const char *only = argc > 2 ? argv[2] : NULL;
    if (wanted(only, "durable"))
        bench_durable();
    bool large = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        large |= wanted(only, parts[i].name);
    if (large || wanted(only, "memory")) {
        uint64_t h = open_file("large.fenec", FENEC_OPEN_NO_SYNC);
        fill(h, rows);
        fenec_close(h, NULL, NULL);
        if (wanted(only, "memory"))
            bench_memory();
        h = open_file("large.fenec", FENEC_OPEN_NO_AUTO_COMPACT);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (wanted(only, parts[i].name))
                parts[i].run(h);
        fenec_close(h, NULL, NULL);
        unlink(path_of("large.fenec"));
    }
    if (wanted(only, "opens"))
        bench_opens(argv[0]);
    remove_folder();
    return 0;
}
