/* put.c - put and insert: documents assembled, then written one after another. */
#include "exec/writing.h"

#include <inttypes.h>

#include "value/packed.h"

/* What became of a document of an upsert. */
typedef struct outcome {
    int64_t id;          /* 0: passed over */
    const value *values; /* as it was written, where touched; else old's */
    const bool *touched;
    row old;
} outcome;

/* ---- assembling ---- */

static int wrong_documents(const writing *w, const value *v, const char *what, error *err)
{
    char quoted[VALUE_QUOTE_MAX];

    return fail(err, FENEC_TYPE, "the documents for `%s` are an object or a list of objects, not %s%s", w->of->name,
                what, value_quote(quoted, v));
}

static int read_documents(writing *w, document **out, uint32_t *count, error *err)
{
    document_reader reader;
    packed_iter it;
    value v;
    int rc = context_param(w->cx, w->p->s->docs_param, &v, err);

    if (rc != FENEC_OK)
        return rc;
    if (v.kind != VALUE_OBJECT && v.kind != VALUE_LIST)
        return wrong_documents(w, &v, "", err);
    *count = v.kind == VALUE_OBJECT ? 1 : v.count;
    *out = arena_alloc(w->cx->memory, *count * sizeof **out + 1);
    if (!*out)
        return fail_memory(err);
    document_reader_init(&reader, w->of, w->cx->memory);
    if (v.kind == VALUE_OBJECT)
        return document_read(&reader, &v, *out, err);
    packed_iterate(&it, &v);
    for (uint32_t i = 0; i < *count && rc == FENEC_OK; i++) {
        value each;
        rc = packed_next(&it, &each, err);
        if (rc == FENEC_OK)
            rc = each.kind == VALUE_OBJECT ? document_read(&reader, &each, &(*out)[i], err)
                                           : wrong_documents(w, &each, "a list with ", err);
    }
    return rc;
}

static int build_documents(writing *w, document **out, uint32_t *count, error *err)
{
    const scope s = {.cx = w->cx, .fresh_id = value_null(), .memory = w->cx->memory};
    int rc = FENEC_OK;

    *count = w->p->s->doc_count;
    *out = arena_alloc(w->cx->memory, *count * sizeof **out + 1);
    if (!*out)
        return fail_memory(err);
    for (uint32_t i = 0; i < *count && rc == FENEC_OK; i++)
        rc = document_build(&w->p->docs[i], w->of, &s, &(*out)[i], err);
    return rc;
}

/* ---- writing ---- */

/* A live row holds the document's id or one of its values. */
static int present(writing *w, int64_t id, const document *d, outcome *o, error *err)
{
    value *values = NULL;
    bool *touched = NULL;

    if (!w->p->s->else_set)
        return FENEC_OK;
    int rc = row_find(&o->old, w->cx->c, w->of->number, id, err);
    if (rc == FN_END)
        return fail(err, FENEC_CORRUPT, "an index of `%s` names document %" PRId64 ", which is not there",
                    w->of->name, id);
    if (rc == FENEC_OK)
        rc = row_keep(&o->old, w->rows, err);
    if (rc == FENEC_OK)
        rc = set_row(w, &o->old, d, &values, &touched, err);
    o->id = id;
    o->values = values;
    o->touched = touched;
    return rc;
}

static int put_document(writing *w, const document *d, outcome *o, error *err)
{
    const stmt *s = w->p->s;
    row_keys *keys = &w->b->scratch->keys;
    const row *old = NULL;
    int64_t live = 0, id = d->id;
    bool made_room = false, is_past = false;
    row found;
    int rc = FENEC_OK;

    *o = (outcome){0};
    if (id) {
        rc = row_find(&found, w->cx->c, w->of->number, id, err);
        if (rc == FENEC_OK)
            rc = row_keep(&found, w->rows, err);
        if (rc == FENEC_OK && w->of->ttl_field >= 0)
            rc = row_expired(w->of, &found, w->cx->now_ms, w->rows, &is_past, err);
        if (rc != FENEC_OK && rc != FN_END)
            return rc;
        if (rc == FENEC_OK)
            old = &found;
        rc = FENEC_OK;
        if (old && !is_past && s->if_absent)
            return present(w, id, d, o, err);
        if (old && !is_past && s->insert)
            return fail(err, FENEC_DUPLICATE, "`id` of `%s`: document %" PRId64 " is there", w->of->name, id);
    }
    if (w->of->index_count) {
        rc = row_keys_make(keys, w->of, old, d->values, NULL, w->rows, err);
        if (rc == FENEC_OK)
            rc = make_room(w, id, s->if_absent ? &live : NULL, &made_room, err);
        if (rc == FENEC_OK && live)
            return present(w, live, d, o, err);
        if (rc == FENEC_OK && made_room)
            rc = row_keys_make(keys, w->of, old, d->values, NULL, w->rows, err);
    } else {
        keys->of = w->of;
        if (!id && w->mark->now == INT64_MAX)
            return no_id_left(w, err);
    }
    if (rc == FENEC_OK && !id)
        id = w->mark->now + 1;
    if (rc == FENEC_OK)
        rc = write_row(w, id, d->values, NULL, old, err);
    if (rc != FENEC_OK)
        return rc;
    w->written++;
    *o = (outcome){.id = id, .values = d->values};
    return FENEC_OK;
}

/* An upsert answers each row as it stands at the end; one that a later document took the room of, as it
 * was written. */
static int answer_upserts(writing *w, const outcome *outcomes, uint32_t count, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < count && rc == FENEC_OK; i++) {
        const outcome *o = &outcomes[i];
        row r;
        rc = row_find(&r, w->cx->c, w->of->number, o->id, err);
        if (rc == FENEC_OK)
            rc = answer_written(w, o->id, NULL, NULL, &r, err);
        else if (rc == FN_END)
            rc = answer_written(w, o->id, o->values, o->touched, &o->old, err);
    }
    return rc;
}

int put_run(writing *w, error *err)
{
    const stmt *s = w->p->s;
    bool late = s->returning.given && s->else_set;
    document *docs = NULL;
    outcome *outcomes = NULL, one;
    uint32_t count = 0;
    int rc = s->docs_are_param ? read_documents(w, &docs, &count, err) : build_documents(w, &docs, &count, err);

    if (rc == FENEC_OK && late) {
        w->rows = w->cx->memory;
        outcomes = arena_alloc(w->cx->memory, count * sizeof *outcomes + 1);
        if (!outcomes)
            return fail_memory(err);
    }
    for (uint32_t i = 0; i < count && rc == FENEC_OK; i++) {
        outcome *o = late ? &outcomes[i] : &one;
        if (!late)
            arena_reset(w->rows);
        rc = put_document(w, &docs[i], o, err);
        if (rc == FENEC_OK && o->id && !late && s->returning.given)
            rc = answer_written(w, o->id, o->values, o->touched, NULL, err);
    }
    if (rc == FENEC_OK && late)
        rc = answer_upserts(w, outcomes, count, err);
    return rc;
}
