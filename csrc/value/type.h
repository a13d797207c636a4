/* type.h - types of fields, what an index is declared as, and what a field is declared as. */
#ifndef VALUE_TYPE_H
#define VALUE_TYPE_H

#include "base/buffer.h"
#include "base/error.h"
#include "value/value.h"

typedef enum type_kind {
    TYPE_BOOL,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_TEXT,
    TYPE_BYTES,
    TYPE_TIMESTAMP,
    TYPE_VECTOR,
    TYPE_SPARSE,
    TYPE_LIST,
    TYPE_JSON,
    TYPE_GEO
} type_kind;

#define VECTOR_DIMENSION_MAX 65536u
#define SPARSE_DIMENSION_MAX 1000000000u

typedef struct type {
    type_kind kind;
    bool half;                  /* VECTOR: components kept at half precision */
    uint32_t dimension;         /* VECTOR, SPARSE */
    const struct type *element; /* LIST */
} type;

void type_write(buffer *out, const type *t); /* "vector<4, f16>", "[text]" */
bool type_equal(const type *a, const type *b);

typedef enum index_kind {
    INDEX_NONE,
    INDEX_HASH,
    INDEX_UNIQUE,
    INDEX_SORTED, /* ttl_ms > 0: @ttl */
    INDEX_HNSW,
    INDEX_TEXT,
    INDEX_INVERTED,
    INDEX_GEO
} index_kind;

typedef enum vector_metric { METRIC_COSINE, METRIC_L2, METRIC_DOT } vector_metric;
typedef enum vector_quant { QUANT_NONE, QUANT_INT8, QUANT_BIT } vector_quant;

/* Every option of every kind; those of other kinds are 0. Defaults are filled in by the parser. */
typedef struct index_spec {
    index_kind kind;
    int64_t ttl_ms; /* SORTED: 0, or the time after which a row is past its time */
    vector_metric metric;
    vector_quant quant;
    uint32_t m, ef_construction, ef_search;
    uint32_t k1_hundredths, b_hundredths;
    uint32_t prefix_max, prefix_min; /* prefix_max 0: off */
    bool chars;
} index_spec;

void index_spec_write(buffer *out, const index_spec *spec); /* "hnsw(cosine, m=16)", as `describe` has it */
void index_spec_write_whole(buffer *out, const index_spec *spec); /* with every option, as a statement has it */

/* Whether a field of that type (path: a path into one of type json) takes such an index: FENEC_OK, TYPE
 * or QUERY (chapter 1 section 4.4). `name` is the field or path for the message. */
int index_spec_fits(const index_spec *spec, const type *t, bool path, const char *name, error *err);

typedef struct field_def {
    const char *name; /* UTF-8, NUL-terminated; a name holds no NUL */
    type type;
    index_spec index;
    bool required;
    collation collate;
} field_def;

#endif
