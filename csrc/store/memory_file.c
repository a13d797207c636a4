#include "store/memory_file.h"

#include <string.h>

#include "base/memory.h"

size_t memory_file_read(const memory_file *f, int64_t at, void *out, size_t len)
{
    size_t held = at >= f->size ? 0 : (uint64_t)(f->size - at) < len ? (size_t)(f->size - at) : len;
    uint8_t *to = out;

    for (size_t done = 0; done < held;) {
        uint64_t place = (uint64_t)at + done;
        size_t chunk = (size_t)(place / MEMORY_FILE_CHUNK), inside = (size_t)(place % MEMORY_FILE_CHUNK);
        size_t part = MEMORY_FILE_CHUNK - inside < held - done ? MEMORY_FILE_CHUNK - inside : held - done;

        if (chunk < f->count && f->chunks[chunk])
            memcpy(to + done, f->chunks[chunk] + inside, part);
        else
            memset(to + done, 0, part);
        done += part;
    }
    memset(to + held, 0, len - held);
    return held;
}

static bool table_grow(memory_file *f, size_t count)
{
    if (count > f->cap) {
        size_t cap = f->cap ? f->cap : 16;

        while (cap < count) {
            if (cap > SIZE_MAX / 2 / sizeof *f->chunks)
                return false;
            cap *= 2;
        }
        uint8_t **chunks = memory_resize(f->chunks, cap * sizeof *chunks);
        if (!chunks)
            return false;
        f->chunks = chunks;
        f->cap = cap;
    }
    while (f->count < count)
        f->chunks[f->count++] = NULL;
    return true;
}

bool memory_file_write(memory_file *f, int64_t at, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;

    if (len == 0)
        return true;
    uint64_t first = (uint64_t)at / MEMORY_FILE_CHUNK, last = ((uint64_t)at + len - 1) / MEMORY_FILE_CHUNK;
    if (at < 0 || (uint64_t)at + len > INT64_MAX || last >= SIZE_MAX || !table_grow(f, (size_t)last + 1))
        return false;
    for (size_t i = (size_t)first; i <= (size_t)last; i++)
        if (!f->chunks[i] && !(f->chunks[i] = memory_zeroed(MEMORY_FILE_CHUNK)))
            return false;

    for (size_t done = 0; done < len;) {
        uint64_t place = (uint64_t)at + done;
        size_t inside = (size_t)(place % MEMORY_FILE_CHUNK);
        size_t part = MEMORY_FILE_CHUNK - inside < len - done ? MEMORY_FILE_CHUNK - inside : len - done;

        memcpy(f->chunks[place / MEMORY_FILE_CHUNK] + inside, from + done, part);
        done += part;
    }
    if (at + (int64_t)len > f->size)
        f->size = at + (int64_t)len;
    return true;
}

void memory_file_truncate(memory_file *f, int64_t size)
{
    if (size < 0 || size >= f->size)
        return;
    size_t whole = (size_t)(size / MEMORY_FILE_CHUNK), inside = (size_t)(size % MEMORY_FILE_CHUNK);
    size_t kept = whole + (inside > 0);

    while (f->count > kept)
        memory_free(f->chunks[--f->count]);
    if (inside > 0 && whole < f->count && f->chunks[whole])
        memset(f->chunks[whole] + inside, 0, MEMORY_FILE_CHUNK - inside);
    f->size = size;
}

void memory_file_clear(memory_file *f)
{
    memory_file_truncate(f, 0);
    for (size_t i = 0; i < f->count; i++) /* of a write that failed on the way */
        memory_free(f->chunks[i]);
    memory_free(f->chunks);
    *f = (memory_file){0};
}
