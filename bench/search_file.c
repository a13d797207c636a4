/* search_file.c - what search indexes cost a file: a durable put beside one without them, the open, the first
 * search after it, and the memory that words take.
 *
 *   search_file [rows] [vectors]   1000000 rows with a text, 100000 of them with a vector, without */
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "compare.h"
#include "fenec.h"

enum { DIMENSION = 128, WORDS = 100000, TEXT_WORDS = 20, BLOCK = 500, PUTS = 400 };

static char folder[256];

static uint64_t open_file(const char *name, uint32_t flags)
{
    char path[300];
    uint64_t db;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(fenec_open((const uint8_t *)path, strlen(path), flags, &db, NULL, NULL) == FENEC_OK, "open");
    return db;
}

static void run(uint64_t db, const char *text, const char *params, const void *vectors, size_t vectors_len)
{
    char *out;
    size_t len;

    if (fenec_query(db, (const uint8_t *)text, strlen(text), (const uint8_t *)params, strlen(params), vectors,
                    vectors_len, &out, &len) != FENEC_OK) {
        fprintf(stderr, "bench: %.100s: %s\n", text, out);
        exit(1);
    }
    fenec_free_string(out);
}

/* Words by Zipf's law, near enough. */
static size_t draw_text(uint64_t *state, char *to)
{
    size_t len = 0;

    for (int i = 0; i < TEXT_WORDS; i++) {
        double at = (double)(draw(state) >> 11) / 9007199254740992.0;
        unsigned rank = (unsigned)pow(WORDS, at);
        len += (size_t)sprintf(to + len, "%sw%x%x", i ? " " : "", rank * 40503u % 65536, rank);
    }
    return len;
}

static size_t put_vector(uint64_t *state, uint32_t place, uint8_t *to)
{
    uint32_t head[2] = {place, DIMENSION};
    float *v = (float *)(to + sizeof head);

    memcpy(to, head, sizeof head);
    for (int i = 0; i < DIMENSION; i++)
        v[i] = (float)(draw(state) % 2001) / 1000 - 1;
    /* Around one of 256 places. */
    uint64_t centre = draw(state) % 256;
    for (int i = 0; i < DIMENSION; i++)
        v[i] = v[i] / 2 + (float)(draw(&centre) % 2001) / 1000 - 1;
    return sizeof head + DIMENSION * sizeof *v;
}

static const char fields[] = "create collection doc (body text%s, e vector<128>%s)";

static void create(uint64_t db, const char *text, const char *vector)
{
    char whole[200];

    snprintf(whole, sizeof whole, fields, text, vector);
    run(db, whole, "", "", 0);
}

/* ---- a put ---- */

static void time_puts(void)
{
    static const char text[] = "put doc {body: $1, e: $2}";
    uint64_t with = open_file("with", 0), without = open_file("without", 0), state = 5;
    static double a[PUTS], b[PUTS];
    uint8_t vector[8 + DIMENSION * 4];
    char params[TEXT_WORDS * 20 + 20];

    create(with, " @text", " @hnsw(cosine)");
    create(without, "", "");
    for (int i = 0; i < PUTS; i++) {
        size_t len = (size_t)sprintf(params, "[\"");
        len += draw_text(&state, params + len);
        strcpy(params + len, "\",null]");
        size_t bytes = put_vector(&state, 1, vector);
        double start = now_us();
        run(i % 2 ? with : without, text, params, vector, bytes);
        double middle = now_us();
        run(i % 2 ? without : with, text, params, vector, bytes);
        double end = now_us();
        a[i] = i % 2 ? middle - start : end - middle;
        b[i] = i % 2 ? end - middle : middle - start;
    }
    qsort(a, PUTS, sizeof *a, by_size);
    qsort(b, PUTS, sizeof *b, by_size);
    sample ours = {.us = {a[PUTS / 2]}, .count = 1}, theirs = {.us = {b[PUTS / 2]}, .count = 1};
    compare_print("a durable put, with indexes and without, us", &ours, &theirs, 1.3);
    fenec_close(with, NULL, NULL);
    fenec_close(without, NULL, NULL);
}

/* ---- an open ---- */

static void fill(uint64_t db, long rows, long vectors)
{
    char *text = malloc(BLOCK * 40), *params = malloc(BLOCK * (TEXT_WORDS * 20 + 20));
    uint8_t *bytes = malloc(BLOCK * (8 + DIMENSION * 4));
    uint64_t state = 9;

    must(text && params && bytes, "memory");
    for (long from = 0; from < rows; from += BLOCK) {
        size_t text_len = (size_t)sprintf(text, "put doc ["), len = 0, bytes_len = 0;
        for (int i = 0; i < BLOCK; i++) {
            bool has = from + i < vectors;
            const char *comma = i ? "," : "";
            text_len += (size_t)sprintf(text + text_len, "%s{body: $%d, e: $%d}", comma, 2 * i + 1, 2 * i + 2);
            len += (size_t)sprintf(params + len, "%s\"", i ? "," : "[");
            len += draw_text(&state, params + len);
            len += (size_t)sprintf(params + len, "\",null");
            bytes_len += has ? put_vector(&state, (uint32_t)(2 * i + 1), bytes + bytes_len) : 0;
        }
        strcpy(text + text_len, "]");
        strcpy(params + len, "]");
        run(db, text, params, bytes, bytes_len);
    }
    free(text);
    free(params);
    free(bytes);
}

static void print(const char *what, double got, double target)
{
    printf("%-44s %12.2f %12s %8s %8.2f  %s\n", what, got, "", "", target, got <= target ? "ok" : "MISSED");
    fflush(stdout);
}

static size_t held_bytes(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static double first(uint64_t db, const char *text, const char *params, const void *vectors, size_t len)
{
    double start = now_us();

    run(db, text, params, vectors, len);
    return (now_us() - start) / 1000;
}

static void time_open(long rows, long vectors)
{
    uint64_t db = open_file("large", FENEC_OPEN_NO_SYNC), state = 3;
    uint8_t vector[8 + DIMENSION * 4];
    char text[40], params[60];

    double start = now_us();
    create(db, " @text", " @hnsw(cosine)");
    fill(db, rows, vectors);
    must(fenec_warm(db, NULL, 0, NULL, NULL) == FENEC_OK, "warm");
    fenec_close(db, NULL, NULL);
    printf("%ld rows with a text, %ld of them with a vector, written and linked in %.1f s\n", rows, vectors,
           (now_us() - start) / 1e6);
    start = now_us();
    db = open_file("large", 0);
    print("open, ms", (now_us() - start) / 1000, 50);
    print("first match, ms", first(db, "get doc select id match body \"w9e371\" limit 10", "", "", 0), 1000);
    size_t len = put_vector(&state, 0, vector);
    print("first near, ms", first(db, "get doc select id near e $1 limit 10", "[null]", vector, len), 1000);
    fenec_close(db, NULL, NULL);
    db = open_file("large", 0);
    size_t before = held_bytes();
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "w%x%x", (unsigned)i * 40503u % 65536, (unsigned)i);
        snprintf(params, sizeof params, "[\"%s w%x%x\"]", text, (unsigned)(7 * i + 5) * 40503u % 65536, (unsigned)(7 * i + 5));
        run(db, "get doc select id match body $1 limit 10", params, "", 0);
    }
    print("memory of words after 3000 matches, MiB", (double)(held_bytes() - before) / 1048576, 24 + 8);
    fenec_close(db, NULL, NULL);
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? atol(argv[1]) : 1000000, vectors = argc > 2 ? atol(argv[2]) : 100000;
    char text[300];

    rows -= rows % BLOCK;
    printf("%-44s %12s %12s %8s %8s\n", "a file with search indexes", "fenec", "", "ratio", "target");
    snprintf(folder, sizeof folder, "%s/fenec-bench-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    must(mkdtemp(folder) != NULL, "mkdtemp");
    time_puts();
    time_open(rows, vectors);
    snprintf(text, sizeof text, "rm -rf %s", folder);
    must(system(text) == 0, "rm");
    return 0;
}
