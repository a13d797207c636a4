/* parser.h - a text into its statements, all of chapter 1, static refusals included. */
#ifndef QL_PARSER_H
#define QL_PARSER_H

#include "base/arena.h"
#include "base/error.h"
#include "ql/ast.h"

/* A parsed text. Immutable; shared between threads by reference. */
typedef struct parsed {
    stmt *stmts;
    uint32_t stmt_count;
    uint32_t param_count; /* the highest $n */
    bool only_reads;
    bool has_compact;
    arena memory; /* holds everything here */
} parsed;

/* Parses text[0..len), valid UTF-8, whole. What the tree holds is copied out of the text. FENEC_QUERY
 * (message "position N: ..."), TYPE, EXISTS; PANIC where memory ran out. *out is the caller's to
 * parsed_clear on success alone. */
int parse_text(const uint8_t *text, size_t len, parsed *out, error *err);
void parsed_clear(parsed *p);

/* Parts that stand alone and take the whole text (chapter 1 section 6.10); the tree lives in `a`. */
int parse_select_list(const uint8_t *text, size_t len, arena *a, select_stmt *out, error *err);
int parse_group_list(const uint8_t *text, size_t len, arena *a, group_key **out, uint32_t *count, error *err);
int parse_facet_list(const uint8_t *text, size_t len, arena *a, facet **out, uint32_t *count, error *err);

#endif
