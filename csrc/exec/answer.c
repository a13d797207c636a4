#include "exec/answer.h"

#include "value/json.h"

static const char *copied(arena *a, const buffer *from, size_t start, uint32_t *len)
{
    *len = (uint32_t)(from->len - start);
    return from->failed || from->len - start > UINT32_MAX ? NULL : arena_copy(a, from->bytes + start, *len);
}

bool answer_columns_make(answer_columns *c, arena *a, const char *const names[], const uint32_t lens[],
                         uint32_t count)
{
    const char **texts = arena_alloc(a, sizeof *texts * (count ? count : 1));
    uint32_t *text_lens = arena_alloc(a, sizeof *text_lens * (count ? count : 1));
    bool made = texts && text_lens;
    buffer b;

    buffer_init(&b);
    for (uint32_t i = 0; made && i < count; i++) {
        b.len = 0;
        if (i)
            buffer_byte(&b, ',');
        json_write_text(&b, (const uint8_t *)names[i], lens[i]);
        buffer_byte(&b, ':');
        texts[i] = copied(a, &b, 0, &text_lens[i]);
        made = texts[i] != NULL;
    }
    b.len = 0;
    buffer_text(&b, "{\"kind\":\"rows\",\"result\":{\"columns\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buffer_byte(&b, ',');
        json_write_text(&b, (const uint8_t *)names[i], lens[i]);
    }
    buffer_text(&b, "],\"rows\":[");
    if (made) {
        *c = (answer_columns){.names = texts, .lens = text_lens, .count = count};
        c->head = copied(a, &b, 0, &c->head_len);
        made = c->head != NULL;
    }
    buffer_clear(&b);
    return made;
}

void answer_begin(answer *w, buffer *out, const answer_columns *columns)
{
    *w = (answer){.out = out, .columns = columns};
    buffer_put(out, columns->head, columns->head_len);
}

void answer_row(answer *w)
{
    if (w->rows)
        buffer_put(w->out, ",{", 2);
    else
        buffer_byte(w->out, '{');
    w->at = 0;
}

void answer_value(answer *w, const value *v)
{
    answer_name(w);
    json_write(w->out, v);
}

void answer_row_end(answer *w)
{
    buffer_byte(w->out, '}');
    w->rows++;
}

void answer_end(answer *w)
{
    buffer_text(w->out, "]}}");
}
