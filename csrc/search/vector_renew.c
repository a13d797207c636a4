/* vector_renew.c - an @hnsw index made anew out of what it holds: without what is gone, or as codes. */
#include <string.h>

#include "base/memory.h"
#include "search/vector_documents.h"

enum {
    GONE_LEAST = 256, /* fewer that are gone are not worth it */
    GONE_MANY = 4096, /* more than twice the documents besides come faster than they are linked */
    LEARNT_FROM = 2048 /* vectors that centres are learnt from; fewer are held whole */
};

bool vector_is_to_code(const vector_version *v)
{
    return v->of->spec.quant == QUANT_BIT && v->of->how.kind != CODEC_SIGN && v->docs >= LEARNT_FROM &&
           v->nodes >= LEARNT_FROM;
}

bool vector_is_worn(const vector_version *v, bool *urgent)
{
    const uint32_t gone = atomic_load_explicit(&v->of->gone, memory_order_relaxed);

    *urgent = vector_is_to_code(v) || gone > GONE_MANY + 2 * v->docs;
    return *urgent || gone > GONE_LEAST + v->docs / 2 || v->number > NUMBER_NEVER / 2;
}

/* ---- centres ---- */

/* NULL: no memory. */
static float *learn(const vector_version *v)
{
    const codec *how = &v->of->how;
    const uint32_t dimension = how->dimension;
    float *vectors = memory_alloc((size_t)LEARNT_FROM * dimension * sizeof *vectors);
    float *centres = memory_alloc(CODEC_CENTRE_FLOATS(dimension) * sizeof *centres);
    bool learnt = vectors && centres;

    for (uint32_t i = 0; learnt && i < LEARNT_FROM; i++) {
        uint32_t node = (uint32_t)((uint64_t)i * v->nodes / LEARNT_FROM);
        codec_decode(how, slab_at(&v->of->vectors, node), vectors + (size_t)i * dimension);
    }
    learnt = learnt && codec_learn(vectors, LEARNT_FROM, dimension, centres);
    memory_free(vectors);
    if (learnt)
        return centres;
    memory_free(centres);
    return NULL;
}

static float *copy_centres(const vector_index *x)
{
    const size_t len = CODEC_CENTRE_FLOATS(x->how.dimension) * sizeof *x->centres;
    float *centres = memory_alloc(len);

    if (centres)
        memcpy(centres, x->centres, len);
    return centres;
}

/* ---- what it holds ---- */

/* A node's vector as `to` holds it, until the next. */
static const uint8_t *item_for(vector_index *to, const vector_index *from, uint32_t node)
{
    const uint8_t *item = slab_at(&from->vectors, node);

    if (to->how.kind == from->how.kind)
        return item;
    codec_decode(&from->how, item, to->floats);
    codec_sign(&to->how, to->floats, to->item);
    return to->item;
}

static int copy_documents(vector_version *own, const vector_version *v, error *err)
{
    vector_documents d;
    vector_document one;
    int rc = vector_documents_open(&d, v, err);

    while (!rc && vector_documents_next(&d, &one))
        rc = vector_write_item(own, one.id, item_for(own->of, v->of, one.node), err);
    vector_documents_clear(&d);
    return rc;
}

int vector_renew(const vector_version *v, vector_version **out, error *err)
{
    const vector_index *old = v->of;
    const bool signs = vector_is_to_code(v);
    float *centres = signs ? learn(v) : old->centres ? copy_centres(old) : NULL;

    if (!centres && (signs || old->centres))
        return fail_memory(err);
    vector_index *x = vector_index_new(&old->spec, &old->type, signs ? CODEC_SIGN : old->how.kind, centres);
    vector_version *empty = x ? vector_version_new(x) : NULL, *own = empty ? vector_begin(empty) : NULL;
    int rc = own ? copy_documents(own, v, err) : fail_memory(err);

    if (empty)
        version_drop(&empty->head);
    if (x)
        vector_index_drop(x);
    if (!rc) {
        vector_land(own);
        *out = own;
    } else if (own) {
        version_drop(&own->head);
    }
    return rc;
}

/* ---- what came after ---- */

/* Documents that left (`added` false) or came. */
static int follow(vector_version *own, const vector_version *v, const vector_version *now, bool added, error *err)
{
    int rc = FENEC_OK;

    for (uint32_t i = 0; !rc && i < now->entries; i++) {
        bool was = i < v->entries && vector_sees(v, i), is = vector_sees(now, i);
        if (was && !is && !added)
            rc = vector_write_item(own, vector_entry_id(now->of, i), NULL, err);
        else if (!was && is && added)
            rc = vector_write_item(own, vector_entry_id(now->of, i),
                                   item_for(own->of, now->of, vector_entry_node(now->of, i)), err);
    }
    return rc;
}

int vector_follow(vector_version **of, const vector_version *v, const vector_version *now, error *err)
{
    vector_version *own = vector_begin(*of);
    int rc = own ? follow(own, v, now, false, err) : fail_memory(err);

    if (!rc)
        rc = follow(own, v, now, true, err);
    if (rc) {
        if (own)
            version_drop(&own->head);
        return rc;
    }
    vector_land(own);
    version_drop(&(*of)->head);
    *of = own;
    return FENEC_OK;
}

int vector_take_place(vector_version *fresh, const vector_version *old, error *err)
{
    vector_index *x = fresh->of;
    const vector_saved *s = &old->of->saved;
    const size_t sides = (size_t)s->link_rows + s->upper_rows;

    x->saved = *s;
    x->saved.numbered = false;
    x->saved.link_sides = memory_alloc(sides);
    if (!x->saved.link_sides)
        return fail_memory(err);
    if (sides)
        memcpy(x->saved.link_sides, s->link_sides, sides);
    x->logged_to = old->of->logged_to;
    atomic_store_explicit(&x->log_next, atomic_load_explicit(&old->of->log_next, memory_order_relaxed),
                          memory_order_relaxed);
    return FENEC_OK;
}
