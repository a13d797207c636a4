/* Cursors. In a snapshot the bytes handed out are SQLite's, on its page or put together from several; in
 * a block they are a copy, because a write between two steps may change the page.
 *
 * SQLite would sort to hand out keys descending with ids ascending. We walk keys and ids down instead and
 * turn the ids of one key around; where a key has many, they are read by a second statement, upwards, and
 * the walk then goes on below the key. */
#include "store/inside.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"

#define TURNED_MAX 32

typedef struct key_copy {
    uint8_t *bytes;
    size_t len, cap;
} key_copy;

struct backward {
    statement *of_key; /* NULL, or at the ids of `key`, up */
    bool of_some;      /* it gave one */
    table t;
    key_copy key;  /* of the ids below */
    key_copy next; /* of the entry the walk stands on */
    key_copy low;  /* the range's */
    bool has_low, above_low;
    bool has_next, ended;
    int64_t next_id;
    int64_t ids[TURNED_MAX]; /* of `key`, in the order met: down */
    int count;
};

static bool key_set(key_copy *k, const void *bytes, size_t len)
{
    if (len > k->cap || !k->bytes) {
        size_t cap = len < 64 ? 64 : len * 2;
        uint8_t *fresh = memory_alloc(cap);
        if (!fresh)
            return false;
        memory_free(k->bytes);
        k->bytes = fresh;
        k->cap = cap;
    }
    if (len)
        memcpy(k->bytes, bytes, len);
    k->len = len;
    return true;
}

static void let_go(conn *c, statement **st)
{
    if (*st)
        statement_release(c, *st);
    *st = NULL;
}

static void count_step(conn *c)
{
    if (++c->steps == LONG_READ_ROWS)
        pool_note_long(c);
}

/* Opens a statement for a cursor; *out NULL where the table is missing. */
static int open_statement(conn *c, unsigned operation, table t, statement **out, error *err)
{
    statement *st;
    int code = statement_find(c, operation, t, false, &st, err);

    *out = NULL;
    if (code)
        return code == FN_END ? FENEC_OK : code;
    statement_claim(c, st);
    *out = st;
    return FENEC_OK;
}

int cursor_rows(cursor *cur, conn *c, table t, int64_t low, int64_t high, bool descending, error *err)
{
    *cur = (cursor){.c = c, .low = low, .high = high, .descending = descending};
    int code = open_statement(c, descending ? ROWS_DOWN : ROWS_UP, t, &cur->statement, err);
    if (code || !cur->statement)
        return code;
    sqlite3_bind_int64(cur->statement->prepared, 1, low);
    sqlite3_bind_int64(cur->statement->prepared, 2, high);
    return FENEC_OK;
}

static int open_range(cursor *cur, unsigned operation, table t, const key_range *range, error *err)
{
    int place, code = open_statement(cur->c, operation + statement_bounds(range), t, &cur->statement, err);

    if (code || !cur->statement)
        return code;
    int rc = statement_bind_range(cur->statement, range, true, &place);
    return rc ? conn_fail(cur->c, rc, "cannot bind a key", err) : FENEC_OK;
}

int cursor_entries(cursor *cur, conn *c, table t, const key_range *range, bool descending, error *err)
{
    *cur = (cursor){.c = c};
    int code = open_range(cur, descending ? ENTRIES_DOWN : ENTRIES_UP, t, range, err);
    if (code == FENEC_OK && cur->statement && descending) {
        struct backward *b = cur->backward = memory_zeroed(sizeof *b);
        if (b)
            b->t = t;
        if (b && range && range->has_low) {
            b->has_low = key_set(&b->low, range->low, range->low_len);
            b->above_low = range->above_low;
        }
        if (!b || (range && range->has_low && !b->has_low))
            code = fail_memory(err);
    }
    if (code)
        cursor_close(cur);
    return code;
}

/* The blob of a column as the cursor hands it out. */
static int hand_out(cursor *cur, int column, const uint8_t **bytes, size_t *len, error *err)
{
    statement *st = cur->statement;

    if (cur->c->writer)
        return statement_copy(cur->c, st, column, bytes, len) ? FENEC_OK : fail_memory(err);
    const void *at = sqlite3_column_blob(st->prepared, column);
    *len = (size_t)sqlite3_column_bytes(st->prepared, column);
    if (!at && *len)
        return fail_memory(err);
    *bytes = at ? at : (const uint8_t *)"";
    return FENEC_OK;
}

/* One further step of the cursor's statement, which is let go at its end. */
static int step(cursor *cur, error *err)
{
    if (!cur->statement)
        return FN_END;
    count_step(cur->c);
    int code = statement_step(cur->c, cur->statement, "cannot read on", err);
    if (code)
        let_go(cur->c, &cur->statement); /* a step after the end would begin anew */
    return code;
}

static int step_up(cursor *cur, int64_t *id, const uint8_t **bytes, size_t *len, error *err)
{
    int code = step(cur, err);

    if (code)
        return code;
    *id = sqlite3_column_int64(cur->statement->prepared, 0);
    return hand_out(cur, 1, bytes, len, err);
}

int cursor_next_row(cursor *cur, int64_t *id, const uint8_t **bytes, size_t *len, error *err)
{
    int code = step_up(cur, id, bytes, len, err);

    if (code)
        return code;
    if (*id < cur->low || *id > cur->high) {
        let_go(cur->c, &cur->statement);
        return fail(err, FENEC_CORRUPT, "a table of the file is out of order at row %" PRId64, *id);
    }
    if (*id == (cur->descending ? cur->low : cur->high)) { /* nothing may follow */
        cur->low = 1;
        cur->high = 0;
    } else if (cur->descending) {
        cur->high = *id - 1;
    } else {
        cur->low = *id + 1;
    }
    return FENEC_OK;
}

/* Puts the next entry of the walk into b->next. */
static int walk_down(cursor *cur, error *err)
{
    struct backward *b = cur->backward;
    int code = step(cur, err);

    b->has_next = code == FENEC_OK;
    if (code) {
        b->ended = true;
        return code == FN_END ? FENEC_OK : code;
    }
    sqlite3_stmt *st = cur->statement->prepared;
    const void *key = sqlite3_column_blob(st, 1);
    b->next_id = sqlite3_column_int64(st, 0);
    return key_set(&b->next, key, (size_t)sqlite3_column_bytes(st, 1)) ? FENEC_OK : fail_memory(err);
}

static int fail_order(error *err)
{
    return fail(err, FENEC_CORRUPT, "an index of the file is out of order");
}

/* How the entry the walk stands on compares with b->key. */
static int order_next(const struct backward *b)
{
    size_t len = b->next.len < b->key.len ? b->next.len : b->key.len;
    int order = len ? memcmp(b->next.bytes, b->key.bytes, len) : 0;

    return order ? order : (b->next.len > b->key.len) - (b->next.len < b->key.len);
}

/* Reads the ids of b->key upwards instead of turning them around. */
static int read_key_up(cursor *cur, error *err)
{
    struct backward *b = cur->backward;
    int code = open_statement(cur->c, ENTRIES_OF_KEY, b->t, &b->of_key, err);

    b->count = 0;
    b->of_some = false;
    if (code || !b->of_key)
        return code;
    int rc = statement_bind(b->of_key, 1, b->key.bytes, b->key.len);
    if (rc) {
        code = conn_fail(cur->c, rc, "cannot bind a key", err);
        let_go(cur->c, &b->of_key);
    }
    return code;
}

/* Starts the walk again below b->key. */
static int walk_below_key(cursor *cur, error *err)
{
    struct backward *b = cur->backward;
    key_range below = {.low = b->low.bytes,
                       .low_len = b->low.len,
                       .has_low = b->has_low,
                       .above_low = b->above_low,
                       .high = b->key.bytes,
                       .high_len = b->key.len,
                       .has_high = true,
                       .below_high = true};

    let_go(cur->c, &cur->statement);
    int code = open_range(cur, ENTRIES_DOWN, b->t, &below, err);
    if (code == FENEC_OK)
        code = walk_down(cur, err);
    return code == FENEC_OK && b->has_next && order_next(b) >= 0 ? fail_order(err) : code;
}

/* Collects the ids of the key the walk stands on. What does not go down is damage, and could be walked for ever. */
static int collect_key(cursor *cur, error *err)
{
    struct backward *b = cur->backward;
    key_copy spare = b->key;
    int code;

    b->key = b->next;
    b->next = spare;
    for (;;) {
        if (b->count == TURNED_MAX)
            return read_key_up(cur, err);
        b->ids[b->count++] = b->next_id;
        code = walk_down(cur, err);
        if (code || !b->has_next)
            return code;
        int order = order_next(b);
        if (order > 0 || (order == 0 && b->next_id >= b->ids[b->count - 1]))
            return fail_order(err);
        if (order < 0)
            return FENEC_OK;
    }
}

static int step_down(cursor *cur, int64_t *id, const uint8_t **key, size_t *len, error *err)
{
    struct backward *b = cur->backward;

    if (b->of_key) {
        count_step(cur->c);
        int code = statement_step(cur->c, b->of_key, "cannot read on", err);
        if (code == FENEC_OK) {
            *id = sqlite3_column_int64(b->of_key->prepared, 0);
            b->of_some = true;
            goto found;
        }
        let_go(cur->c, &b->of_key);
        if (code == FN_END)
            code = b->of_some ? walk_below_key(cur, err) : fail_order(err);
        if (code)
            return code;
    } else if (b->count == 0 && !b->has_next && !b->ended) {
        int code = walk_down(cur, err);
        if (code)
            return code;
    }
    if (b->count == 0) {
        if (!b->has_next)
            return FN_END;
        int code = collect_key(cur, err);
        if (code)
            return code;
        if (b->of_key)
            return step_down(cur, id, key, len, err); /* once: it returns above */
    }
    *id = b->ids[--b->count];
found:
    *key = b->key.bytes;
    *len = b->key.len;
    return FENEC_OK;
}

int cursor_next_entry(cursor *cur, int64_t *id, const uint8_t **key, size_t *len, error *err)
{
    return cur->backward ? step_down(cur, id, key, len, err) : step_up(cur, id, key, len, err);
}

void cursor_close(cursor *cur)
{
    let_go(cur->c, &cur->statement);
    if (cur->backward) {
        let_go(cur->c, &cur->backward->of_key);
        memory_free(cur->backward->key.bytes);
        memory_free(cur->backward->next.bytes);
        memory_free(cur->backward->low.bytes);
        memory_free(cur->backward);
    }
    *cur = (cursor){0};
}
