#include "exec/exact.h"

#include <string.h>

typedef struct search {
    const catalog *cat;
    const bool *apart;
    uint32_t param_count;
    uint32_t start; /* of the statement's places in err->exact */
    error *err;
} search;

static void find_select(search *w, const select_stmt *s);

/* A parameter that stands by itself where every digit is needed. */
static void need(search *w, const expr *e)
{
    error *err = w->err;

    if (!e || e->kind != EXPR_PARAM || e->param >= w->param_count || !w->apart[e->param])
        return;
    for (uint32_t i = w->start; i < err->exact_count; i++)
        if (err->exact[i] == e->param)
            return;
    if (err->exact_count < ERROR_EXACT_MAX)
        err->exact[err->exact_count++] = e->param;
}

/* A field of type json or geo, or a path. Names that a collection does not have are the run's to refuse. */
static bool name_is_exact(const path *p, const collection *of)
{
    if (p->part_count > 1 || !of)
        return p->part_count > 1;
    int32_t place = collection_field(of, p->text, p->text_len);
    return place >= 0 && (of->fields[place].type.kind == TYPE_JSON || of->fields[place].type.kind == TYPE_GEO);
}

static bool is_exact(const expr *e, const collection *of)
{
    static const char fresh[] = "new.";
    path p = e->field;

    if (e->kind != EXPR_FIELD)
        return false;
    /* In `else set` new.f is the document's field f: a path only where keys follow. */
    if (p.part_count == 2 && !strncmp(p.text, fresh, sizeof fresh - 1) && of &&
        collection_field(of, "new", 3) < 0) {
        p.text += sizeof fresh - 1;
        p.text_len -= (uint32_t)sizeof fresh - 1;
        p.part_count = 1;
    }
    return name_is_exact(&p, of);
}

static void find_expr(search *w, const expr *e, const collection *of)
{
    for (; e; e = e->left) {
        bool distances = e->kind == EXPR_CALL && (!strcmp(e->name, "distance") || !strcmp(e->name, "within"));

        if (e->kind == EXPR_COMPARE || e->kind == EXPR_HAS) {
            if (is_exact(e->left, of))
                need(w, e->right);
            if (is_exact(e->right, of))
                need(w, e->left);
        }
        bool lists_exact = e->kind == EXPR_IN && is_exact(e->left, of);
        for (uint32_t i = 0; i < e->item_count; i++) {
            if (distances || lists_exact)
                need(w, e->items[i]);
            find_expr(w, e->items[i], of);
        }
        if (e->select)
            find_select(w, e->select);
        find_expr(w, e->right, of);
    }
}

static const collection *collection_named(const search *w, const char *name)
{
    return name ? catalog_find(w->cat, name, (uint32_t)strlen(name)) : NULL;
}

static void find_lookup(search *w, const lookup *l)
{
    for (; l; l = l->next) {
        const collection *of = collection_named(w, l->collection);

        for (uint32_t i = 0; i < l->column_count; i++)
            find_expr(w, l->columns[i].e, of);
        for (uint32_t i = 0; i < l->group_count; i++)
            find_expr(w, l->group[i].e, of);
        find_expr(w, l->where, of);
    }
}

static void find_select(search *w, const select_stmt *s)
{
    const collection *of = collection_named(w, s->collection);

    for (uint32_t i = 0; i < s->column_count; i++)
        find_expr(w, s->columns[i].e, of);
    find_expr(w, s->where, of);
    for (uint32_t i = 0; i < s->group_count; i++)
        find_expr(w, s->group[i].e, of);
    find_expr(w, s->having, of);
    if (s->near) {
        int32_t place = of ? collection_field(of, s->near->field.text, s->near->field.text_len) : -1;
        if (place >= 0 && of->fields[place].type.kind == TYPE_GEO)
            need(w, s->near->vector);
        find_expr(w, s->near->vector, of);
    }
    if (s->match)
        find_expr(w, s->match->query, of);
    if (s->rerank)
        find_expr(w, s->rerank->vector, of);
    for (uint32_t i = 0; i < s->mark_count; i++)
        for (uint32_t k = 0; k < s->marks[i].arg_count; k++)
            find_expr(w, s->marks[i].args[k], of);
    find_lookup(w, s->lookup);
}

static void find_pairs(search *w, const pairs *p, const collection *of)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (name_is_exact(&p->items[i].key, of))
            need(w, p->items[i].e);
        find_expr(w, p->items[i].e, of);
    }
}

static void find_stmt(search *w, const stmt *s)
{
    const collection *of = collection_named(w, s->collection);

    w->start = w->err->exact_count;
    if (s->select)
        find_select(w, s->select);
    for (uint32_t i = 0; i < s->doc_count; i++)
        find_pairs(w, &s->docs[i], of);
    find_pairs(w, &s->set, of);
    find_expr(w, s->where, of);
}

int exact_check(const parsed *p, const catalog *cat, const bool apart[], uint32_t param_count, error *err)
{
    search w = {.cat = cat, .apart = apart, .param_count = param_count, .err = err};

    err->exact_count = 0;
    for (uint32_t i = 0; i < p->stmt_count; i++)
        find_stmt(&w, &p->stmts[i]);
    return err->exact_count ? fail(err, FENEC_QUERY, "a json field or a point was handed numbers sent as 32-bit floats")
                            : FENEC_OK;
}
