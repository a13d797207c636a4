#include "exec/project.h"

#include <string.h>

#include "exec/node.h"
#include "exec/slot.h"
#include "store/record.h"
#include "value/json.h"

static int bind_all(const collection *of, arena *a, projection *out, const char **names, uint32_t *lens)
{
    (void)a;
    out->items[0] = (project_item){.kind = PROJECT_ID};
    names[0] = "id";
    lens[0] = 2;
    for (uint32_t i = 0; i < of->field_count; i++) {
        out->items[i + 1] = (project_item){.kind = PROJECT_FIELD, .field = of->fields[i].number};
        names[i + 1] = of->fields[i].name;
        lens[i + 1] = of->fields[i].name_len;
    }
    return FENEC_OK;
}

static int bind_column(const collection *of, const column *c, arena *a, constants *once, project_item *out,
                       error *err)
{
    const binding b = {.place = BIND_LIST, .of = of, .once = once};
    bound *n;
    int rc = expr_bind(c->e, &b, a, &n, err);

    if (rc)
        return rc;
    if (n->kind == NODE_ID)
        *out = (project_item){.kind = PROJECT_ID};
    else if (n->kind == NODE_FIELD && n->path->part_count == 1)
        *out = (project_item){.kind = PROJECT_FIELD, .field = n->field->number};
    else
        *out = (project_item){.kind = PROJECT_VALUE, .e = n};
    return FENEC_OK;
}

static const char *mark_name(const mark *m, arena *a, uint32_t *len)
{
    const char *call = m->snippet ? "snippet(" : "highlight(";
    size_t head = strlen(call);
    char *name = arena_alloc(a, head + m->field.text_len + 2);

    if (!name)
        return NULL;
    memcpy(name, call, head);
    memcpy(name + head, m->field.text, m->field.text_len);
    memcpy(name + head + m->field.text_len, ")", 2);
    *len = (uint32_t)head + m->field.text_len + 1;
    return name;
}

static int bind_list(const collection *of, bool all, const column *columns, uint32_t count, const mark marks[],
                     uint32_t mark_count, arena *a, projection *out, error *err)
{
    uint32_t fields = all ? of->field_count + 1 : count, n = fields + mark_count, at = 0, next = 0;
    const char **names = arena_alloc(a, sizeof *names * n + 1);
    uint32_t *lens = arena_alloc(a, sizeof *lens * n + 1);

    *out = (projection){.count = n};
    out->items = arena_alloc(a, sizeof *out->items * n + 1);
    if (!names || !lens || !out->items)
        return fail_memory(err);
    if (all) {
        bind_all(of, a, out, names, lens);
        at = fields;
    }
    for (uint32_t i = 0; at < n; at++) {
        if (next < mark_count && (i == fields || all || marks[next].place == at)) {
            out->items[at] = (project_item){.kind = PROJECT_MARK, .field = next};
            names[at] = mark_name(&marks[next++], a, &lens[at]);
            if (!names[at])
                return fail_memory(err);
            continue;
        }
        names[at] = columns[i].name;
        lens[at] = (uint32_t)strlen(columns[i].name);
        int rc = bind_column(of, &columns[i++], a, &out->once, &out->items[at], err);
        if (rc)
            return rc;
    }
    return answer_columns_make(&out->columns, a, names, lens, n) ? FENEC_OK : fail_memory(err);
}

int projection_bind(const collection *of, const column *columns, uint32_t count, arena *a, projection *out,
                    error *err)
{
    return bind_list(of, !columns, columns, count, NULL, 0, a, out, err);
}

int projection_bind_marked(const collection *of, bool all, const column *columns, uint32_t count, const mark marks[],
                           uint32_t mark_count, arena *a, projection *out, error *err)
{
    return bind_list(of, all, columns, count, marks, mark_count, a, out, err);
}

bool projection_wants_row(const projection *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->items[i].kind != PROJECT_ID)
            return true;
    return false;
}

static int write_field(const scope *s, uint32_t field, answer *w, error *err)
{
    const uint8_t *slot, *text;
    size_t len, text_len;
    int64_t i;
    value v;
    int rc = record_slot(&s->row->rec, field, &slot, &len, err);

    if (rc)
        return rc;
    if (len == 0) {
        buffer_put(w->out, "null", 4);
        return FENEC_OK;
    }
    if (slot[0] != SLOT_TIMESTAMP && slot_integer(slot, len, &i)) {
        json_write_int(w->out, i);
        return FENEC_OK;
    }
    if (slot_text(slot, len, &text, &text_len)) {
        json_write_text(w->out, text, text_len);
        return FENEC_OK;
    }
    rc = row_field(s->row, field, s->memory, &v, err);
    if (!rc)
        json_write(w->out, &v);
    return rc;
}

int projection_value(const project_item *item, const scope *s, value *out, error *err)
{
    switch (item->kind) {
    case PROJECT_ID: *out = value_int(s->row->id); return FENEC_OK;
    case PROJECT_FIELD: return row_field(s->row, item->field, s->memory, out, err);
    default: return item->e->eval(item->e, s, out, err);
    }
}

int projection_columns(const projection *p, const scope *s, answer *w, error *err)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const project_item *item = &p->items[i];
        value v;
        int rc = FENEC_OK;

        answer_name(w);
        switch (item->kind) {
        case PROJECT_ID: json_write_int(w->out, s->row->id); break;
        case PROJECT_FIELD: rc = write_field(s, item->field, w, err); break;
        case PROJECT_VALUE:
            rc = item->e->eval(item->e, s, &v, err);
            if (!rc)
                json_write(w->out, &v);
            break;
        case PROJECT_MARK: rc = w->mark(w->marks, item->field, s->row, w->out, err); break;
        }
        if (rc)
            return rc;
    }
    return FENEC_OK;
}

int projection_row(const projection *p, const scope *s, answer *w, error *err)
{
    answer_row(w);
    int rc = projection_columns(p, s, w, err);
    if (!rc)
        answer_row_end(w);
    return rc;
}
