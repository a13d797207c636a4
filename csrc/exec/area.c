#include "exec/area.h"

#include <math.h>

#include "exec/node.h"
#include "value/geo.h"
#include "value/geo_cell.h"

static bool is_geo(const bound *n)
{
    return n->kind == NODE_FIELD && n->path->part_count == 1 && n->field->type.kind == TYPE_GEO;
}

static bool calls(const bound *n, const char *name)
{
    return n->kind == NODE_CALL && n->item_count == 2 && n->function == function_find(name);
}

/* The argument of distance() that is not the field. */
static const bound *other(const bound *call)
{
    return is_geo(call->items[0]) ? call->items[1] : call->items[0];
}

const bound *area_field(const bound *n)
{
    if (calls(n, "within"))
        return is_geo(n->items[0]) && !n->items[1]->reads_row ? n->items[0] : NULL;
    if (n->kind != NODE_COMPARE || n->slot == NODE_NO_SLOT || (n->op != OP_LT && n->op != OP_LE))
        return NULL;
    const bound *call = n->left;
    if (!calls(call, "distance") || other(call)->reads_row)
        return NULL;
    return is_geo(call->items[0]) ? call->items[0] : is_geo(call->items[1]) ? call->items[1] : NULL;
}

static bool resolve_circle(const bound *n, const scope *s, area *out)
{
    const constant *c = s->resolved ? &s->resolved[n->slot] : NULL;
    const bound *centre = other(n->left);
    error unused;
    value v;

    if (!c || c->how == HOW_FAILED || (c->v.kind != VALUE_INT && c->v.kind != VALUE_FLOAT))
        return false;
    out->metres = c->v.kind == VALUE_INT ? (double)c->v.integer : c->v.number;
    out->circle = true;
    out->below = n->op == OP_LT;
    if (!(out->metres >= 0) || !isfinite(out->metres) || centre->eval(centre, s, &v, &unused) ||
        v.kind == VALUE_NULL || geo_point(&v, out->at, &unused))
        return false;
    geo_around(out->at, out->metres, out->box);
    return true;
}

bool area_resolve(const bound *n, const context *cx, const constant *resolved, area *out)
{
    const scope s = {.cx = cx, .memory = cx->memory, .resolved = resolved};
    error unused;
    value v;

    *out = (area){0};
    if (n->kind == NODE_COMPARE)
        return resolve_circle(n, &s, out);
    return !n->items[1]->eval(n->items[1], &s, &v, &unused) && v.kind != VALUE_NULL &&
           !geo_box(&v, out->box, &unused);
}

bool area_holds(const area *a, const double p[2])
{
    if (!a->circle)
        return geo_within(p, a->box);
    double metres = geo_distance(p, a->at);
    return a->below ? metres < a->metres : metres <= a->metres;
}
