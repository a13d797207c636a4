/* `get` and its clauses (chapter 1 section 6). What clauses may not combine is check.c's. */
#include <stdio.h>
#include <string.h>

#include "ql/check.h"
#include "ql/fold.h"
#include "ql/parsing.h"

#define CANDIDATES_OF_RERANK 200u
#define CANDIDATES_OF_FUSE 20u
#define K_OF_FUSE 60u

/* ---- the select list ---- */

/* A label such as "sum(total)", or NULL. */
static char *label_of(parser *p, const char *function, const char *before, const path *field)
{
    size_t len = strlen(function), before_len = strlen(before);
    char *label = arena_alloc(p->a, len + before_len + field->text_len + 3), *at = label;

    if (!label)
        return NULL;
    memcpy(at, function, len);
    at += len;
    *at++ = '(';
    memcpy(at, before, before_len);
    at += before_len;
    memcpy(at, field->text, field->text_len);
    at += field->text_len;
    memcpy(at, ")", 2);
    return label;
}

/* The name an item answers under without `as`; NULL where it needs one, which check.c refuses. */
static int name_item(parser *p, column *c)
{
    const expr *e = c->e, *inside = e->item_count ? e->items[0] : NULL;

    if (e->kind == EXPR_FIELD) {
        c->name = e->field.text;
        return FENEC_OK;
    }
    if (e->kind != EXPR_CALL || !e->has_aggregate)
        return FENEC_OK;
    if (strcmp(e->name, "count") == 0) {
        if (!inside) {
            c->name = "count";
            return FENEC_OK;
        }
        if (inside->kind != EXPR_CALL || strcmp(inside->name, "distinct") != 0 ||
            inside->items[0]->kind != EXPR_FIELD)
            return FENEC_OK;
        c->name = label_of(p, "count", "distinct ", &inside->items[0]->field);
        return c->name ? FENEC_OK : no_memory(p);
    }
    if (!inside || inside->kind != EXPR_FIELD || !aggregate_named(e->name))
        return FENEC_OK;
    c->name = label_of(p, e->name, "", &inside->field);
    return c->name ? FENEC_OK : no_memory(p);
}

static bool at_mark(const parser *p)
{
    return (at_word(p, "highlight") || at_word(p, "snippet")) && next_is(p, TOKEN_PAREN_OPEN);
}

static int parse_mark(parser *p, mark *out)
{
    mark m = {.snippet = at_word(p, "snippet")};
    size_t place = p->at;
    int64_t words;
    expr *e;
    int code;

    p->at += 2;
    const char *name;
    if ((code = parse_name(p, "a field", &name)) != FENEC_OK ||
        (code = path_of_label(p, name, &m.field)) != FENEC_OK)
        return code;
    if (m.snippet) {
        if ((code = expect(p, TOKEN_COMMA, "`,` and a number of words")) != FENEC_OK ||
            (code = parse_whole(p, "a number of words", &words)) != FENEC_OK)
            return code;
        if (words < 1)
            return refuse_at(p, p->at - 1, FENEC_QUERY, "expected at least 1 word, found less");
        m.words = clamped(words, 1);
    }
    while (take(p, TOKEN_COMMA)) {
        if ((code = parse_expr(p, &e)) != FENEC_OK)
            return code;
        if ((code = ADD_ITEM(p, m.args, m.arg_count, e)) != FENEC_OK)
            return code;
    }
    if ((code = expect(p, TOKEN_PAREN_CLOSE, "`,` or `)`")) != FENEC_OK)
        return code;
    if (m.snippet ? m.arg_count > 3 || m.arg_count == 2 : m.arg_count != 0 && m.arg_count != 2)
        return refuse_at(p, place, FENEC_QUERY, "expected %s of a mark, found %u",
                         m.snippet ? "an ellipsis, or that and two tags" : "two tags", m.arg_count);
    *out = m;
    return FENEC_OK;
}

static int add_mark(parser *p, select_stmt *s, uint32_t place)
{
    mark m;
    int code = parse_mark(p, &m);

    if (code != FENEC_OK)
        return code;
    m.place = place;
    return ADD_ITEM(p, s->marks, s->mark_count, m);
}

static int parse_column(parser *p, column *out)
{
    column c = {0};
    int code = parse_expr(p, &c.e);

    if (code != FENEC_OK)
        return code;
    if (take_word(p, "as")) {
        c.named = true;
        code = parse_name(p, "a name", &c.name);
    } else {
        code = name_item(p, &c);
    }
    if (code == FENEC_OK)
        *out = c;
    return code;
}

int parse_list(parser *p, select_stmt *s)
{
    select_stmt list = {.has_select = true};
    int code = FENEC_OK;

    if (take(p, TOKEN_STAR)) {
        list.select_all = true;
        while (code == FENEC_OK && take(p, TOKEN_COMMA))
            code = at_mark(p) ? add_mark(p, &list, UINT32_MAX) : expected(p, "`highlight(` or `snippet(` after `*`");
    } else {
        do {
            column c;
            if (at_mark(p)) {
                code = add_mark(p, &list, list.column_count + list.mark_count);
                continue;
            }
            if ((code = parse_column(p, &c)) == FENEC_OK)
                code = ADD_ITEM(p, list.columns, list.column_count, c);
            if (code == FENEC_OK && c.e->has_aggregate)
                list.aggregates = true;
        } while (code == FENEC_OK && take(p, TOKEN_COMMA));
    }
    if (code != FENEC_OK)
        return code;
    s->has_select = true;
    s->select_all = list.select_all;
    s->columns = list.columns;
    s->column_count = list.column_count;
    s->aggregates = list.aggregates;
    s->marks = list.marks;
    s->mark_count = list.mark_count;
    return FENEC_OK;
}

/* ---- keys and facets ---- */

int parse_groups(parser *p, group_key **keys, uint32_t *count)
{
    int code;

    do {
        group_key key = {0};
        code = parse_expr(p, &key.e);
        if (code == FENEC_OK && take_word(p, "as"))
            code = parse_name(p, "a name", &key.name);
        if (code == FENEC_OK)
            code = ADD_ITEM(p, *keys, *count, key);
    } while (code == FENEC_OK && take(p, TOKEN_COMMA));
    return code;
}

int parse_collate(parser *p, collation *out)
{
    if (take_word(p, "und"))
        *out = COLLATION_UND;
    else if (take_word(p, "tr"))
        *out = COLLATION_TR;
    else
        return expected(p, "`und` or `tr`");
    return FENEC_OK;
}

/* count(*), count(distinct f), word(f): a column's label. */
static int parse_label(parser *p, path *out)
{
    char *function = lower_word(p, here(p));
    const char *label = "count";
    path field;
    int code;

    if (!function)
        return no_memory(p);
    if (here(p)->parts != 1)
        return expected(p, "a function without dots");
    p->at += 2;
    bool count = strcmp(function, "count") == 0;
    if (!count || !take(p, TOKEN_STAR)) {
        bool distinct = count && at_word(p, "distinct") && next_is(p, TOKEN_NAME);
        p->at += distinct;
        if ((code = parse_path(p, "a field or path", &field)) != FENEC_OK)
            return code;
        label = label_of(p, function, distinct ? "distinct " : "", &field);
        if (!label)
            return no_memory(p);
    }
    if ((code = expect(p, TOKEN_PAREN_CLOSE, "`)`")) != FENEC_OK)
        return code;
    return path_of_label(p, label, out);
}

static int parse_sort_key(parser *p, sort_key *out)
{
    sort_key key = {0};
    int code;

    key.is_label = at(p, TOKEN_NAME) && next_is(p, TOKEN_PAREN_OPEN);
    code = key.is_label ? parse_label(p, &key.by) : parse_path(p, "a field or path to order by", &key.by);
    if (code == FENEC_OK && take_word(p, "collate"))
        code = parse_collate(p, &key.collate);
    if (code == FENEC_OK) {
        key.descending = take_word(p, "desc");
        if (!key.descending)
            take_word(p, "asc");
        if (take_word(p, "collate"))
            code = parse_collate(p, &key.collate);
    }
    if (code == FENEC_OK)
        *out = key;
    return code;
}

int parse_order(parser *p, sort_key **keys, uint32_t *count)
{
    sort_key key;
    int code;

    take_word(p, "by");
    do {
        if ((code = parse_sort_key(p, &key)) == FENEC_OK)
            code = ADD_ITEM(p, *keys, *count, key);
    } while (code == FENEC_OK && take(p, TOKEN_COMMA));
    return code;
}

static int parse_ranges(parser *p, facet *f)
{
    value *bounds = NULL, bound;
    uint32_t count = 0;
    size_t place = p->at;
    int code = expect(p, TOKEN_BRACKET_OPEN, "`[` and numbers");

    while (code == FENEC_OK && !at(p, TOKEN_BRACKET_CLOSE)) {
        if ((code = parse_number(p, &bound)) == FENEC_OK)
            code = ADD_ITEM(p, bounds, count, bound);
        if (code == FENEC_OK && !take(p, TOKEN_COMMA))
            break;
    }
    if (code == FENEC_OK)
        code = expect(p, TOKEN_BRACKET_CLOSE, "`,` or `]`");
    if (code != FENEC_OK)
        return code;
    if (count < 2)
        return refuse_at(p, place, FENEC_QUERY, "expected at least 2 bounds, found %u", count);
    f->has_ranges = true;
    f->range_bounds = bounds;
    f->range_count = count - 1;
    f->ranges = arena_alloc(p->a, count * sizeof *f->ranges);
    if (!f->ranges)
        return no_memory(p);
    for (uint32_t i = 0; i < count; i++)
        f->ranges[i] = bounds[i].kind == VALUE_INT ? (double)bounds[i].integer : bounds[i].number;
    return FENEC_OK;
}

int parse_facets(parser *p, facet **facets, uint32_t *count)
{
    int code;

    do {
        facet f = {0};
        code = parse_path(p, "a field or path to count", &f.field);
        if (code == FENEC_OK && take_word(p, "top"))
            code = parse_count(p, "a number of values or a parameter", &f.top);
        if (code == FENEC_OK && take_word(p, "ranges"))
            code = parse_ranges(p, &f);
        if (code != FENEC_OK)
            return code;
        f.disjunctive = take_word(p, "disjunctive");
        code = ADD_ITEM(p, *facets, *count, f);
    } while (code == FENEC_OK && take(p, TOKEN_COMMA));
    return code;
}

/* ---- ranked search ---- */

/* name expr: what near, match and rerank begin with. */
static int parse_ranked(parser *p, path *field, expr **e)
{
    const char *name;
    int code;

    if ((code = parse_name(p, "a field", &name)) != FENEC_OK || (code = path_of_label(p, name, field)) != FENEC_OK)
        return code;
    return parse_expr(p, e);
}

static int parse_near(parser *p, select_stmt *s)
{
    near_clause near = {0};
    int64_t ef;
    int code = parse_ranked(p, &near.field, &near.vector);

    while (code == FENEC_OK) {
        if (take_word(p, "exact")) {
            near.exact = true;
        } else if (take_word(p, "ef")) {
            if ((code = parse_whole(p, "a number", &ef)) == FENEC_OK) {
                near.ef_given = true;
                near.ef = clamped(ef, 1);
            }
        } else {
            break;
        }
    }
    if (code != FENEC_OK)
        return code;
    s->near = arena_copy(p->a, &near, sizeof near);
    return s->near ? FENEC_OK : no_memory(p);
}

static int parse_match(parser *p, select_stmt *s)
{
    match_clause match = {0};
    int code = parse_ranked(p, &match.field, &match.query);

    while (code == FENEC_OK) {
        if (take_word(p, "prefix")) {
            match.prefix = true;
        } else if (take_word(p, "fuzzy")) {
            match.fuzzy = 2;
            if (at(p, TOKEN_INT)) {
                if (here(p)->integer < 0 || here(p)->integer > 2)
                    return expected(p, "0, 1 or 2 edits");
                match.fuzzy = (uint32_t)p->tokens[p->at++].integer;
            }
        } else {
            break;
        }
    }
    if (code != FENEC_OK)
        return code;
    s->match = arena_copy(p->a, &match, sizeof match);
    return s->match ? FENEC_OK : no_memory(p);
}

static int parse_rerank(parser *p, select_stmt *s)
{
    rerank_clause rerank = {.candidates = CANDIDATES_OF_RERANK};
    int64_t candidates;
    int code = parse_ranked(p, &rerank.field, &rerank.vector);

    if (code == FENEC_OK && take_word(p, "candidates") &&
        (code = parse_whole(p, "a number", &candidates)) == FENEC_OK)
        rerank.candidates = clamped(candidates, 1);
    if (code != FENEC_OK)
        return code;
    s->rerank = arena_copy(p->a, &rerank, sizeof rerank);
    return s->rerank ? FENEC_OK : no_memory(p);
}

static int parse_fuse(parser *p, select_stmt *s)
{
    fuse_clause fuse = {.k = K_OF_FUSE, .candidates = CANDIDATES_OF_FUSE};
    int64_t n;
    int code = FENEC_OK;

    while (code == FENEC_OK) {
        bool k = at_word(p, "k");
        if (!k && !at_word(p, "candidates"))
            break;
        p->at++;
        if ((code = parse_whole(p, "a number", &n)) == FENEC_OK)
            *(k ? &fuse.k : &fuse.candidates) = clamped(n, 0);
    }
    if (code != FENEC_OK)
        return code;
    s->fuse = arena_copy(p->a, &fuse, sizeof fuse);
    return s->fuse ? FENEC_OK : no_memory(p);
}

/* ---- lookup ---- */

static int parse_side(parser *p, const char ***names, uint32_t *count)
{
    const char *name;
    int code;

    *names = NULL;
    *count = 0;
    if (take(p, TOKEN_PAREN_OPEN)) {
        code = parse_name_list(p, names, count);
        return code == FENEC_OK ? expect(p, TOKEN_PAREN_CLOSE, "`,` or `)`") : code;
    }
    code = parse_name(p, "a field", &name);
    return code == FENEC_OK ? ADD_ITEM(p, *names, *count, name) : code;
}

static int parse_sides(parser *p, lookup *l)
{
    size_t place = p->at;
    uint32_t parents;
    int code = parse_side(p, &l->child_fields, &l->field_count);

    if (code != FENEC_OK)
        return code;
    l->parent_given = take(p, TOKEN_EQUAL);
    if (l->parent_given) {
        code = parse_side(p, &l->parent_fields, &parents);
    } else {
        l->parent_fields = NULL;
        parents = 0;
        code = ADD_ITEM(p, l->parent_fields, parents, "id");
    }
    if (code == FENEC_OK && parents != l->field_count)
        code = refuse_at(p, place, FENEC_QUERY, "expected as many fields on both sides, found %u and %u",
                         l->field_count, parents);
    return code;
}

static int parse_lookup_list(parser *p, lookup *l)
{
    select_stmt list = {0};
    size_t place = p->at;
    int code = parse_list(p, &list);

    if (code != FENEC_OK)
        return code;
    if (list.mark_count)
        return refuse_at(p, place, FENEC_QUERY, "expected fields, paths or aggregates in a lookup, found a mark");
    l->select_all = list.select_all;
    l->columns = list.columns;
    l->column_count = list.column_count;
    l->aggregates = list.aggregates;
    return FENEC_OK;
}

static int parse_group_clause(parser *p, group_key **keys, uint32_t *count)
{
    take_word(p, "by");
    *keys = NULL;
    *count = 0;
    return parse_groups(p, keys, count);
}

/* A clause of a lookup level; *taken false: none stands here. */
static int parse_lookup_clause(parser *p, lookup *l, bool *taken)
{
    *taken = true;
    if (take_word(p, "required")) {
        l->required = true;
        return FENEC_OK;
    }
    if (take_word(p, "select"))
        return parse_lookup_list(p, l);
    if (take_word(p, "where"))
        return parse_filter(p, &l->where);
    if (take_word(p, "group"))
        return parse_group_clause(p, &l->group, &l->group_count);
    if (take_word(p, "order"))
        return parse_order(p, &l->order, &l->order_count);
    if (take_word(p, "limit"))
        return parse_count(p, "a number of rows or a parameter", &l->limit);
    if (take_word(p, "offset"))
        return parse_count(p, "a number of rows or a parameter", &l->offset);
    if (at_word(p, "require"))
        return expected(p, "`require` before the lookup");
    *taken = false;
    return FENEC_OK;
}

static int parse_lookup(parser *p, lookup **out)
{
    lookup *l = arena_zeroed(p->a, sizeof *l);
    bool more = true;
    int code;

    if (!l)
        return no_memory(p);
    l->select_all = true;
    if ((code = parse_name(p, "a collection", &l->collection)) != FENEC_OK)
        return code;
    if ((code = expect_word(p, "on")) != FENEC_OK || (code = parse_sides(p, l)) != FENEC_OK)
        return code;
    while (code == FENEC_OK && more)
        code = parse_lookup_clause(p, l, &more);
    if (code == FENEC_OK)
        *out = l;
    return code;
}

static int parse_lookups(parser *p, lookup **first)
{
    lookup **next = first;
    int code = FENEC_OK;

    while (code == FENEC_OK && take_word(p, "lookup")) {
        code = parse_lookup(p, next);
        if (code == FENEC_OK)
            next = &(*next)->next;
    }
    return code;
}

/* ---- the statement ---- */

static int parse_clause(parser *p, select_stmt *s, bool *taken)
{
    *taken = true;
    if (take_word(p, "select"))
        return parse_list(p, s);
    if (take_word(p, "where"))
        return parse_filter(p, &s->where);
    if (take_word(p, "order"))
        return parse_order(p, &s->order, &s->order_count);
    if (take_word(p, "limit"))
        return parse_count(p, "a number of rows or a parameter", &s->limit);
    if (take_word(p, "offset"))
        return parse_count(p, "a number of rows or a parameter", &s->offset);
    if (take_word(p, "count")) {
        s->count = true;
        return FENEC_OK;
    }
    if (take_word(p, "group"))
        return parse_group_clause(p, &s->group, &s->group_count);
    if (take_word(p, "having"))
        return parse_expr(p, &s->having);
    if (take_word(p, "near"))
        return parse_near(p, s);
    if (take_word(p, "match"))
        return parse_match(p, s);
    if (take_word(p, "rerank"))
        return parse_rerank(p, s);
    if (take_word(p, "fuse"))
        return parse_fuse(p, s);
    if (take_word(p, "facet")) {
        s->facets = NULL;
        s->facet_count = 0;
        return parse_facets(p, &s->facets, &s->facet_count);
    }
    if (take_word(p, "require"))
        return parse_require(p, &s->require_given, &s->require);
    *taken = false;
    return FENEC_OK;
}

/* A select list and `from`, tried in silence: where it is none, *list is FENEC_QUERY and the parser stands
 * where it stood. */
static int try_list(parser *p, select_stmt *s, bool *is_list)
{
    select_stmt trial = *s;
    parser before = *p;
    arena_mark made = arena_here(p->a);

    p->quiet = true;
    int code = parse_list(p, &trial);
    *is_list = code == FENEC_OK && take_word(p, "from");
    p->quiet = before.quiet;
    if (*is_list) {
        *s = trial;
        return FENEC_OK;
    }
    p->at = before.at;
    p->depth = before.depth;
    p->filter = before.filter;
    p->packed.len = before.packed.len;
    p->member_count = before.member_count;
    arena_rewind(p->a, made);
    return code == FENEC_PANIC ? code : FENEC_OK;
}

static int parse_source(parser *p, select_stmt *s)
{
    bool is_list = false;
    int code;

    if (!take_word(p, "from")) {
        if (at(p, TOKEN_NAME) && here(p)->parts == 1) {
            if ((code = try_list(p, s, &is_list)) != FENEC_OK)
                return code;
        } else if ((code = parse_list(p, s)) != FENEC_OK || (code = expect_word(p, "from")) != FENEC_OK) {
            return code; /* no collection begins like this */
        }
    }
    return parse_name(p, "a collection", &s->collection);
}

/* The refusals of check.c, told where the statement stands. */
static int refuse_checked(parser *p, size_t place, int (*check)(select_stmt *s, arena *a, error *err),
                          select_stmt *s)
{
    error found;

    error_init(&found);
    int code = check(s, p->a, &found);
    if (code == FENEC_OK)
        return code;
    if (code == FENEC_PANIC)
        return no_memory(p);
    return refuse_at(p, place, code, "%s", found.message);
}

int parse_get(parser *p, select_stmt **out)
{
    size_t place = p->at++;
    select_stmt *s = arena_zeroed(p->a, sizeof *s);
    bool more = true;

    if (!s)
        return no_memory(p);
    s->select_all = true;
    int code = parse_source(p, s);
    while (code == FENEC_OK && more)
        code = parse_clause(p, s, &more);
    if (code == FENEC_OK)
        code = parse_lookups(p, &s->lookup);
    if (code == FENEC_OK)
        code = refuse_checked(p, place, check_select, s);
    if (code == FENEC_OK)
        *out = s;
    return code;
}

int parse_get_inner(parser *p, select_stmt **out)
{
    size_t place = p->at;
    select_stmt *s;
    int code = parse_get(p, &s);

    if (code == FENEC_OK)
        code = expect(p, TOKEN_PAREN_CLOSE, "a clause or `)`");
    if (code == FENEC_OK)
        code = refuse_checked(p, place, check_inner, s);
    if (code == FENEC_OK)
        *out = s;
    return code;
}
