#include "value/number.h"

#include <math.h>
#include <stdlib.h>

#include "test.h"

static double double_of(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint64_t bits_of(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static const char *written(double f)
{
    static char text[NUMBER_PLAIN_MAX + 1];
    text[number_write(text, f)] = 0;
    return text;
}

static const char *written32(float f)
{
    static char text[NUMBER_PLAIN_MAX + 1];
    text[number_write32(text, f)] = 0;
    return text;
}

static double number(const char *text)
{
    double f;
    return number_read(text, strlen(text), &f) ? f : (double)INFINITY;
}

static int count_digits(uint64_t n)
{
    int count = 1;
    for (; n >= 10; n /= 10)
        count++;
    return count;
}

TEST(number_write_is_plain_and_shortest)
{
    CHECK_TEXT(written(0.0), "0");
    CHECK_TEXT(written(-0.0), "-0");
    CHECK_TEXT(written(1.0), "1");
    CHECK_TEXT(written(-1.5), "-1.5");
    CHECK_TEXT(written(0.1), "0.1");
    CHECK_TEXT(written(0.3), "0.3");
    CHECK_TEXT(written(0.1 + 0.2), "0.30000000000000004");
    CHECK_TEXT(written(1e15), "1000000000000000");
    CHECK_TEXT(written(1e23), "100000000000000000000000");
    CHECK_TEXT(written(1152921504606846976.0), "1152921504606847000");
    CHECK_TEXT(written(9007199254740993.0), "9007199254740992");
    CHECK_TEXT(written(1e-7), "0.0000001");
    CHECK_TEXT(written(123456.789), "123456.789");
    CHECK_TEXT(written(1.0 / 3), "0.3333333333333333");
    CHECK_INT(strlen(written(5e-324)), 326);
    CHECK(strtod(written(5e-324), NULL) == 5e-324);
    CHECK_INT(strlen(written(-1.7976931348623157e308)), 310);
    CHECK(!strncmp(written(-1.7976931348623157e308), "-179769313486231570000", 22));
    CHECK(!strncmp(written(2.2250738585072014e-308), "0.000000", 8));
}

TEST(number_write32_is_plain_and_shortest)
{
    CHECK_TEXT(written32(0.1f), "0.1");
    CHECK_TEXT(written32(1.0f), "1");
    CHECK_TEXT(written32(-0.0f), "-0");
    CHECK_TEXT(written32(16777216.0f), "16777216");
    CHECK_TEXT(written32(-2.5e-7f), "-0.00000025");
    CHECK_TEXT(written32(3.4028235e38f), "340282350000000000000000000000000000000");
    CHECK_TEXT(written32(0.09997559f), "0.09997559");
    CHECK_TEXT(written32(1e-45f), "0.000000000000000000000000000000000000000000001");
    CHECK_TEXT(written32(33554432.0f), "33554432");
}

/* The number is written by at most as many digits as printf needs, and they read back. */
static void check_shortest(double f)
{
    char text[64];
    uint64_t digits;
    int exponent, precision = 0;

    number_shortest(f, &digits, &exponent);
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    if (strtod(text, NULL) != fabs(f) || digits % 10 == 0) {
        test_failed(__FILE__, __LINE__, "%a is written %s", f, text);
        return;
    }
    int count = count_digits(digits);
    char other[64];
    for (precision = count - 1; precision > 0; precision--) {
        snprintf(other, sizeof other, "%.*e", precision - 1, fabs(f));
        if (strtod(other, NULL) == fabs(f)) {
            test_failed(__FILE__, __LINE__, "%a is written %s, %s is shorter", f, text, other);
            return;
        }
    }
    /* And no number of as many digits is nearer. */
    snprintf(other, sizeof other, "%.*e", count - 1, fabs(f));
    if (strtod(other, NULL) == fabs(f)) {
        long double mine = strtold(text, NULL), theirs = strtold(other, NULL), exact = fabsl((long double)f);
        if (fabsl(mine - exact) > fabsl(theirs - exact))
            test_failed(__FILE__, __LINE__, "%a is written %s, %s is nearer", f, text, other);
    }
    double back;
    if (!number_read(text, strlen(text), &back) || back != fabs(f))
        test_failed(__FILE__, __LINE__, "%a reads back from %s as %a", f, text, back);
    char plain[NUMBER_PLAIN_MAX + 1];
    plain[number_write(plain, f)] = 0;
    if (!number_read(plain, strlen(plain), &back) || back != f)
        test_failed(__FILE__, __LINE__, "%a does not read back from %s", f, plain);
}

static void check_shortest32(float f)
{
    char text[64], other[64];
    uint64_t digits;
    int exponent;
    float back;

    number_shortest32(f, &digits, &exponent);
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    if (strtof(text, NULL) != fabsf(f) || digits % 10 == 0) {
        test_failed(__FILE__, __LINE__, "%af is written %s", (double)f, text);
        return;
    }
    for (int precision = count_digits(digits) - 1; precision > 0; precision--) {
        snprintf(other, sizeof other, "%.*e", precision - 1, fabs((double)f));
        if (strtof(other, NULL) == fabsf(f)) {
            test_failed(__FILE__, __LINE__, "%af is written %s, %s is shorter", (double)f, text, other);
            return;
        }
    }
    snprintf(other, sizeof other, "%.*e", count_digits(digits) - 1, fabs((double)f));
    if (strtof(other, NULL) == fabsf(f)) {
        double mine = strtod(text, NULL), theirs = strtod(other, NULL), exact = fabs((double)f);
        if (fabs(mine - exact) > fabs(theirs - exact))
            test_failed(__FILE__, __LINE__, "%af is written %s, %s is nearer", (double)f, text, other);
    }
    char plain[NUMBER_PLAIN_MAX + 1];
    plain[number_write32(plain, f)] = 0;
    if (!number_read32(plain, strlen(plain), &back) || back != f)
        test_failed(__FILE__, __LINE__, "%af does not read back from %s", (double)f, plain);
}

TEST(number_shortest_of_random_doubles_is_shortest_and_nearest)
{
    uint64_t state = test_seed();
    long rounds = test_scale(20000, 2000000);

    for (long i = 0; i < rounds; i++) {
        double f = double_of(test_random(&state));
        if (isfinite(f) && f != 0)
            check_shortest(f);
        f = double_of(test_random(&state) >> (12 + test_random(&state) % 50)); /* denormal */
        if (f != 0)
            check_shortest(f);
        f = (double)(test_random(&state) % 100000000) / 1000; /* as people write them */
        if (f != 0)
            check_shortest(f);
        f = (double)(test_random(&state) >> test_random(&state) % 64);
        if (f != 0)
            check_shortest(f);
    }
}

TEST(number_shortest_holds_at_powers_of_two_and_ten_and_their_neighbours)
{
    for (int e = -1074; e <= 1023; e++) {
        double f = ldexp(1, e);
        check_shortest(f);
        check_shortest(nextafter(f, INFINITY));
        if (e > -1074)
            check_shortest(nextafter(f, 0));
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double f = strtod(text, NULL);
        check_shortest(f);
        check_shortest(nextafter(f, INFINITY));
        check_shortest(nextafter(f, 0) != 0 ? nextafter(f, 0) : f);
    }
    check_shortest(1.7976931348623157e308);
    for (uint64_t bits = 1; bits < 3000; bits++)
        check_shortest(double_of(bits));
}

TEST(number_shortest32_of_floats_is_shortest_and_nearest)
{
    uint64_t state = test_seed();
    long rounds = test_scale(60000, 5000000);

    for (long i = 0; i < rounds; i++) {
        float f = float_of((uint32_t)test_random(&state));
        if (isfinite(f) && f != 0)
            check_shortest32(f);
    }
    for (int e = -149; e <= 127; e++) {
        float f = ldexpf(1, e);
        check_shortest32(f);
        check_shortest32(nextafterf(f, INFINITY));
        if (e > -149)
            check_shortest32(nextafterf(f, 0));
    }
    for (uint32_t bits = 1; bits < 3000; bits++)
        check_shortest32(float_of(bits));
}

static void check_read(const char *text)
{
    double want = strtod(text, NULL), got = 0;
    bool finite = number_read(text, strlen(text), &got);

    if (finite != (bool)isfinite(want) || (finite && bits_of(got) != bits_of(want)))
        test_failed(__FILE__, __LINE__, "%.400s reads as %a, not %a", text, finite ? got : (double)INFINITY,
                    want);
    float want32 = strtof(text, NULL), got32 = 0;
    finite = number_read32(text, strlen(text), &got32);
    if (finite != (bool)isfinite(want32) ||
        (finite && (got32 != want32 || signbit(got32) != signbit(want32))))
        test_failed(__FILE__, __LINE__, "%.400s reads as %af, not %af", text,
                    finite ? (double)got32 : (double)INFINITY, (double)want32);
}

TEST(number_read_takes_what_is_hard)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "-0.0",
        "0e999999999999999999999",
        "0.000e-5",
        "1",
        "1.0",
        "1.5",
        "-1.5",
        "123456789012345678901234567890",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999999999999999999",
        "9007199254740994",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e400",
        "1e1000000000000",
        "1e-1000000000000",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "96330286416"
        "6928879109465555478519404026306574886715058206819089020007083836762738548458177115317644757302700698"
        "55571366959"
        "622842914819860834936475292719074168444365510704342711559699508093042880e0",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "96330286416"
        "6928879109465555478519404026306574886715058206819089020007083836762738548458177115317644757302700698"
        "55571366959"
        "622842914819860834936475292719074168444365510704342711559699508093042879.999",
        "4.9406564584124654e-324",
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "2.4703282292062327e-324",
        "1e-324",
        "3e-324",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "2."
        "2250738585072011360574097967091319759348195463516456480234261097248222220210769455165295239081350879"
        "14149158913"
        "0396211068700864386945946455276572074078206217433799881410632673292535522868813721490129811224514518"
        "8984905722230"
        "7285255133155755015914397476397983411801999323962548289017107081850690630666655994938275772572015763"
        "062690663332"
        "6475653000092458883164330377797918696120494973903778297049050510806099407302629371289589500035837999"
        "67207254304360"
        "2840788957717961509455167482434710307026091446215722898802581825451803257070188608721131280795122334"
        "2628836862232"
        "1503775666622503982534335974568884423900265498198385487948292206894721689831099698365846814022854243"
        "33066033985088"
        "644580400103493397042756718644338377048603786162277173854562306587467901408672332763671875e-308",
        "8.98846567431158e307",
        "0.1e1",
        "100e-2",
        "0.00000000000000000000000000000000000000000000000000001e53",
        "7.2057594037927933e16",
        "16777217",
        "16777217.0000000000000000000000001",
        "16777216.9999999999999999999999",
        "3.4028235e38",
        "3.4028236e38",
        "340282356779733661637539395458142568447",
        "340282356779733661637539395458142568448",
        "1e39",
        "7.006492321624085e-46",
        "7.0064923216240853e-46",
        "7.0064923216240854e-46",
        "1e-46",
        "0.5000000298023223876953125",
        "0.50000002980232238769531250000000000000000000001"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_read(texts[i]);
    CHECK(isinf(number("1e309")));
    CHECK(number("1e-400") == 0);
    CHECK(signbit(number("-1e-400")));
    CHECK(number("1E5") == 100000);
    CHECK(number("1e+5") == 100000);
}

TEST(number_read_of_random_text_is_that_of_strtod)
{
    uint64_t state = test_seed() + 1;
    long rounds = test_scale(100000, 10000000);

    for (long i = 0; i < rounds; i++) {
        char text[128];
        size_t len = 0, digits = 1 + test_random(&state) % (test_random(&state) % 4 ? 20 : 60);
        size_t dot = test_random(&state) % (2 * digits);
        for (size_t at = 0; at < digits; at++) {
            if (at && at == dot)
                text[len++] = '.';
            text[len++] = (char)('0' + test_random(&state) % 10);
        }
        text[len] = 0;
        if (test_random(&state) % 2)
            snprintf(text + len, sizeof text - len, "e%d", (int)(test_random(&state) % 700) - 360);
        check_read(text);
    }
}

TEST(number_read_decides_half_way_by_the_last_digit)
{
    uint64_t state = test_seed() + 2;
    long rounds = test_scale(3000, 300000);

    for (long i = 0; i < rounds; i++) {
        static char text[1400];
        double f = double_of(test_random(&state) & INT64_MAX);
        if (i % 4 == 0)
            f = double_of(test_random(&state) >> (12 + test_random(&state) % 40));
        if (i % 4 == 1)
            f = (double)float_of((uint32_t)test_random(&state) & INT32_MAX);
        if (!isfinite(f))
            continue;
        /* Exact where long double has more bits than double; merely a number where it has not. */
        long double middle = i % 4 == 1 ? ((long double)f + (long double)nextafterf((float)f, INFINITY)) / 2
                                        : ((long double)f + (long double)nextafter(f, INFINITY)) / 2;
        if (!isfinite((double)middle))
            continue;
        snprintf(text, sizeof text, "%.780Le", middle);
        check_read(text);
        char *e = strchr(text, 'e');
        e[-1] = '1';
        check_read(text);
        char tail[16];
        snprintf(tail, sizeof tail, "%s", e);
        snprintf(e, 400, "%0200d1%s", 0, tail);
        check_read(text);
        snprintf(text, sizeof text, "%.780Le", middle);
        /* One less in the last digit that is not 0. */
        e = strchr(text, 'e');
        char *last = e - 1;
        while (last > text && (*last == '0' || *last == '.'))
            last--;
        if (*last > '0') {
            --*last;
            memset(last + 1, '9', (size_t)(e - last - 1));
            if (last == text)
                text[1] = '.';
            check_read(text);
        }
    }
}

TEST(number_read_int_takes_64_bits_and_no_more)
{
    static const struct {
        const char *text;
        bool fits;
        int64_t value;
    } cases[] = {{"0", true, 0},
                 {"-0", true, 0},
                 {"42", true, 42},
                 {"-42", true, -42},
                 {"9223372036854775807", true, INT64_MAX},
                 {"9223372036854775808", false, 0},
                 {"-9223372036854775808", true, INT64_MIN},
                 {"-9223372036854775809", false, 0},
                 {"18446744073709551616", false, 0},
                 {"99999999999999999999", false, 0},
                 {"00000000000000000000000000000007", true, 7}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t n = 0;
        CHECK_INT(number_read_int(cases[i].text, strlen(cases[i].text), &n), cases[i].fits);
        CHECK_INT(n, cases[i].value);
    }
}

TEST(number_write_digits_writes_every_length)
{
    uint64_t n = 0;

    for (int count = 0; count <= 20; count++) {
        char text[NUMBER_DIGITS_MAX + 1], want[32];
        text[number_write_digits(text, n)] = 0;
        snprintf(want, sizeof want, "%llu", (unsigned long long)n);
        CHECK_TEXT(text, want);
        n = count == 19 ? UINT64_MAX : n * 10 + 7;
    }
}

TEST(number_to_half_rounds_to_nearest_even)
{
    CHECK_INT(number_to_half(1.0f), 0x3C00);
    CHECK_INT(number_to_half(-2.0f), 0xC000);
    CHECK_INT(number_to_half(0.0f), 0);
    CHECK_INT(number_to_half(-0.0f), 0x8000);
    CHECK_INT(number_to_half(65504.0f), 0x7BFF);
    CHECK_INT(number_to_half(65519.99f), 0x7BFF);
    CHECK_INT(number_to_half(65520.0f), 0x7C00);
    CHECK_INT(number_to_half(-INFINITY), 0xFC00);
    CHECK_INT(number_to_half(0x1p-24f), 1);
    CHECK_INT(number_to_half(0x1p-25f), 0); /* half-way to the even 0 */
    CHECK_INT(number_to_half(0x1.000002p-25f), 1);
    CHECK_INT(number_to_half(0x1.8p-24f), 2);       /* half-way to the even 2 */
    CHECK_INT(number_to_half(0x1.ffcp-15f), 0x400); /* half-way to the smallest normal */
    CHECK_INT(number_to_half(2049.0f), 0x6800);     /* 2048 */
    CHECK_INT(number_to_half(2051.0f), 0x6802);     /* 2052 */
    CHECK_INT(number_to_half(1e-45f), 0);
    CHECK(isnan(number_from_half(number_to_half(NAN))));
    CHECK_TEXT(written32(number_from_half(number_to_half(0.1f))), "0.099975586");
    CHECK_TEXT(written32(number_from_half(number_to_half(2049.0f))), "2048");
}

TEST(number_half_keeps_every_half_and_takes_the_nearest_of_two)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        float f = number_from_half((uint16_t)h);
        if ((h & 0x7FFF) > 0x7C00) {
            CHECK(isnan(f));
            continue;
        }
        CHECK_INT(number_to_half(f), h);
        if ((h & 0x7FFF) >= 0x7BFF)
            continue;
        float next = number_from_half((uint16_t)(h + 1)), middle = (f + next) / 2;
        CHECK_INT(number_to_half(middle), h & 1 ? h + 1 : h);
        CHECK_INT(number_to_half(nextafterf(middle, f)), h);
        CHECK_INT(number_to_half(nextafterf(middle, next)), h + 1);
    }
}
