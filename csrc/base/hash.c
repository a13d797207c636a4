#include "base/hash.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/bytes.h"

/* hash64: 64 x 64 -> 128-bit products folded, as wyhash does it. */

static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash64(const void *bytes, size_t len)
{
    const uint64_t k0 = 0xA0761D6478BD642Fu, k1 = 0xE7037ED1A0B428DBu, k2 = 0x8EBC6AF09C88C6E3u;
    const uint8_t *p = bytes;
    uint64_t seed = k0 ^ fold((uint64_t)len ^ k1, k2);
    uint8_t last[16] = {0};

    for (size_t left = len; left > 16; left -= 16, p += 16)
        seed = fold(bytes_u64(p) ^ k1, bytes_u64(p + 8) ^ seed);
    size_t rest = len ? (len - 1) % 16 + 1 : 0;
    if (rest)
        memcpy(last, p, rest);
    return fold(k2 ^ seed, fold(bytes_u64(last) ^ k1, bytes_u64(last + 8) ^ seed));
}

/* hash128: MurmurHash3_x64_128, seed 0. */

static uint64_t rotate(uint64_t n, unsigned by)
{
    return n << by | n >> (64 - by);
}

static uint64_t mix(uint64_t n)
{
    n = (n ^ n >> 33) * 0xFF51AFD7ED558CCDu;
    n = (n ^ n >> 33) * 0xC4CEB9FE1A85EC53u;
    return n ^ n >> 33;
}

void hash128(uint8_t out[16], const void *bytes, size_t len)
{
    const uint64_t c1 = 0x87C37B91114253D5u, c2 = 0x4CF5AD432745937Fu;
    const uint8_t *p = bytes;
    uint64_t h1 = 0, h2 = 0;
    uint8_t last[16] = {0};

    for (size_t left = len; left >= 16; left -= 16, p += 16) {
        h1 ^= rotate(bytes_u64(p) * c1, 31) * c2;
        h1 = (rotate(h1, 27) + h2) * 5 + 0x52DCE729u;
        h2 ^= rotate(bytes_u64(p + 8) * c2, 33) * c1;
        h2 = (rotate(h2, 31) + h1) * 5 + 0x38495AB5u;
    }
    if (len % 16) {
        memcpy(last, p, len % 16);
        h2 ^= rotate(bytes_u64(last + 8) * c2, 33) * c1; /* 0 where no byte of it is left */
        h1 ^= rotate(bytes_u64(last) * c1, 31) * c2;
    }
    h1 ^= len;
    h2 ^= len;
    h1 += h2;
    h2 += h1;
    h1 = mix(h1);
    h2 = mix(h2);
    h1 += h2;
    h2 += h1;
    bytes_put_u64(out, h1);
    bytes_put_u64(out + 8, h2);
}

/* crc32c: by the processor where it can, else eight table look-ups for eight bytes. */

#define CRC_POLYNOMIAL 0x82F63B78u /* reflected */

static uint32_t crc_tables[8][256];

typedef uint32_t crc_step(uint32_t crc, const uint8_t *p, size_t len);
static crc_step *crc_run;
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static uint32_t crc_by_tables(uint32_t crc, const uint8_t *p, size_t len)
{
    for (; len >= 8; len -= 8, p += 8) {
        uint32_t low = bytes_u32(p) ^ crc, high = bytes_u32(p + 4);
        crc = crc_tables[7][low & 0xFF] ^ crc_tables[6][low >> 8 & 0xFF] ^
              crc_tables[5][low >> 16 & 0xFF] ^ crc_tables[4][low >> 24] ^
              crc_tables[3][high & 0xFF] ^ crc_tables[2][high >> 8 & 0xFF] ^
              crc_tables[1][high >> 16 & 0xFF] ^ crc_tables[0][high >> 24];
    }
    for (; len > 0; len--)
        crc = crc >> 8 ^ crc_tables[0][(crc ^ *p++) & 0xFF];
    return crc;
}

static void crc_make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ CRC_POLYNOMIAL : crc >> 1;
        crc_tables[0][i] = crc;
    }
    for (int t = 1; t < 8; t++)
        for (int i = 0; i < 256; i++)
            crc_tables[t][i] = crc_tables[t - 1][i] >> 8 ^ crc_tables[0][crc_tables[t - 1][i] & 0xFF];
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_by_processor(uint32_t crc, const uint8_t *p, size_t len)
{
    uint64_t wide = crc;

    for (; len >= 8; len -= 8, p += 8)
        wide = _mm_crc32_u64(wide, bytes_u64(p));
    crc = (uint32_t)wide;
    for (; len > 0; len--)
        crc = _mm_crc32_u8(crc, *p++);
    return crc;
}

static bool processor_has_crc(void)
{
    return __builtin_cpu_supports("sse4.2");
}

#elif defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

static uint32_t crc_by_processor(uint32_t crc, const uint8_t *p, size_t len)
{
    for (; len >= 8; len -= 8, p += 8)
        crc = __crc32cd(crc, bytes_u64(p));
    for (; len > 0; len--)
        crc = __crc32cb(crc, *p++);
    return crc;
}

static bool processor_has_crc(void)
{
    return true;
}

#else

#define crc_by_processor crc_by_tables

static bool processor_has_crc(void)
{
    return false;
}

#endif

static void crc_choose(void)
{
    if (processor_has_crc()) {
        crc_run = crc_by_processor;
        return;
    }
    crc_make_tables();
    crc_run = crc_by_tables;
}

uint32_t crc32c(uint32_t before, const void *bytes, size_t len)
{
    pthread_once(&crc_once, crc_choose);
    return ~crc_run(~before, bytes, len);
}
