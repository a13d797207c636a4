/* group.h - groups by key, each with the states of a list of aggregates.
 *
 * A hash table with open addressing; groups, their keys and states and what these keep stand in one arena.
 * Past a bound all of it is put aside (store/spill.h), packed, and a group whose key comes again is taken
 * back and goes on as it was: memory stays bounded and the answer is the same to the byte. */
#ifndef EXEC_GROUP_H
#define EXEC_GROUP_H

#include "exec/tally.h"
#include "store/spill.h"

#define GROUPS_BYTES_MAX ((size_t)64 << 20)

typedef struct group {
    uint64_t hash;
    uint64_t head;   /* of the key: all of one up to 8 bytes */
    uint64_t number; /* groups are counted as their keys first come: by their first row */
    size_t key_len;  /* bytes of the key, after the states */
    uint64_t states[];
} group;

typedef struct group_slot {
    uint64_t hash;
    group *g; /* NULL: free */
} group_slot;

/* Lives in the caller's frame; groups_clear lets its memory go. */
typedef struct groups {
    const tallies *of;
    size_t bytes_max;
    tally_room room;
    group **all;
    size_t count, cap; /* of those in memory */
    group_slot *slots;
    size_t mask;
    uint64_t made, before; /* groups so far; of these, before the last reset */
    spill *aside;  /* NULL: all of them are in memory */
    uint8_t *seen; /* a bit for each hash put aside, shared by some: most keys that come are new */
    tally_room one; /* a group read back to be looked at */
    buffer packed;
} groups;

void groups_init(groups *t, const tallies *of, size_t bytes_max);
void groups_clear(groups *t);

/* Tests only: the bound of this thread's tables from now on, whatever is asked for; 0 ends it. */
void groups_bound(size_t bytes_max);

/* Forgets the groups, for further rows. Numbers go on. */
void groups_reset(groups *t);

/* The group of a key, made where it is new. It stays until the next call. IO where it has to be put aside
 * and cannot; PANIC. */
int groups_find(groups *t, const uint8_t *key, size_t len, group **out, error *err);

/* Every group once, in the order of their numbers unless some were put aside. `place` is for groups_at.
 * No group is found after this. */
typedef int groups_visit(void *to, const group *g, int64_t place, error *err);
int groups_each(groups *t, groups_visit *visit, void *to, error *err);

/* A group by its place. It stays until the next call. */
int groups_at(groups *t, int64_t place, const group **out, error *err);

static inline uint64_t groups_count(const groups *t)
{
    return t->made - t->before;
}

static inline const uint8_t *group_bytes(const groups *t, const group *g)
{
    return (const uint8_t *)g->states + t->of->state_len;
}

#endif
