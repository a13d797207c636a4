#include "store_load.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "store/conn.h"
#include "test.h"

enum { IDS = 60, ROW_MAX = 40000, KEY_LEN = 9, META = 1, LAST = 1000000 };

static const table rows = {TABLE_RECORDS, 1, 0}, entries = {TABLE_INDEX, 1, 0};

/* The block that wrote each row last; 0: there is none. */
typedef struct state {
    uint32_t written[IDS + 1];
} state;

static size_t row_of(const store_load *l, int64_t id, uint32_t n, uint8_t out[ROW_MAX])
{
    uint64_t random = l->seed ^ (uint64_t)id << 32 ^ n;
    size_t len = 1 + (size_t)(test_random(&random) % (l->row_bytes * 2));

    if (test_random(&random) % 16 == 0)
        len *= 10; /* over several pages */
    if (len > ROW_MAX)
        len = ROW_MAX;
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(i % 8 ? random >> i % 8 * 8 : test_random(&random));
    return len;
}

static void key_of(const store_load *l, int64_t id, uint32_t n, uint8_t out[KEY_LEN])
{
    uint64_t random = l->seed + (uint64_t)id * 1000003 + n;

    out[0] = (uint8_t)(test_random(&random) % 8);
    bytes_put_big_u64(out + 1, n);
}

/* Moves the state from n - 1 to n, and where `c` is no NULL the store too. */
static int step(state *st, conn *c, const store_load *l, uint32_t n, error *err)
{
    uint64_t random = l->seed * 31 + n;
    uint32_t changes = 1 + (uint32_t)(test_random(&random) % 6);
    static _Thread_local uint8_t row[ROW_MAX];
    uint8_t key[KEY_LEN], number[4];
    int code = FENEC_OK;

    for (uint32_t i = 0; i < changes && code == FENEC_OK; i++) {
        int64_t id = 1 + (int64_t)(test_random(&random) % IDS);
        bool put = test_random(&random) % 4 > 0;
        if (c && st->written[id]) {
            key_of(l, id, st->written[id], key);
            code = entries_delete(c, entries, key, KEY_LEN, id, err);
        }
        if (c && code == FENEC_OK && put) {
            size_t len = row_of(l, id, n, row);
            key_of(l, id, n, key);
            code = rows_put(c, rows, id, row, len, err);
            if (code == FENEC_OK)
                code = entries_put(c, entries, key, KEY_LEN, id, err);
        } else if (c && code == FENEC_OK) {
            code = rows_delete(c, rows, id, err);
        }
        st->written[id] = put ? n : 0;
    }
    if (c && code == FENEC_OK) {
        bytes_put_u32(number, n);
        code = rows_put(c, table_meta(), META, number, sizeof number, err);
    }
    return code;
}

static state state_after(const store_load *l, uint32_t n)
{
    state st = {{0}};
    error err;

    for (uint32_t i = 1; i <= n; i++)
        step(&st, NULL, l, i, &err);
    return st;
}

int store_load_write(conn *c, const store_load *l, uint32_t n, error *err)
{
    state st = state_after(l, n - 1);

    return step(&st, c, l, n, err);
}

int store_load_block(store *s, const store_load *l, uint32_t n, uint64_t *ticket, error *err)
{
    conn *c;
    version *v;
    int code = store_write(s, true, &c, &v, err);

    if (code != FENEC_OK)
        return code;
    code = store_load_write(c, l, n, err);
    if (code != FENEC_OK) {
        store_write_rollback(c);
        return code;
    }
    return store_write_commit(c, NULL, ticket, err);
}

static bool wrong(uint32_t n, const char *what, int64_t id)
{
    test_failed(__FILE__, __LINE__, "after block %u %s of row %lld", n, what, (long long)id);
    return false;
}

static int check_rows(conn *c, const store_load *l, uint32_t n, const state *st, bool *right, error *err)
{
    static _Thread_local uint8_t want[ROW_MAX];
    cursor cur = {0};
    const uint8_t *bytes;
    int64_t id, next = 1;
    size_t len;
    int code = cursor_rows(&cur, c, rows, INT64_MIN, INT64_MAX, false, err);

    while (code == FENEC_OK && (code = cursor_next_row(&cur, &id, &bytes, &len, err)) == FENEC_OK) {
        while (next <= IDS && !st->written[next])
            next++;
        if (id != next || id > IDS)
            *right = wrong(n, "a row too many or missing, instead", id);
        else if (row_of(l, id, st->written[id], want) != len || memcmp(want, bytes, len))
            *right = wrong(n, "other bytes", id);
        if (!*right)
            break;
        next++;
    }
    cursor_close(&cur);
    while (next <= IDS && !st->written[next])
        next++;
    if (code == FN_END && next <= IDS)
        *right = wrong(n, "no bytes", next);
    return code == FN_END ? FENEC_OK : code;
}

static int check_entries(conn *c, const store_load *l, uint32_t n, const state *st, bool *right, error *err)
{
    cursor cur = {0};
    key_range all = {0};
    const uint8_t *key;
    uint8_t want[KEY_LEN];
    int64_t id, left = 0;
    size_t len;
    int code = cursor_entries(&cur, c, entries, &all, false, err);

    for (int64_t i = 1; i <= IDS; i++)
        left += st->written[i] > 0;
    while (code == FENEC_OK && (code = cursor_next_entry(&cur, &id, &key, &len, err)) == FENEC_OK) {
        left--;
        if (id < 1 || id > IDS || !st->written[id]) {
            *right = wrong(n, "an entry", id);
            break;
        }
        key_of(l, id, st->written[id], want);
        if (len != KEY_LEN || memcmp(want, key, KEY_LEN)) {
            *right = wrong(n, "another key", id);
            break;
        }
    }
    cursor_close(&cur);
    if (code == FN_END && left != 0)
        *right = wrong(n, "no entry or several", 0);
    return code == FN_END ? FENEC_OK : code;
}

int store_load_read(store *s, const store_load *l, uint32_t *n, error *err)
{
    conn *c;
    version *v;
    const uint8_t *bytes;
    size_t len;
    bool right = true;
    int code = store_read(s, &c, &v, err);

    if (code != FENEC_OK)
        return code;
    *n = 0;
    code = rows_get(c, table_meta(), META, &bytes, &len, err);
    if (code == FENEC_OK)
        *n = bytes_u32(bytes);
    if (*n > LAST) {
        right = wrong(*n, "a number", 0);
    } else if (code == FENEC_OK || code == FN_END) {
        state st = state_after(l, *n);
        code = check_rows(c, l, *n, &st, &right, err);
        if (code == FENEC_OK && right)
            code = check_entries(c, l, *n, &st, &right, err);
    }
    if (!right)
        *n = UINT32_MAX;
    store_read_end(c);
    return code;
}
