/* document.h - keys and values of a document or a set, brought into the fields of a collection. */
#ifndef EXEC_DOCUMENT_H
#define EXEC_DOCUMENT_H

#include "exec/expr.h"
#include "ql/ast.h"

/* The pairs of a literal document or of a set, bound. What is wrong with a key is kept for the row that
 * meets it: its value is worked out before. */
typedef struct bound_pair {
    const path *key;
    bound *value;
    int32_t place;  /* of the field; -1: id */
    bool unknown;   /* the key leads nowhere: resolved again for the message */
    bool twice;     /* an earlier pair has the same key */
} bound_pair;

typedef struct bound_pairs {
    bound_pair *items;
    uint32_t count;
} bound_pairs;

int pairs_bind(const pairs *p, const collection *of, const binding *b, arena *a, bound_pairs *out, error *err);

/* A document, assembled. */
typedef struct document {
    value *values; /* by place of fields, coerced */
    int64_t id;    /* 0: not named */
} document;

/* Works out a literal document. */
int document_build(const bound_pairs *from, const collection *of, const scope *s, document *out, error *err);

/* Reads documents that came as objects of parameters; remembers where keys lead from one to the next. */
typedef struct document_key {
    const uint8_t *text;
    size_t len;
    int32_t place;
    path on;
} document_key;

typedef struct document_reader {
    const collection *of;
    arena *memory;
    document_key *keys;
    uint32_t cap, count;
} document_reader;

void document_reader_init(document_reader *r, const collection *of, arena *memory);
int document_read(document_reader *r, const value *object, document *out, error *err);

/* What a set makes of a row: `values` by place, where touched. Every pair reads the scope's row. */
int pairs_apply(const bound_pairs *from, const collection *of, const scope *s, value *values, bool *touched,
                error *err);

#endif
