/* parsing.h - what the files of the parser share: where it stands, how it refuses, who reads what.
 *
 * A parse function starts at the token p->at, leaves p->at behind what it took and answers FENEC_OK, or a
 * code with p->err filled; outputs are written on success alone. Trees are made in p->a. */
#ifndef QL_PARSING_H
#define QL_PARSING_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "ql/ast.h"
#include "ql/lexer.h"

#define EXPR_DEPTH_MAX 512u
#define PATH_KEYS_MAX 64u
#define INNER_DEPTH_MAX 4u

/* A member of an object literal, its bytes in p->packed. */
typedef struct member {
    const uint8_t *key;
    size_t key_len;
    size_t start, end; /* key and value, packed */
    size_t place;      /* token of the key */
} member;

typedef struct parser {
    const uint8_t *text;
    const token *tokens;
    size_t at; /* the next token */
    arena *a;
    error *err;
    bool quiet;     /* trying: a refusal fills no message */
    bool filter;    /* `in (get ...)` may stand here */
    bool else_set;  /* `new.` is no field's name */
    uint32_t depth; /* chapter 1 section 7.7 */
    uint32_t inner; /* `in (get ...)` around here */
    buffer packed;  /* list and object literals being made; heap */
    member *members; /* of the objects being made, one upon the other; heap */
    size_t member_count, member_cap;
} parser;

static inline const token *here(const parser *p)
{
    return &p->tokens[p->at];
}

static inline bool at(const parser *p, token_kind kind)
{
    return p->tokens[p->at].kind == kind;
}

/* The token after this one is of that kind. */
static inline bool next_is(const parser *p, token_kind kind)
{
    return !at(p, TOKEN_END) && p->tokens[p->at + 1].kind == kind;
}

static inline bool take(parser *p, token_kind kind)
{
    if (!at(p, kind))
        return false;
    p->at++;
    return true;
}

/* Whether that token is the word, ASCII case aside; `word` is in lower case. */
bool is_word(const parser *p, size_t place, const char *word);

static inline bool at_word(const parser *p, const char *word)
{
    return is_word(p, p->at, word);
}

bool take_word(parser *p, const char *word);

/* FENEC_QUERY: "position N: expected `what`, found ..." at the next token, or a whole sentence at a place.
 * The position is that of the token. */
int expected(parser *p, const char *what);
int refuse_at(parser *p, size_t place, int code, const char *format, ...) FN_PRINTF(4, 5);
int no_memory(parser *p);

int expect(parser *p, token_kind kind, const char *what);
int expect_word(parser *p, const char *word);

/* One level deeper (or `levels`); the caller takes them back off p->depth. */
int deeper(parser *p, uint32_t levels);

/* Room for one more item at the end of an array in the arena: its array, moved where it was full, or NULL.
 * Arrays double, so that n items cost n. */
void *room_for_one(parser *p, void *items, uint32_t count, size_t size);
#define ADD_ITEM(p, items, count, item)                                                 \
    ((items) = room_for_one((p), (items), (count), sizeof *(items)),                    \
     (items) ? ((items)[(count)++] = (item), FENEC_OK) : no_memory(p))

/* parser.c: names and counts */
int parse_name(parser *p, const char *what, const char **out); /* NUL-terminated, of the arena */
int parse_path(parser *p, const char *what, path *out);
int path_of_text(parser *p, size_t place, const uint8_t *text, size_t len, path *out);
int path_of_label(parser *p, const char *label, path *out);
int string_of(parser *p, const token *t, const uint8_t **bytes, size_t *len);
int parse_count(parser *p, const char *what, count_value *out);       /* an int from 0 on, or a parameter */
int parse_whole(parser *p, const char *what, int64_t *out);           /* an int */
int parse_require(parser *p, bool *given, int64_t *out);              /* after the word */
int parse_name_list(parser *p, const char ***out, uint32_t *count);
uint32_t clamped(int64_t n, uint32_t least);
char *lower_word(parser *p, const token *t); /* a copy with ASCII in lower case, or NULL */

/* parser_expr.c */
int parse_expr(parser *p, expr **out);
int parse_filter(parser *p, expr **out); /* where `in (get ...)` may stand */
int parse_number(parser *p, value *out); /* a number literal, its sign folded in */

/* parser_literal.c */
bool plain_value(const parser *p, value *out); /* of the number, true, false or null that stands here */
int parse_container(parser *p, value *out);    /* from its `[` or `{` on */

/* parser_list.c */
int parse_list(parser *p, select_stmt *s);
int parse_groups(parser *p, group_key **keys, uint32_t *count);
int parse_order(parser *p, sort_key **keys, uint32_t *count); /* after `order`; appends */
int parse_facets(parser *p, facet **facets, uint32_t *count);
int parse_collate(parser *p, collation *out); /* after `collate` */

/* parser_read.c */
int parse_get(parser *p, select_stmt **out);
int parse_get_inner(parser *p, select_stmt **out); /* one that answers one column, to `in (` */

/* parser_write.c */
int parse_put(parser *p, stmt *s); /* each after its verb */
int parse_update(parser *p, stmt *s);
int parse_delete(parser *p, stmt *s);

/* parser_schema.c */
int parse_create(parser *p, stmt *s);
int parse_drop(parser *p, stmt *s);
int parse_alter(parser *p, stmt *s);

#endif
