/* fuzz_params.c - any bytes as parameters, as JSON and (after the first NUL) as 32-bit floats; what a json
 * field takes in comes out as JSON that it takes in again, the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fenec.h"

static int32_t run(uint64_t h, const char *text, const uint8_t *params, size_t len, const uint8_t *vectors,
                   size_t vectors_len, char **out, size_t *out_len)
{
    return fenec_query(h, (const uint8_t *)text, strlen(text), params, len, vectors, vectors_len, out, out_len);
}

/* The rows of an answer {"kind":"rows","result":{"columns":["j"],"rows":[{"j":X}]}}: [X]. */
static char *stored(uint64_t h, const char *text, size_t *len)
{
    char *out = NULL;
    size_t out_len = 0;

    if (run(h, text, NULL, 0, NULL, 0, &out, &out_len) != FENEC_OK)
        abort();
    char *from = strstr(out, "\"rows\":[{\"j\":");
    if (!from)
        abort();
    from += strlen("\"rows\":[{\"j\":");
    *len = out_len - (size_t)(from - out) - strlen("}]}}") + 2;
    char *json = malloc(*len + 1);
    json[0] = '[';
    memcpy(json + 1, from, *len - 2);
    json[*len - 1] = ']';
    json[*len] = 0;
    fenec_free_string(out);
    return json;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    uint64_t h = 0;
    const uint8_t *end = len ? memchr(bytes, 0, len) : NULL;
    size_t params_len = end ? (size_t)(end - bytes) : len;
    const uint8_t *vectors = end ? end + 1 : NULL;
    size_t vectors_len = end ? len - params_len - 1 : 0;

    if (fenec_open_memory(&h, NULL, NULL) != FENEC_OK)
        abort();
    if (run(h, "create collection t (j json, v vector<2>, p sparse<9>, at timestamp, l [float], g geo)", NULL, 0, NULL, 0,
            NULL, NULL) != FENEC_OK)
        abort();
    int32_t code = run(h, "put t {id: 1, j: $1}", bytes, params_len, vectors, vectors_len, NULL, NULL);
    if (code == FENEC_OK) {
        size_t first_len, again_len;
        char *first = stored(h, "get t select j where id = 1", &first_len);
        if (run(h, "put t {id: 2, j: $1}", (uint8_t *)first, first_len, NULL, 0, NULL, NULL) != FENEC_OK)
            abort();
        char *again = stored(h, "get t select j where id = 2", &again_len);
        if (again_len != first_len || memcmp(first, again, first_len) != 0)
            abort();
        free(first);
        free(again);
    }
    const char *const others[] = {"put t $1", "put t {v: $1}", "put t {p: $1}", "put t {at: $1}", "put t {l: $1}",
                                  "put t {g: $1}", "get t where j = $1 or j > $1 or j has $1", "get t where j.a in [$1, $2]"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        code = run(h, others[i], bytes, params_len, vectors, vectors_len, NULL, NULL);
        if (code == FENEC_PANIC || code == FENEC_IO || code == FENEC_CORRUPT)
            abort();
    }
    if (fenec_close(h, NULL, NULL) != FENEC_OK)
        abort();
    return 0;
}
