/* comparison.h - a database held against the schema an app declares (chapter 6 sections 7 to 9).
 *
 * What only adds becomes statements. What could lose data, or could mean two things, becomes a refusal
 * that says what differs and how to resolve it. The order is a constant one. */
#ifndef CATALOG_COMPARISON_H
#define CATALOG_COMPARISON_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/description.h"

typedef struct comparison {
    char **statements; /* NUL-terminated, to be run in order */
    uint32_t statement_count;
    buffer refusals; /* {"kind":K,...}, separated by commas */
    uint32_t refusal_count;
} comparison;

/* `follow`: the database is somebody else's; nothing is added, what it has and the code lacks is its own.
 * Statements live in `a`. PANIC. *out is to be cleared, also after a failure. */
int comparison_make(const catalog *cat, const description *d, bool follow, arena *a, comparison *out, error *err);
void comparison_clear(comparison *c);

#endif
