/* id_set.h - a set of document ids, all from 1 on. */
#ifndef EXEC_ID_SET_H
#define EXEC_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}; id_set_clear lets its memory go and leaves it empty. */
typedef struct id_set {
    int64_t *at; /* open addressing; 0: nobody */
    size_t count, cap;
} id_set;

bool id_set_add(id_set *s, int64_t id); /* false: no memory */
bool id_set_has(const id_set *s, int64_t id);
void id_set_clear(id_set *s);

#endif
