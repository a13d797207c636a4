#include "exec/context.h"

#include <inttypes.h>

int context_param(const context *cx, uint32_t place, value *out, error *err)
{
    if (place >= cx->param_count)
        return fail(err, FENEC_QUERY, "parameter $%" PRIu64 " was not given", (uint64_t)place + 1);
    *out = cx->params[place];
    return FENEC_OK;
}

int context_count(const context *cx, const count_value *n, const char *what, int64_t absent, int64_t *out,
                  error *err)
{
    value v;

    if (!n->given) {
        *out = absent;
        return FENEC_OK;
    }
    if (!n->is_param) {
        *out = n->literal < 0 ? 0 : n->literal;
        return FENEC_OK;
    }
    int rc = context_param(cx, n->param, &v, err);
    if (rc)
        return rc;
    if (v.kind != VALUE_INT) {
        char quoted[VALUE_QUOTE_MAX];
        return fail(err, FENEC_QUERY, "%s takes an int, not %s", what, value_quote(quoted, &v));
    }
    *out = v.integer < 0 ? 0 : v.integer;
    return FENEC_OK;
}
