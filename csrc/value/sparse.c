#include "value/sparse.h"

#include "base/bytes.h"
#include "value/number.h"
#include "value/type.h"

typedef struct reader {
    const uint8_t *at, *end;
} reader;

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')))
        r->at++;
}

/* The character c and the white space after it. */
static bool take(reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    skip_space(r);
    return true;
}

static bool skip_digits(reader *r)
{
    const uint8_t *first = r->at;

    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > first;
}

/* 1 to `most`. */
static bool take_index(reader *r, uint32_t most, uint32_t *out)
{
    uint64_t n = 0;

    if (r->at == r->end || *r->at < '0' || *r->at > '9')
        return false;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        n = n * 10 + (uint64_t)(*r->at - '0');
        if (n > most)
            return false;
    }
    skip_space(r);
    *out = (uint32_t)n;
    return n > 0;
}

/* [sign] digits [. digits] [exponent] as a finite 32-bit float. */
static bool take_weight(reader *r, float *out)
{
    /* What number_read32 takes has no plus sign. */
    bool plus = r->at < r->end && *r->at == '+';
    const uint8_t *first = r->at += plus;
    if (!plus && r->at < r->end && *r->at == '-')
        r->at++;
    if (!skip_digits(r))
        return false;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!skip_digits(r))
            return false;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        if (!skip_digits(r))
            return false;
    }
    if (!number_read32((const char *)first, (size_t)(r->at - first), out))
        return false;
    skip_space(r);
    return true;
}

static uint32_t index_of(const uint8_t *entries, size_t i)
{
    return bytes_u32(entries + i * SPARSE_ENTRY);
}

static void swap_entries(uint8_t *a, uint8_t *b)
{
    uint64_t one = bytes_u64(a);

    bytes_put_u64(a, bytes_u64(b));
    bytes_put_u64(b, one);
}

static void sift_down(uint8_t *entries, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && index_of(entries, child) < index_of(entries, child + 1))
            child++;
        if (index_of(entries, at) >= index_of(entries, child))
            break;
        swap_entries(entries + at * SPARSE_ENTRY, entries + child * SPARSE_ENTRY);
    }
}

static void sort_entries(uint8_t *entries, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(entries, i, count);
    for (size_t i = count; i-- > 1;) {
        swap_entries(entries, entries + i * SPARSE_ENTRY);
        sift_down(entries, 0, i);
    }
}

/* Puts the entries in order and drops weights of 0. False where an index stands twice. */
static bool settle(uint8_t *entries, uint32_t *count, bool sorted)
{
    uint32_t kept = 0;

    if (!sorted)
        sort_entries(entries, *count);
    for (uint32_t i = 1; i < *count; i++)
        if (index_of(entries, i - 1) == index_of(entries, i))
            return false;
    for (uint32_t i = 0; i < *count; i++) {
        uint8_t *entry = entries + (size_t)i * SPARSE_ENTRY;
        if (bytes_f32(entry + 4) != 0)
            memmove(entries + (size_t)kept++ * SPARSE_ENTRY, entry, SPARSE_ENTRY);
    }
    *count = kept;
    return true;
}

static int refuse(const uint8_t *text, size_t len, const char *why, error *err)
{
    char quoted[VALUE_QUOTE_MAX];
    value v = value_text(text, len);

    return fail(err, FENEC_TYPE, "%s is no sparse vector: %s", value_quote(quoted, &v), why);
}

int sparse_read(const uint8_t *text, size_t len, uint32_t dimension, arena *a, value *out, error *err)
{
    reader r = {.at = text, .end = len ? text + len : text};
    uint32_t most = dimension ? dimension : SPARSE_DIMENSION_MAX, read, before = 0;
    uint32_t count = 0, highest = 0;
    bool sorted = true;

    /* An entry takes three characters, and one between two: "1:1,". */
    size_t room = len / 4 + 1;
    uint8_t *bytes = room < UINT32_MAX ? arena_alloc(a, 4 + room * SPARSE_ENTRY) : NULL;
    if (!bytes)
        return fail_memory(err);
    skip_space(&r);
    if (!take(&r, '{'))
        return refuse(text, len, "{index:weight,...}/dimension is expected", err);
    if (!take(&r, '}')) {
        do {
            uint32_t index;
            float weight;
            if (!take_index(&r, most, &index))
                return refuse(text, len, "an index is a whole number from 1 to the dimension", err);
            if (!take(&r, ':'))
                return refuse(text, len, "a colon is expected after an index", err);
            if (!take_weight(&r, &weight))
                return refuse(text, len, "a weight is a finite 32-bit float in digits", err);
            bytes_put_u32(bytes + 4 + (size_t)count * SPARSE_ENTRY, index - 1);
            bytes_put_f32(bytes + 8 + (size_t)count * SPARSE_ENTRY, weight);
            count++;
            sorted = sorted && index > before;
            before = index;
            highest = index > highest ? index : highest;
        } while (take(&r, ','));
        if (!take(&r, '}'))
            return refuse(text, len, "a comma or } is expected after a weight", err);
    }
    if (!take(&r, '/') || !take_index(&r, SPARSE_DIMENSION_MAX, &read) || r.at != r.end)
        return refuse(text, len, "it ends in /dimension", err);
    if (dimension && read != dimension)
        return refuse(text, len, "its dimension is not the field's", err);
    if (highest > read)
        return refuse(text, len, "an index is above the dimension", err);
    if (!settle(bytes + 4, &count, sorted))
        return refuse(text, len, "an index stands twice", err);
    bytes_put_u32(bytes, read);
    *out =
        (value){.kind = VALUE_SPARSE, .count = count, .bytes = bytes, .len = 4 + (size_t)count * SPARSE_ENTRY};
    return FENEC_OK;
}

void sparse_write(buffer *out, const value *sparse)
{
    buffer_byte(out, '{');
    for (uint32_t i = 0; i < sparse->count; i++) {
        const uint8_t *entry = sparse->bytes + 4 + (size_t)i * SPARSE_ENTRY;
        char *to = (char *)buffer_reserve(out, 1 + NUMBER_DIGITS_MAX + 1 + NUMBER_PLAIN_MAX);
        size_t len = 0;
        if (!to)
            return;
        if (i)
            to[len++] = ',';
        len += number_write_digits(to + len, (uint64_t)bytes_u32(entry) + 1);
        to[len++] = ':';
        len += number_write32(to + len, bytes_f32(entry + 4));
        out->len += len;
    }
    buffer_text(out, "}/");
    char *to = (char *)buffer_reserve(out, NUMBER_DIGITS_MAX);
    if (to)
        out->len += number_write_digits(to, sparse_dimension(sparse));
}

uint32_t sparse_dimension(const value *sparse)
{
    return bytes_u32(sparse->bytes);
}

const uint8_t *sparse_entries(const value *sparse)
{
    return sparse->bytes + 4;
}
