/* vector_documents.h - the documents of a version of an @hnsw index, by ascending id. */
#ifndef SEARCH_VECTOR_DOCUMENTS_H
#define SEARCH_VECTOR_DOCUMENTS_H

#include "search/vector_inside.h"

typedef struct vector_document {
    int64_t id;
    uint32_t node;
} vector_document;

/* Zeroed to start, ended by vector_documents_clear. Beside writers; 16 bytes for each document that was not written
 * in order of id. */
typedef struct vector_documents {
    const vector_version *v;
    uint32_t place; /* the next of the sorted */
    vector_document *late; /* the others */
    size_t late_count, late_at;
} vector_documents;

int vector_documents_open(vector_documents *d, const vector_version *v, error *err); /* PANIC */
bool vector_documents_next(vector_documents *d, vector_document *out);               /* false after the last */
void vector_documents_clear(vector_documents *d);

#endif
