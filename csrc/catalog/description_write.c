/* description_write.c - the collections of a database as a description of them. */
#include <string.h>

#include "catalog/description.h"
#include "value/json.h"

static void write_hundredths(buffer *out, const char *name, uint32_t n)
{
    buffer_printf(out, ",\"%s\":", name);
    json_write_float(out, n / 100.0);
}

static void write_text_options(buffer *out, const index_spec *spec)
{
    write_hundredths(out, "k1", spec->k1_hundredths);
    write_hundredths(out, "b", spec->b_hundredths);
    if (spec->prefix_max)
        buffer_printf(out, ",\"prefix\":%u", spec->prefix_max);
    if (spec->prefix_max && spec->prefix_min != 3)
        buffer_printf(out, ",\"prefix_min\":%u", spec->prefix_min);
    if (spec->chars)
        buffer_text(out, ",\"chars\":true");
}

static void write_hnsw_options(buffer *out, const index_spec *spec)
{
    static const char *const metrics[] = {[METRIC_COSINE] = "cosine", [METRIC_L2] = "l2", [METRIC_DOT] = "dot"};
    static const char *const quants[] = {
        [QUANT_NONE] = "", [QUANT_INT8] = ",\"quant\":\"int8\"", [QUANT_BIT] = ",\"quant\":\"bit\""};

    buffer_printf(out, ",\"metric\":\"%s\",\"m\":%u,\"ef_construction\":%u,\"ef_search\":%u%s",
                  metrics[spec->metric], spec->m, spec->ef_construction, spec->ef_search, quants[spec->quant]);
}

static const char *kind_name(const index_spec *spec)
{
    switch (spec->kind) {
    case INDEX_HASH: return "hash";
    case INDEX_UNIQUE: return "unique";
    case INDEX_SORTED: return spec->ttl_ms > 0 ? "ttl" : "sorted";
    case INDEX_HNSW: return "hnsw";
    case INDEX_TEXT: return "text";
    case INDEX_INVERTED: return "inverted";
    case INDEX_GEO: return "geo";
    case INDEX_NONE: break;
    }
    return "none";
}

static void write_index(buffer *out, const index_spec *spec)
{
    buffer_printf(out, "\"index\":{\"kind\":\"%s\"", kind_name(spec));
    if (spec->ttl_ms > 0)
        buffer_printf(out, ",\"ms\":%lld", (long long)spec->ttl_ms);
    if (spec->kind == INDEX_TEXT)
        write_text_options(out, spec);
    else if (spec->kind == INDEX_HNSW)
        write_hnsw_options(out, spec);
    buffer_byte(out, '}');
}

/* Paths of a field: indexes of paths stand by field, then as they were made. */
static void write_paths(buffer *out, const collection *c, uint32_t field)
{
    bool any = false;

    for (uint32_t i = 0; i < c->index_count; i++) {
        const catalog_index *x = &c->indexes[i];
        size_t past = (size_t)c->fields[field].name_len + 1;
        if (x->field != field || x->on.part_count == 1 || x->state == INDEX_BUILDING)
            continue;
        buffer_text(out, any ? ",{\"path\":" : ",\"paths\":[{\"path\":");
        json_write_text(out, (const uint8_t *)x->on.text + past, x->on.text_len - past);
        buffer_byte(out, ',');
        write_index(out, &x->spec);
        buffer_byte(out, '}');
        any = true;
    }
    if (any)
        buffer_byte(out, ']');
}

static void write_field(buffer *out, const collection *c, uint32_t field)
{
    const field_def f = declared_field(&c->fields[field]);

    buffer_text(out, "{\"name\":");
    json_write_text(out, (const uint8_t *)f.name, c->fields[field].name_len);
    buffer_text(out, ",\"type\":\"");
    type_write(out, &f.type);
    buffer_text(out, f.required ? "\",\"required\":true" : "\"");
    if (f.collate != COLLATION_NONE)
        buffer_printf(out, ",\"collate\":\"%s\"", collation_name(f.collate));
    if (f.index.kind != INDEX_NONE) {
        buffer_byte(out, ',');
        write_index(out, &f.index);
    }
    if (f.type.kind == TYPE_JSON)
        write_paths(out, c, field);
    buffer_byte(out, '}');
}

void description_write(const catalog *cat, buffer *out)
{
    bool any = false;

    buffer_text(out, "{\"format\":1,\"collections\":[");
    for (uint32_t i = 0; i < cat->count; i++) {
        const collection *c = cat->collections[i];
        if (c->name[0] == '_')
            continue; /* the database's own */
        buffer_text(out, any ? ",{\"name\":" : "{\"name\":");
        json_write_text(out, (const uint8_t *)c->name, c->name_len);
        buffer_text(out, ",\"fields\":[");
        for (uint32_t k = 0; k < c->field_count; k++) {
            if (k)
                buffer_byte(out, ',');
            write_field(out, c, k);
        }
        buffer_text(out, "]}");
        any = true;
    }
    buffer_text(out, "]}");
}
