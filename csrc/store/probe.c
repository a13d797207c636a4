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

/* The entry it stands on against the key asked for. */
static int order_ahead(const probe *p)
{
    const void *key = sqlite3_column_blob(p->statement->prepared, KEY_COLUMN);
    size_t len = (size_t)sqlite3_column_bytes(p->statement->prepared, KEY_COLUMN);

    return order_keys(key ? key : (const uint8_t *)"", len, p->key, p->len);
}

static int step(probe *p, error *err)
{
    if (++p->c->steps == LONG_READ_ROWS)
        pool_note_long(p->c);
    int code = statement_step(p->c, p->statement, "cannot read an index", err);
    p->ahead = code == FENEC_OK;
    p->ended = code == FN_END;
    return code;
}

/* Starts at the key asked for. */
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
    /* Not copied: the key is the probe's and changes only where it is bound again or its statement ends. */
    int rc = statement_bind(p->statement, 1, p->key, p->len);
    return rc ? conn_fail(p->c, rc, "cannot bind a key", err) : FENEC_OK;
}

/* Whether the statement goes on to a key above the last one. It then stands on its first entry (`found`), or
 * past where that would be. */
static int go_on(probe *p, bool *near, error *err)
{
    *near = false;
    for (int i = 0; i <= NEAR; i++) {
        int order = p->ended ? 1 : p->ahead ? order_ahead(p) : -1;
        if (order >= 0) {
            *near = true;
            p->found = order == 0;
            return FENEC_OK;
        }
        int code = step(p, err);
        if (code && code != FN_END)
            return code;
    }
    return FENEC_OK;
}

int probe_key(probe *p, const uint8_t *key, size_t len, error *err)
{
    bool near = false;
    int code = FENEC_OK;

    if (len > PROBE_KEY_MAX)
        return fail(err, FENEC_PANIC, "a key of %zu bytes is too long", len);
    bool goes_on = p->statement && !p->alone && p->len && order_keys(key, len, p->key, p->len) > 0;
    memcpy(p->key, key, len);
    p->len = len;
    p->found = false;
    if (p->jumps >= JUMPS_MAX && ++p->asked % TRY_AGAIN == 0)
        p->jumps = 0;
    if (goes_on)
        code = go_on(p, &near, err);
    if (code)
        return code;
    if (near) {
        p->jumps = 0;
        return FENEC_OK;
    }
    p->jumps++;
    code = seek(p, err);
    return code == FN_END ? FENEC_OK : code;
}

int probe_next(probe *p, int64_t *id, const uint8_t **bytes, size_t *len, error *err)
{
    if (!p->statement || p->ended || (p->ahead && !p->found))
        return FN_END;
    if (!p->ahead) {
        int code = step(p, err);
        if (code)
            return code;
        p->found = p->alone || order_ahead(p) == 0;
        if (!p->found)
            return FN_END;
    }
    sqlite3_stmt *st = p->statement->prepared;
    const void *row = sqlite3_column_blob(st, ROW_COLUMN);
    *len = (size_t)sqlite3_column_bytes(st, ROW_COLUMN);
    *id = sqlite3_column_int64(st, 0);
    if (!row && *len)
        return fail_memory(err);
    *bytes = row ? row : (const uint8_t *)"";
    p->ahead = false;
    return FENEC_OK;
}
