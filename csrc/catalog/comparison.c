#include "catalog/comparison.h"

#include <string.h>

#include "catalog/refusal.h"
#include "ql/names.h"

/* One declared collection beside the database's. */
typedef struct sides {
    const declaration *code;
    const collection *stored;
    names in_code, in_stored; /* fields, by place */
} sides;

typedef struct comparing {
    const catalog *cat;
    bool follow;
    arena *memory;
    comparison *out;
    buffer text; /* of the statement under way */
    error *err;
} comparing;

/* ---- what comes out ---- */

/* Takes the statement spelled in w->text. */
static int add_statement(comparing *w)
{
    comparison *out = w->out;
    uint32_t count = out->statement_count;

    if ((count & (count - 1)) == 0) { /* full at every power of two, and at 0 */
        char **more = arena_alloc(w->memory, ((size_t)count * 2 + 1) * sizeof *more);
        if (!more)
            return fail_memory(w->err);
        if (count)
            memcpy(more, out->statements, count * sizeof *more);
        out->statements = more;
    }
    char *kept = w->text.failed ? NULL : arena_copy(w->memory, w->text.bytes, w->text.len);
    if (!kept)
        return fail_memory(w->err);
    out->statements[out->statement_count++] = kept;
    w->text.len = 0;
    return FENEC_OK;
}

/* Where the next refusal is written. */
static buffer *next_refusal(comparing *w)
{
    if (w->out->refusal_count++)
        buffer_byte(&w->out->refusals, ',');
    return &w->out->refusals;
}

static int add_index(comparing *w, const declaration *code, const char *on, const index_spec *wanted)
{
    spell_create_index(&w->text, code->name, on, wanted);
    return add_statement(w);
}

/* `create index` of the paths into a field, or (place UINT32_MAX) into all of them. */
static int add_path_indexes(comparing *w, const declaration *code, uint32_t place)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < code->path_count && rc == FENEC_OK; i++)
        if (place == UINT32_MAX || code->paths[i].field == place)
            rc = add_index(w, code, code->paths[i].on.text, &code->paths[i].index);
    return rc;
}

/* ---- fields ---- */

static int compare_index(comparing *w, const difference *d, const char *on, const index_spec *stored,
                         const index_spec *wanted)
{
    if (stored->kind == INDEX_NONE && wanted->kind != INDEX_NONE) {
        if (!w->follow)
            return add_index(w, d->code, on, wanted);
        refuse_index_missing(next_refusal(w), d->code, on, wanted);
    } else if (wanted->kind == INDEX_NONE) {
        if (stored->kind != INDEX_NONE && !w->follow)
            refuse_index_removed(next_refusal(w), d, on, stored);
    } else if (!index_spec_equal(stored, wanted)) {
        refuse_index_changed(next_refusal(w), d, on, stored, wanted);
    }
    return FENEC_OK;
}

static const declared_path *declared_on(const declaration *code, uint32_t place, const path *on)
{
    for (uint32_t i = 0; i < code->path_count; i++) {
        const declared_path *p = &code->paths[i];
        if (p->field == place && p->on.text_len == on->text_len && memcmp(p->on.text, on->text, on->text_len) == 0)
            return p;
    }
    return NULL;
}

static int compare_paths(comparing *w, const sides *p, const difference *d, uint32_t stored_place)
{
    static const index_spec none = {.kind = INDEX_NONE};
    const collection *of = p->stored;
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < d->code->path_count && rc == FENEC_OK; i++) {
        const declared_path *wanted = &d->code->paths[i];
        if (wanted->field != d->place)
            continue;
        const catalog_index *x = collection_index(of, stored_place, &wanted->on);
        bool is_there = x && x->state != INDEX_BUILDING;
        rc = compare_index(w, d, wanted->on.text, is_there ? &x->spec : &none, &wanted->index);
    }
    for (uint32_t i = 0; i < of->index_count && rc == FENEC_OK; i++) {
        const catalog_index *x = &of->indexes[i];
        if (x->field == stored_place && x->on.part_count > 1 && x->state != INDEX_BUILDING &&
            !declared_on(d->code, d->place, &x->on))
            rc = compare_index(w, d, x->on.text, &x->spec, &none);
    }
    return rc;
}

/* A field both have. */
static int compare_field(comparing *w, const sides *p, uint32_t place, uint32_t stored_place)
{
    const field_def *wanted = &p->code->fields[place];
    const field_def stored = declared_field(&p->stored->fields[stored_place]);
    const difference d = {.code = p->code, .place = place, .stored = &stored, .follow = w->follow};

    if (!type_equal(&stored.type, &wanted->type)) {
        refuse_type_changed(next_refusal(w), &d);
        return FENEC_OK;
    }
    if (stored.required != wanted->required)
        refuse_required_changed(next_refusal(w), &d);
    if (stored.collate != wanted->collate)
        refuse_collate_changed(next_refusal(w), &d);
    int rc = compare_index(w, &d, wanted->name, &stored.index, &wanted->index);
    if (rc == FENEC_OK && wanted->type.kind == TYPE_JSON)
        rc = compare_paths(w, p, &d, stored_place);
    return rc;
}

static int new_field(comparing *w, const declaration *code, uint32_t place)
{
    if (w->follow) {
        refuse_field_missing(next_refusal(w), code, place);
    } else if (code->fields[place].required) {
        refuse_required_added(next_refusal(w), code, place);
    } else {
        spell_add(&w->text, code->name, &code->fields[place]);
        int rc = add_statement(w);
        return rc == FENEC_OK ? add_path_indexes(w, code, place) : rc;
    }
    return FENEC_OK;
}

static bool is_stored(const sides *p, const field_def *f)
{
    return names_find(&p->in_stored, f->name, strlen(f->name)) != NAME_ABSENT;
}

/* The one field that is new in the code and of that type; NULL where there is none or are several. */
static const char *renamed(const sides *p, const type *t)
{
    const char *found = NULL;

    for (uint32_t i = 0; i < p->code->field_count; i++) {
        const field_def *f = &p->code->fields[i];
        if (!type_equal(&f->type, t) || is_stored(p, f))
            continue;
        if (found)
            return NULL;
        found = f->name;
    }
    return found;
}

/* The database's fields that the code lacks. */
static void compare_undeclared(comparing *w, const sides *p)
{
    const collection *of = p->stored;
    uint32_t declared = 0;

    for (uint32_t i = 0; i < p->code->field_count; i++)
        declared += is_stored(p, &p->code->fields[i]);
    for (uint32_t i = 0; i < of->field_count && declared < of->field_count; i++) {
        const catalog_field *f = &of->fields[i];
        if (names_find(&p->in_code, f->name, f->name_len) == NAME_ABSENT)
            refuse_field_not_declared(next_refusal(w), of->name, f->name, renamed(p, &f->type), declared == 0);
    }
}

/* ---- collections ---- */

static int pair_up(comparing *w, const declaration *code, const collection *stored, sides *out)
{
    *out = (sides){.code = code, .stored = stored};
    if (!names_init(&out->in_code, w->memory, code->field_count) ||
        !names_init(&out->in_stored, w->memory, stored->field_count))
        return fail_memory(w->err);
    for (uint32_t i = 0; i < code->field_count; i++)
        names_add(&out->in_code, code->fields[i].name, strlen(code->fields[i].name), i);
    for (uint32_t i = 0; i < stored->field_count; i++)
        names_add(&out->in_stored, stored->fields[i].name, stored->fields[i].name_len, i);
    return FENEC_OK;
}

static int new_collection(comparing *w, const declaration *code)
{
    if (w->follow) {
        refuse_collection_missing(next_refusal(w), code);
        return FENEC_OK;
    }
    spell_create(&w->text, code);
    int rc = add_statement(w);
    return rc == FENEC_OK ? add_path_indexes(w, code, UINT32_MAX) : rc;
}

static int compare_collection(comparing *w, const declaration *code)
{
    const collection *stored = catalog_find(w->cat, code->name, (uint32_t)strlen(code->name));
    sides p;
    int rc;

    if (!stored)
        return new_collection(w, code);
    rc = pair_up(w, code, stored, &p);
    for (uint32_t i = 0; i < code->field_count && rc == FENEC_OK; i++) {
        const char *name = code->fields[i].name;
        uint32_t place = names_find(&p.in_stored, name, strlen(name));
        rc = place == NAME_ABSENT ? new_field(w, code, i) : compare_field(w, &p, i, place);
    }
    if (rc == FENEC_OK && !w->follow)
        compare_undeclared(w, &p);
    return rc;
}

int comparison_make(const catalog *cat, const description *d, bool follow, arena *a, comparison *out, error *err)
{
    comparing w = {.cat = cat, .follow = follow, .memory = a, .out = out, .err = err};
    int rc = FENEC_OK;

    *out = (comparison){0};
    buffer_init(&out->refusals);
    buffer_init(&w.text);
    for (uint32_t i = 0; i < d->count && rc == FENEC_OK; i++)
        rc = compare_collection(&w, &d->collections[i]);
    buffer_clear(&w.text);
    if (rc == FENEC_OK && out->refusals.failed)
        rc = fail_memory(err);
    return rc;
}

void comparison_clear(comparison *c)
{
    buffer_clear(&c->refusals);
}
