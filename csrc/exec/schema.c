#include "exec/schema.h"

#include <string.h>

#include "base/clock.h"
#include "catalog/comparison.h"
#include "exec/ddl.h"
#include "ql/parser.h"
#include "value/json.h"
#include "value/packed.h"

#define RECORDS "_migrations"

/* A migration as it runs and is recorded. */
typedef struct step {
    const char *text;
    size_t len;
} step;

typedef struct bringing {
    block *b;
    const description *d;
    const text_runner *runner;
    step *steps; /* one for each migration of the code */
    uint32_t done; /* recorded already */
    bool fresh;
    arena memory;
    error *err;
} bringing;

/* ---- the answer ---- */

static const char *truth(bool b)
{
    return b ? "true" : "false";
}

static void write_answer(buffer *out, bool applied, bool ran, uint32_t from, uint32_t to, const comparison *c)
{
    buffer_printf(out, "{\"kind\":\"schema\",\"applied\":%s,\"ran\":%s,\"migrations\":[", truth(applied), truth(ran));
    for (uint32_t n = from; n < to; n++)
        buffer_printf(out, n > from ? ",%u" : "%u", n + 1);
    buffer_text(out, "],\"statements\":[");
    for (uint32_t i = 0; i < c->statement_count; i++) {
        if (i)
            buffer_byte(out, ',');
        json_write_text(out, (const uint8_t *)c->statements[i], strlen(c->statements[i]));
    }
    buffer_text(out, "],\"refusals\":[");
    buffer_put(out, c->refusals.bytes, c->refusals.len);
    buffer_text(out, "]}");
}

int schema_follow(const catalog *cat, const description *d, buffer *out, error *err)
{
    comparison c;
    arena memory;

    arena_init(&memory);
    int rc = comparison_make(cat, d, true, &memory, &c, err);
    if (rc == FENEC_OK)
        write_answer(out, false, false, 0, 0, &c);
    comparison_clear(&c);
    arena_clear(&memory);
    return rc;
}

/* ---- migrations ---- */

/* The text of a rebuild, from what is declared now. */
static int write_rebuild(bringing *w, uint32_t n, const migration *m, step *out)
{
    const declaration *of = description_find(w->d, m->collection);
    uint32_t place = 0;
    buffer text;

    while (of && place < of->field_count && strcmp(of->fields[place].name, m->field) != 0)
        place++;
    if (!of || place == of->field_count)
        return fail(w->err, FENEC_QUERY, "schema description: the description: migration %u rebuilds `%s.%s`, "
                    "which is not declared", n, m->collection, m->field);
    if (!field_is_readable(m->field))
        return fail(w->err, FENEC_QUERY, "schema description: the description: migration %u: no expression reads "
                    "`%s.%s`, so it cannot be rebuilt", n, m->collection, m->field);
    buffer_init(&text);
    spell_rebuild(&text, of, place);
    out->len = text.len;
    out->text = text.failed ? NULL : arena_copy(&w->memory, text.bytes, text.len);
    buffer_clear(&text);
    return out->text ? FENEC_OK : fail_memory(w->err);
}

static int write_steps(bringing *w)
{
    const description *d = w->d;
    int rc = FENEC_OK;

    w->steps = arena_alloc(&w->memory, d->migration_count * sizeof *w->steps + 1);
    if (!w->steps)
        return fail_memory(w->err);
    for (uint32_t i = 0; i < d->migration_count && rc == FENEC_OK; i++) {
        const migration *m = &d->migrations[i];
        if (m->text)
            w->steps[i] = (step){m->text, m->len};
        else
            rc = write_rebuild(w, i + 1, m, &w->steps[i]);
    }
    return rc;
}

/* The text, or as much of it as a message holds, with U+FFFD for each U+0000. */
static const char *printable(char out[ERROR_MESSAGE_MAX], const value *text)
{
    size_t len = 0;

    for (size_t i = 0; i < text->len && len + sizeof "\xEF\xBF\xBD" < ERROR_MESSAGE_MAX; i++) {
        if (text->bytes[i]) {
            out[len++] = (char)text->bytes[i];
        } else {
            memcpy(out + len, "\xEF\xBF\xBD", 3);
            len += 3;
        }
    }
    out[len] = 0;
    return out;
}

/* One record beside the migration of its place. */
static int match_record(bringing *w, const value *row)
{
    uint32_t place = w->done;
    value n = value_null(), text = value_null();

    packed_member(row, (const uint8_t *)"n", 1, &n);
    packed_member(row, (const uint8_t *)"text", 4, &text);
    if (place == w->d->migration_count)
        return fail(w->err, FENEC_QUERY,
                    "the code is older than the database: it lists %u migrations and the database has run more",
                    place);
    const step *s = &w->steps[place];
    if (n.kind != VALUE_INT || n.integer != (int64_t)place + 1 || text.kind != VALUE_TEXT) {
        char number[VALUE_QUOTE_MAX], ran[VALUE_QUOTE_MAX];
        return fail(w->err, FENEC_QUERY,
                    "record %u of `" RECORDS "` is none of migration %u: its n is %s and its text %s", place + 1,
                    place + 1, value_quote(number, &n), value_quote(ran, &text));
    }
    if (text.len != s->len || memcmp(text.bytes, s->text, s->len) != 0) {
        char ran[ERROR_MESSAGE_MAX];
        return fail(w->err, FENEC_QUERY,
                    "migration %u is not listed as it ran, and one that ran stays as it is: a change is a new one; "
                    "it ran as `%s`",
                    place + 1, printable(ran, &text));
    }
    w->done++;
    return FENEC_OK;
}

static int match_rows(bringing *w, const buffer *answer)
{
    value whole, result, rows, row;
    packed_iter it;
    int rc = json_read(answer->bytes, answer->len, &w->memory, &whole, w->err);

    if (rc != FENEC_OK)
        return rc;
    if (!packed_member(&whole, (const uint8_t *)"result", 6, &result) ||
        !packed_member(&result, (const uint8_t *)"rows", 4, &rows) || rows.kind != VALUE_LIST)
        return fail(w->err, FENEC_PANIC, "a read answered no rows");
    packed_iterate(&it, &rows);
    while (rc == FENEC_OK && (rc = packed_next(&it, &row, w->err)) == FENEC_OK)
        rc = match_record(w, &row);
    return rc == FN_END ? FENEC_OK : rc;
}

/* Holds the records against the list: w->done of them match. */
static int match_records(bringing *w)
{
    static const char text[] = "get " RECORDS " select n, text order n";
    const collection *records = catalog_find(w->b->cat, RECORDS, sizeof RECORDS - 1);
    buffer answer;

    if (!records)
        return FENEC_OK;
    if (collection_field(records, "n", 1) < 0 || collection_field(records, "text", 4) < 0)
        return fail(w->err, FENEC_QUERY, "`" RECORDS "` holds no records: it has not the fields `n` and `text`");
    buffer_init(&answer);
    int rc = w->runner->run(w->runner->context, w->b, text, sizeof text - 1, NULL, &answer, w->err);
    if (rc == FENEC_OK)
        rc = match_rows(w, &answer);
    else if (rc == FENEC_TYPE)
        rc = w->err->code = FENEC_QUERY; /* an n without an order */
    buffer_clear(&answer);
    return rc;
}

static int make_records(bringing *w)
{
    static const char text[] =
        "create collection if not exists " RECORDS " (n int @unique, text text, at timestamp)";
    buffer unheard;

    buffer_init(&unheard);
    int rc = w->runner->run(w->runner->context, w->b, text, sizeof text - 1, NULL, &unheard, w->err);
    buffer_clear(&unheard);
    return rc;
}

static int record(bringing *w, uint32_t place, int64_t now_ms)
{
    static const char text[] = "put " RECORDS " {n: $1, text: $2, at: $3}";
    const step *s = &w->steps[place];
    buffer params, unheard;
    int rc;

    buffer_init(&params);
    buffer_init(&unheard);
    buffer_printf(&params, "[%u,", place + 1);
    json_write_text(&params, (const uint8_t *)s->text, s->len);
    buffer_byte(&params, ',');
    json_write_int(&params, now_ms);
    buffer_byte(&params, ']');
    rc = params.failed ? fail_memory(w->err)
                       : w->runner->run(w->runner->context, w->b, text, sizeof text - 1, &params, &unheard, w->err);
    buffer_clear(&params);
    buffer_clear(&unheard);
    return rc;
}

static int run_step(bringing *w, uint32_t place, int64_t now_ms)
{
    buffer unheard;
    error found;
    int rc = FENEC_OK;

    buffer_init(&unheard);
    if (!w->fresh)
        rc = w->runner->run(w->runner->context, w->b, w->steps[place].text, w->steps[place].len, NULL, &unheard,
                            w->err);
    buffer_clear(&unheard);
    if (rc == FENEC_OK)
        rc = record(w, place, now_ms);
    if (rc == FENEC_OK || rc == FENEC_PANIC || rc == FN_AGAIN)
        return rc;
    found = *w->err;
    error_init(w->err);
    return fail(w->err, FENEC_QUERY, "migration %u: %s%s", place + 1, error_prefix(found.code), found.message);
}

static int run_steps(bringing *w)
{
    int64_t now_ms = clock_now_ms();
    int rc = make_records(w);

    for (uint32_t i = w->done; i < w->d->migration_count && rc == FENEC_OK; i++)
        rc = run_step(w, i, now_ms);
    return rc;
}

/* ---- additions ---- */

static int add(bringing *w, const char *text)
{
    buffer unheard;
    parsed p;
    int rc = parse_text((const uint8_t *)text, strlen(text), &p, w->err);

    if (rc != FENEC_OK)
        return rc;
    buffer_init(&unheard);
    for (uint32_t i = 0; i < p.stmt_count && rc == FENEC_OK; i++)
        rc = ddl_run(w->b, &p.stmts[i], &unheard, w->err);
    buffer_clear(&unheard);
    parsed_clear(&p);
    return rc;
}

static bool all_own(const catalog *cat)
{
    for (uint32_t i = 0; i < cat->count; i++)
        if (cat->collections[i]->name[0] != '_')
            return false;
    return true;
}

static int compare_and_add(bringing *w, bool apply, buffer *out, bool *keep)
{
    uint32_t listed = w->d->migration_count;
    bool pending = w->done < listed;
    comparison c;
    int rc = comparison_make(w->b->cat, w->d, false, &w->memory, &c, w->err);

    if (rc == FENEC_OK && !pending && (!apply || c.refusal_count || !c.statement_count)) {
        write_answer(out, false, false, 0, 0, &c);
    } else if (rc == FENEC_OK) {
        *keep = apply && c.refusal_count == 0;
        for (uint32_t i = 0; i < c.statement_count && *keep && rc == FENEC_OK; i++)
            rc = add(w, c.statements[i]);
        write_answer(out, *keep, !w->fresh, w->done, listed, &c);
    }
    comparison_clear(&c);
    return rc;
}

int schema_bring(block *b, const description *d, bool apply, const text_runner *runner, buffer *out, bool *keep,
                 error *err)
{
    bringing w = {.b = b, .d = d, .runner = runner, .err = err};
    int rc;

    *keep = false;
    arena_init(&w.memory);
    rc = write_steps(&w);
    if (rc == FENEC_OK)
        rc = match_records(&w);
    if (rc == FENEC_OK) {
        w.fresh = w.done == 0 && all_own(b->cat);
        if (w.done < d->migration_count)
            rc = run_steps(&w);
    }
    if (rc == FENEC_OK)
        rc = compare_and_add(&w, apply, out, keep);
    arena_clear(&w.memory);
    return rc;
}
