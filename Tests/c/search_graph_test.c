#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/graph.h"
#include "search/vector_index.h"
#include "test.h"

enum { DIMENSION = 32, QUERIES = 100, PAGE = 10 };

/* Two sums of uniform numbers make do for a bell. */
static float bell(uint64_t *state)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += (double)(test_random(state) >> 11) / 9007199254740992.0;
    return (float)(sum - 2);
}

static void draw(float *v, const float *centres, uint32_t count, float spread, uint64_t *state)
{
    const float *c = centres + (test_random(state) % count) * DIMENSION;

    for (int i = 0; i < DIMENSION; i++)
        v[i] = c[i] + spread * bell(state);
}

static float *draw_centres(uint32_t count, uint64_t *state)
{
    float *c = memory_alloc(count * DIMENSION * sizeof *c);

    for (uint32_t i = 0; i < count * DIMENSION; i++)
        c[i] = bell(state);
    return c;
}

typedef struct made {
    vector_version *v;
    float *vectors;
    uint32_t n;
} made;

static void check_ok(int rc)
{
    CHECK_INT(rc, FENEC_OK);
}

static made make(const index_spec *spec, uint32_t n, const float *centres, uint32_t centre_count, uint64_t *state)
{
    const type t = {.kind = TYPE_VECTOR, .dimension = DIMENSION};
    made m = {.n = n, .vectors = memory_alloc((size_t)n * DIMENSION * sizeof *m.vectors)};
    vector_version *first = vector_new(spec, &t);
    bool done = false;
    error err;

    error_init(&err);
    m.v = vector_begin(first);
    version_drop(&first->head);
    for (uint32_t i = 0; i < n; i++) {
        float *v = m.vectors + (size_t)i * DIMENSION;
        draw(v, centres, centre_count, 0.3f, state);
        check_ok(vector_write(m.v, i + 1, (const uint8_t *)v, &err));
    }
    vector_land(m.v);
    while (!done)
        check_ok(vector_link(m.v, 1000, &done, &err));
    return m;
}

static void unmake(made *m)
{
    version_drop(&m->v->head);
    memory_free(m->vectors);
}

typedef struct nearest {
    float distance[PAGE];
    int64_t id[PAGE];
    float bound;
    uint32_t count;
} nearest;

static void note(void *to, const vector_hit *h)
{
    nearest *n = to;
    uint32_t at = n->count < PAGE ? n->count++ : PAGE;

    for (; at > 0 && n->distance[at - 1] > h->distance; at--) {
        if (at == PAGE)
            continue;
        n->distance[at] = n->distance[at - 1];
        n->id[at] = n->id[at - 1];
    }
    if (at == PAGE)
        return;
    n->distance[at] = h->distance;
    n->id[at] = h->id;
}

/* How many of the ten nearest a walk finds, of all. */
static double recall(const vector_version *v, uint32_t beam, const float *centres, uint32_t centre_count,
                     uint64_t *state)
{
    uint32_t found = 0, wanted = 0;
    arena a;
    error err;

    arena_init(&a);
    error_init(&err);
    for (int i = 0; i < QUERIES; i++) {
        float q[DIMENSION];
        nearest all = {.bound = INFINITY};
        vector_seek s;
        vector_hit h;
        draw(q, centres, centre_count, 0.3f, state);
        check_ok(vector_seek_begin(&s, v, q, &a, &err));
        vector_seek_all(&s, &all.bound, note, &all);
        wanted += all.count;
        check_ok(vector_seek_near(&s, beam, &err));
        for (uint32_t k = 0; k < PAGE && vector_seek_next(&s, &h, &err) == FENEC_OK; k++)
            found += h.distance <= all.distance[all.count - 1] * (1 + 1e-6f) + 1e-6f;
        vector_seek_end(&s);
        arena_reset(&a);
    }
    arena_clear(&a);
    return (double)found / wanted;
}

static index_spec plain(vector_metric metric)
{
    return (index_spec){.kind = INDEX_HNSW, .metric = metric, .m = 16, .ef_construction = 100, .ef_search = 100};
}

TEST(a_walk_finds_nearly_all_of_the_nearest)
{
    static const vector_metric metrics[] = {METRIC_COSINE, METRIC_L2, METRIC_DOT};

    for (int i = 0; i < 3; i++) {
        uint64_t state = 7;
        index_spec spec = plain(metrics[i]);
        float *centres = draw_centres(50, &state);
        made m = make(&spec, 4000, centres, 50, &state);
        double got = recall(m.v, 100, centres, 50, &state);
        if (got < (metrics[i] == METRIC_DOT ? 0.85 : 0.98))
            test_failed(__FILE__, __LINE__, "metric %d: recall %.3f", i, got);
        unmake(&m);
        memory_free(centres);
    }
}

TEST(codes_lose_little)
{
    uint64_t state = 7;
    index_spec spec = plain(METRIC_COSINE);
    float *centres = draw_centres(50, &state);

    spec.quant = QUANT_INT8;
    made m = make(&spec, 4000, centres, 50, &state);
    double got = recall(m.v, 100, centres, 50, &state);
    if (got < 0.97)
        test_failed(__FILE__, __LINE__, "recall %.3f", got);
    unmake(&m);
    memory_free(centres);
}

TEST(two_clusters_far_apart_are_both_found)
{
    uint64_t state = 9;
    index_spec spec = plain(METRIC_L2);
    float *centres = draw_centres(2, &state);

    for (int i = 0; i < DIMENSION; i++)
        centres[i] += 100;
    made m = make(&spec, 3000, centres, 2, &state);
    CHECK(recall(m.v, 50, centres, 2, &state) > 0.97);
    unmake(&m);
    memory_free(centres);
}

TEST(the_same_vectors_make_the_same_graph)
{
    uint64_t first = 5, second = 5;
    index_spec spec = plain(METRIC_L2);
    float *a = draw_centres(20, &first), *b = draw_centres(20, &second);
    made x = make(&spec, 1500, a, 20, &first), y = make(&spec, 1500, b, 20, &second);

    CHECK(recall(x.v, 12, a, 20, &first) == recall(y.v, 12, b, 20, &second));
    unmake(&x);
    unmake(&y);
    memory_free(a);
    memory_free(b);
}
