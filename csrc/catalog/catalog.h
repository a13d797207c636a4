/* catalog.h - the collections of a database: what is declared, and where each thing stands in the file.
 *
 * A catalog is one committed state of all declarations: immutable, reference-counted (store/store.h's
 * version), shared between threads. A change makes a new catalog that shares every collection it does not
 * touch, and writes the touched declaration's row through the block's connection; the new catalog is the
 * block's until it is published with the commit. */
#ifndef CATALOG_CATALOG_H
#define CATALOG_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "ql/ast.h"
#include "store/conn.h"
#include "store/store.h"
#include "value/type.h"

/* Rows of table_meta. Its other numbers are the id marks, one a collection that needs it. */
#define META_CHANGES 0 /* u64: how many changes have landed */
#define META_NUMBERS 1 /* u32 next_collection, u32 next_index */
#define META_MARK(collection) ((int64_t)1 << 32 | (int64_t)(collection)) /* i64: see exec/id_marks.h */

typedef enum index_state {
    INDEX_READY,
    INDEX_BUILDING, /* not there yet: nothing reads or shows it; how far it is, exec/build.h knows */
    INDEX_DECLARED, /* of a kind, or over a collation, that this build keeps no entries for */
    INDEX_UNBUILT   /* declared where none were kept, or kept in another order: built by the first use of its
                       collection (exec/unbuilt.h); the file says declared until it is */
} index_state;

typedef struct catalog_index {
    uint32_t number; /* of its table; never used again */
    index_spec spec;
    index_state state;
    uint32_t field;    /* place in the collection's fields */
    path on;           /* part_count 1: the field itself */
    bool lapsed;       /* the file says ready, in an order that is not this build's */
} catalog_index;

typedef struct catalog_field {
    uint32_t number; /* in records; never used again */
    const char *name;
    uint32_t name_len;
    type type;
    bool required;
    collation collate;
    const catalog_index *index; /* of the field itself, in any state; NULL without */
} catalog_field;

typedef struct collection {
    _Atomic(long) references;
    arena memory; /* holds everything here */
    uint64_t shape; /* differs when fields or indexes do; of a process */
    uint32_t number;
    const char *name;
    uint32_t name_len;
    uint32_t next_field; /* field numbers are below */
    bool has_dropped;    /* records may hold values of dropped fields, until a compact */
    catalog_field *fields;
    uint32_t field_count;
    catalog_index *indexes; /* those of fields in field order, then those of paths: by field, then creation */
    uint32_t index_count;
    int32_t ttl_field; /* place of the field with @ttl, -1 without */
    int64_t ttl_ms;
} collection;

typedef struct catalog {
    version head;
    uint64_t stamp; /* differs between any two catalogs of a process */
    collection **collections; /* in order of creation */
    uint32_t count;
    uint32_t next_collection, next_index; /* numbers never used again are below */
} catalog;

/* Reads the declarations; an index found INDEX_BUILDING is handed out as it is. CORRUPT. *out has one
 * reference, dropped by version_drop(&(*out)->head). */
int catalog_load(conn *c, catalog **out, error *err);

/* The declarations of a file that may be in use elsewhere, which is not touched: see store/peek.h. */
int catalog_peek(const uint8_t *file, size_t file_len, catalog **out, error *err);

/* Writes down that lapsed indexes are declared only, before a write could leave their entries behind. */
int catalog_settle(const catalog *cat, conn *c, error *err);

const collection *catalog_find(const catalog *cat, const char *name, uint32_t len); /* NULL: not there */
const collection *catalog_numbered(const catalog *cat, uint32_t number);
collection *collection_keep(const collection *c);
void collection_drop(collection *c);

/* Place of a field by name, -1 where there is none ("id" is none). */
int32_t collection_field(const collection *c, const char *name, uint32_t len);

/* What a path's text names. FENEC_OK, with *place -1 for id; NOT_FOUND (no such field), TYPE (keys into a
 * field that is not json). The message names the collection. */
int collection_resolve(const collection *c, const path *p, int32_t *place, error *err);

/* The index over that field or path, in any state; NULL: none. */
const catalog_index *collection_index(const collection *c, uint32_t field, const path *on);
const catalog_index *collection_index_numbered(const collection *c, uint32_t number);

/* Whether entries of such an index over that field are kept by this build; if not it is INDEX_DECLARED. */
bool index_is_kept(const index_spec *spec, const catalog_field *field);

/* ---- changes: *next is a new catalog with one reference; nothing is written on failure but rows of the
 * block, which the caller puts back. Made indexes hold no entries yet: the caller builds them. ---- */

/* EXISTS, and what chapter 1 section 3 refuses. */
int catalog_create(const catalog *cat, conn *c, const stmt *s, catalog **next, error *err);
/* With documents, indexes and everything kept for it. */
int catalog_remove(const catalog *cat, conn *c, const collection *gone, catalog **next, error *err);
/* ALTER_*: add, drop, rename, ttl or sorted. The tables of what goes are dropped. */
int catalog_alter(const catalog *cat, conn *c, const collection *of, const stmt *s, catalog **next, error *err);
/* A new index: READY or BUILDING, or INDEX_DECLARED where its entries are not kept. EXISTS, TYPE, QUERY. */
int catalog_add_index(const catalog *cat, conn *c, const collection *of, const path *on, const index_spec *spec,
                      index_state state, catalog **next, uint32_t *number, error *err);
/* The order that the entries of an index stand in: of a text field with a collation its version, else 0. */
uint64_t index_order(const index_spec *spec, const catalog_field *field);
/* BUILDING or UNBUILT becomes READY. */
int catalog_index_ready(const catalog *cat, conn *c, const collection *of, uint32_t number, catalog **next,
                        error *err);
/* READY becomes UNBUILT, its table empty: what it held is damaged. */
int catalog_index_lost(const catalog *cat, conn *c, const collection *of, uint32_t number, catalog **next,
                       error *err);
/* The index and its table go. */
int catalog_remove_index(const catalog *cat, conn *c, const collection *of, uint32_t number, catalog **next,
                         error *err);
/* After a compact: no record holds values of dropped fields. */
int catalog_compacted(const catalog *cat, conn *c, const collection *of, catalog **next, error *err);

/* {"kind":"schemas",...}: one collection, or all where `only` is NULL (chapter 2 section 16.1). */
void catalog_describe(const catalog *cat, const collection *only, buffer *out);

#endif
