/* recover.h - what can be read of a file that may be damaged anywhere, as a new database.
 *
 * Declarations, records and values beside them are taken over as they stand, where their checksums and forms are
 * right; indexes are built anew. Rows of which no declaration is left go as JSON, a line each, to a file called as
 * the new one and ".strays.jsonl": {"table": where it stood, "id": ..., "values": {"f0": ...}}, by number of the
 * field. */
#ifndef EXEC_RECOVER_H
#define EXEC_RECOVER_H

#include <stddef.h>

#include "base/error.h"
#include "exec/check.h"

typedef struct recover_report {
    int64_t collections, documents; /* taken over */
    int64_t strays;                 /* rows in the file of JSON */
    int64_t lost;                   /* lines that the watch was told */
    bool stopped;                   /* by goes_on: nothing was written */
} recover_report;

/* FENEC_OK where a database was written, whatever is missing in it: the watch is told. CORRUPT: there is nothing to be
 * read; IO, LOCKED, PANIC. */
int recover_run(const uint8_t *file, size_t file_len, const uint8_t *to, size_t to_len, bool replace,
                const check_watch *watch, recover_report *out, error *err);

#endif
