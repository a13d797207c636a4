/* fork.h - how often this process was forked. What was opened before a fork belongs to the parent: a child
 * has a copy of it whose locks a thread that is gone may hold. */
#ifndef BASE_FORK_H
#define BASE_FORK_H

/* Counts from the first call in a process on. */
unsigned fork_count(void);

#endif
