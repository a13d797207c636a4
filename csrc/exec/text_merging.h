/* text_merging.h - segments of @text and @inverted indexes merged behind the writers. */
#ifndef EXEC_TEXT_MERGING_H
#define EXEC_TEXT_MERGING_H

#include <stdbool.h>
#include <stdint.h>

/* Jobs of maintenance.h, with the writer, for the index of that number: what is worth merging, or all. */
void text_merging(void *writer, uint32_t index, bool *again);
void text_merging_whole(void *writer, uint32_t index, bool *again);

#endif
