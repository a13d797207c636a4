/* fuzz_analyser.c - any text cut into terms, searched for in itself and marked. The first two bytes are options,
 * up to a line's end stands the query, then the text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "search/analyser.h"
#include "search/marks.h"
#include "search/query.h"

typedef struct seen {
    const uint8_t *text;
    size_t len;
    const analysis *how;
    size_t count, start;
    term only; /* the last one */
    uint8_t *bytes;
} seen;

static void must(bool good)
{
    if (!good)
        abort();
}

static bool is_between(const seen *s, size_t at)
{
    return at == s->len || (at < s->len && (s->text[at] & 0xC0) != 0x80);
}

static int keep(void *to, const term *t, error *err)
{
    seen *s = to;

    (void)err;
    s->count++;
    s->only = *t;
    s->bytes = realloc(s->bytes, t->len);
    memcpy(s->bytes, t->bytes, t->len);
    return FENEC_OK;
}

/* A word or gram stands for itself, by whatever options but those that add to it. */
static void check_again(const term *t)
{
    const analysis plain = {0};
    seen again = {0};
    error err;

    must(analyse(&plain, t->bytes, t->len, keep, &again, &err) == FENEC_OK);
    must(again.count == 1 && again.only.kind == t->kind && again.only.len == t->len && !memcmp(again.bytes, t->bytes, t->len));
    free(again.bytes);
}

static int look(void *to, const term *t, error *err)
{
    seen *s = to;

    (void)err;
    must(t->len > 0 && utf8_valid(t->bytes, t->len) && t->count == 1);
    must(t->start < t->end && t->end <= s->len && is_between(s, t->start) && is_between(s, t->end));
    must(t->kind == term_kind_of(t->bytes, t->len));
    if (t->kind == TERM_PREFIX)
        must(s->how->prefix_max && utf8_count(t->bytes, t->len) - 1 <= s->how->prefix_max &&
             utf8_count(t->bytes, t->len) - 1 >= s->how->prefix_min);
    else if (s->count < 500)
        check_again(t);
    s->count++;
    return FENEC_OK;
}

static size_t units(const uint8_t *text, size_t len)
{
    size_t n = 0;

    for (const uint8_t *at = text; at < text + len;)
        n += utf8_next(&at, text + len) > 0xFFFF ? 2 : 1;
    return n;
}

/* [[start,end],...]: in order, apart from each other, inside the text. */
static size_t check_marks(const char *at, size_t most)
{
    size_t count = 0, before = 0, start, end;
    int len;

    must(*at++ == '[');
    for (; *at == '['; count++) {
        must(sscanf(at, "[%zu,%zu]%n", &start, &end, &len) == 2 && start < end && end <= most);
        must(count == 0 || start > before);
        before = end;
        at += len;
        at += *at == ',';
    }
    must(*at == ']');
    return count;
}

static size_t highlight(query *q, const analysis *how, mark_text text)
{
    const mark_style plain = {0};
    buffer out;
    error err;

    buffer_init(&out);
    must(marks_highlight(q, how, text, &plain, &out, &err) == FENEC_OK);
    buffer_byte(&out, 0);
    size_t count = check_marks((const char *)out.bytes, units(text.bytes, text.len));
    buffer_clear(&out);
    return count;
}

static void search(const analysis *how, mark_text asked, mark_text text, bool itself, size_t terms)
{
    const mark_style tags = {.tagged = true, .before = {(const uint8_t *)"<", 1}, .after = {(const uint8_t *)">", 1},
                             .ellipsis = {(const uint8_t *)"\xE2\x80\xA6", 3}};
    arena memory;
    buffer out;
    error err;
    query q;

    arena_init(&memory);
    for (uint32_t fuzzy = 0; fuzzy < 3; fuzzy++) {
        must(query_make(&q, how, asked.bytes, asked.len, fuzzy, fuzzy == 1, &memory, &err) == FENEC_OK);
        size_t marks = highlight(&q, how, text);
        must(!itself || (marks > 0) == (terms > 0));
        for (uint32_t words = 1; words < 20; words += 6) {
            buffer_init(&out);
            must(marks_snippet(&q, how, text, words, &tags, &out, &err) == FENEC_OK && utf8_valid(out.bytes, out.len));
            buffer_clear(&out);
        }
    }
    arena_clear(&memory);
}

/* Valid UTF-8: what is not stands as U+FFFD. */
static uint8_t *make_valid(const uint8_t *bytes, size_t len, size_t *out_len)
{
    uint8_t *text = malloc(len * 3 + 1), *to = text;

    for (const uint8_t *at = bytes; at < bytes + len;)
        to += utf8_write(to, utf8_next(&at, bytes + len));
    *out_len = (size_t)(to - text);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    error err;

    if (len < 2)
        return 0;
    const analysis how = {.prefix_min = bytes[0] & 7u, .prefix_max = (bytes[0] >> 3) & 15u, .chars = bytes[1] & 1};
    mark_text all;
    uint8_t *text = make_valid(bytes + 2, len - 2, &all.len);
    all.bytes = text;
    seen s = {.text = text, .len = all.len, .how = &how};
    must(analyse(&how, text, all.len, look, &s, &err) == FENEC_OK);
    search(&how, all, all, true, s.count);
    const uint8_t *end = memchr(text, '\n', all.len);
    if (end) {
        mark_text asked = {text, (size_t)(end - text)}, rest = {end + 1, all.len - asked.len - 1};
        search(&how, asked, rest, false, 0);
    }
    free(text);
    return 0;
}
