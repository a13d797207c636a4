/* fuzz_schema.c - any bytes as a description of a schema, on a database with collections and a record. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "fenec.h"

static const char setup[] =
    "create collection t (n int @sorted, s text @hash, at timestamp @ttl(30m), m json, old text); create index on t (m.k) "
    "@hash; create collection _migrations (n int @unique, text text, at timestamp); put _migrations {n: 1, text: \"del t\"}";

static int32_t schema(uint64_t h, const uint8_t *text, size_t len, uint32_t mode, char **out)
{
    size_t out_len;
    int32_t code = fenec_schema(h, text, len, mode, out, &out_len);

    if (code == FENEC_PANIC || code == FENEC_IO || code == FENEC_CORRUPT || (code == FENEC_MISUSE && utf8_valid(text, len)))
        abort();
    return code;
}

/* FOLLOW changes nothing, PLAN neither, and what an APPLY did it does not do again. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *out, *before, *after;
    uint64_t h = 0;

    if (fenec_open_memory(&h, NULL, NULL) != FENEC_OK)
        abort();
    if (len % 2 && fenec_query(h, (const uint8_t *)setup, sizeof setup - 1, NULL, 0, NULL, 0, NULL, NULL) != FENEC_OK)
        abort();
    schema(h, NULL, 0, FENEC_SCHEMA_DESCRIBE, &before);
    schema(h, bytes, len, FENEC_SCHEMA_FOLLOW, &out);
    fenec_free_string(out);
    int32_t planned = schema(h, bytes, len, FENEC_SCHEMA_PLAN, &out);
    fenec_free_string(out);
    schema(h, NULL, 0, FENEC_SCHEMA_DESCRIBE, &after);
    if (strcmp(before, after) != 0)
        abort();
    int32_t code = schema(h, bytes, len, FENEC_SCHEMA_APPLY, &out);
    if (planned != FENEC_OK && code == FENEC_OK)
        abort();
    if (code == FENEC_OK && strstr(out, "\"applied\":true")) {
        fenec_free_string(out);
        if (schema(h, bytes, len, FENEC_SCHEMA_APPLY, &out) == FENEC_OK && strstr(out, "\"applied\":true"))
            abort();
    }
    fenec_free_string(out);
    fenec_free_string(before);
    fenec_free_string(after);
    if (fenec_close(h, NULL, NULL) != FENEC_OK)
        abort();
    return 0;
}
