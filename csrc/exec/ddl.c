#include "exec/ddl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "exec/index.h"
#include "value/json.h"

void answer_ok(buffer *out, const char *format, ...)
{
    char message[ERROR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t kept = len < 0 ? 0 : (size_t)len < sizeof message ? (size_t)len : sizeof message - 1;
    buffer_text(out, "{\"kind\":\"ok\",\"message\":");
    json_write_text(out, (const uint8_t *)message, utf8_cut((const uint8_t *)message, kept));
    buffer_byte(out, '}');
}

int no_collection(const char *name, error *err)
{
    return fail(err, FENEC_NOT_FOUND, "collection `%s`", name);
}

const collection *collection_called(const catalog *cat, const char *name)
{
    return catalog_find(cat, name, (uint32_t)strlen(name));
}

int describe_run(const catalog *cat, const stmt *s, buffer *out, error *err)
{
    const collection *only = NULL;

    if (s->kind == STMT_DESCRIBE) {
        only = collection_called(cat, s->collection);
        if (!only)
            return no_collection(s->collection, err);
    }
    catalog_describe(cat, only, out);
    return out->failed ? buffer_error(out, err) : FENEC_OK;
}

/* Lets the block go on with `next` and notes the change. */
static int changed(block *b, catalog *next, uint32_t number, error *err)
{
    block_schema(b, next);
    return block_note(b, number, 0, err);
}

static int create(block *b, const stmt *s, buffer *out, error *err)
{
    catalog *next;

    if (s->if_exists && collection_called(b->cat, s->collection)) {
        answer_ok(out, "collection `%s` is there already", s->collection);
        return FENEC_OK;
    }
    uint32_t number = b->cat->next_collection;
    int rc = catalog_create(b->cat, b->c, s, &next, err);
    if (rc == FENEC_OK)
        rc = changed(b, next, number, err);
    answer_ok(out, "collection `%s` created", s->collection);
    return rc;
}

static int drop(block *b, const stmt *s, buffer *out, error *err)
{
    const collection *gone = collection_called(b->cat, s->collection);
    catalog *next;

    if (!gone && s->if_exists) {
        answer_ok(out, "collection `%s` is not there", s->collection);
        return FENEC_OK;
    }
    if (!gone)
        return no_collection(s->collection, err);
    uint32_t number = gone->number;
    int rc = catalog_remove(b->cat, b->c, gone, &next, err);
    if (rc == FENEC_OK)
        rc = changed(b, next, number, err);
    id_marks_forget(&b->w->marks, number);
    answer_ok(out, "collection `%s` dropped", s->collection);
    return rc;
}

static int alter(block *b, const stmt *s, buffer *out, error *err)
{
    const collection *of = collection_called(b->cat, s->collection);
    catalog *next;

    if (!of)
        return no_collection(s->collection, err);
    uint32_t number = of->number;
    int rc = catalog_alter(b->cat, b->c, of, s, &next, err);
    if (rc == FENEC_OK)
        rc = changed(b, next, number, err);
    if (rc != FENEC_OK)
        return rc;
    switch (s->alter) {
    case ALTER_ADD: {
        /* Documents read null there, and an ordered index holds nulls. */
        of = catalog_numbered(b->cat, number);
        const catalog_index *x = of->fields[of->field_count - 1].index;
        int64_t to = 0;
        bool done;
        if (x && x->state == INDEX_READY && x->spec.kind == INDEX_SORTED)
            rc = index_fill(b, of, x, &to, INT64_MAX, &done, err);
        answer_ok(out, "field `%s` added to collection `%s`", s->fields[0].name, s->collection);
        break;
    }
    case ALTER_DROP:
        answer_ok(out, "field `%s` dropped from collection `%s`", s->field, s->collection);
        break;
    case ALTER_RENAME:
        answer_ok(out, "field `%s` of collection `%s` renamed to `%s`", s->field, s->collection, s->to);
        break;
    case ALTER_INDEX:
        answer_ok(out, "field `%s` of collection `%s` %s", s->field, s->collection,
                  s->spec.ttl_ms ? "expires" : "no longer expires");
        break;
    }
    return rc;
}

int index_wanted(const catalog *cat, const stmt *s, const collection **of, const catalog_index **there,
                 error *err)
{
    int32_t place;

    *of = collection_called(cat, s->collection);
    *there = NULL;
    if (!*of)
        return no_collection(s->collection, err);
    int rc = collection_resolve(*of, &s->index_on, &place, err);
    if (rc != FENEC_OK || place < 0)
        return rc; /* id: refused where the index is made */
    if (s->index_on.part_count > 1)
        rc = index_spec_fits(&s->spec, &(*of)->fields[place].type, true, s->index_on.text, err);
    if (rc != FENEC_OK)
        return rc;
    *there = collection_index(*of, (uint32_t)place, &s->index_on);
    if (*there && (*there)->state == INDEX_BUILDING)
        return fail(err, FENEC_QUERY, "an index on `%s` of `%s` is being built: run this again after it",
                    s->index_on.text, s->collection);
    if (*there && !s->if_exists)
        return fail(err, FENEC_EXISTS, "an index on `%s` of `%s`", s->index_on.text, s->collection);
    return FENEC_OK;
}

static int create_index(block *b, const stmt *s, buffer *out, error *err)
{
    const collection *of;
    const catalog_index *there;
    uint32_t number;
    catalog *next;
    int rc = index_wanted(b->cat, s, &of, &there, err);

    if (rc != FENEC_OK)
        return rc;
    if (there) {
        answer_ok(out, "an index on `%s` of `%s` is there already", s->index_on.text, s->collection);
        return FENEC_OK;
    }
    uint32_t of_number = of->number;
    rc = catalog_add_index(b->cat, b->c, of, &s->index_on, &s->spec, INDEX_READY, &next, &number, err);
    if (rc == FENEC_OK)
        rc = changed(b, next, of_number, err);
    if (rc != FENEC_OK)
        return rc;
    of = catalog_numbered(b->cat, of_number);
    const catalog_index *x = collection_index_numbered(of, number);
    int64_t to = 0;
    bool done;
    if (x->state == INDEX_READY)
        rc = index_fill(b, of, x, &to, INT64_MAX, &done, err);
    answer_ok(out, "index on `%s` of `%s` created", s->index_on.text, s->collection);
    return rc;
}

int ddl_run(block *b, const stmt *s, buffer *out, error *err)
{
    int rc;

    switch (s->kind) {
    case STMT_CREATE_COLLECTION: rc = create(b, s, out, err); break;
    case STMT_DROP_COLLECTION: rc = drop(b, s, out, err); break;
    case STMT_ALTER_COLLECTION: rc = alter(b, s, out, err); break;
    case STMT_CREATE_INDEX: rc = create_index(b, s, out, err); break;
    default: return fail(err, FENEC_PANIC, "a statement of kind %d is no schema statement", (int)s->kind);
    }
    return rc == FENEC_OK && out->failed ? buffer_error(out, err) : rc;
}
