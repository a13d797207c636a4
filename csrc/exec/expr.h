/* expr.h - expressions: names bound to a collection's fields, then worked out row by row.
 *
 * A bound expression is immutable, holds nothing of a call (parameters and now() come with the scope) and
 * lives in the arena it was bound in, so it is cached with the text and shared between threads.
 *
 * What a condition compares with is mostly the same for every row of a run: such operands are listed in
 * `constants` when bound, worked out and brought into the field's form once a run by constants_resolve,
 * and found through the scope. Without them an expression answers the same, only slower. */
#ifndef EXEC_EXPR_H
#define EXEC_EXPR_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/context.h"
#include "exec/explain.h"
#include "ql/ast.h"
#include "store/row.h"

typedef struct bound bound;
typedef struct constant constant;

/* The nodes of one or more expressions that want something worked out once a run. Zeroed to start. */
typedef struct constants {
    const bound **nodes; /* in the arena they were bound in */
    uint32_t count, cap;
} constants;

typedef enum bind_place {
    BIND_FILTER, /* where: unknown fields are raised when read; collations count; expired() is taken */
    BIND_LIST,   /* select items: unknown fields are NOT_FOUND now */
    BIND_SET,    /* values of a set, else set: unknown fields are raised when read */
    BIND_VALUE   /* put documents, near and match values: a field is QUERY when read */
} bind_place;

typedef struct binding {
    bind_place place;
    const catalog *cat;      /* FILTER: of inner reads */
    const collection *of;    /* whose fields names read; NULL for BIND_VALUE */
    const collection *fresh; /* `else set`: "new.f" reads the document being put; else NULL */
    constants *once;         /* where to list what is worked out once a run; may be NULL */
    /* Over groups: the node a field or call stands for, *out NULL where it stands for itself. */
    int (*part)(void *parts, const expr *e, const bound **out, error *err);
    void *parts;
} binding;

/* FENEC_QUERY, NOT_FOUND, TYPE, PANIC; what binding an inner read answers. */
int expr_bind(const expr *e, const binding *b, arena *a, bound **out, error *err);

/* What an evaluation reads. Temporaries go to `memory`, which the caller rewinds between rows. */
typedef struct scope {
    const context *cx;
    const row *row;           /* the row names read; NULL: none */
    const value *fresh;       /* `else set`: the document's values by place of fields, coerced */
    value fresh_id;           /* its id, null where it names none */
    arena *memory;
    const constant *resolved; /* of the list the expression was bound with; NULL: not worked out */
    const void *parts;        /* what nodes of binding.part read */
} scope;

/* *out in cx->memory, by place in the list. What fails is left to the row that meets it; an inner read runs
 * here, its steps told to x, and its failure is the call's. PANIC. */
int constants_resolve(const constants *list, const context *cx, explain *x, constant **out, error *err);

int expr_eval(const bound *e, const scope *s, value *out, error *err);
int expr_test(const bound *e, const scope *s, bool *truth, error *err); /* as a condition */

/* Whether it reads the id, or values that may stand beside the record and are found by it. */
bool expr_wants_id(const bound *e);

/* A filter over a collection with @ttl leaves out rows past their time, unless it calls expired().
 * Filters are bound by filter_bind, which adds that: `where` may be NULL; *out NULL: every row passes.
 * expired() without @ttl is FENEC_QUERY here. */
int filter_bind(const expr *where, const catalog *cat, const collection *of, constants *once, arena *a, bound **out,
                error *err);

/* Whether a row is past its time at now_ms. */
int row_expired(const collection *of, const row *r, int64_t now_ms, arena *a, bool *out, error *err);

#endif
