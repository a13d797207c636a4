/* Tests of ql/lexer.h: expected values from chapter 1 section 1. */
#include "base/memory.h"
#include "ql/lexer.h"
#include "test.h"

/* The tokens as text: a letter for what has a value, the spelling for punctuation. */
static const char *cut(const char *text)
{
    static const char *const marks[] = {
        [TOKEN_BRACE_OPEN] = "{",   [TOKEN_BRACE_CLOSE] = "}",   [TOKEN_PAREN_OPEN] = "(",
        [TOKEN_PAREN_CLOSE] = ")",  [TOKEN_BRACKET_OPEN] = "[",  [TOKEN_BRACKET_CLOSE] = "]",
        [TOKEN_COMMA] = ",",        [TOKEN_COLON] = ":",         [TOKEN_AT] = "@",
        [TOKEN_STAR] = "*",         [TOKEN_PLUS] = "+",          [TOKEN_MINUS] = "-",
        [TOKEN_SLASH] = "/",        [TOKEN_TILDE] = "~",         [TOKEN_LESS] = "<",
        [TOKEN_LESS_EQUAL] = "<=",  [TOKEN_GREATER] = ">",       [TOKEN_GREATER_EQUAL] = ">=",
        [TOKEN_EQUAL] = "=",        [TOKEN_NOT_EQUAL] = "!=",    [TOKEN_END] = "",
    };
    static char out[2000];
    error err;
    tokens t;
    size_t at = 0;

    error_init(&err);
    if (tokens_read((const uint8_t *)text, strlen(text), &t, &err) != FENEC_OK) {
        snprintf(out, sizeof out, "%d %s", err.code, err.message);
        return out;
    }
    for (size_t i = 0; i < t.count; i++) {
        const token *k = &t.items[i];
        int len = (int)(k->end - k->start);
        const char *from = text + k->start, *space = i && k->kind != TOKEN_END ? " " : "";
        int n;
        switch (k->kind) {
        case TOKEN_NAME:
            n = k->parts > 1 ? snprintf(out + at, sizeof out - at, "%s%.*s/%u", space, len, from, k->parts)
                             : snprintf(out + at, sizeof out - at, "%s%.*s", space, len, from);
            break;
        case TOKEN_STRING: n = snprintf(out + at, sizeof out - at, "%s%.*s", space, len, from); break;
        case TOKEN_INT:
            n = snprintf(out + at, sizeof out - at, "%si%lld", space, (long long)k->integer);
            break;
        case TOKEN_FLOAT: n = snprintf(out + at, sizeof out - at, "%sf%g", space, k->number); break;
        case TOKEN_PARAM: n = snprintf(out + at, sizeof out - at, "%s$%u", space, k->param); break;
        default: n = snprintf(out + at, sizeof out - at, "%s%s", space, marks[k->kind]); break;
        }
        at += (size_t)n;
    }
    tokens_clear(&t);
    return out;
}

static bool refused(const char *text)
{
    const char *answer = cut(text);
    char want[8];

    snprintf(want, sizeof want, "%d ", FENEC_QUERY);
    if (strncmp(answer, want, strlen(want)) == 0 && strncmp(answer + strlen(want), "position ", 9) == 0)
        return true;
    test_failed(__FILE__, __LINE__, "%s answers %s", text, answer);
    return false;
}

TEST(lexer_separates_by_white_space_semicolons_and_comments)
{
    CHECK_TEXT(cut(""), "");
    CHECK_TEXT(cut(" ;\t\r\n;;"), "");
    CHECK_TEXT(cut("a;b"), "a b");
    CHECK_TEXT(cut("a -- b\nc # d ' \ne"), "a c e");
    CHECK_TEXT(cut("n--1"), "n");
    CHECK_TEXT(cut("-- nothing"), "");
    CHECK_TEXT(cut("a -"), "a -");
    CHECK_TEXT(cut("a\xC2\xA0" "b\xE3\x80\x80" "c\xE2\x80\xA8" "d\xC2\x85" "e\v\f"), "a b c d e");
    CHECK_TEXT(cut("'-- no comment #'"), "'-- no comment #'");
}

TEST(lexer_reads_names_of_every_script)
{
    CHECK_TEXT(cut("ç şehir_2 हिंदी _x x9 _"), "ç şehir_2 हिंदी _x x9 _");
    CHECK_TEXT(cut("x\xC2\xB2 \xE2\x85\xA7"), "x\xC2\xB2 \xE2\x85\xA7"); /* No after a start, Nl */
    refused("a\xCC\x81"); /* U+0301 is not Alphabetic */
    refused("\xC2\xB2x");
    refused("\xF0\x9F\x90\x99");
    refused("\xEF\xBB\xBFget t"); /* a byte order mark is no white space */
}

TEST(lexer_joins_paths_without_space_alone)
{
    CHECK_TEXT(cut("meta.source.rank"), "meta.source.rank/3");
    CHECK_TEXT(cut("a.b c._d e.ş"), "a.b/2 c._d/2 e.ş/2");
    refused("a.");
    refused("a.5");
    refused("a .b");
    refused("a. b");
    refused(".b");
    refused("a..b");
    refused("a.b.");
    refused("$1.a");
    refused("'s'.a");
}

TEST(lexer_reads_numbers)
{
    CHECK_TEXT(cut("1_000 1__0 5_ 007"), "i1000 i10 i5 i7");
    CHECK_TEXT(cut("2.5 1e3 1E+3 25e-1 1_0.5 1_0e1"), "f2.5 f1000 f1000 f2.5 f10.5 f100");
    CHECK_TEXT(cut("9223372036854775807"), "i9223372036854775807");
    CHECK_TEXT(cut("= -9223372036854775808"), "= i-9223372036854775808");
    CHECK_TEXT(cut("30m 1.5x"), "i30 m f1.5 x");
    CHECK_TEXT(cut("1.5_0"), "f1.5 _0");
    CHECK_TEXT(cut("1e308 1e-400"), "f1e+308 f0");
    refused("9223372036854775808");
    refused("= -9223372036854775809");
    refused("99999999999999999999999999");
    refused("1e");
    refused("1e+");
    refused("1else");
    refused("1.");
    refused(".5");
    refused("1.5.2");
    refused("1.e5");
    refused("1e999");
    refused("= -1e400");
    refused("1_e999");
}

TEST(lexer_gives_a_sign_to_the_number_unless_a_value_ends_before_it)
{
    CHECK_TEXT(cut("-1"), "i-1");
    CHECK_TEXT(cut("= -1, -2 [-3 : -4 ( -5 {-6 }-7 * -8.5"),
               "= i-1 , i-2 [ i-3 : i-4 ( i-5 { i-6 } i-7 * f-8.5");
    CHECK_TEXT(cut("n-1"), "n - i1");
    CHECK_TEXT(cut("n - 1"), "n - i1");
    CHECK_TEXT(cut("and -1"), "and - i1");
    CHECK_TEXT(cut("limit -1"), "limit - i1");
    CHECK_TEXT(cut("'a'-1 2-1 2.5-1 $1-1 )-1 ]-1 a.b-1"),
               "'a' - i1 i2 - i1 f2.5 - i1 $0 - i1 ) - i1 ] - i1 a.b/2 - i1");
    CHECK_TEXT(cut("- -1"), "- i-1");
    CHECK_TEXT(cut("= - 1"), "= - i1");
    refused("n-9223372036854775808");
}

TEST(lexer_reads_strings_with_either_quote)
{
    CHECK_TEXT(cut("\"it's\" 'a \"b\"' '' \"a\nb\""), "\"it's\" 'a \"b\"' '' \"a\nb\"");
    CHECK_TEXT(cut("'a\\'b' \"\\\\\""), "'a\\'b' \"\\\\\"");
    CHECK_TEXT(cut("'a''b'"), "'a' 'b'");
    refused("'open");
    refused("\"open'");
    refused("'open\\'");
    refused("'open\\");
    refused("\"");
}

TEST(lexer_reads_punctuation)
{
    CHECK_TEXT(cut("{}()[],:@*+-/~<<=>>==!="), "{ } ( ) [ ] , : @ * + - / ~ < <= > >= = !=");
    CHECK_TEXT(cut("a == b <> c"), "a = b != c");
    CHECK_TEXT(cut("<>="), "!= =");
    CHECK_TEXT(cut("===="), "= =");
    refused("!");
    refused("a ! = b");
    for (const char *c = "?%&|^.`\\\x01\x7F"; *c; c++)
        refused((char[]){'a', ' ', *c, ' ', 'b', 0});
}

TEST(lexer_reads_parameters_from_1)
{
    error err;
    tokens t;

    CHECK_TEXT(cut("$1 $12 $03"), "$0 $11 $2");
    refused("$0");
    refused("$");
    refused("$x");
    refused("$ 1");
    refused("$99999999999999999999");
    CHECK_INT(tokens_read((const uint8_t *)"$3 $7 $2", 8, &t, &err), FENEC_OK);
    CHECK_INT(t.param_count, 7);
    tokens_clear(&t);
}

TEST(lexer_refuses_a_raw_nul_outside_a_string)
{
    error err;
    tokens t;

    CHECK_INT(tokens_read((const uint8_t *)"a \0 b", 5, &t, &err), FENEC_QUERY);
    CHECK_INT(tokens_read((const uint8_t *)"'a\0b'", 5, &t, &err), FENEC_OK);
    CHECK_INT(t.count, 2);
    CHECK_INT(t.items[0].end, 5);
    tokens_clear(&t);
}

TEST(lexer_positions_count_code_points)
{
    CHECK(strncmp(cut("şşş ?"), "6 position 4:", 13) == 0);
    CHECK(strncmp(cut("'🐙' %"), "6 position 4:", 13) == 0);
    CHECK(strncmp(cut("a\n'ğ"), "6 position 2:", 13) == 0);
}

TEST(lexer_survives_memory_that_runs_out)
{
    const char *text = "get t where a_b = 1_000.5e2 and s ~ 'x' -- and so on\n"
                       ", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14";
    error err;
    tokens t;

    for (long n = 0; n < 100; n++) {
        memory_fail_after(n);
        int code = tokens_read((const uint8_t *)text, strlen(text), &t, &err);
        memory_fail_after(-1);
        if (code == FENEC_OK) {
            CHECK(n > 1);
            tokens_clear(&t);
            return;
        }
        CHECK_INT(code, FENEC_PANIC);
    }
    CHECK(!"succeeds with enough memory");
}
