/* machine.h - what the device has. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory this process may have: the device's, or its control group's where that has less. Reads
 * small files of the system. UINT64_MAX where it cannot be told. */
uint64_t machine_memory(void);

/* The least limit of the groups named by `groups`, the text of /proc/self/cgroup, and of those around them,
 * below `root` (/sys/fs/cgroup). UINT64_MAX: there is none. */
uint64_t machine_group_limit(const char *groups, const char *root);

#endif
