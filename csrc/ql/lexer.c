#include "ql/lexer.h"

#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "value/number.h"

typedef struct lexer {
    const uint8_t *text, *at, *end;
    tokens *out;
    size_t cap;
    error *err;
} lexer;

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static int refuse(lexer *l, const uint8_t *where, const char *what)
{
    return fail(l->err, FENEC_QUERY,
                "position %zu: %s", utf8_count(l->text, (size_t)(where - l->text)), what);
}

static int unexpected(lexer *l)
{
    const uint8_t *next = l->at;

    utf8_next(&next, l->end);
    return fail(l->err, FENEC_QUERY, "position %zu: expected a word, a value or punctuation, found `%.*s`",
                utf8_count(l->text, (size_t)(l->at - l->text)), (int)(next - l->at), (const char *)l->at);
}

static int add(lexer *l, const token *t)
{
    tokens *out = l->out;

    if (out->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 32;
        token *items = memory_resize(out->items, cap * sizeof *items);
        if (!items)
            return fail_memory(l->err);
        out->items = items;
        l->cap = cap;
    }
    out->items[out->count++] = *t;
    return FENEC_OK;
}

/* Adds a token that runs from `start` to where the lexer stands. */
static int add_from(lexer *l, const uint8_t *start, token t)
{
    t.start = (uint32_t)(start - l->text);
    t.end = (uint32_t)(l->at - l->text);
    return add(l, &t);
}

/* Past white space, semicolons and comments. */
static void skip_space(lexer *l)
{
    while (l->at < l->end) {
        uint8_t byte = *l->at;

        if (byte == '#' || (byte == '-' && l->end - l->at > 1 && l->at[1] == '-')) {
            const uint8_t *line = memchr(l->at, '\n', (size_t)(l->end - l->at));
            l->at = line ? line : l->end;
        } else if (byte == ' ' || byte == ';' || (byte >= '\t' && byte <= '\r')) {
            l->at++;
        } else if (byte >= 0x80) {
            const uint8_t *next = l->at;
            if (!unicode_is_space(utf8_next(&next, l->end)))
                return;
            l->at = next;
        } else {
            return;
        }
    }
}

static bool ascii_name_start(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool name_starts(const uint8_t *at, const uint8_t *end)
{
    if (at == end)
        return false;
    return *at < 0x80 ? ascii_name_start(*at) : unicode_is_name_start(utf8_next(&at, end));
}

static void skip_name(lexer *l)
{
    while (l->at < l->end) {
        const uint8_t *next = l->at;

        if (*next < 0x80) {
            if (!ascii_name_start(*next) && !is_digit(*next))
                return;
            l->at++;
        } else {
            if (!unicode_is_name_part(utf8_next(&next, l->end)))
                return;
            l->at = next;
        }
    }
}

static int read_name(lexer *l)
{
    const uint8_t *start = l->at;
    uint32_t parts = 1;

    skip_name(l);
    while (l->at < l->end && *l->at == '.' && name_starts(l->at + 1, l->end)) {
        l->at++;
        skip_name(l);
        parts++;
    }
    return add_from(l, start, (token){.kind = TOKEN_NAME, .parts = parts});
}

static void skip_digits(lexer *l)
{
    while (l->at < l->end && is_digit(*l->at))
        l->at++;
}

/* The digits without `_` into 64 bits. */
static bool read_integer(const uint8_t *at, const uint8_t *end, int64_t *out)
{
    bool negative = *at == '-';
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, n = 0;

    for (at += negative; at < end; at++) {
        if (*at == '_')
            continue;
        uint64_t digit = (uint64_t)(*at - '0');
        if (n > (most - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

/* Where `_` stands between the digits, a copy without it is read. */
static int read_float(lexer *l, const uint8_t *start, double *out)
{
    size_t len = (size_t)(l->at - start), kept = 0;
    const char *text = (const char *)start;
    char *copy = NULL;

    if (memchr(start, '_', len)) {
        copy = memory_alloc(len);
        if (!copy)
            return fail_memory(l->err);
        for (size_t i = 0; i < len; i++)
            if (start[i] != '_')
                copy[kept++] = text[i];
        text = copy;
        len = kept;
    }
    bool finite = number_read(text, len, out);
    memory_free(copy);
    return finite ? FENEC_OK : refuse(l, start, "expected a number of 64 bits, found a larger one");
}

static int read_number(lexer *l)
{
    const uint8_t *start = l->at;
    token t = {.kind = TOKEN_INT};

    if (*l->at == '-')
        l->at++;
    while (l->at < l->end && (is_digit(*l->at) || *l->at == '_'))
        l->at++;
    if (l->end - l->at > 1 && *l->at == '.' && is_digit(l->at[1])) {
        t.kind = TOKEN_FLOAT;
        l->at++;
        skip_digits(l);
    }
    if (l->at < l->end && (*l->at == 'e' || *l->at == 'E')) {
        t.kind = TOKEN_FLOAT;
        l->at++;
        if (l->at < l->end && (*l->at == '+' || *l->at == '-'))
            l->at++;
        if (l->at == l->end || !is_digit(*l->at))
            return refuse(l, start, "expected the digits of an exponent, found none");
        skip_digits(l);
    }
    if (t.kind == TOKEN_FLOAT) {
        int code = read_float(l, start, &t.number);
        if (code != FENEC_OK)
            return code;
    } else if (!read_integer(start, l->at, &t.integer)) {
        return refuse(l, start, "expected an int of 64 bits, found a larger one");
    }
    return add_from(l, start, t);
}

static int read_string(lexer *l)
{
    const uint8_t *start = l->at;
    token t = {.kind = TOKEN_STRING};

    for (l->at++; l->at < l->end; l->at++) {
        if (*l->at == *start) {
            l->at++;
            return add_from(l, start, t);
        }
        if (*l->at == '\\') {
            t.escaped = true;
            if (++l->at == l->end)
                break;
        }
    }
    return refuse(l, start, "expected a string with its closing quote, found the end of the text");
}

static int read_param(lexer *l)
{
    const uint8_t *start = l->at++;
    uint64_t n = 0;

    while (l->at < l->end && is_digit(*l->at) && n <= UINT32_MAX)
        n = n * 10 + (uint64_t)(*l->at++ - '0');
    if (n == 0 || n > UINT32_MAX)
        return refuse(l, start, "expected a parameter from $1 on, found another number or none");
    if (n > l->out->param_count)
        l->out->param_count = (uint32_t)n;
    return add_from(l, start, (token){.kind = TOKEN_PARAM, .param = (uint32_t)(n - 1)});
}

/* Whether a `-` before a digit subtracts: a value may end here. */
static bool after_value(const tokens *t)
{
    if (t->count == 0)
        return false;
    switch (t->items[t->count - 1].kind) {
    case TOKEN_NAME:
    case TOKEN_STRING:
    case TOKEN_INT:
    case TOKEN_FLOAT:
    case TOKEN_PARAM:
    case TOKEN_PAREN_CLOSE:
    case TOKEN_BRACKET_CLOSE: return true;
    default: return false;
    }
}

static int read_punctuation(lexer *l)
{
    const uint8_t *start = l->at;
    uint8_t next = l->end - l->at > 1 ? l->at[1] : 0;
    token t = {0};
    int len = 1;

    switch (*start) {
    case '{': t.kind = TOKEN_BRACE_OPEN; break;
    case '}': t.kind = TOKEN_BRACE_CLOSE; break;
    case '(': t.kind = TOKEN_PAREN_OPEN; break;
    case ')': t.kind = TOKEN_PAREN_CLOSE; break;
    case '[': t.kind = TOKEN_BRACKET_OPEN; break;
    case ']': t.kind = TOKEN_BRACKET_CLOSE; break;
    case ',': t.kind = TOKEN_COMMA; break;
    case ':': t.kind = TOKEN_COLON; break;
    case '@': t.kind = TOKEN_AT; break;
    case '*': t.kind = TOKEN_STAR; break;
    case '+': t.kind = TOKEN_PLUS; break;
    case '-': t.kind = TOKEN_MINUS; break;
    case '/': t.kind = TOKEN_SLASH; break;
    case '~': t.kind = TOKEN_TILDE; break;
    case '<':
        t.kind = next == '=' ? TOKEN_LESS_EQUAL : next == '>' ? TOKEN_NOT_EQUAL : TOKEN_LESS;
        len = t.kind == TOKEN_LESS ? 1 : 2;
        break;
    case '>':
        t.kind = next == '=' ? TOKEN_GREATER_EQUAL : TOKEN_GREATER;
        len = t.kind == TOKEN_GREATER ? 1 : 2;
        break;
    case '=':
        t.kind = TOKEN_EQUAL;
        len = next == '=' ? 2 : 1;
        break;
    case '!':
        if (next != '=')
            return unexpected(l);
        t.kind = TOKEN_NOT_EQUAL;
        len = 2;
        break;
    default: return unexpected(l);
    }
    l->at += len;
    return add_from(l, start, t);
}

static int read_token(lexer *l)
{
    uint8_t byte = *l->at;

    if (name_starts(l->at, l->end))
        return read_name(l);
    if (is_digit(byte))
        return read_number(l);
    if (byte == '-' && l->end - l->at > 1 && is_digit(l->at[1]) && !after_value(l->out))
        return read_number(l);
    if (byte == '"' || byte == '\'')
        return read_string(l);
    if (byte == '$')
        return read_param(l);
    return read_punctuation(l);
}

int tokens_read(const uint8_t *text, size_t len, tokens *out, error *err)
{
    tokens made = {0};
    lexer l = {.text = text, .at = text, .end = text + len, .out = &made, .err = err};
    int code = FENEC_OK;

    if (len >= UINT32_MAX)
        return fail(err, FENEC_QUERY, "position 0: expected a text below 4 GiB, found %zu bytes", len);
    for (skip_space(&l); code == FENEC_OK && l.at < l.end; skip_space(&l))
        code = read_token(&l);
    if (code == FENEC_OK)
        code = add_from(&l, l.at, (token){.kind = TOKEN_END});
    if (code != FENEC_OK) {
        tokens_clear(&made);
        return code;
    }
    *out = made;
    return FENEC_OK;
}

void tokens_clear(tokens *t)
{
    memory_free(t->items);
    *t = (tokens){0};
}
