#include "search/vector_documents.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int by_id(const void *a, const void *b)
{
    const vector_document *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

int vector_documents_open(vector_documents *d, const vector_version *v, error *err)
{
    *d = (vector_documents){.v = v};
    d->late = memory_alloc(((size_t)(v->entries - v->sorted) + 1) * sizeof *d->late);
    if (!d->late)
        return fail_memory(err);
    for (uint32_t i = v->sorted; i < v->entries; i++) {
        if (vector_sees(v, i))
            d->late[d->late_count++] = (vector_document){vector_entry_id(v->of, i), vector_entry_node(v->of, i)};
    }
    if (d->late_count > 1)
        qsort(d->late, d->late_count, sizeof *d->late, by_id);
    return FENEC_OK;
}

bool vector_documents_next(vector_documents *d, vector_document *out)
{
    const vector_version *v = d->v;

    while (d->place < v->sorted && !vector_sees(v, d->place))
        d->place++;
    const bool any = d->place < v->sorted;
    const int64_t id = any ? vector_entry_id(v->of, d->place) : 0;
    if (d->late_at < d->late_count && (!any || d->late[d->late_at].id < id)) {
        *out = d->late[d->late_at++];
        return true;
    }
    if (!any)
        return false;
    *out = (vector_document){id, vector_entry_node(v->of, d->place)};
    d->place++;
    return true;
}

void vector_documents_clear(vector_documents *d)
{
    memory_free(d->late);
    *d = (vector_documents){0};
}

/* Zeros are equal whatever their sign: a document is not written anew for that. */
static bool are_equal(const codec *how, const uint8_t *a, const uint8_t *b, float *memory)
{
    float *other = memory + how->dimension;
    uint32_t i = 0;

    if (memcmp(a, b, how->item) == 0)
        return true;
    if (how->kind != CODEC_FLOAT && how->kind != CODEC_HALF)
        return false;
    codec_decode(how, a, memory);
    codec_decode(how, b, other);
    while (i < how->dimension && !(memory[i] < other[i]) && !(memory[i] > other[i]))
        i++;
    return i == how->dimension;
}

bool vector_holds(const vector_version *v, int64_t id, const uint8_t *floats)
{
    vector_index *x = v->of;
    float *memory = memory_alloc((size_t)x->how.dimension * 2 * sizeof *memory);
    uint32_t entry;
    bool holds = memory && vector_find(v, id, &entry) == FENEC_OK;

    if (holds) {
        memcpy(x->floats, floats, (size_t)x->how.dimension * sizeof *x->floats);
        codec_encode(&x->how, x->floats, x->item);
        holds = are_equal(&x->how, slab_at(&x->vectors, vector_entry_node(x, entry)), x->item, memory);
    }
    memory_free(memory);
    return holds;
}

int vector_each(const vector_version *v, bool (*visit)(void *to, int64_t id), void *to, error *err)
{
    vector_documents d;
    vector_document one;
    int rc = vector_documents_open(&d, v, err);

    while (!rc && vector_documents_next(&d, &one) && visit(to, one.id))
        continue;
    vector_documents_clear(&d);
    return rc;
}
