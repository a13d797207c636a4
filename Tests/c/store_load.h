/* store_load.h - a scripted load of a store, block by block, and what must be there after each.
 *
 * Block n of a seed is always the same: it puts, overwrites and deletes some rows with their index
 * entries and notes its number. Doing the last one again changes nothing. So whatever a store holds after
 * an accident has to be, to the byte, the state after one of the blocks. */
#ifndef STORE_LOAD_H
#define STORE_LOAD_H

#include "store/store.h"

typedef struct store_load {
    uint64_t seed;
    uint32_t row_bytes; /* about as many in a row */
} store_load;

/* Block n, from 1, after n - 1. *ticket is for store_wait. */
int store_load_block(store *s, const store_load *l, uint32_t n, uint64_t *ticket, error *err);

/* Inside a block: what store_load_block does between begin and commit. */
int store_load_write(conn *c, const store_load *l, uint32_t n, error *err);

/* Reads all of it. FENEC_OK: whole, *n is the last block in it (0: nothing). A store that answers but
 * holds no such state fails the test, and *n is UINT32_MAX. Otherwise the store's code. */
int store_load_read(store *s, const store_load *l, uint32_t *n, error *err);

#endif
