/* `put`, `set` and `del` (chapter 1 section 5). */
#include "ql/parsing.h"

/* A key: a name, a path, or a string, whose dots part keys too. */
static int parse_key(parser *p, path *out)
{
    const token *t = here(p);
    const uint8_t *bytes;
    size_t len;

    if (t->kind != TOKEN_STRING)
        return parse_path(p, "a field or `}`", out);
    int code = string_of(p, t, &bytes, &len);
    if (code == FENEC_OK)
        code = path_of_text(p, p->at, bytes, len, out);
    if (code == FENEC_OK)
        p->at++;
    return code;
}

static int parse_document(parser *p, const char *what, pairs *out)
{
    pairs made = {0};
    int code = expect(p, TOKEN_BRACE_OPEN, what);

    while (code == FENEC_OK && !at(p, TOKEN_BRACE_CLOSE)) {
        pair one;
        if ((code = parse_key(p, &one.key)) != FENEC_OK ||
            (code = expect(p, TOKEN_COLON, "`:`")) != FENEC_OK ||
            (code = parse_expr(p, &one.e)) != FENEC_OK)
            return code;
        code = ADD_ITEM(p, made.items, made.count, one);
        if (code == FENEC_OK && !take(p, TOKEN_COMMA))
            break;
    }
    if (code == FENEC_OK)
        code = expect(p, TOKEN_BRACE_CLOSE, "`,` or `}`");
    if (code == FENEC_OK)
        *out = made;
    return code;
}

static int add_document(parser *p, stmt *s)
{
    pairs document;
    int code = parse_document(p, "`{`", &document);

    return code == FENEC_OK ? ADD_ITEM(p, s->docs, s->doc_count, document) : code;
}

static int parse_documents(parser *p, stmt *s)
{
    int code;

    if (at(p, TOKEN_PARAM)) {
        s->docs_are_param = true;
        s->docs_param = p->tokens[p->at++].param;
        return FENEC_OK;
    }
    if (take(p, TOKEN_BRACKET_OPEN)) {
        do
            code = add_document(p, s);
        while (code == FENEC_OK && take(p, TOKEN_COMMA) && !at(p, TOKEN_BRACKET_CLOSE));
        return code == FENEC_OK ? expect(p, TOKEN_BRACKET_CLOSE, "`,` or `]`") : code;
    }
    if (!at(p, TOKEN_BRACE_OPEN))
        return expected(p, "a document, a list of documents or a parameter");
    do
        code = add_document(p, s);
    while (code == FENEC_OK && at(p, TOKEN_BRACE_OPEN));
    return code;
}

static int parse_if_absent(parser *p, stmt *s)
{
    int code;

    if (!take_word(p, "if"))
        return at_word(p, "else") ? expected(p, "`if absent` before `else`") : FENEC_OK;
    if ((code = expect_word(p, "absent")) != FENEC_OK)
        return code;
    s->if_absent = s->insert = true;
    if (!take_word(p, "else"))
        return FENEC_OK;
    if ((code = expect_word(p, "set")) != FENEC_OK)
        return code;
    /* Keys name fields; values may read `new.f`. Counting the keys of a path the longer way is harmless
     * for both. */
    s->else_set = true;
    p->else_set = true;
    code = parse_document(p, "`{`", &s->set);
    p->else_set = false;
    return code;
}

static int parse_returning(parser *p, returning *out)
{
    returning made = {.given = true};
    int code = FENEC_OK;

    if (take(p, TOKEN_STAR)) {
        made.all = true;
    } else {
        do {
            path one;
            if ((code = parse_path(p, "`*`, a field or a path", &one)) != FENEC_OK)
                return code;
            code = ADD_ITEM(p, made.paths, made.path_count, one);
        } while (code == FENEC_OK && take(p, TOKEN_COMMA));
    }
    if (code == FENEC_OK)
        *out = made;
    return code;
}

int parse_put(parser *p, stmt *s)
{
    int code;

    s->kind = STMT_PUT;
    take_word(p, "into");
    if ((code = parse_name(p, "a collection", &s->collection)) != FENEC_OK)
        return code;
    if ((code = parse_documents(p, s)) == FENEC_OK)
        code = parse_if_absent(p, s);
    while (code == FENEC_OK) {
        if (take_word(p, "returning"))
            code = parse_returning(p, &s->returning);
        else if (take_word(p, "require"))
            code = parse_require(p, &s->require_given, &s->require);
        else
            break;
    }
    return code;
}

static int parse_write_clauses(parser *p, stmt *s)
{
    int code = FENEC_OK;

    while (code == FENEC_OK) {
        if (take_word(p, "where"))
            code = parse_filter(p, &s->where);
        else if (take_word(p, "order"))
            code = parse_order(p, &s->order, &s->order_count);
        else if (take_word(p, "limit"))
            code = parse_count(p, "a number of rows or a parameter", &s->limit);
        else if (take_word(p, "returning"))
            code = parse_returning(p, &s->returning);
        else if (take_word(p, "require"))
            code = parse_require(p, &s->require_given, &s->require);
        else
            break;
    }
    return code;
}

int parse_update(parser *p, stmt *s)
{
    int code;

    s->kind = STMT_UPDATE;
    if ((code = parse_name(p, "a collection", &s->collection)) != FENEC_OK)
        return code;
    take_word(p, "set");
    code = parse_document(p, "`{`", &s->set);
    return code == FENEC_OK ? parse_write_clauses(p, s) : code;
}

int parse_delete(parser *p, stmt *s)
{
    int code;

    s->kind = STMT_DELETE;
    take_word(p, "from");
    code = parse_name(p, "a collection", &s->collection);
    return code == FENEC_OK ? parse_write_clauses(p, s) : code;
}
