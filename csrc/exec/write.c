#include "exec/writing.h"

#include <inttypes.h>
#include <string.h>

#include "value/json.h"

/* ---- binding ---- */

static int bind_returning(write_plan *p, arena *a, error *err)
{
    const returning *r = &p->s->returning;
    uint32_t count = r->all ? p->of->field_count + 1 : r->path_count;
    const char **names = arena_alloc(a, count * sizeof *names);
    uint32_t *lens = arena_alloc(a, count * sizeof *lens);

    p->returned = arena_zeroed(a, count * sizeof *p->returned);
    if (!names || !lens || !p->returned)
        return fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        returned *to = &p->returned[i];
        if (r->all) {
            to->place = (int32_t)i - 1;
            names[i] = i ? p->of->fields[i - 1].name : "id";
            lens[i] = i ? p->of->fields[i - 1].name_len : 2;
            continue;
        }
        int rc = collection_resolve(p->of, &r->paths[i], &to->place, err);
        if (rc != FENEC_OK)
            return rc;
        if (r->paths[i].part_count > 1)
            to->on = &r->paths[i];
        names[i] = r->paths[i].text;
        lens[i] = r->paths[i].text_len;
    }
    return answer_columns_make(&p->columns, a, names, lens, count) ? FENEC_OK : fail_memory(err);
}

static int bind_put(write_plan *p, arena *a, error *err)
{
    const binding in_document = {.place = BIND_VALUE};
    const binding in_set = {.place = BIND_SET, .of = p->of, .fresh = p->of};

    p->docs = arena_alloc(a, p->s->doc_count * sizeof *p->docs + 1);
    if (!p->docs)
        return fail_memory(err);
    for (uint32_t i = 0; i < p->s->doc_count; i++) {
        int rc = pairs_bind(&p->s->docs[i], p->of, &in_document, a, &p->docs[i], err);
        if (rc != FENEC_OK)
            return rc;
    }
    return p->s->else_set ? pairs_bind(&p->s->set, p->of, &in_set, a, &p->set, err) : FENEC_OK;
}

static int bind_picked(write_plan *p, const catalog *cat, arena *a, error *err)
{
    const stmt *s = p->s;
    const binding in_set = {.place = BIND_SET, .of = p->of};
    int rc = FENEC_OK;

    if (s->kind == STMT_UPDATE)
        rc = pairs_bind(&s->set, p->of, &in_set, a, &p->set, err);
    if (rc == FENEC_OK)
        rc = pick_bind(cat, p->of, s->where, s->order, s->order_count, s->limit, (count_value){0}, a, &p->pick, err);
    return rc;
}

int write_bind(const stmt *s, const catalog *cat, arena *a, write_plan **out, error *err)
{
    write_plan *p = arena_zeroed(a, sizeof *p);
    int rc = FENEC_OK;

    if (!p)
        return fail_memory(err);
    p->s = s;
    p->of = catalog_find(cat, s->collection, (uint32_t)strlen(s->collection));
    if (!p->of)
        return fail(err, FENEC_NOT_FOUND, "collection `%s`", s->collection);
    if (s->returning.given)
        rc = bind_returning(p, a, err);
    if (rc == FENEC_OK)
        rc = s->kind == STMT_PUT ? bind_put(p, a, err) : bind_picked(p, cat, a, err);
    if (rc == FENEC_OK)
        *out = p;
    return rc;
}

bool write_needs_undo(const stmt *s, const value *params, uint32_t param_count)
{
    if (s->kind != STMT_PUT || s->else_set || s->require_given || s->returning.given)
        return true;
    if (s->docs_are_param)
        return s->docs_param >= param_count || params[s->docs_param].kind != VALUE_OBJECT;
    return s->doc_count != 1;
}

/* ---- one row ---- */

/* Whether the row holding a value is past its time. */
static int is_past(writing *w, int64_t id, bool *out, error *err)
{
    row r;

    *out = false;
    if (w->of->ttl_field < 0)
        return FENEC_OK;
    int rc = row_find(&r, w->cx->c, w->of->number, id, err);
    if (rc == FN_END)
        return fail(err, FENEC_CORRUPT, "an index of `%s` names document %" PRId64 ", which is not there",
                    w->of->name, id);
    return rc == FENEC_OK ? row_expired(w->of, &r, w->cx->now_ms, w->rows, out, err) : rc;
}

int no_id_left(const writing *w, error *err)
{
    return fail(err, FENEC_QUERY, "collection `%s` has held the largest id: a document needs an id of its own",
                w->of->name);
}

int make_room(writing *w, int64_t own, int64_t *live, bool *made_room, error *err)
{
    const row_keys *keys = &w->b->scratch->keys;
    int64_t holder, *past = NULL;
    uint32_t past_count = 0;
    int rc;

    *made_room = false;
    for (uint32_t at = 0;; at++) {
        bool is_past_now;
        rc = row_keys_holder(keys, w->b, own, &at, &holder, w->rows, err);
        if (rc == FN_END)
            break;
        if (rc == FENEC_OK)
            rc = is_past(w, holder, &is_past_now, err);
        if (rc != FENEC_OK)
            return rc;
        if (!is_past_now) {
            if (!live)
                return row_keys_clash(keys, at, holder, err);
            *live = holder;
            return FENEC_OK;
        }
        if (!past && !(past = arena_alloc(w->rows, w->of->index_count * sizeof *past)))
            return fail_memory(err);
        past[past_count++] = holder;
    }
    if (!own && w->mark->now == INT64_MAX)
        return no_id_left(w, err);
    for (uint32_t i = 0; i < past_count; i++) {
        row r;
        rc = row_find(&r, w->cx->c, w->of->number, past[i], err);
        if (rc == FN_END)
            continue; /* it held two of the values */
        if (rc == FENEC_OK)
            rc = row_keep(&r, w->rows, err);
        if (rc == FENEC_OK)
            rc = delete_row(w, &r, err);
        if (rc != FENEC_OK)
            return rc;
        *made_room = true;
    }
    return FENEC_OK;
}

int write_row(writing *w, int64_t id, const value *values, const bool *touched, const row *old, error *err)
{
    const collection *of = w->of;
    row_value *all = arena_zeroed(w->rows, of->next_field * sizeof *all);

    if (!all)
        return fail_memory(err);
    for (uint32_t i = 0; i < of->field_count; i++) {
        row_value *to = &all[of->fields[i].number];
        if (touched && !touched[i]) {
            to->keep = true;
            continue;
        }
        to->v = values[i];
        to->half = of->fields[i].type.half;
    }
    int rc = block_note(w->b, of->number, id, err);
    if (rc == FENEC_OK && of->index_count)
        rc = row_keys_search(&w->b->scratch->keys, w->b, id, err);
    if (rc == FENEC_OK)
        rc = row_write(w->cx->c, of->number, id, all, of->next_field, old, w->rows, err);
    if (rc != FENEC_OK)
        return rc;
    id_marks_raise(&w->b->w->marks, w->mark, id);
    return row_keys_apply(&w->b->scratch->keys, w->b, id, err);
}

int delete_row(writing *w, const row *old, error *err)
{
    row_keys *keys = &w->b->scratch->keys;
    int rc = row_keys_make(keys, w->of, old, NULL, NULL, w->rows, err);

    if (rc == FENEC_OK)
        rc = block_note(w->b, w->of->number, old->id, err);
    if (rc == FENEC_OK)
        rc = id_marks_before_delete(w->mark, w->cx->c, old->id, err);
    if (rc == FENEC_OK)
        rc = row_keys_search(keys, w->b, old->id, err);
    if (rc == FENEC_OK)
        rc = row_keys_apply(keys, w->b, old->id, err);
    return rc == FENEC_OK ? row_delete(w->cx->c, old, err) : rc;
}

int set_row(writing *w, const row *old, const document *fresh, value **values, bool **touched, error *err)
{
    const scope s = {.cx = w->cx,
                     .row = old,
                     .fresh = fresh ? fresh->values : NULL,
                     .fresh_id = fresh && fresh->id ? value_int(fresh->id) : value_null(),
                     .memory = w->rows};
    row_keys *keys = &w->b->scratch->keys;
    bool made_room;

    *values = arena_zeroed(w->rows, w->of->field_count * sizeof **values);
    *touched = arena_zeroed(w->rows, w->of->field_count);
    if (!*values || !*touched)
        return fail_memory(err);
    int rc = pairs_apply(&w->p->set, w->of, &s, *values, *touched, err);
    if (rc == FENEC_OK)
        rc = row_keys_make(keys, w->of, old, *values, *touched, w->rows, err);
    if (rc == FENEC_OK)
        rc = make_room(w, old->id, NULL, &made_room, err);
    if (rc == FENEC_OK && made_room)
        rc = row_keys_make(keys, w->of, old, *values, *touched, w->rows, err);
    if (rc == FENEC_OK)
        rc = write_row(w, old->id, *values, *touched, old, err);
    if (rc == FENEC_OK)
        w->written++;
    return rc;
}

int answer_written(writing *w, int64_t id, const value *values, const bool *touched, const row *old, error *err)
{
    answer_row(&w->answer);
    for (uint32_t i = 0; i < w->p->columns.count; i++) {
        const returned *r = &w->p->returned[i];
        value v = value_int(id);
        int rc = FENEC_OK;
        if (r->place >= 0 && values && (!touched || touched[r->place]))
            v = values[r->place];
        else if (r->place >= 0)
            rc = row_field(old, w->of->fields[r->place].number, w->rows, &v, err);
        if (rc != FENEC_OK)
            return rc;
        if (r->on)
            value_at(&v, r->on, &v);
        answer_value(&w->answer, &v);
    }
    answer_row_end(&w->answer);
    return FENEC_OK;
}

/* ---- set and del ---- */

static int write_picked(writing *w, int64_t id, error *err)
{
    bool is_set = w->p->s->kind == STMT_UPDATE, *touched = NULL;
    value *values = NULL;
    row old;
    int rc = row_find(&old, w->cx->c, w->of->number, id, err);

    if (rc == FN_END)
        return FENEC_OK; /* deleted since it was picked, to make room for a row before it */
    if (rc == FENEC_OK)
        rc = row_keep(&old, w->rows, err);
    if (rc == FENEC_OK && is_set)
        rc = set_row(w, &old, NULL, &values, &touched, err);
    /* A row that goes is answered first: its large values go with it. */
    if (rc == FENEC_OK && w->p->s->returning.given)
        rc = answer_written(w, id, values, touched, &old, err);
    if (rc == FENEC_OK && !is_set) {
        rc = delete_row(w, &old, err);
        w->written++;
    }
    return rc;
}

static int run_picked(writing *w, error *err)
{
    int64_t *picked;
    size_t count;
    int rc = pick_ids(w->p->pick, w->cx, &picked, &count, err);

    for (size_t i = 0; i < count && rc == FENEC_OK; i++) {
        arena_reset(w->rows);
        rc = write_picked(w, picked[i], err);
    }
    return rc;
}

/* ---- a whole statement ---- */

static const char *verb_of(const stmt *s)
{
    switch (s->kind) {
    case STMT_UPDATE: return "set";
    case STMT_DELETE: return "del";
    default: return s->insert && !s->if_absent ? "insert" : "put";
    }
}

int write_run(const write_plan *p, const context *cx, block *b, buffer *out, error *err)
{
    const stmt *s = p->s;
    writing w = {.p = p, .of = p->of, .cx = cx, .b = b, .rows = &b->scratch->rows};
    int rc;

    arena_reset(w.rows);
    /* A block without undo fails before its first write or not at all: room for its answer is made here. */
    if (!buffer_reserve(out, 64))
        return fail_memory(err);
    rc = id_marks_find(&b->w->marks, cx->c, p->of->number, &w.mark, err);
    if (rc != FENEC_OK)
        return rc;
    if (s->returning.given)
        answer_begin(&w.answer, out, &p->columns);
    rc = s->kind == STMT_PUT ? put_run(&w, err) : run_picked(&w, err);
    if (rc != FENEC_OK)
        return rc;
    if (s->require_given && w.written != (uint64_t)s->require)
        return fail(err, FENEC_UNMET, "%s `%s` wrote %" PRIu64 " rows where %" PRId64 " are required", verb_of(s),
                    p->of->name, w.written, s->require);
    if (s->returning.given) {
        answer_end(&w.answer);
    } else {
        buffer_put(out, "{\"kind\":\"affected\",\"count\":", 27);
        json_write_int(out, (int64_t)w.written);
        buffer_byte(out, '}');
    }
    return out->failed ? buffer_error(out, err) : FENEC_OK;
}
