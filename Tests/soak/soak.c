/* soak.c - a database under everything at once, for as long as it is told, with an oracle.
 *
 *   soak SECONDS
 *
 * Round after round a child opens the file and lets writers, readers, a builder of indexes and a maintainer
 * loose on it, while allocations fail here and there. It is killed at a random moment, or the disk refuses its
 * writes, or it closes. Then the file is opened again: of every writer each acknowledged block is there, nothing
 * of a later one, and a check of the whole file finds nothing. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/handles.h"
#include "base/memory.h"
#include "exec/database.h"
#include "fenec.h"
#include "search/text_index.h"
#include "sqlite_memory.h"

enum { WRITERS = 3, READERS = 3, SLOTS = 120, CHANGES_MAX = 4, TEXT = 4096 };

typedef enum ending { KILLED, CLOSED, REFUSED } ending;

/* Shared between the processes. */
typedef struct board {
    _Atomic(uint64_t) begun[WRITERS], acknowledged[WRITERS]; /* blocks */
    _Atomic(uint64_t) blocks, reads, builds, compactions, checkpoints, memory_faults, disk_faults;
    _Atomic(bool) stop;
    _Atomic(int) losses;
} board;

static board *b;
static char path[400];
static uint64_t seed;

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void lost(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void lost(const char *format, ...)
{
    va_list args;

    b->losses++;
    fprintf(stderr, "LOSS: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- what a writer does ---- */

typedef struct change {
    unsigned slot;
    bool put;
} change;

/* Block n of a writer; its last change is a put, so that n is the greatest number among its documents. */
static unsigned changes_of(unsigned w, uint64_t n, change out[CHANGES_MAX])
{
    uint64_t random = seed ^ (uint64_t)w << 56 ^ n;
    unsigned count = 1 + (unsigned)(draw(&random) % CHANGES_MAX);

    for (unsigned i = 0; i < count; i++)
        out[i] = (change){(unsigned)(draw(&random) % SLOTS), i + 1 == count || draw(&random) % 3 > 0};
    return count;
}

/* By slot the block that wrote its document, 0: none. */
typedef struct state {
    uint64_t slots[SLOTS];
    unsigned live;
} state;

static void step(state *s, unsigned w, uint64_t n)
{
    change changes[CHANGES_MAX];
    unsigned count = changes_of(w, n, changes);

    for (unsigned i = 0; i < count; i++)
        s->slots[changes[i].slot] = changes[i].put ? n : 0;
    s->live = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        s->live += s->slots[i] > 0;
}

/* The members of a document but its unique name. */
static int document(char *to, size_t cap, unsigned slot, uint64_t n)
{
    return snprintf(to, cap,
                    "\"b\":%llu,\"title\":\"swan w%u of lake w%llu\",\"n\":%llu,\"loc\":[%u.5,%llu.25],\"e\":[%u,%llu,0.5],"
                    "\"s\":\"{%u:1,%llu:2}/64\",\"tags\":[\"t%llu\",\"y\"],\"meta\":{\"k\":%llu,\"l\":[1,null]}",
                    (unsigned long long)n, slot % 31, (unsigned long long)n % 57, (unsigned long long)n % 1000, slot,
                    (unsigned long long)n % 80, slot % 5, (unsigned long long)n % 7, 1 + slot % 20,
                    21 + (unsigned long long)n % 40, (unsigned long long)n % 9, (unsigned long long)n % 11);
}

static void block_text(char *text, size_t cap, unsigned w, uint64_t n, const state *after)
{
    change changes[CHANGES_MAX];
    unsigned count = changes_of(w, n, changes);
    size_t len = 0;

    for (unsigned i = 0; i < count; i++) {
        char members[600];
        unsigned slot = changes[i].slot;
        document(members, sizeof members, slot, n);
        if (changes[i].put)
            len += (size_t)snprintf(text + len, cap - len,
                                    "del doc where u = \"%u-%u\"; put doc {\"u\":\"%u-%u\",\"w\":%u,%s}; ", w, slot, w, slot, w,
                                    members);
        else
            len += (size_t)snprintf(text + len, cap - len, "del doc where u = \"%u-%u\"; ", w, slot);
    }
    snprintf(text + len, cap - len, "set mark {n: %llu, live: %u} where w = %u require 1", (unsigned long long)n, after->live,
             w);
}

/* ---- calls ---- */

static int run(uint64_t h, const char *text, char **out)
{
    return fenec_query(h, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, out, NULL);
}

/* Now and then an allocation of the call fails. */
static int run_weary(uint64_t h, const char *text, uint64_t *random, char **out)
{
    bool fails = draw(random) % 16 == 0, engine = draw(random) % 2;

    if (fails && engine)
        memory_fail_one((long)(draw(random) % 120));
    else if (fails)
        sqlite_memory_fail_one((long)(draw(random) % 400));
    int code = run(h, text, out);
    b->memory_faults += (uint64_t)(memory_failures() + sqlite_memory_failures());
    bool met = memory_failures() + sqlite_memory_failures() > 0;
    memory_fail_after(-1);
    sqlite_memory_fail_after(-1);
    if (code == FENEC_PANIC && !met)
        lost("PANIC without a fault: %s: %s", text, out && *out ? *out : "-");
    return code;
}

static const char make[] =
    "create collection if not exists doc (u text @unique, w int @hash, b int @sorted, title text @text, n int @sorted, "
    "loc geo @geo, e vector<3> @hnsw(l2), s sparse<64> @inverted, tags [text] @hash, meta json); "
    "create collection if not exists mark (w int @unique, n int, live int)";

static const char *told(const char *answer)
{
    return answer ? answer : "-";
}

/* ---- the child ---- */

typedef struct task {
    pthread_t thread;
    uint64_t h, random;
    unsigned w;
    bool no_sync;
} task;

static bool is_over(int code)
{
    b->disk_faults += code == FENEC_IO;
    return code == FENEC_IO || code == FENEC_MISUSE;
}

static void *write_on(void *argument)
{
    task *t = argument;
    state s = {{0}, 0};
    char text[TEXT], *out;
    uint64_t n = b->acknowledged[t->w];

    for (uint64_t i = 1; i <= n; i++)
        step(&s, t->w, i);
    while (!b->stop) {
        state after = s;
        step(&after, t->w, ++n);
        block_text(text, sizeof text, t->w, n, &after);
        b->begun[t->w] = n;
        int code;
        do {
            code = run_weary(t->h, text, &t->random, &out);
            if (code != FENEC_OK && code != FENEC_PANIC && !is_over(code))
                lost("block %llu of writer %u: %d %s", (unsigned long long)n, t->w, code, told(out));
            fenec_free_string(out);
        } while (code == FENEC_PANIC && !b->stop);
        if (code != FENEC_OK)
            break;
        s = after;
        b->blocks++;
        if (!t->no_sync)
            b->acknowledged[t->w] = n;
        else if (n % 5 == 0 && fenec_flush(t->h, NULL, NULL) == FENEC_OK)
            b->acknowledged[t->w] = n;
    }
    return NULL;
}

/* One read is of one state: a writer's mark says how many documents it has and the number of its last block. */
static void check_state(uint64_t h, uint64_t *random)
{
    char text[200], *out, *at;
    unsigned w = (unsigned)(draw(random) % WRITERS);
    unsigned long long n, live, count, most;

    snprintf(text, sizeof text, "get mark select n, live where w = %u lookup doc on w = w select count(*) as c, max(b) as m", w);
    int code = run_weary(h, text, random, &out);
    at = out ? strstr(out, "\"rows\":[") : NULL;
    if (code == FENEC_OK && (!at || sscanf(at, "\"rows\":[{\"n\":%llu,\"live\":%llu,\"doc\":[{\"c\":%llu,\"m\":%llu}]}]", &n,
                                           &live, &count, &most) != 4))
        at && strstr(at, "\"n\":0") ? (void)0 : lost("%s: %s", text, told(out));
    else if (code == FENEC_OK && (live != count || n != most))
        lost("a read of several states: %s", out);
    else if (code != FENEC_OK && code != FENEC_PANIC && code != FENEC_MISUSE)
        lost("%s: %d %s", text, code, told(out));
    fenec_free_string(out);
}

static void *read_on(void *argument)
{
    static const char *const texts[] = {
        "get doc select id, title match title \"swan w3 w5\" limit 5",
        "get doc select u near e [1, 2, 0.5] limit 5",
        "get doc select u near s \"{1:1,3:1,25:2}/64\" limit 5",
        "get doc select u near loc [10, 10] limit 3",
        "get doc select w, count(*) as c, avg(n) as a group w order w",
        "get doc select u where n > 100 and n < 300 order n limit 10",
        "get doc select u where tags has \"t3\"",
        "get doc select u match title \"lake\" near e [0, 1, 0.5] fuse limit 4",
        "get doc count",
        "collections",
    };
    task *t = argument;
    char *out;

    while (!b->stop) {
        if (draw(&t->random) % 2) {
            check_state(t->h, &t->random);
        } else {
            const char *text = texts[draw(&t->random) % (sizeof texts / sizeof *texts)];
            int code = run_weary(t->h, text, &t->random, &out);
            if (code != FENEC_OK && code != FENEC_PANIC && code != FENEC_MISUSE)
                lost("%s: %d %s", text, code, told(out));
            fenec_free_string(out);
        }
        b->reads++;
    }
    return NULL;
}

/* Indexes of a field that comes and goes. */
static void *build_on(void *argument)
{
    static const char *const indexes[] = {"@hash", "@sorted", "@text"};
    task *t = argument;
    char text[100];

    while (!b->stop) {
        snprintf(text, sizeof text, "create index on doc (x) %s", indexes[draw(&t->random) % 3]);
        const char *const steps[] = {"alter collection doc add field x text", "set doc {x: title} where n < 300", text,
                                     "set doc {x: u} where n < 100", "alter collection doc drop field x"};
        for (unsigned i = 0; i < 5 && !b->stop; i++) {
            char *out;
            int code = run_weary(t->h, steps[i], &t->random, &out);
            bool late = code == FENEC_EXISTS || code == FENEC_PANIC || code == FENEC_NOT_FOUND || code == FENEC_QUERY;
            if (code != FENEC_OK && !late && !is_over(code))
                lost("%s: %d %s", steps[i], code, told(out));
            fenec_free_string(out);
            if (code == FENEC_IO)
                return NULL;
            b->builds += i == 2 && code == FENEC_OK;
        }
    }
    return NULL;
}

static void *maintain(void *argument)
{
    task *t = argument;

    while (!b->stop) {
        char *out = NULL;
        int code;
        struct timespec rest = {0, (long)(draw(&t->random) % 200) * 1000000};
        nanosleep(&rest, NULL);
        switch (draw(&t->random) % 4) {
        case 0:
            code = fenec_checkpoint(t->h, &out, NULL);
            b->checkpoints += code == FENEC_OK;
            break;
        case 1: code = fenec_warm(t->h, NULL, 0, &out, NULL); break;
        case 2: code = fenec_sync(t->h, &out, NULL); break;
        default:
            code = run_weary(t->h, "compact", &t->random, &out);
            b->compactions += code == FENEC_OK;
            break;
        }
        if (code != FENEC_OK && code != FENEC_PANIC && code != FENEC_QUERY && !is_over(code))
            lost("maintenance: %d %s", code, told(out));
        fenec_free_string(out);
    }
    return NULL;
}

static void refuse_writes(void)
{
    struct rlimit limit;
    struct stat file;
    char log[420];

    snprintf(log, sizeof log, "%s-wal", path);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = stat(log, &file) == 0 ? (rlim_t)file.st_size / 2 + 4096 : 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void child(uint64_t round, ending how, bool no_sync)
{
    enum { TASKS = WRITERS + READERS + 2 };
    task tasks[TASKS];
    char *out = NULL;
    uint64_t h, random = seed ^ round * 7919;

    signal(SIGXFSZ, SIG_IGN);
    text_index_limit(64);
    int code = fenec_open((const uint8_t *)path, strlen(path), no_sync ? FENEC_OPEN_NO_SYNC : 0, &h, &out, NULL);
    if (code != FENEC_OK) {
        lost("open: %d %s", code, told(out));
        _exit(2);
    }
    for (unsigned i = 0; i < TASKS; i++) {
        tasks[i] = (task){.h = h, .random = draw(&random), .w = i, .no_sync = no_sync};
        void *(*work)(void *) = i < WRITERS ? write_on : i < WRITERS + READERS ? read_on : i == TASKS - 1 ? maintain : build_on;
        if (pthread_create(&tasks[i].thread, NULL, work, &tasks[i]) != 0)
            _exit(3);
    }
    if (how == REFUSED) {
        struct timespec rest = {0, (long)(draw(&random) % 400) * 1000000};
        nanosleep(&rest, NULL);
        refuse_writes();
    }
    for (unsigned i = 0; i < TASKS; i++)
        pthread_join(tasks[i].thread, NULL);
    code = fenec_close(h, &out, NULL);
    /* Want of memory may take SQLite's transaction along, and what NO_SYNC had gathered in it. */
    if (code != FENEC_OK && how != REFUSED && !(no_sync && code == FENEC_IO))
        lost("close: %d %s", code, told(out));
    _exit(0);
}

/* ---- the oracle ---- */

static void found(void *to, const char *line)
{
    (void)to;
    lost("check: %s", line);
}

static void check_writer(uint64_t h, unsigned w)
{
    state s = {{0}, 0};
    char text[200], *out;
    unsigned long long n = 0;

    snprintf(text, sizeof text, "get mark select n where w = %u", w);
    int code = run(h, text, &out);
    const char *at = out ? strstr(out, "\"rows\":[{\"n\":") : NULL;
    if (code != FENEC_OK || !at || sscanf(at, "\"rows\":[{\"n\":%llu", &n) != 1)
        lost("%s: %d %s", text, code, told(out));
    fenec_free_string(out);
    if (n < b->acknowledged[w] || n > b->begun[w])
        lost("writer %u: block %llu is the last, acknowledged %llu, begun %llu", w, n, (unsigned long long)b->acknowledged[w],
             (unsigned long long)b->begun[w]);
    for (uint64_t i = 1; i <= n; i++)
        step(&s, w, i);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        char members[600], want[800];
        document(members, sizeof members, slot, s.slots[slot]);
        snprintf(text, sizeof text, "get doc select b, title, n, loc, e, s, tags, meta where u = \"%u-%u\"", w, slot);
        snprintf(want, sizeof want, "\"rows\":[%s%s%s]", s.slots[slot] ? "{" : "", s.slots[slot] ? members : "",
                 s.slots[slot] ? "}" : "");
        code = run(h, text, &out);
        if (code != FENEC_OK || !strstr(out, want))
            lost("writer %u after block %llu: %s: %d %s, not %s", w, n, text, code, told(out), want);
        fenec_free_string(out);
    }
    b->acknowledged[w] = b->begun[w] = n;
}

static void verify(bool first)
{
    const check_watch watch = {.found = found};
    check_report report;
    char *out = NULL, text[100];
    uint64_t h;
    error err;

    text_index_limit(64);
    int code = fenec_open((const uint8_t *)path, strlen(path), 0, &h, &out, NULL);
    if (code != FENEC_OK) {
        lost("reopen: %d %s", code, told(out));
        _exit(2);
    }
    if (first) {
        if (run(h, make, NULL) != FENEC_OK)
            _exit(3);
        for (unsigned w = 0; w < WRITERS; w++) {
            snprintf(text, sizeof text, "put mark {w: %u, n: 0, live: 0} if absent", w);
            if (run(h, text, NULL) != FENEC_OK)
                _exit(4);
        }
    }
    for (unsigned w = 0; w < WRITERS; w++)
        check_writer(h, w);
    error_init(&err);
    handle *open = handle_find(h, &err);
    if (!open || database_check(handle_database(open), &watch, &report, &err) != FENEC_OK)
        lost("the check answers %s", err.message);
    if (open)
        handle_done(open);
    code = fenec_close(h, &out, NULL);
    if (code != FENEC_OK)
        lost("close: %d %s", code, told(out));
    _exit(0);
}

/* ---- rounds ---- */

static bool ended_well(pid_t pid, bool killed, const char *what)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) ? WEXITSTATUS(status) == 0 : killed && WTERMSIG(status) == SIGKILL)
        return true;
    lost("%s ended with status %d", what, status);
    return false;
}

static bool run_verify(bool first)
{
    pid_t pid = fork();

    if (pid == 0)
        verify(first);
    return ended_well(pid, false, "the oracle");
}

static bool run_round(uint64_t round, uint64_t *random, long counts[3])
{
    ending how = draw(random) % 4 < 2 ? KILLED : draw(random) % 2 ? CLOSED : REFUSED;
    bool no_sync = draw(random) % 4 == 0;
    long ms = 20 + (long)(draw(random) % 1500);
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};

    counts[how]++;
    b->stop = false;
    pid_t pid = fork();
    if (pid == 0)
        child(round, how, no_sync);
    nanosleep(&rest, NULL);
    b->stop = how != KILLED;
    if (how == KILLED)
        kill(pid, SIGKILL);
    return ended_well(pid, how == KILLED, "a child") && run_verify(false);
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? atol(argv[1]) : 60, counts[3] = {0};
    const char *base = getenv("TMPDIR"), *given = getenv("FENEC_SEED");
    time_t start = time(NULL), said = start;
    char folder[300], command[340];
    uint64_t round = 0;

    seed = given ? strtoull(given, NULL, 0) : (uint64_t)start * 2654435761u ^ (uint64_t)getpid();
    uint64_t random = seed;
    b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(folder, sizeof folder, "%s/fenec-soak-XXXXXX", base ? base : "/tmp");
    if (b == MAP_FAILED || !mkdtemp(folder)) {
        perror("soak");
        return 1;
    }
    snprintf(path, sizeof path, "%s/soak.fenec", folder);
    printf("soak for %ld s, seed %llu, in %s\n", seconds, (unsigned long long)seed, folder);
    fflush(stdout);
    bool well = run_verify(true);
    while (well && b->losses == 0 && time(NULL) - start < seconds) {
        well = run_round(++round, &random, counts);
        bool last = !well || b->losses || time(NULL) - start >= seconds;
        if (!last && time(NULL) - said < 60)
            continue;
        said = time(NULL);
        printf("%4ld s: %llu rounds (%ld killed, %ld closed, %ld refused by the disk), %llu blocks, %llu reads, %llu index "
               "builds, %llu compactions, %llu checkpoints; faults: %ld kills, %llu allocations, %llu writes refused; "
               "losses: %d\n",
               (long)(said - start), (unsigned long long)round, counts[KILLED], counts[CLOSED], counts[REFUSED],
               (unsigned long long)b->blocks, (unsigned long long)b->reads, (unsigned long long)b->builds,
               (unsigned long long)b->compactions, (unsigned long long)b->checkpoints, counts[KILLED],
               (unsigned long long)b->memory_faults, (unsigned long long)b->disk_faults, (int)b->losses);
        fflush(stdout);
    }
    if (!well || b->losses) {
        printf("kept: %s\n", folder);
        return 1;
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : 1;
}
