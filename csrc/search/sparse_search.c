/* sparse_search.c - a segment is gone through in windows of places.
 *
 * In a window no document gets more from a dimension than the bounds of the blocks there say, and at least 0, as
 * it may not have it. Dimensions that together fall well short of the worst row that is kept bring no document in,
 * and are only asked about those that the others meet. What the others bring is added up list by list: a query
 * has dozens of dimensions and reaches most documents, so that going through lists side by side would cost more
 * than it saves. */
#include "search/sparse_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "value/sparse.h"

#define WINDOW 4096u /* places */

/* Of the worst score that is kept, what dimensions that are only asked may bring together. With all of it, the
 * others would hardly tell any document to be out. */
#define ASKED_SHARE 0.4

/* A dimension of the query that a segment has. */
typedef struct walker {
    segment_list list;
    double factor;  /* the query's weight */
    uint32_t block; /* the first that reaches into the window or past it */
    /* Of the window. */
    double bound; /* no document gets more */
    bool is_asked;
    double part; /* of one only asked: what the document under way gets */
    /* Of one that brings documents in: its postings. */
    uint32_t count, at; /* at: the first that was not passed */
    uint16_t *offsets;  /* of their places; room for a window's, made when one is read */
    float *weights;
} walker;

typedef struct ranking {
    const text_version *v;
    const text_segment *of;
    segment_reader reader;
    best *out;
    sparse_work *did;
    arena *a;
    walker *walkers; /* by dimension */
    walker **by;     /* those first that are best left to be asked about */
    double *bounds;  /* of as many of the first of these */
    uint32_t count, asked;
    double slack; /* by so much a sum made in another order may be off */
    /* The window. */
    uint32_t first;
    uint64_t end;
    int64_t first_id;
    double sums[WINDOW];
    uint8_t met[WINDOW]; /* 1: the document's sum stands */
} ranking;

/* Whether a document of the window that gets at most so much is left out: at the worst score that is kept the
 * smaller id goes first. */
static bool is_out(const ranking *g, double most)
{
    const best *out = g->out;
    const float ceiling = (float)(most + g->slack);

    if (out->count < out->want)
        return false;
    return ceiling < out->rows[0].score || (ceiling == out->rows[0].score && g->first_id > out->rows[0].id);
}

/* ---- lists ---- */

static double block_bound(const walker *w, const segment_block *b)
{
    double bound = w->factor * (double)segment_weight(w->factor > 0 ? b->most : b->shortest);

    return bound > 0 ? bound : 0; /* which is not true of what is no number */
}

/* The most that a sum may have on the way. */
static double largest_part(const walker *w)
{
    double largest = 0;

    for (uint32_t i = 0; i < w->list.block_count; i++) {
        const segment_block *b = &w->list.blocks[i];
        double most = fabs((double)segment_weight(b->most)), least = fabs((double)segment_weight(b->shortest));
        largest = most > largest ? most : largest;
        largest = least > largest ? least : largest;
    }
    return largest * fabs(w->factor);
}

/* Whether a block may hold a place of the window or one before it. */
static bool begins_before_end(const ranking *g, const walker *w, uint32_t block)
{
    return block < w->list.block_count && (block == 0 || (uint64_t)w->list.blocks[block - 1].last + 1 < g->end);
}

static void enter_window(const ranking *g, walker *w)
{
    while (w->block < w->list.block_count && w->list.blocks[w->block].last < g->first)
        w->block++;
    w->bound = 0;
    w->is_asked = false;
    w->count = w->at = 0;
    for (uint32_t i = w->block; begins_before_end(g, w, i); i++) {
        double bound = block_bound(w, &w->list.blocks[i]);
        w->bound = bound > w->bound ? bound : w->bound;
    }
}

static int open_block(ranking *g, walker *w, uint32_t block, error *err)
{
    if (w->list.block == block)
        return FENEC_OK;
    int rc = segment_list_read(&w->list, block, err);
    g->did->read += w->list.count;
    return rc;
}

static inline bool is_number(uint32_t bits)
{
    return (bits & 0x7F800000) != 0x7F800000;
}

/* Takes the postings of the open block that are in the window. False: one is no number. */
static bool take_block(const ranking *g, walker *w)
{
    const segment_list *l = &w->list;
    const postings_block packed = l->packed;
    uint16_t *offsets = w->offsets + w->count;
    float *weights = w->weights + w->count;
    uint32_t from = 0, to = l->count;
    bool good = true;

    while (from < to && l->places[from] < g->first)
        from++;
    while (to > from && l->places[to - 1] >= g->end)
        to--;
    for (uint32_t at = from; at < to; at++) {
        uint32_t bits = l->own_counts ? segment_list_bits(l, at) : (uint32_t)postings_count(&packed, at);
        good &= is_number(bits);
        *offsets++ = (uint16_t)(l->places[at] - g->first);
        *weights++ = segment_weight(bits);
    }
    w->count += to - from;
    return good;
}

static int read_window(ranking *g, walker *w, error *err)
{
    const uint32_t docs = g->of->s->docs, most = docs < WINDOW ? docs : WINDOW;

    if (!w->offsets) {
        w->offsets = arena_alloc(g->a, most * sizeof *w->offsets);
        w->weights = arena_alloc(g->a, most * sizeof *w->weights);
        if (!w->offsets || !w->weights)
            return fail_memory(err);
    }
    for (uint32_t i = w->block; begins_before_end(g, w, i); i++) {
        int rc = open_block(g, w, i, err);
        if (rc)
            return rc;
        if (!take_block(g, w))
            return ROW_DAMAGED;
    }
    return FENEC_OK;
}

/* What a document gets; they come in order. */
static double part_of(walker *w, uint32_t offset)
{
    uint32_t low = w->at, high, step = 1;

    if (low < w->count && w->offsets[low] < offset) {
        for (; low + step < w->count && w->offsets[low + step] < offset; step *= 2)
            low += step;
        high = low + step < w->count ? low + step : w->count;
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (w->offsets[middle] < offset)
                low = middle;
            else
                high = middle;
        }
        w->at = high;
    }
    return w->at < w->count && w->offsets[w->at] == offset ? w->factor * (double)w->weights[w->at] : 0;
}

/* The same of a dimension that is only asked about. w->block is the first whose last place is not before. */
static int ask(ranking *g, walker *w, uint32_t place, error *err)
{
    const segment_list *l = &w->list;
    int rc = open_block(g, w, w->block, err);

    if (rc)
        return rc;
    uint32_t low = 0, high = l->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == l->count || l->places[low] != place)
        return FENEC_OK;
    uint32_t bits = segment_list_bits(l, low);
    w->part = w->factor * (double)segment_weight(bits);
    return is_number(bits) ? FENEC_OK : ROW_DAMAGED;
}

/* ---- a window ---- */

/* By what a document gets at most for a posting that need not be added up. */
static int by_price(const void *a, const void *b)
{
    const walker *x = *(walker *const *)a, *y = *(walker *const *)b;
    double of_x = x->bound * y->list.docs, of_y = y->bound * x->list.docs;

    if (of_x != of_y)
        return of_x < of_y ? -1 : 1;
    return (x > y) - (x < y);
}

/* Orders the dimensions; false: none of the window's documents stays. */
static bool begin_window(ranking *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        enter_window(g, &g->walkers[i]);
    qsort(g->by, g->count, sizeof *g->by, by_price);
    for (uint32_t i = 0; i < g->count; i++)
        g->bounds[i + 1] = g->bounds[i] + g->by[i]->bound;
    for (g->asked = 0; g->asked < g->count && is_out(g, g->bounds[g->asked + 1] / ASKED_SHARE); g->asked++)
        g->by[g->asked]->is_asked = true;
    return !is_out(g, g->bounds[g->count]);
}

static int add_up(ranking *g, error *err)
{
    for (uint32_t i = 0; i < g->count; i++) {
        walker *w = &g->walkers[i];
        if (w->is_asked)
            continue;
        int rc = read_window(g, w, err);
        if (rc)
            return rc;
        for (uint32_t k = 0; k < w->count; k++) {
            uint32_t at = w->offsets[k];
            g->sums[at] += w->factor * (double)w->weights[k];
            g->met[at] = 1;
        }
    }
    return FENEC_OK;
}

static bool is_gone(const ranking *g, uint32_t place)
{
    return bitmap_has(g->of->gone, place) || recent_hides(g->v->recent, g->v->number, g->of->s->number, place);
}

/* Asks the dimensions that were not added up about a document for which the others bring *sum. *out: whatever else
 * there is to ask, it stays out. */
static int ask_rest(ranking *g, uint32_t place, double *sum, bool *out, error *err)
{
    *out = false;
    for (uint32_t i = g->asked; i > 0; i--) {
        walker *w = g->by[i - 1];
        *out = is_out(g, *sum + g->bounds[i]);
        if (*out)
            return FENEC_OK;
        w->part = 0;
        while (w->block < w->list.block_count && w->list.blocks[w->block].last < place)
            w->block++;
        if (w->block == w->list.block_count)
            continue;
        *out = is_out(g, *sum + g->bounds[i - 1] + block_bound(w, &w->list.blocks[w->block]));
        if (*out)
            return FENEC_OK;
        int rc = ask(g, w, place, err);
        if (rc)
            return rc;
        *sum += w->part;
    }
    *out = is_out(g, *sum);
    return FENEC_OK;
}

/* A document for which those added up bring `sum`. */
static int judge(ranking *g, uint32_t offset, double sum, error *err)
{
    const segment_docs *d;
    bool out;
    int rc = ask_rest(g, g->first + offset, &sum, &out, err);

    if (rc || out)
        return rc;
    if (g->asked) {
        sum = 0;
        for (uint32_t i = 0; i < g->count; i++)
            sum += g->walkers[i].is_asked ? g->walkers[i].part : part_of(&g->walkers[i], offset);
    }
    g->did->measured++;
    rc = segment_docs_at(&g->reader, g->first + offset, &d, err);
    if (rc)
        return rc;
    int64_t id = segment_docs_id(d, g->first + offset);
    if (!best_takes(g->out, (float)sum, id) || is_gone(g, g->first + offset))
        return FENEC_OK;
    return best_add(g->out, (float)sum, id, err);
}

static int judge_met(ranking *g, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t first = 0; !rc && first < WINDOW; first += 8) {
        if (bytes_u64(g->met + first) == 0)
            continue;
        for (uint32_t offset = first; !rc && offset < first + 8; offset++) {
            double sum = g->sums[offset];
            if (!g->met[offset])
                continue;
            g->sums[offset] = 0;
            g->met[offset] = 0;
            if (!is_out(g, sum + g->bounds[g->asked]))
                rc = judge(g, offset, sum, err);
        }
    }
    return rc;
}

/* ---- a segment ---- */

static int open_walkers(ranking *g, const uint8_t *entries, uint32_t count, error *err)
{
    double largest = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *entry = entries + (size_t)i * SPARSE_ENTRY;
        uint8_t dimension[ENTRY_TERM];
        segment_term t;
        bytes_put_big_u32(dimension, bytes_u32(entry));
        int rc = segment_find(&g->reader, dimension, sizeof dimension, &t, err);
        if (rc == FN_END)
            continue;
        walker *w = &g->walkers[g->count];
        if (!rc)
            rc = segment_list_open(&w->list, &g->reader, &t, err);
        g->count += w->list.r != NULL;
        if (rc)
            return rc;
        w->factor = (double)bytes_f32(entry + 4);
        g->by[g->count - 1] = w;
        g->did->postings += t.docs;
        g->did->read += w->list.block == 0 ? w->list.count : 0; /* a single one is opened with the list */
        largest += largest_part(w);
    }
    /* Each of so many additions is off by half a unit in the last place of what it comes to. */
    g->slack = largest * (g->count + 8.0) * 0x1p-51;
    return FENEC_OK;
}

static int rank_windows(ranking *g, error *err)
{
    const uint32_t docs = g->of->s->docs;
    const segment_docs *d;
    int rc = FENEC_OK;

    for (uint64_t first = 0; !rc && first < docs; first += WINDOW) {
        g->first = (uint32_t)first;
        g->end = first + WINDOW < docs ? first + WINDOW : docs;
        rc = segment_docs_at(&g->reader, g->first, &d, err);
        if (rc)
            break;
        g->first_id = segment_docs_id(d, g->first);
        if (!begin_window(g))
            continue;
        rc = add_up(g, err);
        if (!rc)
            rc = judge_met(g, err);
    }
    return rc;
}

static int rank_segment(ranking *g, conn *c, const uint8_t *entries, uint32_t count, error *err)
{
    g->count = 0;
    g->walkers = arena_zeroed(g->a, count * sizeof *g->walkers);
    g->by = arena_alloc(g->a, count * sizeof *g->by);
    g->bounds = arena_zeroed(g->a, (count + (size_t)1) * sizeof *g->bounds);
    if (!g->walkers || !g->by || !g->bounds)
        return fail_memory(err);
    int rc = segment_reader_open(&g->reader, g->of->s, c, g->v->cache, g->a, err);
    if (!rc)
        rc = open_walkers(g, entries, count, err);
    if (!rc && g->count)
        rc = rank_windows(g, err);
    for (uint32_t i = 0; i < g->count; i++)
        segment_list_close(&g->walkers[i].list);
    segment_reader_close(&g->reader);
    return rc;
}

/* ---- the recent set ---- */

static int rank_recent(const ranking *g, const uint8_t *entries, uint32_t count, error *err)
{
    const recent *r = g->v->recent;
    const size_t slots = recent_slots(r);
    double *sums = arena_zeroed(g->a, slots * sizeof *sums + 1);
    uint32_t *touched = arena_alloc(g->a, slots * sizeof *touched + 1), touched_count = 0;
    uint8_t *met = arena_zeroed(g->a, slots + 1);
    int rc = FENEC_OK;

    if (!sums || !touched || !met)
        return fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *entry = entries + (size_t)i * SPARSE_ENTRY;
        const double factor = (double)bytes_f32(entry + 4);
        uint8_t dimension[ENTRY_TERM];
        const recent_slot *slot;
        recent_posting p;
        recent_list l;
        bytes_put_big_u32(dimension, bytes_u32(entry));
        const recent_term *t = recent_find(r, dimension, sizeof dimension, hash64(dimension, sizeof dimension));
        if (!t)
            continue;
        for (recent_open(&l, r, g->v->number, t, false); recent_next(&l, &p, &slot);) {
            if (!met[p.slot])
                touched[touched_count++] = p.slot;
            met[p.slot] = 1;
            sums[p.slot] += factor * (double)segment_weight(p.count);
        }
    }
    for (uint32_t i = 0; !rc && i < touched_count; i++) {
        float score = (float)sums[touched[i]];
        int64_t id = recent_slot_at(r, touched[i])->id;
        if (best_takes(g->out, score, id))
            rc = best_add(g->out, score, id, err);
    }
    return rc;
}

/* ---- all of it ---- */

/* The largest segment not ranked yet: the first pages come from it, and what bounds the rest with them. */
static const text_segment *next_segment(const text_segments *all, const bool *done)
{
    const text_segment *found = NULL;

    for (uint32_t i = 0; i < all->count; i++)
        if (!done[i] && (!found || all->items[i].s->docs > found->s->docs))
            found = &all->items[i];
    return found;
}

int sparse_rank(const text_version *v, conn *c, const uint8_t *entries, uint32_t count, best *out, sparse_work *did,
                arena *a, error *err)
{
    ranking *g = arena_zeroed(a, sizeof *g);
    bool *done = arena_zeroed(a, v->segments->count + 1);
    const text_segment *s;
    int rc = FENEC_OK;

    *did = (sparse_work){0};
    if (!g || !done)
        return fail_memory(err);
    g->v = v;
    g->out = out;
    g->did = did;
    g->a = a;
    if (count == 0 || out->want == 0)
        return FENEC_OK;
    while (!rc && (s = next_segment(v->segments, done)) != NULL) {
        done[s - v->segments->items] = true;
        g->of = s;
        rc = rank_segment(g, c, entries, count, err);
    }
    return rc ? rc : rank_recent(g, entries, count, err);
}
