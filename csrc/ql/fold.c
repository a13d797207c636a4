#include "ql/fold.h"

#include <string.h>

#include "ql/names.h"

bool aggregate_named(const char *name)
{
    static const char *const all[] = {"count", "sum",  "avg",  "min", "max",
                                      "first", "last", "approx_count_distinct",
                                      "hll_accumulate", "hll_combine"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i]) == 0)
            return true;
    return false;
}

static bool is_distinct(const expr *e)
{
    return e->kind == EXPR_CALL && strcmp(e->name, "distinct") == 0;
}

/* The number of arguments of an aggregate. */
static int check_count(const expr *e, error *err)
{
    bool ends = strcmp(e->name, "first") == 0 || strcmp(e->name, "last") == 0;

    if (strcmp(e->name, "count") == 0) {
        const expr *inside = e->item_count ? e->items[0] : NULL;
        if (!inside || (e->item_count == 1 && is_distinct(inside) && inside->item_count == 1))
            return FENEC_OK;
        return fail(err, FENEC_QUERY,
                    "expected `count(*)` or `count(distinct ...)`, found `count` of something else");
    }
    if (ends) {
        if (e->item_count == 1 || e->item_count == 2)
            return FENEC_OK;
        return fail(err, FENEC_QUERY,
                    "expected `%s(value)` or `%s(value by key)`, found %u arguments", e->name, e->name,
                    e->item_count);
    }
    if (e->item_count == 1)
        return FENEC_OK;
    if (strcmp(e->name, "min") == 0 || strcmp(e->name, "max") == 0)
        return fail(err, FENEC_QUERY,
                    "expected one argument of `%s`, found %u: the %s of several values is `%s(...)`",
                    e->name, e->item_count, e->name[1] == 'i' ? "least" : "greatest",
                    e->name[1] == 'i' ? "least" : "greatest");
    return fail(err, FENEC_QUERY, "expected one argument of `%s`, found %u", e->name, e->item_count);
}

static int check_shapes(const expr *e, error *err)
{
    int code = FENEC_OK;

    for (; e && code == FENEC_OK; e = e->left) {
        expr *const *items = e->items;
        uint32_t count = e->item_count;

        if (e->kind == EXPR_CALL && aggregate_named(e->name)) {
            if ((code = check_count(e, err)) != FENEC_OK)
                return code;
            if (count && is_distinct(items[0])) {
                count = items[0]->item_count;
                items = items[0]->items;
            }
            for (uint32_t i = 0; i < count; i++)
                if (items[i]->has_aggregate)
                    return fail(err, FENEC_QUERY, "expected no aggregate inside `%s(...)`", e->name);
        } else if (e->kind == EXPR_CALL && is_distinct(e)) {
            return fail(err, FENEC_QUERY, "expected `distinct` inside `count(...)` alone");
        }
        for (uint32_t i = 0; i < count && code == FENEC_OK; i++)
            code = check_shapes(items[i], err);
        if (e->right && code == FENEC_OK)
            code = check_shapes(e->right, err);
    }
    return code;
}

/* What a field outside an aggregate may name. */
typedef struct outside {
    names keys;      /* texts of fields and paths that are group keys */
    names key_names; /* given to keys by `as` */
    names columns;
    bool columns_too; /* in `having` */
} outside;

static bool is_known(const outside *o, const path *field)
{
    return names_find(&o->keys, field->text, field->text_len) != NAME_ABSENT ||
           names_find(&o->key_names, field->text, field->text_len) != NAME_ABSENT ||
           (o->columns_too && names_find(&o->columns, field->text, field->text_len) != NAME_ABSENT);
}

/* The first field outside an aggregate that is not known, or NULL. */
static const path *find_stray(const expr *e, const outside *o)
{
    const path *stray = NULL;

    for (; e && !stray; e = e->left) {
        if (!e->reads_row || (e->kind == EXPR_CALL && aggregate_named(e->name)))
            return NULL;
        if (e->kind == EXPR_FIELD && !is_known(o, &e->field))
            return &e->field;
        for (uint32_t i = 0; i < e->item_count && !stray; i++)
            stray = find_stray(e->items[i], o);
        if (e->right && !stray)
            stray = find_stray(e->right, o);
    }
    return stray;
}

static bool is_computed(const column *c)
{
    return c->named || c->e->kind != EXPR_FIELD;
}

static int check_names(const fold *f, outside *o, error *err)
{
    for (uint32_t i = 0; i < f->column_count; i++) {
        const column *c = &f->columns[i];
        if (!c->name)
            return fail(err, FENEC_QUERY,
                        "expected a name for item %u of the list: write `as` and one", i + 1);
        uint32_t other = names_add(&o->columns, c->name, strlen(c->name), i);
        if (other != NAME_ABSENT && (f->aggregates || is_computed(c) || is_computed(&f->columns[other])))
            return fail(err, FENEC_QUERY,
                        "expected columns of different names, found `%s` for two columns", c->name);
    }
    return FENEC_OK;
}

static int check_group(const fold *f, uint32_t place, outside *o, bool *is_key, error *err)
{
    const group_key *key = &f->groups[place];
    const expr *means = key->e;

    if (means->kind == EXPR_FIELD && means->field.part_count == 1) {
        uint32_t item = names_find(&o->columns, means->field.text, means->field.text_len);
        if (item != NAME_ABSENT && f->columns[item].named) {
            means = f->columns[item].e;
            is_key[item] = true;
        }
    }
    if (means->has_aggregate)
        return fail(err, FENEC_QUERY, "expected no aggregate in a group key");
    if (means->kind == EXPR_FIELD)
        names_add(&o->keys, means->field.text, means->field.text_len, place);
    if (!key->name)
        return FENEC_OK;
    if (names_add(&o->key_names, key->name, strlen(key->name), place) != NAME_ABSENT)
        return fail(err, FENEC_QUERY,
                    "expected group keys of different names, found `%s` for two keys", key->name);
    uint32_t same = names_find(&o->columns, key->name, strlen(key->name));
    if (same != NAME_ABSENT && is_computed(&f->columns[same]))
        return fail(err, FENEC_QUERY,
                    "expected different names, found `%s` for a group key and a column", key->name);
    return FENEC_OK;
}

static int check_outside(const fold *f, outside *o, const bool *is_key, error *err)
{
    const path *stray = NULL;

    for (uint32_t i = 0; i < f->column_count && !stray; i++)
        if (!is_key[i])
            stray = find_stray(f->columns[i].e, o);
    if (stray)
        return fail(err, FENEC_QUERY,
                    "expected fields inside aggregates or group keys, found `%s`, which is neither "
                    "aggregated nor grouped by", stray->text);
    o->columns_too = true;
    stray = find_stray(f->having, o);
    if (stray)
        return fail(err, FENEC_QUERY,
                    "expected keys, columns and aggregates in `having`, found `%s`", stray->text);
    return FENEC_OK;
}

int fold_check(const fold *f, arena *a, error *err)
{
    outside o = {0};
    int code = FENEC_OK;

    if (f->group_count && !f->aggregates)
        return fail(err, FENEC_QUERY, "expected an aggregate in the list beside `group`");
    if (f->having && !f->group_count)
        return fail(err, FENEC_QUERY, "expected `group` beside `having`");
    for (uint32_t i = 0; i < f->column_count && code == FENEC_OK; i++)
        if (f->columns[i].e->has_aggregate)
            code = check_shapes(f->columns[i].e, err);
    if (f->having && code == FENEC_OK)
        code = check_shapes(f->having, err);
    if (code != FENEC_OK)
        return code;
    bool *is_key = arena_zeroed(a, f->column_count + 1u);
    if (!is_key || !names_init(&o.columns, a, f->column_count) || !names_init(&o.keys, a, f->group_count) ||
        !names_init(&o.key_names, a, f->group_count))
        return fail_memory(err);
    code = check_names(f, &o, err);
    for (uint32_t i = 0; i < f->group_count && code == FENEC_OK; i++)
        code = check_group(f, i, &o, is_key, err);
    if (code == FENEC_OK && f->aggregates)
        code = check_outside(f, &o, is_key, err);
    return code;
}
