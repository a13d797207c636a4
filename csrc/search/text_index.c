#include "search/text_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "search/segment_writer.h"
#include "search/text_rows.h"
#include "value/sparse.h"

#define RECENT_SLOTS 4096u
#define RECENT_BYTES (4u * 1024 * 1024)
#define BUILDING_SLOTS 131072u
#define BUILDING_BYTES (48u * 1024 * 1024)

static _Atomic(uint32_t) slots_most = RECENT_SLOTS;

void text_index_limit(uint32_t slots)
{
    slots_most = slots ? slots : RECENT_SLOTS;
}

text_version *text_index_begin(const text_version *v)
{
    text_version *t = memory_alloc(sizeof *t);

    if (!t)
        return NULL;
    *t = *v;
    t->head.references = 1;
    t->segments = text_segments_keep(v->segments);
    t->counts = term_counts_keep(v->counts);
    t->recent = recent_keep(v->recent);
    t->before = NULL;
    buffer_init(&t->log);
    t->number = v->number + 1;
    t->own = true;
    return t;
}

void text_index_undo(text_version *own)
{
    if (!own->own)
        return;
    recent_undo(own->recent, own->number);
    if (own->before)
        recent_undo(own->before, own->number);
}

int text_index_land(text_version *own, conn *c, error *err)
{
    int rc = own->log.failed ? fail_memory(err) : FENEC_OK;

    if (!own->own)
        return FENEC_OK;
    if (!rc && own->log.len)
        rc = row_cache_write(c, own->index, own->log_next, own->log.bytes, own->log.len, err);
    if (rc)
        return rc;
    own->log_next += own->log.len > 0;
    return FENEC_OK;
}

void text_index_landed(text_version *own)
{
    own->own = own->built = false;
    recent_drop(own->before);
    own->before = NULL;
    buffer_clear(&own->log);
}

/* ---- documents ---- */

int text_index_add(text_version *own, int64_t id, const uint8_t *text, size_t len, error *err)
{
    uint32_t length;
    /* Room in the log first: what is in the recent set is in it too. */
    if (!buffer_reserve(&own->log, 1 + VARINT_MAX))
        return fail_memory(err);
    int rc = recent_add(own->recent, own->number, id, &own->how, text, len, &length, err);
    if (rc || !length)
        return rc;
    buffer_byte(&own->log, TEXT_ADDED);
    varint_put(&own->log, text_zigzag(id));
    own->docs++;
    own->terms += length;
    own->longest = length > own->longest ? length : own->longest;
    return FENEC_OK;
}

static int stop_at_first(void *to, const term *t, error *err)
{
    (void)t;
    (void)err;
    *(bool *)to = true;
    return FN_END;
}

/* The segment that holds a document which is there: FENEC_OK, FN_END. */
static int find_document(const text_version *v, conn *c, int64_t id, uint32_t *number, uint32_t *place, error *err)
{
    int rc = FN_END;
    arena memory;

    arena_init(&memory);
    for (uint32_t i = v->segments->count; rc == FN_END && i-- > 0;) {
        const text_segment *s = &v->segments->items[i];
        segment_reader r = {0};
        if (id < s->s->first_ids[0] || id > s->s->last_id)
            continue;
        rc = segment_reader_open(&r, s->s, c, v->cache, &memory, err);
        if (!rc)
            rc = segment_place(&r, id, place, err);
        if (!rc && (bitmap_has(s->gone, *place) || recent_hides(v->recent, v->number, s->s->number, *place)))
            rc = FN_END;
        *number = s->s->number;
        segment_reader_close(&r);
        arena_reset(&memory);
    }
    arena_clear(&memory);
    return rc;
}

/* What hides a document of a segment, in the log: its terms stand after their length, which is known last. */
static int hide(text_version *own, uint32_t number, uint32_t place, const uint8_t *text, size_t len, uint32_t *length,
                error *err)
{
    buffer distinct;
    int rc;

    buffer_init(&distinct);
    if (own->how.weights) {
        *length = (uint32_t)(len / SPARSE_ENTRY);
        rc = recent_hide_listed(own->recent, own->number, number, place, NULL, 0, *length, err);
    } else {
        rc = recent_hide(own->recent, own->number, number, place, &own->how, text, len, &distinct, length, err);
    }
    if (!rc && *length == 0)
        rc = ROW_DAMAGED;
    if (!rc) {
        buffer_byte(&own->log, TEXT_HIDDEN);
        varint_put(&own->log, number);
        varint_put(&own->log, place);
        varint_put(&own->log, *length);
        varint_put(&own->log, distinct.len);
        buffer_put(&own->log, distinct.bytes, distinct.len);
        if (distinct.failed || own->log.failed)
            rc = fail_memory(err);
    }
    buffer_clear(&distinct);
    return rc;
}

int text_index_remove(text_version *own, conn *c, int64_t id, const uint8_t *text, size_t len, error *err)
{
    uint32_t length, number, place;
    bool any = false;

    if (!buffer_reserve(&own->log, 1 + VARINT_MAX))
        return fail_memory(err);
    int rc = recent_take(own->recent, own->number, id, &length, err);
    if (!rc) {
        buffer_byte(&own->log, TEXT_TAKEN);
        varint_put(&own->log, text_zigzag(id));
    } else if (rc == FN_END) {
        rc = analyse(&own->how, text, len, stop_at_first, &any, err);
        if (!any)
            return rc; /* it had no term */
        rc = find_document(own, c, id, &number, &place, err);
        if (!rc)
            rc = hide(own, number, place, text, len, &length, err);
        if (rc == FN_END)
            rc = ROW_DAMAGED;
    }
    if (rc)
        return rc;
    own->docs--;
    own->terms -= length;
    return FENEC_OK;
}

bool text_index_is_full(const text_version *own, bool building)
{
    return recent_slots(own->recent) >= (building ? BUILDING_SLOTS : slots_most) ||
           recent_bytes(own->recent) >= (building ? BUILDING_BYTES : RECENT_BYTES);
}

/* ---- a segment of the recent set ---- */

typedef struct document {
    int64_t id;
    uint32_t slot;
} document;

/* A term with the first bytes of it as a number: most are in order by that alone. */
typedef struct named {
    uint64_t first;
    const recent_term *t;
} named;

typedef struct flushing {
    text_version *own;
    conn *c;
    document *docs;
    uint32_t doc_count, hidden_count;
    uint32_t *places; /* by slot */
    named *terms;
    uint32_t term_count, term_cap;
    bool no_memory;
    uint32_t number; /* of the new segment */
    bool in_order;   /* ids rise with slots */
} flushing;

static int put_row(void *to, int64_t id, const uint8_t *bytes, size_t len, error *err)
{
    const flushing *f = to;

    return row_cache_write(f->c, f->own->index, id, bytes, len, err);
}

static int by_document(const void *a, const void *b)
{
    const document *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

/* The documents that are there, by id. */
static int gather_documents(flushing *f, error *err)
{
    const recent *r = f->own->recent;
    uint32_t slots = recent_slots(r);

    f->docs = memory_alloc(((size_t)slots + 1) * sizeof *f->docs);
    f->places = memory_alloc(((size_t)slots + 1) * sizeof *f->places);
    if (!f->docs || !f->places)
        return fail_memory(err);
    f->in_order = true;
    for (uint32_t i = 0; i < slots; i++) {
        const recent_slot *s = recent_slot_at(r, i);
        if (!recent_sees(s, f->own->number))
            continue;
        if (s->segment) {
            f->hidden_count++;
            continue;
        }
        f->in_order &= f->doc_count == 0 || f->docs[f->doc_count - 1].id < s->id;
        f->docs[f->doc_count++] = (document){s->id, i};
    }
    if (!f->in_order)
        qsort(f->docs, f->doc_count, sizeof *f->docs, by_document);
    for (uint32_t i = 0; i < f->doc_count; i++)
        f->places[f->docs[i].slot] = i;
    return FENEC_OK;
}

static bool gather_term(void *to, const recent_term *t)
{
    flushing *f = to;
    uint8_t first[8] = {0};

    if (f->term_count == f->term_cap) {
        uint32_t cap = f->term_cap ? f->term_cap * 2 : 1024;
        named *more = memory_resize(f->terms, cap * sizeof *more);
        if (!more) {
            f->no_memory = true;
            return false;
        }
        f->terms = more;
        f->term_cap = cap;
    }
    memcpy(first, t->bytes, t->len < 8 ? t->len : 8);
    f->terms[f->term_count++] = (named){bytes_big_u64(first), t};
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    const named *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    size_t len = x->t->len < y->t->len ? x->t->len : y->t->len;
    int order = memcmp(x->t->bytes, y->t->bytes, len);
    return order ? order : (x->t->len > y->t->len) - (x->t->len < y->t->len);
}

static int by_place(const void *a, const void *b)
{
    const recent_posting *x = a, *y = b;

    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* The postings of a term that are seen, with places for slots. */
static int write_term(flushing *f, segment_writer *w, const recent_term *t, recent_posting *list, error *err)
{
    recent_list l;
    const recent_slot *slot;
    uint32_t count = 0;
    int rc = FENEC_OK;

    for (recent_open(&l, f->own->recent, f->own->number, t, false); recent_next(&l, &list[count], &slot); count++)
        list[count].slot = f->places[list[count].slot];
    if (count == 0)
        return FENEC_OK;
    if (!f->in_order)
        qsort(list, count, sizeof *list, by_place);
    rc = segment_writer_term(w, t->bytes, t->len, err);
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = segment_writer_posting(w, list[i].slot, list[i].count, err);
    return rc;
}

static int write_segment(flushing *f, error *err)
{
    f->number = row_cache_number(f->own->cache, 1);
    segment_writer *w = segment_writer_new(f->number, f->own->how.weights, put_row, f);
    recent_posting *list = memory_alloc(((size_t)f->doc_count + 1) * sizeof *list);
    int rc = w && list ? FENEC_OK : fail_memory(err);

    for (uint32_t i = 0; !rc && i < f->doc_count; i++)
        rc = segment_writer_doc(w, f->docs[i].id, recent_slot_at(f->own->recent, f->docs[i].slot)->length, err);
    for (uint32_t i = 0; !rc && i < f->term_count; i++)
        rc = write_term(f, w, f->terms[i].t, list, err);
    if (!rc)
        rc = segment_writer_end(w, err);
    segment_writer_free(w);
    memory_free(list);
    return rc;
}

/* Bits of the documents of a segment that are hidden. */
static int hide_in(const flushing *f, text_segment *s, error *err)
{
    const recent *r = f->own->recent;
    bitmap *fresh = NULL;

    for (uint32_t i = 0; i < recent_slots(r); i++) {
        const recent_slot *slot = recent_slot_at(r, i);
        if (slot->segment != s->s->number || !recent_sees(slot, f->own->number))
            continue;
        if (!fresh && !(fresh = bitmap_new(s->s->docs, s->gone)))
            return fail_memory(err);
        bitmap_set(fresh, (uint32_t)slot->id);
        s->gone_terms += slot->length;
    }
    if (fresh) {
        bitmap_drop(s->gone);
        s->gone = fresh;
    }
    return FENEC_OK;
}

static int make_segments(const flushing *f, text_segments **out, error *err)
{
    const text_segments *old = f->own->segments;
    text_segments *s = text_segments_new(old->count + 1);
    int rc = FENEC_OK;

    *out = s;
    if (!s)
        return fail_memory(err);
    for (uint32_t i = 0; !rc && i < old->count; i++) {
        text_segment *to = &s->items[s->count++];
        *to = (text_segment){segment_keep(old->items[i].s), bitmap_keep(old->items[i].gone), old->items[i].gone_terms};
        if (f->hidden_count)
            rc = hide_in(f, to, err);
    }
    if (!rc && f->doc_count) {
        rc = segment_open(&s->items[s->count].s, f->c, f->own->cache, f->own->index, f->number, err);
        s->count += !rc;
    }
    return rc;
}

static int make_counts(const flushing *f, term_counts **out, error *err)
{
    term_change *changes;
    size_t count = 0;

    *out = NULL;
    if (!f->hidden_count) {
        *out = term_counts_keep(f->own->counts);
        return FENEC_OK;
    }
    changes = memory_alloc(((size_t)f->term_count + 1) * sizeof *changes);
    if (!changes)
        return fail_memory(err);
    for (uint32_t i = 0; i < f->term_count; i++) {
        const recent_term *t = f->terms[i].t;
        uint32_t by = recent_count(f->own->recent, f->own->number, t, true);
        if (by)
            changes[count++] = (term_change){t->bytes, t->len, by};
    }
    int rc = term_counts_change(f->own->counts, changes, count, out, err);
    memory_free(changes);
    return rc;
}

static int write_all(flushing *f, error *err)
{
    text_version *own = f->own;
    text_segments *segments = NULL;
    term_counts *counts = NULL;
    recent *fresh = NULL;
    int rc = f->doc_count ? write_segment(f, err) : FENEC_OK;

    if (!rc)
        rc = make_segments(f, &segments, err);
    if (!rc)
        rc = make_counts(f, &counts, err);
    if (!rc)
        rc = text_rows_write(segments, counts, own->segments, f->c, own->index, err);
    if (!rc)
        rc = rows_delete_range(f->c, table_search(own->index), TEXT_LOG, INT64_MAX, err);
    if (!rc && !(fresh = recent_new()))
        rc = fail_memory(err);
    if (rc) {
        text_segments_drop(segments);
        term_counts_drop(counts);
        return rc;
    }
    text_segments_drop(own->segments);
    term_counts_drop(own->counts);
    if (own->before)
        recent_drop(own->recent);
    else
        own->before = own->recent; /* readers have it, and an undo looks into it */
    own->segments = segments;
    own->counts = counts;
    own->recent = fresh;
    own->log.len = 0;
    own->log_next = TEXT_LOG;
    return FENEC_OK;
}

int text_index_flush(text_version *own, conn *c, error *err)
{
    flushing f = {.own = own, .c = c};
    int rc = gather_documents(&f, err);

    if (!rc)
        recent_terms(own->recent, gather_term, &f);
    if (f.no_memory)
        rc = fail_memory(err);
    if (!rc && f.term_count > 1)
        qsort(f.terms, f.term_count, sizeof *f.terms, by_bytes);
    if (!rc && (f.doc_count || f.hidden_count))
        rc = write_all(&f, err);
    memory_free(f.docs);
    memory_free(f.places);
    memory_free(f.terms);
    return rc;
}
