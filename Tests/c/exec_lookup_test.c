#include "exec_bed.h"

/* ---- lookup, chapter 3 section 12 ---- */

static void market(bed *b)
{
    bed_open(b);
    bed_do(b, "create collection shop (name text @hash, org int, scale float)");
    bed_do(b, "create collection sale (shop_id int @hash, total int, paid bool, code text @unique, org int, m json)");
    bed_do(b, "create collection line (sale_id int @hash, q int)");
    bed_do(b, "put shop [{name: 'b', org: 1, scale: 1.5}, {name: 'a', org: 1, scale: 2.0}, {name: 'c', org: 2}]");
    bed_do(b, "put sale [{shop_id: 2, total: 9, paid: true, code: 'a', org: 1}, {shop_id: 2, total: 7, org: 2}, "
              "{shop_id: 2, total: 3, paid: true, org: 1}, {shop_id: 1, total: 4, org: 1}, {total: 100}]");
    bed_do(b, "put line [{sale_id: 1, q: 1}, {sale_id: 3, q: 2}, {sale_id: 1, q: 3}, {q: 4}]");
}

TEST(lookups_attach_the_rows_of_another_collection)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b,
               "get shop select name order name limit 2 lookup sale on shop_id select total where total > 5 order total "
               "desc limit 2",
               "{\"name\":\"a\",\"sale\":[{\"total\":9},{\"total\":7}]},{\"name\":\"b\",\"sale\":[]}");
    CHECK_INT(bed_run(&b, "get shop where id = 2 lookup sale on shop_id = id limit 1", NULL, NULL, 0), FENEC_OK);
    CHECK_TEXT(b.answer, "{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\",\"name\",\"org\",\"scale\"],\"rows\":["
                         "{\"id\":2,\"name\":\"a\",\"org\":1,\"scale\":2,\"sale\":[{\"id\":1,\"shop_id\":2,\"total\":9,"
                         "\"paid\":true,\"code\":\"a\",\"org\":1,\"m\":null}]}]}}");
    bed_close(&b);
}

TEST(lookups_page_their_rows_per_parent)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "get shop select id lookup sale on shop_id select id limit 1 offset 1",
               "{\"id\":1,\"sale\":[]},{\"id\":2,\"sale\":[{\"id\":2}]},{\"id\":3,\"sale\":[]}");
    CHECK_ROWS(&b, "get shop select id lookup sale on shop_id select id order paid desc",
               "{\"id\":1,\"sale\":[{\"id\":4}]},{\"id\":2,\"sale\":[{\"id\":1},{\"id\":3},{\"id\":2}]},"
               "{\"id\":3,\"sale\":[]}");
    bed_close(&b);
}

TEST(lookups_go_through_id_and_from_a_field_of_the_row)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "get sale select id where id > 3 lookup shop on id = shop_id select name",
               "{\"id\":4,\"shop\":[{\"name\":\"b\"}]},{\"id\":5,\"shop\":[]}");
    bed_close(&b);
}

TEST(lookup_keys_are_equal_numbers_or_values_converted)
{
    bed b;

    market(&b);
    bed_do(&b, "create collection moment (at timestamp @hash, f float @hash)");
    bed_do(&b, "put moment [{at: 2, f: 2}, {at: 9007199254740993, f: 9007199254740992}]");
    CHECK_ROWS(&b, "get shop select scale lookup sale on shop_id = scale select id limit 1",
               "{\"scale\":1.5,\"sale\":[]},{\"scale\":2,\"sale\":[{\"id\":1}]},{\"scale\":null,\"sale\":[]}");
    CHECK_ROWS(&b, "get shop select id lookup moment on at = id select f",
               "{\"id\":1,\"moment\":[]},{\"id\":2,\"moment\":[{\"f\":2}]},{\"id\":3,\"moment\":[]}");
    /* as doubles 2^53 and 2^53 + 1 are one number, as ints they are two */
    bed_do(&b, "create collection large (f float, i int)");
    bed_do(&b, "put large {f: 9007199254740992, i: 9007199254740993}");
    CHECK_ROWS(&b, "get large select id lookup moment on at = f select f",
               "{\"id\":1,\"moment\":[{\"f\":9007199254740992}]}");
    CHECK_ROWS(&b, "get large select id lookup moment on f = i select f",
               "{\"id\":1,\"moment\":[{\"f\":9007199254740992}]}");
    bed_close(&b);
}

TEST(lookups_of_several_fields_pair_them_up)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "get shop select id lookup sale on (org, shop_id) = (org, id) select id",
               "{\"id\":1,\"sale\":[{\"id\":4}]},{\"id\":2,\"sale\":[{\"id\":1},{\"id\":3}]},{\"id\":3,\"sale\":[]}");
    bed_close(&b);
}

TEST(lookups_hang_off_the_level_above)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b,
               "get shop select id where id = 2 lookup sale on shop_id select total limit 2 lookup line on sale_id "
               "select q order q desc limit 1",
               "{\"id\":2,\"sale\":[{\"total\":9,\"line\":[{\"q\":3}]},{\"total\":7,\"line\":[]}]}");
    bed_close(&b);
}

TEST(required_is_decided_before_the_page)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "get shop select id order id desc limit 1 lookup sale on shop_id required select id limit 1",
               "{\"id\":2,\"sale\":[{\"id\":1}]}");
    CHECK_ROWS(&b, "get shop select id limit 1 lookup sale on shop_id required select id where paid",
               "{\"id\":2,\"sale\":[{\"id\":1},{\"id\":3}]}");
    /* its own page skips them, and the parent stays */
    CHECK_ROWS(&b, "get shop select id lookup sale on shop_id required select id offset 3",
               "{\"id\":1,\"sale\":[]},{\"id\":2,\"sale\":[]}");
    CHECK_ROWS(&b, "get shop count lookup sale on shop_id required where paid = true", "{\"count\":1}");
    CHECK_ROWS(&b, "get shop where org = 1 count lookup sale on shop_id required", "{\"count\":2}");
    bed_close(&b);
}

TEST(required_speaks_of_its_own_level)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "get shop select id lookup sale on shop_id select id lookup line on sale_id required select q",
               "{\"id\":1,\"sale\":[]},{\"id\":2,\"sale\":[{\"id\":1,\"line\":[{\"q\":1},{\"q\":3}]},"
               "{\"id\":3,\"line\":[{\"q\":2}]}]},{\"id\":3,\"sale\":[]}");
    CHECK_ROWS(&b, "get shop select id lookup sale on shop_id required select id where total < 5 lookup line on sale_id "
                   "required select q",
               "{\"id\":2,\"sale\":[{\"id\":3,\"line\":[{\"q\":2}]}]}");
    bed_close(&b);
}

TEST(require_counts_parents)
{
    bed b;

    market(&b);
    CHECK_CODE(&b, "get shop require 3 lookup sale on shop_id", FENEC_OK);
    CHECK_CODE(&b, "get shop require 3 lookup sale on shop_id required", FENEC_UNMET);
    CHECK_CODE(&b, "get shop require 2 lookup sale on shop_id required", FENEC_OK);
    bed_close(&b);
}

TEST(lookup_levels_aggregate_the_rows_of_each_parent)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "get shop select name lookup sale on shop_id select count(*) as n, sum(total) as t",
               "{\"name\":\"b\",\"sale\":[{\"n\":1,\"t\":4}]},{\"name\":\"a\",\"sale\":[{\"n\":3,\"t\":19}]},"
               "{\"name\":\"c\",\"sale\":[{\"n\":0,\"t\":null}]}");
    CHECK_ROWS(&b, "get shop select id where id = 2 lookup sale on shop_id select sum(total) order total desc limit 2",
               "{\"id\":2,\"sale\":[{\"sum(total)\":16}]}");
    CHECK_ROWS(&b, "get shop select id lookup sale on shop_id select paid, count(*) group paid order count(*) desc",
               "{\"id\":1,\"sale\":[{\"paid\":null,\"count\":1}]},"
               "{\"id\":2,\"sale\":[{\"paid\":true,\"count\":2},{\"paid\":null,\"count\":1}]},{\"id\":3,\"sale\":[]}");
    CHECK_ROWS(&b, "get shop select id lookup sale on shop_id required select count(*)",
               "{\"id\":1,\"sale\":[{\"count\":1}]},{\"id\":2,\"sale\":[{\"count\":3}]}");
    bed_close(&b);
}

TEST(lookups_hang_off_groups)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "get sale select shop_id, count(*) as n group shop_id lookup shop on id = shop_id select name",
               "{\"shop_id\":null,\"n\":1,\"shop\":[]},{\"shop_id\":1,\"n\":1,\"shop\":[{\"name\":\"b\"}]},"
               "{\"shop_id\":2,\"n\":3,\"shop\":[{\"name\":\"a\"}]}");
    CHECK_ROWS(&b, "get sale select shop_id, count(*) as n group shop_id order n desc limit 1 lookup shop on id = shop_id "
                   "required select name where name = 'b'",
               "{\"shop_id\":1,\"n\":1,\"shop\":[{\"name\":\"b\"}]}");
    CHECK_ROWS(&b, "get sale select shop_id, count(*) as n group shop_id count lookup shop on id = shop_id required",
               "{\"count\":2}");
    CHECK_ROWS(&b, "get sale select max(shop_id) as s, count(*) group org having org = 1 lookup shop on id = s select name",
               "{\"s\":2,\"count\":3,\"shop\":[{\"name\":\"a\"}]}");
    /* a column without a field's values has no type to check: it is converted, or matches nothing */
    CHECK_ROWS(&b, "get sale select count(*) as n group org having org = 2 lookup shop on name = n",
               "{\"n\":1,\"shop\":[]}");
    bed_close(&b);
}

TEST(lookups_are_refused_by_name_type_and_index)
{
    bed b;

    market(&b);
    CHECK_CODE(&b, "get shop lookup nobody on id", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get shop lookup sale on nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get shop lookup sale on shop_id = nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get shop lookup sale on shop_id select nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get shop lookup sale on shop_id order nothing", FENEC_NOT_FOUND);
    CHECK_CODE(&b, "get shop lookup sale on code = org", FENEC_TYPE);
    CHECK_CODE(&b, "get shop lookup sale on paid", FENEC_TYPE); /* before the index that is missing */
    CHECK_CODE(&b, "get shop lookup sale on total", FENEC_QUERY);
    CHECK(strstr(b.answer, "create index on sale (total) @hash") != NULL);
    CHECK_CODE(&b, "get shop lookup shop on org", FENEC_QUERY);
    CHECK_CODE(&b, "get sale select max(code) as c, count(*) group org lookup shop on id = c", FENEC_TYPE);
    bed_close(&b);
}

TEST(lookups_leave_rows_past_their_time_out)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection p (n int)");
    bed_do(&b, "create collection c (p_id int @hash, at timestamp @ttl(1h))");
    bed_do(&b, "put p {n: 1}");
    bed_do(&b, "put c [{p_id: 1, at: '2001-01-01'}, {p_id: 1, at: '2101-01-01'}, {p_id: 1}]");
    CHECK_ROWS(&b, "get p select n lookup c on p_id select id", "{\"n\":1,\"c\":[{\"id\":2},{\"id\":3}]}");
    CHECK_ROWS(&b, "get p select n lookup c on p_id select id where expired()", "{\"n\":1,\"c\":[{\"id\":1}]}");
    bed_close(&b);
}

TEST(lookups_tell_long_keys_apart_on_the_record)
{
    bed b;
    char text[1200], x[400];

    market(&b);
    memset(x, 'x', sizeof x);
    x[sizeof x - 1] = 0;
    snprintf(text, sizeof text, "put sale [{code: '%s1', total: 1}, {code: '%s2', total: 2}]", x, x);
    bed_do(&b, text);
    snprintf(text, sizeof text, "put shop {id: 9, name: '%s2'}", x);
    bed_do(&b, text);
    CHECK_ROWS(&b, "get shop select id where id = 9 lookup sale on code = name select total",
               "{\"id\":9,\"sale\":[{\"total\":2}]}");
    bed_close(&b);
}

/* The rows of neighbouring and of jumping keys, asked for in every order. */
TEST(lookups_find_rows_whatever_order_their_parents_come_in)
{
    bed b;

    bed_open(&b);
    bed_do(&b, "create collection p (n int)");
    bed_do(&b, "create collection c (p_id int @hash, v int)");
    for (int i = 1; i <= 60; i++) {
        char text[300];
        snprintf(text, sizeof text, "put p {id: %d, n: %d} put c {p_id: %d, v: %d} put c {p_id: %d, v: %d}", i,
                 i * 37 % 61, i, i, i % 4 ? i : -i, i + 100);
        bed_do(&b, text);
    }
    static const char *const orders[] = {"", " order n", " order n desc", " order id desc", " where n > 20 order n"};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        for (int limit = 0; limit < 3; limit++) {
            char text[200], want[200], ids[100];
            snprintf(text, sizeof text, "get p select id%s", orders[k]);
            CHECK_INT(bed_run(&b, text, NULL, NULL, 0), FENEC_OK);
            char *list = strdup(b.answer);
            snprintf(text, sizeof text, "get p select id%s lookup c on p_id select v%s", orders[k],
                     limit == 0 ? "" : limit == 1 ? " limit 1" : " order v desc");
            CHECK_INT(bed_run(&b, text, NULL, NULL, 0), FENEC_OK);
            for (char *at = list; (at = strstr(at, "{\"id\":")) != NULL; at++) {
                int i = atoi(at + 6);
                snprintf(ids, sizeof ids, i % 4 == 0 || limit == 1 ? "{\"v\":%d}" : limit ? "{\"v\":%d},{\"v\":%d}"
                                                                                         : "{\"v\":%d},{\"v\":%d}",
                         limit == 2 && i % 4 ? i + 100 : i, limit == 2 ? i : i + 100);
                snprintf(want, sizeof want, "{\"id\":%d,\"c\":[%s]}", i, ids);
                CHECK(strstr(b.answer, want) != NULL);
            }
            free(list);
        }
    }
    bed_close(&b);
}

TEST(lookups_are_told_by_explain)
{
    bed b;

    market(&b);
    CHECK_ROWS(&b, "explain get shop lookup sale on shop_id select total",
               "{\"plan\":\"filter: none\"},"
               "{\"plan\":\"lookup: `sale` on shop_id, a hash index probed for 3 parents, 4 children\"},"
               "{\"plan\":\"rows: 3\"}");
    CHECK_INT(bed_run(&b, "explain get shop count lookup sale on shop_id required", NULL, NULL, 0), FENEC_OK);
    CHECK(strstr(b.answer, "{\"plan\":\"required: ") != NULL);
    CHECK(strstr(b.answer, "{\"plan\":\"count: 2\"}]") != NULL);
    bed_close(&b);
}

TEST(lookups_survive_failed_allocations)
{
    static const char text[] = "get shop select id order name desc limit 2 lookup sale on shop_id required select id "
                               "where total < 50 order total lookup line on sale_id select sum(q)";
    bed b;

    market(&b);
    for (long n = 0; n < 400; n++) {
        memory_fail_after(n);
        int code = bed_run(&b, text, NULL, NULL, 0);
        memory_fail_after(-1);
        CHECK(code == FENEC_PANIC || code == FENEC_OK);
        if (code == FENEC_OK)
            break;
    }
    CHECK_ROWS(&b, text,
               "{\"id\":1,\"sale\":[{\"id\":4,\"line\":[{\"sum(q)\":null}]}]},"
               "{\"id\":2,\"sale\":[{\"id\":3,\"line\":[{\"sum(q)\":2}]},{\"id\":2,\"line\":[{\"sum(q)\":null}]},"
               "{\"id\":1,\"line\":[{\"sum(q)\":4}]}]}");
    bed_close(&b);
}
