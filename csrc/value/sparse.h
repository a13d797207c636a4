/* sparse.h - sparse vectors as text: {i:w,...}/N, indices from 1 (chapter 2 section 4.2, 4 section 10). */
#ifndef VALUE_SPARSE_H
#define VALUE_SPARSE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "value/value.h"

#define SPARSE_ENTRY 8 /* bytes of an entry as a value holds it: dimension less 1, weight */

/* Text of dimension `dimension` (0: of any) into a VALUE_SPARSE of the arena. FENEC_TYPE. */
int sparse_read(const uint8_t *text, size_t len, uint32_t dimension, arena *a, value *out, error *err);
void sparse_write(buffer *out, const value *sparse); /* without quotes */
uint32_t sparse_dimension(const value *sparse);

/* Its `count` entries, by ascending dimension; no weight is 0. */
const uint8_t *sparse_entries(const value *sparse);

#endif
