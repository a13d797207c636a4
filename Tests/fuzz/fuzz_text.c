/* fuzz_text.c - any bytes as FenecQL on a database with something of everything in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fenec.h"

static const char *const setup[] = {
    "create collection t (n int @sorted, f float @sorted, s text @hash, u text @unique, b bool, y bytes, "
    "at timestamp @ttl(30d), v vector<2>, w vector<2, f16>, p sparse<9> @inverted, l [int], j json, g geo)",
    "create index on t (j.k) @sorted; create index on t (j.u) @unique; create collection o (k int)",
    "put t [{n: 1, f: 0.5, s: \"ant\", u: \"a\", b: true, y: \"xy\", v: [1, 2], l: [1, null], j: {k: 1, u: 2}, g: [1, 2]}, "
    "{n: 2, s: \"bee\", p: \"{1:2}/9\", j: [1, {a: null}]}, {at: now()}]",
};

static int32_t run(uint64_t h, const uint8_t *text, size_t len, const char *params)
{
    char *out;
    size_t out_len;
    int32_t code = fenec_query(h, text, len, (const uint8_t *)params, strlen(params), NULL, 0, &out, &out_len);
    fenec_free_string(out);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    uint64_t h = 0;

    if (fenec_open_memory(&h, NULL, NULL) != FENEC_OK)
        abort();
    for (size_t i = 0; i < sizeof setup / sizeof *setup; i++)
        if (run(h, (const uint8_t *)setup[i], strlen(setup[i]), "") != FENEC_OK)
            abort();
    int32_t code = run(h, bytes, len, "[1,\"a\",[1,2],{\"k\":1.5},null,true,[{\"n\":3}]]");
    if (code == FENEC_PANIC || code == FENEC_IO || code == FENEC_CORRUPT)
        abort();
    /* Whatever it did, the database still answers. */
    if (run(h, (const uint8_t *)"collections", 11, "") != FENEC_OK || fenec_close(h, NULL, NULL) != FENEC_OK)
        abort();
    return 0;
}
