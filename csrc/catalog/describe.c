#include "catalog/catalog.h"
#include "value/json.h"

static void write_member(buffer *out, const char *name, uint32_t name_len, const type *t, const index_spec *spec)
{
    buffer_text(out, "{\"name\":");
    json_write_text(out, (const uint8_t *)name, name_len);
    buffer_text(out, ",\"type\":\"");
    type_write(out, t);
    buffer_text(out, "\",\"index\":\"");
    if (spec)
        index_spec_write(out, spec);
    else
        buffer_text(out, "none");
    buffer_text(out, "\"}");
}

static void write_collection(buffer *out, const collection *c)
{
    bool has_paths = false;

    buffer_text(out, "{\"name\":");
    json_write_text(out, (const uint8_t *)c->name, c->name_len);
    buffer_text(out, ",\"fields\":[");
    for (uint32_t i = 0; i < c->field_count; i++) {
        const catalog_field *f = &c->fields[i];
        bool shown = f->index && f->index->state != INDEX_BUILDING;
        if (i)
            buffer_byte(out, ',');
        write_member(out, f->name, f->name_len, &f->type, shown ? &f->index->spec : NULL);
    }
    buffer_byte(out, ']');
    for (uint32_t i = 0; i < c->index_count; i++) {
        const catalog_index *x = &c->indexes[i];
        if (x->on.part_count == 1 || x->state == INDEX_BUILDING)
            continue;
        buffer_text(out, has_paths ? "," : ",\"paths\":[");
        has_paths = true;
        write_member(out, x->on.text, x->on.text_len, &c->fields[x->field].type, &x->spec);
    }
    buffer_text(out, has_paths ? "]}" : "}");
}

void catalog_describe(const catalog *cat, const collection *only, buffer *out)
{
    buffer_text(out, "{\"kind\":\"schemas\",\"collections\":[");
    if (only)
        write_collection(out, only);
    for (uint32_t i = 0; !only && i < cat->count; i++) {
        if (i)
            buffer_byte(out, ',');
        write_collection(out, cat->collections[i]);
    }
    buffer_text(out, "]}");
}
