#include "exec/extreme.h"

#include "exec/access.h"
#include "exec/node.h"
#include "value/key.h"

const catalog_index *extreme_index(const collection *of, const bound *name)
{
    if (name->kind != NODE_FIELD || name->field->collate != COLLATION_NONE)
        return NULL;
    const catalog_index *index = access_index(of, name);
    return index && access_orders(index) ? index : NULL;
}

/* The first entry of a range, from its low or its high end: *len 0 where there is none. */
static int first_entry(conn *c, const catalog_index *index, const key_range *range, bool descending,
                       int64_t *id, uint8_t *kind, size_t *len, error *err)
{
    const uint8_t *key;
    cursor cur = {0};
    int rc = cursor_entries(&cur, c, table_index(index->number), range, descending, err);

    *len = 0;
    if (!rc)
        rc = cursor_next_entry(&cur, id, &key, len, err);
    if (!rc && *len)
        *kind = key[0];
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

int extreme_value(const collection *of, const catalog_index *index, const bound *name, bool greatest,
                  const context *cx, value *out, bool *found, error *err)
{
    static const uint8_t null = KEY_NULL;
    const key_range values = {.low = &null, .low_len = 1, .has_low = true, .above_low = true};
    uint8_t kind = KEY_NULL;
    int64_t id, least;
    size_t len, least_len;
    row r;

    *found = false;
    /* What the index cannot place stands above all else. */
    int rc = first_entry(cx->c, index, &values, true, &id, &kind, &len, err);
    if (rc || (len && kind == KEY_UNPLACED))
        return rc;
    if (!greatest && len) {
        rc = first_entry(cx->c, index, &values, false, &least, &kind, &least_len, err);
        id = least;
        len = least_len;
    }
    if (rc || len > KEY_EXACT_MAX)
        return rc;
    *found = true;
    *out = value_null();
    if (!len)
        return FENEC_OK;
    const scope s = {.cx = cx, .row = &r, .memory = cx->memory};
    rc = access_row(of, cx->c, id, &r, err);
    if (!rc)
        rc = row_keep(&r, cx->memory, err);
    return rc ? rc : name->eval(name, &s, out, err);
}
