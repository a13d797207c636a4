/* bench_engine.c - point reads, puts, filters, order, counts, aggregates, opening: the engine through
 * fenec.h beside the stock SQLite library (default VFS, 64 MiB cache, the same indexes, prepared
 * statements) on the same data in one run. Prints medians and their ratio next to the target.
 *
 *   bench_engine [rows]      rows of the large table, 1000000 without */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compare.h"
#include "fenec.h"

static char folder[256];
static long rows = 1000000;
static uint64_t db;
static sqlite3 *lite;
static atomic_long extra_sync_us;

/* Both libraries sync through these: a slower disk is had by asking for one. */
int fsync(int fd)
{
    long us = extra_sync_us;
    if (us)
        usleep((useconds_t)us);
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    long us = extra_sync_us;
    if (us)
        usleep((useconds_t)us);
    return (int)syscall(SYS_fdatasync, fd);
}

static const char *path_of(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* ---- ours ---- */

static uint64_t open_ours(const char *name, uint32_t flags)
{
    uint64_t h = 0;
    const char *path = path_of(name);
    must(fenec_open((const uint8_t *)path, strlen(path), flags, &h, NULL, NULL) == FENEC_OK, path);
    return h;
}

static size_t run_params(uint64_t h, const char *text, const char *params, size_t params_len)
{
    char *out;
    size_t len;
    if (fenec_query(h, (const uint8_t *)text, strlen(text), (const uint8_t *)params, params_len, NULL, 0, &out, &len) !=
        FENEC_OK) {
        fprintf(stderr, "bench: %s: %s\n", text, out);
        exit(1);
    }
    fenec_free_string(out);
    return len;
}

static size_t run(uint64_t h, const char *text)
{
    return run_params(h, text, "", 0);
}

static const char make_ours[] = "create collection item (n int @sorted, grp int, price float, name text, at timestamp)";

/* ---- theirs ---- */

static sqlite3 *open_theirs(const char *name, const char *synchronous)
{
    sqlite3 *s;
    char text[200];
    must(sqlite3_open(path_of(name), &s) == SQLITE_OK, "sqlite3_open");
    snprintf(text, sizeof text, "pragma journal_mode=wal; pragma synchronous=%s; pragma cache_size=-65536", synchronous);
    must(sqlite3_exec(s, text, NULL, NULL, NULL) == SQLITE_OK, "pragma");
    return s;
}

static void lite_exec(sqlite3 *s, const char *text)
{
    char *why = NULL;
    if (sqlite3_exec(s, text, NULL, NULL, &why) != SQLITE_OK) {
        fprintf(stderr, "bench: %s: %s\n", text, why);
        exit(1);
    }
}

static sqlite3_stmt *prepare(sqlite3 *s, const char *text)
{
    sqlite3_stmt *out;
    must(sqlite3_prepare_v3(s, text, -1, SQLITE_PREPARE_PERSISTENT, &out, NULL) == SQLITE_OK, text);
    return out;
}

static const char make_theirs[] =
    "create table item (id integer primary key, n int, grp int, price real, name text, at int); "
    "create index item_n on item (n)";

/* A careful writer of the same JSON: numbers by the shortest text, strings escaped by runs. */
static char *put_int(char *to, sqlite3_int64 i)
{
    char digits[24], *d = digits + sizeof digits;
    uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    do
        *--d = (char)('0' + u % 10);
    while (u /= 10);
    if (i < 0)
        *--d = '-';
    size_t len = (size_t)(digits + sizeof digits - d);
    memcpy(to, d, len);
    return to + len;
}

static char *put_real(char *to, double f)
{
    int len = snprintf(to, 32, "%.15g", f);
    if (strtod(to, NULL) != f)
        len = snprintf(to, 32, "%.17g", f);
    return to + len;
}

static char *put_text(char *to, const unsigned char *text, int len)
{
    *to++ = '"';
    for (int i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *to++ = '\\';
        if (text[i] < 0x20)
            to += sprintf(to, "\\u%04x", text[i]);
        else
            *to++ = (char)text[i];
    }
    *to++ = '"';
    return to;
}

static const char *const columns[] = {"{\"id\":", ",\"n\":", ",\"grp\":", ",\"price\":", ",\"name\":", ",\"at\":"};

static char *put_row(char *to, sqlite3_stmt *s)
{
    for (int i = 0; i < 6; i++) {
        size_t len = strlen(columns[i]);
        memcpy(to, columns[i], len);
        to += len;
        switch (sqlite3_column_type(s, i)) {
        case SQLITE_INTEGER: to = put_int(to, sqlite3_column_int64(s, i)); break;
        case SQLITE_FLOAT: to = put_real(to, sqlite3_column_double(s, i)); break;
        default: to = put_text(to, sqlite3_column_text(s, i), sqlite3_column_bytes(s, i)); break;
        }
    }
    *to++ = '}';
    return to;
}

/* ---- the rows ---- */

typedef struct item {
    int64_t n;
    int grp;
    double price;
    char name[32];
    char at[32]; /* kept as text by SQLite: no library call formats it on the way out */
} item;

static item draw_item(uint64_t *state)
{
    item it;
    uint64_t r = draw(state);
    it.n = (int64_t)(r % 1000000007u);
    it.grp = (int)(draw(state) % 100);
    it.price = (double)(draw(state) % 100000) / 100;
    snprintf(it.name, sizeof it.name, "item number %llu", (unsigned long long)(draw(state) % 1000000));
    uint64_t s = draw(state) % 86400;
    snprintf(it.at, sizeof it.at, "2026-05-%02uT%02u:%02u:%02uZ", (unsigned)(1 + r % 28), (unsigned)(s / 3600),
             (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    return it;
}

static int item_json(char *out, const item *it)
{
    return sprintf(out, "{\"n\":%lld,\"grp\":%d,\"price\":%.2f,\"name\":\"%s\",\"at\":\"%s\"}", (long long)it->n, it->grp,
                   it->price, it->name, it->at);
}

static void bind_item(sqlite3_stmt *s, const item *it)
{
    sqlite3_bind_int64(s, 1, it->n);
    sqlite3_bind_int(s, 2, it->grp);
    sqlite3_bind_double(s, 3, it->price);
    sqlite3_bind_text(s, 4, it->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, it->at, -1, SQLITE_STATIC);
    must(sqlite3_step(s) == SQLITE_DONE, "insert");
    sqlite3_reset(s);
}

static const char insert_theirs[] = "insert into item (n, grp, price, name, at) values (?,?,?,?,?)";
static const char put_ours[] = "put item {n: $1, grp: $2, price: $3, name: $4, at: $5}";

static int item_params(char *out, const item *it)
{
    return sprintf(out, "[%lld,%d,%.2f,\"%s\",\"%s\"]", (long long)it->n, it->grp, it->price, it->name, it->at);
}

static void fill(void)
{
    char *list = malloc(1000 * 200);
    uint64_t state = 1;
    sqlite3_stmt *s;

    run(db, make_ours);
    lite_exec(lite, make_theirs);
    s = prepare(lite, insert_theirs);
    for (long at = 0; at < rows; at += 1000) {
        char *to = list;
        to += sprintf(to, "[[");
        lite_exec(lite, "begin");
        for (int i = 0; i < 1000; i++) {
            item it = draw_item(&state);
            if (i)
                *to++ = ',';
            to += item_json(to, &it);
            bind_item(s, &it);
        }
        to += sprintf(to, "]]");
        lite_exec(lite, "commit");
        run_params(db, "put item $1", list, (size_t)(to - list));
    }
    sqlite3_finalize(s);
    free(list);
    must(fenec_checkpoint(db, NULL, NULL) == FENEC_OK, "checkpoint");
    lite_exec(lite, "pragma wal_checkpoint(truncate)");
}

/* ---- the work ---- */

static void bench_get(void)
{
    sample ours = {0}, theirs = {0};
    sqlite3_stmt *s = prepare(lite, "select * from item where id = ?");
    size_t total = 0;

    for (int round = 0; round < 9; round++) {
        uint64_t state = 5;
        double start = now_us();
        for (int i = 0; i < 20000; i++) {
            char params[32];
            int len = sprintf(params, "[%llu]", (unsigned long long)(1 + draw(&state) % 5000));
            total += run_params(db, "get item where id = $1", params, (size_t)len);
        }
        sample_add(&ours, (now_us() - start) / 20000);
        state = 5;
        start = now_us();
        for (int i = 0; i < 20000; i++) {
            char json[512], *to = json;
            to += sprintf(to, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\",\"n\",\"grp\",\"price\",\"name\",\"at\"],\"rows\":[");
            sqlite3_bind_int64(s, 1, (sqlite3_int64)(1 + draw(&state) % 5000));
            while (sqlite3_step(s) == SQLITE_ROW)
                to = put_row(to, s);
            sqlite3_reset(s);
            to += sprintf(to, "]}}");
            char *out = malloc((size_t)(to - json) + 1);
            memcpy(out, json, (size_t)(to - json));
            total += (size_t)(to - json);
            free(out);
        }
        sample_add(&theirs, (now_us() - start) / 20000);
    }
    must(total > 0, "get");
    sqlite3_finalize(s);
    compare_print("get by id, us", &ours, &theirs, 1.0);
}

/* One text of ours against one of theirs whose rows are written as JSON. */
static void bench_text(const char *what, const char *text, const char *sql, int times, double target)
{
    sample ours = {0}, theirs = {0};
    sqlite3_stmt *s = prepare(lite, sql);
    char *json = malloc(1 << 20);

    for (int round = 0; round < 5; round++) {
        double start = now_us();
        for (int i = 0; i < times; i++)
            run(db, text);
        sample_add(&ours, (now_us() - start) / times);
        start = now_us();
        for (int i = 0; i < times; i++) {
            char *to = json;
            while (sqlite3_step(s) == SQLITE_ROW)
                to = sqlite3_column_count(s) == 6 ? put_row(to, s) : put_int(to, sqlite3_column_int64(s, 0));
            sqlite3_reset(s);
        }
        sample_add(&theirs, (now_us() - start) / times);
    }
    free(json);
    sqlite3_finalize(s);
    compare_print(what, &ours, &theirs, target);
}

static void bench_put_buffered(void)
{
    sample ours = {0}, theirs = {0};
    uint64_t h = open_ours("buffered.fenec", FENEC_OPEN_NO_SYNC), state = 3;
    sqlite3 *other = open_theirs("buffered.sqlite", "normal");

    run(h, make_ours);
    lite_exec(other, make_theirs);
    sqlite3_stmt *s = prepare(other, insert_theirs);
    for (int round = 0; round < 9; round++) {
        static char params[5000][200];
        static int lens[5000];
        static item items[5000];
        for (int i = 0; i < 5000; i++) {
            items[i] = draw_item(&state);
            lens[i] = item_params(params[i], &items[i]);
        }
        double start = now_us();
        for (int i = 0; i < 5000; i++)
            run_params(h, put_ours, params[i], (size_t)lens[i]);
        sample_add(&ours, (now_us() - start) / 5000);
        start = now_us();
        for (int i = 0; i < 5000; i++)
            bind_item(s, &items[i]);
        sample_add(&theirs, (now_us() - start) / 5000);
    }
    sqlite3_finalize(s);
    sqlite3_close(other);
    fenec_close(h, NULL, NULL);
    compare_print("put, NO_SYNC / autocommit NORMAL, us", &ours, &theirs, 0.25);
}

static void bench_put_list(void)
{
    sample ours = {0}, theirs = {0};
    uint64_t h = open_ours("list.fenec", FENEC_OPEN_NO_SYNC), state = 3;
    sqlite3 *other = open_theirs("list.sqlite", "normal");
    char *list = malloc(1000 * 200);

    run(h, make_ours);
    lite_exec(other, make_theirs);
    sqlite3_stmt *s = prepare(other, insert_theirs);
    for (int round = 0; round < 15; round++) {
        static item items[1000];
        char *to = list + sprintf(list, "[[");
        for (int i = 0; i < 1000; i++) {
            items[i] = draw_item(&state);
            if (i)
                *to++ = ',';
            to += item_json(to, &items[i]);
        }
        to += sprintf(to, "]]");
        double start = now_us();
        run_params(h, "put item $1", list, (size_t)(to - list));
        must(fenec_flush(h, NULL, NULL) == FENEC_OK, "flush");
        sample_add(&ours, now_us() - start);
        start = now_us();
        lite_exec(other, "begin");
        for (int i = 0; i < 1000; i++)
            bind_item(s, &items[i]);
        lite_exec(other, "commit");
        sample_add(&theirs, now_us() - start);
    }
    free(list);
    sqlite3_finalize(s);
    sqlite3_close(other);
    fenec_close(h, NULL, NULL);
    compare_print("put of 1000 in one list / one transaction, us", &ours, &theirs, 1.5);
}

typedef struct putter {
    uint64_t h;
    int count;
} putter;

static void *put_many(void *argument)
{
    putter *p = argument;
    uint64_t state = 9;
    char params[200];
    for (int i = 0; i < p->count; i++) {
        item it = draw_item(&state);
        int len = item_params(params, &it);
        run_params(p->h, put_ours, params, (size_t)len);
    }
    return NULL;
}

static double durable_us(uint64_t h, int threads, int each)
{
    pthread_t ids[64];
    putter p = {.h = h, .count = each};
    double start = now_us();
    for (int i = 0; i < threads; i++)
        must(pthread_create(&ids[i], NULL, put_many, &p) == 0, "thread");
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return (now_us() - start) / (threads * each);
}

static void bench_put_durable(void)
{
    sample ours = {0}, theirs = {0}, eight = {0}, slow_one = {0}, slow_eight = {0};
    uint64_t h = open_ours("durable.fenec", 0), state = 3;
    sqlite3 *other = open_theirs("durable.sqlite", "full");

    run(h, make_ours);
    lite_exec(other, make_theirs);
    sqlite3_stmt *s = prepare(other, insert_theirs);
    for (int round = 0; round < 7; round++) {
        sample_add(&ours, durable_us(h, 1, 200));
        double start = now_us();
        for (int i = 0; i < 200; i++) {
            item it = draw_item(&state);
            bind_item(s, &it);
        }
        sample_add(&theirs, (now_us() - start) / 200);
        sample_add(&eight, durable_us(h, 8, 200));
    }
    extra_sync_us = 4000;
    for (int round = 0; round < 3; round++) {
        sample_add(&slow_one, durable_us(h, 1, 40));
        sample_add(&slow_eight, durable_us(h, 8, 40));
    }
    extra_sync_us = 0;
    sqlite3_finalize(s);
    sqlite3_close(other);
    fenec_close(h, NULL, NULL);
    compare_print("put, durable, 1 thread / synchronous=FULL, us", &ours, &theirs, 1.15);
    compare_print("put, durable, 8 threads / 1 thread, us", &eight, &ours, 0.5);
    compare_print("the same, each sync 4 ms slower, us", &slow_eight, &slow_one, 0.2);
}

static double resident_mib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[200];
    double kib = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lf", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib / 1024;
}

static void bench_open(void)
{
    sample ours = {0}, limit = {0};
    for (int i = 0; i < 9; i++) {
        double start = now_us();
        uint64_t h = open_ours("large.fenec", 0);
        run(h, "get item where id = 77");
        sample_add(&ours, (now_us() - start) / 1000);
        sample_add(&limit, 50);
        fenec_close(h, NULL, NULL);
    }
    compare_print("open and one get, ms / 50 ms", &ours, &limit, 1.0);
}

/* What a fresh process that opened the file and asked it something holds of its own. */
static double idle_mib(const char *self, const char *path)
{
    char command[1200];
    double mib = 0;
    snprintf(command, sizeof command, "'%s' idle '%s'", self, path);
    FILE *child = popen(command, "r");
    must(child && fscanf(child, "%lf", &mib) == 1, "the idle process");
    pclose(child);
    return mib;
}

static int be_idle(const char *path)
{
    uint64_t h = 0;
    must(fenec_open((const uint8_t *)path, strlen(path), 0, &h, NULL, NULL) == FENEC_OK, path);
    run(h, "get item where id = 77");
    run(h, "get item where price < 5 count");
    printf("%f\n", resident_mib());
    return fenec_close(h, NULL, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "idle") == 0)
        return be_idle(argv[2]);
    const char *base = getenv("TMPDIR");
    struct stat st;

    if (argc > 1)
        rows = strtol(argv[1], NULL, 10);
    must(rows >= 10000, "at least 10000 rows are wanted");
    snprintf(folder, sizeof folder, "%s/fenec-bench-XXXXXX", base ? base : "/tmp");
    must(mkdtemp(folder) != NULL, "mkdtemp");
    printf("fenec %s beside SQLite %s, %ld rows; medians, smaller is better\n", fenec_version(), sqlite3_libversion(), rows);
    printf("%-44s %12s %12s %8s %8s\n", "work", "fenec", "sqlite", "ratio", "target");
    db = open_ours("large.fenec", FENEC_OPEN_NO_SYNC);
    lite = open_theirs("large.sqlite", "normal");
    fill();
    fenec_close(db, NULL, NULL);
    double idle = idle_mib(argv[0], path_of("large.fenec"));
    db = open_ours("large.fenec", 0);
    bench_get();
    bench_text("filter over all rows, no index, ms", "get item where grp = 50 and price > 999 limit 100000",
               "select * from item where grp = 50 and price > 999", 1, 1.0);
    bench_text("count by a filter, no index, us", "get item where price < 500 count",
               "select count(*) from item where price < 500", 1, 1.0);
    bench_text("order n limit 20 over @sorted, us", "get item order n limit 20", "select * from item order by n limit 20", 2000,
               1.5);
    bench_text("order n desc limit 20 over @sorted, us", "get item order n desc limit 20",
               "select * from item order by n desc limit 20", 2000, 1.5);
    bench_text("range count over @sorted, us", "get item where n >= 400000000 and n < 500000000 count",
               "select count(*) from item where n >= 400000000 and n < 500000000", 3, 1.5);
    bench_text("range of 100 rows over @sorted, us", "get item where n >= 500000000 and n < 500100000",
               "select * from item where n >= 500000000 and n < 500100000 order by id", 200, 1.5);
    bench_text("group by 100 keys: count, avg, us", "get item select grp, count(*), avg(price) group grp",
               "select grp, count(*), avg(price) from item group by grp", 1, 0.12);
    bench_text("group by a million names, first 20, us", "get item select name, count(*) as c group name order c desc limit 20",
               "select name, count(*) c from item group by name order by c desc, name limit 20", 1, 0.5);
    bench_text("sum, avg, min, max of all rows, us", "get item select sum(price), avg(price), min(price), max(price)",
               "select sum(price), avg(price), min(price), max(price) from item", 1, 0.5);
    bench_text("count(distinct) of names, us", "get item select count(distinct name)",
               "select count(distinct name) from item", 1, 0.5);
    bench_text("min and max of a @sorted field, us", "get item select min(n), max(n)",
               "select (select min(n) from item), (select max(n) from item)", 2000, 3.0);
    fenec_close(db, NULL, NULL);
    sqlite3_close(lite);
    bench_put_buffered();
    bench_put_list();
    bench_put_durable();
    bench_open();
    printf("%-44s %12.1f MiB, target 32\n", "memory while idle, private", idle);
    const char *library = argc > 2 ? argv[2] : "build/libfenec.so";
    if (stat(library, &st) == 0) {
        char command[600];
        snprintf(command, sizeof command, "strip -o %s/stripped.so %s", folder, library);
        if (system(command) == 0 && stat(path_of("stripped.so"), &st) == 0)
            printf("%-44s %12.2f MB, target 1.2\n", "libfenec.so, stripped", (double)st.st_size / 1e6);
    }
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0;
}
