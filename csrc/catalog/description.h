/* description.h - a schema as an app hands it over (chapter 6 sections 2 to 5), and as it is read back.
 *
 * It is one JSON object; the collections stand in it as lists or as FenecQL, which give the same. Nothing
 * in it is trusted: what is misspelt, twice or out of place is refused, with the place. */
#ifndef CATALOG_DESCRIPTION_H
#define CATALOG_DESCRIPTION_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/declaration.h"
#include "ql/parser.h"

/* FenecQL, or the rebuild of a field. */
typedef struct migration {
    const char *text; /* NULL: a rebuild */
    size_t len;
    const char *collection, *field;
} migration;

typedef struct description {
    declaration *collections;
    uint32_t count;
    migration *migrations;
    uint32_t migration_count;
    arena memory; /* holds everything here but what FenecQL declares: */
    parsed text;
} description;

/* Reads text[0..len), valid UTF-8. QUERY, TYPE, EXISTS, NOT_FOUND (chapter 6 section 14); the message
 * begins "schema description: " and the place. *out is to be cleared on success alone. */
int description_read(const uint8_t *text, size_t len, description *out, error *err);
void description_clear(description *d);

/* The same of FenecQL alone: fills collections and text. Names of the place are the caller's to add. */
int description_read_text(const uint8_t *text, size_t len, description *out, error *err);

/* Where a collection is declared, NULL: nowhere. */
const declaration *description_find(const description *d, const char *name);

/* {"format":1,"collections":[...]}: what plans nothing against the same database (chapter 6 section 13). */
void description_write(const catalog *cat, buffer *out);

#endif
