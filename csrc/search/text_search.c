#include "search/text_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/text_terms.h"

#define WALKED_MAX 24     /* terms of a segment up to here are walked, more are added up */
#define WINDOW 65536u     /* places added up at a time */
#define END UINT32_MAX

text_ways text_search_ways = {.short_max = 32768, .shared_max = 2048, .marks_max = 1u << 20};

/* A term's postings in a segment, and where a walk over them is. */
typedef struct walker {
    segment_list list;
    double weight;
    uint32_t order;  /* of the term in the query */
    double bound;    /* no document gets more from it */
    double *bounds;  /* nor one of a block */
    uint32_t block;  /* that may hold the next place */
    uint32_t at;     /* in it, where it is open */
    uint32_t place;  /* the next document, END; where the block is not open yet, none before it */
} walker;

typedef struct ranking {
    searching *s;
    uint32_t n; /* of the segment */
    segment_reader *r;
    best *out;
    float least; /* no row below it is kept: enough rows are known to reach it */
    walker *walkers;
    uint32_t count;
} ranking;

/* ---- bounds ---- */

/* A sum of bounds as an f32 that no score is above. */
static float ceiling(double sum)
{
    return (float)(sum * (1 + 1e-12));
}

static inline float floor_of(const ranking *g)
{
    float floor = best_floor(g->out);

    return floor > g->least ? floor : g->least;
}

/* Whether a document whose score is at most so much is left out whatever its id. */
static bool is_below(const ranking *g, double sum)
{
    return ceiling(sum) < floor_of(g);
}

/* Whether one at that place or after it is left out: at the floor itself the smaller id goes first. */
static int is_left_out(ranking *g, double sum, uint32_t place, bool *out, error *err)
{
    float most = ceiling(sum);
    const segment_docs *d;

    *out = most < floor_of(g);
    if (most != best_floor(g->out) || g->out->count < g->out->want || g->out->want == 0)
        return FENEC_OK;
    int rc = segment_docs_at(g->r, place, &d, err);
    if (!rc)
        *out = segment_docs_id(d, place) > g->out->rows[0].id;
    return rc;
}

static int open_walker(ranking *g, walker *w, uint32_t t, error *err)
{
    const term_place *p = &g->s->places[g->n][t];
    int rc = p->places ? segment_list_make(&w->list, g->r, p->places, p->counts, p->count, err)
                       : segment_list_open(&w->list, g->r, &p->t, err);

    if (rc)
        return rc;
    w->weight = g->s->terms[t].weight;
    w->order = t;
    w->bounds = arena_alloc(g->s->a, w->list.block_count * sizeof *w->bounds);
    if (!w->bounds)
        return fail_memory(err);
    for (uint32_t i = 0; i < w->list.block_count; i++) {
        const segment_block *b = &w->list.blocks[i];
        w->bounds[i] = (double)ceiling(bm25_exact(&g->s->model, w->weight, b->most, b->shortest));
        if (w->bounds[i] > w->bound)
            w->bound = w->bounds[i];
    }
    return FENEC_OK;
}

/* ---- documents that are met ---- */

static int offer(ranking *g, uint32_t place, float score, error *err)
{
    const segment_docs *d;
    int rc = segment_docs_at(g->r, place, &d, err);

    if (rc)
        return rc;
    int64_t id = segment_docs_id(d, place);
    if (!best_takes(g->out, score, id) || searching_is_gone(g->s, g->n, place))
        return FENEC_OK;
    return best_add(g->out, score, id, err);
}

static inline int part_of(ranking *g, const walker *w, float *out, error *err)
{
    uint32_t place = w->list.places[w->at];
    const segment_docs *d;
    int rc = segment_docs_at(g->r, place, &d, err);

    if (!rc)
        *out = bm25_part(&g->s->model, w->weight, segment_list_count(&w->list, w->at), segment_docs_length(d, place));
    return rc;
}

/* ---- one term ---- */

/* Documents that are ranked otherwise, in order, and the next of them. */
typedef struct left_out {
    const uint32_t *places;
    uint32_t count, at;
} left_out;

static int rank_block(ranking *g, walker *w, left_out *but, error *err)
{
    for (w->at = 0; w->at < w->list.count; w->at++) {
        uint32_t place = w->list.places[w->at];
        float part;
        while (but->at < but->count && but->places[but->at] < place)
            but->at++;
        if (but->at < but->count && but->places[but->at] == place)
            continue;
        int rc = part_of(g, w, &part, err);
        if (!rc && part >= floor_of(g))
            rc = offer(g, place, part, err);
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

/* Documents of a term as if they held no other, but for those left out. */
static int rank_one(ranking *g, walker *w, left_out but, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < w->list.block_count && !is_below(g, w->bound); i++) {
        bool skip;
        rc = is_left_out(g, w->bounds[i], i ? w->list.blocks[i - 1].last + 1 : 0, &skip, err);
        if (rc || skip)
            continue;
        rc = segment_list_read(&w->list, i, err);
        if (!rc)
            rc = rank_block(g, w, &but, err);
    }
    return rc;
}

/* ---- several terms ---- */

/* Moves to the block that may hold `place`, which is not before where the walker is. */
static void seek_block(walker *w, uint32_t place)
{
    uint32_t low = w->block, step = 1, count = w->list.block_count;

    if (low >= count || w->list.blocks[low].last >= place)
        return;
    while (low + step < count && w->list.blocks[low + step].last < place) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < count ? low + step : count;
    low++;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->list.blocks[middle].last < place)
            low = middle + 1;
        else
            high = middle;
    }
    w->block = low;
    w->at = 0;
}

/* Moves to the first document at `place` or after it. */
static int seek(walker *w, uint32_t place, error *err)
{
    seek_block(w, place);
    if (w->block == w->list.block_count) {
        w->place = END;
        return FENEC_OK;
    }
    if (w->list.block != w->block) {
        int rc = segment_list_read(&w->list, w->block, err);
        if (rc)
            return rc;
        w->at = 0;
    }
    while (w->list.places[w->at] < place) /* the block's last is not */
        w->at++;
    w->place = w->list.places[w->at];
    return FENEC_OK;
}

static int next(walker *w, error *err)
{
    if (++w->at < w->list.count) {
        w->place = w->list.places[w->at];
        return FENEC_OK;
    }
    return seek(w, w->place + 1, err);
}

static int by_bound(const void *a, const void *b)
{
    const walker *x = *(walker *const *)a, *y = *(walker *const *)b;

    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Walkers by their bounds. The first `asked` of them together bring no document in: they are only asked about
 * those that the others, the leaders, meet. */
typedef struct walk {
    ranking *g;
    walker *by[WALKED_MAX];
    double sums[WALKED_MAX + 1]; /* of the bounds of as many of the first */
    uint32_t count, asked;
    float floor;  /* best_floor's */
    uint32_t end; /* up to this place, the leaders' blocks are those whose bounds were looked at */
    bool looked;
    /* The document under way: who meets it, and what they bring, at most or exactly. */
    uint32_t met;  /* bits, by place in `by` */
    double sum;
    bool weighed;  /* exactly, and `parts` stand */
    float parts[WALKED_MAX]; /* by place among g->walkers */
} walk;

static inline void begin_document(walk *k)
{
    k->met = 0;
    k->sum = 0;
    k->weighed = false;
}

/* The same as is_left_out, mostly without a call. */
static inline int leaves_out(const walk *k, double sum, uint32_t place, bool *out, error *err)
{
    float most = ceiling(sum);

    *out = most < k->floor;
    return most == k->floor ? is_left_out(k->g, sum, place, out, err) : FENEC_OK;
}

static void raise_floor(walk *k)
{
    k->floor = floor_of(k->g);
    while (k->asked < k->count && ceiling(k->sums[k->asked + 1]) < k->floor) {
        k->asked++;
        k->looked = false;
    }
}

/* The next document that a leader meets, END. */
static inline uint32_t next_place(const walk *k)
{
    uint32_t place = END;

    for (uint32_t i = k->asked; i < k->count; i++)
        if (k->by[i]->place < place)
            place = k->by[i]->place;
    return place;
}

/* Passes over what the leaders' blocks cannot bring in. *moved: the next document is another one now. */
static int skip_blocks(walk *k, uint32_t place, bool *moved, error *err)
{
    double sum = k->sums[k->asked];
    uint32_t end = END;

    for (uint32_t i = k->asked; i < k->count; i++) {
        walker *w = k->by[i];
        if (w->place == END)
            continue;
        if (w->place > place) { /* it has none before its next one */
            if (w->place - 1 < end)
                end = w->place - 1;
            continue;
        }
        sum += w->bounds[w->block];
        if (w->list.blocks[w->block].last < end)
            end = w->list.blocks[w->block].last;
    }
    k->looked = true;
    k->end = end;
    int rc = leaves_out(k, sum, place, moved, err);
    if (rc || !*moved)
        return rc;
    k->looked = false;
    for (uint32_t i = k->asked; !rc && i < k->count; i++)
        if (k->by[i]->place <= end)
            rc = seek(k->by[i], end + 1, err);
    return rc;
}

/* A walker meets the document under way: `by` its place among them. */
static inline int meet_document(walk *k, uint32_t by, error *err)
{
    walker *w = k->by[by];

    k->met |= 1u << by;
    if (!k->weighed) {
        k->sum += w->bounds[w->block];
        return FENEC_OK;
    }
    float *part = &k->parts[w - k->g->walkers];
    int rc = part_of(k->g, w, part, err);
    k->sum += (double)*part;
    return rc;
}

/* What those that meet the document bring, instead of what they bring at most. */
static int weigh(walk *k, error *err)
{
    int rc = FENEC_OK;

    k->sum = 0;
    k->weighed = true;
    for (uint32_t met = k->met; !rc && met; met &= met - 1)
        rc = meet_document(k, (uint32_t)__builtin_ctz(met), err);
    return rc;
}

/* Asks those that are only asked whether they meet the document too. *out: it stays out. What is cheap comes
 * first: most documents stay out because nobody else meets them, and need not be weighed. */
static int ask(walk *k, uint32_t place, bool *out, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = k->asked; i-- > 0;) {
        walker *w = k->by[i];
        rc = leaves_out(k, k->sum + k->sums[i + 1], place, out, err);
        if (rc || *out)
            return rc;
        if (w->place < place) {
            seek_block(w, place);
            if (w->block == w->list.block_count) {
                w->place = END;
                continue;
            }
            if (w->list.block != w->block) { /* it is to be unpacked */
                rc = k->weighed ? FENEC_OK : weigh(k, err);
                if (!rc)
                    rc = leaves_out(k, k->sum + w->bounds[w->block] + k->sums[i], place, out, err);
                if (rc || *out)
                    return rc;
            }
            rc = seek(w, place, err);
        }
        if (!rc && w->place == place)
            rc = meet_document(k, i, err);
        if (rc)
            return rc;
    }
    return leaves_out(k, k->sum, place, out, err);
}

/* A document that may come in: its parts are summed up in the order of the query's terms. */
static int sum_up(walk *k, uint32_t place, error *err)
{
    double sum = 0;
    int rc = k->weighed ? FENEC_OK : weigh(k, err);

    if (rc)
        return rc;
    for (uint32_t i = 0; i < k->count; i++)
        if (k->g->walkers[i].place == place)
            sum += (double)k->parts[i];
    if ((float)sum < k->floor)
        return FENEC_OK;
    rc = offer(k->g, place, (float)sum, err);
    raise_floor(k);
    return rc;
}

static int rank_document(walk *k, uint32_t place, error *err)
{
    bool out;
    int rc = ask(k, place, &out, err);

    return rc || out ? rc : sum_up(k, place, err);
}

/* The document that the leaders meet next. */
static int rank_next(walk *k, uint32_t place, error *err)
{
    uint32_t asked = k->asked; /* more may be after it */
    int rc = FENEC_OK;

    begin_document(k);
    for (uint32_t i = asked; !rc && i < k->count; i++)
        if (k->by[i]->place == place)
            rc = meet_document(k, i, err);
    if (!rc)
        rc = rank_document(k, place, err);
    for (uint32_t i = asked; !rc && i < k->count; i++)
        if (k->by[i]->place == place)
            rc = next(k->by[i], err);
    return rc;
}

/* One leader: its open block, from where it is, document by document. */
static int rank_leader(walk *k, error *err)
{
    uint32_t leader = k->asked;
    walker *w = k->by[leader];
    uint32_t block = w->block;
    int rc = FENEC_OK;

    while (!rc && w->place != END && w->block == block && k->asked == leader) {
        begin_document(k);
        rc = meet_document(k, leader, err);
        if (!rc)
            rc = rank_document(k, w->place, err);
        if (!rc)
            rc = next(w, err);
    }
    return rc;
}

static int begin_walk(walk *k, ranking *g, error *err)
{
    int rc = FENEC_OK;

    *k = (walk){.g = g, .count = g->count};
    for (uint32_t i = 0; i < k->count; i++)
        k->by[i] = &g->walkers[i];
    qsort(k->by, k->count, sizeof *k->by, by_bound);
    for (uint32_t i = 0; i < k->count; i++)
        k->sums[i + 1] = k->sums[i] + k->by[i]->bound;
    raise_floor(k);
    for (uint32_t i = 0; !rc && i < k->count; i++)
        rc = seek(k->by[i], 0, err);
    return rc;
}

static int walk_all(ranking *g, error *err)
{
    walk k;
    int rc = begin_walk(&k, g, err);

    while (!rc) {
        bool moved = false;
        uint32_t place = next_place(&k);
        if (place == END)
            break;
        if (!k.looked || place > k.end)
            rc = skip_blocks(&k, place, &moved, err);
        if (rc || moved)
            continue;
        rc = k.asked + 1 == k.count ? rank_leader(&k, err) : rank_next(&k, place, err);
    }
    return rc;
}

/* ---- several terms of few documents ---- */

/* Lists that are short are read whole, and what two of them share is found by a mark for each document: a walk
 * would guess at each which list comes next, and mostly for a document that nobody else meets. */
static bool are_short(const ranking *g)
{
    uint64_t postings = 0;

    for (uint32_t i = 0; i < g->count; i++)
        postings += g->walkers[i].list.docs;
    return postings <= text_search_ways.short_max;
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Documents that several lists hold, in order, each once. Where there are more than marks, some that one list
 * holds alone may be among them. FN_END: they are too many. */
static int find_shared(ranking *g, uint32_t *shared, uint32_t *count, error *err)
{
    uint32_t size = 64, found = 0, kept = 0;

    while (size < g->r->s->docs && size < text_search_ways.marks_max)
        size *= 2;
    uint64_t *marks = arena_zeroed(g->s->a, size / 64 * sizeof *marks);
    if (!marks)
        return fail_memory(err);
    for (uint32_t i = 0; i < g->count; i++) {
        segment_list *l = &g->walkers[i].list;
        for (uint32_t b = 0; b < l->block_count; b++) {
            int rc = segment_list_read(l, b, err);
            if (rc)
                return rc;
            for (uint32_t k = 0; k < l->count; k++) {
                uint32_t place = l->places[k], at = place & (size - 1);
                shared[found] = place; /* stays where the mark is set: which is met cannot be foretold */
                found += (uint32_t)(marks[at / 64] >> at % 64 & 1);
                marks[at / 64] |= (uint64_t)1 << at % 64;
            }
            if (found > text_search_ways.shared_max)
                return FN_END;
        }
    }
    qsort(shared, found, sizeof *shared, by_place);
    for (uint32_t i = 0; i < found; i++)
        if (kept == 0 || shared[kept - 1] != shared[i])
            shared[kept++] = shared[i];
    *count = kept;
    return FENEC_OK;
}

/* FN_END: it is for a walk. */
static int rank_short(ranking *g, error *err)
{
    left_out shared = {0};
    uint32_t *places = arena_alloc(g->s->a, ((size_t)text_search_ways.shared_max + POSTINGS_BLOCK + 1) * sizeof *places);
    walk k;
    int rc = places ? find_shared(g, places, &shared.count, err) : fail_memory(err);

    shared.places = places;
    if (!rc)
        rc = begin_walk(&k, g, err);
    if (rc)
        return rc;
    k.asked = k.count; /* nobody leads: the documents are known */
    for (uint32_t i = 0; !rc && i < shared.count; i++) {
        begin_document(&k);
        rc = rank_document(&k, places[i], err);
    }
    for (uint32_t i = k.count; !rc && i-- > 0;)
        rc = rank_one(g, k.by[i], shared, err);
    return rc;
}

static int rank_several(ranking *g, error *err)
{
    int rc = are_short(g) ? rank_short(g, err) : FN_END;

    return rc == FN_END ? walk_all(g, err) : rc;
}

/* ---- many terms ---- */

/* Adds the postings of a walker below `end` to the window that begins at `first`. */
static int add_window(ranking *g, walker *w, uint32_t first, uint64_t end, double *sums, uint64_t *met, error *err)
{
    while (w->block < w->list.block_count) {
        int rc = segment_list_read(&w->list, w->block, err);
        if (rc)
            return rc;
        for (; w->at < w->list.count; w->at++) {
            uint32_t place = w->list.places[w->at];
            float part;
            if (place >= end)
                return FENEC_OK;
            rc = part_of(g, w, &part, err);
            if (rc)
                return rc;
            sums[place - first] += (double)part;
            met[(place - first) / 64] |= (uint64_t)1 << place % 64;
        }
        w->block++;
        w->at = 0;
    }
    return FENEC_OK;
}

static int offer_window(ranking *g, uint32_t first, double *sums, uint64_t *met, error *err)
{
    for (uint32_t word = 0; word < WINDOW / 64; word++) {
        for (uint64_t bits = met[word]; bits; bits &= bits - 1) {
            uint32_t at = word * 64 + (uint32_t)__builtin_ctzll(bits);
            float score = (float)sums[at];
            int rc = score >= floor_of(g) ? offer(g, first + at, score, err) : FENEC_OK;
            if (rc)
                return rc;
            sums[at] = 0;
        }
        met[word] = 0;
    }
    return FENEC_OK;
}

/* Rows are let go of between windows: thousands of terms would hold the index whole. */
static int rank_many(ranking *g, error *err)
{
    double *sums = memory_zeroed(WINDOW * sizeof *sums);
    uint64_t *met = memory_zeroed(WINDOW / 64 * sizeof *met);
    int rc = sums && met ? FENEC_OK : fail_memory(err);

    for (uint64_t first = 0; !rc && first < g->r->s->docs; first += WINDOW) {
        for (uint32_t i = 0; !rc && i < g->count; i++) {
            rc = add_window(g, &g->walkers[i], (uint32_t)first, first + WINDOW, sums, met, err);
            segment_list_leave(&g->walkers[i].list);
        }
        if (!rc)
            rc = offer_window(g, (uint32_t)first, sums, met, err);
    }
    memory_free(sums);
    memory_free(met);
    return rc;
}

/* ---- a segment ---- */

static int rank_segment(searching *s, uint32_t n, float least, best *out, error *err)
{
    ranking g = {.s = s, .n = n, .r = &s->readers[n], .out = out, .least = least};
    uint32_t found = 0;
    int rc = FENEC_OK;

    for (uint32_t i = 0; i < s->count; i++)
        found += s->places[n][i].found;
    if (!found)
        return FENEC_OK;
    g.walkers = arena_zeroed(s->a, found * sizeof *g.walkers);
    if (!g.walkers)
        return fail_memory(err);
    for (uint32_t i = 0; !rc && i < s->count; i++)
        if (s->places[n][i].found) {
            walker *w = &g.walkers[g.count++];
            rc = open_walker(&g, w, i, err);
            if (!rc && found > WALKED_MAX)
                segment_list_leave(&w->list);
        }
    if (!rc)
        rc = g.count == 1 ? rank_one(&g, &g.walkers[0], (left_out){0}, err)
             : g.count <= WALKED_MAX ? rank_several(&g, err) : rank_many(&g, err);
    for (uint32_t i = 0; i < g.count; i++)
        segment_list_close(&g.walkers[i].list);
    return rc;
}

static int rank_recent(searching *s, best *out, error *err)
{
    const recent_sums *m = s->sums;
    int rc = FENEC_OK;

    searching_sum_recent(s);
    for (uint32_t i = 0; m && !rc && i < m->touched_count; i++) {
        float score = (float)m->scores[m->touched[i]];
        int64_t id = recent_slot_at(s->v->recent, m->touched[i])->id;
        if (best_takes(out, score, id))
            rc = best_add(out, score, id, err);
    }
    return rc;
}

/* The largest segment not ranked yet: the first pages come from it, and bounds with them. */
static uint32_t largest(const text_segments *all, const bool *done)
{
    uint32_t found = all->count;

    for (uint32_t i = 0; i < all->count; i++)
        if (!done[i] && (found == all->count || all->items[i].s->docs > all->items[found].s->docs))
            found = i;
    return found;
}

/* A score that as many rows as are wanted reach: those of a term that stands in so many. */
static float known_floor(const searching *s, const best *out)
{
    double least = -1;

    for (uint32_t i = 0; !out->test && i < s->count; i++) {
        const wanted *w = &s->terms[i];
        double part = w->stands_for_others || w->docs < (int64_t)out->want
                          ? -1
                          : bm25_exact(&s->model, w->weight, 1, s->v->longest) * (1 - 1e-12);
        if (part > least)
            least = part;
    }
    return (float)least;
}

int text_rank(const text_version *v, conn *c, query *q, best *out, arena *a, error *err)
{
    searching s;
    bool *done = arena_zeroed(a, v->segments->count + 1);
    int rc = done ? searching_open(&s, v, c, q, a, err) : fail_memory(err);

    if (!done)
        return rc;
    for (uint32_t i = 0; !rc && i < v->segments->count; i++) {
        uint32_t n = largest(v->segments, done);
        done[n] = true;
        rc = rank_segment(&s, n, known_floor(&s, out), out, err);
    }
    if (!rc)
        rc = rank_recent(&s, out, err);
    searching_close(&s);
    return rc;
}

/* ---- every document ---- */

static int meet(const searching *s, uint32_t n, uint32_t t, uint64_t *met, error *err)
{
    const term_place *p = &s->places[n][t];
    segment_list l = {0};
    int rc = FENEC_OK;

    if (!p->found)
        return FENEC_OK;
    for (uint32_t i = 0; i < p->count; i++)
        met[p->places[i] / 64] |= (uint64_t)1 << p->places[i] % 64;
    if (p->places)
        return FENEC_OK;
    rc = segment_list_open(&l, &s->readers[n], &p->t, err);
    for (uint32_t b = 0; !rc && b < l.block_count; b++) {
        rc = segment_list_read(&l, b, err);
        for (uint32_t i = 0; !rc && i < l.count; i++)
            met[l.places[i] / 64] |= (uint64_t)1 << l.places[i] % 64;
    }
    segment_list_close(&l);
    return rc;
}

static int visit_segment(searching *s, uint32_t n, text_visit *visit, void *to, error *err)
{
    uint32_t docs = s->readers[n].s->docs;
    uint64_t *met = memory_zeroed(((size_t)docs / 64 + 1) * sizeof *met);
    int rc = met ? FENEC_OK : fail_memory(err);

    for (uint32_t i = 0; !rc && i < s->count; i++)
        rc = meet(s, n, i, met, err);
    for (uint32_t word = 0; !rc && word <= docs / 64; word++) {
        for (uint64_t bits = met[word]; !rc && bits; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            const segment_docs *d;
            if (searching_is_gone(s, n, place))
                continue;
            rc = segment_docs_at(&s->readers[n], place, &d, err);
            if (!rc)
                rc = visit(to, segment_docs_id(d, place), err);
        }
    }
    memory_free(met);
    return rc;
}

int text_each(const text_version *v, conn *c, query *q, text_visit *visit, void *to, arena *a, error *err)
{
    searching s;
    int rc = searching_open(&s, v, c, q, a, err);

    for (uint32_t i = 0; !rc && i < v->segments->count; i++)
        rc = visit_segment(&s, i, visit, to, err);
    if (!rc)
        searching_sum_recent(&s);
    for (uint32_t i = 0; !rc && s.sums && i < s.sums->touched_count; i++)
        rc = visit(to, recent_slot_at(v->recent, s.sums->touched[i])->id, err);
    searching_close(&s);
    return rc;
}
