/* lexer.h - a text as an array of tokens (chapter 1 section 1).
 *
 * The whole text is cut before any of it is parsed, so that a lexical fault comes before every other. No
 * word is reserved here: keywords are names the parser looks for. */
#ifndef QL_LEXER_H
#define QL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum token_kind {
    TOKEN_END, /* after the last one, once */
    TOKEN_NAME,
    TOKEN_STRING,
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_PARAM,
    TOKEN_BRACE_OPEN,
    TOKEN_BRACE_CLOSE,
    TOKEN_PAREN_OPEN,
    TOKEN_PAREN_CLOSE,
    TOKEN_BRACKET_OPEN,
    TOKEN_BRACKET_CLOSE,
    TOKEN_COMMA,
    TOKEN_COLON,
    TOKEN_AT,
    TOKEN_STAR,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_SLASH,
    TOKEN_TILDE,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL
} token_kind;

typedef struct token {
    uint8_t kind;        /* token_kind */
    bool escaped;        /* STRING: a backslash stands in it */
    uint32_t start, end; /* bytes of the text, quotes included */
    union {
        uint32_t parts;  /* NAME: 1, or how many a path joins */
        uint32_t param;  /* PARAM: from 0 */
        int64_t integer; /* INT */
        double number;   /* FLOAT */
    };
} token;

typedef struct tokens {
    token *items; /* heap */
    size_t count; /* TOKEN_END included: at least 1 */
    uint32_t param_count; /* the highest $n */
} tokens;

/* Cuts text[0..len), valid UTF-8. FENEC_OK; FENEC_QUERY; FENEC_PANIC. *out is to be cleared on success
 * alone. */
int tokens_read(const uint8_t *text, size_t len, tokens *out, error *err);
void tokens_clear(tokens *t);

#endif
