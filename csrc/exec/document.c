#include "exec/document.h"

#include <string.h>

#include "base/hash.h"
#include "value/coerce.h"
#include "value/packed.h"

/* ---- binding ---- */

static bool same_key(const path *a, const path *b)
{
    return a->text_len == b->text_len && memcmp(a->text, b->text, a->text_len) == 0;
}

/* Marks pairs whose key an earlier one has. */
static int find_twice(bound_pair *items, uint32_t count, error *err)
{
    uint32_t cap = 16;
    arena scratch;

    while (cap < count * 2 && cap < UINT32_MAX / 2)
        cap *= 2;
    arena_init(&scratch);
    uint32_t *seen = arena_zeroed(&scratch, cap * sizeof *seen); /* place + 1 by hash, open addressing */
    for (uint32_t i = 0; seen && i < count; i++) {
        uint32_t at = (uint32_t)hash64(items[i].key->text, items[i].key->text_len) & (cap - 1);
        while (seen[at] && !same_key(items[seen[at] - 1].key, items[i].key))
            at = (at + 1) & (cap - 1);
        items[i].twice = seen[at] != 0;
        if (!seen[at])
            seen[at] = i + 1;
    }
    arena_clear(&scratch);
    return seen ? FENEC_OK : fail_memory(err);
}

int pairs_bind(const pairs *p, const collection *of, const binding *b, arena *a, bound_pairs *out, error *err)
{
    bound_pair *items = arena_alloc(a, p->count * sizeof *items + 1);
    error unused;

    if (!items)
        return fail_memory(err);
    for (uint32_t i = 0; i < p->count; i++) {
        bound_pair *to = &items[i];
        *to = (bound_pair){.key = &p->items[i].key};
        int rc = expr_bind(p->items[i].e, b, a, &to->value, err);
        if (rc != FENEC_OK)
            return rc;
        to->unknown = collection_resolve(of, to->key, &to->place, &unused) != FENEC_OK;
    }
    *out = (bound_pairs){items, p->count};
    return find_twice(items, p->count, err);
}

/* ---- values into fields ---- */

/* Where a pair's value goes: the error its key deserves, if any. */
static int check_key(const bound_pair *p, const collection *of, error *err)
{
    int32_t place;

    if (p->unknown)
        return collection_resolve(of, p->key, &place, err);
    if (p->twice)
        return fail(err, FENEC_QUERY, "`%.*s` of `%s` is given twice", (int)p->key->text_len, p->key->text,
                    of->name);
    return FENEC_OK;
}

/* v set at a path of *field, a json value. */
static int set_path(const path *on, const value *v, const collection *of, arena *a, value *field, error *err)
{
    char quoted[VALUE_QUOTE_MAX];
    value made, holds;
    uint32_t met;
    int rc = packed_set_path(a, field, on->parts + 1, on->part_count - 1, v, &made, &met, &holds, err);

    if (rc == FENEC_TYPE) {
        size_t len = on->parts[0].len;
        for (uint32_t i = 1; i <= met && i < on->part_count; i++)
            len += 1 + on->parts[i].len;
        return fail(err, FENEC_TYPE, "`%.*s` of `%s` holds %s, so that `%.*s` cannot be set", (int)len, on->text,
                    of->name, value_quote(quoted, &holds), (int)on->text_len, on->text);
    }
    if (rc == FENEC_OK && packed_depth(&made) > JSON_DEPTH_MAX)
        return fail(err, FENEC_TYPE, "`%.*s` of `%s` would nest more than %d deep", (int)on->parts[0].len,
                    on->text, of->name, JSON_DEPTH_MAX);
    if (rc == FENEC_OK)
        *field = made;
    return rc;
}

/* v into the field or path `on` of a document whose field stands in *field. */
static int enter(const value *v, const path *on, const catalog_field *f, const collection *of, arena *a,
                 value *field, error *err)
{
    value coerced;

    if (on->part_count == 1)
        return value_coerce(v, &f->type, f->name, a, field, err);
    int rc = value_coerce(v, &f->type, on->text, a, &coerced, err);
    return rc == FENEC_OK ? set_path(on, &coerced, of, a, field, err) : rc;
}

static int enter_id(const value *v, const collection *of, int64_t *id, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    if (v->kind != VALUE_INT || v->integer < 1)
        return fail(err, FENEC_TYPE, "`id` of `%s` is an int from 1 on, not %s", of->name, value_quote(quoted, v));
    *id = v->integer;
    return FENEC_OK;
}

static int check_required(const collection *of, const bool *named, error *err)
{
    for (uint32_t i = 0; i < of->field_count; i++)
        if (of->fields[i].required && !named[i])
            return fail(err, FENEC_TYPE, "`%s` of `%s` is required and not given", of->fields[i].name, of->name);
    return FENEC_OK;
}

/* Room for a document: every field null, none named. */
static int begin(const collection *of, arena *a, document *d, bool **named, error *err)
{
    d->id = 0;
    d->values = arena_zeroed(a, of->field_count * sizeof *d->values);
    *named = arena_zeroed(a, of->field_count);
    return d->values && *named ? FENEC_OK : fail_memory(err);
}

int document_build(const bound_pairs *from, const collection *of, const scope *s, document *out, error *err)
{
    bool *named;
    int rc = begin(of, s->memory, out, &named, err);

    for (uint32_t i = 0; i < from->count && rc == FENEC_OK; i++) {
        const bound_pair *p = &from->items[i];
        value v;
        rc = expr_eval(p->value, s, &v, err);
        if (rc == FENEC_OK)
            rc = check_key(p, of, err);
        if (rc != FENEC_OK)
            break;
        if (p->place < 0) {
            rc = enter_id(&v, of, &out->id, err);
            continue;
        }
        named[p->place] = true;
        rc = enter(&v, p->key, &of->fields[p->place], of, s->memory, &out->values[p->place], err);
    }
    return rc == FENEC_OK ? check_required(of, named, err) : rc;
}

int pairs_apply(const bound_pairs *from, const collection *of, const scope *s, value *values, bool *touched,
                error *err)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const bound_pair *p = &from->items[i];
        value v;
        int rc = expr_eval(p->value, s, &v, err);
        if (rc == FENEC_OK)
            rc = check_key(p, of, err);
        if (rc == FENEC_OK && p->place < 0)
            rc = fail(err, FENEC_NOT_FOUND, "collection `%s` has no field `id` to set", of->name);
        if (rc != FENEC_OK)
            return rc;
        const catalog_field *f = &of->fields[p->place];
        if (p->key->part_count > 1 && !touched[p->place])
            rc = row_field(s->row, f->number, s->memory, &values[p->place], err);
        if (rc == FENEC_OK)
            rc = enter(&v, p->key, f, of, s->memory, &values[p->place], err);
        if (rc != FENEC_OK)
            return rc;
        touched[p->place] = true;
    }
    return FENEC_OK;
}

/* ---- documents of a parameter ---- */

void document_reader_init(document_reader *r, const collection *of, arena *memory)
{
    *r = (document_reader){.of = of, .memory = memory};
}

/* The path a key's text spells. */
static int split(const value *key, arena *a, path *out, error *err)
{
    uint32_t count = 1, at = 0;
    const uint8_t *end = key->bytes + key->len, *from = key->bytes;
    const char *text = arena_copy(a, key->bytes, key->len);

    for (size_t i = 0; i < key->len; i++)
        count += key->bytes[i] == '.';
    value *parts = arena_alloc(a, count * sizeof *parts);
    if (!text || !parts)
        return fail_memory(err);
    for (const uint8_t *p = from; at < count; p++) {
        if (p < end && *p != '.')
            continue;
        parts[at++] = value_text(text + (from - key->bytes), (size_t)(p - from));
        from = p + 1;
    }
    *out = (path){.text = text, .text_len = (uint32_t)key->len, .part_count = count, .parts = parts};
    return FENEC_OK;
}

/* Where the i-th key of a document leads. Documents mostly have the same keys in the same order. */
static int find_key(document_reader *r, uint32_t i, const value *key, const document_key **out, error *err)
{
    document_key *k = &r->keys[i];

    if (i >= r->count || k->len != key->len || memcmp(k->text, key->bytes, key->len) != 0) {
        int rc = split(key, r->memory, &k->on, err);
        if (rc == FENEC_OK)
            rc = collection_resolve(r->of, &k->on, &k->place, err);
        if (rc != FENEC_OK)
            return rc;
        k->text = (const uint8_t *)k->on.text;
        k->len = key->len;
        if (i >= r->count)
            r->count = i + 1;
    }
    *out = k;
    return FENEC_OK;
}

int document_read(document_reader *r, const value *object, document *out, error *err)
{
    const collection *of = r->of;
    packed_iter it;
    bool *named;
    int rc = begin(of, r->memory, out, &named, err);

    if (rc == FENEC_OK && object->count > r->cap) {
        document_key *more = arena_alloc(r->memory, object->count * sizeof *more);
        if (!more)
            return fail_memory(err);
        if (r->count)
            memcpy(more, r->keys, r->count * sizeof *more);
        r->keys = more;
        r->cap = object->count;
    }
    packed_iterate(&it, object);
    for (uint32_t i = 0; rc == FENEC_OK; i++) {
        const document_key *k;
        value key, v;
        rc = packed_next_member(&it, &key, &v, err);
        if (rc == FN_END)
            return check_required(of, named, err);
        if (rc == FENEC_OK)
            rc = find_key(r, i, &key, &k, err);
        if (rc != FENEC_OK)
            break;
        if (k->place < 0) {
            rc = enter_id(&v, of, &out->id, err);
            continue;
        }
        named[k->place] = true;
        rc = enter(&v, &k->on, &of->fields[k->place], of, r->memory, &out->values[k->place], err);
    }
    return rc;
}
