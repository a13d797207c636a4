/* handles.h - the numbers fenec_open hands out, and the databases behind them. */
#ifndef ABI_HANDLES_H
#define ABI_HANDLES_H

#include <stdint.h>

#include "base/error.h"
#include "exec/database.h"

/* A place kept for a database about to be opened, so that no open fails after the file was touched. */
typedef struct handle handle;

handle *handle_new(void); /* NULL: no memory */

/* The number of a database that opened; the table owns both from here on. */
uint64_t handle_register(handle *h, database *d);
void handle_discard(handle *h); /* of an open that failed */

/* The database of a number, kept alive until handle_done; NULL with MISUSE in *err where none is open under
 * it, and in a child of the process that opened it. */
handle *handle_find(uint64_t number, error *err);
database *handle_database(handle *h);
void handle_done(handle *h);

/* As handle_find, and the number is open no more: of several closes one gets it. */
handle *handle_remove(uint64_t number, error *err);

#endif
