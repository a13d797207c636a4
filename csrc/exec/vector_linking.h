/* vector_linking.h - what is done for @hnsw indexes behind the writers: vectors are linked, what is linked is
 * saved, and an index of which much is gone is made anew. */
#ifndef EXEC_VECTOR_LINKING_H
#define EXEC_VECTOR_LINKING_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/block.h"

/* Jobs of maintenance.h, with the writer, for the index of that number. Settling saves whatever is not saved. */
void vector_linking(void *writer, uint32_t index, bool *again);
void vector_settling(void *writer, uint32_t index, bool *again);

/* The same for one that is not in memory: reads it beside writers, and publishes it. */
void vector_reading(void *writer, uint32_t index, bool *again);

/* Saves what is worth it, after maintenance_stop. */
void vector_closing(writer *w, uint32_t index, struct scratch *memory);

#endif
