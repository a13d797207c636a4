#include <errno.h>
#include <sys/stat.h>

#include "base/machine.h"
#include "test.h"

#define MIB ((uint64_t)1024 * 1024)

static const char *root_folder(void)
{
    static char path[400];

    snprintf(path, sizeof path, "%s/cgroup", test_folder());
    return path;
}

/* A limit file below the root, folders made on the way. */
static void put_limit(const char *name, const char *text)
{
    char path[600];

    snprintf(path, sizeof path, "%s%s", root_folder(), name);
    for (char *at = path + strlen(test_folder()) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *f = fopen(path, "wb");
    CHECK(f && fputs(text, f) >= 0);
    if (f)
        fclose(f);
}

TEST(machine_takes_the_least_limit_of_a_group_and_those_around_it)
{
    put_limit("/memory.max", "max\n");
    put_limit("/a/memory.max", "209715200\n");
    put_limit("/a/b/memory.max", "max\n");
    put_limit("/tight/memory.max", "104857600\n");
    CHECK_INT(machine_group_limit("0::/a/b\n", root_folder()), 200 * MIB);
    CHECK_INT(machine_group_limit("0::/tight\n", root_folder()), 100 * MIB);
    CHECK_INT(machine_group_limit("0::/\n", root_folder()), UINT64_MAX);
    /* A folder that is not there, as in a container that sees the host's names: those around it count. */
    CHECK_INT(machine_group_limit("0::/a/gone/deeper\n", root_folder()), 200 * MIB);
    put_limit("/memory.max", "52428800\n");
    CHECK_INT(machine_group_limit("0::/a/b\n", root_folder()), 50 * MIB);
}

TEST(machine_knows_groups_of_version_1)
{
    static const char groups[] = "12:cpu,cpuacct:/x\n5:memory:/m/n\n1:name=systemd:/y\n0::/none\n";

    put_limit("/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put_limit("/memory/m/memory.limit_in_bytes", "314572800\n");
    put_limit("/memory/m/n/memory.limit_in_bytes", "9223372036854771712\n");
    put_limit("/memory.max", "max\n");
    CHECK_INT(machine_group_limit(groups, root_folder()), 300 * MIB);
}

TEST(machine_reads_no_limit_where_there_is_none)
{
    CHECK_INT(machine_group_limit("", "/nowhere"), UINT64_MAX);
    CHECK_INT(machine_group_limit("nonsense\n0:\n::\n0::/a\n", "/nowhere"), UINT64_MAX);
    put_limit("/odd/memory.max", "-5\n");
    put_limit("/memory.max", "");
    CHECK_INT(machine_group_limit("0::/odd\n", root_folder()), UINT64_MAX);
    CHECK(machine_memory() > 16 * MIB);
}
