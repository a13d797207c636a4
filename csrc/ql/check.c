#include "ql/check.h"

#include <string.h>

#include "ql/fold.h"
#include "ql/names.h"

#define LOOKUPS_MAX 8u
#define TOP_MAX 10000
#define RANGES_MAX 10000u
#define OWN_FILTER_NODES_MAX (1u << 20) /* of all facets of one statement */

static int refuse(error *err, const char *what)
{
    return fail(err, FENEC_QUERY, "%s", what);
}

/* ---- ranked search ---- */

static int check_ranked(const select_stmt *s, error *err)
{
    if (s->fuse) {
        if (!s->match || !s->near)
            return refuse(err, "expected both `match` and `near` beside `fuse`");
        if (s->rerank)
            return refuse(err, "expected either `fuse` or `rerank`, found both");
        if (s->order_count)
            return refuse(err, "expected no `order` beside `fuse`, which orders");
        if (s->fuse->candidates == 0)
            return refuse(err, "expected at least 1 candidate of `fuse`, found 0");
    } else if (s->match && s->near) {
        return refuse(err, "expected `fuse` to combine `match` and `near`");
    }
    if (s->rerank && !s->match)
        return refuse(err, "expected `match` beside `rerank`");
    if (s->order_count && (s->match || s->near))
        return refuse(err, "expected no `order` beside `match` or `near`, which order");
    if (s->lookup && (s->near || s->match || s->rerank))
        return refuse(err, "expected no `lookup` beside `near`, `match` or `rerank`");
    if (s->aggregates && (s->near || s->match))
        return refuse(err, "expected no aggregates beside `near` or `match`");
    if ((s->near && s->near->vector->reads_row) || (s->match && s->match->query->reads_row) ||
        (s->rerank && s->rerank->vector->reads_row))
        return refuse(err, "expected a value of `near`, `match` or `rerank` that reads no field");
    return FENEC_OK;
}

static int check_marks(const select_stmt *s, arena *a, error *err)
{
    names seen[2];

    if (!s->mark_count)
        return FENEC_OK;
    if (s->aggregates)
        return refuse(err, "expected no `highlight` or `snippet` beside aggregates");
    if (!s->match)
        return refuse(err, "expected `match` beside `highlight` or `snippet`");
    if (!names_init(&seen[0], a, s->mark_count) || !names_init(&seen[1], a, s->mark_count))
        return fail_memory(err);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const mark *m = &s->marks[i];
        if (names_add(&seen[m->snippet], m->field.text, m->field.text_len, i) != NAME_ABSENT)
            return fail(err, FENEC_QUERY, "expected each mark once, found two of `%s`", m->field.text);
        if (m->snippet && m->words == 0)
            return refuse(err, "expected at least 1 word of a snippet, found 0");
        for (uint32_t j = 0; j < m->arg_count; j++)
            if (m->args[j]->reads_row)
                return refuse(err, "expected arguments of a mark that read no field");
    }
    return FENEC_OK;
}

/* ---- count, require ---- */

static int check_count(const select_stmt *s, error *err)
{
    if (s->require_given && s->aggregates && !s->group_count)
        return refuse(err, "expected no `require` beside aggregates, which answer one row");
    if (!s->count)
        return FENEC_OK;
    if (s->require_given)
        return refuse(err, "expected no `require` beside `count`, which answers one row");
    if (s->aggregates && !s->group_count)
        return refuse(err, "expected `group` beside `count` and aggregates");
    if (!s->aggregates && ((s->has_select && !s->select_all) || s->mark_count))
        return refuse(err, "expected no select list beside `count`");
    if (s->near || s->match)
        return refuse(err, "expected no `near` or `match` beside `count`");
    if (s->order_count || s->limit.given ||
        (s->offset.given && !s->offset.is_param && s->offset.literal != 0))
        return refuse(err, "expected no `order`, `limit` or `offset` beside `count`");
    if (s->lookup && !s->lookup->required)
        return refuse(err, "expected a `lookup` beside `count` to be `required`");
    return FENEC_OK;
}

/* ---- lookup ---- */

static bool is_column(const select_stmt *s, const char *name)
{
    for (uint32_t i = 0; i < s->column_count; i++)
        if (strcmp(s->columns[i].name, name) == 0)
            return true;
    return false;
}

/* What a first level hangs off. */
static int check_first_level(const select_stmt *s, error *err)
{
    const lookup *l = s->lookup;

    if (!s->aggregates)
        return FENEC_OK;
    if (!s->group_count)
        return refuse(err, "expected rows for `lookup`, found an aggregating list without `group`");
    if (!l->parent_given)
        return refuse(err, "expected `= column` after `on`: the lookup hangs off groups");
    for (uint32_t i = 0; i < l->field_count; i++)
        if (!is_column(s, l->parent_fields[i]))
            return fail(err, FENEC_QUERY, "expected a column of the list to look up by, found `%s`",
                        l->parent_fields[i]);
    return FENEC_OK;
}

static int check_level(const lookup *l, arena *a, error *err)
{
    if (!l->aggregates)
        for (uint32_t i = 0; i < l->column_count; i++)
            if (l->columns[i].named || l->columns[i].e->kind != EXPR_FIELD)
                return refuse(err, "expected fields, paths or aggregates in the list of a lookup");
    return fold_check(&(fold){.columns = l->columns,
                              .column_count = l->column_count,
                              .aggregates = l->aggregates,
                              .groups = l->group,
                              .group_count = l->group_count},
                      a, err);
}

static int check_lookups(const select_stmt *s, arena *a, error *err)
{
    uint32_t levels = 0;
    int code;

    if (!s->lookup)
        return FENEC_OK;
    for (const lookup *l = s->lookup; l; l = l->next)
        if (++levels > LOOKUPS_MAX)
            return fail(err, FENEC_QUERY, "expected at most %u levels of `lookup`, found more", LOOKUPS_MAX);
    if ((code = check_first_level(s, err)) != FENEC_OK)
        return code;
    for (const lookup *l = s->lookup; l; l = l->next) {
        bool twice = strcmp(l->collection, s->collection) == 0;
        for (const lookup *above = s->lookup; above != l; above = above->next)
            twice = twice || strcmp(l->collection, above->collection) == 0;
        if (twice)
            return fail(err, FENEC_QUERY,
                        "expected each collection once in a query and its lookups, found `%s` twice",
                        l->collection);
        if (l->aggregates && l->next)
            return refuse(err, "expected no `lookup` after a level that aggregates");
        if ((code = check_level(l, a, err)) != FENEC_OK)
            return code;
    }
    return FENEC_OK;
}

/* ---- facets ---- */

static int check_ranges(const facet *f, error *err)
{
    if (f->top.given)
        return fail(err, FENEC_QUERY, "expected `top` or `ranges` of facet `%s`, found both", f->field.text);
    if (f->range_count == 0 || f->range_count > RANGES_MAX)
        return fail(err, FENEC_QUERY, "expected 2 to %u bounds of facet `%s`", RANGES_MAX + 1, f->field.text);
    for (uint32_t i = 0; i <= f->range_count; i++) {
        const value *bound = &f->range_bounds[i];
        if (bound->kind != VALUE_INT && bound->kind != VALUE_FLOAT)
            return fail(err, FENEC_QUERY, "expected numbers as bounds of facet `%s`", f->field.text);
        if (i && value_compare(bound - 1, bound) >= 0)
            return fail(err, FENEC_QUERY, "expected rising bounds of facet `%s`", f->field.text);
    }
    return FENEC_OK;
}

/* The terms of a chain of `and`, and of the chains in it: how many, and in order. Left sides are walked
 * in loops, right ones are bounded by the parser's depth. */
static size_t count_terms(const expr *e)
{
    size_t count = 1;

    for (; e->kind == EXPR_AND; e = e->left)
        count += count_terms(e->right);
    return count;
}

static expr **fill_terms(expr *e, expr **end)
{
    for (; e->kind == EXPR_AND; e = e->left)
        end = fill_terms(e->right, end);
    *--end = e;
    return end;
}

/* What a term reads: no field, one (`only`), or several. */
typedef struct term_fields {
    const path *only;
    bool several;
} term_fields;

static bool same_path(const path *a, const path *b)
{
    return a->text_len == b->text_len && memcmp(a->text, b->text, a->text_len) == 0;
}

static void collect_fields(const expr *e, term_fields *out)
{
    for (; e; e = e->left) {
        if (!e->reads_row)
            return;
        if (e->kind == EXPR_FIELD) {
            if (!out->only)
                out->only = &e->field;
            else if (!same_path(out->only, &e->field))
                out->several = true;
        }
        for (uint32_t i = 0; i < e->item_count; i++)
            collect_fields(e->items[i], out);
        if (e->right)
            collect_fields(e->right, out);
    }
}

/* A disjunctive facet whose field stands in the term, or NULL. */
static const facet *find_disjunctive(const select_stmt *s, const names *fields, const expr *e)
{
    const facet *found = NULL;

    for (; e && !found; e = e->left) {
        if (!e->reads_row)
            return NULL;
        if (e->kind == EXPR_FIELD) {
            uint32_t place = names_find(fields, e->field.text, e->field.text_len);
            if (place != NAME_ABSENT && s->facets[place].disjunctive)
                return &s->facets[place];
        }
        for (uint32_t i = 0; i < e->item_count && !found; i++)
            found = find_disjunctive(s, fields, e->items[i]);
        if (e->right && !found)
            found = find_disjunctive(s, fields, e->right);
    }
    return found;
}

/* The chain of the terms that are not the facet's; *nodes counts those made. */
static int make_own_filter(facet *f, uint32_t place, expr *const *terms, const uint32_t *owners, size_t count,
                           uint32_t *nodes, arena *a, error *err)
{
    expr *chain = NULL;

    for (size_t i = 0; i < count; i++) {
        if (owners[i] == place)
            continue;
        if (!chain) {
            chain = terms[i];
            continue;
        }
        expr *both = arena_zeroed(a, sizeof *both);
        if (!both)
            return fail_memory(err);
        if (++*nodes > OWN_FILTER_NODES_MAX)
            return refuse(err, "expected fewer disjunctive facets beside a filter of so many conditions");
        both->kind = EXPR_AND;
        both->left = chain;
        both->right = terms[i];
        both->reads_row = chain->reads_row || terms[i]->reads_row;
        both->has_aggregate = chain->has_aggregate || terms[i]->has_aggregate;
        chain = both;
    }
    f->own_filter = chain;
    return FENEC_OK;
}

/* Finds whose each term is, then makes the filters of the facets that own one. */
static int make_own_filters(select_stmt *s, const names *fields, arena *a, error *err)
{
    size_t count = count_terms(s->where);
    expr **terms = arena_alloc(a, count * sizeof *terms);
    uint32_t *owners = arena_alloc(a, count * sizeof *owners), nodes = 0;
    int code = FENEC_OK;

    if (!terms || !owners)
        return fail_memory(err);
    fill_terms(s->where, terms + count);
    for (size_t i = 0; i < count; i++) {
        term_fields reads = {0};
        const facet *f = find_disjunctive(s, fields, terms[i]);

        owners[i] = NAME_ABSENT;
        if (!f)
            continue;
        collect_fields(terms[i], &reads);
        if (reads.several)
            return fail(err, FENEC_QUERY,
                        "expected conditions on `%s` alone for its disjunctive facet, found one that "
                        "reads another field too", f->field.text);
        owners[i] = (uint32_t)(f - s->facets);
        s->facets[owners[i]].own_filter_given = true;
    }
    for (uint32_t i = 0; i < s->facet_count && code == FENEC_OK; i++)
        if (s->facets[i].own_filter_given)
            code = make_own_filter(&s->facets[i], i, terms, owners, count, &nodes, a, err);
    return code;
}

static int check_facets(select_stmt *s, arena *a, error *err)
{
    names fields;
    bool disjunctive = false;
    int code;

    if (!s->facet_count)
        return FENEC_OK;
    if (s->near)
        return refuse(err, "expected no `facet` beside `near`, which selects nothing");
    if (s->aggregates)
        return refuse(err, "expected no `facet` beside aggregates");
    if (!names_init(&fields, a, s->facet_count))
        return fail_memory(err);
    for (uint32_t i = 0; i < s->facet_count; i++) {
        facet *f = &s->facets[i];
        if (names_add(&fields, f->field.text, f->field.text_len, i) != NAME_ABSENT)
            return fail(err, FENEC_QUERY, "expected each facet once, found two of `%s`", f->field.text);
        if (f->top.given && !f->top.is_param && (f->top.literal < 1 || f->top.literal > TOP_MAX))
            return fail(err, FENEC_QUERY,
                        "expected `top` of facet `%s` from 1 to %d", f->field.text, TOP_MAX);
        if (f->has_ranges && (code = check_ranges(f, err)) != FENEC_OK)
            return code;
        f->own_filter = NULL;
        f->own_filter_given = false;
        disjunctive = disjunctive || f->disjunctive;
    }
    return disjunctive && s->where ? make_own_filters(s, &fields, a, err) : FENEC_OK;
}

int check_select(select_stmt *s, arena *a, error *err)
{
    int code = check_ranked(s, err);

    if (code == FENEC_OK)
        code = fold_check(&(fold){.columns = s->columns,
                                  .column_count = s->column_count,
                                  .aggregates = s->aggregates,
                                  .groups = s->group,
                                  .group_count = s->group_count,
                                  .having = s->having},
                          a, err);
    if (code == FENEC_OK)
        code = check_marks(s, a, err);
    if (code == FENEC_OK)
        code = check_count(s, err);
    if (code == FENEC_OK)
        code = check_lookups(s, a, err);
    if (code == FENEC_OK)
        code = check_facets(s, a, err);
    return code;
}

int check_inner(select_stmt *s, arena *a, error *err)
{
    (void)a;
    if (s->count)
        return refuse(err, "expected one column in `in (get ...)`, found `count`");
    if (s->lookup)
        return refuse(err, "expected no `lookup` in `in (get ...)`");
    if (s->require_given)
        return refuse(err, "expected no `require` in `in (get ...)`");
    if (s->select_all || s->column_count != 1 || s->mark_count)
        return refuse(err, "expected a select list of one column in `in (get ...)`");
    return FENEC_OK;
}
