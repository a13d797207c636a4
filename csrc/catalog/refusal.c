#include "catalog/refusal.h"

#include <string.h>

#include "value/json.h"

/* A refusal under way: message and fix are gathered as text and written as JSON at the end. */
typedef struct refusal {
    buffer message, fix;
} refusal;

static void begin(refusal *r)
{
    buffer_init(&r->message);
    buffer_init(&r->fix);
}

static void write_member(buffer *out, const char *name, const char *text, size_t len)
{
    buffer_printf(out, ",\"%s\":", name);
    if (text)
        json_write_text(out, (const uint8_t *)text, len);
    else
        buffer_text(out, "null");
}

static void end(refusal *r, buffer *out, const char *kind, const char *of, const char *field)
{
    buffer_printf(out, "{\"kind\":\"%s\"", kind);
    write_member(out, "collection", of, strlen(of));
    write_member(out, "field", field, field ? strlen(field) : 0);
    write_member(out, "message", (const char *)r->message.bytes, r->message.len);
    write_member(out, "fix", (const char *)r->fix.bytes, r->fix.len);
    buffer_byte(out, '}');
    out->failed = out->failed || r->message.failed || r->fix.failed;
    buffer_clear(&r->message);
    buffer_clear(&r->fix);
}

/* ---- fixes ---- */

static void fix_declare(buffer *fix, const declaration *code, const field_def *stored)
{
    buffer_printf(fix, "declare `%s.%s` as the database has it, `", code->name, stored->name);
    spell_field(fix, stored);
    buffer_byte(fix, '`');
}

/* The same of the index of a field, or of a path into it. */
static void fix_declare_index(buffer *fix, const difference *d, const char *on, const index_spec *stored)
{
    if (!strchr(on, '.')) {
        fix_declare(fix, d->code, d->stored);
        return;
    }
    buffer_printf(fix, "declare the index of `%s.%s` as the database has it, `", d->code->name, on);
    spell_index(fix, stored);
    buffer_byte(fix, '`');
}

/* The rebuild of the difference's field, as the migration it is; of its index or one of a path into it,
 * which is `stored`, or of the field as such (stored NULL). */
static void fix_rebuild(buffer *fix, const difference *d, const char *on, const index_spec *stored)
{
    const declaration *code = d->code;
    const field_def *f = &code->fields[d->place];

    if (!field_is_readable(f->name)) {
        if (stored)
            fix_declare_index(fix, d, on, stored);
        else
            fix_declare(fix, code, d->stored);
        buffer_printf(fix, ": no expression reads a field called `%s`, so it cannot be rebuilt", f->name);
        return;
    }
    buffer_text(fix, "add ");
    if (d->stored->index.ttl_ms > 0) {
        buffer_text(fix, "the migration `");
        spell_delete(fix, code->name);
        buffer_text(fix, " where expired()` and after it ");
    }
    buffer_printf(fix,
                  "the migration `{\"rebuild\": {\"collection\": \"%s\", \"field\": \"%s\"}}`, which makes `%s` "
                  "anew as the code declares it and keeps its values",
                  code->name, f->name, f->name);
    if (f->required)
        buffer_printf(fix, "; a rebuilt field is not required: declare `%s` not required too", f->name);
}

static void write_create(buffer *fix, const declaration *code)
{
    spell_create(fix, code);
    for (uint32_t i = 0; i < code->path_count; i++) {
        buffer_text(fix, "; ");
        spell_create_index(fix, code->name, code->paths[i].on.text, &code->paths[i].index);
    }
}

/* ---- what the database lacks ---- */

void refuse_collection_missing(buffer *out, const declaration *code)
{
    refusal r;

    begin(&r);
    buffer_printf(&r.message, "the code declares the collection `%s`, the database does not have it", code->name);
    buffer_text(&r.fix, "the owner of the database runs `");
    write_create(&r.fix, code);
    buffer_printf(&r.fix, "`, or the code drops `%s`", code->name);
    end(&r, out, "collection_missing", code->name, NULL);
}

void refuse_field_missing(buffer *out, const declaration *code, uint32_t place)
{
    const field_def *f = &code->fields[place];
    refusal r;

    begin(&r);
    buffer_printf(&r.message, "the code declares the field `%s.%s`, the database does not have it", code->name,
                  f->name);
    if (f->required) {
        buffer_printf(&r.fix,
                      "the owner of the database cannot add it, as a field becomes required only when its "
                      "collection is made: the code declares `%s` not required, or drops it",
                      f->name);
    } else {
        buffer_text(&r.fix, "the owner of the database runs `");
        spell_add(&r.fix, code->name, f);
        for (uint32_t i = 0; i < code->path_count; i++)
            if (code->paths[i].field == place) {
                buffer_text(&r.fix, "; ");
                spell_create_index(&r.fix, code->name, code->paths[i].on.text, &code->paths[i].index);
            }
        buffer_printf(&r.fix, "`, or the code drops `%s`", f->name);
    }
    end(&r, out, "field_missing", code->name, f->name);
}

void refuse_index_missing(buffer *out, const declaration *code, const char *on, const index_spec *wanted)
{
    refusal r;

    begin(&r);
    buffer_printf(&r.message, "`%s.%s` has no index in the database and `", code->name, on);
    spell_index(&r.message, wanted);
    buffer_text(&r.message, "` in the code");
    buffer_text(&r.fix, "the owner of the database runs `");
    spell_create_index(&r.fix, code->name, on, wanted);
    buffer_printf(&r.fix, "`, or the code drops the index of `%s`", on);
    end(&r, out, "index_missing", code->name, on);
}

void refuse_required_added(buffer *out, const declaration *code, uint32_t place)
{
    const char *field = code->fields[place].name;
    refusal r;

    begin(&r);
    buffer_printf(&r.message,
                  "`%s.%s` is new and required, and the documents `%s` has already hold no value for it",
                  code->name, field, code->name);
    buffer_printf(&r.fix, "declare `%s` not required", field);
    end(&r, out, "required_added", code->name, field);
}

/* ---- what both have ---- */

void refuse_type_changed(buffer *out, const difference *d)
{
    const field_def *wanted = &d->code->fields[d->place];
    refusal r;

    begin(&r);
    buffer_printf(&r.message, "`%s.%s` is of type `", d->code->name, wanted->name);
    type_write(&r.message, &d->stored->type);
    buffer_text(&r.message, "` in the database and `");
    type_write(&r.message, &wanted->type);
    buffer_text(&r.message, "` in the code");
    if (d->follow) {
        fix_declare(&r.fix, d->code, d->stored);
    } else {
        buffer_text(&r.fix, "add a migration: add a field of type `");
        type_write(&r.fix, &wanted->type);
        buffer_printf(&r.fix, "`, set it from `%s`, drop `%s`, and rename the new field to `%s`", wanted->name,
                      wanted->name, wanted->name);
    }
    end(&r, out, "type_changed", d->code->name, wanted->name);
}

void refuse_required_changed(buffer *out, const difference *d)
{
    const char *field = d->stored->name;
    refusal r;

    begin(&r);
    buffer_printf(&r.message,
                  d->stored->required ? "`%s.%s` is required in the database and not in the code"
                                      : "`%s.%s` is required in the code and not in the database",
                  d->code->name, field);
    if (d->stored->required && !d->follow) {
        fix_rebuild(&r.fix, d, field, NULL);
    } else {
        fix_declare(&r.fix, d->code, d->stored);
        if (!d->stored->required && !d->follow)
            buffer_text(&r.fix, ": a field becomes required only when its collection is made");
    }
    end(&r, out, "required_changed", d->code->name, field);
}

void refuse_collate_changed(buffer *out, const difference *d)
{
    const field_def *wanted = &d->code->fields[d->place];
    refusal r;

    begin(&r);
    buffer_printf(&r.message, "the collation of `%s.%s` is `%s` in the database and `%s` in the code", d->code->name,
                  wanted->name, collation_name(d->stored->collate), collation_name(wanted->collate));
    if (d->follow)
        fix_declare(&r.fix, d->code, d->stored);
    else
        fix_rebuild(&r.fix, d, wanted->name, NULL);
    end(&r, out, "collate_changed", d->code->name, wanted->name);
}

static void write_indexes(buffer *message, const difference *d, const char *on, const index_spec *stored,
                          const index_spec *wanted)
{
    static const index_spec none = {.kind = INDEX_NONE};

    buffer_printf(message, "the index of `%s.%s` is `", d->code->name, on);
    spell_index(message, stored);
    buffer_text(message, "` in the database and `");
    spell_index(message, wanted ? wanted : &none);
    buffer_text(message, "` in the code");
}

void refuse_index_changed(buffer *out, const difference *d, const char *on, const index_spec *stored,
                          const index_spec *wanted)
{
    bool is_path = strchr(on, '.') != NULL;
    refusal r;

    begin(&r);
    write_indexes(&r.message, d, on, stored, wanted);
    if (d->follow) {
        fix_declare_index(&r.fix, d, on, stored);
    } else if (!is_path && stored->kind == INDEX_SORTED && wanted->kind == INDEX_SORTED) {
        buffer_printf(&r.fix, "add the migration `alter collection %s alter field %s ", d->code->name, on);
        spell_index(&r.fix, wanted);
        buffer_byte(&r.fix, '`');
    } else {
        fix_rebuild(&r.fix, d, on, stored);
    }
    end(&r, out, "index_changed", d->code->name, on);
}

void refuse_index_removed(buffer *out, const difference *d, const char *on, const index_spec *stored)
{
    refusal r;

    begin(&r);
    write_indexes(&r.message, d, on, stored, NULL);
    fix_rebuild(&r.fix, d, on, stored);
    end(&r, out, "index_removed", d->code->name, on);
}

/* ---- what the code lacks ---- */

void refuse_field_not_declared(buffer *out, const char *of, const char *field, const char *renamed, bool last)
{
    refusal r;

    begin(&r);
    buffer_printf(&r.message, "the database has the field `%s.%s`, the code does not declare it", of, field);
    if (renamed)
        buffer_printf(&r.fix,
                      "add a migration: `alter collection %s rename field %s to %s` where it has another name now, "
                      "`alter collection %s drop field %s` where it is gone",
                      of, field, renamed, of, field);
    else
        buffer_printf(&r.fix,
                      "add a migration: `alter collection %s drop field %s` where it is gone, "
                      "`alter collection %s rename field %s to <new name>` where it has another name now",
                      of, field, of, field);
    if (last)
        buffer_printf(&r.fix,
                      "; no field of `%s` is declared and the last one cannot be dropped: add a field first "
                      "(`alter collection %s add field ...`), or drop the collection (`drop collection %s`)",
                      of, of, of);
    end(&r, out, "field_not_declared", of, field);
}
