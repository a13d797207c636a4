/* hash.h - hashes of bytes. hash128 is stored in files: its function never changes. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash64(const void *bytes, size_t len);                  /* in memory only */
void hash128(uint8_t out[16], const void *bytes, size_t len);    /* in files; same on every machine */
uint32_t crc32c(uint32_t before, const void *bytes, size_t len); /* Castagnoli; start with 0 */

#endif
