#include "exec/marking.h"

#include "exec/node.h"

#include "search/marks.h"

typedef struct mark_plan {
    uint32_t field; /* its number in records */
    bool snippet;
    uint32_t words;
    bound *args[3]; /* of a highlight its tags, of a snippet the ellipsis first */
    uint32_t arg_count;
} mark_plan;

struct marks_plan {
    const match_plan *match;
    mark_plan *items;
    uint32_t count;
};

struct marking {
    const marks_plan *p;
    const context *cx;
    query q;
    analysis how;
    mark_style *styles;
};

/* ---- binding ---- */

static int bind_field(const mark *m, const collection *of, mark_plan *out, error *err)
{
    int32_t place;
    int rc = collection_resolve(of, &m->field, &place, err);

    if (rc)
        return rc;
    if (place < 0 || m->field.part_count > 1 || of->fields[place].type.kind != TYPE_TEXT)
        return fail(err, FENEC_TYPE, "`%.*s` of `%s` is no text to mark", (int)m->field.text_len, m->field.text,
                    of->name);
    out->field = of->fields[place].number;
    return FENEC_OK;
}

int marks_bind(const select_stmt *s, const match_plan *match, const collection *of, arena *a, marks_plan **out,
               error *err)
{
    marks_plan *p = arena_zeroed(a, sizeof *p);
    const binding values = {.place = BIND_VALUE};
    int rc = FENEC_OK;

    if (p)
        p->items = arena_zeroed(a, s->mark_count * sizeof *p->items);
    if (!p || !p->items)
        return fail_memory(err);
    p->match = match;
    p->count = s->mark_count;
    for (uint32_t i = 0; !rc && i < p->count; i++) {
        const mark *m = &s->marks[i];
        mark_plan *to = &p->items[i];
        *to = (mark_plan){.snippet = m->snippet, .words = m->words, .arg_count = m->arg_count};
        rc = bind_field(m, of, to, err);
        for (uint32_t k = 0; !rc && k < m->arg_count; k++)
            rc = expr_bind(m->args[k], &values, a, &to->args[k], err);
    }
    if (!rc)
        *out = p;
    return rc;
}

/* ---- running ---- */

static int eval_text(const bound *e, const context *cx, mark_text *out, error *err)
{
    const scope s = {.cx = cx, .memory = cx->memory};
    char quoted[VALUE_QUOTE_MAX];
    value v;
    int rc = e->eval(e, &s, &v, err);

    if (rc)
        return rc;
    if (v.kind != VALUE_TEXT)
        return fail(err, FENEC_TYPE, "what stands around a mark is a text, not %s", value_quote(quoted, &v));
    *out = (mark_text){v.bytes, v.len};
    return FENEC_OK;
}

static int open_style(const mark_plan *m, const context *cx, mark_style *out, error *err)
{
    uint32_t at = 0;
    int rc = FENEC_OK;

    *out = (mark_style){.tagged = m->arg_count > (m->snippet ? 1 : 0)};
    if (m->snippet && m->arg_count)
        rc = eval_text(m->args[at++], cx, &out->ellipsis, err);
    if (!rc && out->tagged)
        rc = eval_text(m->args[at++], cx, &out->before, err);
    if (!rc && out->tagged)
        rc = eval_text(m->args[at], cx, &out->after, err);
    return rc;
}

int marking_open(const marks_plan *p, const context *cx, marking **out, error *err)
{
    marking *m = arena_zeroed(cx->memory, sizeof *m);
    int rc = FENEC_OK;

    if (m)
        m->styles = arena_alloc(cx->memory, p->count * sizeof *m->styles);
    if (!m || !m->styles)
        return fail_memory(err);
    m->p = p;
    m->cx = cx;
    for (uint32_t i = 0; !rc && i < p->count; i++)
        rc = open_style(&p->items[i], cx, &m->styles[i], err);
    if (!rc)
        rc = match_query(p->match, cx, &m->q, &m->how, err);
    if (!rc)
        *out = m;
    return rc;
}

int marking_write(void *with, uint32_t number, const row *r, buffer *out, error *err)
{
    marking *m = with;
    const mark_plan *p = &m->p->items[number];
    value v;
    int rc = row_field(r, p->field, m->cx->memory, &v, err);

    if (rc)
        return rc;
    if (v.kind != VALUE_TEXT) {
        buffer_put(out, "null", 4);
        return FENEC_OK;
    }
    const mark_text text = {v.bytes, v.len};
    if (p->snippet)
        return marks_snippet(&m->q, &m->how, text, p->words, &m->styles[number], out, err);
    return marks_highlight(&m->q, &m->how, text, &m->styles[number], out, err);
}
