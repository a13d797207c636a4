/* sketch.h - how many different values there were, about: a HyperLogLog (chapter 3 appendix A).
 *
 * A sketch is kept as the bytes it answers:
 *
 *   02 0e  then per register that is set, by index: u16 index, u8 rank   (at most 1 024 of them)
 *   01 0e  then 16 384 ranks */
#ifndef EXEC_SKETCH_H
#define EXEC_SKETCH_H

#include "base/arena.h"
#include "base/error.h"

#define SKETCH_REGISTERS 16384u
#define SKETCH_SPARSE_MAX 1024u

/* What the sketches of a statement may take: 16 384 bytes a dense one, 3 a register of a sparse one. */
#define SKETCHES_BYTES_MAX (64u << 20)

/* Starts as {0}. Its bytes are an arena's. */
typedef struct sketch {
    uint8_t *bytes; /* NULL: nothing was added */
    uint32_t len, cap;
} sketch;

/* Where sketches take their memory, and how much they hold together. */
typedef struct sketch_room {
    arena *memory;
    uint64_t *held; /* of the statement, bounded by SKETCHES_BYTES_MAX */
} sketch_room;

/* FENEC_QUERY past the bound; PANIC. */
int sketch_add(sketch *s, uint64_t hash, const sketch_room *room, error *err);

/* Takes the larger rank of each register. FENEC_TYPE where the bytes are no sketch. */
int sketch_merge(sketch *s, const uint8_t *bytes, size_t len, const sketch_room *room, error *err);

/* Whether the bytes are a sketch: FENEC_OK or FENEC_TYPE. */
int sketch_check(const uint8_t *bytes, size_t len, error *err);

/* Of bytes that sketch_check takes. */
int64_t sketch_estimate(const uint8_t *bytes, size_t len);

#endif
