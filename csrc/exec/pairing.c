#include "exec/pairing.h"

#include <math.h>
#include <string.h>

#include "exec/node.h"
#include "value/coerce.h"
#include "value/key.h"

#define WHOLE_MAX ((int64_t)1 << 53) /* whole numbers below it are doubles, each its own */

static const type int_type = {.kind = TYPE_INT};

/* ---- binding ---- */

static int side_of(const collection *of, const char *name, pairing_side *out, error *err)
{
    int32_t place = collection_field(of, name, (uint32_t)strlen(name));

    *out = (pairing_side){0};
    if (place >= 0) {
        out->place = (uint32_t)place;
        out->field = &of->fields[place];
        return FENEC_OK;
    }
    return strcmp(name, "id") ? fail(err, FENEC_NOT_FOUND, "collection `%s` has no field `%s`", of->name, name)
                              : FENEC_OK;
}

static bool is_numeric(const type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_FLOAT || t->kind == TYPE_TIMESTAMP;
}

static int check_types(const lookup *l, uint32_t i, const type *child, const type *parent, error *err)
{
    bool vector = child->kind == TYPE_VECTOR || (parent && parent->kind == TYPE_VECTOR);

    if (vector)
        return fail(err, FENEC_TYPE, "a lookup of `%s` by `%s`: a vector is no key", l->collection,
                    l->child_fields[i]);
    if (!parent || type_equal(child, parent) || (is_numeric(child) && is_numeric(parent)))
        return FENEC_OK;
    return fail(err, FENEC_TYPE, "a lookup of `%s`: `%s` and `%s` are of different types", l->collection,
                l->child_fields[i], l->parent_fields[i]);
}

/* The plain field whose values an expression over groups carries; *id for the id's. Neither: no type. */
static const path *carried(const pairing_groups *g, const expr *e)
{
    static const char *const carry[] = {"min", "max", "first", "last"};

    if (e->kind == EXPR_CALL && e->item_count)
        for (size_t i = 0; i < sizeof carry / sizeof *carry; i++)
            if (!strcmp(e->name, carry[i])) {
                e = e->items[0];
                return e->kind == EXPR_FIELD && e->field.part_count == 1 ? &e->field : NULL;
            }
    if (e->kind != EXPR_FIELD || e->field.part_count != 1)
        return NULL;
    for (uint32_t i = 0; i < g->s->group_count; i++) {
        const group_key *key = &g->s->group[i];
        if (!key->name || strcmp(key->name, e->field.text))
            continue;
        /* The name of a key stands before a field of the same name. */
        const expr *of = key->e;
        return of->kind == EXPR_FIELD && of->field.part_count == 1 ? &of->field : NULL;
    }
    return &e->field;
}

/* The column of a group, and the type of the field whose values it carries, if any. */
static int group_side(const pairing_groups *g, const char *name, pairing_side *out, type *t, bool *typed, error *err)
{
    *out = (pairing_side){0};
    *typed = false;
    for (uint32_t i = 0; i < g->s->column_count; i++) {
        if (strcmp(g->s->columns[i].name, name))
            continue;
        out->column = i;
        const path *of = carried(g, g->s->columns[i].e);
        int32_t place = of ? collection_field(g->of, of->text, of->text_len) : -1;
        *typed = place >= 0 || (of && !strcmp(of->text, "id"));
        if (*typed)
            *t = place >= 0 ? g->of->fields[place].type : int_type;
        return FENEC_OK;
    }
    return fail(err, FENEC_QUERY, "`%s` is no column to look up by", name);
}

static const catalog_index *equality_index(const collection *of, const pairing_side *side)
{
    const catalog_index *index = side->field ? side->field->index : NULL;

    return index && index->state == INDEX_READY &&
                   (index->spec.kind == INDEX_HASH || index->spec.kind == INDEX_UNIQUE) && index->field < of->field_count
               ? index
               : NULL;
}

/* The id before what is unique before what is hashed. */
static int choose_probed(const lookup *l, pairing *p, error *err)
{
    int best = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        const pairing_side *child = &p->keys[i].child;
        const catalog_index *index = equality_index(p->of, child);
        int rank = !child->field ? 3 : !index ? 0 : index->spec.kind == INDEX_UNIQUE ? 2 : 1;
        if (rank <= best)
            continue;
        best = rank;
        p->probed = i;
        p->index = index;
    }
    if (best)
        return FENEC_OK;
    return fail(err, FENEC_QUERY,
                "a lookup of `%s` needs an index on `%s`: create index on %s (%s) @hash", l->collection,
                l->child_fields[0], l->collection, l->child_fields[0]);
}

int pairing_bind(const lookup *l, const collection *of, const collection *above, const pairing_groups *groups,
                 arena *a, pairing *out, error *err)
{
    int rc = FENEC_OK;

    *out = (pairing){.of = of, .above = above, .count = l->field_count};
    out->keys = arena_zeroed(a, sizeof *out->keys * l->field_count);
    if (!out->keys)
        return fail_memory(err);
    for (uint32_t i = 0; !rc && i < l->field_count; i++) {
        pairing_key *k = &out->keys[i];
        type parent_type = int_type;
        bool typed = true;
        rc = side_of(of, l->child_fields[i], &k->child, err);
        if (!rc && above)
            rc = side_of(above, l->parent_fields[i], &k->parent, err);
        else if (!rc)
            rc = group_side(groups, l->parent_fields[i], &k->parent, &parent_type, &typed, err);
        if (rc)
            break;
        k->child_type = k->child.field ? k->child.field->type : int_type;
        if (k->parent.field)
            parent_type = k->parent.field->type;
        rc = check_types(l, i, &k->child_type, typed ? &parent_type : NULL, err);
    }
    return rc ? rc : choose_probed(l, out, err);
}

/* ---- equal numbers ---- */

static bool is_number(const value *v)
{
    return v->kind == VALUE_INT || v->kind == VALUE_FLOAT || v->kind == VALUE_TIMESTAMP;
}

static double double_of(const value *v)
{
    return v->kind == VALUE_FLOAT ? v->number : (double)v->integer;
}

/* The least int whose double is at or above f; f is finite and at most 2^63. */
static int64_t least_at(double f)
{
    int64_t low = INT64_MIN, high = INT64_MAX;

    while (low < high) {
        int64_t middle = (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low) / 2);
        if ((double)middle < f)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The ints (instants: the timestamps) that equal a number are those of a range. False: there is none. */
static bool integers_equal(const value *v, bool instants, int64_t *low, int64_t *high)
{
    double f = double_of(v);

    if (v->kind == (instants ? VALUE_TIMESTAMP : VALUE_INT)) {
        *low = *high = v->integer;
        return true;
    }
    if (!(f >= -0x1p63 && f <= 0x1p63))
        return false;
    if (f > -(double)WHOLE_MAX && f < (double)WHOLE_MAX) {
        *low = *high = (int64_t)f;
        return (double)*low == f;
    }
    *low = least_at(f);
    *high = f >= 0x1p63 ? INT64_MAX : least_at(nextafter(f, INFINITY)) - 1;
    return true;
}

/* ---- what a parent wants ---- */

static int parent_value(const pairing *p, const pairing_key *k, const row *parent, const value columns[], arena *a,
                        value *out, error *err)
{
    if (!p->above) {
        *out = columns[k->parent.column];
        return FENEC_OK;
    }
    if (!k->parent.field) {
        *out = value_int(parent->id);
        return FENEC_OK;
    }
    return row_field(parent, k->parent.field->number, a, out, err);
}

/* A number stays what it is: it is compared as one. */
static int want_one(const pairing_key *k, value *v, arena *a, bool *none, error *err)
{
    const char *name = k->child.field ? k->child.field->name : "id";
    bool number = is_number(v), takes = is_numeric(&k->child_type) || k->child_type.kind == TYPE_JSON;
    error refused;

    *none = v->kind == VALUE_NULL || (number && (!takes || isnan(double_of(v))));
    if (*none || number)
        return FENEC_OK;
    int rc = value_coerce(v, &k->child_type, name, a, v, &refused);
    *none = rc == FENEC_TYPE || rc == FENEC_QUERY;
    return *none || !rc ? FENEC_OK : fail(err, rc, "%s", refused.message);
}

int pairing_want(const pairing *p, const row *parent, const value columns[], arena *a, wanted *w, error *err)
{
    int rc = FENEC_OK;

    w->none = false;
    w->exact = p->count == 1;
    for (uint32_t i = 0; !rc && !w->none && i < p->count; i++) {
        rc = parent_value(p, &p->keys[i], parent, columns, a, &w->values[i], err);
        if (!rc)
            rc = want_one(&p->keys[i], &w->values[i], a, &w->none, err);
    }
    return rc;
}

/* ---- through the index ---- */

/* The keys under which values equal to v stand in an equality index over type t: from key[0..*split) to
 * key[*split..len), or that one alone where the two are the same. False: there are none. *exact: nothing
 * else stands under them. */
static bool equal_keys(const type *t, const value *v, buffer *key, size_t *split, bool *exact)
{
    value low = *v, high = *v;
    bool one = true;

    key->len = 0;
    if (is_number(v) && (t->kind == TYPE_INT || t->kind == TYPE_TIMESTAMP)) {
        bool instants = t->kind == TYPE_TIMESTAMP;
        int64_t from, to;
        if (!integers_equal(v, instants, &from, &to))
            return false;
        low = instants ? value_timestamp(from) : value_int(from);
        high = instants ? value_timestamp(to) : value_int(to);
        one = from == to;
    } else if (is_number(v) && (t->kind == TYPE_FLOAT || v->kind == VALUE_TIMESTAMP)) {
        low = high = value_float(double_of(v));
    }
    *exact = key_stored(key, KEY_HASHED, t, false, &low) == KEY_EXACT;
    *split = one ? 0 : key->len;
    if (!one)
        *exact &= key_stored(key, KEY_HASHED, t, false, &high) == KEY_EXACT;
    return true;
}

static int access_by_key(const pairing *p, const wanted *w, probe *through, access *out, bool *exact, error *err)
{
    access_bounds *b = &out->bounds;
    size_t split;

    if (!equal_keys(&p->keys[p->probed].child_type, &w->values[p->probed], w->key, &split, exact)) {
        out->kind = ACCESS_LIST;
        out->is_made = true;
        return FENEC_OK;
    }
    if (w->key->failed)
        return buffer_error(w->key, err);
    if (split == 0) {
        out->kind = ACCESS_PROBE;
        out->probe = through;
        b->low_len = w->key->len;
        memcpy(b->low, w->key->bytes, b->low_len);
        return FENEC_OK;
    }
    out->kind = ACCESS_RANGE;
    out->index = p->index;
    b->low_len = split;
    b->high_len = w->key->len - split;
    memcpy(b->low, w->key->bytes, split);
    memcpy(b->high, w->key->bytes + split, b->high_len);
    b->has_low = b->has_high = true;
    b->above_low = b->below_high = false;
    return FENEC_OK;
}

int pairing_access(const pairing *p, const wanted *w, probe *through, access *out, error *err)
{
    bool exact = true;
    int rc = FENEC_OK;

    out->is_made = out->is_lent = false;
    out->rows = (ids){0};
    out->index = NULL;
    out->list = NULL;
    if (p->index) {
        rc = access_by_key(p, w, through, out, &exact, err);
    } else {
        out->kind = ACCESS_SCAN;
        if (!integers_equal(&w->values[p->probed], false, &out->low, &out->high))
            out->low = 1, out->high = 0;
        else if (out->low == out->high)
            out->kind = ACCESS_ID;
    }
    out->exact = exact && p->count == 1;
    return rc;
}

int pairing_holds(const pairing *p, const wanted *w, const row *child, arena *a, bool *out, error *err)
{
    int rc = FENEC_OK;

    *out = true;
    for (uint32_t i = 0; !rc && *out && i < p->count; i++) {
        const pairing_key *k = &p->keys[i];
        value held = value_int(child->id);
        if (k->child.field)
            rc = row_field(child, k->child.field->number, a, &held, err);
        if (!rc)
            *out = held.kind != VALUE_NULL && is_number(&held) == is_number(&w->values[i]) &&
                   value_equal(&held, &w->values[i]);
    }
    return rc;
}

/* ---- the other way round ---- */

bool pairing_reverses(const pairing *p, const catalog_index **index)
{
    *index = NULL;
    if (!p->above)
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->keys[i].parent.field)
            return true;
    for (uint32_t i = 0; i < p->count; i++) {
        *index = equality_index(p->above, &p->keys[i].parent);
        if (*index)
            return true;
    }
    return false;
}

static const pairing_key *reversed_key(const pairing *p, const catalog_index *index)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const pairing_side *parent = &p->keys[i].parent;
        if (index ? parent->field && parent->field->index == index : !parent->field)
            return &p->keys[i];
    }
    return &p->keys[0];
}

static int parents_by_key(const catalog_index *index, const type *t, const value *v, conn *c, buffer *key, ids *out,
                          bool *exact, error *err)
{
    cursor cur = {0};
    const uint8_t *bytes;
    size_t len, split;
    int64_t id;
    bool keys_exact;

    if (!equal_keys(t, v, key, &split, &keys_exact))
        return FENEC_OK;
    if (key->failed)
        return buffer_error(key, err);
    *exact &= keys_exact;
    const key_range range = {.low = key->bytes,
                             .low_len = split ? split : key->len,
                             .high = key->bytes + split,
                             .high_len = key->len - split,
                             .has_low = true,
                             .has_high = true};
    int rc = cursor_entries(&cur, c, table_index(index->number), &range, false, err);
    while (!rc && (rc = cursor_next_entry(&cur, &id, &bytes, &len, err)) == FENEC_OK)
        rc = ids_add(out, id, err);
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

int pairing_parents(const pairing *p, const catalog_index *index, const row *child, conn *c, buffer *key, arena *a,
                    ids *out, bool *exact, error *err)
{
    const pairing_key *k = reversed_key(p, index);
    value v = value_int(child->id);
    int64_t low, high;
    int rc = FENEC_OK;

    *exact = p->count == 1;
    if (k->child.field)
        rc = row_field(child, k->child.field->number, a, &v, err);
    if (rc || v.kind == VALUE_NULL)
        return rc;
    if (index)
        return parents_by_key(index, &k->parent.field->type, &v, c, key, out, exact, err);
    if (!is_number(&v) || !integers_equal(&v, false, &low, &high))
        return FENEC_OK;
    /* From 2^53 on a double stands for up to 1 024 ids. */
    for (int64_t id = low;; id++) {
        rc = ids_add(out, id, err);
        if (rc || id == high)
            return rc;
    }
}
