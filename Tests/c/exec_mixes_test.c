/* Copies of a file and of its log that were made at different moments of a load, put beside each other: either
 * the database opens to a state that was committed, or it is refused. A copy is of one moment, also one in the
 * middle of a checkpoint. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check_bed.h"
#include "test_vfs.h"

#define PATH "/mixed.db"
#define LOG PATH "-wal"
#define IDS 60
#define COPIES_MAX 200

typedef struct copy {
    uint8_t *bytes;
    size_t len;
} copy;

typedef struct copying {
    test_disk *disk;
    pthread_mutex_t lock;
    uint64_t random;
    uint32_t every; /* calls of the disk to a copy, on average */
    int wanted;
    copy mains[COPIES_MAX], logs[COPIES_MAX];
    int main_count, log_count;
} copying;

static void take(copying *k, const char *path, copy *into, int *count)
{
    if (*count >= k->wanted)
        return;
    into[*count].bytes = test_disk_get(k->disk, path, &into[*count].len);
    *count += into[*count].bytes != NULL;
}

static void copy_now(void *to, disk_call call, const char *path)
{
    copying *k = to;

    /* Writes to the file itself are those of a checkpoint: more of them. */
    bool folds = call == DISK_WRITE && strcmp(path, PATH) == 0;
    pthread_mutex_lock(&k->lock);
    uint32_t drawn = check_draw(&k->random, folds ? k->every / 8 : k->every);
    if (drawn == 0)
        take(k, PATH, k->mains, &k->main_count);
    else if (drawn == 1)
        take(k, LOG, k->logs, &k->log_count);
    pthread_mutex_unlock(&k->lock);
}

/* Block n writes n to the document that all blocks share, and to some of the others, so that a state tells which
 * block it is of and what all the others have to be. */
static uint32_t touched(int n, int which)
{
    return 2 + (uint32_t)(n * 7 + which * 13) % IDS;
}

static void write_block(database *d, int n)
{
    buffer b;

    buffer_init(&b);
    buffer_printf(&b, "put doc {id: 1, n: %d, name: \"n%d\"}", n, n);
    for (int i = 0; i < 3; i++) {
        buffer_printf(&b, "; put doc {id: %u, n: %d, name: \"n%d.%d\", body: \"word%d\", big: \"", touched(n, i), n,
                      n, i, n % 50);
        for (int k = 0; k < 400; k++)
            buffer_printf(&b, "%d ", n);
        buffer_text(&b, "\"}");
    }
    buffer_byte(&b, 0);
    check_must(d, (const char *)b.bytes);
    buffer_clear(&b);
}

static database *open_on(test_disk *disk, error *err)
{
    const store_options options = {
        .path = (const uint8_t *)PATH, .path_len = strlen(PATH), .vfs = test_disk_vfs(disk)};
    database *d = NULL;

    error_init(err);
    return database_open_with(&d, &options, err) == FENEC_OK ? d : NULL;
}

static char *answer_of(database *d, const char *text)
{
    buffer out;
    error err;
    size_t len;

    buffer_init(&out);
    error_init(&err);
    int rc = database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err);
    if (rc) {
        out.len = 0;
        buffer_text(&out, err.message);
    }
    return buffer_take(&out, &len);
}

/* Whether the database is as some block left it. */
static bool is_committed(database *d)
{
    int last[IDS + 2] = {0}, n = 0;
    char *head = answer_of(d, "get doc where id = 1 select n"), *at = strstr(head, "\"rows\":[{\"n\":");
    buffer want;
    size_t len;

    if (at)
        n = atoi(at + strlen("\"rows\":[{\"n\":"));
    bool empty = strstr(head, "there is no collection") || strstr(head, "\"rows\":[]");
    memory_free(head);
    if (!n)
        return empty;
    for (int i = 1; i <= n; i++)
        for (int k = 0; k < 3; k++)
            last[touched(i, k)] = i;
    buffer_init(&want);
    buffer_text(&want, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\",\"n\"],\"rows\":[");
    buffer_printf(&want, "{\"id\":1,\"n\":%d}", n);
    for (int id = 2; id < IDS + 2; id++)
        if (last[id])
            buffer_printf(&want, ",{\"id\":%d,\"n\":%d}", id, last[id]);
    buffer_text(&want, "]}}");
    char *wanted = buffer_take(&want, &len), *got = answer_of(d, "get doc order id select id, n");
    bool same = wanted && got && strcmp(wanted, got) == 0;
    memory_free(wanted);
    memory_free(got);
    return same;
}

TEST(copies_of_file_and_log_open_to_a_committed_state_or_not_at_all)
{
    copying k = {.disk = test_disk_new(),
                 .random = test_seed() ^ 0xC0B1E5,
                 .every = 800,
                 .wanted = (int)test_scale(12, 100)};
    long pairs = 0, opened = 0, refused = 0, mixed = 0;
    int blocks = (int)test_scale(1500, 6000);
    uint64_t random = test_seed() ^ 0x1111;
    error err;

    pthread_mutex_init(&k.lock, NULL);
    database *d = open_on(k.disk, &err);
    CHECK(d != NULL);
    check_must(d, "create collection doc (n int @sorted, name text @unique, body text @text, big text)");
    test_disk_hook(k.disk, copy_now, &k);
    for (int n = 1; n <= blocks && (k.main_count < k.wanted || k.log_count < k.wanted); n++) {
        write_block(d, n);
        if (check_draw(&random, 120) == 0)
            CHECK_INT(database_checkpoint(d, &err), FENEC_OK);
    }
    test_disk_hook(k.disk, NULL, NULL);
    check_close(d);
    for (int m = 0; m < k.main_count; m++)
        for (int l = 0; l < k.log_count; l++) {
            test_disk *disk = test_disk_new();
            test_disk_put(disk, PATH, k.mains[m].bytes, k.mains[m].len);
            test_disk_put(disk, LOG, k.logs[l].bytes, k.logs[l].len);
            d = open_on(disk, &err);
            pairs++;
            if (!d) {
                refused++;
                if (err.code != FENEC_CORRUPT)
                    test_failed(__FILE__, __LINE__, "%d: %s", err.code, err.message);
            } else {
                check_lines lines;
                opened++;
                check_lines_of(d, &lines);
                bool good = is_committed(d) && lines.code == FENEC_OK && lines.report.findings == 0;
                mixed += !good;
                if (!good && mixed <= 3)
                    test_failed(__FILE__, __LINE__, "file %d beside log %d is a mix: %.300s", m, l,
                                (char *)lines.text.bytes);
                check_lines_clear(&lines);
                database_close(d, &err);
                database_free(d);
            }
            test_disk_free(disk);
        }
    for (int i = 0; i < k.main_count; i++)
        free(k.mains[i].bytes);
    for (int i = 0; i < k.log_count; i++)
        free(k.logs[i].bytes);
    pthread_mutex_destroy(&k.lock);
    test_disk_free(k.disk);
    CHECK(opened > 0);
    CHECK_INT(mixed, 0);
    printf("  %ld pairs of a file and a log: %ld opened to a committed state, %ld refused, %ld mixed\n", pairs,
           opened - mixed, refused, mixed);
}
