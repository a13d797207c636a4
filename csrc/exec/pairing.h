/* pairing.h - the fields by which the rows of a lookup level belong to a row of the level above: which
 * index names them for a parent, and whether a named one does (chapter 3 section 12.2). */
#ifndef EXEC_PAIRING_H
#define EXEC_PAIRING_H

#include "base/buffer.h"
#include "exec/access.h"
#include "exec/context.h"
#include "store/probe.h"

/* One side of a pair: a field, or the id. */
typedef struct pairing_side {
    const catalog_field *field; /* NULL: the id */
    uint32_t place;             /* in the collection's fields */
    uint32_t column;            /* of a group */
} pairing_side;

typedef struct pairing_key {
    pairing_side child, parent;
    type child_type;
} pairing_key;

/* Immutable, in the arena it was bound in. */
typedef struct pairing {
    const collection *of, *above; /* above NULL: the parents are groups */
    pairing_key *keys;
    uint32_t count;
    uint32_t probed;            /* the key that names rows */
    const catalog_index *index; /* NULL: by id */
} pairing;

/* The list and the keys of the groups that a first level hangs off. */
typedef struct pairing_groups {
    const collection *of;
    const select_stmt *s;
} pairing_groups;

/* Either `above` or `groups` is given. NOT_FOUND, TYPE, FENEC_QUERY. */
int pairing_bind(const lookup *l, const collection *of, const collection *above, const pairing_groups *groups,
                 arena *a, pairing *out, error *err);

/* What a parent's children hold: a value a key, in the form of the child's field. */
typedef struct wanted {
    value *values; /* the pairing's count of them, the caller's */
    buffer *key;   /* room for keys of an index */
    bool none;     /* there can be no child */
    bool exact;    /* every row the index names is one */
} wanted;

/* Of a row, or of the columns of a group. What it takes from `a` stays until the caller gives it back. */
int pairing_want(const pairing *p, const row *parent, const value columns[], arena *a, wanted *w, error *err);

/* The rows an index names for them, those of one key through `through`: access_clear lets it go. */
int pairing_access(const pairing *p, const wanted *w, probe *through, access *out, error *err);

/* Whether a row has them. */
int pairing_holds(const pairing *p, const wanted *w, const row *child, arena *a, bool *out, error *err);

/* ---- the other way round: the parents a child's key names ---- */

/* Whether parents are found by their keys: the parent's side of the probed key is its id or has an index. */
bool pairing_reverses(const pairing *p, const catalog_index **index);

/* Adds the ids of the parents of a child; some of them need not be there. *exact false: some are no
 * parents of it, or it cannot be told. */
int pairing_parents(const pairing *p, const catalog_index *index, const row *child, conn *c, buffer *key, arena *a,
                    ids *out, bool *exact, error *err);

#endif
