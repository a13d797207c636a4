#include "store/inside.h"
#include "store_make.h"
#include "test_vfs.h"

/* Where the main file is written: by the connection beside the writers, or under their lock. */
typedef struct watched {
    store *s;
    long beside, locked;
} watched;

static void watch(void *argument, disk_call call, const char *path)
{
    watched *w = argument;

    if (call != DISK_WRITE || strcmp(path, "/beside.db") || !w->s)
        return;
    if (w->s->beside) /* set and cleared by the thread of this test */
        w->beside++;
    else
        w->locked++;
}

TEST(store_folds_its_log_in_beside_the_writers)
{
    test_disk *d = test_disk_new();
    store_options options = {.path = (const uint8_t *)"/beside.db", .path_len = 10, .vfs = test_disk_vfs(d)};
    static uint8_t bytes[3000];
    watched w = {0};
    uint64_t ticket;
    version *v;
    error err;
    conn *c;

    MUST(store_open(&w.s, &options, &err));
    test_disk_hook(d, watch, &w);
    for (int64_t n = 0; n < 200; n++) {
        MUST(store_write(w.s, false, &c, &v, &err));
        for (int64_t id = 1; id <= 50; id++)
            MUST(rows_put(c, table_records(1), n * 50 + id, bytes, sizeof bytes, &err));
        MUST(store_write_commit(c, NULL, &ticket, &err));
    }
    test_disk_hook(d, NULL, NULL);
    printf("    %ld pages folded in beside the writers, %ld under their lock\n", w.beside, w.locked);
    CHECK(w.beside > 5000);
    CHECK(w.locked < w.beside / 100);
    end_store(w.s);
    test_disk_free(d);
}
