/* text_open.c - a text index read from the file. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "search/text_rows.h"

typedef struct opening {
    text_version *v;
    conn *c;
    uint32_t counts_rows;
    uint32_t last_number; /* of the segments that have rows, 0: none has */
    /* Documents that the log speaks of, in order of its rows. */
    struct event *events;
    size_t event_count, event_cap;
} opening;

typedef struct event {
    int64_t id;
    size_t order;
    bool added;
} event;

/* ---- a version without a document ---- */

static void text_free(version *v)
{
    text_version *t = (text_version *)v;

    text_segments_drop(t->segments);
    term_counts_drop(t->counts);
    recent_drop(t->recent);
    recent_drop(t->before);
    buffer_clear(&t->log);
    memory_free(t);
}

static text_version *make_empty(row_cache *cache, uint32_t index, const index_spec *spec)
{
    text_version *t = memory_zeroed(sizeof *t);

    if (!t)
        return NULL;
    *t = (text_version){.head = {.references = 1, .free = text_free},
                        .index = index,
                        .cache = cache,
                        .how = {.prefix_min = spec->prefix_min,
                                .prefix_max = spec->prefix_max,
                                .chars = spec->chars,
                                .weights = spec->kind == INDEX_INVERTED},
                        .k1 = spec->k1_hundredths / 100.0,
                        .b = spec->b_hundredths / 100.0,
                        .number = 1,
                        .log_next = TEXT_LOG};
    t->segments = text_segments_new(0);
    t->recent = recent_new();
    if (t->segments && t->recent)
        return t;
    version_drop(&t->head);
    return NULL;
}

/* New segments get numbers above all there are, also where the index turns out to be damaged and is built anew:
 * what the cache has of the old ones is theirs. */
static int pass_numbers(opening *o, error *err)
{
    const uint8_t *bytes;
    cursor cur = {0};
    size_t len;
    int64_t id;
    int rc = cursor_rows(&cur, o->c, table_search(o->v->index), segment_row_id(1, SEGMENT_HEAD, 0), TEXT_LOG - 1, true, err);

    if (!rc)
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
    if (!rc) {
        o->last_number = (uint32_t)(id >> 32);
        row_cache_number(o->v->cache, o->last_number);
    }
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

/* ---- manifest, counts, bits ---- */

static bool read_number(const uint8_t **at, const uint8_t *end, uint64_t most, uint64_t *out)
{
    return varint_get(at, end, out) && *out <= most;
}

static int read_gone(opening *o, text_segment *s, uint64_t count, error *err)
{
    const size_t row_words = TEXT_GONE_BYTES / 8, words = (size_t)s->s->docs / 64 + 1;
    uint64_t seen = 0;

    if (count == 0)
        return FENEC_OK;
    s->gone = bitmap_new(s->s->docs, NULL);
    if (!s->gone)
        return fail_memory(err);
    for (size_t first = 0; first < words; first += row_words) {
        size_t want = words - first < row_words ? words - first : row_words, len;
        const uint8_t *bytes;
        int rc = row_cache_read(o->c, o->v->index,
                                segment_row_id(s->s->number, SEGMENT_GONE, (uint32_t)(first / row_words)), &bytes, &len,
                                err);
        if (rc == FN_END)
            continue;
        if (rc)
            return rc;
        if (len != want * 8)
            return ROW_DAMAGED;
        for (size_t i = 0; i < want; i++) {
            s->gone->words[first + i] = bytes_u64(bytes + i * 8);
            seen += (uint64_t)__builtin_popcountll(s->gone->words[first + i]);
        }
    }
    uint32_t spare = s->s->docs % 64;
    s->gone->count = (uint32_t)seen;
    return seen == count && s->gone->words[words - 1] >> spare == 0 ? FENEC_OK : ROW_DAMAGED;
}

static int read_segment(opening *o, text_segment *to, const uint8_t **at, const uint8_t *end, error *err)
{
    uint64_t number, gone, gone_terms;

    if (!read_number(at, end, INT32_MAX, &number) || !read_number(at, end, UINT32_MAX, &gone) ||
        !read_number(at, end, INT64_MAX, &gone_terms) || number == 0)
        return ROW_DAMAGED;
    int rc = segment_open(&to->s, o->c, o->v->cache, o->v->index, (uint32_t)number, err);
    if (rc)
        return rc;
    if (to->s->weights != o->v->how.weights || gone > to->s->docs || gone_terms > to->s->terms)
        return ROW_DAMAGED;
    to->gone_terms = gone_terms;
    if (to->s->longest > o->v->longest)
        o->v->longest = to->s->longest;
    o->v->docs += (int64_t)(to->s->docs - gone);
    o->v->terms += (int64_t)(to->s->terms - gone_terms);
    return read_gone(o, to, gone, err);
}

/* The manifest's bytes are copied: reading a segment reads other rows. */
static int read_manifest(opening *o, error *err)
{
    const uint8_t *bytes, *at, *end;
    uint64_t format, counts_rows, count;
    text_segments *s;
    size_t len;
    int rc = row_cache_read(o->c, o->v->index, TEXT_MANIFEST, &bytes, &len, err);

    if (rc)
        return rc != FN_END ? rc : o->last_number ? ROW_DAMAGED : FENEC_OK; /* a segment's block writes one */
    uint8_t *own = memory_alloc(len);
    if (!own)
        return fail_memory(err);
    memcpy(own, bytes, len);
    at = own;
    end = own + len;
    if (!read_number(&at, end, TEXT_FORMAT, &format) || format != TEXT_FORMAT ||
        !read_number(&at, end, INT32_MAX, &counts_rows) || !read_number(&at, end, len, &count))
        rc = ROW_DAMAGED;
    s = rc ? NULL : text_segments_new((uint32_t)count);
    if (!rc && !s)
        rc = fail_memory(err);
    for (uint64_t i = 0; !rc && i < count; i++) {
        s->count++;
        rc = read_segment(o, &s->items[i], &at, end, err);
    }
    if (!rc && at != end)
        rc = ROW_DAMAGED;
    if (s) {
        text_segments_drop(o->v->segments);
        o->v->segments = s;
    }
    if (!rc)
        o->counts_rows = (uint32_t)counts_rows;
    memory_free(own);
    return rc;
}

static int read_counts(opening *o, error *err)
{
    buffer all;
    int rc = FENEC_OK;

    buffer_init(&all);
    for (uint32_t i = 0; !rc && i < o->counts_rows; i++) {
        const uint8_t *bytes;
        size_t len;
        rc = row_cache_read(o->c, o->v->index, TEXT_COUNTS + i, &bytes, &len, err);
        if (rc == FN_END)
            rc = ROW_DAMAGED;
        if (!rc)
            buffer_put(&all, bytes, len);
    }
    if (!rc && all.failed)
        rc = fail_memory(err);
    if (!rc)
        rc = term_counts_read(all.bytes, all.len, &o->v->counts, err);
    buffer_clear(&all);
    return rc;
}

/* ---- what no segment names: of merges that were cut short ---- */

static bool is_named(const text_segments *s, uint32_t number)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i].s->number == number)
            return true;
    return false;
}

static int drop_strays(opening *o, error *err)
{
    int64_t low = segment_row_id(1, SEGMENT_HEAD, 0);
    int rc = FENEC_OK;

    while (!rc && low < TEXT_LOG) {
        const uint8_t *bytes;
        cursor cur = {0};
        size_t len;
        int64_t id;
        rc = cursor_rows(&cur, o->c, table_search(o->v->index), low, TEXT_LOG - 1, false, err);
        if (!rc)
            rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        cursor_close(&cur);
        if (rc)
            break;
        uint32_t number = (uint32_t)(id >> 32);
        low = segment_row_id(number, SEGMENT_HEAD, 0);
        if (!is_named(o->v->segments, number) && !store_write_refused(o->c))
            rc = rows_delete_range(o->c, table_search(o->v->index), low, low + UINT32_MAX, err);
        low += (int64_t)1 << 32;
    }
    return rc == FN_END ? FENEC_OK : rc;
}

/* ---- the log ---- */

static int note_event(opening *o, int64_t id, bool added, error *err)
{
    if (o->event_count == o->event_cap) {
        size_t cap = o->event_cap ? o->event_cap * 2 : 64;
        event *more = memory_resize(o->events, cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        o->events = more;
        o->event_cap = cap;
    }
    o->events[o->event_count] = (event){id, o->event_count, added};
    o->event_count++;
    return FENEC_OK;
}

static const text_segment *segment_numbered(const text_segments *s, uint64_t number)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i].s->number == number)
            return &s->items[i];
    return NULL;
}

static int read_hidden(opening *o, const uint8_t **at, const uint8_t *end, error *err)
{
    uint64_t number, place, length, size;

    if (!read_number(at, end, UINT32_MAX, &number) || !read_number(at, end, UINT32_MAX, &place) ||
        !read_number(at, end, UINT32_MAX, &length) || !read_number(at, end, (uint64_t)(end - *at), &size) ||
        size > (uint64_t)(end - *at) || length == 0 || (size == 0) != o->v->how.weights)
        return ROW_DAMAGED;
    const text_segment *s = segment_numbered(o->v->segments, number);
    if (!s || place >= s->s->docs || bitmap_has(s->gone, (uint32_t)place))
        return ROW_DAMAGED;
    int rc = recent_hide_listed(o->v->recent, o->v->number, (uint32_t)number, (uint32_t)place, *at, (size_t)size,
                                (uint32_t)length, err);
    *at += size;
    o->v->docs--;
    o->v->terms -= (int64_t)length;
    return rc;
}

static int read_log_row(opening *o, const uint8_t *bytes, size_t len, error *err)
{
    const uint8_t *at = bytes, *end = bytes + len;
    int rc = FENEC_OK;

    while (!rc && at < end) {
        uint8_t what = *at++;
        uint64_t id;
        if (what == TEXT_HIDDEN)
            rc = read_hidden(o, &at, end, err);
        else if ((what != TEXT_ADDED && what != TEXT_TAKEN) || !varint_get(&at, end, &id))
            rc = ROW_DAMAGED;
        else
            rc = note_event(o, text_unzigzag(id), what == TEXT_ADDED, err);
    }
    return rc;
}

static int read_log(opening *o, error *err)
{
    cursor cur = {0};
    int rc = cursor_rows(&cur, o->c, table_search(o->v->index), TEXT_LOG, INT64_MAX, false, err);

    while (!rc) {
        const uint8_t *bytes;
        size_t len;
        int64_t id;
        rc = cursor_next_row(&cur, &id, &bytes, &len, err);
        if (!rc && (id != o->v->log_next || !row_cache_check(o->v->index, id, bytes, &len)))
            rc = ROW_DAMAGED;
        if (!rc)
            rc = read_log_row(o, bytes, len, err);
        if (!rc)
            o->v->log_next = id + 1;
    }
    cursor_close(&cur);
    return rc == FN_END ? FENEC_OK : rc;
}

static int by_id(const void *a, const void *b)
{
    const event *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Adds the documents whose last event is that they were added. */
static int add_documents(opening *o, text_source *source, void *from, error *err)
{
    if (o->event_count > 1)
        qsort(o->events, o->event_count, sizeof *o->events, by_id);
    for (size_t i = 0; i < o->event_count; i++) {
        const event *e = &o->events[i];
        int64_t before = o->v->docs;
        const uint8_t *text;
        size_t len;
        if (!e->added || (i + 1 < o->event_count && e[1].id == e->id))
            continue;
        int rc = source(from, e->id, &text, &len, err);
        if (!rc)
            rc = text_index_add(o->v, e->id, text, len, err);
        if (rc == FN_END || (!rc && o->v->docs == before))
            return ROW_DAMAGED; /* it was there with a term */
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

int text_index_open(text_version **out, conn *c, row_cache *cache, uint32_t index, const index_spec *spec,
                    text_source *source, void *from, error *err)
{
    text_version *v = make_empty(cache, index, spec);
    opening o = {.v = v, .c = c};
    int rc = v ? pass_numbers(&o, err) : fail_memory(err);

    if (!rc)
        rc = read_manifest(&o, err);
    if (!rc)
        rc = read_counts(&o, err);
    if (!rc && conn_is_writer(c))
        rc = drop_strays(&o, err);
    if (!rc)
        rc = read_log(&o, err);
    if (!rc)
        rc = add_documents(&o, source, from, err);
    memory_free(o.events);
    if (v)
        buffer_clear(&v->log); /* it stands in the file */
    if (!rc)
        *out = v;
    else if (v)
        version_drop(&v->head);
    return rc;
}
