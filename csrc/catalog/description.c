#include "catalog/description.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef FENEC_OWN_CJSON
#include "cJSON.h"
#else
#include <cjson/cJSON.h>
#endif

#include "base/unicode.h"
#include "base/utf8.h"
#include "catalog/change.h"
#include "ql/lexer.h"
#include "ql/names.h"
#include "value/json.h"
#include "value/number.h"

#define LISTS_MAX 512u /* around a type, as many as a statement takes */

/* cJSON makes the tree. It keeps numbers as doubles and ends a text at a U+0000, so both are set aside
 * before it reads, as values of ours: in the tree stands a number, the value's place in `scalars`. */
typedef struct reader {
    description *to;
    value *scalars; /* numbers and texts; a text has a NUL behind it */
    size_t scalar_count;
    const char *collection, *field; /* where it stands; NULL: nowhere yet */
    bool in_collection;
    error *err;
} reader;

static int refuse(reader *r, int code, const char *format, ...) FN_PRINTF(3, 4);

static int refuse(reader *r, int code, const char *format, ...)
{
    char why[ERROR_MESSAGE_MAX];
    const char *place = r->collection ? r->collection : r->in_collection ? "a collection" : "the description";
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    /* Of very long names their beginnings: the reason has room too. */
    if (r->field)
        return fail(r->err, code, "schema description: %.300s.%.300s: %s", place, r->field, why);
    return fail(r->err, code, "schema description: %.300s: %s", place, why);
}

/* ---- JSON ---- */

static bool is_number_byte(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* Past the string or the number that starts here, of a text that is JSON. */
static const uint8_t *skip_scalar(const uint8_t *at, const uint8_t *end)
{
    if (*at != '"') {
        while (at < end && is_number_byte(*at))
            at++;
        return at;
    }
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static bool is_key(const uint8_t *behind, const uint8_t *end)
{
    while (behind < end && (*behind == ' ' || *behind == '\n' || *behind == '\r' || *behind == '\t'))
        behind++;
    return behind < end && *behind == ':';
}

/* With U+FFFD for each U+0000, where cJSON would end it: no known member's key holds either. */
static void write_key(buffer *out, const value *key)
{
    buffer whole;

    buffer_init(&whole);
    for (size_t i = 0; i < key->len; i++) {
        if (key->bytes[i])
            buffer_byte(&whole, key->bytes[i]);
        else
            buffer_text(&whole, "\xEF\xBF\xBD");
    }
    out->failed = out->failed || whole.failed;
    if (!out->failed)
        json_write_text(out, whole.bytes, whole.len);
    buffer_clear(&whole);
}

static bool set_aside(reader *r, const value *v)
{
    size_t count = r->scalar_count;
    arena *a = &r->to->memory;

    if ((count & (count - 1)) == 0) { /* full at every power of two, and at 0 */
        value *more = arena_alloc(a, (count * 2 + 1) * sizeof *more);
        if (!more)
            return false;
        if (count)
            memcpy(more, r->scalars, count * sizeof *more);
        r->scalars = more;
    }
    r->scalars[count] = *v;
    if (v->kind == VALUE_TEXT && !(r->scalars[count].bytes = arena_copy(a, v->bytes, v->len)))
        return false;
    r->scalar_count++;
    return true;
}

/* Appends the text, which is JSON, with its numbers and texts set aside. */
static int set_scalars_aside(reader *r, const uint8_t *text, size_t len, buffer *out)
{
    const uint8_t *at = text, *end = text + len;
    value v;

    while (at < end) {
        const uint8_t *first = at;
        if (*at != '"' && *at != '-' && (*at < '0' || *at > '9')) {
            buffer_byte(out, *at++);
            continue;
        }
        at = skip_scalar(at, end);
        int rc = json_read(first, (size_t)(at - first), &r->to->memory, &v, r->err);
        if (rc != FENEC_OK)
            return rc;
        if (*first == '"' && is_key(at, end)) {
            write_key(out, &v);
        } else {
            if (*first == '-' && v.kind == VALUE_INT && v.integer == 0)
                v = value_float(-0.0); /* what has a sign is no whole number */
            if (!set_aside(r, &v))
                return fail_memory(r->err);
            buffer_printf(out, "%zu", r->scalar_count - 1);
        }
    }
    return out->failed ? fail_memory(r->err) : FENEC_OK;
}

/* The tree of the text, to be deleted on success alone. */
static int read_tree(reader *r, const uint8_t *text, size_t len, cJSON **out)
{
    buffer rest;
    error found;
    value whole;

    error_init(&found);
    int rc = json_read(text, len, &r->to->memory, &whole, &found);
    if (rc != FENEC_OK)
        return rc == FENEC_PANIC ? fail_memory(r->err) : refuse(r, FENEC_QUERY, "%s", found.message);
    buffer_init(&rest);
    rc = set_scalars_aside(r, text, len, &rest);
    if (rc == FENEC_OK) {
        /* What is JSON lacks nothing but memory. */
        *out = cJSON_ParseWithLength((const char *)rest.bytes, rest.len);
        if (!*out)
            rc = fail_memory(r->err);
    }
    buffer_clear(&rest);
    return rc;
}

/* The number or text of an item; NULL where it is neither or there is none. */
static const value *scalar(const reader *r, const cJSON *item)
{
    return item && cJSON_IsNumber(item) ? &r->scalars[(size_t)item->valuedouble] : NULL;
}

static const value *text_of(const reader *r, const cJSON *item)
{
    const value *v = scalar(r, item);

    return v && v->kind == VALUE_TEXT ? v : NULL;
}

/* A text without a U+0000, else NULL. */
static const char *word_of(const reader *r, const cJSON *item)
{
    const value *v = text_of(r, item);

    return v && !memchr(v->bytes, 0, v->len) ? (const char *)v->bytes : NULL;
}

/* The members of an object, each under one of the names; out[i] is NULL where there is none. */
static int take_members(reader *r, const cJSON *object, const char *what, const char *const known[],
                        const cJSON **out, size_t count)
{
    if (!cJSON_IsObject(object))
        return refuse(r, FENEC_QUERY, "%s is an object", what);
    for (size_t i = 0; i < count; i++)
        out[i] = NULL;
    for (const cJSON *m = object->child; m; m = m->next) {
        size_t i = 0;
        while (i < count && strcmp(known[i], m->string) != 0)
            i++;
        if (i == count)
            return refuse(r, FENEC_QUERY, "%s has no member `%s`", what, m->string);
        if (out[i])
            return refuse(r, FENEC_QUERY, "the member `%s` stands there twice", m->string);
        out[i] = m;
    }
    return FENEC_OK;
}

/* A list, or none: *first is its first item, *count how many. */
static int take_list(reader *r, const cJSON *item, const char *name, const cJSON **first, uint32_t *count)
{
    *first = NULL;
    *count = 0;
    if (!item || cJSON_IsNull(item))
        return FENEC_OK;
    if (!cJSON_IsArray(item))
        return refuse(r, FENEC_QUERY, "`%s` is a list", name);
    *first = item->child;
    for (const cJSON *i = item->child; i; i = i->next)
        ++*count;
    return FENEC_OK;
}

static int take_bool(reader *r, const cJSON *item, const char *name, bool *out)
{
    *out = false;
    if (!item || cJSON_IsNull(item))
        return FENEC_OK;
    if (!cJSON_IsBool(item))
        return refuse(r, FENEC_QUERY, "`%s` is true or false", name);
    *out = cJSON_IsTrue(item);
    return FENEC_OK;
}

/* A whole number of 64 bits from 0 on, written as one. */
static bool read_whole(const reader *r, const cJSON *item, int64_t *out)
{
    const value *n = scalar(r, item);

    if (!n || n->kind != VALUE_INT || n->integer < 0)
        return false;
    *out = n->integer;
    return true;
}

/* ---- names and types ---- */

/* One name of the language, or several joined by dots. *parts: how many. */
static int read_name(reader *r, const cJSON *item, uint32_t *parts, bool *is)
{
    const value *name = text_of(r, item);
    error unheard;
    tokens cut;

    *is = false;
    if (!name || name->len == 0)
        return FENEC_OK;
    error_init(&unheard);
    int rc = tokens_read(name->bytes, name->len, &cut, &unheard);
    if (rc != FENEC_OK)
        return rc == FENEC_PANIC ? fail_memory(r->err) : FENEC_OK;
    *is = cut.items[0].kind == TOKEN_NAME && cut.items[0].start == 0 && cut.items[0].end == name->len;
    *parts = *is ? cut.items[0].parts : 0;
    tokens_clear(&cut);
    return FENEC_OK;
}

static int take_name(reader *r, const cJSON *item, const char *what, const char **out)
{
    uint32_t parts;
    bool is;
    int rc = read_name(r, item, &parts, &is);

    if (rc != FENEC_OK)
        return rc;
    if (!item)
        return refuse(r, FENEC_QUERY, "%s has no `name`", what);
    if (!is || parts != 1)
        return refuse(r, FENEC_QUERY, "the name of %s is a name of the language: letters, digits and _", what);
    *out = word_of(r, item);
    return FENEC_OK;
}

static bool take_prefix(const char **at, const char *prefix)
{
    size_t len = strlen(prefix);

    if (strncmp(*at, prefix, len) != 0)
        return false;
    *at += len;
    return true;
}

/* `N` and what ends it; false where it is spelled otherwise. *n is 0 where it is outside its range. */
static bool take_dimension(const char **at, uint32_t most, uint32_t *n)
{
    uint64_t read = 0;
    size_t digits = 0;

    for (; **at >= '0' && **at <= '9' && digits <= 10; ++*at, digits++)
        read = read * 10 + (uint64_t)(**at - '0');
    *n = read <= most ? (uint32_t)read : 0;
    return digits >= 1 && digits <= 10;
}

static bool read_scalar_type(const char **at, type *t)
{
    static const struct {
        const char *word;
        type_kind kind;
    } words[] = {{"bool", TYPE_BOOL},   {"int", TYPE_INT},             {"float", TYPE_FLOAT}, {"text", TYPE_TEXT},
                 {"bytes", TYPE_BYTES}, {"timestamp", TYPE_TIMESTAMP}, {"json", TYPE_JSON},   {"geo", TYPE_GEO}};

    *t = (type){0};
    if (take_prefix(at, "vector<")) {
        t->kind = TYPE_VECTOR;
        if (!take_dimension(at, VECTOR_DIMENSION_MAX, &t->dimension))
            return false;
        t->half = take_prefix(at, ", f16");
        return take_prefix(at, ">");
    }
    if (take_prefix(at, "sparse<")) {
        t->kind = TYPE_SPARSE;
        return take_dimension(at, SPARSE_DIMENSION_MAX, &t->dimension) && take_prefix(at, ">");
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take_prefix(at, words[i].word)) {
            t->kind = words[i].kind;
            return true;
        }
    return false;
}

static int take_type(reader *r, const cJSON *item, type *out)
{
    const value *text = text_of(r, item);
    uint32_t lists = 0;

    if (!item)
        return refuse(r, FENEC_QUERY, "a field has a `type`");
    if (!text)
        return refuse(r, FENEC_QUERY, "the type is a text");
    const char *spelled = (const char *)text->bytes, *at = spelled;
    for (; *at == '[' && lists < LISTS_MAX; at++)
        lists++;
    bool is = read_scalar_type(&at, out);
    for (uint32_t i = 0; i < lists && is; i++)
        is = *at++ == ']';
    if (!is || at != spelled + text->len)
        return refuse(r, FENEC_QUERY, "there is no type `%s`", spelled);
    bool sized = out->kind == TYPE_VECTOR || out->kind == TYPE_SPARSE;
    if (sized && out->dimension == 0)
        return refuse(r, FENEC_QUERY, "the dimension of `%s` is outside 1 to %u", spelled,
                      out->kind == TYPE_VECTOR ? VECTOR_DIMENSION_MAX : SPARSE_DIMENSION_MAX);
    if (lists && out->kind == TYPE_JSON)
        return refuse(r, FENEC_TYPE, "there is no list of json: a json field can hold one");
    for (uint32_t i = 0; i < lists; i++) {
        type *element = arena_copy(&r->to->memory, out, sizeof *out);
        if (!element)
            return fail_memory(r->err);
        *out = (type){.kind = TYPE_LIST, .element = element};
    }
    return FENEC_OK;
}

/* ---- indexes ---- */

typedef struct choice {
    const char *word;
    int value;
} choice;

static bool is_word(const char *text, const char *word, bool any_case)
{
    for (; *word; text++, word++)
        if ((any_case && *text >= 'A' && *text <= 'Z' ? *text + ('a' - 'A') : *text) != *word)
            return false;
    return *text == 0;
}

/* -1 where it is none of them. */
static int choose(const reader *r, const cJSON *item, const choice *choices, size_t count, bool any_case)
{
    const char *text = word_of(r, item);

    for (size_t i = 0; text && i < count; i++)
        if (is_word(text, choices[i].word, any_case))
            return choices[i].value;
    return -1;
}

/* null counts as left out: *out stays. */
static int take_whole(reader *r, const cJSON *item, uint32_t least, uint32_t most, uint32_t *out, bool *given)
{
    int64_t n;

    *given = item && !cJSON_IsNull(item);
    if (!*given)
        return FENEC_OK;
    if (!read_whole(r, item, &n))
        return refuse(r, FENEC_QUERY, "`%s` is a whole number", item->string);
    if (n > most && most != UINT32_MAX)
        return refuse(r, FENEC_QUERY, "`%s` is at most %u", item->string, most);
    *out = n < least ? least : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return FENEC_OK;
}

static int take_hundredths(reader *r, const cJSON *item, uint32_t *out)
{
    const value *given = scalar(r, item);
    double n = -1;

    if (!item)
        return FENEC_OK;
    if (given && given->kind != VALUE_TEXT)
        n = given->kind == VALUE_INT ? (double)given->integer : given->number;
    if (!(n >= 0 && n <= 100))
        return refuse(r, FENEC_QUERY, "`%s` is a number from 0 to 100", item->string);
    *out = (uint32_t)floor(100 * n + 0.5);
    return FENEC_OK;
}

static int take_text_options(reader *r, const cJSON *index, index_spec *spec)
{
    static const char *const known[] = {"kind", "k1", "b", "prefix", "prefix_min", "chars"};
    const cJSON *m[6];
    bool given;
    int rc = take_members(r, index, "a text index", known, m, 6);

    *spec = (index_spec){.kind = INDEX_TEXT, .k1_hundredths = 90, .b_hundredths = 40, .prefix_min = 3};
    if (rc == FENEC_OK)
        rc = take_hundredths(r, m[1], &spec->k1_hundredths);
    if (rc == FENEC_OK)
        rc = take_hundredths(r, m[2], &spec->b_hundredths);
    if (rc == FENEC_OK)
        rc = take_whole(r, m[3], 0, 64, &spec->prefix_max, &given);
    if (rc == FENEC_OK)
        rc = take_whole(r, m[4], 0, 64, &spec->prefix_min, &given);
    return rc == FENEC_OK ? take_bool(r, m[5], "chars", &spec->chars) : rc;
}

static int take_hnsw_options(reader *r, const cJSON *index, index_spec *spec)
{
    static const char *const known[] = {"kind", "metric", "m", "ef_construction", "ef_search", "quant"};
    static const choice metrics[] = {{"cosine", METRIC_COSINE}, {"l2", METRIC_L2}, {"dot", METRIC_DOT}};
    static const choice quants[] = {
        {"none", QUANT_NONE}, {"int8", QUANT_INT8}, {"i8", QUANT_INT8}, {"bit", QUANT_BIT}, {"binary", QUANT_BIT}};
    const cJSON *m[6];
    bool given;
    int rc = take_members(r, index, "an hnsw index", known, m, 6);

    *spec = (index_spec){.kind = INDEX_HNSW, .m = 16, .ef_construction = 200, .ef_search = 100};
    if (rc != FENEC_OK)
        return rc;
    int metric = m[1] ? choose(r, m[1], metrics, 3, false) : METRIC_COSINE;
    int quant = m[5] ? choose(r, m[5], quants, 5, true) : QUANT_NONE;
    if (metric < 0)
        return refuse(r, FENEC_QUERY, "`metric` is \"cosine\", \"l2\" or \"dot\"");
    if (quant < 0)
        return refuse(r, FENEC_QUERY, "`quant` is \"none\", \"int8\" or \"bit\"");
    spec->metric = (vector_metric)metric;
    spec->quant = (vector_quant)quant;
    rc = take_whole(r, m[2], 2, 32767, &spec->m, &given);
    if (rc == FENEC_OK)
        rc = take_whole(r, m[3], 8, UINT32_MAX, &spec->ef_construction, &given);
    if (rc == FENEC_OK)
        rc = take_whole(r, m[4], 1, UINT32_MAX, &spec->ef_search, &given);
    if (rc == FENEC_OK && !given && spec->quant == QUANT_BIT)
        spec->ef_search = 200;
    return rc;
}

static int take_ttl_options(reader *r, const cJSON *index, index_spec *spec)
{
    static const char *const known[] = {"kind", "ms"};
    const cJSON *m[2];
    int rc = take_members(r, index, "a ttl index", known, m, 2);

    *spec = (index_spec){.kind = INDEX_SORTED};
    if (rc == FENEC_OK && (!m[1] || !read_whole(r, m[1], &spec->ttl_ms) || spec->ttl_ms <= 0))
        rc = refuse(r, FENEC_QUERY, "`ms` is a whole number of milliseconds above 0");
    return rc;
}

/* Of a field or, with is_path, a path of type *t. */
static int take_index(reader *r, const cJSON *item, const type *t, bool is_path, index_spec *out)
{
    static const char *const kind_alone[] = {"kind"};
    static const choice kinds[] = {{"hash", INDEX_HASH},         {"unique", INDEX_UNIQUE}, {"sorted", INDEX_SORTED},
                                   {"inverted", INDEX_INVERTED}, {"geo", INDEX_GEO},       {"text", INDEX_TEXT},
                                   {"hnsw", INDEX_HNSW},         {"ttl", INDEX_NONE}};
    const cJSON *kind = NULL;
    error found;
    int rc;

    if (!cJSON_IsObject(item))
        return refuse(r, FENEC_QUERY, "an index is an object");
    for (const cJSON *m = item->child; m; m = m->next)
        if (strcmp(m->string, "kind") == 0)
            kind = m;
    int chosen = choose(r, kind, kinds, sizeof kinds / sizeof *kinds, false);
    if (chosen < 0)
        return refuse(r, FENEC_QUERY,
                      "the `kind` of an index is hash, unique, sorted, ttl, text, hnsw, inverted or geo");
    switch (chosen) {
    case INDEX_NONE: rc = take_ttl_options(r, item, out); break;
    case INDEX_TEXT: rc = take_text_options(r, item, out); break;
    case INDEX_HNSW: rc = take_hnsw_options(r, item, out); break;
    default:
        *out = (index_spec){.kind = (index_kind)chosen};
        rc = take_members(r, item, "this kind of index", kind_alone, &kind, 1);
    }
    if (rc != FENEC_OK)
        return rc;
    *out = index_spec_normal(out);
    error_init(&found);
    rc = index_spec_fits(out, t, is_path, r->field, &found);
    return rc == FENEC_OK ? rc : rc == FENEC_PANIC ? fail_memory(r->err) : refuse(r, rc, "%s", found.message);
}

/* ---- paths ---- */

/* `field.keys` as a path. */
static int make_path(reader *r, const char *field, const char *keys, uint32_t key_count, path *out)
{
    size_t field_len = strlen(field), len = field_len + 1 + strlen(keys), part = 0;
    value *parts = arena_alloc(&r->to->memory, ((size_t)key_count + 1) * sizeof *parts);
    char *text = arena_alloc(&r->to->memory, len + 1);

    if (!parts || !text)
        return fail_memory(r->err);
    memcpy(text, field, field_len);
    text[field_len] = '.';
    memcpy(text + field_len + 1, keys, len - field_len);
    for (const char *at = text, *end; part <= key_count; at = end + 1) {
        end = strchr(at, '.');
        end = end ? end : text + len;
        parts[part++] = value_text(at, (size_t)(end - at));
    }
    *out = (path){.text = text, .text_len = (uint32_t)len, .part_count = key_count + 1, .parts = parts};
    return FENEC_OK;
}

/* One item of `paths` of the field at `place`, added to the declaration's. */
static int read_path(reader *r, const cJSON *item, declaration *d, uint32_t place)
{
    static const char *const known[] = {"path", "index"};
    const cJSON *m[2];
    const field_def *f = &d->fields[place];
    declared_path *made = &d->paths[d->path_count];
    uint32_t keys = 0;
    bool is;
    int rc = take_members(r, item, "a path", known, m, 2);

    if (rc == FENEC_OK)
        rc = read_name(r, m[0], &keys, &is);
    if (rc != FENEC_OK)
        return rc;
    const char *named = word_of(r, m[0]);
    if (!is || keys > PATH_KEYS_MAX)
        return refuse(r, FENEC_QUERY, "a `path` is 1 to %d names joined by dots", PATH_KEYS_MAX);
    if (f->type.kind != TYPE_JSON)
        return refuse(r, FENEC_TYPE, "the path `%s` leads into a field that is not json", named);
    if (!m[1])
        return refuse(r, FENEC_QUERY, "the path `%s` has no `index`", named);
    *made = (declared_path){.field = place};
    rc = make_path(r, f->name, named, keys, &made->on);
    if (rc != FENEC_OK)
        return rc;
    r->field = made->on.text;
    rc = take_index(r, m[1], &f->type, true, &made->index);
    r->field = f->name;
    d->path_count++;
    return rc;
}

/* After the fields: the paths of all of them, in the order of the fields. */
static int read_paths(reader *r, const cJSON *const *lists, declaration *d)
{
    uint32_t total = 0, count;
    const cJSON *item;
    names seen;
    int rc;

    for (uint32_t i = 0; i < d->field_count; i++) {
        r->field = d->fields[i].name;
        rc = take_list(r, lists[i], "paths", &item, &count);
        if (rc != FENEC_OK)
            return rc;
        total += count;
    }
    if (total == 0)
        return FENEC_OK;
    d->paths = arena_alloc(&r->to->memory, total * sizeof *d->paths);
    if (!d->paths || !names_init(&seen, &r->to->memory, total))
        return fail_memory(r->err);
    for (uint32_t i = 0; i < d->field_count; i++) {
        r->field = d->fields[i].name;
        for (item = lists[i] ? lists[i]->child : NULL; item; item = item->next) {
            rc = read_path(r, item, d, i);
            if (rc != FENEC_OK)
                return rc;
            const path *on = &d->paths[d->path_count - 1].on;
            if (names_add(&seen, on->text, on->text_len, 0) != NAME_ABSENT)
                return refuse(r, FENEC_QUERY, "the path `%s` stands there twice", on->text);
        }
    }
    return FENEC_OK;
}

/* ---- collections ---- */

static int take_collation(reader *r, const cJSON *item, const type *t, collation *out)
{
    static const choice collations[] = {{"und", COLLATION_UND}, {"tr", COLLATION_TR}};

    if (!item || cJSON_IsNull(item))
        return FENEC_OK;
    int chosen = choose(r, item, collations, 2, false);
    if (chosen < 0)
        return refuse(r, FENEC_QUERY, "`collate` is \"und\" or \"tr\"");
    if (t->kind != TYPE_TEXT && !(t->kind == TYPE_LIST && t->element->kind == TYPE_TEXT))
        return refuse(r, FENEC_QUERY, "only text and lists of text are collated");
    *out = (collation)chosen;
    return FENEC_OK;
}

static int read_field(reader *r, const cJSON *item, field_def *f, names *seen, const cJSON **paths)
{
    static const char *const members[] = {"name", "type", "required", "collate", "index", "paths"};
    const cJSON *m[6];
    int rc = take_members(r, item, "a field", members, m, 6);

    *f = (field_def){0};
    if (rc == FENEC_OK)
        rc = take_name(r, m[0], "a field", &f->name);
    if (rc != FENEC_OK)
        return rc;
    r->field = f->name;
    if (strcmp(f->name, "id") == 0)
        return refuse(r, FENEC_QUERY, "`id` is every document's own and is not declared");
    if (names_add(seen, f->name, strlen(f->name), 0) != NAME_ABSENT)
        return refuse(r, FENEC_EXISTS, "the field stands there twice");
    rc = take_type(r, m[1], &f->type);
    if (rc == FENEC_OK)
        rc = take_bool(r, m[2], "required", &f->required);
    if (rc == FENEC_OK)
        rc = take_collation(r, m[3], &f->type, &f->collate);
    if (rc == FENEC_OK && m[4] && !cJSON_IsNull(m[4]))
        rc = take_index(r, m[4], &f->type, false, &f->index);
    *paths = m[5];
    return rc;
}

static int read_fields(reader *r, const cJSON *list, declaration *d)
{
    const cJSON *item, **paths;
    uint32_t count, expiring = 0;
    names seen;
    int rc = take_list(r, list, "fields", &item, &count);

    if (rc != FENEC_OK)
        return rc;
    if (count == 0)
        return refuse(r, FENEC_QUERY, "a collection has fields");
    d->fields = arena_alloc(&r->to->memory, count * sizeof *d->fields);
    paths = arena_alloc(&r->to->memory, count * sizeof *paths);
    if (!d->fields || !paths || !names_init(&seen, &r->to->memory, count))
        return fail_memory(r->err);
    for (; item; item = item->next, d->field_count++) {
        field_def *f = &d->fields[d->field_count];
        r->field = NULL;
        rc = read_field(r, item, f, &seen, &paths[d->field_count]);
        if (rc != FENEC_OK)
            return rc;
        expiring += f->index.ttl_ms > 0;
        if (expiring > 1)
            return refuse(r, FENEC_QUERY, "a second field with a ttl index");
    }
    return read_paths(r, paths, d);
}

static int read_collection(reader *r, const cJSON *item, names *seen)
{
    static const char *const members[] = {"name", "fields"};
    declaration *d = &r->to->collections[r->to->count];
    const cJSON *m[2];
    int rc;

    *d = (declaration){0};
    r->in_collection = true;
    r->collection = r->field = NULL;
    rc = take_members(r, item, "a collection", members, m, 2);
    if (rc == FENEC_OK)
        rc = take_name(r, m[0], "a collection", &d->name);
    if (rc != FENEC_OK)
        return rc;
    r->collection = d->name;
    if (is_word(d->name, "if", true))
        return refuse(r, FENEC_QUERY, "no collection is called `if`");
    if (names_add(seen, d->name, strlen(d->name), r->to->count) != NAME_ABSENT)
        return refuse(r, FENEC_QUERY, "the collection stands there twice");
    r->to->count++;
    return read_fields(r, m[1], d);
}

static int read_collections(reader *r, const cJSON *list)
{
    const cJSON *item;
    uint32_t count;
    names seen;
    int rc = take_list(r, list, "collections", &item, &count);

    if (rc != FENEC_OK || count == 0)
        return rc;
    r->to->collections = arena_alloc(&r->to->memory, count * sizeof *r->to->collections);
    if (!r->to->collections || !names_init(&seen, &r->to->memory, count))
        return fail_memory(r->err);
    for (; item && rc == FENEC_OK; item = item->next)
        rc = read_collection(r, item, &seen);
    r->in_collection = false;
    r->collection = r->field = NULL;
    return rc;
}

static int read_fenecql(reader *r, const cJSON *item)
{
    const value *text = text_of(r, item);
    error found;

    if (!text)
        return refuse(r, FENEC_QUERY, "`fenecql` is a text");
    error_init(&found);
    int rc = description_read_text(text->bytes, text->len, r->to, &found);
    return rc == FENEC_OK ? rc : rc == FENEC_PANIC ? fail_memory(r->err) : refuse(r, rc, "%s", found.message);
}

/* ---- migrations ---- */

static bool is_blank(const value *text)
{
    const uint8_t *at = text->bytes, *end = at + text->len;

    while (at < end)
        if (!unicode_is_space(utf8_next(&at, end)))
            return false;
    return true;
}

static int read_rebuild(reader *r, const cJSON *item, migration *out)
{
    static const char *const outer[] = {"rebuild"}, *const inner[] = {"collection", "field"};
    const cJSON *rebuild, *m[2];
    int rc = take_members(r, item, "a migration that is no text", outer, &rebuild, 1);

    if (rc == FENEC_OK && !rebuild)
        rc = refuse(r, FENEC_QUERY, "a migration is a text or a `rebuild`");
    if (rc == FENEC_OK)
        rc = take_members(r, rebuild, "a rebuild", inner, m, 2);
    if (rc != FENEC_OK)
        return rc;
    out->collection = word_of(r, m[0]);
    out->field = word_of(r, m[1]);
    if (!out->collection || !out->field)
        return refuse(r, FENEC_QUERY, "a rebuild names a `collection` and a `field`");
    return FENEC_OK;
}

static int read_migrations(reader *r, const cJSON *list)
{
    const cJSON *item;
    uint32_t count;
    int rc = take_list(r, list, "migrations", &item, &count);

    if (rc != FENEC_OK || count == 0)
        return rc;
    r->to->migrations = arena_zeroed(&r->to->memory, count * sizeof *r->to->migrations);
    if (!r->to->migrations)
        return fail_memory(r->err);
    for (; item && rc == FENEC_OK; item = item->next) {
        migration *m = &r->to->migrations[r->to->migration_count++];
        const value *text = text_of(r, item);
        if (cJSON_IsObject(item))
            rc = read_rebuild(r, item, m);
        else if (!text || is_blank(text))
            rc = refuse(r, FENEC_QUERY, "migration %u is neither a text of statements nor a `rebuild`",
                        r->to->migration_count);
        else
            *m = (migration){.text = (const char *)text->bytes, .len = text->len};
    }
    return rc;
}

/* ---- the whole ---- */

static int read_description(reader *r, const cJSON *tree)
{
    static const char *const members[] = {"format", "collections", "fenecql", "migrations"};
    const cJSON *m[4];
    int64_t format;
    int rc = take_members(r, tree, "the description", members, m, 4);

    if (rc != FENEC_OK)
        return rc;
    if (!m[0] || !read_whole(r, m[0], &format) || format != 1)
        return refuse(r, FENEC_QUERY, "`format` is 1 in what this build reads");
    if (m[1] && m[2])
        return refuse(r, FENEC_QUERY, "`collections` and `fenecql` exclude each other");
    rc = m[2] ? read_fenecql(r, m[2]) : read_collections(r, m[1]);
    return rc == FENEC_OK ? read_migrations(r, m[3]) : rc;
}

int description_read(const uint8_t *text, size_t len, description *out, error *err)
{
    description made = {0};
    reader r = {.to = &made, .err = err};
    cJSON *tree;

    arena_init(&made.memory);
    int rc = read_tree(&r, text, len, &tree);
    if (rc == FENEC_OK) {
        rc = read_description(&r, tree);
        cJSON_Delete(tree);
    }
    if (rc != FENEC_OK) {
        description_clear(&made);
        return rc;
    }
    *out = made;
    return FENEC_OK;
}

void description_clear(description *d)
{
    parsed_clear(&d->text);
    arena_clear(&d->memory);
    *d = (description){0};
}

const declaration *description_find(const description *d, const char *name)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (strcmp(d->collections[i].name, name) == 0)
            return &d->collections[i];
    return NULL;
}
