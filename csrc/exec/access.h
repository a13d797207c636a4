/* access.h - the cheapest way to the rows a filter may pass, and the rows along it.
 *
 * Only operands of the filter's top-level `and` chain narrow. A way names every row that passes; unless
 * it is `exact` it may name others, so the rows are tested with the whole filter. */
#ifndef EXEC_ACCESS_H
#define EXEC_ACCESS_H

#include "exec/context.h"
#include "exec/expr.h"
#include "exec/ids.h"
#include "value/key.h"

typedef enum condition_kind {
    CONDITION_ID,       /* id = v */
    CONDITION_ID_IN,    /* id in [...] */
    CONDITION_ID_RANGE, /* id > v, ... */
    CONDITION_EQUAL,    /* a field with an index = v */
    CONDITION_IN,       /* a field with an index in [...] */
    CONDITION_RANGE,    /* a @sorted field < v, ... */
    CONDITION_EXPIRED,  /* expired(): a range of the @ttl field's index */
    CONDITION_AREA      /* a @geo field in a circle or a box */
} condition_kind;

typedef struct condition {
    condition_kind kind;
    const bound *node;
    const catalog_index *index; /* NULL over the id */
} condition;

/* Immutable, in the arena it was bound in. */
typedef struct access_plan {
    const collection *of;
    const bound *filter; /* NULL: every row passes */
    condition *conditions;
    uint32_t count;
    uint32_t operands; /* of the filter's `and` chain */
} access_plan;

int access_bind(const collection *of, const bound *filter, arena *a, access_plan *out, error *err);

typedef enum access_kind {
    ACCESS_SCAN, /* ids low..high */
    ACCESS_ID,   /* the row of `low` */
    ACCESS_KEY,  /* the entries of one key, by ascending id */
    ACCESS_RANGE,/* the entries of a range */
    ACCESS_LIST, /* ids */
    ACCESS_PROBE /* the entries of one key, by ascending id, through a probe that stays open */
} access_kind;

/* A part of an index, the bytes of its ends included. Above every key of a prefix stands the prefix and
 * bytes of 0xFF up to the longest. */
typedef struct access_bounds {
    uint8_t low[KEY_MAX + 1], high[KEY_MAX + 1];
    size_t low_len, high_len;
    bool has_low, has_high, above_low, below_high;
} access_bounds;

/* Lives in the caller's frame; access_clear lets its memory go. */
typedef struct access {
    access_kind kind;
    bool exact;
    int64_t low, high; /* SCAN, ID */
    const catalog_index *index;
    access_bounds bounds; /* KEY, RANGE */
    const condition *list; /* LIST not made yet: IN or ID_IN */
    bool is_made;          /* LIST: `rows` stand */
    bool is_lent;          /* LIST: they are somebody else's */
    ids rows;              /* ascending, each once */
    int64_t named;   /* rows it names at most; INT64_MAX where nobody counted */
    const char *how; /* for explain */
    struct probe *probe; /* PROBE: the caller's; the low end of `bounds` is the key. Rows are swept, never opened */
} access;

/* `page`: how many rows that pass are wanted, in ascending id; INT64_MAX: all of them. */
int access_choose(const access_plan *p, const context *cx, const constant *resolved, int64_t page, access *out,
                  error *err);
/* The same, where no more than `most` rows are of use: an index that names as many is as none, and counted no
 * further. */
int access_choose_few(const access_plan *p, const context *cx, const constant *resolved, int64_t most, access *out,
                      error *err);
void access_clear(access *a);

/* Where the whole filter is a part of one index whose entries are its rows, counting them reads no row:
 * *counts, and how many. */
int access_count(const access_plan *p, const context *cx, const constant *resolved, bool *counts, int64_t *out,
                 error *err);

/* The part of a @sorted index that the filter's conditions on it leave; *exact where they are the whole
 * filter. *usable false where the index holds what it cannot place. */
int access_walk(const access_plan *p, const context *cx, const constant *resolved, const catalog_index *index,
                access_bounds *out, bool *exact, bool *usable, error *err);

key_range access_range(const access_bounds *b); /* borrows *b */

/* The index of a field or path, NULL where there is none that is ready. */
const catalog_index *access_index(const collection *of, const bound *name);

/* Whether an index is one to walk in order: @sorted and ready. It holds the order of its field's collation. */
bool access_orders(const catalog_index *index);

/* The rows of an access in ascending id (SCAN: descending where asked). */
typedef struct access_rows {
    const access *from;
    const collection *of;
    conn *c;
    cursor cur;
    size_t at;
    bool done;
} access_rows;

int access_open(access_rows *rows, access *from, const collection *of, const context *cx,
                const constant *resolved, bool descending, error *err);
int access_next(access_rows *rows, row *r, error *err); /* FENEC_OK, FN_END */
void access_close(access_rows *rows);

/* The ids that an access by an index or a list names (no scan, no probe), in no order, no row read. */
int access_ids(access *from, const collection *of, const context *cx, const constant *resolved, ids *out, error *err);

/* The row an index entry names; CORRUPT where there is none. */
int access_row(const collection *of, conn *c, int64_t id, row *r, error *err);

#endif
