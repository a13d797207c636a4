/* bench_match.c - words: a @text index through fenec.h beside FTS5 of the stock SQLite (64 MiB cache, prepared
 * statements, an external-content table built by `rebuild`), `order by rank limit 10`, on the same texts in one
 * run. Texts are drawn by a seeded generator, 60 words each by Zipf's law, and then those of this machine's
 * packages as apt knows them.
 *
 *   bench_match [texts]      how many are drawn, 100000 without */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "sides.h"

enum { WORDS = 200000, TEXT_WORDS = 60, QUERIES = 200, LINE = 65536 };

static char folder[256];

/* ---- words by rank ---- */

static double *shares; /* of a word and all more frequent ones */

static void word_of(uint32_t rank, char out[16])
{
    uint64_t state = rank * 977 + 5;
    int len = 3 + (int)(draw(&state) % 7), i = 0;

    for (; i < len; i++)
        out[i] = (char)('a' + draw(&state) % 26);
    snprintf(out + i, 16 - (size_t)i, "%x", rank % 16);
}

static void make_shares(void)
{
    double sum = 0;

    shares = malloc(WORDS * sizeof *shares);
    must(shares != NULL, "memory");
    for (int i = 0; i < WORDS; i++)
        shares[i] = sum += 1.0 / (i + 1);
    for (int i = 0; i < WORDS; i++)
        shares[i] /= sum;
}

static uint32_t draw_rank(uint64_t *state)
{
    double at = (double)(draw(state) >> 11) / 9007199254740992.0;
    uint32_t low = 0, high = WORDS - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (shares[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- texts, to both sides ---- */

typedef struct filling {
    char *list;
    size_t len;
    int count;
    long total;
    sqlite3_stmt *insert;
} filling;

static void flush(filling *f)
{
    if (!f->count)
        return;
    memcpy(f->list + f->len, "]]", 3);
    run("put doc $1", f->list);
    f->count = 0;
}

static void add(filling *f, const char *text)
{
    if (f->count == 1000)
        flush(f);
    if (f->count == 0)
        f->len = (size_t)sprintf(f->list, "[[");
    else
        f->list[f->len++] = ',';
    f->len += (size_t)sprintf(f->list + f->len, "{\"body\":\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            f->list[f->len++] = '\\';
        f->list[f->len++] = (unsigned char)*p < ' ' ? ' ' : *p;
    }
    f->len += (size_t)sprintf(f->list + f->len, "\"}");
    f->count++;
    f->total++;
    sqlite3_bind_text(f->insert, 1, text, -1, SQLITE_STATIC);
    must(sqlite3_step(f->insert) == SQLITE_DONE, "insert");
    sqlite3_reset(f->insert);
}

static void begin_filling(filling *f)
{
    run("create collection doc (body text)", "");
    lite_exec("create table doc (id integer primary key, body text);"
              "create virtual table words using fts5(body, content='doc', content_rowid='id'); begin");
    *f = (filling){.list = malloc((size_t)LINE * 2200), .insert = prepare("insert into doc (body) values (?)")};
    must(f->list != NULL, "memory");
}

static void end_filling(filling *f)
{
    flush(f);
    lite_exec("commit");
    sqlite3_finalize(f->insert);
    free(f->list);
}

static void draw_texts(filling *f, long count)
{
    char text[TEXT_WORDS * 17];
    uint64_t state = 42;

    for (long i = 0; i < count; i++) {
        size_t len = 0;
        for (int k = 0; k < TEXT_WORDS; k++) {
            char word[16];
            word_of(draw_rank(&state), word);
            len += (size_t)sprintf(text + len, "%s%s", k ? " " : "", word);
        }
        add(f, text);
    }
}

/* Descriptions, one line each and what follows it. */
static bool read_packages(filling *f)
{
    FILE *from = popen("apt-cache dumpavail 2>/dev/null", "r");
    static char line[LINE], text[LINE];
    bool in = false;
    size_t len = 0;

    while (from && fgets(line, sizeof line, from)) {
        bool starts = !strncmp(line, "Description:", 12) || !strncmp(line, "Description-en:", 15);
        if (line[0] != ' ' && in && len) {
            add(f, text);
            len = 0;
        }
        in = starts || (in && line[0] == ' ');
        const char *at = starts ? strchr(line, ':') + 1 : line;
        if (in && len + strlen(at) + 1 < sizeof text) {
            strcpy(text + len, at);
            len += strlen(at);
        }
    }
    if (len)
        add(f, text);
    return from && pclose(from) == 0 && f->total > 1000;
}

/* ---- questions ---- */

typedef struct question {
    char words[3][32];
    int count;
} question;

/* Both sides by turns; the median over the questions. */
static void ask(const char *work, const question *all, int count, double target)
{
    sqlite3_stmt *s = prepare("select rowid from words where words match ? order by rank limit 10");
    double *ours = malloc((size_t)count * sizeof *ours), *theirs = malloc((size_t)count * sizeof *theirs);

    must(ours && theirs, "memory");
    for (int round = 0; round < 2; round++) { /* the first warms */
        for (int i = 0; i < count; i++) {
            char params[200] = "[\"", match[200] = "";
            for (int k = 0; k < all[i].count; k++) {
                sprintf(params + strlen(params), "%s%s", k ? " " : "", all[i].words[k]);
                sprintf(match + strlen(match), "%s\"%s\"", k ? " OR " : "", all[i].words[k]);
            }
            strcat(params, "\"]");
            double start = now_us();
            run("get doc select id match body $1 limit 10", params);
            ours[i] = now_us() - start;
            start = now_us();
            sqlite3_bind_text(s, 1, match, -1, SQLITE_STATIC);
            while (sqlite3_step(s) == SQLITE_ROW)
                sqlite3_column_int64(s, 0);
            sqlite3_reset(s);
            theirs[i] = now_us() - start;
        }
    }
    qsort(ours, (size_t)count, sizeof *ours, by_size);
    qsort(theirs, (size_t)count, sizeof *theirs, by_size);
    sample a = {.us = {ours[count / 2]}, .count = 1}, b = {.us = {theirs[count / 2]}, .count = 1};
    compare_print(work, &a, &b, target);
    sqlite3_finalize(s);
    free(ours);
    free(theirs);
}

static void build(double target)
{
    sample ours = {0}, theirs = {0};
    double start = now_us();

    char *out;
    size_t len;
    run("create index on doc (body) @text", "");
    must(fenec_warm(db, (const uint8_t *)"", 0, &out, &len) == FENEC_OK, "warm"); /* segments are one now */
    fenec_free_string(out);
    sample_add(&ours, (now_us() - start) / 1000);
    start = now_us();
    lite_exec("insert into words (words) values ('rebuild')");
    sample_add(&theirs, (now_us() - start) / 1000);
    compare_print("index build, ms", &ours, &theirs, target);
}

static void open_all(void)
{
    char path[300];
    char *out;
    size_t len;

    snprintf(folder, sizeof folder, "%s/fenec-bench-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    must(mkdtemp(folder) != NULL, "mkdtemp");
    snprintf(path, sizeof path, "%s/ours", folder);
    must(fenec_open((const uint8_t *)path, strlen(path), 0, &db, &out, &len) == FENEC_OK, "open");
    snprintf(path, sizeof path, "%s/theirs", folder);
    must(sqlite3_open(path, &lite) == SQLITE_OK, "open");
    lite_exec("pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -65536");
}

static void close_all(void)
{
    char text[300];
    char *out;
    size_t len;

    fenec_close(db, &out, &len);
    sqlite3_close(lite);
    snprintf(text, sizeof text, "rm -rf %s", folder);
    must(system(text) == 0, "rm");
}

static void ask_drawn(void)
{
    static question all[QUERIES];
    uint64_t state = 7;

    for (int i = 0; i < QUERIES; i++) {
        all[i] = (question){.count = 3};
        for (int k = 0; k < 3; k++)
            word_of(20 + (uint32_t)(draw(&state) % 2981), all[i].words[k]);
    }
    ask("match, 3 words of rank 20 to 3000, us", all, QUERIES, 0.03);
    for (int i = 0; i < QUERIES; i++) {
        all[i] = (question){.count = 1};
        word_of((uint32_t)(draw(&state) % 30), all[i].words[0]);
    }
    ask("match, one of the 30 most frequent words, us", all, QUERIES, 0.01);
    for (int i = 0; i < QUERIES; i++) {
        all[i] = (question){.count = 1};
        word_of(20000 + (uint32_t)(draw(&state) % 80000), all[i].words[0]);
    }
    ask("match, a rare word, us", all, QUERIES, 0.1);
}

static void ask_packages(void)
{
    static const question all[] = {
        {{"library", "development", "files"}, 3}, {{"python", "module", "parser"}, 3}, {{"game"}, 1},
        {{"server", "http", "proxy"}, 3},         {{"fonts", "japanese"}, 2},        {{"compression", "tool"}, 2},
        {{"the"}, 1},                             {{"documentation"}, 1},            {{"perl", "interface"}, 2},
    };
    ask("match, words of package descriptions, us", all, sizeof all / sizeof *all, 0.1);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 100000;
    filling f;

    printf("%-44s %12s %12s %8s %8s\n", "words", "fenec", "fts5", "ratio", "target");
    make_shares();
    open_all();
    begin_filling(&f);
    draw_texts(&f, count);
    end_filling(&f);
    build(1.2);
    ask_drawn();
    close_all();
    open_all();
    begin_filling(&f);
    bool any = read_packages(&f);
    end_filling(&f);
    if (any) {
        printf("%ld package descriptions\n", f.total);
        build(1.2);
        ask_packages();
    }
    close_all();
    free(shares);
    return 0;
}
