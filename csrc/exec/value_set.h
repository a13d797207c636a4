/* value_set.h - whether a value equals one of many, by the equality of chapter 2 section 8.1.
 *
 * Numbers and texts are found by halving; what is neither is compared one after another. */
#ifndef EXEC_VALUE_SET_H
#define EXEC_VALUE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "value/value.h"

/* In the arena it was made in; borrows what its values point to. */
typedef struct value_set {
    int64_t *numbers;  /* doubles so turned that their order is that of the ints */
    int64_t *instants; /* milliseconds of the timestamps, which stand among the numbers too */
    value *texts;      /* and bytes, by octets */
    value *others;
    uint32_t number_count, instant_count, text_count, other_count;
} value_set;

/* Of values that are not null. PANIC. */
int value_set_make(value_set *s, const value values[], uint32_t count, arena *a, error *err);
bool value_set_holds(const value_set *s, const value *v);

/* Ascending, by octets. */
void values_sort_texts(value at[], uint32_t count);
bool values_hold_text(const value at[], uint32_t count, const uint8_t *text, size_t len);

/* Of ascending ints. */
static inline bool integers_hold(const int64_t at[], uint32_t count, int64_t i)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && at[low] == i;
}

#endif
