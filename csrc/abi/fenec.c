/* fenec.c - include/fenec.h: looks a handle up, checks what came in, runs it, writes what goes out. */
#include "fenec.h"

#include <inttypes.h>

#include "abi/care.h"
#include "abi/handles.h"
#include "abi/peek.h"
#include "abi/pieces.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "exec/database.h"
#include "exec/recover.h"
#include "value/json.h"

#define VERSION "0.1.0"

const char *fenec_version(void)
{
    return VERSION;
}

void fenec_free_string(char *s)
{
    memory_free(s);
}

/* ---- what goes out ---- */

static void give(char *text, size_t len, char **out, size_t *out_len)
{
    if (out)
        *out = text;
    else
        memory_free(text);
    if (out_len)
        *out_len = text ? len : 0;
}

/* {"kind":"error","message":...}; a text that finds no memory leaves the code to speak for itself. */
static int32_t answer_error(const error *err, char **out, size_t *out_len)
{
    buffer b;
    size_t len = 0;
    const char *prefix = err->exact_count ? "" : error_prefix(err->code);
    char message[ERROR_MESSAGE_MAX + 32];
    size_t prefix_len = strlen(prefix), message_len = strlen(err->message);

    memcpy(message, prefix, prefix_len);
    memcpy(message + prefix_len, err->message, message_len);
    buffer_init(&b);
    buffer_text(&b, "{\"kind\":\"error\",\"message\":");
    json_write_text(&b, (const uint8_t *)message, prefix_len + message_len);
    if (err->exact_count) {
        buffer_text(&b, ",\"exact\":[");
        for (uint32_t i = 0; i < err->exact_count; i++)
            buffer_printf(&b, i ? ",%u" : "%u", err->exact[i]);
        buffer_byte(&b, ']');
    } else if (err->at >= 0) {
        buffer_printf(&b, ",\"at\":%d", err->at);
    }
    buffer_byte(&b, '}');
    char *text = buffer_take(&b, &len);
    give(text, len, out, out_len);
    return err->code;
}

static int32_t answer(buffer *b, char **out, size_t *out_len, error *err)
{
    size_t len = 0;
    char *text = buffer_take(b, &len);

    if (!text) {
        fail_memory(err);
        return answer_error(err, out, out_len);
    }
    give(text, len, out, out_len);
    return FENEC_OK;
}

static int32_t answer_nothing(int code, const error *err, char **out, size_t *out_len)
{
    if (code != FENEC_OK)
        return answer_error(err, out, out_len);
    give(NULL, 0, out, out_len);
    return FENEC_OK;
}

/* ---- what comes in ---- */

static int check_text(const uint8_t *bytes, size_t len, const char *what, error *err)
{
    if (len == 0)
        return FENEC_OK;
    if (!bytes)
        return fail(err, FENEC_MISUSE, "%s is null", what);
    if (!utf8_valid(bytes, len))
        return fail(err, FENEC_MISUSE, "%s is not valid UTF-8", what);
    return FENEC_OK;
}

/* ---- open and close ---- */

static int32_t open_database(const uint8_t *path, size_t path_len, uint32_t flags, uint64_t *number, char **out,
                             size_t *out_len, error *err)
{
    database *d = NULL;
    handle *h = handle_new();

    if (!h) {
        fail_memory(err);
    } else if (database_open(&d, path, path_len, flags, err) != FENEC_OK) {
        handle_discard(h);
    } else {
        *number = handle_register(h, d);
        give(NULL, 0, out, out_len);
        return FENEC_OK;
    }
    return answer_error(err, out, out_len);
}

int32_t fenec_open(const uint8_t *path, size_t path_len, uint32_t flags, uint64_t *number, char **out,
                   size_t *out_len)
{
    error err;

    error_init(&err);
    if (check_text(path, path_len, "the path", &err) != FENEC_OK)
        return answer_error(&err, out, out_len);
    if (path_len == 0)
        fail(&err, FENEC_MISUSE, "the path is empty");
    else if (memchr(path, 0, path_len))
        fail(&err, FENEC_MISUSE, "the path holds a NUL");
    else if (!number)
        fail(&err, FENEC_MISUSE, "the handle is null");
    else
        return open_database(path, path_len, flags, number, out, out_len, &err);
    return answer_error(&err, out, out_len);
}

int32_t fenec_open_memory(uint64_t *number, char **out, size_t *out_len)
{
    error err;

    error_init(&err);
    if (!number) {
        fail(&err, FENEC_MISUSE, "the handle is null");
        return answer_error(&err, out, out_len);
    }
    return open_database(NULL, 0, 0, number, out, out_len, &err);
}

int32_t fenec_close(uint64_t number, char **out, size_t *out_len)
{
    error err;

    error_init(&err);
    handle *h = handle_remove(number, &err);
    if (!h)
        return answer_error(&err, out, out_len);
    int code = database_close(handle_database(h), &err);
    handle_done(h);
    return answer_nothing(code, &err, out, out_len);
}

/* ---- calls on a handle ---- */

/* Finds the database, works on it, answers what `work` appended - nothing where it appended nothing. */
static int32_t call(uint64_t number, int (*work)(database *, const void *, buffer *, error *),
                    const void *argument, char **out, size_t *out_len)
{
    error err;
    buffer b;
    int32_t code;

    error_init(&err);
    handle *h = handle_find(number, &err);
    if (!h)
        return answer_error(&err, out, out_len);
    buffer_init(&b);
    if (work(handle_database(h), argument, &b, &err) != FENEC_OK) {
        code = answer_error(&err, out, out_len);
    } else if (b.len || b.failed) {
        code = answer(&b, out, out_len, &err);
    } else {
        give(NULL, 0, out, out_len);
        code = FENEC_OK;
    }
    buffer_clear(&b);
    handle_done(h);
    return code;
}

typedef struct query_argument {
    const uint8_t *text, *params, *vectors;
    size_t text_len, params_len, vectors_len;
} query_argument;

static int query(database *d, const void *argument, buffer *out, error *err)
{
    const query_argument *q = argument;
    int code = check_text(q->text, q->text_len, "the text", err);

    if (code == FENEC_OK)
        code = check_text(q->params, q->params_len, "the parameters", err);
    if (code != FENEC_OK)
        return code;
    return database_query(d, q->text, q->text_len, q->params, q->params_len, q->vectors,
                          q->vectors ? q->vectors_len : 0, out, err);
}

int32_t fenec_query(uint64_t number, const uint8_t *text, size_t text_len, const uint8_t *params,
                    size_t params_len, const uint8_t *vectors, size_t vectors_len, char **out, size_t *out_len)
{
    query_argument q = {.text = text,
                        .params = params,
                        .vectors = vectors,
                        .text_len = text_len,
                        .params_len = params_len,
                        .vectors_len = vectors_len};
    return call(number, query, &q, out, out_len);
}

static int changes_since(database *d, const void *since, buffer *out, error *err)
{
    return database_changes(d, *(const uint64_t *)since, out, err);
}

int32_t fenec_changes(uint64_t number, uint64_t since, char **out, size_t *out_len)
{
    return call(number, changes_since, &since, out, out_len);
}

typedef struct schema_argument {
    const uint8_t *text;
    size_t text_len;
    uint32_t mode;
} schema_argument;

static int schema(database *d, const void *argument, buffer *out, error *err)
{
    const schema_argument *s = argument;
    int code = check_text(s->text, s->text_len, "the description", err);

    if (code != FENEC_OK)
        return code;
    if (s->mode > FENEC_SCHEMA_DESCRIBE)
        return fail(err, FENEC_MISUSE, "there is no mode %lu", (unsigned long)s->mode);
    return database_schema(d, s->text, s->text_len, s->mode, out, err);
}

int32_t fenec_schema(uint64_t number, const uint8_t *text, size_t text_len, uint32_t mode, char **out,
                     size_t *out_len)
{
    schema_argument s = {.text = text, .text_len = text_len, .mode = mode};
    return call(number, schema, &s, out, out_len);
}

typedef struct warm_argument {
    const uint8_t *only;
    size_t only_len;
} warm_argument;

static int warm(database *d, const void *argument, buffer *out, error *err)
{
    const warm_argument *w = argument;
    int code = check_text(w->only, w->only_len, "the indexes", err);

    return code != FENEC_OK ? code : database_warm(d, w->only, w->only_len, out, err);
}

int32_t fenec_warm(uint64_t number, const uint8_t *only, size_t only_len, char **out, size_t *out_len)
{
    warm_argument w = {.only = only, .only_len = only_len};
    return call(number, warm, &w, out, out_len);
}

static int sync_file(database *d, const void *none, buffer *out, error *err)
{
    (void)none, (void)out;
    return database_sync(d, err);
}

int32_t fenec_sync(uint64_t number, char **out, size_t *out_len)
{
    return call(number, sync_file, NULL, out, out_len);
}

static int flush(database *d, const void *none, buffer *out, error *err)
{
    (void)none, (void)out;
    return database_flush(d, err);
}

int32_t fenec_flush(uint64_t number, char **out, size_t *out_len)
{
    return call(number, flush, NULL, out, out_len);
}

static int checkpoint(database *d, const void *none, buffer *out, error *err)
{
    (void)none, (void)out;
    return database_checkpoint(d, err);
}

int32_t fenec_checkpoint(uint64_t number, char **out, size_t *out_len)
{
    return call(number, checkpoint, NULL, out, out_len);
}

/* ---- pieces.h ---- */

typedef struct pieces_argument {
    fenec_piece_source source;
    void *context;
} pieces_argument;

static int next_piece(void *from, piece *out, error *err)
{
    const pieces_argument *a = from;
    fenec_piece p = {0};
    int32_t told = a->source(a->context, &p);

    if (told == FENEC_PIECE_END)
        return FN_END;
    if (told != FENEC_PIECE_NEXT)
        return fail(err, FENEC_MISUSE, "the block was given up");
    int code = check_text(p.text, p.text_len, "the text", err);
    if (code == FENEC_OK)
        code = check_text(p.params, p.params_len, "the parameters", err);
    *out = (piece){p.text, p.text_len, p.params, p.params_len};
    return code;
}

static int run_pieces(database *d, const void *argument, buffer *out, error *err)
{
    pieces_argument a = *(const pieces_argument *)argument;

    (void)out;
    return database_block(d, next_piece, &a, err);
}

int32_t fenec_run_pieces(uint64_t number, fenec_piece_source source, void *context, char **out, size_t *out_len)
{
    pieces_argument a = {.source = source, .context = context};
    return call(number, run_pieces, &a, out, out_len);
}

/* ---- peek.h ---- */

int32_t fenec_peek_schema(const uint8_t *path, size_t path_len, char **out, size_t *out_len)
{
    error err;
    buffer b;

    error_init(&err);
    if (check_text(path, path_len, "the path", &err) != FENEC_OK)
        return answer_error(&err, out, out_len);
    if (path_len == 0 || memchr(path, 0, path_len)) {
        fail(&err, FENEC_MISUSE, "the path is empty or holds a NUL");
        return answer_error(&err, out, out_len);
    }
    buffer_init(&b);
    int code = database_peek(path, path_len, &b, &err);
    if (code == FENEC_OK)
        return answer(&b, out, out_len, &err);
    buffer_clear(&b);
    return answer_error(&err, out, out_len);
}

/* ---- care.h ---- */

static void tell_found(void *to, const char *line)
{
    const care_watch *w = to;

    w->found(w->context, line, strlen(line));
}

static bool ask_on(void *to, const char *what, int64_t done, int64_t of)
{
    const care_watch *w = to;

    return w->goes_on(w->context, what, strlen(what), done, of) != 0;
}

typedef struct care_argument {
    const care_watch *watch;
    const uint8_t *path;
    size_t path_len;
    bool replace;
} care_argument;

static check_watch watch_of(const care_watch *w)
{
    return (check_watch){.found = tell_found, .goes_on = w->goes_on ? ask_on : NULL, .to = (void *)w};
}

static int check_whole(database *d, const void *argument, buffer *out, error *err)
{
    const check_watch watch = watch_of(argument);
    check_report r;
    int code = database_check(d, &watch, &r, err);

    if (code == FENEC_OK)
        buffer_printf(out,
                      "{\"findings\":%" PRId64 ",\"collections\":%" PRId64 ",\"indexes\":%" PRId64 ",\"documents\":%" PRId64
                      ",\"values\":%" PRId64 ",\"entries\":%" PRId64 ",\"postings\":%" PRId64 ",\"stopped\":%s}",
                      r.findings, r.collections, r.indexes, r.documents, r.side_values, r.entries, r.postings,
                      r.stopped ? "true" : "false");
    return code;
}

int32_t care_check(uint64_t number, const care_watch *watch, char **out, size_t *out_len)
{
    return call(number, check_whole, watch, out, out_len);
}

static int back_up(database *d, const void *argument, buffer *out, error *err)
{
    const care_argument *a = argument;
    const check_watch watch = watch_of(a->watch);
    backup_report r;
    int code = check_text(a->path, a->path_len, "the path", err);

    if (code == FENEC_OK)
        code = database_backup(d, a->path, a->path_len, a->replace, &watch, &r, err);
    if (code == FENEC_OK)
        buffer_printf(out, "{\"documents\":%" PRId64 ",\"bytes\":%" PRId64 ",\"stopped\":%s}", r.documents, r.bytes,
                      r.stopped ? "true" : "false");
    return code;
}

int32_t care_backup(uint64_t number, const uint8_t *path, size_t path_len, int32_t replace, const care_watch *watch,
                    char **out, size_t *out_len)
{
    care_argument a = {.watch = watch, .path = path, .path_len = path_len, .replace = replace != 0};
    return call(number, back_up, &a, out, out_len);
}

int32_t care_recover(const uint8_t *path, size_t path_len, const uint8_t *to, size_t to_len, int32_t replace,
                     const care_watch *watch, char **out, size_t *out_len)
{
    const check_watch told = watch_of(watch);
    recover_report r;
    error err;
    buffer b;

    error_init(&err);
    int code = check_text(path, path_len, "the path", &err);
    if (code == FENEC_OK)
        code = check_text(to, to_len, "the path", &err);
    if (code == FENEC_OK)
        code = recover_run(path, path_len, to, to_len, replace != 0, &told, &r, &err);
    if (code != FENEC_OK)
        return answer_error(&err, out, out_len);
    buffer_init(&b);
    buffer_printf(&b, "{\"lost\":%" PRId64 ",\"collections\":%" PRId64 ",\"documents\":%" PRId64 ",\"strays\":%" PRId64
                      ",\"stopped\":%s}", r.lost, r.collections, r.documents, r.strays, r.stopped ? "true" : "false");
    return answer(&b, out, out_len, &err);
}
