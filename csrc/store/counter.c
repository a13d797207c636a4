#include "base/bytes.h"
#include "store/inside.h"

static table counter_table(void)
{
    return (table){TABLE_META, 0, 0};
}

int counter_get(conn *c, uint64_t *out, error *err)
{
    const transaction *t = &c->s->transaction;
    const uint8_t *bytes;
    size_t len;

    if (c->writer && (t->counts || t->count_due)) {
        *out = t->counts ? t->count : t->due;
        return FENEC_OK;
    }
    int code = rows_get(c, counter_table(), 0, &bytes, &len, err);
    if (code == FENEC_OK && len != 8)
        return fail(err, FENEC_CORRUPT, "the change counter is damaged");
    if (code == FENEC_OK)
        *out = bytes_u64(bytes);
    else if (code == FN_END)
        *out = 0;
    return code == FN_END ? FENEC_OK : code;
}

void counter_set(conn *c, uint64_t n)
{
    c->s->transaction.counts = true;
    c->s->transaction.count = n;
}

int counter_write(store *s, error *err)
{
    transaction *t = &s->transaction;
    uint8_t bytes[8];

    if (!t->counts && !t->count_due)
        return FENEC_OK;
    bytes_put_u64(bytes, t->counts ? t->count : t->due);
    t->counts = t->count_due = false;
    return rows_put(&s->writer, counter_table(), 0, bytes, sizeof bytes, err);
}
