#include "catalog/declaration.h"

#include <string.h>

field_def declared_field(const catalog_field *f)
{
    field_def def = {.name = f->name, .type = f->type, .required = f->required, .collate = f->collate};

    if (f->index && f->index->state != INDEX_BUILDING)
        def.index = index_spec_normal(&f->index->spec);
    return def;
}

index_spec index_spec_normal(const index_spec *spec)
{
    index_spec normal = *spec;

    if (normal.kind == INDEX_TEXT && normal.prefix_max == 0)
        normal.prefix_min = 3;
    return normal;
}

bool index_spec_equal(const index_spec *a, const index_spec *b)
{
    return a->kind == b->kind && a->ttl_ms == b->ttl_ms && a->metric == b->metric && a->quant == b->quant &&
           a->m == b->m && a->ef_construction == b->ef_construction && a->ef_search == b->ef_search &&
           a->k1_hundredths == b->k1_hundredths && a->b_hundredths == b->b_hundredths &&
           a->prefix_max == b->prefix_max && a->prefix_min == b->prefix_min && a->chars == b->chars;
}

static bool is_word(const char *name, const char *word)
{
    for (; *word; name++, word++)
        if ((*name >= 'A' && *name <= 'Z' ? *name + ('a' - 'A') : *name) != *word)
            return false;
    return *name == 0;
}

bool field_is_readable(const char *name)
{
    return !is_word(name, "null") && !is_word(name, "true") && !is_word(name, "false") && !is_word(name, "not");
}

const char *collation_name(collation c)
{
    switch (c) {
    case COLLATION_UND: return "und";
    case COLLATION_TR: return "tr";
    case COLLATION_NONE: break;
    }
    return "none";
}

void spell_index(buffer *out, const index_spec *spec)
{
    if (spec->kind == INDEX_NONE) {
        buffer_text(out, "none");
        return;
    }
    buffer_byte(out, '@');
    index_spec_write_whole(out, spec);
}

/* The rest of a field after its name. */
static void spell_modifiers(buffer *out, const field_def *f, bool required, const index_spec *index)
{
    buffer_byte(out, ' ');
    type_write(out, &f->type);
    if (required)
        buffer_text(out, " required");
    if (f->collate != COLLATION_NONE)
        buffer_printf(out, " collate %s", collation_name(f->collate));
    if (index->kind != INDEX_NONE) {
        buffer_byte(out, ' ');
        spell_index(out, index);
    }
}

void spell_field(buffer *out, const field_def *f)
{
    buffer_text(out, f->name);
    spell_modifiers(out, f, f->required, &f->index);
}

void spell_create(buffer *out, const declaration *d)
{
    buffer_printf(out, "create collection %s", d->name);
    for (uint32_t i = 0; i < d->field_count; i++) {
        buffer_text(out, i ? ", " : " (");
        spell_field(out, &d->fields[i]);
    }
    buffer_byte(out, ')');
}

void spell_add(buffer *out, const char *of, const field_def *f)
{
    buffer_printf(out, "alter collection %s add field %s", of, f->name);
    spell_modifiers(out, f, false, &f->index);
}

void spell_create_index(buffer *out, const char *of, const char *on, const index_spec *spec)
{
    buffer_printf(out, "create index on %s (%s) ", of, on);
    spell_index(out, spec);
}

void spell_delete(buffer *out, const char *of)
{
    /* A `from` behind `del` is the word that may stand there, never the collection. */
    buffer_printf(out, is_word(of, "from") ? "del from %s" : "del %s", of);
}

void spell_rebuild(buffer *out, const declaration *d, uint32_t field)
{
    static const index_spec none = {.kind = INDEX_NONE};
    const field_def *f = &d->fields[field];
    const char *c = d->name, *name = f->name;
    bool expires = f->index.ttl_ms > 0;

    /* The expiry comes last: until then the new field holds the values of every row. */
    buffer_printf(out, "alter collection %s add field %s__rebuilt", c, name);
    spell_modifiers(out, f, false, expires ? &none : &f->index);
    buffer_printf(out, "; set %s {%s__rebuilt: %s}; alter collection %s drop field %s", c, name, name, c, name);
    buffer_printf(out, "; alter collection %s rename field %s__rebuilt to %s", c, name, name);
    for (uint32_t i = 0; i < d->path_count; i++)
        if (d->paths[i].field == field) {
            buffer_text(out, "; ");
            spell_create_index(out, c, d->paths[i].on.text, &d->paths[i].index);
        }
    if (expires) {
        buffer_text(out, "; ");
        spell_create_index(out, c, name, &f->index);
    }
}
