#include <sqlite3.h>

#include "base/memory.h"
#include "store_make.h"

static int put(conn *c, table t, int64_t id, const char *text, error *err)
{
    return rows_put(c, t, id, (const uint8_t *)text, strlen(text), err);
}

static int enter(conn *c, const char *key, int64_t id, error *err)
{
    return entries_put(c, table_index(1), (const uint8_t *)key, strlen(key), id, err);
}

/* "key id " of every entry of a range. */
static const char *list_entries(conn *c, const key_range *range, bool descending)
{
    static char text[4096];
    const uint8_t *key;
    size_t key_len, len = 0;
    int64_t id;
    cursor cur;
    error err;
    int code;

    text[0] = 0;
    MUST(cursor_entries(&cur, c, table_index(1), range, descending, &err));
    while ((code = cursor_next_entry(&cur, &id, &key, &key_len, &err)) == FENEC_OK)
        len += (size_t)snprintf(text + len, sizeof text - len, "%.*s%d ", (int)key_len, (const char *)key,
                                (int)id);
    CHECK_INT(code, FN_END);
    CHECK_INT(cursor_next_entry(&cur, &id, &key, &key_len, &err), FN_END);
    cursor_close(&cur);
    return text;
}

static const char *list_rows(conn *c, int64_t low, int64_t high, bool descending)
{
    static char text[4096];
    const uint8_t *bytes;
    size_t bytes_len, len = 0;
    int64_t id;
    cursor cur;
    error err;
    int code;

    text[0] = 0;
    MUST(cursor_rows(&cur, c, table_records(1), low, high, descending, &err));
    while ((code = cursor_next_row(&cur, &id, &bytes, &bytes_len, &err)) == FENEC_OK)
        len += (size_t)snprintf(text + len, sizeof text - len, "%d%.*s ", (int)id, (int)bytes_len,
                                (const char *)bytes);
    CHECK_INT(code, FN_END);
    cursor_close(&cur);
    return text;
}

TEST(store_reads_a_table_never_written_as_empty)
{
    store *s = make_store(NULL, false);
    const uint8_t *bytes;
    int64_t number = 7;
    version *v;
    size_t len;
    cursor cur;
    error err;
    conn *c;

    MUST(store_read(s, &c, &v, &err));
    CHECK(v == NULL);
    CHECK(!conn_is_writer(c));
    CHECK_INT(rows_get(c, table_records(9), 1, &bytes, &len, &err), FN_END);
    CHECK_INT(rows_exists(c, table_records(9), 1, &err), FN_END);
    MUST(rows_count(c, table_records(9), &number, &err));
    CHECK_INT(number, 0);
    MUST(rows_last_id(c, table_side(9, 3), &number, &err));
    CHECK_INT(number, 0);
    CHECK_INT(entries_first(c, table_index(4), bytes = (const uint8_t *)"k", 1, 0, &number, &err), FN_END);
    MUST(entries_count(c, table_index(4), NULL, 5, &number, &err));
    CHECK_INT(number, 0);
    MUST(cursor_rows(&cur, c, table_records(9), 0, INT64_MAX, false, &err));
    CHECK_INT(cursor_next_row(&cur, &number, &bytes, &len, &err), FN_END);
    cursor_close(&cur);
    MUST(cursor_entries(&cur, c, table_index(4), NULL, true, &err));
    CHECK_INT(cursor_next_entry(&cur, &number, &bytes, &len, &err), FN_END);
    cursor_close(&cur);
    store_read_end(c);
    end_store(s);
}

TEST(store_sees_a_table_in_the_snapshot_after_its_first_write)
{
    store *s = make_store(NULL, false);
    error err;

    CHECK_TEXT(get_text(s, table_records(1), 1), "");
    MUST(put_text(s, table_records(1), 1, "one", &err));
    CHECK_TEXT(get_text(s, table_records(1), 1), "one");
    CHECK_TEXT(get_text(s, table_records(2), 1), "");
    MUST(put_text(s, table_records(2), 1, "two", &err));
    CHECK_TEXT(get_text(s, table_records(2), 1), "two");
    CHECK_TEXT(get_text(s, table_records(1), 1), "one");
    end_store(s);
}

TEST(store_walks_rows_up_and_down_between_two_ids)
{
    store *s = make_store(NULL, false);
    uint64_t ticket;
    version *v;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    CHECK(conn_is_writer(c));
    MUST(put(c, table_records(1), 3, "c", &err));
    MUST(put(c, table_records(1), 1, "a", &err));
    MUST(put(c, table_records(1), 2, "b", &err));
    MUST(put(c, table_records(1), 2, "B", &err));
    MUST(put(c, table_records(1), 9, "", &err));
    MUST(rows_delete(c, table_records(1), 77, &err));
    CHECK_TEXT(list_rows(c, INT64_MIN, INT64_MAX, false), "1a 2B 3c 9 ");
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_read(s, &c, &v, &err));
    CHECK_TEXT(list_rows(c, 2, 3, false), "2B 3c ");
    CHECK_TEXT(list_rows(c, 2, 100, true), "9 3c 2B ");
    CHECK_TEXT(list_rows(c, 4, 8, true), "");
    CHECK_INT(rows_exists(c, table_records(1), 9, &err), FENEC_OK);
    CHECK_INT(rows_exists(c, table_records(1), 4, &err), FN_END);
    int64_t last = 0;
    MUST(rows_last_id(c, table_records(1), &last, &err));
    CHECK_INT(last, 9);
    store_read_end(c);
    end_store(s);
}

TEST(store_walks_an_index_by_key_with_ids_ascending_both_ways)
{
    store *s = make_store(NULL, false);
    uint64_t ticket;
    int64_t id = 0;
    version *v;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    MUST(enter(c, "b", 2, &err));
    MUST(enter(c, "b", 1, &err));
    MUST(enter(c, "b", 1, &err));
    MUST(enter(c, "a", 5, &err));
    MUST(enter(c, "", 8, &err));
    MUST(enter(c, "ab", 4, &err));
    MUST(enter(c, "c", 3, &err));
    CHECK_TEXT(list_entries(c, NULL, true), "c3 b1 b2 ab4 a5 8 ");
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_read(s, &c, &v, &err));
    CHECK_TEXT(list_entries(c, NULL, false), "8 a5 ab4 b1 b2 c3 ");
    CHECK_TEXT(list_entries(c, NULL, true), "c3 b1 b2 ab4 a5 8 ");
    key_range r = {.low = (const uint8_t *)"a",
                   .low_len = 1,
                   .has_low = true,
                   .high = (const uint8_t *)"b",
                   .high_len = 1,
                   .has_high = true};
    CHECK_TEXT(list_entries(c, &r, false), "a5 ab4 b1 b2 ");
    r.above_low = true;
    CHECK_TEXT(list_entries(c, &r, true), "b1 b2 ab4 ");
    r.below_high = true;
    CHECK_TEXT(list_entries(c, &r, false), "ab4 ");
    r.has_high = false;
    CHECK_TEXT(list_entries(c, &r, true), "c3 b1 b2 ab4 ");
    MUST(entries_count(c, table_index(1), &r, INT64_MAX, &id, &err));
    CHECK_INT(id, 4);
    MUST(entries_count(c, table_index(1), &r, 3, &id, &err));
    CHECK_INT(id, 3);
    CHECK_INT(entries_first(c, table_index(1), (const uint8_t *)"b", 1, 0, &id, &err), FENEC_OK);
    CHECK_INT(id, 1);
    CHECK_INT(entries_first(c, table_index(1), (const uint8_t *)"b", 1, 1, &id, &err), FENEC_OK);
    CHECK_INT(id, 2);
    CHECK_INT(entries_first(c, table_index(1), (const uint8_t *)"b", 1, 2, &id, &err), FN_END);
    CHECK_INT(entries_first(c, table_index(1), (const uint8_t *)"", 0, 0, &id, &err), FENEC_OK);
    CHECK_INT(id, 8);
    store_read_end(c);
    end_store(s);
}

/* Entries as a plain list. */
typedef struct plain_entry {
    char key[4];
    size_t len;
    int64_t id;
} plain_entry;

static int compare_keys(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static bool descending_order;

static int compare_entries(const void *a, const void *b)
{
    const plain_entry *x = a, *y = b;
    int order = compare_keys(x->key, x->len, y->key, y->len);

    if (order)
        return descending_order ? -order : order;
    return (x->id > y->id) - (x->id < y->id);
}

static bool in_range(const plain_entry *e, const key_range *r)
{
    if (r->has_low) {
        int order = compare_keys(e->key, e->len, (const char *)r->low, r->low_len);
        if (order < 0 || (order == 0 && r->above_low))
            return false;
    }
    if (r->has_high) {
        int order = compare_keys(e->key, e->len, (const char *)r->high, r->high_len);
        if (order > 0 || (order == 0 && r->below_high))
            return false;
    }
    return true;
}

static size_t random_key(uint64_t *random, char key[4])
{
    size_t len = test_random(random) % 4;

    for (size_t i = 0; i < len; i++)
        key[i] = (char)(test_random(random) % 3);
    return len;
}

TEST(store_walks_any_range_as_a_sorted_list_would)
{
    enum { MANY = 600 };
    static plain_entry all[MANY], want[MANY];
    store *s = make_store(NULL, false);
    uint64_t random = test_seed(), ticket;
    version *v;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    for (int i = 0; i < MANY; i++) {
        all[i].len = random_key(&random, all[i].key);
        if (i % 2) { /* one key with many ids */
            all[i].len = 1;
            all[i].key[0] = 1;
        }
        all[i].id = (int64_t)((uint64_t)i * 7919 % MANY) + 1;
        MUST(entries_put(c, table_index(1), (const uint8_t *)all[i].key, all[i].len, all[i].id, &err));
    }
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_read(s, &c, &v, &err));
    for (int round = 0; round < 300; round++) {
        char low[4], high[4];
        uint64_t how = test_random(&random);
        key_range r = {.low = (const uint8_t *)low,
                       .high = (const uint8_t *)high,
                       .has_low = how & 1,
                       .has_high = how & 2,
                       .above_low = how & 4,
                       .below_high = how & 8};
        r.low_len = random_key(&random, low);
        r.high_len = random_key(&random, high);
        descending_order = how & 16;
        int64_t counted = -1;
        int count = 0, at = 0;
        for (int i = 0; i < MANY; i++)
            if (in_range(&all[i], &r))
                want[count++] = all[i];
        qsort(want, (size_t)count, sizeof *want, compare_entries);
        MUST(entries_count(c, table_index(1), &r, INT64_MAX, &counted, &err));
        CHECK_INT(counted, count);
        cursor cur;
        MUST(cursor_entries(&cur, c, table_index(1), &r, descending_order, &err));
        const uint8_t *key;
        size_t len;
        int64_t id;
        bool same = true;
        while (cursor_next_entry(&cur, &id, &key, &len, &err) == FENEC_OK) {
            same &= at < count && want[at].id == id &&
                    !compare_keys(want[at].key, want[at].len, (const char *)key, len);
            at++;
        }
        cursor_close(&cur);
        CHECK(same);
        CHECK_INT(at, count);
    }
    store_read_end(c);
    end_store(s);
}

TEST(store_gives_several_cursors_on_one_table_a_place_each)
{
    store *s = make_store(NULL, false);
    int64_t a = 0, b = 0, pairs = 0;
    cursor outer, inner;
    const uint8_t *bytes;
    uint64_t ticket;
    version *v;
    size_t len;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    for (int id = 1; id <= 5; id++)
        MUST(put(c, table_records(1), id, "x", &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    MUST(store_read(s, &c, &v, &err));
    MUST(cursor_rows(&outer, c, table_records(1), 1, 5, false, &err));
    while (cursor_next_row(&outer, &a, &bytes, &len, &err) == FENEC_OK) {
        MUST(cursor_rows(&inner, c, table_records(1), 1, 5, false, &err));
        while (cursor_next_row(&inner, &b, &bytes, &len, &err) == FENEC_OK)
            pairs += a < b;
        cursor_close(&inner);
    }
    cursor_close(&outer);
    store_read_end(c);
    CHECK_INT(pairs, 10);
    end_store(s);
}

TEST(store_lets_a_block_write_below_an_open_cursor)
{
    store *s = make_store(NULL, false);
    const uint8_t *bytes;
    uint64_t ticket;
    int64_t id = 0;
    int seen = 0;
    version *v;
    cursor cur;
    size_t len;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    for (int i = 1; i <= 500; i++)
        MUST(put(c, table_records(1), i, "before", &err));
    MUST(cursor_rows(&cur, c, table_records(1), 1, 500, false, &err));
    while (cursor_next_row(&cur, &id, &bytes, &len, &err) == FENEC_OK) {
        MUST(rows_delete(c, table_records(1), id, &err));
        MUST(put(c, table_records(2), id, "after", &err));
        CHECK(len == 6 && !memcmp(bytes, "before", 6));
        seen++;
    }
    cursor_close(&cur);
    CHECK_INT(seen, 500);
    MUST(store_write_commit(c, NULL, &ticket, &err));
    CHECK_INT(count_rows(s, table_records(1)), 0);
    CHECK_INT(count_rows(s, table_records(2)), 500);
    end_store(s);
}

/* ---- blocks ---- */

TEST(store_puts_a_block_back)
{
    for (int kind = 0; kind < 3; kind++) {
        const char *path = kind == 0 ? NULL : make_path(kind == 1 ? "back1.fenec" : "back2.fenec");
        store *s = make_store(path, kind == 2);
        uint64_t ticket;
        version *v;
        error err;
        conn *c;

        MUST(put_text(s, table_records(1), 1, "kept", &err));
        MUST(store_write(s, true, &c, &v, &err));
        MUST(put(c, table_records(1), 1, "gone", &err));
        MUST(put(c, table_records(2), 1, "a table that goes", &err));
        MUST(enter(c, "k", 1, &err));
        store_write_rollback(c);
        CHECK_TEXT(get_text(s, table_records(1), 1), "kept");
        CHECK_TEXT(get_text(s, table_records(2), 1), "");
        MUST(store_write(s, true, &c, &v, &err));
        MUST(put(c, table_records(2), 1, "again", &err));
        MUST(store_write_commit(c, NULL, &ticket, &err));
        CHECK_TEXT(get_text(s, table_records(2), 1), "again");
        end_store(s);
    }
}

TEST(store_puts_back_a_block_over_others_that_are_buffered)
{
    store *s = make_store(make_path("buffered.fenec"), true);
    version *v;
    error err;
    conn *c;

    for (int i = 1; i <= 20; i++) {
        MUST(put_text(s, table_records(1), i, "kept", &err));
        MUST(store_write(s, true, &c, &v, &err));
        MUST(put(c, table_records(1), i, "gone", &err));
        MUST(put(c, table_records(100 + (uint32_t)i), i, "gone", &err));
        store_write_rollback(c);
        /* Without undo a block that wrote nothing is put back as well. */
        MUST(store_write(s, false, &c, &v, &err));
        store_write_rollback(c);
    }
    CHECK_TEXT(get_text(s, table_records(1), 20), "kept");
    CHECK_INT(count_rows(s, table_records(1)), 20);
    CHECK_INT(count_rows(s, table_records(120)), 0);
    end_store(s);
}

TEST(store_puts_a_part_of_a_block_back)
{
    for (int no_sync = 0; no_sync < 2; no_sync++) {
        store *s = make_store(make_path(no_sync ? "part1.fenec" : "part0.fenec"), no_sync);
        uint64_t ticket;
        version *v;
        error err;
        conn *c;

        MUST(put_text(s, table_records(1), 1, "first", &err));
        MUST(store_write(s, true, &c, &v, &err));
        MUST(put(c, table_records(1), 2, "second", &err));
        MUST(store_savepoint(c, &err));
        MUST(put(c, table_records(1), 3, "third", &err));
        MUST(put(c, table_records(5), 3, "a table that goes", &err));
        MUST(store_savepoint_undo(c, &err));
        MUST(put(c, table_records(5), 4, "fourth", &err));
        MUST(store_savepoint(c, &err));
        MUST(put(c, table_records(5), 5, "fifth", &err));
        MUST(store_savepoint_undo(c, &err));
        MUST(store_write_commit(c, NULL, &ticket, &err));
        CHECK_INT(count_rows(s, table_records(1)), 2);
        CHECK_INT(count_rows(s, table_records(5)), 1);
        CHECK_TEXT(get_text(s, table_records(5), 4), "fourth");
        end_store(s);
    }
}

TEST(store_drops_a_table_and_makes_it_again)
{
    store *s = make_store(NULL, false);
    uint64_t ticket;
    version *v;
    error err;
    conn *c;

    MUST(put_text(s, table_records(1), 1, "old", &err));
    CHECK_TEXT(get_text(s, table_records(1), 1), "old");
    MUST(store_write(s, true, &c, &v, &err));
    MUST(table_drop(c, table_records(1), &err));
    MUST(table_drop(c, table_index(77), &err));
    CHECK_INT(rows_exists(c, table_records(1), 1, &err), FN_END);
    MUST(store_write_commit(c, NULL, &ticket, &err));
    CHECK_TEXT(get_text(s, table_records(1), 1), "");
    MUST(put_text(s, table_records(1), 2, "new", &err));
    CHECK_TEXT(get_text(s, table_records(1), 2), "new");
    CHECK_TEXT(get_text(s, table_records(1), 1), "");
    end_store(s);
}

TEST(store_gives_no_ticket_for_a_block_that_wrote_nothing)
{
    store *s = make_store(make_path("ticket.fenec"), false);
    uint64_t ticket = 9;
    version *v;
    error err;
    conn *c;

    MUST(store_write(s, true, &c, &v, &err));
    MUST(rows_delete(c, table_records(1), 1, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    CHECK_INT(ticket, 0);
    MUST(store_wait(s, ticket, &err));
    MUST(store_write(s, true, &c, &v, &err));
    MUST(put(c, table_records(1), 1, "x", &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    CHECK(ticket > 0);
    MUST(store_wait(s, ticket, &err));
    end_store(s);
}

/* ---- versions ---- */

typedef struct counted {
    version head;
    int64_t number;
} counted;

static _Atomic(long) alive;

static void counted_free(version *v)
{
    atomic_fetch_sub(&alive, 1);
    free(v);
}

static version *counted_new(int64_t number)
{
    counted *v = malloc(sizeof *v);

    atomic_fetch_add(&alive, 1);
    *v = (counted){.head = {.references = 1, .free = counted_free}, .number = number};
    return &v->head;
}

TEST(store_publishes_a_version_with_its_commit_and_frees_the_old_one)
{
    for (int no_sync = 0; no_sync < 2; no_sync++) {
        store *s = make_store(make_path(no_sync ? "version1.fenec" : "version0.fenec"), no_sync);
        uint64_t ticket;
        version *v;
        conn *c, *old;
        error err;

        alive = 0;
        MUST(store_write(s, true, &c, &v, &err));
        CHECK(v == NULL);
        MUST(store_write_commit(c, counted_new(1), &ticket, &err));
        MUST(store_read(s, &old, &v, &err));
        CHECK_INT(((counted *)v)->number, 1);
        MUST(store_write(s, true, &c, &v, &err));
        CHECK_INT(((counted *)v)->number, 1);
        MUST(put(c, table_records(1), 1, "x", &err));
        MUST(store_write_commit(c, counted_new(2), &ticket, &err));
        CHECK_INT(alive, 2);
        MUST(store_write(s, true, &c, &v, &err));
        CHECK_INT(((counted *)v)->number, 2); /* the newest, committed or not */
        MUST(put(c, table_records(1), 2, "y", &err));
        store_write_rollback(c);
        CHECK_INT(rows_exists(old, table_records(1), 1, &err), FN_END);
        store_read_end(old);
        MUST(store_read(s, &c, &v, &err));
        CHECK_INT(((counted *)v)->number, 2);
        CHECK_INT(rows_exists(c, table_records(1), 1, &err), FENEC_OK);
        store_read_end(c);
        CHECK_INT(alive, 1);
        MUST(store_write(s, true, &c, &v, &err));
        store_write_rollback(c);
        end_store(s);
        CHECK_INT(alive, 0);
    }
}

/* ---- memory that runs out ---- */

static int use_store(store *s, int64_t id, error *err)
{
    key_range all = {0};
    const uint8_t *bytes;
    uint64_t ticket;
    version *v;
    cursor cur;
    size_t len;
    int64_t at;
    conn *c;

    int code = store_write(s, true, &c, &v, err);
    if (code)
        return code;
    code = put(c, table_records((uint32_t)id), id, "some text", err);
    if (code == FENEC_OK)
        code = enter(c, "key", id, err);
    if (code) {
        store_write_rollback(c);
        return code;
    }
    code = store_write_commit(c, NULL, &ticket, err);
    if (code == FENEC_OK)
        code = store_read(s, &c, &v, err);
    if (code)
        return code;
    code = rows_get(c, table_records((uint32_t)id), id, &bytes, &len, err);
    if (code == FENEC_OK)
        code = cursor_entries(&cur, c, table_index(1), &all, true, err);
    if (code == FENEC_OK) {
        while ((code = cursor_next_entry(&cur, &at, &bytes, &len, err)) == FENEC_OK)
            ;
        cursor_close(&cur);
        code = code == FN_END ? FENEC_OK : code;
    }
    store_read_end(c);
    return code;
}

TEST(store_answers_panic_where_memory_runs_out_and_goes_on)
{
    store *s = make_store(NULL, false);
    int failed = 0;
    error err;

    for (long n = 0; n < 40; n++) {
        memory_fail_after(n);
        int code = use_store(s, n + 1, &err);
        memory_fail_after(-1);
        if (code) {
            CHECK_INT(code, FENEC_PANIC);
            failed++;
        }
        MUST(use_store(s, n + 1, &err));
    }
    CHECK(failed > 5);
    end_store(s);
    for (long n = 0; n < 60; n++) {
        memory_fail_after(n);
        int code = try_open(&s, make_path("memory.fenec"), false, &err);
        if (code == FENEC_OK) {
            store_close(s, &err);
            store_free(s);
        } else {
            CHECK_INT(code, FENEC_PANIC);
        }
        memory_fail_after(-1);
    }
    end_store(make_store(make_path("memory.fenec"), false));
}
