#include "store/probe.h"

#include <string.h>

#include "store/inside.h"

enum {
    NEAR = 4,       /* entries passed over rather than sought past */
    JUMPS_MAX = 3,  /* after so many in a row each key is looked for alone */
    TRY_AGAIN = 64, /* keys after which neighbours are hoped for once more */
    ROW_COLUMN = 1,
    KEY_COLUMN = 2
};

/* One key under way: what its entries are handed to. */
typedef struct probing {
    probe *p;
    row_visit *visit;
    void *to;
    int order;      /* of the entry the step ended at, against the key */
    int passed;     /* entries below the key */
    bool is_over;   /* a visit ended it */
    bool failed;    /* memory ran out */
} probing;

void probe_init(probe *p, conn *c, uint32_t index, uint32_t collection)
{
    *p = (probe){.c = c, .entries = {.kind = TABLE_INDEX, .number = index, .field = collection}};
}

void probe_close(probe *p)
{
    if (p->statement)
        statement_release(p->c, p->statement);
    p->statement = NULL;
    p->ahead = p->ended = false;
    p->len = 0;
}

static int order_keys(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a, b, len) : 0;

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* Whether the next entry is wanted too. */
static bool take(probing *w, const uint8_t *key, size_t key_len, int64_t id, const uint8_t *row, size_t len)
{
    const probe *p = w->p;

    w->order = p->alone ? 0 : order_keys(key, key_len, p->key, p->len);
    if (w->order < 0)
        return w->passed++ < NEAR;
    if (w->order > 0)
        return false;
    w->is_over = !w->visit(w->to, id, row, len);
    return !w->is_over;
}

/* fenec_probe(row, id, key): false passes to the next entry, without leaving the step. */
static void visit_entry(sqlite3_context *context, int count, sqlite3_value **values)
{
    conn *c = sqlite3_user_data(context);
    probing *w = c->probing;
    const uint8_t *row = sqlite3_value_blob(values[0]), *key = sqlite3_value_blob(values[2]);
    size_t len = (size_t)sqlite3_value_bytes(values[0]), key_len = (size_t)sqlite3_value_bytes(values[2]);

    (void)count;
    if (!w || (!row && len) || (!key && key_len)) {
        if (w)
            w->failed = true;
        sqlite3_result_error_nomem(context);
        return;
    }
    if (++c->steps == LONG_READ_ROWS)
        pool_note_long(c);
    if (!take(w, key ? key : (const uint8_t *)"", key_len, sqlite3_value_int64(values[1]),
              row ? row : (const uint8_t *)"", len))
        sqlite3_result_int(context, 1);
}

int probe_register(sqlite3 *db, conn *c)
{
    return sqlite3_create_function_v2(db, "fenec_probe", 3, SQLITE_UTF8 | SQLITE_DIRECTONLY, c, visit_entry, NULL, NULL,
                                      NULL);
}

/* Starts at the key asked for. FN_END: there is no such index. */
static int seek(probe *p, error *err)
{
    bool alone = p->jumps >= JUMPS_MAX;

    if (p->statement && p->alone != alone) {
        statement_release(p->c, p->statement);
        p->statement = NULL;
    }
    if (p->statement) {
        sqlite3_reset(p->statement->prepared);
    } else {
        statement *st;
        int code = statement_find(p->c, alone ? JOINED_OF_KEY : JOINED_FROM_KEY, p->entries, false, &st, err);
        if (code)
            return code;
        statement_claim(p->c, st);
        p->statement = st;
        p->alone = alone;
    }
    p->ahead = p->ended = false;
    /* Not copied: the key is the probe's. A statement that is bounded by it is bound anew before it changes. */
    int rc = statement_bind(p->statement, 1, p->key, p->len);
    return rc ? conn_fail(p->c, rc, "cannot bind a key", err) : FENEC_OK;
}

/* Goes on from where the statement stands. FENEC_OK where it stands on an entry, FN_END at its end. */
static int go_on(probing *w, error *err)
{
    probe *p = w->p;
    probing *outer = p->c->probing;

    p->c->probing = w;
    int code = statement_step(p->c, p->statement, "cannot read an index", err);
    p->c->probing = outer;
    if (w->failed)
        return fail_memory(err);
    p->ended = code == FN_END;
    p->ahead = code == FENEC_OK && w->order != 0;
    return code;
}

/* The entry it stands on, as if the step had just come to it. */
static bool take_ahead(probing *w)
{
    sqlite3_stmt *st = w->p->statement->prepared;
    const uint8_t *key = sqlite3_column_blob(st, KEY_COLUMN), *row = sqlite3_column_blob(st, ROW_COLUMN);
    size_t key_len = (size_t)sqlite3_column_bytes(st, KEY_COLUMN), len = (size_t)sqlite3_column_bytes(st, ROW_COLUMN);

    if ((!key && key_len) || (!row && len)) {
        w->failed = true;
        return false;
    }
    bool more = take(w, key ? key : (const uint8_t *)"", key_len, sqlite3_column_int64(st, 0),
                     row ? row : (const uint8_t *)"", len);
    w->p->ahead = w->order > 0;
    return more;
}

int probe_rows(probe *p, const uint8_t *key, size_t len, row_visit *visit, void *to, error *err)
{
    probing w = {.p = p, .visit = visit, .to = to};
    int code = FENEC_OK;

    if (len > PROBE_KEY_MAX)
        return fail(err, FENEC_PANIC, "a key of %zu bytes is too long", len);
    bool goes_on = p->statement && !p->alone && p->len && order_keys(key, len, p->key, p->len) > 0;
    memcpy(p->key, key, len);
    p->len = len;
    if (p->jumps >= JUMPS_MAX && ++p->asked % TRY_AGAIN == 0)
        p->jumps = 0;
    if (goes_on) {
        bool more = !p->ended;
        if (p->ahead)
            more = take_ahead(&w);
        if (more)
            code = go_on(&w, err);
        if (w.failed)
            return fail_memory(err);
        if (code && code != FN_END)
            return code;
        if (p->ended || w.order >= 0) {
            p->jumps = 0;
            return FENEC_OK;
        }
    }
    p->jumps++;
    code = seek(p, err);
    if (!code)
        code = go_on(&w, err);
    return code == FN_END ? FENEC_OK : code;
}
