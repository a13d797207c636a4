#include "exec/entry_run.h"
#include "exec/id_set.h"
#include "base/memory.h"
#include "test.h"

TEST(entry_run_hands_entries_out_by_key_then_id)
{
    uint64_t random = test_seed();
    error err;

    for (int round = 0; round < 200; round++) {
        size_t count = (size_t)(test_random(&random) % 300);
        entry_run r;
        entry_run_init(&r);
        for (size_t i = 0; i < count; i++) {
            /* Short ones that are beginnings of each other, and long ones alike in their first eight bytes. */
            uint8_t key[20] = {0};
            size_t len = (size_t)(test_random(&random) % sizeof key);
            for (size_t k = 0; k < len; k++)
                key[k] = k < 8 && round % 2 ? 7 : (uint8_t)(test_random(&random) % 3);
            CHECK_INT(entry_run_add(&r, key, len, (int64_t)(test_random(&random) % 50) + 1, &err), FENEC_OK);
        }
        entry_run_sort(&r);
        CHECK_INT(r.count, count);
        for (size_t i = 1; i < count; i++) {
            const entry *a = &r.entries[i - 1], *b = &r.entries[i];
            size_t len = a->len < b->len ? a->len : b->len;
            int order = memcmp(r.bytes.bytes + a->at, r.bytes.bytes + b->at, len);
            CHECK(order < 0 || (order == 0 && (a->len < b->len || (a->len == b->len && a->id <= b->id))));
        }
        entry_run_clear(&r);
    }
}

TEST(id_set_has_what_was_added)
{
    uint64_t random = test_seed();
    static bool there[5000];
    id_set s = {0};

    memset(there, 0, sizeof there);
    CHECK(!id_set_has(&s, 1));
    for (int i = 0; i < 20000; i++) {
        int64_t id = (int64_t)(test_random(&random) % 4999) + 1;
        if (i % 3 == 0) {
            CHECK(id_set_add(&s, id));
            there[id] = true;
        }
        CHECK_INT(id_set_has(&s, id), there[id]);
    }
    id_set_clear(&s);
    CHECK(!id_set_has(&s, 1));
    CHECK(id_set_add(&s, INT64_MAX));
    CHECK(id_set_has(&s, INT64_MAX));
    id_set_clear(&s);
}

TEST(id_set_without_memory_keeps_what_it_has)
{
    id_set s = {0};

    for (int64_t id = 1; id <= 32; id++)
        CHECK(id_set_add(&s, id));
    memory_fail_after(0);
    CHECK(!id_set_add(&s, 33));
    memory_fail_after(-1);
    for (int64_t id = 1; id <= 32; id++)
        CHECK(id_set_has(&s, id));
    CHECK(!id_set_has(&s, 33));
    CHECK(id_set_add(&s, 33));
    id_set_clear(&s);
}
