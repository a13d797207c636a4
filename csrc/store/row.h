/* row.h - a document of a collection: its record, and the values that stand beside it. */
#ifndef STORE_ROW_H
#define STORE_ROW_H

#include "base/arena.h"
#include "base/error.h"
#include "store/conn.h"
#include "store/record.h"
#include "value/value.h"

typedef struct row {
    conn *c;
    uint32_t collection;
    int64_t id;
    record rec;
} row;

/* A row over bytes that a cursor or rows_get handed out. */
int row_open(row *r, conn *c, uint32_t collection, int64_t id, const uint8_t *bytes, size_t len, error *err);

/* FENEC_OK, FN_END. The bytes are rows_get's. */
int row_find(row *r, conn *c, uint32_t collection, int64_t id, error *err);

/* The value of a field: null where the record does not know it. Borrows the record's bytes, or the
 * arena's where it was read from the side table or widened from half precision. */
int row_field(const row *r, uint32_t field, arena *a, value *out, error *err);

/* Makes r's bytes the arena's, so that it outlives the next rows_get. */
int row_keep(row *r, arena *a, error *err);

/* What a field holds from now on. */
typedef struct row_value {
    value v;
    bool keep; /* as in the old row, v not looked at; null where there is no old row */
    bool half; /* a vector kept at half precision */
} row_value;

/* Writes the row, field number by field number, over `old` (NULL: there is none), side values included.
 * old may not borrow the bytes of a later rows_get: row_keep it. */
int row_write(conn *c, uint32_t collection, int64_t id, const row_value values[], uint32_t fields,
              const row *old, arena *a, error *err);
int row_delete(conn *c, const row *old, error *err);

#endif
