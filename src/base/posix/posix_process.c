/* base/posix/posix_process.c: the process and its machine on POSIX. Only Linux tells about masks of CPUs and control groups;
 * other systems tell how many CPUs there are. */
#define _GNU_SOURCE
#include "base/process.h"

#include "base/cgroup.h"
#include "base/rng.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#elif defined(__FreeBSD__)
#include <sys/sysctl.h>
#endif

long process_id(void)
{
    return getpid();
}

#if defined(__APPLE__)
/* The system tells the name that the program was started by, which may be a link. */
void process_program(char path[PROCESS_PATH])
{
    char name[PROCESS_PATH];
    uint32_t size = PROCESS_PATH;
    if (_NSGetExecutablePath(name, &size) != 0 || !realpath(name, path))
        *path = '\0';
}
#elif defined(__FreeBSD__)
void process_program(char path[PROCESS_PATH])
{
    const int of_this_process[] = {CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1};
    size_t size = PROCESS_PATH;
    if (sysctl(of_this_process, 4, path, &size, NULL, 0) != 0)
        *path = '\0';
}
#else
void process_program(char path[PROCESS_PATH])
{
    const ssize_t length = readlink("/proc/self/exe", path, PROCESS_PATH - 1);
    path[length > 0 ? length : 0] = '\0';
}
#endif

void process_tell(int descriptor, const char *text)
{
    (void)!write(descriptor, text, strlen(text));
}

void process_host(char *name, size_t size)
{
    *name = '\0';
    (void)!gethostname(name, size);
    name[size - 1] = '\0'; /* a longer name is cut, and has no end */
}

void process_machine(char *id, size_t size)
{
    FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
    *id = '\0';
    if (in && fgets(id, (int)size, in))
        id[strcspn(id, "\n")] = '\0';
    if (in)
        fclose(in);
    if (!*id)
        process_host(id, size);
}

int process_cpus(void)
{
#ifdef __linux__
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
#else
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus > 0 ? (int)cpus : 1;
#endif
}

void process_affinity(bool of_parent, uint8_t *bits, size_t size)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(of_parent ? getppid() : 0, sizeof set, &set) != 0)
        return;
    for (size_t i = 0; i < 8 * size && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            bits[i / 8] |= (uint8_t)(1 << i % 8);
#else
    (void)of_parent;
    const size_t cpus = (size_t)process_cpus();
    for (size_t i = 0; i < 8 * size && i < cpus; i++)
        bits[i / 8] |= (uint8_t)(1 << i % 8);
#endif
}

int process_quota(const char *root)
{
    return cgroup_cpus(root);
}

uint64_t process_group(void)
{
    uint64_t hash = 0;
    char line[512];
    FILE *in = fopen("/proc/self/cgroup", "re");
    while (in && fgets(line, sizeof line, in))
        hash = rng_mix(hash, rng_hash_text(line));
    if (in)
        fclose(in);
    return hash;
}
