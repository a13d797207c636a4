/* memory.h - the heap, through one door, so that a test can make the n-th allocation fail. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* NULL where memory ran out. memory_alloc(0) hands out a pointer to free. */
void *memory_alloc(size_t len);
void *memory_zeroed(size_t len);
void *memory_resize(void *old, size_t len); /* on failure `old` stays as it was */
void memory_free(void *bytes);              /* NULL does nothing */

/* Whole pages for `len` bytes, zeroed: one that was not written to takes up no memory. From `alignment` on, a power
 * of two. What is let go of is the system's again at once. */
void *memory_pages(size_t len, size_t alignment);
void memory_pages_free(void *pages, size_t len); /* NULL does nothing */

/* Tests only. After `countdown` more successful allocations of this thread every further one fails,
 * until called with a negative number. */
void memory_fail_after(long countdown);
void memory_fail_one(long countdown); /* the same, but only that one fails */
void memory_hold(bool hold);          /* meanwhile this thread's succeed and do not count */
long memory_asked(void);              /* allocations of this thread since then, until one failed alone */
long memory_failures(void);           /* those of them that failed */

#endif
