#include "exec/index.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "exec/search.h"
#include "value/geo_cell.h"
#include "value/packed.h"

void row_keys_init(row_keys *k)
{
    *k = (row_keys){0};
    buffer_init(&k->bytes);
}

void row_keys_clear(row_keys *k)
{
    buffer_clear(&k->bytes);
    memory_free(k->pairs);
    *k = (row_keys){0};
}

void value_at(const value *of, const path *on, value *out)
{
    *out = *of;
    for (uint32_t i = 1; i < on->part_count; i++) {
        value inner;
        if (!packed_member(out, on->parts[i].bytes, on->parts[i].len, &inner)) {
            *out = value_null();
            return;
        }
        *out = inner;
    }
}

static bool is_collated(const collection *of, const catalog_index *x)
{
    return x->spec.kind == INDEX_SORTED && of->fields[x->field].collate != COLLATION_NONE;
}

static key_form form_of(const catalog_index *x)
{
    return x->spec.kind == INDEX_SORTED ? KEY_ORDERED : KEY_HASHED;
}

static key_state point_stored(buffer *out, const value *v)
{
    uint8_t key[GEO_KEY_LEN];

    if (v->kind != VALUE_POINT)
        return KEY_ABSENT;
    geo_key(key, v->point);
    buffer_put(out, key, sizeof key);
    return KEY_EXACT;
}

key_state index_stored(buffer *out, const collection *of, const catalog_index *x, const value *v)
{
    if (x->spec.kind == INDEX_GEO)
        return point_stored(out, v);
    if (is_collated(of, x))
        return key_stored_in(out, of->fields[x->field].collate, v);
    return key_stored(out, form_of(x), &of->fields[x->field].type, x->on.part_count > 1, v);
}

key_state index_probe(buffer *out, const collection *of, const catalog_index *x, const value *v)
{
    if (is_collated(of, x))
        return key_probe_in(out, of->fields[x->field].collate, v);
    return key_probe(out, form_of(x), &of->fields[x->field].type, x->on.part_count > 1, v);
}

/* Appends the key of a field's value: whether the index has an entry for it. */
static bool key_of(buffer *out, const collection *of, const catalog_index *x, const value *field, bool *tied)
{
    value v;

    value_at(field, &x->on, &v);
    key_state state = index_stored(out, of, x, &v);
    *tied = state == KEY_TIED;
    return state != KEY_ABSENT;
}

static int old_value(const catalog_index *x, const collection *of, const row *old, arena *a, value *v, error *err)
{
    return row_field(old, of->fields[x->field].number, a, v, err);
}

static int make_room(row_keys *k, uint32_t count, error *err)
{
    if (k->cap < count) {
        key_pair *more = memory_resize(k->pairs, count * sizeof *more);
        if (!more)
            return fail_memory(err);
        k->pairs = more;
        k->cap = count;
    }
    return FENEC_OK;
}

/* Values in the place of keys. */
static int search_values(key_pair *p, const catalog_index *x, const collection *of, const row *old,
                         const value fresh[], arena *a, error *err)
{
    int rc = FENEC_OK;

    p->before = p->after = value_null();
    if (old)
        rc = old_value(x, of, old, a, &p->before, err);
    if (fresh)
        p->after = fresh[x->field];
    p->had = p->before.kind != VALUE_NULL;
    p->gets = p->after.kind != VALUE_NULL;
    p->same = p->had && p->gets && value_equal(&p->before, &p->after);
    return rc;
}

int row_keys_make(row_keys *k, const collection *of, const row *old, const value fresh[], const bool touched[],
                  arena *a, error *err)
{
    int rc = make_room(k, of->index_count, err);

    k->of = of;
    k->fresh = fresh;
    k->bytes.len = 0;
    for (uint32_t i = 0; i < of->index_count && rc == FENEC_OK; i++) {
        const catalog_index *x = &of->indexes[i];
        key_pair *p = &k->pairs[i];
        *p = (key_pair){0};
        if (x->state == INDEX_DECLARED || (touched && !touched[x->field]))
            continue;
        if (search_is(x->spec.kind)) {
            rc = search_values(p, x, of, old, fresh, a, err);
            continue;
        }
        if (old) {
            value v;
            bool tied;
            rc = old_value(x, of, old, a, &v, err);
            if (rc != FENEC_OK)
                break;
            p->had_at = (uint32_t)k->bytes.len;
            p->had = key_of(&k->bytes, of, x, &v, &tied);
            p->had_len = (uint32_t)k->bytes.len - p->had_at;
        }
        if (fresh) {
            p->gets_at = (uint32_t)k->bytes.len;
            p->gets = key_of(&k->bytes, of, x, &fresh[x->field], &p->tied);
            p->gets_len = (uint32_t)k->bytes.len - p->gets_at;
        }
        if (k->bytes.failed)
            break;
        p->same = p->had && p->gets && p->had_len == p->gets_len &&
                  memcmp(k->bytes.bytes + p->had_at, k->bytes.bytes + p->gets_at, p->had_len) == 0;
    }
    if (k->bytes.failed) {
        buffer_clear(&k->bytes);
        return fail_memory(err);
    }
    return rc;
}

/* Whether document `id` holds the value at that index: looked up on its record. */
static int holds(conn *c, const collection *of, const catalog_index *x, int64_t id, const value *wanted, arena *a,
                 bool *out, error *err)
{
    row r;
    value v;
    int rc = row_find(&r, c, of->number, id, err);

    *out = false;
    if (rc == FN_END)
        return fail(err, FENEC_CORRUPT, "the index on `%s` of `%s` names document %" PRId64 ", which is not there",
                    x->on.text, of->name, id);
    if (rc == FENEC_OK)
        rc = old_value(x, of, &r, a, &v, err);
    if (rc != FENEC_OK)
        return rc;
    value_at(&v, &x->on, &v);
    *out = value_equal(&v, wanted);
    return FENEC_OK;
}

/* The first id but `own` under the key whose value is `wanted`. */
static int find_holder(conn *c, const collection *of, const catalog_index *x, const uint8_t *key, size_t len,
                       bool tied, const value *wanted, int64_t own, int64_t *holder, arena *a, error *err)
{
    int64_t id = 0;
    int rc;

    while ((rc = entries_first(c, table_index(x->number), key, len, id, &id, err)) == FENEC_OK) {
        bool same = true;
        if (id == own)
            continue;
        if (tied)
            rc = holds(c, of, x, id, wanted, a, &same, err);
        if (rc != FENEC_OK)
            return rc;
        if (same) {
            *holder = id;
            return FENEC_OK;
        }
    }
    return rc;
}

int row_keys_holder(const row_keys *k, const block *b, int64_t own, uint32_t *at, int64_t *holder, arena *a,
                    error *err)
{
    for (; *at < k->of->index_count; ++*at) {
        const catalog_index *x = &k->of->indexes[*at];
        const key_pair *p = &k->pairs[*at];
        value wanted;
        if (x->spec.kind != INDEX_UNIQUE || x->state != INDEX_READY || !p->gets || (p->same && !p->tied))
            continue;
        value_at(&k->fresh[x->field], &x->on, &wanted);
        int rc = find_holder(b->c, k->of, x, k->bytes.bytes + p->gets_at, p->gets_len, p->tied, &wanted, own,
                             holder, a, err);
        if (rc != FN_END)
            return rc;
    }
    return FN_END;
}

int row_keys_clash(const row_keys *k, uint32_t at, int64_t holder, error *err)
{
    const catalog_index *x = &k->of->indexes[at];
    char quoted[VALUE_QUOTE_MAX];
    value v;

    value_at(&k->fresh[x->field], &x->on, &v);
    return fail(err, FENEC_DUPLICATE, "`%s` of `%s` is unique and document %" PRId64 " holds %s", x->on.text,
                k->of->name, holder, value_quote(quoted, &v));
}

/* The build of an index that is not there yet, where this id is behind its mark. */
static build *build_over(const block *b, const catalog_index *x, int64_t id)
{
    for (build *n = b->w->builds; n; n = n->next)
        if (n->index == x->number)
            return id <= n->to ? n : NULL;
    return NULL;
}

int row_keys_search(const row_keys *k, block *b, int64_t id, error *err)
{
    for (uint32_t i = 0; i < k->of->index_count; i++) {
        const catalog_index *x = &k->of->indexes[i];
        const key_pair *p = &k->pairs[i];
        if (!search_is(x->spec.kind) || (!p->had && !p->gets) || p->same)
            continue;
        if (x->state != INDEX_READY && !build_over(b, x, id))
            continue;
        int rc = search_write(b, k->of, x, id, &p->before, &p->after, err);
        if (rc != FENEC_OK)
            return rc;
    }
    return FENEC_OK;
}

int row_keys_apply(const row_keys *k, block *b, int64_t id, error *err)
{
    for (uint32_t i = 0; i < k->of->index_count; i++) {
        const catalog_index *x = &k->of->indexes[i];
        const key_pair *p = &k->pairs[i];
        const uint8_t *bytes = k->bytes.bytes;
        table t = table_index(x->number);
        build *beside = NULL;
        int rc = FENEC_OK;

        if ((!p->had && !p->gets) || p->same || search_is(x->spec.kind))
            continue;
        if (x->state != INDEX_READY && !(beside = build_over(b, x, id)))
            continue;
        if (beside && beside->by_key && !id_set_add(&beside->touched, id))
            return fail_memory(err);
        if (p->had)
            rc = entries_delete(b->c, t, bytes + p->had_at, p->had_len, id, err);
        if (rc == FENEC_OK && p->gets && beside && x->spec.kind == INDEX_UNIQUE) {
            int64_t other;
            rc = entries_first(b->c, t, bytes + p->gets_at, p->gets_len, 0, &other, err);
            if (rc == FENEC_OK && !id_set_add(&beside->clashes, id))
                return fail_memory(err);
            if (rc == FN_END)
                rc = FENEC_OK;
        }
        if (rc == FENEC_OK && p->gets)
            rc = entries_put(b->c, t, bytes + p->gets_at, p->gets_len, id, err);
        if (rc != FENEC_OK)
            return rc;
    }
    return FENEC_OK;
}

/* ---- a whole index ---- */

static int twice(const collection *of, const catalog_index *x, const value *v, int64_t a, int64_t b, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    return fail(err, FENEC_DUPLICATE, "`%s` of `%s` cannot be unique: documents %" PRId64 " and %" PRId64
                " both hold %s", x->on.text, of->name, a < b ? a : b, a < b ? b : a, value_quote(quoted, v));
}

static int fill_row(block *b, const collection *of, const catalog_index *x, const row *r, buffer *key, arena *a,
                    error *err)
{
    int64_t other;
    value field, v;
    bool tied;
    int rc = old_value(x, of, r, a, &field, err);

    if (rc != FENEC_OK)
        return rc;
    if (search_is(x->spec.kind)) {
        v = value_null();
        return field.kind == VALUE_NULL ? FENEC_OK : search_write(b, of, x, r->id, &v, &field, err);
    }
    key->len = 0;
    if (!key_of(key, of, x, &field, &tied))
        return FENEC_OK;
    if (key->failed)
        return buffer_error(key, err);
    if (x->spec.kind == INDEX_UNIQUE) {
        value_at(&field, &x->on, &v);
        rc = find_holder(b->c, of, x, key->bytes, key->len, tied, &v, r->id, &other, a, err);
        if (rc == FENEC_OK)
            return twice(of, x, &v, other, r->id, err);
        if (rc != FN_END)
            return rc;
    }
    return entries_put(b->c, table_index(x->number), key->bytes, key->len, r->id, err);
}

int index_fill(block *b, const collection *of, const catalog_index *x, int64_t *to, int64_t most, bool *done,
               error *err)
{
    cursor cur = {0};
    arena scratch;
    buffer key;
    int rc = FENEC_OK;

    *done = *to == INT64_MAX;
    if (*done)
        return FENEC_OK;
    arena_init(&scratch);
    buffer_init(&key);
    rc = cursor_rows(&cur, b->c, table_records(of->number), *to + 1, INT64_MAX, false, err);
    for (int64_t n = 0; rc == FENEC_OK && n < most; n++) {
        const uint8_t *bytes;
        size_t len;
        int64_t id;
        row r;
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        if (rc == FENEC_OK)
            rc = row_open(&r, b->c, of->number, id, bytes, len, err);
        if (rc == FENEC_OK)
            rc = fill_row(b, of, x, &r, &key, &scratch, err);
        if (rc == FENEC_OK)
            *to = id;
        arena_reset(&scratch);
    }
    cursor_close(&cur);
    if (rc == FN_END) {
        *done = true;
        rc = FENEC_OK;
    }
    buffer_clear(&key);
    arena_clear(&scratch);
    return rc;
}

int index_gather(conn *c, const collection *of, const catalog_index *x, int64_t *to, size_t most, bool *done,
                 entry_run *out, error *err)
{
    cursor cur = {0};
    arena scratch;
    buffer key;
    int rc;

    *done = *to == INT64_MAX;
    if (*done)
        return FENEC_OK;
    arena_init(&scratch);
    buffer_init(&key);
    rc = cursor_rows(&cur, c, table_records(of->number), *to + 1, INT64_MAX, false, err);
    while (rc == FENEC_OK && entry_run_size(out) < most) {
        const uint8_t *bytes;
        size_t len;
        value field;
        int64_t id;
        bool tied;
        row r;
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        if (rc == FENEC_OK)
            rc = row_open(&r, c, of->number, id, bytes, len, err);
        if (rc == FENEC_OK)
            rc = old_value(x, of, &r, &scratch, &field, err);
        key.len = 0;
        if (rc == FENEC_OK && key_of(&key, of, x, &field, &tied))
            rc = key.failed ? fail_memory(err) : entry_run_add(out, key.bytes, key.len, id, err);
        if (rc == FENEC_OK)
            *to = id;
        arena_reset(&scratch);
    }
    cursor_close(&cur);
    if (rc == FN_END) {
        *done = true;
        rc = FENEC_OK;
    }
    buffer_clear(&key);
    arena_clear(&scratch);
    return rc;
}

/* The entry of a row as the block sees it. */
static int put_current(block *b, const collection *of, const catalog_index *x, int64_t id, error *err)
{
    arena scratch;
    buffer key;
    row r;
    int rc = row_find(&r, b->c, of->number, id, err);

    if (rc != FENEC_OK)
        return rc == FN_END ? FENEC_OK : rc;
    arena_init(&scratch);
    buffer_init(&key);
    rc = row_keep(&r, &scratch, err);
    if (rc == FENEC_OK)
        rc = fill_row(b, of, x, &r, &key, &scratch, err);
    buffer_clear(&key);
    arena_clear(&scratch);
    return rc;
}

int index_put(block *b, const collection *of, const catalog_index *x, const uint8_t *key, size_t len, int64_t id,
              bool touched, error *err)
{
    table t = table_index(x->number);
    int64_t other;

    if (!touched && x->spec.kind == INDEX_UNIQUE) {
        int rc = entries_first(b->c, t, key, len, 0, &other, err);
        if (rc != FENEC_OK && rc != FN_END)
            return rc;
        touched = rc == FENEC_OK; /* two values may share a key: the rows tell */
    }
    return touched ? put_current(b, of, x, id, err) : entries_put(b->c, t, key, len, id, err);
}

/* Whether a document's value is another's too. FN_END: it is not there. */
static int judge(conn *c, const collection *of, const catalog_index *x, int64_t id, arena *a, error *err)
{
    int64_t other;
    buffer key;
    value v;
    bool tied;
    row r;
    int rc = row_find(&r, c, of->number, id, err);

    if (rc == FENEC_OK)
        rc = row_keep(&r, a, err);
    if (rc == FENEC_OK)
        rc = old_value(x, of, &r, a, &v, err);
    if (rc != FENEC_OK)
        return rc;
    buffer_init(&key);
    if (key_of(&key, of, x, &v, &tied) && !key.failed) {
        value_at(&v, &x->on, &v);
        rc = find_holder(c, of, x, key.bytes, key.len, tied, &v, id, &other, a, err);
        if (rc == FENEC_OK)
            rc = twice(of, x, &v, id, other, err);
        else if (rc == FN_END)
            rc = FENEC_OK;
    }
    if (key.failed)
        rc = buffer_error(&key, err);
    buffer_clear(&key);
    return rc;
}

/* A key with two ids. */
static int judge_tie(conn *c, const collection *of, const catalog_index *x, int64_t id, arena *a, error *err)
{
    int rc = judge(c, of, x, id, a, err);

    return rc != FN_END ? rc
                        : fail(err, FENEC_CORRUPT, "the index on `%s` of `%s` names document %" PRId64
                               ", which is not there", x->on.text, of->name, id);
}

int index_check_document(conn *c, const collection *of, const catalog_index *x, int64_t id, error *err)
{
    arena scratch;

    arena_init(&scratch);
    int rc = judge(c, of, x, id, &scratch, err);
    arena_clear(&scratch);
    return rc == FN_END ? FENEC_OK : rc;
}

int index_check_unique(conn *c, const collection *of, const catalog_index *x, error *err)
{
    key_range all = {0};
    cursor cur = {0};
    buffer before;
    arena scratch;
    bool first = true;
    int rc;

    buffer_init(&before);
    arena_init(&scratch);
    rc = cursor_entries(&cur, c, table_index(x->number), &all, false, err);
    while (rc == FENEC_OK) {
        const uint8_t *key;
        size_t len;
        int64_t id;
        rc = cursor_next_entry(&cur, &id, &key, &len, err);
        if (rc != FENEC_OK)
            break;
        if (!first && before.len == len && (len == 0 || memcmp(before.bytes, key, len) == 0))
            rc = judge_tie(c, of, x, id, &scratch, err);
        first = false;
        before.len = 0;
        buffer_put(&before, key, len);
        if (before.failed)
            rc = fail_memory(err);
        arena_reset(&scratch);
    }
    cursor_close(&cur);
    buffer_clear(&before);
    arena_clear(&scratch);
    return rc == FN_END ? FENEC_OK : rc;
}
