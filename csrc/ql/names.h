/* names.h - a set of names, each with the place it stands at, for checks over long lists. */
#ifndef QL_NAMES_H
#define QL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define NAME_ABSENT UINT32_MAX

typedef struct name_slot {
    const char *text; /* NULL: free */
    size_t len;
    uint32_t place;
} name_slot;

typedef struct names {
    name_slot *slots; /* of the arena */
    size_t mask;
} names;

/* Room for `count` names. False: no memory. The names stay the caller's. */
bool names_init(names *n, arena *a, size_t count);

/* The place of a name, or NAME_ABSENT. */
uint32_t names_find(const names *n, const char *text, size_t len);

/* Adds a name that is not there; answers the place of the one that is, or NAME_ABSENT. */
uint32_t names_add(names *n, const char *text, size_t len, uint32_t place);

#endif
