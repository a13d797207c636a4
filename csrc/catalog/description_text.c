/* description_text.c - FenecQL as a schema: `create collection` and `create index`, nothing else. */
#include <string.h>

#include "base/utf8.h"
#include "catalog/description.h"
#include "ql/names.h"

typedef struct reader {
    const uint8_t *text;
    description *to;
    names seen; /* collections, by place */
    error *err;
} reader;

static size_t position(const reader *r, const stmt *s)
{
    return utf8_count(r->text, s->start);
}

static int read_collection(reader *r, const stmt *s)
{
    declaration *d = &r->to->collections[r->to->count];

    if (names_add(&r->seen, s->collection, strlen(s->collection), r->to->count) != NAME_ABSENT)
        return fail(r->err, FENEC_QUERY, "position %zu: collection `%s` is declared twice", position(r, s),
                    s->collection);
    for (uint32_t i = 0; i < s->field_count; i++)
        s->fields[i].index = index_spec_normal(&s->fields[i].index);
    *d = (declaration){.name = s->collection, .fields = s->fields, .field_count = s->field_count};
    r->to->count++;
    return FENEC_OK;
}

static uint32_t find_field(const declaration *d, const value *name)
{
    uint32_t i = 0;

    while (i < d->field_count && (strncmp(d->fields[i].name, (const char *)name->bytes, name->len) != 0 ||
                                  d->fields[i].name[name->len] != 0))
        i++;
    return i;
}

static int index_field(reader *r, const stmt *s, declaration *d, uint32_t place)
{
    if (d->fields[place].index.kind != INDEX_NONE)
        return fail(r->err, FENEC_QUERY, "position %zu: `%s.%s` has two indexes", position(r, s), d->name,
                    s->index_on.text);
    for (uint32_t i = 0; i < d->field_count && s->spec.ttl_ms; i++)
        if (d->fields[i].index.ttl_ms)
            return fail(r->err, FENEC_QUERY, "position %zu: `%s` has two fields with @ttl", position(r, s), d->name);
    d->fields[place].index = index_spec_normal(&s->spec);
    return FENEC_OK;
}

/* Room for one more path: the array doubles, full at every power of two. */
static bool path_room(reader *r, declaration *d)
{
    uint32_t count = d->path_count;

    if (count & (count - 1))
        return true;
    declared_path *more = arena_alloc(&r->to->memory, ((size_t)count * 2 + 1) * sizeof *more);
    if (more && count)
        memcpy(more, d->paths, count * sizeof *more);
    d->paths = more ? more : d->paths;
    return more != NULL;
}

static int index_path(reader *r, const stmt *s, declaration *d, uint32_t place)
{
    uint32_t at = d->path_count;

    for (uint32_t i = 0; i < d->path_count; i++)
        if (strcmp(d->paths[i].on.text, s->index_on.text) == 0)
            return fail(r->err, FENEC_QUERY, "position %zu: `%s.%s` has two indexes", position(r, s), d->name,
                        s->index_on.text);
    if (!path_room(r, d))
        return fail_memory(r->err);
    for (; at > 0 && d->paths[at - 1].field > place; at--)
        d->paths[at] = d->paths[at - 1];
    d->paths[at] = (declared_path){.on = s->index_on, .index = s->spec, .field = place};
    d->path_count++;
    return FENEC_OK;
}

static int read_index(reader *r, const stmt *s)
{
    uint32_t at = names_find(&r->seen, s->collection, strlen(s->collection));
    bool is_path = s->index_on.part_count > 1;
    error found;

    if (at == NAME_ABSENT)
        return fail(r->err, FENEC_QUERY, "position %zu: collection `%s` is not declared before its index",
                    position(r, s), s->collection);
    declaration *d = &r->to->collections[at];
    uint32_t place = find_field(d, &s->index_on.parts[0]);
    if (place == d->field_count)
        return fail(r->err, is_path ? FENEC_NOT_FOUND : FENEC_QUERY,
                    "position %zu: `%s` declares no field for an index on `%s`", position(r, s), d->name,
                    s->index_on.text);
    error_init(&found);
    int rc = index_spec_fits(&s->spec, &d->fields[place].type, is_path, s->index_on.text, &found);
    if (rc != FENEC_OK)
        return fail(r->err, rc, "position %zu: %s", position(r, s), found.message);
    return is_path ? index_path(r, s, d, place) : index_field(r, s, d, place);
}

static int read_statements(reader *r)
{
    const parsed *p = &r->to->text;
    uint32_t collections = 0;
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < p->stmt_count; i++)
        collections += p->stmts[i].kind == STMT_CREATE_COLLECTION;
    r->to->collections = arena_alloc(&r->to->memory, (size_t)collections * sizeof *r->to->collections + 1);
    if (!r->to->collections || !names_init(&r->seen, &r->to->memory, collections))
        return fail_memory(r->err);
    for (uint32_t i = 0; i < p->stmt_count && rc == FENEC_OK; i++) {
        const stmt *s = &p->stmts[i];
        if (s->kind == STMT_CREATE_COLLECTION)
            rc = read_collection(r, s);
        else if (s->kind == STMT_CREATE_INDEX)
            rc = read_index(r, s);
        else
            rc = fail(r->err, FENEC_QUERY,
                      "position %zu: expected `create collection` or `create index`, found another statement",
                      position(r, s));
    }
    return rc;
}

int description_read_text(const uint8_t *text, size_t len, description *out, error *err)
{
    reader r = {.text = text, .to = out, .err = err};
    int rc = parse_text(text, len, &out->text, err);

    return rc == FENEC_OK ? read_statements(&r) : rc;
}
