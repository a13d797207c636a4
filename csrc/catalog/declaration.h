/* declaration.h - a collection as an app declares it, and the statements that make it, as exact text
 * (chapter 6 section 9): tools show them and migrations quote them, so every option stands there. */
#ifndef CATALOG_DECLARATION_H
#define CATALOG_DECLARATION_H

#include "base/buffer.h"
#include "catalog/catalog.h"
#include "ql/ast.h"

/* An index on a path into a json field; `on` begins with the field's name. */
typedef struct declared_path {
    path on;
    index_spec index;
    uint32_t field; /* place */
} declared_path;

typedef struct declaration {
    const char *name; /* NUL-terminated, as every name here */
    field_def *fields;
    uint32_t field_count;
    declared_path *paths; /* by field, then as declared */
    uint32_t path_count;
} declaration;

/* A field of a database as one would declare it; an index that is still being built is none. */
field_def declared_field(const catalog_field *f);

/* Options that mean nothing beside others take one value, so that equal indexes are equal specs. */
index_spec index_spec_normal(const index_spec *spec);
bool index_spec_equal(const index_spec *a, const index_spec *b); /* of normal ones */

/* What a rebuild's `set` cannot read: null, true, false and not, in any ASCII case. */
bool field_is_readable(const char *name);

void spell_index(buffer *out, const index_spec *spec); /* "@ttl(30m)"; "none" where there is none */
void spell_field(buffer *out, const field_def *f);     /* "title text required @text(k1=0.9, b=0.4)" */
void spell_create(buffer *out, const declaration *d);
void spell_add(buffer *out, const char *of, const field_def *f); /* never required */
void spell_create_index(buffer *out, const char *of, const char *on, const index_spec *spec);
void spell_delete(buffer *out, const char *of); /* "del note", to which a condition is added */

/* The migration that makes the field anew and keeps its values (chapter 6 section 10.3). */
void spell_rebuild(buffer *out, const declaration *d, uint32_t field);

const char *collation_name(collation c); /* "none", "und", "tr" */

#endif
