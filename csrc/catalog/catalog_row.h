/* catalog_row.h - one collection's declaration as bytes, the row of the catalog table.
 *
 *   u8      form: 2; 1 had no order
 *   varint  next_field
 *   u8      1 where has_dropped
 *   text    name                                        text: varint length, UTF-8
 *   varint  fields: varint number, text name, type, u8 required, u8 collation
 *   varint  indexes: varint number, varint place of the field, varint keys, text each, spec, u8 state,
 *           varint index_order where it is ready
 *   u32     CRC-32C of everything before
 *
 *   type    varint lists around it, u8 kind, u8 half, varint dimension
 *   spec    u8 kind, then metric, quant, chars (u8 each), then ttl_ms, m, ef_construction, ef_search,
 *           k1_hundredths, b_hundredths, prefix_max, prefix_min (varint each)
 *
 * The bytes come from a file: what is no declaration that could have been written is refused. */
#ifndef CATALOG_CATALOG_ROW_H
#define CATALOG_CATALOG_ROW_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/catalog.h"

void catalog_row_write(buffer *out, const collection *c);

/* Reads into a draft whose parts live in `a`, for collection_seal, which judges it. CORRUPT, PANIC. */
int catalog_row_read(const uint8_t *bytes, size_t len, arena *a, collection *draft, error *err);

/* A collection of its own, with one reference, from a draft whose parts are borrowed. Names of path
 * indexes are made anew from their field's. QUERY, EXISTS, TYPE where a declaration may not be. */
int collection_seal(const collection *draft, collection **out, error *err);

#endif
