/* change.c - a new catalog out of an old one: what a schema statement does to the declarations. */
#include "catalog/change.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "catalog/catalog_row.h"

static int write_row(conn *c, const collection *of, error *err)
{
    buffer bytes;
    int rc;

    buffer_init(&bytes);
    catalog_row_write(&bytes, of);
    rc = bytes.failed ? fail_memory(err)
                      : rows_put(c, table_catalog(), of->number, bytes.bytes, bytes.len, err);
    buffer_clear(&bytes);
    return rc;
}

/* Entries and rows of an index. */
static int drop_index_tables(conn *c, uint32_t index, error *err)
{
    int rc = table_drop(c, table_index(index), err);

    return rc == FENEC_OK ? table_drop(c, table_search(index), err) : rc;
}

static int write_numbers(conn *c, const catalog *cat, error *err)
{
    uint8_t bytes[8];

    bytes_put_u32(bytes, cat->next_collection);
    bytes_put_u32(bytes + 4, cat->next_index);
    return rows_put(c, table_meta(), META_NUMBERS, bytes, sizeof bytes, err);
}

/* cat with `fresh` (its reference passes on, also on failure) in the place of `old`; at the end where old
 * is NULL, without old where fresh is NULL. */
static int replaced(const catalog *cat, const collection *old, collection *fresh, catalog **next, error *err)
{
    catalog *made = catalog_new(cat->count + 1);

    if (!made) {
        collection_drop(fresh);
        return fail_memory(err);
    }
    made->next_collection = cat->next_collection;
    made->next_index = cat->next_index;
    for (uint32_t i = 0; i < cat->count; i++)
        if (cat->collections[i] != old)
            made->collections[made->count++] = collection_keep(cat->collections[i]);
        else if (fresh)
            made->collections[made->count++] = fresh;
    if (!old)
        made->collections[made->count++] = fresh;
    *next = made;
    return FENEC_OK;
}

/* Seals the draft, writes its row and the numbers where they moved, and answers the new catalog. */
static int publish(const catalog *cat, conn *c, const collection *old, const collection *draft,
                   uint32_t next_index, catalog **next, error *err)
{
    collection *made;
    catalog *fresh;
    int rc = collection_seal(draft, &made, err);

    if (rc == FENEC_OK)
        rc = replaced(cat, old, made, &fresh, err);
    if (rc != FENEC_OK)
        return rc;
    fresh->next_index = next_index;
    if (!old)
        fresh->next_collection++;
    rc = write_row(c, made, err);
    if (rc == FENEC_OK && (!old || next_index != cat->next_index))
        rc = write_numbers(c, fresh, err);
    if (rc != FENEC_OK) {
        version_drop(&fresh->head);
        return rc;
    }
    *next = fresh;
    return FENEC_OK;
}

/* A draft of `of` whose fields and indexes have room for one more each. Its shape is a new one. */
static int draft_of(const collection *of, arena *a, collection *draft, error *err)
{
    *draft = (collection){.number = of->number,
                          .name = of->name,
                          .name_len = of->name_len,
                          .next_field = of->next_field,
                          .has_dropped = of->has_dropped,
                          .field_count = of->field_count,
                          .index_count = of->index_count};
    draft->fields = arena_alloc(a, ((size_t)of->field_count + 1) * sizeof *draft->fields);
    draft->indexes = arena_alloc(a, ((size_t)of->index_count + 1) * sizeof *draft->indexes);
    if (!draft->fields || !draft->indexes)
        return fail_memory(err);
    memcpy(draft->fields, of->fields, of->field_count * sizeof *draft->fields);
    if (of->index_count)
        memcpy(draft->indexes, of->indexes, of->index_count * sizeof *draft->indexes);
    return FENEC_OK;
}

/* The field of a definition, and its index, after those the draft has. */
static int append_field(collection *draft, const field_def *def, uint32_t *next_index, arena *a, error *err)
{
    uint32_t place = draft->field_count++;
    catalog_field *f = &draft->fields[place];

    *f = (catalog_field){.number = draft->next_field++,
                         .name = def->name,
                         .name_len = (uint32_t)strlen(def->name),
                         .type = def->type,
                         .required = def->required,
                         .collate = def->collate};
    if (def->index.kind == INDEX_NONE)
        return FENEC_OK;
    value *part = arena_alloc(a, sizeof *part);
    if (!part)
        return fail_memory(err);
    *part = value_text(f->name, f->name_len);
    draft->indexes[draft->index_count++] = (catalog_index){
        .number = (*next_index)++,
        .spec = def->index,
        .state = index_is_kept(&def->index, f) ? INDEX_READY : INDEX_DECLARED,
        .field = place,
        .on = {.part_count = 1, .parts = part},
    };
    return FENEC_OK;
}

int catalog_settle(const catalog *cat, conn *c, error *err)
{
    for (uint32_t i = 0; i < cat->count; i++) {
        const collection *of = cat->collections[i];
        bool lapsed = false;
        for (uint32_t k = 0; k < of->index_count; k++)
            lapsed |= of->indexes[k].lapsed;
        int rc = lapsed ? write_row(c, of, err) : FENEC_OK;
        if (rc != FENEC_OK)
            return rc;
    }
    return FENEC_OK;
}

int catalog_create(const catalog *cat, conn *c, const stmt *s, catalog **next, error *err)
{
    collection draft = {.name = s->collection, .name_len = (uint32_t)strlen(s->collection)};
    uint32_t next_index = cat->next_index;
    arena scratch;
    int rc = FENEC_OK;

    if (catalog_find(cat, draft.name, draft.name_len))
        return fail(err, FENEC_EXISTS, "collection `%s`", draft.name);
    if (cat->next_collection == UINT32_MAX || cat->next_index > UINT32_MAX - s->field_count)
        return fail(err, FENEC_QUERY, "this database has made too many collections to make `%s`", draft.name);
    draft.number = cat->next_collection;
    arena_init(&scratch);
    draft.fields = arena_alloc(&scratch, s->field_count * sizeof *draft.fields + 1);
    draft.indexes = arena_alloc(&scratch, s->field_count * sizeof *draft.indexes + 1);
    if (!draft.fields || !draft.indexes)
        rc = fail_memory(err);
    for (uint32_t i = 0; i < s->field_count && rc == FENEC_OK; i++)
        rc = append_field(&draft, &s->fields[i], &next_index, &scratch, err);
    if (rc == FENEC_OK)
        rc = publish(cat, c, NULL, &draft, next_index, next, err);
    arena_clear(&scratch);
    return rc;
}

int catalog_remove(const catalog *cat, conn *c, const collection *gone, catalog **next, error *err)
{
    catalog *made;
    int rc = rows_delete(c, table_catalog(), gone->number, err);

    if (rc == FENEC_OK)
        rc = rows_delete(c, table_meta(), META_MARK(gone->number), err);
    if (rc == FENEC_OK)
        rc = table_drop(c, table_records(gone->number), err);
    for (uint32_t n = 0; n < gone->next_field && rc == FENEC_OK; n++)
        rc = table_drop(c, table_side(gone->number, n), err);
    for (uint32_t i = 0; i < gone->index_count && rc == FENEC_OK; i++)
        rc = drop_index_tables(c, gone->indexes[i].number, err);
    if (rc == FENEC_OK)
        rc = replaced(cat, gone, NULL, &made, err);
    if (rc == FENEC_OK)
        *next = made;
    return rc;
}

/* ---- alter ---- */

static int add_field(collection *draft, const stmt *s, uint32_t *next_index, arena *a, error *err)
{
    const field_def *def = &s->fields[0];

    if (collection_field(draft, def->name, (uint32_t)strlen(def->name)) >= 0)
        return fail(err, FENEC_EXISTS, "field `%s` of collection `%s`", def->name, draft->name);
    if (def->required)
        return fail(err, FENEC_QUERY, "field `%s` cannot be required: documents of `%s` do not have it yet",
                    def->name, draft->name);
    if (*next_index == UINT32_MAX)
        return fail(err, FENEC_QUERY, "this database has made too many indexes");
    return append_field(draft, def, next_index, a, err);
}

static int drop_field(collection *draft, conn *c, uint32_t place, error *err)
{
    uint32_t number = draft->fields[place].number, kept = 0;
    int64_t last;
    int rc;

    if (draft->field_count == 1)
        return fail(err, FENEC_QUERY, "`%s` is the last field of collection `%s` and stays",
                    draft->fields[place].name, draft->name);
    rc = table_drop(c, table_side(draft->number, number), err);
    if (rc == FENEC_OK)
        rc = rows_last_id(c, table_records(draft->number), &last, err);
    if (rc != FENEC_OK)
        return rc;
    draft->has_dropped = draft->has_dropped || last != 0;
    draft->field_count--;
    memmove(&draft->fields[place], &draft->fields[place + 1],
            (draft->field_count - place) * sizeof *draft->fields);
    for (uint32_t i = 0; i < draft->index_count && rc == FENEC_OK; i++) {
        catalog_index x = draft->indexes[i];
        if (x.field == place) {
            rc = drop_index_tables(c, x.number, err);
            continue;
        }
        x.field -= x.field > place;
        draft->indexes[kept++] = x;
    }
    draft->index_count = kept;
    return rc;
}

static int rename_field(collection *draft, uint32_t place, const char *to, error *err)
{
    if (collection_field(draft, to, (uint32_t)strlen(to)) >= 0)
        return fail(err, FENEC_EXISTS, "field `%s` of collection `%s`", to, draft->name);
    draft->fields[place].name = to;
    draft->fields[place].name_len = (uint32_t)strlen(to);
    return FENEC_OK;
}

static int set_expiry(collection *draft, uint32_t place, const index_spec *spec, error *err)
{
    for (uint32_t i = 0; i < draft->index_count; i++) {
        catalog_index *x = &draft->indexes[i];
        if (x->field != place || x->on.part_count > 1 || x->spec.kind != INDEX_SORTED)
            continue;
        if (x->state == INDEX_BUILDING)
            break;
        x->spec.ttl_ms = spec->ttl_ms;
        return FENEC_OK; /* whether the type takes it, collection_seal judges */
    }
    return fail(err, FENEC_QUERY, "field `%s` of collection `%s` has no ordered index",
                draft->fields[place].name, draft->name);
}

int catalog_alter(const catalog *cat, conn *c, const collection *of, const stmt *s, catalog **next, error *err)
{
    uint32_t next_index = cat->next_index;
    collection draft;
    int32_t place = -1;
    arena scratch;
    int rc;

    if (s->alter != ALTER_ADD) {
        place = collection_field(of, s->field, (uint32_t)strlen(s->field));
        if (place < 0)
            return fail(err, FENEC_NOT_FOUND, "collection `%s` has no field `%s`", of->name, s->field);
    }
    arena_init(&scratch);
    rc = draft_of(of, &scratch, &draft, err);
    if (rc == FENEC_OK)
        switch (s->alter) {
        case ALTER_ADD: rc = add_field(&draft, s, &next_index, &scratch, err); break;
        case ALTER_DROP: rc = drop_field(&draft, c, (uint32_t)place, err); break;
        case ALTER_RENAME: rc = rename_field(&draft, (uint32_t)place, s->to, err); break;
        case ALTER_INDEX: rc = set_expiry(&draft, (uint32_t)place, &s->spec, err); break;
        }
    if (rc == FENEC_OK)
        rc = publish(cat, c, of, &draft, next_index, next, err);
    arena_clear(&scratch);
    return rc;
}

/* ---- indexes ---- */

int catalog_add_index(const catalog *cat, conn *c, const collection *of, const path *on, const index_spec *spec,
                      index_state state, catalog **next, uint32_t *number, error *err)
{
    collection draft;
    int32_t place;
    arena scratch;
    int rc = collection_resolve(of, on, &place, err);

    if (rc != FENEC_OK)
        return rc;
    if (place < 0)
        return fail(err, FENEC_NOT_FOUND, "`id` of `%s` is no field and needs no index", of->name);
    if (collection_index(of, (uint32_t)place, on))
        return fail(err, FENEC_EXISTS, "an index on `%.*s` of `%s`", (int)on->text_len, on->text, of->name);
    if (cat->next_index == UINT32_MAX)
        return fail(err, FENEC_QUERY, "this database has made too many indexes");
    arena_init(&scratch);
    rc = draft_of(of, &scratch, &draft, err);
    if (rc == FENEC_OK) {
        draft.indexes[draft.index_count++] = (catalog_index){
            .number = cat->next_index,
            .spec = *spec,
            .state = index_is_kept(spec, &of->fields[place]) ? state : INDEX_DECLARED,
            .field = (uint32_t)place,
            .on = *on,
        };
        rc = publish(cat, c, of, &draft, cat->next_index + 1, next, err);
    }
    arena_clear(&scratch);
    if (rc == FENEC_OK)
        *number = cat->next_index;
    return rc;
}

int catalog_index_ready(const catalog *cat, conn *c, const collection *of, uint32_t number, catalog **next,
                        error *err)
{
    collection draft;
    arena scratch;
    int rc;

    arena_init(&scratch);
    rc = draft_of(of, &scratch, &draft, err);
    if (rc == FENEC_OK) {
        for (uint32_t i = 0; i < draft.index_count; i++) {
            catalog_index *x = &draft.indexes[i];
            if (x->number != number || (x->state != INDEX_BUILDING && x->state != INDEX_UNBUILT))
                continue;
            if (x->state == INDEX_UNBUILT)
                draft.shape = of->shape; /* it was declared and kept all along */
            x->state = INDEX_READY;
            x->lapsed = false;
        }
        rc = publish(cat, c, of, &draft, cat->next_index, next, err);
    }
    arena_clear(&scratch);
    return rc;
}

int catalog_index_lost(const catalog *cat, conn *c, const collection *of, uint32_t number, catalog **next,
                       error *err)
{
    collection draft;
    arena scratch;
    int rc;

    arena_init(&scratch);
    rc = draft_of(of, &scratch, &draft, err);
    if (rc == FENEC_OK) {
        draft.shape = of->shape;
        for (uint32_t i = 0; i < draft.index_count; i++)
            if (draft.indexes[i].number == number && draft.indexes[i].state == INDEX_READY)
                draft.indexes[i].state = INDEX_UNBUILT;
        rc = drop_index_tables(c, number, err);
    }
    if (rc == FENEC_OK)
        rc = publish(cat, c, of, &draft, cat->next_index, next, err);
    arena_clear(&scratch);
    return rc;
}

int catalog_remove_index(const catalog *cat, conn *c, const collection *of, uint32_t number, catalog **next,
                         error *err)
{
    uint32_t kept = 0;
    collection draft;
    arena scratch;
    int rc;

    arena_init(&scratch);
    rc = draft_of(of, &scratch, &draft, err);
    if (rc == FENEC_OK) {
        for (uint32_t i = 0; i < of->index_count; i++)
            if (of->indexes[i].number != number)
                draft.indexes[kept++] = of->indexes[i];
        draft.index_count = kept;
        rc = drop_index_tables(c, number, err);
    }
    if (rc == FENEC_OK)
        rc = publish(cat, c, of, &draft, cat->next_index, next, err);
    arena_clear(&scratch);
    return rc;
}

int catalog_compacted(const catalog *cat, conn *c, const collection *of, catalog **next, error *err)
{
    collection draft;
    arena scratch;
    int rc;

    arena_init(&scratch);
    rc = draft_of(of, &scratch, &draft, err);
    if (rc == FENEC_OK) {
        draft.has_dropped = false;
        draft.shape = of->shape;
        rc = publish(cat, c, of, &draft, cat->next_index, next, err);
    }
    arena_clear(&scratch);
    return rc;
}
