#include "store_make.h"

#include "base/memory.h"
#include "search/row_cache.h"
#include "search/vector_index.h"

enum { DIMENSION = 24, INDEX = 1 };

/* An index beside a store, and the vectors of its documents by id. */
typedef struct kept {
    store *s;
    vector_version *v;
    index_spec spec;
    type of;
    float *vectors;
    bool *there;
    int64_t top;
    uint64_t random;
} kept;

static float number(kept *k)
{
    return (float)(test_random(&k->random) % 2001) / 1000 - 1;
}

static void start(kept *k, vector_quant quant, int64_t most)
{
    *k = (kept){.s = make_store(NULL, false),
                .spec = {.kind = INDEX_HNSW, .quant = quant, .m = 4, .ef_construction = 16, .ef_search = 16},
                .of = {.kind = TYPE_VECTOR, .dimension = DIMENSION},
                .vectors = calloc((size_t)most + 1, DIMENSION * sizeof(float)),
                .there = calloc((size_t)most + 1, 1),
                .random = test_seed()};
    k->v = vector_new(&k->spec, &k->of);
}

static void stop(kept *k)
{
    if (k->v)
        version_drop(&k->v->head);
    end_store(k->s);
    free(k->vectors);
    free(k->there);
}

/* A block that writes documents `from` to `to`: a vector, or none where `gone`. */
static void write_documents(kept *k, int64_t from, int64_t to, bool gone)
{
    vector_version *own = vector_begin(k->v);
    uint64_t ticket;
    version *none;
    conn *c;
    error err;

    MUST(store_write(k->s, true, &c, &none, &err));
    for (int64_t id = from; id <= to; id++) {
        float *v = k->vectors + (size_t)id * DIMENSION;
        for (int i = 0; i < DIMENSION; i++)
            v[i] = number(k);
        k->there[id] = !gone;
        MUST(vector_write(own, id, gone ? NULL : (const uint8_t *)v, &err));
    }
    MUST(vector_log(own, c, INDEX, &err));
    MUST(store_write_commit(c, NULL, &ticket, &err));
    vector_land(own);
    version_drop(&k->v->head);
    k->v = own;
    k->top = to > k->top ? to : k->top;
}

static int link_all(kept *k, error *err)
{
    bool done = false;
    int rc = FENEC_OK;

    while (!rc && !done)
        rc = vector_link(k->v, 100, &done, err);
    return rc;
}

/* All of a save in one block. */
static int save(kept *k, error *err)
{
    vector_save *v = NULL;
    uint64_t ticket;
    version *none;
    conn *c;
    int rc = store_write(k->s, true, &c, &none, err);

    if (rc)
        return rc;
    rc = vector_save_new(&v, k->v, INDEX, err);
    while (!rc && (rc = vector_save_write(v, c, err)) == FENEC_OK)
        continue;
    rc = rc == FN_END ? vector_save_land(v, c, err) : rc;
    if (rc) {
        store_write_rollback(c);
        vector_save_free(v);
        return rc;
    }
    rc = store_write_commit(c, NULL, &ticket, err);
    if (!rc)
        vector_save_landed(v);
    if (!rc)
        rc = store_write(k->s, true, &c, &none, err);
    if (!rc) {
        while ((rc = vector_save_clean(v, c, err)) == FENEC_OK)
            continue;
        rc = rc == FN_END ? store_write_commit(c, NULL, &ticket, err) : (store_write_rollback(c), rc);
    }
    vector_save_free(v);
    return rc;
}

static int source(void *from, int64_t id, const uint8_t **floats, error *err)
{
    const kept *k = from;

    (void)err;
    if (!k->there[id])
        return FN_END;
    *floats = (const uint8_t *)(k->vectors + (size_t)id * DIMENSION);
    return FENEC_OK;
}

/* What the file has, read in its place. */
static int read_back(kept *k, vector_version **out, error *err)
{
    uint64_t ticket;
    version *none;
    int64_t last;
    conn *c;
    int rc = store_write(k->s, true, &c, &none, err);

    if (rc)
        return rc;
    rc = vector_open(out, &last, c, INDEX, &k->spec, &k->of, source, k, err);
    if (rc) {
        store_write_rollback(c);
        return rc;
    }
    rc = store_write_commit(c, NULL, &ticket, err);
    vector_version *own = rc ? NULL : vector_begin(*out);
    for (int64_t id = last == INT64_MIN ? 1 : last + 1; own && id <= k->top && !rc; id++)
        if (k->there[id])
            rc = vector_write(own, id, (const uint8_t *)(k->vectors + (size_t)id * DIMENSION), err);
    if (own && !rc) {
        vector_land(own);
        version_drop(&(*out)->head);
        *out = own;
        return FENEC_OK;
    }
    if (own)
        version_drop(&own->head);
    version_drop(&(*out)->head);
    return rc ? rc : fail_memory(err);
}

static void check_holds(const kept *k, const vector_version *v)
{
    int64_t count = 0;

    for (int64_t id = 1; id <= k->top; id++) {
        count += k->there[id];
        if (k->there[id] != vector_holds(v, id, (const uint8_t *)(k->vectors + (size_t)id * DIMENSION)))
            test_failed(__FILE__, __LINE__, "document %lld is %sheld", (long long)id, k->there[id] ? "not " : "");
    }
    CHECK_INT(v->docs, count);
}

TEST(vectors_read_back_are_those_saved_and_those_written_since)
{
    static const vector_quant quants[] = {QUANT_NONE, QUANT_INT8};
    error err;

    for (int i = 0; i < 2; i++) {
        vector_version *back;
        kept k;
        start(&k, quants[i], 2000);
        write_documents(&k, 1, 900, false);
        MUST(link_all(&k, &err));
        write_documents(&k, 901, 1000, false);
        MUST(save(&k, &err));
        MUST(read_back(&k, &back, &err));
        vector_state s = vector_look(back);
        CHECK_INT(s.nodes, 1000);
        CHECK_INT(s.linked, 900);
        check_holds(&k, back);
        version_drop(&back->head);
        write_documents(&k, 10, 40, true);
        write_documents(&k, 30, 60, false);
        write_documents(&k, 990, 1100, false);
        write_documents(&k, 1050, 1060, true);
        MUST(read_back(&k, &back, &err));
        check_holds(&k, back);
        version_drop(&back->head);
        stop(&k);
    }
}

TEST(an_index_that_was_read_holds_little_beside_its_vectors_and_links)
{
    vector_version *back, *own;
    error err;
    kept k;

    start(&k, QUANT_NONE, 1001);
    write_documents(&k, 1, 1000, false);
    MUST(link_all(&k, &err));
    MUST(save(&k, &err));
    MUST(read_back(&k, &back, &err));
    vector_state s = vector_look(back);
    CHECK_INT(s.vector_bytes, 1000 * DIMENSION * 4);
    CHECK_INT(s.other_bytes, 1000 * (8 + 4)); /* the id of a document, and which is the node's */
    own = vector_begin(back);
    MUST(vector_write(own, 700, NULL, &err));
    vector_land(own);
    CHECK_INT(vector_look(own).other_bytes, 1000 * (8 + 4) + (1000 - 699) * 16);
    version_drop(&own->head);
    version_drop(&back->head);
    stop(&k);
}

TEST(saves_leave_no_row_behind_that_nothing_names)
{
    int64_t rows[2];
    error err;
    kept k;

    start(&k, QUANT_NONE, 4000);
    write_documents(&k, 1, 3000, false);
    MUST(link_all(&k, &err));
    MUST(save(&k, &err));
    rows[0] = count_rows(k.s, table_search(INDEX));
    for (int i = 0; i < 6; i++) {
        write_documents(&k, 100 + i * 7, 103 + i * 9, false);
        MUST(link_all(&k, &err));
        MUST(save(&k, &err));
        rows[1] = count_rows(k.s, table_search(INDEX));
        CHECK(rows[1] <= rows[0] + 1);
    }
    CHECK_INT(k.v->docs, 3000);
    stop(&k);
}

TEST(an_index_made_anew_is_saved_in_the_place_of_the_old)
{
    vector_version *fresh, *back, *seen;
    error err;
    kept k;

    start(&k, QUANT_NONE, 4000);
    write_documents(&k, 1, 1200, false);
    write_documents(&k, 500, 1100, false);
    MUST(link_all(&k, &err));
    MUST(save(&k, &err));
    bool urgent;
    CHECK(!vector_is_worn(k.v, &urgent));
    write_documents(&k, 400, 900, true);
    CHECK(vector_is_worn(k.v, &urgent) && !urgent);
    seen = (vector_version *)version_keep(&k.v->head);
    MUST(vector_renew(k.v, &fresh, &err));
    write_documents(&k, 1, 9, true);
    write_documents(&k, 5, 7, false);
    write_documents(&k, 1150, 1300, false);
    MUST(vector_follow(&fresh, seen, k.v, &err));
    version_drop(&seen->head);
    MUST(vector_take_place(fresh, k.v, &err));
    version_drop(&k.v->head);
    k.v = fresh;
    check_holds(&k, k.v);
    CHECK_INT(vector_look(k.v).gone, 9 + 51); /* what came after: deleted, or written over */
    write_documents(&k, 20, 30, true);
    MUST(read_back(&k, &back, &err)); /* the old rows, and the log */
    check_holds(&k, back);
    version_drop(&back->head);
    MUST(link_all(&k, &err));
    MUST(save(&k, &err));
    MUST(read_back(&k, &back, &err));
    check_holds(&k, back);
    CHECK_INT(vector_look(back).linked, vector_look(k.v).linked);
    version_drop(&back->head);
    stop(&k);
}

TEST(want_of_memory_leaves_what_was_saved)
{
    bool saved = false, read = false, made = false;
    vector_version *back, *fresh;
    error err;
    kept k;

    start(&k, QUANT_NONE, 3000);
    write_documents(&k, 1, 2100, false);
    MUST(link_all(&k, &err));
    MUST(save(&k, &err));
    for (long n = 0; !saved || !read || !made; n++) {
        write_documents(&k, 1 + n % 2000, 3 + n % 2000, n % 3 == 0);
        memory_fail_after(n);
        int rc = save(&k, &err);
        memory_fail_after(-1);
        saved |= rc == FENEC_OK;
        if (rc)
            CHECK_INT(rc, FENEC_PANIC);
        memory_fail_after(n);
        rc = read_back(&k, &back, &err);
        memory_fail_after(-1);
        read |= rc == FENEC_OK;
        if (rc)
            CHECK_INT(rc, FENEC_PANIC);
        else
            version_drop(&back->head);
        memory_fail_after(n);
        rc = vector_renew(k.v, &fresh, &err);
        memory_fail_after(-1);
        made |= rc == FENEC_OK;
        if (rc)
            CHECK_INT(rc, FENEC_PANIC);
        else
            version_drop(&fresh->head);
        if (n % 8 == 0) {
            MUST(read_back(&k, &back, &err));
            check_holds(&k, back);
            version_drop(&back->head);
        }
    }
    stop(&k);
}
