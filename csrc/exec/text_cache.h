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

/* Parses the text unless it is there: one reference. What parse_text answers. */
int text_get(text_cache *c, const uint8_t *bytes, size_t len, text **out, error *err);
void text_let(text_cache *c, text *t);
const parsed *text_parsed(const text *t);

/* Its plans over that catalog, bound where they are not there: one reference. PANIC. */
int text_plans(text_cache *c, text *t, const catalog *cat, plans **out, error *err);
void text_plans_let(text_cache *c, plans *p);

/* Binds one statement. */
int plan_bind(const stmt *s, const catalog *cat, arena *a, plan *out, error *err);

scratch *scratch_get(text_cache *c); /* NULL: no memory */
void scratch_let(text_cache *c, scratch *s);

#endif
