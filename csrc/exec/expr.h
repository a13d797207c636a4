/* expr.h - expressions: names bound to a collection's fields, then worked out row by row.
 *
 * A bound expression is immutable, holds nothing of a call (parameters and now() come with the scope) and
 * lives in the arena it was bound in, so it is cached with the text and shared between threads. */
#ifndef EXEC_EXPR_H
#define EXEC_EXPR_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/context.h"
#include "ql/ast.h"
#include "store/row.h"

typedef struct bound bound;

typedef enum bind_place {
    BIND_FILTER, /* where: unknown fields are raised when read; collations count; expired() is taken */
    BIND_LIST,   /* select items: unknown fields are NOT_FOUND now */
    BIND_SET,    /* values of a set, else set: unknown fields are raised when read */
    BIND_VALUE   /* put documents, near and match values: a field is QUERY when read */
} bind_place;

typedef struct binding {
    bind_place place;
    const collection *of;    /* whose fields names read; NULL for BIND_VALUE */
    const collection *fresh; /* `else set`: "new.f" reads the document being put; else NULL */
} binding;

/* FENEC_QUERY (a clause this build does not run: `in (get ...)`), NOT_FOUND, TYPE, PANIC. */
int expr_bind(const expr *e, const binding *b, arena *a, bound **out, error *err);

/* What an evaluation reads. Temporaries go to `memory`, which the caller rewinds between rows. */
typedef struct scope {
    const context *cx;
    const row *row;     /* the row names read; NULL: none */
    const value *fresh; /* `else set`: the document's values by place of fields, coerced */
    value fresh_id;     /* its id, null where it names none */
    arena *memory;
} scope;

int expr_eval(const bound *e, const scope *s, value *out, error *err);
int expr_test(const bound *e, const scope *s, bool *truth, error *err); /* as a condition */

/* A filter over a collection with @ttl leaves out rows past their time, unless it calls expired().
 * Filters are bound by filter_bind, which adds that: `where` may be NULL; *out NULL: every row passes.
 * expired() without @ttl is FENEC_QUERY here. */
int filter_bind(const expr *where, const collection *of, arena *a, bound **out, error *err);

/* Whether a row is past its time at now_ms. */
int row_expired(const collection *of, const row *r, int64_t now_ms, arena *a, bool *out, error *err);

#endif
