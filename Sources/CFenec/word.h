/* word.h - a word that threads read and write without a lock, which Swift has no spelling for on the systems the
 * package is written for. */
#ifndef CFENEC_WORD_H
#define CFENEC_WORD_H

#include <stdbool.h>
#include <stdint.h>

static inline uintptr_t word_load(const uintptr_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* What it held before. */
static inline uintptr_t word_exchange(uintptr_t *word, uintptr_t value)
{
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

/* Sets it where it holds `from`; whether it did. */
static inline bool word_turn(uintptr_t *word, uintptr_t from, uintptr_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
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
