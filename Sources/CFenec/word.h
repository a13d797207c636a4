/* word.h - a 32-bit word that threads read and write without a lock, which Swift has no spelling for on the
 * systems the package is written for. */
#ifndef CFENEC_WORD_H
#define CFENEC_WORD_H

#include <stdint.h>

static inline uint32_t word_load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void word_store(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* What it held before. */
static inline uint32_t word_exchange(uint32_t *word, uint32_t value)
{
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

/* Tells the core that the thread waits for another to write. */
static inline void word_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

#endif
