#include <pthread.h>
#include <stdatomic.h>

#include "store/inside.h"
#include "store_make.h"

static int connections(store *s)
{
    lock_take(&s->pool);
    int count = s->reader_count + s->opening;
    lock_leave(&s->pool);
    return count;
}

/* Opens `count` snapshots at once, on this thread: none waits for another below 16. */
static void read_at_once(store *s, int count)
{
    conn *c[READERS_MAX];
    version *v;
    error err;

    for (int i = 0; i < count; i++)
        MUST(store_read(s, &c[i], &v, &err));
    for (int i = 0; i < count; i++)
        store_read_end(c[i]);
}

TEST(pool_grows_to_what_is_needed_and_shrinks_when_idle)
{
    store *s = make_store(make_path("pool.fenec"), false);
    error err;

    MUST(put_text(s, table_records(1), 1, "one", &err));
    read_at_once(s, 1);
    read_at_once(s, 1);
    CHECK_INT(connections(s), 1);
    read_at_once(s, 9);
    CHECK_INT(connections(s), 9);
    read_at_once(s, READERS_MAX);
    CHECK_INT(connections(s), READERS_MAX);
    store_trim(s); /* they were needed since the last time */
    CHECK_INT(connections(s), READERS_MAX);
    read_at_once(s, 3);
    store_trim(s);
    CHECK_INT(connections(s), 3);
    store_trim(s);
    CHECK_INT(connections(s), 1);
    CHECK(s->readers[0]->first);
    CHECK_TEXT(get_text(s, table_records(1), 1), "one");
    read_at_once(s, READERS_MAX);
    CHECK_INT(connections(s), READERS_MAX);
    end_store(s);
}

TEST(pool_shrinks_by_itself_where_reads_go_on_with_fewer)
{
    store *s = make_store(NULL, false);

    read_at_once(s, READERS_MAX);
    for (int i = 0; i < 3 * READS_TO_TRIM; i++)
        read_at_once(s, 2);
    CHECK_INT(connections(s), 2);
    end_store(s);
}

TEST(pool_trim_leaves_readers_that_are_in_use)
{
    store *s = make_store(make_path("trim.fenec"), false);
    conn *c[4];
    version *v;
    error err;

    MUST(put_text(s, table_records(1), 1, "one", &err));
    for (int i = 0; i < 4; i++)
        MUST(store_read(s, &c[i], &v, &err));
    store_trim(s);
    store_trim(s);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(rows_exists(c[i], table_records(1), 1, &err), FENEC_OK);
        store_read_end(c[i]);
    }
    store_trim(s);
    CHECK_INT(connections(s), 1);
    end_store(s);
}

/* An idle reader keeps the snapshot of its last read: closing it must not leave the version behind. */
static _Atomic(int) versions;

static void version_freed(version *v)
{
    atomic_fetch_sub(&versions, 1);
    free(v);
}

TEST(pool_trim_lets_go_of_the_snapshots_of_those_it_closes)
{
    store *s = make_store(make_path("trim-versions.fenec"), false);
    uint64_t ticket;
    version *v, *next = malloc(sizeof *next);
    error err;
    conn *c;

    atomic_store(&versions, 1);
    *next = (version){.references = 1, .free = version_freed};
    MUST(store_write(s, false, &c, &v, &err));
    MUST(rows_put(c, table_records(1), 1, (const uint8_t *)"x", 1, &err));
    MUST(store_write_commit(c, next, &ticket, &err));
    read_at_once(s, 5);
    store_trim(s);
    store_trim(s);
    CHECK_INT(connections(s), 1);
    CHECK_INT(versions, 1);
    end_store(s);
    CHECK_INT(versions, 0);
}

/* ---- threads ---- */

typedef struct crowd {
    store *s;
    _Atomic(bool) stop;
    _Atomic(long) reads, failed;
} crowd;

static void *read_on(void *argument)
{
    crowd *of = argument;
    error err;

    while (!atomic_load(&of->stop)) {
        version *v;
        conn *c;
        if (store_read(of->s, &c, &v, &err)) {
            atomic_fetch_add(&of->failed, 1);
            break;
        }
        if (rows_exists(c, table_records(1), 1, &err))
            atomic_fetch_add(&of->failed, 1);
        store_read_end(c);
        atomic_fetch_add(&of->reads, 1);
    }
    return NULL;
}

/* Trims, commits and checkpoints while 64 threads read. */
static void crowd_a_pool(const char *path)
{
    uint64_t violations = lock_order_violations();
    crowd of = {.s = make_store(path, false)};
    pthread_t threads[64];
    long rounds = test_scale(60, 2000);
    error err;

    MUST(put_text(of.s, table_records(1), 1, "x", &err));
    for (int i = 0; i < 64; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, read_on, &of), 0);
    for (long i = 0; i < rounds; i++) {
        store_trim(of.s);
        MUST(put_text(of.s, table_records(2), i % 10 + 1, "y", &err));
        if (i % 10 == 0)
            MUST(store_checkpoint(of.s, &err));
        CHECK(connections(of.s) <= READERS_MAX);
    }
    atomic_store(&of.stop, true);
    for (int i = 0; i < 64; i++)
        pthread_join(threads[i], NULL);
    printf("    64 threads: %ld reads beside %ld trims and blocks\n", (long)of.reads, rounds);
    CHECK_INT(of.failed, 0);
    CHECK(of.reads > 64);
    end_store(of.s);
    CHECK_INT(lock_order_violations() - violations, 0);
}

TEST(pool_of_a_file_serves_64_threads_while_it_is_trimmed)
{
    crowd_a_pool(make_path("crowd.fenec"));
}

TEST(pool_of_a_memory_database_serves_64_threads_while_it_is_trimmed)
{
    crowd_a_pool(NULL);
}
