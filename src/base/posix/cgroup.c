/* base/posix/cgroup.c: reads the limits of control groups. The kernel's admin-guide/cgroup-v2.rst and cgroup-v1 describe the
 * files. In a container the group's path may be the host's path, while only the container's own group is mounted, at the root; so
 * the search upwards skips folders that do not exist. */
#define _GNU_SOURCE
#include "base/cgroup.h"

#include "base/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_PATH 4096
#define LONGEST_LINE 8192
#define NO_LIMIT (1LL << 62) /* cgroup v1 states a number of this size if there is no limit */

/* A controller of one hierarchy: where its groups are mounted, and which of them is this process's. */
typedef struct hierarchy {
    bool v2, found;
    char mount[LONGEST_PATH]; /* with the root */
    char group[LONGEST_PATH]; /* "/a/b" or "/" */
} hierarchy;

static bool cgroup_has_name(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* A line of /proc/self/cgroup: "0::/group" for v2, "4:memory:/group" for v1, which is preferred. */
static void cgroup_take_line(char *line, const char *controller, const char *root, hierarchy *h)
{
    char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
    if (!group)
        return;
    *list++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    bool v2 = *list == '\0', v1 = cgroup_has_name(list, controller);
    if (!v1 && (!v2 || h->found))
        return;
    h->found = true;
    h->v2 = v2;
    snprintf(h->mount, sizeof h->mount, "%s/sys/fs/cgroup/%s", root, v2 ? "" : controller);
    snprintf(h->group, sizeof h->group, "%s", group);
}

static hierarchy cgroup_find(const char *root, const char *controller)
{
    hierarchy h = {0};
    char path[LONGEST_PATH], line[LONGEST_LINE];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        cgroup_take_line(line, controller, root, &h);
    if (in)
        fclose(in);
    return h;
}

/* "/a/b" to "/a", "/a" to "", "" to nothing. */
static bool go_up(char *group)
{
    char *slash = strrchr(group, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

static FILE *open_file(const hierarchy *h, const char *name)
{
    char path[2 * LONGEST_PATH + 64];
    snprintf(path, sizeof path, "%s%s/%s", h->mount, h->group, name);
    return fopen(path, "re");
}

/* The number in a file; false if the file does not exist or says "max". */
static bool read_number(const hierarchy *h, const char *name, long long *number)
{
    FILE *in = open_file(h, name);
    bool ok = in && fscanf(in, "%lld", number) == 1;
    if (in)
        fclose(in);
    return ok;
}

/* Bytes of cached files that have not been used for a while: the kernel drops them when memory is needed. */
static long long inactive_file_bytes(const hierarchy *h)
{
    char line[256];
    long long bytes = 0, value;
    const char *format = h->v2 ? "inactive_file %lld" : "total_inactive_file %lld";
    FILE *in = open_file(h, "memory.stat");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, format, &value) == 1 && value > 0)
            bytes = value;
    if (in)
        fclose(in);
    return bytes;
}

static size_t memory_of_group(const hierarchy *h)
{
    long long limit, used = 0;
    if (!read_number(h, h->v2 ? "memory.max" : "memory.limit_in_bytes", &limit) || limit < 0 || limit >= NO_LIMIT)
        return SIZE_MAX;
    read_number(h, h->v2 ? "memory.current" : "memory.usage_in_bytes", &used);
    used -= inactive_file_bytes(h);
    used = used > 0 ? used : 0;
    return limit > used ? memory_bytes((uint64_t)(limit - used)) : 0;
}

size_t cgroup_memory(const char *root)
{
    size_t min = SIZE_MAX;
    hierarchy h = cgroup_find(root, "memory");
    for (bool more = h.found; more; more = go_up(h.group)) {
        size_t here = memory_of_group(&h);
        min = here < min ? here : min;
    }
    return min;
}

/* The quota of a period, both in microseconds. */
static bool read_quota(const hierarchy *h, long long *quota, long long *period)
{
    if (!h->v2)
        return read_number(h, "cpu.cfs_quota_us", quota) && read_number(h, "cpu.cfs_period_us", period);
    FILE *in = open_file(h, "cpu.max");
    bool ok = in && fscanf(in, "%lld %lld", quota, period) == 2; /* "max 100000": no quota */
    if (in)
        fclose(in);
    return ok;
}

int cgroup_cpus(const char *root)
{
    long long min = 0, quota, period;
    hierarchy h = cgroup_find(root, "cpu");
    for (bool more = h.found; more; more = go_up(h.group)) {
        if (!read_quota(&h, &quota, &period) || quota <= 0 || period <= 0)
            continue;
        long long cpus = (quota - 1) / period + 1;
        min = min == 0 || cpus < min ? cpus : min;
    }
    return min < INT_MAX ? (int)min : INT_MAX;
}
