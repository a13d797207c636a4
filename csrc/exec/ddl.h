/* ddl.h - schema statements inside a block, and what describes a schema. */
#ifndef EXEC_DDL_H
#define EXEC_DDL_H

#include "base/buffer.h"
#include "exec/block.h"
#include "ql/ast.h"

/* create, drop, alter, create index: the block has the catalog after it. EXISTS, NOT_FOUND, TYPE, QUERY,
 * DUPLICATE. */
int ddl_run(block *b, const stmt *s, buffer *out, error *err);

/* collections, describe. */
int describe_run(const catalog *cat, const stmt *s, buffer *out, error *err);

/* What `create index` asks for: *of and *there, the index that is there already. NOT_FOUND, TYPE, QUERY;
 * EXISTS, unless `if not exists`. */
int index_wanted(const catalog *cat, const stmt *s, const collection **of, const catalog_index **there,
                 error *err);

/* {"kind":"ok","message":"..."} */
void answer_ok(buffer *out, const char *format, ...) FN_PRINTF(2, 3);

int no_collection(const char *name, error *err); /* NOT_FOUND */
const collection *collection_called(const catalog *cat, const char *name);

#endif
