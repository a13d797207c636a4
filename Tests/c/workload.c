#include "workload.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "abi/handles.h"
#include "base/memory.h"
#include "exec/database.h"
#include "fenec.h"
#include "search/text_index.h"
#include "test.h"

enum { STEPS_MAX = 120, SLOTS = 12 /* documents to a segment of a text index */ };

/* ---- the script ---- */

#if FENEC_ICU
#define COLLATED " collate und"
#else
#define COLLATED
#endif

static const char shape[] =
    "create collection doc (title text @text, h text @hash, u text @unique, n int @sorted, t timestamp @ttl(36500d), "
    "loc geo @geo, e vector<3> @hnsw(l2), s sparse<16> @inverted, tags [text] @hash, body text, old int, meta json)";

static const step script[] = {
    {STEP_QUERY, shape, NULL, false},
    {STEP_QUERY, "create index on doc (meta.k) @sorted", NULL, false},
    {STEP_QUERY, "create collection part (doc_id int @hash, name text @unique, n int)", NULL, false},
    {STEP_QUERY,
     "put doc [{title: \"Lake of the swan\", h: \"a\", u: \"one\", n: 3, t: \"2090-01-01\", loc: [13.3, 38.1], e: [1, 0, 0], "
     "s: \"{1:1,3:0.5}/16\", tags: [\"x\", \"y\"], old: 1, meta: {k: 5, l: [1, 2]}}, "
     "{title: \"The lake, the hill\", h: \"b\", u: \"two\", n: -7, t: \"2091-01-01\", loc: [15.0, 37.5], e: [0, 1, 0], "
     "s: \"{2:2}/16\", tags: [\"y\"], old: 2, meta: {k: \"text\"}}, "
     "{title: null, h: null, u: null, n: null, tags: [], meta: null}]",
     NULL, false},
    {STEP_QUERY, "put part [{doc_id: 1, name: \"p\", n: 1}, {doc_id: 1, name: \"q\", n: 2}, {doc_id: 2, name: \"r\", n: 3}]",
     NULL, false},
    {STEP_QUERY, "put doc $1",
     "[{\"title\":\"swan hill\",\"h\":\"a\",\"u\":\"four\",\"n\":12,\"e\":[0.5,0.5,0],\"body\":\"%L\",\"loc\":[179.9,-17.5],"
     "\"s\":\"{16:1}/16\",\"t\":\"2092-02-02T00:00:00Z\",\"meta\":{\"k\":1.5,\"deep\":{\"er\":[true,null]}}}]",
     false},
    {STEP_QUERY, "get doc where n >= 3 or h = \"b\" order n desc limit 3", NULL, true},
    {STEP_QUERY, "get doc select h, count(*) as c, avg(n) as m, sum(old) as o, max(title) as t group h order h", NULL, true},
    {STEP_QUERY, "get doc select id, h lookup part on doc_id select name, n where n > 1 order n desc", NULL, true},
    {STEP_QUERY, "get doc select count(distinct h) as d, approx_count_distinct(u) as c, sum(n) as s, min(t) as m", NULL, true},
    {STEP_QUERY, "get doc select id match title \"lake swan\" limit 5", NULL, true},
    {STEP_QUERY, "get doc select id near e $1 limit 2", "[[1,0.1,0]]", true},
    {STEP_QUERY, "get doc select id near s \"{1:1,2:1}/16\" limit 3", NULL, true},
    {STEP_QUERY, "get doc select id near loc [14, 38] limit 2", NULL, true},
    {STEP_QUERY, "get doc select id match title \"lake\" near e [0, 1, 0] fuse limit 3", NULL, true},
    {STEP_QUERY, "get doc select id limit 1 facet h top 2, tags", NULL, true},
    {STEP_QUERY, "get part select name where doc_id in (get doc select id where n > 0) order name", NULL, true},
    {STEP_QUERY, "explain get doc where h = \"a\" and n > 1", NULL, true},
    {STEP_DESCRIBE, "", NULL, true},
    {STEP_CHANGES, NULL, NULL, true},
    {STEP_QUERY, "set doc {n: n + 1, title: \"lake again\", e: [0, 0, 1]} where h = \"a\"", NULL, false},
    {STEP_QUERY, "put part {name: \"q\", doc_id: 2, n: 9} if absent else set {n: n + new.n}", NULL, false},
    {STEP_QUERY, "create collection log (at timestamp, what text @text); put log {what: \"made by the hill\"}; "
                 "set doc {meta.k: 6} where id = 1",
     NULL, false},
    {STEP_QUERY, "alter collection doc add field kind text @hash", NULL, false},
    {STEP_QUERY, "set doc {kind: \"k\"} where id > 1", NULL, false},
    {STEP_QUERY, "put log $1", "[%M]", false},
    {STEP_FLUSH, NULL, NULL, false},
    {STEP_QUERY, "put doc $1", "[%D]", false},
    {STEP_QUERY, "del doc where n > 30 and n < 34", NULL, false},
    {STEP_QUERY, "put log $1", "[%N]", false},
    {STEP_QUERY, "set log {what: \"swan\"} where id in [3, 6, 9, 12, 30]", NULL, false},
    {STEP_WARM, "", NULL, false},
    {STEP_QUERY, "create index on part (n) @sorted", NULL, false},
    {STEP_QUERY, "create index on doc (body) @text", NULL, false},
    {STEP_QUERY, "create index on doc (old) @hash", NULL, false},
    {STEP_QUERY, "create index on doc (meta.l) @hash", NULL, false},
    {STEP_QUERY, "alter collection doc rename field h to hh", NULL, false},
    {STEP_QUERY, "alter collection doc drop field old", NULL, false},
    {STEP_QUERY, "compact", NULL, false},
    {STEP_CHECKPOINT, NULL, NULL, false},
    {STEP_SCHEMA,
     "{\"format\":1,\"fenecql\":\"create collection more (g geo @geo, v vector<2> @hnsw(cosine), z sparse<9> @inverted, "
     "w text @text, when timestamp @ttl(36500d)) create collection part (doc_id int @hash, name text @unique, n int "
     "@sorted, x json)\"}",
     NULL, false},
    {STEP_QUERY,
     "put more [{g: [1, 2], v: [1, 1], z: \"{1:1}/9\", w: \"few words\", when: \"2090-01-01\"}, "
     "{g: [-171, -13], v: [0, 1], z: \"{9:1}/9\", w: \"fewer\"}]",
     NULL, false},
    {STEP_SYNC, NULL, NULL, false},
    {STEP_QUERY, "put doc {id: 3, title: \"in the place of another\", u: \"two and a half\", n: 1}", NULL, false},
    {STEP_QUERY, "del part where n = 3; put part {doc_id: 3, name: \"r\", n: 4}; del more where id = 1", NULL, false},
    {STEP_QUERY, "drop collection more", NULL, false},
    {STEP_QUERY,
     "create collection kin (a text @text(prefix=4, prefix_min=2, chars), b text" COLLATED " @sorted, vi vector<8> "
     "@hnsw(cosine, quant=int8), vb vector<64> @hnsw(cosine, quant=bit), vh vector<4, f16> @hnsw(dot), c int @unique)",
     NULL, false},
    {STEP_QUERY, "put kin $1", "[%K]", false},
    {STEP_QUERY, "set kin {a: \"swan\", b: \"Zebra\", vi: [1, 0, 0, 0, 0, 0, 0, 1]} where id in [2, 5, 9]; del kin where id = 7",
     NULL, false},
    {STEP_QUERY, "put log $1", "[%M]", false},
    {STEP_QUERY, "del log where id < 9", NULL, false},
    {STEP_QUERY, "compact log; put part {doc_id: 4, name: \"last\", n: 5}", NULL, false},
    {STEP_CHECKPOINT, NULL, NULL, false},
};

#define SIXTEEN "1, -2, 3, -1, 0, 2, -3, 1, 1, 4, -4, 2, -1, 0, 3, -2"

/* Each with the same question asked so that no index can help (NULL: there is no such). */
static const struct {
    const char *text, *past;
} questions[] = {
    {"collections", NULL},
    {"get doc", NULL},
    {"get part", NULL},
    {"get log", NULL},
    {"get more", NULL},
    {"get doc select id where h = \"a\"", "get doc select id where coalesce(h, \"\") = \"a\""},
    {"get doc select id where hh = \"a\"", "get doc select id where coalesce(hh, \"\") = \"a\""},
    {"get doc select id where u = \"two\"", "get doc select id where lower(u) = \"two\""},
    {"get doc select id, n where n > -8 and n <= 33 order n", "get doc select id, n where n + 0 > -8 and n + 0 <= 33 order n"},
    {"get doc select id order n desc limit 4", NULL},
    {"get doc where n > 2 count", "get doc where n + 0 > 2 count"},
    {"get doc select id where t > \"2090-06-01\" order t", NULL},
    {"get doc select id where tags has \"y\"", NULL},
    {"get doc select id where old = 2", "get doc select id where old + 0 = 2"},
    {"get doc select id where kind = \"k\"", "get doc select id where coalesce(kind, \"\") = \"k\""},
    {"get doc select id where meta.k > 0", NULL},
    {"get doc select id where meta.k = \"text\"", NULL},
    {"get doc select id near loc [14, 38] limit 5", NULL},
    {"get doc select id where within(loc, [12, 36, 16, 39])", "get doc select id where within(coalesce(loc, loc), [12, 36, 16, 39])"},
    {"get doc select id match title \"lake swan again\" limit 20", NULL},
    {"get doc select id match body \"w1 w2 w33\" limit 20", NULL},
    {"get log select id match what \"hill swan w3\" limit 100", NULL},
    {"get log select id match what \"w*\" limit 5", NULL},
    {"get more select id match w \"few\"", NULL},
    {"get doc select id near e [1, 0.2, 0] exact limit 6", NULL},
    {"get more select id near v [1, 0] exact limit 6", NULL},
    {"get doc select id near s \"{1:1,2:1,7:3,16:0.1}/16\" limit 9", NULL},
    {"get more select id near z \"{1:1,9:2}/9\" limit 9", NULL},
    {"get more select id near g [0, 0] limit 9", NULL},
    {"get kin", NULL},
    {"get kin select id match a \"swa\" limit 40", NULL},
    {"get kin select id match a \"\u9752\" limit 40", NULL},
    {"get kin select id, b order b limit 30", "get kin select id, b order b, id limit 30"},
    {"get kin select id where c = 12", "get kin select id where c + 0 = 12"},
    {"get kin select id near vi [1, 2, 0, 0, 1, 0, 0, 0] exact limit 9", NULL},
    {"get kin select id near vb [" SIXTEEN ", " SIXTEEN ", " SIXTEEN ", " SIXTEEN "] exact limit 9", NULL},
    {"get kin select id near vh [1, 0.5, 0, 2] limit 40", NULL},
    {"get doc select id lookup part on doc_id select name, n", NULL},
    {"get part select name where n >= 2 and n < 9", "get part select name where n + 0 >= 2 and n + 0 < 9"},
    {"get part select id where name = \"q\"", "get part select id where lower(name) = \"q\""},
    {"get part count", NULL},
    {"get log count", NULL},
};

enum { SCRIPT = sizeof script / sizeof *script, QUESTIONS = sizeof questions / sizeof *questions };

/* ---- parameters that are long ---- */

typedef struct text {
    char *at;
    size_t len;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    t->at = realloc(t->at, t->len + (size_t)len + 1);
    if (!t->at)
        abort();
    va_start(args, format);
    vsnprintf(t->at + t->len, (size_t)len + 1, format, args);
    va_end(args);
    t->len += (size_t)len;
}

/* A text of over 1 KiB, twenty texts, eighteen and thirty documents. */
static void expand(text *t, char what)
{
    switch (what) {
    case 'L':
        for (int i = 0; i < 400; i++)
            add(t, "w%d ", i * i % 97);
        break;
    case 'M':
    case 'N':
        add(t, "[");
        for (int i = 0; i < 20; i++)
            add(t, "%s{\"what\":\"w%d w%d hill w%d\"}", i ? "," : "", i % 7, i * 3 % 11, what == 'M' ? i : 100 + i);
        add(t, "]");
        break;
    case 'K': {
        uint64_t random = 5;
        add(t, "[");
        for (int i = 0; i < 30; i++) {
            add(t, "%s{\"a\":\"%s w%d \u9752\u5c9b%s\",\"b\":\"%c%d\",\"c\":%d,\"vi\":[%d,%d,1,0,%d,0,0,2],\"vh\":[%d,1,0.5,%d]", i ? "," : "",
                i % 3 ? "swan" : "swallow", i, i % 2 ? "\u6e2f" : "", "aBcD"[i % 4], i % 7, i * 3, i % 5, i % 7, i % 3, i % 4, i % 6);
            for (int k = 0; k < 64; k++)
                add(t, "%s%d", k ? "," : ",\"vb\":[", (int)(test_random(&random) % 9) - 4);
            add(t, "]}");
        }
        add(t, "]");
        break;
    }
    case 'D':
        add(t, "[");
        for (int i = 0; i < 18; i++)
            add(t,
                "%s{\"title\":\"swan %d of %d\",\"h\":\"h%d\",\"u\":\"u%d\",\"n\":%d,\"loc\":[%d.5,%d.25],\"e\":[%d,%d,0.5],"
                "\"s\":\"{%d:1,%d:2}/16\",\"tags\":[\"t%d\",\"y\"],\"old\":%d,\"meta\":{\"k\":%d,\"l\":[%d]}}",
                i ? "," : "", i, i % 4, i % 5, i, 25 + i, i * 7, i * 3, i % 3, i % 5, 1 + i % 7, 8 + i % 8, i % 3, i % 6,
                i - 4, i % 2);
        add(t, "]");
        break;
    default: break;
    }
}

static char *expanded(const char *params)
{
    text t = {0};

    if (!params)
        return NULL;
    add(&t, "%s", "");
    for (; *params; params++) {
        if (*params == '%')
            expand(&t, *++params);
        else
            add(&t, "%c", *params);
    }
    return t.at;
}

/* ---- calls ---- */

int workload_open(test_disk *d, uint32_t flags, uint64_t *h, char **answer)
{
    store_options options = {.path = (const uint8_t *)WORKLOAD_FILE,
                             .path_len = strlen(WORKLOAD_FILE),
                             .no_sync = (flags & FENEC_OPEN_NO_SYNC) != 0,
                             .vfs = test_disk_vfs(d)};
    database *opened = NULL;
    error err;

    error_init(&err);
    if (answer)
        *answer = NULL;
    handle *place = handle_new();
    int code = place ? database_open_with(&opened, &options, &err) : FENEC_PANIC;
    if (code == FENEC_OK) {
        *h = handle_register(place, opened);
        return code;
    }
    if (place)
        handle_discard(place);
    if (answer && (*answer = memory_alloc(strlen(err.message) + 1)))
        strcpy(*answer, err.message);
    return code;
}

int workload_step(uint64_t h, const step *s, char **answer)
{
    const uint8_t *bytes = (const uint8_t *)s->text;
    size_t len = s->text ? strlen(s->text) : 0, out_len = 0;
    char *out = NULL;
    int code = FENEC_MISUSE;

    switch (s->kind) {
    case STEP_QUERY:
        code = fenec_query(h, bytes, len, (const uint8_t *)s->params, s->params ? strlen(s->params) : 0, NULL, 0, &out,
                           &out_len);
        break;
    case STEP_SCHEMA: code = fenec_schema(h, bytes, len, FENEC_SCHEMA_APPLY, &out, &out_len); break;
    case STEP_DESCRIBE: code = fenec_schema(h, NULL, 0, FENEC_SCHEMA_DESCRIBE, &out, &out_len); break;
    case STEP_CHANGES: code = fenec_changes(h, 1, &out, &out_len); break;
    case STEP_WARM: code = fenec_warm(h, bytes, len, &out, &out_len); break;
    case STEP_FLUSH: code = fenec_flush(h, &out, &out_len); break;
    case STEP_SYNC: code = fenec_sync(h, &out, &out_len); break;
    case STEP_CHECKPOINT: code = fenec_checkpoint(h, &out, &out_len); break;
    }
    if (out && strlen(out) != out_len)
        test_failed(__FILE__, __LINE__, "an answer's length is %zu, not %zu", out_len, strlen(out));
    if (answer)
        *answer = out;
    else
        fenec_free_string(out);
    return code;
}

static char *ask(uint64_t h, const char *question, int *code)
{
    const step s = {STEP_QUERY, question, NULL, true};
    char *answer;

    *code = workload_step(h, &s, &answer);
    return answer;
}

char *workload_ask(uint64_t h, int *failed)
{
    const step describe = {STEP_DESCRIBE, "", NULL, true};
    text all = {0};
    char *answer;
    int code;

    *failed = 0;
    add(&all, "%s", "");
    for (int i = 0; i <= QUESTIONS; i++) {
        if (i < QUESTIONS)
            answer = ask(h, questions[i].text, &code);
        else
            code = workload_step(h, &describe, &answer);
        bool unknown = code == FENEC_NOT_FOUND || code == FENEC_QUERY;
        if (code != FENEC_OK && !unknown)
            ++*failed;
        add(&all, "%s: %d %s\n", i < QUESTIONS ? questions[i].text : "describe", code, answer ? answer : "-");
        fenec_free_string(answer);
    }
    return all.at;
}

/* Where two states part, from the line's start. */
static void tell_apart(const char *want, const char *got, const char *when, int k)
{
    size_t i = 0, line = 0;

    for (; want[i] && want[i] == got[i]; i++)
        if (want[i] == '\n')
            line = i + 1;
    test_failed(__FILE__, __LINE__, "%s: not the state after step %d, but\n    %.60s ... %.160s\nfor ... %.160s", when, k, got + line,
                got + i - (i > 10 ? 10 : i), want + i - (i > 10 ? 10 : i));
}

int workload_find(const workload *w, const char *state, int least, int most, const char *when)
{
    for (int k = most; k >= least; k--)
        if (!strcmp(w->states[k], state))
            return k;
    tell_apart(w->states[most], state, when, most);
    if (least < most)
        tell_apart(w->states[least], state, when, least);
    return -1;
}

int workload_state(const workload *w, uint64_t h, int least, int most, const char *when)
{
    int failed;
    char *state = workload_ask(h, &failed);
    int k = workload_find(w, state, least, most, when);

    free(state);
    return k;
}

static void found(void *when, const char *line)
{
    test_failed(__FILE__, __LINE__, "%s: %s", (const char *)when, line);
}

void workload_check(uint64_t h, const char *when)
{
    const check_watch watch = {.found = found, .to = (void *)when};
    check_report report;
    error err;

    error_init(&err);
    handle *open = handle_find(h, &err);
    if (!open || database_check(handle_database(open), &watch, &report, &err) != FENEC_OK)
        test_failed(__FILE__, __LINE__, "%s: the check answers %s", when, err.message);
    if (open)
        handle_done(open);
}

int workload_reopen(const workload *w, test_disk *d, int least, int most, int further, const char *when)
{
    char *answer;
    uint64_t h;
    int code = workload_open(d, 0, &h, &answer);

    if (code != FENEC_OK) {
        test_failed(__FILE__, __LINE__, "%s: the open answers %d %s", when, code, answer ? answer : "-");
        memory_free(answer);
        return -1;
    }
    int k = workload_state(w, h, least, most, when), at = k;
    workload_check(h, when);
    for (; k >= 0 && at < w->count && at < k + further; at++) {
        code = workload_step(h, &w->steps[at], &answer);
        if (code != FENEC_OK)
            test_failed(__FILE__, __LINE__, "%s, going on: step %d answers %d %s", when, at, code, answer ? answer : "-");
        fenec_free_string(answer);
    }
    if (at > k)
        workload_state(w, h, at, at, when);
    code = fenec_close(h, &answer, NULL);
    if (code != FENEC_OK)
        test_failed(__FILE__, __LINE__, "%s: the close answers %d %s", when, code, answer ? answer : "-");
    fenec_free_string(answer);
    return k;
}

const char *workload_name(const workload *w, int k)
{
    static const char *const kinds[] = {"query", "schema", "describe", "changes", "warm", "flush", "sync", "checkpoint"};
    const step *s = &w->steps[k];

    return s->kind == STEP_QUERY ? s->text : kinds[s->kind];
}

/* ---- the run without a fault ---- */

static void compare_with_past(uint64_t h, int k)
{
    int code, past_code;

    for (int i = 0; i < QUESTIONS; i++) {
        if (!questions[i].past)
            continue;
        char *answer = ask(h, questions[i].text, &code), *past = ask(h, questions[i].past, &past_code);
        if (code != past_code || (code == FENEC_OK && strcmp(answer, past)))
            test_failed(__FILE__, __LINE__, "after step %d %s answers\n    %d %s\nand %s\n    %d %s", k, questions[i].text,
                        code, answer, questions[i].past, past_code, past);
        fenec_free_string(answer);
        fenec_free_string(past);
    }
}

static void note_state(workload *w, uint64_t h, test_disk *d, int k)
{
    uint64_t random = 1;
    int failed;

    w->states[k] = workload_ask(h, &failed);
    CHECK_INT(failed, 0);
    compare_with_past(h, k);
    if (w->starts)
        w->starts[k] = test_disk_cut(d, LOSE_NOTHING, &random);
}

workload *workload_new(bool keep)
{
    workload *w = calloc(1, sizeof *w);
    test_disk *d = test_disk_new();
    uint64_t h = 0;
    char *answer;

    text_index_limit(SLOTS);
    w->count = SCRIPT;
    w->steps = calloc(SCRIPT, sizeof *w->steps);
    w->states = calloc(SCRIPT + 1, sizeof *w->states);
    if (keep)
        w->starts = calloc(SCRIPT + 1, sizeof *w->starts);
    CHECK_INT(workload_open(d, 0, &h, &answer), FENEC_OK);
    note_state(w, h, d, 0);
    for (int k = 0; k < SCRIPT; k++) {
        w->steps[k] = script[k];
        w->steps[k].params = expanded(script[k].params);
        int code = workload_step(h, &w->steps[k], &answer);
        if (code != FENEC_OK)
            test_failed(__FILE__, __LINE__, "step %d, %s, answers %d %s", k, workload_name(w, k), code, answer);
        fenec_free_string(answer);
        note_state(w, h, d, k + 1);
        if (script[k].reads && strcmp(w->states[k], w->states[k + 1]))
            test_failed(__FILE__, __LINE__, "step %d changes what it reads", k);
    }
    CHECK_INT(fenec_close(h, NULL, NULL), FENEC_OK);
    CHECK_INT(workload_reopen(w, d, w->count, w->count, 0, "reopened after the script"), w->count);
    test_disk_free(d);
    return w;
}

void workload_free(workload *w)
{
    for (int k = 0; k <= w->count; k++) {
        free(w->states[k]);
        if (w->starts)
            test_disk_free(w->starts[k]);
    }
    for (int k = 0; k < w->count; k++)
        free((char *)w->steps[k].params);
    free(w->steps);
    free(w->states);
    free(w->starts);
    free(w);
    text_index_limit(0);
}
