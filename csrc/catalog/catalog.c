#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "catalog/catalog_row.h"
#include "catalog/change.h"
#include "store/peek.h"
#include "value/collation.h"

/* ---- collections ---- */

collection *collection_keep(const collection *c)
{
    collection *kept = (collection *)c; /* the count alone changes */

    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

void collection_drop(collection *c)
{
    if (c && atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) == 1) {
        arena_clear(&c->memory);
        memory_free(c);
    }
}

int32_t collection_field(const collection *c, const char *name, uint32_t len)
{
    for (uint32_t i = 0; i < c->field_count; i++)
        if (c->fields[i].name_len == len && memcmp(c->fields[i].name, name, len) == 0)
            return (int32_t)i;
    return -1;
}

int collection_resolve(const collection *c, const path *p, int32_t *place, error *err)
{
    const value *first = &p->parts[0];
    const char *name = (const char *)first->bytes;
    int32_t found = collection_field(c, name, (uint32_t)first->len);
    bool is_id = first->len == 2 && memcmp(name, "id", 2) == 0;

    if (found < 0 && !is_id)
        return fail(err, FENEC_NOT_FOUND, "collection `%s` has no field `%.*s`", c->name, (int)first->len, name);
    if (p->part_count > 1) {
        if (is_id || c->fields[found].type.kind != TYPE_JSON)
            return fail(err, FENEC_TYPE, "`%.*s` of `%s` is not json: `%.*s` leads nowhere", (int)first->len,
                        name, c->name, (int)p->text_len, p->text);
        if (p->part_count - 1 > PATH_KEYS_MAX)
            return fail(err, FENEC_QUERY, "the path `%.*s` has more than %d keys", (int)p->text_len, p->text,
                        PATH_KEYS_MAX);
        for (uint32_t i = 1; i < p->part_count; i++)
            if (p->parts[i].len == 0)
                return fail(err, FENEC_QUERY, "the path `%.*s` has an empty key", (int)p->text_len, p->text);
    }
    *place = found;
    return FENEC_OK;
}

static bool same_keys(const path *a, const path *b)
{
    if (a->part_count != b->part_count)
        return false;
    for (uint32_t i = 1; i < a->part_count; i++)
        if (a->parts[i].len != b->parts[i].len || memcmp(a->parts[i].bytes, b->parts[i].bytes, b->parts[i].len))
            return false;
    return true;
}

const catalog_index *collection_index(const collection *c, uint32_t field, const path *on)
{
    for (uint32_t i = 0; i < c->index_count; i++)
        if (c->indexes[i].field == field && same_keys(&c->indexes[i].on, on))
            return &c->indexes[i];
    return NULL;
}

const catalog_index *collection_index_numbered(const collection *c, uint32_t number)
{
    for (uint32_t i = 0; i < c->index_count; i++)
        if (c->indexes[i].number == number)
            return &c->indexes[i];
    return NULL;
}

bool index_is_kept(const index_spec *spec, const catalog_field *field)
{
    if (spec->kind == INDEX_SORTED)
        return field->collate == COLLATION_NONE || collation_available();
    return spec->kind == INDEX_HASH || spec->kind == INDEX_UNIQUE || spec->kind == INDEX_GEO ||
           spec->kind == INDEX_TEXT || spec->kind == INDEX_HNSW || spec->kind == INDEX_INVERTED;
}

uint64_t index_order(const index_spec *spec, const catalog_field *field)
{
    return spec->kind == INDEX_SORTED ? collation_version(field->collate) : 0;
}

/* ---- catalogs ---- */

static void catalog_free(version *v)
{
    catalog *cat = (catalog *)v;

    for (uint32_t i = 0; i < cat->count; i++)
        collection_drop(cat->collections[i]);
    memory_free(cat->collections);
    memory_free(cat);
}

catalog *catalog_new(uint32_t room)
{
    static _Atomic(uint64_t) stamps;
    catalog *cat = memory_zeroed(sizeof *cat);

    if (!cat)
        return NULL;
    cat->collections = memory_alloc((size_t)room * sizeof *cat->collections);
    if (!cat->collections) {
        memory_free(cat);
        return NULL;
    }
    cat->head.references = 1;
    cat->head.free = catalog_free;
    cat->stamp = atomic_fetch_add(&stamps, 1) + 1;
    cat->next_collection = cat->next_index = 1;
    return cat;
}

const collection *catalog_find(const catalog *cat, const char *name, uint32_t len)
{
    for (uint32_t i = 0; i < cat->count; i++) {
        const collection *c = cat->collections[i];
        if (c->name_len == len && memcmp(c->name, name, len) == 0)
            return c;
    }
    return NULL;
}

/* Numbers rise in order of creation. */
const collection *catalog_numbered(const catalog *cat, uint32_t number)
{
    uint32_t low = 0, high = cat->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (cat->collections[mid]->number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low < cat->count && cat->collections[low]->number == number ? cat->collections[low] : NULL;
}

/* ---- reading ---- */

static int add_collection(catalog *cat, uint32_t *room, int64_t number, const uint8_t *bytes, size_t len,
                          error *err)
{
    arena scratch;
    collection draft, *made;
    int rc;

    if (number < 1 || number > UINT32_MAX)
        return fail(err, FENEC_CORRUPT, "the catalog holds a collection under an impossible number");
    if (cat->count == *room) {
        uint32_t grown = *room * 2;
        collection **more = memory_resize(cat->collections, grown * sizeof *more);
        if (!more)
            return fail_memory(err);
        cat->collections = more;
        *room = grown;
    }
    arena_init(&scratch);
    rc = catalog_row_read(bytes, len, &scratch, &draft, err);
    if (rc == FENEC_OK) {
        draft.number = (uint32_t)number;
        rc = collection_seal(&draft, &made, err);
        if (rc == FENEC_OK)
            cat->collections[cat->count++] = made;
        else if (rc != FENEC_PANIC)
            rc = fail(err, FENEC_CORRUPT, "the declaration of collection %u contradicts itself", draft.number);
    }
    arena_clear(&scratch);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(collection *const *)a)->name, (*(collection *const *)b)->name);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Numbers below the next ones, and neither they nor names twice. */
static int check_all(const catalog *cat, error *err)
{
    uint32_t indexes = 0, at = 0;
    arena scratch;
    bool good = true;

    for (uint32_t i = 0; i < cat->count; i++)
        indexes += cat->collections[i]->index_count;
    arena_init(&scratch);
    collection **names = arena_alloc(&scratch, cat->count * sizeof *names + 1);
    uint32_t *numbers = arena_alloc(&scratch, indexes * sizeof *numbers + 1);
    if (!names || !numbers) {
        arena_clear(&scratch);
        return fail_memory(err);
    }
    for (uint32_t i = 0; i < cat->count; i++) {
        names[i] = cat->collections[i];
        good = good && names[i]->number < cat->next_collection;
        for (uint32_t k = 0; k < names[i]->index_count; k++)
            numbers[at++] = names[i]->indexes[k].number;
    }
    qsort(names, cat->count, sizeof *names, by_name);
    qsort(numbers, indexes, sizeof *numbers, by_number);
    for (uint32_t i = 1; i < cat->count; i++)
        good = good && strcmp(names[i - 1]->name, names[i]->name) != 0;
    for (uint32_t i = 0; i < indexes; i++)
        good = good && numbers[i] >= 1 && numbers[i] < cat->next_index && (i == 0 || numbers[i - 1] < numbers[i]);
    arena_clear(&scratch);
    return good ? FENEC_OK : fail(err, FENEC_CORRUPT, "the catalog contradicts itself");
}

int catalog_load(conn *c, catalog **out, error *err)
{
    uint32_t room = 16;
    catalog *cat = catalog_new(room);
    cursor cur = {0};
    const uint8_t *bytes;
    size_t len;
    int64_t number;
    int rc;

    if (!cat)
        return fail_memory(err);
    rc = rows_get(c, table_meta(), META_NUMBERS, &bytes, &len, err);
    if (rc == FENEC_OK && len != 8)
        rc = fail(err, FENEC_CORRUPT, "the catalog's numbers are damaged");
    if (rc == FENEC_OK) {
        cat->next_collection = bytes_u32(bytes);
        cat->next_index = bytes_u32(bytes + 4);
    } else if (rc != FN_END) {
        goto failed;
    }
    rc = cursor_rows(&cur, c, table_catalog(), INT64_MIN, INT64_MAX, false, err);
    while (rc == FENEC_OK) {
        rc = cursor_next_row(&cur, &number, &bytes, &len, err);
        if (rc == FENEC_OK)
            rc = add_collection(cat, &room, number, bytes, len, err);
    }
    cursor_close(&cur);
    if (rc == FN_END)
        rc = check_all(cat, err);
    if (rc == FENEC_OK) {
        *out = cat;
        return FENEC_OK;
    }
failed:
    version_drop(&cat->head);
    return rc;
}

typedef struct peeking {
    catalog *cat;
    uint32_t room;
    int code;
    error *err;
} peeking;

static bool take_row(void *to, int64_t number, const uint8_t *bytes, size_t len)
{
    peeking *p = to;

    p->code = add_collection(p->cat, &p->room, number, bytes, len, p->err);
    return p->code == FENEC_OK;
}

int catalog_peek(const uint8_t *file, size_t file_len, catalog **out, error *err)
{
    peeking p = {.room = 16, .err = err};

    p.cat = catalog_new(p.room);
    if (!p.cat)
        return fail_memory(err);
    p.cat->next_collection = p.cat->next_index = UINT32_MAX; /* nothing is made here */
    int rc = peek_catalog(file, file_len, take_row, &p, err);
    if (rc == FENEC_OK)
        rc = p.code;
    if (rc == FENEC_OK)
        rc = check_all(p.cat, err);
    if (rc != FENEC_OK) {
        version_drop(&p.cat->head);
        return rc;
    }
    *out = p.cat;
    return FENEC_OK;
}
