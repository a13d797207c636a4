#include "value/elements.h"

bool elements_open(elements *e, const value *v)
{
    *e = (elements){.of = *v};
    switch (v->kind) {
    case VALUE_LIST: packed_iterate(&e->list, v); return true;
    case VALUE_VECTOR: return true;
    case VALUE_POINT: e->of.count = 2; return true;
    default: e->of = value_null(); return false;
    }
}

int elements_next(elements *e, value *out, error *err)
{
    if (e->of.kind == VALUE_LIST)
        return packed_next(&e->list, out, err);
    if (e->next >= e->of.count)
        return FN_END;
    *out = value_float(e->of.kind == VALUE_POINT ? e->of.point[e->next]
                                                 : (double)value_component(&e->of, e->next));
    e->next++;
    return FENEC_OK;
}
