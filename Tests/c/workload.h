/* workload.h - a scripted life of a database with an index of every kind, and what it must answer after each step.
 *
 * A step is one call of the C interface. A fault-free run notes after each one the answers to many questions,
 * through every index and past it: its state. Whatever happens to a database later, it is in the state after one
 * of the steps, or it lost or broke something. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "test_vfs.h"

#define WORKLOAD_FILE "/work.fenec"

typedef enum step_kind {
    STEP_QUERY,
    STEP_SCHEMA,     /* apply */
    STEP_DESCRIBE,
    STEP_CHANGES,
    STEP_WARM,
    STEP_FLUSH,
    STEP_SYNC,
    STEP_CHECKPOINT
} step_kind;

typedef struct step {
    step_kind kind;
    const char *text, *params;
    bool reads; /* leaves the state as it is */
} step;

typedef struct workload {
    step *steps;
    int count;
    char **states;      /* states[k] after k steps, 0 the new database */
    test_disk **starts; /* the disk after k steps and a kill; where they were kept */
} workload;

/* Makes the script and runs it once. `keep`: starts too. Fails the test where a step fails, or where an index
 * answers other rows than a read past it. */
workload *workload_new(bool keep);
void workload_free(workload *w);

/* As fenec_open, on a disk: the code, with the handle in *h on success. */
int workload_open(test_disk *d, uint32_t flags, uint64_t *h, char **answer);
int workload_step(uint64_t h, const step *s, char **answer); /* the code */

/* All the answers; free() it. *ios counts questions that answered something else than OK or an error that
 * belongs to the state (NOT_FOUND and QUERY of what is not declared yet). */
char *workload_ask(uint64_t h, int *failed);

/* Which state that is, looked for from `least` to `most`; -1 with the test failed and where it differs named. */
int workload_find(const workload *w, const char *state, int least, int most, const char *when);

/* As find, after asking. */
int workload_state(const workload *w, uint64_t h, int least, int most, const char *when);

/* What does not agree in the database fails the test. */
void workload_check(uint64_t h, const char *when);

/* Opens the disk without a fault, finds the state, checks it whole, goes on with up to `further` steps from there, closes.
 * The state found; -1. */
int workload_reopen(const workload *w, test_disk *d, int least, int most, int further, const char *when);

const char *workload_name(const workload *w, int k); /* of step k, from 0, for messages */

#endif
