/* peek.h - beside include/fenec.h, for the command of this repository alone: the schema of a file that may be
 * in use. Not exported, and no promise to anybody. */
#ifndef ABI_PEEK_H
#define ABI_PEEK_H

#include <stddef.h>
#include <stdint.h>

/* Answers what fenec_schema does with FENEC_SCHEMA_DESCRIBE, without opening the file: it is read, and made,
 * locked or written by nobody. Not for a file that this process has open. MISUSE: no path. IO, CORRUPT. */
int32_t fenec_peek_schema(const uint8_t *path, size_t path_len, char **out, size_t *out_len);

#endif
