/* maintenance.h - the one thread of a database that works behind its writers: search indexes merge their
 * segments on it and link their vectors.
 *
 * It starts with the first job. A job is for one thing, by number, and runs once however often it was asked
 * for before it began. It takes the writer's lock for short blocks only, and looks now and then whether it is
 * to stop; what it did not finish is for the next time. */
#ifndef EXEC_MAINTENANCE_H
#define EXEC_MAINTENANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct maintenance maintenance;

/* `with` is maintenance_ask's. *again: there is more to do, after other jobs had their turn. What fails is
 * left for whoever asks next. */
typedef void job(void *with, uint32_t number, bool *again);

maintenance *maintenance_new(void); /* NULL: no memory */
void maintenance_free(maintenance *m); /* after maintenance_stop */

/* Asks for a job soon. Never waits; where there is no memory nothing is asked. `with` must live until
 * maintenance_stop. Any lock below LOCK_LEAF may be held. */
void maintenance_ask(maintenance *m, job *run, void *with, uint32_t number);

/* Waits until no job is left, or the thread is to stop. No lock may be held; not by a job. */
void maintenance_wait(maintenance *m);

/* Whether a job is to come to an end. */
bool maintenance_stops(const maintenance *m);

/* Ends the thread after the job under way; later jobs are not taken. */
void maintenance_stop(maintenance *m);

#endif
