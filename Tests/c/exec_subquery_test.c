#include "exec_bed.h"

/* ---- in (get ...), chapter 3 section 11 ---- */

static void sales(bed *b)
{
    bed_open(b);
    bed_do(b, "create collection customer (country text @hash, tier int)");
    bed_do(b, "create collection sale (customer int @hash, total float, tag text @unique, at timestamp, m json)");
    bed_do(b, "put customer [{country: 'TR', tier: 1}, {country: 'DE', tier: 2}, {country: 'TR'}]");
    bed_do(b, "put sale [{customer: 1, total: 5, tag: 'x'}, {customer: 2, total: 7, tag: 'TR'}, "
              "{customer: 3, total: 9}, {total: 9}]");
}

TEST(inner_reads_filter_by_the_one_column_of_another_read)
{
    bed b;

    sales(&b);
    CHECK_ROWS(&b, "get sale select id where customer in (get customer select id where country = 'TR')",
               "{\"id\":1},{\"id\":3}");
    CHECK_ROWS(&b, "get sale select id where tag in (get customer select country)", "{\"id\":2}");
    CHECK_ROWS(&b, "get sale select id where total in (get sale select max(total))", "{\"id\":3},{\"id\":4}");
    CHECK_ROWS(&b, "get sale select id where total in (get sale select max(total) as m group customer having m < 8)",
               "{\"id\":1},{\"id\":2}");
    CHECK_ROWS(&b, "get sale select id where customer in (get customer select tier + 1 as t)", "{\"id\":2},{\"id\":3}");
    CHECK_ROWS(&b, "get sale select id where customer in (get customer select id order id desc limit 1)", "{\"id\":3}");
    bed_close(&b);
}

TEST(inner_reads_leave_nulls_out)
{
    bed b;

    sales(&b);
    /* customer 3 has no tier, sale 4 no customer: null is in no inner read, and not in it holds */
    CHECK_ROWS(&b, "get sale select id where customer in (get customer select tier)", "{\"id\":1},{\"id\":2}");
    CHECK_ROWS(&b, "get sale select id where not customer in (get customer select tier)", "{\"id\":3},{\"id\":4}");
    CHECK_ROWS(&b, "get sale where customer in (get customer select id where id = 99) count", "{\"count\":0}");
    CHECK_ROWS(&b, "get sale where not customer in (get customer select id where id = 99) count", "{\"count\":4}");
    bed_close(&b);
}

TEST(inner_reads_share_parameters_and_nest_to_four)
{
    bed b;

    sales(&b);
    CHECK_ROWS_OF(&b, "get sale select id where total > $2 and customer in (get customer select id where tier >= $1)",
                  "[1, 6]", "{\"id\":2}");
    CHECK_ROWS(&b,
               "get sale select id where id in (get sale select id where id in (get sale select id where id in "
               "(get sale select id where id in (get sale select id where id = 2))))",
               "{\"id\":2}");
    CHECK_CODE(&b,
               "get sale where id in (get sale select id where id in (get sale select id where id in (get sale select "
               "id where id in (get sale select id where id in (get sale select id)))))",
               FENEC_QUERY);
    bed_close(&b);
}

TEST(inner_reads_go_wherever_a_filter_goes)
{
    bed b;

    sales(&b);
    CHECK_ROWS(&b, "get customer select id where id < 3 lookup sale on customer select id where total in (get sale "
                   "select min(total))",
               "{\"id\":1,\"sale\":[{\"id\":1}]},{\"id\":2,\"sale\":[]}");
    CHECK_ROWS(&b, "get sale select sum(total) where customer in (get customer select id where country = 'TR')",
               "{\"sum(total)\":14}");
    bed_do(&b, "set sale {total: 0} where customer in (get customer select id where country = 'DE')");
    CHECK_ROWS(&b, "get sale select id where total = 0", "{\"id\":2}");
    bed_do(&b, "del sale where total in (get sale select max(total))");
    CHECK_ROWS(&b, "get sale select id", "{\"id\":1},{\"id\":2}");
    bed_close(&b);
}

TEST(inner_reads_fail_the_statement_with_their_own_errors)
{
    bed b;

    sales(&b);
    CHECK_CODE(&b, "get sale where id in (get nobody select id)", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get sale where id in (get customer select nothing)", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get sale where id in (get customer select tier / 0 as x)", FENEC_QUERY);
    CHECK_CODE(&b, "get sale where id in (get customer select tier + country as x)", FENEC_TYPE);
    CHECK_CODE(&b, "del sale where id in (get customer select tier / 0 as x)", FENEC_QUERY);
    CHECK_CODE(&b, "get sale where id in (get customer)", FENEC_QUERY);
    CHECK_CODE(&b, "get sale select id in (get customer select id) as x", FENEC_QUERY);
    CHECK_ROWS(&b, "get sale count", "{\"count\":4}");
    bed_close(&b);
}

TEST(inner_reads_equal_across_kinds_as_values_do)
{
    bed b;

    sales(&b);
    bed_do(&b, "put sale {id: 10, at: '2024-01-01', m: {k: '2024-01-01T00:00:00Z', n: 3.0, l: [1, 2]}}");
    bed_do(&b, "put sale {id: 11, m: {k: 1704067200000, n: 3, l: [1.0, 2.0], b: true}}");
    CHECK_ROWS(&b, "get sale select id where m.k in (get sale select at)", "{\"id\":10},{\"id\":11}");
    CHECK_ROWS(&b, "get sale select id where at in (get sale select m.k)", "{\"id\":10}");
    CHECK_ROWS(&b, "get sale select id where m.n in (get customer select id)", "{\"id\":10},{\"id\":11}");
    CHECK_ROWS(&b, "get sale select id where m.l in (get sale select m.l where id = 10)", "{\"id\":10},{\"id\":11}");
    CHECK_ROWS(&b, "get sale select id where m.b in (get sale select m.b)", "{\"id\":11}");
    bed_do(&b, "put sale {id: 12, m: {n: 9007199254740993}}");
    bed_do(&b, "put sale {id: 13, m: {n: 9007199254740992}}");
    CHECK_ROWS(&b, "get sale select id where m.n in (get sale select m.n where id = 12)", "{\"id\":12}");
    CHECK_ROWS(&b, "get sale select id where id = 12 and m.n in (get sale select m.n where id in [10, 13])", "");
    bed_close(&b);
}

TEST(inner_reads_answer_at_most_100000_distinct_values)
{
    bed b;
    buffer params;

    bed_open(&b);
    bed_do(&b, "create collection n (v int, half int)");
    buffer_init(&params);
    for (int at = 0; at < 100001;) {
        params.len = 0;
        buffer_text(&params, "[[");
        for (int i = 0; i < 5000 && at < 100001; i++, at++)
            buffer_printf(&params, "%s{\"v\":%d,\"half\":%d}", i ? "," : "", at, at / 2);
        buffer_text(&params, "]]");
        buffer_byte(&params, 0);
        CHECK_INT(bed_run(&b, "put n $1", (const char *)params.bytes, NULL, 0), FENEC_OK);
    }
    buffer_clear(&params);
    CHECK_CODE(&b, "get n where v in (get n select v) count", FENEC_QUERY);
    CHECK_ROWS(&b, "get n where v in (get n select v limit 100000) count", "{\"count\":100000}");
    CHECK_ROWS(&b, "get n where v in (get n select half) count", "{\"count\":50001}");
    bed_close(&b);
}

TEST(inner_reads_are_told_by_explain_before_the_filter)
{
    bed b;

    sales(&b);
    CHECK_ROWS(&b, "explain get sale where customer in (get customer select id where id = 1)",
               "{\"plan\":\"filter: the id index named 1 rows, which are the answer, 1 matched\"},"
               "{\"plan\":\"subquery: 1 values from customer\"},"
               "{\"plan\":\"filter: a hash index through in named 1 rows, candidates to test, 1 matched\"},"
               "{\"plan\":\"rows: 1\"}");
    bed_close(&b);
}

TEST(inner_reads_and_lookups_ask_for_exact_parameters_too)
{
    /* chapter 5 section 10.1: place, count, components; of $1, one component 1.0 */
    static const uint8_t apart[] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x80, 0x3F};
    bed b;

    sales(&b);
    CHECK_INT(bed_run(&b, "get customer where id in (get sale select id where m.k = $1)", "[null]", apart, sizeof apart),
              FENEC_QUERY);
    CHECK_INT(b.err.exact_count, 1);
    CHECK_INT(bed_run(&b, "get customer lookup sale on customer where m = $1", "[null]", apart, sizeof apart),
              FENEC_QUERY);
    CHECK_INT(b.err.exact_count, 1);
    CHECK_INT(bed_run(&b, "get customer lookup sale on customer where total = len($1)", "[null]", apart, sizeof apart),
              FENEC_OK);
    bed_close(&b);
}

/* Whatever allocation fails, the answer is a panic and nothing is lost. */
TEST(inner_reads_survive_failed_allocations)
{
    static const char text[] = "get sale where customer in (get customer select id where country in (get customer "
                               "select country)) and tag in (get sale select tag)";
    bed b;

    sales(&b);
    for (long n = 0; n < 400; n++) {
        memory_fail_after(n);
        int code = bed_run(&b, text, NULL, NULL, 0);
        memory_fail_after(-1);
        CHECK(code == FENEC_PANIC || code == FENEC_OK);
        if (code == FENEC_OK)
            break;
    }
    CHECK_ROWS(&b, text, "{\"id\":1,\"customer\":1,\"total\":5,\"tag\":\"x\",\"at\":null,\"m\":null},"
                         "{\"id\":2,\"customer\":2,\"total\":7,\"tag\":\"TR\",\"at\":null,\"m\":null}");
    bed_close(&b);
}
