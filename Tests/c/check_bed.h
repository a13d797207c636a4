/* check_bed.h - a database with an index of every kind, random writes to it, and its check, for tests that look
 * at a database after something happened to it. */
#ifndef CHECK_BED_H
#define CHECK_BED_H

#include <stdlib.h>

#include "base/buffer.h"
#include "exec/database.h"
#include "test.h"

/* Lines of a check, one after another. */
typedef struct check_lines {
    buffer text;
    check_report report;
    int code;
} check_lines;

static inline void check_line(void *to, const char *line)
{
    buffer *b = to;

    buffer_text(b, line);
    buffer_byte(b, '\n');
}

/* Freed by check_lines_clear. The lines end in a NUL. */
static inline void check_lines_of(database *d, check_lines *out)
{
    check_watch watch = {.found = check_line, .to = &out->text};
    error err;

    buffer_init(&out->text);
    error_init(&err);
    out->code = database_check(d, &watch, &out->report, &err);
    if (out->code)
        buffer_printf(&out->text, "check answers %d: %s\n", out->code, err.message);
    buffer_byte(&out->text, 0);
}

static inline void check_lines_clear(check_lines *l)
{
    buffer_clear(&l->text);
}

/* Fails the test with the findings, if there are any. */
static inline void check_is_quiet(database *d, const char *when)
{
    check_lines l;

    check_lines_of(d, &l);
    if (l.code || l.report.findings)
        test_failed(__FILE__, __LINE__, "%s: %.2000s", when, (const char *)l.text.bytes);
    check_lines_clear(&l);
}

/* ---- the database ---- */

static const char *const check_schema[] = {
    "create collection item (code text @unique, kind text @hash, size int @sorted, price float, seen timestamp @ttl(50000d), "
    "body text @text(prefix=4, prefix_min=2), place geo @geo, data json, tags [text], raw bytes, v vector<8> @hnsw, w vector<4, f16>, "
    "s sparse<1000> @inverted)",
    "create index on item(data.n) @sorted",
    "create index on item(data.u) @unique",
    "create index on item(data.t) @hash",
    "create collection note (name text required, title text @text, big text)",
};

/* FENEC_OK or what the text answered. */
static inline int check_run_text(database *d, const char *text, const char *params)
{
    buffer out;
    error err;

    buffer_init(&out);
    error_init(&err);
    int rc = database_query(d, (const uint8_t *)text, strlen(text), (const uint8_t *)params, params ? strlen(params) : 0,
                            NULL, 0, &out, &err);
    buffer_clear(&out);
    return rc;
}

static inline void check_must(database *d, const char *text)
{
    buffer out;
    error err;

    buffer_init(&out);
    error_init(&err);
    int rc = database_query(d, (const uint8_t *)text, strlen(text), NULL, 0, NULL, 0, &out, &err);
    if (rc)
        test_failed(__FILE__, __LINE__, "%s: %d %s", text, rc, err.message);
    buffer_clear(&out);
}

static inline void check_make(database *d)
{
    for (size_t i = 0; i < sizeof check_schema / sizeof *check_schema; i++)
        check_must(d, check_schema[i]);
}

static inline uint32_t check_draw(uint64_t *random, uint32_t n)
{
    return (uint32_t)(test_random(random) % n);
}

static inline void check_words(buffer *b, uint64_t *random, uint32_t most)
{
    uint32_t count = check_draw(random, most + 1);

    for (uint32_t i = 0; i < count; i++)
        buffer_printf(b, "%sw%u", i ? " " : "", check_draw(random, 1u << check_draw(random, 10)));
}

static inline void check_item(buffer *b, uint64_t *random, uint32_t ids)
{
    uint32_t id = 1 + check_draw(random, ids);

    buffer_printf(b, "{id: %u, code: \"c%u-%u\", kind: \"k%u\", size: %d", id, id, check_draw(random, 3), check_draw(random, 9),
                  (int)check_draw(random, 2000) - 1000);
    buffer_printf(b, ", seen: \"20%02u-01-02T03:04:05Z\", price: %u.5", 80 + check_draw(random, 10), check_draw(random, 100));
    buffer_text(b, ", body: \"");
    check_words(b, random, check_draw(random, 20) ? 12 : 400);
    buffer_printf(b, "\", place: [%d, %d]", (int)check_draw(random, 360) - 180, (int)check_draw(random, 170) - 85);
    buffer_printf(b, ", data: {\"n\": %u, \"u\": \"%u.%u\", \"t\": [%u]}", check_draw(random, 50), id, check_draw(random, 2),
                  check_draw(random, 5));
    if (check_draw(random, 3))
        buffer_text(b, ", tags: [\"a\", \"b\"]");
    if (check_draw(random, 3)) {
        buffer_text(b, ", v: [");
        for (int i = 0; i < 8; i++)
            buffer_printf(b, "%s%u", i ? ", " : "", 1 + check_draw(random, 20));
        buffer_text(b, "], w: [1, 2, 3, 0.5]");
    }
    if (check_draw(random, 2))
        buffer_printf(b, ", s: \"{%u:1,%u:0.5}/1000\"", 1 + check_draw(random, 400), 500 + check_draw(random, 400));
    buffer_byte(b, '}');
}

/* One random text: put, update, delete, of one document or many, sometimes several statements. What a unique
 * value refuses is refused. */
static inline int check_write(database *d, uint64_t *random, uint32_t ids)
{
    buffer b;
    int rc;

    buffer_init(&b);
    switch (check_draw(random, 10)) {
    case 0:
        buffer_printf(&b, "del item where id = %u", 1 + check_draw(random, ids));
        break;
    case 1:
        buffer_printf(&b, "set item {size: %u, body: \"changed w%u\"} where size > %u", check_draw(random, 100),
                      check_draw(random, 90), 900 + check_draw(random, 100));
        break;
    case 2:
        buffer_printf(&b, "put note {name: \"n\", title: \"");
        check_words(&b, random, 9);
        buffer_printf(&b, "\", big: \"");
        for (uint32_t i = check_draw(random, 300); i > 0; i--)
            buffer_printf(&b, "long%u ", i);
        buffer_text(&b, "\"}");
        break;
    case 3:
        buffer_printf(&b, "del note where id = %u; put item ", 1 + check_draw(random, ids));
        check_item(&b, random, ids);
        break;
    case 4:
        buffer_text(&b, "put item [");
        for (uint32_t i = 0, n = 1 + check_draw(random, 8); i < n; i++) {
            buffer_text(&b, i ? ", " : "");
            check_item(&b, random, ids);
        }
        buffer_byte(&b, ']');
        break;
    default:
        buffer_text(&b, "put item ");
        check_item(&b, random, ids);
    }
    buffer_byte(&b, 0);
    rc = check_run_text(d, (const char *)b.bytes, NULL);
    if (rc == FENEC_QUERY || rc == FENEC_TYPE)
        test_failed(__FILE__, __LINE__, "%d: %.900s", rc, (const char *)b.bytes);
    buffer_clear(&b);
    return rc;
}

static inline database *check_open(const char *file, uint32_t flags)
{
    database *d = NULL;
    error err;

    error_init(&err);
    int rc = database_open(&d, (const uint8_t *)file, file ? strlen(file) : 0, flags, &err);
    if (rc)
        test_failed(__FILE__, __LINE__, "open: %d %s", rc, err.message);
    return rc ? NULL : d;
}

static inline void check_close(database *d)
{
    error err;

    error_init(&err);
    CHECK_INT(database_close(d, &err), FENEC_OK);
    database_free(d);
}

#endif
