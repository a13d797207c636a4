/* probe.h - the rows of a collection under one key of an index after another, through one statement that
 * stays open.
 *
 * Keys asked for one after another are often neighbours, for rows that belong together are written
 * together. A probe that is asked for a key ahead of the last one therefore goes on from where it stands
 * when the key is near, and seeks otherwise; where keys turn out to jump about, it looks for each alone.
 * Rows are visited from inside SQLite's step, as those of a scan are. */
#ifndef STORE_PROBE_H
#define STORE_PROBE_H

#include "store/conn.h"

#define PROBE_KEY_MAX 255 /* bytes; a longer key is refused */

/* Plain, in the caller's frame, started by probe_init; closed before its snapshot or block ends. Nothing
 * may be written through the connection while it is open. */
typedef struct probe {
    conn *c;
    table entries; /* the index; `field` is the collection */
    struct statement *statement; /* NULL: closed */
    bool alone;     /* it stands on the entries of one key alone */
    bool ahead;     /* it stands on an entry that was not visited */
    bool ended;     /* there is none after the last one */
    uint8_t key[PROBE_KEY_MAX];
    size_t len;     /* of the key asked for; 0: none was */
    unsigned jumps; /* in a row */
    unsigned asked;
} probe;

void probe_init(probe *p, conn *c, uint32_t index, uint32_t collection);
void probe_close(probe *p);

/* Visits the rows of a key, ids ascending, until a visit ends it. An entry whose row is not there is passed
 * over. */
int probe_rows(probe *p, const uint8_t *key, size_t len, row_visit *visit, void *to, error *err);

#endif
