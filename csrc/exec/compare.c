/* Conditions with two sides. Where one side is the same for every row of a run it is worked out once and
 * brought into the form the field's bytes have, so that testing a row reads a few bytes of its record. */
#include <string.h>

#include "base/unicode.h"
#include "exec/ids.h"
#include "exec/node.h"
#include "exec/slot.h"
#include "exec/subquery.h"
#include "value/collation.h"
#include "value/timestamp.h"
#include "value/value.h"

/* ---- comparisons ---- */

/* For each operator a bit for "less", "equal", "greater". */
static inline bool holds(unsigned op, int order)
{
    static const uint8_t masks[] = {[OP_EQ] = 2, [OP_NE] = 5, [OP_LT] = 1, [OP_LE] = 3, [OP_GT] = 4, [OP_GE] = 6};

    return masks[op] >> ((order > 0) - (order < 0) + 1) & 1;
}

bool compare_holds(compare_op op, int order)
{
    return holds(op, order);
}

static bool compare_values(const bound *e, const value *a, const value *b)
{
    if (a->kind == VALUE_NULL || b->kind == VALUE_NULL)
        return e->op == OP_EQ ? a->kind == b->kind : e->op == OP_NE && a->kind != b->kind;
    if (e->op == OP_EQ || e->op == OP_NE)
        return value_equal(a, b) == (e->op == OP_EQ);
    return holds(e->op, value_compare_in(e->collate, a, b));
}

static int test_compare(const bound *e, const scope *s, bool *truth, error *err)
{
    value left, right;
    int rc = e->left->eval(e->left, s, &left, err);

    if (!rc)
        rc = e->right->eval(e->right, s, &right, err);
    if (!rc)
        *truth = compare_values(e, &left, &right);
    return rc;
}

static const constant *resolved(const bound *e, const scope *s)
{
    const constant *k = s->resolved && e->slot != NODE_NO_SLOT ? &s->resolved[e->slot] : NULL;

    return k && k->how != HOW_FAILED ? k : NULL;
}

static int test_with_constant(const bound *e, const scope *s, bool *truth, error *err)
{
    const constant *k = resolved(e, s);
    value left;

    if (!k)
        return test_compare(e, s, truth, err);
    int rc = e->left->eval(e->left, s, &left, err);
    if (!rc)
        *truth = compare_values(e, &left, &k->v);
    return rc;
}

static int test_field(const bound *e, const scope *s, bool *truth, error *err)
{
    const constant *k = resolved(e, s);
    const uint8_t *slot, *text;
    size_t len, text_len;
    int64_t i;
    double f;

    if (!k || k->how == HOW_GENERAL || !s->row)
        return test_with_constant(e, s, truth, err);
    int rc = record_slot(&s->row->rec, e->number, &slot, &len, err);
    if (rc)
        return rc;
    if (len == 0) {
        *truth = k->how == HOW_NULL ? e->op == OP_EQ : e->op == OP_NE;
        return FENEC_OK;
    }
    switch (k->how) {
    case HOW_NULL: *truth = e->op == OP_NE; return FENEC_OK;
    case HOW_FIXED: *truth = holds(e->op, k->order); return FENEC_OK;
    case HOW_INTEGER:
        if (!slot_integer(slot, len, &i))
            break;
        *truth = holds(e->op, (i > k->v.integer) - (i < k->v.integer));
        return FENEC_OK;
    case HOW_DOUBLE:
        if (!slot_double(slot, len, &f))
            break;
        *truth = holds(e->op, (f > k->number) - (f < k->number));
        return FENEC_OK;
    case HOW_TEXT:
        if (!slot_text(slot, len, &text, &text_len))
            break;
        if (e->op == OP_EQ || e->op == OP_NE)
            *truth = (text_len == k->v.len && (!text_len || !memcmp(text, k->v.bytes, text_len))) ==
                     (e->op == OP_EQ);
        else
            *truth = holds(e->op, slot_order_texts(text, text_len, k->v.bytes, k->v.len));
        return FENEC_OK;
    default: break;
    }
    return test_with_constant(e, s, truth, err); /* a large text beside the record, or damage */
}

/* ---- ~ and has ---- */

static bool is_ascii(const uint8_t *text, size_t len)
{
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any |= text[i];
    return any < 0x80;
}

static inline uint8_t ascii_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* needle is lowered already */
static bool ascii_contains(const uint8_t *hay, size_t len, const uint8_t *needle, size_t needle_len)
{
    if (needle_len == 0)
        return true;
    for (size_t at = 0; at + needle_len <= len; at++) {
        size_t i = 0;
        while (i < needle_len && ascii_lower(hay[at + i]) == needle[i])
            i++;
        if (i == needle_len)
            return true;
    }
    return false;
}

static bool contains(const uint8_t *hay, size_t len, const uint8_t *needle, size_t needle_len)
{
    if (needle_len == 0)
        return true;
    while (len >= needle_len) {
        const uint8_t *at = memchr(hay, needle[0], len - needle_len + 1);
        if (!at)
            return false;
        if (!memcmp(at, needle, needle_len))
            return true;
        len -= (size_t)(at + 1 - hay);
        hay = at + 1;
    }
    return false;
}

static int lower_into(arena *a, const value *text, value *out, error *err)
{
    buffer lowered;
    int rc = FENEC_OK;

    buffer_init(&lowered);
    unicode_lower(&lowered, text->bytes, text->len);
    const uint8_t *copy = lowered.failed ? NULL : arena_copy(a, lowered.bytes, lowered.len);
    if (copy)
        *out = value_text(copy, lowered.len);
    else
        rc = fail_memory(err);
    buffer_clear(&lowered);
    return rc;
}

static int test_like(const bound *e, const scope *s, bool *truth, error *err)
{
    const constant *k = resolved(e, s);
    value hay, needle;
    int rc = e->left->eval(e->left, s, &hay, err);

    if (!rc && !k)
        rc = e->right->eval(e->right, s, &needle, err);
    else if (k)
        needle = k->v;
    if (rc)
        return rc;
    *truth = false;
    if (hay.kind != VALUE_TEXT || needle.kind != VALUE_TEXT)
        return FENEC_OK;
    if (!k)
        rc = lower_into(s->memory, &needle, &needle, err);
    if (rc)
        return rc;
    if (is_ascii(hay.bytes, hay.len)) {
        *truth = ascii_contains(hay.bytes, hay.len, needle.bytes, needle.len);
        return FENEC_OK;
    }
    buffer lowered;
    buffer_init(&lowered);
    unicode_lower(&lowered, hay.bytes, hay.len);
    if (lowered.failed)
        rc = fail_memory(err);
    else
        *truth = contains(lowered.bytes, lowered.len, needle.bytes, needle.len);
    buffer_clear(&lowered);
    return rc;
}

static int test_has(const bound *e, const scope *s, bool *truth, error *err)
{
    value list, wanted, element;
    packed_iter it;
    int rc = e->left->eval(e->left, s, &list, err);

    if (!rc)
        rc = e->right->eval(e->right, s, &wanted, err);
    if (rc)
        return rc;
    *truth = false;
    if (list.kind == VALUE_POINT) {
        value lon = value_float(list.point[0]), lat = value_float(list.point[1]);
        *truth = value_equal(&lon, &wanted) || value_equal(&lat, &wanted);
        return FENEC_OK;
    }
    if (list.kind != VALUE_LIST)
        return FENEC_OK;
    packed_iterate(&it, &list);
    while (!*truth && (rc = packed_next(&it, &element, err)) == FENEC_OK)
        *truth = value_equal(&element, &wanted);
    return rc == FN_END ? FENEC_OK : rc;
}

/* ---- in ---- */

static int test_in(const bound *e, const scope *s, bool *truth, error *err)
{
    const constant *k = resolved(e, s);
    value left, item;
    int rc = e->left->eval(e->left, s, &left, err);

    if (rc)
        return rc;
    *truth = false;
    if (k && left.kind == VALUE_NULL) {
        *truth = k->has_null;
        return FENEC_OK;
    }
    if (k && k->how == HOW_INTEGERS) {
        *truth = (left.kind == VALUE_INT || left.kind == VALUE_TIMESTAMP) && integers_hold(k->integers, k->count, left.integer);
        return FENEC_OK;
    }
    if (k && k->how == HOW_TEXTS) {
        *truth = left.kind == VALUE_TEXT && values_hold_text(k->values, k->count, left.bytes, left.len);
        return FENEC_OK;
    }
    if (k) {
        *truth = value_set_holds(&k->set, &left);
        return FENEC_OK;
    }
    for (uint32_t i = 0; !rc && !*truth && i < e->item_count; i++) {
        rc = e->items[i]->eval(e->items[i], s, &item, err);
        if (!rc)
            *truth = value_equal(&left, &item);
    }
    return rc;
}

static int test_in_field(const bound *e, const scope *s, bool *truth, error *err)
{
    const constant *k = resolved(e, s);
    const uint8_t *slot, *text;
    size_t len, text_len;
    int64_t i;

    if (!k || k->how == HOW_VALUES || !s->row)
        return test_in(e, s, truth, err);
    int rc = record_slot(&s->row->rec, e->number, &slot, &len, err);
    if (rc)
        return rc;
    if (len == 0)
        *truth = k->has_null;
    else if (k->how == HOW_INTEGERS && slot_integer(slot, len, &i))
        *truth = integers_hold(k->integers, k->count, i);
    else if (k->how == HOW_TEXTS && slot_text(slot, len, &text, &text_len))
        *truth = values_hold_text(k->values, k->count, text, text_len);
    else
        return test_in(e, s, truth, err);
    return FENEC_OK;
}

/* ---- shape: how a condition is tested ---- */

static bool is_plain_field(const bound *n)
{
    return n->kind == NODE_FIELD && n->path->part_count == 1;
}

static compare_op mirrored(uint8_t op)
{
    switch (op) {
    case OP_LT: return OP_GT;
    case OP_LE: return OP_GE;
    case OP_GT: return OP_LT;
    case OP_GE: return OP_LE;
    default: return (compare_op)op;
    }
}

static int shape_compare(bound *n, const binding *b, bool *once, error *err)
{
    if (b->place == BIND_FILTER && n->op != OP_EQ && n->op != OP_NE) {
        if (is_plain_field(n->left))
            n->collate = n->left->field->collate;
        if (n->collate == COLLATION_NONE && is_plain_field(n->right))
            n->collate = n->right->field->collate;
        int rc = collation_need(n->collate, err);
        if (rc)
            return rc;
    }
    if (!n->left->reads_row && n->right->reads_row) {
        const bound *left = n->left;
        n->left = n->right;
        n->right = left;
        n->op = (uint8_t)mirrored(n->op);
    }
    *once = n->left->reads_row && !n->right->reads_row;
    n->test = !*once ? test_compare : is_plain_field(n->left) ? test_field : test_with_constant;
    if (is_plain_field(n->left))
        n->number = n->left->field->number;
    return FENEC_OK;
}

int compare_shape(bound *n, const binding *b, bool *once, error *err)
{
    switch (n->kind) {
    case NODE_COMPARE: return shape_compare(n, b, once, err);
    case NODE_LIKE:
        n->test = test_like;
        *once = !n->right->reads_row;
        return FENEC_OK;
    case NODE_HAS: n->test = test_has; return FENEC_OK;
    default:
        n->test = is_plain_field(n->left) ? test_in_field : test_in;
        if (is_plain_field(n->left))
            n->number = n->left->field->number;
        *once = true;
        for (uint32_t i = 0; i < n->item_count; i++)
            *once &= !n->items[i]->reads_row;
        return FENEC_OK;
    }
}

/* ---- constants ---- */

/* What a number field, whose values are all of one rank, has against any v of another rank. */
static void fix(constant *k, value like_the_field)
{
    k->how = HOW_FIXED;
    k->order = value_compare(&like_the_field, &k->v);
}

static void resolve_for_field(const catalog_field *f, constant *k)
{
    value_kind kind = k->v.kind;
    bool number = kind == VALUE_INT || kind == VALUE_FLOAT || kind == VALUE_TIMESTAMP;
    int64_t ms;

    k->number = kind == VALUE_FLOAT ? k->v.number : number ? (double)k->v.integer : 0;
    switch (f->type.kind) {
    case TYPE_INT:
    case TYPE_FLOAT:
        if (!number)
            fix(k, value_int(0));
        else
            k->how = f->type.kind == TYPE_INT && kind == VALUE_INT ? HOW_INTEGER : HOW_DOUBLE;
        break;
    case TYPE_TIMESTAMP:
        if (kind == VALUE_TEXT && timestamp_read(k->v.bytes, k->v.len, &ms))
            k->v = value_timestamp(ms);
        if (k->v.kind == VALUE_TIMESTAMP)
            k->how = HOW_INTEGER;
        else if (number)
            k->how = HOW_DOUBLE;
        else
            fix(k, value_timestamp(0));
        break;
    case TYPE_TEXT:
        if (kind == VALUE_TEXT)
            k->how = HOW_TEXT;
        else if (kind != VALUE_TIMESTAMP && kind != VALUE_BYTES)
            fix(k, value_text("", 0));
        break;
    default: break;
    }
}

static int resolve_compare(const bound *n, const scope *s, constant *k, error *err)
{
    int rc = n->right->eval(n->right, s, &k->v, err);

    if (rc)
        return rc;
    k->how = HOW_GENERAL;
    if (!is_plain_field(n->left))
        return FENEC_OK;
    if (k->v.kind == VALUE_NULL)
        k->how = HOW_NULL;
    else if (n->collate == COLLATION_NONE)
        resolve_for_field(n->left->field, k);
    return FENEC_OK;
}

static int resolve_like(const bound *n, const scope *s, constant *k, error *err)
{
    int rc = n->right->eval(n->right, s, &k->v, err);

    if (!rc && k->v.kind == VALUE_TEXT)
        rc = lower_into(s->memory, &k->v, &k->v, err);
    return rc;
}

/* A list a field's bytes are looked up in by halving: ints in an int field, instants in a timestamp
 * field, texts in a text field. Anything else is compared one after another. */
static int order_list(const bound *n, const scope *s, constant *k, error *err)
{
    type_kind t = n->left->kind == NODE_ID ? TYPE_INT : n->left->field->type.kind;
    value_kind wanted = t == TYPE_INT ? VALUE_INT : t == TYPE_TEXT ? VALUE_TEXT : VALUE_TIMESTAMP;

    if (t != TYPE_INT && t != TYPE_TEXT && t != TYPE_TIMESTAMP)
        return FENEC_OK;
    for (uint32_t i = 0; i < k->count; i++)
        if (k->values[i].kind != wanted)
            return FENEC_OK;
    if (t == TYPE_TEXT) {
        values_sort_texts(k->values, k->count);
        k->how = HOW_TEXTS;
        return FENEC_OK;
    }
    k->integers = arena_alloc(s->memory, sizeof *k->integers * (2 * (size_t)k->count + 1));
    if (!k->integers)
        return fail_memory(err);
    for (uint32_t i = 0; i < k->count; i++)
        k->integers[i] = k->values[i].integer;
    ids_sort(k->integers, k->count, k->integers + k->count);
    k->how = HOW_INTEGERS;
    return FENEC_OK;
}

/* What the list holds, nulls left out. */
static int list_values(const bound *n, const scope *s, constant *k, error *err)
{
    k->values = arena_alloc(s->memory, sizeof *k->values * (n->item_count ? n->item_count : 1));
    if (!k->values)
        return fail_memory(err);
    for (uint32_t i = 0; i < n->item_count; i++) {
        value *v = &k->values[k->count];
        int rc = n->items[i]->eval(n->items[i], s, v, err);
        if (rc)
            return rc;
        k->has_null |= v->kind == VALUE_NULL;
        k->count += v->kind != VALUE_NULL;
    }
    return FENEC_OK;
}

/* For a timestamp field a text is the instant it spells; others equal none. */
static void read_instants(constant *k)
{
    int64_t ms;

    for (uint32_t i = 0; i < k->count; i++)
        if (k->values[i].kind == VALUE_TEXT && timestamp_read(k->values[i].bytes, k->values[i].len, &ms))
            k->values[i] = value_timestamp(ms);
}

static int resolve_in(const bound *n, const scope *s, explain *x, constant *k, error *err)
{
    bool plain = is_plain_field(n->left);
    int rc = n->subquery ? subquery_values(n->subquery, s->cx, x, &k->values, &k->count, err)
                         : list_values(n, s, k, err);

    if (rc)
        return rc;
    if (plain && n->left->field->type.kind == TYPE_TIMESTAMP)
        read_instants(k);
    k->how = HOW_VALUES;
    if (n->left->kind == NODE_ID || plain)
        rc = order_list(n, s, k, err);
    if (!rc && k->how == HOW_VALUES)
        rc = value_set_make(&k->set, k->values, k->count, s->memory, err);
    return rc;
}

int constant_resolve(const bound *n, const scope *s, explain *x, constant *k, error *err)
{
    int rc = n->kind == NODE_COMPARE ? resolve_compare(n, s, k, err)
             : n->kind == NODE_LIKE  ? resolve_like(n, s, k, err)
                                     : resolve_in(n, s, x, k, err);

    if (rc == FENEC_OK || rc == FENEC_PANIC || n->subquery)
        return rc;
    error_init(err);
    k->how = HOW_FAILED;
    return FENEC_OK;
}
