#include "exec_bed.h"

/* One vector [1, 2] for the place; the parameters hold null there. */
static int ask(bed *b, const char *text, uint8_t place)
{
    const uint8_t entry[16] = {place, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0x80, 0x3F, 0, 0, 0, 0x40};

    return bed_run(b, text, "[null,null]", entry, sizeof entry);
}

static void open_note(bed *b)
{
    bed_open(b);
    bed_do(b, "create collection note (meta json, at geo, v vector<2>, n [int])");
}

#define CHECK_EXACT(text, place)                   \
    do {                                           \
        CHECK_INT(ask(&b, text, place), FENEC_QUERY); \
        CHECK_INT(b.err.exact_count, 1);           \
        CHECK_INT(b.err.exact[0], place);          \
    } while (0)
#define CHECK_INEXACT(text, place)            \
    do {                                      \
        ask(&b, text, place);                 \
        CHECK_INT(b.err.exact_count, 0);      \
    } while (0)

TEST(a_json_field_a_path_and_a_point_ask_for_every_digit)
{
    bed b;
    open_note(&b);
    CHECK_EXACT("put note {meta: $1}", 0);
    CHECK_EXACT("put note {meta.k: $1}", 0);
    CHECK_EXACT("put note {v: $1, at: $2}", 1);
    CHECK_EXACT("set note {meta: $1}", 0);
    CHECK_EXACT("put note {id: 1} if absent else set {meta.a: $1}", 0);
    CHECK_EXACT("get note where meta = $1", 0);
    CHECK_EXACT("get note where $1 <= meta.k", 0);
    CHECK_EXACT("get note where meta has $2", 1);
    CHECK_EXACT("get note where meta.k in [1, $2]", 1);
    CHECK_EXACT("get note where distance(at, $1) < 5", 0);
    CHECK_EXACT("get note select within([1, 2], $2) as w", 1);
    CHECK_EXACT("get note near at $1", 0);
    CHECK_EXACT("del note where at != $1", 0);
    bed_close(&b);
}

TEST(a_parameter_that_does_not_stand_by_itself_may_be_a_vector)
{
    bed b;
    open_note(&b);
    CHECK_INEXACT("put note {v: $1}", 0);
    CHECK_INEXACT("get note where v = $1", 0);
    CHECK_INEXACT("get note where dot(v, $1) > 0", 0);
    CHECK_INEXACT("put note {meta: coalesce($1, null)}", 0);
    CHECK_INEXACT("get note where meta = coalesce($1)", 0);
    CHECK_INEXACT("get note where n has $1", 0);
    CHECK_INEXACT("put note {meta: $2}", 0);
    bed_close(&b);
}

TEST(nothing_of_a_text_runs_where_a_digit_is_wanted)
{
    bed b;
    open_note(&b);
    CHECK_EXACT("put note {v: [1, 2]}; put note {meta: $1}", 0);
    CHECK_ROWS(&b, "get note count", "{\"count\":0}");
    CHECK_INT(ask(&b, "put note {meta: $1, at: $1}; set note {meta: $1}", 0), FENEC_QUERY);
    CHECK_INT(b.err.exact_count, 2);
    bed_close(&b);
}
