/* check.h - whether what a database holds agrees with itself, as one committed state has it.
 *
 * Looked at are SQLite's pages; the catalog and the numbers beside it; of every document its record's
 * checksum, the form and type of every value, and what stands in side tables; every index against the
 * documents, both ways; that what is unique is. Reads and writes go on beside it. */
#ifndef EXEC_CHECK_H
#define EXEC_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* Who is told. `found` gets a line for every finding, naming collection, field and id; after 100 of a kind
 * in one collection one that says how many more there are. `goes_on` (may be NULL) is asked now and then, with
 * what is looked at and how far that is; false ends the check. */
typedef struct check_watch {
    void (*found)(void *to, const char *line);
    bool (*goes_on)(void *to, const char *what, int64_t done, int64_t of);
    void *to;
} check_watch;

typedef struct check_report {
    int64_t collections, indexes, documents;
    int64_t side_values; /* large values and vectors */
    int64_t entries;     /* of indexes */
    int64_t postings;    /* of text indexes */
    int64_t findings;
    bool stopped; /* by goes_on */
} check_report;

typedef struct backup_report {
    int64_t documents, bytes; /* copied */
    bool stopped;             /* by goes_on: there is no copy */
} backup_report;

#endif
