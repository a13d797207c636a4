#include "ql/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "ql/parsing.h"

static char lower(uint8_t byte)
{
    return (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
}

bool is_word(const parser *p, size_t place, const char *word)
{
    const token *t = &p->tokens[place];
    size_t len = t->end - t->start;
    const uint8_t *bytes = p->text + t->start;

    if (t->kind != TOKEN_NAME)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!word[i] || lower(bytes[i]) != word[i])
            return false;
    return word[len] == 0;
}

bool take_word(parser *p, const char *word)
{
    if (!at_word(p, word))
        return false;
    p->at++;
    return true;
}

static size_t position(const parser *p, size_t place)
{
    return utf8_count(p->text, p->tokens[place].start);
}

int no_memory(parser *p)
{
    return fail_memory(p->err);
}

int refuse_at(parser *p, size_t place, int code, const char *format, ...)
{
    char what[ERROR_MESSAGE_MAX];
    va_list args;

    if (p->quiet)
        return code;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail(p->err, code, "position %zu: %s", position(p, place), what);
}

int expected(parser *p, const char *what)
{
    char found[VALUE_QUOTE_MAX];
    const token *t = here(p);

    if (p->quiet)
        return FENEC_QUERY;
    if (t->kind == TOKEN_END)
        return refuse_at(p, p->at, FENEC_QUERY, "expected %s, found the end of the text", what);
    value v = value_text(p->text + t->start, t->end - t->start);
    return refuse_at(p, p->at, FENEC_QUERY, "expected %s, found %s", what, value_quote(found, &v));
}

int expect(parser *p, token_kind kind, const char *what)
{
    return take(p, kind) ? FENEC_OK : expected(p, what);
}

int expect_word(parser *p, const char *word)
{
    char what[40];

    if (take_word(p, word))
        return FENEC_OK;
    snprintf(what, sizeof what, "`%s`", word);
    return expected(p, what);
}

int deeper(parser *p, uint32_t levels)
{
    if (levels > EXPR_DEPTH_MAX - p->depth)
        return refuse_at(p, p->at, FENEC_QUERY, "expected at most %u levels of an expression, found more",
                         EXPR_DEPTH_MAX);
    p->depth += levels;
    return FENEC_OK;
}

void *room_for_one(parser *p, void *items, uint32_t count, size_t size)
{
    /* An array is full at 0 and at every power of two from 2 on, where it was made or doubled last. */
    if (count != 0 && (count < 2 || (count & (count - 1)) != 0))
        return items;
    void *more = arena_alloc(p->a, (count ? (size_t)count * 2 : 2) * size);
    if (more && count)
        memcpy(more, items, (size_t)count * size);
    return more;
}

int parse_name(parser *p, const char *what, const char **out)
{
    const token *t = here(p);

    if (t->kind != TOKEN_NAME || t->parts != 1)
        return expected(p, what);
    char *name = arena_copy(p->a, p->text + t->start, t->end - t->start);
    if (!name)
        return no_memory(p);
    p->at++;
    *out = name;
    return FENEC_OK;
}

int path_of_text(parser *p, size_t place, const uint8_t *text, size_t len, path *out)
{
    uint32_t count = 1, i = 0;

    for (size_t j = 0; j < len; j++)
        count += text[j] == '.';
    /* In `else set` the first part of new.f.k... is no field. */
    bool of_new = p->else_set && count > 1 && len > 4 && memcmp(text, "new.", 4) == 0;
    if (count - 1 - of_new > PATH_KEYS_MAX)
        return refuse_at(p, place, FENEC_QUERY, "expected a path of at most %u keys, found %u", PATH_KEYS_MAX,
                         count - 1 - of_new);
    char *copy = arena_copy(p->a, text, len);
    value *parts = arena_alloc(p->a, count * sizeof *parts);
    if (!copy || !parts)
        return no_memory(p);
    const char *start = copy;
    for (const char *c = copy; c <= copy + len; c++)
        if (c == copy + len || *c == '.') {
            parts[i++] = value_text(start, (size_t)(c - start));
            start = c + 1;
        }
    *out = (path){.text = copy, .text_len = (uint32_t)len, .part_count = count, .parts = parts};
    return FENEC_OK;
}

int path_of_label(parser *p, const char *label, path *out)
{
    value *part = arena_alloc(p->a, sizeof *part);

    if (!part)
        return no_memory(p);
    *part = value_text(label, strlen(label));
    *out = (path){.text = label, .text_len = (uint32_t)part->len, .part_count = 1, .parts = part};
    return FENEC_OK;
}

int parse_path(parser *p, const char *what, path *out)
{
    const token *t = here(p);

    if (t->kind != TOKEN_NAME)
        return expected(p, what);
    int code = path_of_text(p, p->at, p->text + t->start, t->end - t->start, out);
    if (code == FENEC_OK)
        p->at++;
    return code;
}

char *lower_word(parser *p, const token *t)
{
    size_t len = t->end - t->start;
    char *copy = arena_copy(p->a, p->text + t->start, len);

    for (size_t i = 0; copy && i < len; i++)
        copy[i] = lower((uint8_t)copy[i]);
    return copy;
}

int string_of(parser *p, const token *t, const uint8_t **bytes, size_t *len)
{
    const uint8_t *from = p->text + t->start + 1, *end = p->text + t->end - 1;
    uint8_t *out = arena_copy(p->a, from, (size_t)(end - from)), *to = out;

    if (!out)
        return no_memory(p);
    *bytes = out;
    *len = (size_t)(end - from);
    if (!t->escaped)
        return FENEC_OK;
    while (from < end) {
        uint8_t byte = *from++;
        if (byte == '\\') {
            byte = *from++;
            byte = byte == 'n' ? '\n' : byte == 't' ? '\t' : byte == 'r' ? '\r' : byte == '0' ? 0 : byte;
        }
        *to++ = byte;
    }
    *len = (size_t)(to - out);
    *to = 0;
    return FENEC_OK;
}

int parse_count(parser *p, const char *what, count_value *out)
{
    const token *t = here(p);

    if (t->kind == TOKEN_PARAM)
        *out = (count_value){.given = true, .is_param = true, .param = t->param};
    else if (t->kind == TOKEN_INT && t->integer >= 0)
        *out = (count_value){.given = true, .literal = t->integer};
    else
        return expected(p, what);
    p->at++;
    return FENEC_OK;
}

int parse_whole(parser *p, const char *what, int64_t *out)
{
    if (!at(p, TOKEN_INT))
        return expected(p, what);
    *out = p->tokens[p->at++].integer;
    return FENEC_OK;
}

int parse_require(parser *p, bool *given, int64_t *out)
{
    if (!at(p, TOKEN_INT) || here(p)->integer < 0)
        return expected(p, "a number of rows");
    *given = true;
    return parse_whole(p, "a number of rows", out);
}

uint32_t clamped(int64_t n, uint32_t least)
{
    return n < (int64_t)least ? least : n > (int64_t)UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

int parse_name_list(parser *p, const char ***out, uint32_t *count)
{
    const char **names = NULL, *name;
    uint32_t n = 0;
    int code;

    do {
        if ((code = parse_name(p, "a field", &name)) != FENEC_OK)
            return code;
        if ((code = ADD_ITEM(p, names, n, name)) != FENEC_OK)
            return code;
    } while (take(p, TOKEN_COMMA));
    *out = names;
    *count = n;
    return FENEC_OK;
}

static int parse_describe(parser *p, stmt *s)
{
    s->kind = STMT_DESCRIBE;
    return parse_name(p, "a collection", &s->collection);
}

/* The next word is its collection, whatever it is: a statement ends where it can take no more. */
static int parse_compact(parser *p, stmt *s)
{
    s->kind = STMT_COMPACT;
    return at(p, TOKEN_NAME) ? parse_name(p, "a collection", &s->collection) : FENEC_OK;
}

static int parse_select(parser *p, stmt *s, stmt_kind kind)
{
    s->kind = kind;
    int code = parse_get(p, &s->select);
    if (code == FENEC_OK)
        s->collection = s->select->collection;
    return code;
}

static int parse_statement(parser *p, stmt *s)
{
    if (at_word(p, "get") || at_word(p, "select"))
        return parse_select(p, s, STMT_SELECT);
    if (take_word(p, "put"))
        return parse_put(p, s);
    if (take_word(p, "insert")) {
        s->insert = true;
        return parse_put(p, s);
    }
    if (take_word(p, "set") || take_word(p, "update"))
        return parse_update(p, s);
    if (take_word(p, "del") || take_word(p, "delete"))
        return parse_delete(p, s);
    if (take_word(p, "create"))
        return parse_create(p, s);
    if (take_word(p, "drop"))
        return parse_drop(p, s);
    if (take_word(p, "alter"))
        return parse_alter(p, s);
    if (take_word(p, "describe"))
        return parse_describe(p, s);
    if (take_word(p, "compact"))
        return parse_compact(p, s);
    if (take_word(p, "collections")) {
        s->kind = STMT_COLLECTIONS;
        return FENEC_OK;
    }
    if (take_word(p, "explain")) {
        if (!at_word(p, "get") && !at_word(p, "select"))
            return expected(p, "`get` or `select` after `explain`");
        return parse_select(p, s, STMT_EXPLAIN);
    }
    return expected(p, "a clause of this statement or another statement");
}

static void parser_open(parser *p, const uint8_t *text, const tokens *cut, arena *a, error *err)
{
    *p = (parser){.text = text, .tokens = cut->items, .a = a, .err = err};
    buffer_init(&p->packed);
}

static void parser_close(parser *p)
{
    buffer_clear(&p->packed);
    memory_free(p->members);
}

static int parse_statements(parser *p, size_t len, parsed *out)
{
    while (!at(p, TOKEN_END)) {
        stmt s = {.start = here(p)->start};
        int code = parse_statement(p, &s);

        if (code != FENEC_OK)
            return code;
        s.end = at(p, TOKEN_END) ? (uint32_t)len : here(p)->start;
        out->only_reads = out->only_reads && stmt_is_read(&s);
        out->has_compact = out->has_compact || s.kind == STMT_COMPACT;
        if ((code = ADD_ITEM(p, out->stmts, out->stmt_count, s)) != FENEC_OK)
            return code;
    }
    return FENEC_OK;
}

int parse_text(const uint8_t *text, size_t len, parsed *out, error *err)
{
    parsed made = {.only_reads = true};
    tokens cut;
    parser p;
    int code = tokens_read(text, len, &cut, err);

    if (code != FENEC_OK)
        return code;
    made.param_count = cut.param_count;
    arena_init(&made.memory);
    parser_open(&p, text, &cut, &made.memory, err);
    code = parse_statements(&p, len, &made);
    parser_close(&p);
    tokens_clear(&cut);
    if (code != FENEC_OK) {
        arena_clear(&made.memory);
        return code;
    }
    *out = made;
    return FENEC_OK;
}

void parsed_clear(parsed *p)
{
    arena_clear(&p->memory);
    *p = (parsed){0};
}

/* Runs `part` over the whole text. */
static int parse_part(const uint8_t *text, size_t len, arena *a, int (*part)(parser *p, void *out), void *out,
                      error *err)
{
    tokens cut;
    parser p;
    int code = tokens_read(text, len, &cut, err);

    if (code != FENEC_OK)
        return code;
    parser_open(&p, text, &cut, a, err);
    code = part(&p, out);
    if (code == FENEC_OK && !at(&p, TOKEN_END))
        code = expected(&p, "the end of the text");
    parser_close(&p);
    tokens_clear(&cut);
    return code;
}

static int list_part(parser *p, void *out)
{
    return parse_list(p, out);
}

int parse_select_list(const uint8_t *text, size_t len, arena *a, select_stmt *out, error *err)
{
    select_stmt made = {.select_all = true};
    int code = parse_part(text, len, a, list_part, &made, err);

    if (code == FENEC_OK)
        *out = made;
    return code;
}

typedef struct part_items {
    void *items;
    uint32_t count;
} part_items;

static int group_part(parser *p, void *out)
{
    part_items *made = out;
    group_key *keys = NULL;
    int code = parse_groups(p, &keys, &made->count);

    made->items = keys;
    return code;
}

int parse_group_list(const uint8_t *text, size_t len, arena *a, group_key **out, uint32_t *count, error *err)
{
    part_items made = {0};
    int code = parse_part(text, len, a, group_part, &made, err);

    if (code == FENEC_OK) {
        *out = made.items;
        *count = made.count;
    }
    return code;
}

static int facet_part(parser *p, void *out)
{
    part_items *made = out;
    facet *facets = NULL;
    int code = parse_facets(p, &facets, &made->count);

    made->items = facets;
    return code;
}

int parse_facet_list(const uint8_t *text, size_t len, arena *a, facet **out, uint32_t *count, error *err)
{
    part_items made = {0};
    int code = parse_part(text, len, a, facet_part, &made, err);

    if (code == FENEC_OK) {
        *out = made.items;
        *count = made.count;
    }
    return code;
}
