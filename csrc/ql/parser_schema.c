/* `create`, `drop` and `alter` (chapter 1 sections 3 and 4). */
#include <math.h>
#include <string.h>

#include "ql/names.h"
#include "ql/parsing.h"
#include "value/bucket.h"

/* ---- types ---- */

typedef struct word_value {
    const char *word;
    int value;
} word_value;

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const word_value type_words[] = {
    {"bool", TYPE_BOOL},           {"int", TYPE_INT},
    {"float", TYPE_FLOAT},         {"text", TYPE_TEXT},
    {"string", TYPE_TEXT},         {"bytes", TYPE_BYTES},
    {"blob", TYPE_BYTES},          {"timestamp", TYPE_TIMESTAMP},
    {"json", TYPE_JSON},           {"timestamptz", TYPE_TIMESTAMP},
    {"jsonb", TYPE_JSON},          {"geo", TYPE_GEO},
    {"vector", TYPE_VECTOR},       {"vec", TYPE_VECTOR},
    {"sparse", TYPE_SPARSE},       {"sparsevec", TYPE_SPARSE},
};

/* The value of the word that stands here, taken; -1 where it is none of them. */
static int take_one_of(parser *p, const word_value *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (take_word(p, words[i].word))
            return words[i].value;
    return -1;
}

/* `<N>` or `<N, f16>`. */
static int parse_dimension(parser *p, type *t)
{
    uint32_t most = t->kind == TYPE_VECTOR ? VECTOR_DIMENSION_MAX : SPARSE_DIMENSION_MAX;
    int64_t n;
    int code;

    if ((code = expect(p, TOKEN_LESS, "`<`")) != FENEC_OK ||
        (code = parse_whole(p, "a dimension", &n)) != FENEC_OK)
        return code;
    if (n < 1 || n > most)
        return refuse_at(p, p->at - 1, FENEC_QUERY, "expected a dimension from 1 to %u, found %lld", most,
                         (long long)n);
    t->dimension = (uint32_t)n;
    if (t->kind == TYPE_VECTOR && take(p, TOKEN_COMMA)) {
        t->half = take_word(p, "f16");
        if (!t->half && !take_word(p, "f32"))
            return expected(p, "`f32` or `f16`");
    }
    return expect(p, TOKEN_GREATER, "`>`");
}

static int parse_scalar_type(parser *p, type *out)
{
    int kind = take_one_of(p, type_words, COUNT_OF(type_words));

    if (kind < 0)
        return expected(p, "a type");
    *out = (type){.kind = (type_kind)kind};
    return kind == TYPE_VECTOR || kind == TYPE_SPARSE ? parse_dimension(p, out) : FENEC_OK;
}

static int parse_type(parser *p, type *out)
{
    uint32_t lists = 0, before = p->depth;
    type made = {0};
    int code = FENEC_OK;

    for (; at(p, TOKEN_BRACKET_OPEN); p->at++, lists++)
        if ((code = deeper(p, 1)) != FENEC_OK)
            return code;
    p->depth = before;
    code = parse_scalar_type(p, &made);
    for (uint32_t i = 0; i < lists && code == FENEC_OK; i++) {
        type *element = arena_copy(p->a, &made, sizeof made);
        if (!element)
            return no_memory(p);
        made = (type){.kind = TYPE_LIST, .element = element};
        code = expect(p, TOKEN_BRACKET_CLOSE, "`]`");
    }
    if (code == FENEC_OK)
        *out = made;
    return code;
}

/* ---- indexes ---- */

static const word_value metric_words[] = {
    {"cosine", METRIC_COSINE}, {"cos", METRIC_COSINE}, {"l2", METRIC_L2},
    {"euclidean", METRIC_L2},  {"dot", METRIC_DOT},    {"ip", METRIC_DOT},
};
static const word_value quant_words[] = {
    {"none", QUANT_NONE}, {"int8", QUANT_INT8},  {"i8", QUANT_INT8},
    {"bit", QUANT_BIT},   {"binary", QUANT_BIT},
};
static const word_value plain_index_words[] = {
    {"hash", INDEX_HASH},         {"unique", INDEX_UNIQUE}, {"sorted", INDEX_SORTED},
    {"inverted", INDEX_INVERTED}, {"geo", INDEX_GEO},
};

/* `= int`, not below `least`. */
static int parse_option_int(parser *p, uint32_t least, uint32_t *out)
{
    int64_t n;
    int code = expect(p, TOKEN_EQUAL, "`=`");

    if (code == FENEC_OK && (code = parse_whole(p, "an int", &n)) == FENEC_OK)
        *out = clamped(n, least);
    return code;
}

static int parse_hnsw_option(parser *p, index_spec *spec, bool *ef_given)
{
    int metric = take_one_of(p, metric_words, COUNT_OF(metric_words));
    int code;

    if (metric >= 0) {
        spec->metric = (vector_metric)metric;
        return FENEC_OK;
    }
    if (take_word(p, "m")) {
        code = parse_option_int(p, 2, &spec->m);
        if (code == FENEC_OK && spec->m > 32767)
            return refuse_at(p, p->at - 1, FENEC_QUERY, "expected `m` of at most 32767, found more");
        return code;
    }
    if (take_word(p, "ef_construction") || take_word(p, "ef_c"))
        return parse_option_int(p, 8, &spec->ef_construction);
    if (take_word(p, "ef_search") || take_word(p, "ef")) {
        *ef_given = true;
        return parse_option_int(p, 1, &spec->ef_search);
    }
    if (!take_word(p, "quant"))
        return expected(p, "a metric, `m`, `ef_construction`, `ef_search` or `quant`");
    if ((code = expect(p, TOKEN_EQUAL, "`=`")) != FENEC_OK)
        return code;
    int quant = take_one_of(p, quant_words, COUNT_OF(quant_words));
    if (quant < 0)
        return expected(p, "`none`, `int8` or `bit`");
    spec->quant = (vector_quant)quant;
    return FENEC_OK;
}

static int parse_hnsw_options(parser *p, index_spec *spec)
{
    size_t place = p->at;
    bool ef_given = false;
    int code = FENEC_OK;

    if (take(p, TOKEN_PAREN_OPEN)) {
        while (code == FENEC_OK && !at(p, TOKEN_PAREN_CLOSE)) {
            code = parse_hnsw_option(p, spec, &ef_given);
            if (code == FENEC_OK && !take(p, TOKEN_COMMA))
                break;
        }
        if (code == FENEC_OK)
            code = expect(p, TOKEN_PAREN_CLOSE, "`,` or `)`");
    }
    if (code != FENEC_OK)
        return code;
    if (spec->quant == QUANT_BIT && spec->metric != METRIC_COSINE)
        return refuse_at(p, place, FENEC_QUERY,
                         "expected the metric `cosine` beside `quant=bit`, found another");
    if (spec->quant == QUANT_BIT && !ef_given)
        spec->ef_search = 200;
    return FENEC_OK;
}

/* `= number` from 0 to `most`. */
static int parse_option_number(parser *p, double most, double *out)
{
    int code = expect(p, TOKEN_EQUAL, "`=`");
    const token *t = here(p);

    if (code != FENEC_OK)
        return code;
    if (t->kind != TOKEN_INT && t->kind != TOKEN_FLOAT)
        return expected(p, "a number");
    double n = t->kind == TOKEN_INT ? (double)t->integer : t->number;
    if (!(n >= 0 && n <= most))
        return refuse_at(p, p->at, FENEC_QUERY, "expected a number from 0 to %.0f, found another", most);
    p->at++;
    *out = n;
    return FENEC_OK;
}

static int parse_hundredths(parser *p, uint32_t *out)
{
    double n;
    int code = parse_option_number(p, 100, &n);

    if (code == FENEC_OK)
        *out = (uint32_t)floor(100 * n + 0.5);
    return code;
}

static int parse_prefix_len(parser *p, uint32_t *out)
{
    double n;
    int code = parse_option_number(p, 64, &n);

    if (code != FENEC_OK)
        return code;
    if (n != floor(n))
        return refuse_at(p, p->at - 1, FENEC_QUERY, "expected a whole number, found a fraction");
    *out = (uint32_t)n;
    return FENEC_OK;
}

static int parse_text_option(parser *p, index_spec *spec)
{
    if (take_word(p, "chars")) {
        spec->chars = true;
        return FENEC_OK;
    }
    if (take_word(p, "k1"))
        return parse_hundredths(p, &spec->k1_hundredths);
    if (take_word(p, "b"))
        return parse_hundredths(p, &spec->b_hundredths);
    if (take_word(p, "prefix") || take_word(p, "prefix_max"))
        return parse_prefix_len(p, &spec->prefix_max);
    if (take_word(p, "prefix_min"))
        return parse_prefix_len(p, &spec->prefix_min);
    return expected(p, "`k1`, `b`, `prefix`, `prefix_min` or `chars`");
}

static int parse_text_options(parser *p, index_spec *spec)
{
    int code = FENEC_OK;

    if (!take(p, TOKEN_PAREN_OPEN))
        return FENEC_OK;
    while (code == FENEC_OK && !at(p, TOKEN_PAREN_CLOSE)) {
        code = parse_text_option(p, spec);
        if (code == FENEC_OK && !take(p, TOKEN_COMMA))
            break;
    }
    return code == FENEC_OK ? expect(p, TOKEN_PAREN_CLOSE, "`,` or `)`") : code;
}

static int parse_ttl(parser *p, int64_t *ms)
{
    int64_t n;
    int code;

    if ((code = expect(p, TOKEN_PAREN_OPEN, "`(` and a duration")) != FENEC_OK ||
        (code = parse_whole(p, "a whole number and a unit", &n)) != FENEC_OK)
        return code;
    const token *unit = here(p);
    if (unit->kind != TOKEN_NAME ||
        !duration_ms(n, (const char *)p->text + unit->start, unit->end - unit->start, ms))
        return expected(p, "a duration above 0 in ms, s, m, h or d");
    p->at++;
    return expect(p, TOKEN_PAREN_CLOSE, "`)`");
}

/* After the `@`. */
static int parse_index(parser *p, index_spec *out)
{
    int kind = take_one_of(p, plain_index_words, COUNT_OF(plain_index_words));
    index_spec spec = {0};
    int code;

    if (kind >= 0) {
        spec.kind = (index_kind)kind;
        code = FENEC_OK;
    } else if (take_word(p, "ttl")) {
        spec.kind = INDEX_SORTED;
        code = parse_ttl(p, &spec.ttl_ms);
    } else if (take_word(p, "hnsw") || take_word(p, "vector")) {
        spec = (index_spec){.kind = INDEX_HNSW, .m = 16, .ef_construction = 200, .ef_search = 100};
        code = parse_hnsw_options(p, &spec);
    } else if (take_word(p, "text") || take_word(p, "bm25")) {
        spec = (index_spec){.kind = INDEX_TEXT, .k1_hundredths = 90, .b_hundredths = 40, .prefix_min = 3};
        code = parse_text_options(p, &spec);
    } else {
        return expected(p, "an index after `@`");
    }
    if (code == FENEC_OK)
        *out = spec;
    return code;
}

/* ---- fields ---- */

static int parse_field(parser *p, field_def *out)
{
    field_def f = {0};
    int code;

    if ((code = parse_name(p, "a field", &f.name)) != FENEC_OK)
        return code;
    code = parse_type(p, &f.type);
    while (code == FENEC_OK) {
        if (take_word(p, "required"))
            f.required = true;
        else if (take_word(p, "collate"))
            code = parse_collate(p, &f.collate);
        else if (take(p, TOKEN_AT))
            code = parse_index(p, &f.index);
        else
            break;
    }
    if (code == FENEC_OK)
        *out = f;
    return code;
}

static const type *innermost(const type *t)
{
    while (t->kind == TYPE_LIST)
        t = t->element;
    return t;
}

static bool takes_collation(const type *t)
{
    return t->kind == TYPE_TEXT || (t->kind == TYPE_LIST && t->element->kind == TYPE_TEXT);
}

/* The checks of section 3, in its order; `place` is the field's token. */
static int check_field(parser *p, size_t place, const field_def *f, names *seen, bool *ttl_seen)
{
    error found;

    if (strcmp(f->name, "id") == 0)
        return refuse_at(p, place, FENEC_QUERY,
                         "expected another name than `id`, which is every document's own");
    if (names_add(seen, f->name, strlen(f->name), 0) != NAME_ABSENT)
        return refuse_at(p, place, FENEC_EXISTS,
                         "expected fields of different names, found `%s` twice", f->name);
    if (f->type.kind == TYPE_LIST && innermost(&f->type)->kind == TYPE_JSON)
        return refuse_at(p, place, FENEC_TYPE,
                         "expected a list of another type, found one of json for `%s`", f->name);
    if (f->collate != COLLATION_NONE && !takes_collation(&f->type))
        return refuse_at(p, place, FENEC_QUERY,
                         "expected `collate` on text or a list of text, found it on `%s`",
                         f->name);
    if (f->index.kind == INDEX_NONE)
        return FENEC_OK;
    error_init(&found);
    int code = index_spec_fits(&f->index, &f->type, false, f->name, &found);
    if (code != FENEC_OK)
        return code == FENEC_PANIC ? no_memory(p) : refuse_at(p, place, code, "%s", found.message);
    if (f->index.ttl_ms && *ttl_seen)
        return refuse_at(p, place, FENEC_QUERY,
                         "expected one `@ttl` in a collection, found a second on `%s`", f->name);
    *ttl_seen = *ttl_seen || f->index.ttl_ms;
    return FENEC_OK;
}

/* places[i] is the token of fields[i]. */
static int check_fields(parser *p, const size_t *places, const field_def *fields, uint32_t count)
{
    bool ttl_seen = false;
    names seen;
    int code = FENEC_OK;

    if (!names_init(&seen, p->a, count))
        return no_memory(p);
    for (uint32_t i = 0; i < count && code == FENEC_OK; i++)
        code = check_field(p, places[i], &fields[i], &seen, &ttl_seen);
    return code;
}

/* ---- statements ---- */

static int take_if_not_exists(parser *p, bool *out)
{
    int code;

    if (!take_word(p, "if"))
        return FENEC_OK;
    *out = true;
    code = expect_word(p, "not");
    return code == FENEC_OK ? expect_word(p, "exists") : code;
}

static int parse_create_collection(parser *p, stmt *s)
{
    size_t *places = NULL;
    uint32_t place_count = 0;
    int code;

    s->kind = STMT_CREATE_COLLECTION;
    if ((code = take_if_not_exists(p, &s->if_exists)) != FENEC_OK ||
        (code = parse_name(p, "a collection", &s->collection)) != FENEC_OK ||
        (code = expect(p, TOKEN_PAREN_OPEN, "`(` and fields")) != FENEC_OK)
        return code;
    do {
        field_def f;
        size_t place = p->at;
        if ((code = parse_field(p, &f)) != FENEC_OK ||
            (code = ADD_ITEM(p, places, place_count, place)) != FENEC_OK)
            return code;
        code = ADD_ITEM(p, s->fields, s->field_count, f);
    } while (code == FENEC_OK && take(p, TOKEN_COMMA) && !at(p, TOKEN_PAREN_CLOSE));
    if (code == FENEC_OK)
        code = expect(p, TOKEN_PAREN_CLOSE, "a modifier, `,` or `)`");
    return code == FENEC_OK ? check_fields(p, places, s->fields, s->field_count) : code;
}

static int parse_create_index(parser *p, stmt *s)
{
    int code;

    s->kind = STMT_CREATE_INDEX;
    if ((code = take_if_not_exists(p, &s->if_exists)) != FENEC_OK ||
        (code = expect_word(p, "on")) != FENEC_OK ||
        (code = parse_name(p, "a collection", &s->collection)) != FENEC_OK ||
        (code = expect(p, TOKEN_PAREN_OPEN, "`(`")) != FENEC_OK ||
        (code = parse_path(p, "a field or path", &s->index_on)) != FENEC_OK ||
        (code = expect(p, TOKEN_PAREN_CLOSE, "`)`")) != FENEC_OK ||
        (code = expect(p, TOKEN_AT, "`@` and an index")) != FENEC_OK)
        return code;
    return parse_index(p, &s->spec);
}

int parse_create(parser *p, stmt *s)
{
    if (take_word(p, "collection"))
        return parse_create_collection(p, s);
    if (take_word(p, "index"))
        return parse_create_index(p, s);
    return expected(p, "`collection` or `index`");
}

int parse_drop(parser *p, stmt *s)
{
    int code;

    s->kind = STMT_DROP_COLLECTION;
    if ((code = expect_word(p, "collection")) != FENEC_OK)
        return code;
    if (take_word(p, "if")) {
        s->if_exists = true;
        if ((code = expect_word(p, "exists")) != FENEC_OK)
            return code;
    }
    return parse_name(p, "a collection", &s->collection);
}

static int parse_add_field(parser *p, stmt *s)
{
    int code;

    s->alter = ALTER_ADD;
    take_word(p, "field");
    size_t place = p->at;
    s->fields = arena_zeroed(p->a, sizeof *s->fields);
    if (!s->fields)
        return no_memory(p);
    s->field_count = 1;
    code = parse_field(p, s->fields);
    return code == FENEC_OK ? check_fields(p, &place, s->fields, 1) : code;
}

static int parse_rename_field(parser *p, stmt *s)
{
    int code;

    s->alter = ALTER_RENAME;
    take_word(p, "field");
    if ((code = parse_name(p, "a field", &s->field)) != FENEC_OK || (code = expect_word(p, "to")) != FENEC_OK)
        return code;
    return parse_name(p, "a new name", &s->to);
}

static int parse_alter_field(parser *p, stmt *s)
{
    int code;

    s->alter = ALTER_INDEX;
    take_word(p, "field");
    if ((code = parse_name(p, "a field", &s->field)) != FENEC_OK)
        return code;
    if (!take(p, TOKEN_AT))
        return expected(p, "`@ttl(...)` or `@sorted`: the type of a field is not changed in place");
    if (!at_word(p, "ttl") && !at_word(p, "sorted"))
        return expected(p, "`ttl` or `sorted`: another index is made by `create index`");
    return parse_index(p, &s->spec);
}

int parse_alter(parser *p, stmt *s)
{
    int code;

    s->kind = STMT_ALTER_COLLECTION;
    if ((code = expect_word(p, "collection")) != FENEC_OK ||
        (code = parse_name(p, "a collection", &s->collection)) != FENEC_OK)
        return code;
    if (take_word(p, "add"))
        return parse_add_field(p, s);
    if (take_word(p, "drop")) {
        s->alter = ALTER_DROP;
        take_word(p, "field");
        return parse_name(p, "a field", &s->field);
    }
    if (take_word(p, "rename"))
        return parse_rename_field(p, s);
    if (take_word(p, "alter"))
        return parse_alter_field(p, s);
    if (at_word(p, "modify") || at_word(p, "set") || at_word(p, "change") || at_word(p, "retype"))
        return expected(p, "`add`, `drop`, `rename` or `alter`: the type of a field is not changed in place");
    return expected(p, "`add`, `drop`, `rename` or `alter`");
}
