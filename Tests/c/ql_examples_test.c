/* The 98 examples of chapter 1 section 13 with their outcomes. */
#include "ql/parser.h"
#include "test.h"

typedef struct example {
    int number;
    const char *text;
    int code;       /* FENEC_OK: parses */
    int stmt_count; /* of a text that parses */
} example;

static const example examples[] = {
    {1, "create collection pots (name text required, qty int @sorted, price float)", FENEC_OK, 1},
    {2, "CREATE COLLECTION if NOT exists pots (name TEXT @Unique,)", FENEC_OK, 1},
    {3, "create collection pots ()", FENEC_QUERY, 0},
    {4, "create collection pots (id int)", FENEC_QUERY, 0},
    {5, "create collection pots (a int, a text)", FENEC_EXISTS, 0},
    {6, "create collection pots (a [json])", FENEC_TYPE, 0},
    {7, "create collection pots (a int @text)", FENEC_TYPE, 0},
    {8, "create collection pots (a text collate de)", FENEC_QUERY, 0},
    {9, "create collection pots (a int collate und)", FENEC_QUERY, 0},
    {10, "create collection v (e vec<3, f16> @vector(ip, m=8, ef_c=64, ef=32))", FENEC_OK, 1},
    {11, "create collection v (e vector<0>)", FENEC_QUERY, 0},
    {12, "create collection v (e vector<3> @hnsw(l2, quant=bit))", FENEC_QUERY, 0},
    {13, "create collection v (t text @bm25(k1=1.2, b=0.75, prefix=6, chars))", FENEC_OK, 1},
    {14, "create collection v (t text @text(k1=101))", FENEC_QUERY, 0},
    {15, "create collection s (seen timestamp @ttl(30m))", FENEC_OK, 1},
    {16, "create collection s (seen timestamp @ttl(2w))", FENEC_QUERY, 0},
    {17, "create collection s (n int @ttl(30m))", FENEC_TYPE, 0},
    {18, "create index on docs (meta.lang) @hash", FENEC_OK, 1},
    {19, "create index pots_qty on pots (qty) @sorted", FENEC_QUERY, 0},
    {20, "create index on pots (qty, price) @sorted", FENEC_QUERY, 0},
    {21, "drop collection if exists pots", FENEC_OK, 1},
    {22, "drop index on pots (qty)", FENEC_QUERY, 0},
    {23, "alter collection pots add note text", FENEC_OK, 1},
    {24, "alter collection pots rename field qty to amount", FENEC_OK, 1},
    {25, "alter collection pots alter field qty text", FENEC_QUERY, 0},
    {26, "alter collection s alter field seen @ttl(1h)", FENEC_OK, 1},
    {27, "put pots {name: \"fern\", qty: 2}", FENEC_OK, 1},
    {28, "insert into pots [{name: 'a'}, {name: 'b'},]", FENEC_OK, 1},
    {29, "put pots {name: \"a\"} {name: \"b\"}", FENEC_OK, 1},
    {30, "put pots []", FENEC_QUERY, 0},
    {31, "put pots $1 if absent else set {qty: qty + new.qty} require 1", FENEC_OK, 1},
    {32, "put pots {name: \"a\"} else set {qty: 1}", FENEC_QUERY, 0},
    {33, "put docs {meta: {k: $1}}", FENEC_QUERY, 0},
    {34, "put docs {meta: {k: 1, k: 2}}", FENEC_QUERY, 0},
    {35, "put docs {tags: [\"a\", $1]}", FENEC_QUERY, 0},
    {36, "put docs {meta.k: $1}", FENEC_OK, 1},
    {37, "set pots {qty: qty - 1} where name = \"fern\" and qty > 0 require 1", FENEC_OK, 1},
    {38, "update pots set {qty: 0} order price desc limit 3 returning id, name", FENEC_OK, 1},
    {39, "set pots {qty: 0} offset 2", FENEC_QUERY, 0},
    {40, "del pots where qty = 0 returning *", FENEC_OK, 1},
    {41, "delete from pots require $1", FENEC_QUERY, 0},
    {42, "get pots", FENEC_OK, 1},
    {43, "select name, qty from pots where qty >= 2 order by qty desc, name limit 5 offset 5", FENEC_OK, 1},
    {44, "get pots limit 2 where qty = 1 select name order name", FENEC_OK, 1},
    {45, "select name, from pots", FENEC_QUERY, 0},
    {46, "get pots select qty * price as worth", FENEC_OK, 1},
    {47, "get pots select qty * price", FENEC_QUERY, 0},
    {48, "get pots select *, name", FENEC_QUERY, 0},
    {49, "get pots where qty between 1 and 2", FENEC_QUERY, 0},
    {50, "get pots where not qty in [1, $1, 2 + 3]", FENEC_OK, 1},
    {51, "get pots where qty not in [1]", FENEC_QUERY, 0},
    {52, "get pots where 1 < qty < 3", FENEC_QUERY, 0},
    {53, "get pots where name = \"x\" count", FENEC_OK, 1},
    {54, "get pots select name count", FENEC_QUERY, 0},
    {55, "get pots count limit 1", FENEC_QUERY, 0},
    {56,
     "get pots select kind, count(*) as n, sum(qty) group kind having n > 1 "
     "order sum(qty) desc",
     FENEC_OK, 1},
    {57, "get pots select kind, sum(qty)", FENEC_QUERY, 0},
    {58, "get pots select kind group kind", FENEC_QUERY, 0},
    {59, "get pots select count(qty)", FENEC_QUERY, 0},
    {60, "get pots select count(distinct kind)", FENEC_OK, 1},
    {61,
     "get log select bucket(at, 15m) as q, first(v by at) as open, last(v "
     "by at) as close group q",
     FENEC_OK, 1},
    {62, "get arts near v $1 ef 200 exact limit 10", FENEC_OK, 1},
    {63, "get arts near v $1 order year", FENEC_QUERY, 0},
    {64, "get arts match body $1 near v $2", FENEC_QUERY, 0},
    {65, "get arts match body $1 near v $2 fuse k 60 candidates 50 limit 10", FENEC_OK, 1},
    {66, "get arts rerank v $1", FENEC_QUERY, 0},
    {67,
     "get arts select title, highlight(body), snippet(body, 12, \"…\", "
     "\"<b>\", \"</b>\") match body $1",
     FENEC_OK, 1},
    {68, "get arts select highlight(body)", FENEC_QUERY, 0},
    {69, "get arts match body $1 fuzzy 2 prefix limit $2", FENEC_OK, 1},
    {70,
     "get goods where price < 9 facet brand top 5, price ranges [0, 5, 10] "
     "disjunctive limit 20",
     FENEC_OK, 1},
    {71, "get goods facet brand top 0", FENEC_QUERY, 0},
    {72, "get goods where brand = \"a\" or sale facet brand disjunctive", FENEC_QUERY, 0},
    {73, "get shops limit 20 lookup orders on shop_id limit 3 lookup lines on order_id", FENEC_OK, 1},
    {74, "get shops lookup orders on (org, shop) = (org, id) required where total > 5", FENEC_OK, 1},
    {75, "get shops lookup shops on parent", FENEC_QUERY, 0},
    {76, "get shops count lookup orders on shop_id", FENEC_QUERY, 0},
    {77, "get shops count lookup orders on shop_id required", FENEC_OK, 1},
    {78, "get orders where cust in (get people select id where land = \"TR\")", FENEC_OK, 1},
    {79, "get orders where cust in (get people)", FENEC_QUERY, 0},
    {80, "get orders where cust in (1, 2)", FENEC_QUERY, 0},
    {81, "get pots where sku = $1 and price = $2 require 1", FENEC_OK, 1},
    {82, "get pots count require 1", FENEC_QUERY, 0},
    {83, "explain select name from pots", FENEC_OK, 1},
    {84, "explain put pots {qty: 1}", FENEC_QUERY, 0},
    {85, "collections", FENEC_OK, 1},
    {85, "describe pots", FENEC_OK, 1},
    {85, "compact", FENEC_OK, 1},
    {85, "compact pots", FENEC_OK, 1},
    {86, "get pots; limit 1", FENEC_OK, 1},
    {87, "compact; get pots", FENEC_QUERY, 0},
    {88, "begin", FENEC_QUERY, 0},
    {89, "get pots where n = 1_000 or n = 2.5e3 or n <> -7 -- tail", FENEC_OK, 1},
    {90, "get pots where n = .5", FENEC_QUERY, 0},
    {90, "get pots where n = 1.", FENEC_QUERY, 0},
    {90, "get pots where n = 1e", FENEC_QUERY, 0},
    {91, "get pots where name = \"open", FENEC_QUERY, 0},
    {92, "get pots where n = $0", FENEC_QUERY, 0},
    {93, "get pots limit -1", FENEC_QUERY, 0},
    {94, "get a.b", FENEC_QUERY, 0},
    {95, "get t where case when n > 3 then \"big\" else \"small\" end = \"big\"", FENEC_OK, 1},
    {96, "get t where case = 1", FENEC_OK, 1},
    {97, "", FENEC_OK, 0},
    {97, ";", FENEC_OK, 0},
    {97, "-- nothing", FENEC_OK, 0},
    {98, "get log select q, count(*) group bucket(at, 15m) as q order q", FENEC_OK, 1},
};

TEST(every_example_of_the_grammar_has_its_outcome)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        parsed p;
        error err;

        error_init(&err);
        int code = parse_text((const uint8_t *)e->text, strlen(e->text), &p, &err);
        if (code != e->code)
            test_failed(__FILE__, __LINE__, "example %d answers %d %s: %s", e->number, code,
                        code ? err.message : "", e->text);
        if (code == FENEC_OK) {
            if ((int)p.stmt_count != e->stmt_count)
                test_failed(__FILE__, __LINE__, "example %d holds %u statements: %s", e->number, p.stmt_count,
                            e->text);
            parsed_clear(&p);
        } else if (strncmp(err.message, "position ", 9) != 0) {
            test_failed(__FILE__, __LINE__, "example %d tells no position: %s", e->number, err.message);
        }
    }
}

TEST(examples_29_and_31_hold_their_parts)
{
    const char *two = "put pots {name: \"a\"} {name: \"b\"}";
    const char *upsert = "put pots $1 if absent else set {qty: qty + new.qty} require 1";
    parsed p;
    error err;

    CHECK_INT(parse_text((const uint8_t *)two, strlen(two), &p, &err), FENEC_OK);
    CHECK_INT(p.stmts[0].doc_count, 2);
    parsed_clear(&p);
    CHECK_INT(parse_text((const uint8_t *)upsert, strlen(upsert), &p, &err), FENEC_OK);
    CHECK(p.stmts[0].docs_are_param && p.stmts[0].if_absent && p.stmts[0].insert && p.stmts[0].else_set);
    CHECK_INT(p.stmts[0].require, 1);
    parsed_clear(&p);
}
