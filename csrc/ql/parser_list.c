/* The lists of a `get`: what it selects, groups by, orders by and counts (chapter 1 sections 6.2 to 6.5). */
#include <string.h>

#include "ql/fold.h"
#include "ql/parsing.h"

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
            code = at_mark(p) ? add_mark(p, &list, UINT32_MAX)
                              : expected(p, "`highlight(` or `snippet(` after `*`");
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
