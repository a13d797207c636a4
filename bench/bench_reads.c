/* bench_reads.c - what reads ask beside rows: lookups and chains of them, facets. The engine through fenec.h
 * beside the stock SQLite library (64 MiB cache, the same indexes, prepared statements) on the same data in
 * one run; of several spellings in SQL the fastest counts. Both write the same nested JSON.
 *
 *   bench_reads [rows]      rows of the table of goods, 1000000 without */
#include <stdbool.h>
#include <unistd.h>

#include "sides.h"

enum {
    SHOPS = 66667,
    ORDERS = 3 * SHOPS, /* 3 a shop */
    LINES = 200000,     /* 5 an order, of the first orders */
    CHAINED = LINES / 15, /* shops whose orders all have lines */
    PAGE = 20,
    BRANDS = 100
};

static char folder[256];
static long rows = 1000000;
static char *text_room; /* answers of SQLite's side */

/* ---- both sides ---- */

static const char *path_of(const char *name)
{
    static char paths[2][512];
    static int next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* ---- the rows ---- */

/* Rows go to both sides from the same texts: JSON documents in lists, and statements. */
typedef struct filling {
    char *list;
    size_t len;
    int count;
    const char *collection;
} filling;

static void flush(filling *f)
{
    char text[100];

    if (!f->count)
        return;
    f->list[f->len++] = ']';
    f->list[f->len++] = ']';
    f->list[f->len] = 0;
    snprintf(text, sizeof text, "put %s $1", f->collection);
    run(text, f->list);
    f->count = 0;
}

static char *place(filling *f)
{
    if (f->count == 1000)
        flush(f);
    if (f->count == 0)
        f->len = (size_t)sprintf(f->list, "[[");
    else
        f->list[f->len++] = ',';
    f->count++;
    return f->list + f->len;
}

static void add_shop(filling *f, sqlite3_stmt *s, int i)
{
    char name[40];

    snprintf(name, sizeof name, "shop number %d", i * 7919 % SHOPS);
    char *to = place(f);
    f->len += (size_t)sprintf(to, "{\"id\":%d,\"name\":\"%s\"}", i, name);
    sqlite3_bind_int(s, 1, i);
    sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC);
}

static void add_order(filling *f, sqlite3_stmt *s, int i)
{
    int shop = (i - 1) / 3 + 1, total = i * 31 % 1000;

    char *to = place(f);
    f->len += (size_t)sprintf(to, "{\"id\":%d,\"shop_id\":%d,\"total\":%d,\"state\":\"paid\"}", i, shop, total);
    sqlite3_bind_int(s, 1, i);
    sqlite3_bind_int(s, 2, shop);
    sqlite3_bind_int(s, 3, total);
    sqlite3_bind_text(s, 4, "paid", -1, SQLITE_STATIC);
}

static void add_line(filling *f, sqlite3_stmt *s, int i)
{
    int order = (i - 1) / 5 + 1, quantity = i % 9 + 1;

    char *to = place(f);
    f->len += (size_t)sprintf(to, "{\"id\":%d,\"order_id\":%d,\"quantity\":%d}", i, order, quantity);
    sqlite3_bind_int(s, 1, i);
    sqlite3_bind_int(s, 2, order);
    sqlite3_bind_int(s, 3, quantity);
}

static void add_good(filling *f, sqlite3_stmt *s, int i)
{
    uint64_t state = (uint64_t)i, r = draw(&state);
    char brand[20];
    int price = (int)(draw(&state) % 1000);

    snprintf(brand, sizeof brand, "brand %u", (unsigned)(r % BRANDS));
    char *to = place(f);
    f->len += (size_t)sprintf(to, "{\"id\":%d,\"brand\":\"%s\",\"price\":%d}", i, brand, price);
    sqlite3_bind_int(s, 1, i);
    sqlite3_bind_text(s, 2, brand, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 3, price);
}

static void fill(const char *collection, const char *insert, int count, void (*add)(filling *, sqlite3_stmt *, int))
{
    filling f = {.list = malloc(1 << 20), .collection = collection};
    sqlite3_stmt *s = prepare(insert);

    must(f.list != NULL, "memory");
    lite_exec("begin");
    for (int i = 1; i <= count; i++) {
        add(&f, s, i);
        /* place() has flushed what was full before this one. */
        must(sqlite3_step(s) == SQLITE_DONE, insert);
        sqlite3_reset(s);
    }
    flush(&f);
    lite_exec("commit");
    sqlite3_finalize(s);
    free(f.list);
}

static void fill_all(void)
{
    run("create collection shop (name text)", "");
    run("create collection orders (shop_id int @hash, total int, state text)", "");
    run("create collection line (order_id int @hash, quantity int)", "");
    run("create collection good (brand text @hash, price int)", "");
    lite_exec("create table shop (id integer primary key, name text);"
              "create table orders (id integer primary key, shop_id int, total int, state text);"
              "create table line (id integer primary key, order_id int, quantity int);"
              "create table good (id integer primary key, brand text, price int);"
              "create index orders_shop on orders (shop_id);"
              "create index line_order on line (order_id);"
              "create index good_brand on good (brand)");
    fill("shop", "insert into shop values (?, ?)", SHOPS, add_shop);
    fill("orders", "insert into orders values (?, ?, ?, ?)", ORDERS, add_order);
    fill("line", "insert into line values (?, ?, ?)", LINES, add_line);
    fill("good", "insert into good values (?, ?, ?)", (int)rows, add_good);
}

/* ---- nested JSON on SQLite's side ---- */

static char *put_chars(char *to, const char *text)
{
    size_t len = strlen(text);
    memcpy(to, text, len);
    return to + len;
}

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

static char *put_string(char *to, sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    int len = sqlite3_column_bytes(s, column);

    *to++ = '"';
    for (int i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *to++ = '\\';
        *to++ = (char)text[i];
    }
    *to++ = '"';
    return to;
}

static char *put_shop(char *to, sqlite3_stmt *s, int at)
{
    to = put_chars(to, "{\"id\":");
    to = put_int(to, sqlite3_column_int64(s, at));
    to = put_chars(to, ",\"name\":");
    return put_string(to, s, at + 1);
}

static char *put_order(char *to, sqlite3_stmt *s, int at)
{
    to = put_chars(to, "{\"id\":");
    to = put_int(to, sqlite3_column_int64(s, at));
    to = put_chars(to, ",\"total\":");
    to = put_int(to, sqlite3_column_int64(s, at + 1));
    to = put_chars(to, ",\"state\":");
    return put_string(to, s, at + 2);
}

static char *put_line(char *to, sqlite3_stmt *s, int at)
{
    to = put_chars(to, "{\"id\":");
    to = put_int(to, sqlite3_column_int64(s, at));
    to = put_chars(to, ",\"quantity\":");
    to = put_int(to, sqlite3_column_int64(s, at + 1));
    return put_chars(to, "}");
}

static const char parents[] = "select id, name from shop where id > ? order by id limit 20";

/* Prepared statements under one another. */
static char *by_statements(int after, bool chain)
{
    static sqlite3_stmt *shop, *orders, *line;
    char *to = text_room;

    if (!shop) {
        shop = prepare(parents);
        orders = prepare("select id, total, state from orders where shop_id = ? order by id");
        line = prepare("select id, quantity from line where order_id = ? order by id");
    }
    sqlite3_bind_int(shop, 1, after);
    for (int i = 0; sqlite3_step(shop) == SQLITE_ROW; i++) {
        to = put_shop(i ? put_chars(to, ",") : to, shop, 0);
        to = put_chars(to, ",\"orders\":[");
        sqlite3_bind_int64(orders, 1, sqlite3_column_int64(shop, 0));
        for (int j = 0; sqlite3_step(orders) == SQLITE_ROW; j++) {
            to = put_order(j ? put_chars(to, ",") : to, orders, 0);
            if (chain) {
                to = put_chars(to, ",\"line\":[");
                sqlite3_bind_int64(line, 1, sqlite3_column_int64(orders, 0));
                for (int k = 0; sqlite3_step(line) == SQLITE_ROW; k++)
                    to = put_line(k ? put_chars(to, ",") : to, line, 0);
                sqlite3_reset(line);
                to = put_chars(to, "]");
            }
            to = put_chars(to, "}");
        }
        sqlite3_reset(orders);
        to = put_chars(to, "]}");
    }
    sqlite3_reset(shop);
    return to;
}

/* One join, whose rows repeat the parents. */
static char *by_join(int after, bool chain)
{
    static sqlite3_stmt *two, *three;
    char *to = text_room;

    if (!two) {
        two = prepare("select s.id, s.name, o.id, o.total, o.state "
                      "from (select id, name from shop where id > ? order by id limit 20) s "
                      "left join orders o on o.shop_id = s.id order by s.id, o.id");
        three = prepare("select s.id, s.name, o.id, o.total, o.state, l.id, l.quantity "
                        "from (select id, name from shop where id > ? order by id limit 20) s "
                        "left join orders o on o.shop_id = s.id left join line l on l.order_id = o.id "
                        "order by s.id, o.id, l.id");
    }
    sqlite3_stmt *s = chain ? three : two;
    sqlite3_int64 shop = 0, order = 0;
    sqlite3_bind_int(s, 1, after);
    while (sqlite3_step(s) == SQLITE_ROW) {
        bool new_shop = sqlite3_column_int64(s, 0) != shop, new_order = new_shop || sqlite3_column_int64(s, 2) != order;
        if (new_shop) {
            if (shop)
                to = put_chars(to, chain ? "]}]}," : "}]},");
            to = put_shop(to, s, 0);
            to = put_chars(to, ",\"orders\":[");
            shop = sqlite3_column_int64(s, 0);
        }
        if (new_order) {
            if (!new_shop)
                to = put_chars(to, chain ? "]}," : "},");
            to = put_order(to, s, 2);
            if (chain)
                to = put_chars(to, ",\"line\":[");
            order = sqlite3_column_int64(s, 2);
        }
        if (chain)
            to = put_line(new_order ? to : put_chars(to, ","), s, 5);
    }
    sqlite3_reset(s);
    return put_chars(to, chain ? "]}]}" : "}]}");
}

/* One statement that makes the JSON itself. */
static char *by_json(int after, bool chain)
{
    static sqlite3_stmt *two, *three;

    if (!two) {
        two = prepare("select json_group_array(json_object('id', s.id, 'name', s.name, 'orders', "
                      "(select json_group_array(json_object('id', o.id, 'total', o.total, 'state', o.state)) "
                      "from orders o where o.shop_id = s.id))) "
                      "from (select id, name from shop where id > ? order by id limit 20) s");
        three = prepare("select json_group_array(json_object('id', s.id, 'name', s.name, 'orders', "
                        "(select json_group_array(json_object('id', o.id, 'total', o.total, 'state', o.state, 'line', "
                        "(select json_group_array(json_object('id', l.id, 'quantity', l.quantity)) "
                        "from line l where l.order_id = o.id))) from orders o where o.shop_id = s.id))) "
                        "from (select id, name from shop where id > ? order by id limit 20) s");
    }
    sqlite3_stmt *s = chain ? three : two;
    sqlite3_bind_int(s, 1, after);
    must(sqlite3_step(s) == SQLITE_ROW, "json");
    /* its brackets left out, to be as long as the others' */
    size_t len = (size_t)sqlite3_column_bytes(s, 0) - 2;
    memcpy(text_room, sqlite3_column_text(s, 0) + 1, len);
    sqlite3_reset(s);
    return text_room + len;
}

/* ---- lookups ---- */

typedef char *spelling(int after, bool chain);

static void bench_lookup(const char *work, const char *text, bool chain)
{
    static spelling *const spellings[] = {by_statements, by_join, by_json};
    enum { ROUNDS = 9, TIMES = 1500 };
    sample ours = {0}, theirs[3] = {0};
    char params[32];
    uint64_t state = 7;

    /* what both write is equally long, the frame aside */
    size_t frame = strlen("{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\",\"name\"],\"rows\":[]}}");
    snprintf(params, sizeof params, "[%d]", 40);
    for (int k = 0; k < 3; k++)
        must(run(text, params) - frame == (size_t)(spellings[k](40, chain) - text_room), "the same answer");
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_us();
        for (int i = 0; i < TIMES; i++) {
            snprintf(params, sizeof params, "[%d]", (int)(draw(&state) % (CHAINED - PAGE)));
            run(text, params);
        }
        sample_add(&ours, (now_us() - start) / TIMES);
        for (int k = 0; k < 3; k++) {
            start = now_us();
            for (int i = 0; i < TIMES; i++)
                spellings[k]((int)(draw(&state) % (CHAINED - PAGE)), chain);
            sample_add(&theirs[k], (now_us() - start) / TIMES);
        }
    }
    const sample *best = &theirs[0];
    for (int k = 1; k < 3; k++)
        if (sample_median(&theirs[k]) < sample_median(best))
            best = &theirs[k];
    compare_print(work, &ours, best, 0.6);
}

/* ---- facets ---- */

static void count_values(sqlite3_stmt *s)
{
    char *to = text_room;

    while (sqlite3_step(s) == SQLITE_ROW) {
        to = put_string(to, s, 0);
        to = put_int(to, sqlite3_column_int64(s, 1));
    }
    sqlite3_reset(s);
}

static void page_of(sqlite3_stmt *s)
{
    char *to = text_room;

    while (sqlite3_step(s) == SQLITE_ROW) {
        to = put_int(to, sqlite3_column_int64(s, 0));
        to = put_string(to, s, 1);
        to = put_int(to, sqlite3_column_int64(s, 2));
    }
    sqlite3_reset(s);
}

static void bench_facet(const char *work, const char *text, const char *page, const char *counts, double target)
{
    enum { ROUNDS = 5 };
    sqlite3_stmt *rows_of = prepare(page), *counts_of = prepare(counts);
    sample ours = {0}, theirs = {0};

    for (int round = 0; round < ROUNDS; round++) {
        double start = now_us();
        run(text, "");
        sample_add(&ours, now_us() - start);
        start = now_us();
        page_of(rows_of);
        count_values(counts_of);
        sample_add(&theirs, now_us() - start);
    }
    sqlite3_finalize(rows_of);
    sqlite3_finalize(counts_of);
    compare_print(work, &ours, &theirs, target);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rows = atol(argv[1]);
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/fenec-bench-XXXXXX", base ? base : "/tmp");
    must(mkdtemp(folder) != NULL, "mkdtemp");
    text_room = malloc(1 << 20);
    must(text_room != NULL, "memory");
    const char *path = path_of("ours");
    must(fenec_open((const uint8_t *)path, strlen(path), FENEC_OPEN_NO_SYNC, &db, NULL, NULL) == FENEC_OK, path);
    must(sqlite3_open(path_of("theirs"), &lite) == SQLITE_OK, "sqlite3_open");
    lite_exec("pragma journal_mode=wal; pragma synchronous=normal; pragma cache_size=-65536");
    printf("reads: fenec %s beside SQLite %s, %ld rows, times in us\n", fenec_version(), sqlite3_libversion(), rows);
    fill_all();

    printf("%-44s %12s %12s %8s %8s\n", "work", "fenec", "sqlite", "ratio", "target");
    bench_lookup("lookup, 20 x 3 of 200000",
                 "get shop where id > $1 limit 20 lookup orders on shop_id select id, total, state", false);
    bench_lookup("chain, 20 x 3 x 5 of 200000",
                 "get shop where id > $1 limit 20 lookup orders on shop_id select id, total, state "
                 "lookup line on order_id select id, quantity", true);
    bench_facet("page of 20 and facet over @hash", "get good limit 20 facet brand top 10",
                "select id, brand, price from good order by id limit 20",
                "select brand, count(*) from good group by brand order by 2 desc, 1 limit 10", 1.0);
    bench_facet("page of 20 and facet of half the rows", "get good where price < 500 limit 20 facet brand top 10",
                "select id, brand, price from good where price < 500 order by id limit 20",
                "select brand, count(*) from good where price < 500 group by brand order by 2 desc, 1 limit 10", 0.5);

    fenec_close(db, NULL, NULL);
    sqlite3_close(lite);
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : 1;
}
