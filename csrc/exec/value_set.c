#include "exec/value_set.h"

#include <math.h>
#include <string.h>

#include "exec/ids.h"
#include "value/timestamp.h"

#define WHOLE_MAX ((int64_t)1 << 53) /* whole numbers below it are doubles, each its own */

static int order_texts(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a, b, len) : 0;

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static bool is_number(const value *v)
{
    return v->kind == VALUE_INT || v->kind == VALUE_FLOAT || v->kind == VALUE_TIMESTAMP;
}

static bool is_octets(const value *v)
{
    return v->kind == VALUE_TEXT || v->kind == VALUE_BYTES;
}

static double double_of(const value *v)
{
    return v->kind == VALUE_FLOAT ? v->number : (double)v->integer;
}

/* Not NaN. */
static int64_t turned(double f)
{
    int64_t bits;

    f += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &f, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

/* Whether a number equals another exactly where they are one double. */
static bool is_double(const value *v)
{
    if (v->kind == VALUE_FLOAT)
        return !isnan(v->number);
    return is_number(v) && v->integer > -WHOLE_MAX && v->integer < WHOLE_MAX;
}

/* Heap sort: no recursion, no memory. */
void values_sort_texts(value at[], uint32_t count)
{
    for (uint32_t first = count / 2, end = count; end > 1;) {
        if (first > 0) {
            first--;
        } else {
            end--;
            value top = at[0];
            at[0] = at[end];
            at[end] = top;
        }
        value moved = at[first];
        uint32_t root = first, child;
        while ((child = 2 * root + 1) < end) {
            if (child + 1 < end &&
                order_texts(at[child].bytes, at[child].len, at[child + 1].bytes, at[child + 1].len) < 0)
                child++;
            if (order_texts(at[child].bytes, at[child].len, moved.bytes, moved.len) <= 0)
                break;
            at[root] = at[child];
            root = child;
        }
        at[root] = moved;
    }
}

bool values_hold_text(const value at[], uint32_t count, const uint8_t *text, size_t len)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (order_texts(at[middle].bytes, at[middle].len, text, len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && !order_texts(at[low].bytes, at[low].len, text, len);
}

int value_set_make(value_set *s, const value values[], uint32_t count, arena *a, error *err)
{
    size_t room = count ? count : 1;
    int64_t *spare = arena_alloc(a, room * sizeof *spare);

    *s = (value_set){.numbers = arena_alloc(a, room * sizeof *s->numbers),
                     .instants = arena_alloc(a, room * sizeof *s->instants),
                     .texts = arena_alloc(a, room * sizeof *s->texts),
                     .others = arena_alloc(a, room * sizeof *s->others)};
    if (!spare || !s->numbers || !s->instants || !s->texts || !s->others)
        return fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const value *v = &values[i];
        if (v->kind == VALUE_TIMESTAMP)
            s->instants[s->instant_count++] = v->integer;
        if (is_double(v))
            s->numbers[s->number_count++] = turned(double_of(v));
        else if (is_octets(v))
            s->texts[s->text_count++] = *v;
        else
            s->others[s->other_count++] = *v;
    }
    ids_sort(s->numbers, s->number_count, spare);
    ids_sort(s->instants, s->instant_count, spare);
    values_sort_texts(s->texts, s->text_count);
    return FENEC_OK;
}

static bool one_by_one(const value at[], uint32_t count, const value *v)
{
    for (uint32_t i = 0; i < count; i++)
        if (value_equal(&at[i], v))
            return true;
    return false;
}

static bool number_holds(const value_set *s, const value *v)
{
    double f = double_of(v);

    if (isnan(f))
        return s->number_count || one_by_one(s->others, s->other_count, v);
    return integers_hold(s->numbers, s->number_count, turned(f)) ||
           one_by_one(s->others, s->other_count, v) ||
           (v->kind == VALUE_TIMESTAMP && one_by_one(s->texts, s->text_count, v)); /* spelled */
}

static bool text_holds(const value_set *s, const value *v)
{
    int64_t ms;

    if (values_hold_text(s->texts, s->text_count, v->bytes, v->len))
        return true;
    return s->instant_count && v->kind == VALUE_TEXT && timestamp_read(v->bytes, v->len, &ms) &&
           integers_hold(s->instants, s->instant_count, ms);
}

bool value_set_holds(const value_set *s, const value *v)
{
    if (is_number(v))
        return number_holds(s, v);
    return is_octets(v) ? text_holds(s, v) : one_by_one(s->others, s->other_count, v);
}
