/* `get` and its clauses (chapter 1 section 6). What clauses may not combine is check.c's. */
#include "ql/check.h"
#include "ql/parsing.h"

#define CANDIDATES_OF_RERANK 200u
#define CANDIDATES_OF_FUSE 20u
#define K_OF_FUSE 60u

/* ---- ranked search ---- */

/* name expr: what near, match and rerank begin with. */
static int parse_ranked(parser *p, path *field, expr **e)
{
    const char *name;
    int code;

    if ((code = parse_name(p, "a field", &name)) != FENEC_OK ||
        (code = path_of_label(p, name, field)) != FENEC_OK)
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
        return refuse_at(p, place, FENEC_QUERY,
                         "expected fields, paths or aggregates in a lookup, found a mark");
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
