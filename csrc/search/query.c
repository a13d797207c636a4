#include "search/query.h"

#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

/* The terms as they come, in one list. */
typedef struct gathered {
    query_term t;
    struct gathered *next;
} gathered;

typedef struct gathering {
    arena *a;
    gathered *first, **last;
    uint32_t count;
} gathering;

static int gather(void *to, const term *t, error *err)
{
    gathering *g = to;
    gathered *one = arena_zeroed(g->a, sizeof *one);
    uint8_t *bytes = one ? arena_copy(g->a, t->bytes, t->len) : NULL;

    if (!bytes)
        return fail_memory(err);
    one->t = (query_term){
        .bytes = bytes, .len = t->len, .hash = hash64(t->bytes, t->len), .times = 1, .kind = t->kind};
    *g->last = one;
    g->last = &one->next;
    g->count++;
    return FENEC_OK;
}

/* The place of a plain term, or where it is to be noted. */
static uint32_t *find(const query *q, const uint8_t *bytes, size_t len, uint64_t hash)
{
    for (uint32_t i = (uint32_t)hash & q->mask;; i = (i + 1) & q->mask) {
        uint32_t place = q->places[i];
        const query_term *t = place ? &q->terms[place - 1] : NULL;
        if (!t || (t->hash == hash && t->len == len && !memcmp(t->bytes, bytes, len)))
            return &q->places[i];
    }
}

/* The last term that is none of a prefix is the query's last. */
static gathered *last_term(gathering *g)
{
    gathered *last = NULL;

    for (gathered *at = g->first; at; at = at->next)
        if (at->t.kind != TERM_PREFIX)
            last = at;
    return last;
}

static int take(query *q, const query_term *t, uint32_t fuzzy, bool begins, arena *a, error *err)
{
    uint32_t *place = find(q, t->bytes, t->len, t->hash);

    if (*place && (!begins || q->terms[*place - 1].begins)) {
        q->terms[*place - 1].times++;
        return FENEC_OK;
    }
    query_term *added = &q->terms[q->count++];
    *added = *t;
    added->begins = begins;
    if (t->kind == TERM_WORD && fuzzy)
        added->edits = edits_allowed((uint32_t)utf8_count(t->bytes, t->len), fuzzy);
    if (added->edits && !edits_init(&added->near, t->bytes, t->len, added->edits, a))
        return fail_memory(err);
    q->expands |= begins || added->edits;
    if (!*place)
        *place = q->count;
    return FENEC_OK;
}

int query_make(query *q, const analysis *how, const uint8_t *text, size_t len, uint32_t fuzzy, bool prefix,
               arena *a, error *err)
{
    gathering g = {.a = a, .last = &g.first};
    uint32_t room = 16;
    int rc = analyse(how, text, len, gather, &g, err);

    if (rc)
        return rc;
    while (room < g.count * 2)
        room *= 2;
    *q = (query){.mask = room - 1};
    q->terms = arena_alloc(a, sizeof *q->terms * (g.count + 1));
    q->places = arena_zeroed(a, sizeof *q->places * room);
    if (!q->terms || !q->places)
        return fail_memory(err);
    const gathered *last = prefix ? last_term(&g) : NULL;
    for (const gathered *at = g.first; at && !rc; at = at->next)
        rc = take(q, &at->t, fuzzy, at == last && at->t.kind == TERM_WORD, a, err);
    return rc;
}

float query_weight(query_term *of, const uint8_t *word, size_t len, size_t *hopeless)
{
    if (hopeless)
        *hopeless = SIZE_MAX;
    if (len == of->len && !memcmp(word, of->bytes, len))
        return 1;
    if (of->begins && len > of->len && !memcmp(word, of->bytes, of->len))
        return WEIGHT_BEGINS;
    if (of->edits) {
        uint32_t distance = edits_of(&of->near, word, len, hopeless);
        if (distance <= of->edits)
            return distance == 1 ? WEIGHT_ONE_EDIT : WEIGHT_TWO_EDITS;
    }
    return 0;
}

bool query_holds(query *q, const term *t)
{
    if (q->count && *find(q, t->bytes, t->len, hash64(t->bytes, t->len)))
        return true;
    if (!q->expands || t->kind != TERM_WORD)
        return false;
    for (uint32_t i = 0; i < q->count; i++)
        if ((q->terms[i].begins || q->terms[i].edits) && query_weight(&q->terms[i], t->bytes, t->len, NULL) > 0)
            return true;
    return false;
}
