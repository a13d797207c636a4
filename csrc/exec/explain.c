#include "exec/explain.h"

#include <stdarg.h>
#include <string.h>

#include "exec/answer.h"

void explain_init(explain *x)
{
    buffer_init(&x->steps);
}

void explain_clear(explain *x)
{
    buffer_clear(&x->steps);
}

void explain_step(explain *x, const char *format, ...)
{
    va_list args;

    if (!x)
        return;
    va_start(args, format);
    buffer_vprintf(&x->steps, format, args);
    va_end(args);
    buffer_byte(&x->steps, '\n');
}

int explain_answer(const explain *x, arena *a, buffer *out, error *err)
{
    static const char *const names[] = {"plan"};
    static const uint32_t lens[] = {4};
    answer_columns columns;
    answer w;

    if (x->steps.failed || !answer_columns_make(&columns, a, names, lens, 1))
        return fail_memory(err);
    answer_begin(&w, out, &columns);
    for (size_t at = 0; at < x->steps.len;) {
        const uint8_t *line = x->steps.bytes + at;
        const uint8_t *end = memchr(line, '\n', x->steps.len - at);
        size_t len = end ? (size_t)(end - line) : x->steps.len - at;
        value text = value_text(line, len);
        answer_row(&w);
        answer_value(&w, &text);
        answer_row_end(&w);
        at += len + 1;
    }
    answer_end(&w);
    return FENEC_OK;
}
