#include <stdarg.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/varint.h"
#include "catalog/catalog.h"
#include "exec_bed.h"
#include "store/conn.h"
#include "value/collation.h"

static const char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));
static const char *format(const char *text, ...)
{
    static char out[4][2000];
    static int next;
    char *to = out[next++ % 4];
    va_list args;

    va_start(args, text);
    vsnprintf(to, sizeof out[0], text, args);
    va_end(args);
    return to;
}

/* The names of an answer's rows, joined by commas. */
static const char *names(bed *b, const char *text)
{
    static char out[4000];
    const char *rows = bed_rows(b, text, NULL);
    char *to = out;

    for (const char *at = rows; (at = strstr(at, "\"name\":\"")); ) {
        at += strlen("\"name\":\"");
        size_t len = (size_t)(strchr(at, '"') - at);
        if (to > out)
            *to++ = ',';
        memcpy(to, at, len);
        to += len;
    }
    *to = 0;
    return out;
}

#define CHECK_NAMES(b, text, want) CHECK_TEXT(names(b, text), want)

static void put_names(bed *b, const char *to, const char *list)
{
    char each[400];

    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ",");
        memcpy(each, at, len);
        each[len] = 0;
        bed_do(b, format("put %s {name: '%s'}", to, each));
        at += len + (at[len] == ',');
    }
}

TEST(order_collate_orders_as_the_table_of_chapter_3)
{
    static const char *const cases[][4] = {
        {"Irmak,Zeynep,cem,Çağla,İlker,ılgaz", "Irmak,Zeynep,cem,Çağla,İlker,ılgaz", "Çağla,cem,İlker,Irmak,ılgaz,Zeynep",
         "cem,Çağla,ılgaz,Irmak,İlker,Zeynep"},
        {"Zoë,anna,Ζωή,山田,Борис,Émile", "Zoë,anna,Émile,Ζωή,Борис,山田", "anna,Émile,Zoë,Ζωή,Борис,山田",
         "anna,Émile,Zoë,Ζωή,Борис,山田"},
        {"ince,İnce,ınce,Ince", "Ince,ince,İnce,ınce", "ince,Ince,İnce,ınce", "ınce,Ince,ince,İnce"},
        {"coop,co-op,co op,Coop,cope,1 coop,_coop", "1 coop,Coop,_coop,co op,co-op,coop,cope",
         "_coop,1 coop,co op,co-op,coop,Coop,cope", "_coop,1 coop,co op,co-op,coop,Coop,cope"},
    };
    bed b;

    if (!collation_available())
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bed_open(&b);
        bed_do(&b, "create collection t (name text); create collection u (name text collate und @sorted);"
                   "create collection r (name text collate tr @sorted)");
        put_names(&b, "t", cases[i][0]);
        put_names(&b, "u", cases[i][0]);
        put_names(&b, "r", cases[i][0]);
        CHECK_NAMES(&b, "get t order name", cases[i][1]);
        CHECK_NAMES(&b, "get t order name collate und", cases[i][2]);
        CHECK_NAMES(&b, "get t order name collate tr asc", cases[i][3]);
        CHECK_NAMES(&b, "get u order name limit 100", cases[i][2]);
        CHECK_NAMES(&b, "get r order name limit 100", cases[i][3]);
        /* What is named wins over the field's. */
        CHECK_NAMES(&b, "get r order name collate und limit 100", cases[i][2]);
        bed_close(&b);
    }
}

TEST(a_sorted_index_of_a_collated_field_is_walked_and_narrows)
{
    bed b;

    if (!collation_available())
        return;
    bed_open(&b);
    bed_do(&b, "create collection t (name text collate tr @sorted)");
    for (int i = 0; i < 60; i++)
        bed_do(&b, format("put t {name: 'x%02d'}", i));
    put_names(&b, "t", "Irmak,Zeynep,cem,Çağla,İlker,ılgaz");
    bed_do(&b, "put t {}");
    CHECK_ROWS(&b, "explain get t order name desc limit 3",
               "{\"plan\":\"filter: none\"},{\"plan\":\"order: the ordered index walked descending, 3 rows tested\"},"
               "{\"plan\":\"rows: 3\"}");
    CHECK_NAMES(&b, "get t order name desc limit 3", "Zeynep,x59,x58");
    CHECK_ROWS(&b, "explain get t where name < 'd'",
               "{\"plan\":\"filter: an ordered index named 2 rows, which are the answer, 2 matched\"},{\"plan\":\"rows: 2\"}");
    CHECK_NAMES(&b, "get t where name < 'd' order name", "cem,Çağla");
    CHECK_NAMES(&b, "get t where 'cem' < name and name <= 'İlker' order name", "Çağla,ılgaz,Irmak,İlker");
    CHECK_NAMES(&b, "get t where name = 'ılgaz'", "ılgaz");
    CHECK_NAMES(&b, "get t where name in ['ılgaz', 'Ilgaz', 'cem']", "cem,ılgaz");
    CHECK_ROWS(&b, "get t where name > 'Irmak' count", "{\"count\":62}");
    CHECK_ROWS(&b, "get t where name >= 7 count", "{\"count\":66}");
    CHECK_NAMES(&b, "get t where name > 'Irmak' order name limit 2", "İlker,x00");
    bed_close(&b);
}

static const char *random_name(uint64_t *state)
{
    static const char *const parts[] = {"a", "A", "b", "ç", "Ç", "c", "e", "é", "e\xCC\x81", "i", "ı", "I", "İ", "o", "ö",
                                        "ş", "s", " ", "-", "1", "z", "山", "ก", "เ", "\xF0\x90\x80\x80", "\xEF\xBF\xBF"};
    static char out[4][1200];
    static int next;
    char *to = out[next++ % 4], *at = to;
    uint64_t count = test_random(state) % 40 == 0 ? 120 + test_random(state) % 3 : test_random(state) % 4;

    /* Long ones share all but their end. */
    if (count > 100)
        for (; count > 3; count--)
            at += sprintf(at, "ü");
    for (; count > 0; count--)
        at += sprintf(at, "%s", parts[test_random(state) % (sizeof parts / sizeof *parts)]);
    *at = 0;
    return to;
}

static void check_twins(bed *b, const char *text)
{
    const char *with = bed_rows(b, format(text, "t"), NULL);
    char *kept = malloc(strlen(with) + 1);

    strcpy(kept, with);
    const char *without = bed_rows(b, format(text, "twin"), NULL);
    if (strcmp(kept, without))
        test_failed(__FILE__, __LINE__, "%s:\n    %s\nnot %s", text, kept, without);
    free(kept);
}

TEST(collated_fields_answer_alike_with_an_index_and_without)
{
    uint64_t state = test_seed();
    bed b;

    if (!collation_available())
        return;
    for (int round = 0; round < 2; round++) {
        const char *in = round ? "und" : "tr";
        bed_open(&b);
        bed_do(&b, format("create collection t (n int, name text collate %s @sorted);"
                          "create collection twin (n int, name text collate %s)", in, in));
        for (int i = 0; i < 800; i++) {
            const char *name = i % 9 ? format("'%s'", random_name(&state)) : "null";
            bed_do(&b, format("put t {n: %d, name: %s}; put twin {n: %d, name: %s}", i % 5, name, i % 5, name));
        }
        for (int i = 0; i < 400; i++) {
            static const char *const ops[] = {"<", "<=", ">", ">=", "=", "!="};
            const char *a = random_name(&state), *c = random_name(&state), *op = ops[test_random(&state) % 6];
            const char *way = test_random(&state) % 2 ? "desc" : "asc";
            unsigned page = (unsigned)(test_random(&state) % 30 + 1);
            check_twins(&b, format("get %%s where name %s '%s'", op, a));
            check_twins(&b, format("get %%s where '%s' %s name and name >= '%s' order name %s", a, op, c, way));
            check_twins(&b, format("get %%s where name %s '%s' count", op, a));
            check_twins(&b, format("get %%s where name %s '%s' and n < 3 order name %s limit %u", op, a, way, page));
            check_twins(&b, format("get %%s order name %s limit %u offset %u", way, page, page * 3));
            check_twins(&b, format("get %%s where name in ['%s', '%s', null] order name %s, id desc", a, c, way));
            check_twins(&b, format("get %%s select min(name), max(name) where name %s '%s'", op, a));
            if (i % 10 == 0) {
                const char *changed = random_name(&state);
                bed_do(&b, format("set t {name: '%s'} where id = %d; set twin {name: '%s'} where id = %d", changed, i + 1,
                                  changed, i + 1));
                bed_do(&b, format("del t where id = %d; del twin where id = %d", i + 401, i + 401));
            }
        }
        bed_close(&b);
    }
}

/* A page after the last name of the one before: every row once, in order. */
TEST(keyset_pages_walk_a_collated_field)
{
    char last[64] = "", all[4000], paged[4000] = "";
    bed b;

    if (!collation_available())
        return;
    bed_open(&b);
    bed_do(&b, "create collection people (name text collate tr @sorted)");
    put_names(&b, "people", "Irmak,Zeynep,cem,Çağla,İlker,ılgaz,Ömer,oya,Şule,su,Ünal,uğur,ada,Ada,âda,çınar,can");
    strcpy(all, names(&b, "get people order name"));
    for (;;) {
        const char *page = names(&b, format("get people where name > '%s' order name limit 4", last));
        if (!*page)
            break;
        sprintf(paged + strlen(paged), "%s%s", *paged ? "," : "", page);
        const char *comma = strrchr(page, ',');
        strcpy(last, comma ? comma + 1 : page);
    }
    CHECK_TEXT(paged, all);
    CHECK_TEXT(all, "ada,Ada,âda,can,cem,Çağla,çınar,ılgaz,Irmak,İlker,oya,Ömer,su,Şule,uğur,Ünal,Zeynep");
    bed_close(&b);
}

TEST(collations_count_where_the_chapter_says_and_nowhere_else)
{
    bed b;

    if (!collation_available())
        return;
    bed_open(&b);
    bed_do(&b, "create collection t (name text collate tr, plain text, tags [text] collate tr, m json, n int)");
    bed_do(&b, "put t [{name: 'Zeynep', plain: 'a', tags: ['a', 'ç'], m: {k: 'Z', j: 1}},"
               " {name: 'cem', plain: 'Z', tags: ['a', 'd'], m: {k: 'a'}}, {name: 'Çağla', plain: 'é', tags: ['a', 'c'], m: {k: 3}}]");
    CHECK_ROWS(&b, "get t select id where name < 'd'", "{\"id\":2},{\"id\":3}");
    CHECK_ROWS(&b, "get t select id where plain < 'b' order plain collate und", "{\"id\":1},{\"id\":2}"); /* bytes filter */
    CHECK_ROWS(&b, "get t select id order tags", "{\"id\":3},{\"id\":1},{\"id\":2}");
    CHECK_ROWS(&b, "get t select id order m.k collate und", "{\"id\":3},{\"id\":2},{\"id\":1}");
    CHECK_ROWS(&b, "get t select id order m.k", "{\"id\":3},{\"id\":1},{\"id\":2}");
    CHECK_ROWS(&b, "get t select name < 'd' as less order id limit 1", "{\"less\":true}"); /* bytes: Z < d */
    CHECK_ROWS(&b, "get t select id where name = 'CEM'", "");
    CHECK_ROWS(&b, "get t select id where name ~ 'CEM'", "{\"id\":2}");
    CHECK_ROWS(&b, "get t select min(name), max(name)", "{\"min(name)\":\"cem\",\"max(name)\":\"Zeynep\"}");
    CHECK_CODE(&b, "get t order n collate und", FENEC_QUERY);
    CHECK_CODE(&b, "get t order id collate tr", FENEC_QUERY);
    CHECK_CODE(&b, "get t order name collate de", FENEC_QUERY);
    CHECK_CODE(&b, "create collection u (n int collate tr)", FENEC_QUERY);
    CHECK_CODE(&b, "create collection u (m json collate tr)", FENEC_QUERY);
    CHECK_CODE(&b, "create collection u (s text collate xx)", FENEC_QUERY);
    bed_close(&b);
}

/* ---- another version of the rules ---- */

static void open_file(bed *b, const char *file)
{
    *b = (bed){0};
    error_init(&b->err);
    CHECK_INT(database_open(&b->d, (const uint8_t *)file, strlen(file), 0, &b->err), FENEC_OK);
}

/* The file as an engine with other rules left it: its version in the declaration, and entries in an order
 * that is not ours - here, none but one. */
static void age(const char *file)
{
    store_options options = {.path = (const uint8_t *)file, .path_len = strlen(file)};
    uint64_t ticket, version_now = collation_version(COLLATION_TR);
    const uint8_t *bytes;
    buffer row, version_bytes;
    catalog *cat;
    version *v;
    size_t len;
    store *s;
    conn *c;
    error err;
    bool found = false;

    error_init(&err);
    CHECK_INT(store_open(&s, &options, &err), FENEC_OK);
    CHECK_INT(store_write(s, true, &c, &v, &err), FENEC_OK);
    CHECK_INT(catalog_load(c, &cat, &err), FENEC_OK);
    const collection *of = cat->collections[0];
    CHECK_INT(rows_get(c, table_catalog(), of->number, &bytes, &len, &err), FENEC_OK);
    buffer_init(&row);
    buffer_init(&version_bytes);
    buffer_put(&row, bytes, len);
    varint_put(&version_bytes, version_now);
    for (size_t i = 0; !found && i + version_bytes.len <= row.len; i++)
        if (!memcmp(row.bytes + i, version_bytes.bytes, version_bytes.len)) {
            row.bytes[i] ^= 1;
            found = true;
        }
    CHECK(found);
    bytes_put_u32(row.bytes + row.len - 4, crc32c(0, row.bytes, row.len - 4));
    CHECK_INT(rows_put(c, table_catalog(), of->number, row.bytes, row.len, &err), FENEC_OK);
    table t = table_index(of->indexes[0].number);
    CHECK_INT(table_drop(c, t, &err), FENEC_OK);
    CHECK_INT(entries_put(c, t, (const uint8_t *)"\x03zzz", 4, 1, &err), FENEC_OK);
    CHECK_INT(store_write_commit(c, NULL, &ticket, &err), FENEC_OK);
    version_drop(&cat->head);
    buffer_clear(&row);
    buffer_clear(&version_bytes);
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
}

TEST(an_index_in_the_order_of_other_rules_is_built_again)
{
    const char *walked = "{\"plan\":\"filter: none\"},{\"plan\":\"order: the ordered index walked ascending, 4 rows tested\"},"
                         "{\"plan\":\"rows: 4\"}";
    char file[400];
    bed b;

    if (!collation_available())
        return;
    snprintf(file, sizeof file, "%s/rules", test_folder());
    open_file(&b, file);
    bed_do(&b, "create collection t (name text collate tr @sorted)");
    put_names(&b, "t", "Irmak,Zeynep,cem,Çağla,İlker,ılgaz");
    CHECK_NAMES(&b, "get t order name limit 4", "cem,Çağla,ılgaz,Irmak");
    bed_close(&b);
    age(file);

    open_file(&b, file);
    bed_do(&b, "put t {name: 'baş'}");
    CHECK_NAMES(&b, "get t order name limit 4", "baş,cem,Çağla,ılgaz");
    CHECK_ROWS(&b, "explain get t order name limit 4", walked);
    bed_do(&b, "del t where name = 'cem'");
    CHECK_NAMES(&b, "get t where name < 'i' order name limit 4", "baş,Çağla,ılgaz,Irmak");
    bed_close(&b);

    open_file(&b, file);
    CHECK_NAMES(&b, "get t order name limit 4", "baş,Çağla,ılgaz,Irmak");
    bed_close(&b);
}

TEST(an_index_of_other_rules_is_written_down_as_lapsed_before_a_write)
{
    char file[400];
    catalog *cat;
    version *v;
    store *s;
    conn *c;
    error err;
    bed b;

    if (!collation_available())
        return;
    snprintf(file, sizeof file, "%s/lapsed", test_folder());
    open_file(&b, file);
    bed_do(&b, "create collection t (name text collate tr @sorted)");
    put_names(&b, "t", "Irmak,Zeynep,cem");
    bed_close(&b);
    age(file);
    open_file(&b, file);
    put_names(&b, "t", "Çağla");
    bed_close(&b);
    /* An engine with the first rules may not take the entries for whole. */
    store_options options = {.path = (const uint8_t *)file, .path_len = strlen(file)};
    error_init(&err);
    CHECK_INT(store_open(&s, &options, &err), FENEC_OK);
    CHECK_INT(store_write(s, true, &c, &v, &err), FENEC_OK);
    CHECK_INT(catalog_load(c, &cat, &err), FENEC_OK);
    CHECK_INT(cat->collections[0]->indexes[0].state, INDEX_UNBUILT);
    CHECK(!cat->collections[0]->indexes[0].lapsed);
    version_drop(&cat->head);
    store_write_rollback(c);
    CHECK_INT(store_close(s, &err), FENEC_OK);
    store_free(s);
    open_file(&b, file);
    CHECK_NAMES(&b, "get t order name limit 9", "cem,Çağla,Irmak,Zeynep");
    bed_close(&b);
}
