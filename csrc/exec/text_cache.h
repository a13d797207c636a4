/* text_cache.h - parsed texts and what they are bound to, so that a repeated text is neither parsed nor
 * bound again. Bounded by count and by bytes of text; the text not asked for the longest goes. Entries are
 * counted: one may go while calls still use it. Behind LOCK_TEXTS, which also guards the scratches.
 *
 * A kept plan keeps its catalog; pointers to catalogs are therefore told apart by their address. */
#ifndef EXEC_TEXT_CACHE_H
#define EXEC_TEXT_CACHE_H

#include "base/error.h"
#include "exec/read.h"
#include "exec/scratch.h"
#include "exec/write.h"
#include "ql/parser.h"

typedef struct text_cache text_cache;
typedef struct text text;

/* The statements of a text bound to one catalog, which it keeps. A statement without a plan needs none, or
 * its binding failed and is tried again where it runs. */
typedef struct plan {
    write_plan *write;
    read_plan *read;
} plan;

typedef struct plans {
    long references;
    const catalog *cat;
    arena memory;
    plan *items; /* by statement */
} plans;

text_cache *text_cache_new(void); /* NULL: no memory */
void text_cache_free(text_cache *c);

/* What a call has of the cache, taken and given back in one go: a lock each. */
typedef struct text_use {
    scratch *memory;
    text *t;      /* NULL: not parsed yet */
    plans *plans; /* the text's last ones, of whatever catalog; NULL: none */
} text_use;

/* The text, where it is there already, and memory, where the use has none yet. PANIC. */
int text_begin(text_cache *c, const uint8_t *bytes, size_t len, text_use *u, error *err);
/* Parses it where it was not there. What parse_text answers. */
int text_parse(text_cache *c, const uint8_t *bytes, size_t len, text_use *u, error *err);
/* Makes u->plans those over `cat`. PANIC. */
int text_bind(text_cache *c, text_use *u, const catalog *cat, error *err);
void text_end(text_cache *c, text_use *u); /* memory too */

const parsed *text_parsed(const text *t);

/* Binds one statement. */
int plan_bind(const stmt *s, const catalog *cat, arena *a, plan *out, error *err);

#endif
