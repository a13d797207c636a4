#include "search/analyser.h"

#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "value/sparse.h"

#define DOT_ABOVE 0x307u
#define HELD 80 /* bytes: words up to here are folded without the heap */

/* Of ASCII: 0 separates, 1 stands in words as it is, 2 is a capital. */
static const uint8_t ascii[128] = {
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1,
    ['A'] = 2, ['B'] = 2, ['C'] = 2, ['D'] = 2, ['E'] = 2, ['F'] = 2, ['G'] = 2, ['H'] = 2, ['I'] = 2, ['J'] = 2,
    ['K'] = 2, ['L'] = 2, ['M'] = 2, ['N'] = 2, ['O'] = 2, ['P'] = 2, ['Q'] = 2, ['R'] = 2, ['S'] = 2, ['T'] = 2,
    ['U'] = 2, ['V'] = 2, ['W'] = 2, ['X'] = 2, ['Y'] = 2, ['Z'] = 2, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1,
    ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1,
    ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,
    ['y'] = 1, ['z'] = 1,
};

static unsigned gram_size(uint32_t c)
{
    if (c < 0xE00)
        return 0;
    if (c <= 0xEFF || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF))
        return 3;
    if ((c >= 0x1100 && c <= 0x11FF) || (c >= 0x3005 && c <= 0x3007) || (c >= 0x3041 && c <= 0x30FF) ||
        (c >= 0x3131 && c <= 0x318E) || (c >= 0x31F0 && c <= 0x31FF) || (c >= 0x3400 && c <= 0x4DBF) ||
        (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xA960 && c <= 0xA97F) || (c >= 0xAC00 && c <= 0xD7FF) ||
        (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF66 && c <= 0xFFDC) || (c >= 0x20000 && c <= 0x3FFFF))
        return 2;
    return 0;
}

static bool in_word(uint32_t c)
{
    if (c == DOT_ABOVE || (c >= 0xE31 && c <= 0xE4E) || (c >= 0xEB1 && c <= 0xECD) || (c >= 0x102B && c <= 0x103E) ||
        (c >= 0x17B4 && c <= 0x17D3))
        return true;
    return unicode_is_alphanumeric(c);
}

bool stretch_next(const uint8_t *text, size_t len, size_t *at, stretch *out)
{
    const uint8_t *p = text + *at, *end = text + len;
    uint8_t seen = 0;
    bool plain = true, empty = true;

    while (p < end && *p < 0x80 && !ascii[*p])
        p++;
    while (p < end && *p >= 0x80) {
        const uint8_t *before = p;
        uint32_t c = utf8_next(&p, end);
        if (in_word(c)) {
            p = before;
            break;
        }
        while (p < end && *p < 0x80 && !ascii[*p])
            p++;
    }
    if (p == end) {
        *at = len;
        return false;
    }
    *out = (stretch){.start = (size_t)(p - text)};
    if (*p >= 0x80) {
        const uint8_t *first = p;
        out->gram = gram_size(utf8_next(&first, end));
    }
    while (p < end) {
        if (*p < 0x80) {
            if (!ascii[*p] || out->gram)
                break;
            seen |= ascii[*p++];
            empty = false;
            continue;
        }
        const uint8_t *before = p;
        uint32_t c = utf8_next(&p, end);
        if (!in_word(c) || gram_size(c) != out->gram) {
            p = before;
            break;
        }
        plain = false;
        empty &= c == DOT_ABOVE;
    }
    out->plain = plain && !(seen & 2);
    out->empty = empty;
    out->end = *at = (size_t)(p - text);
    return true;
}

term_kind term_kind_of(const uint8_t *bytes, size_t len)
{
    if (len && bytes[0] == TERM_PREFIX_MARK)
        return TERM_PREFIX;
    return len && bytes[0] >= 0xE0 && gram_size(utf8_next(&bytes, bytes + len)) > 0 ? TERM_GRAM : TERM_WORD;
}

/* ---- terms of a stretch ---- */

typedef struct analysing {
    const analysis *how;
    const uint8_t *text;
    term_visit *visit;
    void *to;
    error *err;
    bool prefixes;
    buffer folded, marked;
    uint8_t held[HELD];
} analysing;

static uint32_t fold(uint32_t c)
{
    if (c == 'I' || c == 0x130 || c == 0x131)
        return 'i';
    if (c >= 0xFF01 && c <= 0xFF5E)
        c -= 0xFEE0;
    return unicode_lower_character(c);
}

/* The bytes after one more character. */
static const uint8_t *after_one(const uint8_t *p, const uint8_t *end)
{
    p++;
    while (p < end && (*p & 0xC0) == 0x80)
        p++;
    return p;
}

static int visit_prefixes(analysing *a, const term *of)
{
    uint32_t least = a->how->prefix_min ? a->how->prefix_min : 1;
    const uint8_t *p = of->bytes, *end = p + of->len;
    term t = *of;

    a->marked.len = 0;
    buffer_byte(&a->marked, TERM_PREFIX_MARK);
    t.kind = TERM_PREFIX;
    for (uint32_t k = 1; k <= a->how->prefix_max; k++) {
        const uint8_t *next = p < end ? after_one(p, end) : end;
        if (next == end)
            break;
        buffer_put(&a->marked, p, (size_t)(next - p));
        p = next;
        if (k < least)
            continue;
        if (a->marked.failed)
            return fail_memory(a->err);
        t.bytes = a->marked.bytes;
        t.len = a->marked.len;
        int rc = a->visit(a->to, &t, a->err);
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

static int visit_term(analysing *a, term_kind kind, const uint8_t *bytes, size_t len, size_t start, size_t end)
{
    const term t = {.bytes = bytes, .len = len, .start = start, .end = end, .kind = kind, .count = 1};
    int rc = a->visit(a->to, &t, a->err);

    return rc || !a->prefixes ? rc : visit_prefixes(a, &t);
}

static int visit_word(analysing *a, const stretch *s)
{
    const uint8_t *p = a->text + s->start, *end = a->text + s->end, *word = a->held;
    size_t len = 0;

    if (s->plain)
        return visit_term(a, TERM_WORD, p, s->end - s->start, s->start, s->end);
    /* A folded character may be longer than it was, by half at most. */
    if (s->end - s->start <= HELD / 2) {
        while (p < end) {
            uint32_t c = utf8_next(&p, end);
            if (c != DOT_ABOVE)
                len += utf8_write(a->held + len, fold(c));
        }
    } else {
        a->folded.len = 0;
        while (p < end) {
            uint8_t bytes[4];
            uint32_t c = utf8_next(&p, end);
            if (c != DOT_ABOVE)
                buffer_put(&a->folded, bytes, utf8_write(bytes, fold(c)));
        }
        if (a->folded.failed)
            return fail_memory(a->err);
        word = a->folded.bytes;
        len = a->folded.len;
    }
    return visit_term(a, TERM_WORD, word, len, s->start, s->end);
}

static int visit_grams(analysing *a, const stretch *s)
{
    const uint8_t *text = a->text, *end = text + s->end, *p = text + s->start;
    const uint8_t *starts[3] = {p, p, p}; /* of the last characters, by their number */
    bool chars = a->how->chars && s->gram == 2;
    unsigned count = 0;
    int rc = FENEC_OK;

    while (!rc && p < end) {
        starts[count % 3] = p;
        p = after_one(p, end);
        const uint8_t *last = starts[count % 3];
        count++;
        if (chars)
            rc = visit_term(a, TERM_GRAM, last, (size_t)(p - last), (size_t)(last - text), (size_t)(p - text));
        if (!rc && count >= s->gram) {
            const uint8_t *first = starts[(count - s->gram) % 3];
            rc = visit_term(a, TERM_GRAM, first, (size_t)(p - first), (size_t)(first - text), (size_t)(p - text));
        }
    }
    if (!rc && count < s->gram && !chars)
        rc = visit_term(a, TERM_GRAM, text + s->start, s->end - s->start, s->start, s->end);
    return rc;
}

static int visit_entries(const uint8_t *entries, size_t len, term_visit *visit, void *to, error *err)
{
    int rc = FENEC_OK;

    for (const uint8_t *at = entries; !rc && len >= SPARSE_ENTRY; at += SPARSE_ENTRY, len -= SPARSE_ENTRY) {
        uint8_t bytes[ENTRY_TERM];
        bytes_put_big_u32(bytes, bytes_u32(at));
        const term t = {.bytes = bytes, .len = sizeof bytes, .kind = TERM_ENTRY, .count = bytes_u32(at + 4)};
        rc = visit(to, &t, err);
    }
    return rc;
}

int analyse(const analysis *how, const uint8_t *text, size_t len, term_visit *visit, void *to, error *err)
{
    analysing a = {.how = how,
                   .text = text,
                   .visit = visit,
                   .to = to,
                   .err = err,
                   .prefixes = how->prefix_max && how->prefix_min <= how->prefix_max};
    size_t at = 0;
    stretch s;
    int rc = FENEC_OK;

    if (how->weights)
        return visit_entries(text, len, visit, to, err);
    buffer_init(&a.folded);
    buffer_init(&a.marked);
    while (!rc && stretch_next(text, len, &at, &s))
        if (!s.empty || s.gram)
            rc = s.gram ? visit_grams(&a, &s) : visit_word(&a, &s);
    buffer_clear(&a.folded);
    buffer_clear(&a.marked);
    return rc;
}
