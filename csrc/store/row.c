#include "store/row.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "value/packed.h"

#define TAG_HALF_VECTOR 12 /* of value/packed.h */

static int damaged(const row *r, error *err)
{
    return fail(err, FENEC_CORRUPT, "the record of document %" PRId64 " is damaged", r->id);
}

int row_open(row *r, conn *c, uint32_t collection, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    *r = (row){.c = c, .collection = collection, .id = id};
    return record_open(&r->rec, bytes, len, err) == FENEC_OK ? FENEC_OK : damaged(r, err);
}

int row_find(row *r, conn *c, uint32_t collection, int64_t id, error *err)
{
    const uint8_t *bytes;
    size_t len;
    int code = rows_get(c, table_records(collection), id, &bytes, &len, err);

    return code == FENEC_OK ? row_open(r, c, collection, id, bytes, len, err) : code;
}

static int slot_of(const row *r, uint32_t field, record_slot_bytes *out, error *err)
{
    if (record_slot(&r->rec, field, &out->bytes, &out->len, err) != FENEC_OK)
        return damaged(r, err);
    if (out->len > 0 && out->bytes[0] == RECORD_SIDE && out->len != RECORD_SIDE_LEN)
        return damaged(r, err);
    return FENEC_OK;
}

static bool is_side(const record_slot_bytes *slot)
{
    return slot->len > 0 && slot->bytes[0] == RECORD_SIDE;
}

static int read_side(const row *r, uint32_t field, uint32_t expected, arena *a, value *out, error *err)
{
    const uint8_t *bytes;
    size_t len;
    int code = rows_get(r->c, table_side(r->collection, field), r->id, &bytes, &len, err);

    if (code == FN_END || (code == FENEC_OK && (len != expected || len == 0)))
        return damaged(r, err);
    if (code != FENEC_OK)
        return code;
    /* Its bytes are gone with the next rows_get; a widened vector is the arena's by itself. */
    if (bytes[0] != TAG_HALF_VECTOR && !(bytes = arena_copy(a, bytes, len)))
        return fail_memory(err);
    const uint8_t *at = bytes;
    code = packed_read(&at, bytes + len, a, out, err);
    return code == FENEC_CORRUPT || (code == FENEC_OK && at != bytes + len) ? damaged(r, err) : code;
}

int row_field(const row *r, uint32_t field, arena *a, value *out, error *err)
{
    record_slot_bytes slot;
    value v = value_null();
    int code = slot_of(r, field, &slot, err);

    if (code != FENEC_OK)
        return code;
    if (is_side(&slot)) {
        code = read_side(r, field, bytes_u32(slot.bytes + 1), a, &v, err);
    } else if (slot.len > 0) {
        const uint8_t *at = slot.bytes;
        code = packed_read(&at, slot.bytes + slot.len, a, &v, err);
        if (code == FENEC_CORRUPT || (code == FENEC_OK && at != slot.bytes + slot.len))
            code = damaged(r, err);
    }
    if (code == FENEC_OK)
        *out = v;
    return code;
}

int row_keep(row *r, arena *a, error *err)
{
    const uint8_t *bytes = arena_copy(a, r->rec.bytes, r->rec.len);

    if (!bytes)
        return fail_memory(err);
    r->rec.values = bytes + (r->rec.values - r->rec.bytes);
    r->rec.bytes = bytes;
    return FENEC_OK;
}

/* A row on its way: values are packed one after another into `bytes`, and the record then behind them. */
typedef struct writing {
    conn *c;
    uint32_t collection;
    int64_t id;
    buffer bytes;
} writing;

/* Appends the slot of a value: its packed bytes, or a reference to where it was put aside. */
static int write_slot(writing *w, uint32_t field, const row_value *from, const record_slot_bytes *was,
                      error *err)
{
    size_t start = w->bytes.len;
    uint8_t side[RECORD_SIDE_LEN];
    table beside = table_side(w->collection, field);

    if (from->v.kind == VALUE_VECTOR && from->half)
        packed_put_half(&w->bytes, &from->v);
    else if (from->v.kind != VALUE_NULL)
        packed_put(&w->bytes, &from->v);
    if (w->bytes.failed)
        return fail_memory(err);

    size_t len = w->bytes.len - start;
    if (from->v.kind != VALUE_VECTOR && len <= RECORD_INLINE_MAX)
        return is_side(was) ? rows_delete(w->c, beside, w->id, err) : FENEC_OK;
    int code = rows_put(w->c, beside, w->id, w->bytes.bytes + start, len, err);
    record_put_side(side, w->bytes.bytes + start, len, w->id);
    w->bytes.len = start;
    buffer_put(&w->bytes, side, sizeof side); /* stands in the room of the value */
    return code;
}

static int write_slots(writing *w, const row_value values[], uint32_t fields, const row *old,
                       record_slot_bytes slots[], error *err)
{
    for (uint32_t i = 0; i < fields; i++) {
        record_slot_bytes was = {NULL, 0};
        size_t start = w->bytes.len;
        int code = old ? slot_of(old, i, &was, err) : FENEC_OK;

        if (code == FENEC_OK && !values[i].keep)
            code = write_slot(w, i, &values[i], &was, err);
        if (code != FENEC_OK)
            return code;
        /* What is not the old record's is given its place once the buffer no longer moves. */
        slots[i] = values[i].keep ? was : (record_slot_bytes){NULL, w->bytes.len - start};
    }
    return FENEC_OK;
}

/* Side values of the fields from `first` on. */
static int drop_sides(conn *c, const row *old, uint32_t first, error *err)
{
    for (uint32_t i = first; i < old->rec.fields; i++) {
        record_slot_bytes slot;
        int code = slot_of(old, i, &slot, err);

        if (code == FENEC_OK && is_side(&slot))
            code = rows_delete(c, table_side(old->collection, i), old->id, err);
        if (code != FENEC_OK)
            return code;
    }
    return FENEC_OK;
}

static int write_record(writing *w, const row_value values[], record_slot_bytes slots[], uint32_t fields,
                        error *err)
{
    size_t most = RECORD_AROUND_MAX(fields), at = 0, packed = w->bytes.len;

    for (uint32_t i = 0; i < fields; i++)
        most += slots[i].len;
    if (!buffer_reserve(&w->bytes, most))
        return fail_memory(err);
    for (uint32_t i = 0; i < fields; i++) {
        if (!values[i].keep) {
            slots[i].bytes = w->bytes.bytes + at;
            at += slots[i].len;
        }
    }
    record_write(&w->bytes, w->id, slots, fields);
    if (w->bytes.failed)
        return fail(err, FENEC_PANIC, "document %" PRId64 " does not fit a record", w->id);
    return rows_put(w->c, table_records(w->collection), w->id, w->bytes.bytes + packed, w->bytes.len - packed,
                    err);
}

int row_write(conn *c, uint32_t collection, int64_t id, const row_value values[], uint32_t fields,
              const row *old, arena *a, error *err)
{
    writing w = {.c = c, .collection = collection, .id = id};
    record_slot_bytes *slots = arena_alloc(a, (size_t)fields * sizeof *slots);

    if (!slots)
        return fail_memory(err);
    if (old && (old->id != id || old->collection != collection))
        return fail(err, FENEC_PANIC, "document %" PRId64 " written over %" PRId64, id, old->id);
    buffer_init(&w.bytes);
    int code = write_slots(&w, values, fields, old, slots, err);
    if (code == FENEC_OK && old)
        code = drop_sides(c, old, fields, err);
    if (code == FENEC_OK)
        code = write_record(&w, values, slots, fields, err);
    buffer_clear(&w.bytes);
    return code;
}

int row_delete(conn *c, const row *old, error *err)
{
    int code = drop_sides(c, old, 0, err);

    return code == FENEC_OK ? rows_delete(c, table_records(old->collection), old->id, err) : code;
}
