#include "exec/text_cache.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/thread.h"

#define TEXTS_MAX 256
#define TEXT_LEN_MAX 16384       /* longer texts are not kept */
#define TEXTS_LEN_MAX (256 << 10) /* of all that are kept; a tree takes some ten times its text */
#define BUCKETS 512
#define SCRATCHES_MAX 16
#define NOTED_MAX 256 /* changes a kept scratch has room for */
#define KEYS_MAX 65536

struct text {
    long references; /* the cache's own included */
    bool cached;
    uint64_t hash;
    uint8_t *bytes;
    size_t len;
    parsed parsed;
    plans *plans;               /* the last ones bound; NULL */
    text *same;                 /* next of its bucket */
    text *newer, *older;        /* in order of use */
};

struct text_cache {
    lock lock;
    text *buckets[BUCKETS];
    text *newest, *oldest;
    uint32_t count;
    size_t len;
    scratch *scratches;
    uint32_t scratch_count;
};

text_cache *text_cache_new(void)
{
    text_cache *c = memory_zeroed(sizeof *c);

    if (c && !lock_init(&c->lock, LOCK_TEXTS)) {
        memory_free(c);
        return NULL;
    }
    return c;
}

/* ---- with the lock held; what goes is handed out to be freed without it ---- */

static void unlink_use(text_cache *c, text *t)
{
    *(t->newer ? &t->newer->older : &c->newest) = t->older;
    *(t->older ? &t->older->newer : &c->oldest) = t->newer;
    t->newer = t->older = NULL;
}

static void link_newest(text_cache *c, text *t)
{
    t->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = t;
    c->newest = t;
}

static text *find(text_cache *c, uint64_t hash, const uint8_t *bytes, size_t len)
{
    text *t = c->buckets[hash % BUCKETS];

    while (t && (t->hash != hash || t->len != len || memcmp(t->bytes, bytes, len) != 0))
        t = t->same;
    if (t) {
        t->references++;
        if (t != c->newest) {
            unlink_use(c, t);
            link_newest(c, t);
        }
    }
    return t;
}

/* Takes it out of the cache: the caller has the cache's reference. */
static void take_out(text_cache *c, text *t)
{
    text **at = &c->buckets[t->hash % BUCKETS];

    while (*at != t)
        at = &(*at)->same;
    *at = t->same;
    unlink_use(c, t);
    c->count--;
    c->len -= t->len;
    t->cached = false;
}

/* ---- freeing ---- */

static void plans_free(plans *p)
{
    version_drop((version *)&p->cat->head);
    arena_clear(&p->memory);
    memory_free(p);
}

static void text_free(text *t)
{
    if (t->plans && --t->plans->references == 0)
        plans_free(t->plans);
    parsed_clear(&t->parsed);
    memory_free(t->bytes);
    memory_free(t);
}

void text_cache_free(text_cache *c)
{
    if (!c)
        return;
    while (c->newest) {
        text *t = c->newest;
        take_out(c, t);
        text_free(t);
    }
    while (c->scratches) {
        scratch *s = c->scratches;
        c->scratches = s->next;
        scratch_free(s);
    }
    lock_destroy(&c->lock);
    memory_free(c);
}

/* ---- texts ---- */

static int make(const uint8_t *bytes, size_t len, uint64_t hash, text **out, error *err)
{
    text *t = memory_zeroed(sizeof *t);
    int rc = FENEC_OK;

    if (!t)
        return fail_memory(err);
    t->bytes = memory_alloc(len);
    if (!t->bytes)
        rc = fail_memory(err);
    if (rc == FENEC_OK)
        rc = parse_text(bytes, len, &t->parsed, err);
    if (rc != FENEC_OK) {
        memory_free(t->bytes);
        memory_free(t);
        return rc;
    }
    if (len)
        memcpy(t->bytes, bytes, len);
    t->len = len;
    t->hash = hash;
    t->references = 1;
    *out = t;
    return FENEC_OK;
}

/* With the lock held: puts it in, and hands out what has to go for it. */
static text *keep(text_cache *c, text *made)
{
    text *gone = NULL;

    made->references++;
    made->cached = true;
    made->same = c->buckets[made->hash % BUCKETS];
    c->buckets[made->hash % BUCKETS] = made;
    link_newest(c, made);
    c->count++;
    c->len += made->len;
    while (c->count > TEXTS_MAX || c->len > TEXTS_LEN_MAX) {
        text *old = c->oldest;
        take_out(c, old);
        if (--old->references == 0) {
            old->same = gone;
            gone = old;
        }
    }
    return gone;
}

int text_parse(text_cache *c, const uint8_t *bytes, size_t len, text_use *u, error *err)
{
    text *gone = NULL, *made = NULL, *there;

    if (u->t)
        return FENEC_OK;
    int rc = make(bytes, len, hash64(bytes, len), &made, err);
    if (rc != FENEC_OK)
        return rc;
    u->t = made;
    if (len > TEXT_LEN_MAX)
        return FENEC_OK;
    lock_take(&c->lock);
    there = find(c, made->hash, bytes, len); /* another thread may have been at it */
    if (there)
        u->t = there;
    else
        gone = keep(c, made);
    lock_leave(&c->lock);
    while (gone) {
        text *next = gone->same;
        text_free(gone);
        gone = next;
    }
    if (there)
        text_free(made);
    return FENEC_OK;
}

const parsed *text_parsed(const text *t)
{
    return &t->parsed;
}

/* ---- plans ---- */

int plan_bind(const stmt *s, const catalog *cat, arena *a, plan *out, error *err)
{
    switch (s->kind) {
    case STMT_PUT:
    case STMT_UPDATE:
    case STMT_DELETE:
        return write_bind(s, cat, a, &out->write, err);
    case STMT_SELECT:
    case STMT_EXPLAIN:
        return read_bind(s->select, cat, s->kind == STMT_EXPLAIN, a, &out->read, err);
    default:
        return FENEC_OK;
    }
}

static int bind_all(const parsed *from, const catalog *cat, plans **out, error *err)
{
    plans *p = memory_zeroed(sizeof *p);
    error refused;

    if (!p)
        return fail_memory(err);
    arena_init(&p->memory);
    p->references = 1;
    p->items = arena_zeroed(&p->memory, from->stmt_count * sizeof *p->items + 1);
    p->cat = cat;
    version_keep((version *)&cat->head);
    bool failed = !p->items;
    for (uint32_t i = 0; i < from->stmt_count && !failed; i++)
        if (plan_bind(&from->stmts[i], cat, &p->memory, &p->items[i], &refused) != FENEC_OK) {
            p->items[i] = (plan){0};
            failed = refused.code == FENEC_PANIC;
        }
    if (failed) {
        plans_free(p);
        return fail_memory(err);
    }
    *out = p;
    return FENEC_OK;
}

int text_bind(text_cache *c, text_use *u, const catalog *cat, error *err)
{
    plans *there, *fresh, *drops[2] = {u->plans, NULL};

    if (u->plans && u->plans->cat == cat)
        return FENEC_OK;
    lock_take(&c->lock);
    if (drops[0] && --drops[0]->references > 0)
        drops[0] = NULL;
    there = u->t->plans && u->t->plans->cat == cat ? u->t->plans : NULL;
    if (there)
        there->references++;
    u->plans = there;
    lock_leave(&c->lock);
    if (drops[0])
        plans_free(drops[0]);
    if (there)
        return FENEC_OK;
    int rc = bind_all(&u->t->parsed, cat, &fresh, err);
    if (rc != FENEC_OK)
        return rc;
    u->plans = fresh;
    lock_take(&c->lock);
    drops[1] = u->t->plans;
    u->t->plans = fresh;
    fresh->references++;
    if (drops[1] && --drops[1]->references > 0)
        drops[1] = NULL;
    lock_leave(&c->lock);
    if (drops[1])
        plans_free(drops[1]);
    return FENEC_OK;
}

/* ---- a call's share ---- */

int text_begin(text_cache *c, const uint8_t *bytes, size_t len, text_use *u, error *err)
{
    bool may_be_there = len <= TEXT_LEN_MAX;
    uint64_t hash = may_be_there ? hash64(bytes, len) : 0;

    lock_take(&c->lock);
    if (!u->memory && c->scratches) {
        u->memory = c->scratches;
        c->scratches = u->memory->next;
        c->scratch_count--;
    }
    u->t = may_be_there ? find(c, hash, bytes, len) : NULL;
    u->plans = u->t ? u->t->plans : NULL;
    if (u->plans)
        u->plans->references++;
    lock_leave(&c->lock);
    if (!u->memory && !(u->memory = scratch_new())) {
        text_end(c, u);
        return fail_memory(err);
    }
    return FENEC_OK;
}

void text_end(text_cache *c, text_use *u)
{
    scratch *s = u->memory;

    if (s) {
        arena_reset(&s->memory);
        arena_reset(&s->rows);
        changes_reset(&s->noted);
        if (s->noted.cap > NOTED_MAX)
            changes_clear(&s->noted);
        if (s->keys.bytes.cap > KEYS_MAX)
            row_keys_clear(&s->keys);
    }
    lock_take(&c->lock);
    bool last_plans = u->plans && --u->plans->references == 0;
    bool last_text = u->t && --u->t->references == 0;
    if (s && c->scratch_count < SCRATCHES_MAX) {
        s->next = c->scratches;
        c->scratches = s;
        c->scratch_count++;
        s = NULL;
    }
    lock_leave(&c->lock);
    if (last_plans)
        plans_free(u->plans);
    if (last_text)
        text_free(u->t);
    if (s)
        scratch_free(s);
    *u = (text_use){0};
}
