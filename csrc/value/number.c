#include "value/number.h"

#include <string.h>

#include "value/number_tables.h"

__extension__ typedef unsigned __int128 wide;

#define DOUBLE_HIDDEN (UINT64_C(1) << 52) /* the leading bit a normal double does not store */
#define DOUBLE_INFINITE (UINT64_C(0x7FF) << 52)
#define DOUBLE_BIAS 1075 /* exponent field of a mantissa counted in whole units */
#define FLOAT_HIDDEN (UINT32_C(1) << 23)
#define FLOAT_BIAS 150

static uint64_t double_bits(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* floor(log2(10^k)) for |k| < 1233. */
static int log2_of_power(int k)
{
    return (k * 1741647) >> 19;
}

/* ---- shortest digits: R. Giulietti, "The Schubfach way to render doubles" ---- */

/* floor(log10(2^q)), of 3/4 x 2^q where the number below is nearer. */
static int log10_of_binary(int q, bool below_is_nearer)
{
    return (q * 1262611 - (below_is_nearer ? 524031 : 0)) >> 22;
}

/* The number that vbl, vb, vbr (4 x: the lower end, the value, the upper end in units of 10^k, rounded to
 * odd) call for. */
static void choose_digits(uint64_t vbl, uint64_t vb, uint64_t vbr, bool even, int k, uint64_t *digits,
                          int *exponent)
{
    uint64_t lower = vbl + !even, upper = vbr - !even, s = vb / 4;

    *exponent = k;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool down = lower <= 40 * tens, up = 40 * tens + 40 <= upper;
        if (down != up) {
            *digits = tens + up;
            *exponent = k + 1;
            return;
        }
    }
    bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    if (down != up) {
        *digits = s + up;
        return;
    }
    uint64_t middle = 4 * s + 2;
    *digits = s + (vb > middle || (vb == middle && (s & 1)));
}

static void strip_zeros(uint64_t *digits, int *exponent)
{
    uint64_t d = *digits;
    int e = *exponent;

    while (d % 100000000 == 0) {
        d /= 100000000;
        e += 8;
    }
    if (d % 10000 == 0) {
        d /= 10000;
        e += 4;
    }
    if (d % 100 == 0) {
        d /= 100;
        e += 2;
    }
    if (d % 10 == 0) {
        d /= 10;
        e += 1;
    }
    *digits = d;
    *exponent = e;
}

/* 10^k to 128 bits, rounded up. */
static void power_above(int k, uint64_t *high, uint64_t *low)
{
    const uint64_t *p = powers_of_ten[k - POWER_MIN];
    bool exact = k >= 0 && k <= POWER_EXACT_MAX;

    *low = p[1] + !exact;
    *high = p[0] + (*low < p[1]);
}

/* The top 64 bits of a product of 128 and 64 bits; odd where bits are lost. */
static uint64_t round_to_odd(uint64_t high, uint64_t low, uint64_t by)
{
    wide y = (wide)high * by + (uint64_t)((wide)low * by >> 64);
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

void number_shortest(double f, uint64_t *digits, int *exponent)
{
    uint64_t bits = double_bits(f), fraction = bits & (DOUBLE_HIDDEN - 1);
    int field = (int)(bits >> 52 & 0x7FF);
    uint64_t c = field ? fraction | DOUBLE_HIDDEN : fraction, high, low;
    int q = (field ? field : 1) - DOUBLE_BIAS;

    if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) {
        *digits = c >> -q;
        *exponent = 0;
        strip_zeros(digits, exponent);
        return;
    }
    bool below_is_nearer = fraction == 0 && field > 1;
    int k = log10_of_binary(q, below_is_nearer);
    int h = q + log2_of_power(-k) + 1;
    power_above(-k, &high, &low);
    choose_digits(round_to_odd(high, low, (4 * c - 2 + below_is_nearer) << h),
                  round_to_odd(high, low, 4 * c << h), round_to_odd(high, low, (4 * c + 2) << h), !(c & 1), k,
                  digits, exponent);
    strip_zeros(digits, exponent);
}

static uint64_t round_to_odd32(uint64_t power, uint32_t by)
{
    wide y = (wide)power * by;
    return (uint64_t)(y >> 64) | ((uint32_t)(y >> 32) > 1);
}

void number_shortest32(float f, uint64_t *digits, int *exponent)
{
    uint32_t bits = float_bits(f), fraction = bits & (FLOAT_HIDDEN - 1);
    int field = (int)(bits >> 23 & 0xFF);
    uint32_t c = field ? fraction | FLOAT_HIDDEN : fraction;
    int q = (field ? field : 1) - FLOAT_BIAS;

    if (q <= 0 && q > -24 && (c & ((UINT32_C(1) << -q) - 1)) == 0) {
        *digits = c >> -q;
        *exponent = 0;
        strip_zeros(digits, exponent);
        return;
    }
    bool below_is_nearer = fraction == 0 && field > 1;
    int k = log10_of_binary(q, below_is_nearer);
    int h = q + log2_of_power(-k) + 1;
    const uint64_t *p = powers_of_ten[-k - POWER_MIN];
    /* 10^27 is the last power that 64 bits hold. */
    uint64_t power = p[0] + !(-k >= 0 && -k <= 27);
    choose_digits(round_to_odd32(power, (4 * c - 2 + below_is_nearer) << h),
                  round_to_odd32(power, 4 * c << h), round_to_odd32(power, (4 * c + 2) << h), !(c & 1), k,
                  digits, exponent);
    strip_zeros(digits, exponent);
}

/* ---- writing ---- */

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

static unsigned count_digits(uint64_t n)
{
    static const uint64_t tens[] = {1,
                                    10,
                                    100,
                                    1000,
                                    10000,
                                    100000,
                                    1000000,
                                    10000000,
                                    100000000,
                                    1000000000,
                                    10000000000u,
                                    100000000000u,
                                    1000000000000u,
                                    10000000000000u,
                                    100000000000000u,
                                    1000000000000000u,
                                    10000000000000000u,
                                    100000000000000000u,
                                    1000000000000000000u,
                                    10000000000000000000u};
    /* n | 1 has as many digits as n, and one bit at least. 1233 / 4096 is a little more than log10(2). */
    unsigned guess = (unsigned)(64 - __builtin_clzll(n | 1)) * 1233 >> 12;
    return guess + 1 - ((n | 1) < tens[guess]);
}

size_t number_write_digits(char out[NUMBER_DIGITS_MAX], uint64_t n)
{
    unsigned len = count_digits(n), at = len;

    while (n >= 100) {
        at -= 2;
        memcpy(out + at, digit_pairs + n % 100 * 2, 2);
        n /= 100;
    }
    if (n >= 10)
        memcpy(out, digit_pairs + n * 2, 2);
    else
        out[0] = (char)('0' + n);
    return len;
}

static size_t write_plain(char *out, uint64_t digits, int exponent)
{
    size_t len = count_digits(digits), below = exponent < 0 ? (size_t)-exponent : 0;

    if (exponent >= 0) {
        number_write_digits(out, digits);
        memset(out + len, '0', (size_t)exponent);
        return len + (size_t)exponent;
    }
    if (len > below) {
        size_t whole = len - below;
        number_write_digits(out, digits);
        memmove(out + whole + 1, out + whole, below);
        out[whole] = '.';
        return len + 1;
    }
    memcpy(out, "0.", 2);
    memset(out + 2, '0', below - len);
    number_write_digits(out + 2 + below - len, digits);
    return 2 + below;
}

size_t number_write(char out[NUMBER_PLAIN_MAX], double f)
{
    size_t sign = double_bits(f) >> 63;
    uint64_t digits = 0;
    int exponent = 0;

    out[0] = '-';
    if (f != 0)
        number_shortest(f, &digits, &exponent);
    return sign + write_plain(out + sign, digits, exponent);
}

size_t number_write32(char out[NUMBER_PLAIN_MAX], float f)
{
    size_t sign = float_bits(f) >> 31;
    uint64_t digits = 0;
    int exponent = 0;

    out[0] = '-';
    if (f != 0)
        number_shortest32(f, &digits, &exponent);
    return sign + write_plain(out + sign, digits, exponent);
}

/* ---- reading ---- */

/* Of more digits than these a double depends only on whether any other is not 0. */
#define DIGITS_EXACT 770
#define DIGITS_WORD 19 /* that always fit 64 bits */

/* A number as it was written: text is its significant digits and perhaps a dot among them. */
typedef struct decimal {
    const char *text; /* the first digit that is not 0 */
    const char *end;  /* after the last digit */
    uint64_t word;    /* the first DIGITS_WORD digits, 0 for zero */
    int64_t exponent; /* |value| = word x 10^exponent, a little more where digits are left out */
    bool cut;         /* digits are left out of word */
    bool negative;
} decimal;

#define EXPONENT_HUGE 1000000000

static decimal decimal_of(const char *text, size_t len)
{
    decimal d = {0};
    const char *at = text, *end = text + len;
    int64_t written = 0;
    unsigned count = 0;
    bool fraction = false;

    if (at < end && *at == '-') {
        d.negative = true;
        at++;
    }
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        if (count < DIGITS_WORD) {
            d.word = d.word * 10 + (uint64_t)(*at - '0');
            d.exponent -= fraction;
            if (d.word) {
                count++;
                if (!d.text)
                    d.text = at;
            }
        } else {
            d.exponent += !fraction;
            d.cut |= *at != '0';
        }
    }
    d.end = at;
    if (at < end) {
        bool minus = false;
        at++;
        if (at < end && (*at == '-' || *at == '+'))
            minus = *at++ == '-';
        for (; at < end; at++)
            if (written < EXPONENT_HUGE)
                written = written * 10 + (*at - '0');
        d.exponent += minus ? -written : written;
    }
    return d;
}

/* A whole number of any size that comparing needs: 10^1150 at most. */
typedef struct big {
    uint32_t len; /* words, lowest first; no leading 0 */
    uint64_t words[64];
} big;

static void big_multiply(big *b, uint64_t by, uint64_t add)
{
    uint64_t carry = add;

    for (uint32_t i = 0; i < b->len; i++) {
        wide product = (wide)b->words[i] * by + carry;
        b->words[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry && b->len < 64)
        b->words[b->len++] = carry;
}

static void big_multiply_by_power_of_5(big *b, uint32_t power)
{
    uint64_t by = 1;

    for (; power >= 27; power -= 27)
        big_multiply(b, UINT64_C(7450580596923828125), 0);
    while (power--)
        by *= 5;
    big_multiply(b, by, 0);
}

static void big_shift(big *b, uint32_t bits)
{
    uint32_t words = bits / 64;

    big_multiply(b, UINT64_C(1) << bits % 64, 0);
    if (words == 0 || b->len == 0 || b->len + words > 64)
        return;
    memmove(b->words + words, b->words, b->len * sizeof b->words[0]);
    memset(b->words, 0, words * sizeof b->words[0]);
    b->len += words;
}

static int big_compare(const big *a, const big *b)
{
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    for (uint32_t i = a->len; i-- > 0;)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

/* |d| against m x 2^q, exactly. d is not 0 and between 1e-330 and 1e330. */
static int decimal_compare(const decimal *d, uint64_t m, int q)
{
    static const uint64_t tens[] = {1,       10,       100,       1000,       10000,       100000,
                                    1000000, 10000000, 100000000, 1000000000, 10000000000u};
    big left = {0}, right = {.len = 1, .words = {m}};
    uint64_t chunk = 0;
    unsigned in_chunk = 0, count = 0, after_word = 0;
    bool rest = false;
    int exponent = (int)d->exponent;

    /* d->exponent goes with the first DIGITS_WORD digits; those taken beyond them lower it. */
    for (const char *at = d->text; at < d->end; at++) {
        if (*at == '.')
            continue;
        if (count == DIGITS_EXACT) {
            rest |= *at != '0';
            continue;
        }
        chunk = chunk * 10 + (uint64_t)(*at - '0');
        after_word += ++count > DIGITS_WORD;
        if (++in_chunk == 10) {
            big_multiply(&left, tens[10], chunk);
            chunk = in_chunk = 0;
        }
    }
    exponent -= (int)after_word;
    big_multiply(&left, tens[in_chunk], chunk);
    if (rest) {
        big_multiply(&left, 10, 1);
        exponent--;
    }
    if (exponent >= 0)
        big_multiply_by_power_of_5(&left, (uint32_t)exponent);
    else
        big_multiply_by_power_of_5(&right, (uint32_t)-exponent);
    if (q >= exponent)
        big_shift(&right, (uint32_t)(q - exponent));
    else
        big_shift(&left, (uint32_t)(exponent - q));
    return big_compare(&left, &right);
}

/* D. Lemire, "Number parsing at a gigabyte per second" (M. Eisel's method): the bits of
 * word x 10^exponent, or false where 128 bits of the power do not tell or the double is no normal one. */
static bool read_fast(uint64_t word, int exponent, uint64_t *bits)
{
    const uint64_t *power = powers_of_ten[exponent - POWER_MIN];
    int zeros = __builtin_clzll(word);
    uint64_t m = word << zeros;
    wide x = (wide)m * power[0];
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;

    if ((high & 0x1FF) == 0x1FF && low + m < m) {
        wide y = (wide)m * power[1];
        uint64_t merged = low + (uint64_t)(y >> 64);
        high += merged < low;
        if ((high & 0x1FF) == 0x1FF && merged + 1 == 0 && (uint64_t)y + m < m)
            return false;
        low = merged;
    }
    unsigned top = (unsigned)(high >> 63);
    uint64_t mantissa = high >> (top + 9);
    int field = log2_of_power(exponent) + 64 + 1023 - zeros - !top;
    if (low == 0 && (high & 0x1FF) == 0 && (mantissa & 3) == 1)
        return false;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> 53) {
        mantissa >>= 1;
        field++;
    }
    if (field < 1 || field > 2046)
        return false;
    *bits = (uint64_t)field << 52 | (mantissa & (DOUBLE_HIDDEN - 1));
    return true;
}

/* The same for every d, by whole numbers: from a double not above d upwards. Infinite where too large. */
static uint64_t read_exact(const decimal *d)
{
    const uint64_t *power = powers_of_ten[d->exponent - POWER_MIN];
    int zeros = __builtin_clzll(d->word);
    uint64_t m = d->word << zeros;
    wide product = (wide)m * power[0] + (uint64_t)((wide)m * power[1] >> 64);
    uint64_t high = (uint64_t)(product >> 64); /* in units of 2^unit; d is at least that */
    int unit = log2_of_power((int)d->exponent) + 1 - zeros;
    int q = unit + (high >> 63 ? 63 : 62) - 52;

    if (q > 971)
        return DOUBLE_INFINITE;
    if (q < -1074)
        q = -1074;
    uint64_t mantissa = q - unit < 64 ? high >> (q - unit) : 0;
    uint64_t bits = ((uint64_t)(q + 1074) << 52) + mantissa;
    while (bits < DOUBLE_INFINITE) {
        uint64_t field = bits >> 52, c = bits & (DOUBLE_HIDDEN - 1);
        if (field)
            c |= DOUBLE_HIDDEN;
        int order = decimal_compare(d, 2 * c + 1, (int)(field ? field : 1) - DOUBLE_BIAS - 1);
        if (order == 0)
            bits += bits & 1;
        if (order <= 0)
            break;
        bits++;
    }
    return bits;
}

/* The bits of |d|, correctly rounded; DOUBLE_INFINITE where it is too large. */
static uint64_t read_bits(const decimal *d)
{
    static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t bits, above;

    if (d->word == 0 || d->exponent < POWER_MIN)
        return 0;
    if (d->exponent > 308)
        return DOUBLE_INFINITE;
    int exponent = (int)d->exponent;
    /* Both exact: one operation rounds once. */
    if (!d->cut && d->word <= DOUBLE_HIDDEN * 2 && exponent >= -22 && exponent <= 22) {
        double f = (double)d->word;
        return double_bits(exponent < 0 ? f / exact_powers[-exponent] : f * exact_powers[exponent]);
    }
    if (read_fast(d->word, exponent, &bits) &&
        (!d->cut || (read_fast(d->word + 1, exponent, &above) && above == bits)))
        return bits;
    return read_exact(d);
}

bool number_read(const char *text, size_t len, double *out)
{
    decimal d = decimal_of(text, len);
    uint64_t bits = read_bits(&d);

    if (bits >= DOUBLE_INFINITE)
        return false;
    *out = double_of(bits | (uint64_t)d.negative << 63);
    return true;
}

bool number_read32(const char *text, size_t len, float *out)
{
    decimal d = decimal_of(text, len);
    uint64_t bits = read_bits(&d);

    if (bits >= DOUBLE_INFINITE)
        return false;
    /* Half-way between two floats, but perhaps only since it was rounded once already. */
    if (bits && (bits & 0xFFFFFFF) == 0 && (double)(float)double_of(bits) != double_of(bits)) {
        uint64_t field = bits >> 52, c = bits & (DOUBLE_HIDDEN - 1);
        if (field)
            c |= DOUBLE_HIDDEN;
        int order = decimal_compare(&d, c, (int)(field ? field : 1) - DOUBLE_BIAS);
        bits += order > 0;
        bits -= order < 0;
    }
    /* (float) of more than FLT_MAX is undefined to the letter of C, infinite by IEC 60559. */
    if (double_of(bits) >= 0x1.ffffffp127)
        return false;
    float f = (float)double_of(bits);
    *out = d.negative ? -f : f;
    return true;
}

bool number_read_int(const char *text, size_t len, int64_t *out)
{
    bool negative = len > 0 && text[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + negative, n = 0;

    for (size_t i = negative; i < len; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (n >= UINT64_C(100000000000000000) && n > (limit - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

/* ---- half precision ---- */

uint16_t number_to_half(float f)
{
    uint32_t bits = float_bits(f), sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF, half;

    if (size > 0x7F800000)
        return (uint16_t)(sign | 0x7E00); /* not a number */
    if (size >= 0x477FF000)
        return (uint16_t)(sign | 0x7C00); /* 65520 and more */
    if (size >= 0x38800000) {             /* 2^-14: a normal half */
        half = ((size + 0xFFF + (size >> 13 & 1)) >> 13) - (112 << 10);
    } else {
        uint32_t shift = 126 - (size >> 23), c = (size & (FLOAT_HIDDEN - 1)) | FLOAT_HIDDEN;
        if (shift > 24)
            return (uint16_t)sign;
        uint32_t rest = c & ((UINT32_C(1) << shift) - 1), middle = UINT32_C(1) << (shift - 1);
        half = c >> shift;
        half += rest > middle || (rest == middle && (half & 1));
    }
    return (uint16_t)(sign | half);
}

float number_from_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, field = h >> 10 & 0x1F, fraction = h & 0x3FF;

    if (field == 0x1F)
        return float_of(sign | 0x7F800000 | fraction << 13);
    if (field)
        return float_of(sign | (field + 112) << 23 | fraction << 13);
    float f = (float)fraction * 0x1p-24f;
    return sign ? -f : f;
}
