/* tally.h - aggregates: what is kept of the rows seen, and what is answered from it (chapter 3 section 9).
 *
 * A state is plain bytes that start zeroed: before its first row. What it keeps of a value stands in a
 * room; distinct values and sketches, which have bounds of their own, stay with the run. So a state can be
 * packed, put aside and unpacked later, and goes on as if nothing had happened. */
#ifndef EXEC_TALLY_H
#define EXEC_TALLY_H

#include "exec/distinct.h"
#include "exec/expr.h"
#include "exec/sketch.h"

typedef enum tally_kind {
    TALLY_COUNT, /* of rows */
    TALLY_DISTINCT,
    TALLY_SUM,
    TALLY_AVG,
    TALLY_MIN,
    TALLY_MAX,
    TALLY_FIRST,
    TALLY_LAST,
    TALLY_APPROX,     /* approx_count_distinct */
    TALLY_ACCUMULATE, /* hll_accumulate */
    TALLY_COMBINE     /* hll_combine */
} tally_kind;

/* How the argument is read. */
typedef enum tally_source {
    TALLY_NOTHING,
    TALLY_INTEGER, /* a plain field of ints or timestamps, from its bytes in the record */
    TALLY_NUMBER,  /* a plain field of floats, from its bytes */
    TALLY_BYTES,   /* a plain field whose bytes tell its values apart */
    TALLY_VALUE    /* any other */
} tally_source;

/* One call, bound. Immutable. */
typedef struct tally {
    tally_kind kind;
    tally_source source;
    uint32_t number;    /* of the field in records, where the source is one */
    bool is_timestamp;  /* INTEGER */
    collation collate;  /* MIN, MAX */
    const bound *e;     /* NULL: NOTHING */
    const bound *by;    /* FIRST, LAST; NULL: by id, which is the order rows come in */
    const expr *call;   /* as written */
    uint64_t alike; /* the same for two calls that are the same; 0: it is like no other */
    size_t at;          /* of its state */
} tally;

/* The calls of a list. Their states stand one after another, state_len bytes aligned for any of them. */
typedef struct tallies {
    tally *items;
    uint32_t count, cap;
    size_t state_len;
} tallies;

/* The place of a call among them, which is added unless it stands there. NOT_FOUND, TYPE, FENEC_QUERY. */
int tallies_bind(tallies *t, const expr *call, const collection *of, constants *once, arena *a,
                 uint32_t *place, error *err);

/* What a statement may hold, counted over all its runs. Starts as {0}. */
typedef struct tally_limits {
    uint64_t distinct; /* values */
    uint64_t sketches; /* bytes */
} tally_limits;

/* Memory of values that states keep. */
typedef struct tally_room {
    arena memory;
    size_t used;
} tally_room;

typedef struct tally_run {
    scope s; /* the row is set by whoever adds it */
    tally_limits *limits;
    distinct seen;
    arena sketches;
    uint64_t sketch_bytes; /* of the limit */
    buffer bytes;
} tally_run;

void tally_run_init(tally_run *r, const scope *s, tally_limits *limits);
void tally_run_clear(tally_run *r);
void tally_run_reset(tally_run *r); /* states are begun anew: what they held no longer counts */

/* Adds the row of r->s. Rows come in ascending id; `group` tells groups of a run apart. */
int tallies_add(const tallies *t, void *states, uint64_t group, tally_run *r, tally_room *room, error *err);

/* Takes over a value of MIN or MAX that was found another way. */
int tally_take(const tally *t, void *states, const value *v, tally_room *room, error *err);

/* What it comes to. Borrows the state and what it keeps. */
void tally_answer(const tally *t, const void *states, value *out);

/* Appends the states, and reads them back into states[0..state_len) and a room: CORRUPT where the bytes
 * are none of ours, PANIC. */
void tallies_pack(const tallies *t, const void *states, buffer *out);
int tallies_unpack(const tallies *t, void *states, const uint8_t *bytes, size_t len, tally_room *room,
                   error *err);

#endif
