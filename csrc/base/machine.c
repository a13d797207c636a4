#include "base/machine.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#define PATH_BYTES 1024

/* False: there is no such file, or it does not fit. */
static bool read_text(const char *path, char *text, size_t room)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t got = 0;

    if (file < 0)
        return false;
    while (len < room && (got = read(file, text + len, room - len)) > 0)
        len += (size_t)got;
    close(file);
    if (got < 0 || len == room)
        return false;
    text[len] = 0;
    return true;
}

/* "max", and the huge number that stands for it in version 1, are no limit. */
static uint64_t limit_in(const char *path)
{
    char text[64], *end;

    if (!read_text(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return UINT64_MAX;
    uint64_t limit = strtoull(text, &end, 10);
    return limit > 0 && limit < INT64_MAX / 2 ? limit : UINT64_MAX;
}

/* A group and all around it: the least of their limits counts. */
static uint64_t limit_around(const char *root, const char *group, size_t len, const char *name)
{
    uint64_t least = UINT64_MAX;
    char path[PATH_BYTES];

    for (;;) {
        int written = snprintf(path, sizeof path, "%s%.*s/%s", root, (int)len, group, name);
        if (written > 0 && (size_t)written < sizeof path) {
            uint64_t limit = limit_in(path);
            least = limit < least ? limit : least;
        }
        while (len > 0 && group[len - 1] != '/')
            len--;
        if (len == 0)
            return least;
        len--; /* the slash */
    }
}

uint64_t machine_group_limit(const char *groups, const char *root)
{
    uint64_t least = UINT64_MAX;
    char first[PATH_BYTES];

    /* A line is number:controllers:/path. Version 2 names no controller. */
    for (const char *line = groups; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        const char *names = memchr(line, ':', len);
        const char *group = names ? memchr(names + 1, ':', len - (size_t)(names + 1 - line)) : NULL;
        uint64_t limit = UINT64_MAX;
        if (!group || len - (size_t)(group + 1 - line) >= PATH_BYTES / 2)
            continue;
        size_t names_len = (size_t)(group - names - 1), group_len = len - (size_t)(group + 1 - line);
        if (names_len == 0) {
            limit = limit_around(root, group + 1, group_len, "memory.max");
        } else if (names_len >= 6 && strlen(root) < PATH_BYTES / 2 && strncmp(names + 1, "memory", 6) == 0) {
            snprintf(first, sizeof first, "%s/memory", root);
            limit = limit_around(first, group + 1, group_len, "memory.limit_in_bytes");
        }
        least = limit < least ? limit : least;
    }
    return least;
}

static uint64_t physical_memory(void)
{
#ifdef __APPLE__
    uint64_t bytes = 0;
    size_t len = sizeof bytes;

    return sysctlbyname("hw.memsize", &bytes, &len, NULL, 0) == 0 && bytes ? bytes : UINT64_MAX;
#else
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
#endif
}

uint64_t machine_memory(void)
{
    uint64_t least = physical_memory();
#ifdef __linux__
    char groups[4096];

    if (read_text("/proc/self/cgroup", groups, sizeof groups)) {
        uint64_t limit = machine_group_limit(groups, "/sys/fs/cgroup");
        least = limit < least ? limit : least;
    }
#endif
    return least;
}
