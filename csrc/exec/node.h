/* node.h - a bound expression from the inside: for expr.c, compare.c, functions.c and the planner. */
#ifndef EXEC_NODE_H
#define EXEC_NODE_H

#include "exec/expr.h"
#include "exec/value_set.h"
#include "value/packed.h"

typedef enum node_kind {
    NODE_LITERAL,
    NODE_PARAM,
    NODE_ID,
    NODE_FIELD,  /* of the row; part_count 1 or a path into json */
    NODE_FRESH,  /* new.f */
    NODE_FAILS,  /* `literal` holds the message, `code` the code */
    NODE_AND,    /* items */
    NODE_OR,     /* items */
    NODE_NOT,    /* left */
    NODE_COMPARE,/* left op right */
    NODE_LIKE,
    NODE_HAS,
    NODE_IN,     /* left, items or subquery */
    NODE_IS_NULL,
    NODE_ARITH,  /* items[0] ops[1] items[1] ... */
    NODE_CASE,   /* items */
    NODE_CALL,   /* function, items */
    NODE_PART,   /* of a group: of binding.part */
    NODE_EXPIRED,
    NODE_LIVE    /* not expired(), in front of a filter over a collection with @ttl */
} node_kind;

#define NODE_NO_SLOT UINT32_MAX

typedef struct function function;

struct bound {
    int (*eval)(const bound *e, const scope *s, value *out, error *err);
    int (*test)(const bound *e, const scope *s, bool *truth, error *err);
    node_kind kind;
    bool reads_row;
    uint8_t op;        /* COMPARE: compare_op */
    collation collate; /* COMPARE by order, of text */
    int code;          /* FAILS */
    uint32_t slot;     /* place among the constants; right (COMPARE, LIKE) or items (IN) read no row */
    uint32_t place;    /* FIELD, FRESH: in the collection's fields; PARAM: of the parameter */
    const catalog_field *field;  /* FIELD, FRESH of a field */
    uint32_t number;             /* COMPARE, IN of a plain field: its number in records */
    const path *path;            /* FIELD, FRESH: as written, "new." left off */
    const collection *of;        /* EXPIRED, LIVE */
    const function *function;
    const struct subquery *subquery; /* IN (get ...) */
    const bound *left, *right;
    const bound **items;
    uint8_t *ops;
    uint32_t item_count;
    value literal;
};

/* How a field is compared with a constant. */
typedef enum constant_how {
    HOW_GENERAL, /* by value_compare with v */
    HOW_FAILED,  /* v could not be worked out: the row that reads it raises why */
    HOW_NULL,    /* v is null */
    HOW_INTEGER, /* ints with an int, timestamps with a timestamp */
    HOW_DOUBLE,  /* numbers with a number, as doubles */
    HOW_TEXT,    /* texts with a text, by bytes */
    HOW_FIXED,   /* whatever the field holds, if anything, the order is `order` */
    HOW_INTEGERS,/* in: ascending integers */
    HOW_TEXTS,   /* in: ascending texts, by bytes */
    HOW_VALUES   /* in: values of any kind */
} constant_how;

struct constant {
    constant_how how;
    bool has_null;   /* in: a null stands in the list, which is not among the values */
    bool ascii;      /* like: the needle is ASCII */
    int order;       /* FIXED */
    double number;   /* DOUBLE */
    value v;         /* the operand; like: the lowered needle */
    uint32_t count;
    value *values;   /* in: as they came, but for TEXTS */
    value_set set;   /* in: VALUES */
    int64_t *integers;
};

/* compare.c */
int compare_shape(bound *n, const binding *b, bool *once, error *err); /* test; *once: wants a constant */
int constant_resolve(const bound *n, const scope *s, explain *x, constant *k, error *err);
bool compare_holds(compare_op op, int order);

/* functions.c: NULL where there is no such function */
const function *function_find(const char *name);
int function_call(const bound *e, const scope *s, value *out, error *err);
bool function_takes(const function *f, uint32_t count);

/* A value at the end of a path's keys; null where it leads nowhere. */
static inline value path_follow(const path *p, value v)
{
    for (uint32_t i = 1; i < p->part_count; i++) {
        value next;
        packed_member(&v, p->parts[i].bytes, p->parts[i].len, &next);
        v = next;
    }
    return v;
}

#endif
