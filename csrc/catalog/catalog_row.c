#include "catalog/catalog_row.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "base/varint.h"

#define FORM 2
#define FORM_WITHOUT_ORDER 1

static void write_text(buffer *out, const void *bytes, size_t len)
{
    varint_put(out, len);
    buffer_put(out, bytes, len);
}

static void write_type(buffer *out, const type *t)
{
    uint64_t lists = 0;

    for (; t->kind == TYPE_LIST; t = t->element)
        lists++;
    varint_put(out, lists);
    buffer_byte(out, (uint8_t)t->kind);
    buffer_byte(out, t->half);
    varint_put(out, t->dimension);
}

static void write_spec(buffer *out, const index_spec *s)
{
    buffer_byte(out, (uint8_t)s->kind);
    buffer_byte(out, (uint8_t)s->metric);
    buffer_byte(out, (uint8_t)s->quant);
    buffer_byte(out, s->chars);
    varint_put(out, (uint64_t)s->ttl_ms);
    varint_put(out, s->m);
    varint_put(out, s->ef_construction);
    varint_put(out, s->ef_search);
    varint_put(out, s->k1_hundredths);
    varint_put(out, s->b_hundredths);
    varint_put(out, s->prefix_max);
    varint_put(out, s->prefix_min);
}

void catalog_row_write(buffer *out, const collection *c)
{
    size_t start = out->len;
    uint8_t sum[4];

    buffer_byte(out, FORM);
    varint_put(out, c->next_field);
    buffer_byte(out, c->has_dropped);
    write_text(out, c->name, c->name_len);
    varint_put(out, c->field_count);
    for (uint32_t i = 0; i < c->field_count; i++) {
        const catalog_field *f = &c->fields[i];
        varint_put(out, f->number);
        write_text(out, f->name, f->name_len);
        write_type(out, &f->type);
        buffer_byte(out, f->required);
        buffer_byte(out, (uint8_t)f->collate);
    }
    varint_put(out, c->index_count);
    for (uint32_t i = 0; i < c->index_count; i++) {
        const catalog_index *x = &c->indexes[i];
        varint_put(out, x->number);
        varint_put(out, x->field);
        varint_put(out, x->on.part_count - 1);
        for (uint32_t k = 1; k < x->on.part_count; k++)
            write_text(out, x->on.parts[k].bytes, x->on.parts[k].len);
        write_spec(out, &x->spec);
        buffer_byte(out, (uint8_t)(x->state == INDEX_UNBUILT ? INDEX_DECLARED : x->state));
        if (x->state == INDEX_READY)
            varint_put(out, index_order(&x->spec, &c->fields[x->field]));
    }
    if (out->failed)
        return;
    bytes_put_u32(sum, crc32c(0, out->bytes + start, out->len - start));
    buffer_put(out, sum, sizeof sum);
}

/* ---- reading: every step fails for good once one has failed ---- */

typedef struct reader {
    const uint8_t *at, *end;
    arena *memory;
    uint8_t form;
    bool bad, no_memory;
} reader;

static uint64_t read_number(reader *r, uint64_t most)
{
    uint64_t n = 0;

    if (r->bad || !varint_get(&r->at, r->end, &n) || n > most)
        r->bad = true;
    return r->bad ? 0 : n;
}

static uint8_t read_byte(reader *r, uint8_t most)
{
    if (r->bad || r->at == r->end || *r->at > most) {
        r->bad = true;
        return 0;
    }
    return *r->at++;
}

/* At most as many things as bytes are left: each takes one at least. */
static uint32_t read_count(reader *r)
{
    size_t left = (size_t)(r->end - r->at);

    return (uint32_t)read_number(r, left < UINT32_MAX ? left : UINT32_MAX);
}

static void *room(reader *r, size_t count, size_t each)
{
    void *out = r->bad || count > SIZE_MAX / 2 / each ? NULL : arena_zeroed(r->memory, count * each);

    if (!out && !r->bad)
        r->bad = r->no_memory = true;
    return out;
}

static const char *read_text(reader *r, uint32_t *len)
{
    uint32_t n = read_count(r);

    *len = 0;
    if (r->bad || (size_t)(r->end - r->at) < n || !utf8_valid(r->at, n)) {
        r->bad = true;
        return NULL;
    }
    const char *out = arena_copy(r->memory, r->at, n);
    if (!out) {
        r->bad = r->no_memory = true;
        return NULL;
    }
    r->at += n;
    *len = n;
    return out;
}

static void read_type(reader *r, type *t)
{
    uint64_t lists = read_number(r, 600); /* deeper than any the parser makes */
    type *around = lists ? room(r, lists, sizeof *around) : NULL;

    if (r->bad)
        return;
    for (uint64_t i = 0; i < lists; i++) {
        *t = (type){.kind = TYPE_LIST, .element = &around[i]};
        t = &around[i];
    }
    t->kind = (type_kind)read_byte(r, TYPE_GEO);
    t->half = read_byte(r, 1);
    t->dimension = (uint32_t)read_number(r, UINT32_MAX);
    bool sized = t->kind == TYPE_VECTOR || t->kind == TYPE_SPARSE;
    uint32_t most = t->kind == TYPE_VECTOR ? VECTOR_DIMENSION_MAX : SPARSE_DIMENSION_MAX;
    if (t->kind == TYPE_LIST || (t->half && t->kind != TYPE_VECTOR) || (t->kind == TYPE_JSON && lists) ||
        (sized ? t->dimension < 1 || t->dimension > most : t->dimension != 0))
        r->bad = true;
}

static void read_spec(reader *r, index_spec *s)
{
    s->kind = (index_kind)read_byte(r, INDEX_GEO);
    s->metric = (vector_metric)read_byte(r, METRIC_DOT);
    s->quant = (vector_quant)read_byte(r, QUANT_BIT);
    s->chars = read_byte(r, 1);
    s->ttl_ms = (int64_t)read_number(r, INT64_MAX);
    s->m = (uint32_t)read_number(r, UINT32_MAX);
    s->ef_construction = (uint32_t)read_number(r, UINT32_MAX);
    s->ef_search = (uint32_t)read_number(r, UINT32_MAX);
    s->k1_hundredths = (uint32_t)read_number(r, UINT32_MAX);
    s->b_hundredths = (uint32_t)read_number(r, UINT32_MAX);
    s->prefix_max = (uint32_t)read_number(r, UINT32_MAX);
    s->prefix_min = (uint32_t)read_number(r, UINT32_MAX);
    if (s->kind == INDEX_NONE || (s->ttl_ms && s->kind != INDEX_SORTED))
        r->bad = true;
}

static void read_index(reader *r, const collection *draft, catalog_index *x)
{
    x->number = (uint32_t)read_number(r, UINT32_MAX);
    x->field = (uint32_t)read_number(r, UINT32_MAX);
    uint32_t keys = read_count(r);
    if (r->bad || x->field >= draft->field_count) {
        r->bad = true;
        return;
    }
    value *parts = room(r, (size_t)keys + 1, sizeof *parts);
    if (!parts)
        return;
    parts[0] = value_text(draft->fields[x->field].name, draft->fields[x->field].name_len);
    for (uint32_t k = 1; k <= keys; k++) {
        uint32_t len;
        const char *key = read_text(r, &len);
        if (r->bad)
            return;
        parts[k] = value_text(key, len);
    }
    x->on = (path){.part_count = keys + 1, .parts = parts};
    read_spec(r, &x->spec);
    x->state = (index_state)read_byte(r, INDEX_DECLARED);
    bool says_order = x->state == INDEX_READY && r->form == FORM;
    uint64_t order = says_order ? read_number(r, UINT64_MAX) : 0;
    if (r->bad)
        return;
    const catalog_field *f = &draft->fields[x->field];
    bool kept = index_is_kept(&x->spec, f);
    bool collated = x->spec.kind == INDEX_SORTED && f->collate != COLLATION_NONE;
    bool plain = x->spec.kind == INDEX_HASH || x->spec.kind == INDEX_UNIQUE || x->spec.kind == INDEX_SORTED;
    /* What every build has kept in one order is never found otherwise. */
    if (!collated && (order || (x->state == INDEX_DECLARED && plain))) {
        r->bad = true;
        return;
    }
    x->lapsed = x->state == INDEX_READY && (!kept || order != index_order(&x->spec, f));
    if (x->lapsed || x->state == INDEX_DECLARED)
        x->state = kept ? INDEX_UNBUILT : INDEX_DECLARED;
}

int catalog_row_read(const uint8_t *bytes, size_t len, arena *a, collection *draft, error *err)
{
    reader r = {.at = bytes, .end = bytes, .memory = a};

    *draft = (collection){.ttl_field = -1};
    if (len < 5 || crc32c(0, bytes, len - 4) != bytes_u32(bytes + len - 4))
        return fail(err, FENEC_CORRUPT, "a collection's declaration is damaged");
    r.end = bytes + len - 4;
    r.form = read_byte(&r, UINT8_MAX);
    if (r.form != FORM && r.form != FORM_WITHOUT_ORDER)
        return fail(err, FENEC_CORRUPT, "a collection's declaration is of a newer version");
    draft->next_field = (uint32_t)read_number(&r, UINT32_MAX);
    draft->has_dropped = read_byte(&r, 1);
    draft->name = read_text(&r, &draft->name_len);
    draft->field_count = read_count(&r);
    draft->fields = room(&r, draft->field_count, sizeof *draft->fields);
    for (uint32_t i = 0; i < draft->field_count && !r.bad; i++) {
        catalog_field *f = &draft->fields[i];
        f->number = (uint32_t)read_number(&r, UINT32_MAX);
        f->name = read_text(&r, &f->name_len);
        read_type(&r, &f->type);
        f->required = read_byte(&r, 1);
        f->collate = (collation)read_byte(&r, COLLATION_TR);
    }
    draft->index_count = read_count(&r);
    draft->indexes = room(&r, draft->index_count, sizeof *draft->indexes);
    for (uint32_t i = 0; i < draft->index_count && !r.bad; i++)
        read_index(&r, draft, &draft->indexes[i]);
    if (r.no_memory)
        return fail_memory(err);
    if (r.bad || r.at != r.end)
        return fail(err, FENEC_CORRUPT, "a collection's declaration is damaged");
    return FENEC_OK;
}
