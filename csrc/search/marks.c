#include "search/marks.h"

#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "value/json.h"

/* Bytes from `start` to before `end` of a text. */
typedef struct span {
    size_t start, end;
} span;

typedef struct spans {
    span *at;
    size_t count, cap;
} spans;

static int spans_add(spans *s, size_t start, size_t end, error *err)
{
    if (s->count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 32;
        span *more = memory_resize(s->at, cap * sizeof *more);
        if (!more)
            return fail_memory(err);
        s->at = more;
        s->cap = cap;
    }
    s->at[s->count++] = (span){start, end};
    return FENEC_OK;
}

/* ---- extenders: what belongs to the character before it ---- */

static bool is_extender(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x5BF, 0x5BF},   {0x5C1, 0x5C2},   {0x5C4, 0x5C5},
        {0x5C7, 0x5C7},   {0x610, 0x61A},   {0x64B, 0x65F},   {0x670, 0x670},   {0x6D6, 0x6DC},   {0x6DF, 0x6E4},
        {0x6E7, 0x6E8},   {0x6EA, 0x6ED},   {0xE31, 0xE31},   {0xE34, 0xE3A},   {0xE47, 0xE4E},   {0xEB1, 0xEB1},
        {0xEB4, 0xEBC},   {0xEC8, 0xECD},   {0xF18, 0xF19},   {0xF35, 0xF35},   {0xF37, 0xF37},   {0xF39, 0xF39},
        {0xF71, 0xF84},   {0x102B, 0x103E}, {0x1160, 0x11FF}, {0x17B4, 0x17D3}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
        {0x200C, 0x200D}, {0x20D0, 0x20FF}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
        {0x1F3FB, 0x1F3FF}, {0xE0100, 0xE01EF},
    };
    size_t low = 0, high = sizeof ranges / sizeof ranges[0];

    if (c < 0x300)
        return false;
    if (c >= 0x900 && c <= 0xDFF)
        return c != 0x964 && c != 0x965 && !unicode_is_alphanumeric(c);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof ranges / sizeof ranges[0] && c >= ranges[low].first;
}

static uint32_t character_at(mark_text t, size_t at)
{
    const uint8_t *p = t.bytes + at;

    return utf8_next(&p, t.bytes + t.len);
}

/* Moves the ends of a span outwards over extenders, the start no farther than to `floor`. */
static void widen(mark_text t, size_t floor, span *s)
{
    while (s->start > floor && is_extender(character_at(t, s->start))) {
        do
            s->start--;
        while (s->start > floor && (t.bytes[s->start] & 0xC0) == 0x80);
    }
    while (s->end < t.len && t.bytes[s->end] >= 0x80) {
        const uint8_t *p = t.bytes + s->end;
        if (!is_extender(utf8_next(&p, t.bytes + t.len)))
            break;
        s->end = (size_t)(p - t.bytes);
    }
}

/* ---- finding ---- */

typedef struct finding {
    query *q;
    mark_text text;
    spans *found;
} finding;

/* Terms come nearly in order: a pair of characters after its second one. What is found is whole already, so
 * that nothing within it is widened again: a text of nothing but extenders is walked once. */
static int find_term(void *to, const term *t, error *err)
{
    finding *f = to;
    spans *found = f->found;
    span s = {t->start, t->end}, *last = found->count ? &found->at[found->count - 1] : NULL;

    if ((last && s.start >= last->start && s.end <= last->end) || !query_holds(f->q, t))
        return FENEC_OK;
    if (!last || s.end > last->end)
        widen(f->text, !last ? 0 : last->end < s.start ? last->end : s.start, &s);
    while (found->count && s.start <= found->at[found->count - 1].end) {
        const span *before = &found->at[--found->count];
        s.start = before->start < s.start ? before->start : s.start;
        s.end = before->end > s.end ? before->end : s.end;
    }
    return spans_add(found, s.start, s.end, err);
}

static int find_marks(query *q, const analysis *how, mark_text text, spans *out, error *err)
{
    finding f = {.q = q, .text = text, .found = out};

    return analyse(how, text.bytes, text.len, find_term, &f, err);
}

/* ---- writing ---- */

/* Counts UTF-16 units of a text from one place to a later one. */
typedef struct counting {
    mark_text text;
    size_t at;
    uint64_t units;
} counting;

static uint64_t units_to(counting *c, size_t to)
{
    for (; c->at < to; c->at++) {
        uint8_t byte = c->text.bytes[c->at];
        c->units += ((byte & 0xC0) != 0x80) + (byte >= 0xF0);
    }
    return c->units;
}

static uint64_t units_of(mark_text t)
{
    counting c = {.text = t};

    return units_to(&c, t.len);
}

/* Marks within the window, cut at its edges; the first of its bytes is unit `first`. */
static void write_offsets(mark_text t, span window, const spans *marks, uint64_t first, buffer *out)
{
    counting c = {.text = t, .at = window.start, .units = first};
    bool any = false;

    buffer_byte(out, '[');
    for (size_t i = 0; i < marks->count; i++) {
        size_t start = marks->at[i].start > window.start ? marks->at[i].start : window.start;
        size_t end = marks->at[i].end < window.end ? marks->at[i].end : window.end;
        if (start >= end)
            continue;
        buffer_text(out, any ? ",[" : "[");
        any = true;
        json_write_int(out, (int64_t)units_to(&c, start));
        buffer_byte(out, ',');
        json_write_int(out, (int64_t)units_to(&c, end));
        buffer_byte(out, ']');
    }
    buffer_byte(out, ']');
}

static void put_text(buffer *b, mark_text t)
{
    buffer_put(b, t.bytes, t.len);
}

/* The window's text, marked where the style has tags. */
static void put_window(mark_text t, span window, const spans *marks, const mark_style *style, buffer *b)
{
    size_t at = window.start;

    for (size_t i = 0; style->tagged && i < marks->count; i++) {
        size_t start = marks->at[i].start > window.start ? marks->at[i].start : window.start;
        size_t end = marks->at[i].end < window.end ? marks->at[i].end : window.end;
        if (start >= end)
            continue;
        buffer_put(b, t.bytes + at, start - at);
        put_text(b, style->before);
        buffer_put(b, t.bytes + start, end - start);
        put_text(b, style->after);
        at = end;
    }
    buffer_put(b, t.bytes + at, window.end - at);
}

static int write_window(mark_text t, span window, const spans *marks, const mark_style *style, buffer *out, error *err)
{
    bool before = window.start > 0, after = window.end < t.len;
    buffer b;

    if (!style->tagged && !((before || after) && style->ellipsis.len)) {
        json_write_text(out, t.bytes + window.start, window.end - window.start);
        return FENEC_OK;
    }
    buffer_init(&b);
    if (before)
        put_text(&b, style->ellipsis);
    put_window(t, window, marks, style, &b);
    if (after)
        put_text(&b, style->ellipsis);
    bool failed = b.failed;
    if (!failed)
        json_write_text(out, b.bytes, b.len);
    buffer_clear(&b);
    return failed ? fail_memory(err) : FENEC_OK;
}

int marks_highlight(query *q, const analysis *how, mark_text text, const mark_style *style, buffer *out, error *err)
{
    const mark_style plain = {.tagged = true, .before = style->before, .after = style->after};
    const span all = {0, text.len};
    spans marks = {0};
    int rc = find_marks(q, how, text, &marks, err);

    if (!rc && style->tagged)
        rc = write_window(text, all, &marks, &plain, out, err);
    else if (!rc)
        write_offsets(text, all, &marks, 0, out);
    memory_free(marks.at);
    return rc;
}

/* ---- snippets ---- */

/* Units: words, and characters of scripts without spaces. Of a stretch that folds to nothing it is known only
 * from its neighbours whether it is a run of its own, which is dropped. */
static int find_units(mark_text t, spans *units, error *err)
{
    size_t at = 0;
    stretch s, held = {0};
    bool holds = false;
    int rc = FENEC_OK;

    while (!rc && stretch_next(t.bytes, t.len, &at, &s)) {
        bool joins = units->count && units->at[units->count - 1].end == s.start;
        if (holds && held.end == s.start)
            rc = spans_add(units, held.start, held.end, err);
        holds = s.empty && !s.gram && !joins;
        held = s;
        if (!rc && !s.gram && !holds)
            rc = spans_add(units, s.start, s.end, err);
        for (size_t start = s.start; !rc && s.gram && start < s.end;) {
            size_t end = start + 1;
            while (end < s.end && (t.bytes[end] & 0xC0) == 0x80)
                end++;
            rc = spans_add(units, start, end, err);
            start = end;
        }
    }
    return rc;
}

/* Which units a mark overlaps. */
static void find_hits(const spans *units, const spans *marks, uint8_t *hit)
{
    size_t m = 0;

    for (size_t i = 0; i < units->count; i++) {
        while (m < marks->count && marks->at[m].end <= units->at[i].start)
            m++;
        hit[i] = m < marks->count && marks->at[m].start < units->at[i].end;
    }
}

/* The first unit of the window of `n` of them, of which there are more. */
static size_t choose_window(const uint8_t *hit, size_t count, size_t n)
{
    size_t hits = 0, best = 0, best_at = 0;

    for (size_t i = 0; i < count; i++) {
        hits += hit[i];
        if (i >= n)
            hits -= hit[i - n];
        if (i + 1 >= n && hits > best) {
            best = hits;
            best_at = i + 1 - n;
        }
    }
    if (best == 0)
        return 0;
    size_t first = best_at, last = best_at + n - 1;
    while (!hit[first])
        first++;
    while (!hit[last])
        last--;
    size_t middle = (first + last) / 2, start = middle > n / 2 ? middle - n / 2 : 0;
    return start < count - n ? start : count - n;
}

static span window_of(mark_text t, const spans *units, size_t first, size_t n)
{
    span w = {units->at[first].start, units->at[first + n - 1].end};

    widen(t, 0, &w);
    if (first == 0)
        w.start = 0;
    if (first + n == units->count)
        w.end = t.len;
    return w;
}

int marks_snippet(query *q, const analysis *how, mark_text text, uint32_t words, const mark_style *style, buffer *out,
                  error *err)
{
    spans marks = {0}, units = {0};
    span window = {0, text.len};
    int rc = find_marks(q, how, text, &marks, err);

    if (!rc)
        rc = find_units(text, &units, err);
    if (!rc && units.count > words) {
        uint8_t *hit = memory_alloc(units.count);
        if (!hit) {
            rc = fail_memory(err);
        } else {
            find_hits(&units, &marks, hit);
            window = window_of(text, &units, choose_window(hit, units.count, words), words);
            memory_free(hit);
        }
    }
    if (!rc && !style->tagged) {
        uint64_t first = window.start > 0 ? units_of(style->ellipsis) : 0;
        buffer_text(out, "{\"marks\":");
        write_offsets(text, window, &marks, first, out);
        buffer_text(out, ",\"text\":");
    }
    if (!rc)
        rc = write_window(text, window, &marks, style, out, err);
    if (!rc && !style->tagged)
        buffer_byte(out, '}');
    memory_free(marks.at);
    memory_free(units.at);
    return rc;
}
