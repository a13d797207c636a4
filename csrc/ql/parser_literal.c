/* List and object literals (chapter 1 section 1.10): constants alone, packed as they are read. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ql/parsing.h"
#include "value/packed.h"

static int pack_container(parser *p);

static bool ends_element(const token *t)
{
    return t->kind == TOKEN_COMMA || t->kind == TOKEN_BRACKET_CLOSE || t->kind == TOKEN_BRACE_CLOSE;
}

bool plain_value(const parser *p, value *out)
{
    const token *t = here(p);

    if (t->kind == TOKEN_INT)
        *out = value_int(t->integer);
    else if (t->kind == TOKEN_FLOAT)
        *out = value_float(t->number);
    else if (at_word(p, "null"))
        *out = value_null();
    else if (at_word(p, "true") || at_word(p, "false"))
        *out = value_bool(at_word(p, "true"));
    else
        return false;
    return true;
}

static bool constant_here(const parser *p, value *out)
{
    const token *t = here(p);

    if (t->kind != TOKEN_STRING || t->escaped)
        return plain_value(p, out);
    *out = value_text(p->text + t->start + 1, t->end - t->start - 2);
    return true;
}

static int pack_element(parser *p)
{
    const token *t = here(p);
    arena_mark before;
    value v;
    int code;

    if (t->kind == TOKEN_BRACKET_OPEN || t->kind == TOKEN_BRACE_OPEN) {
        if ((code = deeper(p, 1)) != FENEC_OK)
            return code;
        code = pack_container(p);
        p->depth--;
        return code;
    }
    /* The common elements make no node. */
    if (t->kind != TOKEN_END && ends_element(t + 1) && p->depth < EXPR_DEPTH_MAX && constant_here(p, &v)) {
        packed_put(&p->packed, &v);
        p->at++;
        return FENEC_OK;
    }
    size_t place = p->at;
    expr *e;
    before = arena_here(p->a);
    if ((code = parse_expr(p, &e)) != FENEC_OK)
        return code;
    if (e->kind != EXPR_LITERAL)
        return refuse_at(p, place, FENEC_QUERY, "expected a constant, found an expression inside a literal");
    packed_put(&p->packed, &e->literal);
    arena_rewind(p->a, before);
    return FENEC_OK;
}

static int pack_list(parser *p)
{
    size_t begun = packed_begin(&p->packed, VALUE_LIST);
    uint32_t count = 0;
    int code;

    p->at++;
    while (!at(p, TOKEN_BRACKET_CLOSE)) {
        if ((code = pack_element(p)) != FENEC_OK)
            return code;
        count++;
        if (!take(p, TOKEN_COMMA))
            break;
    }
    packed_end(&p->packed, begun, count);
    return expect(p, TOKEN_BRACKET_CLOSE, "`,` or `]`");
}

static int member_order(const void *a, const void *b)
{
    const member *x = a, *y = b;
    size_t len = x->key_len < y->key_len ? x->key_len : y->key_len;
    int order = len ? memcmp(x->key, y->key, len) : 0;

    if (order == 0 && x->key_len != y->key_len)
        order = x->key_len < y->key_len ? -1 : 1;
    return order;
}

/* By key, then as written: of two of one key the later one is the fault. */
static int member_and_place_order(const void *a, const void *b)
{
    int order = member_order(a, b);
    size_t x = ((const member *)a)->place, y = ((const member *)b)->place;

    return order ? order : x < y ? -1 : x > y;
}

/* Brings the members members[0..count) of the object whose first member stands at `start` in p->packed
 * into the order of their keys. */
static int sort_members(parser *p, member *members, size_t count, size_t start)
{
    bool ordered = true;

    for (size_t i = 1; ordered && i < count; i++)
        ordered = member_order(&members[i - 1], &members[i]) < 0;
    if (ordered || p->packed.failed)
        return FENEC_OK;
    qsort(members, count, sizeof *members, member_and_place_order);
    for (size_t i = 1; i < count; i++)
        if (member_order(&members[i - 1], &members[i]) == 0)
            return refuse_at(p, members[i].place, FENEC_QUERY,
                             "expected keys of their own, found one given twice");
    size_t len = p->packed.len - start;
    uint8_t *copy = memory_alloc(len);
    if (!copy)
        return no_memory(p);
    memcpy(copy, p->packed.bytes + start, len);
    p->packed.len = start;
    for (size_t i = 0; i < count; i++)
        buffer_put(&p->packed, copy + (members[i].start - start), members[i].end - members[i].start);
    memory_free(copy);
    return FENEC_OK;
}

static int add_member(parser *p, const member *m)
{
    if (p->member_count == p->member_cap) {
        size_t cap = p->member_cap ? p->member_cap * 2 : 16;
        member *members = memory_resize(p->members, cap * sizeof *members);
        if (!members)
            return no_memory(p);
        p->members = members;
        p->member_cap = cap;
    }
    p->members[p->member_count++] = *m;
    return FENEC_OK;
}

static int pack_member(parser *p)
{
    const token *t = here(p);
    member m = {.place = p->at, .start = p->packed.len};
    int code;

    if (t->kind == TOKEN_NAME) {
        m.key = p->text + t->start;
        m.key_len = t->end - t->start;
    } else if (t->kind == TOKEN_STRING) {
        if ((code = string_of(p, t, &m.key, &m.key_len)) != FENEC_OK)
            return code;
    } else {
        return expected(p, "a key or `}`");
    }
    p->at++;
    if ((code = expect(p, TOKEN_COLON, "`:`")) != FENEC_OK)
        return code;
    value key = value_text(m.key, m.key_len);
    packed_put(&p->packed, &key);
    if ((code = pack_element(p)) != FENEC_OK)
        return code;
    m.end = p->packed.len;
    return add_member(p, &m);
}

static int pack_object(parser *p)
{
    size_t begun = packed_begin(&p->packed, VALUE_OBJECT), start = p->packed.len, first = p->member_count;
    int code;

    p->at++;
    while (!at(p, TOKEN_BRACE_CLOSE)) {
        if ((code = pack_member(p)) != FENEC_OK)
            return code;
        if (!take(p, TOKEN_COMMA))
            break;
    }
    if ((code = expect(p, TOKEN_BRACE_CLOSE, "`,` or `}`")) != FENEC_OK)
        return code;
    size_t count = p->member_count - first;
    if (count && (code = sort_members(p, p->members + first, count, start)) != FENEC_OK)
        return code;
    p->member_count = first;
    packed_end(&p->packed, begun, (uint32_t)count);
    return FENEC_OK;
}

static int pack_container(parser *p)
{
    return at(p, TOKEN_BRACKET_OPEN) ? pack_list(p) : pack_object(p);
}

int parse_container(parser *p, value *out)
{
    size_t start = p->packed.len;
    int code = pack_container(p);

    if (code != FENEC_OK)
        return code;
    if (p->packed.failed)
        return no_memory(p);
    size_t len = p->packed.len - start;
    const uint8_t *bytes = arena_copy(p->a, p->packed.bytes + start, len);
    p->packed.len = start;
    if (!bytes)
        return no_memory(p);
    const uint8_t *from = bytes;
    return packed_read(&from, bytes + len, NULL, out, p->err);
}
