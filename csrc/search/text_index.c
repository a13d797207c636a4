#include "search/text_index.h"

#include "base/memory.h"
#include "search/row_cache.h"

static void text_free(version *v)
{
    text_version *t = (text_version *)v;

    recent_drop(t->recent);
    memory_free(t);
}

text_version *text_index_new(uint32_t index, const index_spec *spec)
{
    text_version *t = memory_zeroed(sizeof *t);

    if (!t)
        return NULL;
    t->head.references = 1;
    t->head.free = text_free;
    t->index = index;
    t->how = (analysis){.prefix_min = spec->prefix_min, .prefix_max = spec->prefix_max, .chars = spec->chars};
    t->k1 = spec->k1_hundredths / 100.0;
    t->b = spec->b_hundredths / 100.0;
    t->recent = recent_new();
    if (t->recent)
        return t;
    memory_free(t);
    return NULL;
}

text_version *text_index_begin(const text_version *v)
{
    text_version *t = memory_alloc(sizeof *t);

    if (!t)
        return NULL;
    *t = *v;
    t->head.references = 1;
    t->recent = recent_keep(v->recent);
    t->number = v->number + 1;
    t->own = true;
    return t;
}

void text_index_undo(text_version *own)
{
    if (own->own)
        recent_undo(own->recent, own->number);
}

void text_index_publish(text_version *own)
{
    own->own = false;
}

int text_index_add(text_version *own, int64_t id, const uint8_t *text, size_t len, error *err)
{
    uint32_t length;
    int rc = recent_add(own->recent, own->number, id, &own->how, text, len, &length, err);

    if (rc)
        return rc;
    own->docs += length > 0;
    own->terms += length;
    return FENEC_OK;
}

/* Whether a text has a term at all. */
static int stop_at_first(void *to, const term *t, error *err)
{
    (void)t;
    (void)err;
    *(bool *)to = true;
    return FN_END;
}

int text_index_remove(text_version *own, int64_t id, const uint8_t *text, size_t len, error *err)
{
    uint32_t length;
    bool any = false;
    int rc = recent_take(own->recent, own->number, id, &length, err);

    if (rc == FN_END) {
        rc = analyse(&own->how, text, len, stop_at_first, &any, err);
        return any ? ROW_DAMAGED : rc;
    }
    if (rc)
        return rc;
    own->docs--;
    own->terms -= length;
    return FENEC_OK;
}
