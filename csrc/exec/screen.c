#include "exec/screen.h"

#include <string.h>

#include "base/bytes.h"
#include "exec/node.h"
#include "exec/slot.h"

static bool check_of(screen_check *c, const bound *n, const constant *resolved, int64_t now_ms)
{
    *c = (screen_check){0};
    if (n->kind == NODE_LIVE) {
        *c = (screen_check){.field = n->of->fields[n->of->ttl_field].number,
                            .how = HOW_INTEGER,
                            .mask = 4,
                            .null_passes = true,
                            .integer = now_ms - n->of->ttl_ms};
        return now_ms >= 0;
    }
    if (n->kind != NODE_COMPARE || n->slot == NODE_NO_SLOT || n->left->kind != NODE_FIELD ||
        n->left->path->part_count != 1 || !resolved)
        return false;
    const constant *k = &resolved[n->slot];
    c->field = n->number;
    c->how = (uint8_t)k->how;
    for (int order = -1; order <= 1; order++)
        c->mask |= (uint8_t)(compare_holds((compare_op)n->op, order) << (order + 1));
    c->null_passes = n->op == OP_NE;
    switch (k->how) {
    case HOW_INTEGER: c->integer = k->v.integer; return true;
    case HOW_DOUBLE: c->number = k->number; return true;
    case HOW_TEXT:
        c->text = k->v.bytes;
        c->text_len = k->v.len;
        return true;
    default: return false;
    }
}

void screen_make(screen *s, const bound *filter, const constant *resolved, int64_t now_ms)
{
    bool chain = filter && filter->kind == NODE_AND;
    uint32_t operands = !filter ? 0 : chain ? filter->item_count : 1, i = 0;

    s->count = 0;
    while (i < operands && s->count < SCREEN_MAX &&
           check_of(&s->checks[s->count], chain ? filter->items[i] : filter, resolved, now_ms)) {
        s->count++;
        i++;
    }
    s->whole = operands > 0 && i == operands;
}

void screen_before(screen *s, const bound *key, const value *last, bool descending, bool ties)
{
    screen_check *c = &s->checks[0];

    *s = (screen){0};
    if (key->kind != NODE_FIELD || key->path->part_count != 1)
        return;
    bool is_null = last->kind == VALUE_NULL;
    c->field = key->field->number;
    /* Null comes before everything, and after it where the order descends. */
    c->null_passes = is_null ? ties : !descending;
    c->mask = is_null ? (descending ? 7 : 0) : (uint8_t)((descending ? 4 : 1) | (ties ? 2 : 0));
    switch (key->field->type.kind) {
    case TYPE_INT:
    case TYPE_TIMESTAMP:
        c->how = HOW_INTEGER;
        c->integer = is_null ? 0 : last->integer;
        s->count = is_null || last->kind == VALUE_INT || last->kind == VALUE_TIMESTAMP;
        break;
    case TYPE_FLOAT:
        c->how = HOW_DOUBLE;
        c->number = is_null ? 0 : last->number;
        s->count = is_null || last->kind == VALUE_FLOAT;
        break;
    case TYPE_TEXT:
        c->how = HOW_TEXT;
        c->text = is_null ? (const uint8_t *)"" : last->bytes;
        c->text_len = is_null ? 0 : last->len;
        s->count = is_null || last->kind == VALUE_TEXT;
        break;
    default: break;
    }
}

/* The order of a slot against the constant as a bit of `mask`; 0 where the slot is no such value. */
static inline unsigned order_bit(const screen_check *c, const uint8_t *slot, size_t len)
{
    const uint8_t *text;
    size_t text_len;
    int64_t i;
    double f;
    int order;

    switch (c->how) {
    case HOW_INTEGER: return slot_integer(slot, len, &i) ? 1u << ((i > c->integer) - (i < c->integer) + 1) : 0;
    case HOW_DOUBLE: return slot_double(slot, len, &f) ? 1u << ((f > c->number) - (f < c->number) + 1) : 0;
    default:
        if (!slot_text(slot, len, &text, &text_len))
            return 0;
        if (c->mask == 2 && text_len != c->text_len)
            return 1;
        order = slot_order_texts(text, text_len, c->text, c->text_len);
        return 1u << ((order > 0) - (order < 0) + 1);
    }
}

screened screen_record(const screen *s, const uint8_t *bytes, size_t len)
{
    if (len < RECORD_HEAD + RECORD_CHECKSUM || bytes[0] != RECORD_NARROW)
        return SCREEN_UNKNOWN;
    uint32_t fields = bytes_u16(bytes + 1);
    const uint8_t *ends = bytes + RECORD_HEAD, *values = ends + (size_t)fields * 2;
    if (len < RECORD_HEAD + RECORD_CHECKSUM + (size_t)fields * 2)
        return SCREEN_UNKNOWN;
    size_t values_len = len - RECORD_HEAD - RECORD_CHECKSUM - (size_t)fields * 2;

    for (uint32_t i = 0; i < s->count; i++) {
        const screen_check *c = &s->checks[i];
        size_t start = 0, end = 0;
        if (c->field < fields) {
            start = c->field ? bytes_u16(ends + (size_t)c->field * 2 - 2) : 0;
            end = bytes_u16(ends + (size_t)c->field * 2);
        }
        if (start == end) {
            if (!c->null_passes)
                return SCREEN_OUT;
            continue;
        }
        unsigned bit = start < end && end <= values_len ? order_bit(c, values + start, end - start) : 0;
        if (!bit)
            return SCREEN_UNKNOWN;
        if (!(bit & c->mask))
            return SCREEN_OUT;
    }
    return s->whole ? SCREEN_IN : SCREEN_UNKNOWN;
}
