#include "search/edits.h"

#include "base/utf8.h"

uint32_t edits_allowed(uint32_t characters, uint32_t fuzzy)
{
    uint32_t most = characters < 5 ? 0 : characters < 9 ? 1 : 2;

    return fuzzy < most ? fuzzy : most;
}

/* Of the row after `n` characters only distances from the first n - budget - 1 to n + budget + 1 of the word
 * are kept: those beyond are too far. */
static uint8_t *cell(const edits *e, uint32_t n, uint32_t i)
{
    return e->rows + (size_t)n * (2 * e->budget + 3) + (i + e->budget + 1 - n);
}

bool edits_init(edits *e, const uint8_t *word, size_t len, uint32_t budget, arena *a)
{
    const uint8_t *p = word, *end = word + len;
    size_t count = utf8_count(word, len);
    uint32_t *own = arena_alloc(a, (count + 1) * sizeof *own);

    *e = (edits){.word = own, .budget = budget};
    e->other = arena_alloc(a, (count + budget + 1) * sizeof *e->other);
    e->rows = arena_alloc(a, (count + budget + 1) * (2 * (size_t)budget + 3));
    if (!own || !e->other || !e->rows)
        return false;
    while (p < end)
        own[e->len++] = utf8_next(&p, end);
    for (uint32_t i = 0; i <= budget + 1; i++)
        *cell(e, 0, i) = (uint8_t)i;
    return true;
}

void edits_cut(edits *e, uint32_t depth)
{
    if (depth < e->depth)
        e->depth = depth;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

bool edits_push(edits *e, uint32_t c)
{
    uint32_t n = e->depth + 1, far = e->budget + 1, best = far;
    uint32_t low = n > e->budget ? n - e->budget : 0, high = least(n + e->budget, e->len);

    if (n > e->len + e->budget)
        return false;
    if (low > 0)
        *cell(e, n, low - 1) = (uint8_t)far;
    for (uint32_t i = low; i <= high; i++) {
        uint32_t d = *cell(e, n - 1, i) + 1u;
        if (i > 0) {
            d = least(d, *cell(e, n - 1, i - 1) + (uint32_t)(e->word[i - 1] != c));
            d = least(d, *cell(e, n, i - 1) + 1u);
            if (i > 1 && n > 1 && e->word[i - 1] == e->other[n - 2] && e->word[i - 2] == c)
                d = least(d, *cell(e, n - 2, i - 2) + 1u);
        }
        *cell(e, n, i) = (uint8_t)least(d, far);
        best = least(best, d);
    }
    *cell(e, n, high + 1) = (uint8_t)far;
    if (best >= far)
        return false;
    e->other[n - 1] = c;
    e->depth = n;
    return true;
}

uint32_t edits_distance(const edits *e)
{
    if (e->depth + e->budget < e->len)
        return e->budget + 1;
    return *cell(e, e->depth, e->len);
}

uint32_t edits_of(edits *e, const uint8_t *word, size_t len, size_t *hopeless)
{
    const uint8_t *p = word, *end = word + len;

    if (hopeless)
        *hopeless = SIZE_MAX;
    edits_cut(e, 0);
    while (p < end) {
        if (edits_push(e, utf8_next(&p, end)))
            continue;
        if (hopeless)
            *hopeless = (size_t)(p - word);
        return e->budget + 1;
    }
    return edits_distance(e);
}
