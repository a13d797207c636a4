/* ids.h - a growing list of ids. */
#ifndef EXEC_IDS_H
#define EXEC_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Starts as {0}; ids_clear lets its memory go. */
typedef struct ids {
    int64_t *at;
    size_t count, cap;
} ids;

void ids_clear(ids *l);
int ids_add(ids *l, int64_t id, error *err);
int ids_append(ids *l, const ids *more, error *err);
int ids_order(ids *l, error *err); /* ascending, each once */

/* Ascending; `spare` has room for as many. */
void ids_sort(int64_t at[], size_t count, int64_t spare[]);

#endif
