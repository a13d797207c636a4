#include <stdlib.h>

#include "exec/ids.h"
#include "exec/sort.h"
#include "test.h"

#define ROWS 3000
#define TEXT_MAX 4000

typedef struct drawn_row {
    int64_t id;
    value keys[3]; /* a number or null, a text, and one carried along */
    uint8_t text[16];
} drawn_row;

static drawn_row rows[ROWS];
static uint8_t filler[TEXT_MAX];
static bool descending[2];

static int by_keys(const void *a, const void *b)
{
    const drawn_row *x = a, *y = b;

    for (int i = 0; i < 2; i++) {
        int order = value_compare(&x->keys[i], &y->keys[i]);
        if (order)
            return descending[i] ? -order : order;
    }
    return (x->id > y->id) - (x->id < y->id);
}

static void check_sort(uint64_t keep, bool large, uint64_t *state)
{
    sort_by by[2] = {{0}};
    sorter s;
    error err;

    for (int i = 0; i < ROWS; i++) {
        drawn_row *r = &rows[i];
        uint64_t n = test_random(state) % 60;
        r->id = i + 1;
        r->keys[0] = n < 5 ? value_null() : n < 30 ? value_int((int64_t)n) : value_float((double)n / 2);
        for (size_t k = 0; k < sizeof r->text; k++)
            r->text[k] = (uint8_t)('a' + test_random(state) % 2);
        r->keys[1] = value_text(r->text, test_random(state) % 4);
        r->keys[2] = (value){.kind = VALUE_BYTES, .bytes = large ? filler : r->text, .len = large ? TEXT_MAX : 3};
    }
    for (int i = 0; i < 2; i++)
        by[i].descending = descending[i] = test_random(state) % 2;
    sorter_init(&s, by, 2, keep);
    s.carried = 1;
    for (int i = 0; i < ROWS; i++) {
        bool takes = sorter_takes(&s, rows[i].keys);
        const value *last = sorter_last(&s);
        CHECK_INT(last != NULL, s.count == keep && keep > 0);
        if (!takes)
            CHECK(s.count == keep);
        CHECK_INT(sorter_add(&s, rows[i].id, rows[i].keys, &err), FENEC_OK);
    }
    CHECK_INT(sorter_finish(&s, &err), FENEC_OK);
    qsort(rows, ROWS, sizeof *rows, by_keys);
    CHECK_INT(s.count, keep < ROWS ? keep : ROWS);
    for (size_t i = 0; i < s.count; i++) {
        const value *carried = sorter_carried(&s, i);
        if (sorter_id(&s, i) != rows[i].id) {
            test_failed(__FILE__, __LINE__, "place %zu of %llu holds %lld, not %lld", i, (unsigned long long)keep,
                        (long long)sorter_id(&s, i), (long long)rows[i].id);
            break;
        }
        CHECK_INT(carried->len, large ? TEXT_MAX : 3);
        CHECK(large || !memcmp(carried->bytes, rows[i].text, 3));
    }
    /* What was let go of does not pile up. */
    CHECK(!large || s.used < (keep + 2) * TEXT_MAX + (4 << 20));
    sorter_clear(&s);
}

TEST(a_sorter_keeps_the_first_rows_and_ties_by_id)
{
    static const uint64_t keeps[] = {0, 1, 2, 10, 100, ROWS - 1, ROWS, UINT64_MAX};
    uint64_t state = test_seed();

    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++)
        check_sort(keeps[i], false, &state);
    check_sort(20, true, &state);
    check_sort(400, true, &state);
}

TEST(ids_are_put_in_order_each_once)
{
    static int64_t sorted[5000], spare[5000];
    uint64_t state = test_seed();

    for (size_t count = 0; count < 5000; count = count * 2 + 1) {
        ids l = {0};
        error err;
        for (size_t i = 0; i < count; i++) {
            int64_t id = (int64_t)(test_random(&state) >> (test_random(&state) % 2 ? 50 : 1)) - (i % 3 ? 0 : 1000);
            sorted[i] = id;
            CHECK_INT(ids_add(&l, id, &err), FENEC_OK);
        }
        ids_sort(sorted, count, spare);
        for (size_t i = 1; i < count; i++)
            CHECK(sorted[i - 1] <= sorted[i]);
        CHECK_INT(ids_order(&l, &err), FENEC_OK);
        size_t at = 0;
        for (size_t i = 0; i < count; i++) {
            if (i && sorted[i] == sorted[i - 1])
                continue;
            CHECK(at < l.count && l.at[at] == sorted[i]);
            at++;
        }
        CHECK_INT(l.count, at);
        ids_clear(&l);
    }
}
