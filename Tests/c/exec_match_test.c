#include <sqlite3.h>

#include "match_model.h"
#include "store_make.h"

/* ---- any history ---- */

static void run_history(match_model *m, long rounds)
{
    for (long i = 0; i < rounds; i++) {
        model_change(m);
        if (model_below(m, 12) == 0)
            model_must(m, "put doc $1", model_draw_some(m, MODEL_DOCS / 2));
        if (m->path && model_below(m, 12) == 0) {
            model_close(m);
            model_open(m);
        }
        if (model_below(m, 15) == 0)
            CHECK_INT(database_warm(m->b.d, NULL, 0, &m->text, &m->b.err), FENEC_OK);
        if (model_below(m, 25) == 0)
            bed_do(&m->b, "compact doc");
        if (model_below(m, 25) == 0)
            model_index_anew(m);
        model_compare_some(m, 6);
    }
}

TEST(match_answers_as_the_texts_say_after_any_history)
{
    match_model m;

    model_init(&m, make_path("history.fenec"), 0, "");
    run_history(&m, test_scale(60, 3000));
    model_end(&m);
}

TEST(match_answers_so_without_sync_and_in_memory)
{
    match_model m;

    model_init(&m, make_path("buffered.fenec"), 1, "");
    run_history(&m, test_scale(30, 1000));
    model_end(&m);
    model_init(&m, NULL, 0, "");
    run_history(&m, test_scale(30, 1000));
    model_end(&m);
}

TEST(match_answers_so_by_prefixes_of_the_index)
{
    match_model m;

    model_init(&m, make_path("prefixes.fenec"), 1, "k1=1.2, b=0.75, prefix=5, prefix_min=2");
    m.k1 = 1.2;
    m.b_option = 0.75;
    m.prefix_min = 2;
    m.prefix_max = 5;
    run_history(&m, test_scale(30, 1000));
    model_end(&m);
}

/* ---- what a damaged row does ---- */

static sqlite3 *raw_open(const match_model *m)
{
    sqlite3 *db = NULL;

    CHECK_INT(sqlite3_open(m->path, &db), SQLITE_OK);
    return db;
}

/* The table of the text index. */
static void search_table(sqlite3 *db, char name[32])
{
    sqlite3_stmt *s = NULL;

    name[0] = 0;
    CHECK_INT(sqlite3_prepare_v2(db, "select name from sqlite_master where name like 'x%' and type = 'table'", -1, &s, NULL),
              SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        snprintf(name, 32, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
}

/* Flips a bit of a row, cuts it short or takes it away (but for the last thing a log says). */
static void damage(match_model *m, int64_t low, int64_t high)
{
    sqlite3 *db = raw_open(m);
    sqlite3_stmt *s = NULL;
    char name[32], text[200];

    search_table(db, name);
    if (!name[0]) { /* the index was found to be damaged behind the writers */
        sqlite3_close(db);
        return;
    }
    snprintf(text, sizeof text, "select * from %s where id between ?1 and ?2 order by id %% 100003 * ?3 %% 100003 limit 1", name);
    CHECK_INT(sqlite3_prepare_v2(db, text, -1, &s, NULL), SQLITE_OK);
    sqlite3_bind_int64(s, 1, low);
    sqlite3_bind_int64(s, 2, high);
    sqlite3_bind_int(s, 3, 1 + model_below(m, 100000));
    if (sqlite3_step(s) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(s, 0);
        int len = sqlite3_column_bytes(s, 1), how = model_below(m, low > UINT32_MAX && high == INT64_MAX ? 3 : 4);
        uint8_t *bytes = malloc((size_t)len + 1);
        memcpy(bytes, sqlite3_column_blob(s, 1), (size_t)len);
        char column[32];
        snprintf(column, sizeof column, "%s", sqlite3_column_name(s, 1));
        sqlite3_finalize(s);
        snprintf(text, sizeof text, how == 3 ? "delete from %s where id = ?1" : "update %s set %s = ?2 where id = ?1", name,
                 column);
        CHECK_INT(sqlite3_prepare_v2(db, text, -1, &s, NULL), SQLITE_OK);
        if (how < 2)
            bytes[model_below(m, len)] ^= (uint8_t)(1u << model_below(m, 8));
        else
            len = model_below(m, len);
        sqlite3_bind_int64(s, 1, id);
        if (how < 3)
            sqlite3_bind_blob(s, 2, bytes, len, SQLITE_STATIC);
        CHECK_INT(sqlite3_step(s), SQLITE_DONE);
        free(bytes);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
}

TEST(match_answers_right_whatever_of_its_index_is_damaged)
{
    /* Manifest; counts; the rows of segments; the log. */
    static const int64_t lows[] = {0, 2, (int64_t)1 << 32, (int64_t)1 << 62}, highs[] = {1, UINT32_MAX, ((int64_t)1 << 62) - 1, INT64_MAX};
    match_model m;

    model_init(&m, make_path("damage.fenec"), 1, "");
    for (long i = 0; i < test_scale(24, 1000); i++) {
        for (int k = 0; k < 3; k++)
            model_must(&m, "put doc $1", model_draw_some(&m, MODEL_DOCS / 2));
        model_change(&m);
        model_close(&m);
        int at = model_below(&m, 6);
        damage(&m, lows[at < 4 ? at : 2], highs[at < 4 ? at : 2]);
        model_open(&m);
        if (model_below(&m, 2))
            model_change(&m); /* meets it first */
        model_compare_some(&m, 6);
        CHECK_INT(database_warm(m.b.d, NULL, 0, &m.text, &m.b.err), FENEC_OK);
        model_compare_some(&m, 3);
    }
    model_end(&m);
}
