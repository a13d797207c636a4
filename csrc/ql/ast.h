/* ast.h - the tree of a parsed text (chapter 1 section 11).
 *
 * A tree lives in one arena, is immutable once parsed and is shared between threads. Names and texts are
 * UTF-8 with their length; those of names are NUL-terminated too (a name holds no NUL). Lists are arrays
 * with a count. A left-leaning chain of `and`, `or` or arithmetic may be as long as the text: walk its
 * left side in a loop (chapter 1 section 12.3). */
#ifndef QL_AST_H
#define QL_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "value/type.h"
#include "value/value.h"

/* A name or path: `text` is the whole of it ("meta.src.rank"), parts[0] the field, the rest its keys.
 * part_count 1: a plain name. */
typedef struct path {
    const char *text;
    uint32_t text_len;
    uint32_t part_count;
    const value *parts; /* VALUE_TEXT each */
} path;

typedef enum expr_kind {
    EXPR_FIELD,
    EXPR_LITERAL,
    EXPR_PARAM,
    EXPR_AND,
    EXPR_OR,
    EXPR_NOT, /* left */
    EXPR_COMPARE,
    EXPR_LIKE,      /* left ~ right */
    EXPR_HAS,       /* left has right */
    EXPR_IN,        /* left in [items] */
    EXPR_IN_SELECT, /* left in (get ...) */
    EXPR_IS_NULL,   /* left */
    EXPR_CALL,      /* name(items) */
    EXPR_ARITH
} expr_kind;

typedef enum compare_op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE } compare_op;
typedef enum arith_op { OP_ADD, OP_SUB, OP_MUL, OP_DIV } arith_op;

typedef struct select_stmt select_stmt;
typedef struct expr expr;

struct expr {
    expr_kind kind;
    uint32_t param; /* PARAM: from 0 */
    union {
        compare_op compare;
        arith_op arith;
    };
    expr *left, *right;
    expr **items; /* IN, CALL */
    uint32_t item_count;
    path field;          /* FIELD; in `else set` a text that starts "new." is the document's */
    value literal;       /* LITERAL */
    const char *name;    /* CALL: lower-cased; special calls as chapter 1 section 11.2 */
    select_stmt *select; /* IN_SELECT */
    bool reads_row;      /* a field stands somewhere in it (inner queries aside) */
    bool has_aggregate;  /* an aggregate call stands somewhere in it */
};

/* A count written as an int or handed over as a parameter. */
typedef struct count_value {
    bool given, is_param;
    int64_t literal;
    uint32_t param; /* from 0 */
} count_value;

typedef struct sort_key {
    path by;                /* a field, a path or a column's label ("sum(total)": one part) */
    bool is_label;          /* the call form */
    bool descending;
    collation collate;
} sort_key;

typedef struct column {
    expr *e;
    const char *name; /* as it answers; NUL-terminated */
    bool named;       /* by `as` */
} column;

typedef struct mark {
    path field;
    bool snippet;
    uint32_t words; /* snippet */
    expr **args;    /* highlight: 0 or 2; snippet: 0, 1 or 3 */
    uint32_t arg_count;
    uint32_t place; /* index in the answer's columns, or UINT32_MAX: after all fields */
} mark;

typedef struct group_key {
    expr *e;
    const char *name; /* NULL without `as` */
} group_key;

typedef struct near_clause {
    path field;
    expr *vector;
    bool ef_given, exact;
    uint32_t ef;
} near_clause;

typedef struct match_clause {
    path field;
    expr *query;
    uint32_t fuzzy; /* 0 without */
    bool prefix;
} match_clause;

typedef struct rerank_clause {
    path field;
    expr *vector;
    uint32_t candidates;
} rerank_clause;

typedef struct fuse_clause {
    uint32_t k, candidates;
} fuse_clause;

typedef struct facet {
    path field;
    count_value top;
    bool has_ranges, disjunctive;
    double *ranges;      /* has_ranges: range_count + 1 bounds */
    value *range_bounds; /* the bounds as written */
    uint32_t range_count;
    expr *own_filter; /* disjunctive with a term left out; NULL and own_filter_given: no filter left */
    bool own_filter_given;
} facet;

typedef struct lookup lookup;
struct lookup {
    const char *collection;
    const char **child_fields, **parent_fields; /* field_count each */
    uint32_t field_count;
    bool parent_given;
    bool select_all;     /* no list or `*` */
    column *columns;     /* plain fields and paths, or an aggregating list */
    uint32_t column_count;
    bool aggregates;
    group_key *group;
    uint32_t group_count;
    expr *where;
    sort_key *order;
    uint32_t order_count;
    count_value limit, offset;
    bool required;
    lookup *next;
};

struct select_stmt {
    const char *collection;
    bool select_all;  /* no list, or `*` (marks may follow) */
    column *columns;  /* in order, marks left out */
    uint32_t column_count;
    bool has_select;  /* a select list was written, `*` included */
    bool aggregates;  /* the list is aggregating */
    mark *marks;
    uint32_t mark_count;
    expr *where;
    group_key *group;
    uint32_t group_count;
    expr *having;
    near_clause *near;
    match_clause *match;
    rerank_clause *rerank;
    fuse_clause *fuse;
    sort_key *order;
    uint32_t order_count;
    count_value limit, offset;
    bool count;
    facet *facets;
    uint32_t facet_count;
    bool require_given;
    int64_t require;
    lookup *lookup;
};

/* A key of a document or of a set, and its value. */
typedef struct pair {
    path key;
    expr *e;
} pair;

typedef struct pairs {
    pair *items;
    uint32_t count;
} pairs;

/* `returning`: nothing, everything, or paths. */
typedef struct returning {
    bool given, all;
    path *paths;
    uint32_t path_count;
} returning;

typedef enum stmt_kind {
    STMT_CREATE_COLLECTION,
    STMT_DROP_COLLECTION,
    STMT_CREATE_INDEX,
    STMT_ALTER_COLLECTION,
    STMT_PUT,
    STMT_SELECT,
    STMT_EXPLAIN, /* select */
    STMT_UPDATE,
    STMT_DELETE,
    STMT_COLLECTIONS,
    STMT_DESCRIBE,
    STMT_COMPACT
} stmt_kind;

typedef enum alter_kind { ALTER_ADD, ALTER_DROP, ALTER_RENAME, ALTER_INDEX } alter_kind;

typedef struct stmt {
    stmt_kind kind;
    uint32_t start, end;    /* bytes of the text that are this statement's */
    const char *collection; /* every kind but COLLECTIONS; COMPACT: NULL for all. SELECT: select->collection */
    bool if_exists;         /* if [not] exists */
    /* CREATE_COLLECTION, and the one field of ALTER_ADD */
    field_def *fields;
    uint32_t field_count;
    /* CREATE_INDEX: which field or path, what; ALTER_INDEX: spec is @sorted or @ttl */
    path index_on;
    index_spec spec;
    /* ALTER_COLLECTION */
    alter_kind alter;
    const char *field, *to; /* ADD none; DROP field; RENAME field, to; INDEX field */
    /* PUT */
    pairs *docs;
    uint32_t doc_count;
    bool docs_are_param;
    uint32_t docs_param; /* from 0 */
    bool insert;         /* also with if_absent */
    bool if_absent;
    bool else_set;
    pairs set; /* `else set` pairs; UPDATE's pairs */
    /* UPDATE, DELETE */
    expr *where;
    sort_key *order;
    uint32_t order_count;
    count_value limit;
    /* PUT, UPDATE, DELETE */
    bool require_given;
    int64_t require;
    returning returning;
    /* SELECT, EXPLAIN */
    select_stmt *select;
} stmt;

static inline bool stmt_is_read(const stmt *s)
{
    return s->kind == STMT_SELECT || s->kind == STMT_EXPLAIN || s->kind == STMT_COLLECTIONS ||
           s->kind == STMT_DESCRIBE;
}

#endif
