/* tests/base/test_cgroup.c: the limits of control groups, of both versions, read from folders that look like /proc and /sys:
 * a limit of a group above counts, quotas are rounded up, caches are not in use, and what is not there limits nothing. And
 * the limits of this process and the machine. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cgroup.h"
#include "base/file.h"
#include "base/memory.h"
#include "folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MB ((size_t)1 << 20)
#define MOST_ADDRESSES ((size_t)1 << 47)

/* Writes root/PATH, in whatever folders that takes. */
static void put(const char *path, const char *text)
{
    char *whole = file_join("root", path), *slash = strrchr(whole, '/');
    *slash = '\0';
    assert_int_equal(file_make_dir(whole, NULL), RAPT_OK);
    *slash = '/';
    assert_int_equal(file_write_atomic(whole, text, strlen(text), NULL), RAPT_OK);
    free(whole);
}

static void nothing_limits_nothing(void **state)
{
    (void)state;
    assert_int_equal(cgroup_cpus("root"), 0);
    assert_true(cgroup_memory("root") == SIZE_MAX);
    put("proc/self/cgroup", "no such line\n::\n0::/\n");
    assert_int_equal(cgroup_cpus("root"), 0);
    assert_true(cgroup_memory("root") == SIZE_MAX);
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/memory.max", "max\n");
    put("sys/fs/cgroup/memory.current", "12345\n");
    assert_int_equal(cgroup_cpus("root"), 0);
    assert_true(cgroup_memory("root") == SIZE_MAX);
    put("sys/fs/cgroup/cpu.max", "rubbish");
    put("sys/fs/cgroup/memory.max", "");
    assert_int_equal(cgroup_cpus("root"), 0);
    assert_true(cgroup_memory("root") == SIZE_MAX);
}

static void version_2(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/a.slice/b.service\n");
    put("sys/fs/cgroup/a.slice/b.service/cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/a.slice/b.service/memory.max", "104857600\n");
    put("sys/fs/cgroup/a.slice/b.service/memory.current", "62914560\n");
    assert_int_equal(cgroup_cpus("root"), 2);
    assert_int_equal(cgroup_memory("root"), 40 * MB);
    put("sys/fs/cgroup/a.slice/b.service/memory.stat", "anon 1\ninactive_file 20971520\nactive_file 5\n");
    assert_int_equal(cgroup_memory("root"), 60 * MB);
    put("sys/fs/cgroup/a.slice/b.service/memory.current", "204857600\n"); /* lowered under a running process */
    assert_int_equal(cgroup_memory("root"), 0);
}

static void groups_above_count(void **state)
{
    (void)state;
    version_2(NULL);
    put("sys/fs/cgroup/a.slice/b.service/memory.current", "0\n");
    put("sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n");
    put("sys/fs/cgroup/a.slice/memory.max", "52428800\n");
    put("sys/fs/cgroup/a.slice/memory.current", "10485760\n");
    assert_int_equal(cgroup_cpus("root"), 1);
    assert_int_equal(cgroup_memory("root"), 40 * MB);
    put("sys/fs/cgroup/cpu.max", "10000 100000\n"); /* of a container, whose group is the root */
    put("sys/fs/cgroup/memory.max", "31457280\n");
    assert_int_equal(cgroup_cpus("root"), 1);
    assert_int_equal(cgroup_memory("root"), 30 * MB);
}

/* As in a container: the path is the host's, and only the root is there. */
static void version_1(void **state)
{
    (void)state;
    put("proc/self/cgroup", "12:cpuset:/docker/x\n4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n0::/\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "10485760\n");
    assert_int_equal(cgroup_cpus("root"), 0);
    assert_true(cgroup_memory("root") == SIZE_MAX);
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "73400320\n");
    put("sys/fs/cgroup/memory/memory.stat", "inactive_file 0\ntotal_inactive_file 1048576\n");
    assert_int_equal(cgroup_cpus("root"), 3);
    assert_int_equal(cgroup_memory("root"), 61 * MB);
    put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "250000\n");
    put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cgroup_cpus("root"), 3);
    put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "100001\n");
    assert_int_equal(cgroup_cpus("root"), 2);
}

static void the_machine_counts(void **state)
{
    memory_limit limits[MEMORY_LIMITS];
    (void)state;
    memory_limits("root", limits);
    assert_true(limits[MEMORY_RAM].available == SIZE_MAX && limits[MEMORY_CGROUP].available == SIZE_MAX);
    put("proc/meminfo", "MemTotal:  100 kB\nMemFree:   10 kB\nMemAvailable:   2048 kB\n");
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", "1048576\n");
    memory_limits("root", limits);
    assert_int_equal(limits[MEMORY_RAM].available, 2 * MB);
    assert_int_equal(limits[MEMORY_CGROUP].available, MB);
    put("proc/meminfo", "MemAvailable: 8388608 kB\n"); /* more than 32 bits count in bytes */
    memory_limits("root", limits);
    assert_true(limits[MEMORY_RAM].available == (SIZE_MAX / 1024 < 8388608 ? SIZE_MAX : (size_t)8388608 * 1024));
    memory_limits("", limits);
    assert_true(limits[MEMORY_RAM].available > MB && limits[MEMORY_RAM].available < SIZE_MAX);
}

/* What is mapped already is not available. The limit is all that a processor gives programs, half of 2^48 bytes: sanitizers map
 * terabytes, so that a lower one would leave nothing. */
static void limits_of_the_process_count(void **state)
{
    memory_limit limits[MEMORY_LIMITS];
    struct rlimit before, low;
    (void)state;
    getrlimit(RLIMIT_AS, &before);
    low = before;
    low.rlim_cur = MOST_ADDRESSES;
    if (setrlimit(RLIMIT_AS, &low) != 0)
        skip();
    memory_limits("", limits);
    setrlimit(RLIMIT_AS, &before);
    assert_true(limits[MEMORY_ADDRESS_SPACE].address_space && !limits[MEMORY_RAM].address_space);
    assert_true(limits[MEMORY_ADDRESS_SPACE].available < MOST_ADDRESSES - MB);
    assert_true(limits[MEMORY_ADDRESS_SPACE].available > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_limits_nothing, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(version_2, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(groups_above_count, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(version_1, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(the_machine_counts, folder_enter, folder_leave),
        cmocka_unit_test(limits_of_the_process_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
