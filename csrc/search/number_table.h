/* number_table.h - numbers found by what they stand for: open addressing over hashes that the owner works out. */
#ifndef SEARCH_NUMBER_TABLE_H
#define SEARCH_NUMBER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t number_hash(const void *owner, uint32_t n);

/* Zeroed but for hash and owner to start; number_table_clear lets its memory go. */
typedef struct number_table {
    number_hash *hash;
    const void *owner;
    uint32_t *slots; /* 0: free; else the number plus 1 */
    uint32_t cap, used;
} number_table;

void number_table_clear(number_table *t);
bool number_table_room(number_table *t, uint32_t more); /* false: no memory */

/* There is room, and no number that stands for the same. */
void number_table_put(number_table *t, uint32_t n);
void number_table_erase(number_table *t, uint32_t n); /* if it is there */

/* The numbers that may stand for what has that hash: *at starts as anything, *started false. False after the
 * last. */
bool number_table_next(const number_table *t, uint64_t hash, uint32_t *at, bool *started, uint32_t *n);

/* In the place that number_table_next came to. */
static inline void number_table_replace(number_table *t, uint32_t at, uint32_t n)
{
    t->slots[at] = n + 1;
}

#endif
