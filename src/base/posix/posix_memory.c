/* base/posix/posix_memory.c: the limits of memory from getrlimit, on Linux also from /proc (proc(5)) and control groups. What
 * cannot be read counts as no limit. */
#include "base/memory.h"

#include "base/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach/mach.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define LONGEST_PATH 4096

static FILE *open_proc(const char *root, const char *name)
{
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "%s/proc/%s", root, name);
    return fopen(path, "re");
}

/* Bytes that programs can have without swapping, including caches that can be dropped. */
#ifdef __APPLE__
static size_t ram_available(const char *root)
{
    vm_statistics64_data_t counts;
    mach_msg_type_number_t size = HOST_VM_INFO64_COUNT;
    (void)root;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&counts, &size) != KERN_SUCCESS)
        return SIZE_MAX;
    return memory_bytes(((uint64_t)counts.free_count + counts.inactive_count) * (uint64_t)sysconf(_SC_PAGESIZE));
}
#else
static size_t ram_available(const char *root)
{
    char line[256];
    uint64_t kilobytes;
    size_t bytes = SIZE_MAX;
    FILE *in = open_proc(root, "meminfo");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kilobytes) == 1)
            bytes = memory_bytes(kilobytes * 1024);
    if (in)
        fclose(in);
    return bytes;
}
#endif

typedef struct mapped {
    size_t all, data; /* bytes */
} mapped;

static mapped mapped_now(const char *root)
{
    size_t all = 0, data = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    FILE *in = open_proc(root, "self/statm");
    if (in && fscanf(in, "%zu %*u %*u %*u %*u %zu", &all, &data) != 2)
        all = data = 0;
    if (in)
        fclose(in);
    return (mapped){all * page, data * page};
}

static size_t available(int resource, size_t used)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur > (rlim_t)used ? memory_bytes((uint64_t)(limit.rlim_cur - (rlim_t)used)) : 0;
}

void memory_limits(const char *root, memory_limit limits[MEMORY_LIMITS])
{
    mapped now = mapped_now(root);
    limits[MEMORY_RAM] = (memory_limit){"this machine can give", false, ram_available(root)};
    limits[MEMORY_CGROUP] = (memory_limit){"the cgroup's limit leaves", false, cgroup_memory(root)};
    limits[MEMORY_ADDRESS_SPACE] =
        (memory_limit){"the limit of the address space (ulimit -v) leaves", true, available(RLIMIT_AS, now.all)};
    limits[MEMORY_DATA] = (memory_limit){"the limit of the data segment (ulimit -d) leaves", true,
                                         available(RLIMIT_DATA, now.data)};
}

void memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

size_t memory_peak(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
#ifdef __APPLE__
    return (size_t)usage.ru_maxrss;
#else
    return (size_t)usage.ru_maxrss * 1024;
#endif
}

void *memory_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void memory_aligned_free(void *memory)
{
    free(memory);
}
