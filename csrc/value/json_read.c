#include "value/json.h"

#include "base/utf8.h"
#include "value/coerce.h"
#include "value/json_run.h"
#include "value/number.h"
#include "value/packed.h"

/* A member of an object that is being read; offsets are those of parser.built. */
typedef struct member {
    size_t start, len; /* packed key and value; len is set when the object ends */
    size_t key, key_len;
} member;

typedef struct frame {
    size_t mark;    /* packed_begin's */
    size_t members; /* bytes of parser.members before those of this object */
    uint32_t count;
    bool object, unsorted;
} frame;

typedef struct parser {
    const uint8_t *start, *at, *end;
    buffer built;   /* packed bytes of the containers that are open */
    buffer members; /* member[] of the objects that are open */
    buffer scratch; /* a text without its escapes; members in order */
    frame frames[JSON_DEPTH_MAX];
    unsigned depth;
    arena *arena;
    error *err;
} parser;

static void parser_init(parser *p, const uint8_t *text, size_t len, arena *a, error *err)
{
    p->start = p->at = text;
    p->end = len ? text + len : text;
    p->arena = a;
    p->err = err;
    p->depth = 0;
    buffer_init(&p->built);
    buffer_init(&p->members);
    buffer_init(&p->scratch);
}

static void parser_clear(parser *p)
{
    buffer_clear(&p->built);
    buffer_clear(&p->members);
    buffer_clear(&p->scratch);
}

static int refuse(parser *p, const char *what)
{
    return fail(p->err, FENEC_QUERY, "JSON, position %zu: %s",
                utf8_count(p->start, (size_t)(p->at - p->start)), what);
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

static bool next_is(const parser *p, char c)
{
    return p->at < p->end && *p->at == c;
}

/* ---- scalars ---- */

static bool take_word(parser *p, const char *word, size_t len)
{
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len))
        return false;
    p->at += len;
    return true;
}

static bool take_digits(parser *p)
{
    const uint8_t *first = p->at;

    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return p->at > first;
}

static int read_number(parser *p, value *out)
{
    const char *first = (const char *)p->at;
    bool whole = true;
    int64_t i;
    double f;

    if (next_is(p, '-'))
        p->at++;
    if (next_is(p, '0'))
        p->at++;
    else if (!take_digits(p))
        return refuse(p, "a digit is expected");
    if (next_is(p, '.')) {
        whole = false;
        p->at++;
        if (!take_digits(p))
            return refuse(p, "a digit is expected");
    }
    if (next_is(p, 'e') || next_is(p, 'E')) {
        whole = false;
        p->at++;
        if (next_is(p, '+') || next_is(p, '-'))
            p->at++;
        if (!take_digits(p))
            return refuse(p, "a digit is expected");
    }
    size_t len = (size_t)((const char *)p->at - first);
    if (whole && number_read_int(first, len, &i))
        *out = value_int(i);
    else if (number_read(first, len, &f))
        *out = value_float(f);
    else
        return refuse(p, "a number too large for a double");
    return FENEC_OK;
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four hex digits at p->at as a number, moved past; -1 where there are none. */
static int32_t take_hex(parser *p)
{
    int32_t unit = 0;

    if (p->end - p->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p->at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    p->at += 4;
    return unit;
}

/* After "\u": the character meant, a pair of surrogates taken together. */
static int read_code(parser *p, uint32_t *character)
{
    int32_t unit = take_hex(p);

    if (unit < 0)
        return refuse(p, "four hexadecimal digits are expected");
    *character = (uint32_t)unit;
    if (unit < 0xD800 || unit > 0xDFFF)
        return FENEC_OK;
    *character = UTF8_REPLACEMENT;
    if (unit > 0xDBFF || p->end - p->at < 6 || p->at[0] != '\\' || p->at[1] != 'u')
        return FENEC_OK;
    const uint8_t *second = p->at;
    p->at += 2;
    int32_t low = take_hex(p);
    if (low < 0xDC00 || low > 0xDFFF)
        p->at = second; /* stands for itself */
    else
        *character = 0x10000 + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
    return FENEC_OK;
}

/* A string with escapes, from its first byte on, into p->scratch and *out. */
static int read_escaped(parser *p, value *out)
{
    p->scratch.len = 0;
    for (;;) {
        size_t run = json_run(p->at, (size_t)(p->end - p->at));
        buffer_put(&p->scratch, p->at, run);
        p->at += run;
        if (p->at == p->end)
            return refuse(p, "a string without an end");
        if (*p->at < 0x20)
            return refuse(p, "a control character in a string");
        if (*p->at++ == '"')
            break;
        uint8_t c = p->at < p->end ? *p->at++ : 0, bytes[4];
        uint32_t character = 0;
        switch (c) {
        case '"':
        case '\\':
        case '/': buffer_byte(&p->scratch, c); break;
        case 'b': buffer_byte(&p->scratch, '\b'); break;
        case 'f': buffer_byte(&p->scratch, '\f'); break;
        case 'n': buffer_byte(&p->scratch, '\n'); break;
        case 'r': buffer_byte(&p->scratch, '\r'); break;
        case 't': buffer_byte(&p->scratch, '\t'); break;
        case 'u': {
            int code = read_code(p, &character);
            if (code != FENEC_OK)
                return code;
            buffer_put(&p->scratch, bytes, utf8_write(bytes, character));
            break;
        }
        default: p->at--; return refuse(p, "an unknown escape in a string");
        }
    }
    if (p->scratch.failed)
        return fail_memory(p->err);
    *out = value_text(p->scratch.bytes, p->scratch.len);
    return FENEC_OK;
}

/* The string at p->at. Without escapes it borrows the text, with some p->scratch: *escaped tells. */
static int read_string(parser *p, value *out, bool *escaped)
{
    const uint8_t *first = ++p->at;
    size_t run = json_run(first, (size_t)(p->end - first));

    *escaped = first + run < p->end && first[run] == '\\';
    if (*escaped)
        return read_escaped(p, out);
    p->at = first + run;
    if (p->at == p->end)
        return refuse(p, "a string without an end");
    if (*p->at != '"')
        return refuse(p, "a control character in a string");
    p->at++;
    *out = value_text(first, run);
    return FENEC_OK;
}

/* What is no container at p->at. Text may borrow p->scratch. */
static int read_scalar(parser *p, value *out, bool *escaped)
{
    *escaped = false;
    if (p->at == p->end)
        return refuse(p, "a value is expected");
    switch (*p->at) {
    case '"': return read_string(p, out, escaped);
    case 'n':
        *out = value_null();
        if (take_word(p, "null", 4))
            return FENEC_OK;
        break;
    case 't':
        *out = value_bool(true);
        if (take_word(p, "true", 4))
            return FENEC_OK;
        break;
    case 'f':
        *out = value_bool(false);
        if (take_word(p, "false", 5))
            return FENEC_OK;
        break;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return read_number(p, out);
    }
    return refuse(p, "a value is expected");
}

/* ---- objects ---- */

static int compare_keys(const uint8_t *built, const member *a, const member *b)
{
    size_t len = a->key_len < b->key_len ? a->key_len : b->key_len;
    int order = len ? memcmp(built + a->key, built + b->key, len) : 0;

    return order ? order : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static int refuse_twice(parser *p, const member *m)
{
    char quoted[VALUE_QUOTE_MAX];
    value key = value_text(p->built.bytes + m->key, m->key_len);

    return fail(p->err, FENEC_QUERY, "JSON, position %zu: the key %s is given twice in an object",
                utf8_count(p->start, (size_t)(p->at - p->start)), value_quote(quoted, &key));
}

/* A key and its colon. */
static int read_key(parser *p)
{
    frame *f = &p->frames[p->depth - 1];
    member m = {.start = p->built.len};
    bool escaped;
    value key;

    if (!next_is(p, '"'))
        return refuse(p, "a key in quotes is expected");
    int code = read_string(p, &key, &escaped);
    if (code != FENEC_OK)
        return code;
    packed_put(&p->built, &key);
    if (p->built.failed)
        return fail_memory(p->err);
    m.key_len = key.len;
    m.key = p->built.len - key.len;
    if (f->count > 0 && !f->unsorted) {
        member before;
        memcpy(&before, p->members.bytes + p->members.len - sizeof before, sizeof before);
        int order = compare_keys(p->built.bytes, &before, &m);
        if (order == 0)
            return refuse_twice(p, &m);
        f->unsorted = order > 0;
    }
    buffer_put(&p->members, &m, sizeof m);
    if (p->members.failed)
        return fail_memory(p->err);
    skip_space(p);
    if (!next_is(p, ':'))
        return refuse(p, "a colon is expected");
    p->at++;
    return FENEC_OK;
}

static void sift_down(const uint8_t *built, member *m, size_t at, size_t count)
{
    member moved = m[at];

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare_keys(built, &m[child], &m[child + 1]) < 0)
            child++;
        if (compare_keys(built, &moved, &m[child]) >= 0)
            break;
        m[at] = m[child];
    }
    m[at] = moved;
}

/* Few by insertion, many by a heap: qsort may allocate, and take n^2 steps for keys chosen to that end. */
static void sort_members(const uint8_t *built, member *m, size_t count)
{
    if (count <= 16) {
        for (size_t i = 1; i < count; i++) {
            member moved = m[i];
            size_t at = i;
            for (; at > 0 && compare_keys(built, &m[at - 1], &moved) > 0; at--)
                m[at] = m[at - 1];
            m[at] = moved;
        }
        return;
    }
    for (size_t i = count / 2; i-- > 0;)
        sift_down(built, m, i, count);
    for (size_t i = count; i-- > 1;) {
        member last = m[i];
        m[i] = m[0];
        m[0] = last;
        sift_down(built, m, 0, i);
    }
}

/* Puts the members of the innermost object in order of their keys. */
static int order_members(parser *p, const frame *f)
{
    member *m = (member *)(void *)(p->members.bytes + f->members);
    size_t start = m[0].start;

    for (uint32_t i = 0; i < f->count; i++)
        m[i].len = (i + 1 < f->count ? m[i + 1].start : p->built.len) - m[i].start;
    sort_members(p->built.bytes, m, f->count);
    p->scratch.len = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (i > 0 && compare_keys(p->built.bytes, &m[i - 1], &m[i]) == 0)
            return refuse_twice(p, &m[i]);
        buffer_put(&p->scratch, p->built.bytes + m[i].start, m[i].len);
    }
    if (p->scratch.failed)
        return fail_memory(p->err);
    memcpy(p->built.bytes + start, p->scratch.bytes, p->scratch.len);
    return FENEC_OK;
}

/* ---- containers ---- */

static int open_container(parser *p)
{
    if (p->depth == JSON_DEPTH_MAX)
        return refuse(p, "lists and objects nest more than 64 deep");
    bool object = *p->at++ == '{';
    p->frames[p->depth++] = (frame){.mark = packed_begin(&p->built, object ? VALUE_OBJECT : VALUE_LIST),
                                    .members = p->members.len,
                                    .object = object};
    return FENEC_OK;
}

static int close_container(parser *p)
{
    frame *f = &p->frames[p->depth - 1];

    if (p->built.failed)
        return fail_memory(p->err);
    if (f->unsorted) {
        int code = order_members(p, f);
        if (code != FENEC_OK)
            return code;
    }
    p->members.len = f->members;
    packed_end(&p->built, f->mark, f->count);
    p->depth--;
    return p->built.failed ? fail_memory(p->err) : FENEC_OK;
}

/* p->built, one container, as a value of the arena. */
static int take_built(parser *p, value *out)
{
    const uint8_t *bytes = arena_copy(p->arena, p->built.bytes, p->built.len);

    return bytes ? packed_read(&bytes, bytes + p->built.len, p->arena, out, p->err) : fail_memory(p->err);
}

/* The list or object at p->at, straight into packed bytes, by a stack of frames. */
static int read_container(parser *p, value *out)
{
    int code = FENEC_OK;
    bool escaped;
    value v;

    p->built.len = 0;
    do {
        /* A value is due. */
        skip_space(p);
        bool opens = next_is(p, '[') || next_is(p, '{');
        if (opens) {
            code = open_container(p);
            if (code != FENEC_OK)
                return code;
            skip_space(p);
        } else {
            code = read_scalar(p, &v, &escaped);
            if (code != FENEC_OK)
                return code;
            packed_put(&p->built, &v);
        }
        /* After a value, or right after a bracket: what ends here? */
        while (p->depth > 0) {
            frame *f = &p->frames[p->depth - 1];
            if (!opens) {
                f->count++;
                skip_space(p);
            }
            if (next_is(p, f->object ? '}' : ']')) {
                p->at++;
                code = close_container(p);
                if (code != FENEC_OK)
                    return code;
                opens = false;
                continue;
            }
            if (!opens) {
                if (!next_is(p, ','))
                    return refuse(p, f->object ? "a comma or } is expected" : "a comma or ] is expected");
                p->at++;
                skip_space(p);
            }
            if (f->object)
                code = read_key(p);
            if (code != FENEC_OK)
                return code;
            break;
        }
    } while (p->depth > 0);
    return take_built(p, out);
}

/* The value at p->at into the arena, or borrowing the text. */
static int read_value(parser *p, value *out)
{
    bool escaped;

    if (next_is(p, '[') || next_is(p, '{'))
        return read_container(p, out);
    int code = read_scalar(p, out, &escaped);
    if (code == FENEC_OK && escaped) {
        out->bytes = arena_copy(p->arena, out->bytes, out->len);
        if (!out->bytes)
            return fail_memory(p->err);
    }
    return code;
}

static int read_alone(parser *p, value *out)
{
    skip_space(p);
    int code = read_value(p, out);
    if (code != FENEC_OK)
        return code;
    skip_space(p);
    return p->at == p->end ? FENEC_OK : refuse(p, "something follows the value");
}

int json_read(const uint8_t *text, size_t len, arena *a, value *out, error *err)
{
    parser p;
    value v;

    parser_init(&p, text, len, a, err);
    int code = read_alone(&p, &v);
    parser_clear(&p);
    if (code == FENEC_OK)
        *out = v;
    return code;
}

/* The elements of the array at p->at into `values`. */
static int read_elements(parser *p, buffer *values, uint32_t *count)
{
    value v;

    if (!next_is(p, '['))
        return refuse(p, "the parameters are no JSON array");
    p->at++;
    skip_space(p);
    if (next_is(p, ']')) {
        p->at++;
    } else {
        for (;;) {
            skip_space(p);
            int code = read_value(p, &v);
            if (code != FENEC_OK)
                return code;
            buffer_put(values, &v, sizeof v);
            if (values->failed || *count == UINT32_MAX)
                return fail_memory(p->err);
            ++*count;
            skip_space(p);
            if (next_is(p, ']'))
                break;
            if (!next_is(p, ','))
                return refuse(p, "a comma or ] is expected");
            p->at++;
        }
        p->at++;
    }
    skip_space(p);
    return p->at == p->end ? FENEC_OK : refuse(p, "something follows the parameters");
}

int json_read_params(const uint8_t *text, size_t len, arena *a, value **out, uint32_t *count, error *err)
{
    parser p;
    buffer values;
    uint32_t found = 0;
    value *copy = NULL;
    int code = FENEC_OK;

    parser_init(&p, text, len, a, err);
    buffer_init(&values);
    skip_space(&p);
    if (p.at < p.end)
        code = read_elements(&p, &values, &found);
    if (code == FENEC_OK && found > 0) {
        copy = arena_copy(a, values.bytes, values.len);
        if (!copy)
            code = fail_memory(err);
    }
    if (code == FENEC_OK) {
        *out = copy;
        *count = found;
    }
    buffer_clear(&values);
    parser_clear(&p);
    return code;
}
