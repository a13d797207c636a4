/* sqlite_memory.h - SQLite's own heap in the test program, where the n-th allocation of a thread fails as
 * memory_fail_after makes the engine's fail. Small pieces that SQLite keeps apart for a connection come from it
 * too. */
#ifndef SQLITE_MEMORY_H
#define SQLITE_MEMORY_H

void sqlite_memory_fail_after(long countdown); /* negative: no more */
void sqlite_memory_fail_one(long countdown);
long sqlite_memory_asked(void);
long sqlite_memory_failures(void);

#endif
