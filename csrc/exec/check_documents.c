/* check_documents.c - the documents of a collection against its declaration and its indexes.
 *
 * Documents are read once, in order of id. Each is looked at by itself, then asked for in every index; that
 * the index holds nothing else is a matter of counting, and only where the count is another is every entry
 * looked at for the document it names. */
#include "exec/checking.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "exec/index.h"
#include "exec/search.h"
#include "exec/text_part.h"
#include "exec/vector_part.h"
#include "search/vector_index.h"
#include "store/row.h"
#include "value/packed.h"

#define ASKED_EVERY 4096 /* documents before it is asked whether to go on */

/* What the documents so far make of an index. */
typedef struct tally {
    const catalog_index *x;
    int64_t due;     /* entries; of a vector index documents with one */
    int64_t missing; /* of them */
    text_version *text;
    text_check *texts;
    bool skipped; /* it could not be read, or is not there yet */
} tally;

typedef struct walk {
    checking *k;
    const collection *of;
    tally *tallies; /* by place of the index; NULL: indexes are not looked at */
    int64_t *sides; /* by field number: values that are to be in its side table */
    arena memory;   /* of the document under way */
    buffer key;
    int64_t last;   /* document read */
    int64_t unread; /* documents that are there and cannot be read */
    bool cut;       /* not all documents were met */
} walk;

/* ---- a value ---- */

bool check_fits(const type *t, const value *v)
{
    packed_iter it;
    value element;

    switch (t->kind) {
    case TYPE_BOOL: return v->kind == VALUE_BOOL;
    case TYPE_INT: return v->kind == VALUE_INT;
    case TYPE_FLOAT: return v->kind == VALUE_FLOAT;
    case TYPE_TEXT: return v->kind == VALUE_TEXT;
    case TYPE_BYTES: return v->kind == VALUE_BYTES;
    case TYPE_TIMESTAMP: return v->kind == VALUE_TIMESTAMP;
    case TYPE_VECTOR: return v->kind == VALUE_VECTOR && v->count == t->dimension;
    case TYPE_SPARSE: return v->kind == VALUE_SPARSE && v->len >= 4 && bytes_u32(v->bytes) == t->dimension;
    case TYPE_GEO: return v->kind == VALUE_POINT;
    case TYPE_JSON: return true;
    case TYPE_LIST: break;
    }
    if (v->kind != VALUE_LIST)
        return false;
    packed_iterate(&it, v);
    for (;;) { /* types nest no deeper than the parser lets them */
        int rc = packed_next(&it, &element, NULL);
        if (rc)
            return rc == FN_END;
        if (element.kind != VALUE_NULL && !check_fits(t->element, &element))
            return false;
    }
}

/* A value beside the record: its bytes, whole. */
static int check_side(walk *w, const row *r, uint32_t number, const char *name, const record_slot_bytes *slot, error *err)
{
    const uint8_t *bytes;
    size_t len;
    int rc = rows_get(w->k->c, table_side(w->of->number, number), r->id, &bytes, &len, err);

    w->sides[number]++;
    w->k->report->side_values++;
    if (rc == FN_END) {
        check_found(w->k, "`%s`: document %" PRId64 ": the value of `%s` that stands outside the record is missing",
                    w->of->name, r->id, name);
        return FENEC_CORRUPT;
    }
    if (rc)
        return rc;
    rc = slot->len == RECORD_SIDE_LEN ? record_check_side(slot->bytes, bytes, len, r->id, err)
                                      : fail(err, FENEC_CORRUPT, "the reference to it");
    if (rc == FENEC_CORRUPT)
        check_found(w->k, "`%s`: document %" PRId64 ": the value of `%s` that stands outside the record is damaged: %s",
                    w->of->name, r->id, name, err->message);
    return rc;
}

static const catalog_field *field_numbered(const collection *of, uint32_t number)
{
    for (uint32_t i = 0; i < of->field_count; i++)
        if (of->fields[i].number == number)
            return &of->fields[i];
    return NULL;
}

/* A finding is told and answered as CORRUPT: indexes are not asked for what cannot be read. */
static int check_slot(walk *w, const row *r, uint32_t number, error *err)
{
    const catalog_field *f = field_numbered(w->of, number);
    const char *name = f ? f->name : "a field that was dropped";
    record_slot_bytes slot;
    value v;
    int rc = record_slot(&r->rec, number, &slot.bytes, &slot.len, err);

    if (rc || slot.len == 0)
        return rc;
    if (!f && !w->of->has_dropped) {
        check_found(w->k, "`%s`: document %" PRId64 " holds a value of field number %u, which is not declared",
                    w->of->name, r->id, (unsigned)number);
        return FENEC_OK;
    }
    if (slot.bytes[0] == RECORD_SIDE && (rc = check_side(w, r, number, name, &slot, err)) != FENEC_OK)
        return rc;
    if (!f)
        return FENEC_OK;
    rc = row_field(r, number, &w->memory, &v, err);
    if (!rc && v.kind != VALUE_NULL && !check_fits(&f->type, &v))
        check_found(w->k, "`%s`: document %" PRId64 ": `%s` holds %s", w->of->name, r->id, name, value_kind_name(&v));
    return rc;
}

/* ---- a document ---- */

static int ask_index(walk *w, tally *t, const row *r, error *err)
{
    const catalog_index *x = t->x;
    int64_t id;
    value v;
    int rc = row_field(r, w->of->fields[x->field].number, &w->memory, &v, err);

    if (rc)
        return rc;
    if (t->texts) {
        const uint8_t *bytes;
        size_t len;
        bool any = text_part_content(&v, &bytes, &len);
        return text_check_document(t->texts, r->id, any ? bytes : NULL, any ? len : 0, err);
    }
    if (search_is(x->spec.kind)) {
        t->due += v.kind != VALUE_NULL;
        return FENEC_OK;
    }
    value_at(&v, &x->on, &v);
    w->key.len = 0;
    if (index_stored(&w->key, w->of, x, &v) == KEY_ABSENT)
        return FENEC_OK;
    if (w->key.failed)
        return fail_memory(err);
    t->due++;
    w->k->report->entries++;
    rc = entries_first(w->k->c, table_index(x->number), w->key.bytes, w->key.len, r->id - 1, &id, err);
    if (rc == FN_END || (!rc && id != r->id)) {
        t->missing++;
        check_found(w->k, "`%s`: document %" PRId64 " is missing in the index on `%s`", w->of->name, r->id, x->on.text);
        rc = FENEC_OK;
    }
    return rc;
}

static int ask_indexes(walk *w, const row *r, error *err)
{
    for (uint32_t i = 0; i < w->of->index_count; i++) {
        tally *t = &w->tallies[i];
        if (t->skipped)
            continue;
        int rc = ask_index(w, t, r, err);
        if (rc) {
            rc = check_judge(w->k, rc, err, "`%s`: document %" PRId64 " in the index on `%s`", w->of->name, r->id,
                             t->x->on.text);
            t->skipped = true;
        }
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

static int check_document(walk *w, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    bool readable = true;
    row r;
    int rc = record_check(bytes, len, id, err);

    if (!rc)
        rc = row_open(&r, w->k->c, w->of->number, id, bytes, len, err);
    if (rc) {
        w->unread++;
        return check_judge(w->k, rc, err, "`%s`: document %" PRId64, w->of->name, id);
    }
    if (r.rec.fields > w->of->next_field) {
        check_found(w->k, "`%s`: document %" PRId64 " holds fields that were never declared", w->of->name, id);
        w->unread++;
        return FENEC_OK;
    }
    for (uint32_t n = 0; n < r.rec.fields; n++) {
        int64_t before = w->k->report->findings;
        rc = check_slot(w, &r, n, err);
        if (!rc)
            continue;
        readable = false;
        if (rc == FENEC_CORRUPT && w->k->report->findings > before)
            continue; /* told already */
        rc = check_judge(w->k, rc, err, "`%s`: document %" PRId64, w->of->name, id);
        if (rc)
            return rc;
    }
    w->unread += !readable;
    return readable && w->tallies ? ask_indexes(w, &r, err) : FENEC_OK;
}

static int walk_documents(walk *w, error *err)
{
    checking *k = w->k;
    int64_t seen = 0, count = 0;
    cursor cur = {0};
    int rc = rows_count(k->c, table_records(w->of->number), &count, err);

    if (!rc)
        rc = cursor_rows(&cur, k->c, table_records(w->of->number), INT64_MIN, INT64_MAX, false, err);
    while (!rc) {
        const uint8_t *bytes;
        size_t len;
        int64_t id;
        if (seen++ % ASKED_EVERY == 0 && !check_goes_on(k, w->of->name, seen - 1, count))
            break;
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        if (rc)
            break;
        w->last = id;
        k->report->documents++;
        int of_document = check_document(w, id, bytes, len, err);
        arena_reset(&w->memory);
        if (of_document) {
            cursor_close(&cur);
            return of_document;
        }
    }
    cursor_close(&cur);
    w->cut = rc != FN_END;
    return check_judge(k, rc, err, "`%s`: documents after id %" PRId64 " cannot be read", w->of->name, w->last);
}

/* ---- what indexes and side tables hold beside ---- */

static int check_entry(walk *w, const catalog_index *x, int64_t id, const uint8_t *key, size_t len, error *err)
{
    value v;
    row r;
    int rc = row_find(&r, w->k->c, w->of->number, id, err);

    if (rc == FN_END) {
        check_found(w->k, "`%s`: the index on `%s` names document %" PRId64 ", which is not there", w->of->name, x->on.text,
                    id);
        return FENEC_OK;
    }
    if (!rc)
        rc = row_field(&r, w->of->fields[x->field].number, &w->memory, &v, err);
    if (rc == FENEC_CORRUPT)
        return FENEC_OK; /* told with the document */
    if (rc)
        return rc;
    value_at(&v, &x->on, &v);
    w->key.len = 0;
    bool held = index_stored(&w->key, w->of, x, &v) != KEY_ABSENT;
    if (w->key.failed)
        return fail_memory(err);
    if (!held || w->key.len != len || memcmp(w->key.bytes, key, len) != 0)
        check_found(w->k, "`%s`: the index on `%s` has document %" PRId64 " under a value it does not hold", w->of->name,
                    x->on.text, id);
    return FENEC_OK;
}

static int walk_entries(walk *w, const catalog_index *x, error *err)
{
    key_range all = {0};
    cursor cur = {0};
    int rc = cursor_entries(&cur, w->k->c, table_index(x->number), &all, false, err);

    while (!rc) {
        const uint8_t *key;
        size_t len;
        int64_t id;
        rc = cursor_next_entry(&cur, &id, &key, &len, err);
        if (!rc)
            rc = check_entry(w, x, id, key, len, err);
        arena_reset(&w->memory);
    }
    cursor_close(&cur);
    return check_judge(w->k, rc, err, "`%s`: the index on `%s` cannot be read", w->of->name, x->on.text);
}

static int end_entries(walk *w, tally *t, error *err)
{
    int64_t held = 0;
    int rc = entries_count(w->k->c, table_index(t->x->number), NULL, INT64_MAX, &held, err);

    if (!rc && held != t->due - t->missing)
        rc = walk_entries(w, t->x, err);
    if (!rc && t->x->spec.kind == INDEX_UNIQUE && !w->unread) {
        rc = index_check_unique(w->k->c, w->of, t->x, err);
        if (rc == FENEC_DUPLICATE) {
            check_found(w->k, "%s", err->message);
            rc = FENEC_OK;
        }
    }
    return check_judge(w->k, rc, err, "`%s`: the index on `%s`", w->of->name, t->x->on.text);
}

/* What is in memory for the searches that go on beside. */
static void compare_published(walk *w, const tally *t)
{
    const version *v = published_find(w->k->state, t->x->number);
    bool same = true;

    if (!v)
        return;
    if (text_part_has(t->x->spec.kind) && t->text) {
        const text_version *held = (const text_version *)v;
        same = held->docs == t->text->docs && held->terms == t->text->terms;
    } else if (t->x->spec.kind == INDEX_HNSW) {
        same = ((const vector_version *)v)->docs == t->due;
    }
    if (!same)
        check_found(w->k, "`%s`: the index on `%s` in memory is not the file's", w->of->name, t->x->on.text);
}

/* A finding of one index. */
typedef struct index_finding {
    const walk *w;
    const catalog_index *x;
} index_finding;

static void found_vector(void *to, int64_t id, const char *what)
{
    const index_finding *f = to;

    check_found(f->w->k, "`%s`: document %" PRId64 ": the index on `%s`: %s", f->w->of->name, id, f->x->on.text, what);
}

static int check_vectors(walk *w, const catalog_index *x, error *err)
{
    index_finding to = {w, x};
    int rc = vector_part_check(w->k->c, w->of, x, found_vector, &to, err);

    return check_judge(w->k, rc, err, "`%s`: the index on `%s`", w->of->name, x->on.text);
}

static int end_index(walk *w, tally *t, error *err)
{
    int rc = FENEC_OK;

    w->k->report->indexes++;
    if (t->skipped || w->cut)
        return FENEC_OK;
    if (t->texts && !w->unread)
        rc = check_judge(w->k, text_check_end(t->texts, err), err, "`%s`: the index on `%s`", w->of->name, t->x->on.text);
    else if (t->x->spec.kind == INDEX_HNSW && !w->unread)
        rc = check_vectors(w, t->x, err);
    else if (!search_is(t->x->spec.kind))
        return end_entries(w, t, err);
    if (!w->unread)
        compare_published(w, t);
    return rc;
}

/* A side table has as many rows as records refer to, or some belong to none. */
static int check_sides(walk *w, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t n = 0; n < w->of->next_field && !rc && !w->cut && !w->unread; n++) {
        int64_t held = 0;
        rc = rows_count(w->k->c, table_side(w->of->number, n), &held, err);
        if (!rc && held != w->sides[n]) {
            const catalog_field *f = field_numbered(w->of, n);
            check_found(w->k, "`%s`: %" PRId64 " values of `%s` stand outside of records, which refer to %" PRId64, w->of->name,
                        held, f ? f->name : "a field that was dropped", w->sides[n]);
        }
    }
    return check_judge(w->k, rc, err, "`%s`: values outside of records", w->of->name);
}

/* ---- text ---- */

typedef struct naming {
    walk *w;
    const catalog_index *x;
} naming;

static void found_text(void *to, int64_t id, const char *what)
{
    const naming *n = to;

    if (id)
        check_found(n->w->k, "`%s`: document %" PRId64 " in the index on `%s`: it %s", n->w->of->name, id, n->x->on.text, what);
    else
        check_found(n->w->k, "`%s`: the index on `%s`: %s", n->w->of->name, n->x->on.text, what);
}

static int begin_text(walk *w, tally *t, naming *n, error *err)
{
    *n = (naming){w, t->x};
    int rc = text_part_look(w->k->c, w->k->cache, w->of, t->x, &t->text, err);
    if (!rc)
        rc = text_check_new(&t->texts, t->text, w->k->c, found_text, n, &w->k->report->postings, err);
    if (rc) {
        t->skipped = true;
        rc = check_judge(w->k, rc, err, "`%s`: the index on `%s` cannot be read", w->of->name, t->x->on.text);
    }
    return rc;
}

/* ---- a collection ---- */

static int begin_indexes(walk *w, naming *names, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < w->of->index_count && !rc; i++) {
        tally *t = &w->tallies[i];
        t->x = &w->of->indexes[i];
        t->skipped = t->x->state != INDEX_READY;
        if (!t->skipped && text_part_has(t->x->spec.kind))
            rc = begin_text(w, t, &names[i], err);
    }
    return rc;
}

static int run(walk *w, naming *names, error *err)
{
    int rc = w->tallies ? begin_indexes(w, names, err) : FENEC_OK;

    if (!rc)
        rc = walk_documents(w, err);
    for (uint32_t i = 0; w->tallies && i < w->of->index_count && !rc && !w->k->report->stopped; i++)
        rc = end_index(w, &w->tallies[i], err);
    if (!rc && !w->k->report->stopped)
        rc = check_sides(w, err);
    return rc;
}

int check_collection(checking *k, const collection *of, bool indexes, error *err)
{
    walk w = {.k = k, .of = of};
    arena own;
    int rc = FENEC_OK;

    arena_init(&own);
    arena_init(&w.memory);
    buffer_init(&w.key);
    naming *names = arena_zeroed(&own, (of->index_count + 1) * sizeof *names);
    w.tallies = indexes ? arena_zeroed(&own, (of->index_count + 1) * sizeof *w.tallies) : NULL;
    w.sides = arena_zeroed(&own, ((size_t)of->next_field + 1) * sizeof *w.sides);
    if (!names || !w.sides || (indexes && !w.tallies))
        rc = fail_memory(err);
    if (!rc)
        rc = run(&w, names, err);
    for (uint32_t i = 0; w.tallies && i < of->index_count; i++) {
        text_check_free(w.tallies[i].texts);
        if (w.tallies[i].text)
            version_drop(&w.tallies[i].text->head);
    }
    buffer_clear(&w.key);
    arena_clear(&w.memory);
    arena_clear(&own);
    return rc;
}
