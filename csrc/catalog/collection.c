/* collection.c - a declaration judged and copied: the one way collections are made. */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "catalog/catalog_row.h"
#include "catalog/change.h"
#include "ql/names.h"

/* ---- judging ---- */

static int check_name(const char *name, uint32_t len, const char *what, error *err)
{
    if (len == 0 || memchr(name, 0, len) || memchr(name, '.', len))
        return fail(err, FENEC_QUERY, "`%.*s` cannot be the name of a %s", (int)len, name, what);
    return FENEC_OK;
}

/* Names and numbers are there once. */
static int check_twice(const collection *c, arena *scratch, error *err)
{
    uint32_t cap = 16;

    while (cap < c->field_count * 2)
        cap *= 2;
    uint32_t *places = arena_zeroed(scratch, cap * sizeof *places); /* place + 1 by hash, open addressing */
    bool *numbers = arena_zeroed(scratch, (size_t)c->next_field + 1);
    if (!places || !numbers)
        return fail_memory(err);
    for (uint32_t i = 0; i < c->field_count; i++) {
        const catalog_field *f = &c->fields[i];
        uint32_t at = (uint32_t)hash64(f->name, f->name_len) & (cap - 1);
        for (; places[at]; at = (at + 1) & (cap - 1)) {
            const catalog_field *other = &c->fields[places[at] - 1];
            if (other->name_len == f->name_len && memcmp(other->name, f->name, f->name_len) == 0)
                return fail(err, FENEC_EXISTS, "field `%s` of collection `%s`", f->name, c->name);
        }
        places[at] = i + 1;
        if (f->number >= c->next_field || numbers[f->number])
            return fail(err, FENEC_CORRUPT, "field `%s` of `%s` has a number in use", f->name, c->name);
        numbers[f->number] = true;
    }
    return FENEC_OK;
}

static bool is_text(const type *t)
{
    return t->kind == TYPE_TEXT || (t->kind == TYPE_LIST && t->element->kind == TYPE_TEXT);
}

static int check_field(const collection *c, const catalog_field *f, error *err)
{
    const type *t = &f->type;
    int rc = check_name(f->name, f->name_len, "field", err);

    if (rc != FENEC_OK)
        return rc;
    if (f->name_len == 2 && memcmp(f->name, "id", 2) == 0)
        return fail(err, FENEC_QUERY, "`id` of `%s` is there by itself and is not declared", c->name);
    while (t->kind == TYPE_LIST)
        t = t->element;
    if (t->kind == TYPE_JSON && t != &f->type)
        return fail(err, FENEC_TYPE, "field `%s` of `%s`: a json field holds a list already", f->name, c->name);
    if (f->collate != COLLATION_NONE && !is_text(&f->type))
        return fail(err, FENEC_QUERY, "field `%s` of `%s` holds no text to collate", f->name, c->name);
    return FENEC_OK;
}

static int check_index(const collection *c, const catalog_index *x, error *err)
{
    const catalog_field *f = &c->fields[x->field];
    bool is_path = x->on.part_count > 1;
    int rc = index_spec_fits(&x->spec, &f->type, is_path, f->name, err);

    if (rc != FENEC_OK)
        return rc;
    if ((x->state == INDEX_DECLARED) == index_is_kept(&x->spec, f))
        return fail(err, FENEC_CORRUPT, "the index on `%s` of `%s` is in no state it can be in", f->name, c->name);
    if (!is_path)
        return FENEC_OK;
    if (f->type.kind != TYPE_JSON)
        return fail(err, FENEC_TYPE, "`%s` of `%s` is not json", f->name, c->name);
    if (x->on.part_count - 1 > PATH_KEYS_MAX)
        return fail(err, FENEC_QUERY, "a path into `%s` has more than %d keys", f->name, PATH_KEYS_MAX);
    for (uint32_t k = 1; k < x->on.part_count; k++)
        if (x->on.parts[k].len == 0)
            return fail(err, FENEC_QUERY, "a path into `%s` has an empty key", f->name);
    return FENEC_OK;
}

static int check_draft(const collection *c, arena *scratch, error *err)
{
    uint32_t with_ttl = 0;
    int rc = check_name(c->name, c->name_len, "collection", err);

    if (rc != FENEC_OK)
        return rc;
    if (c->field_count == 0)
        return fail(err, FENEC_QUERY, "collection `%s` would have no field", c->name);
    if (c->next_field > FIELD_NUMBERS_MAX)
        return fail(err, FENEC_QUERY, "collection `%s` has had %u fields and takes no further one", c->name,
                    FIELD_NUMBERS_MAX);
    for (uint32_t i = 0; i < c->field_count && rc == FENEC_OK; i++)
        rc = check_field(c, &c->fields[i], err);
    if (rc == FENEC_OK)
        rc = check_twice(c, scratch, err);
    for (uint32_t i = 0; i < c->index_count && rc == FENEC_OK; i++) {
        const catalog_index *x = &c->indexes[i];
        rc = check_index(c, x, err);
        with_ttl += x->spec.ttl_ms > 0;
    }
    if (rc == FENEC_OK && with_ttl > 1)
        rc = fail(err, FENEC_QUERY, "collection `%s` would have two fields with @ttl", c->name);
    return rc;
}

/* ---- copying ---- */

static bool copy_type(arena *a, const type *from, type *to)
{
    *to = *from;
    while (to->kind == TYPE_LIST) {
        type *element = arena_alloc(a, sizeof *element);
        if (!element)
            return false;
        *element = *to->element;
        to->element = element;
        to = element;
    }
    return true;
}

/* The path under its field's present name. */
static bool copy_path(arena *a, const catalog_field *f, const path *from, path *to)
{
    value *parts = arena_alloc(a, from->part_count * sizeof *parts);
    size_t len = f->name_len;

    for (uint32_t k = 1; k < from->part_count; k++)
        len += 1 + from->parts[k].len;
    char *text = arena_alloc(a, len + 1), *at = text;
    if (!parts || !text)
        return false;
    for (uint32_t k = 0; k < from->part_count; k++) {
        const void *part = k ? (const void *)from->parts[k].bytes : f->name;
        size_t part_len = k ? from->parts[k].len : f->name_len;
        if (k)
            *at++ = '.';
        if (part_len)
            memcpy(at, part, part_len);
        parts[k] = value_text(at, part_len);
        at += part_len;
    }
    *at = 0;
    *to = (path){.text = text, .text_len = (uint32_t)len, .part_count = from->part_count, .parts = parts};
    return true;
}

static bool comes_before(const catalog_index *a, const catalog_index *b)
{
    bool a_path = a->on.part_count > 1, b_path = b->on.part_count > 1;

    if (a_path != b_path)
        return b_path;
    return a->field != b->field ? a->field < b->field : a->number < b->number;
}

static bool copy_parts(const collection *from, collection *to)
{
    arena *a = &to->memory;

    to->name = arena_copy(a, from->name, from->name_len);
    to->fields = arena_alloc(a, from->field_count * sizeof *to->fields);
    to->indexes = arena_alloc(a, (size_t)from->index_count * sizeof *to->indexes + 1);
    if (!to->name || !to->fields || !to->indexes)
        return false;
    for (uint32_t i = 0; i < from->field_count; i++) {
        catalog_field *f = &to->fields[i];
        *f = from->fields[i];
        f->index = NULL;
        f->name = arena_copy(a, from->fields[i].name, f->name_len);
        if (!f->name || !copy_type(a, &from->fields[i].type, &f->type))
            return false;
    }
    for (uint32_t i = 0; i < from->index_count; i++) {
        catalog_index x = from->indexes[i];
        uint32_t at = i;
        if (!copy_path(a, &to->fields[x.field], &from->indexes[i].on, &x.on))
            return false;
        for (; at > 0 && comes_before(&x, &to->indexes[at - 1]); at--)
            to->indexes[at] = to->indexes[at - 1];
        to->indexes[at] = x;
    }
    return true;
}

/* Every path now begins with its field's name, so each is an index's own. */
static int check_indexes_once(const collection *c, error *err)
{
    int rc = FENEC_OK;
    arena scratch;
    names seen;

    arena_init(&scratch);
    if (!names_init(&seen, &scratch, c->index_count))
        rc = fail_memory(err);
    for (uint32_t i = 0; i < c->index_count && rc == FENEC_OK; i++) {
        const path *on = &c->indexes[i].on;
        if (names_add(&seen, on->text, on->text_len, i) != NAME_ABSENT)
            rc = fail(err, FENEC_EXISTS, "an index on `%s` of `%s`", on->text, c->name);
    }
    arena_clear(&scratch);
    return rc;
}

int collection_seal(const collection *draft, collection **out, error *err)
{
    static _Atomic(uint64_t) shapes;
    arena scratch;

    arena_init(&scratch);
    int rc = check_draft(draft, &scratch, err);
    arena_clear(&scratch);
    if (rc != FENEC_OK)
        return rc;
    collection *c = memory_zeroed(sizeof *c);
    if (!c)
        return fail_memory(err);
    c->references = 1;
    arena_init(&c->memory);
    c->shape = draft->shape ? draft->shape : atomic_fetch_add(&shapes, 1) + 1;
    c->number = draft->number;
    c->name_len = draft->name_len;
    c->next_field = draft->next_field;
    c->has_dropped = draft->has_dropped;
    c->field_count = draft->field_count;
    c->index_count = draft->index_count;
    rc = copy_parts(draft, c) ? check_indexes_once(c, err) : fail_memory(err);
    if (rc != FENEC_OK) {
        collection_drop(c);
        return rc;
    }
    c->ttl_field = -1;
    for (uint32_t i = 0; i < c->index_count; i++) {
        const catalog_index *x = &c->indexes[i];
        if (x->on.part_count == 1)
            c->fields[x->field].index = x;
        if (x->spec.ttl_ms > 0 && x->state != INDEX_BUILDING) {
            c->ttl_field = (int32_t)x->field;
            c->ttl_ms = x->spec.ttl_ms;
        }
    }
    *out = c;
    return FENEC_OK;
}
