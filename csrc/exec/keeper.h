/* keeper.h - the thread of an open file that looks after it every five seconds. */
#ifndef EXEC_KEEPER_H
#define EXEC_KEEPER_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct keeper keeper;

/* Looks from then on; `with` must live until keeper_stop. NULL where there is no memory or thread for it. */
keeper *keeper_start(void (*look)(void *with), void *with);

/* Waits for the look under way; frees it. NULL does nothing. Not in a forked child, where there is no thread. */
void keeper_stop(keeper *k);

/* Milliseconds between two looks, of keepers started later. Tests shorten it. */
extern _Atomic(uint64_t) keeper_ms;

#endif
