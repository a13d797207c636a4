#include "value/type.h"

static void write_hundredths(buffer *out, uint32_t n)
{
    buffer_printf(out, "%u", n / 100);
    if (n % 10)
        buffer_printf(out, ".%02u", n % 100);
    else if (n % 100)
        buffer_printf(out, ".%u", n % 100 / 10);
}

static const char *scalar_name(type_kind kind)
{
    switch (kind) {
    case TYPE_BOOL: return "bool";
    case TYPE_INT: return "int";
    case TYPE_FLOAT: return "float";
    case TYPE_TEXT: return "text";
    case TYPE_BYTES: return "bytes";
    case TYPE_TIMESTAMP: return "timestamp";
    case TYPE_VECTOR: return "vector";
    case TYPE_SPARSE: return "sparse";
    case TYPE_LIST: return "list";
    case TYPE_JSON: return "json";
    case TYPE_GEO: return "geo";
    }
    return "";
}

void type_write(buffer *out, const type *t)
{
    size_t lists = 0;

    for (; t->kind == TYPE_LIST; t = t->element, lists++)
        buffer_byte(out, '[');
    buffer_text(out, scalar_name(t->kind));
    if (t->kind == TYPE_VECTOR)
        buffer_printf(out, "<%u%s>", t->dimension, t->half ? ", f16" : "");
    else if (t->kind == TYPE_SPARSE)
        buffer_printf(out, "<%u>", t->dimension);
    while (lists-- > 0)
        buffer_byte(out, ']');
}

bool type_equal(const type *a, const type *b)
{
    for (; a->kind == TYPE_LIST && b->kind == TYPE_LIST; a = a->element, b = b->element)
        ;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TYPE_VECTOR: return a->dimension == b->dimension && a->half == b->half;
    case TYPE_SPARSE: return a->dimension == b->dimension;
    default: return true;
    }
}

static void write_duration(buffer *out, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    size_t i = 0;

    while (ms % units[i].ms)
        i++;
    buffer_printf(out, "%lld%s", (long long)(ms / units[i].ms), units[i].name);
}

static void write_hnsw(buffer *out, const index_spec *spec, bool whole)
{
    static const char *const metrics[] = {
        [METRIC_COSINE] = "cosine", [METRIC_L2] = "l2", [METRIC_DOT] = "dot"};
    static const char *const quants[] = {
        [QUANT_NONE] = "", [QUANT_INT8] = ", quant=int8", [QUANT_BIT] = ", quant=bit"};

    buffer_printf(out, "hnsw(%s, m=%u", metrics[spec->metric], spec->m);
    if (whole)
        buffer_printf(out, ", ef_construction=%u, ef_search=%u", spec->ef_construction, spec->ef_search);
    buffer_printf(out, "%s)", quants[spec->quant]);
}

static void write_text(buffer *out, const index_spec *spec)
{
    buffer_text(out, "text(k1=");
    write_hundredths(out, spec->k1_hundredths);
    buffer_text(out, ", b=");
    write_hundredths(out, spec->b_hundredths);
    if (spec->prefix_max) {
        buffer_printf(out, ", prefix=%u", spec->prefix_max);
        if (spec->prefix_min != 3)
            buffer_printf(out, ", prefix_min=%u", spec->prefix_min);
    }
    buffer_text(out, spec->chars ? ", chars)" : ")");
}

void index_spec_write(buffer *out, const index_spec *spec)
{
    switch (spec->kind) {
    case INDEX_NONE: buffer_text(out, "none"); break;
    case INDEX_HASH: buffer_text(out, "hash"); break;
    case INDEX_UNIQUE: buffer_text(out, "unique"); break;
    case INDEX_SORTED:
        if (spec->ttl_ms > 0) {
            buffer_text(out, "ttl(");
            write_duration(out, spec->ttl_ms);
            buffer_byte(out, ')');
        } else {
            buffer_text(out, "sorted");
        }
        break;
    case INDEX_HNSW: write_hnsw(out, spec, false); break;
    case INDEX_TEXT: write_text(out, spec); break;
    case INDEX_INVERTED: buffer_text(out, "inverted"); break;
    case INDEX_GEO: buffer_text(out, "geo"); break;
    }
}

void index_spec_write_whole(buffer *out, const index_spec *spec)
{
    if (spec->kind == INDEX_HNSW)
        write_hnsw(out, spec, true);
    else
        index_spec_write(out, spec);
}

static const char *index_word(const index_spec *spec)
{
    switch (spec->kind) {
    case INDEX_NONE: return "none";
    case INDEX_HASH: return "hash";
    case INDEX_UNIQUE: return "unique";
    case INDEX_SORTED: return spec->ttl_ms > 0 ? "ttl" : "sorted";
    case INDEX_HNSW: return "hnsw";
    case INDEX_TEXT: return "text";
    case INDEX_INVERTED: return "inverted";
    case INDEX_GEO: return "geo";
    }
    return "";
}

static bool kind_takes(const index_spec *spec, type_kind kind)
{
    switch (spec->kind) {
    case INDEX_NONE: return true;
    case INDEX_HASH:
    case INDEX_UNIQUE: return kind != TYPE_GEO;
    case INDEX_SORTED:
        if (spec->ttl_ms > 0)
            return kind == TYPE_TIMESTAMP;
        return kind == TYPE_INT || kind == TYPE_FLOAT || kind == TYPE_TIMESTAMP || kind == TYPE_TEXT ||
               kind == TYPE_JSON;
    case INDEX_HNSW: return kind == TYPE_VECTOR;
    case INDEX_TEXT: return kind == TYPE_TEXT;
    case INDEX_INVERTED: return kind == TYPE_SPARSE;
    case INDEX_GEO: return kind == TYPE_GEO;
    }
    return false;
}

/* 64 brackets are more than a message needs. */
static void write_short(buffer *out, const type *t)
{
    type_write(out, t);
    if (out->len > 64)
        out->len = 64;
    buffer_byte(out, 0);
}

int index_spec_fits(const index_spec *spec, const type *t, bool path, const char *name, error *err)
{
    if (path && spec->kind > INDEX_SORTED)
        return fail(err, FENEC_QUERY, "`%s` is a path: it takes @hash, @unique or @sorted, not @%s", name,
                    index_word(spec));
    if (path && t->kind != TYPE_JSON)
        return fail(err, FENEC_TYPE, "`%s` is a path into a field that is not json", name);
    if (!kind_takes(spec, t->kind)) {
        buffer text;
        buffer_init(&text);
        write_short(&text, t);
        int code = fail(err, FENEC_TYPE, "`%s` of type %s takes no @%s", name,
                        text.failed ? scalar_name(t->kind) : (const char *)text.bytes, index_word(spec));
        buffer_clear(&text);
        return code;
    }
    if (spec->kind == INDEX_HNSW && spec->quant == QUANT_BIT && spec->metric != METRIC_COSINE)
        return fail(err, FENEC_QUERY, "`%s`: quant=bit needs the metric cosine", name);
    return FENEC_OK;
}
