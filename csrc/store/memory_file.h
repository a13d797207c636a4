/* memory_file.h - bytes of a file on the heap, in chunks: growing copies nothing, a hole costs nothing.
 *
 * Not locked: whoever shares one locks it. {0} is the empty file. */
#ifndef STORE_MEMORY_FILE_H
#define STORE_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_FILE_CHUNK 16384

typedef struct memory_file {
    uint8_t **chunks; /* NULL reads as zeros, as do the bytes of a chunk past `size` */
    size_t count, cap;
    int64_t size;
} memory_file;

/* The bytes from `at` on into out[0..len), zeros past the end; answers how many the file holds there. */
size_t memory_file_read(const memory_file *f, int64_t at, void *out, size_t len);

/* False, and the file as it was, where memory ran out. */
bool memory_file_write(memory_file *f, int64_t at, const void *bytes, size_t len);

void memory_file_truncate(memory_file *f, int64_t size); /* a larger size does nothing */
void memory_file_clear(memory_file *f);

#endif
